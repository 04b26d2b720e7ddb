"""The store: one project file, one connection, and its transactions."""

import errno
import json
import os
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Table
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from annotator import files
from annotator.domain.common import Refusal, storable
from annotator.storage import connection, opening
from annotator.storage.integrity import Witness

if TYPE_CHECKING:
    from filelock import FileLock

    from annotator.domain.material.item import Item


class Store:
    """A project file opened for reading and writing, or for reading only."""

    def __init__(self, path: Path, *, readonly: bool | Refusal = False, busy_seconds: float = 30.0) -> None:
        """Open an existing project of the present schema; Refusal if it cannot be opened.

        `readonly` may be the refusal raised on every change; `busy_seconds` is how long a write waits while another
        process writes.
        """
        self.path = path
        self._busy_seconds = busy_seconds
        self.why_readonly = (
            opening.only_to_read(path) if readonly is True else readonly or opening.why_not_written(path)
        )
        try:
            self._raw = connection.raw_connection(path, readonly=self.readonly, busy_seconds=busy_seconds)
            self._witness = None if self.readonly else Witness(self._raw)
        except sqlite3.Error as error:
            raise opening.explained(error, path) from None
        self.watch = connection.ChangeWatch(self._raw)
        self._engine = connection.engine_over(self._raw)
        self._connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._depth, self._written, self.closed = 0, False, False
        self.taken_back: Callable[[], object] = lambda: None
        """Called after a rollback, for caches of the file's content."""
        # A run commits in a thread of its own: the transactions of two threads must not mix.
        self._lock = threading.RLock()

    @property
    def readonly(self) -> bool:
        return self.why_readonly is not None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Yield one write transaction: all of it or nothing.

        Inside another transaction it joins that one, as a savepoint that is rolled back alone if it fails.
        """
        if self.why_readonly is not None:
            raise Refusal(self.why_readonly.happened, self.why_readonly.todo)
        with self._lock:
            self._written = True
            with self._inner() if self._depth else self._outermost("BEGIN IMMEDIATE") as db:
                yield db

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock without a transaction: no other thread writes or reads until this ends."""
        with self._lock:
            yield

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield one read transaction, so that all of its queries see the same state."""
        with self._lock:
            if self._depth:
                yield self._connection
                return
            with self._outermost("BEGIN") as db:
                yield db

    @contextmanager
    def _outermost(self, words: str) -> Iterator[Connection]:
        if self.closed:
            raise opening.closed(self.path)
        try:
            connection.begin(self._raw, words, self._busy_seconds)
        except sqlite3.Error as error:
            raise opening.explained(error, self.path) from None
        self._depth = 1
        try:
            if self._written and self._witness:
                self._witness.watch()
            yield self._connection
            if self._written and self._witness:
                self._witness.settle()
            self._raw.execute("COMMIT")
        except (DBAPIError, sqlite3.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            if isinstance(cause, sqlite3.Error) and not isinstance(cause, sqlite3.IntegrityError):
                raise opening.explained(cause, self.path) from error
            raise
        finally:
            written, self._depth, self._written = self._written, 0, False
            if self._raw.in_transaction:
                self._raw.execute("ROLLBACK")
                if written:
                    self.taken_back()

    @contextmanager
    def _inner(self) -> Iterator[Connection]:
        if self._witness:
            self._witness.watch()
        name = f"depth_{self._depth}"
        self._raw.execute(f"SAVEPOINT {name}")
        self._depth += 1
        whole = False
        try:
            yield self._connection
            whole = True
        finally:
            self._depth -= 1
            # A full disk rolls the whole transaction back by itself, and the savepoint with it.
            if self._raw.in_transaction:
                if not whole:
                    self._raw.execute(f"ROLLBACK TO {name}")
                    self.taken_back()
                self._raw.execute(f"RELEASE {name}")

    @property
    def in_transaction(self) -> bool:
        return self._depth > 0

    def at_most(self, table: Table) -> int | None:
        """An upper bound of a table's number of rows, in constant time; None if it cannot be read."""
        try:
            (result,) = self._raw.execute(f'SELECT max(rowid) FROM "{table.name}"').fetchone()  # noqa: S608
        except sqlite3.Error:
            return None
        return int(result or 0)

    def described(self) -> str:
        """The database and its durability settings, in words."""
        (journal,) = self._raw.execute("PRAGMA journal_mode").fetchone()
        (flush,) = self._raw.execute("PRAGMA synchronous").fetchone()
        return f"SQLite {sqlite3.sqlite_version}, journal {journal}, synchronous {flush}"

    def close(self) -> None:
        """Close the file once no other thread writes or reads; later calls are refused."""
        with self._lock:
            self.closed = True
            self._connection.close()
            self._engine.dispose()
            self._raw.close()


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


@contextmanager
def alone(path: Path, doing: str, busy: Refusal, seconds: float = 0.0) -> Iterator[None]:
    """Hold a lock for something that only one process at a time may do to a project; raises `busy` on a time-out.

    A process that dies frees the lock.
    """
    lock = _locked(path, f".{doing}", busy, seconds)
    try:
        yield
    finally:
        lock.release()


def _locked(
    path: Path, doing: str, busy: Refusal, seconds: float = 0.0, *, thread_local: bool = True
) -> "FileLock":
    """The acquired lock beside a project; readers do not load the library."""
    from filelock import FileLock, Timeout

    lock = FileLock(path.with_name(f"{path.name}{doing}.lock"), thread_local=thread_local)
    try:
        lock.acquire(timeout=seconds)
    except Timeout:
        raise busy from None
    except OSError as error:
        raise opening.Unwritable(
            f"“{path.name}” could not be locked for changes: {error.strerror or error}.",
            f"Make sure that “{Path(lock.lock_file).name}” beside it is writable, then open it again.",
        ) from None
    return lock


class ProjectHold:
    """A project held by this process until `release`; the system frees it when the process dies."""

    def __init__(self, path: Path, lock: "FileLock") -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def take(cls, path: Path) -> "ProjectHold":
        """Hold the project at `path`; Busy names the holder if another process has it."""
        path = files.real(path)
        busy = opening.Busy(
            f"“{path.name}” is open in another Goldsmith{_words(holder(path))}.",
            "Close it there, or open it here for reading only.",
        )
        lock = _locked(path, "", busy, thread_local=False)
        try:
            _say_who(path)
        except opening.Unwritable:
            lock.release()
            raise
        return cls(path, lock)

    def release(self) -> None:
        if self._lock.is_locked:
            with suppress(OSError):
                _sidecar(self.path).unlink(missing_ok=True)
            self._lock.release()


def _say_who(path: Path) -> None:
    who = {"host": socket.gethostname(), "pid": os.getpid(), "since": datetime.now(UTC).isoformat()}
    try:
        _sidecar(path).write_text(json.dumps(who), "utf-8")
    except OSError as error:
        # Whatever else keeps the file from being written, the lock works without it.
        if error.errno in FULL:
            raise opening.Unwritable(
                f"The disk is full ({error.strerror}), so “{path.name}” is read-only.",
                "Free some space and open it again.",
            ) from None


def holder(path: Path) -> dict[str, str | int]:
    """Who holds the project: host, pid and since when; empty if that was not recorded."""
    try:
        result = json.loads(_sidecar(path).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return result if isinstance(result, dict) else {}


def _words(owner: dict[str, str | int]) -> str:
    if not owner:
        return ""
    since = str(owner.get("since", ""))[:16].replace("T", " ")
    return f" (computer {owner.get('host')}, process {owner.get('pid')}, since {since} UTC)"


def _sidecar(path: Path) -> Path:
    # Windows lets nobody read a locked file, so the holder is recorded in a file beside it.
    return path.with_name(f"{path.name}.holder.json")


SHORTEST_TOKEN = 3
# A long list stores this number for each item: eight bytes, where an id would take ninety. Only SQLite assigns row
# numbers.
NUMBER = "item.rowid"
_OWN_WORDS = (
    "item.key || char(10) || item.question || char(10) || item.question_type || char(10) || item.subject"
)


def index(db: Connection, items: Iterable["Item"]) -> None:
    """Index the present words of the items; call it after they were written, in the same transaction."""
    rows = [
        (item.id, item.id, "\n".join((item.key, item.question, item.question_type, item.subject)))
        for item in items
    ]
    if not rows:
        return
    # By row number: to find an item's id the index would have to read all of itself.
    db.exec_driver_sql(
        "REPLACE INTO item_words(rowid, item_id, words) VALUES ((SELECT rowid FROM item WHERE id = ?), ?, ?)",
        rows,
    )


def rebuild(db: Connection) -> None:
    """Rebuild the whole index from the items, inside a transaction."""
    db.exec_driver_sql("DELETE FROM item_words")
    db.exec_driver_sql(
        f"INSERT INTO item_words(rowid, item_id, words) SELECT rowid, id, {_OWN_WORDS} FROM item"  # noqa: S608
    )


def out_of_step(raw: sqlite3.Connection) -> list[str]:
    """The ids of items whose words differ from the index, and of index entries without an item."""
    there = "SELECT item_id, words FROM item_words"
    current = f"SELECT id, {_OWN_WORDS} FROM item"  # noqa: S608
    question = f"SELECT * FROM ({current} EXCEPT {there}) UNION SELECT * FROM ({there} EXCEPT {current})"  # noqa: S608
    return sorted({item_id for item_id, _ in raw.execute(question)})


def matching(words: str) -> tuple[str, list[str], dict[str, Any]]:
    """FROM, conditions and parameters of a query for items in which every word of `words` occurs somewhere.

    Words shorter than a token are searched in the items themselves.
    """
    parts = storable(words).split()
    long = [part for part in parts if len(part) >= SHORTEST_TOKEN]
    short = [part for part in parts if len(part) < SHORTEST_TOKEN]
    conditions, values = list[str](), dict[str, Any]()
    if long:
        conditions.append("item_words MATCH :words")
        values["words"] = " AND ".join('words : "' + part.replace('"', '""') + '"' for part in long)
    for place, part in enumerate(short):
        conditions.append(f"({_OWN_WORDS}) LIKE :part{place} ESCAPE '\\'")
        values[f"part{place}"] = (
            "%" + part.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        )
    # The order of a CROSS JOIN is fixed: the other way round every item would be looked up among the words.
    source = "item_words CROSS JOIN item ON item.rowid = item_words.rowid" if long else "item"
    return source, conditions, values
