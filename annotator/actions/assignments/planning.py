"""Preview of an assignment plan, computed before anything is handed out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations
from typing import Any

from sqlalchemy import Connection, select

from annotator.actions.authoring import annotating
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.common import counted, grouped, local, now, words_that_hold
from annotator.domain.experts.assignment import Assignment, Person, Purpose, Role, Stage, stage_of
from annotator.domain.experts.sharing import AssignmentPlan, SharedWork, share
from annotator.domain.judges.judge import RaterKind
from annotator.domain.kinds.artifact import Kind, State
from annotator.protocols import PROTOCOLS, TO_SUBMIT, assigned_protocols
from annotator.storage.tables import (
    ADJUDICATION,
    ARTIFACT,
    ASSIGNMENT,
    ITEM,
    JUDGEMENT,
)

# The number of items named one by one if a plan cannot be met.
NAMED = 12


@dataclass(frozen=True, slots=True)
class PlannedStage:
    item_id: str
    item_key: str
    stage: Stage
    trial: int
    purpose: Purpose
    people: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """One person's load in the whole project; `new` counts the assignments that the plan adds.

    `items` counts those they write or label for, `adjudications` those they adjudicate.
    """

    person_id: str
    name: str
    alias: str
    items: int
    assignments: int
    repeats: int
    adjudications: int
    new: int


@dataclass(frozen=True, slots=True)
class PlannedPairing:
    """The number of items on which two annotators do the same stage; pilot items are not counted."""

    a: str
    b: str
    items: int


@dataclass(frozen=True, slots=True)
class PlannedWork:
    """The preview of a plan. With any `refusals` it cannot be assigned."""

    lines: tuple[PlannedStage, ...]
    load: tuple[Load, ...]
    pairings: tuple[PlannedPairing, ...]
    refusals: tuple[str, ...]
    notes: tuple[str, ...]
    new: int


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    plan: AssignmentPlan
    shared: SharedWork
    existing: tuple[Assignment, ...]
    refusals: tuple[str, ...]


def preview(project: Project, plan: AssignmentPlan) -> PlannedWork:
    """Compute a plan without applying it; assigning the same plan next gives exactly this."""
    with project.store.read() as db:
        outcome = worked_out(project, db, plan)
        keys = _keys(db)
    made = outcome.shared.made
    everything = [*outcome.existing, *made]
    return PlannedWork(
        lines=_lines(outcome, keys),
        load=_load(people.people(project), everything, made),
        pairings=_pairings(plan, everything),
        refusals=outcome.refusals,
        notes=_unscored(project, made, keys) + _notes(plan, everything, made),
        new=len(made),
    )


def worked_out(project: Project, db: Connection, plan: AssignmentPlan) -> PlanOutcome:
    """Distribute a plan; if it makes no sense, nothing is distributed and the refusals say why."""
    keys = _keys(db)
    refusals = _senseless(plan, keys) + _unfit(plan, people.people(project))
    plan = replace(plan, protocols=assigned_protocols(" ".join(plan.protocols)))
    existing = tuple(_named_in_full(dict(row)) for row in db.execute(select(ASSIGNMENT)).mappings())
    if refusals:
        return PlanOutcome(plan, SharedWork(()), existing, tuple(refusals))
    known = (*existing, *_adjudicating(db, existing))
    shared = share(plan, known, _answered(db, plan.adjudicators), now())
    shared = replace(shared, made=tuple(map(_in_short, shared.made)))
    short = [
        f"Item {keys[item_id]} would have {plan.overlap - lacking} of {plan.overlap} people."
        for item_id, lacking in shared.short.items()
    ]
    alone = [
        f"Everyone who could adjudicate item {keys[item_id]} also answers it."
        for item_id in shared.unadjudicated
    ]
    return PlanOutcome(plan, shared, existing, tuple([*_named(short), *_named(alone)]))


def _named_in_full(row: Mapping[str, Any]) -> Assignment:
    assignment = Assignment(**row)
    if assignment.stage is not Stage.LABELLING:
        return assignment
    return assignment.model_copy(update={"protocols": " ".join(assigned_protocols(assignment.protocols))})


def _in_short(assignment: Assignment) -> Assignment:
    return (
        assignment.model_copy(update={"protocols": ""})
        if assigned_protocols(assignment.protocols) == tuple(TO_SUBMIT)
        else assignment
    )


def _keys(db: Connection) -> dict[str, str]:
    question = select(ITEM.c.id, ITEM.c.key).where(ITEM.c.retired.is_(False))
    rows = db.execute(question.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id))
    return {item_id: key for item_id, key in rows}


def _adjudicating(db: Connection, existing: Iterable[Assignment]) -> list[Assignment]:
    """Adjudications begun without an assignment, as if they had been assigned."""
    assigned = {
        (assignment.item_id, assignment.person_id)
        for assignment in existing
        if assignment.stage is Stage.ADJUDICATION
    }
    begun = db.execute(select(ADJUDICATION.c.item_id, ADJUDICATION.c.adjudicator_id).distinct())
    return [
        Assignment(id="", item_id=item_id, person_id=person_id, stage=Stage.ADJUDICATION)
        for item_id, person_id in begun
        if (item_id, person_id) not in assigned
    ]


def _answered(db: Connection, adjudicators: Iterable[str]) -> dict[str, set[str]]:
    """Item → the people who have written something for it, and the adjudicators who have labelled its reports."""
    written = select(ARTIFACT.c.item_id, ARTIFACT.c.author_id).where(
        ARTIFACT.c.author_id != "", ARTIFACT.c.state != State.CONSENSUS.value
    )
    labelled = select(JUDGEMENT.c.item_id, JUDGEMENT.c.rater_id).where(
        JUDGEMENT.c.rater_id.in_(list(adjudicators)), JUDGEMENT.c.rater_kind == RaterKind.PERSON.value
    )
    rows = (row for question in (written, labelled.distinct()) for row in db.execute(question))
    return {item_id: set(who) for item_id, who in grouped((row[0], row[1]) for row in rows).items()}


def _senseless(plan: AssignmentPlan, keys: dict[str, str]) -> list[str]:
    item_ids = {*plan.items, *plan.pilot_items}
    strange = item_ids - keys.keys()
    checks = (
        (not item_ids, "The plan names no items."),
        (not plan.work and not plan.adjudicators, "The plan names no stages."),
        (bool(strange), f"{len(strange):,} of the items are not in this project, or are retired."),
        (plan.overlap < 1, "At least one person must do each stage."),
        (
            bool(plan.work and plan.items) and len(set(plan.annotators)) < plan.overlap,
            f"Each stage is to be done by {plan.overlap} people, but the plan names "
            f"{counted(len(set(plan.annotators)), 'annotator')}.",
        ),
        (not 0 <= plan.repeat_share <= 1, "The share of repeats must be between 0 and 1."),
        (
            bool(plan.reviewed) and (plan.overlap not in (2, 3) or bool(plan.pilot_items)),
            "A draft is reviewed by one or two others: two or three people for each item, and no pilot items.",
        ),
        (
            bool({Stage.LABELLING, Stage.SELECTION, Stage.ADJUDICATION} & set(plan.reviewed)),
            "Labels and ratings are given blind; they are not reviewed.",
        ),
        *((True, words) for words in map(unlabelled, plan.protocols) if words),
        (plan.repeat_after_days < 0, "Repeats cannot come before the work itself."),
    )
    passed = has_passed(plan.due)
    return [words for wrong, words in checks if wrong] + ([passed] if passed else [])


def has_passed(due: datetime | None) -> str:
    """A sentence saying that a due date has passed; empty if it has not."""
    if due is None or due >= now():
        return ""
    return f"{local(due):%Y-%m-%d} is in the past; choose a later due date."


def unlabelled(protocol: str) -> str:
    """Why nobody can be asked to label by a protocol, in one sentence; empty if they can."""
    if protocol not in PROTOCOLS:
        return f"There is no protocol “{protocol[:80]}”."
    return (
        "" if PROTOCOLS[protocol].values else f"{PROTOCOLS[protocol].title} is computed; it is not labelled."
    )


def _unfit(plan: AssignmentPlan, everybody: Sequence[Person]) -> list[str]:
    known = {person.id: person for person in everybody}
    roles = [
        *([(person, Role.ANNOTATOR) for person in sorted(set(plan.annotators))] if plan.work else []),
        *((person, Role.ADJUDICATOR) for person in sorted(set(plan.adjudicators))),
    ]
    return [words for person_id, role in roles if (words := unfit(known.get(person_id), role))]


def unfit(person: Person | None, role: Role) -> str:
    """Why a person cannot be given work of a role, in one sentence; empty if they can."""
    if person is None:
        return "One of the people named is not in this project."
    if not person.active:
        return f"{person.name} left the project."
    return "" if person.has(role) else f"{person.name} is not an {role.value} of this project."


def _named(lines: Sequence[str]) -> list[str]:
    rest = len(lines) - NAMED
    return [*lines[:NAMED], *([f"The same applies to {rest} more."] if rest > 0 else [])]


def _unscored(project: Project, made: Sequence[Assignment], keys: dict[str, str]) -> tuple[str, ...]:
    """A note on the items that lose their scores to a second author until they are adjudicated."""
    assigned = {
        (assignment.item_id, assignment.stage, assignment.person_id)
        for assignment in made
        if assignment.trial == 1
    }
    lost = {
        item_id
        for kind in Kind
        for item_id, author_id in annotating.alone(
            project, kind, {item_id for item_id, *_ in assigned}
        ).items()
        if any(asks[:2] == (item_id, stage_of(kind)) and asks[2] != author_id for asks in assigned)
    }
    named = ", ".join([key for item_id, key in keys.items() if item_id in lost][:NAMED])
    if not lost:
        return ()
    more = f" and {len(lost) - NAMED:,} more" if len(lost) > NAMED else ""
    return (
        f"A second author takes the scores of these items away until they are adjudicated: {named}{more}.",
    )


def _notes(
    plan: AssignmentPlan, everything: Iterable[Assignment], made: Sequence[Assignment]
) -> tuple[str, ...]:
    """Notes worth reading before the plan is applied, though nothing is wrong with it."""
    judged = {assignment.item_id for assignment in everything if assignment.stage is Stage.ADJUDICATION}
    alone = {*plan.items, *plan.pilot_items} - judged
    which = "it" if len(alone) == 1 else "each of them"
    return tuple(words_that_hold({
        f"{counted(len(alone), 'item')} will have no adjudicator, because fewer than two people answer {which}.": (
            plan.adjudicators and alone
        ),
        "Only labelling is repeated, and the plan does not hand it out.": (
            plan.repeat_share and Stage.LABELLING not in plan.work
        ),
        "All of this is assigned already.": not made,
    }))  # fmt: skip


def _lines(outcome: PlanOutcome, keys: dict[str, str]) -> tuple[PlannedStage, ...]:
    item_ids = {*outcome.plan.items, *outcome.plan.pilot_items}
    stages = {*outcome.plan.work, Stage.ADJUDICATION}
    groups = grouped(
        ((assignment.item_id, assignment.stage, assignment.trial), assignment)
        for assignment in (*outcome.existing, *outcome.shared.made)
        if assignment.item_id in item_ids & keys.keys() and assignment.stage in stages
    )
    new = {one.id for one in outcome.shared.made}
    places = {item_id: place for place, item_id in enumerate(keys)}
    order = list(Stage)
    return tuple(
        _line(groups[group], keys[group[0]], new)
        for group in sorted(groups, key=lambda g: (places[g[0]], order.index(g[1]), g[2]))
    )


def _line(group: Sequence[Assignment], key: str, new: AbstractSet[str]) -> PlannedStage:
    group = sorted(group, key=lambda assignment: assignment.person_id)
    first = group[0]
    fresh = tuple(one.person_id for one in group if one.id in new)
    whole = tuple(one.person_id for one in group)
    return PlannedStage(first.item_id, key, first.stage, first.trial, first.purpose, whole, fresh)


def _load(
    everybody: Sequence[Person], everything: Iterable[Assignment], made: Iterable[Assignment]
) -> tuple[Load, ...]:
    held = grouped((assignment.person_id, assignment) for assignment in everything)
    fresh = Counter(one.person_id for one in made)
    return tuple(
        Load(
            person_id=person.id,
            name=person.name,
            alias=person.alias,
            items=len({one.item_id for one in held[person.id] if one.stage is not Stage.ADJUDICATION}),
            assignments=len(held[person.id]),
            repeats=sum(one.trial > 1 for one in held[person.id]),
            adjudications=sum(one.stage is Stage.ADJUDICATION for one in held[person.id]),
            new=fresh[person.id],
        )
        for person in everybody
        if person.id in held
    )


def _pairings(plan: AssignmentPlan, everything: Iterable[Assignment]) -> tuple[PlannedPairing, ...]:
    """On how many items each two of the plan's annotators meet, including those who never do."""
    meeting = grouped(
        ((assignment.item_id, assignment.stage), assignment.person_id)
        for assignment in everything
        if assignment.purpose is Purpose.WORK and assignment.stage is not Stage.ADJUDICATION
    )
    items = grouped(
        (pair, item_id)
        for (item_id, _), group in meeting.items()
        for pair in combinations(sorted(set(group)), 2)
    )
    pairs = combinations(sorted(set(plan.annotators)), 2)
    return tuple(PlannedPairing(a, b, len({*items.get((a, b), ())})) for a, b in pairs)
