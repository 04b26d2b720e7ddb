"""Feedback on one rater's units in a consensus: kept, reworded, dropped, added … and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from annotator.actions.adjudication.adjudicating import headings_of
from annotator.actions.assignments import assignments
from annotator.actions.consensus import consensus, ruling_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.common import Change, Refusal, derived_id, grouped, now, required
from annotator.domain.experts.adjudication import (
    OWN,
    Adjudication,
    ConsensusVersion,
    DigestDispute,
    DigestRow,
    Dispute,
    DisputeState,
    Fate,
    Ruling,
    StageDigest,
)
from annotator.domain.experts.assignment import RECEIVED, Stage
from annotator.domain.kinds.artifact import Document, Kind, Unit
from annotator.domain.kinds.documents import document_of
from annotator.storage.tables import (
    ASSIGNMENT,
    DISPUTE,
    ITEM,
    META,
)


def _rows(
    kind: Kind,
    letter: str,
    own: Document[Any],
    version: ConsensusVersion,
    agreed: Document[Any],
    headings: Mapping[str, str],
) -> tuple[DigestRow, ...]:
    """The rows, as the version was closed, that the rater behind a letter may see.

    Of other raters' work, only what is in the consensus: rows neither written by this rater nor in the consensus are
    left out, and reasons are given only if their own unit was changed.
    """
    units_of = grouped((one.ruling_id, agreed.unit(one.unit_id)) for one in version.provenance)
    result: list[DigestRow] = []
    for ruling in version.rulings:
        units = units_of.get(ruling.id, [])
        mine = own.unit(ruling.members[letter]) if letter in ruling.members else None
        counterpart = _counterpart(kind, mine, units) if mine is not None else None
        pairs: list[tuple[Unit | None, Unit | None]] = [(mine, counterpart)] if mine is not None else []
        pairs += [(None, unit) for unit in units if unit is not counterpart]
        result += [_row(kind, ruling, before, agreed_on, headings) for before, agreed_on in pairs]
    return tuple(result)


def _counterpart(kind: Kind, mine: Unit, units: list[Unit]) -> Unit | None:
    """The consensus unit corresponding to one's own: an equal one, otherwise the first."""
    same = next((unit for unit in units if consensus.agree(kind, (mine, unit))), None)
    return same or (units[0] if units else None)


def _row(
    kind: Kind, ruling: Ruling, mine: Unit | None, agreed: Unit | None, headings: Mapping[str, str]
) -> DigestRow:
    change = _change(kind, ruling, mine, agreed)
    about = mine or agreed
    changed = change != Fate.KEPT
    return DigestRow(
        own=mine.model_dump(mode="json") if mine is not None else None,
        consensus=agreed.model_dump(mode="json") if agreed is not None else None,
        change=change,
        reason=ruling.reason if changed else None,
        rationale=ruling.rationale if changed else "",
        heading=headings.get(str(getattr(about, "unit_id", "")), ""),
    )


def _change(kind: Kind, ruling: Ruling, mine: Unit | None, agreed: Unit | None) -> str:
    if mine is None:
        return Fate.ADDED
    if agreed is None:
        return Fate.DROPPED
    differing = consensus.differing(kind, (mine, agreed))
    if not differing:
        return Fate.KEPT
    if "text" not in differing:
        return f"{' and '.join(differing)} changed"
    return Fate.MERGED if ruling.take == OWN and len(ruling.members) > 1 else Fate.REWORDED


_STAGES = list(Stage)


@dataclass(frozen=True, slots=True)
class Digest:
    """Feedback on a person's work on an item, stage by stage; empty until there is a consensus."""

    item_id: str
    stages: tuple[StageDigest, ...]
    may_dispute: bool


@dataclass(frozen=True, slots=True)
class DigestLine:
    """An item with feedback for a person; `changed` counts rows that are not “kept”."""

    item_id: str
    item_key: str
    changed: int
    dispute: DisputeState | None


def digest(project: Project, item_id: str) -> Digest:
    """The feedback on an item for the person working; a digest from a task package precedes what this file knows."""
    with project.store.read() as db:
        return _digest(project, db, people.someone(project).id, item_id)


def has_digest(project: Project, item_id: str) -> bool:
    """Whether the digest of an item has any stage; compares no rows."""
    with project.store.read() as db:
        return bool(
            project.get(f"{RECEIVED}{item_id}", []) or _settled(db, people.someone(project).id, item_id)
        )


def items_with_digest(project: Project) -> list[DigestLine]:
    """The items with feedback for the person working, in the project's order."""
    me = people.someone(project).id
    with project.store.read() as db:
        keys = db.execute(
            select(META.c.key).where(META.c.key.startswith(RECEIVED, autoescape=True))
        ).scalars()
        known = {key.removeprefix(RECEIVED) for key in keys}
        known |= {result.item_id for result in _settled(db, me)}
        question = select(ITEM.c.id, ITEM.c.key).where(ITEM.c.id.in_(known))
        rows = db.execute(question.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)).all()
        return [_line(row.key, _digest(project, db, me, row.id)) for row in rows]


def _line(key: str, digest: Digest) -> DigestLine:
    disputes = [stage.dispute.state for stage in digest.stages if stage.dispute]
    return DigestLine(
        item_id=digest.item_id,
        item_key=key,
        changed=sum(row.change != Fate.KEPT for stage in digest.stages for row in stage.rows),
        dispute=disputes[0] if disputes else None,
    )


def digest_records(project: Project, person_id: str) -> list[dict[str, Any]]:
    """All feedback a person may see, as JSON records of one stage of one item each, for a task package."""
    with project.store.read() as db:
        result = [_of_stage(db, person_id, settled) for settled in _settled(db, person_id)]
    return [each.model_dump(mode="json") for each in sorted(result, key=_place)]


def _place(digest: StageDigest) -> tuple[str, int]:
    return digest.item_id, _STAGES.index(digest.stage)


def _digest(project: Project, db: Connection, person_id: str, item_id: str) -> Digest:
    stages = {each.stage: _of_stage(db, person_id, each) for each in _settled(db, person_id, item_id)}
    own = _own_dispute(db, person_id, item_id)
    for record_ in project.get(f"{RECEIVED}{item_id}", []):
        received = StageDigest.model_validate(record_)
        if received.dispute is None and own is not None and own.stage is received.stage:
            received = received.model_copy(update={"dispute": _digest_of(own)})
        stages[received.stage] = received
    result = tuple(sorted(stages.values(), key=_place))
    return Digest(item_id, result, bool(result) and own is None and not any(each.dispute for each in result))


def _settled(db: Connection, person_id: str, item_id: str = "") -> list[Adjudication]:
    """The adjudications with a consensus on what a person wrote.

    Labels of an item that the person is still to repeat are left out, so that the repeat stays blind.
    """
    again = select(ASSIGNMENT.c.item_id).where(
        ASSIGNMENT.c.person_id == person_id,
        ASSIGNMENT.c.stage == Stage.LABELLING.value,
        ASSIGNMENT.c.trial > 1,
        ASSIGNMENT.c.submitted_at.is_(None),
    )
    repeated = set(db.execute(again).scalars())
    return [
        result
        for result in ruling_rows.adjudications(db, item_id)
        if result.version
        and person_id in result.letters.values()
        and not (result.stage is Stage.LABELLING and result.item_id in repeated)
    ]


def _of_stage(db: Connection, person_id: str, adjudication: Adjudication) -> StageDigest:
    kind = ruling_rows.kind_of(adjudication.stage)
    letter = next(letter for letter, person in adjudication.letters.items() if person == person_id)
    version = consensus.versions(db, adjudication.id)[-1]
    own = ruling_rows.documents(db, adjudication)[letter]
    agreed = document_of(kind, ruling_rows.content(db, version.artifact_id, version.revision))
    headings = headings_of(db, adjudication.item_id) if kind is Kind.LABELS else {}
    objection = _own_dispute(db, person_id, adjudication.item_id)
    return StageDigest(
        item_id=adjudication.item_id,
        stage=adjudication.stage,
        version=version.version,
        rows=_rows(kind, letter, own, version, agreed, headings),
        dispute=_digest_of(objection) if objection and objection.stage is adjudication.stage else None,
    )


def _own_dispute(db: Connection, person_id: str, item_id: str) -> Dispute | None:
    row = db.execute(select(DISPUTE).filter_by(person_id=person_id, item_id=item_id)).mappings().first()
    return Dispute(**row) if row else None


def _digest_of(dispute: Dispute) -> DigestDispute:
    return DigestDispute(
        text=dispute.text,
        state=dispute.state,
        answer=dispute.answer,
        answered_version=dispute.answered_version,
    )


def dispute(project: Project, item_id: str, stage: Stage, text: str) -> Change:
    """Dispute the consensus of one stage, with a reason; once per item, and only once there is a consensus."""
    reason = consensus.stripped(text)
    with project.store.write() as db:
        me = people.someone(project).id
        result = _digest(project, db, me, item_id)
        if stage not in {each.stage for each in result.stages}:
            raise Refusal(
                f"There is no consensus on your {stage.value} of this item yet.",
                "You can object once you see the feedback on your work.",
            )
        if not result.may_dispute:
            raise Refusal(
                "You have objected to this item before.", "Only one objection per item is possible."
            )
        return _add(project, db, me, item_id, stage, reason, now())


def receive(
    project: Project, db: Connection, person_id: str, item_id: str, stage: Stage, text: str, at: datetime
) -> bool:
    """Take in a dispute from a package; False if this person's dispute on the item is already known."""
    new = _own_dispute(db, person_id, item_id) is None
    if new:
        _add(project, db, person_id, item_id, stage, text, at)
    return new


def _add(
    project: Project, db: Connection, person_id: str, item_id: str, stage: Stage, text: str, at: datetime
) -> Change:
    new = Dispute(
        id=derived_id("dispute", item_id, person_id), item_id=item_id, person_id=person_id, stage=stage,
        text=text, at=at,
    )  # fmt: skip
    db.execute(insert(DISPUTE).values(**new.model_dump()))
    image = {"item_id": item_id, "stage": stage.value}
    return record(project, db, Change("dispute", new.id, "dispute", None, image))


def answer(project: Project, dispute_id: str, text: str) -> Change:
    """Answer a dispute in words, leaving the consensus; a new version would answer it as well.

    Only the adjudicator may; an answer cannot be changed.
    """
    words = consensus.stripped(text)
    with project.store.write() as db:
        result = Dispute(**db.execute(select(DISPUTE).where(DISPUTE.c.id == dispute_id)).mappings().one())
        adjudication = required(
            ruling_rows.of_stage(db, result.item_id, result.stage),
            "There is no consensus to object to.",
            "Nothing was changed.",
        )
        assignments.refuse_others(project, db, adjudication)
        if result.answer:
            raise Refusal("This objection is already answered.", "The first answer stays unchanged.")
        values = {"state": DisputeState.ANSWERED.value, "answer": words}
        db.execute(update(DISPUTE).where(DISPUTE.c.id == dispute_id).values(**values))
        return record(project, db, Change("dispute", dispute_id, "answer", None, values))
