"""The window's places: few, each with its tabs, and what a new project is asked."""

from contextlib import closing

import pytest
from PySide6.QtCore import QByteArray, QSettings, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest

from annotator.actions.project.file import Project
from annotator.actions.project.people import add_person, new_project, people
from annotator.actions.project.profile import profile
from annotator.domain.experts.assignment import Role
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.gui.forms.profile_form import NewProjectDialog
from annotator.gui.shell.navigation import PAGES, PLACES, SETTINGS
from annotator.protocols import profiles
from tests.windows.labelling_keys import be_active

CHOICES = [choice.name for choice in profiles.CHOICES]


def offered(window, place):
    return [tab for tab in place.tabs if window._words(tab)]


@pytest.mark.parametrize("uses", [*CHOICES, profiles.ALL])
def test_there_are_at_most_ten_places_with_four_tabs_and_twenty_menu_entries(uses, tmp_path, window_over):
    window = window_over(new_project(tmp_path / "p.goldsmith", uses=uses))
    assert len(window._places) == 10
    assert all(len(offered(window, place)) <= 4 for place in window._places)
    entries = [
        entry
        for menu in window.menuBar().actions()
        for entry in menu.menu().actions()
        if not entry.isSeparator()
    ]
    assert len(entries) <= 20


def test_every_page_stands_in_one_place_but_import_and_help():
    known = {
        each.page
        for place in (*PLACES, SETTINGS)
        for tab in (*place.tabs, *place.more)
        for each in (tab, *tab.beside)
    }
    assert PAGES.keys() - known == {"Import", "Help", "Send"}


def test_seminars_have_their_tab_only_where_the_project_uses_them(tmp_path, window_over):
    items = next(place for place in PLACES if place.name == "Items")
    window = window_over(new_project(tmp_path / "p.goldsmith", uses="rubrics"))
    assert [tab.words for tab in offered(window, items)] == ["Items", "Reports", "Sources"]
    window = window_over(new_project(tmp_path / "s.goldsmith", uses="seminars"))
    assert [tab.words for tab in offered(window, items)] == ["Items", "Reports", "Sources", "Seminars"]


def test_a_tab_opens_its_page_and_a_page_marks_its_tab(small, window_over):
    window = window_over(small)
    window.show_place("People")
    window.bar.tabs.setCurrentIndex(2)
    assert window.page.NAME == "Exchange"
    assert window.bar.beside.isVisible()
    window.bar.beside.setCurrentIndex(2)
    assert window.page.part_name() == "Tray"
    window.show_page("Material", part="Cited pages")
    assert window.bar.tabs.tabText(window.bar.tabs.currentIndex()) == "Reports"
    assert window.bar.beside.tabText(window.bar.beside.currentIndex()) == "Cited pages"


def test_a_place_is_opened_at_the_tab_that_was_left(small, window_over):
    window = window_over(small)
    window.show_page("Judges", part="Prompts")
    window.show_place("Home")
    window.show_place("Judges")
    assert window.page.part_name() == "Prompts"


@pytest.mark.parametrize(
    ("key", "page"), [("Alt+Home", "Home"), ("Ctrl+1", "Items"), ("Ctrl+7", "Results"), ("Ctrl+9", "Release")]
)
def test_every_place_is_one_key_away(key, page, small, window_over, qtbot):
    window = window_over(small)
    be_active(window, qtbot)
    window.show_page("Author")
    sequence = QKeySequence(key)[0]
    QTest.keyClick(window, sequence.key(), sequence.keyboardModifiers())
    qtbot.waitUntil(lambda: page == window.page.NAME)


def test_a_coordinator_begins_at_home_and_an_annotator_at_work(small, opened):
    path = small.path
    add_person(small, "Ann", (Role.ANNOTATOR,))
    ann = next(person for person in people(small) if person.name == "Ann")
    small.close()
    window = opened(path)
    assert window.page.NAME == "Home"
    window.close()
    with closing(Project.open(path)) as project:
        project.work_as(ann)
    assert opened(path).page.NAME == "Author"


@pytest.fixture
def dialog(tmp_path, qtbot):
    made = NewProjectDialog(None, tmp_path)
    qtbot.addWidget(made)
    return made


@pytest.mark.parametrize("name", CHOICES)
def test_a_new_project_uses_what_was_chosen(name, dialog, tmp_path):
    dialog.uses.cards[name].radio.click()
    dialog.name.setText("study 1.2")
    dialog.create_button.click()
    assert dialog.path == tmp_path / "study 1.2.goldsmith"
    with closing(Project.open(dialog.path)) as project:
        assert profile(project).kinds == profiles.parsed(name).kinds


def test_parts_are_chosen_one_by_one(dialog):
    dialog.name.setText("own")
    dialog.uses.own.open()
    for ticks in dialog.uses.parts.values():
        for row in range(ticks.count()):
            wanted = ticks.item(row).text() == KINDS[Kind.PLAN].title
            ticks.item(row).setCheckState(Qt.CheckState.Checked if wanted else Qt.CheckState.Unchecked)
    dialog.create_button.click()
    with closing(Project.open(dialog.path)) as project:
        assert profile(project).kinds == {Kind.PLAN}


@pytest.mark.parametrize("name", ["taken", " "])
def test_a_new_project_that_cannot_be_made_is_refused_where_it_was_asked_for(name, dialog, tmp_path):
    new_project(tmp_path / "taken.goldsmith").close()
    dialog.name.setText(name)
    dialog.create_button.click()
    assert dialog.path is None
    assert dialog.messages.level == "warning"


def test_settings_show_what_the_project_uses_and_change_it(tmp_path, window_over):
    project = new_project(tmp_path / "p.goldsmith", uses="plans")
    page = window_over(project, "Project").page
    assert page.form.text == "plans"
    page.form.cards["rubrics"].radio.click()
    page.apply.click()
    assert profile(project).kinds == {Kind.RUBRIC}


def test_who_knew_the_keys_before_is_told_once_that_they_moved(small, opened):
    path = small.path
    small.close()
    QSettings().setValue("window/geometry", QByteArray(b"of an earlier version"))
    QSettings().remove("places/moved")
    window = opened(path)
    assert "Ctrl+6 is Validate" in window.messages.text()
    window.close()
    window = opened(path)
    assert "Ctrl+6" not in window.messages.text()
