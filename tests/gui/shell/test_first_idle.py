"""The window's first idle: what was loaded is set aside, and from then on its own thread alone collects garbage."""

import gc
import threading

import pytest
from PySide6.QtCore import QObject, Qt, QTimer

from annotator.gui.shell import start


class Left(QObject):
    """What a window leaves: a timer that goes on, and a cycle that only collecting ends."""

    def __init__(self) -> None:
        super().__init__()
        self.timer = QTimer(self)
        self.timer.start(60_000)
        self.itself = self


def leave(died: list[threading.Thread]) -> None:
    direct = Qt.ConnectionType.DirectConnection
    Left().destroyed.connect(lambda: died.append(threading.current_thread()), direct)


@pytest.fixture
def goldsmith(qapp):
    """The program; what it set aside stays so, as for all tests."""
    yield (program := start.Goldsmith(qapp))
    program.close()
    program._pulse.stop()


def test_what_was_loaded_is_set_aside(goldsmith):
    goldsmith.settle()
    assert gc.get_freeze_count() > 10_000


def test_what_a_window_leaves_dies_on_the_windows_own_thread(goldsmith, qtbot):
    goldsmith.settle()
    died: list[threading.Thread] = []
    leave(died)
    kept: list[list[object]] = []
    # More than Python, left to itself, would begin to collect at.
    much = 10 * gc.get_threshold()[0]
    other = threading.Thread(target=lambda: kept.extend([] for _ in range(much)))
    other.start()
    other.join()
    assert not died
    qtbot.waitUntil(lambda: bool(died))
    assert died == [threading.main_thread()]


@pytest.mark.parametrize(
    ("counts", "collected"),
    [((0, 0, 0), []), ((700, 10, 10), []), ((701, 10, 11), [0]), ((701, 11, 11), [1]), ((700, 11, 11), [2])],
)
def test_everything_is_looked_through_only_while_nothing_happens(monkeypatch, counts, collected):
    asked: list[int] = []
    monkeypatch.setattr(gc, "get_count", lambda: counts)
    monkeypatch.setattr(gc, "get_threshold", lambda: (700, 10, 10))
    monkeypatch.setattr(gc, "collect", lambda generation=2: asked.append(generation))
    start.tidy()
    assert asked == collected


def test_a_stopwatch_is_told_the_time_and_the_window_closes(goldsmith, qtbot, monkeypatch, capsys):
    monkeypatch.setenv("GOLDSMITH_STOPWATCH", "1")
    shown = goldsmith.show(None)
    goldsmith.settle()
    assert float(capsys.readouterr().out) > 0
    assert not shown.isVisible()
