"""Judge validation from the command line: sets, judges beside people, the choice of a judge, corrected scores."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.labelling import label_offers
from annotator.actions.project.file import Project
from annotator.cli import run_command
from tests.projects.validation_project import At, judge_says, person_says, validation_project


def ann(at: At) -> str:
    return "yes" if at[1] == "Alpha" else "no"


def worse(at: At) -> str:
    """As Ann, but no of the light criteria: four of sixteen are wrong."""
    return "no" if at[2] == 2 else ann(at)


@pytest.fixture
def file(tmp_path: Path) -> str:
    project = validation_project(tmp_path)
    project.close()
    return str(project.path)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run_command([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def filled(file: str, *people: str) -> None:
    """What people and two judges say; the set is locked where there is one."""
    project = Project.open(Path(file))
    for alias in people:
        person_says(project, alias, ann)
    judge_says(project, "good", ann)
    judge_says(project, "small", worse)
    project.close()


def test_a_set_is_drawn_labelled_locked_and_validated_on(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("sets", "draw", file, "Spring", "--person", "R2", "--person", "R3", "--size", "8")
    looked = told(capsys, *words, "--dry-run")
    assert (looked["dry_run"], looked["units"], len(looked["responses"])) == (True, 16, 8)
    assert told(capsys, *words)["responses"] == looked["responses"]
    assert run_command(["sets", "lock", file, "Spring"]) == 1
    assert "are missing" in capsys.readouterr().err
    filled(file, "R2", "R3")
    assert run_command(["validate", file, "--set", "Spring"]) == 1
    assert "until then no judge is shown" in capsys.readouterr().err
    assert told(capsys, "sets", "lock", file, "Spring")["labels"] == 32
    assert run_command(["validate", file, "--set", "Spring"]) == 0
    capsys.readouterr()
    told(capsys, "validate", file, "--set", "Spring", "--part", "test")
    (found,) = told(capsys, "sets", "list", file)["sets"]
    assert (found["openings"], found["lacking"]) == (1, [])


@pytest.mark.parametrize("command", ["validate", "choose-judge", "rule", "card --judge good"])
def test_a_set_is_compared_by_its_own_protocol(
    command: str, file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told(capsys, "sets", "draw", file, "Spring", "--person", "R2", "--person", "R3", "--size", "8")
    filled(file, "R2", "R3")
    told(capsys, "sets", "lock", file, "Spring")
    monkeypatch.setattr(label_offers, "usual", lambda _: "adra.plan")
    name, *options = command.split()
    assert run_command([name, file, *options, "--set", "Spring"]) == 0
    assert run_command([name, file, *options]) == 1


def test_judges_stand_beside_people_in_tables(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    filled(file, "R2", "R3")
    sheets = {sheet["key"]: sheet for sheet in told(capsys, "validate", file)["sheets"]}
    rows, heavy = ({row["rater"]: row for row in sheets[key]["rows"]} for key in ("judges", "weighted"))
    assert list(rows) == ["good", "small", "people", "R2", "R3"]
    assert (rows["small"]["accuracy"], rows["small"]["recall"], rows["small"]["precision"]) == (
        0.75,
        0.5,
        1.0,
    )
    # Of Alpha's weights the judge finds 3 of every 4.
    assert heavy["small"]["recall"] == 0.75
    (gap,) = [row for row in sheets["contrasts"]["rows"] if row["figure"] == "Accuracy"]
    assert (gap["first"], gap["second"], gap["difference"]) == ("good", "small", 0.25)


def test_the_tables_go_into_files(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(file, "R2")
    found = told(
        capsys, "validate", file, "--judge", "small", "--against", "R2", "--to", str(tmp_path / "v.csv")
    )
    assert "v-weighted.csv" in found["files"]
    with (tmp_path / "v-weighted.csv").open(encoding="utf-8-sig", newline="") as table:
        (row,) = csv.DictReader(table)
    assert (row["rater"], row["accuracy"], row["accuracy_n"]) == ("small", "0.875", "16")


def test_groups_are_told_apart(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    filled(file, "R2")
    sheets = told(capsys, "validate", file, "--judge", "small", "--by", "weight")["sheets"]
    rows = {row["group"]: row["accuracy"] for row in sheets[0]["rows"]}
    assert rows == {"weight 3": 1.0, "weight 1": 0.5}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--by", "mood"), "cannot be broken down by “mood”"),
        (("--judge", "nobody"), "nobody"),
        (("--against", "R9"), "“R9” is not an id or alias"),
        (("--positive", "perhaps"), "is not a value"),
        (("--set", "Autumn"), "There is no validation set “Autumn”"),
    ],
)
def test_what_there_is_not_is_refused_in_words(
    file: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    filled(file, "R2")
    assert run_command(["validate", file, *words]) == 1
    assert said in capsys.readouterr().err


def test_a_judge_is_chosen_with_its_reason(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    filled(file, "R2")
    found = told(capsys, "choose-judge", file, "--figure", "accuracy", "--delta", "0.5")
    # What judging cost is not known, so that nothing is the cheapest.
    assert found["chosen"] is None
    assert found["reason"][0] == (
        "No judge is shown to be at most 0.5 worse than people with one another, at a known cost."
    )
    assert [one["answer"] for one in found["answers"]] == ["Not yet known", "Not yet known"]
    assert [row["judge"] for row in found["sheets"][0]["rows"]] == ["good", "small"]
    assert run_command(["choose-judge", file, "--figure", "beauty"]) == 1
    assert "cannot be chosen by “beauty”" in capsys.readouterr().err


def test_scores_are_corrected(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    filled(file, "R2")
    found = told(capsys, "correct", file, "--judge", "small")
    rows = {row["system"]: row for row in found["sheets"][0]["rows"]}
    # The judge misses a light criterion of every item of Alpha's: 3/4 raw, and by people everything.
    assert (rows["Alpha"]["raw"], rows["Alpha"]["corrected"], rows["Beta"]["corrected"]) == (0.75, 1.0, 0.0)
    assert run_command(["correct", file]) == 0
