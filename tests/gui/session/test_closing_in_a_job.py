"""A job in the background leaves page, focus and typing as they are; closing waits for it or stops it."""

import json
import sys
from collections.abc import Callable, Iterator
from threading import Event

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QPushButton, QTabWidget, QWidget

from annotator.actions.authoring import annotating
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.canonical import Change
from annotator.domain.texts.refusal import Refusal
from annotator.gui.session.run import Child
from annotator.gui.shell.navigation import PAGES
from annotator.gui.shell.window import Window
from tests.windows.labelling_keys import be_active, focus, press, type_words
from tests.windows.settling import settle


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
    project = Project.open(path)
    result = items.count(project)
    project.close()
    return result


def test_it_says_what_it_waits_for_and_closes_when_the_job_has_ended(at_work, qtbot):
    window, job = at_work
    path = window.session.project.path
    assert not window.close()
    assert "closes when this has finished: Writing what was asked for, 2 of 3." in window.messages.text()
    with qtbot.waitSignal(window.closed):
        job.go_on.set()
    assert job.ended == "done"
    assert questions(path) == 3


def test_stop_and_close_stops_the_job_and_takes_back_what_it_had_begun(at_work, qtbot):
    window, job = at_work
    path = window.session.project.path
    window.close()
    with qtbot.waitSignal(window.closed):
        window.messages._act.click()
    assert job.ended == "stopped"
    assert questions(path) == 2


def test_no_other_message_takes_the_closing_back_or_the_way_to_stay_away(at_work, qtbot):
    window, job = at_work
    window.close()
    window.session.ended.emit("The cards are printed.", "Items", {})
    assert window.messages._other.isVisible()
    window.messages.show_message("success", "Something else.")
    window.messages.clear()
    with qtbot.waitSignal(window.closed):
        job.go_on.set()


def test_why_a_job_was_refused_is_read_before_the_window_closes(small, window_over, qtbot):
    window, go_on = window_over(small), Event()

    def fails(project, progress):
        go_on.wait(5)
        raise Refusal("The disk is full.", "Make room.")

    window.session.do_later(lambda _: None, lambda *_: None, fails)
    window.close()
    go_on.set()
    qtbot.waitUntil(lambda: not window.session.job)
    qtbot.wait(20)
    assert window.isVisible()
    assert "The disk is full." in window.messages.text()


def test_what_is_being_typed_is_kept_when_closing_has_to_wait(small, window_over, qtbot):
    new = items.add(small, "How deep is the ocean?").subject
    window, go_on = window_over(small, "Author", item_id=new), Event()
    be_active(window, qtbot)
    press("Return")
    type_words("States the depth")
    window.session.do_later(lambda _: None, lambda *_: None, lambda project, progress: go_on.wait(5))
    assert not window.close()
    (begun,) = annotating.artifacts_of(small, new)
    assert [unit.text for unit in begun.document.units] == ["States the depth"]
    window.messages._other.click()
    go_on.set()
    qtbot.waitUntil(lambda: not window.session.job)


def test_a_project_is_not_replaced_in_the_middle_of_a_job(at_work):
    window, job = at_work
    window.reset_sample()
    assert "Still in progress: Writing what was asked for, 2 of 3." in window.messages.text()
    assert job.ended == ""


# What jobs tell of themselves when they end.
TOLD = ("import", "parcel", "judge_run", "attack", "response", "extract", "page", "release")
LINE = json.dumps({"event": "progress"})


@pytest.fixture
def window(small, window_over, qtbot):
    made = window_over(small)
    be_active(made, qtbot)
    return made


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


@pytest.fixture
def pressed(window, qtbot):
    """A button of the page in view, pressed for a job and out of use until that has ended."""
    button = QPushButton("Do it", window.page)
    button.show()
    button.setFocus()
    assert focus() is button
    return button


def work_out(window: Window, button: QPushButton, then: Callable[[], None]) -> None:
    """Put the button out of use and run a job that ends with `then`."""
    button.setEnabled(False)
    window.session.do_later(lambda _: then(), lambda *_: None, lambda _project, progress: progress("", 0, 0))


def ended(window: Window, qtbot) -> None:
    qtbot.waitUntil(lambda: not window.session._tasks_behind)


def test_the_button_that_was_pressed_hands_the_keyboard_to_its_answer(window, pressed, qtbot):
    table = window.page.table
    work_out(window, pressed, table.setFocus)
    assert focus() not in (pressed, table)
    ended(window, qtbot)
    assert focus() is table


def test_the_button_that_was_pressed_has_the_keyboard_back_once_it_can_be_used(window, pressed, qtbot):
    work_out(window, pressed, lambda: pressed.setEnabled(True))
    assert focus() is not pressed
    ended(window, qtbot)
    assert focus() is pressed


def test_whoever_went_on_from_the_button_meanwhile_is_left_where_they_are(window, pressed, qtbot):
    search, table = window.page.search, window.page.table
    work_out(window, pressed, table.setFocus)
    search.setFocus()
    type_words("w")
    ended(window, qtbot)
    assert (focus(), search.text()) == (search, "w")


def test_the_end_of_a_job_is_said_with_a_way_to_it(window):
    window.session.tell_end("It is done.", "Release")
    assert (window.page.NAME, window.messages.text()) == ("Items", "It is done.")
    window.messages._act.click()
    assert (window.page.NAME, window.messages.text()) == ("Release", "")


@pytest.mark.slow
def test_what_is_typed_anywhere_outlives_the_end_of_any_job(sample, window_over, qtbot):
    window = window_over(sample)
    be_active(window, qtbot)
    for name in PAGES:
        window.show_page(name)
        for field in fields(window.page, lambda: settle(window.page)):
            field.setFocus(Qt.FocusReason.OtherFocusReason)
            if focus() is not field:
                continue
            type_words("wx")
            typed = text_of(field)
            for kind in TOLD:
                window.session.tell(Change(kind, "", "end", by="another"))
            settle(window.page)
            assert (focus(), text_of(field), window.page.NAME) == (field, typed, name), field.accessibleName()


def fields(page: QWidget, settled: Callable[[], None]) -> Iterator[QWidget]:
    """Every field of a page that can be typed into, tab by tab."""
    tabs = page.findChild(QTabWidget)
    for place in range(tabs.count() if tabs else 1):
        if tabs:
            tabs.setCurrentIndex(place)
        settled()
        result = [*page.findChildren(QLineEdit), *page.findChildren(QPlainTextEdit)]
        yield from (
            each for each in result if each.isVisible() and each.isEnabled() and not each.isReadOnly()
        )


def text_of(field: QWidget) -> str:
    return field.text() if isinstance(field, QLineEdit) else field.toPlainText()
