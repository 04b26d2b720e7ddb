"""Upserts: rows that may exist already are left alone or replaced."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import CursorResult, Insert, Table, UniqueConstraint
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import Connection

Row = Mapping[str, Any]


def add_missing(db: Connection, table: Table, rows: Row | Sequence[Row]) -> CursorResult[Any]:
    """Insert rows; one that any key knows already stays as it is there, and does not count as a row written."""
    return db.execute(_adding(table), rows)


def put(db: Connection, table: Table, rows: Row | Sequence[Row]) -> None:
    """Insert rows, each in the place of the one with the same unique columns, or else the same primary key."""
    db.execute(_putting(table), rows)


@cache
def _adding(table: Table) -> Insert:
    return insert(table).on_conflict_do_nothing()


@cache
def _putting(table: Table) -> Insert:
    statement = insert(table)
    unique = (each for each in table.constraints if isinstance(each, UniqueConstraint))
    key = list(next(unique, table.primary_key).columns)
    columns = {column.name: statement.excluded[column.name] for column in table.c if column not in set(key)}
    return statement.on_conflict_do_update(index_elements=key, set_=columns)
