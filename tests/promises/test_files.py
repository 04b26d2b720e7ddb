"""What Goldsmith promises about files: whole or not there, one project under one name, and always a way to open it."""

import gzip
import hashlib
import multiprocessing
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from annotator.actions import backups, imports, items, label_exports, releases, samples, tasking
from annotator.actions.project import Project
from annotator.cli import run_command
from annotator.domain.refusal import Refusal
from annotator.gui.starting import Goldsmith
from annotator.gui.window import Window
from annotator.places import resources
from annotator.storage import backup
from annotator.storage.backup import folder_of
from tests.content_hash import content_hash
from tests.filled_project import filled_project
from tests.golden.test_old_projects import rows
from tests.killing import begun_apart, killed_after, killed_at_first_sight
from tests.sent_apart import annotators, coordinated, task_for

GOLDEN = Path(__file__).parents[1] / "golden"
TITLE = "Sample: three questions, three systems"


@pytest.fixture
def goldsmith(qapp: QApplication) -> Iterator[Goldsmith]:
    """The running program."""
    program = Goldsmith(qapp)
    yield program
    program.close()


def hash_of(path: Path) -> str:
    with closing(Project.open(path)) as project:
        return content_hash(project)


def half_made_sample(path: Path) -> Path:
    """A sample whose making was cut short once the import was through, as earlier versions could leave it."""
    with closing(Project.create(path, TITLE, nobody=True)) as project:
        imports.run(project, "goldsmith", [resources() / "sample"], warm=False)
    return path


def seen(folder: Path) -> list[str]:
    """The names that a person sees in a folder."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def old_project(path: Path) -> Path:
    """A project of an earlier format."""
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
    """What somebody is told who opens a project."""
    try:
        Project.open(path).close()
    except Refusal as refusal:
        return str(refusal)
    return "opened"


def assert_one_brought_it_up_to_date(folder: Path, openers: int) -> None:
    folder.mkdir()
    path = old_project(folder / "old.goldsmith")
    before = rows(path)
    assert said_at_once(*[lambda: opened(path)] * openers) == ["opened"] * openers
    assert {name: count for name, count in rows(path).items() if name in before} == before
    assert [path.name for path in folder.glob("*.before-format-*")] == ["old.before-format-4.goldsmith"]


def test_of_four_who_open_an_old_project_one_brings_it_up_to_date(tmp_path: Path) -> None:
    for turn in range(6):
        assert_one_brought_it_up_to_date(tmp_path / str(turn), 4)


@pytest.mark.slow
def test_of_many_who_open_an_old_project_one_brings_it_up_to_date(tmp_path: Path) -> None:
    for turn in range(120):
        assert_one_brought_it_up_to_date(tmp_path / str(turn), 2 + turn % 3)


def backed_up(path: Path, times: int) -> str:
    """What somebody is told who backs a project up again and again."""
    try:
        with closing(Project.open(path)) as project:
            for turn in range(times):
                if turn % 2:
                    backups.make(project, "asked for")
                else:
                    backup.backup(project.store, folder_of(path), path.stem, "kept")
    except Refusal as refusal:
        return str(refusal)
    return "backed up"


def assert_backups_do_not_meet(path: Path, times: int) -> None:
    assert said_at_once(*[lambda: backed_up(path, times)] * 3) == ["backed up"] * 3
    found = backups.listing(path)
    assert found
    assert [backup.verify(file.path) for file in found] == [""] * len(found)
    assert {file.path for file in found} == set(folder_of(path).iterdir())


def test_backups_of_three_processes_in_the_same_second_are_all_whole(tmp_path: Path) -> None:
    with closing(filled_project(tmp_path)) as project:
        path = project.path
    assert_backups_do_not_meet(path, 6)


@pytest.mark.slow
def test_backups_of_three_processes_over_many_seconds_are_all_whole(tmp_path: Path) -> None:
    with closing(filled_project(tmp_path)) as project:
        path = project.path
    assert_backups_do_not_meet(path, 120)


def test_a_sample_that_can_be_seen_is_whole(sample_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "made.goldsmith"
    killed_at_first_sight(lambda: samples.create(path), path)
    assert hash_of(path) == hash_of(sample_file)


def test_a_new_project_that_can_be_seen_has_its_title_and_its_person(tmp_path: Path) -> None:
    for turn in range(5):
        path = tmp_path / f"{turn}.goldsmith"
        killed_at_first_sight(lambda path=path: Project.create(path, "Ferns").close(), path)
        with closing(Project.open(path, readonly=True)) as project:
            assert (project.title, project.person and project.person.name) == ("Ferns", "Me")


def test_a_tasks_project_that_can_be_seen_holds_the_task(tmp_path: Path) -> None:
    with closing(coordinated(tmp_path / "study")) as study:
        task = task_for(study, annotators(study)[0].id, tmp_path / "mail")
    for turn in range(5):
        path = tmp_path / f"{turn}.goldsmith"
        killed_at_first_sight(lambda path=path: tasking.open_task(task, path).close(), path)
        with closing(Project.open(path)) as project:
            assert (project.from_task, items.count(project)) == (True, 2)


@pytest.mark.slow
def test_no_kill_leaves_anything_half_made_under_its_name(sample_file: Path, tmp_path: Path) -> None:
    whole, draws = hash_of(sample_file), random.Random(12)
    wanted = tmp_path / "table.csv"
    wanted.write_bytes(b"former")

    def make_all(folder: Path) -> None:
        with closing(samples.create(folder / "sample.goldsmith")) as project:
            releases.export(project, folder / "release")
            label_exports.export(project, wanted, choice=label_exports.Choice(everything=True))

    for turn in range(14):
        folder = tmp_path / str(turn)
        folder.mkdir()
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


def test_a_half_made_sample_is_made_anew_when_it_is_opened_and_kept_beside(
    goldsmith: Goldsmith, sample_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.gui.starting.user_data", lambda: tmp_path)
    former = hash_of(half_made_sample(tmp_path / "sample.goldsmith"))
    window = goldsmith.show_sample()
    assert isinstance(window, Window)
    assert content_hash(window.desk.project) == hash_of(sample_file)
    (kept,) = tmp_path.glob("sample.set-aside-*.goldsmith")
    assert hash_of(kept) == former


def test_the_check_tells_of_a_half_made_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = half_made_sample(tmp_path / "half.goldsmith")
    assert run_command(["check", str(path)]) == 1
    assert "was cut short" in capsys.readouterr().out


def test_a_reset_brings_the_whole_sample_back_and_keeps_the_present_one(
    sample_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sample.goldsmith"
    path.write_bytes(sample_file.read_bytes())
    with closing(Project.open(path)) as project:
        items.add(project, "A question of my own?", "Technical Details", "Deep learning")
    mine = hash_of(path)
    assert run_command(["sample", str(path), "--reset"]) == 0
    assert hash_of(path) == hash_of(sample_file)
    (kept,) = tmp_path.glob("sample.set-aside-*.goldsmith")
    assert hash_of(kept) == mine
    assert kept.name in capsys.readouterr().out
