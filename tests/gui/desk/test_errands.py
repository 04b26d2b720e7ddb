"""What is done on another thread: who hears what came of it, and who no longer does."""

import io
import sys
import threading
import weakref

import pytest
from PySide6.QtCore import QObject, QThread
from shiboken6 import delete

from annotator.actions.items import items
from annotator.actions.project import people
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.desk import ANY
from annotator.gui.shell import bugs
from annotator.gui.views import counting


class Asker(QObject):
    """Asks, and may be gone by the time the answer comes."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[object] = []

    def hear(self, found: object) -> None:
        self.heard.append(found)


@pytest.fixture
def desk(small, window_over):
    return window_over(small).desk


@pytest.fixture
def home(qtbot):
    """Waits until every errand is home and told of."""
    return lambda desk: qtbot.waitUntil(lambda: not desk._errands)


def add(project, *, progress):
    progress("Adding", 1, 1)
    return items.add(project, "A third question?")


def test_what_was_asked_is_told_on_the_windows_own_thread(desk, home):
    heard: list[object] = []
    desk.ask_later(lambda found: heard.extend((found, threading.current_thread())), items.count)
    home(desk)
    assert heard == [2, threading.main_thread()]


def test_a_refused_verb_answers_none_and_the_refusal_is_told(desk, home):
    heard, told = [], []
    desk.refused.connect(told.append)

    def refuse(project, *, progress):
        raise Refusal("It is full.", "Make room.")

    desk.do_later(heard.append, lambda *_: None, refuse)
    home(desk)
    assert heard == [None]
    assert [refusal.happened for refusal in told] == ["It is full."]


def test_whoever_asked_and_is_gone_hears_nothing(desk, home):
    asker = Asker()
    heard = asker.heard
    desk.ask_later(asker.hear, items.count)
    desk.wait()
    delete(asker)
    home(desk)
    assert heard == []


def test_nothing_is_told_once_the_window_is_closed(small, window_over, qtbot):
    window, heard = window_over(small), []
    window.desk.ask_later(heard.append, items.count)
    window.desk.do_later(heard.append, lambda *_: heard.append("progress"), add)
    window.give_back()
    qtbot.wait(50)
    assert heard == []


def test_nothing_is_asked_once_the_window_is_closed(small, window_over):
    desk = window_over(small).desk
    desk.end()
    assert desk.ask(items.count) is None
    assert desk.do(items.add, "A third question?") is None
    desk.ask_later(lambda _: None, items.count)
    assert not desk._errands


def test_what_pages_began_that_are_taken_down_is_told_to_everyone_but_them(desk, home):
    heard, told = [], []
    desk.listen(told.append, (ANY,))
    desk.do_later(heard.append, lambda *_: heard.append("progress"), add)
    desk.wait()
    desk.forget_pages()
    home(desk)
    assert heard == []
    assert [change.kind for change in told] == ["item"]


def test_another_person_may_take_over_while_results_are_counted(small, window_over, home, qtbot, monkeypatch):
    go_on, shown = threading.Event(), counting.shown
    people.add_person(small, "Second reader")
    monkeypatch.setattr(counting, "shown", lambda *args: go_on.wait(20) and shown(*args))
    window = window_over(small, "Results")
    window.choose_person(people.people(small)[-1].id)
    qtbot.wait(10)
    go_on.set()
    home(window.desk)
    assert window.page.viewer.hint.text() != "Counting…"


def test_an_errand_that_is_over_keeps_nothing_alive(desk, home):
    asked = Asker()
    gone = weakref.ref(asked)
    desk.ask_later(lambda _: None, lambda project, _: items.count(project), asked)
    # The last one is kept until the next is home: it may still be on its way out of its thread.
    desk.ask_later(lambda _: None, items.count)
    home(desk)
    del asked
    assert gone() is None


def test_a_fault_in_an_errand_shows_its_page_on_the_windows_own_thread(desk, qtbot, monkeypatch, capsys):
    monkeypatch.setattr(bugs, "_shown", [])
    monkeypatch.setattr(sys, "excepthook", bugs.report)
    desk.ask_later(lambda _: None, lambda project: 1 / 0)
    qtbot.waitUntil(lambda: bool(bugs._shown))
    (page,) = bugs._shown
    qtbot.addWidget(page)
    assert page.thread() == QThread.currentThread()
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_fault_is_shown_though_the_error_stream_was_closed(qtbot, monkeypatch):
    monkeypatch.setattr(bugs, "_shown", [])
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    bugs.report(ZeroDivisionError, ZeroDivisionError("x"), None)
    (page,) = bugs._shown
    qtbot.addWidget(page)
    assert page.isVisible()
