"""Pooled figures of agreement, computed from frozen records alone."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from sqlalchemy import and_, select

from annotator.actions.agreement.agreement_groups import Group, groups_of, naming, refuse_unknown
from annotator.actions.agreement.agreement_inputs import (
    AgreementInput,
    AgreementScope,
    Names,
    flat,
    frozen,
    refuse_others,
    where_of,
)
from annotator.actions.authoring.comparing import ITEM_SCORE, VALUE, fields_of
from annotator.actions.authoring.draft_provenance import COMMON
from annotator.actions.authoring.value_figures import ComparedField, JoinedValue, alpha, noted, of_pairs
from annotator.actions.labelling.label_rows import counted_rows
from annotator.actions.project.file import Project
from annotator.domain.experts.agreement import Agreement, Figure, figure
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.scale import Level
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.labels import UNSURE
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import CHANCE, SHARE, Estimate
from annotator.domain.texts.ordering import natural
from annotator.storage.tables import ITEM, PERSON

# The field of the rows that say how far two raters wrote the same units, in the same order.
UNITS = "units"
# What the rows of silent repeats are grouped by.
SELF = "self"
# Figures of one item that are averaged over items.
AVERAGE_OF = {"match_f1": "F1 of matched units", "jaccard": "Jaccard index", "order_tau": "Kendall's τ-b"}
FEWEST_FOR_ALPHA = 3


@dataclass(frozen=True, slots=True)
class FigureRow:
    """Pooled figures of one field, over one group of one stage, with the ids of the items behind them.

    `group` are the ids of what is grouped by, `name` says it in words. `n` counts pairs of values, or items where
    the field is “units”; `lists` counts the pairs of lists, two raters' on an item, that all of its fields are of.
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
        """The figure of that name: agreement, kappa, ac1, alpha, pearson, match_f1, jaccard, or of a scale."""
        return next((found for found in self.figures if found.name == name), None)


@dataclass(frozen=True, slots=True)
class _Averaged:
    """A figure of one pair of raters on one item that is averaged over items."""

    where: AgreementScope
    name: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Repeated:
    """A unit that a person labelled twice; None for a missing value."""

    item_id: str
    response_id: str
    unit_id: str
    first: Any
    second: Any


def rows(project: Project, by: str = "stage", stage: Stage | None = None) -> list[FigureRow]:
    """Pooled figures of every stage, or of one, grouped by one of `BY`; by criterion there are labels only.

    Intervals of shares are Wilson's over items; others leave each item out in turn. Refusal for anyone who
    does not coordinate.
    """
    found, names = frozen(project)
    return pooled(project, by, [each for each in found if stage in (None, each.stage)], names)


def pooled(project: Project, by: str, found: Sequence[Agreement], names: Names) -> list[FigureRow]:
    """The rows of these records: the frozen ones, or the same by another pairing of their units."""
    refuse_unknown(by)
    groups = _grouped(found, by)
    called = naming(project, by, names, [group for _, group in groups])
    fields = {one: _fields(one, found) for one in {agreement.stage for agreement in found}}
    made = [
        row
        for (of_stage, group), (inputs_, averaged) in groups.items()
        for row in _rows((of_stage, by, group, called(of_stage, group)), fields[of_stage], inputs_, averaged)
    ]
    drafted = _with_drafts_of_one(found)
    made = [_with_note(row, drafted[row.stage]) for row in made]
    order = list(Stage)
    if by in ("item", "criterion"):
        return sorted(made, key=lambda row: order.index(row.stage))
    return sorted(made, key=lambda row: (order.index(row.stage), natural(row.name)))


def self_agreement(project: Project) -> list[FigureRow]:
    """How far each person agrees with their own earlier labels on silent repeats: first trial against second."""
    refuse_others(project)
    made = []
    for (person, alias, protocol), again in repeated(project).items():
        both, where = [(one.first, one.second) for one in again], [one.item_id for one in again]
        said = {"protocol": ((protocol, protocol),) * len(both), VALUE: tuple(both)}
        (field,) = fields_of(Kind.LABELS, [said])
        head = (Stage.LABELLING, SELF, (person, protocol), alias)
        made.append(_row(head, field.name, of_pairs(field, both, where), where))
    return sorted(made, key=lambda row: natural(row.name))


def _with_drafts_of_one(found: Iterable[Agreement]) -> defaultdict[Stage, set[str]]:
    """Stage → the items on which two raters had units of one model's drafts."""
    drafted: defaultdict[Stage, set[str]] = defaultdict(set)
    for agreement in found:
        if any(COMMON in one.note for pair in agreement.pairs for one in pair.figures):
            drafted[agreement.stage].add(agreement.item_id)
    return drafted


def _with_note(row: FigureRow, drafted: set[str]) -> FigureRow:
    """The row, with a note of how many of its items are among those drafted."""
    count = len(drafted & set(row.items))
    if not count:
        return row
    note = f"on {counted(count, 'item')} units of two raters {COMMON}s"
    figures = (
        one.model_copy(update={"note": "; ".join(filter(None, (one.note, note)))}) for one in row.figures
    )
    return replace(row, figures=tuple(figures))


Members = tuple[list[AgreementInput], list[_Averaged]]
Head = tuple[Stage, str, Group, str]


def _grouped(found: Iterable[Agreement], by: str) -> dict[tuple[Stage, Group], Members]:
    """Stage and group → its inputs and its figures to average; by person, that person comes first in each pair."""
    groups: defaultdict[tuple[Stage, Group], Members] = defaultdict(lambda: ([], []))
    for agreement in found:
        for each in flat(agreement):
            for group in groups_of(by, each.where, each.judged_unit):
                oriented = each.seen_by(group[0]) if by == "person" else each
                groups[agreement.stage, group][0].append(oriented)
        for pair in agreement.pairs:
            where = where_of(agreement, pair)
            kept = [_Averaged(where, one.name, one.value) for one in pair.figures if one.name in AVERAGE_OF]
            for group in groups_of(by, where):
                groups[agreement.stage, group][1].extend(kept)
    return groups


def _fields(stage: Stage, found: Iterable[Agreement]) -> list[ComparedField]:
    """The fields of a stage that are pooled, with their categories; the order of sub-tasks is averaged instead."""
    if stage.kind is None:
        return []
    values = [pair.values for agreement in found if agreement.stage is stage for pair in agreement.pairs]
    fields = fields_of(stage.kind, values)
    scores = [ComparedField(ITEM_SCORE, Level.INTERVAL)] if KINDS[stage.kind].scored else []
    return [field for field in fields if field.level is not Level.RANK] + scores


def _rows(
    head: Head, fields: Iterable[ComparedField], found: list[AgreementInput], averaged: list[_Averaged]
) -> list[FigureRow]:
    made = []
    wheres = (*(one.where for one in found), *(one.where for one in averaged))
    lists = {(where.item_id, frozenset((where.a, where.b))) for where in wheres}
    means = [
        (name, _mean(name, averaged)) for name in AVERAGE_OF if any(one.name == name for one in averaged)
    ]
    if means:
        made.append(_row(head, UNITS, means, (each.where.item_id for each in found)))
    for field in fields:
        # A field without any pair of values keeps its row, which says why there is no figure.
        of_field = [each for each in found if each.field == field.name]
        items = (each.where.item_id for each in of_field or found)
        pooled_ = _pooled(field, of_field, directed=head[1] == "person")
        made.append(_row(head, field.name, pooled_, items))
    return [replace(row, lists=len(lists)) for row in made]


def _row(head: Head, field: str, found: Sequence[tuple[str, Estimate]], items: Iterable[str]) -> FigureRow:
    figures = tuple(figure(name, estimate) for name, estimate in found)
    return FigureRow(*head, field, found[0][1].n, figures, tuple(dict.fromkeys(items)))


def _pooled(
    field: ComparedField, found: Sequence[AgreementInput], *, directed: bool
) -> list[tuple[str, Estimate]]:
    """The figures of a field over all pairs of raters and items at once; α where three or more rated.

    Pairs of several raters count both ways round, unless one person stands first in all of them.
    """
    pairs = [(each.value_a, each.value_b) for each in found]
    sides = {frozenset((each.where.a, each.where.b)) for each in found}
    items = [each.where.item_id for each in found]
    figures = of_pairs(field, pairs, items, several=len(sides) > 1, directed=directed)
    if len(sides) > 1:
        figures = [(name, noted(one, f"pooled over {len(sides):,} pairs of raters")) for name, one in figures]
    if len({person for side in sides for person in side}) >= FEWEST_FOR_ALPHA:
        # Over all raters at once, in the place of what every two of them have.
        figures = [each for each in figures if each[0] != "alpha"]
        figures.append(("alpha", alpha(field, [_joined(each) for each in found])))
    return figures


def _joined(each: AgreementInput) -> JoinedValue:
    item = each.where.item_id
    a, b = (item, each.where.a, each.unit_a), (item, each.where.b, each.unit_b)
    return JoinedValue(a, b, each.value_a, each.value_b, cluster=item)


def _mean(name: str, averaged: Iterable[_Averaged]) -> Estimate:
    """The mean over items of a figure; an item with several pairs of raters counts once, by their mean."""
    from annotator.stats.intervals.student import mean_of_scores

    of_item: defaultdict[str, list[float]] = defaultdict(list)
    for one in averaged:
        if one.name == name:
            of_item[one.where.item_id] += [] if one.value is None else [one.value]
    # An item where the figure is undefined is left out of the mean and counted in the note.
    means = [Estimate(fmean(values) if values else None) for values in of_item.values()]
    found = mean_of_scores(means, CHANCE if name == "order_tau" else SHARE)
    return replace(found, method=f"{AVERAGE_OF[name]}: {found.method}")


def repeated(project: Project) -> dict[tuple[str, str, str], list[Repeated]]:
    """(person, alias, protocol) → each unit that they labelled twice, with both values."""
    first, second = counted_rows("first"), counted_rows("second")
    same = [first.c[name] == second.c[name] for name in ("protocol", "response_id", "unit_id", "rater_id")]
    by_people = [each.c.rater_kind == RaterKind.PERSON.value for each in (first, second)]
    question = (
        select(
            PERSON.c.id, PERSON.c.alias, first.c.protocol, first.c.item_id, first.c.response_id, first.c.unit_id,
            first.c.value, first.c.status, second.c.value.label("again"), second.c.status.label("status_again"),
        )
        .select_from(PERSON)
        .join(second, second.c.rater_id == PERSON.c.id)
        .join(first, and_(*same))
        .join(ITEM, ITEM.c.id == first.c.item_id)
        .where(*by_people, first.c.trial == 1, second.c.trial == 2, ITEM.c.retired.is_(False))
        .order_by(ITEM.c.position, ITEM.c.key, first.c.item_id, first.c.response_id, first.c.unit_id)
    )  # fmt: skip
    pairs: defaultdict[tuple[str, str, str], list[Repeated]] = defaultdict(list)
    with project.store.read() as db:
        for row in db.execute(question):
            said = _value(row.status, row.value), _value(row.status_again, row.again)
            pairs[row.id, row.alias, row.protocol].append(
                Repeated(row.item_id, row.response_id, row.unit_id, *said)
            )
    return pairs


def _value(status: str, value: str | None) -> str | None:
    return value if status == Status.OK.value else UNSURE if status == Status.UNCLEAR.value else None
