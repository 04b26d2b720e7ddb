"""The agreement report: every section at once, each row with its frozen inputs."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from annotator.actions.adjudication import voting
from annotator.actions.agreement import agreement_figures, assisted
from annotator.actions.agreement.agreement_figures import UNITS, FigureRow
from annotator.actions.agreement.agreement_groups import BY, Group, groups_of
from annotator.actions.agreement.agreement_inputs import (
    WRITTEN,
    AgreementInput,
    Names,
    flat,
    frozen,
    refuse_others,
)
from annotator.actions.agreement.assisted import Assistance
from annotator.actions.assignments import agreements
from annotator.actions.consensus import repaired
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.agreement import Agreement
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Person
from annotator.domain.kinds.artifact import State
from annotator.domain.texts.ordering import natural
from annotator.storage.tables import AGREEMENT, ARTIFACT, ITEM

# What the rows of seniors' first votes are grouped by.
VOTES = "votes"
# Second figures as JSON and as people name them; those of a judge's pairing are called by its model and its prompt.
BY_ADJUDICATOR, BY_MODEL, PAIRING = (
    "by_adjudicators_pairing",
    "model_assisted",
    "by the adjudicator's pairing",
)
Key = tuple[Stage, str, Group, str]


@dataclass(frozen=True, slots=True)
class SecondFigures:
    """Figures under another pairing of the units, by row key; never in place of the frozen ones.

    `beside` are the frozen figures over the very pairs of raters that these are over, which may be fewer.
    """

    name: str
    title: str
    rows: Mapping[Key, FigureRow]
    beside: Mapping[Key, FigureRow]

    def of(self, row: FigureRow) -> tuple[FigureRow, FigureRow] | None:
        """The same row by this pairing, and the frozen one beside it; None where nothing of it was paired so."""
        again, beside = self.rows.get(key_of(row)), self.beside.get(key_of(row))
        return (again, beside) if again and beside else None


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """The rows of every section, with second figures of some; `assistance` only where a judge was named."""

    by: str
    stage: Stage | None
    rows: tuple[FigureRow, ...]
    seconds: tuple[SecondFigures, ...]
    assistance: Assistance | None
    repeats: tuple[FigureRow, ...]
    votes: tuple[FigureRow, ...]
    stages: tuple[Stage, ...]
    records: tuple[Agreement, ...]
    items: Mapping[str, str]
    questions: Mapping[str, str]
    people: Mapping[str, Person]

    def alias(self, person_id: str) -> str:
        """A person's alias; the id itself of someone whom the project does not know."""
        return self.people[person_id].alias if person_id in self.people else person_id


@dataclass(frozen=True, slots=True)
class RowBasis:
    """The basis of a row. `said` counts pairs of values; a value is None when it is missing."""

    records: int
    raters: tuple[str, ...]
    first: datetime
    last: datetime
    matchers: tuple[str, ...]
    programs: tuple[str, ...]
    guidelines: tuple[str, ...]
    forms: tuple[str, ...]
    said: Mapping[tuple[Any, Any], int]


def key_of(row: FigureRow) -> Key:
    return row.stage, row.by, row.group, row.field


def report(
    project: Project, by: str = "stage", stage: Stage | None = None, assisted_by: str = ""
) -> AgreementReport:
    """All that is to be seen of agreement, of every stage or of one; Refusal for anyone who does not coordinate.

    `assisted_by` names a judge whose pairing of the units gives figures of its own.
    """
    found, names = frozen(project)
    chosen = [agreement for agreement in found if stage in (None, agreement.stage)]
    with project.store.read() as db:
        paired = repaired.records(db, chosen)
        questions = {each.id: each.question for each in db.execute(select(ITEM.c.id, ITEM.c.question))}
    once = agreement_figures.pooled(project, by, chosen, names)
    seconds = [_second(project, by, names, chosen, (BY_ADJUDICATOR, PAIRING), paired)]
    by_judge = assisted.assistance(project, chosen, assisted_by) if assisted_by else None
    if by_judge is not None:
        called = (BY_MODEL, by_judge.title)
        seconds.append(_second(project, by, names, chosen, called, by_judge.records))
    repeats = agreement_figures.self_agreement(project) if stage in (None, Stage.LABELLING) else []
    places = {item_id: place for place, item_id in enumerate(names.items)}
    votes = [_of_votes(each, places) for each in voting.votes(project) if stage in (None, each.stage)]
    there = {agreement.stage for agreement in found} | {row.stage for row in (*repeats, *votes)}
    return AgreementReport(
        by=by,
        stage=stage,
        rows=tuple(once),
        seconds=tuple(seconds),
        assistance=by_judge,
        repeats=tuple(repeats),
        votes=tuple(votes),
        stages=tuple(each for each in Stage if each in there),
        records=tuple(chosen),
        items=names.items,
        questions=questions,
        people={person.id: person for person in people.people(project)},
    )


def stages(project: Project) -> list[Stage]:
    """The stages of which something is frozen, and labelling where someone labelled twice."""
    frozen_stages = select(AGREEMENT.c.stage).join(ITEM, ITEM.c.id == AGREEMENT.c.item_id)
    with project.store.read() as db:
        there = set(db.execute(frozen_stages.where(ITEM.c.retired.is_(False)).distinct()).scalars())
    if agreement_figures.repeated(project):
        there.add(Stage.LABELLING.value)
    return [each for each in Stage if each.value in there]


def _second(
    project: Project, by: str, names: Names, chosen: Iterable[Agreement], called: tuple[str, str],
    paired: Sequence[Agreement],
) -> SecondFigures:  # fmt: skip
    """The rows of these records, and the frozen ones of the same pairs of raters."""
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
    """How many documents someone has sealed without their agreement being frozen: it takes everybody, and two."""
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
        there = {(row.item_id, row.kind) for row in db.execute(sealed)}
        done = {
            (each.item_id, each.stage.kind.value)
            for each in agreements.all_frozen(project, db)
            if each.stage.kind
        }
    return len(there - done)


def inputs_of(report: AgreementReport, row: FigureRow) -> list[AgreementInput]:
    """The frozen inputs behind a row, as the row sees them; none of rows that stand on no frozen record."""
    field = WRITTEN if row.field == UNITS else row.field
    made = []
    for agreement in report.records if row.by in BY else ():
        for each in flat(agreement) if agreement.stage is row.stage else ():
            if each.field == field and row.group in groups_of(row.by, each.where, each.judged_unit):
                made.append(each.seen_by(row.group[0]) if row.by == "person" else each)
    return made


def provenance(report: AgreementReport, row: FigureRow) -> RowBasis | None:
    """Which records, texts and versions a row stands on; None for rows that stand on no frozen record."""
    found = inputs_of(report, row)
    items, sides = {each.where.item_id for each in found}, {(each.where.a, each.where.b) for each in found}
    raters = {person for both in sides for person in both}
    records = [one for one in report.records if one.stage is row.stage and one.item_id in items]
    if not records:
        return None
    sealed = [given for one in records for given in one.inputs if given.person_id in raters]
    return RowBasis(
        records=len(records),
        raters=tuple(sorted(raters, key=lambda person: natural(report.alias(person)))),
        first=min(one.frozen_at for one in records),
        last=max(one.frozen_at for one in records),
        matchers=_versions(one.matcher for one in records),
        programs=_versions(one.program for one in records),
        guidelines=_versions(given.guideline for given in sealed),
        forms=_versions(given.form for given in sealed),
        said=Counter((each.value_a, each.value_b) for each in found),
    )


def _versions(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(found), key=natural))


def _of_votes(found: voting.Votes, places: Mapping[str, int]) -> FigureRow:
    n = found.figures[0].n if found.figures else 0
    items = tuple(sorted(found.items, key=lambda item_id: places.get(item_id, len(places))))
    return FigureRow(found.stage, VOTES, (), found.stage.value, found.field, n, found.figures, items)
