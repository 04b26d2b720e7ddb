"""What is done on another thread: who hears what came of it, what it leaves alone, and how closing waits for it."""

import io
import json
import sys
import threading
import weakref
from collections.abc import Callable
from functools import partial
from threading import Event

import pytest
from PySide6.QtCore import QObject, QThread
from PySide6.QtWidgets import (
    QPushButton,
    QWidget,
)
from shiboken6 import delete

from annotator.actions.authoring import annotating
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.refusal import Refusal
from annotator.gui.session.page import Page
from annotator.gui.session.run import Child
from annotator.gui.session.session import ANY
from annotator.gui.shell import menus
from annotator.gui.views import view_pane
from tests.gui.shell.test_window import EVERY_PAGE, unseen
from tests.windows.using import be_active, focus, press, type_words


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
    session.do_later(heard.append, lambda *_: None, lambda _project, progress: refuse())
    home(session)
    assert heard == [None]
    assert told == [SAID]


def test_an_answer_that_comes_too_late_is_told_to_nobody(session, home):
    asker = Asker()
    heard = asker.heard
    session.ask_newest(asker.hear, people.people)
    session.ask_newest(asker.hear, items.count)
    home(session)
    assert heard == [items.count(session.project)]
    session.ask_later(asker.hear, items.count)
    session.forget(asker)
    home(session)
    session.ask_later(asker.hear, items.count)
    session.wait()
    delete(asker)
    home(session)
    assert len(heard) == 1


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
    # It is shown though the error stream was closed.
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


@pytest.mark.slow
def test_in_a_locked_project_the_focus_is_seen_and_every_entry_and_key_of_every_page_tells_a_refusal(
    small, window_over, qtbot, monkeypatch
):
    table, bind = menus.menus, Page.bind

    def refusing(window):
        return [(title, [each and (each[0], each[1], refuse) for each in of]) for title, of in table(window)]

    monkeypatch.setattr(menus, "menus", refusing)
    monkeypatch.setattr(
        Page, "bind", lambda page, act, slot, widget=None: bind(page, act, partial(refuse, slot), widget)
    )
    small.close()
    window = be_active(window_over(Project.open(small.path, readonly=True)), qtbot)
    assert [*unseen(window)] == []

    def tells(act) -> bool:
        window.messages.clear()
        with qtbot.captureExceptions() as raised:
            act()
        return raised == [] and window.messages.text() == str(SAID)

    entries = [entry for menu in window.menuBar().actions() for entry in menu.menu().actions()]
    told = {entry.text(): tells(entry.trigger) for entry in entries if entry.text()}
    assert len(told) == 20
    for name in EVERY_PAGE:
        for act, shortcuts in window.show_page(name)._shortcuts.items():
            told |= {(name, act, place): tells(each.activated.emit) for place, each in enumerate(shortcuts)}
    assert len(told) > 120
    assert [where for where, so in told.items() if not so] == []


def test_a_refusal_that_nobody_caught_is_told_in_the_window_and_is_no_fault(
    small, window_over, qtbot, monkeypatch
):
    monkeypatch.setattr(menus, "_shown", [])
    window = be_active(window_over(small), qtbot)
    menus.report(Refusal, SAID, None)
    assert window.messages.text() == str(SAID)
    assert menus._shown == []


class Job:
    """Writes one item, then goes on until it is let go or stopped."""

    def __init__(self) -> None:
        self.begun, self.go_on = Event(), Event()
        self.ended = ""

    def __call__(self, project, progress):
        try:
            with project.store.write():
                items.add(project, "Written by a job?")
                progress("writing what was asked for", 1, 3)
                self.begun.set()
                while not self.go_on.wait(0.01):
                    progress("writing what was asked for", 2, 3)
            self.ended = "done"
        finally:
            self.ended = self.ended or "stopped"


@pytest.fixture
def at_work(small, window_over, qtbot):
    window, job = window_over(small), Job()
    window.session.do_later(lambda _: None, lambda *_: None, job)
    qtbot.waitUntil(lambda: job.begun.is_set() and "2 of 3" in window.session.job)
    yield window, job
    job.go_on.set()
    qtbot.waitUntil(lambda: bool(job.ended))


def questions(path):
    return items.count(Project.open(path))


def test_it_says_what_it_waits_for_and_closes_when_the_job_has_ended(at_work, qtbot):
    window, job = at_work
    path = window.session.project.path
    # Nor is a project replaced in the middle of a job.
    window.reset_sample()
    assert "Still in progress: Writing what was asked for, 2 of 3." in window.messages.text()
    assert not window.close()
    assert "closes when this has finished: Writing what was asked for, 2 of 3." in window.messages.text()
    # No other message takes the closing back, or the way to stay away.
    window.session.ended.emit("The cards are printed.", "Items", {})
    assert window.messages._other.isVisible()
    window.messages.show_message("success", "Something else.")
    window.messages.clear()
    assert job.ended == ""
    with qtbot.waitSignal(window.closed):
        job.go_on.set()
    assert job.ended == "done"
    assert questions(path) == 3


def test_stop_and_close_stops_the_job_and_takes_back_what_it_had_begun_and_stay_closes_nothing(
    at_work, qtbot
):
    window, job = at_work
    path = window.session.project.path
    window.close()
    window.messages._other.click()
    assert window.messages.text() == ""
    assert not window._ends._closing
    window.close()
    with qtbot.waitSignal(window.closed):
        window.messages._act.click()
    assert job.ended == "stopped"
    assert questions(path) == 2


def test_what_is_typed_is_kept_when_closing_has_to_wait_and_why_a_job_was_refused_is_read(
    small, window_over, qtbot
):
    new = items.add(small, "How deep is the ocean?").subject
    window, go_on = be_active(window_over(small, "Author", item_id=new), qtbot), Event()
    press("Return")
    type_words("States the depth")

    def fails(project, progress):
        go_on.wait(5)
        raise Refusal("The disk is full.", "Make room.")

    window.session.do_later(lambda _: None, lambda *_: None, fails)
    assert not window.close()
    (begun,) = annotating.artifacts_of(small, new)
    assert [unit.text for unit in begun.document.units] == ["States the depth"]
    go_on.set()
    qtbot.waitUntil(lambda: not window.session.job)
    qtbot.wait(20)
    assert window.isVisible()
    assert "The disk is full." in window.messages.text()


LINE = json.dumps({"event": "progress"})


def test_an_answer_that_comes_late_does_not_take_the_focus(window, qtbot):
    search, table = window.page.search, window.page.table
    search.setFocus()
    window.session.ask_later(lambda _: table.setFocus(), items.count)
    qtbot.waitUntil(lambda: not window.session._tasks_behind)
    assert focus() is search


def test_a_process_that_ends_does_not_take_the_focus(window, qtbot, monkeypatch):
    monkeypatch.setattr(
        "annotator.gui.session.run.command", lambda: (sys.executable, ["-c", f"print({LINE!r})"])
    )
    search, table, child = window.page.search, window.page.table, Child(window.session, window)
    child.progressed.connect(lambda _: table.setFocus())
    child.ended.connect(lambda *_: table.setFocus())
    search.setFocus()
    with qtbot.waitSignal(child.ended):
        child.start(RunRequest("baseline"))
    assert focus() is search


def test_a_button_out_of_use_for_a_job_has_the_keyboard_back_unless_somebody_went_on(window, qtbot):
    search, table, button = window.page.search, window.page.table, QPushButton("Do it", window.page)
    button.show()

    def work_out(then: Callable[[], object], meanwhile: Callable[[], object]) -> QWidget:
        """What has the keyboard when a job that the button began has ended with `then`."""
        button.setEnabled(True)
        button.setFocus()
        button.setEnabled(False)
        window.session.do_later(
            lambda _: then(), lambda *_: None, lambda _project, progress: progress("", 0, 0)
        )
        assert focus() not in (button, table)
        meanwhile()
        qtbot.waitUntil(lambda: not window.session._tasks_behind)
        return focus()

    assert work_out(table.setFocus, lambda: None) is table
    assert work_out(lambda: button.setEnabled(True), lambda: None) is button
    assert work_out(table.setFocus, search.setFocus) is search


def test_the_end_of_a_job_is_said_with_a_way_to_it(window):
    window.session.tell_end("It is done.", "Release")
    assert (window.page.NAME, window.messages.text()) == ("Items", "It is done.")
    window.messages._act.click()
    assert (window.page.NAME, window.messages.text()) == ("Release", "")
