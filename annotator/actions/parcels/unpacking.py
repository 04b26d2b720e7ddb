"""Import of returned work: previewed first, all or nothing, in any order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, update

from annotator.actions.adjudication import feedback
from annotator.actions.assignments import assignments, reviewing
from annotator.actions.authoring import annotating, settings
from annotator.actions.authoring.artifacts import remember
from annotator.actions.consensus import ruling_rows
from annotator.actions.labelling import label_cases
from annotator.actions.parcels import adjudications, known_keys, tasking, tray
from annotator.actions.project import backups, people
from annotator.actions.project.file import Progress, Project
from annotator.domain.common import Change, Refusal, canonical_json, derived_id, now, required, sha256
from annotator.domain.experts.adjudication import AdjudicationState
from annotator.domain.experts.assignment import (
    TRAYED,
    Arrival,
    ParcelOutcome,
    Person,
    ReturnedPiece,
    Signed,
    Stage,
    numbered,
    stage_of,
)
from annotator.domain.kinds.artifact import Document, DraftSource, Kind, State, chain
from annotator.domain.kinds.documents import UNSURE, Label, Labels, document_of, label_id
from annotator.exchange.parcels import packages, parcels
from annotator.protocols import PROTOCOLS, TAXONOMIES
from annotator.storage.tables import (
    ADJUDICATION,
    ARTIFACT,
    ITEM,
    PARCEL,
    PERSON,
    RESPONSE,
    REVISION,
    TIME,
)

# More on one document than anyone works in half a year, and a clock may be a day ahead of ours.
MOST_SECONDS, CLOCKS_DIFFER = 1_000 * 3600.0, timedelta(days=1)
Taken = tuple[str, Stage]

# The outcomes in order of precedence for a package of several pieces.
TELLING = (
    ParcelOutcome.CONFLICT, ParcelOutcome.LATE, ParcelOutcome.FOREIGN,
    ParcelOutcome.DOUBTFUL, ParcelOutcome.NEW, ParcelOutcome.NEWER, ParcelOutcome.DUPLICATE,
)  # fmt: skip


class _OnlyLooking(Exception):
    """Rolls back a preview."""


def preview(
    project: Project, paths: Sequence[Path | packages.Package], *, progress: Progress | None = None
) -> list[Arrival]:
    """The arrivals that taking in these packages would give, in the given order; nothing is changed."""
    _refuse_others(project)
    read = _read(paths, progress)
    arrivals: list[Arrival] = []
    try:
        with project.store.write() as db:
            arrivals, _ = _take_all(project, db, read)
            raise _OnlyLooking
    except _OnlyLooking:
        return arrivals


def take_in(
    project: Project, paths: Sequence[Path | packages.Package], *, progress: Progress | None = None
) -> list[Arrival]:
    """Take in returned packages, after a backup and in one transaction; each arrival says what happened to it.

    A package that is damaged, or signed with another key than its person's, is left out whole. What was imported before
    changes nothing, and the result does not depend on the order of packages, except that if unadjudicated documents of
    several people count, the first to arrive scores.
    """
    _refuse_others(project)
    read = _read(paths, progress)
    if not any(isinstance(one, packages.Package) for one in read):
        return [one for one in read if isinstance(one, Arrival)]
    backups.make(project, "before importing work")
    with project.store.write() as db:
        arrivals, touched = _take_all(project, db, read)
        for item_id, stage in sorted(touched):
            assignments.freeze_when_ready(project, db, item_id, stage)
    return arrivals


def _refuse_others(project: Project) -> None:
    if tasking.origin(project) is not None:
        raise Refusal("This project was made from a task.", "Send returned work to the sender of the task.")
    people.refuse_others(project, "can import work")


def _read(
    paths: Sequence[Path | packages.Package], progress: Progress | None
) -> list[packages.Package | Arrival]:
    read: list[packages.Package | Arrival] = []
    for place, path in enumerate(paths):
        if progress:
            progress("Reading the files", place, len(paths))
        if isinstance(path, packages.Package):
            read.append(path)
            continue
        try:
            read.append(packages.read_package(path, packages.WORK))
        except Refusal as refusal:
            read.append(Arrival(file=path.name, outcome=ParcelOutcome.DAMAGED, reason=str(refusal)))
    return read


def _take_all(
    project: Project, db: Connection, read: Sequence[packages.Package | Arrival]
) -> tuple[list[Arrival], set[Taken]]:
    arrivals = {place: one for place, one in enumerate(read) if isinstance(one, Arrival)}
    whole = [(place, one) for place, one in enumerate(read) if isinstance(one, packages.Package)]
    touched: set[Taken] = set()
    for place, package in sorted(
        whole, key=lambda one: (one[1].manifest.person_id, one[1].manifest.package_id)
    ):
        arrivals[place] = _take(project, db, package, touched)
    return [arrivals[place] for place in range(len(read))], touched


def _take(project: Project, db: Connection, package: packages.Package, touched: set[Taken]) -> Arrival:
    facts = package.manifest
    arrival = Arrival(
        file=package.name, outcome=ParcelOutcome.FOREIGN, person_id=facts.person_id,
        receipt=packages.receipt_code(package.sha256), program=", ".join(package.programs),
    )  # fmt: skip
    if facts.project_id != project.get("id"):
        return _quarantine(project, db, package, arrival, "It belongs to another project.")
    row = db.execute(select(PERSON).where(PERSON.c.id == facts.person_id)).mappings().first()
    person = Person(**row) if row else None
    if person is None:
        return _quarantine(project, db, package, arrival, "Nobody in this project has that id.")
    words = packages.fingerprint(package.signer) if package.signer else ""
    arrival = arrival.model_copy(update={"person_name": person.name, "key": package.signer, "words": words})
    try:
        with project.store.write() as inner:
            signed = known_keys.checked(project, inner, package, person)
            records = parcels.work(package)
            sorter = Sorter(project, inner, person)
            pieces = sorter.take(records)
    except known_keys.OtherKey as refusal:
        changes = {"outcome": ParcelOutcome.OTHER_KEY, "signed": Signed.OTHER, "reason": str(refusal)}
        return arrival.model_copy(update=changes)
    except Refusal as refusal:
        return arrival.model_copy(update={"outcome": ParcelOutcome.DAMAGED, "reason": str(refusal)})
    touched |= sorter.touched
    return _remember(
        project, db, package, arrival.model_copy(update={"pieces": tuple(pieces), "signed": signed})
    )


def _quarantine(
    project: Project, db: Connection, package: packages.Package, arrival: Arrival, reason: str
) -> Arrival:
    """Record a package that cannot be this project's: its facts are stored, its content stays in its file."""
    facts = package.manifest.model_dump(mode="json", include={"package_id", "project_id", "person_id"})
    content = canonical_json({"package": package.sha256, "file": package.name, **facts}).decode()
    fresh = tray.put(db, ParcelOutcome.FOREIGN, arrival.person_id, content)
    words = reason if fresh else f"{reason} It arrived before."
    piece = ReturnedPiece(outcome=ParcelOutcome.FOREIGN if fresh else ParcelOutcome.DUPLICATE, words=words)
    return _remember(project, db, package, arrival.model_copy(update={"pieces": (piece,), "reason": reason}))


def _remember(project: Project, db: Connection, package: packages.Package, arrival: Arrival) -> Arrival:
    result = {piece.outcome for piece in arrival.pieces}
    outcome = next((one for one in TELLING if one in result), ParcelOutcome.DUPLICATE)
    arrival = arrival.model_copy(update={"outcome": outcome})
    if db.execute(select(PARCEL.c.sha256).where(PARCEL.c.sha256 == package.sha256)).first():
        return arrival
    tasking.keep_parcel(
        project, db, Change("parcel", package.sha256, "take in", after={"outcome": outcome.value}), direction="in",
        person_id=arrival.person_id, package_id=package.manifest.package_id, receipt=arrival.receipt,
        content=arrival.model_dump_json(),
    )  # fmt: skip
    return arrival


def received(project: Project) -> list[Arrival]:
    rows = project.query(select(PARCEL.c.content, PARCEL.c.at).where(PARCEL.c.direction == "in")).all()
    arrivals = [Arrival.model_validate_json(row.content).model_copy(update={"at": row.at}) for row in rows]
    return sorted(arrivals, key=lambda arrival: (arrival.person_name, arrival.file, arrival.receipt))


def words(arrival: Arrival) -> list[str]:
    whose = f" from {arrival.person_name}" if arrival.person_name else ""
    receipt = f", receipt {arrival.receipt}" if arrival.receipt else ""
    reason = f": {arrival.reason}" if arrival.reason else ""
    head = f"{arrival.file}{whose}: {arrival.outcome.value}{receipt}{reason}"
    made = [f"  Made with Goldsmith {arrival.program}."] if arrival.program else []
    return [head, *made, *_key_words(arrival), *(f"  {_piece(piece)}" for piece in arrival.pieces)]


def _key_words(arrival: Arrival) -> list[str]:
    if arrival.signed is Signed.FIRST:
        ask = f"Ask {arrival.person_name} whether their Send page shows the same six words"
        return [f"  A key seen for the first time: “{arrival.words}”. {ask}."]
    return [f"  {arrival.signed.value.capitalize()}."] if arrival.signed is Signed.NOBODY else []


def _piece(piece: ReturnedPiece) -> str:
    stage = f" {piece.stage.value}" if piece.stage else ""
    number = f" {numbered(piece.stage)} {piece.revision}" if piece.revision else ""
    return f"{piece.item_key}{stage}{number}: {piece.outcome.value}. {piece.words}".strip()


@dataclass
class Sorter:
    """Sorts one person's returned work; `touched` collects the stages of items with something new."""

    project: Project
    db: Connection
    person: Person
    touched: set[Taken] = field(default_factory=set)

    def take(self, records: Mapping[str, list[Any]]) -> list[ReturnedPiece]:
        """Take all of it in; raises Refusal, taking in nothing, if anything in it is inconsistent."""
        return [
            *(piece for artifact in records["artifacts.json"] for piece in self._artifact(artifact)),
            *map(self._dispute, records["disputes.json"]),
            *map(self._answer, records["answers.json"]),
            *map(self._adjudication, records[packages.ADJUDICATIONS]),
        ]

    def _returned(
        self, outcome: ParcelOutcome, item_id: str, stage: Stage | None, words: str, revision: int = 0,
        content: str = "",
    ) -> ReturnedPiece:  # fmt: skip
        """A piece of work; its content waits in the tray, once, if somebody has to decide about it."""
        if content and outcome in TRAYED:
            whose = self.person.id
            if not tray.put(
                self.db, outcome, whose, content, item_id=item_id, stage=stage, revision=revision
            ):
                outcome = ParcelOutcome.DUPLICATE
        key = self._items.get(item_id, "")
        return ReturnedPiece(outcome=outcome, item_key=key, stage=stage, revision=revision, words=words)

    def _adjudication(self, came: parcels.WorkAdjudication) -> ReturnedPiece:
        outcome, words = ParcelOutcome.FOREIGN, "The item is not one of this project."
        if came.item_id in self._items:
            outcome, words = adjudications.taken(self.project, self.db, self.person, came)
        content = canonical_json(came.model_dump(mode="json")).decode()
        return self._returned(outcome, came.item_id, Stage.ADJUDICATION, words, len(came.versions), content)

    def _answer(self, answer: parcels.WorkAnswer) -> ReturnedPiece:
        review = reviewing.of_artifact(self.project, answer.artifact_id)
        if review is None or review.author != self.person.id:
            return self._returned(
                ParcelOutcome.FOREIGN, "", None, "It answers no review of a draft of theirs."
            )
        at = _no_later_than_now(answer.at).isoformat(timespec="seconds")
        fresh = at > review.answered_at
        if fresh:
            reviewing.take_answer(self.project, review, answer.agreed, answer.text, at)
        outcome = ParcelOutcome.NEW if fresh else ParcelOutcome.DUPLICATE
        return self._returned(outcome, review.item_id, stage_of(review.kind), "The answer to a review.")

    @cached_property
    def _items(self) -> dict[str, str]:
        return {item_id: key for item_id, key in self.db.execute(select(ITEM.c.id, ITEM.c.key))}

    @cached_property
    def _again(self) -> dict[str, str]:
        return {
            known_keys.alias_of(self.project, self.person.id, f"again/{item_id}"): item_id
            for item_id in self._items
        }

    @cached_property
    def _reports(self) -> dict[tuple[str, str], str]:
        """(item, alias) → response, for the first serving and the repeat, each under the item it was served as."""
        result = self.db.execute(select(RESPONSE.c.id, RESPONSE.c.item_id)).all()
        served = {item_id: alias for alias, item_id in self._again.items()}
        return {
            (
                served[item_id] if again else item_id,
                tasking.report_alias(self.project, self.person.id, response_id, again),
            ): (response_id)
            for response_id, item_id in result
            for again in (False, True)
        }

    def _artifact(self, artifact: parcels.WorkArtifact) -> list[ReturnedPiece]:
        kind, item_id = artifact.kind, artifact.item_id
        stage = stage_of(kind)
        where = ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.author_id
        existing = self.db.execute(select(*where).where(ARTIFACT.c.id == artifact.id)).first()
        if existing is not None and tuple(existing) != (item_id, kind.value, self.person.id):
            raise Refusal(f"It contains a {kind.value} of another person or item.", packages.AGAIN)
        sealed = self._checked(artifact, kind)
        if again := self._again.get(item_id):
            return [self._repeat(again, sealed[-1])] if sealed else []
        if reason := self._foreign(item_id, stage) or self._outside(kind, sealed):
            return [
                self._returned(ParcelOutcome.FOREIGN, item_id, stage, reason, one.number, _text(one))
                for one in sealed
            ]
        pieces = self._revisions(artifact, sealed)
        if any(piece.outcome in (ParcelOutcome.NEW, ParcelOutcome.NEWER) for piece in pieces):
            self._settle(artifact, item_id, kind)
        self._spend(artifact)
        return pieces

    def _checked(self, artifact: parcels.WorkArtifact, kind: Kind) -> list[parcels.WorkRevision]:
        """The revisions with this project's ids, hashes and chain, after verifying those that came."""
        link = local = ""
        number, made = 0, []
        for came in artifact.revisions:
            between = [*came.skipped, came.sha256]
            number += len(between)
            link = reduce(chain, between, link)
            document = document_of(kind, came.content)
            if sha256(canonical_json(document.tree())) != came.sha256 or (number, link) != (
                came.number,
                came.chain,
            ):
                raise Refusal(
                    f"Revision {came.number} of a {kind.value} does not follow from what it says it was made from.",
                    packages.AGAIN,
                )
            tree = self._resolved(artifact.item_id, document).tree()
            digest = parcels.hash_of(tree)
            local = reduce(chain, [*came.skipped, digest], local)
            made.append(came.model_copy(update={"content": tree, "sha256": digest, "chain": local}))
        return made

    def _resolved(self, item_id: str, document: Document[Any]) -> Document[Any]:
        """Labels with their reports' own ids in place of aliases; any other document unchanged."""
        if not isinstance(document, Labels):
            return document
        units = []
        for label in document.units:
            response_id = self._report(item_id, label.response_id)
            protocol = TAXONOMIES.get(label.protocol) or (PROTOCOLS.get(label.protocol))
            if protocol is not None and label.value not in (*protocol.values, UNSURE):
                raise Refusal(f"“{label.value}” is not a value of {protocol.title}.", packages.AGAIN)
            unit_id = self._unit(item_id, label)
            about = {"response_id": response_id, "unit_id": unit_id}
            units.append(
                label.model_copy(update={**about, "id": label_id(label.protocol, response_id, unit_id)})
            )
        if len({unit.id for unit in units}) < len(units):
            raise Refusal("Two labels say something of the same unit.", packages.AGAIN)
        order = sorted(units, key=lambda unit: (unit.protocol, unit.response_id))
        return label_cases.in_order(document.model_copy(update={"units": tuple(order)}))

    def _unit(self, item_id: str, label: Label) -> str:
        """The unit of a label; for a pair, the other report, whose alias is resolved."""
        if label.protocol not in PROTOCOLS or not PROTOCOLS[label.protocol].paired:
            return label.unit_id
        return self._report(item_id, label.unit_id)

    def _report(self, item_id: str, alias: str) -> str:
        return required(
            self._reports.get((item_id, alias)),
            "A label speaks of a report that was not in the task.",
            packages.AGAIN,
        )

    def _foreign(self, item_id: str, stage: Stage) -> str:
        """Why this person's work on an item cannot be taken as it is; empty if it can."""
        if item_id not in self._items:
            return "The item is not one of this project."
        if assignments.adjudicator_of(self.db, item_id) == self.person.id:
            return "This person adjudicates the item and may not be its annotator."
        raters = assignments.raters_of(self.db, item_id, stage)
        if raters and self.person.id not in raters:
            return "This stage of the item was not assigned to this person."
        return ""

    def _outside(self, kind: Kind, sealed: Sequence[parcels.WorkRevision]) -> str:
        """A sentence naming a weight that this project does not allow; empty if there is none."""
        documents = (document_of(kind, revision.content) for revision in sealed)
        return next(filter(None, (settings.outside(self.project, document) for document in documents)), "")

    def _revisions(
        self, artifact: parcels.WorkArtifact, sealed: Sequence[parcels.WorkRevision]
    ) -> list[ReturnedPiece]:
        item_id, kind, stage = artifact.item_id, artifact.kind, stage_of(artifact.kind)
        existing = self._existing(item_id, kind)
        closed = self.db.execute(
            select(ADJUDICATION.c.id).where(
                ADJUDICATION.c.item_id == item_id,
                ADJUDICATION.c.stage == stage.value,
                ADJUDICATION.c.state == AdjudicationState.CLOSED.value,
            )
        ).first()
        pieces = []
        for revision in sealed:
            known = existing.get(revision.number)
            if known is not None and known.sha256 == revision.sha256:
                outcome, words = ParcelOutcome.DUPLICATE, "It is already here."
            elif known is not None or any(
                number > revision.number and not row.sealed for number, row in existing.items()
            ):
                outcome = ParcelOutcome.CONFLICT
                words = "A different text arrived for the same revision; both are kept."
            elif doubt := _doubt(artifact, revision):
                outcome, words = ParcelOutcome.DOUBTFUL, doubt
            elif closed:
                outcome, words = ParcelOutcome.LATE, "The consensus was closed before it arrived."
            else:
                outcome = ParcelOutcome.NEWER if existing else ParcelOutcome.NEW
                words = "It will be added."
                if existing:
                    words = "It will be added after the earlier revision, which stays."
                elif annotating.is_second(self.project, kind, item_id, self.person.id):
                    words = f"It will be added, and {annotating.TAKES_SCORES}."
                self._add(artifact.id, item_id, kind, revision, existing)
                existing = self._existing(item_id, kind)
            pieces.append(self._returned(outcome, item_id, stage, words, revision.number, _text(revision)))
        return pieces

    def _existing(self, item_id: str, kind: Kind) -> dict[int, Any]:
        question = (
            select(REVISION.c.number, REVISION.c.sha256, REVISION.c.sealed, REVISION.c.artifact_id)
            .join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id)
            .where(
                ARTIFACT.c.item_id == item_id,
                ARTIFACT.c.kind == kind.value,
                ARTIFACT.c.author_id == self.person.id,
            )
        )
        return {row.number: row for row in self.db.execute(question)}

    def _add(
        self,
        artifact_id: str,
        item_id: str,
        kind: Kind,
        revision: parcels.WorkRevision,
        existing: Mapping[int, Any],
    ) -> None:
        if not existing:
            annotating.keep_scoring(self.project, self.db, kind, item_id)
            row = {"id": artifact_id, "item_id": item_id, "kind": kind.value, "author_id": self.person.id}
            self.db.execute(
                insert(ARTIFACT).values(**row, state=State.SEALED.value, revision=revision.number)
            )
        else:
            artifact_id = next(iter(existing.values())).artifact_id
        self.db.execute(
            insert(REVISION),
            {
                "id": derived_id("revision", artifact_id, revision.number, revision.sha256),
                "artifact_id": artifact_id,
                "number": revision.number,
                "content": _text(revision),
                "sha256": revision.sha256,
                "chain": revision.chain,
                "sealed": True,
                "reason": revision.reason,
                "guideline": revision.guideline,
                "form": revision.form,
                "verb": "seal",
                "by": self.person.id,
                "at": revision.at,
                "skipped": " ".join(revision.skipped) or None,
            },
        )

    def _settle(self, artifact: parcels.WorkArtifact, item_id: str, kind: Kind) -> None:
        stage, newest = stage_of(kind), max(self._existing(item_id, kind).items())
        latest = now() + CLOCKS_DIFFER
        revisions = (came for came in artifact.revisions if came.number <= newest[0] and came.at <= latest)
        at = max(came.at for came in revisions)
        self.db.execute(
            update(ARTIFACT)
            .where(ARTIFACT.c.id == newest[1].artifact_id)
            .values(revision=newest[0], state=State.SEALED.value, sealed_at=at)
        )
        assignments.mark_submitted(self.db, item_id, self.person.id, stage, at)
        reviewing.take_form(self.project, self.db, newest[1].artifact_id, self.person.id, artifact.review)
        if kind is Kind.LABELS:
            tray.write(self.db, self.person.id, item_id, newest[1].artifact_id)
        drafted = {unit.unit_id: DraftSource(unit.draft, unit.judge, unit.model) for unit in artifact.drafted}
        remember(self.project, self.db, newest[1].artifact_id, drafted)
        self.touched.add((item_id, stage))

    def _spend(self, artifact: parcels.WorkArtifact) -> None:
        """Store the most seconds that any package reported; they only ever grow, and never beyond belief."""
        if artifact.seconds > MOST_SECONDS:
            return
        row_id = derived_id("time", self.person.id, artifact.id)
        known = self.db.execute(select(TIME.c.seconds).where(TIME.c.id == row_id)).scalar()
        if known is None and artifact.seconds:
            at = _no_later_than_now(max(came.at for came in artifact.revisions))
            row = {"id": row_id, "person_id": self.person.id, "subject": artifact.id, "at": at}
            self.db.execute(insert(TIME).values(**row, seconds=artifact.seconds))
        elif known is not None and artifact.seconds > known:
            self.db.execute(update(TIME).where(TIME.c.id == row_id).values(seconds=artifact.seconds))

    def _repeat(self, item_id: str, newest: parcels.WorkRevision) -> ReturnedPiece:
        at = _no_later_than_now(newest.at)
        fresh = tray.write_again(self.db, self.person.id, item_id, _text(newest), at)
        outcome = ParcelOutcome.NEW if fresh else ParcelOutcome.DUPLICATE
        if fresh:
            assignments.mark_submitted(self.db, item_id, self.person.id, Stage.LABELLING, at, trial=2)
        words = "A repeat: it shows how far this person agrees with themselves."
        return self._returned(outcome, item_id, Stage.LABELLING, words)

    def _dispute(self, dispute: parcels.WorkDispute) -> ReturnedPiece:
        item_id, stage, outcome = dispute.item_id, dispute.stage, ParcelOutcome.FOREIGN
        if item_id not in self._items:
            return self._returned(outcome, item_id, stage, "The item is not one of this project.")
        ruled = ruling_rows.of_stage(self.db, item_id, stage)
        if ruled is None or not ruled.version:
            words = "It objects to a consensus that there is not; it was not imported."
            return self._returned(outcome, item_id, stage, words)
        at = _no_later_than_now(dispute.at)
        fresh = feedback.receive(self.project, self.db, self.person.id, item_id, stage, dispute.text, at)
        outcome = ParcelOutcome.NEW if fresh else ParcelOutcome.DUPLICATE
        return self._returned(outcome, item_id, stage, "A dispute of the consensus.")


def _text(revision: parcels.WorkRevision) -> str:
    return canonical_json(revision.content).decode()


def _doubt(artifact: parcels.WorkArtifact, revision: parcels.WorkRevision) -> str:
    """Why the times that came with a revision cannot be right; empty if they can."""
    # A revision that follows one in the tray must not go in before it.
    latest = max(came.at for came in artifact.revisions if came.number <= revision.number)
    if latest > now() + CLOCKS_DIFFER:
        return f"It says that it was submitted on {latest:%Y-%m-%d}, which is still to come."
    if artifact.seconds > MOST_SECONDS:
        return f"It says that {artifact.seconds / 3600:,.0f} hours were spent on it, which is impossible."
    return ""


def _no_later_than_now(at: datetime) -> datetime:
    return min(at, now())
