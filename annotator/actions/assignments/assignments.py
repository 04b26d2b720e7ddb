"""Assignments: handing out, withdrawing, and what a person is offered because of them."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions.assignments import adjudicators, agreements
from annotator.actions.assignments.planning import PlannedWork as PlannedWork
from annotator.actions.assignments.planning import has_passed, unfit, worked_out
from annotator.actions.assignments.planning import preview as preview
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.experts.assignment import Assignment, Purpose, Stage, stage_of
from annotator.domain.experts.person import Person, Role
from annotator.domain.experts.sharing import AssignmentPlan as AssignmentPlan
from annotator.domain.experts.sharing import assignment_id
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.texts.change import Change, new_id
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import (
    ADJUDICATION,
    ARTIFACT,
    ASSIGNMENT,
    ITEM,
)

# So many ids go into one question; any database takes as many.
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


def assign(project: Project, plan: AssignmentPlan) -> Change:
    """Hand out all that `preview` shows of a plan, or nothing: Refusal says why where it cannot be met."""
    people.refuse_others(project, "can hand out work")
    with project.store.write() as db:
        outcome = worked_out(project, db, plan)
        if outcome.refusals:
            raise Refusal(
                "This plan cannot be met.", "Change it; nothing was assigned.", details=outcome.refusals
            )
        made = outcome.shared.made
        if not made:
            raise Refusal("All of this is assigned already.", "Nothing was changed.")
        return _add(project, db, new_id(), made)


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
    """Ask one person for one stage of one item; of labelling by these `protocols`, or the usual."""
    people.refuse_others(project, "can hand out work")
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


def withdraw_all(project: Project, assignment_ids: Sequence[str]) -> Change:
    """Take several assignments back in one go; those that were handed in stay. Refusal when none can be taken."""
    people.refuse_others(project, "can withdraw work")
    with project.store.write() as db:
        still_open = [one for one in _kept(db, assignment_ids) if one.submitted_at is None]
        if not still_open:
            raise Refusal(
                "None of these can be withdrawn.", "What was handed in must be reopened by its author first."
            )
        subject = still_open[0].id if len(still_open) == 1 else new_id()
        return _remove(project, db, subject, still_open)


def candidates(project: Project, assignment_id: str) -> list[Person]:
    """Who could take an assignment over, by alias; nobody can take over a repeat, which is of a person's own work."""
    with project.store.read() as db:
        old = next(iter(_kept(db, [assignment_id])), None)
        if old is None or old.trial > 1:
            return []
        role = Role.ADJUDICATOR if old.stage is Stage.ADJUDICATION else Role.ANNOTATOR
        taken = raters_of(db, old.item_id, old.stage)
        free = [one for one in people.people(project) if not unfit(one, role) and one.id not in taken]
        if old.stage is not Stage.ADJUDICATION:
            judges = _judges(db, old.item_id)
            return [one for one in free if one.id not in judges]
        return [one for one in free if old.item_id not in adjudicators.answered(db, one.id, old.item_id)]


def reassign(project: Project, old_id: str, person_id: str) -> Change:
    """Give an assignment to someone else, with its date; what the first person wrote stays theirs."""
    people.refuse_others(project, "can hand out work")
    with project.store.write() as db:
        old = next(iter(_kept(db, [old_id])), None)
        if old is None:
            raise Refusal("This is no longer assigned.", "Look at the list again.")
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
        if _kept(db, [new.id]):
            raise Refusal("This is assigned to that person already.", "Nothing was changed.")
        made = [_in_utc(one) for one in _with_what_is_there(db, [new])]
        _delete(db, [old])
        _refuse_conflict(db, new)
        _write(db, made)
        change = record(project, db, Change("assignment", new.id, "reassign", _image([old]), _image(made)))
        _settle(project, db, made)
        return change


def withdraw_open(project: Project, person_id: str) -> Change:
    """Take back all that a person has not handed in, for instance when they leave."""
    people.refuse_others(project, "can withdraw work")
    with project.store.write() as db:
        still_open = [
            one for one in _ordered(db, ASSIGNMENT.c.person_id == person_id) if one.submitted_at is None
        ]
        if not still_open:
            raise Refusal("This person has no open work.", "Nothing was changed.")
        return _remove(project, db, person_id, still_open)


def change_due(project: Project, assignment_ids: Sequence[str], due: datetime | None) -> Change:
    """Give assignments another date by which they are due, or none; Refusal for one that has passed."""
    people.refuse_others(project, "can set due dates")
    if words := has_passed(due):
        raise Refusal(words, "Choose a future date; nothing was changed.")
    with project.store.write() as db:
        old = _kept(db, assignment_ids)
        if not old:
            raise Refusal("These are no longer assigned.", "Look at the list again.")
        new = [_in_utc(one.model_copy(update={"due": due})) for one in old]
        _write(db, new)
        subject = old[0].id if len(old) == 1 else new_id()
        return record(project, db, Change("assignment", subject, "change due date", _image(old), _image(new)))


def of_person(project: Project, person_id: str) -> list[Assignment]:
    """A person's assignments, repeats too, in the project's order and that of the stages."""
    with project.store.read() as db:
        return _ordered(db, ASSIGNMENT.c.person_id == person_id)


def raters_of(db: Connection, item_id: str, stage: Stage) -> list[str]:
    """Who is assigned a stage of an item, by id; empty when nobody is."""
    question = select(ASSIGNMENT.c.person_id).where(
        ASSIGNMENT.c.item_id == item_id, ASSIGNMENT.c.stage == stage.value, ASSIGNMENT.c.trial == 1
    )
    return list(db.execute(question.order_by(ASSIGNMENT.c.person_id)).scalars())


def adjudicator_of(db: Connection, item_id: str) -> str:
    """Who is assigned to adjudicate an item; empty when nobody is."""
    return next(iter(raters_of(db, item_id, Stage.ADJUDICATION)), "")


def refuse_own_work(db: Connection, item_id: str, person_id: str) -> None:
    """Refusal when a person is an annotator of the item: asked to be, or having written or labelled something."""
    if item_id in adjudicators.answered(db, person_id, item_id):
        raise Refusal(
            "The adjudicator of an item must not be one of its annotators, and this person is one.",
            "Choose somebody who has written and labelled nothing for it.",
        )


def mark_submitted(
    db: Connection, item_id: str, person_id: str, stage: Stage, at: datetime | None, trial: int = 1
) -> None:
    """Note on a person's assignment when it was handed in, or with None that it was reopened."""
    whose = {"item": item_id, "person": person_id, "of_stage": stage.value, "of_trial": trial}
    db.execute(_SUBMIT, {**whose, "at": at})


def offered(project: Project) -> dict[str, set[Stage]] | None:
    """Item by item, the stages that the person working is asked for; None when everything is offered to them.

    That is so for anyone who has no assignment at all. Repeats are served under another item's name, never here.
    """
    question = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.stage, ASSIGNMENT.c.trial)
    with project.store.read() as db:
        rows = db.execute(question.where(ASSIGNMENT.c.person_id == people.someone(project).id)).all()
    found: dict[str, set[Stage]] = {}
    for item_id, stage, trial in rows:
        if trial == 1:
            found.setdefault(item_id, set()).add(Stage(stage))
    return found if rows else None


def _ordered(db: Connection, condition: Any) -> list[Assignment]:
    question = select(ASSIGNMENT).join(ITEM, ITEM.c.id == ASSIGNMENT.c.item_id).where(condition)
    order = (ITEM.c.position, ITEM.c.key, ITEM.c.id, ASSIGNMENT.c.person_id, ASSIGNMENT.c.trial)
    rows = [Assignment(**row) for row in db.execute(question.order_by(*order)).mappings()]
    places = {item_id: place for place, item_id in enumerate(dict.fromkeys(row.item_id for row in rows))}
    stages = list(Stage)
    return sorted(rows, key=lambda one: (places[one.item_id], stages.index(one.stage)))


def _refuse_unfit(project: Project, made: Assignment) -> None:
    role = Role.ADJUDICATOR if made.stage is Stage.ADJUDICATION else Role.ANNOTATOR
    person = next((one for one in people.people(project) if one.id == made.person_id), None)
    if words := unfit(person, role):
        raise Refusal(
            words, "Choose somebody else, or change their roles first, under People or by “people role”."
        )


def _refuse_conflict(db: Connection, made: Assignment) -> None:
    """Refusal when an assignment would make someone adjudicate their own work, or set two adjudicators on an item."""
    if made.stage is not Stage.ADJUDICATION:
        if made.person_id in _judges(db, made.item_id):
            raise Refusal(
                "This person adjudicates the item and may not be one of its annotators.",
                "Choose somebody else, or withdraw the adjudication first.",
            )
        return
    refuse_own_work(db, made.item_id, made.person_id)
    if adjudicator_of(db, made.item_id) not in ("", made.person_id):
        raise Refusal("This item has an adjudicator already.", "Withdraw that assignment first.")


def _judges(db: Connection, item_id: str) -> set[str]:
    begun = select(ADJUDICATION.c.adjudicator_id).where(ADJUDICATION.c.item_id == item_id)
    return {*raters_of(db, item_id, Stage.ADJUDICATION), *db.execute(begun).scalars()}


def _add(project: Project, db: Connection, subject: str, made: Sequence[Assignment]) -> Change:
    made, before = (
        [_in_utc(one) for one in _with_what_is_there(db, made)],
        _kept(db, [one.id for one in made]),
    )
    _write(db, made)
    return record(project, db, Change("assignment", subject, "assign", _image(before), _image(made)))


def _with_what_is_there(db: Connection, made: Sequence[Assignment]) -> list[Assignment]:
    """The assignments, those of work that was sealed before it was assigned being handed in already.

    Labels that were sealed may say nothing of the protocols that an assignment names.
    """
    question = select(ARTIFACT.c.item_id, ARTIFACT.c.author_id, ARTIFACT.c.kind, ARTIFACT.c.sealed_at).where(
        ARTIFACT.c.author_id.in_({one.person_id for one in made}), ARTIFACT.c.state == State.SEALED.value
    )
    sealed = {
        (item_id, person, stage_of(Kind(kind))): at for item_id, person, kind, at in db.execute(question)
    }
    return [
        one.model_copy(update={"submitted_at": sealed.get((one.item_id, one.person_id, one.stage))})
        if one.trial == 1 and not one.protocols
        else one
        for one in made
    ]


def _in_utc(one: Assignment) -> Assignment:
    """The assignment with its moments as they come back from the store, so that undo finds what was written."""
    moments = {name: getattr(one, name) for name in ("not_before", "due", "submitted_at")}
    return one.model_copy(update={name: at.astimezone(UTC) for name, at in moments.items() if at is not None})


def _kept(db: Connection, ids: Sequence[str]) -> list[Assignment]:
    """The assignments of these ids that there are, however many are asked for."""
    found: list[Assignment] = []
    for start in range(0, len(ids), AT_ONCE):
        question = select(ASSIGNMENT).where(ASSIGNMENT.c.id.in_(ids[start : start + AT_ONCE]))
        found += [Assignment(**row) for row in db.execute(question.order_by(ASSIGNMENT.c.id)).mappings()]
    return found


def _write(db: Connection, rows: Sequence[Assignment]) -> None:
    """Put assignments in, in the place of those with their ids."""
    _delete(db, rows)
    if rows:
        db.execute(insert(ASSIGNMENT), [one.model_dump() for one in rows])


def _delete(db: Connection, rows: Sequence[Assignment]) -> None:
    if rows:
        db.execute(_DELETE, [{"gone": one.id} for one in rows])


def _remove(project: Project, db: Connection, subject: str, gone: Sequence[Assignment]) -> Change:
    change = record(project, db, Change("assignment", subject, "withdraw", _image(gone), _image([])))
    _delete(db, gone)
    _settle(project, db, gone)
    return change


def _settle(project: Project, db: Connection, touched: Sequence[Assignment]) -> None:
    """Freeze the agreement of every stage that now has all it waits for."""
    for item_id, stage in sorted({(one.item_id, one.stage) for one in touched if one.trial == 1}):
        agreements.freeze_when_ready(project, db, item_id, stage)


def _image(rows: Iterable[Assignment]) -> dict[str, Any]:
    return {"rows": {one.id: one.model_dump(mode="json") for one in rows}}


def restore(project: Project, db: Connection, _subject: str, present: Any, goal: Any) -> None:
    """Put the subject of a change from one image to another; Refusal when it has moved on."""
    old, new = _as_now(present["rows"]), _as_now(goal["rows"])
    if _image(_kept(db, list({**old, **new})))["rows"] != old:
        raise Refusal("These assignments were changed elsewhere since.", "Look again; nothing was undone.")
    gone = [Assignment.model_validate(old[name]) for name in old if name not in new]
    _delete(db, gone)
    rows = [Assignment.model_validate(image) for image in new.values()]
    for one in rows:
        if one.id not in old:
            _refuse_conflict(db, one)
    _write(db, rows)
    # Only now: while one of them is away, a stage could seem to have all it waits for.
    _settle(project, db, gone)


def _as_now(rows: dict[str, Any]) -> dict[str, Any]:
    """The same images with the fields that assignments have had only since."""
    return {name: Assignment.model_validate(one).model_dump(mode="json") for name, one in rows.items()}
