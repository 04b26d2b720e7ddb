"""Pooled figures of agreement, computed from frozen records alone."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import orjson
from sqlalchemy import Connection, and_, case, select

from annotator.actions.assignments.assignments import all_frozen
from annotator.actions.authoring.artifacts import COMMON
from annotator.actions.authoring.comparing import (
    ITEM_SCORE,
    VALUE,
    ComparedField,
    JoinedValue,
    about,
    alpha,
    field_named,
    fields_of,
    of_pairs,
)
from annotator.actions.labelling import label_cases
from annotator.actions.labelling.label_rows import counted_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.common import Refusal, RoleNeeded, counted, grouped, natural, refuse_other
from annotator.domain.experts.adjudication import Agreement, Figure, PairAgreement, figure
from annotator.domain.experts.assignment import Person, Role, Stage
from annotator.domain.judges.judge import RaterKind, Status
from annotator.domain.judges.protocol import Level
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import ABOUT, KINDS, UNSURE
from annotator.domain.texts.estimate import CHANCE, SHARE, Estimate
from annotator.storage.tables import ARTIFACT, ITEM, PERSON, REVISION

# The field that records who wrote a unit: values 1 and 1 if matched, 1 and 0 if only one rater has it.
WRITTEN = "written"
CSV_NAME, JSON_NAME = "agreement-inputs.csv", "agreement.json"


@dataclass(frozen=True, slots=True)
class AgreementScope:
    """The scope of an agreement: raters, stage, the ISO week of freezing, guideline versions."""

    item_id: str
    stage: Stage
    week: str
    a: str
    b: str
    guideline_a: str
    guideline_b: str


@dataclass(frozen=True, slots=True)
class AgreementInput:
    """Two raters' values of one field of a pair of units; for labels, also the report and unit judged."""

    where: AgreementScope
    field: str
    unit_a: str
    unit_b: str
    value_a: Any
    value_b: Any
    likeness: float | None = None
    response_id: str = ""
    judged_unit: str = ""

    def seen_by(self, person_id: str) -> "AgreementInput":
        if self.where.b != person_id:
            return self
        return replace(
            self,
            where=replace(
                self.where,
                a=self.where.b,
                b=self.where.a,
                guideline_a=self.where.guideline_b,
                guideline_b=self.where.guideline_a,
            ),
            unit_a=self.unit_b,
            unit_b=self.unit_a,
            value_a=self.value_b,
            value_b=self.value_a,
        )


@dataclass(frozen=True, slots=True)
class Names:
    """The keys and questions of items in use, and the people, by id."""

    items: Mapping[str, str]
    questions: Mapping[str, str]
    people: Mapping[str, Person]

    def alias(self, person_id: str) -> str:
        """A person's alias; the id itself if the project does not know the person."""
        return self.people[person_id].alias if person_id in self.people else person_id


def refuse_others(project: Project) -> None:
    """Refuse anyone who is not a coordinator: figures show annotators and adjudicators how others answered."""
    if not people.someone(project).has(Role.COORDINATOR):
        raise RoleNeeded(
            "Agreement is shown to a coordinator only.",
            "Ask a coordinator, or work as a coordinator of this project.",
            Role.COORDINATOR,
        )


def frozen_inputs(project: Project) -> tuple[list[Agreement], Names]:
    """The frozen agreements in the order of items and stages, without retired items, and the names."""
    refuse_others(project)
    listed = select(ITEM.c.id, ITEM.c.key, ITEM.c.question).where(ITEM.c.retired.is_(False))
    everyone = {person.id: person for person in people.people(project)}
    with project.store.read() as db:
        rows = db.execute(listed.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)).all()
        items = {row.id: row.key for row in rows}
        result = [agreement for agreement in all_frozen(project, db) if agreement.item_id in items]
    places, stages = {item_id: place for place, item_id in enumerate(items)}, list(Stage)
    result.sort(key=lambda agreement: (places[agreement.item_id], stages.index(agreement.stage)))
    return result, Names(items, {row.id: row.question for row in rows}, everyone)


def flat(agreement: Agreement) -> Iterator[AgreementInput]:
    """The inputs of a frozen agreement: who wrote which unit, and the values of each pair, field by field."""
    for pair in agreement.pairs:
        where = where_of(agreement, pair)
        for match in pair.matched:
            yield AgreementInput(where, WRITTEN, match.a, match.b, 1, 1, match.likeness)
        yield from (AgreementInput(where, WRITTEN, unit, "", 1, 0) for unit in pair.only_a)
        yield from (AgreementInput(where, WRITTEN, "", unit, 0, 1) for unit in pair.only_b)
        yield from _values(where, pair)
        scores = {result.name: result.value for result in pair.figures}
        if f"{ITEM_SCORE}_a" in scores:
            yield AgreementInput(
                where, ITEM_SCORE, "", "", scores[f"{ITEM_SCORE}_a"], scores[f"{ITEM_SCORE}_b"]
            )


def where_of(agreement: Agreement, pair: PairAgreement) -> AgreementScope:
    year, week, _ = agreement.frozen_at.isocalendar()
    guidelines = {given.person_id: given.guideline for given in agreement.inputs}
    return AgreementScope(
        agreement.item_id,
        agreement.stage,
        f"{year}-W{week:02}",
        pair.a,
        pair.b,
        guidelines[pair.a],
        guidelines[pair.b],
    )


def _values(where: AgreementScope, pair: PairAgreement) -> Iterator[AgreementInput]:
    for name, values in pair.values.items():
        if name in ABOUT:
            continue
        protocols = pair.values.get("protocol", (("", ""),) * len(values))
        for match, (a, b), (report, unit), (protocol, _) in zip(
            pair.matched, values, about(pair), protocols, strict=True
        ):
            field = field_named(name, protocol)
            yield AgreementInput(where, field, match.a, match.b, a, b, response_id=report, judged_unit=unit)


def records(agreements: Iterable[Agreement], names: Names) -> list[dict[str, Any]]:
    """The exact inputs of every figure as flat records, people by alias, each with its item's key.

    In the field “written”, 1 means that the rater has the unit; None is a missing value.
    """
    return [
        {
            "item": names.items[each.where.item_id],
            "stage": each.where.stage.value,
            "rater_a": names.alias(each.where.a),
            "rater_b": names.alias(each.where.b),
            "field": each.field,
            "unit_a": each.unit_a,
            "unit_b": each.unit_b,
            "value_a": each.value_a,
            "value_b": each.value_b,
            "likeness": each.likeness,
            "guideline_a": each.where.guideline_a,
            "guideline_b": each.where.guideline_b,
            "response_id": each.response_id,
            "judged_unit": each.judged_unit,
        }
        for agreement in agreements
        for each in flat(agreement)
    ]


def write_inputs(project: Project, folder: Path) -> tuple[str, ...]:
    """Write the inputs as a table and the frozen records as JSON, people by alias; return the names of the files.

    Raises Refusal if nothing is frozen, or if the folder holds anything but an unchanged earlier export.
    """
    from annotator.exchange import folders
    from annotator.exchange.release import tables_csv

    result, names = frozen_inputs(project)
    if not result:
        raise Refusal(
            "No agreement has been frozen yet.", "It is frozen once everyone assigned has submitted."
        )
    rows = records(result, names)
    tree = {"agreements": [_aliased(agreement, names) for agreement in result]}
    files = folders.with_sums({CSV_NAME: tables_csv.csv(rows), JSON_NAME: folders.pretty(tree)})
    folders.write(folder, files)
    return tuple(sorted(files))


def _aliased(agreement: Agreement, names: Names) -> dict[str, Any]:
    tree: dict[str, Any] = agreement.model_dump(mode="json")
    for given in tree["inputs"]:
        given["person_id"] = names.alias(given["person_id"])
    for pair in tree["pairs"]:
        pair["a"], pair["b"] = names.alias(pair["a"]), names.alias(pair["b"])
    return {"item": names.items[agreement.item_id], **tree}


BY = ("stage", "pair", "person", "criterion", "item", "week", "guideline")
# The ids of a group: none for a stage, two people's for a pair, the item's and the unit's for a criterion.
Group = tuple[str, ...]


def refuse_unknown(by: str) -> None:
    refuse_other(by, BY, f"Agreement cannot be grouped by “{by}”.", "Choose one of")


def groups_of(by: str, where: AgreementScope, judged_unit: str = "") -> tuple[Group, ...]:
    """The groups an input belongs to: two by person, none by criterion if no unit was judged."""
    match by:
        case "pair":
            return ((where.a, where.b),)
        case "person":
            return (where.a,), (where.b,)
        case "criterion":
            return ((where.item_id, judged_unit),) if judged_unit else ()
        case "item":
            return ((where.item_id,),)
        case "week":
            return ((where.week,),)
        case "guideline":
            return (tuple(sorted({where.guideline_a, where.guideline_b}, key=natural)),)
    return ((),)


def naming(project: Project, by: str, names: Names, groups: Iterable[Group]) -> Callable[[Stage, Group], str]:
    texts: dict[Group, str] = {}
    if by == "criterion":
        with project.store.read() as db:
            texts = criteria(db, groups)

    def called(stage: Stage, group: Group) -> str:
        match by:
            case "stage":
                return stage.value
            case "pair" | "person":
                return " and ".join(sorted(map(names.alias, group), key=natural))
            case "criterion":
                return texts.get(group, group[1])
            case "item":
                return names.items[group[0]]
        return " and ".join(group)

    return called


def criteria(db: Connection, groups: Iterable[Group]) -> dict[Group, str]:
    """(item, unit) → its current text, or its last if the unit has been removed since; no figure depends on it.

    A labelled unit may be removed when its list is adjudicated: its labels are frozen, its text is not.
    """
    sought = set(groups)
    items = {item for item, _ in sought}
    kinds = label_cases.labelled_kinds()
    result: dict[Group, str] = {
        (item, unit): words
        for kind in kinds
        for item, units in label_cases.judged_units(db, kind, items).items()
        for unit, words in units.items()
    }
    if gone := {item for item, unit in sought - result.keys()}:
        former: dict[Group, str] = {
            (row.item_id, unit["id"]): unit["text"]
            for row in db.execute(
                select(ARTIFACT.c.item_id, REVISION.c.content)
                .join(REVISION, REVISION.c.artifact_id == ARTIFACT.c.id)
                .where(ARTIFACT.c.item_id.in_(gone), ARTIFACT.c.kind.in_([kind.value for kind in kinds]))
                .order_by(ARTIFACT.c.id, REVISION.c.number)
            )
            for unit in orjson.loads(row.content)["units"]
        }
        result = former | result
    return {group: result[group] for group in sought & result.keys()}


# The field of the rows on whether two raters wrote the same units, in the same order.
UNITS = "units"
# The grouping of the rows on silent repeats.
SELF = "self"
# Figures of one item that are averaged over items.
AVERAGE_OF = {"match_f1": "F1 of matched units", "jaccard": "Jaccard index", "order_tau": "Kendall's τ-b"}
FEWEST_FOR_ALPHA = 3


@dataclass(frozen=True, slots=True)
class FigureRow:
    """Pooled figures of one field, over one group of one stage, with the ids of the items behind them.

    `group` holds the ids of the group, `name` its name in words. `n` counts pairs of values, or items if the field is
    “units”; `lists` counts the pairs of lists (two raters' on an item) behind all fields of the group.
    """

    stage: Stage
    by: str
    group: Group
    name: str
    field: str
    n: int
    figures: tuple[Figure, ...]
    items: tuple[str, ...]
    lists: int = 0

    def figure(self, name: str) -> Figure | None:
        """The figure of that name: agreement, kappa, ac1, alpha, pearson, match_f1, jaccard, or one of a scale."""
        return next((result for result in self.figures if result.name == name), None)


def pooled(project: Project, by: str, agreements: Sequence[Agreement], names: Names) -> list[FigureRow]:
    """Pooled figures of these agreements, grouped by one of `BY`; by criterion, of labels only.

    Intervals of shares are Wilson's over items; others leave each item out in turn.
    """
    refuse_unknown(by)
    groups = _grouped(agreements, by)
    called = naming(project, by, names, [group for _, group in groups])
    fields = {stage: _fields(stage, agreements) for stage in {agreement.stage for agreement in agreements}}
    made = [
        row
        for (of_stage, group), (inputs_, averaged) in groups.items()
        for row in _rows((of_stage, by, group, called(of_stage, group)), fields[of_stage], inputs_, averaged)
    ]
    # The items on which both raters had units from drafts of one model.
    drafted = grouped(
        (agreement.stage, agreement.item_id)
        for agreement in agreements
        if any(COMMON in figure.note for pair in agreement.pairs for figure in pair.figures)
    )
    made = [_with_note(row, drafted.get(row.stage, ())) for row in made]
    order = list(Stage)
    if by in ("item", "criterion"):
        return sorted(made, key=lambda row: order.index(row.stage))
    return sorted(made, key=lambda row: (order.index(row.stage), natural(row.name)))


def self_agreement(project: Project) -> list[FigureRow]:
    """Agreement of each person with their own earlier labels on silent repeats: first trial against second."""
    refuse_others(project)
    made = []
    for (person, alias, protocol), again in repeated(project).items():
        both, where = [(one.once, one.again) for one in again], [one.item_id for one in again]
        values = {"protocol": ((protocol, protocol),) * len(both), VALUE: tuple(both)}
        (field,) = fields_of(Kind.LABELS, [values])
        head = (Stage.LABELLING, SELF, (person, protocol), alias)
        made.append(_row(head, field.name, of_pairs(field, both, where), where))
    return sorted(made, key=lambda row: natural(row.name))


def _with_note(row: FigureRow, drafted: Iterable[str]) -> FigureRow:
    count = len({*drafted} & {*row.items})
    if not count:
        return row
    note = f"on {counted(count, 'item')} units of two raters {COMMON}s"
    figures = (
        figure.model_copy(update={"note": "; ".join(filter(None, (figure.note, note)))})
        for figure in row.figures
    )
    return replace(row, figures=tuple(figures))


# A figure of one pair of lists, to be averaged over items.
Averaged = tuple[AgreementScope, Figure]
Members = tuple[list[AgreementInput], list[Averaged]]
Head = tuple[Stage, str, Group, str]


def _grouped(agreements: Iterable[Agreement], by: str) -> dict[tuple[Stage, Group], Members]:
    """Stage and group → its inputs and its figures to average; by person, that person comes first in each pair."""
    groups: defaultdict[tuple[Stage, Group], Members] = defaultdict(lambda: ([], []))
    for agreement in agreements:
        for each in flat(agreement):
            for group in groups_of(by, each.where, each.judged_unit):
                groups[agreement.stage, group][0].append(each.seen_by(group[0]) if by == "person" else each)
        for pair in agreement.pairs:
            where = where_of(agreement, pair)
            averaged = [(where, figure) for figure in pair.figures if figure.name in AVERAGE_OF]
            for group in groups_of(by, where):
                groups[agreement.stage, group][1].extend(averaged)
    return groups


def _fields(stage: Stage, agreements: Iterable[Agreement]) -> list[ComparedField]:
    """The fields of a stage that are pooled, with their categories; the order of units is averaged instead."""
    if stage.kind is None:
        return []
    values = [pair.values for agreement in agreements if agreement.stage is stage for pair in agreement.pairs]
    scores = [ComparedField(ITEM_SCORE, Level.INTERVAL)] if KINDS[stage.kind].scored else []
    return [field for field in fields_of(stage.kind, values) if field.level is not Level.RANK] + scores


def _rows(
    head: Head, fields: Iterable[ComparedField], inputs: list[AgreementInput], averaged: list[Averaged]
) -> list[FigureRow]:
    made = []
    wheres = (*(one.where for one in inputs), *(where for where, _ in averaged))
    lists = {(where.item_id, frozenset((where.a, where.b))) for where in wheres}
    means = [
        (name, _mean(name, averaged))
        for name in AVERAGE_OF
        if any(of_pair.name == name for _, of_pair in averaged)
    ]
    if means:
        made.append(_row(head, UNITS, means, (each.where.item_id for each in inputs)))
    for field in fields:
        # A field without any pair of values keeps its row, which gives the reason for the missing figure.
        of_field = [each for each in inputs if each.field == field.name]
        pooled_ = _pooled(field, of_field, directed=head[1] == "person")
        made.append(_row(head, field.name, pooled_, (each.where.item_id for each in of_field or inputs)))
    return [replace(row, lists=len(lists)) for row in made]


def _row(
    head: Head, field: str, estimates: Sequence[tuple[str, Estimate]], items: Iterable[str]
) -> FigureRow:
    figures = tuple(figure(name, estimate) for name, estimate in estimates)
    return FigureRow(*head, field, estimates[0][1].n, figures, tuple(dict.fromkeys(items)))


def _pooled(
    field: ComparedField, inputs: Sequence[AgreementInput], *, directed: bool
) -> list[tuple[str, Estimate]]:
    """The figures of a field over all pairs of raters and items at once, with α if three or more rated.

    Pairs of several raters count in both orders, unless one person comes first in all of them.
    """
    pairs = [(each.value_a, each.value_b) for each in inputs]
    sides = {frozenset((each.where.a, each.where.b)) for each in inputs}
    items = [each.where.item_id for each in inputs]
    figures = of_pairs(field, pairs, items, several=len(sides) > 1, directed=directed)
    if len(sides) > 1:
        figures = [
            (name, estimate.remarked(f"pooled over {len(sides):,} pairs of raters"))
            for name, estimate in figures
        ]
    if len({person for side in sides for person in side}) >= FEWEST_FOR_ALPHA:
        # Over all raters at once, in place of the α of two raters.
        figures = [each for each in figures if each[0] != "alpha"]
        figures.append(("alpha", alpha(field, [_joined(each) for each in inputs])))
    return figures


def _joined(each: AgreementInput) -> JoinedValue:
    item = each.where.item_id
    a, b = (item, each.where.a, each.unit_a), (item, each.where.b, each.unit_b)
    return JoinedValue(a, b, each.value_a, each.value_b, cluster=item)


def _mean(name: str, averaged: Iterable[Averaged]) -> Estimate:
    """The mean over items of a figure; an item with several pairs of raters counts once, with their mean."""
    from annotator.stats.intervals.student import mean_of_scores

    of_item = grouped((where.item_id, of_pair.value) for where, of_pair in averaged if of_pair.name == name)
    defined = ([value for value in values if value is not None] for values in of_item.values())
    # Items with an undefined figure are left out of the mean and counted in the note.
    means = [Estimate(fmean(values) if values else None) for values in defined]
    result = mean_of_scores(means, CHANCE if name == "order_tau" else SHARE)
    return replace(result, method=f"{AVERAGE_OF[name]}: {result.method}")


def repeated(project: Project) -> dict[tuple[str, str, str], list[Any]]:
    """(person, alias, protocol) → the units that they labelled twice: item_id, response_id, unit_id, and the values
    `once` and `again`; None for a missing value.
    """
    first, second = counted_rows("first"), counted_rows("second")
    once, again = (
        case((one.c.status == Status.OK.value, one.c.value), (one.c.status == Status.UNCLEAR.value, UNSURE))
        for one in (first, second)
    )
    same = [first.c[name] == second.c[name] for name in ("protocol", "response_id", "unit_id", "rater_id")]
    by_people = [each.c.rater_kind == RaterKind.PERSON.value for each in (first, second)]
    question = (
        select(
            PERSON.c.id, PERSON.c.alias, first.c.protocol, first.c.item_id, first.c.response_id, first.c.unit_id,
            once.label("once"), again.label("again"),
        )
        .select_from(PERSON)
        .join(second, second.c.rater_id == PERSON.c.id)
        .join(first, and_(*same))
        .join(ITEM, ITEM.c.id == first.c.item_id)
        .where(*by_people, first.c.trial == 1, second.c.trial == 2, ITEM.c.retired.is_(False))
        .order_by(ITEM.c.position, ITEM.c.key, first.c.item_id, first.c.response_id, first.c.unit_id)
    )  # fmt: skip
    return grouped(((row.id, row.alias, row.protocol), row) for row in project.query(question))
