"""Adjudication elsewhere: sealed documents go out under masks, rulings and the consensus come back."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain as chained
from typing import Any

from sqlalchemy import Connection, delete, func, select

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts, settings
from annotator.actions.consensus import consensus, ruling_rows
from annotator.actions.parcels import known_keys
from annotator.actions.project.file import Project
from annotator.domain.common import Refusal, canonical_json, grouped, now
from annotator.domain.experts.adjudication import (
    LETTERS,
    Adjudication,
    AdjudicationState,
    Agreement,
    Match,
    PairAgreement,
    Ruling,
    SealedInput,
)
from annotator.domain.experts.assignment import FORM, Assignment, ParcelOutcome, Person, Stage
from annotator.domain.kinds.artifact import Kind, State, Unit, chain
from annotator.domain.kinds.documents import KINDS, document_of
from annotator.exchange.parcels import parcels
from annotator.exchange.parcels.packages import AGAIN
from annotator.storage.tables import (
    ADJUDICATION,
    AGREEMENT,
    ARTIFACT,
    PERSON,
    REMARK,
    REVISION,
    RULING,
    add_missing,
)


def waiting(db: Connection, assigned: Collection[Assignment]) -> dict[str, list[str]]:
    """Item → the frozen agreements that a person is to adjudicate by file, by stage.

    Labels are adjudicated in the coordinator's project, which has the reports; so is what somebody else has begun to
    rule on.
    """
    whose = {
        assignment.item_id: assignment.person_id
        for assignment in assigned
        if assignment.stage is Stage.ADJUDICATION
    }
    if not whose:
        return {}
    question = (
        select(AGREEMENT.c.id, AGREEMENT.c.item_id, ADJUDICATION.c.adjudicator_id)
        .outerjoin(ADJUDICATION, ADJUDICATION.c.agreement_id == AGREEMENT.c.id)
        .where(AGREEMENT.c.stage != Stage.LABELLING.value)
        .order_by(AGREEMENT.c.item_id, AGREEMENT.c.stage)
    )
    return grouped(
        (item_id, agreement_id)
        for agreement_id, item_id, adjudicator in db.execute(question)
        if item_id in whose and adjudicator in (None, whose[item_id])
    )


def masked(
    project: Project, db: Connection, person: Person, served: Collection[Assignment]
) -> list[parcels.TaskAdjudication]:
    """The documents and agreements that a person adjudicates, under masks that differ for every item and stage.

    Nothing reveals which masks of two items are the same person: no order, no time, no figure of one of them.
    """
    made = []
    for agreement_id in chained.from_iterable(waiting(db, served).values()):
        frozen = ruling_rows.agreement(db, agreement_id)
        if len(frozen.inputs) > len(LETTERS):
            continue
        masks = _masks(project, person.id, frozen)
        documents = {
            masks[rater.person_id]: ruling_rows.content(db, rater.artifact_id, rater.revision)
            for rater in frozen.inputs
        }
        inputs = [
            SealedInput(
                person_id=masks[rater.person_id], artifact_id=masks[rater.person_id], revision=1, sha256=rater.sha256,
                chain=chain("", rater.sha256), guideline="1", form=FORM, sealed_at=_day(frozen.frozen_at),
            )
            for rater in frozen.inputs
        ]  # fmt: skip
        orders = {mask: [unit["id"] for unit in tree["units"]] for mask, tree in documents.items()}
        pairs = (_masked_pair(pair, masks, orders) for pair in frozen.pairs)
        update = {
            "id": _token(project, db, person.id, frozen),
            "frozen_at": _day(frozen.frozen_at),
            "inputs": tuple(sorted(inputs, key=lambda one: one.person_id)),
            "pairs": tuple(sorted(pairs, key=lambda agreement: (agreement.a, agreement.b))),
            "figures": adjudicating.masked(frozen.figures),
        }
        made.append(
            parcels.TaskAdjudication(
                item_id=frozen.item_id, stage=frozen.stage, agreement=frozen.model_copy(update=update),
                documents=documents,
            )
        )  # fmt: skip
    return made


def _masks(project: Project, person_id: str, frozen: Agreement) -> dict[str, str]:
    """Rater → the mask under which one adjudicator sees their document of a stage of an item."""
    return {
        one.person_id: known_keys.alias_of(project, person_id, f"rater/{frozen.id}/{one.person_id}")
        for one in frozen.inputs
    }


def _token(project: Project, db: Connection, person_id: str, frozen: Agreement) -> str:
    """The name of an agreement in one adjudicator's task: another one if it is frozen anew."""
    digest = db.execute(select(AGREEMENT.c.sha256).where(AGREEMENT.c.id == frozen.id)).scalar_one()
    return known_keys.alias_of(project, person_id, f"agreement/{digest}")


def _day(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _masked_pair(
    pair: PairAgreement, masks: Mapping[str, str], orders: Mapping[str, Sequence[str]]
) -> PairAgreement:
    """A pair under masks: the lower one first, and its matches in the order of that one's document."""
    a, b = masks[pair.a], masks[pair.b]
    update: dict[str, Any] = {"a": a, "b": b, "figures": adjudicating.masked(pair.figures)}
    if a > b:
        first = orders[b]
        places = sorted(range(len(pair.matched)), key=lambda place: first.index(pair.matched[place].b))
        matched = [pair.matched[place] for place in places]
        update |= {
            "a": b,
            "b": a,
            "matched": tuple(Match(a=match.b, b=match.a, likeness=match.likeness) for match in matched),
            "only_a": pair.only_b,
            "only_b": pair.only_a,
            "values": {
                name: tuple((values[place][1], values[place][0]) for place in places)
                for name, values in pair.values.items()
            },
        }
    return pair.model_copy(update=update)


def take(project: Project, db: Connection, given: Sequence[parcels.TaskAdjudication]) -> None:
    """Store what a task brings to adjudicate; what has rulings already is not changed."""
    begun = {one.agreement_id for one in ruling_rows.adjudications(db)}
    for adjudication in given:
        stage_of_item = (
            AGREEMENT.c.item_id == adjudication.item_id,
            AGREEMENT.c.stage == adjudication.stage.value,
        )
        known = db.execute(select(AGREEMENT.c.id).where(*stage_of_item)).scalar()
        if known == adjudication.agreement.id or known in begun:
            continue
        db.execute(delete(AGREEMENT).where(*stage_of_item))
        inputs = tuple(_stored(db, adjudication, rater) for rater in adjudication.agreement.inputs)
        assignments.keep(project, db, adjudication.agreement.model_copy(update={"inputs": inputs}))


def _stored(db: Connection, given: parcels.TaskAdjudication, rater: SealedInput) -> SealedInput:
    """Store a rater's document, as a further revision if another one was sent before."""
    assert given.stage.kind is not None
    row = {
        "id": rater.artifact_id, "item_id": given.item_id, "kind": given.stage.kind.value,
        "author_id": rater.person_id, "state": State.SEALED.value, "revision": 1, "sealed_at": rater.sealed_at,
    }  # fmt: skip
    add_missing(db, ARTIFACT, row)
    known = REVISION.c.artifact_id == rater.artifact_id, REVISION.c.sha256 == rater.sha256
    number = db.execute(select(REVISION.c.number).where(*known).order_by(REVISION.c.number)).scalar()
    if number is None:
        content = canonical_json(given.documents[rater.person_id]).decode()
        number = artifacts.append_revision(
            db, rater.artifact_id, content, "open task", guideline=rater.guideline, form=rater.form,
            at=rater.sealed_at,
        )  # fmt: skip
    return rater.model_copy(update={"revision": number})


@dataclass(frozen=True, slots=True)
class AdjudicatedItem:
    """The progress of a person's adjudications of an item, returned as one piece: `number` counts closed versions."""

    id: str
    number: int
    state: State
    at: datetime | None


def standing(db: Connection, person_id: str) -> dict[tuple[str, Stage], AdjudicatedItem]:
    of_item = grouped(
        (adjudication.item_id, adjudication)
        for adjudication in ruling_rows.adjudications(db)
        if adjudication.adjudicator_id == person_id
    )
    question = select(AGREEMENT.c.item_id, func.count()).group_by(AGREEMENT.c.item_id)
    frozen = {item_id: count for item_id, count in db.execute(question)}
    made = {}
    for item_id, begun in of_item.items():
        closed = sum(one.state is AdjudicationState.CLOSED for one in begun)
        made[item_id, Stage.ADJUDICATION] = AdjudicatedItem(
            id=adjudicating.id_of(item_id, Stage.ADJUDICATION),
            number=sum(one.version for one in begun),
            state=State.SEALED if closed == frozen[item_id] else State.DRAFT,
            at=max((one.closed_at for one in begun if one.closed_at), default=None),
        )
    return made


def returning(db: Connection, person_id: str) -> list[parcels.WorkAdjudication]:
    """What a person has closed, in all versions; open adjudications stay."""
    made = []
    for adjudication in ruling_rows.adjudications(db):
        if adjudication.adjudicator_id != person_id or not adjudication.version:
            continue
        versions = consensus.versions(db, adjudication.id)
        subjects = {adjudication.id, *(row.id for version in versions for row in version.rulings)}
        question = select(REMARK).where(REMARK.c.subject.in_(subjects), REMARK.c.person_id == person_id)
        made.append(
            parcels.WorkAdjudication(
                item_id=adjudication.item_id,
                stage=adjudication.stage,
                agreement=adjudication.agreement_id,
                letters=adjudication.letters,
                documents={
                    rater.person_id: parcels.hash_of(ruling_rows.content(db, rater.artifact_id, rater.revision))
                    for rater in ruling_rows.agreement(db, adjudication.agreement_id).inputs
                },
                versions=tuple(
                    parcels.WorkVersion(
                        rulings=version.rulings, at=version.at,
                        consensus=ruling_rows.content(db, version.artifact_id, version.revision),
                    )
                    for version in versions
                ),
                remarks=tuple(
                    parcels.WorkRemark(id=row.id, subject=row.subject, text=row.text, at=row.at)
                    for row in db.execute(question.order_by(REMARK.c.at, REMARK.c.id))
                ),
            )
        )  # fmt: skip
    return made


@dataclass(frozen=True, slots=True)
class Comparison:
    """A returned adjudication compared with this project: its outcome, why, and what of it is new.

    `versions` are its rulings under the letters in use here, or its own if none are, `known` the number of versions
    closed here; `whose` maps letters to raters. `fits` if the documents and the agreement are those that were sent.
    """

    outcome: ParcelOutcome
    words: str
    fits: bool = False
    here: Adjudication | None = None
    whose: Mapping[str, str] = field(default_factory=dict)
    versions: tuple[tuple[Ruling, ...], ...] = ()
    known: int = 0


def compared(project: Project, db: Connection, person_id: str, came: parcels.WorkAdjudication) -> Comparison:
    """Compare a returned adjudication with this project; raises Refusal if it is inconsistent."""
    if assignments.adjudicator_of(db, came.item_id) != person_id:
        return Comparison(
            ParcelOutcome.FOREIGN, f"This person is not the one who adjudicates the item. {_both(db, came)}"
        )
    frozen = assignments.of_stage(db, came.item_id, came.stage)
    if frozen is None:
        return Comparison(
            ParcelOutcome.CONFLICT, f"No agreement on this is frozen here any more. {_both(db, came)}"
        )
    masks = _masks(project, person_id, frozen)
    if {masks[one.person_id]: one.sha256 for one in frozen.inputs} != came.documents:
        return Comparison(
            ParcelOutcome.CONFLICT, f"A document it rules on is not the one that was sent. {_both(db, came)}"
        )
    if _token(project, db, person_id, frozen) != came.agreement:
        return Comparison(
            ParcelOutcome.CONFLICT, f"The agreement was frozen again since it was sent. {_both(db, came)}"
        )
    here = ruling_rows.of_stage(db, came.item_id, came.stage)
    raters = {mask: rater for rater, mask in masks.items()}
    whose = here.letters if here else {letter: raters[mask] for letter, mask in came.letters.items()}
    letter_of = {rater: letter for letter, rater in whose.items()}
    letters = {letter: letter_of[raters[mask]] for letter, mask in came.letters.items()}
    own_id = here.id if here else adjudicating.id_of(came.item_id, came.stage)
    versions = tuple(
        tuple(_in_letters(row, letters, own_id) for row in version.rulings) for version in came.versions
    )
    known, touched = _known(db, here)
    fitting = partial(Comparison, fits=True, here=here, whose=whose, versions=versions, known=len(known))
    if versions[: len(known)] == tuple(known[: len(versions)]) and len(versions) <= len(known):
        return fitting(ParcelOutcome.DUPLICATE, "It is already here.")
    if touched or versions[: len(known)] != tuple(known):
        words = f"The item was adjudicated here meanwhile. {_both(db, came)}"
        return fitting(ParcelOutcome.CONFLICT, words)
    kind, fresh = ruling_rows.kind_of(came.stage), came.versions[len(known) :]
    faults = (settings.outside(project, document_of(kind, version.consensus)) for version in fresh)
    if fault := next(filter(None, faults), ""):
        return Comparison(ParcelOutcome.CONFLICT, f"{fault} {_both(db, came)}")
    words = f"The consensus of its {kind.value} will be added."
    if known:
        number = len(versions)
        words = f"Version {number} of the consensus of its {kind.value} will be added; the earlier one stays."
    return fitting(ParcelOutcome.NEWER if known else ParcelOutcome.NEW, words)


def _in_letters(row: Ruling, letters: Mapping[str, str], adjudication_id: str) -> Ruling:
    members = {letters[letter]: unit for letter, unit in row.members.items()}
    update = {"adjudication_id": adjudication_id, "members": members, "take": letters.get(row.take, row.take)}
    return row.model_copy(update=update)


def _known(db: Connection, here: Adjudication | None) -> tuple[list[tuple[Ruling, ...]], bool]:
    """The rulings of every version closed here, and whether anybody has ruled on anything since."""
    if here is None:
        return [], False
    known, present = (
        [version.rulings for version in consensus.versions(db, here.id)],
        ruling_rows.rulings(db, here.id),
    )
    if known:
        return known, tuple(present) != known[-1]
    _, first = adjudicating.laid_out(db, here.item_id, here.stage, here.adjudicator_id)
    return known, _ruled(present) != _ruled(first)


def _ruled(rows: Sequence[Ruling]) -> list[Ruling]:
    """Rulings without the taking of unanimous rows, which happens automatically."""
    return [row.model_copy(update={"take": ""}) if row.unanimous else row for row in rows]


def _both(db: Connection, came: parcels.WorkAdjudication) -> str:
    """The received version and the one here, by number, date and person."""
    words = f"Version {len(came.versions)} of the {came.stage.value} ({came.versions[-1].at:%Y-%m-%d}) waits"
    here = ruling_rows.of_stage(db, came.item_id, came.stage)
    if here is None:
        return f"{words}; nothing is adjudicated here."
    closed = consensus.versions(db, here.id)
    by = closed[-1].by if closed else here.adjudicator_id
    name = db.execute(select(PERSON.c.name).where(PERSON.c.id == by)).scalar() or by
    if not closed:
        return f"{words}; here {name} has begun to rule."
    return f"{words}; here stands version {here.version} by {name} ({closed[-1].at:%Y-%m-%d})."


def taken(
    project: Project, db: Connection, person: Person, came: parcels.WorkAdjudication
) -> tuple[ParcelOutcome, str]:
    """Take in what an adjudicator sent back if it fits; return its outcome, and why."""
    comparison = compared(project, db, person.id, came)
    if comparison.outcome not in (ParcelOutcome.NEW, ParcelOutcome.NEWER):
        return comparison.outcome, comparison.words
    here = comparison.here or _begun(project, db, person, came, comparison)
    for number in range(comparison.known, len(comparison.versions)):
        here = _closed(project, db, here, person, comparison.versions[number], came.versions[number])
    _keep_remarks(db, here, person, came)
    at = min(came.versions[-1].at, now())
    assignments.mark_submitted(db, came.item_id, person.id, Stage.ADJUDICATION, at)
    return comparison.outcome, comparison.words


def accept(project: Project, db: Connection, person: Person, came: parcels.WorkAdjudication) -> Adjudication:
    """Take the last received version as the next one here, after the existing ones; raises Refusal if it does not fit.

    The pairing of rows follows the received version; earlier versions stay as they are.
    """
    comparison = compared(project, db, person.id, came)
    if not comparison.fits or comparison.outcome is ParcelOutcome.DUPLICATE:
        raise Refusal(comparison.words, "Set it aside; nothing was changed.")
    here = comparison.here or _begun(project, db, person, came, comparison)
    here = _closed(project, db, here, person, comparison.versions[-1], came.versions[-1])
    _keep_remarks(db, here, person, came)
    return here


def _begun(
    project: Project, db: Connection, person: Person, came: parcels.WorkAdjudication, comparison: Comparison
) -> Adjudication:
    """The adjudication under the letters that its adjudicator saw, as their reasons mention these."""
    made, _ = adjudicating.laid_out(db, came.item_id, came.stage, person.id)
    made = made.model_copy(update={"letters": dict(comparison.whose)})
    adjudicating.begin(project, db, made, [])
    return made


def _closed(
    project: Project, db: Connection, here: Adjudication, person: Person, rows: Sequence[Ruling],
    came: parcels.WorkVersion,
) -> Adjudication:  # fmt: skip
    """The adjudication after a further version; raises Refusal unless its consensus follows from its rulings."""
    kind, documents = ruling_rows.kind_of(here.stage), ruling_rows.documents(db, here)
    ruling.refuse_unsound(kind, rows, documents)
    elsewhere = RULING.c.id.in_({row.id for row in rows}), RULING.c.adjudication_id != here.id
    made = (unit for row in rows for unit, _ in consensus.made_of(kind, row, documents))
    if db.execute(select(RULING.c.id).where(*elsewhere)).first() or _values(kind, made) != _values(
        kind, document_of(kind, came.consensus).units
    ):
        raise Refusal(f"The consensus of a {kind.value} does not follow from its rulings.", AGAIN)
    ruling_rows.replace(
        project, db, here.id, "take in", ruling_rows.rulings(db, here.id), rows, undoable=False
    )
    ruling.close_within(project, db, here, person.id, min(came.at, now()))
    return ruling_rows.adjudication(db, here.id)


def _values(kind: Kind, units: Iterable[Unit]) -> list[dict[str, Any]]:
    """Units without their ids and without links to what they are made of, which depend on a project's own consensus."""
    made_of = KINDS[kind].made_of
    left_out = {"id", made_of[0]} if made_of else {"id"}
    return [unit.model_dump(mode="json", exclude=left_out) for unit in units]


def _keep_remarks(db: Connection, here: Adjudication, person: Person, came: parcels.WorkAdjudication) -> None:
    own_id = adjudicating.id_of(came.item_id, came.stage)
    known = {own_id: here.id, **{row.id: row.id for version in came.versions for row in version.rulings}}
    for remark in came.remarks:
        if remark.subject in known:
            values = {"subject": known[remark.subject], "person_id": person.id, "at": min(remark.at, now())}
            add_missing(db, REMARK, {"id": remark.id, "text": remark.text, **values})
