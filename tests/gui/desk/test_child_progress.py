"""How a run in a process of its own is watched, and what is said of one that was stopped before it had begun."""

import sys

import pytest

from annotator.actions.runs.judge_cases import RunRequest
from annotator.gui.desk.child_progress import ChildProgress, in_words
from annotator.gui.desk.desk import Desk


@pytest.fixture
def progress(small, qtbot, monkeypatch: pytest.MonkeyPatch) -> ChildProgress:
    """Over a child that says nothing and waits."""
    silent = "import sys; sys.stdin.readline(), sys.stdin.readline()"
    monkeypatch.setattr("annotator.gui.desk.child.command", lambda: (sys.executable, ["-c", silent]))
    made = ChildProgress(Desk(small), "The run", "Items")
    qtbot.addWidget(made)
    return made


def test_one_that_is_cancelled_before_it_has_begun_is_no_refusal(progress, qtbot):
    refused = []
    progress._desk.refused.connect(refused.append)
    with qtbot.waitSignal(progress.ended):
        progress.start(RunRequest("baseline"), "Begins")
        progress.cancel()
    assert refused == []
    assert not progress.running
    assert progress.isHidden()


def test_one_that_ends_by_itself_without_a_word_is_told(progress, qtbot):
    with qtbot.waitSignal(progress._desk.refused) as told:
        progress.start(RunRequest("baseline"), "Begins")
        progress._child.process.closeWriteChannel()
    assert "stopped unexpectedly" in told.args[0].happened


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"paused": "The endpoint rests"}, "The endpoint rests"),
        ({"running": 3, "cost_usd": 0.5}, "3 in progress · $0.50"),
        (
            {"missing": {"timeout": 2}, "by_state": {"ok": 4, "dead": 1}},
            "2 did not come · 1 could not be read",
        ),
        ({}, "Under way"),
    ],
)
def test_a_line_of_progress_is_said_in_words(line, said):
    assert in_words(line) == said
