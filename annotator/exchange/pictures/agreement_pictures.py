"""Pictures of agreement: dots by group, lines by week."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any

from annotator.domain.experts.agreement import Figure
from annotator.domain.texts.counting import counted
from annotator.exchange.pictures.figures import PRINTED, Ink, name_axis, sheet, short, spell

INCH_PER_GROUP = 0.3
# A picture of more groups is read by nobody; the lowest are what people look for.
MOST_GROUPS = 60
WIDEST_NAME = 34
SPELT_WEEKS = 12
Points = Sequence[tuple[str, Figure]]


def by_group(points: Points, title: str, axis: str, ink: Ink = PRINTED) -> Any:
    """A matplotlib Figure of groups (name, figure) in their order, each a dot with its 95 % interval.

    A group without a value is named and says so; of more than MOST_GROUPS the rest is counted at the foot.
    """
    shown = points[:MOST_GROUPS]
    figure, axes = sheet(1.25 + INCH_PER_GROUP * max(3, len(shown)), title, ink)
    low = _least([found for _, found in shown])
    if reach := _beyond([found for _, found in shown]):
        low = reach[0]
        axes.set_xlim(low - 0.02 * (reach[1] - low), reach[1] + 0.2 * (reach[1] - low))
    else:
        axes.set_xlim(low - 0.02, 1.16 if low >= 0 else 1.24)
        axes.set_xticks([tick / 10 for tick in range(round(low * 10), 11, 2)])
    axes.grid(axis="x", color=ink.grid, linewidth=0.8)
    if low < 0:
        axes.axvline(0, color=ink.faint, linewidth=1)
    _draw_dots(axes, [found for _, found in shown], low, ink)
    axes.set_yticks(range(len(shown)), [short(name, WIDEST_NAME) for name, _ in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    rest = len(points) - len(shown)
    left = f"; {counted(rest, 'more is', 'more are')} not drawn" if rest else ""
    name_axis(axes, f"{axis}{left}", ink)
    spell(axes.get_yticklabels(), ink)
    return figure


def by_week(points: Points, title: str, axis: str, ink: Ink = PRINTED) -> Any:
    """A matplotlib Figure of ISO weeks (“2026-W09”, figure) as a line with its 95 % intervals.

    Weeks stand as far apart as they are; the line breaks at a week without a value, which says so.
    """
    figure, axes = sheet(3.6, title, ink)
    low = _least([found for _, found in points])
    if reach := _beyond([found for _, found in points]):
        low, room = reach[0], 0.03 * (reach[1] - reach[0])
        axes.set_ylim(low - room, reach[1] + room)
    else:
        axes.set_ylim(low - 0.03, 1.03)
    axes.grid(axis="y", color=ink.grid, linewidth=0.8)
    days = [date.fromisoformat(f"{week}-1") for week, _ in points]
    for run in _runs(points):
        axes.plot([days[i] for i in run], [points[i][1].value for i in run], color=ink.mark, linewidth=1.6)
    for day, (_, found) in zip(days, points, strict=True):
        _mark(axes, day, found, low, ink)
    spelt = range(0, len(points), max(1, -(-len(points) // SPELT_WEEKS)))
    axes.set_xticks([days[i] for i in spelt], [_week(points, i, spelt.step) for i in spelt])
    axes.set_xlim(min(days) - timedelta(days=4), max(days) + timedelta(days=4))
    axes.set_ylabel(axis, color=ink.text, fontsize=9)
    spell(axes.get_xticklabels(), ink)
    return figure


def _draw_dots(axes: Any, shown: Sequence[Figure], low: float, ink: Ink) -> None:
    """All dots and all intervals at once: one by one, sixty of them would take most of a second."""
    known = [(place, found, found.value) for place, found in enumerate(shown) if found.value is not None]
    spans = [(place, found.low, found.high) for place, found, _ in known if found.low is not None]
    if spans:
        places, lows, highs = zip(*spans, strict=True)
        axes.hlines(places, lows, highs, color=ink.mark, linewidth=2, capstyle="round")
    axes.plot(
        [value for *_, value in known], [place for place, *_ in known], "o", markersize=6, color=ink.mark
    )
    ends = [max(value, found.high or value) for _, found, value in known]
    for (place, found, value), end in zip(known, ends, strict=True):
        words = f"{value:.2f}  n = {found.n}".replace("-", "−")
        label = axes.annotate(
            words, (end, place), (8, 0), textcoords="offset points", va="center", fontsize=8, color=ink.text
        )
        # The one that reaches furthest makes the room for all.
        label.set_in_layout(end == max(ends))
        if value < 0:
            # On paper of its own, so that the line at zero does not run through it.
            label.set_bbox({"facecolor": ink.paper, "edgecolor": "none", "pad": 0.6})
    for place, found in enumerate(shown):
        if found.value is None:
            axes.annotate("undefined", (low, place), va="center", fontsize=8, color=ink.faint)


def _mark(axes: Any, day: date, found: Figure, low: float, ink: Ink) -> None:
    if found.value is None:
        axes.annotate("undefined", (day, low), ha="center", fontsize=8, color=ink.faint, rotation=90)
        return
    if found.low is not None and found.high is not None:
        axes.plot([day, day], [found.low, found.high], color=ink.mark, linewidth=2, alpha=0.55)
    axes.plot([day], [found.value], "o", markersize=6, color=ink.mark)


def _runs(points: Points) -> Iterator[list[int]]:
    """The places of values that follow one another without a gap."""
    run: list[int] = []
    for place, (_, found) in enumerate(points):
        if found.value is not None:
            run.append(place)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _least(found: Sequence[Figure]) -> float:
    """Where the axis begins: 0, or below the lowest bound at a tenth that makes whole fifths up to 1."""
    least = min((x for each in found for x in (each.value, each.low) if x is not None), default=0.0)
    return 0.0 if least >= 0 else max(-1.0, -0.2 * -(-round(-least * 1000) // 200))


def _beyond(found: Sequence[Figure]) -> tuple[float, float] | None:
    """From where to where figures in units of a scale reach, 0 among them; None where all lie from −1 to 1."""
    known = [x for each in found for x in (each.value, each.low, each.high) if x is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return (min(low, 0.0), max(high, 0.0)) if low < -1 or high > 1 else None


def _week(points: Points, place: int, step: int) -> str:
    """A week with its n; the year is said once."""
    (week, found), before = points[place], points[place - step][0] if place else ""
    said = week if week[:4] != before[:4] else week[5:]
    return f"{said}\nn = {found.n}"
