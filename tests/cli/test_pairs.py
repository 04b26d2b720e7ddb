"""The work in pairs from the command line: people, tasks out, work back, agreement, adjudication."""

import json
from pathlib import Path

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.cli import run_command
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from tests.material.sent_apart import write_rubric

CRITERIA = ("Explains the weight of gold", "Names two alloys of gold")


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A project of one item that two people are to write a rubric for."""
    project = new_project(tmp_path / "study.goldsmith")
    people.someone(project)
    item_id = items.add(project, "What is the weight of gold?").subject
    for name in ("Ada", "Ben"):
        person = people.add_person(project, name)
        assignments.assign_one(project, item_id, person.subject, Stage.RUBRIC)
    people.add_person(project, "Sue", (Role.ADJUDICATOR,))
    project.close()
    return str(project.path)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    assert run_command([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def sent_back(file: str, alias: str, folder: Path) -> str:
    """What the person of that alias returns: the same rubric as everybody."""
    assert (
        run_command(["pack", file, "--person", alias, "--to", str(folder / f"{alias}.goldsmith-task")]) == 0
    )
    theirs = str(folder / f"{alias}.goldsmith")
    assert run_command(["unpack", theirs, str(folder / f"{alias}.goldsmith-task")]) == 0
    project = Project.open(Path(theirs))
    write_rubric(project, items.ids(project)[0], *CRITERIA)
    project.close()
    assert run_command(["pack", theirs, "--to", str(folder / f"{alias}.goldsmith-work")]) == 0
    return str(folder / f"{alias}.goldsmith-work")


def test_people_are_added_and_listed(file, capsys):
    added = told(capsys, "people", "add", file, "--name", "李明", "--role", "annotator")
    listed = told(capsys, "people", "list", file)["people"]
    assert added in listed
    assert [one["alias"] for one in listed] == ["R1", "R2", "R3", "R4", "R5"]


def test_a_pair_goes_from_task_to_consensus(file, tmp_path, capsys):
    works = [sent_back(file, alias, tmp_path) for alias in ("R2", "R3")]
    capsys.readouterr()
    tried = told(capsys, "unpack", file, *works, "--dry-run")
    assert [one["outcome"] for one in tried["arrivals"]] == ["new", "new"]
    taken = told(capsys, "unpack", file, *works)
    assert [one["outcome"] for one in taken["arrivals"]] == ["new", "new"]
    assert [one["outcome"] for one in told(capsys, "unpack", file, *works)["arrivals"]] == ["duplicate"] * 2
    waiting = told(capsys, "adjudicate", file, "--as", "R4")["rows"]
    assert [(row["agreement"], row["contested"], row["conflict"]) for row in waiting] == [(1.0, 0, False)]
    closed = told(capsys, "adjudicate", file, "--auto-unanimous", "--as", "R4")
    # One item alone is the sample itself: nothing is closed that nobody has looked at.
    assert (len(closed["closed"]), len(closed["spot_check"])) == (0, 1)
    states = {row["state"] for row in told(capsys, "status", file)["rows"]}
    assert states <= {"frozen", "in adjudication"}


def test_a_damaged_package_is_said_and_the_exit_code_tells(file, tmp_path, capsys):
    (tmp_path / "x.goldsmith-work").write_bytes(b"<html>Not found</html>")
    assert run_command(["unpack", file, str(tmp_path / "x.goldsmith-work")]) == 1
    assert "x.goldsmith-work" in capsys.readouterr().out


def test_nothing_submitted_is_nothing_to_send(file, tmp_path, capsys):
    assert run_command(["pack", file, "--person", "R2", "--to", str(tmp_path / "t.goldsmith-task")]) == 0
    assert run_command(["unpack", str(tmp_path / "a.goldsmith"), str(tmp_path / "t.goldsmith-task")]) == 0
    assert run_command(["pack", str(tmp_path / "a.goldsmith"), "--to", str(tmp_path)]) == 1
    assert "Nothing is submitted yet" in capsys.readouterr().err


def test_an_unknown_person_is_refused_in_words(file, tmp_path, capsys):
    assert run_command(["pack", file, "--person", "nobody", "--to", str(tmp_path)]) == 1
    assert "nobody" in capsys.readouterr().err


def test_a_receipt_is_printed_for_the_annotator(file, tmp_path, capsys):
    work = sent_back(file, "R2", tmp_path)
    out = capsys.readouterr().out
    arrivals = told(capsys, "unpack", file, work)["arrivals"]
    assert arrivals[0]["receipt"] in out
