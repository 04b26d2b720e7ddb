"""The store: one project file, one connection, and its transactions."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Table
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from annotator.domain.texts.refusal import Refusal
from annotator.storage import connection, opening
from annotator.storage.watching import ChangeWatch
from annotator.storage.witness import Witness


class Store:
    """A project file opened for reading and writing, or for reading only."""

    def __init__(self, path: Path, *, readonly: bool | Refusal = False, busy_seconds: float = 30.0) -> None:
        """Open an existing project of the present schema; Refusal when it cannot be had.

        `readonly` may be the refusal with which every change is met; `busy_seconds` is how long a write waits while
        another process writes.
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
        self.watch = ChangeWatch(self._raw)
        self._engine = connection.engine_over(self._raw)
        self._connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._depth, self._written, self.closed = 0, False, False
        self.taken_back: Callable[[], object] = lambda: None
        """Called after writing was taken back, for whoever remembers what is in the file."""
        # A run commits in a thread of its own: the transactions of two threads must not run into each other.
        self._lock = threading.RLock()

    @property
    def readonly(self) -> bool:
        """Whether nothing may be changed."""
        return self.why_readonly is not None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction for changing: all of it or nothing.

        Inside another transaction it joins that one, and what it did is taken back alone when it fails.
        """
        if self.why_readonly is not None:
            raise Refusal(self.why_readonly.happened, self.why_readonly.todo)
        with self._lock:
            self._written = True
            with self._inner() if self._depth else self._outermost("BEGIN IMMEDIATE") as db:
                yield db

    @contextmanager
    def held(self) -> Iterator[None]:
        """Without a transaction: no other thread writes or asks until this ends."""
        with self._lock:
            yield

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One transaction for reading, so that all of its questions see the same state."""
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
        except DBAPIError as error:
            if isinstance(error.orig, sqlite3.Error) and not isinstance(error.orig, sqlite3.IntegrityError):
                raise opening.explained(error.orig, self.path) from error
            raise
        except sqlite3.Error as error:
            raise opening.explained(error, self.path) from error
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
            # A full disk takes the whole transaction back by itself, and the savepoint with it.
            if self._raw.in_transaction:
                if not whole:
                    self._raw.execute(f"ROLLBACK TO {name}")
                    self.taken_back()
                self._raw.execute(f"RELEASE {name}")

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is in progress, to read or to write."""
        return self._depth > 0

    def at_most(self, table: Table) -> int | None:
        """How many rows a table has, or more, told at once however many; None where that cannot be read."""
        try:
            (found,) = self._raw.execute(f'SELECT max(rowid) FROM "{table.name}"').fetchone()  # noqa: S608
        except sqlite3.Error:
            return None
        return int(found or 0)

    def described(self) -> str:
        """What keeps the project, and how it is set to outlive a power cut."""
        (journal,) = self._raw.execute("PRAGMA journal_mode").fetchone()
        (flush,) = self._raw.execute("PRAGMA synchronous").fetchone()
        return f"SQLite {sqlite3.sqlite_version}, journal {journal}, synchronous {flush}"

    def close(self) -> None:
        """Give the file back, once no other thread writes or asks; later callers are refused."""
        with self._lock:
            self.closed = True
            self._connection.close()
            self._engine.dispose()
            self._raw.close()
