"""Backups: whole, verified, never in the way of earlier ones, and thinned out with age."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from annotator.domain.texts.refusal import Refusal
from annotator.storage import backup, opening
from annotator.storage.backup import folder_of, to_delete
from annotator.storage.opening import Damaged
from tests.storage.apart import with_files_no_larger_than
from tests.storage.test_migrating import digest
from tests.storage.test_witness import beside

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
    assert path.parent == project.path.with_name("small.backups")
    assert dump(path) == dump(project.path)
    (listed,) = backup.backups(path.parent, "small")
    assert (listed.path, listed.ok, listed.why) == (path, True, "before an import")
    assert listed.size == path.stat().st_size
    assert abs(datetime.now(UTC) - listed.at) < timedelta(minutes=1)


def test_a_backup_opens_as_a_project(project: Project) -> None:
    opened = Project.open(made(project))
    assert opened.title == project.title
    opened.close()


def test_two_backups_within_a_second_are_two(project: Project) -> None:
    first, second = made(project), made(project)
    assert {file.path for file in backup.backups(first.parent, "small")} == {first, second}


def test_a_backup_is_not_made_of_what_is_not_yet_saved(project: Project) -> None:
    with project.store.write(), pytest.raises(RuntimeError, match="inside a transaction"):
        made(project)


def test_a_project_with_an_altered_row_is_backed_up_but_said_to_be_damaged(project: Project) -> None:
    beside(project.path, "UPDATE person SET name = 'flipped'")
    path = made(project)
    (listed,) = backup.backups(path.parent, "small")
    assert not listed.ok
    assert listed.problem == "Row 1 of “person” was altered outside the program."


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
    with pytest.raises(Damaged):
        made(project)
    assert [path for path in earlier.parent.iterdir() if path.suffix != ".goldsmith-journal"] == [earlier]


def test_a_full_disk_leaves_earlier_backups_and_no_rest(closed: Path) -> None:
    project = Project.open(closed)
    earlier = made(project)
    before = digest(earlier)
    project.close()

    def try_it() -> str:
        opened = Project.open(closed)
        try:
            made(opened)
        except Refusal as refusal:
            return f"{refusal.happened} {refusal.todo}"
        return "made"

    told = with_files_no_larger_than(closed.stat().st_size - 4096, try_it)
    assert told.startswith("The backup could not be written to")
    assert "earlier backups are unchanged" in told
    assert list(earlier.parent.iterdir()) == [earlier]
    assert digest(earlier) == before


def test_a_folder_that_cannot_be_made_is_a_refusal(project: Project) -> None:
    folder_of(project.path).write_text("a file in the way", "utf-8")
    with pytest.raises(Refusal, match="could not be written"):
        made(project)


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
    cut = whole.with_name("small-20250101-120000.goldsmith")
    cut.write_bytes(whole.read_bytes()[:-1000])
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


def test_no_backups_is_an_empty_list(tmp_path: Path) -> None:
    assert backup.backups(tmp_path / "none.backups", "none") == []


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


def test_of_an_older_day_its_last_is_kept() -> None:
    times = [datetime(2026, 6, 14, hour, tzinfo=UTC) for hour in (8, 12, 18)] + [NOON]
    assert to_delete(times, NOON) == times[:2]


def test_of_an_older_week_its_last_is_kept() -> None:
    # 25 May 2026 is a Monday; eight days and more before 17 June begins with 9 June.
    week = [datetime(2026, 5, day, 12, tzinfo=UTC) for day in (25, 28, 31)]
    assert to_delete([*week, NOON], NOON) == week[:2]


def test_of_an_older_month_its_last_is_kept_for_a_year() -> None:
    march = [datetime(2026, 3, day, 12, tzinfo=UTC) for day in (2, 30)]
    beyond = datetime(2025, 6, 1, tzinfo=UTC)
    assert to_delete([beyond, *march, NOON], NOON) == [beyond, march[0]]


def test_the_newest_is_kept_however_old_it_is() -> None:
    times = [datetime(2019, 1, day, tzinfo=UTC) for day in (1, 2)]
    assert to_delete(times, NOON) == times[:1]


def test_a_clock_set_back_a_year_deletes_nothing_from_the_future() -> None:
    future = [NOON + timedelta(days=365, minutes=minute) for minute in range(3)]
    assert to_delete(future, NOON) == []


def test_two_years_of_half_hourly_backups_leave_a_ladder_without_gaps() -> None:
    kept: list[datetime] = []
    for day in range(730, -1, -1):
        kept += [NOON - timedelta(days=day) + timedelta(minutes=30 * n) for n in range(-8, 1)]
        kept = [at for at in kept if at not in set(to_delete(kept, kept[-1]))]
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
