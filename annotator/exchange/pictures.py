"""Pictures of results, agreement and validation, as matplotlib figures."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate, groupby
from math import isfinite, nan
from textwrap import fill
from typing import Any
from unicodedata import east_asian_width

from annotator.domain.common import counted
from annotator.domain.experts.adjudication import Figure
from annotator.domain.texts.estimate import Estimate

INCH_PER_SYSTEM = 0.42
LETTERS_PER_INCH, WIDEST_NAME = 12, 30
# Tried in this order, so that names in any script are painted with some installed font.
FONTS = (
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Noto Sans",
    "Segoe UI",
    "Microsoft YaHei",
    "PingFang SC",
    "Arial Unicode MS",
)


@dataclass(frozen=True, slots=True)
class Ink:
    paper: str = "#ffffff"
    text: str = "#1c2430"
    faint: str = "#9aa4b2"
    grid: str = "#e6e9ee"
    mark: str = "#8a5a00"
    width: float = 7.2
    """The width of the picture, in inches."""


PRINTED = Ink()


def intervals(
    title: str,
    figures: Sequence[tuple[str, Estimate]],
    axis: str,
    ink: Ink = PRINTED,
    *,
    within: tuple[float, float] | None = (0.0, 1.0),
    higher_is_better: bool = True,
) -> Any:
    """A matplotlib Figure of systems (name, estimate), best first, each a dot with its 95 % interval.

    A system with missing judgements is painted hollow over the range that the missing ones could move it to; one
    without any value is named and left empty. The axis spans the bounds `within`, without them it starts at 0.
    """
    sign = -1 if higher_is_better else 1
    ordered = sorted(figures, key=lambda pair: (pair[1].value is None, sign * (pair[1].value or 0), pair[0]))
    figure, axes = lying_sheet(1.15 + INCH_PER_SYSTEM * max(3, len(ordered)), title, axis, ink)
    if within is not None:
        span = within[1] - within[0]
        below = min(
            (end for _, one in figures for end in (one.value, one.low) if end is not None), default=0.0
        )
        axes.set_xlim(min(within[0], below), within[0] + 1.12 * span)
        axes.set_xticks([within[0] + span * step / 5 for step in range(6)])
    for place, (_, estimate) in enumerate(ordered):
        _draw_estimate(axes, place, estimate, ink)
    name_rows(axes, [short(name) for name, _ in ordered], ink)
    if within is None:
        # Room for the words behind the last figure.
        axes.set_xlim(min(0.0, axes.get_xlim()[0]), axes.get_xlim()[1] * 1.18)
    return figure


def sheet(height: float, title: str, ink: Ink) -> tuple[Any, Any]:
    from matplotlib import figure

    made = figure.Figure(figsize=(ink.width, height), facecolor=ink.paper, layout="constrained")
    axes = made.add_subplot()
    axes.set_facecolor(ink.paper)
    # Over the whole sheet: names may leave the axes little width.
    spell([made.suptitle(_wrapped(title, ink.width), x=0.01, ha="left", fontsize=10.5, color=ink.text)], ink)
    axes.tick_params(axis="both", length=0, labelsize=9, colors=ink.text)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    return made, axes


def lying_sheet(height: float, title: str, axis: str, ink: Ink) -> tuple[Any, Any]:
    """A sheet whose values run from left to right, over rows that `name_rows` names."""
    made, axes = sheet(height, title, ink)
    axes.grid(axis="x", color=ink.grid, linewidth=0.8)
    name_axis(axes, axis, ink)
    return made, axes


def name_rows(axes: Any, names: Sequence[str], ink: Ink) -> None:
    """Name the rows from the first, at the top, to the last."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    spell(axes.get_yticklabels(), ink)


def draw_interval(axes: Any, figure: Any, at: Any, *, upright: bool = False, **look: Any) -> None:
    """The line from the `low` to the `high` of a figure, if both are known, at a position on the other axis."""
    if figure.low is not None and figure.high is not None:
        ends = [figure.low, figure.high], [at, at]
        axes.plot(*(ends[::-1] if upright else ends), **look)


def left_out(rest: int, before: str = "") -> str:
    """“3 more are not drawn” if the picture has no room for some; empty if it shows all."""
    return f"{before}{counted(rest, 'more is', 'more are')} not drawn" if rest > 0 else ""


def _wrapped(title: str, width: float) -> str:
    return fill(title, max(20, int(width * LETTERS_PER_INCH)))


def short(name: str, widest: int = WIDEST_NAME) -> str:
    """A name cut to the available room; a wide letter takes two places."""
    name, width = " ".join(name.split()), 0
    for place, letter in enumerate(name):
        width += 2 if east_asian_width(letter) in "WF" else 1
        if width > widest:
            return name[: place - 1] + "…"
    return name


def name_axis(axes: Any, words: str, ink: Ink) -> None:
    axes.set_xlabel(_wrapped(words, ink.width * 0.72), fontsize=9)
    spell([axes.xaxis.label], ink)


def spell(labels: Iterable[Any], ink: Ink) -> None:
    """Set labels in fonts that have their letters; a name with two dollar signs is no formula."""
    fonts = installed_fonts()
    for label in labels:
        label.set_fontfamily(fonts)
        label.set_color(ink.text)
        label.set_parse_math(False)


def installed_fonts() -> list[str]:
    """The installed ones of FONTS; asking for others would fill the log."""
    from matplotlib import font_manager

    there = set(font_manager.get_font_names())
    return [name for name in FONTS if name in there]


def _draw_estimate(axes: Any, place: int, estimate: Estimate, ink: Ink) -> None:
    if estimate.value is None:
        axes.annotate("no value yet", (0.01, place), va="center", fontsize=8, color=ink.faint)
        return
    if not estimate.complete and estimate.floor is not None and estimate.ceiling is not None:
        axes.plot(
            [estimate.floor, estimate.ceiling],
            [place, place],
            color=ink.grid,
            linewidth=9,
            solid_capstyle="butt",
        )
    draw_interval(axes, estimate, place, color=ink.mark, linewidth=2, solid_capstyle="round")
    axes.plot(
        [estimate.value],
        [place],
        "o",
        markersize=8,
        markeredgewidth=2,
        markerfacecolor=ink.mark if estimate.complete else ink.paper,
        markeredgecolor=ink.mark,
    )
    value = f"{estimate.value:.3f}" if abs(estimate.value) < 10 else f"{estimate.value:,.1f}"
    words = value if estimate.complete else f"{value}  {estimate.missing:,} missing"
    edge = max(estimate.value, estimate.high or 0, (estimate.ceiling or 0) if not estimate.complete else 0)
    axes.annotate(
        words, (edge, place), (8, 0), textcoords="offset points", va="center", fontsize=9, color=ink.text
    )


# Distinguishable with colour vision deficiencies (Okabe and Ito), on light and on dark paper.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C8C")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
# A heat map of more rows is unreadable; the rest is counted at its foot.
MOST_ROWS = 120
WIDEST_HEAD = 22
INCH_PER_ROW = 0.24


@dataclass(frozen=True, slots=True)
class PicturePoint:
    """A named point; `strong` ones stand out, and are joined if a picture has a front."""

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
    """A heat map, the higher the darker, with every value in its cell; “–” if there is none.

    Colours run between `bounds`, or between the least and the greatest value.
    """
    shown = list(rows[:MOST_ROWS])
    figure, axes = sheet(1.3 + INCH_PER_ROW * max(3, len(shown)), title, ink)
    grid = [
        [nan if (value := values.get((row, column))) is None else value for column in columns]
        for row in shown
    ]
    known = [value for line in grid for value in line if isfinite(value)]
    low, high = bounds or (min(known, default=0.0), max(known, default=1.0))
    colours = _colours(ink).with_extremes(bad=ink.paper)
    axes.imshow(grid, aspect="auto", cmap=colours, vmin=low, vmax=high if high > low else low + 1)
    for i, line in enumerate(grid):
        for j, value in enumerate(line):
            share = (value - low) / (high - low) if high > low else 0.0
            words = "–" if not isfinite(value) else f"{value:.2f}" if abs(value) < 10 else f"{value:,.0f}"
            colour = contrasting(ink, colours(share)) if isfinite(value) else ink.text
            label = axes.text(j, i, words, ha="center", va="center", fontsize=7.5, color=colour)
            # Within the axes anyway: measuring thousands of them takes seconds.
            label.set_in_layout(False)
    axes.set_yticks(range(len(shown)), [short(row) for row in shown])
    axes.set_xticks(range(len(columns)), [short(column, WIDEST_HEAD) for column in columns])
    # At the top, where they are visible without scrolling.
    axes.xaxis.tick_top()
    if sum(len(short(column, WIDEST_HEAD)) for column in columns) > ink.width * 7:
        for label in axes.get_xticklabels():
            label.set(rotation=30, horizontalalignment="left", rotation_mode="anchor")
    spell([*axes.get_yticklabels(), *axes.get_xticklabels()], ink)
    axes.set_xlabel(left_out(len(rows) - len(shown)), color=ink.text, fontsize=9)
    return figure


def _colours(ink: Ink) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("goldsmith", [ink.grid, ink.mark])


def contrasting(ink: Ink, ground: tuple[float, ...]) -> str:
    return max((ink.text, ink.paper), key=lambda one: _contrast(one, ground))


def _contrast(one: str, ground: tuple[float, ...]) -> float:
    """The contrast of letters on a background, 1 to 21 (WCAG 2)."""
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
    """Named points with their vertical intervals, the strong ones filled; with `front` these are joined as a front.

    `band` is a range of the vertical axis painted behind them all, and `level` a value on it.
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
        draw_interval(axes, point, point.x, upright=True, color=ink.faint, linewidth=1.4)
        face = ink.mark if point.strong or not strong else ink.paper
        axes.plot([point.x], [point.y], "o", markersize=8, markerfacecolor=face, markeredgecolor=ink.mark)
    if points and min(point.x for point in points) >= 0:
        # No axis of costs or lengths goes below 0.
        right = axes.get_xlim()[1]
        axes.set_xlim(max(axes.get_xlim()[0], -0.03 * right), right)
    _name(axes, points, ink)
    return figure


def _name(axes: Any, points: Sequence[PicturePoint], ink: Ink) -> None:
    """Names beside their points, those in the right half to the left, without overlaps."""
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
    """Points of several groups, distinguished by colour and mark, each group's mean painted large."""
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
    """Estimates over whole numbers, a line for each series, with their intervals; a missing value breaks the line."""
    figure, axes = sheet(3.5, title, ink)
    _frame(axes, x, y, ink)
    for place, (name, points) in enumerate(series.items()):
        colour, mark = COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
        # Side by side: overlapping intervals would be unreadable.
        shift = 0.06 * (place - (len(series) - 1) / 2)
        known = [(at + shift, result) for at, result in points if result.value is not None]
        for at, result in known:
            draw_interval(axes, result, at, upright=True, color=colour, linewidth=1.4, alpha=0.6)
        axes.plot(
            [at for at, _ in known], [result.value for _, result in known], f"{mark}-", color=colour,
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
    """Horizontal bars side by side for each group, each with its value; a series is a colour.

    `stacked` ones follow one another in one bar, and have no values.
    """
    beside = 1 if stacked else len(series)
    figure, axes = lying_sheet(1.3 + 0.24 * max(4, len(groups) * (beside + 0.6)), title, axis, ink)
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
            axes.annotate(
                words, (value or 0.0, y), (4, 0), textcoords="offset points", va="center", fontsize=8,
                color=ink.text,
            )  # fmt: skip
    name_rows(axes, [short(group) for group in groups], ink)
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.margins(x=0.12)
    axes.set_xlim(0, max(axes.get_xlim()[1], 0.01))
    _legend(figure, axes, ink, len(series))
    return figure


def pairs(
    title: str, rows: Sequence[tuple[str, Estimate, Estimate]], names: tuple[str, str], axis: str, ink: Ink = PRINTED,
    *, share: bool = False,
) -> Any:  # fmt: skip
    """Two values of each row joined by a line, the first hollow, the second filled; a share has an axis from 0 to 1."""
    figure, axes = lying_sheet(1.5 + 0.42 * max(3, len(rows)), title, axis, ink)
    for place, (_, estimate, other) in enumerate(rows):
        known = [result.value for result in (estimate, other) if result.value is not None]
        axes.plot(known, [place] * len(known), color=ink.faint, linewidth=2)
        for result, face, shift in ((estimate, ink.paper, -0.12), (other, ink.mark, 0.12)):
            draw_interval(axes, result, place + shift, color=ink.mark, linewidth=1, alpha=0.6)
            if result.value is not None:
                axes.plot(
                    [result.value], [place], "o", markersize=8, markerfacecolor=face, markeredgecolor=ink.mark
                )
    for name, face in zip(names, (ink.paper, ink.mark), strict=True):
        axes.plot([], [], "o", markerfacecolor=face, markeredgecolor=ink.mark, label=short(name, 28))
    name_rows(axes, [short(name) for name, *_ in rows], ink)
    if share:
        # With little data an interval may exceed the range of a share.
        axes.set_xlim(-0.03, 1.03)
    _legend(figure, axes, ink, 2)
    return figure


def matrix(
    title: str, rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[bool | None]],
    matched: Sequence[tuple[int, int]], ink: Ink = PRINTED,
) -> Any:  # fmt: skip
    """Which rows match which columns: a full dot for a match, a ring around matched pairs, “?” for missing."""
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
    name_rows(axes, [short(row, 34) for row in rows], ink)
    axes.set_xticks(range(len(columns)), [short(column, 22) for column in columns], rotation=35, ha="right")
    axes.set_xlim(-0.6, len(columns) - 0.4)
    axes.grid(color=ink.grid, linewidth=0.6)
    spell(axes.get_xticklabels(), ink)
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


INCH_PER_GROUP = 0.3
# A picture of more groups is unreadable; the lowest are what people look for.
MOST_GROUPS = 60
WIDEST_GROUP = 34
SPELT_WEEKS = 12
Points = Sequence[tuple[str, Figure]]


def by_group(points: Points, title: str, axis: str, ink: Ink = PRINTED) -> Any:
    """A matplotlib Figure of groups (name, figure) in their order, each a dot with its 95 % interval.

    A group without a value is named and marked so; of more than MOST_GROUPS the rest is counted at the foot.
    """
    shown = points[:MOST_GROUPS]
    words = axis + left_out(len(points) - len(shown), "; ")
    figure, axes = lying_sheet(1.25 + INCH_PER_GROUP * max(3, len(shown)), title, words, ink)
    low = _least([result for _, result in shown])
    if reach := _beyond([result for _, result in shown]):
        low = reach[0]
        axes.set_xlim(low - 0.02 * (reach[1] - low), reach[1] + 0.2 * (reach[1] - low))
    else:
        axes.set_xlim(low - 0.02, 1.16 if low >= 0 else 1.24)
        axes.set_xticks([tick / 10 for tick in range(round(low * 10), 11, 2)])
    if low < 0:
        axes.axvline(0, color=ink.faint, linewidth=1)
    _draw_dots(axes, [result for _, result in shown], low, ink)
    name_rows(axes, [short(name, WIDEST_GROUP) for name, _ in shown], ink)
    return figure


def by_week(points: Points, title: str, axis: str, ink: Ink = PRINTED) -> Any:
    """A matplotlib Figure of ISO weeks (“2026-W09”, figure) as a line with its 95 % intervals.

    Weeks are placed by date; the line breaks at a week without a value, which is marked.
    """
    figure, axes = sheet(3.6, title, ink)
    low = _least([result for _, result in points])
    if reach := _beyond([result for _, result in points]):
        low, room = reach[0], 0.03 * (reach[1] - reach[0])
        axes.set_ylim(low - room, reach[1] + room)
    else:
        axes.set_ylim(low - 0.03, 1.03)
    axes.grid(axis="y", color=ink.grid, linewidth=0.8)
    days = [date.fromisoformat(f"{week}-1") for week, _ in points]
    dated = list(zip(days, [result for _, result in points], strict=True))
    for known, run in groupby(dated, key=lambda each: each[1].value is not None):
        if known:
            axes.plot(
                *zip(*((day, result.value) for day, result in run), strict=True),
                color=ink.mark,
                linewidth=1.6,
            )
    for day, result in dated:
        if result.value is None:
            axes.annotate("undefined", (day, low), ha="center", fontsize=8, color=ink.faint, rotation=90)
            continue
        draw_interval(axes, result, day, upright=True, color=ink.mark, linewidth=2, alpha=0.55)
        axes.plot([day], [result.value], "o", markersize=6, color=ink.mark)
    spelt = range(0, len(points), max(1, -(-len(points) // SPELT_WEEKS)))
    axes.set_xticks([days[i] for i in spelt], [_week(points, i, spelt.step) for i in spelt])
    axes.set_xlim(min(days) - timedelta(days=4), max(days) + timedelta(days=4))
    axes.set_ylabel(axis, color=ink.text, fontsize=9)
    spell(axes.get_xticklabels(), ink)
    return figure


def _draw_dots(axes: Any, shown: Sequence[Figure], low: float, ink: Ink) -> None:
    """Paint all dots and all intervals at once: one by one, sixty of them would take most of a second."""
    known = [(place, result, result.value) for place, result in enumerate(shown) if result.value is not None]
    spans = [(place, result.low, result.high) for place, result, _ in known if result.low is not None]
    if spans:
        places, lows, highs = zip(*spans, strict=True)
        axes.hlines(places, lows, highs, color=ink.mark, linewidth=2, capstyle="round")
    axes.plot(
        [value for *_, value in known], [place for place, *_ in known], "o", markersize=6, color=ink.mark
    )
    ends = [max(value, result.high or value) for _, result, value in known]
    for (place, result, value), end in zip(known, ends, strict=True):
        words = f"{value:.2f}  n = {result.n}".replace("-", "−")
        label = axes.annotate(
            words, (end, place), (8, 0), textcoords="offset points", va="center", fontsize=8, color=ink.text
        )
        # The one that reaches furthest makes the room for all.
        label.set_in_layout(end == max(ends))
        if value < 0:
            # On its own background, so that the line at zero does not run through it.
            label.set_bbox({"facecolor": ink.paper, "edgecolor": "none", "pad": 0.6})
    for place, result in enumerate(shown):
        if result.value is None:
            axes.annotate("undefined", (low, place), va="center", fontsize=8, color=ink.faint)


def _least(figures: Sequence[Figure]) -> float:
    """The start of the axis: 0, or below the lowest bound at a tenth that makes whole fifths up to 1."""
    least = min((x for each in figures for x in (each.value, each.low) if x is not None), default=0.0)
    return 0.0 if least >= 0 else max(-1.0, -0.2 * -(-round(-least * 1000) // 200))


def _beyond(figures: Sequence[Figure]) -> tuple[float, float] | None:
    """The range of figures in units of a scale, including 0; None if all lie from −1 to 1."""
    known = [x for each in figures for x in (each.value, each.low, each.high) if x is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return (min(low, 0.0), max(high, 0.0)) if low < -1 or high > 1 else None


def _week(points: Points, place: int, step: int) -> str:
    (week, result), before = points[place], points[place - step][0] if place else ""
    label = week if week[:4] != before[:4] else week[5:]
    return f"{label}\nn = {result.n}"


# To see more of them one narrows the table; the rest is counted at the foot.
MOST_LINES, MOST_PANELS, PER_ROW = 80, 12, 4
INCH_PER_LINE = 0.29
ROOM_FOR_WORDS = 0.12


@dataclass(frozen=True, slots=True)
class PlottedRater:
    """A rater's figure: filled for a judge, hollow for people; `remark` states a limitation."""

    name: str
    estimate: Estimate
    judge: bool
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Raters on the same units, and the human band across them."""

    title: str
    raters: Sequence[PlottedRater]
    human: Estimate | None


def beside(title: str, sections: Sequence[Section], axis: str, ink: Ink = PRINTED) -> Any:
    """Raters section by section on one axis, each with its interval, and the human band behind those of a section."""
    headed = len(sections) > 1
    lines = list(accumulate(len(section.raters) + headed for section in sections))
    # As many sections as are still readable, one at least.
    shown = sections[: max(1, bisect_right(lines, MOST_LINES))]
    words = axis + left_out(len(sections) - len(shown), "\n")
    count = lines[len(shown) - 1] if shown else 0
    figure, axes = lying_sheet(1.35 + INCH_PER_LINE * max(3, count), title, words, ink)
    furthest, names = _reach(shown), list[str]()
    for section in shown:
        names += [short(section.title, 34)] * headed
        _band(axes, section.human, len(names) - 0.5, len(names) + len(section.raters) - 0.5, ink)
        for place, rater in enumerate(section.raters, len(names)):
            _rated(axes, place, rater, ink, max(1.0, furthest))
        names += [short(rater.name) for rater in section.raters]
    low, high = axes.get_xlim()
    if furthest > 1:
        axes.set_xlim(min(0.0, low), high + ROOM_FOR_WORDS * (high - low))
    else:
        axes.set_xlim(max(-1.05, min(0.0, low)), 1 + ROOM_FOR_WORDS)
    name_rows(axes, names, ink)
    if headed:
        titles = [short(section.title, 34) for section in shown]
        for label in axes.get_yticklabels():
            label.set_fontweight("bold" if label.get_text() in titles else "normal")
    _key(figure, axes, shown, ink)
    return figure


def _band(axes: Any, human: Estimate | None, top: float, bottom: float, ink: Ink) -> None:
    if human is None or human.value is None:
        return
    if human.low is not None and human.high is not None:
        across = [human.low, human.high, human.high, human.low]
        axes.fill(across, [top, top, bottom, bottom], color=ink.mark, alpha=0.15, linewidth=0, zorder=0.5)
    axes.plot([human.value] * 2, [top, bottom], color=ink.mark, linewidth=1, linestyle=":", zorder=0.6)


def _reach(sections: Sequence[Section]) -> float:
    """The greatest distance from 0 of anything painted: beyond 1 it is in units of a scale."""
    every = [
        estimate
        for section in sections
        for estimate in (section.human, *(rater.estimate for rater in section.raters))
    ]
    known = [
        abs(x)
        for estimate in every
        if estimate
        for x in (estimate.value, estimate.low, estimate.high)
        if x is not None
    ]
    return max(known, default=0.0)


def _rated(axes: Any, y: float, rater: PlottedRater, ink: Ink, furthest: float) -> None:
    result = rater.estimate
    if result.value is None:
        axes.annotate("undefined", (0.01, y), va="center", fontsize=8, color=ink.faint)
        return
    colour = ink.mark if rater.judge else ink.text
    draw_interval(axes, result, y, color=colour, linewidth=2, solid_capstyle="round")
    axes.plot(
        [result.value], [y], "o" if rater.judge else "s", markersize=8 if rater.judge else 6.5, markeredgewidth=2,
        markerfacecolor=colour if rater.judge else ink.paper, markeredgecolor=colour,
    )  # fmt: skip
    edge = max(result.value, result.high if result.high is not None else result.value)
    words = f"{result.value:.3f}  {rater.remark}".rstrip().replace("-", "−")
    axes.annotate(
        words, (min(edge, furthest), y), (8, 0), textcoords="offset points", va="center", fontsize=8.5,
        color=ink.text,
    )  # fmt: skip


def _key(figure: Any, axes: Any, sections: Sequence[Section], ink: Ink) -> None:
    kinds = {rater.judge for section in sections for rater in section.raters}
    if True in kinds:
        axes.plot([], [], "o-", markersize=7, color=ink.mark, label="judge")
    if False in kinds:
        axes.plot([], [], "s-", markersize=6, color=ink.text, markerfacecolor=ink.paper, label="people")
    if any(each.human is not None and each.human.low is not None for each in sections):
        axes.fill([], [], color=ink.mark, alpha=0.15, label="people with one another")
    _legend(figure, axes, ink, 3)


def differences(
    title: str,
    rows: Sequence[tuple[str, Estimate]],
    axis: str,
    ink: Ink = PRINTED,
    margin: float | None = None,
) -> Any:
    """Differences with their intervals about a line at 0; hollow if the interval includes it.

    With a `margin`, the acceptable loss, that line is dashed, and the interval is compared with it.
    """
    shown = list(rows[:MOST_LINES])
    words = axis + left_out(len(rows) - len(shown), "\n")
    figure, axes = lying_sheet(1.2 + INCH_PER_LINE * max(3, len(shown)), title, words, ink)
    axes.axvline(0, color=ink.text, linewidth=1)
    if margin is not None:
        axes.axvline(-margin, color=ink.text, linewidth=1, linestyle="--")
    edge = -(margin or 0)
    for place, (_, result) in enumerate(shown):
        if result.value is None:
            axes.annotate("undefined", (0.005, place), va="center", fontsize=8, color=ink.faint)
            continue
        open_ = result.low is None or result.high is None or result.low <= edge <= result.high
        draw_interval(axes, result, place, color=ink.mark, linewidth=2)
        axes.plot(
            [result.value], [place], "o", markersize=8, markeredgewidth=2, markeredgecolor=ink.mark,
            markerfacecolor=ink.paper if open_ else ink.mark,
        )  # fmt: skip
    reach = max((abs(edge) for edge in axes.get_xlim()), default=0.1)
    axes.set_xlim(-reach, reach)
    name_rows(axes, [short(name, 34) for name, _ in shown], ink)
    return figure


def confusions(
    title: str,
    raters: Sequence[tuple[str, Mapping[tuple[str, str], float]]],
    values: Sequence[str],
    ink: Ink = PRINTED,
) -> Any:
    """A small matrix for each rater: true values in rows, predicted in columns; counts, and their share of the row."""
    shown = list(raters[:MOST_PANELS])
    across = max(1, min(PER_ROW, len(shown), int(ink.width / (0.9 + 0.45 * len(values)))))
    down = -(-len(shown) // across)
    figure, first = sheet(0.7 + down * (1.05 + 0.42 * len(values)), title, ink)
    first.remove()
    for place, (name, counts) in enumerate(shown):
        _panel(
            figure.add_subplot(down, across, place + 1),
            name,
            counts,
            values,
            ink,
            labelled=place % across == 0,
        )
    if left := left_out(len(raters) - len(shown)):
        spell([figure.supxlabel(left, fontsize=9)], ink)
    return figure


def _panel(
    axes: Any, name: str, counts: Mapping[tuple[str, str], float], values: Sequence[str], ink: Ink, *, labelled: bool
) -> None:  # fmt: skip
    colours = _colours(ink)
    axes.set_facecolor(ink.paper)
    axes.spines[:].set_visible(False)
    totals = {true: sum(counts.get((true, given), 0) for given in values) for true in values}
    shares = [
        [counts.get((true, given), 0) / totals[true] if totals[true] else 0.0 for given in values] for true in values
    ]  # fmt: skip
    axes.imshow(shares, aspect="auto", cmap=colours, vmin=0, vmax=1)
    for i, true in enumerate(values):
        for j, given in enumerate(values):
            many = counts.get((true, given), 0)
            words = f"{many:,.0f}" + (f"\n{100 * shares[i][j]:.0f} %" if totals[true] else "")
            colour = contrasting(ink, colours(shares[i][j]))
            axes.text(j, i, words, ha="center", va="center", fontsize=8, color=colour)
    axes.tick_params(axis="both", length=0, labelsize=8, colors=ink.text)
    axes.set_xticks(range(len(values)), [short(value, 12) for value in values])
    axes.set_yticks(range(len(values)), [short(value, 12) for value in values])
    axes.set_title(short(name, 22), fontsize=9)
    axes.set_xlabel("said", fontsize=8)
    axes.set_ylabel("true" if labelled else "", fontsize=8)
    spell(
        [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.get_xticklabels(), *axes.get_yticklabels()],
        ink,
    )
