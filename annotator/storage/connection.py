"""Connections: one SQLite connection with settings that survive a power cut."""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Delete, Insert, Select, Update, create_engine
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import StaticPool
from sqlalchemy.util import LRUCache

# "GOLD" in ASCII: distinguishes a Goldsmith project from any other SQLite file.
APPLICATION_ID = 0x474F4C44
PRAGMAS = {
    "fullfsync": 1,
    "journal_mode": "truncate",
    "synchronous": 2,
    "foreign_keys": 1,
    "trusted_schema": 0,
    "cell_size_check": 1,
}

POLLED_SECONDS = 0.0005
# More than the number of the program's statements.
_COMPILED: LRUCache[Any, Any] = LRUCache(2_000)


def raw_connection(path: Path, *, readonly: bool = False, busy_seconds: float = 30.0) -> sqlite3.Connection:
    """A bare connection that starts no transaction by itself and never creates the file.

    WAL is not used: SQLite before 3.51.3 can corrupt a WAL database written from two connections.
    """
    connection = sqlite3.connect(
        uri(path, "ro" if readonly else "rw"),
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
    )
    if readonly:
        connection.execute("PRAGMA query_only=ON")
        return connection
    try:
        _set_pragmas(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def uri(path: Path, mode: str) -> str:
    """The URI with which SQLite opens an existing file, whatever characters its name has."""
    address = path.resolve().as_uri()
    if not address.startswith("file:///"):
        # SQLite takes no host in a URI: a share is written as a path with two slashes.
        address = address.replace("file://", "file:////", 1)
    return f"{address}?mode={mode}"


def _set_pragmas(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA mmap_size=0")
    for name, setting in PRAGMAS.items():
        connection.execute(f"PRAGMA {name}={setting}")
        (result,) = connection.execute(f"PRAGMA {name}").fetchone()
        if str(result).lower() != str(setting):
            raise sqlite3.OperationalError(f"PRAGMA {name} stayed at {result}")


def begin(connection: sqlite3.Connection, words: str, seconds: float) -> None:
    """Begin a transaction and take its lock now; sqlite3.OperationalError (busy) if that takes longer than `seconds`.

    SQLite's own busy handler sleeps up to a tenth of a second at a time, and so misses its turn again and again while
    another process writes without a pause.
    """
    give_up = time.monotonic() + seconds
    connection.execute("PRAGMA busy_timeout=0")
    try:
        while True:
            last = time.monotonic() >= give_up
            try:
                connection.execute(words)
                connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
                return
            except sqlite3.OperationalError as error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if last or getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                time.sleep(POLLED_SECONDS)
    finally:
        connection.execute(f"PRAGMA busy_timeout={int(seconds * 1000)}")


def engine_over(connection: sqlite3.Connection) -> Engine:
    """An SQLAlchemy engine on that one connection. The store sends BEGIN and COMMIT, never the driver.

    Every engine shares one dialect and its cache of compiled statements: each of the program's statements is compiled
    once per process, not once per project.
    """
    shared = _first_engine()
    given: Any = connection
    engine = Engine(StaticPool(lambda: given), shared.dialect, shared.url)
    return engine.execution_options(compiled_cache=_COMPILED)


@cache
def _first_engine() -> Engine:
    engine = create_engine(URL.create("sqlite"))
    # The first connection tells the dialect what this SQLite can do.
    engine.connect().close()
    engine.dispose()
    return engine


Values = Mapping[str, Any]


class PreparedStatement:
    """A statement that every save runs, compiled once and passed to the driver directly; each variable value has a
    name.

    Through SQLAlchemy itself a save takes a third longer (`benchmarks.saving`): the user has paused before it, and
    none of SQLAlchemy's code is left in the processor's cache.
    """

    def __init__(self, statement: Select[Any] | Insert | Update | Delete) -> None:
        self._statement: Any = statement
        self._compiled = cache(self._compile)

    def execute(self, db: Connection, values: Values) -> sqlite3.Cursor:
        """Run it in the transaction of `db`."""
        driver: Any = db.connection.dbapi_connection
        words, row = self._compiled(tuple(values))
        cursor: sqlite3.Cursor = driver.execute(words, row(values))
        return cursor

    def execute_many(self, db: Connection, rows: Sequence[Values]) -> None:
        """Run it for each of the rows, which all have the same names."""
        driver: Any = db.connection.dbapi_connection
        words, row = self._compiled(tuple(rows[0]))
        driver.executemany(words, map(row, rows))

    def first(self, db: Connection, values: Values) -> dict[str, Any] | None:
        """The first row of the result by column name; None if there is none."""
        row = self.execute(db, values).fetchone()
        if row is None:
            return None
        names, loads = self._columns
        result = dict(zip(names, row, strict=True))
        for name, load in loads.items():
            result[name] = load(result[name])
        return result

    @cached_property
    def _columns(self) -> tuple[list[str], dict[str, Callable[[Any], Any]]]:
        """The column names, and the conversions of those whose stored values differ."""
        dialect = _first_engine().dialect
        types = {column.key: column.type.dialect_impl(dialect) for column in self._statement.selected_columns}
        loads = {name: of.result_processor(dialect, None) for name, of in types.items()}
        return list(types), {name: load for name, load in loads.items() if load}

    def _compile(self, names: tuple[str, ...]) -> tuple[str, Callable[[Values], list[Any]]]:
        dialect = _first_engine().dialect
        compiled = self._statement.compile(dialect=dialect, column_keys=names)
        marks = compiled.positiontup
        stores = [
            (place, store)
            for place, name in enumerate(marks)
            if (store := compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect))
        ]
        fixed = {name: value for name, value in compiled.params.items() if name not in names}
        pick = itemgetter(*marks)

        def row(values: Values) -> list[Any]:
            picked = pick({**fixed, **values} if fixed else values)
            # Of one name it picks the value itself.
            result = list(picked) if len(marks) > 1 else [picked]
            for place, store in stores:
                result[place] = store(result[place])
            return result

        return str(compiled), row


_VERSION = "PRAGMA data_version"


class ChangeWatch:
    """Detects, through one connection, whether a project has been written to."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw

    @classmethod
    def over(cls, path: Path) -> "ChangeWatch":
        """A watch with a connection of its own, which sees the writes of every other one; the caller closes it."""
        return cls(raw_connection(path, readonly=True))

    def by_others(self) -> object:
        """A value that stays equal until others write; if it cannot be read, an object equal to nothing else."""
        try:
            return self._raw.execute(_VERSION).fetchone()
        except sqlite3.Error:
            return object()

    def token(self) -> tuple[object, ...]:
        """A value that stays equal until anyone writes, and never equals that of another watch."""
        seen = self.by_others()
        try:
            return self, seen, self._raw.total_changes
        except sqlite3.Error:
            return self, object(), 0

    def close(self) -> None:
        self._raw.close()
