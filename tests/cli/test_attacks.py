"""Attacks, validity cards and contests of tasks on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets
from annotator.cli import run_command
from tests.actions.contests.contest_project import contest_project, two_tasks
from tests.cli.commands import printed, refused, told
from tests.judging.odd_server import OddServer
from tests.projects.attacked_project import firm, gullible, judged
from tests.projects.carded_project import carded_project
from tests.projects.small_project import small_project
from tests.projects.validation_project import judge_says, person, person_says, validation_project
from tests.servers.served import JUDGE, add_judge

VERDICTS = 12


@pytest.fixture
def file(tmp_path: Path, server: OddServer) -> str:
    """A project in which the judge has said no to everything."""
    server.answer = firm
    project = small_project(tmp_path)
    add_judge(project, server)
    judged(project)
    judged(project, "baseline")
    project.close()
    server.bodies.clear()
    return str(tmp_path / "small.goldsmith")


def rates(found: dict[str, Any]) -> dict[str, float]:
    rows = next(sheet["rows"] for sheet in found["sheets"] if sheet["key"] == "attacks")
    return {row["attack"]: row["failure_rate"] for row in rows}


def test_a_judge_is_attacked_after_an_estimate_and_its_rates_told(
    file: str, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    result = told(capsys, "attack", file, "--judge", JUDGE, "--attack", "injection", "--estimate")
    assert (result["judging"]["calls"], result["drawn"]) == (VERDICTS, VERDICTS)
    assert server.bodies == []
    assert "12 verdicts of 12 on 2 items" in printed(capsys, "attack", file, "--judge", JUDGE, "--estimate")
    server.answer = gullible
    ended = told(capsys, "attack", file, "--judge", JUDGE, "--attack", "injection", "--attack", "padding")
    assert (ended["state"], ended["done"]) == ("done", 2 * VERDICTS)
    assert rates(told(capsys, "bias", file, "--judge", JUDGE)) == {
        "An order to the judge": 1.0, "Padding by sentences on nothing": 0.0,
    }  # fmt: skip


def test_families_are_told_and_kept_and_tables_written(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = told(capsys, "bias", file, "--family", "Alpha=Anthropic")
    rows = next(sheet["rows"] for sheet in result["sheets"] if sheet["key"] == "families")
    assert {row["name"]: row["family"] for row in rows}["Alpha"] == "Anthropic"
    assert "does not name a developer" in refused(capsys, "bias", file, "--family", "Alpha")
    result = told(capsys, "bias", file, "--to", str(tmp_path / "bias.csv"))
    assert result["files"][0] == "bias.csv"


@pytest.fixture
def carded(tmp_path: Path, server: OddServer) -> str:
    project = carded_project(tmp_path, server)
    project.close()
    return str(project.path)


def warmer(carded: str) -> None:
    project = Project.open(Path(carded))
    judges.change(project, judges.named(project, JUDGE).id, {"parameters": '{"temperature": 1}'})
    project.close()


def test_a_card_is_shown_and_written_as_json_and_as_a_page(
    carded: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = printed(capsys, "card", carded, "--judge", JUDGE)
    assert "Cohen's κ" in out
    assert "Nothing was written" in out
    result = told(capsys, "card", carded, "--judge", JUDGE, "--to", str(tmp_path / "card.json"))
    assert result["files"] == ["card.json"]
    assert json.loads((tmp_path / "card.json").read_bytes()) == result["card"]
    # Everybody says yes of the first criterion; the second person of the second too, on which the judge says no.
    (line,) = [one for one in result["card"]["lines"] if (one["who"], one["by"]) == ("judge", "all")]
    assert (line["plain"]["precision"]["value"], line["plain"]["recall"]["value"]) == (1.0, 8 / 12)
    assert "Wrote card.html" in printed(
        capsys, "card", carded, "--judge", JUDGE, "--to", str(tmp_path / "card.html")
    )
    assert (tmp_path / "card.html").read_text("utf-8").startswith("<!DOCTYPE html>")


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
    carded: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert said in refused(capsys, "card", carded, *words)


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
    labels = told(capsys, *words, "--part", "test")["card"]["labels"]
    assert (labels["part"], len(labels["opened_at"])) == ("test", 1)
    assert validation_sets.named(project, "Spring").openings == 1


def test_a_card_is_held_against_the_judge_and_binds_it(
    carded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "card.html")
    told(capsys, "card", carded, "--judge", JUDGE, "--to", path)
    result = told(capsys, "card", carded, "--check", path, "--bind")
    assert (result["judge"], result["holds"], result["differences"]) == (JUDGE, True, [])
    assert result["bound"] is True
    warmer(carded)
    assert "request parameters" in refused(capsys, "judge", "run", carded, "--judge", JUDGE, "--trials", "2")
    result = told(capsys, "card", carded, "--check", path, "--bind", code=1)
    assert result["bound"] is False
    assert [(one["part"], one["on_card"], one["now"]) for one in result["differences"]] == [
        ("request parameters", "{}", '{"temperature":1}')
    ]
    assert run_command(["card", carded, "--check", path]) == 1
    out = capsys.readouterr().out
    assert "differs from the card" in out
    assert "request parameters: {} on the card" in out


def test_runs_and_corrections_are_refused_under_the_card_of_another(
    carded: str, tmp_path: Path, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "card.json")
    told(capsys, "card", carded, "--judge", JUDGE, "--to", path)
    assert run_command(["judge", "run", carded, "--judge", JUDGE, "--card", path]) == 0
    assert run_command(["correct", carded, "--card", path]) == 0
    capsys.readouterr()
    asked = len(server.bodies)
    warmer(carded)
    assert "is not the judge of the card" in refused(
        capsys, "judge", "run", carded, "--judge", JUDGE, "--trials", "2", "--card", path
    )
    assert len(server.bodies) == asked
    # The verdicts at hand were given by the judge of the card; those of the baseline were not.
    assert run_command(["correct", carded, "--card", path]) == 0
    assert run_command(["judge", "run", carded, "--judge", "baseline"]) == 0
    assert "kind of judge" in refused(capsys, "correct", carded, "--judge", "baseline", "--card", path)


def test_the_judge_of_a_card_is_added_elsewhere(
    carded: str, tmp_path: Path, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "card.json")
    told(capsys, "card", carded, "--judge", JUDGE, "--to", path)
    (tmp_path / "other").mkdir()
    other = small_project(tmp_path / "other")
    other.close()
    assert run_command(["card", str(other.path), "--check", path]) == 1
    assert "Define a judge that asks for “test-model”" in capsys.readouterr().out
    result = told(capsys, "card", str(other.path), "--check", path, "--define-at", server.url)
    assert (result["judge"], result["holds"]) == (JUDGE, True)


def answer_of(capsys, *words):
    code = run_command([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out + err


def in_json(capsys, *words):
    code, out = answer_of(capsys, *words, "--json")
    return code, json.loads(out)


@pytest.fixture
def matched(tmp_path):
    project = two_tasks(tmp_path)
    project.close()
    (tmp_path / "matches.csv").write_text(
        "first,second,winner,confidence,rater\nt01,t02,t01,0.8,gpt\n", encoding="utf-8"
    )
    return project.path


@pytest.fixture
def pool(tmp_path):
    return contest_project(tmp_path)


def test_matches_are_imported_and_their_standings_told(matched, capsys):
    assert in_json(capsys, "contest", "import", matched, matched.parent / "matches.csv") == (
        0, {"matches": 1, "raters": {"gpt": 1}, "again": False},
    )  # fmt: skip
    code, result = in_json(capsys, "contest", "standings", matched, "--top", "1")
    first, second = result["standings"]
    assert code == 0
    assert (first["task_id"], first["key"], first["elo"], second["elo"]) == ("t01", "s1-t01", 1209.6, 1190.4)
    assert set(first) == {
        "task_id", "key", "rank", "elo", "bradley_terry", "low", "high", "p_top_k", "certain", "matches",
        "note",
    }  # fmt: skip
    assert (first["low"], first["high"], first["p_top_k"]) == (None, None, None)
    assert first["note"] == "1 match is too few for an interval, which takes 5"
    assert result["told"] == []
    assert any("C_ab" in words for words in result["departures"])
    assert (result["rater"], result["rounds"], result["matches"]) == ("gpt", 1, 1)
    answer_of(capsys, "contest", "import", matched, matched.parent / "matches.csv")
    code, out = answer_of(capsys, "contest", "standings", matched, "--departures")
    assert code == 0
    assert "Standings of 2 tasks" in out
    assert "of the top 1 are certain" in out
    assert "Differences from the paper:" in out
    (matched.parent / "bad.csv").write_text(
        "first,second,winner,confidence,rater\nt01,t02,t01,.3,gpt\n", encoding="utf-8"
    )
    code, out = answer_of(capsys, "contest", "import", matched, matched.parent / "bad.csv")
    assert code == 1
    assert "row 2: A confidence of 0.3" in " ".join(out.split())


def test_the_baseline_runs_offline_and_an_estimate_says_that_it_is_free(pool, capsys):
    code, out = answer_of(capsys, "contest", "run", pool.path, "--judge", "baseline", "--estimate")
    assert code == 0
    assert "24 comparisons; “baseline” calls no model" in out
    code, out = answer_of(capsys, "contest", "run", pool.path, "--judge", "baseline")
    assert code == 0
    assert "24 of 24 comparisons made (done" in out
    code, out = answer_of(capsys, "contest", "standings", pool.path)
    assert "floor: the baseline reads words alone" in " ".join(out.split()).casefold()
    assert (
        "floor: the baseline" in in_json(capsys, "contest", "standings", pool.path)[1]["told"][0].casefold()
    )
