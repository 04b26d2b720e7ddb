"""What Goldsmith promises about labels from files, packages in folders, and how its commands end."""

import csv
import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.cli import run_command
from annotator.domain.experts.assignment import Stage
from annotator.exchange.parcels import packages
from tests.material.sent_apart import annotators, coordinated, returned
from tests.projects.validation_project import At, judge_says, person_says, places, validation_project

SEVEN = ("Ada", "Ben", "Cleo", "Dan", "Eva", "李明", 'A/B: "both"')

# Said, though each is known, so that an import fails for no other reason.
KNOWN = ("--as", "R2=R2", "--as", "R3=R3")
FIGURES = (
    ("validate",),
    ("validate", "--by", "weight"),
    ("choose-judge", "--figure", "accuracy", "--delta", "0.5"),
    ("correct", "--judge", "good"),
)
OF_A_SET = (("sets", "lock", "Spring"), ("validate", "--set", "Spring"), ("sets", "list"))


def ann(at: At) -> str:
    return "yes" if at[1] == "Alpha" else "no"


def ben(at: At) -> str:
    return "unsure" if at == (1, "Beta", 2) else "yes" if at[2] == 1 else ann(at)


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    project = validation_project(tmp_path)
    judge_says(project, "good", ann)
    judge_says(project, "small", lambda at: "no" if at[2] == 2 else ann(at))
    project.close()
    return project.path


def with_set(file: Path) -> None:
    """Have a set of all reports drawn, which R2 and R3 are to label."""
    words = ["sets", "draw", str(file), "Spring", "--person", "R2", "--person", "R3", "--size", "8"]
    assert run_command(words) == 0


def written(file: Path, name: str = "labels.csv", **more: str) -> str:
    """What R2 and R3 say of every unit, as a table in one file."""
    project = Project.open(file, readonly=True)
    rows = [
        {
            "item": str(at[0]),
            "system": at[1],
            "unit": f"Criterion {at[2]} of {at[0]}",
            "rater": who,
            "value": says(at),
        }
        for who, says in (("R2", ann), ("R3", ben))
        for at in places(project)
    ]
    project.close()
    with (file.parent / name).open("w", encoding="utf-8", newline="") as table:
        writer = csv.DictWriter(table, list(rows[0] | more))
        writer.writeheader()
        writer.writerows(row | more for row in rows)
    return str(file.parent / name)


def figures(file: Path, capsys: pytest.CaptureFixture[str], asked: Any = FIGURES) -> list[Any]:
    """What the command line says of a project that stands on people's labels."""
    result = []
    for first, *rest in asked:
        words = [first, rest[0], str(file), *rest[1:]] if first == "sets" else [first, str(file), *rest]
        capsys.readouterr()
        assert run_command([*words, "--json"]) == 0, capsys.readouterr().err
        result.append(json.loads(capsys.readouterr().out))
    return result


def comparable(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: comparable(value) for key, value in found.items() if not key.endswith("_at")}
    return [comparable(one) for one in found] if isinstance(found, list) else found


@pytest.mark.parametrize("asked", [FIGURES, OF_A_SET], ids=["all", "a set"])
def test_labels_from_a_file_count_as_the_same_labels_given_in_the_window(
    judged: Path, capsys: pytest.CaptureFixture[str], asked: Any
) -> None:
    if asked is OF_A_SET:
        with_set(judged)
    by_hand = judged.with_name("by-hand.goldsmith")
    shutil.copy(judged, by_hand)
    project = Project.open(by_hand)
    person_says(project, "R2", ann)
    person_says(project, "R3", ben)
    project.close()
    assert run_command(["labels", "import", str(judged), written(judged), *KNOWN]) == 0
    assert comparable(figures(judged, capsys, asked)) == comparable(figures(by_hand, capsys, asked))


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
    return packages.read_package(path).manifest.person_id


@pytest.mark.parametrize("name", ["tasks", "deep/tasks.2026/"])
def test_a_folder_that_is_not_there_yet_is_made_and_holds_a_file_for_each_person(
    handed_out: tuple[str, list[str]], tmp_path: Path, name: str
) -> None:
    file, whose = handed_out
    for words in (["--person", whose[0]], ["--all"]):
        assert run_command(["pack", file, *words, "--to", f"{tmp_path}/{name}"]) == 0
    assert sorted(of(path) for path in (tmp_path / name).iterdir()) == sorted(whose)


def test_a_package_of_somebody_else_is_never_replaced_and_ones_own_is(
    handed_out: tuple[str, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, (first, second, *_) = handed_out
    task, work = tmp_path / "task.goldsmith-task", tmp_path / "mine.goldsmith-work"
    packed = [
        run_command(["pack", file, "--person", one, "--to", str(task)]) for one in (first, second, first)
    ]
    assert (packed, of(task)) == ([0, 1, 0], first)
    assert "It was left unchanged" in capsys.readouterr().err
    with closing(Project.open(Path(file))) as project:
        made = [
            next(returned(project, one, tmp_path / one).parent.glob("*.goldsmith")) for one in (first, second)
        ]
    packed = [run_command(["pack", str(theirs), "--to", str(work)]) for theirs in made]
    assert (packed, of(work)) == ([0, 1], first)
