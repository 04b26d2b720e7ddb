"""The store: connections, mapping, upserts, search, and the hashes that witness its rows."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import Connection, insert, inspect, select, text
from sqlalchemy.exc import IntegrityError, NoInspectionAvailable

from annotator.actions.items import items
from annotator.actions.project import backups
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.domain.material.item import Item, ItemFields
from annotator.domain.texts.refusal import Refusal
from annotator.storage import backup, connection, integrity, store, tables
from annotator.storage.connection import raw_connection
from annotator.storage.opening import Busy
from annotator.storage.store import Store
from annotator.storage.tables import ITEM, META, SYSTEM
from tests.projects.refusals import expect_refusal
from tests.storage import sql
from tests.storage.apart import refusal_of, with_files_no_larger_than
from tests.storage.sql import beside, noticed
from tests.systems import posix


def keys(store: Store) -> set[str]:
    with store.read() as db:
        return {row.key for row in db.execute(META.select())}


def write_and_fail(store: Store) -> None:
    with store.write() as db:
        db.execute(insert(META).values(key="half", value="1"))
        raise Refusal("No.")


def write_twice_and_fail(project: Project) -> None:
    with project.store.write():
        project.set("inner", 1)
        write_and_fail(project.store)


def test_a_write_that_fails_leaves_nothing(project: Project) -> None:
    before = keys(project.store)
    expect_refusal("", write_and_fail, project.store)
    assert keys(project.store) == before
    # An inner one that succeeds falls with the outer one.
    expect_refusal("", write_twice_and_fail, project)
    assert keys(project.store) == before


def test_an_inner_write_that_fails_is_taken_back_alone_and_one_inside_a_reading_is_kept(
    project: Project,
) -> None:
    before = keys(project.store)
    with project.store.read(), project.store.write() as db:
        db.execute(insert(META).values(key="outer", value="1"))
        expect_refusal("", write_and_fail, project.store)
    assert keys(project.store) == before | {"outer"}


def test_a_broken_rule_of_the_tables_is_not_told_as_a_fault_of_the_disk(project: Project) -> None:
    with pytest.raises(IntegrityError), project.store.write() as db:
        db.execute(insert(META).values(key="title", value="1"))


def test_a_wrong_statement_is_not_told_as_a_fault_of_the_disk(project: Project) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"), project.store.write():
        sql.alter(project, "INSERT INTO nowhere VALUES (1)")


def test_whoever_asks_a_closed_project_or_changes_it_is_refused(project: Project) -> None:
    project.close()
    for transaction in (project.store.read, project.store.write):
        with pytest.raises(Refusal, match="is closed"), transaction():
            pass
    assert not project.store.in_transaction


def test_closing_waits_for_the_transaction_of_another_thread(project: Project) -> None:
    inside, on = Event(), Event()

    def write() -> None:
        with project.store.write() as db:
            inside.set()
            on.wait()
            db.execute(insert(META).values(key="late", value="1"))

    with ThreadPoolExecutor(2) as threads:
        written = threads.submit(write)
        inside.wait()
        closed = threads.submit(project.close)
        assert not closed.done()
        on.set()
        written.result()
        closed.result()
    with closing(Store(project.path, readonly=True)) as store:
        assert "late" in keys(store)


def test_a_write_while_another_writes_is_busy_and_works_afterwards(closed: Path) -> None:
    one, other = Store(closed), Store(closed, busy_seconds=0.1)
    with one.write(), pytest.raises(Busy), other.write():
        pass
    with other.write() as db:
        db.execute(insert(META).values(key="later", value="1"))
    assert "later" in keys(one)
    one.close()


@posix
def test_writing_stops_when_the_file_was_moved_away_and_a_copy_can_be_saved(project: Project) -> None:
    project.path.rename(project.path.with_name("moved.goldsmith"))
    expect_refusal("moved, renamed or deleted", project.set, "title", "lost?")
    copy = backups.save_copy(project, project.path.with_name("saved.goldsmith"))
    assert sql.first(Project.open(copy), "SELECT count(*) FROM item") == (2,)


def test_a_full_disk_refuses_the_save_and_lets_the_next_one_through(closed: Path) -> None:
    def save_too_much() -> str:
        project = Project.open(closed)
        why = refusal_of(partial(project.set, "long", "x" * 200_000))
        project.set("long", "short")
        return why

    told = with_files_no_larger_than(closed.stat().st_size + 8192, save_too_much)
    assert told.startswith(("The disk failed while working on", "The disk is full"))
    with closing(sqlite3.connect(closed)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert raw.execute("SELECT value FROM meta WHERE key = 'long'").fetchone() == ('"short"',)


def test_the_transactions_of_two_threads_do_not_run_into_each_other(project: Project) -> None:
    def write(name: str) -> None:
        for number in range(40):
            with project.store.write() as db:
                db.execute(insert(META).values(key=f"{name} {number}", value="1"))
                # A reading inside a transaction is part of it, and of no other thread's.
                assert f"{name} {number}" in keys(project.store)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(write, name) for name in ("a", "b")]:
            done.result()
    assert {f"{name} {number}" for name in "ab" for number in range(40)} <= keys(project.store)


def test_what_one_thread_takes_back_leaves_the_others_writes_alone(project: Project) -> None:
    def fail(_: int) -> None:
        expect_refusal("", write_and_fail, project.store)

    with ThreadPoolExecutor(2) as pool:
        failing = [pool.submit(fail, number) for number in range(20)]
        for number in range(20):
            project.set(f"kept {number}", number)
        for done in failing:
            done.result()
    assert {f"kept {number}" for number in range(20)} <= keys(project.store)
    assert "half" not in keys(project.store)


# SQLite's documentation: synchronous 2 is FULL.
WANTED = {
    "journal_mode": "truncate",
    "synchronous": 2,
    "foreign_keys": 1,
    "trusted_schema": 0,
    "cell_size_check": 1,
    "mmap_size": 0,
}


def test_an_open_project_has_the_safe_settings(project: Project) -> None:
    assert {name: sql.first(project, f"PRAGMA {name}")[0] for name in WANTED} == WANTED


def test_a_setting_that_does_not_stay_is_an_error(closed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.PRAGMAS, "journal_mode", "wal2")
    with pytest.raises(sqlite3.OperationalError, match="journal_mode stayed at"):
        raw_connection(closed)


def test_connecting_never_makes_a_file(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        raw_connection(tmp_path / "none.goldsmith")
    assert list(tmp_path.iterdir()) == []


def test_a_reading_connection_cannot_write(closed: Path) -> None:
    with (
        closing(raw_connection(closed, readonly=True)) as raw,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        raw.execute("DELETE FROM judgement")


@pytest.mark.parametrize("name", ["with spaces", "日本語 ёж", "per%cent #1?", "trailing dot."])
def test_any_name_can_be_opened(tmp_path: Path, name: str) -> None:
    made = new_project(tmp_path / f"{name}.goldsmith")
    made.close()
    assert Project.open(made.path).title == name


def test_no_model_is_mapped():
    with pytest.raises(NoInspectionAvailable):
        inspect(ItemFields)


@pytest.fixture
def db(project: Project) -> Iterator[Connection]:
    with project.store.write() as db:
        yield db


def value(db: Connection, key: str) -> str:
    return str(db.execute(select(META.c.value).where(META.c.key == key)).scalar_one())


def test_a_missing_row_is_added_and_one_that_is_there_stays(db: Connection) -> None:
    assert tables.add_missing(db, META, {"key": "fresh", "value": "1"}).rowcount == 1
    assert tables.add_missing(db, META, {"key": "fresh", "value": "2"}).rowcount == 0
    assert value(db, "fresh") == "1"


def test_a_row_takes_the_place_of_the_one_with_its_primary_key(db: Connection) -> None:
    tables.put(db, META, {"key": "fresh", "value": "1"})
    tables.put(db, META, [{"key": "fresh", "value": "2"}, {"key": "other", "value": "3"}])
    assert (value(db, "fresh"), value(db, "other")) == ("2", "3")


def test_a_row_takes_the_place_of_the_one_with_its_unique_columns_and_gives_it_its_id(db: Connection) -> None:
    db.execute(insert(SYSTEM), {"id": "old", "name": "A system", "notes": "before"})
    tables.put(db, SYSTEM, {"id": "new", "name": "A system", "notes": "after"})
    found = db.execute(select(SYSTEM.c.id, SYSTEM.c.notes).where(SYSTEM.c.name == "A system")).all()
    assert found == [("new", "after")]


def test_a_column_that_is_not_named_takes_its_default(db: Connection) -> None:
    tables.put(db, SYSTEM, {"id": "one", "name": "A system", "notes": "before"})
    tables.put(db, SYSTEM, {"id": "one", "name": "A system"})
    assert db.execute(select(SYSTEM.c.notes).where(SYSTEM.c.id == "one")).scalar_one() == ""


def test_whole_rows_are_put_by_one_statement_for_each_hundred(project: Project) -> None:
    rows = [{"key": f"row-{number}", "value": str(number)} for number in range(250)]
    with project.store.write() as db:
        with sql.traced(project) as statements:
            tables.put(db, META, rows)
        assert [value(db, row["key"]) for row in rows] == [row["value"] for row in rows]
    assert sum(words.startswith("INSERT") for words in statements) == 3


def test_a_replaced_row_is_still_witnessed(project: Project, tmp_path: Path) -> None:
    for value in "12":
        with project.store.write() as db:
            tables.put(db, META, {"key": "fresh", "value": value})
    assert backup.verify(backup.backup(project.store, tmp_path, "copy")) == ""


def found(project: Project, words: str) -> int:
    return len(items.ids(project, items.Filter(words=words)))


def test_a_changed_item_is_found_by_its_new_words_only(project: Project) -> None:
    items.change(project, items.ids(project)[0], question="What do attention heads do?")
    assert (found(project, "attention"), found(project, "residual")) == (1, 0)
    assert store.out_of_step(sql.connection(project)) == []


def test_an_item_that_was_not_indexed_is_out_of_step_until_the_index_is_made_anew(project: Project) -> None:
    item = Item(id="i-9", key="9", question="Unindexed words?")
    with project.store.write() as db:
        db.execute(insert(ITEM).values(**item.model_dump(), sha256=""))
    assert store.out_of_step(sql.connection(project)) == ["i-9"]
    with project.store.write() as db:
        store.rebuild(db)
    assert (store.out_of_step(sql.connection(project)), found(project, "unindexed")) == ([], 1)


def test_an_entry_without_an_item_is_out_of_step(project: Project) -> None:
    with project.store.write():
        sql.alter(project, "INSERT INTO item_words(item_id, words) VALUES ('gone', 'ghost')")
    assert store.out_of_step(sql.connection(project)) == ["gone"]


def test_indexing_an_item_twice_keeps_one_entry(project: Project) -> None:
    item = items.read(project, items.ids(project)[0])
    with project.store.write() as db:
        store.index(db, [item, item])
    assert sql.first(project, "SELECT count(*) FROM item_words") == (2,)


# The hash kept of every row: what it notices, and that it follows every kind of statement.

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
