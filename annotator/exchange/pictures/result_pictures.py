"""More pictures of results: heat maps, scatter plots, lines, bars, and paired values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.exchange.pictures.figures import PRINTED, Ink, name_axis, sheet, short, spell

# Told apart by people who see colours differently (Okabe and Ito), on light and on dark paper.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C8C")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
# A heat map of more rows is read by nobody; the rest is counted at its foot.
MOST_ROWS = 120
WIDEST_HEAD = 22
INCH_PER_ROW = 0.24


@dataclass(frozen=True, slots=True)
class PicturePoint:
    """A named point; `strong` ones stand out, and are joined where a picture has a front."""

    name: str
    x: float
    y: float
    strong: bool = False
    low: float | None = None
    high: float | None = None


def heat(
    title: str, rows: Sequence[str], columns: Sequence[str], values: Mapping[tuple[str, str], float | None],
    bounds: tuple[float, float] | None, ink: Ink = PRINTED,
) -> Any:  # fmt: skip
    """A heat map, the higher the darker, with every value in its cell; “–” where there is none.

    Colours run between `bounds`, or between the least and the greatest value.
    """
    shown = list(rows[:MOST_ROWS])
    figure, axes = sheet(1.3 + INCH_PER_ROW * max(3, len(shown)), title, ink)
    grid = [[_number(values.get((row, column))) for column in columns] for row in shown]
    known = [value for line in grid for value in line if isfinite(value)]
    low, high = bounds or (min(known, default=0.0), max(known, default=1.0))
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("goldsmith", [ink.grid, ink.mark]).with_extremes(
        bad=ink.paper
    )
    axes.imshow(grid, aspect="auto", cmap=colours, vmin=low, vmax=high if high > low else low + 1)
    for i, line in enumerate(grid):
        for j, value in enumerate(line):
            share = (value - low) / (high - low) if high > low else 0.0
            _write(axes, j, i, value, colours(share), ink)
    axes.set_yticks(range(len(shown)), [short(row) for row in shown])
    axes.set_xticks(range(len(columns)), [short(column, WIDEST_HEAD) for column in columns])
    # Above, where they are seen before anyone scrolls.
    axes.xaxis.tick_top()
    if sum(len(short(column, WIDEST_HEAD)) for column in columns) > ink.width * 7:
        for label in axes.get_xticklabels():
            label.set(rotation=30, horizontalalignment="left", rotation_mode="anchor")
    spell([*axes.get_yticklabels(), *axes.get_xticklabels()], ink)
    if len(rows) > len(shown):
        axes.set_xlabel(
            f"{counted(len(rows) - len(shown), 'more is', 'more are')} not drawn", color=ink.text, fontsize=9
        )
    return figure


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _write(axes: Any, x: int, y: int, value: float, ground: tuple[float, ...], ink: Ink) -> None:
    words = "–" if not isfinite(value) else f"{value:.2f}" if abs(value) < 10 else f"{value:,.0f}"
    colour = ink.text
    if isfinite(value):
        colour = contrasting(ink, ground)
    label = axes.text(x, y, words, ha="center", va="center", fontsize=7.5, color=colour)
    # Within the axes anyway: measuring thousands of them takes seconds.
    label.set_in_layout(False)


def contrasting(ink: Ink, ground: tuple[float, ...]) -> str:
    """Of the ink's text and paper the one that is read better on a ground."""
    return max((ink.text, ink.paper), key=lambda one: _contrast(one, ground))


def _contrast(one: str, ground: tuple[float, ...]) -> float:
    """How well letters are read on a ground, 1 to 21 (WCAG 2)."""
    from matplotlib.colors import to_rgb

    light = sorted((_light(to_rgb(one)), _light(ground[:3])))
    return (light[1] + 0.05) / (light[0] + 0.05)


def _light(colour: tuple[float, ...]) -> float:
    parts = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def plane(
    title: str, points: Sequence[PicturePoint], x: str, y: str, ink: Ink = PRINTED, *, front: bool = False,
    band: tuple[float, float] | None = None, level: float | None = None,
) -> Any:  # fmt: skip
    """Named points with their intervals upwards, the strong ones full; with `front` these are joined as a front.

    `band` is a stretch of the upright axis that lies behind them all, and `level` a place on it.
    """
    figure, axes = sheet(3.4, title, ink)
    _frame(axes, x, y, ink)
    if band is not None:
        axes.axhspan(*band, color=ink.mark, alpha=0.15, linewidth=0)
    if level is not None:
        axes.axhline(level, color=ink.mark, linewidth=1, linestyle=":")
    strong = sorted((point for point in points if point.strong), key=lambda point: point.x)
    if front and len(strong) > 1:
        axes.plot([p.x for p in strong], [p.y for p in strong], color=ink.mark, linewidth=1.4, linestyle="--")
    for point in points:
        if point.low is not None and point.high is not None:
            axes.plot([point.x, point.x], [point.low, point.high], color=ink.faint, linewidth=1.4)
        face = ink.mark if point.strong or not strong else ink.paper
        axes.plot([point.x], [point.y], "o", markersize=8, markerfacecolor=face, markeredgecolor=ink.mark)
    if points and min(point.x for point in points) >= 0:
        # No axis of costs or lengths goes below 0.
        right = axes.get_xlim()[1]
        axes.set_xlim(max(axes.get_xlim()[0], -0.03 * right), right)
    _name(axes, points, ink)
    return figure


def _name(axes: Any, points: Sequence[PicturePoint], ink: Ink) -> None:
    """Names beside their points, those in the right half to the left, and no two in one place."""
    left, right = axes.get_xlim()
    axes.set_xlim(left, right)
    labels = []
    for point in points:
        late = point.x > (left + right) / 2
        labels.append(
            axes.annotate(
                short(point.name, 26), (point.x, point.y), (-9 if late else 9, 9 if late else -13),
                textcoords="offset points", ha="right" if late else "left", fontsize=9,
            )
        )  # fmt: skip
    spell(labels, ink)


def clouds(
    title: str, groups: Mapping[str, Sequence[tuple[float, float]]], x: str, y: str, ink: Ink = PRINTED
) -> Any:
    """Points of several groups, broken down by colour and mark, each group's mean drawn large."""
    figure, axes = sheet(3.8, title, ink)
    _frame(axes, x, y, ink)
    for place, (name, points) in enumerate(groups.items()):
        colour, mark = COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
        across, up = [point[0] for point in points], [point[1] for point in points]
        axes.plot(across, up, mark, markersize=4, color=colour, alpha=0.45, linestyle="none")
        if points:
            mean = sum(across) / len(across), sum(up) / len(up)
            axes.plot(
                *mean, mark, markersize=11, color=colour, markeredgecolor=ink.text, label=short(name, 24)
            )
    _legend(figure, axes, ink, len(groups))
    return figure


def lines(
    title: str, series: Mapping[str, Sequence[tuple[int, Estimate]]], x: str, y: str, ink: Ink = PRINTED
) -> Any:
    """Estimates over whole numbers, a line for each series, with their intervals; it breaks where there is no value."""
    figure, axes = sheet(3.5, title, ink)
    _frame(axes, x, y, ink)
    for place, (name, points) in enumerate(series.items()):
        colour, mark = COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
        # Side by side: intervals on one another could not be read.
        shift = 0.06 * (place - (len(series) - 1) / 2)
        known = [(at + shift, found) for at, found in points if found.value is not None]
        for at, found in known:
            if found.low is not None and found.high is not None:
                axes.plot([at, at], [found.low, found.high], color=colour, linewidth=1.4, alpha=0.6)
        axes.plot(
            [at for at, _ in known], [found.value for _, found in known], f"{mark}-", color=colour,
            label=short(name, 24),
        )  # fmt: skip
    axes.set_xticks(sorted({at for points in series.values() for at, _ in points}))
    if axes.get_ylim()[0] >= 0:
        axes.set_ylim(bottom=0)
    _legend(figure, axes, ink, len(series))
    return figure


def bars(
    title: str, groups: Sequence[str], series: Mapping[str, Sequence[float | None]], axis: str, ink: Ink = PRINTED,
    *, stacked: bool = False,
) -> Any:  # fmt: skip
    """Bars side by side for each group, lying down, each with its value; a series is a colour.

    Those that are `stacked` follow one another in one bar, and have no values.
    """
    beside = 1 if stacked else len(series)
    figure, axes = sheet(1.3 + 0.24 * max(4, len(groups) * (beside + 0.6)), title, ink)
    axes.grid(axis="x", color=ink.grid, linewidth=0.8)
    name_axis(axes, axis, ink)
    thick, ends = 0.8 / max(1, beside), [0.0] * len(groups)
    for place, (name, values) in enumerate(series.items()):
        shift = 0.0 if stacked else thick * (place - (beside - 1) / 2)
        at, widths = [group + shift for group in range(len(groups))], [value or 0.0 for value in values]
        axes.barh(
            at, widths, thick * 0.92, left=ends, color=COLOURS[place % len(COLOURS)], label=short(name, 28)
        )
        if stacked:
            ends = [end + width for end, width in zip(ends, widths, strict=True)]
            continue
        for y, value in zip(at, values, strict=True):
            words = "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
            label = axes.annotate(
                words, (value or 0.0, y), (4, 0), textcoords="offset points", va="center", fontsize=8
            )
            label.set_color(ink.text)
    axes.set_yticks(range(len(groups)), [short(group) for group in groups])
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.margins(x=0.12)
    axes.set_xlim(0, max(axes.get_xlim()[1], 0.01))
    spell(axes.get_yticklabels(), ink)
    _legend(figure, axes, ink, len(series))
    return figure


def pairs(
    title: str, rows: Sequence[tuple[str, Estimate, Estimate]], names: tuple[str, str], axis: str, ink: Ink = PRINTED,
    *, share: bool = False,
) -> Any:  # fmt: skip
    """Two values of each row joined by a line, the first hollow, the second full; a share has an axis from 0 to 1."""
    figure, axes = sheet(1.5 + 0.42 * max(3, len(rows)), title, ink)
    axes.grid(axis="x", color=ink.grid, linewidth=0.8)
    name_axis(axes, axis, ink)
    for place, (_, one, other) in enumerate(rows):
        known = [found.value for found in (one, other) if found.value is not None]
        axes.plot(known, [place] * len(known), color=ink.faint, linewidth=2)
        for found, face, shift in ((one, ink.paper, -0.12), (other, ink.mark, 0.12)):
            if found.low is not None and found.high is not None:
                axes.plot(
                    [found.low, found.high], [place + shift] * 2, color=ink.mark, linewidth=1, alpha=0.6
                )
            if found.value is not None:
                axes.plot(
                    [found.value], [place], "o", markersize=8, markerfacecolor=face, markeredgecolor=ink.mark
                )
    for name, face in zip(names, (ink.paper, ink.mark), strict=True):
        axes.plot([], [], "o", markerfacecolor=face, markeredgecolor=ink.mark, label=short(name, 28))
    axes.set_yticks(range(len(rows)), [short(name) for name, *_ in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    if share:
        # Little data may give an interval that reaches farther than a share can lie.
        axes.set_xlim(-0.03, 1.03)
    spell(axes.get_yticklabels(), ink)
    _legend(figure, axes, ink, 2)
    return figure


def matrix(
    title: str, rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[bool | None]],
    matched: Sequence[tuple[int, int]], ink: Ink = PRINTED,
) -> Any:  # fmt: skip
    """Which rows meet which columns: a full dot where they do, a ring around what is matched, “?” for missing."""
    figure, axes = sheet(1.4 + 0.3 * max(3, len(rows)), title, ink)
    for i, line in enumerate(cells):
        for j, cell in enumerate(line):
            if cell is None:
                axes.text(j, i, "?", ha="center", va="center", fontsize=9, color=ink.text)
            else:
                axes.plot(
                    [j],
                    [i],
                    "o" if cell else ".",
                    markersize=9 if cell else 3,
                    color=ink.mark if cell else ink.faint,
                )
    for i, j in matched:
        axes.plot([j], [i], "o", markersize=15, markerfacecolor="none", markeredgecolor=ink.mark)
    axes.set_yticks(range(len(rows)), [short(row, 34) for row in rows])
    axes.set_xticks(range(len(columns)), [short(column, 22) for column in columns], rotation=35, ha="right")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(-0.6, len(columns) - 0.4)
    axes.grid(color=ink.grid, linewidth=0.6)
    spell([*axes.get_yticklabels(), *axes.get_xticklabels()], ink)
    return figure


def _frame(axes: Any, x: str, y: str, ink: Ink) -> None:
    axes.grid(color=ink.grid, linewidth=0.8)
    axes.margins(0.08)
    name_axis(axes, x, ink)
    axes.set_ylabel(short(y, 40), fontsize=9)
    spell([axes.yaxis.label], ink)


def _legend(figure: Any, axes: Any, ink: Ink, entries: int) -> None:
    if entries and axes.get_legend_handles_labels()[0]:
        columns = max(1, min(entries, int(ink.width / 1.9)))
        legend = figure.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize=8.5)
        spell(legend.get_texts(), ink)
