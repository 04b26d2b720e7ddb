"""Rulings and reviews from the command line: listed, said one by one or from a file, and what became of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotator.cli import run_command
from tests.projects.verdicts_project import JUDGE, verdicts_project


@pytest.fixture
def file(tmp_path: Path) -> str:
    project = verdicts_project(tmp_path, filling=1)
    project.close()
    return str(project.path)


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Any:

    def run(*words: str) -> Any:
        assert run_command([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def test_disagreements_are_listed_and_ruled_on(file: str, told: Any) -> None:
    found = told("rule", file, "--judge", JUDGE)
    assert (found["ruled"], found["of"], len(found["disagreements"])) == (0, 9, 9)
    first = found["disagreements"][0]
    assert (first["judge_says"], first["person_says"], first["person"]) == ("yes", "no", "R2")
    after = told(
        "rule", file, "--judge", JUDGE, "--case", first["case"], "--say", "judge wrong", "--reason", "too lenient",
        "--note", "See page 2.", "--open",
    )  # fmt: skip
    assert (after["ruled"], len(after["disagreements"])) == (1, 8)


def test_a_file_rules_on_all_of_it_or_on_nothing(file: str, told: Any, tmp_path: Path, capsys: Any) -> None:
    cases = [one["case"] for one in told("rule", file, "--judge", JUDGE)["disagreements"]]
    listed = [{"case": case, "say": "person wrong"} for case in cases[:2]]
    path = tmp_path / "rulings.json"
    path.write_text(json.dumps([*listed, {"case": cases[2], "say": "nobody"}]), "utf-8")
    assert run_command(["rule", file, "--judge", JUDGE, "--from", str(path)]) == 1
    assert "“nobody” is not a valid value here." in capsys.readouterr().err
    assert told("rule", file, "--judge", JUDGE)["ruled"] == 0
    path.write_text(json.dumps(listed), "utf-8")
    assert told("rule", file, "--judge", JUDGE, "--from", str(path))["ruled"] == 2


@pytest.mark.parametrize(
    "text", ["{}", "[1]", '[{"case": "a"}]', '[{"case": "a", "say": "b", "x": ""}]', "?"]
)
def test_a_file_that_does_not_fit_is_refused(file: str, tmp_path: Path, text: str) -> None:
    path = tmp_path / "rulings.json"
    path.write_text(text, "utf-8")
    assert run_command(["rule", file, "--from", str(path)]) == 1


def test_verdicts_are_reviewed_by_an_expert(file: str, told: Any, capsys: Any) -> None:
    found = told("review", file, "--judge", JUDGE, "--as", "R3", "--order", "weight")
    assert (found["of"], found["blind"]) == (14, 0)
    assert "Canary" not in json.dumps(found)
    case = found["verdicts"][0]["case"]
    after = told(
        "review",
        file,
        "--judge",
        JUDGE,
        "--as",
        "R3",
        "--case",
        case,
        "--say",
        "disagree",
        "--reason",
        "other",
    )
    assert [(one["said"], one["reason"]) for one in after["verdicts"] if one["said"]] == [
        ("disagree", "other")
    ]
    assert run_command(["review", file, "--judge", JUDGE, "--case", case]) == 1
    assert "given together" in capsys.readouterr().err


def test_an_unclear_criterion_is_worded_anew_and_queued(file: str, told: Any) -> None:
    case = told("rule", file, "--judge", JUDGE)["disagreements"][0]["case"]
    told("rule", file, "--case", case, "--say", "criterion unclear")
    (unclear,) = told("rulings", "unclear", file)["unclear"]
    assert (unclear["criterion"], unclear["item"], unclear["times"]) == ("i1c1", "1", 1)
    after = told("rulings", "reword", file, "i1c1", "Explains what the identity path is for")
    assert [(one["judge"], one["judgements"], one["items"]) for one in after["to_judge"]] == [
        ("other-judge", 2, ["1"]), (JUDGE, 2, ["1"]),
    ]  # fmt: skip
    assert told("rulings", "unclear", file)["unclear"] == []
    queued = told("rulings", "again", file, "--judge", JUDGE, "--queue")
    assert (queued["queued"], len(queued["again"])) == (True, 1)


def test_words_tell_the_same(file: str, capsys: Any) -> None:
    assert run_command(["rule", file, "--judge", JUDGE]) == 0
    said = capsys.readouterr().out
    assert "0 of 9 ruled. First labels stay the metric." in said
    assert f"{JUDGE} says yes, R2 says no: open" in said
    assert run_command(["rulings", "again", file]) == 0
    assert "Nothing needs to be judged again." in capsys.readouterr().out


def test_letter_15_errors_are_named_on_a_drawn_sample_of_a_judges_verdicts(
    file: str, told: Any, capsys: Any
) -> None:
    drawn = told("error-sample", file, "--per-system", "1", "--seed", "3", "--as", "R1")
    assert (drawn["per_system"], len(drawn["responses"])) == (1, 2)
    assert told("error-sample", file) == drawn
    looked = ("review", file, "--judge", JUDGE, "--as", "R3", "--order", "errors")
    verdicts = told(*looked)["verdicts"]
    # Each report has one criterion of which this judge says no.
    assert [(one["value"], one["case"].split("/")[0] in drawn["responses"]) for one in verdicts] == [
        ("no", True), ("no", True),
    ]  # fmt: skip
    case, other = (one["case"] for one in verdicts)
    assert run_command([*looked, "--case", case, "--say", "disagree", "--kind", "incompleteness"]) == 1
    assert run_command([*looked, "--case", case, "--say", "agree", "--kind", "retrieval"]) == 1
    assert "Use one of incompleteness, partial_missing" in capsys.readouterr().err
    assert [one["said"] for one in told(*looked)["verdicts"]] == ["", ""]
    given = told(*looked, "--case", case, "--say", "agree", "--kind", "partial_missing")["verdicts"][0]
    assert (given["case"], given["said"], given["kind"]) == (case, "agree", "partial_missing")
    told(*looked, "--case", other, "--say", "disagree")
    found = told("results", file, "--view", "errors", "--judge", JUDGE)["sheets"]
    (misses,) = (one for one in found if one["title"] == "Uncovered criteria")
    (row,) = misses["rows"]
    # Of two reports one lacks a part; the verdict on the other was rejected.
    kinds = ("responses", "incompleteness", "partial_missing", "subtotal", "without_a_label")
    assert [row[name] for name in kinds] == [2, 0.0, 0.5, 0.5, 0]
    assert "a draw of 1 responses of each system (seed 3)" in misses["told"][0]
