"""Origin of an annotator's project: whose tasks it accepts, by which key, and the newest one."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError
from sqlalchemy import select

from annotator.actions.parcels.known_keys import Replacement
from annotator.actions.project.file import ORIGIN, Project, record, settings_of
from annotator.domain.texts.canonical import Text
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages, parcels
from annotator.exchange.parcels.package_manifest import AGAIN
from annotator.exchange.release.bundle import in_words
from annotator.storage.tables import PARCEL


@dataclass(frozen=True, slots=True)
class TaskOrigin:
    """The origin of a project made from a task: project, key, and the tasks opened.

    `key` is the coordinator's public key, empty while no task was signed by a person; `secret` is that of format 1.
    `number` and `at` are the highest that an opened task had, `newest` is the hash of the one opened last.
    """

    project_id: str
    person_id: str
    key: str = ""
    secret: str = ""
    number: int = 0
    at: str = ""
    newest: str = ""


def origin(project: Project) -> TaskOrigin | None:
    """Where this project's task came from; None when it is a project of its own."""
    kept = project.get(ORIGIN)
    if not kept:
        return None
    known = {field.name: kept[field.name] for field in fields(TaskOrigin) if field.name in kept}
    return TaskOrigin(project_id=kept["project"], person_id=kept["person"], **known)


def keep(project: Project, known: TaskOrigin) -> None:
    tree = asdict(known)
    project.set(ORIGIN, {"project": tree.pop("project_id"), "person": tree.pop("person_id"), **tree})


def sender_words(project: Project) -> str:
    """The six words of the key that this project's tasks are signed with; empty while no person signed one."""
    found = origin(project)
    return packages.fingerprint(found.key) if found and found.key else ""


def replacement(project: Project, path: Path, _person_id: str = "") -> Replacement:
    """The key that signed a task, in place of the one this project's tasks are signed with; made by `make`."""
    known, package = origin(project), packages.read_package(path, packages.TASK)
    facts = package.manifest
    if known is None or (facts.project_id, facts.person_id) != (known.project_id, known.person_id):
        raise Refusal(f"“{package.name}” does not belong to this project.", "Nothing was changed.")
    if not package.signer:
        raise Refusal(f"“{package.name}” is not signed by a person.", AGAIN)
    words, before, source = packages.fingerprint(package.signer), sender_words(project), known
    instead = f", instead of “{before}”" if before else ""
    return Replacement(words, before, (
        f"From now on only tasks signed with “{words}”{instead} are opened in this project. Your work stays "
        "unchanged. Anyone with that key counts as the coordinator, so ask for these six words, by "
        "telephone or in person, "
        "and not by answering the mail that brought the task."
    ), lambda project: _trust(project, source, package.signer))  # fmt: skip


def _trust(project: Project, known: TaskOrigin, key: str) -> Change:
    with project.store.write() as db:
        keep(project, replace(known, key=key))
        return record(
            project, db, Change("key", "sender", "replace", after={"key": key, "instead_of": known.key})
        )


class TaskFacts(BaseModel):
    """Facts in a task file beyond those of every package."""

    title: Text = ""
    number: int = Field(default=0, ge=0, le=10**9)
    at: parcels.Moment | None = None
    secret: str = Field(default="", pattern=r"^([0-9a-f]{2})*$")
    weights: Text = ""


def facts_of(package: packages.Package) -> TaskFacts:
    """The facts of a task; Refusal when they do not fit, or when a task of format 1 was changed."""
    try:
        facts = TaskFacts.model_validate(package.manifest.extra)
    except ValidationError as error:
        raise Refusal(f"“{package.name}”: {in_words(error)}.", AGAIN) from None
    if not package.signer:
        packages.refuse_forged(package, bytes.fromhex(facts.secret))
    elif facts.at is None:
        raise Refusal(f"“{package.name}” does not state when it was made.", AGAIN)
    return facts


def followed(project: Project, package: packages.Package, facts: TaskFacts) -> TaskOrigin:
    """The origin after this task; Refusal when someone else made it, or when a newer one was opened before."""
    known, at = origin(project), facts.at.isoformat() if facts.at else ""
    new = TaskOrigin(
        project_id=package.manifest.project_id, person_id=package.manifest.person_id, key=package.signer,
        secret=facts.secret, number=facts.number, at=at, newest=package.sha256,
    )  # fmt: skip
    if known is None:
        return new
    _refuse_other_sender(known, package, facts)
    # A clock that was set back, or a project taken from a backup, lowers one of the two; only age lowers both.
    same = (new.number, new.at) == (known.number, known.at)
    older = not same and new.number <= known.number and new.at <= known.at
    if package.sha256 != known.newest and (older or _opened_before(project, package, known)):
        raise Refusal(
            f"“{package.name}” is older than the newest task that was opened in this project.",
            "Nothing was changed. Open the project itself to go on; if this should be the newest task, ask for it "
            "again.",
        )
    return replace(
        new, secret=new.secret or known.secret, number=max(new.number, known.number), at=max(new.at, known.at)
    )


def _opened_before(project: Project, package: packages.Package, known: TaskOrigin) -> bool:
    """Whether a task was opened here and another after it; tasks of format 1 have no number."""
    opened = select(PARCEL.c.sha256).where(PARCEL.c.direction == "in").order_by(PARCEL.c.at.desc())
    with project.store.read() as db:
        hashes = list(db.execute(opened).scalars())
    return package.sha256 in hashes and package.sha256 != (known.newest or hashes[0])


def _refuse_other_sender(known: TaskOrigin, package: packages.Package, facts: TaskFacts) -> None:
    if known.key and not package.signer:
        raise Refusal(
            f"“{package.name}” has an older format without a personal signature, and the tasks of this "
            "project are signed.",
            "Nothing was changed. Ask the coordinator to write the task again with their present Goldsmith.",
        )
    if known.key and known.key != package.signer:
        raise Refusal(
            f"“{package.name}” is signed with a different key than earlier tasks: "
            f"“{packages.fingerprint(package.signer)}”, not “{packages.fingerprint(known.key)}”.",
            "Nothing was changed. Ask the coordinator, not by answering this mail, which six words their Exchange page "
            "shows.",
        )
    if not package.signer and known.secret and known.secret != facts.secret:
        raise Refusal(f"“{package.name}” was not made by the sender of the earlier tasks.", AGAIN)


@dataclass(frozen=True, slots=True)
class ParcelOwner:
    """The project that returned work belongs to (None if unknown), and whether it was sent by one."""

    name: str
    project: Path | None = None
    title: str = ""
    sent_from_here: bool = False


def project_of_task(among: Sequence[Path], project_id: str, person_id: str) -> Path | None:
    """The first of these projects that was made from a task of that project for that person."""
    for path in among:
        origin = settings_of(path).get(ORIGIN) or {}
        if (origin.get("project"), origin.get("person")) == (project_id, person_id):
            return path
    return None


def owner_of_work(path: Path, among: Sequence[Path]) -> ParcelOwner:
    """Which of these projects returned work goes to, or else which it was sent from; Refusal when it is damaged."""
    package = packages.read_package(path, packages.WORK)
    facts = package.manifest
    for known in among:
        settings = settings_of(known)
        if settings.get("id") == facts.project_id:
            return ParcelOwner(package.name, known, str(settings.get("title") or known.stem))
    home = project_of_task(among, facts.project_id, facts.person_id)
    return ParcelOwner(package.name, home, sent_from_here=home is not None)
