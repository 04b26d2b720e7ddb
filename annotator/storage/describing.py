"""Row classes as table descriptions, never mapped as entities.

Rows are read and written as values; mapping the classes, as `table=True` does, would take a tenth of every start.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Table
from sqlmodel import SQLModel
from sqlmodel.main import get_column_from_field

# Names for every constraint, so that a later migration can speak of them.
SQLModel.metadata.naming_convention = {
    "ix": "ix_%(column_0_N_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


def make_tables(module: Mapping[str, Any]) -> None:
    """The tables of the row classes that a module defines, the columns in the order of their fields."""
    for row in list(module.values()):
        if isinstance(row, type) and row.__module__ == module["__name__"] and "__tablename__" in vars(row):
            _make_table(row)


def _make_table(row: type[SQLModel]) -> None:
    columns = {name: get_column_from_field(field) for name, field in row.model_fields.items()}
    for name, column in columns.items():
        column.name = column.key = name
    more = getattr(row, "__table_args__", ())
    named, unnamed = (more, ()) if isinstance(more, dict) else ({}, more)
    Table(str(row.__tablename__), SQLModel.metadata, *columns.values(), *unnamed, **named)
