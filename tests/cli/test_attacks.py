"""Attacks and biases on the command line: what it would take, the run itself, and the figures."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotator.cli import run_command
from tests.judging.odd_server import Odd, OddServer
from tests.projects.attacked_project import firm, gullible, judged
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE, add_judge

VERDICTS = 12


@pytest.fixture
def server(server: OddServer) -> OddServer:
    server.answer = firm
    return server


@pytest.fixture
def file(tmp_path: Path, server: OddServer) -> str:
    """A project in which the judge has said no to everything."""
    project = small_project(tmp_path)
    add_judge(project, server)
    judged(project)
    judged(project, "baseline")
    project.close()
    server.bodies.clear()
    return str(tmp_path / "small.goldsmith")


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run_command([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def rates(found: dict[str, Any]) -> dict[str, float]:
    rows = next(sheet["rows"] for sheet in found["sheets"] if sheet["key"] == "attacks")
    return {row["attack"]: row["failure_rate"] for row in rows}


def test_an_estimate_asks_nothing(file: str, server: OddServer, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "attack", file, "--judge", JUDGE, "--attack", "injection", "--estimate")
    assert (found["judging"]["calls"], found["drawn"]) == (VERDICTS, VERDICTS)
    assert server.bodies == []
    assert run_command(["attack", file, "--judge", JUDGE, "--estimate"]) == 0
    assert "12 verdicts of 12 on 2 items" in capsys.readouterr().out


def test_a_judge_is_attacked_and_its_rates_told(
    file: str, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = gullible
    ended = told(capsys, "attack", file, "--judge", JUDGE, "--attack", "injection", "--attack", "padding")
    assert (ended["state"], ended["done"]) == ("done", 2 * VERDICTS)
    assert rates(told(capsys, "bias", file, "--judge", JUDGE)) == {
        "An order to the judge": 1.0, "Padding by sentences on nothing": 0.0,
    }  # fmt: skip


def test_the_baseline_is_attacked_without_a_network(
    file: str, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["attack", file, "--judge", "baseline", "--size", "6"]) == 0
    out = capsys.readouterr().out
    assert "attacked copies judged (done" in out
    assert "baseline: 6 verdicts drawn" in out
    assert server.bodies == []


def test_families_are_told_and_kept(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "bias", file, "--family", "Alpha=Anthropic")
    rows = next(sheet["rows"] for sheet in found["sheets"] if sheet["key"] == "families")
    assert {row["name"]: row["family"] for row in rows}["Alpha"] == "Anthropic"
    assert run_command(["bias", file, "--family", "Alpha"]) == 1
    assert "does not name a developer" in capsys.readouterr().err


def test_tables_are_written(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_command(["attack", file, "--judge", "baseline", "--size", "6"])
    found = told(capsys, "bias", file, "--to", str(tmp_path / "bias.csv"))
    assert found["files"][:2] == ["bias.csv", "bias-biases.csv"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--attack", "flattery"), "There is no attack “flattery”"),
        (("--judge", "nobody"), "There is no judge"),
        (("--attack", "paraphrase"), "There is no attack “paraphrase”"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    file: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert run_command(["attack", file, "--judge", JUDGE, *words]) == 1
    assert said in capsys.readouterr().err


def test_a_killed_attack_pays_for_no_call_twice(file: str, server: OddServer) -> None:
    server.answer = lambda body, number: firm(body, number) if number < 5 else Odd(held=True)
    words = [
        "attack",
        file,
        "--judge",
        JUDGE,
        "--attack",
        "padding",
        "--concurrency",
        "1",
        "--progress",
        "json",
    ]
    child = subprocess.Popen(
        [sys.executable, "-m", "annotator", *words],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        encoding="utf-8",
    )
    assert child.stdout is not None
    for line in child.stdout:
        if json.loads(line).get("done", 0) == 5:
            break
    child.kill()
    child.wait()
    for pipe in (child.stdout, child.stdin):
        if pipe is not None:
            pipe.close()
    server.answer, before = firm, len(server.bodies)
    assert 5 <= before < VERDICTS
    assert run_command([*words[:-2], "--json"]) == 0
    # The one that was under way when it was killed is asked for once more.
    assert VERDICTS - before <= len(server.bodies) - before <= VERDICTS - 5
    asked = [json.dumps(body["messages"][1]["content"].split("<<<")[0]) for body in server.bodies]
    assert len(asked) <= VERDICTS + 2
