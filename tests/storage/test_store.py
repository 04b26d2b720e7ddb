"""Transactions: all or nothing, one inside another, and what the disk's failures are called."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from annotator.actions.project import backups
from annotator.actions.project.file import Project
from annotator.domain.texts.refusal import Refusal
from annotator.storage.opening import Busy
from annotator.storage.store import Store
from annotator.storage.tables import META
from tests.storage import sql
from tests.storage.apart import with_files_no_larger_than
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
    with pytest.raises(Refusal):
        write_and_fail(project.store)
    assert keys(project.store) == before


def test_an_inner_write_that_fails_is_taken_back_alone(project: Project) -> None:
    before = keys(project.store)
    with project.store.write() as db:
        db.execute(insert(META).values(key="outer", value="1"))
        with pytest.raises(Refusal):
            write_and_fail(project.store)
    assert keys(project.store) == before | {"outer"}


def test_an_inner_write_that_succeeds_falls_with_the_outer_one(project: Project) -> None:
    before = keys(project.store)
    with pytest.raises(Refusal):
        write_twice_and_fail(project)
    assert keys(project.store) == before


def test_a_write_inside_a_reading_is_kept(project: Project) -> None:
    with project.store.read(), project.store.write() as db:
        db.execute(insert(META).values(key="inside", value="1"))
    assert "inside" in keys(project.store)


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
    project.close()


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
    other.close()


@posix
def test_writing_stops_when_the_file_was_moved_away_and_a_copy_can_be_saved(project: Project) -> None:
    elsewhere = project.path.with_name("moved.goldsmith")
    project.path.rename(elsewhere)
    with pytest.raises(Refusal, match="moved, renamed or deleted"):
        project.set("title", "lost?")
    copy = backups.save_copy(project, project.path.with_name("saved.goldsmith"))
    saved = Project.open(copy)
    assert sql.first(saved, "SELECT count(*) FROM item") == (2,)
    saved.close()


def test_a_full_disk_refuses_the_save_and_lets_the_next_one_through(closed: Path) -> None:
    def save_too_much() -> str:
        project = Project.open(closed)
        try:
            project.set("long", "x" * 200_000)
        except Refusal as refusal:
            project.set("long", "short")
            return refusal.happened
        return "saved"

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
        with pytest.raises(Refusal):
            write_and_fail(project.store)

    with ThreadPoolExecutor(2) as pool:
        failing = [pool.submit(fail, number) for number in range(20)]
        for number in range(20):
            project.set(f"kept {number}", number)
        for done in failing:
            done.result()
    assert {f"kept {number}" for number in range(20)} <= keys(project.store)
    assert "half" not in keys(project.store)
