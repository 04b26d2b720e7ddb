"""What Goldsmith promises about labels from files, packages in folders, and how its commands end."""

from pathlib import Path

import pytest

from annotator.actions import assignments, items, people
from annotator.actions.project import Project
from annotator.cli import run_command
from annotator.domain.assignment import Stage
from annotator.exchange import packages
from tests.sent_apart import annotators, coordinated, task_for, write_rubric

SEVEN = ("Ada", "Ben", "Cleo", "Dan", "Eva", "李明", 'A/B: "both"')


@pytest.fixture
def handed_out(tmp_path: Path) -> tuple[str, list[str]]:
    """A project of which seven people are to write the rubrics, and who they are."""
    project = coordinated(tmp_path / "here", SEVEN[:-1])
    last = people.add_person(project, SEVEN[-1], alias="A/B").subject
    assignments.assign_one(project, items.ids(project)[0], last, Stage.RUBRIC)
    whose = [person.id for person in annotators(project)]
    project.close()
    return str(project.path), whose


def of(path: Path) -> str:
    """Whose package it is."""
    return packages.read_package(path).manifest.person_id


@pytest.mark.parametrize("name", ["tasks", "tasks/", "deep/tasks.2026/"])
def test_a_folder_that_is_not_there_yet_is_made_and_holds_a_file_for_each_person(
    handed_out: tuple[str, list[str]], tmp_path: Path, name: str
) -> None:
    file, whose = handed_out
    for person in whose:
        assert run_command(["pack", file, "--person", person, "--to", f"{tmp_path}/{name}"]) == 0
    written = sorted((tmp_path / name).iterdir())
    assert sorted(of(path) for path in written) == sorted(whose)


def test_everybodys_tasks_are_written_by_one_command(
    handed_out: tuple[str, list[str]], tmp_path: Path
) -> None:
    file, whose = handed_out
    assert run_command(["pack", file, "--all", "--to", f"{tmp_path}/new/"]) == 0
    assert sorted(of(path) for path in (tmp_path / "new").iterdir()) == sorted(whose)


def test_a_package_of_somebody_else_is_never_replaced(
    handed_out: tuple[str, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, (first, second, *_) = handed_out
    place = tmp_path / "task.goldsmith-task"
    assert run_command(["pack", file, "--person", first, "--to", str(place)]) == 0
    assert run_command(["pack", file, "--person", second, "--to", str(place)]) == 1
    assert of(place) == first
    assert "It was left as it is" in capsys.readouterr().err
    assert run_command(["pack", file, "--person", first, "--to", str(place)]) == 0


def test_work_that_goes_back_replaces_only_ones_own(
    handed_out: tuple[str, list[str]], tmp_path: Path
) -> None:
    file, whose = handed_out
    project, place = Project.open(Path(file)), tmp_path / "mine.goldsmith-work"
    ends = []
    for person in whose[1:3]:
        theirs = tmp_path / f"{person}.goldsmith"
        task = task_for(project, person, tmp_path / person)
        assert run_command(["unpack", str(theirs), str(task)]) == 0
        with_work = Project.open(theirs)
        write_rubric(with_work, items.ids(with_work)[0], "Explains the weight of gold")
        with_work.close()
        ends.append(run_command(["pack", str(theirs), "--to", str(place)]))
    project.close()
    assert (ends, of(place)) == ([0, 1], whose[1])
