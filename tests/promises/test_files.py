"""What Goldsmith promises about files: whole or not there, one project under one name, and always a way to open it."""

import gzip
import hashlib
import multiprocessing
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from sqlalchemy import DateTime, Float, Integer, LargeBinary

from annotator import places
from annotator.actions.imports import imports, label_matching, samples
from annotator.actions.items import items
from annotator.actions.parcels import tasking
from annotator.actions.project import backups, document_checks
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking, releases
from annotator.cli import run_command
from annotator.domain.common import Refusal
from annotator.gui.shell.start import Goldsmith, StartPage
from annotator.gui.shell.window import Window
from annotator.places import resources
from annotator.storage import backup, opening
from annotator.storage.tables import metadata
from tests.common import content_hash, links
from tests.crashes.killing import begun_apart, killed_after, killed_at_first_sight
from tests.projects.filled_project import filled_project
from tests.projects.pairs_project import annotators, coordinated, task_for
from tests.storage.test_store import rows

HERE = Path(__file__).parents[2]
GOLDEN = HERE / "tests/golden"
LEFT_BEHIND = ("lock", "holder.json", "migrating.lock", "making", "migrating", "restoring", "part")


def hash_of(path: Path) -> str:
    with closing(Project.open(path)) as project:
        return content_hash(project)


def seen(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def old_project(path: Path) -> Path:
    path.write_bytes(gzip.decompress((GOLDEN / "format-2.goldsmith.gz").read_bytes()))
    return path


def said_at_once(*acts: Callable[[], str]) -> list[str]:
    """What each act returns, all of them begun at the same moment, each in a process of its own."""
    begin, ends = multiprocessing.get_context("fork").Barrier(len(acts)), []
    for act in acts:

        def together(act: Callable[[], str] = act) -> str:
            begin.wait(60)
            return act()

        ends.append(begun_apart(together))
    return [end() for end in ends]


def opened(path: Path) -> str:
    try:
        Project.open(path).close()
    except Refusal as refusal:
        return str(refusal)
    return "opened"


def kept_before(folder: Path) -> list[str]:
    return [kept.name for kept in folder.glob("*.before-*")]


KEPT = f"old.before-format-{opening.SCHEMA}.goldsmith"


def test_of_four_who_open_an_old_project_one_brings_it_up_to_date(tmp_path: Path) -> None:
    path = old_project(tmp_path / "old.goldsmith")
    before = rows(path)
    acts = [partial(opened_after_a_look, path, 0.15 * place) for place in range(4)]
    assert said_at_once(*acts) == ["opened"] * 4
    assert {name: count for name, count in rows(path).items() if name in before} == before
    with closing(Project.open(path)) as project:
        assert checking.check(project).problems == []
    assert kept_before(tmp_path) == [KEPT]


def test_a_name_that_a_killed_migration_left_does_not_keep_the_project_closed(tmp_path: Path) -> None:
    path = old_project(tmp_path / "old.goldsmith")
    os.link(path, tmp_path / KEPT)
    with closing(Project.open(path)) as project:
        assert not project.readonly
    assert kept_before(tmp_path) == [KEPT]


def opened_after_a_look(path: Path, pause: float) -> str:
    """What somebody is told who opens a project and takes a while after having seen how old it is."""
    look = backup.recognise

    def slowly(path: Path) -> int:
        result = look(path)
        time.sleep(pause)
        return result

    # In this process only, which ends with it.
    backup.recognise = slowly  # type: ignore[assignment]
    return opened(path)


def backed_up(path: Path) -> str:
    try:
        with closing(Project.open(path)) as project:
            for _ in range(3):
                backups.make(project, "asked for")
                backup.backup(project.store, backup.folder_of(path), path.stem, "kept")
    except Refusal as refusal:
        return str(refusal)
    return "backed up"


def test_backups_of_three_processes_in_the_same_second_are_all_whole(tmp_path: Path) -> None:
    with closing(filled_project(tmp_path)) as project:
        path = project.path
    assert said_at_once(*[lambda: backed_up(path)] * 3) == ["backed up"] * 3
    result = backups.listing(path)
    assert result
    assert [backup.verify(file.path) for file in result] == [""] * len(result)
    assert {file.path for file in result} == set(backup.folder_of(path).iterdir())


def test_a_sample_that_can_be_seen_is_whole(sample_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "made.goldsmith"
    killed_at_first_sight(lambda: samples.create(path, to_work_in=False), path)
    assert hash_of(path) == hash_of(sample_file)


def test_a_new_project_that_can_be_seen_has_its_title_and_its_person(tmp_path: Path) -> None:
    for turn in range(3):
        path = tmp_path / f"{turn}.goldsmith"
        killed_at_first_sight(lambda path=path: new_project(path, "Ferns").close(), path)
        with closing(Project.open(path, readonly=True)) as project:
            assert (project.title, project.person and project.person.name) == ("Ferns", "Me")


def test_a_tasks_project_that_can_be_seen_holds_the_task(tmp_path: Path) -> None:
    with closing(coordinated(tmp_path / "study")) as study:
        task = task_for(study, annotators(study)[0].id, tmp_path / "mail")
    for turn in range(3):
        path = tmp_path / f"{turn}.goldsmith"
        killed_at_first_sight(lambda path=path: tasking.take_task(task, path).project.close(), path)
        with closing(Project.open(path)) as project:
            assert (project.from_task, items.count(project)) == (True, 2)


@pytest.mark.slow
def test_no_kill_leaves_anything_half_made_under_its_name(sample_file: Path, tmp_path: Path) -> None:
    whole, draws = hash_of(sample_file), random.Random(12)
    wanted = tmp_path / "table.csv"
    wanted.write_bytes(b"former")

    def make_all(folder: Path) -> None:
        with closing(samples.create(folder / "sample.goldsmith", to_work_in=False)) as project:
            releases.export(project, folder / "release")
            label_matching.export(project, wanted, choice=label_matching.LabelSelection(everything=True))

    for turn in range(6):
        (folder := tmp_path / str(turn)).mkdir()
        killed_after(draws.uniform(0.05, 1.5), lambda folder=folder: make_all(folder))
        if (folder / "sample.goldsmith").exists():
            assert hash_of(folder / "sample.goldsmith") == whole
        if (folder / "release").exists():
            assert_sums(folder / "release")
        # SQLite keeps its journal beside a project that is open.
        assert set(seen(folder)) <= {"sample.goldsmith", "sample.goldsmith-journal", "release"}
        assert wanted.read_bytes() == b"former" or wanted.read_bytes().endswith(b"\r\n")


def assert_sums(folder: Path) -> None:
    for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines():
        digest, _, name = line.partition("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name


def test_a_half_made_sample_is_told_by_the_check_and_made_anew_when_it_is_opened_and_kept_beside(
    goldsmith: Goldsmith,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    qtbot: QtBot,
) -> None:
    monkeypatch.setattr("annotator.gui.shell.navigation.user_data", lambda: tmp_path)
    # As it is when making the sample was interrupted.
    path = tmp_path / "sample.goldsmith"
    with closing(Project.create(path, "Sample: three questions, three systems")) as project:
        imports.run(project, "goldsmith", [resources() / "sample"], warm=False)
    assert run_command(["check", str(path)]) == 1
    assert "was interrupted" in capsys.readouterr().out
    former = hash_of(path)
    goldsmith.show_sample()
    qtbot.waitUntil(lambda: isinstance(goldsmith.shown(), Window))
    assert_made_anew(path, former)


def assert_made_anew(path: Path, former: str) -> Path:
    with closing(Project.open(path, readonly=True)) as project:
        assert (project.is_sample, items.count(project), checking.check(project).problems) == (True, 10, [])
    (kept,) = path.parent.glob("sample.set-aside-*.goldsmith")
    assert hash_of(kept) == former
    return kept


def test_a_reset_brings_the_whole_sample_back_and_keeps_the_present_one(
    sample_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(shutil.copyfile(sample_file, tmp_path / "sample.goldsmith"))
    with closing(Project.open(path)) as project:
        items.add(project, "A question of my own?", "Technical Details", "Deep learning")
    mine = hash_of(path)
    assert run_command(["sample", str(path), "--reset"]) == 0
    assert assert_made_anew(path, mine).name in capsys.readouterr().out


@links
def test_an_old_project_opened_through_a_link_leaves_the_link_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    real, link = old_project(tmp_path / "there" / "old.goldsmith"), tmp_path / "link.goldsmith"
    link.symlink_to(real)
    before = real.read_bytes()
    assert opened(link) == "opened"
    assert (link.is_symlink(), link.samefile(real)) == (True, True)
    assert real.read_bytes() != before
    assert seen(tmp_path) == ["link.goldsmith", "there"]


@links
def test_a_backup_put_back_through_a_link_leaves_the_link_a_link(tmp_path: Path) -> None:
    with closing(filled_project(tmp_path)) as project:
        kept, real = backups.make(project, "before"), project.path
    (tmp_path / "session").mkdir()
    link = tmp_path / "session" / "link.goldsmith"
    link.symlink_to(real)
    assert [file.path for file in backups.listing(link)] == [kept]
    backups.restore(link, kept)
    assert (link.is_symlink(), link.samefile(real)) == (True, True)


@links
def test_one_file_is_never_held_under_two_names(tmp_path: Path) -> None:
    with closing(filled_project(tmp_path)) as first:
        link = tmp_path / "link.goldsmith"
        link.symlink_to(first.path)
        first.hold()
        with closing(Project.open(link)) as second, pytest.raises(Refusal, match="open in another Goldsmith"):
            second.hold()


def test_a_file_with_two_names_on_the_disk_is_opened_to_read_and_says_why(tmp_path: Path) -> None:
    for folder in ("present", "older"):
        (tmp_path / folder).mkdir()
    with closing(filled_project(tmp_path / "present")) as project:
        present = project.path
    for path in (present, old_project(tmp_path / "older" / "old.goldsmith")):
        other = path.with_name("other.goldsmith")
        os.link(path, other)
        before = path.read_bytes()
        with closing(Project.open(path)) as project:
            assert project.readonly
            with pytest.raises(Refusal, match=r"has a second name on this disk, “other\.goldsmith”"):
                project.set("title", "changed")
        assert other.samefile(path)
        assert path.read_bytes() == before


LOOK = """
import resource, sys
from pathlib import Path
from annotator.gui.shell.start import Goldsmith, make_application
application = make_application()
most = int(sys.argv[2])
if most >= 0:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
goldsmith = Goldsmith(application)
window = goldsmith.show(Path(sys.argv[1]))
print(type(window).__name__, window.session.project.readonly, window.session.project.title, window.messages.text())
goldsmith.close()
"""


def looked_at(path: Path, most: int = -1) -> str:
    """What is shown where no file may grow beyond `most` bytes: its kind, whether only to read, and its words."""
    words = [sys.executable, "-c", LOOK, str(path), str(most)]
    shown = subprocess.run(words, capture_output=True, encoding="utf-8", cwd=HERE, timeout=240, check=False)
    assert "Traceback" not in shown.stderr, shown.stderr
    return shown.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no limit can be set there")
def test_a_disk_that_takes_no_more_keeps_nobody_from_their_project(tmp_path: Path) -> None:
    with closing(filled_project(tmp_path)) as project:
        path, title = project.path, project.title
    before, shown = path.read_bytes(), looked_at(path, most=0)
    assert shown.startswith(f"Window True {title} ")
    assert "Free some space" in shown
    assert path.read_bytes() == before


def with_rest(folder: Path, left: str, kind: str) -> Path:
    """An old project beside which a killed process left something, as a file or as a folder that is in the way."""
    path = old_project(folder / "old.goldsmith")
    rest = path.with_name(f"{path.name}.{left}")
    if kind == "folder":
        (rest / "in the way").mkdir(parents=True)
    else:
        rest.write_text("half", "utf-8")
    return path


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("left", LEFT_BEHIND)
def test_nothing_that_a_killed_process_left_keeps_a_project_closed(
    tmp_path: Path, left: str, kind: str
) -> None:
    with closing(Project.open(with_rest(tmp_path, left, kind))) as project:
        assert project.title == "pairs"
        # Only a lock that cannot be taken keeps it from being changed.
        assert project.readonly == (kind == "folder" and left == "migrating.lock")


def test_a_project_whose_lock_cannot_be_taken_is_shown_to_read(goldsmith: Goldsmith, tmp_path: Path) -> None:
    window = goldsmith.show(with_rest(tmp_path, "lock", "folder"))
    assert isinstance(window, Window)
    assert window.session.project.readonly


# What runs with every change, or may swallow one.
PLANTED = {
    f"{when} {event} on {table}": f"CREATE TRIGGER t {when} {event} ON {table} BEGIN SELECT RAISE(IGNORE); END"
    for table in ("item", "revision", "judgement")
    for when, event in (("BEFORE", "INSERT"), ("AFTER", "UPDATE"), ("BEFORE", "DELETE"))
} | {
    "view": "CREATE VIEW items AS SELECT * FROM item",
    "view over a call": "CREATE VIEW v AS SELECT load_extension('x')",
    "trigger of a view": "CREATE VIEW v AS SELECT 1 AS a; CREATE TRIGGER t INSTEAD OF INSERT ON v BEGIN SELECT 1; END",
    "unique index": "CREATE UNIQUE INDEX i ON draft(person_id)",
    "partial index": "CREATE INDEX i ON item(key) WHERE retired",
    "index by an expression": "CREATE INDEX i ON item(upper(question))",
    "renamed index": "DROP INDEX ix_item_order; CREATE INDEX ix_item_order ON item(key)",
    "missing index": "DROP INDEX ix_item_order",
    "table of another": "CREATE TABLE theirs (a)",
    "column of another": "ALTER TABLE item ADD COLUMN theirs TEXT DEFAULT 'x'",
    "conflicts ignored": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = replace(sql, "
    "'PRIMARY KEY (id)', 'PRIMARY KEY (id) ON CONFLICT IGNORE') WHERE name = 'judge'",
    "rows deleted with others": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = replace(sql, "
    "'ON DELETE RESTRICT', 'ON DELETE CASCADE') WHERE name = 'response'",
}
TEXTS = {
    "item.question": "undecodable", "item.key": "number", "person.name": "undecodable", "person.alias": "number",
    "revision.content": "undecodable", "response.text": "undecodable", "source.text": "half", "judge.name": "half",
    "judge.model": "null", "judgement.rationale": "undecodable", "judgement.value": "number", "draft.text": "half",
    "meta.value": "undecodable", "audit.after": "undecodable", "extract.content": "null", "system.name": "number",
    "source.title": "null", "response.mode": "number", "judgement.note": "half", "revision.verb": "number",
}  # fmt: skip
WRONG = {
    "undecodable": "CAST(X'61FF' AS TEXT)",
    "half": "CAST(X'EDA0BD' AS TEXT)",
    "number": "CAST(rowid AS BLOB)",
    "null": "'a' || char(0)",
}
CONTENT = {
    "units gone": ("revision", "content", "'{}x'"),
    "a list": ("revision", "content", "'[1, 2]'"),
    "a field of another": ("revision", "content", "json_set(content, '$.theirs', 1)"),
    "weight of 10^30": ("revision", "content", "json_set(content, '$.units[0].weight', 1e30)"),
    "deep nesting": ("revision", "content", "replace(hex(zeroblob(50000)), '00', '[')"),
    "an unknown kind": ("artifact", "kind", "'novel'"),
    "an unknown state": ("artifact", "state", "'lost'"),
    "a status of another": ("judgement", "status", "'maybe'"),
    "a rater of another kind": ("judgement", "rater_kind", "'oracle'"),
    "no such run state": ("run", "state", "'flying'"),
    "a scope that is no JSON": ("run", "scope", "'{'"),
    "parameters that are a list": ("judge", "parameters", "'[1]'"),
    "parameters that are no JSON": ("judge", "parameters", "'{\"a\": NaN}'"),
    "an asking of another": ("judge", "asking", "'{\"together\": -1}'"),
    "a judge of another kind": ("judge", "kind", "'oracle'"),
    "traits that are a number": ("item", "traits", "'7'"),
    "traits that are no JSON": ("item", "traits", "'{'"),
    "a title that is no JSON": ("meta", "value", "'{'"),
    "an extract of another": ("extract", "content", "'{\"units\": 3}'"),
    "an extract's unknown state": ("extract", "state", "'lost'"),
    "a stage of another": ("assignment", "stage", "'waiting'"),
    "a page of another state": ("page", "state", "'asleep'"),
    "a trial below one": ("response", "trial", "-4"),
    "a question too long": ("item", "question", "hex(zeroblob(150000))"),
    "a name too long": ("person", "name", "hex(zeroblob(5000))"),
    "a report without end": ("response", "text", "hex(zeroblob(11000000))"),
    "a 30th of February": ("revision", "at", "'2026-02-30 10:00:00.000000'"),
    "a day of a year that never was": ("response", "collected_on", "'0000-01-01'"),
    "a moment in words": ("audit", "at", "'yesterday'"),
    "a price without end": ("run", "cost_usd", "9e999"),
    "a truth of two": ("item", "retired", "2"),
}  # fmt: skip


def _numbers() -> Iterator[tuple[str, str]]:
    """A column of each table that holds no text, with a text in it."""
    for name, table in metadata.tables.items():
        held = [
            column.name
            for column in table.columns
            if isinstance(column.type, Integer | Float | DateTime | LargeBinary) and not column.primary_key
        ]
        if held and name not in ("witness", "rendering"):
            yield f"{name}.{held[0]}", f'UPDATE OR IGNORE "{name}" SET "{held[0]}" = \'words\''


VARIANTS = {
    **{f"planted: {name}": words for name, words in PLANTED.items()},
    **{
        f"text: {field} {wrong}": 'UPDATE "{}" SET "{}" = {}'.format(*field.split("."), WRONG[wrong])
        for field, wrong in TEXTS.items()
    },
    **{
        f"content: {name}": f'UPDATE "{table}" SET "{field}" = {value}'
        for name, (table, field, value) in CONTENT.items()
    },
    **{f"type: {field}": words for field, words in _numbers()},
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = filled_project(tmp_path_factory.mktemp("whole"))
    project.close()
    return project.path


def foreign(whole: Path, folder: Path, change: str) -> Path:
    """A copy in which something was changed by another tool; where it came from is not known here."""
    path = Path(shutil.copy(whole, folder / "theirs.goldsmith"))
    with closing(sqlite3.connect(path)) as raw:
        changes = raw.total_changes
        raw.executescript(change)
        assert "UPDATE" not in change.split(" ", 1)[0] or raw.total_changes > changes, (
            "the variant changes nothing"
        )
    return path


@pytest.mark.parametrize("name", VARIANTS)
def test_a_foreign_file_is_refused_by_table_row_and_field(
    name: str, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = foreign(whole, tmp_path, VARIANTS[name])
    before = path.read_bytes()
    assert run_command(["items", "list", str(path)]) == 1
    answer = " ".join(capsys.readouterr().err.split())
    kind, _, where = name.partition(": ")
    assert "The file was not changed." in answer
    if kind == "planted":
        assert "not the program's" in answer or "not those of the program" in answer
    else:
        table, field = where.split(" ")[0].split(".") if "." in where else CONTENT[where][:2]
        assert f"of “{table}”" in answer
        assert field in answer or "unreadable content" in answer
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "name", ["planted: BEFORE INSERT on revision", "content: units gone", "type: item.position"]
)
def test_every_command_refuses_it_and_the_window_on_the_first_page(
    name: str, whole: Path, tmp_path: Path, qapp: QApplication
) -> None:
    path = foreign(whole, tmp_path, VARIANTS[name])
    for words in (["status", str(path)], ["export", str(path), "--to", str(tmp_path / "out")]):
        assert run_command(words) == 1
    assert not (tmp_path / "out").exists()
    program = Goldsmith(qapp)
    try:
        shown = program.show(path)
        assert isinstance(shown, StartPage)
        assert "changed outside the program or is damaged" in shown.messages.text()
    finally:
        program.close()


def test_a_whole_file_from_elsewhere_opens_everywhere(
    whole: Path, tmp_path: Path, qapp: QApplication
) -> None:
    path = Path(shutil.copy(whole, tmp_path / "theirs.goldsmith"))
    assert not opening.is_known(path)
    assert run_command(["items", "list", str(path)]) == 0
    assert run_command(["status", str(path)]) == 0
    program = Goldsmith(qapp)
    assert isinstance(program.show(path), Window)
    program.close()
    assert opening.is_known(path)


@pytest.mark.parametrize("fraction", ["", ".0", ".999499", ".999500", ".999999"])
def test_a_change_at_any_fraction_of_a_second_is_no_damage(
    whole: Path, tmp_path: Path, fraction: str
) -> None:
    with closing(sqlite3.connect(Path(shutil.copy(whole, tmp_path / "mine.goldsmith")))) as raw:
        raw.execute("UPDATE draft SET at = ?", [f"2026-11-30 23:59:59{fraction}"])
        raw.commit()
        assert list(opening.misfits(raw)) == []


def test_a_file_that_was_changed_since_is_checked_again(whole: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(whole, tmp_path / "mine.goldsmith"))
    Project.open(path).close()
    assert opening.is_known(path)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE item SET position = 'first'")
        raw.commit()
    assert not opening.is_known(path)
    mine = Project.open(shutil.copy(whole, tmp_path / "other.goldsmith"))
    # Something that syncs folders puts another file in its place while it is open.
    path.replace(mine.path)
    mine.close()
    assert not opening.is_known(mine.path)
    path = mine.path
    with pytest.raises(opening.Damaged, match=r"“item”.*“position”"):
        Project.open(path)


def test_of_the_files_that_were_checked_the_last_five_hundred_are_remembered(
    whole: Path, tmp_path: Path
) -> None:
    marks = places.user_data() / "checked"
    shutil.rmtree(marks, ignore_errors=True)
    marks.mkdir(parents=True)
    for age in range(600):
        (marks / str(age)).write_text("of a file that is gone", encoding="utf-8")
        os.utime(marks / str(age), (1_000_000 - age, 1_000_000 - age))
    path = Path(shutil.copy(whole, tmp_path / "mine.goldsmith"))
    Project.open(path).close()
    assert opening.is_known(path)
    left = {mark.name for mark in marks.iterdir()}
    assert len(left) == 500
    assert {str(age) for age in range(499)} < left


def test_what_is_open_is_not_checked_again_by_the_same_process(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(whole, tmp_path / "mine.goldsmith"))
    checks: list[Path] = []
    with closing(Project.open(path)) as project:
        monkeypatch.setattr(document_checks, "check_contents", checks.append)
        project.set("title", "Changed")
        assert not opening.is_known(path)
        Project.open(path, readonly=True).close()
        assert checks == []
    assert opening.is_known(path)
    path.touch()
    Project.open(path, unchecked=True).close()
    assert checks == []
    assert not opening.is_known(path)
    Project.open(path).close()
    assert checks == [path]
