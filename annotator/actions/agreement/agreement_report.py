"""The agreement report: every section at once, each row with its frozen inputs."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isclose
from typing import Any

from sqlalchemy import Connection, func, select

from annotator.actions.adjudication import adjudicating
from annotator.actions.agreement import agreement_figures, assisting
from annotator.actions.agreement.agreement_figures import (
    BY,
    SELF,
    UNITS,
    WRITTEN,
    AgreementInput,
    FigureRow,
    Group,
    Names,
    criteria,
    flat,
    frozen_inputs,
    groups_of,
    refuse_others,
    repeated,
)
from annotator.actions.assignments import assignments
from annotator.actions.authoring.comparing import VALUE, field_named
from annotator.actions.consensus import consensus, ruling_rows
from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetCell,
    SheetColumn,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    text,
)
from annotator.domain.common import counted, natural
from annotator.domain.experts.adjudication import (
    Adjudication,
    AdjudicationState,
    Agreement,
    Figure,
    Ruling,
    bound_of,
    estimate,
)
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.protocol import FIGURES, IN_UNITS, NO_VALUES, WORDS, Scale
from annotator.domain.kinds.artifact import Kind, State, Unit
from annotator.domain.kinds.documents import UNSURE, Label
from annotator.domain.texts.estimate import decimal, interval, of_items
from annotator.exchange.pictures import PRINTED, Ink, by_group, by_week
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import AGREEMENT, ARTIFACT, ITEM, RESPONSE, SYSTEM

# The grouping of the rows on seniors' first votes.
VOTES = "votes"
# Names of the second figures in JSON and in words; those of a judge's pairing are titled by its model and prompt.
BY_ADJUDICATOR, BY_MODEL, PAIRING = (
    "by_adjudicators_pairing",
    "model_assisted",
    "by the adjudicator's pairing",
)
Key = tuple[Stage, str, Group, str]


@dataclass(frozen=True, slots=True)
class SecondFigures:
    """Figures under another pairing of the units, by row key; never in place of the frozen ones.

    `beside` holds the frozen figures over the same pairs of raters, which may be fewer.
    """

    name: str
    title: str
    rows: Mapping[Key, FigureRow]
    beside: Mapping[Key, FigureRow]

    def of(self, row: FigureRow) -> tuple[FigureRow, FigureRow] | None:
        """The row under this pairing and the frozen one beside it; None if none of its lists was paired this way."""
        again, beside = self.rows.get(key_of(row)), self.beside.get(key_of(row))
        return (again, beside) if again and beside else None


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """The rows of every section, some with second figures; `assistance` is None unless a judge was named."""

    by: str
    stage: Stage | None
    rows: tuple[FigureRow, ...]
    seconds: tuple[SecondFigures, ...]
    assistance: assisting.Assistance | None
    repeats: tuple[FigureRow, ...]
    votes: tuple[FigureRow, ...]
    stages: tuple[Stage, ...]
    records: tuple[Agreement, ...]
    names: Names


@dataclass(frozen=True, slots=True)
class RowBasis:
    """The basis of a row. `counts` counts pairs of values; a missing value is None."""

    records: Sequence[Agreement]
    raters: Sequence[str]
    counts: Mapping[tuple[Any, Any], int]


def key_of(row: FigureRow) -> Key:
    return row.stage, row.by, row.group, row.field


def report(project: Project, by: str = "stage", stage: str = "", assisted_by: str = "") -> AgreementReport:
    """The whole agreement report, of every stage or of one; raises Refusal for anyone who is not a coordinator.

    `assisted_by` names a judge whose pairing of the units gives second figures.
    """
    result, names = frozen_inputs(project)
    chosen = [agreement for agreement in result if stage in ("", agreement.stage)]
    with project.store.read() as db:
        paired = consensus.records(db, chosen)
    once = agreement_figures.pooled(project, by, chosen, names)
    seconds = [_second(project, by, names, chosen, (BY_ADJUDICATOR, PAIRING), paired)]
    by_judge = assisting.assistance(project, chosen, assisted_by) if assisted_by else None
    if by_judge is not None:
        seconds.append(_second(project, by, names, chosen, (BY_MODEL, by_judge.title), by_judge.records))
    repeats = agreement_figures.self_agreement(project) if stage in ("", Stage.LABELLING) else []
    places = {item_id: place for place, item_id in enumerate(names.items)}
    votes = [_of_votes(each, places) for each in adjudicating.votes(project) if stage in ("", each.stage)]
    present = {agreement.stage for agreement in result} | {row.stage for row in (*repeats, *votes)}
    return AgreementReport(
        by=by,
        stage=Stage(stage) if stage else None,
        rows=tuple(once),
        seconds=tuple(seconds),
        assistance=by_judge,
        repeats=tuple(repeats),
        votes=tuple(votes),
        stages=tuple(each for each in Stage if each in present),
        records=tuple(chosen),
        names=names,
    )


def stages(project: Project) -> list[Stage]:
    """The stages with a frozen agreement, and labelling if someone labelled twice."""
    frozen_stages = select(AGREEMENT.c.stage).join(ITEM, ITEM.c.id == AGREEMENT.c.item_id)
    present = set(project.query(frozen_stages.where(ITEM.c.retired.is_(False)).distinct()).scalars())
    if agreement_figures.repeated(project):
        present.add(Stage.LABELLING.value)
    return [each for each in Stage if each.value in present]


def _second(
    project: Project, by: str, names: Names, chosen: Iterable[Agreement], called: tuple[str, str],
    paired: Sequence[Agreement],
) -> SecondFigures:  # fmt: skip
    """The rows of these agreements, and the frozen ones of the same pairs of raters."""
    raters = {agreement.id: {(pair.a, pair.b) for pair in agreement.pairs} for agreement in paired}
    same = [
        agreement.model_copy(
            update={
                "pairs": tuple(pair for pair in agreement.pairs if (pair.a, pair.b) in raters[agreement.id])
            }
        )
        for agreement in chosen
        if agreement.id in raters
    ]
    again, beside = (
        {key_of(row): row for row in agreement_figures.pooled(project, by, each, names)}
        for each in (paired, same)
    )
    return SecondFigures(*called, again, beside)


def half_sealed(project: Project) -> int:
    """The number of documents sealed by someone without a frozen agreement, which takes everybody and at least two."""
    refuse_others(project)
    sealed = (
        select(ARTIFACT.c.item_id, ARTIFACT.c.kind, func.count().label("seals"))
        .where(
            ARTIFACT.c.sealed_at.is_not(None),
            ARTIFACT.c.state != State.CONSENSUS.value,
            ARTIFACT.c.author_id != "",
        )
        .group_by(ARTIFACT.c.item_id, ARTIFACT.c.kind)
    )
    with project.store.read() as db:
        started = {(row.item_id, row.kind) for row in db.execute(sealed)}
        done = {
            (each.item_id, each.stage.kind.value)
            for each in assignments.all_frozen(project, db)
            if each.stage.kind
        }
    return len(started - done)


def inputs_of(report: AgreementReport, row: FigureRow) -> list[AgreementInput]:
    """The frozen inputs behind a row, in the row's order of raters; empty for rows without frozen records."""
    field = WRITTEN if row.field == UNITS else row.field
    return [
        each.seen_by(row.group[0]) if row.by == "person" else each
        for agreement in (report.records if row.by in BY else ())
        if agreement.stage is row.stage
        for each in flat(agreement)
        if each.field == field and row.group in groups_of(row.by, each.where, each.judged_unit)
    ]


def provenance(report: AgreementReport, row: FigureRow) -> RowBasis | None:
    """The records, raters and versions behind a row; None for rows without frozen records."""
    result = inputs_of(report, row)
    records = _records_of(report, row, result)
    raters = {person for each in result for person in (each.where.a, each.where.b)}
    if not records:
        return None
    return RowBasis(
        records,
        sorted(raters, key=lambda person: natural(report.names.alias(person))),
        Counter((each.value_a, each.value_b) for each in result),
    )


def _records_of(report: AgreementReport, row: FigureRow, inputs: Iterable[AgreementInput]) -> list[Agreement]:
    items = {each.where.item_id for each in inputs}
    return [record for record in report.records if record.stage is row.stage and record.item_id in items]


def _of_votes(votes: adjudicating.Votes, places: Mapping[str, int]) -> FigureRow:
    n = votes.figures[0].n if votes.figures else 0
    items = tuple(sorted(votes.items, key=lambda item_id: places.get(item_id, len(places))))
    return FigureRow(votes.stage, VOTES, (), votes.stage.value, votes.field, n, votes.figures, items)


# The short names of figures, in the order shown.
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
# Shown in per cent; all others as they are.
PERCENT = "agreement"
MAIN = ("match_f1", *(names[0] for names in FIGURES.values()), "pearson")


def title(figure: Figure) -> str:
    """A figure's short name: that of linear κ if weights are linear, π if pairs count in both orders (Scott's π)."""
    named = TITLES[figure.name]
    if figure.name == "kappa" and ", linear weights" in figure.method:
        named = TITLES["kappa_linear"]
    return named.replace("κ", "π") if "Scott's π" in figure.method else named


def titles(rows: Iterable[FigureRow], name: str) -> str:
    return " / ".join(sorted({title(result) for row in rows if (result := row.figure(name))})) or TITLES[name]


def number(figure: Figure, digits: int = 2) -> str:
    """The value with its interval, “–” if undefined; shares in per cent."""
    if figure.value is None:
        return "–"
    scale, sign = (100, " %") if figure.name == PERCENT else (1, "")
    digits = max(1, digits - 1) if sign else digits

    def say(value: float) -> str:
        return decimal(value * scale, digits)

    return f"{say(figure.value)}{sign} {interval(figure, say)}".rstrip()


def figure_words(figure: Figure) -> str:
    """The number and its interval; if undefined, the reason."""
    return f"–  {reason(figure)}" if figure.value is None else number(figure)


def reason(figure: Figure) -> str:
    return "" if figure.value is not None else of_items(figure.note.partition("; ")[0])


def remarks(figure: Figure) -> list[str]:
    """The notes on a figure: what was left out, the κ paradox if it applies, and whether it is a bound."""
    from annotator.stats.agreement.agreement import KAPPA_PARADOX

    rest, paradox, after = figure.note.partition(KAPPA_PARADOX)
    notes = [of_items(note) for note in f"{rest}; {after}".split("; ") if note]
    notes = notes if figure.value is not None else notes[1:]
    return [*notes, *filter(None, (paradox, bound_of(figure)))]


def main(row: FigureRow) -> Figure:
    return next((result for name in MAIN if (result := row.figure(name))), row.figures[0])


def field(row: FigureRow) -> str:
    if row.field in PROTOCOLS:
        return f"{FIELDS[VALUE]}: {PROTOCOLS[row.field].title}"
    return FIELDS.get(row.field, row.field)


def scale_of(row: FigureRow) -> Scale:
    return PROTOCOLS[row.field].scale if row.field in PROTOCOLS else NO_VALUES


def group(report: AgreementReport, row: FigureRow) -> str:
    if row.by in ("stage", VOTES):
        return row.stage.value
    if row.by == "item":
        return f"item {row.name}"
    if row.by == "criterion":
        return f"{report.names.items.get(row.group[0], '')}: {row.name}"
    if row.by == "guideline":
        return f"version {row.name}" if len(row.group) == 1 else f"versions {row.name}"
    return row.name


def names(report: AgreementReport, row: FigureRow) -> str:
    """The names of the people in a row, or the item's question; anything not in `group` stays in the project."""
    if row.by == "item":
        return report.names.questions.get(row.group[0], "")
    if row.by not in ("pair", "person", SELF):
        return ""
    ids = [part for part in row.group if part in report.names.people]
    ids.sort(key=lambda person: natural(report.names.alias(person)))
    if all(report.names.people[person].name == report.names.alias(person) for person in ids):
        return ""
    # Isolated from one another: a right-to-left name would reorder the next one.
    return " · ".join(f"\u2068{report.names.people[person].name}\u2069" for person in ids)


def second(figures: SecondFigures, row: FigureRow) -> str:
    """The second figure with its name and the frozen one over the same lists, in words; empty if there is none."""
    pair = figures.of(row)
    if pair is None:
        return ""
    result = main(pair[0])
    before = number(main(pair[1])).partition(" [")[0]
    return f"{title(result)} {number(result)}  frozen {before}  ({share(pair[0], row)})"


def share(again: FigureRow, row: FigureRow) -> str:
    """The part of a row that a second figure covers, in words."""
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
    paired = {figures.name: figures.of(row) for figures in report.seconds}
    return {
        "stage": row.stage.value,
        "by": row.by,
        "group": row.name,
        "field": row.field,
        "n": row.n,
        "items": [report.names.items.get(item_id, item_id) for item_id in row.items],
        "figures": [_plain(result) for result in row.figures],
        **{
            name: _paired(row, *pair, report) if (pair := paired.get(name)) else None
            for name in (BY_ADJUDICATOR, BY_MODEL)
        },
    }


def _paired(row: FigureRow, again: FigureRow, beside: FigureRow, report: AgreementReport) -> dict[str, Any]:
    """A second figure as JSON: `lists` are the pairs of lists of the row, `there` those paired this way."""
    return {
        "items": [report.names.items.get(item_id, item_id) for item_id in again.items],
        "lists": row.lists,
        "there": again.lists,
        "n": again.n,
        "figures": [_plain(result) | {"bound": ""} for result in again.figures],
        "frozen_figures_of_these_lists": [_plain(result) for result in beside.figures],
    }


def _plain(figure: Figure) -> dict[str, Any]:
    return figure.model_dump(mode="json") | {"reason": reason(figure), "bound": bound_of(figure)}


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
# The groupings in which each row is another field: one picture shows them all.
WHOLE = ("stage", SELF, VOTES)


def _beside(rows: Iterable[FigureRow], chosen: FigureRow) -> list[FigureRow]:
    if chosen.by in WHOLE:
        return [row for row in rows if row.by == chosen.by]
    return [row for row in rows if (row.stage, row.field) == (chosen.stage, chosen.field)]


def picture_rows(rows: Iterable[FigureRow], chosen: FigureRow, name: str) -> list[FigureRow]:
    """The rows of the picture in the order shown; items and criteria with the lowest figure first."""
    result = [row for row in _beside(rows, chosen) if row.figure(name)]
    if chosen.by in ("item", "criterion"):
        result.sort(key=lambda row: _height(row.figure(name)))
    return result


def picture(report: AgreementReport, rows: list[FigureRow], name: str, ink: Ink = PRINTED) -> Any:
    """A figure of these rows as a matplotlib Figure, by default for white paper; people appear by alias."""
    axis = AXES.get(name, f"{titles(rows, name)}, 95 % interval over items")
    points = [(_name(report, row), result) for row in rows if (result := row.figure(name))]
    draw = by_week if rows[0].by == "week" else by_group
    return draw(points, picture_title(rows[0], name, titles(rows, name)), axis, ink)


def picture_title(row: FigureRow, name: str, titled: str = "") -> str:
    of = "" if row.by in WHOLE else f" of {row.stage.value}: {field(row)},"
    return f"{titled or titles([row], name)}{of} {OF[row.by]}"


def _name(report: AgreementReport, row: FigureRow) -> str:
    if row.by in ("stage", VOTES):
        return f"{row.stage.value}: {field(row)}"
    return row.name if row.by == "week" else group(report, row)


def _height(figure: Figure | None) -> tuple[bool, float]:
    value = figure.value if figure else None
    return value is None, value or 0.0


SECTIONS = (
    ("rows", "Between raters"),
    ("self_agreement", "With themselves"),
    ("first_votes", "Seniors' first votes"),
)
# No row has two of these, so they can share a column.
RARE = ("jaccard", "order_tau", "pearson")
STAGE = SheetColumn("stage", "Stage", "Stage that was written or judged")
FIELD = SheetColumn(
    "field",
    "Compared",
    "Basis of comparison: whether raters have the same units, or a field of matched units",
)
N = SheetColumn("n", "n", "Pairs of values given by both raters; number of items where units are compared")
ITEMS = SheetColumn("items", "Items", "Number of items behind the figures")
ALSO = SheetColumn("also", "Also", "Overlap of references, order of sub-tasks, or correlation of ratings")
SECONDS = {
    BY_ADJUDICATOR: SheetColumn(
        BY_ADJUDICATOR,
        "By the adjudicator's pairing",
        "A second figure, over adjudicated items, with units paired by the adjudicator. It never replaces "
        "the frozen one.",
    ),
    BY_MODEL: SheetColumn(
        BY_MODEL,
        "Model-assisted",
        "A second figure, over items with a judge's reply, with units paired by meaning by a model after "
        "the figures were frozen. It never replaces the frozen one.",
    ),
}
GROUPINGS = dict(
    zip(
        BY,
        ("Stage", "Pair of raters", "Person", "Criterion", "Item", "Week", "Guideline version"),
        strict=True,
    )
)
HEADS = {
    "stage": "Stage",
    "pair": "Raters",
    "person": "Rater",
    "criterion": "Criterion",
    "item": "Item",
    "week": "Week frozen",
    "guideline": "Guideline",
    agreement_figures.SELF: "Rater",
    VOTES: "Stage",
}
ASSISTED = (
    "A judge with an endpoint pairs units by meaning; these figures are reported separately. No call is "
    "made until you start it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLine(SheetLine):
    report: AgreementReport
    row: FigureRow


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """The choices of the view: grouping, stage, and the judge that pairs by meaning beside the fixed matcher.

    Raises Refusal for anyone who is not a coordinator.
    """
    refuse_others(project)
    chosen = (
        ("All stages", ""),
        *((stage.value.capitalize(), stage.value) for stage in stages(project)),
    )
    judges = assisting.offered(project)
    paired = [(name, name) for name, lists in judges if lists]
    others = [(name, name) for name, lists in judges if not lists]
    return (
        ViewChoice("by", "By", tuple((heading, by) for by, heading in GROUPINGS.items())),
        ViewChoice("stage", "Stage", chosen),
        ViewChoice("assisted_by", "Assisted by", (*paired, ("nobody", ""), *others), tip=ASSISTED),
    )


def sheets(report: AgreementReport) -> tuple[ResultSheet, ...]:
    sections = zip(SECTIONS, (report.rows, report.repeats, report.votes), strict=True)
    return tuple(_sheet(*named, report, rows) for named, rows in sections if rows)


def _sheet(key: str, sheet_title: str, report: AgreementReport, rows: Sequence[FigureRow]) -> ResultSheet:
    figures = [name for name in TITLES if any(row.figure(name) for row in rows)]
    rare = [name for name in figures if name in RARE]
    shared = rare if len(rare) > 1 else []
    alone = [name for name in figures if name not in shared]
    seconds = [one for one in report.seconds if any(one.of(row) for row in rows)]
    several = len({row.stage for row in rows}) > 1 and rows[0].by not in ("stage", VOTES)
    items = any(len(row.items) != 1 for row in rows)
    described: list[tuple[SheetColumn, Callable[[FigureRow], SheetCell]]] = [
        *([(STAGE, lambda row: text(row.stage.value))] if several else []),
        (FIELD, lambda row: text(field(row))),
        (N, lambda row: count(row.n)),
        *([(ITEMS, lambda row: count(len(row.items)))] if items else []),
        *(
            (SheetColumn(name, head, ABOUT[name]), partial(_figure, [name], titled=" / " in head))
            for name in alone
            for head in [titles(rows, name)]
        ),
        *([(ALSO, partial(_figure, shared, titled=True))] if shared else []),
        *((SECONDS[one.name], partial(_agreement_sheets_second, one)) for one in seconds),
    ]
    lines = tuple(
        RowLine(
            (_heading(report, row, place), *(cell(row) for _, cell in described)),
            picture=_picture_name(row, main(row).name),
            report=report,
            row=row,
        )
        for place, row in enumerate(rows)
    )
    heads = SheetColumn("group", HEADS[rows[0].by]), *(column for column, _ in described)
    undefined = sum(result.value is None for row in rows for result in row.figures)
    notes = (f"{undefined:,} undefined, with the reason in the place of the figure.",) if undefined else ()
    return ResultSheet(key, sheet_title, heads, lines, notes, _pictures(report, rows))


def _heading(report: AgreementReport, row: FigureRow, place: int) -> SheetCell:
    alias = group(report, row)
    heading = f"{alias}  {names(report, row)}".rstrip()
    # Names of people stay in the project.
    return SheetCell(heading, float(place), heading, value=alias)


def _figure(names: Iterable[str], row: FigureRow, *, titled: bool) -> SheetCell:
    """The cell of the first figure of these names, or of the reason why it is undefined; its tip says what it is based
    on.
    """
    figure = next(filter(None, map(row.figure, names)), None)
    if figure is None:
        return SheetCell("")
    parts = (
        reason(figure),
        number(figure, 3) if figure.value is not None else "",
        f"n = {figure.n:,}",
        of_items(figure.method),
        *remarks(figure),
    )
    tip = "\n".join(part for part in parts if part)
    picture, exact = _picture_name(row, figure.name), estimate(figure)
    words = f"{title(figure)} {figure_words(figure)}" if titled else figure_words(figure)
    return SheetCell(words, figure.value, tip, picture=picture, value=figure.value, estimate=exact)


def _agreement_sheets_second(figures: SecondFigures, row: FigureRow) -> SheetCell:
    pair, words = figures.of(row), second(figures, row)
    if pair is None:
        return SheetCell(words, None, words)
    exact = estimate(main(pair[0])).remarked(share(pair[0], row))
    return SheetCell(words, exact.value, words, value=exact.value, estimate=exact)


def _picture_name(row: FigureRow, figure: str) -> str:
    return figure if row.by in WHOLE else f"{row.stage.value}/{row.field}/{figure}"


def _pictures(report: AgreementReport, rows: Sequence[FigureRow]) -> tuple[SheetPicture, ...]:
    """One picture for each figure and, if rows are of several fields, for each field."""
    made: dict[str, SheetPicture] = {}
    for row in rows:
        for result in row.figures:
            name = _picture_name(row, result.name)
            if name not in made:
                draw = partial(picture, report, picture_rows(rows, row, result.name), result.name)
                made[name] = SheetPicture(name, picture_title(row, result.name), draw)
    return tuple(made.values())


# Item, person and unit → the unit's text and its number in that person's list.
Units = dict[tuple[str, str, str], tuple[str, int]]


@dataclass(frozen=True, slots=True)
class RaterSide:
    """One rater's text and value; `who` is a person's id, or the occasion in words."""

    who: str
    words: str
    value: Any


@dataclass(frozen=True, slots=True)
class LineBehind:
    """Two sides aligned as the same unit; a side without text lacks it.

    `about` is the unit a report was judged by, `report` its system. `same` is None if a value is missing.
    """

    item_id: str
    a: RaterSide
    b: RaterSide
    same: bool | None
    about: str = ""
    report: str = ""
    likeness: float | None = None
    item_key: str = ""
    question: str = ""


@dataclass(frozen=True, slots=True)
class LinesBehind:
    """The lines behind a row, and the number of items hidden from a person who may still adjudicate them."""

    report: AgreementReport
    row: FigureRow
    lines: tuple[LineBehind, ...]
    held_back: int = 0


def behind(project: Project, report: AgreementReport, row: FigureRow) -> LinesBehind:
    """The inputs of a row, line by line, in the order of items; raises Refusal for anyone who is not a coordinator.

    Items that the person may still adjudicate are held back, as the lines show who wrote what.
    """
    refuse_others(project)
    with project.store.read() as db:
        known = assignments.competence(project, db)
        opened = {each.item_id: each for each in ruling_rows.adjudications(db) if each.stage is row.stage}
        secret = {item_id for item_id in row.items if _open_to(known, item_id, opened.get(item_id))}
        if row.by == SELF:
            lines = _of_repeats(project, row)
        elif row.by == VOTES:
            lines = _agreement_behind_of_votes(db, row)
        else:
            lines = _of_records(db, report, row)
        held_back = {line.item_id for line in lines} & secret
        shown = _named(db, (line for line in lines if line.item_id not in secret))
    return LinesBehind(report, row, shown, len(held_back))


def _named(db: Connection, lines: Iterable[LineBehind]) -> tuple[LineBehind, ...]:
    """The lines with the words of their items, judged units and systems; an id without words stays."""
    items = {row.id: row for row in db.execute(select(ITEM.c.id, ITEM.c.key, ITEM.c.question))}
    systems: dict[str, str] = dict(
        db.execute(
            select(RESPONSE.c.id, SYSTEM.c.name).join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        ).all()
    )
    made = list(lines)
    units = criteria(db, {(line.item_id, line.about) for line in made if line.report})
    return tuple(
        replace(
            line,
            item_key=items[line.item_id].key,
            question=items[line.item_id].question,
            about=units.get((line.item_id, line.about), line.about),
            report=systems.get(line.report, line.report),
        )
        for line in made
    )


def _of_records(db: Connection, report: AgreementReport, row: FigureRow) -> list[LineBehind]:
    result = inputs_of(report, row)
    units = _units(db, _records_of(report, row, result))
    return [
        LineBehind(
            each.where.item_id,
            _side(
                each.where.a, units.get((each.where.item_id, each.where.a, each.unit_a)), each.value_a, row
            ),
            _side(
                each.where.b, units.get((each.where.item_id, each.where.b, each.unit_b)), each.value_b, row
            ),
            _same(each.value_a, each.value_b),
            each.judged_unit,
            each.response_id,
            each.likeness,
        )
        for each in result
    ]


def _units(db: Connection, records: Iterable[Agreement]) -> Units:
    result: Units = {}
    for record in records:
        if record.stage.kind is Kind.LABELS:
            continue
        for given in record.inputs:
            tree = ruling_rows.content(db, given.artifact_id, given.revision)
            for number, unit in enumerate(tree["units"], start=1):
                words = " — ".join(part for part in (unit.get("identifier", ""), unit["text"]) if part)
                result[record.item_id, given.person_id, unit["id"]] = words, number
    return result


def _side(person: str, unit: tuple[str, int] | None, value: Any, row: FigureRow) -> RaterSide:
    if row.field == UNITS:
        # The text shows whether a unit was written at all; its position in the list says more than a 1.
        return RaterSide(person, unit[0], unit[1]) if unit and value else RaterSide(person, "", None)
    return RaterSide(person, unit[0] if unit else "", value)


def _same(a: Any, b: Any) -> bool | None:
    if a in (None, UNSURE) or b in (None, UNSURE):
        return None
    return isclose(a, b, abs_tol=1e-9) if isinstance(a, float) and isinstance(b, float) else bool(a == b)


def _of_repeats(project: Project, row: FigureRow) -> list[LineBehind]:
    return [
        LineBehind(
            one.item_id,
            RaterSide("the first time", "", one.once),
            RaterSide("again", "", one.again),
            _same(one.once, one.again),
            one.unit_id,
            one.response_id,
        )
        for (person, _, protocol), again in repeated(project).items()
        for one in again
        if (person, protocol) == row.group
    ]


def _agreement_behind_of_votes(db: Connection, row: FigureRow) -> list[LineBehind]:
    rulings = ruling_rows.all_rulings(db)
    return [
        _of_vote(result, ruling, letter, unit)
        for result in ruling_rows.adjudications(db)
        if result.stage is row.stage and result.version
        for documents in [ruling_rows.documents(db, result)]
        for ruling in rulings.get(result.id, ())
        if ruling.first_vote
        for letter, unit in consensus.members(ruling, documents).items()
        if not isinstance(unit, Label) or field_named(VALUE, unit.protocol) == row.field
    ]


def _of_vote(adjudication: Adjudication, ruling: Ruling, letter: str, unit: Unit) -> LineBehind:
    value = ruling_rows.vote_words(ruling_rows.kind_of(adjudication.stage), unit) or None
    return LineBehind(
        adjudication.item_id,
        RaterSide("first vote", "", ruling.first_vote),
        RaterSide(adjudication.letters[letter], unit.text, value),
        _same(ruling.first_vote, value),
        *((unit.unit_id, unit.response_id) if isinstance(unit, Label) else (unit.text,)),
    )


def _open_to(known: assignments.Competence, item_id: str, adjudication: Adjudication | None) -> bool:
    if adjudication is not None and adjudication.state is AdjudicationState.CLOSED:
        return False
    return known.objection(item_id, adjudication.adjudicator_id if adjudication else "") is None


def held_back_words(behind: LinesBehind) -> str:
    if not behind.held_back:
        return ""
    be, it = ("is", "it") if behind.held_back == 1 else ("are", "them")
    what = counted(behind.held_back, "item")
    return (
        f"{what} {be} left out: you may adjudicate {it}, and must not know who wrote what before you decide."
    )


def value_words(value: Any) -> str:
    if value is None:
        return "not given"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
