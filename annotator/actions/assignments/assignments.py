"""Assignments: handing out and withdrawing work, what people are offered, submission, and frozen agreements."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, delete, func, insert, select, update

from annotator import __version__
from annotator.actions.assignments import reviewing
from annotator.actions.assignments.planning import (
    PlannedWork as PlannedWork,
    has_passed,
    preview as preview,
    unfit,
    worked_out,
)
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.common import (
    Change,
    Refusal,
    RoleNeeded,
    canonical_json,
    derived_id,
    grouped,
    new_id,
    now,
    required,
    sha256,
)
from annotator.domain.experts.adjudication import Adjudication, Agreement, Figure, PairAgreement, SealedInput
from annotator.domain.experts.assignment import Assignment, Person, Purpose, Role, Stage, stage_of
from annotator.domain.experts.sharing import AssignmentPlan as AssignmentPlan, assignment_id
from annotator.domain.judges.judge import RaterKind
from annotator.domain.kinds.artifact import Artifact, Document, Finding, Kind, State, hinders
from annotator.domain.kinds.documents import KINDS, document_of, lint
from annotator.domain.material.item import EXEMPLAR_TITLE, Item, Source
from annotator.domain.material.transcript import doubts_about
from annotator.storage.tables import (
    ADJUDICATION,
    AGREEMENT,
    ARTIFACT,
    ASSIGNMENT,
    ITEM,
    JUDGEMENT,
    REVISION,
    TIME,
    if_given,
)


@dataclass(frozen=True, slots=True)
class Competence:
    """What one person may adjudicate: `own` are items they answered, `assigned` the assigned adjudicators by item."""

    person: Person
    own: frozenset[str]
    assigned: dict[str, frozenset[str]] = field(default_factory=dict)

    def objection(self, item_id: str, begun_by: str = "") -> Refusal | None:
        """Why this person may not adjudicate the item; None if they may. `begun_by` is who has opened it already."""
        if item_id in self.own:
            return Refusal(
                "You have written or labelled something for this item yourself.",
                "Someone else must adjudicate it.",
            )
        assigned = self.assigned.get(item_id, frozenset())
        if self.person.id in assigned or (self.person.id == begun_by and not assigned):
            return None
        if assigned or begun_by:
            return Refusal(
                "Someone else adjudicates this item.", "Ask the coordinator to assign it to you instead."
            )
        if not self.person.has(Role.ADJUDICATOR):
            return RoleNeeded(
                "You are not an adjudicator of this project.",
                "Ask the coordinator for that role.",
                Role.ADJUDICATOR,
            )
        return None


def competence(project: Project, db: Connection, item_id: str = "") -> Competence:
    person = people.someone(project)
    question = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.person_id).where(
        ASSIGNMENT.c.stage == Stage.ADJUDICATION.value, *_only(ASSIGNMENT.c.item_id, item_id)
    )
    assigned = grouped((of_item, person_id) for of_item, person_id in db.execute(question))
    whose = {of_item: frozenset(people) for of_item, people in assigned.items()}
    return Competence(person, answered(db, person.id, item_id), whose)


def answered(db: Connection, person_id: str, item_id: str = "") -> frozenset[str]:
    """The items a person has written or labelled something for, or is to; a consensus they made does not count."""
    written = select(ARTIFACT.c.item_id).where(
        ARTIFACT.c.author_id == person_id, ARTIFACT.c.state != State.CONSENSUS.value
    )
    assigned = select(ASSIGNMENT.c.item_id).where(
        ASSIGNMENT.c.person_id == person_id, ASSIGNMENT.c.stage != Stage.ADJUDICATION.value
    )
    labelled = select(JUDGEMENT.c.item_id).where(
        JUDGEMENT.c.rater_id == person_id, JUDGEMENT.c.rater_kind == RaterKind.PERSON.value
    )
    questions = (
        written.where(*_only(ARTIFACT.c.item_id, item_id)),
        assigned.where(*_only(ASSIGNMENT.c.item_id, item_id)),
        labelled.where(*_only(JUDGEMENT.c.item_id, item_id)).distinct(),
    )
    return frozenset(result for question in questions for result in db.execute(question).scalars())


def refuse_others(project: Project, db: Connection, adjudication: Adjudication) -> None:
    """Raise Refusal unless the person working may resume this adjudication."""
    known = competence(project, db, adjudication.item_id)
    if objection := known.objection(adjudication.item_id, adjudication.adjudicator_id):
        raise objection


def _only(column: ColumnElement[str], item_id: str) -> tuple[ColumnElement[bool], ...]:
    return (column == item_id,) if item_id else ()


# The number of ids in one query, which any database accepts.
AT_ONCE = 500
_DELETE = delete(ASSIGNMENT).where(ASSIGNMENT.c.id == bindparam("gone"))
_SUBMIT = (
    update(ASSIGNMENT)
    .where(
        ASSIGNMENT.c.item_id == bindparam("item"),
        ASSIGNMENT.c.person_id == bindparam("person"),
        ASSIGNMENT.c.stage == bindparam("of_stage"),
        ASSIGNMENT.c.trial == bindparam("of_trial"),
    )
    .values(submitted_at=bindparam("at"))
)


@people.for_coordinators("can hand out work")
def assign(project: Project, plan: AssignmentPlan) -> Change:
    """Hand out everything that `preview` shows of a plan, or nothing; the Refusal says why it cannot be met."""
    with project.store.write() as db:
        outcome = worked_out(project, db, plan)
        if outcome.refusals:
            raise Refusal(
                "This plan cannot be met.", "Change it; nothing was assigned.", details=outcome.refusals
            )
        made = required(outcome.shared.made, "All of this is assigned already.", "Nothing was changed.")
        return _add(project, db, new_id(), made)


@people.for_coordinators("can hand out work")
def assign_one(
    project: Project,
    item_id: str,
    person_id: str,
    stage: Stage,
    *,
    due: datetime | None = None,
    purpose: Purpose = Purpose.WORK,
    trial: int = 1,
    not_before: datetime | None = None,
    protocols: Sequence[str] = (),
) -> Change:
    """Assign one stage of one item to a person; labelling by these `protocols`, or the usual ones."""
    made = Assignment(
        id=assignment_id(item_id, person_id, stage, trial), item_id=item_id, person_id=person_id, stage=stage,
        trial=trial, purpose=purpose, not_before=not_before, due=due, protocols=" ".join(protocols),
    )  # fmt: skip
    with project.store.write() as db:
        _refuse_unfit(project, made)
        if db.execute(select(ASSIGNMENT.c.id).where(ASSIGNMENT.c.id == made.id)).first():
            raise Refusal("This is assigned to that person already.", "Nothing was changed.")
        _refuse_conflict(db, made)
        return _add(project, db, made.id, [made])


@people.for_coordinators("can withdraw work")
def withdraw_all(project: Project, assignment_ids: Sequence[str]) -> Change:
    """Withdraw several assignments at once; submitted ones stay. Raises Refusal if none can be withdrawn."""
    with project.store.write() as db:
        still_open = required(
            [assignment for assignment in _stored(db, assignment_ids) if assignment.submitted_at is None],
            "None of these can be withdrawn.",
            "What was handed in must be reopened by its author first.",
        )
        subject = still_open[0].id if len(still_open) == 1 else new_id()
        return _remove(project, db, subject, still_open)


def candidates(project: Project, assignment_id: str) -> list[Person]:
    """The people who could take over an assignment, by alias; nobody can take over a repeat of a person's own work."""
    with project.store.read() as db:
        old = next(iter(_stored(db, [assignment_id])), None)
        if old is None or old.trial > 1:
            return []
        role = Role.ADJUDICATOR if old.stage is Stage.ADJUDICATION else Role.ANNOTATOR
        taken = raters_of(db, old.item_id, old.stage)
        free = [
            person for person in people.people(project) if not unfit(person, role) and person.id not in taken
        ]
        if old.stage is not Stage.ADJUDICATION:
            judges = _judges(db, old.item_id)
            return [person for person in free if person.id not in judges]
        return [person for person in free if old.item_id not in answered(db, person.id, old.item_id)]


@people.for_coordinators("can hand out work")
def reassign(project: Project, old_id: str, person_id: str) -> Change:
    """Give an assignment to someone else, with its due date; what the first person wrote stays theirs."""
    with project.store.write() as db:
        old = required(
            next(iter(_stored(db, [old_id])), None), "This is no longer assigned.", "Look at the list again."
        )
        if old.submitted_at is not None:
            raise Refusal(
                "This is already handed in.", "It can go to somebody else only after it is reopened."
            )
        if old.trial > 1:
            raise Refusal(
                "A repeat is for the person's own work.", "Nobody else can do it; withdraw it instead."
            )
        name = assignment_id(old.item_id, person_id, old.stage)
        new = old.model_copy(update={"id": name, "person_id": person_id, "submitted_at": None})
        _refuse_unfit(project, new)
        if _stored(db, [new.id]):
            raise Refusal("This is assigned to that person already.", "Nothing was changed.")
        made = [_in_utc(assignment) for assignment in _with_submissions(db, [new])]
        _delete(db, [old])
        _refuse_conflict(db, new)
        _write(db, made)
        change = record(project, db, Change("assignment", new.id, "reassign", _image([old]), _image(made)))
        _settle(project, db, made)
        return change


@people.for_coordinators("can withdraw work")
def withdraw_open(project: Project, person_id: str) -> Change:
    """Withdraw all assignments that a person has not submitted, for instance when they leave."""
    with project.store.write() as db:
        still_open = required(
            [
                assignment
                for assignment in _ordered(db, ASSIGNMENT.c.person_id == person_id)
                if assignment.submitted_at is None
            ],
            "This person has no open work.",
            "Nothing was changed.",
        )
        return _remove(project, db, person_id, still_open)


@people.for_coordinators("can set due dates")
def change_due(project: Project, assignment_ids: Sequence[str], due: datetime | None) -> Change:
    """Change the due date of assignments, or remove it (None); raises Refusal for a date that has passed."""
    if words := has_passed(due):
        raise Refusal(words, "Choose a future date; nothing was changed.")
    with project.store.write() as db:
        old = required(
            _stored(db, assignment_ids), "These are no longer assigned.", "Look at the list again."
        )
        new = [_in_utc(assignment.model_copy(update={"due": due})) for assignment in old]
        _write(db, new)
        subject = old[0].id if len(old) == 1 else new_id()
        return record(project, db, Change("assignment", subject, "change due date", _image(old), _image(new)))


def of_person(project: Project, person_id: str) -> list[Assignment]:
    with project.store.read() as db:
        return _ordered(db, ASSIGNMENT.c.person_id == person_id)


def raters_of(db: Connection, item_id: str, stage: Stage) -> list[str]:
    """The ids of those assigned to a stage of an item; empty if nobody is."""
    question = select(ASSIGNMENT.c.person_id).where(
        ASSIGNMENT.c.item_id == item_id, ASSIGNMENT.c.stage == stage.value, ASSIGNMENT.c.trial == 1
    )
    return list(db.execute(question.order_by(ASSIGNMENT.c.person_id)).scalars())


def adjudicator_of(db: Connection, item_id: str) -> str:
    """The id of the person assigned to adjudicate an item; empty if nobody is."""
    return next(iter(raters_of(db, item_id, Stage.ADJUDICATION)), "")


def mark_submitted(
    db: Connection, item_id: str, person_id: str, stage: Stage, at: datetime | None, trial: int = 1
) -> None:
    """Record on a person's assignment when it was submitted, or with None that it was reopened."""
    whose = {"item": item_id, "person": person_id, "of_stage": stage.value, "of_trial": trial}
    db.execute(_SUBMIT, {**whose, "at": at})


def offered(project: Project) -> dict[str, set[Stage]] | None:
    """Item → the stages assigned to the person working; None if everything is offered to them.

    Everything is offered to anyone without assignments. Repeats are served under another item's name, never here.
    """
    question = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.stage, ASSIGNMENT.c.trial)
    rows = project.query(question.where(ASSIGNMENT.c.person_id == people.someone(project).id)).all()
    own = grouped((item_id, Stage(stage)) for item_id, stage, trial in rows if trial == 1)
    return {item_id: set(stages) for item_id, stages in own.items()} if rows else None


def _ordered(db: Connection, condition: Any) -> list[Assignment]:
    question = select(ASSIGNMENT).join(ITEM, ITEM.c.id == ASSIGNMENT.c.item_id).where(condition)
    order = (ITEM.c.position, ITEM.c.key, ITEM.c.id, ASSIGNMENT.c.person_id, ASSIGNMENT.c.trial)
    rows = [Assignment(**row) for row in db.execute(question.order_by(*order)).mappings()]
    places = {item_id: place for place, item_id in enumerate(dict.fromkeys(row.item_id for row in rows))}
    stages = list(Stage)
    return sorted(rows, key=lambda assignment: (places[assignment.item_id], stages.index(assignment.stage)))


def _refuse_unfit(project: Project, made: Assignment) -> None:
    role = Role.ADJUDICATOR if made.stage is Stage.ADJUDICATION else Role.ANNOTATOR
    person = next((one for one in people.people(project) if one.id == made.person_id), None)
    if words := unfit(person, role):
        raise Refusal(
            words, "Choose somebody else, or change their roles first, under People or by “people role”."
        )


def _refuse_conflict(db: Connection, made: Assignment) -> None:
    """Raise Refusal if an assignment would make someone adjudicate their own work, or add a second adjudicator."""
    if made.stage is not Stage.ADJUDICATION:
        if made.person_id in _judges(db, made.item_id):
            raise Refusal(
                "This person adjudicates the item and may not be one of its annotators.",
                "Choose somebody else, or withdraw the adjudication first.",
            )
        return
    if made.item_id in answered(db, made.person_id, made.item_id):
        raise Refusal(
            "The adjudicator of an item must not be one of its annotators, and this person is one.",
            "Choose somebody who has written and labelled nothing for it.",
        )
    if adjudicator_of(db, made.item_id) not in ("", made.person_id):
        raise Refusal("This item has an adjudicator already.", "Withdraw that assignment first.")


def _judges(db: Connection, item_id: str) -> set[str]:
    return {
        *raters_of(db, item_id, Stage.ADJUDICATION),
        *db.execute(select(ADJUDICATION.c.adjudicator_id).where(ADJUDICATION.c.item_id == item_id)).scalars(),
    }


def _add(project: Project, db: Connection, subject: str, made: Sequence[Assignment]) -> Change:
    made, before = (
        [_in_utc(assignment) for assignment in _with_submissions(db, made)],
        _stored(db, [assignment.id for assignment in made]),
    )
    _write(db, made)
    return record(project, db, Change("assignment", subject, "assign", _image(before), _image(made)))


def _with_submissions(db: Connection, made: Sequence[Assignment]) -> list[Assignment]:
    """The assignments, marked as submitted if their work was sealed before it was assigned.

    Not those that name protocols: labels sealed before may not cover them.
    """
    question = select(ARTIFACT.c.item_id, ARTIFACT.c.author_id, ARTIFACT.c.kind, ARTIFACT.c.sealed_at).where(
        ARTIFACT.c.author_id.in_({assignment.person_id for assignment in made}),
        ARTIFACT.c.state == State.SEALED.value,
    )
    sealed = {
        (item_id, person, stage_of(Kind(kind))): at for item_id, person, kind, at in db.execute(question)
    }
    return [
        assignment.model_copy(
            update={"submitted_at": sealed.get((assignment.item_id, assignment.person_id, assignment.stage))}
        )
        if assignment.trial == 1 and not assignment.protocols
        else assignment
        for assignment in made
    ]


def _in_utc(assignment: Assignment) -> Assignment:
    """The assignment with its times as the store returns them, so that undo compares equal values."""
    moments = {name: getattr(assignment, name) for name in ("not_before", "due", "submitted_at")}
    return assignment.model_copy(
        update={name: at.astimezone(UTC) for name, at in moments.items() if at is not None}
    )


def _stored(db: Connection, ids: Sequence[str]) -> list[Assignment]:
    result: list[Assignment] = []
    for start in range(0, len(ids), AT_ONCE):
        question = select(ASSIGNMENT).where(ASSIGNMENT.c.id.in_(ids[start : start + AT_ONCE]))
        result += [Assignment(**row) for row in db.execute(question.order_by(ASSIGNMENT.c.id)).mappings()]
    return result


def _write(db: Connection, rows: Sequence[Assignment]) -> None:
    _delete(db, rows)
    if rows:
        db.execute(insert(ASSIGNMENT), [row.model_dump() for row in rows])


def _delete(db: Connection, rows: Sequence[Assignment]) -> None:
    if rows:
        db.execute(_DELETE, [{"gone": row.id} for row in rows])


def _remove(project: Project, db: Connection, subject: str, gone: Sequence[Assignment]) -> Change:
    change = record(project, db, Change("assignment", subject, "withdraw", _image(gone), _image([])))
    _delete(db, gone)
    _settle(project, db, gone)
    return change


def _settle(project: Project, db: Connection, touched: Sequence[Assignment]) -> None:
    for item_id, stage in sorted(
        {(assignment.item_id, assignment.stage) for assignment in touched if assignment.trial == 1}
    ):
        freeze_when_ready(project, db, item_id, stage)


def _image(rows: Iterable[Assignment]) -> dict[str, Any]:
    return {"rows": {row.id: row.model_dump(mode="json") for row in rows}}


def restore(project: Project, db: Connection, _subject: str, present: Any, goal: Any) -> None:
    """Restore the subject of a change from one image to another; raises Refusal if it has changed since."""
    old, new = _as_now(present["rows"]), _as_now(goal["rows"])
    if _image(_stored(db, list({**old, **new})))["rows"] != old:
        raise Refusal("These assignments were changed elsewhere since.", "Look again; nothing was undone.")
    gone = [Assignment.model_validate(old[name]) for name in old if name not in new]
    _delete(db, gone)
    rows = [Assignment.model_validate(image) for image in new.values()]
    for row in rows:
        if row.id not in old:
            _refuse_conflict(db, row)
    _write(db, rows)
    # Only now: while one of them is removed, a stage could seem to have all the seals it waits for.
    _settle(project, db, gone)


def _as_now(rows: dict[str, Any]) -> dict[str, Any]:
    """The same images with the fields that were added to assignments since."""
    return {name: Assignment.model_validate(one).model_dump(mode="json") for name, one in rows.items()}


def spend(project: Project, subject: str, seconds: float) -> None:
    """Add active seconds this person spent on a subject (the id of a response, an artifact, an item)."""
    if seconds <= 0 or project.readonly:
        return
    row = {"id": new_id(), "person_id": people.someone(project).id, "subject": subject, "at": now()}
    with project.store.write() as db:
        db.execute(insert(TIME).values(**row, seconds=round(seconds, 1)))


def spent(project: Project, subject: str) -> float:
    return float(
        project.query(
            select(func.coalesce(func.sum(TIME.c.seconds), 0.0)).where(
                TIME.c.person_id == people.someone(project).id, TIME.c.subject == subject
            )
        ).scalar_one()
    )


def seal(project: Project, artifact_id: str, reason: str = "") -> Change:
    """Submit: the newest document becomes a sealed revision that no edit can touch. A consensus stays one.

    `reason` says why warnings were overridden. Missing units and values out of bounds are for `lint`, called before.
    """
    with project.store.write() as db:
        newest = artifacts.read_open(project, db, artifact_id)
        artifact = newest.artifact
        if not artifact.document.units:
            raise Refusal(
                f"This {artifact.kind.value} is still empty.", "Write at least one unit before submitting."
            )
        reviewing.refuse_unfinished(project, artifact_id)
        if fault := settings.fault(project, artifact.document):
            raise Refusal(fault, "Change that before submitting; nothing is lost.")
        annotating.keep_scoring(project, db, artifact.kind, artifact.item_id, artifact_id)
        details = {"sealed": True, "reason": reason}
        image = artifacts.next_revision(project, db, newest, artifact.document, "seal", **details)
        state, at = State.CONSENSUS if artifact.state is State.CONSENSUS else State.SEALED, now()
        _set_state(db, artifact_id, state, sealed_at=at)
        if state is State.SEALED:
            mark_submitted(db, artifact.item_id, artifact.author_id, stage_of(artifact.kind), at)
        sealed = record(project, db, Change("artifact", artifact_id, "seal", None, image))
        freeze_when_ready(project, db, artifact.item_id, stage_of(artifact.kind))
        if artifact.kind is Kind.QUERY and not project.from_task:
            annotating.take(project, db, [artifact.item_id])
        return sealed


def submit(
    project: Project, artifact: Artifact, item: Item, sources: Sequence[Source], reason: str
) -> Change:
    """Submit a document; raises Refusal, with the findings as details, for errors or for warnings without a reason."""
    findings = remarks(project, artifact.document, item, sources)
    if hinders(findings, reason):
        raise Refusal(
            f"Remarks on this {artifact.kind.value} are left.",
            "Correct what they name.",
            tuple(finding.words(KINDS[artifact.kind].unit, artifact.document.units) for finding in findings),
        )
    return seal(project, artifact.id, reason if findings else "")


def remarks(
    project: Project, document: Document[Any], item: Item, sources: Sequence[Source]
) -> list[Finding]:
    """The findings of `lint` on a document, and those on quotations from doubtful passages of transcripts."""
    text, weights = "\n\n".join(source.text for source in sources), settings.allowed(project)
    more = {"bar": settings.bar(project)} if document.KIND is Kind.SELECTION else {}
    exemplar = any(source.title == EXEMPLAR_TITLE for source in sources)
    return [
        *lint(document, item.question, text, item.language, weights, exemplar=exemplar, **more),
        *doubts_about(sources, document.units),
    ]


def reopen(project: Project, artifact_id: str) -> Change:
    """Continue editing a sealed artifact, or a consensus, in a new revision; the sealed one stays as it is."""
    with project.store.write() as db:
        newest = artifacts.read_newest(db, artifact_id)
        artifact = newest.artifact
        if artifacts.is_open(project, artifact):
            raise Refusal("Only a submitted document can be reopened.", "You can continue editing this one.")
        if refusal := artifacts.refusal_of_others(project, artifact):
            raise refusal
        settled = artifact.state is State.CONSENSUS
        verb = artifacts.EDIT_CONSENSUS if settled else "reopen"
        image = artifacts.next_revision(project, db, newest, artifact.document, verb=verb)
        if not settled:
            _set_state(db, artifact_id, State.DRAFT)
            mark_submitted(db, artifact.item_id, artifact.author_id, stage_of(artifact.kind), None)
        return record(project, db, Change("artifact", artifact_id, verb, None, image))


def _set_state(db: Connection, artifact_id: str, state: State, **values: Any) -> None:
    db.execute(update(ARTIFACT).where(ARTIFACT.c.id == artifact_id).values(state=state.value, **values))


SEALABLE = (State.DRAFT.value, State.SEALED.value)


def freeze_when_ready(project: Project, db: Connection, item_id: str, stage: Stage) -> Agreement | None:
    """Freeze the agreement on a stage of an item if the last seal it waits for is in; otherwise None.

    Also None if it is already frozen, as later seals never change it, and if one person reviewed the other's draft, as
    they were not blind to each other. Call inside the transaction that wrote the seal, so that no seal lacks its
    agreement.
    """
    kind = stage.kind
    if (
        kind is None
        or db.execute(_frozen_rows(item_id, stage)).first()
        or reviewing.is_reviewed(db, item_id, kind)
    ):
        return None
    expected = expected_raters(db, item_id, stage)
    if len(expected) < 2:
        return None
    question = (
        select(REVISION, ARTIFACT.c.author_id)
        .join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id)
        .where(*_own_work(item_id, kind), REVISION.c.sealed.is_(True))
        .order_by(ARTIFACT.c.author_id, REVISION.c.number)
    )
    sealed: dict[str, Row[Any]] = {}
    for row in db.execute(question):
        sealed.setdefault(row.author_id, row)
    if not set(expected) <= sealed.keys():
        return None
    agreement = _computed(db, item_id, stage, kind, [sealed[person] for person in expected])
    keep(project, db, agreement)
    return agreement


def frozen_by(
    project: Project, item_id: str, stage: Stage, artifact_id: str, revision: int
) -> tuple[Figure, ...]:
    """The figures that the submission of a revision has just frozen; empty for anyone but a coordinator.

    The figures would show anyone else how others answered.
    """
    if not people.someone(project).has(Role.COORDINATOR):
        return ()
    with project.store.read() as db:
        agreement = of_stage(db, item_id, stage)
    inputs = {(one.artifact_id, one.revision) for one in agreement.inputs} if agreement else set()
    if agreement is None or (artifact_id, revision) not in inputs:
        return ()
    return agreement.figures or agreement.pairs[0].figures


def expected_raters(db: Connection, item_id: str, stage: Stage) -> list[str]:
    """The ids of the people whose seals an agreement waits for: those assigned, or else everybody who has begun."""
    assigned = raters_of(db, item_id, stage)
    if assigned or stage.kind is None:
        return assigned
    begun = db.execute(select(ARTIFACT.c.author_id).where(*_own_work(item_id, stage.kind)))
    return sorted(set(begun.scalars()))


def of_stage(db: Connection, item_id: str, stage: Stage) -> Agreement | None:
    """The frozen agreement on one stage of an item; None if there is none."""
    return next((_read(content) for content in db.execute(_frozen_rows(item_id, stage)).scalars()), None)


def of_item(project: Project, item_id: str) -> list[Agreement]:
    """The frozen agreements of an item, stage by stage.

    They name raters: the query that shows them decides what a person may see.
    """
    result = [_read(content) for content in project.query(_frozen_rows(item_id)).scalars()]
    order = list(Stage)
    return sorted(result, key=lambda agreement: order.index(agreement.stage))


def all_frozen(project: Project, db: Connection | None = None) -> list[Agreement]:
    """Every frozen agreement, by item and stage; in the transaction of `db` if given."""
    if db is None:
        with project.store.read() as own:
            return frozen(own)
    return frozen(db)


def frozen(db: Connection) -> list[Agreement]:
    return [_read(content) for content in db.execute(_frozen_rows()).scalars()]


def _frozen_rows(item_id: str = "", stage: Stage | None = None) -> Select[Any]:
    conditions = if_given((AGREEMENT.c.item_id, item_id), (AGREEMENT.c.stage, stage.value if stage else ""))
    return select(AGREEMENT.c.content).where(*conditions).order_by(AGREEMENT.c.item_id, AGREEMENT.c.stage)


def _read(content: str) -> Agreement:
    return Agreement.model_validate(json.loads(content))


def _own_work(item_id: str, kind: Kind) -> tuple[Any, ...]:
    return (
        ARTIFACT.c.item_id == item_id,
        ARTIFACT.c.kind == kind.value,
        ARTIFACT.c.author_id != "",
        ARTIFACT.c.state.in_(SEALABLE),
    )


def _computed(db: Connection, item_id: str, stage: Stage, kind: Kind, sealed: list[Row[Any]]) -> Agreement:
    # The comparison is slow to import, and most seals freeze nothing.
    from annotator.actions.authoring import comparing

    documents = {row.author_id: document_of(kind, json.loads(row.content)) for row in sealed}
    drafted = _drafted(db, sealed, documents)
    pairs = tuple(
        _noted(comparing.compare_raters(kind, documents, a, b), drafted)
        for a, b in combinations(sorted(documents), 2)
    )
    return Agreement(
        id=derived_id("agreement", item_id, stage.value),
        item_id=item_id,
        stage=stage,
        matcher=comparing.matcher(),
        program=__version__,
        frozen_at=max(row.at for row in sealed),
        inputs=tuple(
            SealedInput(
                person_id=row.author_id,
                artifact_id=row.artifact_id,
                revision=row.number,
                sha256=row.sha256,
                chain=row.chain,
                guideline=row.guideline,
                form=row.form,
                sealed_at=row.at,
            )
            for row in sealed
        ),
        pairs=pairs,
        figures=comparing.over_all(kind, item_id, pairs) if len(documents) > 2 else (),
    )


def _drafted(
    db: Connection, sealed: list[Row[Any]], documents: Mapping[str, Document[Any]]
) -> dict[str, artifacts.Drafted]:
    taken = artifacts.of_artifacts(db, [row.artifact_id for row in sealed])
    units = {person: [unit.id for unit in document.units] for person, document in documents.items()}
    return {
        row.author_id: artifacts.standing(taken.get(row.artifact_id, {}), units[row.author_id])
        for row in sealed
    }


def _noted(pair: PairAgreement, drafted: Mapping[str, artifacts.Drafted]) -> PairAgreement:
    """The pair with a note on each figure if one model drafted for both, after the reason if undefined."""
    note = artifacts.note(drafted[pair.a], drafted[pair.b])
    if not note:
        return pair
    figures = (
        figure.model_copy(update={"note": "; ".join(filter(None, (figure.note, note)))})
        for figure in pair.figures
    )
    return pair.model_copy(update={"figures": tuple(figures)})


def keep(project: Project, db: Connection, agreement: Agreement) -> None:
    content = canonical_json(agreement.model_dump(mode="json"))
    row = {
        "id": agreement.id, "item_id": agreement.item_id, "stage": agreement.stage.value,
        "content": content.decode(), "sha256": sha256(content), "frozen_at": agreement.frozen_at,
    }  # fmt: skip
    db.execute(insert(AGREEMENT), row)
    image = {"item_id": agreement.item_id, "stage": agreement.stage.value, "sha256": row["sha256"]}
    record(project, db, Change("agreement", agreement.id, "freeze", None, image))
