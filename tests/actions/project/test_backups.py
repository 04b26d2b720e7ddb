"""Making, listing, looking into and putting back backups."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from annotator.actions.items import items
from annotator.actions.project import backups
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.undo import history
from annotator.storage.opening import Busy, Damaged
from annotator.storage.store import ProjectHold
from tests.projects.filled_project import filled_project
from tests.projects.refusals import expect_refusal
from tests.storage import sql
from tests.storage.sql import digest

PROJECT = filled_project


def titles(path: Path) -> str:
    project = Project.open(path)
    title = project.title
    project.close()
    return title


def pretend_changes_are(project: Project, age: timedelta) -> None:
    moment = (datetime.now(UTC) - age).strftime("%Y-%m-%d %H:%M:%S.%f")
    sql.alter(project, "UPDATE audit SET at = ?", [moment])


def test_a_backup_is_listed_and_looked_into(project: Project) -> None:
    path = backups.make(project, "before an import")
    (listed,) = backups.listing(project.path)
    assert (listed.path, listed.why, listed.ok) == (path, "before an import", True)
    last = sql.first(project, "SELECT at FROM audit ORDER BY seq DESC LIMIT 1")[0]
    path = backups.make(project, "to look at")
    items.add(project, "Added later?")
    before = digest(path)
    summary = backups.peek(path)
    assert (summary.title, summary.items, summary.artifacts, summary.judgements) == ("small", 2, 2, 3)
    assert summary.last_change == datetime.fromisoformat(f"{last}+00:00")
    assert (summary.why, summary.problem) == ("to look at", "")
    assert digest(path) == before


def test_a_look_into_a_broken_backup_is_refused(project: Project) -> None:
    path = backups.make(project, "")
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(Damaged):
        backups.peek(path)


def test_a_backup_is_due_half_an_hour_after_a_change_that_none_holds(project: Project) -> None:
    pretend_changes_are(project, timedelta(minutes=29))
    assert backups.due(project) is False
    pretend_changes_are(project, timedelta(minutes=31))
    assert backups.due(project) is True
    backups.make(project, "due")
    pretend_changes_are(project, timedelta(days=3))
    assert backups.due(project) is False
    items.add(project, "New?")
    assert backups.due(project) is False
    pretend_changes_are(project, timedelta(minutes=40))
    assert backups.due(project) is True
    # A clock set back makes one due too.
    pretend_changes_are(project, timedelta(days=-365))
    assert backups.due(project) is True


def test_a_backup_of_altered_rows_does_not_stay_due(project: Project) -> None:
    with closing(sqlite3.connect(project.path)) as raw:
        raw.execute("UPDATE person SET name = 'flipped'")
        raw.commit()
    backups.make(project, "as it is")
    pretend_changes_are(project, timedelta(minutes=40))
    assert backups.listing(project.path)[0].ok is False
    assert backups.due(project) is False


def test_putting_a_backup_back_sets_the_present_file_aside(project: Project) -> None:
    backup = backups.make(project, "good")
    project.set("title", "worse")
    project.close()
    present = digest(project.path)
    aside = backups.restore(project.path, backup)
    assert digest(aside) == present
    assert aside.name.startswith("small.set-aside-20")
    assert backup.exists()
    restored = Project.open(project.path)
    assert restored.title == "small"
    assert checking.check(restored).problems == []
    assert len(history.recover(restored)) == 1


@pytest.mark.parametrize("content", [b"", b"garbage" * 999, None])
def test_a_backup_replaces_a_project_that_is_broken_or_gone(project: Project, content: bytes | None) -> None:
    backup = backups.make(project, "good")
    project.close()
    if content is None:
        project.path.unlink()
    else:
        project.path.write_bytes(content)
    (listed,) = backups.listing(project.path)
    aside = backups.restore(project.path, listed.path)
    assert backup == listed.path
    assert titles(project.path) == "small"
    assert (aside.read_bytes() if aside.exists() else None) == content


def test_a_journal_that_was_left_alone_is_not_played_back_into_the_backup(project: Project) -> None:
    backup = backups.make(project, "good")
    project.close()
    project.path.unlink()
    Path(f"{project.path}-journal").write_bytes(b"a journal that must not be played back")
    aside = backups.restore(project.path, backup)
    assert titles(project.path) == "small"
    assert Path(f"{aside}-journal").read_bytes() == b"a journal that must not be played back"


def test_a_damaged_backup_is_not_put_back(project: Project) -> None:
    backup = backups.make(project, "good")
    with closing(sqlite3.connect(backup)) as raw:
        raw.execute("UPDATE person SET name = 'flipped'")
        raw.commit()
    project.close()
    before = digest(project.path)
    with pytest.raises(Damaged, match="This backup is incomplete:  Row 1 of “person”"):
        backups.restore(project.path, backup)
    assert digest(project.path) == before
    assert list(project.path.parent.glob("*aside*")) == []


def test_a_project_that_is_open_in_a_window_is_not_replaced(project: Project) -> None:
    backup = backups.make(project, "good")
    project.hold()
    with pytest.raises(Busy):
        backups.restore(project.path, backup)
    assert list(project.path.parent.glob("*aside*")) == []


def test_a_full_disk_while_putting_back_leaves_the_project_in_its_place(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = backups.make(project, "good")
    project.close()
    before = digest(project.path)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups.files, "put_in_place", full)
    expect_refusal("could not be replaced", backups.restore, project.path, backup)
    assert digest(project.path) == before
    assert [path.name for path in project.path.parent.glob("*.goldsmith")] == ["small.goldsmith"]
    ProjectHold.take(project.path).release()


def test_a_copy_is_saved_and_old_backups_go(project: Project) -> None:
    copy = backups.save_copy(project, project.path.with_name("copy.goldsmith"))
    assert titles(copy) == "small"
    expect_refusal("already exists", backups.save_copy, project, copy)
    first = backups.make(project, "")
    days = [first.with_name(f"small-20200101-1{hour}0000.goldsmith") for hour in range(3)]
    for day in days:
        day.write_bytes(first.read_bytes())
    backups.make(project, "")
    assert [day.exists() for day in days] == [False, False, False]
    assert len(backups.listing(project.path)) == 2
