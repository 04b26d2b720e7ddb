"""Upserts: rows that may exist already are left alone or replaced."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import CursorResult, Insert, Table, UniqueConstraint
from sqlalchemy.engine import Connection

Row = Mapping[str, Any]


def add_missing(db: Connection, table: Table, rows: Row | Sequence[Row]) -> CursorResult[Any]:
    """Insert rows; one that any key knows already stays as it is there, and does not count as a row written."""
    return db.execute(_adding(db.dialect.name, table), rows)


def put(db: Connection, table: Table, rows: Row | Sequence[Row]) -> None:
    """Insert rows, each in the place of the one with the same unique columns, or else the same primary key."""
    db.execute(_putting(db.dialect.name, table), rows)


@cache
def _adding(dialect: str, table: Table) -> Insert:
    statement: Insert = _insert(dialect, table).on_conflict_do_nothing()
    return statement


@cache
def _putting(dialect: str, table: Table) -> Insert:
    insert = _insert(dialect, table)
    unique = (each for each in table.constraints if isinstance(each, UniqueConstraint))
    key = list(next(unique, table.primary_key).columns)
    columns = {column.name: insert.excluded[column.name] for column in table.c if column not in set(key)}
    statement: Insert = insert.on_conflict_do_update(index_elements=key, set_=columns)
    return statement


def _insert(dialect: str, table: Table) -> Any:
    # Either has these clauses, SQLAlchemy's common INSERT has not.
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)
