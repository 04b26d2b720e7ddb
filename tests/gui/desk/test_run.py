"""A run in the background: its panel, its place in the status line, and one that is stopped before it has begun."""

import json
import sys

import pytest
from PySide6.QtWidgets import QWidget

from annotator.actions.runs.judge_cases import RunRequest
from annotator.gui import keys
from annotator.gui.desk.run import BackgroundRun
from annotator.gui.review.run_panel import RunPanel, chips
from tests.windows.labelling_keys import be_active, press

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
    window = window_over(small)
    be_active(window, qtbot)
    return window


def child_says(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr("annotator.gui.desk.child.command", lambda: (sys.executable, ["-c", program]))


def shown(
    window, what: str = "The run", page: str = "Judges", **place: str
) -> tuple[BackgroundRun, RunPanel]:
    """A run of the page in view, and its panel there."""
    owner = QWidget(window.page)
    run = BackgroundRun(window.desk, what, page, owner, **place)
    panel = RunPanel(run)
    panel.setParent(owner)
    owner.setGeometry(100, 100, 700, 200)
    panel.setGeometry(0, 0, 700, 200)
    owner.show()
    return run, panel


def test_a_panel_tells_what_runs_how_far_it_is_and_what_it_came_to(window, qtbot):
    run, panel = shown(window, "Pairing")
    assert panel.isHidden()
    with qtbot.waitSignal(run.progressed):
        assert run.start(ORDER)
        assert panel.chips.words() == ["Starting"]
    assert panel.title.text() == "Pairing · \u2068baseline\u2069"
    assert panel.progress._what.text() == "3.1 per second · 8 in progress"
    assert panel.progress._count.text() == "412 of 1,931 · about 3 min left"
    assert panel.chips.words() == [
        "400 calls",
        "$1.50 spent",
        "410 came now",
        "missing: 2 × no answer in time",
    ]


def test_what_is_not_known_of_a_run_is_not_said():
    assert [chip.words for chip in chips({"calls": 2, "judged_now": 2})] == [
        "2 calls",
        "cost not known",
        "2 came now",
    ]
    found = chips({"by_state": {"ok": 4, "dead": 1}})
    assert [chip.words for chip in found] == ["4 pages read", "1 could not be read"]


def test_the_status_line_tells_every_run_and_opens_where_it_is_shown(window, qtbot):
    first, _ = shown(window, "Pairing", "Agreement")
    second, _ = shown(window, "Judge run", part="Runs")
    for run in (first, second):
        with qtbot.waitSignal(run.progressed):
            run.start(ORDER)
    said = [button.text() for button in window.status.runs.values()]
    assert said == ["Pairing · 412 of 1,931 · $1.50", "Judge run · 412 of 1,931 · $1.50"]
    window.status.runs[second].click()
    assert window.page.NAME == "Judges"
    assert window.page.part is window.page.running
    for run in (first, second):
        run.stop()
    assert window.status.runs == {}


def test_keys_pause_resume_and_stop_the_run_in_view_else_the_last_one(window, qtbot):
    run, panel = shown(window)
    with qtbot.waitSignal(run.progressed):
        run.start(ORDER)
    other = BackgroundRun(window.desk, "Another", "Items", QWidget(window.page))
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


def test_a_changed_key_is_printed_on_the_buttons_and_works(window, qtbot):
    run, panel = shown(window)
    keys.rebind("hold_run", "Ctrl+Alt+H")
    window.rebind()
    assert panel.hold.text().endswith("Ctrl+Alt+H")
    with qtbot.waitSignal(run.progressed):
        run.start(ORDER)
    press("Ctrl+Alt+H")
    assert run.held


def test_one_that_is_stopped_before_it_has_begun_is_no_refusal(window, qtbot, monkeypatch):
    child_says(monkeypatch, "import sys; sys.stdin.readline(), sys.stdin.readline()")
    refused = []
    window.desk.refused.connect(refused.append)
    run, panel = shown(window)
    with qtbot.waitSignal(run.ended) as ended:
        run.start(ORDER)
        run.cancel()
    assert ended.args[0]["state"] == "cancelled"
    assert refused == []
    assert not run.running
    assert panel.isHidden()


def test_one_that_ends_by_itself_without_a_word_is_told(window, qtbot, monkeypatch):
    child_says(monkeypatch, "import sys; sys.stdin.readline()")
    run, panel = shown(window)
    with qtbot.waitSignal(window.desk.refused) as told:
        run.start(ORDER)
    assert "stopped unexpectedly" in told.args[0].happened
    assert panel.isHidden()


def test_the_end_is_told_only_where_it_is_not_seen(window, qtbot, monkeypatch):
    child_says(monkeypatch, 'import sys; sys.stdin.readline(); print(\'{"event": "ended"}\', flush=True)')
    run, _ = shown(window, "Pairing")
    with qtbot.waitSignal(run.ended):
        run.start(ORDER)
    assert window.messages.text() == ""
    window.show_page("People")
    with qtbot.waitSignal(run.ended):
        run.start(ORDER)
    assert window.messages.text() == "Pairing has ended."


def test_closing_the_window_ends_every_run(window, qtbot):
    run, _ = shown(window)
    with qtbot.waitSignal(run.progressed):
        run.start(ORDER)
    window.close()
    assert not run.running
