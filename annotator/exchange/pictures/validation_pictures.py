"""Pictures of validation: judges and people on one axis with the human band, and confusion matrices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.exchange.pictures.figures import PRINTED, Ink, name_axis, sheet, short, spell
from annotator.exchange.pictures.result_pictures import contrasting

# Anyone who wants more of them narrows the table; the rest is counted at the foot.
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
    drawn, left = _fitting(sections, headed)
    count = sum(len(each.raters) + headed for each in drawn)
    figure, axes = sheet(1.35 + INCH_PER_LINE * max(3, count), title, ink)
    axes.grid(axis="x", color=ink.grid, linewidth=0.8)
    name_axis(axes, axis + (f"\n{counted(left, 'more is', 'more are')} not drawn" if left else ""), ink)
    places: list[float] = []
    names: list[str] = []
    y = 0.0
    for section in drawn:
        if headed:
            places.append(y)
            names.append(short(section.title, 34))
            y += 1
        _band(axes, section.human, y - 0.5, y + len(section.raters) - 0.5, ink)
        for rater in section.raters:
            _rated(axes, y, rater, ink, max(1.0, _reach(drawn)))
            places.append(y)
            names.append(short(rater.name))
            y += 1
    low, high = axes.get_xlim()
    if _reach(drawn) > 1:
        axes.set_xlim(min(0.0, low), high + ROOM_FOR_WORDS * (high - low))
    else:
        axes.set_xlim(max(-1.05, min(0.0, low)), 1 + ROOM_FOR_WORDS)
    axes.set_yticks(places, names)
    axes.set_ylim(max(y, 1) - 0.4, -0.6)
    spell(axes.get_yticklabels(), ink)
    if headed:
        titles = {id(section): short(section.title, 34) for section in drawn}.values()
        for label in axes.get_yticklabels():
            label.set_fontweight("bold" if label.get_text() in titles else "normal")
    _key(figure, axes, drawn, ink)
    return figure


def _fitting(sections: Sequence[Section], headed: bool) -> tuple[list[Section], int]:
    """As many sections as are still read, one at least, and how many are left out."""
    drawn: list[Section] = []
    lines = 0
    for section in sections:
        lines += len(section.raters) + headed
        if drawn and lines > MOST_LINES:
            break
        drawn.append(section)
    return drawn, len(sections) - len(drawn)


def _band(axes: Any, human: Estimate | None, top: float, bottom: float, ink: Ink) -> None:
    if human is None or human.value is None:
        return
    if human.low is not None and human.high is not None:
        across = [human.low, human.high, human.high, human.low]
        axes.fill(across, [top, top, bottom, bottom], color=ink.mark, alpha=0.15, linewidth=0, zorder=0.5)
    axes.plot([human.value] * 2, [top, bottom], color=ink.mark, linewidth=1, linestyle=":", zorder=0.6)


def _reach(drawn: Sequence[Section]) -> float:
    """How far from 0 anything that is drawn lies: beyond 1 it is in units of a scale."""
    every = [
        one for section in drawn for one in (section.human, *(rater.estimate for rater in section.raters))
    ]
    known = [abs(x) for one in every if one for x in (one.value, one.low, one.high) if x is not None]
    return max(known, default=0.0)


def _rated(axes: Any, y: float, rater: PlottedRater, ink: Ink, furthest: float) -> None:
    found = rater.estimate
    if found.value is None:
        axes.annotate("undefined", (0.01, y), va="center", fontsize=8, color=ink.faint)
        return
    colour = ink.mark if rater.judge else ink.text
    if found.low is not None and found.high is not None:
        axes.plot([found.low, found.high], [y, y], color=colour, linewidth=2, solid_capstyle="round")
    axes.plot(
        [found.value], [y], "o" if rater.judge else "s", markersize=8 if rater.judge else 6.5, markeredgewidth=2,
        markerfacecolor=colour if rater.judge else ink.paper, markeredgecolor=colour,
    )  # fmt: skip
    edge = max(found.value, found.high if found.high is not None else found.value)
    words = f"{found.value:.3f}  {rater.remark}".rstrip().replace("-", "−")
    label = axes.annotate(
        words, (min(edge, furthest), y), (8, 0), textcoords="offset points", va="center", fontsize=8.5
    )
    label.set_color(ink.text)


def _key(figure: Any, axes: Any, sections: Sequence[Section], ink: Ink) -> None:
    """What full and hollow marks are, and the band."""
    kinds = {rater.judge for section in sections for rater in section.raters}
    if True in kinds:
        axes.plot([], [], "o-", markersize=7, color=ink.mark, label="judge")
    if False in kinds:
        axes.plot([], [], "s-", markersize=6, color=ink.text, markerfacecolor=ink.paper, label="people")
    if any(each.human is not None and each.human.low is not None for each in sections):
        axes.fill([], [], color=ink.mark, alpha=0.15, label="people with one another")
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        legend = figure.legend(
            handles, labels, loc="outside lower center", ncols=len(handles) if ink.width > 5 else 2, frameon=False,
            fontsize=8.5,
        )  # fmt: skip
        spell(legend.get_texts(), ink)


def differences(
    title: str,
    rows: Sequence[tuple[str, Estimate]],
    axis: str,
    ink: Ink = PRINTED,
    margin: float | None = None,
) -> Any:
    """Differences with their intervals about a line at 0; hollow where the interval spans it.

    With a `margin`, how much worse something may be, that line is dashed, and the interval is compared with it.
    """
    drawn = list(rows[:MOST_LINES])
    figure, axes = sheet(1.2 + INCH_PER_LINE * max(3, len(drawn)), title, ink)
    axes.grid(axis="x", color=ink.grid, linewidth=0.8)
    left = (
        f"\n{counted(len(rows) - len(drawn), 'more is', 'more are')} not drawn"
        if len(rows) > len(drawn)
        else ""
    )
    name_axis(axes, axis + left, ink)
    axes.axvline(0, color=ink.text, linewidth=1)
    if margin is not None:
        axes.axvline(-margin, color=ink.text, linewidth=1, linestyle="--")
    edge = -(margin or 0)
    for place, (_, found) in enumerate(drawn):
        if found.value is None:
            axes.annotate("undefined", (0.005, place), va="center", fontsize=8, color=ink.faint)
            continue
        open_ = found.low is None or found.high is None or found.low <= edge <= found.high
        if found.low is not None and found.high is not None:
            axes.plot([found.low, found.high], [place, place], color=ink.mark, linewidth=2)
        axes.plot(
            [found.value], [place], "o", markersize=8, markeredgewidth=2, markeredgecolor=ink.mark,
            markerfacecolor=ink.paper if open_ else ink.mark,
        )  # fmt: skip
    reach = max((abs(edge) for edge in axes.get_xlim()), default=0.1)
    axes.set_xlim(-reach, reach)
    axes.set_yticks(range(len(drawn)), [short(name, 34) for name, _ in drawn])
    axes.set_ylim(len(drawn) - 0.4, -0.6)
    spell(axes.get_yticklabels(), ink)
    return figure


def confusions(
    title: str,
    raters: Sequence[tuple[str, Mapping[tuple[str, str], float]]],
    values: Sequence[str],
    ink: Ink = PRINTED,
) -> Any:
    """A small matrix for each rater: true values down, what was said across; counts, and their share of the row."""
    drawn = list(raters[:MOST_PANELS])
    across = max(1, min(PER_ROW, len(drawn), int(ink.width / (0.9 + 0.45 * len(values)))))
    down = -(-len(drawn) // across)
    figure, first = sheet(0.7 + down * (1.05 + 0.42 * len(values)), title, ink)
    first.remove()
    for place, (name, counts) in enumerate(drawn):
        axes = figure.add_subplot(down, across, place + 1)
        _panel(axes, name, counts, values, ink, labelled=place % across == 0)
    if len(raters) > len(drawn):
        more = figure.supxlabel(
            f"{counted(len(raters) - len(drawn), 'more is', 'more are')} not drawn", fontsize=9
        )
        spell([more], ink)
    return figure


def _panel(
    axes: Any, name: str, counts: Mapping[tuple[str, str], float], values: Sequence[str], ink: Ink, *, labelled: bool
) -> None:  # fmt: skip
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("goldsmith", [ink.grid, ink.mark])
    axes.set_facecolor(ink.paper)
    for side in axes.spines.values():
        side.set_visible(False)
    totals = {true: sum(counts.get((true, said), 0) for said in values) for true in values}
    shares = [
        [counts.get((true, said), 0) / totals[true] if totals[true] else 0.0 for said in values] for true in values
    ]  # fmt: skip
    axes.imshow(shares, aspect="auto", cmap=colours, vmin=0, vmax=1)
    for i, true in enumerate(values):
        for j, said in enumerate(values):
            many = counts.get((true, said), 0)
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
