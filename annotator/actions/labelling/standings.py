"""Where the work on every item stands, gathered for the whole project in a few questions."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import orjson
from sqlalchemy import case, func, select
from sqlalchemy.engine import Connection

from annotator.actions.labelling import dealing
from annotator.actions.labelling.labels import COVERAGE, SAID
from annotator.domain.experts.adjudication import AdjudicationState, DisputeState
from annotator.domain.experts.assignment import Stage, stage_of
from annotator.domain.judges.judgement import RaterKind
from annotator.domain.kinds.artifact import Kind, State
from annotator.storage import tables
from annotator.storage.tables import table

ARTIFACT, REVISION, TIME = table(tables.ArtifactRow), table(tables.RevisionRow), table(tables.TimeRow)
AGREEMENT, ADJUDICATION = table(tables.AgreementRow), table(tables.AdjudicationRow)
DISPUTE, JUDGEMENT = table(tables.DisputeRow), table(tables.JudgementRow)
# A stage of an item.
At = tuple[str, Stage]


@dataclass(frozen=True, slots=True)
class Written:
    """A person's own document: its state, whether it was ever sealed, and how many units it has (labels: 0)."""

    state: State
    ever_sealed: bool
    units: int


@dataclass(frozen=True, slots=True)
class Labelled:
    """How many labels a person has given on an item in one trial, and the active seconds kept with them."""

    labels: int
    seconds: float


@dataclass(slots=True)
class Standings:
    """What the board reads off; people and items are named by id.

    `written` and `seconds` are kept by item, stage and person, `labelled` by item, person and trial, the rest by item.
    """

    written: dict[tuple[str, Stage, str], Written] = field(default_factory=dict)
    labelled: dict[tuple[str, str, int], Labelled] = field(default_factory=dict)
    seconds: defaultdict[tuple[str, Stage, str], float] = field(default_factory=lambda: defaultdict(float))
    to_label: dict[str, int] = field(default_factory=dict)
    drawn: dict[tuple[str, str], int] = field(default_factory=dict)
    """What a person labels of an item where that is not all of it: item, person → units."""
    frozen: defaultdict[str, set[Stage]] = field(default_factory=lambda: defaultdict(set))
    adjudicated: defaultdict[str, dict[Stage, AdjudicationState]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    disputed: defaultdict[str, set[Stage]] = field(default_factory=lambda: defaultdict(set))


def gathered(db: Connection, people: Iterable[str]) -> Standings:
    """How far these people's work on every item is, and what became of it afterwards."""
    people, found = sorted(people), Standings()
    subjects: dict[str, At] = {}
    _written(db, people, found, subjects)
    _afterwards(db, found, subjects)
    _labelled(db, people, found, subjects)
    question = select(TIME.c.person_id, TIME.c.subject, func.sum(TIME.c.seconds))
    rows = db.execute(question.where(TIME.c.person_id.in_(people)).group_by(TIME.c.person_id, TIME.c.subject))
    for person, subject, seconds in rows:
        if subject in subjects:
            found.seconds[*subjects[subject], person] += seconds
    return found


def _written(db: Connection, people: list[str], found: Standings, subjects: dict[str, At]) -> None:
    a = ARTIFACT.c
    # Labels are counted one by one elsewhere; their documents are long.
    content = case((a.kind == Kind.LABELS.value, ""), else_=REVISION.c.content)
    question = (
        select(a.id, a.item_id, a.kind, a.author_id, a.state, a.sealed_at, content)
        .join(REVISION, (REVISION.c.artifact_id == a.id) & (REVISION.c.number == a.revision))
        .where(a.author_id.in_(people), a.state != State.CONSENSUS.value)
    )
    for artifact_id, item_id, kind, person, state, sealed_at, text in db.execute(question):
        stage = stage_of(Kind(kind))
        units = len(orjson.loads(text)["units"]) if text else 0
        found.written[item_id, stage, person] = Written(State(state), sealed_at is not None, units)
        subjects[artifact_id] = item_id, stage


def _afterwards(db: Connection, found: Standings, subjects: dict[str, At]) -> None:
    for item_id, stage in db.execute(select(AGREEMENT.c.item_id, AGREEMENT.c.stage)):
        found.frozen[item_id].add(Stage(stage))
    question = select(ADJUDICATION.c.id, ADJUDICATION.c.item_id, ADJUDICATION.c.stage, ADJUDICATION.c.state)
    for adjudication_id, item_id, stage, state in db.execute(question):
        found.adjudicated[item_id][Stage(stage)] = AdjudicationState(state)
        subjects[adjudication_id] = item_id, Stage.ADJUDICATION
    disputes = select(DISPUTE.c.item_id, DISPUTE.c.stage).where(DISPUTE.c.state == DisputeState.OPEN.value)
    for item_id, stage in db.execute(disputes):
        found.disputed[item_id].add(Stage(stage))


def _labelled(db: Connection, people: list[str], found: Standings, subjects: dict[str, At]) -> None:
    reports = dealing.reports(db)
    drawn_for = {person: dealing.narrowed(db, person) for person in people}
    for item_id, units in dealing.judged_units(db, dealing.labelled_by(COVERAGE)).items():
        found.to_label[item_id] = len(reports[item_id]) * len(units)
        for person, drawn in drawn_for.items():
            if item_id in drawn:
                found.drawn[item_id, person] = len(drawn[item_id]) * len(units)
    for item_id, response_ids in reports.items():
        subjects.update(dict.fromkeys(response_ids, (item_id, Stage.LABELLING)))
    j = JUDGEMENT.c
    question = (
        select(j.item_id, j.rater_id, j.trial, func.count(), func.coalesce(func.sum(j.seconds), 0.0))
        .where(
            j.rater_id.in_(people),
            j.protocol == COVERAGE,
            j.rater_kind == RaterKind.PERSON.value,
            j.status.in_(SAID),
        )
        .group_by(j.item_id, j.rater_id, j.trial)
    )
    for item_id, person, trial, labels, seconds in db.execute(question):
        found.labelled[item_id, person, trial] = Labelled(labels, seconds)
