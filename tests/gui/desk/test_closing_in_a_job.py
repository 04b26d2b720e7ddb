"""Closing in the middle of a job says what it waits for, and stops the job when that is wanted."""

from threading import Event

import pytest
from shiboken6 import isValid

from annotator.actions.authoring import annotating
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.domain.texts.refusal import Refusal
from annotator.gui.shell.starting import Goldsmith
from annotator.gui.shell.window import Window
from tests.windows.labelling_keys import be_active, press, type_words


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
    window.desk.do_later(lambda _: None, lambda *_: None, job)
    qtbot.waitUntil(lambda: job.begun.is_set() and "2 of 3" in window.desk.job)
    yield window, job
    job.go_on.set()
    qtbot.waitUntil(lambda: bool(job.ended))


def questions(path):
    project = Project.open(path)
    found = items.count(project)
    project.close()
    return found


def test_it_says_what_it_waits_for_and_closes_when_the_job_has_ended(at_work, qtbot):
    window, job = at_work
    path = window.desk.project.path
    assert not window.close()
    assert "closes when this has finished: Writing what was asked for, 2 of 3." in window.messages.text()
    with qtbot.waitSignal(window.closed):
        job.go_on.set()
    assert job.ended == "done"
    assert questions(path) == 3


def test_stop_and_close_stops_the_job_and_takes_back_what_it_had_begun(at_work, qtbot):
    window, job = at_work
    path = window.desk.project.path
    window.close()
    with qtbot.waitSignal(window.closed):
        window.messages._act.click()
    assert job.ended == "stopped"
    assert questions(path) == 2


def test_whoever_chooses_to_stay_stays(at_work, qtbot):
    window, job = at_work
    window.close()
    window.messages._other.click()
    assert not window.messages.text()
    job.go_on.set()
    qtbot.waitUntil(lambda: not window.desk.job)
    qtbot.wait(20)
    assert window.isVisible()


def test_no_other_message_takes_the_closing_back_or_the_way_to_stay_away(at_work, qtbot):
    window, job = at_work
    window.close()
    window.desk.ended.emit("The cards are printed.", "Items", {})
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

    window.desk.do_later(lambda _: None, lambda *_: None, fails)
    window.close()
    go_on.set()
    qtbot.waitUntil(lambda: not window.desk.job)
    qtbot.wait(20)
    assert window.isVisible()
    assert "The disk is full." in window.messages.text()


def test_what_is_being_typed_is_kept_when_closing_has_to_wait(small, window_over, qtbot):
    new = items.add(small, "How deep is the ocean?").subject
    window, go_on = window_over(small, "Author", item_id=new), Event()
    be_active(window, qtbot)
    press("Return")
    type_words("States the depth")
    window.desk.do_later(lambda _: None, lambda *_: None, lambda project, progress: go_on.wait(5))
    assert not window.close()
    (begun,) = annotating.artifacts_of(small, new)
    assert [unit.text for unit in begun.document.units] == ["States the depth"]
    window.messages._other.click()
    go_on.set()
    qtbot.waitUntil(lambda: not window.desk.job)


def test_a_project_is_not_replaced_in_the_middle_of_a_job(at_work):
    window, job = at_work
    window.reset_sample()
    assert "Still in progress: Writing what was asked for, 2 of 3." in window.messages.text()
    assert job.ended == ""


def test_a_stopped_job_stops_no_later_one(at_work, qtbot):
    window, _ = at_work
    window.desk.stop_jobs()
    qtbot.waitUntil(lambda: not window.desk.job)
    after = Job()
    after.go_on.set()
    window.desk.do_later(lambda _: None, lambda *_: None, after)
    qtbot.waitUntil(lambda: not window.desk.job)
    assert after.ended == "done"


def test_another_project_is_shown_while_a_job_of_the_first_goes_on(small, qapp, qtbot):
    path = small.path
    small.close()
    goldsmith, job = Goldsmith(qapp), Job()
    window = goldsmith.show(path)
    window.desk.do_later(lambda _: None, lambda *_: None, job)
    qtbot.waitUntil(job.begun.is_set)
    shown = goldsmith.show(None)
    assert shown.isVisible()
    assert isinstance(window, Window)
    assert isValid(window)
    job.go_on.set()
    qtbot.waitUntil(lambda: not isValid(window))
    goldsmith.close()
    shown.deleteLater()
