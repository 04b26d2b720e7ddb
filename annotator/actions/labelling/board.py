"""The assignment board: every assignment with its state, due date, progress and time."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, case, func, select

from annotator.actions.labelling import label_cases
from annotator.actions.labelling.label_rows import ANSWERED, to_submit
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.common import grouped, now
from annotator.domain.experts.adjudication import AdjudicationState, DisputeState
from annotator.domain.experts.assignment import Assignment, Person, Purpose, Role, Stage, stage_of
from annotator.domain.judges.judge import RaterKind
from annotator.domain.kinds.artifact import Kind, State
from annotator.protocols import TO_SUBMIT, assigned_protocols
from annotator.storage.tables import (
    ADJUDICATION,
    AGREEMENT,
    ARTIFACT,
    ASSIGNMENT,
    DISPUTE,
    ITEM,
    JUDGEMENT,
    REVISION,
    TIME,
)

# A stage of an item.
At = tuple[str, Stage]


@dataclass(slots=True)
class BoardFacts:
    """The data behind the board; people and items are named by id.

    `written` and `seconds` are keyed by item, stage and person, `labelled` by item, person and trial, the rest by item.
    A document's row has its state and the number of its units (of labels 0); `labelled` has a row for each protocol,
    with the number of labels and their active seconds.
    """

    written: dict[tuple[str, Stage, str], Any] = field(default_factory=dict)
    labelled: dict[tuple[str, str, int], list[Row[Any]]] = field(default_factory=dict)
    seconds: defaultdict[tuple[str, Stage, str], float] = field(default_factory=lambda: defaultdict(float))
    units: defaultdict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    """Item → protocol → the number of units by which each report is labelled."""
    reports: dict[str, int] = field(default_factory=dict)
    sampled: dict[tuple[str, str], int] = field(default_factory=dict)
    """(Item, person) → the number of reports that the person labels, if not all of the item's."""
    frozen: defaultdict[str, set[Stage]] = field(default_factory=lambda: defaultdict(set))
    adjudicated: defaultdict[str, dict[Stage, AdjudicationState]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    disputed: defaultdict[str, set[Stage]] = field(default_factory=lambda: defaultdict(set))


def _gathered(db: Connection, people: Iterable[str]) -> BoardFacts:
    people, result = sorted(people), BoardFacts()
    subjects: dict[str, At] = {}
    _written(db, people, result, subjects)
    _settled(db, result, subjects)
    _labelled(db, people, result, subjects)
    question = select(TIME.c.person_id, TIME.c.subject, func.sum(TIME.c.seconds))
    rows = db.execute(question.where(TIME.c.person_id.in_(people)).group_by(TIME.c.person_id, TIME.c.subject))
    for person, subject, seconds in rows:
        if subject in subjects:
            result.seconds[*subjects[subject], person] += seconds
    return result


def _written(db: Connection, people: list[str], facts: BoardFacts, subjects: dict[str, At]) -> None:
    a = ARTIFACT.c
    # Labels are counted one by one elsewhere; their documents are long.
    units = case(
        (a.kind == Kind.LABELS.value, 0), else_=func.json_array_length(REVISION.c.content, "$.units")
    )
    question = (
        select(a.id, a.item_id, a.kind, a.author_id, a.state, a.sealed_at, units.label("units"))
        .join(REVISION, (REVISION.c.artifact_id == a.id) & (REVISION.c.number == a.revision))
        .where(a.author_id.in_(people), a.state != State.CONSENSUS.value)
    )
    for row in db.execute(question):
        stage = stage_of(Kind(row.kind))
        facts.written[row.item_id, stage, row.author_id] = row
        subjects[row.id] = row.item_id, stage


def _settled(db: Connection, facts: BoardFacts, subjects: dict[str, At]) -> None:
    for item_id, stage in db.execute(select(AGREEMENT.c.item_id, AGREEMENT.c.stage)):
        facts.frozen[item_id].add(Stage(stage))
    question = select(ADJUDICATION.c.id, ADJUDICATION.c.item_id, ADJUDICATION.c.stage, ADJUDICATION.c.state)
    for adjudication_id, item_id, stage, state in db.execute(question):
        facts.adjudicated[item_id][Stage(stage)] = AdjudicationState(state)
        subjects[adjudication_id] = item_id, Stage.ADJUDICATION
    disputes = select(DISPUTE.c.item_id, DISPUTE.c.stage).where(DISPUTE.c.state == DisputeState.OPEN.value)
    for item_id, stage in db.execute(disputes):
        facts.disputed[item_id].add(Stage(stage))


def _labelled(db: Connection, people: list[str], facts: BoardFacts, subjects: dict[str, At]) -> None:
    reports = label_cases.reports(db)
    sampled_for = {person: label_cases.narrowed(db, person) for person in people}
    for protocol in TO_SUBMIT:
        for item_id, units in label_cases.judged_units(db, label_cases.labelled_by(protocol)).items():
            facts.units[item_id][protocol] = len(units)
    for person, sampled in sampled_for.items():
        facts.sampled |= {(item_id, person): len(chosen) for item_id, chosen in sampled.items()}
    for item_id, response_ids in reports.items():
        facts.reports[item_id] = len(response_ids)
        subjects.update(dict.fromkeys(response_ids, (item_id, Stage.LABELLING)))
    j = JUDGEMENT.c
    question = (
        select(
            j.item_id,
            j.rater_id,
            j.trial,
            j.protocol,
            func.count().label("labels"),
            func.coalesce(func.sum(j.seconds), 0.0).label("seconds"),
        )
        .where(
            j.rater_id.in_(people),
            to_submit(),
            j.rater_kind == RaterKind.PERSON.value,
            j.status.in_(ANSWERED),
        )
        .group_by(j.item_id, j.rater_id, j.trial, j.protocol)
    )
    facts.labelled = grouped(((row.item_id, row.rater_id, row.trial), row) for row in db.execute(question))


NOT_BEGUN, DRAFT, SUBMITTED, FROZEN = "not begun", "draft", "submitted", "frozen"
ADJUDICATED, CONSENSUS, DISPUTED = "in adjudication", "consensus", "disputed"
STATES = (NOT_BEGUN, DRAFT, SUBMITTED, FROZEN, ADJUDICATED, CONSENSUS, DISPUTED)
_STAGES = {stage: place for place, stage in enumerate(Stage)}


@dataclass(frozen=True, slots=True)
class AssignmentStatus:
    """The status of an assignment: `units` written or labelled so far, `of` the total.

    `of` is 0 if the total is unknown. An adjudicator's units are the stages they have closed. Once `handed_in`, nothing
    more is due from this person, and nothing is overdue.
    """

    assignment_id: str
    item_id: str
    item_key: str
    stage: Stage
    trial: int
    purpose: Purpose
    person_id: str
    person: str
    alias: str
    state: str
    handed_in: bool
    due: datetime | None
    overdue: bool
    submitted_at: datetime | None
    units: int
    of: int
    seconds: float


@dataclass(frozen=True, slots=True)
class StatusTotal:
    key: str
    name: str
    assignments: int
    states: dict[str, int]
    handed_in: int
    overdue: int
    units: int
    seconds: float


# An assignment, the key of its item, and its person.
AssignedWork = tuple[Assignment, str, Person]


def board(project: Project) -> list[AssignmentStatus]:
    """Every assignment, in the project's order, then by stage, alias and trial, without retired items.

    A coordinator gets everybody's, anyone else only their own, without repeats. The number of queries does not depend
    on the size of the project.
    """
    me = people.someone(project)
    everybody = {person.id: person for person in people.people(project)}
    with project.store.read() as db:
        asked = _assigned(db, everybody)
        known = _gathered(db, {person.id for *_, person in asked})
    counts = Counter((one.item_id, one.stage) for one, *_ in asked if one.trial == 1)
    # A stage assigned to two people or more will have something to adjudicate.
    shared = grouped(at for at, raters in counts.items() if raters > 1 and at[1] is not Stage.ADJUDICATION)
    return [
        _board_line(each, shared.get(each[0].item_id, ()), known)
        for each in asked
        if me.has(Role.COORDINATOR) or (each[0].person_id == me.id and each[0].trial == 1)
    ]


def per_person(lines: Iterable[AssignmentStatus]) -> list[StatusTotal]:
    groups = grouped(((line.alias, line.person_id, line.person), line) for line in lines)
    return [
        total(person_id, name, groups[alias, person_id, name]) for alias, person_id, name in sorted(groups)
    ]


def _assigned(db: Connection, everybody: dict[str, Person]) -> list[AssignedWork]:
    question = (
        select(ASSIGNMENT, ITEM.c.key)
        .join(ITEM, ITEM.c.id == ASSIGNMENT.c.item_id)
        .where(ITEM.c.retired.is_(False))
        .order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)
    )
    fields = Assignment.model_fields
    result = [
        (Assignment(**{name: row[name] for name in fields}), row["key"], everybody[row["person_id"]])
        for row in db.execute(question).mappings()
    ]
    places = {
        item_id: place for place, item_id in enumerate(dict.fromkeys(one.item_id for one, *_ in result))
    }

    def order(work: AssignedWork) -> tuple[int, int, str, int]:
        one, _, person = work
        return places[one.item_id], _STAGES[one.stage], person.alias, one.trial

    return sorted(result, key=order)


def _board_line(work: AssignedWork, shared: Iterable[Stage], known: BoardFacts) -> AssignmentStatus:
    assignment, key, person = work
    if assignment.stage is Stage.ADJUDICATION:
        state, units, of = _adjudication(assignment.item_id, shared, known)
        handed_in = state == CONSENSUS
    else:
        state, units, of = _state(assignment, known), *_units(assignment, known)
        handed_in = state not in (NOT_BEGUN, DRAFT)
    return AssignmentStatus(
        assignment_id=assignment.id,
        item_id=assignment.item_id,
        item_key=key,
        stage=assignment.stage,
        trial=assignment.trial,
        purpose=assignment.purpose,
        person_id=person.id,
        person=person.name,
        alias=person.alias,
        state=state,
        handed_in=handed_in,
        due=assignment.due,
        overdue=assignment.due is not None and not handed_in and assignment.due < now(),
        submitted_at=assignment.submitted_at,
        units=units,
        of=of,
        seconds=round(_seconds(assignment, known), 1),
    )


def _state(assignment: Assignment, known: BoardFacts) -> str:
    """The state of an annotator's assignment; the later state of the stage counts if they sealed something of it."""
    written = known.written.get((assignment.item_id, assignment.stage, assignment.person_id))
    if assignment.trial > 1:
        if assignment.submitted_at is not None:
            return SUBMITTED
        return DRAFT if _labels(assignment, known) else NOT_BEGUN
    if written is not None and assignment.protocols and assignment.submitted_at is None:
        # Their labels were sealed before these protocols were assigned.
        return DRAFT
    if assignment.purpose is Purpose.REVIEW and written is None and assignment.submitted_at is not None:
        # The reviewed document was accepted by its author.
        return CONSENSUS
    if written is not None and written.sealed_at is not None and (later := _afterwards(assignment, known)):
        return later
    if written is not None:
        return SUBMITTED if written.state == State.SEALED.value else DRAFT
    return DRAFT if assignment.stage is Stage.LABELLING and _labels(assignment, known) else NOT_BEGUN


def _afterwards(assignment: Assignment, known: BoardFacts) -> str:
    """What happened to a stage of an item after sealing; empty while sealing is not complete."""
    if assignment.stage in known.disputed[assignment.item_id]:
        return DISPUTED
    adjudicated = known.adjudicated[assignment.item_id].get(assignment.stage)
    if adjudicated is not None:
        return CONSENSUS if adjudicated is AdjudicationState.CLOSED else ADJUDICATED
    return FROZEN if assignment.stage in known.frozen[assignment.item_id] else ""


def _adjudication(item_id: str, shared: Iterable[Stage], known: BoardFacts) -> tuple[str, int, int]:
    """The state of an adjudicator's assignment, the number of closed stages of the item, and the expected total."""
    begun, frozen = known.adjudicated[item_id].values(), known.frozen[item_id]
    closed = sum(state is AdjudicationState.CLOSED for state in begun)
    of = len({*shared, *frozen})
    if known.disputed[item_id]:
        return DISPUTED, closed, of
    if begun:
        return CONSENSUS if closed == of else ADJUDICATED, closed, of
    return FROZEN if frozen else NOT_BEGUN, closed, of


def _units(assignment: Assignment, known: BoardFacts) -> tuple[int, int]:
    if assignment.stage is Stage.LABELLING:
        reports = known.sampled.get(
            (assignment.item_id, assignment.person_id), known.reports.get(assignment.item_id, 0)
        )
        units, rows = known.units[assignment.item_id], _labels(assignment, known)
        labels = sum(row.labels for row in rows)
        if not set(assigned_protocols(assignment.protocols)) <= set(TO_SUBMIT):
            # Labels of parts extracted from each report are not counted here.
            return labels, 0
        # Protocols begun are submitted together; until one is, the first counts.
        begun = units.keys() & {row.protocol for row in rows} or set(list(units)[:1])
        of = reports * sum(units[protocol] for protocol in begun)
        return min(of, labels), of
    written = known.written.get((assignment.item_id, assignment.stage, assignment.person_id))
    return (written.units if written else 0), 0


def _labels(assignment: Assignment, known: BoardFacts) -> list[Row[Any]]:
    return known.labelled.get((assignment.item_id, assignment.person_id, assignment.trial), [])


def _seconds(assignment: Assignment, known: BoardFacts) -> float:
    """Active seconds: those stored with the labels or, if more, those recorded by document."""
    labelled = sum((row.seconds for row in _labels(assignment, known)), 0.0)
    if assignment.trial > 1:
        return labelled
    spent = known.seconds[assignment.item_id, assignment.stage, assignment.person_id]
    return max(spent, labelled) if assignment.stage is Stage.LABELLING else spent


def total(key: str, name: str, lines: Sequence[AssignmentStatus]) -> StatusTotal:
    counted = Counter(line.state for line in lines)
    return StatusTotal(
        key=key,
        name=name,
        assignments=len(lines),
        states={state: counted[state] for state in STATES if counted[state]},
        handed_in=sum(line.handed_in for line in lines),
        overdue=sum(line.overdue for line in lines),
        units=sum(line.units for line in lines),
        seconds=round(sum(line.seconds for line in lines), 1),
    )
