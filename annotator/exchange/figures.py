"""How results are drawn for people to look at and to print: systems with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotator.domain.estimate import Estimate

INCH_PER_SYSTEM = 0.42
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
    """The colours of a picture."""

    paper: str = "#ffffff"
    text: str = "#1c2430"
    faint: str = "#9aa4b2"
    grid: str = "#e6e9ee"
    mark: str = "#8a5a00"


PRINTED = Ink()


def intervals(figures: Sequence[tuple[str, Estimate]], title: str, axis: str, ink: Ink = PRINTED) -> Any:
    """A matplotlib Figure of systems (name, estimate), best first, each a dot with its 95 % interval.

    A system with missing judgements is drawn hollow over the range that the missing ones could move it to;
    one without any value is named and left empty.
    """
    from matplotlib.figure import Figure

    ordered = sorted(figures, key=lambda pair: (pair[1].value is None, -(pair[1].value or 0), pair[0]))
    height = 1.15 + INCH_PER_SYSTEM * max(3, len(ordered))
    figure = Figure(figsize=(7.2, height), facecolor=ink.paper, layout="constrained")
    axes = figure.add_subplot()
    fonts = installed_fonts()
    _dress(axes, title, axis, ink, fonts)
    for place, (_, estimate) in enumerate(ordered):
        _draw(axes, place, estimate, ink)
    axes.set_yticks(range(len(ordered)), [name for name, _ in ordered])
    axes.set_ylim(len(ordered) - 0.4, -0.6)
    for label in axes.get_yticklabels():
        label.set_fontfamily(fonts)
        label.set_color(ink.text)
        # A name with two dollar signs is no formula.
        label.set_parse_math(False)
    return figure


def installed_fonts() -> list[str]:
    """Those of FONTS that this machine has; asking for others would fill the log."""
    from matplotlib import font_manager

    there = set(font_manager.get_font_names())
    return [name for name in FONTS if name in there]


def _dress(axes: Any, title: str, axis: str, ink: Ink, fonts: list[str]) -> None:
    axes.set_facecolor(ink.paper)
    axes.set_xlim(0, 1.12)
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.set_title(title, loc="left", fontsize=11, fontfamily=fonts, color=ink.text, pad=10, parse_math=False)
    axes.set_xlabel(axis, color=ink.text, fontsize=9)
    axes.tick_params(axis="both", length=0, labelsize=9, colors=ink.text)
    axes.grid(axis="x", color=ink.grid, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)


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
    if estimate.low is not None and estimate.high is not None:
        axes.plot(
            [estimate.low, estimate.high], [place, place], color=ink.mark, linewidth=2, solid_capstyle="round"
        )
    face = ink.mark if estimate.complete else ink.paper
    axes.plot(
        [estimate.value],
        [place],
        "o",
        markersize=8,
        markeredgewidth=2,
        markerfacecolor=face,
        markeredgecolor=ink.mark,
    )
    words = (
        f"{estimate.value:.3f}" if estimate.complete else f"{estimate.value:.3f}  {estimate.missing} missing"
    )
    edge = max(estimate.value, estimate.high or 0, (estimate.ceiling or 0) if not estimate.complete else 0)
    axes.annotate(
        words, (edge, place), (8, 0), textcoords="offset points", va="center", fontsize=9, color=ink.text
    )
