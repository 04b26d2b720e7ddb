"""Pictures of agreement: one figure of many groups, or of one field over weeks, drawn for the window or to be saved."""

from collections.abc import Iterable
from typing import Any

from annotator.actions.agreement import agreement_words as words
from annotator.actions.agreement.agreement_figures import SELF, Row
from annotator.actions.agreement.agreement_report import VOTES, Report
from annotator.domain.experts.agreement import Figure
from annotator.exchange.pictures.figures import PRINTED, Ink

AXES = {
    "agreement": "share of pairs that agree, 95 % interval (Wilson)",
    "match_f1": "F1, a lower bound, mean over items, 95 % interval (bootstrap)",
    "jaccard": "Jaccard, mean over items, 95 % interval (bootstrap)",
    "order_tau": "τ-b, mean over items, 95 % interval (bootstrap)",
    "pearson": "Pearson's r, 95 % interval (Fisher's z)",
}
OF = {
    "stage": "by stage",
    "pair": "by pair of raters",
    "person": "by person",
    "criterion": "by criterion, the lowest first",
    "item": "by item, the lowest first",
    "week": "by week",
    "guideline": "by guideline version",
    SELF: "of people with themselves",
    VOTES: "of seniors' first votes with the raters",
}
# Where each row is another field, one picture holds them all.
WHOLE = ("stage", SELF, VOTES)


def drawable(rows: Iterable[Row], chosen: Row) -> list[str]:
    """The names of the figures that a picture around the chosen row can show, the row's own first."""
    own = words.main(chosen).name
    there = [name for name in words.TITLES if any(row.figure(name) for row in beside(rows, chosen))]
    return sorted(there, key=lambda name: name != own)


def beside(rows: Iterable[Row], chosen: Row) -> list[Row]:
    """The rows that belong into one picture with the chosen one."""
    if chosen.by in WHOLE:
        return [row for row in rows if row.by == chosen.by]
    return [row for row in rows if (row.stage, row.field) == (chosen.stage, chosen.field)]


def drawn(rows: Iterable[Row], chosen: Row, name: str) -> list[Row]:
    """The rows of the picture in the order they are drawn; items and criteria with the lowest figure first."""
    found = [row for row in beside(rows, chosen) if row.figure(name)]
    if chosen.by in ("item", "criterion"):
        found.sort(key=lambda row: _height(row.figure(name)))
    return found


def picture(report: Report, rows: list[Row], name: str, ink: Ink = PRINTED) -> Any:
    """A figure of these rows as a matplotlib Figure, by default for white paper; people appear by alias."""
    from annotator.exchange.pictures.agreement_pictures import by_group, by_week

    first = rows[0]
    title = f"{words.TITLES[name]} {OF[first.by]}"
    if first.by not in WHOLE:
        title = f"{words.TITLES[name]} of {first.stage.value}: {words.field(first)}, {OF[first.by]}"
    axis = AXES.get(name, f"{words.TITLES[name]}, 95 % interval (bootstrap over items)")
    points = [(_name(report, row), found) for row in rows if (found := row.figure(name))]
    return (by_week if first.by == "week" else by_group)(points, title, axis, ink)


def _name(report: Report, row: Row) -> str:
    if row.by in ("stage", VOTES):
        return f"{row.stage.value}: {words.field(row)}"
    return row.name if row.by == "week" else words.group(report, row)


def _height(found: Figure | None) -> tuple[bool, float]:
    value = found.value if found else None
    return value is None, value or 0.0
