"""What is done on another thread, who hears what came of it, and how a refusal is told whatever asked."""

import io
import sys
import threading
import weakref
from functools import partial

import pytest
from PySide6.QtCore import QObject, QThread
from PySide6.QtGui import QAction
from shiboken6 import delete

from annotator.actions.items import items
from annotator.actions.project import people
from annotator.domain.texts.refusal import Refusal
from annotator.gui.session.page import Page
from annotator.gui.session.session import ANY
from annotator.gui.shell import menus
from annotator.gui.shell.navigation import PAGES
from annotator.gui.views import view_pane
from tests.gui.shell.test_window import EVERY_PAGE
from tests.windows.labelling_keys import be_active


class Asker(QObject):
    """Asks, and may be gone by the time the answer comes."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[object] = []

    def hear(self, found: object) -> None:
        self.heard.append(found)


@pytest.fixture
def session(small, window_over):
    return window_over(small).session


@pytest.fixture
def home(qtbot):
    """Waits until every errand is home and told of."""
    return lambda session: qtbot.waitUntil(lambda: not session._tasks_behind)


def add(project, *, progress):
    progress("Adding", 1, 1)
    return items.add(project, "A third question?")


def test_a_refused_verb_answers_none_and_the_refusal_is_told(session, home):
    heard, told = [], []
    session.refused.connect(told.append)

    def refuse(project, *, progress):
        raise Refusal("It is full.", "Make room.")

    session.do_later(heard.append, lambda *_: None, refuse)
    home(session)
    assert heard == [None]
    assert [refusal.happened for refusal in told] == ["It is full."]


def test_whoever_asked_and_is_gone_hears_nothing(session, home):
    asker = Asker()
    heard = asker.heard
    session.ask_later(asker.hear, items.count)
    session.wait()
    delete(asker)
    home(session)
    assert heard == []


def test_an_answer_that_comes_too_late_is_told_to_nobody(session, home):
    asker = Asker()
    session.ask_newest(asker.hear, people.people)
    session.ask_newest(asker.hear, items.count)
    home(session)
    assert asker.heard == [items.count(session.project)]
    session.ask_later(asker.hear, items.count)
    session.forget(asker)
    home(session)
    assert len(asker.heard) == 1


def test_nothing_is_asked_once_the_window_is_closed(small, window_over):
    session = window_over(small).session
    session.end()
    assert session.ask(items.count) is None
    assert session.do(items.add, "A third question?") is None
    session.ask_later(lambda _: None, items.count)
    assert not session._tasks_behind


def test_what_pages_began_that_are_taken_down_is_told_to_everyone_but_them(session, home):
    heard, told = [], []
    session.listen(told.append, (ANY,))
    session.do_later(heard.append, lambda *_: heard.append("progress"), add)
    session.wait()
    session.forget_pages()
    home(session)
    assert heard == []
    assert [change.kind for change in told] == ["item"]


def test_another_person_may_take_over_while_results_are_counted(small, window_over, home, qtbot, monkeypatch):
    go_on, shown = threading.Event(), view_pane.shown
    people.add_person(small, "Second reader")
    monkeypatch.setattr(view_pane, "shown", lambda *args: go_on.wait(20) and shown(*args))
    window = window_over(small, "Results")
    window.choose_person(people.people(small)[-1].id)
    qtbot.wait(10)
    go_on.set()
    home(window.session)
    assert window.page.viewer.hint.text() != "Counting…"


def test_an_errand_that_is_over_keeps_nothing_alive(session, home):
    asked = Asker()
    gone = weakref.ref(asked)
    session.ask_later(lambda _: None, lambda project, _: items.count(project), asked)
    # The last one is kept until the next is home: it may still be on its way out of its thread.
    session.ask_later(lambda _: None, items.count)
    home(session)
    del asked
    assert gone() is None


def test_a_fault_in_an_errand_shows_its_page_on_the_windows_own_thread(session, qtbot, monkeypatch, capsys):
    monkeypatch.setattr(menus, "_shown", [])
    monkeypatch.setattr(sys, "excepthook", menus.report)
    session.ask_later(lambda _: None, lambda project: 1 / 0)
    qtbot.waitUntil(lambda: bool(menus._shown))
    (page,) = menus._shown
    qtbot.addWidget(page)
    assert page.thread() == QThread.currentThread()
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_fault_is_shown_though_the_error_stream_was_closed(qtbot, monkeypatch):
    monkeypatch.setattr(menus, "_shown", [])
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    menus.report(ZeroDivisionError, ZeroDivisionError("x"), None)
    (page,) = menus._shown
    qtbot.addWidget(page)
    assert page.isVisible()


SAID = Refusal("It cannot be done.", "Do something else.")


def refuse(*_: object) -> None:
    raise SAID


def acts_of(window):
    return [
        action for menu in window.menuBar().actions() for action in menu.menu().actions() if action.text()
    ]


def test_every_entry_of_every_menu_tells_a_refusal(small, window_over, qtbot, monkeypatch):
    table = menus.menus
    monkeypatch.setattr(
        menus,
        "menus",
        lambda window: [
            (title, [entry and (entry[0], entry[1], refuse) for entry in entries])
            for title, entries in table(window)
        ],
    )
    window = window_over(small)
    entries: list[QAction] = acts_of(window)
    assert len(entries) == 20
    for action in entries:
        window.messages.clear()
        with qtbot.captureExceptions() as raised:
            action.trigger()
        assert (raised, window.messages.text()) == ([], str(SAID)), action.text()


@pytest.mark.slow
def test_every_key_of_every_page_tells_a_refusal(sample, window_over, qtbot, monkeypatch):
    bind = Page.bind
    monkeypatch.setattr(
        Page, "bind", lambda page, act, slot, widget=None: bind(page, act, partial(refuse, slot), widget)
    )
    window = window_over(sample)
    pressed = 0
    for name in EVERY_PAGE:
        page = window.show_page(name)
        for act, shortcuts in page._shortcuts.items():
            for shortcut in shortcuts:
                window.messages.clear()
                with qtbot.captureExceptions() as raised:
                    shortcut.activated.emit()
                assert (raised, window.messages.text()) == ([], str(SAID)), (name, act)
                pressed += 1
    assert len(EVERY_PAGE) == len(PAGES)
    assert pressed > 100


def test_a_refusal_that_nobody_caught_is_told_in_the_window_and_is_no_fault(
    small, window_over, qtbot, monkeypatch
):
    monkeypatch.setattr(menus, "_shown", [])
    window = window_over(small)
    be_active(window, qtbot)
    menus.report(Refusal, SAID, None)
    assert window.messages.text() == str(SAID)
    assert menus._shown == []
