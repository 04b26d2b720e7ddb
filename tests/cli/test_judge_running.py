"""The command line of judges at work: batches, holding a run, rates, costs, and checks for drift."""

import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator.judging.batches import batching
from tests.cli.test_project import goldsmith, told
from tests.judging.batch_server import BatchServer
from tests.judging.odd_server import Odd, OddServer
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE, add_judge, answering, serving_batches

HERE = Path(__file__).parents[2]


@pytest.fixture
def file(tmp_path: Path, server: OddServer) -> Path:
    return made(tmp_path, server)


def made(folder: Path, server: OddServer) -> Path:
    project = small_project(folder)
    add_judge(project, server)
    project.close()
    return project.path


class Child:
    """`judge …` as the window starts it: lines of JSON out, words in."""

    def __init__(self, *words: object) -> None:
        command = [sys.executable, "-m", "annotator", "judge", *map(str, words), "--progress", "json"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8", cwd=HERE)
        self.lines: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def say(self, word: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def ended(self) -> dict[str, Any]:
        code, last = self._over(), self.lines[-1]
        whole = last["state"] == "done" and not last["missing"]
        assert code == (0 if whole else 3)
        return last

    def kill(self) -> None:
        self.process.kill()
        self._over()

    def _over(self) -> int:
        code = self.process.wait(60)
        self._reader.join(60)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream
            stream.close()
        return code

    def _read(self) -> None:
        assert self.process.stdout
        self.lines += (json.loads(line) for line in self.process.stdout)


def until(true: Any) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


# Held and let go on


def test_a_run_is_held_and_goes_on_by_a_word(file: Path, server: OddServer) -> None:
    yes, let_go = answering(lambda _: "yes"), threading.Event()

    def answer(body: dict[str, Any], number: int) -> Odd:
        if number == 1:
            let_go.wait(60)
        return yes(body, number)

    server.answer = answer
    child = Child("run", file, "--judge", JUDGE, "--concurrency", 1)
    until(lambda: len(server.bodies) == 2)
    child.say("pause")
    until(lambda: child.lines and child.lines[-1].get("held"))
    let_go.set()
    until(lambda: child.lines[-1]["done"] == 2)
    # Held lines come once a second; by the next one it would have asked again.
    held = len(child.lines)
    until(lambda: len(child.lines) > held)
    assert len(server.bodies) == 2
    child.say("resume")
    assert (child.ended()["state"], len(server.bodies)) == ("done", 12)
    assert "held" not in child.lines[-1]


def test_a_held_run_can_be_cancelled(file: Path, server: OddServer) -> None:
    yes = answering(lambda _: "yes")
    server.answer = lambda body, number: Odd(held=True) if number else yes(body, number)
    child = Child("run", file, "--judge", JUDGE, "--concurrency", 1)
    until(lambda: len(server.bodies) == 2)
    child.say("pause")
    until(lambda: child.lines and child.lines[-1].get("held"))
    child.say("cancel")
    assert child.ended()["state"] == "cancelled"
    assert len(server.bodies) == 2


# Batches


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.setattr(batching, "FIRST_LOOK_S", 0.01)
    with serving_batches() as server:
        yield server


def test_a_batch_is_paid_once_though_the_program_was_killed_while_it_was_out(
    tmp_path: Path, provider: BatchServer, capsys: Any
) -> None:
    provider.looks = 10**9
    file = made(tmp_path, provider)
    child = Child("run", file, "--judge", JUDGE, "--batch")
    until(lambda: child.lines and child.lines[-1].get("batches"))
    child.kill()
    (out,) = told(capsys, "judge", "batches", file)["batches"]
    assert (out["questions"], out["stage"]) == (11, "sent")
    provider.looks = 0
    ended = told(capsys, "judge", "resume", file)
    assert (ended["state"], ended["done"], ended["missing"]) == ("done", 12, {})
    assert (len(provider.made), len(provider.bodies)) == (1, 1)
    assert told(capsys, "judge", "batches", file)["batches"] == []


def test_batches_are_withdrawn_by_name_or_given_up(
    tmp_path: Path, provider: BatchServer, capsys: Any
) -> None:
    provider.looks = 10**9
    file = made(tmp_path, provider)
    child = Child("run", file, "--judge", JUDGE, "--batch")
    until(lambda: child.lines and child.lines[-1].get("batches"))
    child.say("cancel")
    assert child.ended()["state"] == "cancelled"
    assert told(capsys, "judge", "batches", file, "--judge", JUDGE, "--withdraw")["stopped"] == 1
    code, out, _ = goldsmith(capsys, "judge", "batches", file)
    assert (code, "11 questions, cancelling" in out) == (0, True)
    assert told(capsys, "judge", "batches", file, "--forget")["forgotten"] == 1
    assert goldsmith(capsys, "judge", "batches", file)[1] == "No open batches.\n"


# Rates


def test_a_rate_of_the_order_holds_the_calls_back(file: Path, server: OddServer) -> None:
    child = Child("run", file, "--judge", JUDGE, "--rpm", 3)
    until(lambda: any(line.get("calls") == 3 for line in child.lines))
    until(lambda: child.lines[-1]["seconds"] > 1.5)
    child.say("cancel")
    assert (child.ended()["state"], len(server.bodies)) == ("cancelled", 3)


def test_a_judges_own_rate_goes_for_all_its_runs(file: Path, server: OddServer, capsys: Any) -> None:
    words = ("judge", "add", file, "--name", "slow", "--base-url", server.url, "--model", "m", "--rpm", 2)
    assert goldsmith(capsys, *words)[0] == 0
    child = Child("run", file, "--judge", "slow")
    until(lambda: any(line.get("calls") == 2 for line in child.lines))
    child.say("cancel")
    assert (child.ended()["state"], len(server.bodies)) == ("cancelled", 2)


# Costs and drift


def test_costs_are_told_by_whatever_they_are_asked_by(file: Path, server: OddServer, capsys: Any) -> None:
    assert goldsmith(capsys, "judge", "costs", file)[1] == "No costs yet.\n"
    told(capsys, "judge", "run", file, "--judge", JUDGE)
    (cost,) = told(capsys, "judge", "costs", file)["costs"]
    assert (cost["name"], cost["judgements"], cost["cost_usd"], cost["unpriced"]) == (JUDGE, 12, None, 12)
    assert len(told(capsys, "judge", "costs", file, "--by", "criterion")["costs"]) == 6
    _, out, _ = goldsmith(capsys, "judge", "costs", file, "--by", "question")
    assert out.startswith(
        "1, researcherbench.coverage: an unknown amount for 6 judgements, 6 of unknown cost"
    )
    assert goldsmith(capsys, "judge", "costs", file, "--by", "moon")[0] == 1


def test_an_anchor_set_is_frozen_and_checked_against(file: Path, server: OddServer, capsys: Any) -> None:
    told(capsys, "judge", "run", file, "--judge", JUDGE)
    _, out, _ = goldsmith(capsys, "judge", "anchor", file, "--judge", JUDGE, "--size", 5)
    assert out.startswith("5 verdicts are frozen.")
    server.answer = answering(lambda _: "no")
    _, out, _ = goldsmith(capsys, "judge", "drift", file, "--judge", JUDGE)
    assert "5 of 5 anchored units judged again; 5 verdicts changed." in out
    assert "yes → no" in out
    (check,) = told(capsys, "judge", "drift", file, "--judge", JUDGE, "--show")["checks"]
    assert (check["agreement"]["value"], len(server.bodies)) == (0.0, 12 + 5)


def test_a_check_is_told_to_a_window_too(file: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    told(capsys, "judge", "run", file, "--judge", JUDGE)
    goldsmith(capsys, "judge", "anchor", file, "--judge", JUDGE)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    _, out, _ = goldsmith(capsys, "judge", "drift", file, "--judge", JUDGE, "--progress", "json")
    last = json.loads(out.splitlines()[-1])
    assert (last["event"], last["drift"]["compared"]) == ("ended", 12)


def test_a_model_of_unknown_price_is_run_within_a_budget_by_commands_alone(
    tmp_path: Path, capsys: Any, server: OddServer
) -> None:
    project = small_project(tmp_path)
    project.close()
    file = project.path
    words = ("judge", "add", file, "--name", "near", "--base-url", server.url, "--model", "nobody-knows-it")
    assert goldsmith(capsys, *words)[0] == 0
    run = ("judge", "run", file, "--judge", "near", "--json", "--budget")
    code, _, err = goldsmith(capsys, *run, 1)
    assert (code, "judge price" in err, server.bodies) == (1, True, [])
    assert told(capsys, "judge", "runs", file)["runs"] == []
    prices = ("--input-price", 1000, "--output-price", 2000)
    assert "$1000 in, $2000 out" in goldsmith(capsys, "judge", "price", file, "near", *prices)[1]
    code, _, err = goldsmith(capsys, "judge", "price", file, "near", "--input-price", "1")
    assert (code, "The price cannot be read" in err) == (1, True)
    found = told(capsys, "judge", "estimate", file, "--judge", "near")
    code, _, err = goldsmith(capsys, *run, found["smallest_usd"] / 2)
    assert (code, "asks nothing" in err, server.bodies) == (1, True, [])
    code, out, _ = goldsmith(capsys, *run, found["smallest_usd"])
    some = json.loads(out)
    assert (code, some["state"], 0 < some["judged"] < 12) == (3, "interrupted", True)
    code, out, _ = goldsmith(capsys, *run, found["cost_usd"])
    assert (code, json.loads(out)["state"], len(server.bodies)) == (0, "done", 12)
    # Each call has 100 tokens in and 20 out.
    costs = told(capsys, "judge", "costs", file)
    assert sum(one["cost_usd"] for one in costs["costs"]) == pytest.approx(12 * 0.14)
    assert found["cost_usd"] >= 12 * 0.14
