"""Row classes as table descriptions, never mapped as entities."""

from typing import Any

from sqlalchemy import Column, Table
from sqlmodel import SQLModel

# Names for every constraint, so that a later migration can speak of them.
SQLModel.metadata.naming_convention = {
    "ix": "ix_%(column_0_N_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
_rows: list[type[SQLModel]] = []


def begin() -> None:
    """From here to `make_tables`, classes that describe tables are only noted.

    Rows are read and written as values; mapping the classes would take as long as everything else about them, at
    every start.
    """
    SQLModel.__init_subclass__ = classmethod(_note)  # type: ignore[assignment]


def make_tables() -> None:
    """The tables of all classes noted, the columns in the order of their fields."""
    del SQLModel.__init_subclass__
    while _rows:
        _make_table(_rows.pop(0))


def _note(row: type[SQLModel], /, **_: object) -> None:
    row.__abstract__ = True
    _rows.append(row)


def _make_table(row: type[SQLModel]) -> None:
    columns: list[Column[Any]] = [vars(row)[name] for name in row.model_fields]
    for name, column in zip(row.model_fields, columns, strict=True):
        column.name = column.key = name
    more = getattr(row, "__table_args__", ())
    named, unnamed = (more, ()) if isinstance(more, dict) else ({}, more)
    Table(str(row.__tablename__), SQLModel.metadata, *columns, *unnamed, **named)
