"""The tray: returned work in conflict, late or not asked for, beside the existing work; and sending work back."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection, Row, bindparam, delete, func, insert, or_, select, update

from annotator import __version__
from annotator.actions.adjudication.adjudicating import headings_of
from annotator.actions.assignments import assignments, reviewing
from annotator.actions.authoring import annotating
from annotator.actions.authoring.artifacts import Drafted, append_revision, of_artifacts, standing
from annotator.actions.authoring.comparing import aligned
from annotator.actions.authoring.settings import version_in_force
from annotator.actions.consensus import consensus, ruling_rows
from annotator.actions.items import extracts
from annotator.actions.labelling import label_cases
from annotator.actions.labelling.label_rows import in_utc, is_given, to_submit
from annotator.actions.parcels import adjudications, known_keys, packing, tasking
from annotator.actions.parcels.packing import PackedTask, Put, keep, place_of
from annotator.actions.project import people
from annotator.actions.project.file import CHANGED_WITH, Progress, Project, judgement_hash, record
from annotator.domain.common import (
    Change,
    Refusal,
    canonical_json,
    counted,
    derived_id,
    grouped,
    now,
    required,
    sha256,
)
from annotator.domain.experts.adjudication import DraftReview
from annotator.domain.experts.assignment import ParcelOutcome, Stage, TrayEntry, TrayState, stage_of
from annotator.domain.judges.judge import Judgement, RaterKind, Status
from annotator.domain.kinds.artifact import Document, Kind, State, Unit
from annotator.domain.kinds.documents import UNSURE, Label, Labels, document_of, label_id
from annotator.exchange.parcels import packages, parcels
from annotator.protocols import PROTOCOLS, TAXONOMIES, TO_SUBMIT
from annotator.storage.tables import (
    ADJUDICATION,
    AGREEMENT,
    ARTIFACT,
    ASSIGNMENT,
    DISPUTE,
    ITEM,
    JUDGEMENT,
    META,
    PARCEL,
    PERSON,
    RESPONSE,
    REVISION,
    TIME,
    TRAY,
    add_missing,
)


def _answered(project: Project) -> list[DraftReview]:
    """The reviews of this person's drafts that they have answered."""
    given = (line.review for line in reviewing.lines(project) if not line.reviewer_id)
    return [review for review in given if review is not None and review.agreed is not None]


# The fact in a package that brings a key and no work.
JOINS = "joins"


def pack(project: Project, person_id: str = "", path: Path | None = None) -> PackedTask:
    """Pack a task for a person, or, in a project made from a task, the work to send back."""
    if tasking.origin(project) is not None:
        return work(project, path)
    if not person_id:
        raise Refusal("No person is given for the task.", "Name the person: --person ID.")
    return packing.task(project, person_id, path)


def work(project: Project, path: Path | None = None, *, put: Put | None = None) -> PackedTask:
    """Write what this person has submitted; the same work gives the same bytes.

    Drafts stay here and are counted in the notes. By default the file lies beside the project, and `put` puts it
    elsewhere. Raises Refusal if nothing is submitted yet.
    """
    result = required(
        tasking.origin(project),
        "This project was not made from a task.",
        "Nothing needs to be sent back from here.",
    )
    # Stored before anything is signed with it.
    key = known_keys.signing_key(project)
    with project.store.write() as db:
        artifacts, drafts = _artifacts(db, result.person_id)
        question = select(DISPUTE).where(DISPUTE.c.person_id == result.person_id).order_by(DISPUTE.c.item_id)
        disputes = [
            parcels.WorkDispute(item_id=row.item_id, stage=row.stage, text=row.text, at=row.at)
            for row in db.execute(question)
        ]
        answers = [
            parcels.WorkAnswer(
                artifact_id=review.artifact_id,
                agreed=review.agreed,
                text=review.answer,
                at=review.answered_at,
            )
            for review in _answered(project)
        ]
        adjudicated = adjudications.returning(db, result.person_id)
        begun = adjudications.standing(db, result.person_id).values()
        drafts += sum(item.state is State.DRAFT for item in begun)
        if not artifacts and not disputes and not answers and not adjudicated:
            raise Refusal(
                "Nothing is submitted yet.", "Submit a document first; drafts stay on this computer."
            )
        records: dict[str, list[Any]] = {
            "artifacts.json": artifacts,
            "disputes.json": disputes,
            "answers.json": answers,
            **({packages.ADJUDICATIONS: adjudicated} if adjudicated else {}),
        }
        entries = parcels.packed(records)
        facts = _returning_facts(result, entries, _changed_with(db))
        content = packages.package_bytes(facts, entries, key)
        if put is not None:
            place = put(content, facts)
        else:
            place = place_of(project, path, "work", packages.suffix(packages.WORK))
            keep(place, content, facts)
        digest = sha256(content)
        receipt = packages.receipt_code(digest)
        held = {
            "file": place.name,
            "sealed": {artifact.id: artifact.revisions[-1].number for artifact in artifacts}
            | {item.id: item.number for item in begun if item.number},
            "disputes": len(disputes),
            "answers": len(answers),
        }
        tasking.keep_parcel(
            project, db, Change("parcel", digest, "pack work", after={"receipt": receipt}), direction="out",
            person_id=result.person_id, package_id=digest, receipt=receipt, content=json.dumps(held),
        )  # fmt: skip
    items = {one.item_id for one in artifacts} | {adjudication.item_id for adjudication in adjudicated}
    pieces = len(artifacts) + len(adjudicated)
    notes = (f"Not submitted yet and left here: {counted(drafts, 'document')}.",) if drafts else ()
    words = packages.fingerprint(packages.public_key(key))
    return PackedTask(place, result.person_id, len(items), pieces, len(content), receipt, words, notes)


def joining(project: Project) -> bytes:
    """A package of this person without any work, which brings their key; the same bytes each time."""
    result = tasking.origin(project)
    assert result is not None
    entries = parcels.packed({name: [] for name in parcels.WORK_ENTRIES if name != packages.ADJUDICATIONS})
    facts = _returning_facts(result, entries, [__version__])
    facts = facts.model_copy(update={"extra": {**facts.extra, JOINS: True}})
    return packages.package_bytes(facts, entries, known_keys.signing_key(project))


def _artifacts(db: Connection, person_id: str) -> tuple[list[parcels.WorkArtifact], int]:
    """The person's artifacts that were ever sealed, by id, and the number of drafts."""
    question = (
        select(
            ARTIFACT.c.id.label("artifact_id"),
            ARTIFACT.c.item_id,
            ARTIFACT.c.kind,
            ARTIFACT.c.state,
            REVISION,
        )
        .join(REVISION, REVISION.c.artifact_id == ARTIFACT.c.id)
        .where(ARTIFACT.c.author_id == person_id, ARTIFACT.c.state != State.CONSENSUS.value)
        .order_by(ARTIFACT.c.id, REVISION.c.number)
    )
    rows = grouped((row[0], row) for row in db.execute(question))
    seconds, drafted = _seconds(db, person_id), of_artifacts(db, rows)
    reviews = {review.artifact_id: review for review in reviewing.all_reviews(db)}
    made = [
        parcels.WorkArtifact(
            id=artifact_id, item_id=history[0].item_id, kind=history[0].kind, revisions=_sealed(history),
            seconds=round(seconds.get(artifact_id, 0.0), 1), drafted=_drafted(drafted.get(artifact_id, {}), history),
            review=reviews.get(artifact_id),
        )
        for artifact_id, history in rows.items()
        if any(row.sealed for row in history)
    ]  # fmt: skip
    return made, sum(history[-1].state == State.DRAFT.value for history in rows.values())


def _sealed(history: list[Row[Any]]) -> tuple[parcels.WorkRevision, ...]:
    """The sealed revisions, each with the hashes of those between it and the sealed one before."""
    made, between = [], []
    for row in history:
        if not row.sealed:
            between.append(row.sha256)
            continue
        made.append(
            parcels.WorkRevision(
                number=row.number, content=json.loads(row.content), sha256=row.sha256, chain=row.chain,
                skipped=tuple(between), guideline=row.guideline, form=row.form, reason=row.reason, at=row.at,
            )
        )  # fmt: skip
        between = []
    return tuple(made)


def _drafted(drafted: Drafted, history: list[Row[Any]]) -> tuple[parcels.DraftedUnit, ...]:
    """The units of the sealed revisions that came from a model's draft; unsealed units are not included."""
    sealed = (json.loads(row.content)["units"] for row in history if row.sealed)
    ids = dict.fromkeys(unit["id"] for units in sealed for unit in units)
    return tuple(
        parcels.DraftedUnit(unit_id=unit_id, **asdict(source))
        for unit_id, source in standing(drafted, ids).items()
    )


def _seconds(db: Connection, person_id: str) -> dict[str, float]:
    question = select(TIME.c.subject, func.sum(TIME.c.seconds)).where(TIME.c.person_id == person_id)
    return {subject: float(total) for subject, total in db.execute(question.group_by(TIME.c.subject))}


def _changed_with(db: Connection) -> list[str]:
    keys = db.execute(select(META.c.key).where(META.c.key.startswith(CHANGED_WITH))).scalars()
    return [*sorted({key.removeprefix(CHANGED_WITH) for key in keys} - {__version__}), __version__]


def _returning_facts(
    origin: tasking.TaskOrigin, entries: dict[str, bytes], programs: list[str]
) -> packages.PackageFacts:
    content = sha256(canonical_json({name: sha256(entry) for name, entry in entries.items()}))
    return packages.PackageFacts(
        format=packages.WORK,
        format_version=packages.version_for(entries),
        package_id=derived_id("work", origin.project_id, origin.person_id, content),
        project_id=origin.project_id,
        person_id=origin.person_id,
        extra={"programs": programs},
    )


KNOWN = {*PROTOCOLS, *TAXONOMIES}
_DELETE = delete(JUDGEMENT).where(JUDGEMENT.c.id == bindparam("gone"))


def write(db: Connection, person_id: str, item_id: str, artifact_id: str) -> None:
    """Replace a person's judgements on an item with those of their newest sealed labels."""
    row = db.execute(
        select(REVISION.c.content, REVISION.c.at)
        .join(
            ARTIFACT, (ARTIFACT.c.id == REVISION.c.artifact_id) & (ARTIFACT.c.revision == REVISION.c.number)
        )
        .where(ARTIFACT.c.id == artifact_id)
    ).one()
    _replace(db, person_id, item_id, row.content, row.at, trial=1)


def write_again(db: Connection, person_id: str, item_id: str, content: str, at: datetime) -> bool:
    """Store the labels of a silent repeat as a second trial; False if these or later ones exist."""
    labels = Labels.model_validate(orjson.loads(content)).units
    newest = db.execute(
        select(JUDGEMENT.c.at).where(*_of(person_id, item_id, 2, labels)).order_by(JUDGEMENT.c.at.desc())
    ).scalar()
    if newest is not None and in_utc(newest) >= in_utc(at):
        return False
    _replace(db, person_id, item_id, content, at, trial=2)
    return True


def _of(person_id: str, item_id: str, trial: int, labels: Iterable[Label]) -> tuple[Any, ...]:
    travelled = JUDGEMENT.c.protocol.in_({*TO_SUBMIT, *TAXONOMIES, *(label.protocol for label in labels)})
    return (
        JUDGEMENT.c.rater_kind == RaterKind.PERSON.value,
        JUDGEMENT.c.rater_id == person_id,
        JUDGEMENT.c.item_id == item_id,
        JUDGEMENT.c.trial == trial,
        # Their other labels in this project are not sent with tasks, and stay.
        travelled if trial > 1 else or_(travelled, to_submit()),
    )


def _replace(db: Connection, person_id: str, item_id: str, content: str, at: datetime, trial: int) -> None:
    labels = label_cases.as_dealt(Labels.model_validate(orjson.loads(content)).units, person_id)
    rows = list(_returned_labels_rows(db, labels, person_id, item_id, at, trial))
    returned = {(row["protocol"], row["response_id"], row["unit_id"]) for row in rows}
    j = JUDGEMENT.c
    existing = db.execute(
        select(j.id, j.flags, j.protocol, j.response_id, j.unit_id).where(
            *_of(person_id, item_id, trial, labels)
        )
    )
    # Labels given elsewhere stay, unless the returned labels include them.
    gone = [
        {"gone": row.id}
        for row in existing
        if not _stays(row, person_id, trial) or tuple(row[2:]) in returned
    ]
    if gone:
        db.execute(_DELETE, gone)
    if rows:
        db.execute(insert(JUDGEMENT), rows)


def _stays(row: Any, person_id: str, trial: int) -> bool:
    """Whether a judgement did not come from a returned task: a label from a file, or a kind given here."""
    returned_id = derived_id(
        "judgement", label_id(row.protocol, row.response_id, row.unit_id), person_id, trial
    )
    return is_given(row.flags) or (row.protocol in TAXONOMIES and row.id != returned_id)


def _returned_labels_rows(
    db: Connection, labels: Iterable[Label], person_id: str, item_id: str, at: datetime, trial: int
) -> Iterable[dict[str, Any]]:
    of_units = _judged(db, item_id, {label.protocol for label in labels})
    for label in labels:
        judgement = Judgement(
            id=derived_id("judgement", label.id, person_id, trial), protocol=label.protocol, item_id=item_id,
            response_id=label.response_id, artifact_id=of_units(label), unit_id=label.unit_id,
            rater_kind=RaterKind.PERSON, rater_id=person_id, trial=trial, at=in_utc(at), quote=label.quote,
            note=label.note, flags=label.flags, **_place(label), **_content(label.value),
        )  # fmt: skip
        row = judgement.model_dump()
        yield {**row, "sha256": judgement_hash(row)}


def _judged(db: Connection, item_id: str, protocols: set[str]) -> Callable[[Label], str]:
    """A function from a label to the id of the document or extract it was labelled by; empty if there is none."""
    of = {
        protocol: PROTOCOLS[TAXONOMIES[protocol].of if protocol in TAXONOMIES else protocol]
        for protocol in protocols
        if protocol in KNOWN
    }
    extractses = (
        extracts.standing(db, [item_id]) if any(definition.parts for definition in of.values()) else {}
    )
    gold = {
        one: annotating.judged_artifact(db, item_id, definition.unit_kind)
        for one, definition in of.items()
        if definition.unit_kind
    }

    def judged_by(label: Label) -> str:
        if artifact := gold.get(label.protocol):
            return artifact.id
        parts = of[label.protocol].parts if label.protocol in of else ()
        own = extractses.get((item_id, label.response_id), {})
        return next((own[part].id for part in parts if part in own), "")

    return judged_by


def _place(label: Label) -> dict[str, Any]:
    if label.anchor is None or label.anchor.start < 0:
        return {}
    return {"quote_start": label.anchor.start, "quote_end": label.anchor.end}


def _content(value: str) -> dict[str, Any]:
    if value == UNSURE:
        return {"value": None, "status": Status.UNCLEAR, "cause": "the rater is unsure"}
    return {"value": value, "status": Status.OK}


def put(
    db: Connection,
    reason: ParcelOutcome,
    person_id: str,
    content: str,
    *,
    item_id: str = "",
    stage: Stage | None = None,
    revision: int = 0,
) -> bool:
    """Put a piece of work into the tray; False if that very piece is or was in it already."""
    digest, name = sha256(content), stage.value if stage else ""
    entry_id = derived_id("tray", person_id, item_id, name, revision, digest)
    row = {
        "id": entry_id, "reason": reason.value, "person_id": person_id, "item_id": item_id, "stage": name,
        "revision": revision, "content": content, "sha256": digest, "state": TrayState.WAITING.value, "at": now(),
    }  # fmt: skip
    return add_missing(db, TRAY, row).rowcount > 0


def entries(project: Project, state: TrayState | None = TrayState.WAITING) -> list[TrayEntry]:
    """The entries of the tray in a state (all if None), by person, item and revision."""
    question = select(TRAY).order_by(
        TRAY.c.person_id, TRAY.c.item_id, TRAY.c.stage, TRAY.c.revision, TRAY.c.id
    )
    if state is not None:
        question = question.where(TRAY.c.state == state.value)
    rows = project.query(question).mappings().all()
    return [TrayEntry(**{**row, "stage": row["stage"] or None}) for row in rows]


@people.for_coordinators("can decide about the tray")
def accept(project: Project, entry_id: str) -> Change:
    """Take a piece of work, even one set aside, as its author's newest sealed revision.

    An adjudication becomes the next version of its consensus. Frozen figures and releases stay.
    """
    with project.store.write() as db:
        entry = _undecided(db, entry_id, TrayState.WAITING, TrayState.SET_ASIDE)
        if entry.stage is None or not db.execute(select(ITEM.c.id).where(ITEM.c.id == entry.item_id)).first():
            raise Refusal(
                "This work belongs to another project, and only its description is stored here.",
                "Set it aside, or import it in that project.",
            )
        if (kind := entry.stage.kind) is None:
            made = adjudications.accept(project, db, people.known(project, entry.person_id), _ruled(entry))
            artifact_id, number = made.consensus_id, made.version
        else:
            artifact_id, number = _append(project, db, entry, kind)
        if kind is Kind.LABELS:
            write(db, entry.person_id, entry.item_id, artifact_id)
        _mark(db, entry_id, TrayState.ACCEPTED)
        return record(
            project,
            db,
            Change("tray", entry_id, "accept", after={"artifact": artifact_id, "revision": number}),
        )


@people.for_coordinators("can decide about the tray")
def set_aside(project: Project, entry_id: str) -> Change:
    with project.store.write() as db:
        _undecided(db, entry_id, TrayState.WAITING)
        _mark(db, entry_id, TrayState.SET_ASIDE)
        return record(project, db, Change("tray", entry_id, "set aside"))


def _undecided(db: Connection, entry_id: str, *states: TrayState) -> TrayEntry:
    row = db.execute(select(TRAY).where(TRAY.c.id == entry_id)).mappings().one()
    entry = TrayEntry(**{**row, "stage": row["stage"] or None})
    if entry.state not in states:
        raise Refusal(f"This was {entry.state.value} already.", "Look at the tray again.")
    return entry


def _mark(db: Connection, entry_id: str, state: TrayState) -> None:
    db.execute(update(TRAY).where(TRAY.c.id == entry_id).values(state=state.value))


def _append(project: Project, db: Connection, entry: TrayEntry, kind: Kind) -> tuple[str, int]:
    own = (
        ARTIFACT.c.item_id == entry.item_id,
        ARTIFACT.c.kind == kind.value,
        ARTIFACT.c.author_id == entry.person_id,
    )
    artifact_id = db.execute(select(ARTIFACT.c.id).where(*own)).scalar()
    if artifact_id is None:
        annotating.keep_scoring(project, db, kind, entry.item_id)
        artifact_id = derived_id("artifact", entry.item_id, kind.value, entry.person_id)
        row = {"id": artifact_id, "item_id": entry.item_id, "kind": kind.value, "author_id": entry.person_id}
        db.execute(insert(ARTIFACT).values(**row, state=State.SEALED.value, revision=0))
    at = now()
    number = append_revision(
        db, artifact_id, entry.content, "accept", reason=f"accepted from the tray ({entry.reason.value})",
        by=project.by, at=at, guideline=version_in_force(db, entry.stage) if entry.stage else "1",
    )  # fmt: skip
    pointed = update(ARTIFACT).where(ARTIFACT.c.id == artifact_id)
    db.execute(pointed.values(state=State.SEALED.value, sealed_at=at))
    return artifact_id, number


def facts(entry: TrayEntry) -> dict[str, Any]:
    return dict(json.loads(entry.content))


@dataclass(frozen=True, slots=True)
class TraySheet:
    """An entry with its document beside the present one (None if none); `withheld` says why neither is shown.

    `rows` are the units that belong together: by id, otherwise by similarity as for agreement. `headings` are the texts
    of the units that labels are about, `reports` the number of each report within its item; `consequence` says how
    taking it changes the item's scores. For an adjudication, the documents are the received consensus and the one here,
    and `fits` says whether it may be taken at all.
    """

    entry: TrayEntry
    person: str
    item_key: str
    question: str
    came: Document[Any] | None = None
    here: Document[Any] | None = None
    here_revision: int = 0
    rows: tuple[tuple[Unit | None, Unit | None], ...] = ()
    withheld: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    headings: dict[str, str] = field(default_factory=dict)
    reports: dict[str, int] = field(default_factory=dict)
    consequence: str = ""
    fits: bool = True

    @property
    def may_be_accepted(self) -> bool:
        known = bool(self.entry.stage and self.item_key) and self.fits
        return known and self.entry.state is not TrayState.ACCEPTED


def sheets(project: Project, state: TrayState | None = TrayState.WAITING) -> list[TraySheet]:
    tray_entries = entries(project, state)
    with project.store.read() as db:
        names = {row.id: row.name for row in db.execute(select(PERSON.c.id, PERSON.c.name))}
        rows = db.execute(select(ITEM.c.id, ITEM.c.key, ITEM.c.question))
        items = {row.id: (row.key, row.question) for row in rows}
    result = [
        TraySheet(entry, names.get(entry.person_id, ""), *items.get(entry.item_id, ("", "")))
        for entry in tray_entries
    ]
    return sorted(
        result, key=lambda sheet: (sheet.item_key, sheet.person, sheet.entry.revision, sheet.entry.id)
    )


def sheet(project: Project, sheet_: TraySheet) -> TraySheet:
    """The same entry with its documents, unless the person working works on that very item."""
    entry = sheet_.entry
    kind = entry.stage.kind if entry.stage else None
    if entry.stage is Stage.ADJUDICATION and sheet_.item_key:
        return _adjudicated(project, sheet_)
    if kind is None or entry.stage is None:
        return TraySheet(entry, sheet_.person, "", "", facts=_facts(entry))
    with project.store.read() as db:
        if words := _withheld(project, db, entry.item_id, entry.stage):
            return TraySheet(entry, sheet_.person, sheet_.item_key, sheet_.question, withheld=words)
        # The revision with the same number if there is one, otherwise the newest sealed one of the same author.
        result = db.execute(
            select(REVISION.c.number, REVISION.c.content)
            .join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id)
            .where(
                ARTIFACT.c.item_id == entry.item_id,
                ARTIFACT.c.kind == kind.value,
                ARTIFACT.c.author_id == entry.person_id,
                REVISION.c.sealed.is_(True),
            )
            .order_by(REVISION.c.number != entry.revision, REVISION.c.number.desc())
        ).first()
        came = document_of(kind, json.loads(entry.content))
        here = document_of(kind, json.loads(result.content)) if result else None
        return TraySheet(
            entry=entry, person=sheet_.person, item_key=sheet_.item_key, question=sheet_.question,
            came=came, here=here, here_revision=result.number if result else 0, rows=_rows(kind, came, here),
            headings=headings_of(db, entry.item_id) if kind is Kind.LABELS else {},
            reports=_reports(db, entry.item_id) if kind is Kind.LABELS else {},
            consequence=f"Taking it {annotating.TAKES_SCORES}."
            if annotating.is_second(project, kind, entry.item_id, entry.person_id) else "",
        )  # fmt: skip


def _ruled(entry: TrayEntry) -> parcels.WorkAdjudication:
    return parcels.WorkAdjudication.model_validate(facts(entry))


def _adjudicated(project: Project, sheet_: TraySheet) -> TraySheet:
    """The received consensus beside the one here, and why it waits, given what is here now."""
    entry, result = sheet_.entry, _ruled(sheet_.entry)
    kind = ruling_rows.kind_of(result.stage)
    with project.store.read() as db:
        if words := _works_on(project, db, entry.item_id, result.stage):
            return replace(sheet_, withheld=words, fits=False)
        compared = adjudications.compared(project, db, entry.person_id, result)
        standing = ruling_rows.of_stage(db, entry.item_id, result.stage)
        closed = consensus.versions(db, standing.id)[-1:] if standing else []
        trees = [ruling_rows.content(db, version.artifact_id, version.revision) for version in closed]
    came = document_of(kind, result.versions[-1].consensus)
    here = next((document_of(kind, tree) for tree in trees), None)
    consequence = (
        f"{compared.words} Accepting makes it the next version here." if compared.fits else compared.words
    )
    return replace(
        sheet_, came=came, here=here, here_revision=closed[0].version if closed else 0,
        rows=_rows(kind, came, here), consequence=consequence, fits=compared.fits,
    )  # fmt: skip


def _facts(entry: TrayEntry) -> dict[str, str]:
    """The facts of a package of another project; empty if the content is a document."""
    tree = facts(entry)
    titles = {"file": "File", "project_id": "Project", "person_id": "Person"}
    return {words: str(tree[name]) for name, words in titles.items() if name in tree}


def _withheld(project: Project, db: Connection, item_id: str, stage: Stage) -> str:
    """Blindness holds for a coordinator too: whoever answers or adjudicates an item sees nobody else's answer to it."""
    begun = select(ADJUDICATION.c.id).where(
        ADJUDICATION.c.item_id == item_id, ADJUDICATION.c.adjudicator_id == project.by
    )
    if assignments.adjudicator_of(db, item_id) == project.by or db.execute(begun).first():
        return "You adjudicate this item, so its annotators' work is not shown to you under their names."
    return _works_on(project, db, item_id, stage)


def _works_on(project: Project, db: Connection, item_id: str, stage: Stage) -> str:
    frozen = select(AGREEMENT.c.id).where(AGREEMENT.c.item_id == item_id, AGREEMENT.c.stage == stage.value)
    own = select(ARTIFACT.c.state).where(
        ARTIFACT.c.item_id == item_id, ARTIFACT.c.author_id == project.by,
        ARTIFACT.c.kind == (stage.kind.value if stage.kind else ""),
    )  # fmt: skip
    state = db.execute(own).scalar()
    works = state is not None or project.by in assignments.raters_of(db, item_id, stage)
    if state == State.DRAFT.value or (works and not db.execute(frozen).first()):
        return "You work on this item yourself, so nobody else's work on it is shown until you have finished."
    return ""


def _rows(
    kind: Kind, came: Document[Any], here: Document[Any] | None
) -> tuple[tuple[Unit | None, Unit | None], ...]:
    """The received units, each with the one here that it belongs to, then those that are only here."""
    if here is None:
        return tuple((unit, None) for unit in came.units)
    partner = {unit.id: unit for unit in here.units}
    known = {unit.id for unit in came.units} & set(partner)
    left = [unit for unit in came.units if unit.id not in known]
    right = [unit for unit in here.units if unit.id not in known]
    result = {left[a].id: right[b] for a, b, _ in aligned(kind, left, right).pairs} if left and right else {}
    together = {unit.id: partner.get(unit.id) or result.get(unit.id) for unit in came.units}
    taken = {unit.id for unit in together.values() if unit is not None}
    alone = [(None, unit) for unit in here.units if unit.id not in taken]
    return (*((unit, together[unit.id]) for unit in came.units), *alone)


def _reports(db: Connection, item_id: str) -> dict[str, int]:
    rows = db.execute(select(RESPONSE.c.id).where(RESPONSE.c.item_id == item_id).order_by(RESPONSE.c.id))
    return {response_id: number for number, response_id in enumerate(rows.scalars(), start=1)}


_STAGES = list(Stage)


class SendingOutcome(StrEnum):
    NEW = "goes back"
    SENT = "already sent"
    DRAFT = "a draft, stays"
    OPEN = "not begun"


@dataclass(frozen=True, slots=True)
class SendingPiece:
    """One stage of one item, and what happens to it; `draft` if something is not submitted."""

    item_id: str
    item_key: str
    question: str
    stage: Stage
    going: SendingOutcome
    draft: bool = False
    at: datetime | None = None
    due: datetime | None = None


@dataclass(frozen=True, slots=True)
class SentFile:
    receipt: str
    at: datetime
    file: str
    documents: int

    @property
    def sealed(self) -> bool:
        """Whether it was put into a shared folder."""
        return self.file.endswith(known_keys.SEALED_SUFFIX)


@dataclass(frozen=True, slots=True)
class SendingOverview:
    """The pieces in the project's order, with the number of disputes, and the files sent, newest first."""

    pieces: tuple[SendingPiece, ...]
    disputes: int
    sent: tuple[SentFile, ...]
    news: bool
    """Whether something would go back that no file has contained."""
    own_key: str = ""
    """The six words of this file's key; `task_key` are those of the key that signed its tasks."""
    task_key: str = ""

    def count(self, *goings: SendingOutcome) -> int:
        return sum(piece.going in goings for piece in self.pieces)


def outlook(project: Project) -> SendingOverview:
    me = project.by
    with project.store.read() as db:
        files = _files(db, me)
        pieces = sorted(_pieces(db, me, _held(files)), key=lambda entry: entry[0])
        disputes = int(
            db.execute(
                select(func.count()).select_from(DISPUTE).where(DISPUTE.c.person_id == me)
            ).scalar_one()
        )
    sending_pieces = tuple(piece for _, piece in pieces)
    answers = len(_answered(project))
    counts_sent = [
        max((int(facts.get(name, 0)) for facts, _ in files), default=0) for name in ("disputes", "answers")
    ]
    news = (
        disputes > counts_sent[0]
        or answers > counts_sent[1]
        or any(piece.going is SendingOutcome.NEW for piece in sending_pieces)
    )
    keys = known_keys.own_words(project), tasking.sender_words(project)
    return SendingOverview(sending_pieces, disputes, tuple(sent for _, sent in files), news, *keys)


def write_work(project: Project, path: Path, *, progress: Progress | None = None) -> PackedTask:
    if progress:
        progress("Writing the file to send back", 0, 0)
    return work(project, path)


def _files(db: Connection, me: str) -> list[tuple[dict[str, Any], SentFile]]:
    question = select(PARCEL).where(
        PARCEL.c.direction == "out", PARCEL.c.person_id == me, PARCEL.c.receipt != ""
    )
    rows = db.execute(question.order_by(PARCEL.c.at.desc(), PARCEL.c.sha256))
    return [
        (facts, SentFile(row.receipt, row.at, str(facts.get("file", "")), len(facts.get("sealed", {}))))
        for row in rows
        for facts in [json.loads(row.content)]
    ]


def _held(files: list[tuple[dict[str, Any], SentFile]]) -> dict[str, int]:
    held: dict[str, int] = {}
    for facts, _ in files:
        for artifact_id, number in facts.get("sealed", {}).items():
            held[artifact_id] = max(number, held.get(artifact_id, 0))
    return held


def _pieces(
    db: Connection, me: str, held: dict[str, int]
) -> Iterator[tuple[tuple[int, str, int], SendingPiece]]:
    items = {
        row.id: row for row in db.execute(select(ITEM.c.id, ITEM.c.key, ITEM.c.question, ITEM.c.position))
    }
    due = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.stage, ASSIGNMENT.c.due).where(
        ASSIGNMENT.c.person_id == me
    )
    dates = {(row.item_id, Stage(row.stage)): row.due for row in db.execute(due)}
    written = _written(db, me) | adjudications.standing(db, me)
    judged = select(JUDGEMENT.c.item_id).where(
        JUDGEMENT.c.rater_kind == RaterKind.PERSON.value, JUDGEMENT.c.rater_id == me
    )
    begun = {(item_id, Stage.LABELLING) for item_id in db.execute(judged.distinct()).scalars()}
    for item_id, stage in {*dates, *written, *begun}:
        item = items[item_id]
        row = written.get((item_id, stage))
        drafted = (item_id, stage) in begun
        piece = SendingPiece(
            item_id=item_id, item_key=item.key, question=item.question, stage=stage,
            going=_going(row, held) if row else SendingOutcome.DRAFT if drafted else SendingOutcome.OPEN,
            draft=row.state == State.DRAFT.value if row else drafted,
            at=row.at if row else None, due=dates.get((item_id, stage)),
        )  # fmt: skip
        yield (item.position, item.key, _STAGES.index(stage)), piece


def _going(row: Any, held: dict[str, int]) -> SendingOutcome:
    if not row.number:
        return SendingOutcome.DRAFT
    return SendingOutcome.SENT if held.get(row.id, 0) >= row.number else SendingOutcome.NEW


def _written(db: Connection, me: str) -> dict[tuple[str, Stage], Any]:
    sealed = select(REVISION).where(REVISION.c.sealed.is_(True)).subquery()
    question = (
        select(
            ARTIFACT.c.id, ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.state,
            func.max(sealed.c.number).label("number"), func.max(sealed.c.at).label("at"),
        )
        .outerjoin(sealed, sealed.c.artifact_id == ARTIFACT.c.id)
        .where(ARTIFACT.c.author_id == me, ARTIFACT.c.state != State.CONSENSUS.value)
        .group_by(ARTIFACT.c.id, ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.state)
    )  # fmt: skip
    return {(row.item_id, stage_of(Kind(row.kind))): row for row in db.execute(question)}
