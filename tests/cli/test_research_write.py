"""The command of the reference system: in words and in JSON, offline, and nothing asked twice after a kill."""

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotator.cli.research.research import app
from annotator.domain.texts.refusal import Refusal
from tests.judging.odd_server import Odd, OddServer
from tests.servers.research_server import (
    JUDGE,
    SYSTEM,
    answering,
    research_project,
    researching,
    step_of,
    write_corpus,
)

HERE = Path(__file__).parents[2]


@pytest.fixture
def server() -> Iterator[OddServer]:
    with researching() as server:
        yield server


@pytest.fixture
def file(tmp_path: Path, server: OddServer) -> Path:
    project = research_project(tmp_path, server.url)
    project.close()
    return project.path


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return str(write_corpus(tmp_path / "corpus"))


def words(file: Path, corpus: str, *more: str, judge: str = JUDGE) -> list[str]:
    return [
        "write",
        str(file),
        "--judge",
        judge,
        "--system",
        SYSTEM,
        "--keep",
        "3",
        "--corpus",
        corpus,
        *more,
    ]


def run(*said: str) -> tuple[int, str]:
    """The exit code and what was said; a refusal is raised."""
    found = CliRunner().invoke(app, list(said))
    if isinstance(found.exception, Refusal):
        raise found.exception
    return found.exit_code, found.stdout


def test_what_was_written_and_from_which_works_is_said(file: Path, corpus: str) -> None:
    code, out = run(*words(file, corpus))
    assert code == 0
    assert out.splitlines()[0].startswith("1 of 1 reports written (done")
    assert "Item 1, trial 1: works 9 found, 5 filtered, 3 given, 2 false numbers removed." in out


def test_an_estimate_asks_nobody(file: Path, server: OddServer, corpus: str) -> None:
    code, out = run(*words(file, corpus, "--estimate"))
    assert (code, server.bodies) == (0, [])
    assert "1 report by at most " in out
    assert "The price of test-model is not known" in out


def test_the_baseline_needs_no_endpoint(file: Path, server: OddServer, corpus: str) -> None:
    server.shutdown()
    code, out = run(*words(file, corpus, "--json", judge="baseline"))
    assert (code, json.loads(out)["written"][0]["works"]["given"]) == (0, 3)


def test_of_an_oracle_there_is_a_choice_of_two(file: Path, server: OddServer) -> None:
    told = ("write", str(file), "--judge", JUDGE, "--system", SYSTEM, "--oracle")
    with pytest.raises(Refusal, match="There is no oracle “best”"):
        run(*told, "best")
    assert run(*told, "arxiv")[0] == 0
    assert [step_of(body) for body in server.bodies] == ["section"]


def test_after_a_kill_no_answered_call_is_repeated(file: Path, server: OddServer, corpus: str) -> None:
    last = threading.Event()

    def held(step: str, _: int) -> Odd | None:
        if step != "section":
            return None
        last.set()
        return Odd(held=True)

    server.answer = answering(held)
    code = "from annotator.cli.research.research import app; app()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words(file, corpus)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(HERE)},
    )
    assert last.wait(60)
    process.kill()
    process.communicate()
    before = len(server.bodies)
    assert Counter(map(step_of, server.bodies))["filter"] == 9
    server.over.set()
    server.answer = answering()
    _, out = run(*words(file, corpus, "--json"))
    found = json.loads(out)
    # The one that was under way when the process died is the only one asked twice.
    assert [step_of(body) for body in server.bodies[before:]] == ["section"]
    assert (found["done"], found["reused"]) == (1, before - 1)
