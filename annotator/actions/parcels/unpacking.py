"""Import of returned work: previewed first, all or nothing, in any order."""

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import insert, select
from sqlalchemy.engine import Connection

from annotator.actions.assignments import agreements
from annotator.actions.parcels import known_keys, origins, tray
from annotator.actions.parcels.arriving import Sorter, Taken
from annotator.actions.project import backups, people
from annotator.actions.project.bulk import Progress
from annotator.actions.project.file import PERSON, Project
from annotator.actions.project.recording import record
from annotator.domain.experts.parcel import Arrival, ParcelOutcome, ReturnedPiece, Signed
from annotator.domain.experts.person import Person
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.change import Change
from annotator.domain.texts.identity import now
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages, parcels
from annotator.storage.tables import ParcelRow, table

PARCEL = table(ParcelRow)
# The outcome that says most about a package of several pieces comes first.
TELLING = (
    ParcelOutcome.CONFLICT, ParcelOutcome.LATE, ParcelOutcome.FOREIGN,
    ParcelOutcome.DOUBTFUL, ParcelOutcome.NEW, ParcelOutcome.NEWER, ParcelOutcome.DUPLICATE,
)  # fmt: skip


class _OnlyLooking(Exception):
    """Rolls back a preview."""


def preview(project: Project, paths: Sequence[Path], *, progress: Progress | None = None) -> list[Arrival]:
    """What taking these packages in would do, package by package in the order given; nothing is changed."""
    _refuse_others(project)
    read = _read(paths, progress)
    arrivals: list[Arrival] = []
    try:
        with project.store.write() as db:
            arrivals, _ = _take_all(project, db, read)
            raise _OnlyLooking
    except _OnlyLooking:
        return arrivals


def take_in(project: Project, paths: Sequence[Path], *, progress: Progress | None = None) -> list[Arrival]:
    """Take returned packages in, after a backup and in one transaction; each arrival tells what happened to it.

    A package that is damaged, or signed with another key than its person's, is left out whole. What was imported
    before changes nothing, and the result does not depend on the order in which packages come.
    """
    _refuse_others(project)
    read = _read(paths, progress)
    if not any(isinstance(one, packages.Package) for one in read):
        return [one for one in read if isinstance(one, Arrival)]
    backups.make(project, "before importing work")
    with project.store.write() as db:
        arrivals, touched = _take_all(project, db, read)
        for item_id, stage in sorted(touched):
            agreements.freeze_when_ready(project, db, item_id, stage)
    return arrivals


def _refuse_others(project: Project) -> None:
    if origins.origin(project) is not None:
        raise Refusal("This project was made from a task.", "Send returned work to the sender of the task.")
    people.refuse_others(project, "can import work")


def _read(paths: Sequence[Path], progress: Progress | None) -> list[packages.Package | Arrival]:
    """Each file as a package, or as the arrival that says why it cannot be one."""
    read: list[packages.Package | Arrival] = []
    for place, path in enumerate(paths):
        if progress:
            progress("Reading the files", place, len(paths))
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
    person = _person(db, facts.person_id)
    if person is None:
        return _quarantine(project, db, package, arrival, "Nobody in this project has that id.")
    arrival = arrival.model_copy(update={"person_name": person.name, **_key(package)})
    try:
        with project.store.write() as inner:
            signed = known_keys.checked(project, inner, package, person)
            records = parcels.work(package)
            sorter = Sorter(project, inner, person)
            pieces = sorter.take(records["artifacts.json"], records["disputes.json"], records["answers.json"])
    except known_keys.OtherKey as refusal:
        told = {"outcome": ParcelOutcome.OTHER_KEY, "signed": Signed.OTHER, "reason": str(refusal)}
        return arrival.model_copy(update=told)
    except Refusal as refusal:
        return arrival.model_copy(update={"outcome": ParcelOutcome.DAMAGED, "reason": str(refusal)})
    touched |= sorter.touched
    return _remember(
        project, db, package, arrival.model_copy(update={"pieces": tuple(pieces), "signed": signed})
    )


def _key(package: packages.Package) -> dict[str, str]:
    words = packages.fingerprint(package.signer) if package.signer else ""
    return {"key": package.signer, "words": words}


def _person(db: Connection, person_id: str) -> Person | None:
    row = db.execute(select(PERSON).where(PERSON.c.id == person_id)).mappings().first()
    return Person(**row) if row else None


def _quarantine(
    project: Project, db: Connection, package: packages.Package, arrival: Arrival, reason: str
) -> Arrival:
    """A package that cannot be this project's: what it says of itself is kept, its content stays in its file."""
    facts = package.manifest.model_dump(mode="json", include={"package_id", "project_id", "person_id"})
    content = canonical_json({"package": package.sha256, "file": package.name, **facts}).decode()
    fresh = tray.put(db, ParcelOutcome.FOREIGN, arrival.person_id, content)
    words = reason if fresh else f"{reason} It arrived before."
    piece = ReturnedPiece(outcome=ParcelOutcome.FOREIGN if fresh else ParcelOutcome.DUPLICATE, words=words)
    return _remember(project, db, package, arrival.model_copy(update={"pieces": (piece,), "reason": reason}))


def _remember(project: Project, db: Connection, package: packages.Package, arrival: Arrival) -> Arrival:
    found = {piece.outcome for piece in arrival.pieces}
    outcome = next((one for one in TELLING if one in found), ParcelOutcome.DUPLICATE)
    arrival = arrival.model_copy(update={"outcome": outcome})
    known = db.execute(select(PARCEL.c.sha256).where(PARCEL.c.sha256 == package.sha256)).first()
    if known:
        return arrival
    db.execute(
        insert(PARCEL),
        {
            "sha256": package.sha256,
            "direction": "in",
            "person_id": arrival.person_id,
            "receipt": arrival.receipt,
            "package_id": package.manifest.package_id,
            "content": arrival.model_dump_json(),
            "at": now(),
        },
    )
    record(project, db, Change("parcel", package.sha256, "take in", after={"outcome": outcome.value}))
    return arrival


def received(project: Project) -> list[Arrival]:
    """Every package that was imported so far, with the moment of it, by person and file."""
    question = select(PARCEL.c.content, PARCEL.c.at).where(PARCEL.c.direction == "in")
    with project.store.read() as db:
        rows = db.execute(question).all()
    arrivals = [Arrival.model_validate_json(row.content).model_copy(update={"at": row.at}) for row in rows]
    return sorted(arrivals, key=lambda one: (one.person_name, one.file, one.receipt))


def words(arrival: Arrival) -> list[str]:
    """An arrival in lines: what the package is, and each of its pieces."""
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
    number = f" revision {piece.revision}" if piece.revision else ""
    return f"{piece.item_key}{stage}{number}: {piece.outcome.value}. {piece.words}".strip()
