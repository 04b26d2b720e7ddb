"""The command that hands work out: what it comes to before, what is there afterwards, and what it refuses."""

import json
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotator.actions.assignments import assignments
from annotator.actions.labelling import board
from annotator.actions.project.file import Project
from annotator.cli.handing_out import app
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs

TWO = ("--annotator", "R2", "--annotator", "R3", "--adjudicator", "R4")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Ada R2, Ben R3 and Dan R5 annotate, Cleo R4 adjudicates, Cora R1 coordinates; four items."""
    project = pairs.pairs_project(tmp_path, 4)
    project.close()
    return project.path


def run(file: Path, *words: str) -> tuple[int, str]:
    """The exit code and what was said; a refusal is raised."""
    found = CliRunner().invoke(app, [str(file), *words])
    if isinstance(found.exception, Refusal):
        raise found.exception
    return found.exit_code, found.stdout


def told(file: Path, *words: str) -> dict:
    return json.loads(run(file, *words, "--json")[1])


def assigned(file: Path) -> list[board.AssignmentStatus]:
    project = Project.open(file, readonly=True)
    found = board.board(project)
    project.close()
    return found


def test_a_pair_writes_every_item_and_a_third_adjudicates(file):
    code, words = run(file, "--stage", "rubric", *TWO)
    assert (code, words.splitlines()[0]) == (0, "Assigned 12 pieces of work")
    found = Counter((line.stage, line.alias) for line in assigned(file))
    assert found == {(Stage.RUBRIC, "R2"): 4, (Stage.RUBRIC, "R3"): 4, (Stage.ADJUDICATION, "R4"): 4}


def test_a_dry_run_says_the_same_and_assigns_nothing(file):
    dry = told(file, "--stage", "rubric", *TWO, "--dry-run")
    assert (dry["dry_run"], dry["new"], assigned(file)) == (True, 12, [])
    assert {load["alias"]: load["assignments"] for load in dry["load"]} == {"R2": 4, "R3": 4, "R4": 4}
    wet = told(file, "--stage", "rubric", *TWO)
    assert {**wet, "dry_run": True} == dry


def test_three_people_share_pairs_evenly_and_the_same_for_the_same_seed(file):
    words = ("--stage", "plan", "--annotator", "R2", "--annotator", "r3", "--annotator", "R5", "--seed", "7")
    first = told(file, *words, "--dry-run")
    assert first == told(file, *words, "--dry-run")
    # Eight places for three people: nobody has more than three, nobody fewer than two.
    assert sorted(load["assignments"] for load in first["load"]) == [2, 3, 3]


def test_only_the_items_named_get_a_date(file):
    run(file, "--stage", "plan", *TWO, "--item", "2", "--item", "3", "--due", "2031-05-04")
    written = [line for line in assigned(file) if line.stage is Stage.PLAN]
    assert {line.item_key for line in written} == {"2", "3"}
    assert {line.due.astimezone().date() for line in written if line.due} == {date(2031, 5, 4)}


def test_a_pilot_alone_goes_to_everybody(file):
    people = ("--annotator", "R2", "--annotator", "R3", "--annotator", "R5")
    run(file, "--stage", "rubric", *people, "--pilot", "1")
    assert {(line.item_key, line.alias, line.purpose.value) for line in assigned(file)} == {
        ("1", "R2", "pilot"),
        ("1", "R3", "pilot"),
        ("1", "R5", "pilot"),
    }


def test_a_plan_that_cannot_be_met_says_why_and_changes_nothing(file):
    alone = ("--stage", "rubric", "--annotator", "R2")
    code, words = run(file, *alone, "--dry-run")
    assert code == 1
    assert "Each stage is to be done by 2 people, but the plan names 1 annotator." in words
    with pytest.raises(Refusal, match="cannot be met"):
        run(file, *alone)
    assert assigned(file) == []


def test_unknown_people_and_items_are_named(file):
    with pytest.raises(Refusal, match="“Ada” is not an id or alias in this project"):
        run(file, "--stage", "rubric", "--annotator", "Ada")
    with pytest.raises(Refusal, match="no item “nowhere”, “0”"):
        run(file, "--stage", "rubric", *TWO, "--item", "2", "--item", "nowhere", "--item", "0")


def test_adjudication_is_no_stage_of_its_own(file):
    with pytest.raises(Refusal, match="cannot be handed out as a stage"):
        run(file, "--stage", "adjudication", *TWO)


def test_repeats_come_back_after_so_many_days(file):
    people = ("--annotator", "R2", "--annotator", "R3")
    words = (
        "--stage",
        "labelling",
        *people,
        "--due",
        "2031-05-04",
        "--repeat-share",
        "0.25",
        "--repeat-after",
        "14",
    )
    assert told(file, *words)["new"] == 10
    project = Project.open(file, readonly=True)
    again = [one for one in assignments.of_person(project, pairs.person(project, "Ada").id) if one.trial == 2]
    project.close()
    assert [one.not_before.astimezone().date() for one in again if one.not_before] == [date(2031, 5, 18)]
