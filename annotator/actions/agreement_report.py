"""What a coordinator looks at: every section of agreement at once, each row with the frozen inputs it stands on."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from annotator.actions import agreement_figures, agreements, letters, people, repaired, voting
from annotator.actions.agreement_figures import UNITS, Row
from annotator.actions.agreement_groups import BY, Group, groups_of
from annotator.actions.agreement_inputs import ITEM, WRITTEN, Input, flat, frozen, refuse_others
from annotator.actions.project import Project
from annotator.domain.agreement import Agreement
from annotator.domain.artifact import State
from annotator.domain.assignment import Stage
from annotator.domain.ordering import natural
from annotator.domain.person import Person
from annotator.storage.tables import AgreementRow, ArtifactRow, table

AGREEMENT, ARTIFACT = table(AgreementRow), table(ArtifactRow)
# What the rows of seniors' first votes are grouped by.
VOTES = "votes"
Key = tuple[Stage, str, Group, str]


@dataclass(frozen=True, slots=True)
class Report:
    """The rows of every section.

    `repaired` are second figures, by the adjudicator's pairing, of rows of that key; `beside` are the frozen figures
    over the very items that those are over, which may be fewer than the row's.
    """

    by: str
    stage: Stage | None
    rows: tuple[Row, ...]
    repaired: Mapping[Key, Row]
    beside: Mapping[Key, Row]
    repeats: tuple[Row, ...]
    votes: tuple[Row, ...]
    stages: tuple[Stage, ...]
    records: tuple[Agreement, ...]
    items: Mapping[str, str]
    questions: Mapping[str, str]
    people: Mapping[str, Person]

    def again(self, row: Row) -> Row | None:
        """The same row by the adjudicator's pairing, if anything of it has been adjudicated."""
        return self.repaired.get(key_of(row))

    def alias(self, person_id: str) -> str:
        """A person's alias; the id itself of somebody whom the project does not know."""
        return self.people[person_id].alias if person_id in self.people else person_id


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a row stands on. `said` counts pairs of values, either of which may be None for one that was not given."""

    records: int
    raters: tuple[str, ...]
    first: datetime
    last: datetime
    matchers: tuple[str, ...]
    programs: tuple[str, ...]
    guidelines: tuple[str, ...]
    forms: tuple[str, ...]
    said: Mapping[tuple[Any, Any], int]


def key_of(row: Row) -> Key:
    """What tells a row from all others."""
    return row.stage, row.by, row.group, row.field


def report(project: Project, by: str = "stage", stage: Stage | None = None) -> Report:
    """All that is to be seen of agreement, of every stage or of one; Refusal for whoever does not coordinate."""
    found, names = frozen(project)
    chosen = [agreement for agreement in found if stage in (None, agreement.stage)]
    with project.store.read() as db:
        paired = repaired.records(db, chosen)
        questions = {each.id: each.question for each in db.execute(select(ITEM.c.id, ITEM.c.question))}
    adjudicated = {agreement.id for agreement in paired}
    same = [agreement for agreement in chosen if agreement.id in adjudicated]
    once, again, beside = (
        agreement_figures.pooled(project, by, each, names) for each in (chosen, paired, same)
    )
    repeats = agreement_figures.self_agreement(project) if stage in (None, Stage.LABELLING) else []
    places = {item_id: place for place, item_id in enumerate(names.items)}
    votes = [_of_votes(each, places) for each in voting.votes(project) if stage in (None, each.stage)]
    there = {agreement.stage for agreement in found} | {row.stage for row in (*repeats, *votes)}
    return Report(
        by=by,
        stage=stage,
        rows=tuple(once),
        repaired={key_of(row): row for row in again},
        beside={key_of(row): row for row in beside},
        repeats=tuple(repeats),
        votes=tuple(votes),
        stages=tuple(each for each in Stage if each in there),
        records=tuple(chosen),
        items=names.items,
        questions=questions,
        people={person.id: person for person in people.people(project)},
    )


def half_sealed(project: Project) -> int:
    """How many documents somebody has sealed without their agreement being frozen: it takes everybody, and two."""
    refuse_others(project)
    sealed = (
        select(ARTIFACT.c.item_id, ARTIFACT.c.kind, func.count().label("seals"))
        .where(ARTIFACT.c.state == State.SEALED.value, ARTIFACT.c.author_id != "")
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


def inputs_of(report: Report, row: Row) -> list[Input]:
    """The frozen inputs behind a row, as the row sees them; none of rows that stand on no frozen record."""
    field = WRITTEN if row.field == UNITS else row.field
    made = []
    for agreement in report.records if row.by in BY else ():
        for each in flat(agreement) if agreement.stage is row.stage else ():
            if each.field == field and row.group in groups_of(row.by, each.where, each.judged_unit):
                made.append(each.seen_by(row.group[0]) if row.by == "person" else each)
    return made


def provenance(report: Report, row: Row) -> Provenance | None:
    """Which records, texts and versions a row stands on; None for rows that stand on no frozen record."""
    found = inputs_of(report, row)
    items, sides = {each.where.item_id for each in found}, {(each.where.a, each.where.b) for each in found}
    raters = {person for both in sides for person in both}
    records = [one for one in report.records if one.stage is row.stage and one.item_id in items]
    if not records:
        return None
    sealed = [given for one in records for given in one.inputs if given.person_id in raters]
    return Provenance(
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


def _of_votes(found: voting.Votes, places: Mapping[str, int]) -> Row:
    field, _ = letters.VOTED[letters.kind_of_stage(found.stage)]
    n = found.figures[0].n if found.figures else 0
    items = tuple(sorted(found.items, key=lambda item_id: places.get(item_id, len(places))))
    return Row(found.stage, VOTES, (), found.stage.value, field, n, found.figures, items)
