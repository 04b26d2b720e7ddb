"""The window's child: it stands back behind the window, hears its words, and nobody else does."""

import io
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from annotator.actions.judges import judges, kept_keys
from annotator.actions.orders import requests
from annotator.actions.orders.requests import ChildRequest
from annotator.actions.runs.judge_cases import RunRequest
from annotator.cli.carrying import NICENESS, own_input
from annotator.gui.desk.child import Child, command
from annotator.gui.desk.desk import Desk

ORDER = RunRequest("distant", systems=("Alpha",), items=("1", "2"), budget_usd=0.5)
KEY = "sk-a-key-that-nobody-may-see"
# What the command line's own child does first, and what it then has as standard input.
FIRST_WORDS = """
import os, subprocess, sys
from annotator.cli.carrying import own_input, stand_back
stand_back()
said = own_input()
look = "import sys; print(repr(sys.stdin.read()))"
print(ascii(said.readline()))
print(subprocess.run([sys.executable, "-c", look], capture_output=True).stdout.decode().strip())
print(os.getpriority(os.PRIO_PROCESS, 0) if os.name == "posix" else "unknown")
print(said.readline().strip())
"""


def test_a_child_lowers_its_priority_and_keeps_what_the_window_says_to_itself() -> None:
    """A process of its own would wait for the pipe, or take the window's lines, were it inherited."""
    command = [sys.executable, "-u", "-c", FIRST_WORDS]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("order 水\n")
        process.stdin.flush()
        assert [process.stdout.readline() for _ in range(2)] == [f"{'order 水' + chr(10)!a}\n", "''\n"]
        told = process.stdout.readline().strip()
        rest, _ = process.communicate("cancel\n")
    assert rest == "cancel\n"
    if os.name == "posix":
        assert int(told) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)


def test_what_stands_in_for_standard_input_is_listened_to_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO("cancel\n")
    monkeypatch.setattr(sys, "stdin", said)
    assert own_input() is said


@pytest.mark.parametrize(
    ("python", "started"),
    [
        (r"C:\Users\pythonw\venv\Scripts\pythonw.exe", r"C:\Users\pythonw\venv\Scripts\python.exe"),
        (r"C:\Users\pythonw\venv\Scripts\python.exe", r"C:\Users\pythonw\venv\Scripts\python.exe"),
    ],
)
def test_on_windows_a_child_is_started_by_the_python_that_has_streams(
    monkeypatch: pytest.MonkeyPatch, python: str, started: str
) -> None:
    monkeypatch.setattr("annotator.gui.desk.child.os", SimpleNamespace(name="nt"))
    monkeypatch.setattr(sys, "executable", python)
    assert command() == (started, ["-m", "annotator"])


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


def test_a_child_hears_words(child, qtbot) -> None:
    with qtbot.waitSignal(child.ended) as ended:
        assert child.start(ORDER)
        child.process.waitForStarted()
        child.say("pause")
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
