"""A run in the background: its estimate, its child process, its panel, and its place in the status line."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QWidget

from annotator.actions.judges import judges, kept_keys
from annotator.actions.orders import orders
from annotator.actions.runs.judge_cases import RunRequest
from annotator.cli.project import NICENESS
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.session.run import BackgroundRun, Child, OrderEstimate, command
from annotator.gui.session.session import ProjectSession
from tests.windows.using import be_active, owned, press

LINE = {
    "event": "progress", "done": 412, "total": 1_931, "rate": 3.14, "left_s": 185.0, "calls": 400, "running": 8,
    "judged_now": 412, "cost_usd": 1.5, "missing": {"timeout": 2}, "models": ["m"],
}  # fmt: skip
ORDER = RunRequest("baseline")


@pytest.fixture
def window(small, window_over, qtbot, monkeypatch: pytest.MonkeyPatch):
    """Over a child that tells one line of progress and waits until it is to stop."""
    says = (
        f"import sys; sys.stdin.readline(); print({json.dumps(LINE)!r}, flush=True); "
        "any('cancel' in line for line in sys.stdin)"
    )
    child_says(monkeypatch, says)
    return be_active(window_over(small), qtbot)


def child_says(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr("annotator.gui.session.run.command", lambda: (sys.executable, ["-c", program]))


def shown(
    window, what: str = "The run", page: str = "Judges", **place: str
) -> tuple[BackgroundRun, RunPanel]:
    """A run of the page in view, and its panel there."""
    owner = QWidget(window.page)
    run = BackgroundRun(window.session, what, page, owner, **place)
    panel = RunPanel(run)
    panel.setParent(owner)
    owner.setGeometry(100, 100, 700, 200)
    panel.setGeometry(0, 0, 700, 200)
    owner.show()
    return run, panel


def test_panel_and_status_line_tell_every_run_how_far_it_is_and_what_it_came_to(window, qtbot):
    first, panel = shown(window, "Pairing", "Agreement")
    second, _ = shown(window, "Judge run", part="Runs")
    assert panel.isHidden()
    with qtbot.waitSignal(first.progressed):
        assert first.start(ORDER)
        assert panel.chips.words() == ["Starting"]
    assert panel.title.text() == "Pairing · \u2068baseline\u2069"
    assert panel.progress._what.text() == "3.1 per second · 8 in progress"
    assert panel.progress._count.text() == "412 of 1,931 · about 3 min left"
    assert panel.chips.words() == [
        "400 calls", "$1.50 spent", "410 came now", "missing: 2 × no answer in time",
    ]  # fmt: skip
    with qtbot.waitSignal(second.progressed):
        second.start(ORDER)
    said = [button.text() for button in window.status.runs.values()]
    assert said == ["Pairing · 412 of 1,931 · $1.50", "Judge run · 412 of 1,931 · $1.50"]
    window.status.runs[second].click()
    assert window.page.NAME == "Judges"
    assert window.page.part is window.page.running
    first.stop()
    assert [*window.status.runs] == [second]
    # Closing the window ends every run.
    window.close()
    assert not second.running


def test_keys_pause_resume_and_stop_the_run_in_view_else_the_last_one(window, qtbot):
    run, panel = shown(window)
    with qtbot.waitSignal(run.progressed):
        run.start(ORDER)
    other = BackgroundRun(window.session, "Another", "Items", QWidget(window.page))
    with qtbot.waitSignal(other.progressed):
        other.start(ORDER)
    press("Ctrl+H")
    assert (run.held, other.held) == (True, False)
    assert panel.hold.text().startswith("Resume")
    assert window.status.runs[run].text().endswith("paused")
    window.show_page("People")
    press("Ctrl+H")
    assert (run.held, other.held) == (True, True)
    press("Ctrl+H")
    assert not other.held
    press("Ctrl+.")
    assert (run.stopping, other.stopping) == (False, True)
    assert window.status.runs[other].text().endswith("stopping")


def test_the_end_is_told_only_where_it_is_not_seen_and_one_that_breaks_off_is_refused(
    window, qtbot, monkeypatch
):
    refused = []
    window.session.refused.connect(lambda refusal: refused.append(refusal.happened))
    run, panel = shown(window, "Pairing")
    # Stopped before it has begun.
    child_says(monkeypatch, "import sys; sys.stdin.readline(), sys.stdin.readline()")
    with qtbot.waitSignal(run.ended) as ended:
        run.start(ORDER)
        run.cancel()
    assert ended.args[0]["state"] == "cancelled"
    child_says(monkeypatch, 'import sys; sys.stdin.readline(); print(\'{"event": "ended"}\', flush=True)')
    with qtbot.waitSignal(run.ended):
        run.start(ORDER)
    assert (refused, window.messages.text()) == ([], "")
    assert not run.running
    assert panel.isHidden()
    child_says(monkeypatch, "import sys; sys.stdin.readline()")
    with qtbot.waitSignal(window.session.refused):
        run.start(ORDER)
    (happened,) = refused
    assert "stopped unexpectedly" in happened
    assert panel.isHidden()
    child_says(monkeypatch, 'import sys; sys.stdin.readline(); print(\'{"event": "ended"}\', flush=True)')
    window.show_page("People")
    with qtbot.waitSignal(run.ended):
        run.start(ORDER)
    assert window.messages.text() == "Pairing has ended."


FIRST_ORDER = RunRequest("baseline", items=("1",))


class LateSession:
    """Keeps what is asked, so that it can be answered late."""

    def __init__(self):
        self.asked = []

    def ask_later(self, then, question, order):
        assert question is orders.forecast
        self.asked.append((then, order))


@pytest.fixture
def owner(qtbot):
    widget = owned(qtbot, QWidget())
    widget.show()
    widget.order = FIRST_ORDER
    return widget


@pytest.fixture
def estimate(owner):
    seen = []
    made = OrderEstimate(LateSession(), owner, lambda: owner.order, seen.append)
    made.seen = seen
    return made


def answer(estimate):
    for then, order in estimate._session.asked:
        then(f"of {','.join(order.items)}")
    return estimate.seen


def test_an_estimate_is_told_of_what_the_fields_say_now_whatever_their_budget(estimate, owner):
    estimate.count()
    owner.order = replace(FIRST_ORDER, items=("1", "2"))
    estimate.count()
    owner.order = replace(owner.order, budget_usd=3.0)
    assert answer(estimate) == ["of 1,2"]
    owner.order = None
    assert answer(estimate) == ["of 1,2"]


def test_nothing_is_asked_unseen_or_told_once_it_has_stopped(estimate, owner):
    estimate.count()
    estimate.stop()
    assert answer(estimate) == []
    owner.hide()
    estimate.count()
    assert len(estimate._session.asked) == 1


JUDGE_ORDER = RunRequest("distant", systems=("Alpha",), items=("1", "2"), budget_usd=0.5)
KEY = "sk-a-key-that-nobody-may-see"
# What the command line's own child does first, and what it then has as standard input.
FIRST_WORDS = """
import os, subprocess, sys
from annotator.cli.project import own_input, stand_back
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
    monkeypatch.setattr("annotator.gui.session.run.os", SimpleNamespace(name="nt"))
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
    monkeypatch.setattr("annotator.gui.session.run.command", lambda: (sys.executable, ["-c", echo]))
    judges.add(small, "distant", base_url="http://127.0.0.1:9/v1", model="m")
    kept_keys.remember_key(small, judges.named(small, "distant"), KEY, session_only=True)
    return Child(ProjectSession(small))


def test_an_order_goes_in_as_a_line_and_a_key_only_through_the_environment(child, small, qtbot) -> None:
    with qtbot.waitSignal(child._session.refused) as told:
        assert not child.start(RunRequest("nobody"))
    assert "nobody" in told.args[0].happened
    assert not child.running
    for estimate in (False, True):
        with qtbot.waitSignal(child.ended) as ended:
            assert child.start(JUDGE_ORDER, estimate=estimate)
            child.say("pause")
        told = ended.args[0]
        assert told["words"] == ["-c", "child"]
        assert told["given"][1] == "pause\n"
        request = orders.ChildRequest(small.path, JUDGE_ORDER, small.by)
        assert orders.read(told["given"][0]) == replace(request, estimate=estimate, readonly=estimate)
        assert KEY not in str(told)
        # One that only counts is given none.
        environment = str(child.process.processEnvironment().toStringList())
        assert (KEY in environment) is not estimate
