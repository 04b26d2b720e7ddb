"""The window's places: few, each with its tabs, and what a new project is asked."""

from contextlib import closing

import pytest
from PySide6.QtCore import QByteArray, QSettings, Qt

from annotator.actions.project.file import Project
from annotator.actions.project.people import add_person, new_project, people
from annotator.actions.project.profile import profile
from annotator.domain.experts.assignment import Role
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.gui.forms.profile_form import NewProjectDialog
from annotator.gui.shell.navigation import PAGES, PLACES, SETTINGS
from annotator.protocols import profiles
from tests.windows.labelling_keys import be_active, press

CHOICES = [choice.name for choice in profiles.CHOICES]


def items_tabs(window):
    return [tab.words for place, tab in window.offered() if place.name == "Items"]


def test_there_are_at_most_ten_places_with_four_tabs_and_twenty_menu_entries(tmp_path, window_over):
    """Most where everything is used; what a project does not use has no tab."""
    window = window_over(new_project(tmp_path / "p.goldsmith", uses=profiles.ALL))
    assert len(window._places) == 10
    assert all(sum(map(bool, map(window._words, place.tabs))) <= 4 for place in window._places)
    menus = [entry for menu in window.menuBar().actions() for entry in menu.menu().actions()]
    assert len([entry for entry in menus if not entry.isSeparator()]) <= 20
    assert "Seminars" in items_tabs(window)
    window = window_over(new_project(tmp_path / "r.goldsmith", uses="rubrics"))
    assert "Seminars" not in items_tabs(window)


def test_every_page_stands_in_one_place_but_import_and_help():
    known = {
        each.page
        for place in (*PLACES, SETTINGS)
        for tab in (*place.tabs, *place.more)
        for each in (tab, *tab.beside)
    }
    assert PAGES.keys() - known == {"Import", "Help", "Send"}


def test_a_tab_opens_its_page_a_page_marks_its_tab_and_a_place_is_opened_where_it_was_left(
    small, window_over
):
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
    window.show_place("Home")
    window.show_place("Items")
    assert window.page.part_name() == "Cited pages"


def test_every_place_is_one_key_away(small, window_over, qtbot):
    window = window_over(small, "Author")
    be_active(window, qtbot)
    for key, page in (
        ("Alt+Home", "Home"),
        ("Ctrl+1", "Items"),
        ("Ctrl+7", "Results"),
        ("Ctrl+9", "Release"),
    ):
        press(key)
        assert page == window.page.NAME


def test_a_coordinator_begins_at_home_and_an_annotator_at_work(small, opened):
    path = small.path
    add_person(small, "Ann", (Role.ANNOTATOR,))
    ann = next(person for person in people(small) if person.name == "Ann")
    small.close()
    # Who knew the keys of before is told once that they moved.
    QSettings().setValue("window/geometry", QByteArray(b"of an earlier version"))
    QSettings().remove("places/moved")
    window = opened(path)
    assert window.page.NAME == "Home"
    assert "Ctrl+6 is Validate" in window.messages.text()
    window.close()
    with closing(Project.open(path)) as project:
        project.work_as(ann)
    window = opened(path)
    assert window.page.NAME == "Author"
    assert "Ctrl+6" not in window.messages.text()


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


def test_a_new_project_that_cannot_be_made_is_refused_where_it_was_asked_for(dialog, tmp_path):
    new_project(tmp_path / "taken.goldsmith").close()
    for name in ("taken", " "):
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
