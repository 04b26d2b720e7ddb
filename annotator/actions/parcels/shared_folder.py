"""The shared folder: tasks go out through it and work comes back, sealed, each file taken once and complete."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from sqlalchemy import select

from annotator import files
from annotator.actions.parcels import known_keys, packing, tasking, tray, unpacking
from annotator.actions.project import people, shared
from annotator.actions.project.file import SUFFIX, Progress, Project
from annotator.domain.common import Change, Refusal, counted, required, sha256
from annotator.domain.experts.assignment import REFUSED, Arrival, Person, Role
from annotator.exchange.folders import RESERVED
from annotator.exchange.parcels import packages
from annotator.exchange.parcels.packages import Package
from annotator.storage.tables import PARCEL

# By person: the file of their newest task in the folder, and the key it is sealed for; empty if it lies open.
SENT = "shared out"
MOST_FILES = 20_000
# Opening a live project as a file would drop its locks.
_NEVER_READ = (SUFFIX, f"{SUFFIX}-journal")
# A package begins with its manifest, whose name is at this position.
_ZIP, NAMED_AT, NAMED_TO, START = b"PK\x03\x04", 30, 43, 64
_NO_NAME = re.compile(r'[\x00-\x1f<>:"/\\|?*]')
NOT_JOINED = (
    "Not joined yet: {}. Their first tasks lie open there, with nothing but what every annotator may see."
)
# The packages that complete files hold for a key, without their entries; None if none. A changed file is read again.
_glimpses: dict[tuple[str, ...], Package | None] = {}
# Why a package was refused, by its hash; it is tried again when the program is next started.
_refused: dict[str, str] = {}


class _Unfinished(Refusal):
    """A file that does not seem to have arrived completely."""


@dataclass(frozen=True, slots=True)
class WaitingKey:
    """A key that nobody has verified yet, perhaps in place of another; what it signed waits until someone has."""

    person_id: str
    alias: str
    key: str
    words: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class FolderNews:
    """The state of the shared folder: what there is to take, whose task goes out, and what is wrong."""

    folder: Path | None = None
    came: int = 0
    goes_out: tuple[str, ...] = ()
    keys: tuple[WaitingKey, ...] = ()
    unfinished: int = 0
    problems: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    """The aliases of people whose task lies open, as their key is not known."""

    @property
    def due(self) -> bool:
        return bool(self.came or self.goes_out)


@dataclass(frozen=True, slots=True)
class Synced:
    """The result of a sync, and the folder's state afterwards; `new_items` is None if no task came."""

    left: FolderNews
    arrivals: tuple[Arrival, ...] = ()
    sent: tuple[packing.HandOutResult, ...] = ()
    new_items: int | None = None
    receipt: str = ""


@dataclass
class _Contents:
    """The files in the folder for this project."""

    due: list[tuple[Path, Package]] = field(default_factory=list)
    keys: dict[str, WaitingKey] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unfinished: int = 0


def choose(project: Project, folder: Path | None) -> Change:
    """Exchange tasks and work through this folder from now on; None for no folder."""
    if not project.from_task:
        people.refuse_others(project, "chooses the shared folder")
    if folder is not None:
        shared.refuse_inside(project.path, folder)
        if not folder.is_dir():
            raise Refusal(f"There is no folder “{folder}”.", "Make it first, or choose another.")
        known_keys.signing_key(project)
        try:
            shared.mark(folder)
        except OSError as error:
            raise _unreachable(folder, error) from None
    shared.keep(project, folder and files.real(folder))
    return Change("folder", "", "choose")


def look(project: Project) -> FolderNews:
    """The state of the shared folder; nothing is changed."""
    folder = shared.folder_of(project)
    may = project.from_task or project.person is None or project.person.has(Role.COORDINATOR)
    if folder is None or not may:
        return FolderNews(folder)
    try:
        shared.refuse_inside(project.path, folder)
        contents = _contents(project, folder)
        sent = {} if project.from_task else project.get(SENT, {})
        waiting = {key.person_id for key in contents.keys.values()}
        apart = {one for one, known in sent.items() if not known["key"] and one not in waiting}
        return FolderNews(
            folder, len(contents.due), _going(project, folder), tuple(contents.keys.values()), contents.unfinished,
            tuple(contents.problems),
            tuple(person.alias for person in people.people(project) if person.id in apart),
        )  # fmt: skip
    except OSError as error:
        return FolderNews(folder, problems=(str(_unreachable(folder, error)),))
    except Refusal as refusal:
        return FolderNews(folder, problems=(str(refusal),))


def sync(project: Project, *, progress: Progress | None = None) -> Synced:
    """Take what has arrived, each package once, and put out what is due; an incomplete file waits."""
    news = look(project)
    if news.folder is None:
        raise Refusal("No shared folder is chosen.", "Choose one first.")
    if project.readonly or not news.due:
        return Synced(news)
    came = []
    for path, _ in _contents(project, news.folder).due:
        # A file that is gone or rewritten by now is read next time.
        with suppress(OSError, Refusal):
            if (package := _read(path, known_keys.signing_key(project))) is not None:
                came.append(package)
    if project.from_task:
        new_items = _take_task(project, came, progress)
        receipt = _return(project, news.folder) if news.goes_out else ""
        return Synced(look(project), new_items=new_items, receipt=receipt)
    arrivals = _take_in(project, came, progress)
    sent = send(project, look(project).goes_out, progress=progress)
    return Synced(look(project), tuple(arrivals), tuple(sent))


@people.for_coordinators("can hand out tasks")
def send(
    project: Project, person_ids: Sequence[str] | None = None, *, progress: Progress | None = None
) -> list[packing.HandOutResult]:
    """Put the tasks of these people into the folder, by default of everybody who has one.

    Before a person's key is known, they get only what is open to every annotator.
    """
    folder = required(shared.folder_of(project), "No shared folder is chosen.", "Choose one first.")
    shared.refuse_inside(project.path, folder)
    if person_ids is None:
        person_ids = packing.recipients(project)
    done = packing.write_tasks(project, person_ids, folder, write=_send, progress=progress)
    for result in done:
        if result.problem is not None and (known := project.get(SENT, {}).get(result.person.id)):
            # Tried automatically only once; tried again when someone sends it.
            _note(
                project, result.person.id, known["file"], known_keys.pinned(project).get(result.person.id, "")
            )
    return done


@people.for_coordinators("can trust keys")
def trust(project: Project, words: str) -> Change:
    """Trust the waiting key with these six words; raises Refusal if no key has them."""
    phrase = " ".join(words.split()).casefold()
    key = required(
        next((one for one in look(project).keys if one.words == phrase), None),
        f"No key that waits has the words “{words}”.",
        "Ask for them again; nothing was changed.",
    )
    return known_keys.replace(project, key.person_id, key.key)


def words(news: FolderNews) -> list[str]:
    """The state of the folder in sentences: who has not joined, what is wrong, and what is incomplete."""
    unfinished = counted(news.unfinished, "file")
    return [
        *([NOT_JOINED.format(", ".join(news.open))] if news.open else []),
        *news.problems,
        *([f"{unfinished} not whole yet; looked at again by itself."] if news.unfinished else []),
    ]


def key_words(key: WaitingKey) -> tuple[str, str]:
    """Whose key is not verified yet, and what to ask them, as two sentences."""
    happened = f"{key.alias} joined with the key “{key.words}”"
    return f"{happened}{f', instead of “{key.before}”' if key.before else ''}.", (
        f"Ask {key.alias}, by telephone or in person, whether their Send page shows the same six words. Until then "
        "their work waits, and so does all that others must not read."
    )


def _unreachable(folder: Path, error: OSError) -> Refusal:
    return Refusal(
        f"The shared folder “{folder}” cannot be reached: {error.strerror or error}.",
        "Nothing was lost; connect it, or choose another folder.",
    )


def _own(folder: Path, alias: str) -> Path:
    """The subfolder of a person; the folder itself if it is that subfolder, shared with them alone."""
    name = _NO_NAME.sub("-", alias).strip(" .") or "-"
    name = f"{name}-" if name.split(".")[0].casefold() in RESERVED else name
    return folder if folder.name == name else folder / name


def _files(folder: Path) -> Iterator[Path]:
    """The files that may be packages, with any name, in the folder and its subfolders."""
    inside = sorted(folder.iterdir())
    yield from inside
    for each in inside:
        # A folder for another person alone need not be readable.
        with suppress(OSError):
            if each.is_dir() and not each.is_symlink():
                yield from sorted(each.iterdir())


def _is_readable(path: Path) -> bool:
    """Whether a file may be opened: no link, which may lead to a live project, and no live project."""
    return path.suffix not in _NEVER_READ and not path.is_symlink() and path.is_file()


def _glimpse(path: Path, private: bytes) -> Package | None:
    """The package a file holds for a key, without its entries; raises Refusal while it is incomplete."""
    stat = path.stat()
    known = (packages.public_key(private), str(path), f"{stat.st_ino} {stat.st_size} {stat.st_mtime_ns}")
    if known in _glimpses:
        return _glimpses[known]
    result = _read(path, private)
    if len(_glimpses) > MOST_FILES:
        _glimpses.clear()
    _glimpses[known] = glimpse = result and replace(result, entries={}, signed=b"")
    return glimpse


def _read(path: Path, private: bytes) -> Package | None:
    """The package in a file, sealed for this key or open; None for any other file; raises Refusal while incomplete."""
    with path.open("rb") as file:
        start = file.read(START)
        if path.stat().st_size > known_keys.LARGEST_SEALED or not _may_be_ours(start):
            return None
        content = start + file.read()
    if content.startswith(_ZIP):
        try:
            return packages.read_content(content, path.name)
        except Refusal as refusal:
            raise _Unfinished(refusal.happened, refusal.todo) from None
    if not known_keys.is_whole(content):
        raise _Unfinished(f"“{path.name}” is not whole yet.", "It is looked at again.")
    opened = known_keys.unsealed(content, private)
    return packages.read_content(opened, path.name) if opened is not None else None


def _may_be_ours(start: bytes) -> bool:
    """Whether a file begins like a package, open or sealed, or is still empty, as some programs first create it."""
    opened = start.startswith(_ZIP) and packages.MANIFEST.encode().startswith(start[NAMED_AT:NAMED_TO])
    return opened or start.startswith(known_keys.SEALED_MAGIC) or not start.strip(b"\0")


def _contents(project: Project, folder: Path) -> _Contents:
    result, private, seen = _Contents(), known_keys.signing_key(project), set[str]()
    taken = set(project.query(select(PARCEL.c.sha256).where(PARCEL.c.direction == "in")).scalars())
    if project.from_task:
        sort = partial(_sort_task, project)
    else:
        everybody = {person.id: person for person in people.people(project)}
        sort = partial(_sort_work, str(project.get("id")), everybody, known_keys.pinned(project))
    for path in _files(folder):
        try:
            package = _glimpse(path, private) if _is_readable(path) else None
        except (OSError, _Unfinished):
            result.unfinished += 1
            continue
        except Refusal as refusal:
            result.problems.append(str(refusal))
            continue
        if package is None or package.sha256 in seen | taken:
            continue
        seen.add(package.sha256)
        if reason := _refused.get(package.sha256, ""):
            result.problems.append(reason)
            continue
        sort(result, path, package)
    if project.from_task:
        # A task contains everything that earlier ones contained.
        result.due = sorted(result.due, key=lambda one: tasking.facts_of(one[1]).number)[-1:]
    return result


def _sort_task(project: Project, result: _Contents, path: Path, package: Package) -> None:
    known, manifest = tasking.origin(project), package.manifest
    assert known is not None
    if (manifest.format, manifest.project_id, manifest.person_id) != (
        packages.TASK,
        known.project_id,
        known.person_id,
    ):
        return
    try:
        facts = tasking.facts_of(package)
        if facts.number > known.number:
            tasking.followed(project, package, facts)
            result.due.append((path, package))
    except Refusal as refusal:
        result.problems.append(str(refusal))


def _sort_work(
    project_id: str, everybody: Mapping[str, Person], pinned: Mapping[str, str], result: _Contents, path: Path,
    package: Package,
) -> None:  # fmt: skip
    manifest, signer = package.manifest, package.signer
    person = everybody.get(manifest.person_id)
    if (manifest.format, manifest.project_id) != (packages.WORK, project_id) or person is None or not signer:
        return
    own = pinned.get(person.id, "")
    if own != signer and signer not in pinned.values():
        before = packages.fingerprint(own) if own else ""
        words = packages.fingerprint(signer)
        result.keys[f"{person.id} {signer}"] = WaitingKey(person.id, person.alias, signer, words, before)
    elif not manifest.extra.get(tray.JOINS):
        result.due.append((path, package))


def _going(project: Project, folder: Path) -> tuple[str, ...]:
    """Whose files go out automatically: people whose key came after their task, and submitted work that goes back."""
    if not project.from_task:
        pinned = known_keys.pinned(project)
        sent = project.get(SENT, {})
        return tuple(one for one, known in sent.items() if pinned.get(one, "") != known["key"])
    overview = tray.outlook(project)
    own_folder = _own(folder, people.someone(project).alias)
    receipt = (
        overview.sent[0].receipt if overview.sent else packages.receipt_code(sha256(tray.joining(project)))
    )
    with suppress(OSError, Refusal):
        _glimpse(own_folder / f"{receipt}{known_keys.SEALED_SUFFIX}", known_keys.signing_key(project))
        return (project.by,) if overview.news else ()
    return (project.by,)


def _take_task(project: Project, came: Sequence[Package], progress: Progress | None) -> int | None:
    new_items = None
    for package in came:
        try:
            new_items = tasking.update_by(project, package, progress=progress)
        except Refusal as refusal:
            _refused[package.sha256] = str(refusal)
    return new_items


def _take_in(project: Project, came: Sequence[Package], progress: Progress | None) -> list[Arrival]:
    """Preview first, as in the window, then a backup and one transaction for all that can be taken."""
    looked = unpacking.preview(project, came, progress=progress) if came else []
    good = []
    for package, arrival in zip(came, looked, strict=True):
        if arrival.outcome in REFUSED:
            _refused[package.sha256] = f"{package.name}: {arrival.reason}"
        else:
            good.append(package)
    return unpacking.take_in(project, good, progress=progress) if good else []


def _put(folder: Path, public: str, content: bytes, _facts: packages.PackageFacts | None = None) -> Path:
    place = folder / f"{packages.receipt_code(sha256(content))}{known_keys.SEALED_SUFFIX}"
    return files.save(place, known_keys.sealed(content, public))


def _send(project: Project, person_id: str, folder: Path) -> packing.PackedTask:
    person, public = people.known(project, person_id), known_keys.pinned(project).get(person_id, "")
    here = _own(folder, person.alias)
    try:
        shared.mark(here)
    except OSError as error:
        raise _unreachable(folder, error) from None
    if public:
        packed = packing.task(project, person.id, put=partial(_put, here, public))
    else:
        packed = packing.task(project, person.id, here, openly=True)
    before = project.get(SENT, {}).get(person.id)
    name = packed.path.relative_to(folder).as_posix()
    _note(project, person.id, name, public)
    if before is not None and before["file"] != name:
        with suppress(OSError):
            (folder / before["file"]).unlink(missing_ok=True)
    return packed


def _note(project: Project, person_id: str, file: str, key: str) -> None:
    project.set(SENT, {**project.get(SENT, {}), person_id: {"file": file, "key": key}})


def _return(project: Project, folder: Path) -> str:
    """Put submitted work into the folder, in place of earlier files; before there is any, this person's key."""
    known, here = tasking.origin(project), _own(folder, people.someone(project).alias)
    if known is None or not known.key:
        raise Refusal("The task is not signed by a person.", "Ask the coordinator to write it again.")
    try:
        shared.mark(here)
        overview = tray.outlook(project)
        if not (overview.sent or overview.news):
            _put(here, known.key, tray.joining(project))
            return ""
        packed = tray.work(project, put=partial(_put, here, known.key))
    except OSError as error:
        raise _unreachable(folder, error) from None
    earlier = [sent.receipt for sent in overview.sent]
    earlier.append(packages.receipt_code(sha256(tray.joining(project))))
    for receipt in {*earlier} - {packed.receipt}:
        with suppress(OSError):
            (here / f"{receipt}{known_keys.SEALED_SUFFIX}").unlink(missing_ok=True)
    return packed.receipt
