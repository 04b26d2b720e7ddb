"""Upserts: rows that may exist already are left alone or replaced."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import CursorResult, Dialect, Insert, String, Table, UniqueConstraint
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import Connection
from sqlmodel import AutoString

Row = Mapping[str, Any]
# SQLite takes 32 766 values in a statement; its driver keeps 128 statements at hand.
_MOST_ROWS = 100


def add_missing(db: Connection, table: Table, rows: Row | Sequence[Row]) -> CursorResult[Any]:
    """Insert rows; one that any key knows already stays as it is there, and does not count as a row written."""
    return db.execute(_adding(table), rows)


def put(db: Connection, table: Table, rows: Row | Sequence[Row]) -> None:
    """Insert rows, each in the place of the one with the same unique columns, or else the same primary key."""
    if isinstance(rows, Mapping) or any(len(row) < len(table.c) for row in rows):
        db.execute(_putting(table), rows)
        return
    # Past SQLAlchemy's statement for each row: a commit of 20 calls takes 0.85 of its processor time (median of 200),
    # and a quarter fewer waits for the interpreter's lock, which a thread that judges gives back late.
    before, values, after, processors = _putting_whole(table, db.dialect)
    for start in range(0, len(rows), _MOST_ROWS):
        some = rows[start : start + _MOST_ROWS]
        bound = [
            processor(row[name]) if processor else row[name] for row in some for name, processor in processors
        ]
        db.exec_driver_sql(f"{before}{', '.join([values] * len(some))}{after}", tuple(bound))


@cache
def _adding(table: Table) -> Insert:
    return insert(table).on_conflict_do_nothing()


@cache
def _putting_whole(table: Table, dialect: Dialect) -> tuple[str, str, str, list[tuple[str, Any]]]:
    """The statement before, in and after the values of a row, and what makes each of these fit to be stored."""
    words = str(_putting(table).compile(dialect=dialect))
    values = f"({', '.join('?' * len(table.c))})"
    before, after = words.split(values)
    # Texts are stored as they are.
    typed = ((column.name, column.type.dialect_impl(dialect)) for column in table.c)
    return (
        before,
        values,
        after,
        [
            (name, None if isinstance(of, String | AutoString) else of.bind_processor(dialect))
            for name, of in typed
        ],
    )


@cache
def _putting(table: Table) -> Insert:
    statement = insert(table)
    unique = (each for each in table.constraints if isinstance(each, UniqueConstraint))
    key = list(next(unique, table.primary_key).columns)
    columns = {column.name: statement.excluded[column.name] for column in table.c if column not in set(key)}
    return statement.on_conflict_do_update(index_elements=key, set_=columns)
