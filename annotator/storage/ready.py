"""Statements that every save runs, compiled once and handed to the driver itself.

SQLAlchemy's way from a compiled statement to the driver takes longer than the statement, above all after a pause, when
nothing of it is left in the processor's cache; and the person who saves by hand has paused.
"""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Delete, Insert, Select, Update
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Connection
from sqlalchemy.schema import ColumnDefault
from sqlalchemy.types import TypeEngine

Values = Mapping[str, Any]
# A name, and what turns its value into what is stored, or back; None where they are the same.
Turn = tuple[str, Callable[[Any], Any] | None]
# The words for the driver, what turns the values of their marks, and those that are the same at every run.
Compiled = tuple[str, list[Turn], dict[str, Any]]
_DIALECT = SQLiteDialect_pysqlite()


class PreparedStatement:
    """A statement in which every variable value has a name.

    It is compiled at its first run, which comes long after the window was to be seen.
    """

    def __init__(self, statement: Select[Any] | Insert | Update | Delete) -> None:
        self._statement = statement
        self._compiled: dict[tuple[str, ...], Compiled] = {}
        self._read: list[Turn] = []

    def run(self, db: Connection, values: Values) -> sqlite3.Cursor:
        """Run it in the transaction of `db`; columns of an INSERT that `values` does not name take their defaults."""
        names = tuple(values)
        if names not in self._compiled:
            self._compiled[names] = self._compile(names)
        words, binds, fixed = self._compiled[names]
        given = {**fixed, **values}
        row = [store(given[name]) if store else given[name] for name, store in binds]
        driver: Any = db.connection.dbapi_connection
        cursor: sqlite3.Cursor = driver.execute(words, row)
        return cursor

    def add(self, db: Connection, values: Values) -> int:
        """Insert a row; the number it was given."""
        return self.run(db, values).lastrowid or 0

    def first(self, db: Connection, values: Values) -> dict[str, Any] | None:
        """The first row it finds, by the names of its columns, or None."""
        row = self.run(db, values).fetchone()
        if row is None:
            return None
        turns = zip(self._read, row, strict=True)
        return {name: read(value) if read else value for (name, read), value in turns}

    def _compile(self, names: tuple[str, ...]) -> Compiled:
        compiled = self._statement.compile(dialect=_DIALECT, column_keys=list(names))
        if isinstance(self._statement, Select):
            self._read = [
                (str(column.key), _reading(column.type)) for column in self._statement.selected_columns
            ]
        marks = [(name, compiled.binds[name]) for name in compiled.positiontup or ()]
        fixed = {name: mark.value for name, mark in marks if not mark.required and mark.value is not None}
        for column in compiled.insert_prefetch:
            if isinstance(column.default, ColumnDefault) and column.default.is_scalar:
                fixed[column.key] = column.default.arg
        return str(compiled), [(name, _storing(mark.type)) for name, mark in marks], fixed


def _storing(kind: TypeEngine[Any]) -> Callable[[Any], Any] | None:
    return kind.dialect_impl(_DIALECT).bind_processor(_DIALECT)


def _reading(kind: TypeEngine[Any]) -> Callable[[Any], Any] | None:
    return kind.dialect_impl(_DIALECT).result_processor(_DIALECT, None)
