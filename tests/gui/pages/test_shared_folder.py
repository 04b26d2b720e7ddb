"""The shared folder in two windows: the coordinator's and an annotator's."""

import pytest
from PySide6.QtWidgets import QFileDialog

from annotator.actions.items import items
from annotator.actions.parcels import known_keys, shared_folder, tasking, tray, unpacking
from annotator.actions.project import shared
from annotator.gui.pages.inbox.page import HAND_OUT
from tests.material.sent_apart import annotators, coordinated, second_copy, write_rubric
from tests.windows.settling import settle


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made = tmp_path / "synced"
    made.mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(made))
    return made


@pytest.fixture
def home(tmp_path, folder, window_over):
    """The coordinator's window, in which the folder was chosen and the tasks were sent."""
    window = window_over(coordinated(tmp_path / "home"), "Exchange", part="Hand out")
    line = window.page.out.shared
    assert (line.send_button.isVisible(), line.leave_button.isVisible()) == (False, False)
    line.choose_button.click()
    settle(window.page)
    line.send_button.click()
    settle(window.page)
    return window


@pytest.fixture
def theirs(home, folder, tmp_path, window_over):
    (task,) = (folder / "R2").glob("*.goldsmith-task")
    return window_over(tasking.take_task(task, folder=tmp_path / "own").project, "Send")


def look(window):
    window._folder.look()
    settle(window.page)


def test_the_folder_is_chosen_and_tasks_are_sent_from_the_line(home, folder):
    line = home.page.out.shared
    assert line.folder.text() == f"Shared folder: {folder}"
    assert "Wrote 2 tasks into the folder." in line.state.text()
    assert "Not joined yet: R2, R3." in line.state.text()
    line.leave_button.click()
    assert (shared.folder_of(home.session.project), line.folder.text()) == (None, "Shared folder: none")


def test_a_key_is_compared_on_the_line_and_then_work_comes_in_by_itself(home, theirs):
    look(theirs)
    look(home)
    line, words = home.page.out.shared, known_keys.own_words(theirs.session.project)
    assert words in line.keys.text()
    assert "Not joined yet: R3." in line.state.text()
    project = theirs.session.project
    theirs.session.do(lambda project: write_rubric(project, items.ids(project)[0], "Explains gold"))
    look(theirs)
    look(home)
    assert unpacking.received(home.session.project) == []
    line.keys._act.click()
    settle(home.page)
    assert line.keys.isHidden()
    (arrival,) = unpacking.received(home.session.project)
    assert arrival.receipt == theirs.page.receipt.code.text() == tray.outlook(project).sent[0].receipt
    assert "It lies in the shared folder." in theirs.page.receipt.about.text()
    assert "Not joined yet: R3." in line.state.text()


def test_what_needs_a_decision_is_told_of_and_waits_in_the_tray(home, theirs, folder):
    """A second copy of her project, under the same key, says something else of the same revision."""
    project, study = theirs.session.project, home.session.project
    write_rubric(project, items.ids(project)[0], "Explains gold")
    look(theirs)
    shared_folder.trust(study, known_keys.own_words(project))
    look(home)
    ana = annotators(study)[0]
    copy = second_copy(study, ana.id, project.path, folder.parent / "copy")
    write_rubric(copy, items.ids(copy)[0], "Explains the price of gold instead")
    tray.work(copy, folder / "R2/by hand.goldsmith-work")
    copy.close()
    home.show_page("Items")
    look(home)
    assert home.messages.text().startswith("1 piece of work came from Ana Silva; some waits for you.")
    home.messages._act.click()
    assert home.page.tabs.tabText(home.page.tabs.currentIndex()) == "Tray  1"


def test_a_newer_task_comes_in_behind_the_annotators_window(home, theirs):
    look(theirs)
    project = home.session.project
    assert theirs.navigation.person.text() == "Working as\nR2"
    shared_folder.trust(project, known_keys.own_words(theirs.session.project))
    look(home)
    look(theirs)
    assert theirs.navigation.person.text() == "Working as\nAna Silva"
    assert theirs.messages.text().startswith("A newer task came")


def test_the_tab_and_window_say_when_the_folder_is_gone(home, folder, tmp_path):
    folder.rename(tmp_path / "unplugged")
    look(home)
    line = home.page.out.shared
    assert "cannot be reached" in line.state.text()
    assert home.page.tabs.currentIndex() == HAND_OUT
    (tmp_path / "unplugged").rename(folder)
    look(home)
    assert "cannot be reached" not in line.state.text()
