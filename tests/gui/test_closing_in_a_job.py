"""Closing in the middle of a job says what it waits for, and stops the job when that is wanted."""

from threading import Event

import pytest
from shiboken6 import isValid

from annotator.actions import items
from annotator.actions.project import Project
from annotator.gui.starting import Goldsmith
from annotator.gui.window import Window


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
    """A window in the middle of a job, and the job."""
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
    assert "closes when this has ended: Writing what was asked for, 2 of 3." in window.messages.text()
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


def test_whoever_dismisses_the_message_stays(at_work, qtbot):
    window, job = at_work
    window.close()
    window.messages.dismiss()
    job.go_on.set()
    qtbot.waitUntil(lambda: not window.desk.job)
    qtbot.wait(20)
    assert window.isVisible()


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
