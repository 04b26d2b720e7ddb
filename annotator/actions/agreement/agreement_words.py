"""Presentation of agreement figures: in words, as a table to copy, as JSON, and as pictures."""

from collections.abc import Iterable
from typing import Any

from annotator.actions.agreement.agreement_figures import SELF, FigureRow
from annotator.actions.agreement.agreement_report import (
    BY_ADJUDICATOR,
    BY_MODEL,
    VOTES,
    AgreementReport,
    SecondFigures,
)
from annotator.actions.authoring.comparing import VALUE
from annotator.actions.results.result_exports import tabbed
from annotator.actions.results.result_sheets import columns
from annotator.domain.experts.agreement import Figure, bound_of
from annotator.domain.judges.level_figures import FIGURES, IN_UNITS, WORDS
from annotator.domain.judges.scale import NO_VALUES, Scale
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import decimal, interval, of_items
from annotator.domain.texts.ordering import natural
from annotator.exchange.pictures.figures import PRINTED, Ink
from annotator.protocols import PROTOCOLS

# Figure by figure, in the order they are shown: its short name, and what it is.
TITLES = {
    "match_f1": "Match F1",
    "agreement": "Agreement",
    "kappa": "κ",
    "ac1": "AC1",
    **{name: title for name, (title, _) in WORDS.items()},
    "jaccard": "Jaccard",
    "order_tau": "Order τ",
    "pearson": "r",
}
ABOUT = {
    **{
        name: f"{words[:1].upper()}{words[1:]}. The interval is over items."
        for name, (_, words) in WORDS.items()
    },
    "match_f1": (
        "Twice the matched units over all units of both raters, item by item, then averaged. The fixed "
        "matcher pairs units one-to-one by the similarity of their words; it never sees who wrote what. If "
        "two people express the same idea in very different words it finds no pair, so the figure is a "
        "lower bound."
    ),
    "agreement": (
        "The share of pairs of values that are the same. Wilson's interval is over items, because pairs of one item "
        "are not independent."
    ),
    "kappa": (
        "Agreement beyond what raters with these shares of values would reach by chance: 1 is full agreement, 0 is "
        "chance. Linear: near values count as part agreement. Scott's π where pairs of values count both ways round. "
        "The interval is over whole items, because answers within one item are correlated."
    ),
    "ac1": (
        "Agreement beyond chance like κ, but with a chance that stays small when nearly everything is of one value. "
        "The interval is over items."
    ),
    "alpha": (
        "One minus the disagreement seen over the disagreement expected, for any number of raters and with missing "
        "values. The interval is over items."
    ),
    "spearman": (f"{WORDS['spearman'][1].capitalize()}. The interval is over items."),
    "jaccard": "Units in both lists divided by units in either, item by item, then averaged; references are "
    "matched by identifier.",
    "order_tau": (
        "Whether matched units are in the same order, item by item, then averaged: 1 the same, −1 the "
        "reverse."
    ),
    "pearson": "Correlation of the two raters' values; they need not be equal.",
}
FIELDS = {"units": "units", "label": "gold label", "item_score": "item score", "value": "judgement"}
# Shown as shares of a hundred; everything else as it is.
PERCENT = "agreement"
MAIN = ("match_f1", *(names[0] for names in FIGURES.values()), "pearson")


def title(found: Figure) -> str:
    """A figure's short name: κ says where its weights are linear, and is Scott's π where pairs count both ways."""
    named = TITLES[found.name]
    if found.name == "kappa" and ", linear weights" in found.method:
        named = TITLES["kappa_linear"]
    return named.replace("κ", "π") if "Scott's π" in found.method else named


def titles(rows: Iterable[FigureRow], name: str) -> str:
    """What a figure is called over all of these rows: “κ / κ linear / π”."""
    return " / ".join(sorted({title(found) for row in rows if (found := row.figure(name))})) or TITLES[name]


def number(found: Figure, digits: int = 2) -> str:
    """The value with its interval, “–” where it is undefined; a share is said in per cent."""
    if found.value is None:
        return "–"
    scale, sign = (100, " %") if found.name == PERCENT else (1, "")
    digits = max(1, digits - 1) if sign else digits

    def say(value: float) -> str:
        return decimal(value * scale, digits)

    return f"{say(found.value)}{sign} {interval(found, say)}".rstrip()


def said(found: Figure, digits: int = 2) -> str:
    """The number and its interval; in the place of an undefined number, why there is none."""
    return f"–  {reason(found)}" if found.value is None else number(found, digits)


def reason(found: Figure) -> str:
    """Why a figure is undefined; empty where it is not."""
    return "" if found.value is not None else of_items(found.note.partition("; ")[0])


def remarks(found: Figure) -> list[str]:
    """What else must be known of a figure: what was left out, why κ may be low though raters seldom differ, and
    whether it is a bound.
    """
    from annotator.stats.agreement.verdicts import KAPPA_PARADOX

    rest, paradox, after = found.note.partition(KAPPA_PARADOX)
    notes = [of_items(note) for note in f"{rest}; {after}".split("; ") if note]
    notes = notes if found.value is not None else notes[1:]
    return [*notes, *filter(None, (paradox, bound_of(found)))]


def main(row: FigureRow) -> Figure:
    return next((found for name in MAIN if (found := row.figure(name))), row.figures[0])


def field(row: FigureRow) -> str:
    """What raters are compared on; ordered values of a protocol by its title."""
    if row.field in PROTOCOLS:
        return f"{FIELDS[VALUE]}: {PROTOCOLS[row.field].title}"
    return FIELDS.get(row.field, row.field)


def scale_of(row: FigureRow) -> Scale:
    """The scale of a row's ordered values; one without values where there is none."""
    return PROTOCOLS[row.field].scale if row.field in PROTOCOLS else NO_VALUES


def group(report: AgreementReport, row: FigureRow) -> str:
    """What a row is of, people by alias: words that may leave the project."""
    if row.by in ("stage", VOTES):
        return row.stage.value
    if row.by == "item":
        return f"item {row.name}"
    if row.by == "criterion":
        return f"{report.items.get(row.group[0], '')}: {row.name}"
    if row.by == "guideline":
        return f"version {row.name}" if len(row.group) == 1 else f"versions {row.name}"
    return row.name


def names(report: AgreementReport, row: FigureRow) -> str:
    """The names of the people a row is of, or the item's question; what is not in `group` stays in the project."""
    if row.by == "item":
        return report.questions.get(row.group[0], "")
    if row.by not in ("pair", "person", SELF):
        return ""
    ids = [part for part in row.group if part in report.people]
    ids.sort(key=lambda person: natural(report.alias(person)))
    if all(report.people[person].name == report.alias(person) for person in ids):
        return ""
    # Isolated from one another: a name that runs from right to left would draw the next one along.
    return " · ".join(f"\u2068{report.people[person].name}\u2069" for person in ids)


def second(one: SecondFigures, row: FigureRow) -> str:
    """A figure by another pairing with its name, and the frozen one over the same; empty where there is none."""
    pair = one.of(row)
    if pair is None:
        return ""
    again, found, frozen = pair[0], main(pair[0]), main(pair[1])
    before = number(frozen).partition(" [")[0]
    return f"{title(found)} {number(found)}  frozen {before}  ({share(again, row)})"


def share(again: FigureRow, row: FigureRow) -> str:
    """Of how much of a row a second figure is."""
    return f"{again.lists:,} of {counted(row.lists, 'pair')} of lists"


COLUMNS = columns(
    ("stage", "Stage", "Stage that was written or judged"), ("by", "Grouped by"), ("group", "Group"),
    ("field", "Compared", "Whether raters have the same units, or a field of matched units"),
    ("n", "n", "Pairs of values given by both raters; number of items where units are compared"),
    ("items", "Items", "The items behind the figures, by key"), ("figures", "Figures", "Each with its interval"),
    (BY_ADJUDICATOR, "By the adjudicator's pairing"), (BY_MODEL, "Model-assisted"),
)  # fmt: skip


def plain(report: AgreementReport, row: FigureRow) -> dict[str, Any]:
    """A row as JSON: people by alias, undefined values null with their reason, second figures named as such."""
    paired = {one.name: one.of(row) for one in report.seconds}
    return {
        "stage": row.stage.value,
        "by": row.by,
        "group": row.name,
        "field": row.field,
        "n": row.n,
        "items": [report.items.get(item_id, item_id) for item_id in row.items],
        "figures": [_plain(found) for found in row.figures],
        **{
            name: _paired(row, *pair, report) if (pair := paired.get(name)) else None
            for name in (BY_ADJUDICATOR, BY_MODEL)
        },
    }


def _paired(row: FigureRow, again: FigureRow, beside: FigureRow, report: AgreementReport) -> dict[str, Any]:
    """`lists` are the pairs of lists that the row is of, `there` those that were paired so."""
    return {
        "items": [report.items.get(item_id, item_id) for item_id in again.items],
        "lists": row.lists,
        "there": again.lists,
        "n": again.n,
        "figures": [_plain(found) | {"bound": ""} for found in again.figures],
        "frozen_figures_of_these_lists": [_plain(found) for found in beside.figures],
    }


def _plain(found: Figure) -> dict[str, Any]:
    return found.model_dump(mode="json") | {"reason": reason(found), "bound": bound_of(found)}


def copied(report: AgreementReport, rows: list[FigureRow]) -> str:
    """Rows as a table to be pasted into a spreadsheet: tabs between cells, nothing rounded, people by alias.

    An undefined value is an empty cell with its reason beside it; no cell is a formula.
    """
    shown = [name for name in TITLES if any(row.figure(name) for row in rows)]
    again = [one for one in report.seconds if any(one.of(row) for row in rows)]
    head = ["Stage", "Group", "Compared", "n", "Items"]
    head += [f"{titles(rows, name)}{part}" for name in shown for part in ("", ", low", ", high", ", reason")]
    head += [f"{one.title}, {part}" for one in again for part in ("figure", "value", "low", "high", "lists")]
    lines: list[list[Any]] = [head]
    for row in rows:
        cells: list[Any] = [row.stage.value, group(report, row), row.field, row.n, len(row.items)]
        for name in shown:
            cells += _cells(row.figure(name))
        for one in again:
            cells += _pairing_cells(one, row)
        lines.append(cells)
    return tabbed(lines)


def _cells(found: Figure | None) -> list[Any]:
    return [found.value, found.low, found.high, reason(found)] if found else [None] * 4


def _pairing_cells(one: SecondFigures, row: FigureRow) -> list[Any]:
    pair = one.of(row)
    if pair is None:
        return [None] * 5
    found = main(pair[0])
    return [found.name, found.value, found.low, found.high, pair[0].lists]


AXES = {
    "agreement": "share of pairs that agree, 95 % interval over items",
    "match_f1": "F1, a lower bound, mean over items, 95 % interval",
    "jaccard": "Jaccard, mean over items, 95 % interval",
    "order_tau": "τ-b, mean over items, 95 % interval",
    "pearson": "Pearson's r, 95 % interval over items",
    "spearman": "Spearman's ρ, 95 % interval over items",
    **{
        name: f"{WORDS[name][0]}, in units of the scale, 95 % interval over items"
        for name in sorted(IN_UNITS)
    },
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


def _beside(rows: Iterable[FigureRow], chosen: FigureRow) -> list[FigureRow]:
    """The rows that belong into one picture with the chosen one."""
    if chosen.by in WHOLE:
        return [row for row in rows if row.by == chosen.by]
    return [row for row in rows if (row.stage, row.field) == (chosen.stage, chosen.field)]


def drawn(rows: Iterable[FigureRow], chosen: FigureRow, name: str) -> list[FigureRow]:
    """The rows of the picture in the order they are drawn; items and criteria with the lowest figure first."""
    found = [row for row in _beside(rows, chosen) if row.figure(name)]
    if chosen.by in ("item", "criterion"):
        found.sort(key=lambda row: _height(row.figure(name)))
    return found


def picture(report: AgreementReport, rows: list[FigureRow], name: str, ink: Ink = PRINTED) -> Any:
    """A figure of these rows as a matplotlib Figure, by default for white paper; people appear by alias."""
    from annotator.exchange.pictures.agreement_pictures import by_group, by_week

    axis = AXES.get(name, f"{titles(rows, name)}, 95 % interval over items")
    points = [(_name(report, row), found) for row in rows if (found := row.figure(name))]
    draw = by_week if rows[0].by == "week" else by_group
    return draw(points, picture_title(rows[0], name, titles(rows, name)), axis, ink)


def picture_title(row: FigureRow, name: str, titled: str = "") -> str:
    """What the picture of a figure around a row is called."""
    of = "" if row.by in WHOLE else f" of {row.stage.value}: {field(row)},"
    return f"{titled or titles([row], name)}{of} {OF[row.by]}"


def _name(report: AgreementReport, row: FigureRow) -> str:
    if row.by in ("stage", VOTES):
        return f"{row.stage.value}: {field(row)}"
    return row.name if row.by == "week" else group(report, row)


def _height(found: Figure | None) -> tuple[bool, float]:
    value = found.value if found else None
    return value is None, value or 0.0
