"""Versions that tasks ask for, in the window: said where tasks are written, told to whoever has another."""

from contextlib import closing

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QFileDialog

from annotator import __version__
from annotator.actions.items import items
from annotator.actions.parcels import tasking, unpacking
from annotator.actions.project import program_pins
from annotator.domain.experts import program_pin
from annotator.exchange.parcels import packages
from annotator.gui import theme
from annotator.gui.pages.inbox.handing_out import PROGRAM
from annotator.gui.pages.inbox.page import HAND_OUT
from annotator.gui.pages.people.totals import PROGRAM as TOTAL_PROGRAM
from annotator.gui.shell.projects import recent
from annotator.gui.shell.starting import Goldsmith
from annotator.gui.shell.window import Window
from tests.material.sent_apart import annotators, coordinated, project_in, returned, task_for

OTHER, SETUP, SUM = ">=7.3,<7.4", "Goldsmith-7.3.1-setup.exe", "ab" * 32


@pytest.fixture
def study(tmp_path):
    """The coordinator's project: two people, two items."""
    return coordinated(tmp_path / "study")


@pytest.fixture
def exchange(study, window_over, qtbot):
    """A window over the coordinator's project, where tasks are written."""
    window = window_over(study, "Exchange")
    window.page.tabs.setCurrentIndex(HAND_OUT)
    return window


@pytest.fixture
def goldsmith(qapp, monkeypatch):
    """The running program; folders of tests count as folders that last."""
    monkeypatch.setattr("annotator.actions.parcels.tasking.is_passing", lambda folder: False)
    running = Goldsmith(qapp)
    yield running
    running.packages.wait()
    running.close()


def test_the_present_version_is_offered_and_goes_into_the_tasks(exchange, study, tmp_path, qtbot):
    row = exchange.page.out.program
    assert (row.field.text(), row.choose.isEnabled(), "Any version" in row.about.text()) == ("", False, True)
    row.this.click()
    assert row.field.text() == program_pin.offered()
    assert (row.this.isEnabled(), row.set.isEnabled(), row.choose.isEnabled()) == (False, False, True)
    task = task_for(study, annotators(study)[0].id, tmp_path / "ana")
    assert packages.read_package(task, packages.TASK).manifest.extra["program"] == program_pin.offered()


def test_what_names_no_version_is_refused_and_stays_to_be_mended(exchange, study, qtbot):
    row = exchange.page.out.program
    row.field.setText("the newest")
    qtbot.keyClick(row.field, "\r")
    assert "names no versions of Goldsmith" in exchange.messages.text()
    assert (row.field.text(), program_pins.pinned(study).versions) == ("the newest", "")
    row.field.setText(OTHER)
    qtbot.keyClick(row.field, "\r")
    assert program_pins.pinned(study).versions == OTHER
    exchange.desk.undo()
    assert row.field.text() == ""


def test_installers_are_chosen_and_named_with_their_sums(exchange, study, tmp_path, qtbot, monkeypatch):
    (tmp_path / "SHA256SUMS").write_text(f"{SUM}  {SETUP}\n", "utf-8")
    row = exchange.page.out.program
    row.this.click()
    chosen = [str(tmp_path / "SHA256SUMS")], ""
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: chosen)
    row.choose.click()
    qtbot.waitUntil(lambda: "names 1 installer." in row.about.text())
    assert row.about.toolTip() == SETUP
    assert program_pins.pinned(study) == program_pin.ProgramPin(program_pin.offered(), {SETUP: SUM})


def test_the_tables_show_who_works_with_which_version(exchange, study, tmp_path, qtbot):
    ana = annotators(study)[0]
    unpacking.take_in(study, [returned(study, ana.id, tmp_path / "ana")])
    exchange.page.out.fill()
    shown = {
        line.text(0): line.text(PROGRAM)
        for line in map(
            exchange.page.out.table.topLevelItem, range(exchange.page.out.table.topLevelItemCount())
        )
    }
    assert (shown["Ana Silva"], len(shown)) == (__version__, 2)
    assert set(shown.values()) == {__version__, "–"}
    board = exchange.show_page("People", part="Progress").board
    totals = board.people.totals
    cells = [totals.index(row, TOTAL_PROGRAM).data() for row in range(totals.rowCount())]
    assert sorted(cells) == ["", "", __version__]


def test_work_made_with_another_version_than_asked_for_is_shown_as_such(exchange, study, tmp_path, qtbot):
    work = returned(study, annotators(study)[0].id, tmp_path / "ana")
    program_pins.pin(study, OTHER)
    exchange.page.look_at([work])
    qtbot.waitUntil(lambda: not exchange.page.intake._busy)
    file = exchange.page.intake.tree.topLevelItem(0)
    told = [(file.child(row).text(0), file.child(row).text(4)) for row in range(file.childCount())]
    assert (f"Made with Goldsmith {__version__}", "The tasks ask for 7.3 or newer, older than 7.4.") in told
    assert file.isExpanded()


def test_a_task_for_another_version_opens_to_read_and_names_the_installer(goldsmith, study, tmp_path, qtbot):
    program_pins.pin(study, OTHER, {SETUP: SUM})
    task = task_for(study, annotators(study)[0].id, tmp_path / "ana")
    goldsmith.show(task)
    qtbot.waitUntil(lambda: isinstance(goldsmith._shown, Window) and SUM in goldsmith._shown.messages.text())
    window = goldsmith._shown
    assert ("read only" in window.windowTitle(), items.count(window.desk.project)) == (True, 2)
    said = window.messages.text()
    assert all(words in said for words in (SETUP, "older than 7.4", __version__, "six words"))
    assert "://" not in said
    # It stays when another page is looked at, and nothing of it is remembered.
    window.show_page("Items")
    assert SUM in window.messages.text()
    assert recent() == []
    assert [path.name for path in task.parent.iterdir()] == [task.name]
    # The same task is shown anew, and does not take the one that is shown for its project.
    goldsmith.show(task)
    goldsmith.packages.wait()
    qtbot.waitUntil(lambda: goldsmith._shown is not window)
    assert [path.name for path in task.parent.iterdir()] == [task.name]


def test_a_project_for_another_version_opens_to_read(study, tmp_path, window_over, monkeypatch):
    program_pins.pin(study, OTHER, {SETUP: SUM})
    task = task_for(study, annotators(study)[0].id, tmp_path / "ana")
    with monkeypatch.context() as installed:
        installed.setattr(program_pin, "__version__", "7.3.0")
        tasking.take_task(task).project.close()
    goldsmith_project = project_in(task.parent)
    with closing(tasking.Project.open(goldsmith_project)) as theirs:
        window = window_over(theirs, "Items")
        assert SUM in window.messages.text()
        assert "read only" in window.windowTitle()


def test_what_a_newer_version_has_among_the_settings_stays(exchange, qtbot):
    QSettings().setValue("a newer version/its own", "kept")
    theme.zoom(1)
    theme.zoom(0)
    exchange.close()
    assert QSettings().value("a newer version/its own") == "kept"
