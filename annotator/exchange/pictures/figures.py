"""Pictures of results: systems with their intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import east_asian_width

from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.words import counted

INCH_PER_SYSTEM = 0.42
LETTERS_PER_INCH, WIDEST_NAME = 12, 30
# Tried in this order, so that names in any script are drawn with some installed font.
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
    """How wide the picture is, in inches."""


PRINTED = Ink()


def intervals(
    figures: Sequence[tuple[str, Estimate]],
    title: str,
    axis: str,
    ink: Ink = PRINTED,
    *,
    within: tuple[float, float] | None = (0.0, 1.0),
    higher_is_better: bool = True,
) -> Any:
    """A matplotlib Figure of systems (name, estimate), best first, each a dot with its 95 % interval.

    A system with missing judgements is drawn hollow over the range that the missing ones could move it to;
    one without any value is named and left empty. The axis runs `within` two bounds, without them from 0 on.
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
        _draw(axes, place, estimate, ink)
    name_rows(axes, [short(name) for name, _ in ordered], ink)
    if within is None:
        # Room behind the last figure for its words.
        axes.set_xlim(min(0.0, axes.get_xlim()[0]), axes.get_xlim()[1] * 1.18)
    return figure


def sheet(height: float, title: str, ink: Ink) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    made = Figure(figsize=(ink.width, height), facecolor=ink.paper, layout="constrained")
    axes = made.add_subplot()
    axes.set_facecolor(ink.paper)
    # Over the whole sheet: names may leave the axes little width.
    head = made.suptitle(_fitting(title, ink.width), x=0.01, ha="left", fontsize=10.5, color=ink.text)
    spell([head], ink)
    axes.tick_params(axis="both", length=0, labelsize=9, colors=ink.text)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)
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
    """The line from the `low` to the `high` of a figure, where both are known, at a place of the other axis."""
    if figure.low is not None and figure.high is not None:
        ends = [figure.low, figure.high], [at, at]
        axes.plot(*(ends[::-1] if upright else ends), **look)


def not_drawn(rest: int, before: str = "") -> str:
    """“3 more are not drawn” of what a picture has no room for; empty where all of it is drawn."""
    return f"{before}{counted(rest, 'more is', 'more are')} not drawn" if rest > 0 else ""


def _fitting(title: str, width: float) -> str:
    from textwrap import fill

    return fill(title, max(20, int(width * LETTERS_PER_INCH)))


def short(name: str, widest: int = WIDEST_NAME) -> str:
    """As much of a name as there is room for; a wide letter takes two places."""
    name, width = " ".join(name.split()), 0
    for place, letter in enumerate(name):
        width += 2 if east_asian_width(letter) in "WF" else 1
        if width > widest:
            return name[: place - 1] + "…"
    return name


def name_axis(axes: Any, words: str, ink: Ink) -> None:
    axes.set_xlabel(_fitting(words, ink.width * 0.72), fontsize=9)
    spell([axes.xaxis.label], ink)


def spell(labels: Iterable[Any], ink: Ink) -> None:
    """Set labels in fonts that have their letters; a name with two dollar signs is no formula."""
    fonts = installed_fonts()
    for label in labels:
        label.set_fontfamily(fonts)
        label.set_color(ink.text)
        label.set_parse_math(False)


def installed_fonts() -> list[str]:
    """Those of FONTS that this machine has; asking for others would fill the log."""
    from matplotlib import font_manager

    there = set(font_manager.get_font_names())
    return [name for name in FONTS if name in there]


def _draw(axes: Any, place: int, estimate: Estimate, ink: Ink) -> None:
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
    said = f"{estimate.value:.3f}" if abs(estimate.value) < 10 else f"{estimate.value:,.1f}"
    words = said if estimate.complete else f"{said}  {estimate.missing:,} missing"
    edge = max(estimate.value, estimate.high or 0, (estimate.ceiling or 0) if not estimate.complete else 0)
    axes.annotate(
        words, (edge, place), (8, 0), textcoords="offset points", va="center", fontsize=9, color=ink.text
    )
