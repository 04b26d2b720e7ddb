"""Bulk inserts by the driver's own `executemany`, many times as fast as entities."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import Table, insert
from sqlalchemy.engine import Connection

# Small enough that progress moves, large enough that it costs nothing.
BATCH = 2000

Row = Mapping[str, Any]
Progress = Callable[[str, int, int], None]


def insert_rows(db: Connection, written: Table, rows: Sequence[Row], tell: Progress) -> None:
    """Insert rows that all have the same keys. SQLAlchemy words the statement and converts values once per column.

    Its own list of parameters is prepared row by row, which takes longer than SQLite takes to write them.
    """
    if not rows:
        return
    statement = insert(written).compile(dialect=db.dialect, column_keys=list(rows[0]))
    names = statement.positiontup or list(rows[0])
    convert = _converter(db, written, names)
    for start in range(0, len(rows), BATCH):
        values = [convert(row) for row in rows[start : start + BATCH]]
        named = values if statement.positional else [dict(zip(names, row, strict=True)) for row in values]
        db.exec_driver_sql(str(statement), named)
        tell(f"writing {written.name}s", min(start + BATCH, len(rows)), len(rows))


def _converter(db: Connection, written: Table, names: Sequence[str]) -> Callable[[Row], tuple[Any, ...]]:
    """A function that gives a row's values in order, each as the driver wants it."""
    types = (written.c[name].type.dialect_impl(db.dialect) for name in names)
    found = [(place, kind.bind_processor(db.dialect)) for place, kind in enumerate(types)]
    processors = [(place, process) for place, process in found if process]
    get = itemgetter(*names)

    def convert(row: Row) -> tuple[Any, ...]:
        values = list(get(row))
        for place, process in processors:
            values[place] = process(values[place])
        return tuple(values)

    return convert
