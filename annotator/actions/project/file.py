"""The open project: its file, the person working in it, and the record of every change to it."""

import asyncio
import json
import os
import signal
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Concatenate, ParamSpec, TextIO, TypeVar, TypeVarTuple

from sqlalchemy import Executable, Result, Table, delete, insert, select
from sqlalchemy.engine import Connection
from sqlalchemy.sql.selectable import TypedReturnsRows
from sqlmodel import SQLModel

from annotator import __version__, files
from annotator.domain.common import Change, Refusal, canonical_json, new_id, now, sha256
from annotator.domain.experts.assignment import Person
from annotator.domain.stored import JudgementFields, traits_read
from annotator.protocols.profiles import ALL
from annotator.storage.connection import ChangeWatch, PreparedStatement, Values
from annotator.storage.opening import (
    RESTORE,
    SCHEMA,
    UNHARMED,
    Damaged,
    UnreadableProject,
    Unwritable,
    file_at,
    glance,
    is_known,
    recognise,
    remember,
    warning_about,
)
from annotator.storage.store import ProjectHold, Store
from annotator.storage.tables import AUDIT, JUDGEMENT, META, PERSON, add_missing

__all__ = ["Project", "Unwritable", "record", "row_hash"]
_ADD = PreparedStatement(insert(AUDIT))
Columns = TypeVarTuple("Columns")
# The setting that a complete sample has.
SAMPLE = "sample"
TITLE = "Sample: three questions, three systems"
# The last verb recorded in the creation of a sample before that setting existed.
LAST_VERB = "remark"
# Prefix of the settings, in an annotator's project, that name each version of the program that changed it.
CHANGED_WITH = "changed with "
SUFFIX = ".goldsmith"
# The setting that says what a project uses (see `protocols.profiles`).
USES = "uses"
# The setting that only a project made from a task has.
ORIGIN = "task"
# The files whose contents this process has checked or made: one entry for each time a file is open.
_checked: list[Path] = []


class Project:
    def __init__(self, store: Store, copied: TemporaryDirectory[str] | None = None) -> None:
        self.store = store
        self._copied = copied
        self._hold: ProjectHold | None = None
        self._settings: dict[str, Any] = {}
        self.reread()
        store.taken_back = self.reread
        self.person: Person | None = self._last_person()
        self._file = file_at(self.path)
        _checked.append(self.path)

    @classmethod
    def create(
        cls,
        path: Path,
        title: str = "",
        *,
        uses: str = ALL,
        fill: Callable[["Project"], object] | None = None,
    ) -> "Project":
        """A new project with what `fill` puts into it; without `fill`, an empty one with no person yet.

        `uses` is the profile (see `protocols.profiles`). The file gets its name only once it is complete. Raises
        Refusal if it cannot be created or if `path` is taken.
        """
        from annotator.storage import backup

        path = path if path.suffix in (SUFFIX, files.UNFINISHED) else path.with_name(path.name + SUFFIX)
        path = files.real(path)
        with backup.created(path) as unfinished, closing(cls(Store(unfinished))) as project:
            with project.store.write():
                settings = {"id": new_id(), "title": title or path.stem, "made_with": __version__, USES: uses}
                for name, value in settings.items():
                    project.set(name, value)
            if fill is not None:
                fill(project)
        return cls(Store(path))

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        readonly: bool | Refusal = False,
        busy_seconds: float = 30.0,
        unchecked: bool = False,
    ) -> "Project":
        """Open an existing project, migrating an older one first; raises Refusal if that fails.

        A file that cannot be written is opened read-only, an older one as a migrated copy. `readonly` may be the reason
        for opening it read-only. A file that has changed since this machine's program left it is checked first: Damaged
        names the row and field that cannot be read. `unchecked` skips the check, so that all damage can be listed.
        """
        path, copied = files.real(path), None
        # A file that this process already has open had its pages checked when it was opened.
        if recognise(path, thorough=path not in _checked) < SCHEMA:
            path, copied, readonly = _brought_up_to_date(path, readonly)
        if not unchecked and path not in _checked and not is_known(path):
            # Most projects are known, and the modules that read every kind of document take a while to load.
            from annotator.actions.project.document_checks import check_contents

            check_contents(path)
        store = Store(path, readonly=readonly, busy_seconds=busy_seconds)
        try:
            project = cls(store, copied)
            if unchecked:
                _checked.remove(path)
            return project
        except ValueError as error:
            store.close()
            raise Damaged(f"“{path.name}” is damaged ({error}). {UNHARMED}", RESTORE) from error
        except Refusal:
            store.close()
            raise

    @staticmethod
    def warning_about(path: Path) -> str:
        """Why a project should not lie at `path` (a network disk, a folder that syncs itself); empty if it may."""
        return warning_about(path)

    def hold(self) -> None:
        """Keep other windows from working in this file until it is closed; raises Busy, naming the holder."""
        if self._hold is None and not self.readonly:
            self._hold = ProjectHold.take(self.path)

    @property
    def path(self) -> Path:
        return self.store.path

    @property
    def readonly(self) -> bool:
        return self.store.readonly

    @property
    def why_readonly(self) -> Refusal | None:
        """The reason nothing may be changed; None if the project is writable."""
        return self.store.why_readonly

    @property
    def title(self) -> str:
        return str(self.get("title", self.path.stem))

    @property
    def from_task(self) -> bool:
        """Whether this is an annotator's project, made from a task that came by file."""
        return bool(self.get(ORIGIN))

    @property
    def is_sample(self) -> bool:
        return is_sample(self._settings)

    @property
    def by(self) -> str:
        """The id of the person working; an empty string for the program itself."""
        return self.person.id if self.person else ""

    def get(self, key: str, default: Any = None) -> Any:
        return self._settings.get(key, default)

    def query(
        self, question: TypedReturnsRows[*Columns], values: Mapping[str, Any] | None = None
    ) -> Result[*Columns]:
        """All rows of a query, in a transaction of its own unless one is open.

        Read whole tables of judgements in `store.read` instead: it makes each row once, this twice.
        """
        with self.store.read() as db:
            return db.execute(question, values).freeze()()

    def reread(self) -> None:
        """Reload the settings from the file, where another connection may have written them."""
        rows = self.query(select(META.c.key, META.c.value))
        self._settings = {key: json.loads(value) for key, value in rows}

    def set(self, key: str, value: Any) -> None:
        with self.store.write() as db:
            db.execute(delete(META).where(META.c.key == key))
            db.execute(insert(META), {"key": key, "value": json.dumps(value, ensure_ascii=False)})
        self._settings[key] = value

    def work_as(self, person: Person) -> None:
        """Make changes as this person from now on; remembered for the next start unless the file is read-only."""
        self.person = person
        if not self.readonly and self.get("person") != person.id:
            self.set("person", person.id)

    def _last_person(self) -> Person | None:
        person_id = self.get("person")
        if not person_id:
            return None
        row = self.query(select(PERSON).where(PERSON.c.id == person_id)).mappings().first()
        return Person(**row) if row else None

    def remember(self) -> None:
        """Record that this program left the file as it is now, so that a child process need not check it again."""
        if self._copied is None and self.path.suffix == SUFFIX:
            remember(self.path, self._file)

    def close(self) -> None:
        if not self.store.closed:
            self.store.close()
            if self.path in _checked:
                _checked.remove(self.path)
                if self.path not in _checked:
                    self.remember()
        if self._hold is not None:
            self._hold.release()
        if self._copied is not None:
            self._copied.cleanup()


def settings_of(path: Path) -> dict[str, Any]:
    """The settings of a project, read without opening it; empty if the file cannot be read."""
    try:
        recognise(path, thorough=False)
        with glance(path) as db:
            return {key: json.loads(value) for key, value in db.execute(select(META.c.key, META.c.value))}
    except (Refusal, UnreadableProject, ValueError):
        return {}


def _brought_up_to_date(
    path: Path, readonly: bool | Refusal
) -> tuple[Path, "TemporaryDirectory[str] | None", bool | Refusal]:
    from annotator.storage import backup

    if not readonly:
        try:
            backup.bring_up_to_date(path)
        except Unwritable as refusal:
            readonly = refusal
        else:
            return path, None, False
    folder = TemporaryDirectory(prefix="goldsmith-", ignore_cleanup_errors=True)
    copy = Path(folder.name) / path.name
    backup.copy_up_to_date(path, copy)
    why = f"{readonly.happened} " if isinstance(readonly, Refusal) else ""
    older = f"“{path.name}” has an older format: you see a read-only copy in the current format."
    where = "where it may be written" if why else "in the window, or change it by any command,"
    return copy, folder, Refusal(why + older, f"Open it {where} to bring it up to date.")


def restore(project: Project, _db: Connection, name: str, present: Any, goal: Any) -> None:
    if project.get(name, present) != present:
        raise Refusal("That setting was changed since.", "Set it again if needed.")
    project.set(name, goal)


def record(project: Project, db: Connection, change: Change, *, undoes: int | None = None) -> Change:
    """Write the change to the audit; return it with its number, author and time."""
    at = now()
    row = {
        "kind": change.kind,
        "subject": change.subject,
        "verb": change.verb,
        "before": _packed(change.before),
        "after": _packed(change.after),
        "by": project.by,
        "at": at,
        "undoes": undoes,
        "undone": False,
    }
    row["sha256"] = row_hash(row)
    if project.from_task:
        add_missing(db, META, {"key": f"{CHANGED_WITH}{__version__}", "value": "true"})
    return replace(change, by=project.by, at=at, seq=_ADD.execute(db, row).lastrowid or 0)


def commit(project: Project, change: Change, *statements: Executable) -> Change:
    """Execute statements and record the change that they make."""
    with project.store.write() as db:
        for statement in statements:
            db.execute(statement)
        return record(project, db, change)


def change_setting(project: Project, name: str, verb: str, before: Any, after: Any) -> Change:
    with project.store.write() as db:
        project.set(name, after)
        return record(project, db, Change("setting", name, verb, before, after))


def row_hash(row: dict[str, Any]) -> str:
    """The hash of an audit row: all its values except its number, its time, and whether it is undone now.

    Works on a row about to be written and on a stored one alike.
    """
    left_out = ("sha256", "at", "undone", "seq")
    return sha256(canonical_json({key: value for key, value in row.items() if key not in left_out}))


def _packed(image: Any) -> str | None:
    return None if image is None else canonical_json(image).decode()


@contextmanager
def stoppable(
    cancel: asyncio.Event, listen: TextIO | None = None, going: asyncio.Event | None = None
) -> Iterator[None]:
    """Set `cancel` on SIGINT, SIGTERM or SIGHUP, or on the line “cancel”; restore the signal handlers afterwards.

    The lines “pause” and “resume” clear and set `going`, for work that can be paused.
    """
    loop = asyncio.get_running_loop()
    in_main_thread = threading.current_thread() is threading.main_thread()
    signals = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] if os.name == "posix" and in_main_thread else []
    before = {number: signal.getsignal(number) for number in signals}
    for number in signals:
        loop.add_signal_handler(number, cancel.set)
    if listen is not None:
        commands = {"cancel": cancel.set}
        if going is not None:
            commands |= {"pause": going.clear, "resume": going.set}
        threading.Thread(target=_read_commands, args=(listen, loop, commands), daemon=True).start()
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])


def _read_commands(
    listen: TextIO, loop: asyncio.AbstractEventLoop, commands: Mapping[str, Callable[[], None]]
) -> None:
    for line in listen:
        command = line.strip()
        if command in commands and not loop.is_closed():
            loop.call_soon_threadsafe(commands[command])
        if command == "cancel":
            return


Fields = SQLModel | Mapping[str, Any]
# The hashed fields of an item. Its position and whether it is retired may change without changing its hash.
ITEM_WORDS = ("dataset", "key", "question", "question_type", "subject", "language")
# Fields added later are hashed only if set: the hash of an item without them has never changed.
LATER_ITEM_WORDS = ("working_title", "origin", "contributor", "collected", "traits", "made_from")
JUDGEMENT_VALUES = tuple(JudgementFields.model_fields)


def item_hash(fields: Fields) -> str:
    """The hash of an item's words, from the item itself or a row of its table."""
    values = dict(_values(fields))
    values["traits"] = traits_read(values.get("traits"))
    later = {name: values[name] for name in LATER_ITEM_WORDS if values.get(name)}
    return sha256(canonical_json({name: values[name] for name in ITEM_WORDS} | later))


def wording_hash(question: str) -> str:
    """The hash of a question's wording, which a response to it carries."""
    return sha256(question.strip())


def source_hash(text: str) -> str:
    """The hash of a source's text, carried by anchors into it."""
    return sha256(text)


def response_hash(text: str) -> str:
    """The hash of a report's text, carried by its rendering and by anchors into it."""
    return sha256(text)


def page_hash(text: str) -> str:
    return sha256(text)


def judgement_hash(fields: Fields) -> str:
    """The hash of all values of a judgement except its row id, its time as ISO 8601 in UTC."""
    values = _values(fields)
    tree = {name: values[name] for name in JUDGEMENT_VALUES}
    tree["at"] = tree["at"].astimezone(UTC).isoformat(timespec="microseconds")
    # A whole number of seconds comes back from the database as a float.
    tree["seconds"] = None if tree["seconds"] is None else float(tree["seconds"])
    return sha256(canonical_json(tree))


def _values(fields: Fields) -> Mapping[str, Any]:
    return fields.model_dump() if isinstance(fields, SQLModel) else fields


P = ParamSpec("P")
T = TypeVar("T")
# At most this many answers are cached, fewer of large projects: an answer takes some hundred bytes per judgement of the
# project, less than a gigabyte in total. The least recently used is evicted first.
MOST, ROOM = 32, 3_000_000

_answers: OrderedDict[Any, tuple[Any, Any]] = OrderedDict()
_watches: dict[Path, ChangeWatch] = {}
_lock = threading.RLock()


def cached(question: Callable[Concatenate[Project, P], T]) -> Callable[Concatenate[Project, P], T]:
    """Cache a query: its answer is reused until something is written; callers must not change an answer.

    Answers are cached per person. In a transaction that may have written, the query always runs.
    """

    @wraps(question)
    def asked(project: Project, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = _key(question, project, args, kwargs)
        if not _may_be_known(project, key):
            return question(project, *args, **kwargs)
        state = _state(project)
        there, answer = _looked_up(key, state)
        if not there:
            answer = question(project, *args, **kwargs)
            if _state(project) == state:
                _keep(project, key, state, answer)
        return answer  # type: ignore[no-any-return]

    return asked


def known(
    question: Callable[Concatenate[Project, P], T], project: Project, /, *args: P.args, **kwargs: P.kwargs
) -> T | None:
    """The cached answer of such a query, without running it; None if there is none."""
    key = _key(question, project, args, kwargs)
    return _looked_up(key, _state(project))[1] if _may_be_known(project, key) else None


def watch(path: Path) -> None:
    """Share cached answers about a file among all connections until `forget`; otherwise each connection has its own."""
    with _lock:
        if path not in _watches:
            _watches[path] = ChangeWatch.over(path)


def forget(path: Path) -> None:
    with _lock:
        watch = _watches.pop(path, None)
        if watch is not None:
            for key in [key for key, (state, _) in _answers.items() if state[0] is watch]:
                del _answers[key]
            watch.close()


@contextmanager
def unmoved(project: Project, *questions: Callable[..., Any]) -> Iterator[None]:
    """Keep the cached answers to these queries (to all, if none is named) valid despite what is written within, unless
    someone else writes meanwhile.
    """
    # A write by another thread through the same connection would not show in its version.
    with project.store.held():
        others, before = project.store.watch.by_others(), _state(project)
        yield
        after = _state(project)
        if project.store.watch.by_others() != others:
            return
        names = {(question.__module__, question.__qualname__) for question in questions}
        with _lock:
            for key, (state, answer) in _answers.items():
                if state == before and (not names or key[:2] in names):
                    _answers[key] = after, answer


def _key(question: Any, project: Project, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return (question.__module__, question.__qualname__, project.path, project.by, args, *kwargs.items())


def _may_be_known(project: Project, key: Any) -> bool:
    if project.store.in_transaction and not project.readonly:
        return False
    try:
        hash(key)
    except TypeError:
        return False
    return True


def _state(project: Project) -> Any:
    with _lock:
        return _watches.get(project.path, project.store.watch).token()


def _looked_up(key: Any, state: Any) -> tuple[bool, Any]:
    with _lock:
        before, answer = _answers.get(key, (None, None))
        if before != state:
            return False, None
        _answers.move_to_end(key)
        return True, answer


def _keep(project: Project, key: Any, state: Any, answer: Any) -> None:
    judgements = project.store.at_most(JUDGEMENT)
    if judgements is None:
        return
    with _lock:
        _answers[key] = state, answer
        _answers.move_to_end(key)
        while len(_answers) > max(1, min(MOST, ROOM // (judgements or 1))):
            _answers.popitem(last=False)


# Small enough that progress moves, large enough to cost nothing.
BATCH = 2000

Progress = Callable[[str, int, int], None]


def silent(_stage: str, _done: int, _total: int) -> None:
    """A progress callback that does nothing."""


def insert_rows(db: Connection, written: Table, rows: Sequence[Values], tell: Progress) -> None:
    """Insert rows that all have the same keys."""
    add = PreparedStatement(insert(written))
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        add.execute_many(db, batch)
        tell(f"writing {written.name}s", start + len(batch), len(rows))


def is_sample(settings: Mapping[str, Any]) -> bool:
    """Whether these are the settings of the sample, whole or not."""
    return bool(settings.get(SAMPLE)) or settings.get("title") == TITLE


def is_cut_short(path: Path) -> bool:
    with suppress(UnreadableProject, ValueError), glance(path) as db:
        return bool(cut_short(lambda question: db.exec_driver_sql(question).all()))
    return False


def cut_short(ask: Callable[[str], Iterable[Any]]) -> str:
    """Why the file behind `ask` counts as unfinished, in words; empty if it is complete."""
    stored = ask("SELECT key, value FROM meta")
    settings = {key: json.loads(value) for key, value in stored}
    if "id" not in settings:
        return "Creating this project was interrupted: it has no identity."
    if SAMPLE in settings or not is_sample(settings):
        return ""
    if any(True for _ in ask(f"SELECT 1 FROM audit WHERE verb = '{LAST_VERB}' LIMIT 1")):  # noqa: S608
        return ""
    return "Creating this sample was interrupted: a part of it is missing."
