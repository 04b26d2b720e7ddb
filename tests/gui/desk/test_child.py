"""The window's child: it stands back behind the window, and hears its words."""

import os
import subprocess
import sys

import pytest

from annotator.actions.judges import judges, kept_keys
from annotator.actions.orders import requests
from annotator.actions.orders.requests import ChildRequest
from annotator.actions.runs.judge_cases import RunRequest
from annotator.gui.desk.child import NICENESS, Child, stand_back
from annotator.gui.desk.desk import Desk

pytestmark = pytest.mark.skipif(os.name != "posix", reason="priorities are read another way there")
ORDER = RunRequest("distant", systems=("Alpha",), items=("1", "2"), budget_usd=0.5)
KEY = "sk-a-key-that-nobody-may-see"
WAITING = "import sys; sys.stdin.readline()"


def test_a_process_is_given_a_lower_priority() -> None:
    with subprocess.Popen([sys.executable, "-c", WAITING], stdin=subprocess.PIPE) as process:
        stand_back(process.pid)
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == os.getpriority(os.PRIO_PROCESS, 0) + NICENESS
        process.communicate(b"\n")


def test_one_that_has_ended_needs_none() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    stand_back(process.pid)
    assert process.returncode == 0


@pytest.fixture
def child(small, qtbot, monkeypatch: pytest.MonkeyPatch) -> Child:
    """A child that says which words it was started with, and which lines it was given."""
    echo = (
        "import json, sys\n"
        "told = {'words': sys.argv, 'given': [sys.stdin.readline() for _ in range(2)]}\n"
        "print(json.dumps({'event': 'ended'} | told), flush=True)"
    )
    monkeypatch.setattr("annotator.gui.desk.child.command", lambda: (sys.executable, ["-c", echo]))
    judges.add(small, "distant", base_url="http://127.0.0.1:9/v1", model="m")
    kept_keys.remember_key(small, "distant", KEY, session_only=True)
    return Child(Desk(small))


def test_a_child_stands_back_and_hears_words(child, qtbot) -> None:
    seen: list[int] = []
    child.process.started.connect(
        lambda: seen.append(os.getpriority(os.PRIO_PROCESS, child.process.processId()))
    )
    with qtbot.waitSignal(child.ended) as ended:
        assert child.start(ORDER)
        child.process.waitForStarted()
        child.say("pause")
    assert seen == [os.getpriority(os.PRIO_PROCESS, 0) + NICENESS]
    assert ended.args[0]["given"][1] == "pause\n"


def test_an_order_goes_in_as_a_line_and_a_key_only_through_the_environment(child, small, qtbot) -> None:
    with qtbot.waitSignal(child.ended) as ended:
        assert child.start(ORDER)
        child.say("pause")
    told = ended.args[0]
    assert told["words"] == ["-c", "child"]
    assert requests.read(told["given"][0]) == ChildRequest(small.path, ORDER, small.by)
    assert KEY not in str(told)
    assert KEY in str(child.process.processEnvironment().toStringList())


def test_one_that_only_counts_is_given_no_key(child, qtbot) -> None:
    with qtbot.waitSignal(child.ended) as ended:
        assert child.start(ORDER, estimate=True)
        child.say("pause")
    assert requests.read(ended.args[0]["given"][0]).estimate
    assert KEY not in str(child.process.processEnvironment().toStringList())


def test_an_order_of_a_judge_that_is_gone_begins_nothing(child, qtbot) -> None:
    with qtbot.waitSignal(child._desk.refused) as told:
        assert not child.start(RunRequest("nobody"))
    assert "nobody" in told.args[0].happened
    assert not child.running
