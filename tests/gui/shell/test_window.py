"""The window: its pages, its messages, its person, its closing."""

import gc
import re
from threading import Event, current_thread, main_thread

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QTabWidget
from shiboken6 import isValid

from annotator import __version__
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.parcels import waiting
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.domain.experts.person import Role
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.errands import Hearers
from annotator.gui.shell.window import ASIDE, STEPS
from annotator.gui.widgets.empty_state import EmptyState
from annotator.places import user_data
from tests.windows.labelling_keys import be_active

# Their parts ask everything on the other thread.
ANSWERED_LATER = ("Judges", "Validate", "Material", "Results")
EVERY_PAGE = [step[0] for step in STEPS] + [aside[0] for aside in ASIDE]


@pytest.mark.parametrize("name", EVERY_PAGE)
def test_every_page_opens_on_the_sample(name, sample, window_over, qtbot):
    window = window_over(sample, name)
    window.desk.wait()
    qtbot.wait(50)
    assert name == window.page.NAME
    assert window.page.isVisible()


@pytest.mark.parametrize("name", EVERY_PAGE)
def test_every_page_opens_on_an_empty_project(name, tmp_path, window_over, qtbot):
    window = window_over(new_project(tmp_path / "empty.goldsmith"), name)
    window.desk.wait()
    qtbot.wait(50)
    assert name == window.page.NAME


def called_empty(window) -> set[str]:
    states = {
        state.findChildren(QLabel)[1].text()
        for state in window.page.findChildren(EmptyState)
        if state.isVisible()
    }
    labels = (label.text() for label in window.page.findChildren(QLabel) if label.isVisible())
    return states | {words for words in labels if re.match(r"No matches|(No|Nothing)\b.* yet\b", words)}


@pytest.mark.parametrize("name", EVERY_PAGE)
def test_nothing_is_called_empty_before_the_answer_came(name, sample, window_over, qtbot):
    window, answers = window_over(sample, "Help"), Event()
    window.desk._errands.send(lambda _tell: answers.wait(), Hearers(None))
    try:
        page = window.show_page(name)
        tabs = page.findChild(QTabWidget)
        early = {}
        for place in range(tabs.count()) if tabs is not None else (0,):
            if tabs is not None:
                tabs.setCurrentIndex(place)
            qtbot.wait(20)
            early[place] = called_empty(window)
    finally:
        answers.set()
    qtbot.waitUntil(lambda: not len(window.desk._errands))
    for place, before in early.items():
        if tabs is not None:
            tabs.setCurrentIndex(place)
        # What is known at once stays.
        assert before <= (set() if name in ANSWERED_LATER else called_empty(window))


def alive() -> dict[int, str]:
    """Everything of Qt's that the window's own code has made and that is still there."""
    found = (o for o in gc.get_objects() if issubclass(type(o), QObject) and isValid(o))
    return {id(o): type(o).__name__ for o in found if type(o).__module__.startswith("annotator.gui")}


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_older")
def test_a_closed_window_leaves_nothing_behind(sample, window_over, qtbot):
    before = alive()
    window = window_over(sample)
    for name in EVERY_PAGE:
        window.show_page(name)
    window.close()

    def left() -> list[str]:
        gc.collect()
        return [name for which, name in alive().items() if which not in before]

    qtbot.waitUntil(lambda: not left())
    assert left() == []


@pytest.mark.slow
def test_windows_opened_and_closed_one_after_the_other_end_in_order(small, window_over, qtbot):
    path = small.path
    small.close()
    for _ in range(10):
        window = window_over(Project.open(path), "Results")
        window.show_page("Judges")
        window.close()
        qtbot.waitUntil(lambda window=window: not isValid(window))
        assert not isValid(window)


def test_a_refusal_is_said_in_the_message_bar(small, window_over):
    window = window_over(small)
    window.desk.refused.emit(Refusal("The disk is full; the change was not saved.", "Free some space."))
    assert "The disk is full" in window.messages.text()
    assert "Free some space" in window.messages.text()


def test_a_verb_that_is_refused_answers_none_and_changes_nothing(small, window_over):
    window = window_over(small)
    assert window.desk.do(items.add, "  ") is None
    assert items.count(small) == 2


def test_a_change_shows_when_it_was_saved(small, window_over):
    window = window_over(small)
    window.desk.do(items.add, "A third question?")
    assert window.status._saved.text().startswith("Saved ")


def test_the_keyboard_goes_to_the_pages(small, window_over, qtbot):
    window = window_over(small)
    with qtbot.waitActive(window):
        window.activateWindow()
    qtbot.keyClick(window, Qt.Key.Key_5, Qt.KeyboardModifier.ControlModifier)
    assert window.page.NAME == "Judges"


def test_undo_takes_back_a_change_made_before_a_restart(small, window_over):
    path = small.path
    first = window_over(small)
    first.desk.do(items.change, items.ids(small)[0], subject="Optics")
    first.close()
    second = window_over(Project.open(path))
    second.desk.undo()
    assert items.read(second.desk.project, items.ids(second.desk.project)[0]).subject == "Deep learning"


def test_another_person_works_with_pages_of_their_own(small, window_over):
    people.add_person(small, "Second reader", (Role.ANNOTATOR,))
    window = window_over(small, "Author")
    before = window.page
    other = next(person for person in people.people(small) if person.name == "Second reader")
    window.choose_person(other.id)
    assert window.page is not before
    assert small.by == other.id
    assert "Second reader" in window.navigation.person.text()


def test_pages_that_go_with_their_person_are_not_shown_once_more(small, window_over):
    window = window_over(small, "Items")
    for name in ("Guidelines", "Author", "Items"):
        window.show_page(name)
    shown = []
    window.stack.currentChanged.connect(lambda place: shown.append(place))
    window.choose_person(small.person.id)
    # None is left, then the new one comes.
    assert shown == [-1, 0]


def test_a_read_only_file_says_so_and_offers_no_change(small, window_over):
    path = small.path
    small.close()
    window = window_over(Project.open(path, readonly=True))
    assert "read only" in window.windowTitle()
    assert not window.page.add.isEnabled()


def test_closing_gives_the_file_back(small, window_over):
    window = window_over(small)
    path = small.path
    window.close()
    moved = path.rename(path.with_name("moved.goldsmith"))
    again = Project.open(moved)
    again.hold()
    assert items.count(again) == 2
    again.close()


@pytest.mark.parametrize("name", EVERY_PAGE)
def test_enter_presses_the_focused_button_on_every_page(name, small, window_over, qtbot):
    window = window_over(small, name)
    be_active(window, qtbot)
    shown = [one for one in window.page.findChildren(QPushButton) if one.isVisible()]
    beside = shown[-1].parentWidget() if shown else window.page
    button, pressed = QPushButton("Tried", beside), []
    button.clicked.connect(lambda: pressed.append(name))
    button.show()
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Return)
    qtbot.keyClick(button, Qt.Key.Key_Enter)
    assert pressed == [name, name]


def test_the_menu_cuts_copies_and_pastes_where_the_focus_is(small, window_over, qtbot):
    window = window_over(small)
    be_active(window, qtbot)
    field = window.page.search
    field.setText("basalt")
    field.setFocus()
    field.selectAll()
    acts = {
        act.text().split("\t")[0]: act for menu in window.menuBar().actions() for act in menu.menu().actions()
    }
    acts["Cut"].trigger()
    assert field.text() == ""
    acts["Paste"].trigger()
    acts["Paste"].trigger()
    assert field.text() == "basaltbasalt"


def test_the_menu_finds_on_the_page_in_view(small, window_over, qtbot):
    window = window_over(small)
    be_active(window, qtbot)
    acts = {
        act.text().split("\t")[0]: act for menu in window.menuBar().actions() for act in menu.menu().actions()
    }
    acts["Find on this page"].trigger()
    assert window.page.search.hasFocus()


def test_about_says_the_version_the_licences_and_where_files_lie(small, window_over):
    page = window_over(small, "Help", topic="about").page
    said = page.text.toPlainText()
    assert __version__ in said
    assert "LGPL 3" in said
    assert str(user_data()) in said
    assert "{" not in said


def test_a_refusal_expires_when_another_page_is_gone_to_or_something_is_done(small, window_over):
    window = window_over(small)
    window.show_refusal(Refusal("It cannot be done.", "Do something else."))
    window.show_page("Author")
    assert window.messages.text() == ""
    window.show_refusal(Refusal("It cannot be done.", "Do something else."))
    window.desk.do(items.add, "Is it done now?")
    assert window.messages.text() == ""


def test_counting_what_waits_is_done_beside_the_window_and_not_for_another_wording(
    sample, window_over, qtbot, monkeypatch
):
    window = window_over(sample, "Author")
    window.desk.wait()
    asked = []
    monkeypatch.setattr(waiting, "counts", lambda project: asked.append(current_thread()) or {"Author": 7})
    qtbot.waitUntil(lambda: bool(asked))
    asked.clear()
    sheet = window.page.sheet
    unit = sheet.artifact.document.units[0].id
    window.desk.do(artifacts.change_unit, sheet.artifact.id, unit, text="Another wording")
    qtbot.wait(600)
    assert asked == []
    window.desk.do(items.add, "Does a new question wait?")
    qtbot.waitUntil(lambda: bool(asked))
    assert asked[0] is not main_thread()
    qtbot.waitUntil(lambda: "7" in window.navigation._buttons["Author"].text())
