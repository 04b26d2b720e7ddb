"""The store: connections, search, hashes that witness its rows, backups, migrations, and files of every old format."""

import gzip
import json
import os
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from threading import Event

import pytest
import sqlalchemy as sa
from alembic import op
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, insert, inspect, select, text
from sqlalchemy.exc import IntegrityError, NoInspectionAvailable

from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.project import backups
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking, releases
from annotator.actions.results import result_raters, results, scoring
from annotator.domain.common import Refusal
from annotator.domain.material.item import Item
from annotator.domain.stored import ItemFields
from annotator.exchange.release import release
from annotator.storage import backup, connection, integrity, opening, store, tables
from annotator.storage.backup import Migrations, bring_up_to_date, folder_of, to_delete
from annotator.storage.connection import engine_over, raw_connection
from annotator.storage.migrations import MIGRATIONS
from annotator.storage.opening import Busy
from annotator.storage.store import Store
from annotator.storage.tables import ITEM, META, SYSTEM, metadata
from tests.common import expect_refusal, failing, posix
from tests.material.bundles import found as files_of
from tests.storage import sql
from tests.storage.sql import (
    beside,
    digest,
    noticed,
    project_files,
    refusal_of,
    unharmed,
    with_files_no_larger_than,
)


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
    assert db.execute(select(SYSTEM.c.id, SYSTEM.c.notes).where(SYSTEM.c.name == "A system")).all() == [
        ("new", "after")
    ]


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
    assert len({integrity.row_hash(value) for value in (b"1", "1", 1, 1.0, None)}) == 5


NOON = datetime(2026, 6, 17, 12, tzinfo=UTC)


def made(project: Project, why: str = "") -> Path:
    return backup.backup(project.store, folder_of(project.path), project.path.stem, why)


def dump(path: Path) -> list[tuple[object, ...]]:
    """Every row of every table but the settings, in which a backup writes its reason."""
    with closing(sqlite3.connect(path)) as raw:
        tables = [name for name in backup.row_counts(raw) if name not in ("meta", "witness")]
        return [row for name in tables for row in raw.execute(f"SELECT * FROM {name} ORDER BY 1, 2")]


def test_a_backup_holds_every_row_and_lies_beside_the_project(project: Project) -> None:
    path = made(project, "before an import")
    assert (path.parent, dump(path)) == (project.path.with_name("small.backups"), dump(project.path))
    (listed,) = backup.backups(path.parent, "small")
    assert (listed.path, listed.ok, listed.why) == (path, True, "before an import")
    assert (listed.size, Project.open(path).title) == (path.stat().st_size, project.title)
    assert abs(datetime.now(UTC) - listed.at) < timedelta(minutes=1)


def test_two_backups_within_a_second_are_two_and_before_there_is_none(project: Project) -> None:
    assert backup.backups(folder_of(project.path), "small") == []
    first, second = made(project), made(project)
    assert {file.path for file in backup.backups(first.parent, "small")} == {first, second}


def test_a_backup_is_not_made_of_what_is_not_yet_saved(project: Project) -> None:
    with project.store.write(), pytest.raises(RuntimeError, match="inside a transaction"):
        made(project)


def test_a_project_with_an_altered_row_is_backed_up_but_said_to_be_damaged(project: Project) -> None:
    beside(project.path, "UPDATE person SET name = 'flipped'")
    (listed,) = backup.backups(made(project).parent, "small")
    assert (listed.ok, listed.problem) == (False, "Row 1 of “person” was altered outside the program.")


def test_a_project_with_a_broken_page_makes_no_backup(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: Path) -> str:
        content = bytearray(path.read_bytes())
        content[4096 * 2 : 4096 * 3] = b"\xff" * 4096
        path.write_bytes(content)
        return verify(path)

    verify = backup.verify
    earlier = made(project)
    monkeypatch.setattr(backup, "verify", broken)
    with pytest.raises(opening.Damaged):
        made(project)
    assert [path for path in earlier.parent.iterdir() if path.suffix != ".goldsmith-journal"] == [earlier]


def test_a_full_disk_leaves_earlier_backups_and_no_rest(closed: Path) -> None:
    with closing(Project.open(closed)) as project:
        earlier = made(project)
    with unharmed(earlier):
        told = with_files_no_larger_than(
            closed.stat().st_size - 4096, lambda: refusal_of(partial(made, Project.open(closed)))
        )
    assert re.match("The backup could not be written to.*earlier backups are unchanged", told, re.DOTALL)
    assert list(earlier.parent.iterdir()) == [earlier]


def test_a_folder_that_cannot_be_made_is_a_refusal(project: Project) -> None:
    folder_of(project.path).write_text("a file in the way", "utf-8")
    expect_refusal("could not be written", made, project)


def test_what_a_crash_left_of_a_backup_is_swept_away_but_not_one_under_way(project: Project) -> None:
    folder = folder_of(project.path)
    folder.mkdir()
    old, young = (folder / f"small-20260101-00000{n}.goldsmith.part" for n in (1, 2))
    for part in (old, young):
        part.write_bytes(b"half")
    os.utime(old, (0, 0))
    path = made(project)
    assert set(folder.iterdir()) == {path, young}


def test_the_list_names_what_is_broken_and_leaves_out_what_is_not_a_backup(project: Project) -> None:
    whole = made(project)
    whole.with_name("small-20250101-120000.goldsmith").write_bytes(whole.read_bytes()[:-1000])
    for name in (
        "other-20250101-120000.goldsmith",
        "small-notes.goldsmith",
        "small-20251399-120000.goldsmith",
    ):
        whole.with_name(name).write_bytes(b"")
    newest, broken = backup.backups(whole.parent, "small")
    assert (newest.ok, broken.ok) == (True, False)
    assert "1000 bytes are missing" in broken.problem
    assert broken.at == datetime(2025, 1, 1, 12, tzinfo=UTC)


def test_pruning_deletes_only_whole_backups_that_are_no_longer_needed(project: Project) -> None:
    whole = made(project)
    stale, cut = (whole.with_name(f"small-2020010{n}-120000.goldsmith") for n in (1, 2))
    stale.write_bytes(whole.read_bytes())
    cut.write_bytes(b"cut")
    assert backup.prune(whole.parent, "small", datetime.now(UTC)) == [stale]
    assert set(whole.parent.iterdir()) == {whole, cut}


def test_a_backup_that_is_held_is_deleted_the_next_time(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, real = made(project), Path.unlink
    held, free = (whole.with_name(f"small-2020010{n}-120000.goldsmith") for n in (1, 2))
    for stale in (held, free):
        stale.write_bytes(whole.read_bytes())

    def scanned(path: Path, missing_ok: bool = False) -> None:
        if path == held:
            raise PermissionError(13, "Access is denied")
        real(path, missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", scanned)
        assert backup.prune(whole.parent, "small", datetime.now(UTC)) == [free]
    assert backup.prune(whole.parent, "small", datetime.now(UTC)) == [held]
    assert set(whole.parent.iterdir()) == {whole}


def ago(**age: int) -> datetime:
    return NOON - timedelta(**age)


def test_of_the_last_day_those_half_an_hour_apart_are_kept() -> None:
    times = [ago(minutes=minutes) for minutes in (0, 10, 20, 40, 45, 70)]
    # Counted from the oldest: 70, then 40 (30 later), then 10 (30 later); 0 is the newest.
    assert to_delete(times, NOON) == [ago(minutes=45), ago(minutes=20)]


@pytest.mark.parametrize(
    ("times", "deleted"),
    [
        ([*(datetime(2026, 6, 14, hour, tzinfo=UTC) for hour in (8, 12, 18)), NOON], [0, 1]),
        # 25 May 2026 is a Monday; eight days and more before 17 June begins with 9 June.
        ([*(datetime(2026, 5, day, 12, tzinfo=UTC) for day in (25, 28, 31)), NOON], [0, 1]),
        ([*(datetime(2026, 3, day, 12, tzinfo=UTC) for day in (2, 30)), NOON], [0]),
        ([datetime(2025, 6, 1, tzinfo=UTC), NOON], [0]),
        ([datetime(2019, 1, day, tzinfo=UTC) for day in (1, 2)], [0]),
        ([NOON + timedelta(days=365, minutes=minute) for minute in range(3)], []),
    ],
    ids=[
        "all but the last of an older day", "all but the last of an older week", "all but the last of an older month",
        "what is older than a year", "never the newest", "nothing that is of the future after a clock was set back",
    ],
)  # fmt: skip
def test_this_is_deleted(times: list[datetime], deleted: list[int]) -> None:
    assert to_delete(times, NOON) == [times[place] for place in deleted]


def test_two_years_of_half_hourly_backups_leave_a_ladder_without_gaps() -> None:
    kept: list[datetime] = []
    for day in range(730, -1, -1):
        kept += [NOON - timedelta(days=day) + timedelta(minutes=30 * n) for n in range(-8, 1)]
        kept = sorted(set(kept).difference(to_delete(kept, kept[-1])))
    assert to_delete(kept, NOON) == []
    ages = sorted((NOON - at) / timedelta(days=1) for at in kept)
    gaps = [(older, older - younger) for younger, older in pairwise(ages)]
    # 9 of the last day, 8 days, at most 5 weeks and 12 or 13 months.
    assert 9 + 7 + 3 + 10 <= len(kept) <= 10 + 8 + 5 + 13
    assert all(gap <= (1.01 if age <= 8 else 7.01 if age <= 31 else 38) for age, gap in gaps)
    assert 330 <= ages[-1] <= 366


def test_a_backup_of_a_newer_program_is_listed_as_such(project: Project) -> None:
    path = made(project)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(f"PRAGMA user_version={opening.SCHEMA + 1}")
    (listed,) = backup.backups(path.parent, "small")
    assert "newer Goldsmith" in listed.problem


GOLDEN = Path(__file__).parents[1] / "golden"
NEXT = opening.SCHEMA + 1
STEPS = (
    'op.add_column("person", sa.Column("orcid", sa.String(), nullable=True))',
    'op.create_table("tag", sa.Column("id", sa.String(36), primary_key=True))',
    'with op.batch_alter_table("artifact") as batch: batch.add_column(sa.Column("pace", sa.Integer()))',
    "op.execute(\"INSERT INTO tag VALUES ('t1')\")",
    "op.execute(\"UPDATE artifact SET pace = 3 WHERE state = 'draft'\")",
)


_QUERY = '{"remark": "", "units": [{"id": "w", "text": "How do cells age?"}]}'
OLD_ROWS = (
    *(
        "INSERT INTO item (id, key, dataset, question, question_type, subject, language, position, retired, sha256) "
        f"VALUES ('{name}', '{name}', '', '{question}', '', '', 'en', 0, 0, '')"
        for name, question in (("i1", "Ageing"), ("i2", "Sleep"))
    ),
    "INSERT INTO system (id, name, notes) VALUES ('s', 'S', '')",
    "INSERT INTO response (id, item_id, system_id, text, trial, mode, sha256) VALUES ('r', 'i1', 's', 'A', 1, '', '')",
    *(
        f"INSERT INTO artifact (id, item_id, kind, author_id, state, revision) "
        f"VALUES ('{name}', '{item}', 'query', 'p', '{state}', 1)"
        for name, item, state in (("a1", "i1", "consensus"), ("a2", "i2", "sealed"))
    ),
    *(
        "INSERT INTO revision "
        "(id, artifact_id, number, content, sha256, chain, sealed, reason, guideline, verb, by, at) "
        f"VALUES ('r{name}', '{name}', 1, '{_QUERY}', '', '', 1, '', '1', 'seal', 'p', '2026-01-01')"
        for name in ("a1", "a2")
    ),
)


def planted(*steps: str) -> Migrations:
    """The program's migrations and one more, which changes tables in the way that can empty others."""

    def migrate() -> None:
        for step in steps:
            exec(step, {"op": op, "sa": sa})  # noqa: S102

    return (*MIGRATIONS, migrate)


REVISIONS = "SELECT count(*) FROM revision"


def backup_value(path: Path, question: str) -> object:
    with closing(sqlite3.connect(path)) as raw:
        return raw.execute(question).fetchone()[0]


def test_the_scripts_make_exactly_the_tables_that_the_models_say(project: Project) -> None:
    engine = engine_over(sql.connection(project))

    def ours(_: object, name: str | None, kind: str, *__: object) -> bool:
        return not (kind == "table" and str(name).startswith("item_words"))

    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"include_object": ours, "compare_server_default": True}
        )
        assert compare_metadata(context, metadata) == []


def test_a_project_of_the_present_format_is_left_alone(closed: Path) -> None:
    with unharmed(closed):
        assert bring_up_to_date(closed) is False


def test_an_older_project_is_brought_up_to_date_and_its_old_file_kept(closed: Path, tmp_path: Path) -> None:
    before = digest(closed)
    assert bring_up_to_date(closed, NEXT, planted(*STEPS)) is True
    kept = closed.with_name(f"small.before-format-{NEXT}.goldsmith")
    assert (project_files(tmp_path), digest(kept)) == ({closed.name, kept.name}, before)
    assert backup_value(closed, "PRAGMA user_version") == NEXT
    assert backup_value(closed, "SELECT pace FROM artifact WHERE state = 'draft'") == 3
    assert (backup_value(closed, REVISIONS), noticed(closed)) == (backup_value(kept, REVISIONS), [])
    with closing(raw_connection(closed)) as raw, pytest.raises(sqlite3.IntegrityError):
        raw.execute("DELETE FROM artifact")


def test_an_earlier_kept_file_is_not_overwritten(closed: Path, tmp_path: Path) -> None:
    earlier = closed.with_name(f"small.before-format-{NEXT}.goldsmith")
    earlier.write_text("precious", "utf-8")
    bring_up_to_date(closed, NEXT, planted(*STEPS))
    assert earlier.read_text("utf-8") == "precious"
    assert closed.with_name(f"small.before-format-{NEXT}-2.goldsmith").exists()


def not_migrated(closed: Path, words: str, *steps: str) -> Refusal:
    with unharmed(closed):
        return expect_refusal(words, bring_up_to_date, closed, NEXT, planted(*steps))


@pytest.mark.parametrize("place", range(len(STEPS) + 1))
def test_a_migration_that_fails_at_any_step_leaves_the_old_file(closed: Path, place: int) -> None:
    content = backup_value(closed, REVISIONS)
    steps = (*STEPS[:place], 'op.execute("INSERT INTO nowhere VALUES (1)")', *STEPS[place:])
    not_migrated(closed, r"could not be brought up to date: no such table.*unchanged", *steps)
    assert sql.first(Project.open(closed), REVISIONS)[0] == content


def test_a_script_with_a_bug_leaves_the_old_file_and_is_told_as_a_bug(closed: Path) -> None:
    with unharmed(closed), pytest.raises(ZeroDivisionError):
        bring_up_to_date(closed, NEXT, planted(*STEPS, "1 / 0"))


LOSSES = {
    "a row": ('op.execute("DELETE FROM judgement WHERE rowid = 2")', "1 rows of judgement"),
    "a letter": ('op.execute("UPDATE item SET question = question || 1 WHERE key = 2")', "1 rows of item"),
    "a column": ('with op.batch_alter_table("person") as batch: batch.drop_column("roles")', "person.roles"),
    "a table": ('op.drop_table("time_spent")', "time_spent.id is gone"),
    "one for another": (
        "op.execute(\"UPDATE time_spent SET id = 'another'\")",
        "1 rows of time_spent are missing or changed",
    ),
    "a link": (
        "op.execute(\"INSERT INTO artifact VALUES ('x', 'no item', 'plan', 'me', 'draft', 1, NULL, NULL)\")",
        "broken link: ('artifact'",
    ),
}


@pytest.mark.parametrize("what", LOSSES)
def test_a_migration_that_loses_something_is_stopped(closed: Path, what: str) -> None:
    step, told = LOSSES[what]
    stopped = not_migrated(closed, "would have lost something", *STEPS, step)
    assert any(told in detail for detail in stopped.details)


def test_a_damaged_project_is_not_brought_up_to_date(closed: Path) -> None:
    # Hashing its rows anew would hide the damage for ever.
    beside(closed, "UPDATE person SET name = 'flipped'")
    not_migrated(closed, "damaged and was not brought up to date", *STEPS)


FULL = sqlite3.OperationalError("database or disk is full")


def test_a_full_disk_during_a_migration_leaves_the_old_file(
    closed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "_migrate_copy", failing(FULL))
    not_migrated(closed, r"disk is full.*unchanged", *STEPS)


def test_an_older_project_that_may_only_be_read_is_shown_as_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "old.goldsmith"
    path.write_bytes(gzip.decompress((GOLDEN / "format-1.goldsmith.gz").read_bytes()))
    with unharmed(path), closing(Project.open(path, readonly=True)) as opened:
        expect_refusal("older format", opened.set, "title", "changed")
        assert (opened.title, backup_value(opened.path, "PRAGMA user_version")) == ("small", opening.SCHEMA)
    assert not opened.path.exists()


def test_a_project_that_could_not_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "_upgrade", failing(FULL))
    expect_refusal("could not be created: database or disk is full", new_project, tmp_path / "new.goldsmith")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_never_replaced_by_a_new_project(closed: Path) -> None:
    with unharmed(closed):
        expect_refusal("already exists", new_project, closed)


def test_letter_1_a_query_settled_before_is_asked_after_the_migration(tmp_path: Path) -> None:
    path = tmp_path / "old.goldsmith"
    with backup.created(path) as unfinished:
        unfinished.unlink()
        with closing(sqlite3.connect(unfinished)) as raw:
            raw.isolation_level = None
            backup._upgrade(raw, 0, 5)
            raw.execute("PRAGMA user_version=5")
            for step in OLD_ROWS:
                raw.execute(step)
            integrity.renew(raw)
            raw.commit()
    assert bring_up_to_date(path) is True
    with closing(Project.open(path, unchecked=True)) as project:
        assert sql.rows(project, "SELECT id, question, working_title FROM item ORDER BY id") == [
            ("i1", "How do cells age?", "Ageing"), ("i2", "Sleep", ""),
        ]  # fmt: skip
        assert sql.first(project, "SELECT asked FROM response") == (sha256(b"Ageing").hexdigest(),)
        assert [p for p in checking.check(project).problems if p.subject == "i1"] == []


# Filled by hand, with an agreement and a version of a consensus that say nothing.
HOLLOW = {"format-3.goldsmith.gz": [("agreement", "agreement-1"), ("consensus_version", "version-1")]}
FILES = sorted(
    GOLDEN.glob("format-*.goldsmith.gz"), key=lambda path: int(path.name.split("-")[1].split(".")[0])
)
# What the versions that wrote formats 5 to 11 printed of the same made-up content: value, n, missing, floor, ceiling.
FIGURES = json.loads((GOLDEN / "figures.json").read_text("utf-8"))
PRINTED = ("value", "n", "missing", "floor", "ceiling")


def rows(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as raw:
        names = [n for (n,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [n for n in names if not n.startswith(("sqlite_", "item_words", "witness", "alembic"))]
        return {name: raw.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in kept}


@pytest.mark.parametrize("packed", FILES, ids=lambda path: path.name)
def test_a_project_of_an_old_format_opens_whole_with_the_figures_that_its_own_version_printed(
    packed: Path, tmp_path: Path
) -> None:
    path = tmp_path / "old.goldsmith"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    before = rows(path)
    assert before["item"] > 0
    with closing(Project.open(path, unchecked=packed.name in HOLLOW)) as project:
        assert [
            (finding.table, finding.subject) for finding in checking.check(project).problems
        ] == HOLLOW.get(packed.name, [])
        assert {name: count for name, count in rows(path).items() if name in before} == before
        if packed in FILES[-7:]:
            assert {metric: printed(project, metric) for metric in FIGURES} == FIGURES


def printed(project: Project, metric: str) -> dict[str, list[float | int | None]]:
    named = scoring.named(metric)
    counted = results.rows(project, protocol=named.protocol or result_raters.first_judged(project))
    shown = [results.plain(one) for one in counted if (one.metric, one.group_by) == (metric, scoring.ALL)]
    return {one["system"]: [one[name] for name in PRINTED] for one in shown}


@pytest.mark.parametrize("packed", sorted(GOLDEN.glob("release-*.zip")), ids=lambda path: path.name)
def test_an_old_release_comes_in_whole_and_leaves_in_the_layout_of_today(
    packed: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path / "in")
    (folder,) = (tmp_path / "in").iterdir()
    bundle, problems = release.read([folder])
    assert (problems, len(bundle.items)) == ([], 3)
    with closing(Project.create(tmp_path / "p.goldsmith", "Sample")) as project:
        report = imports.run(project, "goldsmith", [folder], warm=False)[1]
        assert (report.new, report.problems) == (sum(bundle.counts().values()) - len(bundle.scores), ())
        assert str(imports.run(project, "goldsmith", [folder], warm=False)[1]) == "nothing new"
        assert checking.check(project).problems == []
        releases.export(project, tmp_path / "out")
    again, _ = release.read([tmp_path / "out"])
    assert (again.artifacts, again.judgements, again.people) == (
        bundle.artifacts, bundle.judgements, bundle.people,
    )  # fmt: skip


def test_what_the_sample_ships_is_released_as_it_was_committed(sample, tmp_path):
    releases.export(sample, tmp_path / "release")
    assert files_of(tmp_path / "release") == files_of(GOLDEN.parents[1] / "exports" / "sample")
