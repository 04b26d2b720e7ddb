"""The window: its pages, its messages, its person, its focus, its closing."""

import gc
import re
from collections.abc import Iterator
from threading import Event, current_thread, main_thread

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QAbstractItemView, QLabel, QPushButton, QTabWidget
from shiboken6 import isValid

from annotator import __version__
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.parcels import waiting
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Role
from annotator.domain.texts.refusal import Refusal
from annotator.gui.session.session import TaskCallbacks
from annotator.gui.shell.navigation import PAGES
from annotator.gui.widgets.chips import EmptyState
from annotator.places import user_data
from tests.projects.small_project import empty_project, small_project
from tests.windows.labelling_keys import be_active, focus, press
from tests.windows.settling import settle

# Their parts ask everything on the other thread.
ANSWERED_LATER = ("Judges", "Validate", "Material", "Results")
EVERY_PAGE = [*PAGES]


def called_empty(window) -> set[str]:
    states = {
        state.findChildren(QLabel)[1].text()
        for state in window.page.findChildren(EmptyState)
        if state.isVisible()
    }
    labels = (label.text() for label in window.page.findChildren(QLabel) if label.isVisible())
    return states | {words for words in labels if re.match(r"No matches|(No|Nothing)\b.* yet\b", words)}


def test_nothing_is_called_empty_before_the_answer_came_and_every_model_keeps_qts_contract(
    sample, window_over, qtbot, qtmodeltester
):
    window, answers = window_over(sample, "Help"), Event()
    window.session._tasks_behind.send(lambda _tell: answers.wait(), TaskCallbacks(None))
    early, checked = {}, set()
    try:
        for name in EVERY_PAGE:
            for place in parts(window, name):
                qtbot.wait(20)
                early[name, place] = called_empty(window)
    finally:
        answers.set()
    qtbot.waitUntil(lambda: not len(window.session._tasks_behind))
    for name in EVERY_PAGE:
        for place in parts(window, name):
            # What is known at once stays.
            known = set() if name in ANSWERED_LATER else called_empty(window)
            assert early[name, place] <= known, (name, place)
            for model in (view.model() for view in window.page.findChildren(QAbstractItemView)):
                if type(model).__module__.startswith("annotator") and type(model) not in checked:
                    qtmodeltester.check(model)
                    checked.add(type(model))
    assert len(checked) == 12


def parts(window, name) -> Iterator[int]:
    """A page, and every tab of it, shown one after the other."""
    tabs = window.show_page(name).findChild(QTabWidget)
    for place in range(tabs.count()) if tabs is not None else (0,):
        if tabs is not None:
            tabs.setCurrentIndex(place)
        yield place


def alive() -> dict[int, str]:
    """Everything of Qt's that the window's own code has made and that is still there."""
    result = (o for o in gc.get_objects() if issubclass(type(o), QObject) and isValid(o))
    return {id(o): type(o).__name__ for o in result if type(o).__module__.startswith("annotator.gui")}


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
    for _ in range(4):
        window = window_over(Project.open(path), "Results")
        window.show_page("Judges")
        window.close()
        qtbot.waitUntil(lambda window=window: not isValid(window))
        assert not isValid(window)


def test_a_change_shows_when_it_was_saved(small, window_over):
    window = window_over(small)
    window.session.do(items.add, "A third question?")
    assert window.status._saved.text().startswith("Saved ")


def test_another_person_works_with_pages_of_their_own(small, window_over):
    people.add_person(small, "Second reader", (Role.ANNOTATOR,))
    window = window_over(small, "Author")
    before = window.page
    other = next(person for person in people.people(small) if person.name == "Second reader")
    window.choose_person(other.id)
    assert window.page is not before
    assert small.by == other.id
    assert "Second reader" in window.navigation.person.text()


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


OF_SEVERAL = (
    "Author", "Label", "Judges", "Agreement", "Validate", "Exchange", "Material", "People", "Guidelines",
)  # fmt: skip


def test_f6_leads_to_another_part_on_every_page_of_several_and_to_nothing_hidden(small, window_over, qtbot):
    window = window_over(small)
    be_active(window, qtbot)
    for name in EVERY_PAGE:
        window.show_page(name)
        met = {focus()}
        for _ in range(2):
            press("F6")
            settle(window.page)
            assert focus().isVisible(), name
            met.add(focus())
        assert len(met) > 1 or name not in OF_SEVERAL, name


def test_enter_presses_the_focused_button_on_every_page(small, window_over, qtbot):
    window = window_over(small)
    be_active(window, qtbot)
    for name in EVERY_PAGE:
        window.show_page(name)
        shown = [one for one in window.page.findChildren(QPushButton) if one.isVisible()]
        button = QPushButton("Tried", shown[-1].parentWidget() if shown else window.page)
        pressed = []
        button.clicked.connect(lambda *_, pressed=pressed: pressed.append("Tried"))
        button.show()
        button.setFocus()
        qtbot.keyClick(button, Qt.Key.Key_Return)
        qtbot.keyClick(button, Qt.Key.Key_Enter)
        assert len(pressed) == 2, name


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
    window.session.do(items.add, "Is it done now?")
    assert window.messages.text() == ""


def test_counting_what_waits_is_done_beside_the_window_and_not_for_another_wording(
    sample, window_over, qtbot, monkeypatch
):
    window = window_over(sample, "Author")
    window.session.wait()
    asked = []
    monkeypatch.setattr(waiting, "counts", lambda project: asked.append(current_thread()) or {"Author": 7})
    qtbot.waitUntil(lambda: bool(asked))
    asked.clear()
    sheet = window.page.sheet
    unit = sheet.artifact.document.units[0].id
    window.session.do(artifacts.change_unit, sheet.artifact.id, unit, text="Another wording")
    qtbot.wait(600)
    assert asked == []
    window.session.do(items.add, "Does a new question wait?")
    qtbot.waitUntil(lambda: bool(asked))
    assert asked[0] is not main_thread()
    qtbot.waitUntil(lambda: "7" in window.navigation._buttons["Author"].text())


PROJECTS = {"empty": empty_project, "small": small_project, "locked": small_project}


@pytest.mark.slow
@pytest.mark.parametrize("kind", PROJECTS)
def test_the_focus_is_on_something_seen_on_every_page_and_part(kind, tmp_path, window_over, qtbot):
    project = PROJECTS[kind](tmp_path)
    project.close()
    window = window_over(Project.open(project.path, readonly=kind == "locked"))
    be_active(window, qtbot)
    hidden = []
    for name in EVERY_PAGE:
        page = window.show_page(name)
        tabs = page.findChild(QTabWidget)
        for place in range(tabs.count() if tabs else 1):
            if tabs and tabs.isTabVisible(place):
                tabs.setCurrentIndex(place)
            window.show_page(name)
            window.session.wait()
            qtbot.wait(30)
            held = window.focusWidget()
            if held is None or not held.isVisible():
                hidden.append((name, place, type(held).__name__))
    assert hidden == [], hidden
