"""The contest by commands: figures in JSON, what is kept, and nothing lost or repeated after a kill."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from llmock.pytest_plugin import LLMock

from annotator.actions.contests import contest_rows
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.cli import run_command
from tests.actions.contests.contest_project import contest_project, two_tasks

HERE = Path(__file__).parents[2]
SCORES = {"clarity": 4, "actionability": 4, "novelty": 3, "depth_fit": 4, "consistency": 5}
REPLY = {
    "first": SCORES,
    "second": {**SCORES, "novelty": 1},
    "reason": "So.",
    "better": "first",
    "confidence": 0.8,
}


def told(capsys, *words):
    code = run_command([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out + err


def in_json(capsys, *words):
    code, out = told(capsys, *words, "--json")
    return code, json.loads(out)


@pytest.fixture
def file(tmp_path):
    project = two_tasks(tmp_path)
    project.close()
    (tmp_path / "matches.csv").write_text(
        "first,second,winner,confidence,rater\nt01,t02,t01,0.8,gpt\n", encoding="utf-8"
    )
    return project.path


@pytest.fixture
def pool(tmp_path):
    project = contest_project(tmp_path)
    yield project
    project.close()


def test_imported_matches_stand_in_json(file, capsys):
    assert in_json(capsys, "contest", "import", file, file.parent / "matches.csv") == (
        0, {"matches": 1, "raters": {"gpt": 1}, "again": False},
    )  # fmt: skip
    code, found = in_json(capsys, "contest", "standings", file, "--top", "1")
    first, second = found["standings"]
    assert code == 0
    assert (first["task_id"], first["key"], first["elo"], second["elo"]) == ("t01", "s1-t01", 1209.6, 1190.4)
    assert set(first) == {
        "task_id", "key", "rank", "elo", "bradley_terry", "low", "high", "p_top_k", "certain", "matches",
        "note",
    }  # fmt: skip
    assert (first["low"], first["high"], first["p_top_k"]) == (None, None, None)
    assert first["note"] == "1 match is too few for an interval, which takes 5"
    assert found["told"] == []
    assert any("C_ab" in words for words in found["departures"])
    assert (found["rater"], found["rounds"], found["matches"]) == ("gpt", 1, 1)


def test_standings_in_words_name_what_is_certain(file, capsys):
    told(capsys, "contest", "import", file, file.parent / "matches.csv")
    code, out = told(capsys, "contest", "standings", file, "--departures")
    assert code == 0
    assert "Standings of 2 tasks" in out
    assert "of the top 1 are certain" in out
    assert "Differences from the paper:" in out


def test_a_wrong_confidence_is_refused_with_its_row(file, capsys):
    (file.parent / "bad.csv").write_text(
        "first,second,winner,confidence,rater\nt01,t02,t01,.3,gpt\n", encoding="utf-8"
    )
    code, out = told(capsys, "contest", "import", file, file.parent / "bad.csv")
    assert code == 1
    assert "row 2: A confidence of 0.3" in " ".join(out.split())


def test_the_baseline_runs_offline_and_an_estimate_says_that_it_is_free(pool, capsys):
    code, out = told(capsys, "contest", "run", pool.path, "--judge", "baseline", "--estimate")
    assert code == 0
    assert "24 comparisons; “baseline” calls no model" in out
    code, out = told(capsys, "contest", "run", pool.path, "--judge", "baseline")
    assert code == 0
    assert "24 of 24 comparisons made (done" in out
    code, out = told(capsys, "contest", "standings", pool.path)
    assert "floor: the baseline reads words alone" in " ".join(out.split()).casefold()
    assert (
        "floor: the baseline" in in_json(capsys, "contest", "standings", pool.path)[1]["told"][0].casefold()
    )


def test_after_a_kill_no_match_is_lost_and_none_is_repeated(pool: Project, llmock: LLMock, capsys):
    def asked() -> list[str]:
        return [one.body["messages"][1]["content"] for one in llmock.requests]

    def answered() -> int:
        return sum(one.showings for one in contest_rows.raters(pool))

    judges.add(pool, "distant", base_url=llmock.base_url(), model="gpt-4o-mini")
    words = ["contest", "run", str(pool.path), "--judge", "distant", "--rounds", "3", "--concurrency", "1"]
    llmock.reply(json.dumps(REPLY), times=None).delay(0.2, times=None)
    process = subprocess.Popen(
        [sys.executable, "-m", "annotator", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(HERE)},
    )  # fmt: skip
    while answered() < 7:
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.communicate()
    kept, before = answered(), asked()
    assert 7 <= kept <= len(before) < 36
    llmock.reset()
    llmock.reply(json.dumps(REPLY), times=None)
    code, found = in_json(capsys, *words)
    assert (code, found["state"], found["done"], found["total"]) == (0, "done", 36, 36)
    # What was answered is not asked again; at most what was under way when the process died is asked twice.
    assert len(asked()) == 36 - kept
    assert not set(before[:kept]) & set(asked())
    code, found = in_json(capsys, "contest", "standings", pool.path, "--top", "3")
    assert (found["matches"], found["rounds"], found["missing"]) == (18, 3, 0)
    assert sum(row["elo"] for row in found["standings"]) == pytest.approx(12 * 1200, abs=1e-3)
    assert {row["matches"] for row in found["standings"]} == {3}


def test_the_same_seed_gives_the_same_standings(tmp_path, capsys):
    found = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        project = contest_project(tmp_path / name)
        project.close()
        told(capsys, "contest", "run", project.path, "--judge", "baseline", "--seed", "4")
        found.append(in_json(capsys, "contest", "standings", project.path)[1]["standings"])
    assert found[0] == found[1]


def test_the_best_become_items_and_the_others_are_held_back_with_their_reason(pool, capsys):
    told(capsys, "contest", "run", pool.path, "--judge", "baseline")
    standings = in_json(capsys, "contest", "standings", pool.path, "--top", "4")[1]["standings"]
    words = ("contest", "keep", pool.path, "--top", "4", "--per-seminar", "2")
    code, dry = in_json(capsys, *words, "--dry-run")
    assert (code, len(dry["kept"]), dry["items"]) == (0, 4, [])
    code, found = in_json(capsys, *words)
    assert (code, found["kept"]) == (0, dry["kept"])
    assert found["items"] == found["kept"]
    assert sorted(key[:2] for key in found["kept"]) == ["s1", "s1", "s2", "s2"]
    assert in_json(capsys, *words)[1]["items"] == []
    assert standings[0]["key"] in found["kept"]
    code, out = told(
        capsys, "contest", "hold", pool.path, standings[0]["key"], "--reason", "Needs a licence."
    )
    assert (code, "held back: Needs a licence." in " ".join(out.split())) == (0, True)
    assert standings[0]["key"] in in_json(capsys, *words, "--dry-run")[1]["held_back"]
