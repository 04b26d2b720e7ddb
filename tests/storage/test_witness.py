"""The hash kept of every row: what it notices, and that it follows every kind of statement."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from annotator.actions.project.file import Project
from annotator.storage import integrity
from annotator.storage.connection import raw_connection
from tests.storage import sql

STATEMENTS = {
    "insert": ["INSERT INTO meta VALUES ('a', '1')"],
    "insert of two, of which the last is updated": [
        "INSERT INTO meta VALUES ('a', '1')",
        "INSERT INTO meta VALUES ('b', '1')",
        "UPDATE meta SET value = '2' WHERE key = 'b'",
    ],
    "update": ["UPDATE meta SET value = '2' WHERE key = 'title'"],
    "update of a key": ["UPDATE meta SET key = 'b' WHERE key = 'title'"],
    "delete": ["DELETE FROM meta WHERE key = 'note'"],
    "delete, and a new row under its number": [
        "DELETE FROM draft",
        "INSERT INTO draft VALUES ('p', 'q', 'r', '2026-01-01 00:00:00')",
    ],
    "replace": ["INSERT OR REPLACE INTO meta VALUES ('title', '\"new\"')"],
    "replace that pushes out another row": [
        "INSERT OR REPLACE INTO system (name, notes, id) SELECT name, notes, 'other' FROM system WHERE name = 'Alpha'"
    ],
    "upsert": [
        "INSERT INTO meta VALUES ('title', '1') ON CONFLICT(key) DO UPDATE SET value = excluded.value"
    ],
    "several tables": [
        "UPDATE artifact SET state = 'draft'",
        "UPDATE audit SET undone = 1 WHERE seq = 2",
        "INSERT INTO time_spent VALUES ('t', 'p', 's', 1.5, '2026-01-01 00:00:00')",
    ],
}


def noticed(path: Path) -> list[tuple[str, str]]:
    with closing(raw_connection(path, readonly=True)) as raw:
        return [(name, what) for name in integrity.present(raw) for _, what in integrity.altered(raw, name)]


def beside(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as raw:
        for statement in statements:
            raw.execute(statement)
        raw.commit()


def test_every_table_but_the_judgements_is_witnessed(project: Project) -> None:
    assert "judgement" not in integrity.WITNESSED
    question = "SELECT DISTINCT of_table FROM witness"
    assert {name for (name,) in sql.rows(project, question)} == {*integrity.WITNESSED, "sqlite_master"}


@pytest.mark.parametrize("how", STATEMENTS)
def test_a_row_written_through_the_store_is_not_taken_for_altered(project: Project, how: str) -> None:
    sql.alter(project, "PRAGMA foreign_keys=OFF")
    before = sql.connection(project).total_changes
    with project.store.write():
        for statement in STATEMENTS[how]:
            sql.alter(project, statement)
    assert sql.connection(project).total_changes > before
    assert noticed(project.path) == []


def test_a_row_taken_back_is_not_taken_for_altered(project: Project) -> None:
    changed_once_of_twice(project, "Later")
    assert noticed(project.path) == []


def changed_once_of_twice(project: Project, title: str) -> None:
    """A change that is taken back, and then one that stays."""
    with pytest.raises(IntegrityError), project.store.write() as db:
        db.execute(text("UPDATE person SET name = 'Other', alias = 'same'"))
    with project.store.write() as db:
        db.execute(text(f"UPDATE meta SET value = '\"{title}\"' WHERE key = 'title'"))


def test_a_first_change_that_is_taken_back_leaves_the_next_one_noted(closed: Path) -> None:
    with closing(Project.open(closed)) as project:
        changed_once_of_twice(project, "Next")
    assert noticed(closed) == []
    with closing(Project.open(closed)) as project, project.store.read():
        changed_once_of_twice(project, "Inner")
    assert (noticed(closed), Project.open(closed).title) == ([], "Inner")


def test_two_connections_that_write_in_turn_agree(project: Project) -> None:
    other = Project.open(project.path)
    for number in range(3):
        project.set(f"mine {number}", number)
        other.set(f"theirs {number}", number)
        other.set("note", number)
    other.close()
    assert noticed(project.path) == []


def test_a_changed_an_added_and_a_lost_row_are_noticed_whatever_is_saved_later(closed: Path) -> None:
    beside(
        closed,
        "UPDATE person SET name = 'Eda Rater' WHERE name = 'Ada Rater'",
        "INSERT INTO time_spent VALUES ('t', 'p', 's', 1.5, '2026-01-01 00:00:00')",
        "DELETE FROM time_spent WHERE id != 't'",
    )
    with closing(Project.open(closed)) as project:
        project.set("later", 1)
    assert sorted(noticed(closed)) == [
        ("person", "was altered outside the program"),
        ("time_spent", "is missing"),
        ("time_spent", "was added outside the program"),
    ]


def test_compacting_the_file_with_another_tool_is_no_alteration(closed: Path) -> None:
    beside(closed, "DELETE FROM judgement", "DELETE FROM meta WHERE key = 'none'")
    with closing(sqlite3.connect(closed, isolation_level=None)) as raw:
        raw.execute("VACUUM")
    assert noticed(closed) == []


def test_bytes_and_texts_of_the_same_letters_are_told_apart() -> None:
    assert len({integrity.row_hash((value,)) for value in (b"1", "1", 1, 1.0, None)}) == 5
