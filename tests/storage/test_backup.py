"""Backups and migrations."""

import gzip
import os
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import op
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking
from annotator.domain.texts.refusal import Refusal
from annotator.storage import backup, integrity, opening
from annotator.storage.backup import Migrations, bring_up_to_date, folder_of, to_delete
from annotator.storage.connection import engine_over, raw_connection
from annotator.storage.migrations import MIGRATIONS
from annotator.storage.tables import metadata
from tests.projects.refusals import expect_refusal
from tests.storage import sql
from tests.storage.apart import refusal_of, with_files_no_larger_than
from tests.storage.sql import beside, digest, noticed, project_files, unharmed
from tests.systems import failing

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


def value(path: Path, question: str) -> object:
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
    assert value(closed, "PRAGMA user_version") == NEXT
    assert value(closed, "SELECT pace FROM artifact WHERE state = 'draft'") == 3
    assert (value(closed, REVISIONS), noticed(closed)) == (value(kept, REVISIONS), [])
    with closing(raw_connection(closed)) as raw, pytest.raises(sqlite3.IntegrityError):
        raw.execute("DELETE FROM artifact")


def test_an_earlier_kept_file_is_not_overwritten(closed: Path, tmp_path: Path) -> None:
    earlier = closed.with_name(f"small.before-format-{NEXT}.goldsmith")
    earlier.write_text("precious", "utf-8")
    bring_up_to_date(closed, NEXT, planted(*STEPS))
    assert earlier.read_text("utf-8") == "precious"
    assert closed.with_name(f"small.before-format-{NEXT}-2.goldsmith").exists()


def not_migrated(closed: Path, words: str, *steps: str) -> Refusal:
    """Why a project is not brought up to date, which leaves its file as it was."""
    with unharmed(closed):
        return expect_refusal(words, bring_up_to_date, closed, NEXT, planted(*steps))


@pytest.mark.parametrize("place", range(len(STEPS) + 1))
def test_a_migration_that_fails_at_any_step_leaves_the_old_file(closed: Path, place: int) -> None:
    content = value(closed, REVISIONS)
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
        assert (opened.title, value(opened.path, "PRAGMA user_version")) == ("small", opening.SCHEMA)
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
