"""A row that may be there already is left or replaced."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select
from sqlalchemy.engine import Connection

from annotator.actions.project.file import Project
from annotator.storage import backup, upserts
from annotator.storage.tables import META, SYSTEM


@pytest.fixture
def db(project: Project) -> Iterator[Connection]:
    with project.store.write() as db:
        yield db


def value(db: Connection, key: str) -> str:
    return str(db.execute(select(META.c.value).where(META.c.key == key)).scalar_one())


def test_a_missing_row_is_added_and_one_that_is_there_stays(db: Connection) -> None:
    assert upserts.add_missing(db, META, {"key": "fresh", "value": "1"}).rowcount == 1
    assert upserts.add_missing(db, META, {"key": "fresh", "value": "2"}).rowcount == 0
    assert value(db, "fresh") == "1"


def test_a_row_takes_the_place_of_the_one_with_its_primary_key(db: Connection) -> None:
    upserts.put(db, META, {"key": "fresh", "value": "1"})
    upserts.put(db, META, [{"key": "fresh", "value": "2"}, {"key": "other", "value": "3"}])
    assert (value(db, "fresh"), value(db, "other")) == ("2", "3")


def test_a_row_takes_the_place_of_the_one_with_its_unique_columns_and_gives_it_its_id(db: Connection) -> None:
    db.execute(insert(SYSTEM), {"id": "old", "name": "A system", "notes": "before"})
    upserts.put(db, SYSTEM, {"id": "new", "name": "A system", "notes": "after"})
    found = db.execute(select(SYSTEM.c.id, SYSTEM.c.notes).where(SYSTEM.c.name == "A system")).all()
    assert found == [("new", "after")]


def test_a_column_that_is_not_named_takes_its_default(db: Connection) -> None:
    rows = [{"id": "one", "name": "A system", "notes": "before"}, {"id": "one", "name": "A system"}]
    for row in rows:
        upserts.put(db, SYSTEM, row)
    assert db.execute(select(SYSTEM.c.notes).where(SYSTEM.c.id == "one")).scalar_one() == ""


def test_whole_rows_are_put_by_one_statement_for_each_hundred(project: Project) -> None:
    rows = [{"key": f"row-{number}", "value": str(number)} for number in range(250)]
    statements = list[str]()
    with project.store.write() as db:
        raw: Any = db.connection.driver_connection
        raw.set_trace_callback(statements.append)
        upserts.put(db, META, rows)
        raw.set_trace_callback(None)
        assert [value(db, row["key"]) for row in rows] == [row["value"] for row in rows]
    assert sum(words.startswith("INSERT") for words in statements) == 3


def test_a_replaced_row_is_still_witnessed(project: Project, tmp_path: Path) -> None:
    with project.store.write() as db:
        upserts.put(db, META, {"key": "fresh", "value": "1"})
    with project.store.write() as db:
        upserts.put(db, META, {"key": "fresh", "value": "2"})
    assert backup.verify(backup.backup(project.store, tmp_path, "copy")) == ""
