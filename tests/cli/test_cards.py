"""Validity cards from the command line: made, written, held against a project, and runs refused under them."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets
from annotator.cli import run_command
from tests.judging.odd_server import OddServer
from tests.projects.carded_project import carded_project
from tests.projects.small_project import small_project
from tests.projects.validation_project import judge_says, person, person_says, validation_project
from tests.servers.served import JUDGE


@pytest.fixture
def file(tmp_path: Path, server: OddServer) -> str:
    project = carded_project(tmp_path, server)
    project.close()
    return str(project.path)


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert run_command([*words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def warmer(file: str) -> None:
    project = Project.open(Path(file))
    judges.change(project, judges.named(project, JUDGE).id, {"parameters": '{"temperature": 1}'})
    project.close()


def test_a_card_is_written_as_json_and_as_a_page(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(capsys, "card", file, "--judge", JUDGE, "--to", str(tmp_path / "card.json"))
    assert found["files"] == ["card.json"]
    assert json.loads((tmp_path / "card.json").read_bytes()) == found["card"]
    # Everybody says yes of the first criterion; the second person of the second too, on which the judge says no.
    (line,) = [one for one in found["card"]["lines"] if (one["who"], one["by"]) == ("judge", "all")]
    assert (line["plain"]["precision"]["value"], line["plain"]["recall"]["value"]) == (1.0, 8 / 12)
    assert run_command(["card", file, "--judge", JUDGE, "--to", str(tmp_path / "card.html")]) == 0
    assert "Wrote card.html" in capsys.readouterr().out
    assert (tmp_path / "card.html").read_text("utf-8").startswith("<!DOCTYPE html>")


def test_without_a_place_the_main_figures_are_shown(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["card", file, "--judge", JUDGE]) == 0
    out = capsys.readouterr().out
    assert "Cohen's κ" in out
    assert "Nothing was written" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "A card describes one judge"),
        (("--judge", "nobody"), "There is no judge “nobody”"),
        (("--judge", JUDGE, "--to", "card.pdf"), "A card is not written as “.pdf”"),
        (("--judge", JUDGE, "--to", "nowhere/card.json"), "There is no folder “nowhere”"),
        (("--judge", JUDGE, "--set", "Autumn"), "There is no validation set “Autumn”"),
        (("--check", "nothing.json"), "There is no file “nothing.json”"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(
    file: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert run_command(["card", file, *words]) == 1
    assert said in capsys.readouterr().err


def test_a_look_at_the_test_part_is_counted_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = validation_project(tmp_path)
    whose = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", whose, size=8))
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda at: "yes" if at[2] == 1 else "no")
    judge_says(project, "small", lambda at: "yes")
    validation_sets.lock(project, "Spring")
    words = ("card", str(project.path), "--judge", "small", "--set", "Spring")
    assert told(capsys, *words)["card"]["labels"]["opened_at"] == []
    # Where no card could be written, nobody has looked.
    assert run_command([*words, "--part", "test", "--to", str(tmp_path / "card.txt")]) == 1
    assert validation_sets.named(project, "Spring").openings == 0
    capsys.readouterr()
    labels = told(capsys, *words, "--part", "test")["card"]["labels"]
    assert (labels["part"], len(labels["opened_at"])) == ("test", 1)
    assert validation_sets.named(project, "Spring").openings == 1
    project.close()


def test_a_card_is_held_against_the_judge(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "card.html")
    told(capsys, "card", file, "--judge", JUDGE, "--to", path)
    found = told(capsys, "card", file, "--check", path)
    assert (found["judge"], found["holds"], found["differences"]) == (JUDGE, True, [])
    warmer(file)
    found = told(capsys, "card", file, "--check", path, code=1)
    assert [(one["part"], one["on_card"], one["now"]) for one in found["differences"]] == [
        ("request parameters", "{}", '{"temperature":1}')
    ]
    assert run_command(["card", file, "--check", path]) == 1
    out = capsys.readouterr().out
    assert "differs from the card" in out
    assert "request parameters: {} on the card" in out


def test_runs_and_corrections_are_refused_under_the_card_of_another(
    file: str, tmp_path: Path, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "card.json")
    told(capsys, "card", file, "--judge", JUDGE, "--to", path)
    assert run_command(["judge", "run", file, "--judge", JUDGE, "--card", path]) == 0
    assert run_command(["correct", file, "--card", path]) == 0
    capsys.readouterr()
    asked = len(server.bodies)
    warmer(file)
    assert run_command(["judge", "run", file, "--judge", JUDGE, "--trials", "2", "--card", path]) == 1
    assert "is not the judge of the card" in capsys.readouterr().err
    assert len(server.bodies) == asked
    # The verdicts at hand were given by the judge of the card; those of the baseline were not.
    assert run_command(["correct", file, "--card", path]) == 0
    assert run_command(["judge", "run", file, "--judge", "baseline"]) == 0
    assert run_command(["correct", file, "--judge", "baseline", "--card", path]) == 1
    assert "kind of judge" in capsys.readouterr().err


def test_a_judge_is_bound_to_its_card(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "card.json")
    told(capsys, "card", file, "--judge", JUDGE, "--to", path)
    assert told(capsys, "card", file, "--check", path, "--bind")["bound"] is True
    warmer(file)
    assert run_command(["judge", "run", file, "--judge", JUDGE, "--trials", "2"]) == 1
    assert "request parameters" in capsys.readouterr().err
    assert told(capsys, "card", file, "--check", path, "--bind", code=1)["bound"] is False


def test_the_judge_of_a_card_is_added_elsewhere(
    file: str, tmp_path: Path, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "card.json")
    told(capsys, "card", file, "--judge", JUDGE, "--to", path)
    (tmp_path / "other").mkdir()
    other = small_project(tmp_path / "other")
    other.close()
    assert run_command(["card", str(other.path), "--check", path]) == 1
    assert "Define a judge that asks for “test-model”" in capsys.readouterr().out
    found = told(capsys, "card", str(other.path), "--check", path, "--define-at", server.url)
    assert (found["judge"], found["holds"]) == (JUDGE, True)
