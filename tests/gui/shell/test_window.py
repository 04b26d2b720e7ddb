"""The window: its pages, its messages, its person, its focus, its closing, and that what was closed is gone."""

import gc
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from threading import current_thread, main_thread

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QTabWidget
from shiboken6 import isValid

from annotator import __version__
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.parcels import waiting
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Role
from annotator.domain.texts.refusal import Refusal
from annotator.gui import theme
from annotator.gui.shell.navigation import PAGES
from annotator.gui.widgets.chips import Chip, Chips, EmptyState
from annotator.places import user_data
from tests.projects.small_projects import empty_project
from tests.windows.using import be_active, owned, settle

EVERY_PAGE = [*PAGES]


def parts(window, pages=EVERY_PAGE) -> Iterator[str]:
    """Pages, and every tab of each that is offered, shown one after the other; how each is called."""
    for name in pages:
        tabs = window.show_page(name).findChild(QTabWidget)
        if tabs is None:
            yield name
            continue
        for place in filter(tabs.isTabVisible, range(tabs.count())):
            tabs.setCurrentIndex(place)
            yield f"{name} {tabs.tabText(place)}"


def test_a_change_shows_when_it_was_saved_and_ends_a_refusal_as_another_page_does(small, window_over):
    window = window_over(small)
    window.show_refusal(Refusal("It cannot be done.", "Do something else."))
    window.show_page("Author")
    assert window.messages.text() == ""
    window.show_refusal(Refusal("It cannot be done.", "Do something else."))
    window.session.do(items.add, "A third question?")
    assert window.messages.text() == ""
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


def test_closing_gives_the_file_back_and_one_that_is_read_only_offers_no_change(small, window_over):
    window_over(small).close()
    moved = small.path.rename(small.path.with_name("moved.goldsmith"))
    with closing(Project.open(moved)) as again:
        again.hold()
        assert items.count(again) == 2
    window = window_over(Project.open(moved, readonly=True))
    assert "read only" in window.windowTitle()
    assert not window.page.add.isEnabled()


def test_the_menu_cuts_copies_and_pastes_where_the_focus_is(small, window_over, qtbot):
    window = be_active(window_over(small), qtbot)
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


def unseen(window) -> Iterator[str]:
    """Every page and part where the keyboard is with nothing that is seen, once each is at rest."""
    for place in parts(window):
        settle(window.page)
        held = window.focusWidget()
        if held is None or not held.isVisible():
            yield f"{place}: {type(held).__name__}"


def widgets(qtbot) -> Counter[str]:
    """All widgets there are, by class, once what is to die has died."""
    for _ in range(3):
        qtbot.wait(1)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
    return Counter(type(widget).__name__ for widget in QApplication.allWidgets())


@pytest.mark.usefixtures("nothing_older")
def test_in_an_empty_project_the_focus_is_seen_and_reopening_leaves_no_window_and_no_start_page_behind(
    tmp_path, goldsmith, qtbot
):
    project = empty_project(tmp_path)
    project.close()
    # The first page lists what was opened before.
    goldsmith.show(project.path)
    goldsmith.show(None)
    before = widgets(qtbot)
    window = be_active(goldsmith.show(project.path), qtbot)
    assert [*unseen(window)] == []
    goldsmith.show(None)
    qtbot.waitUntil(lambda: not isValid(window))
    assert widgets(qtbot) - before == Counter()


@pytest.mark.usefixtures("nothing_older")
def test_pages_that_were_looked_over_for_a_place_for_the_keyboard_go_with_their_person(
    small, window_over, qtbot
):
    people.add_person(small, "Second reader", (Role.ANNOTATOR,))
    reader = people.people(small)[-1]
    window = be_active(window_over(small), qtbot)
    window.choose_person(reader.id)
    pages = [weakref.ref(window.show_page(name)) for name in ("Help", "Items", "Material")]
    window.choose_person(reader.id)
    # It is only for coordinators: nothing on it takes the keyboard, and all of it was looked over in vain.
    assert QApplication.focusWidget() is window.page
    widgets(qtbot)
    assert [type(page()).__name__ for page in pages if page() is not None] == []


@pytest.mark.usefixtures("nothing_older")
@pytest.mark.parametrize(
    "make", [Chips, lambda: EmptyState("items", "Nothing")], ids=["chips", "empty state"]
)
def test_what_follows_the_theme_and_stands_nowhere_dies_with_its_last_reference(make, qtbot):
    before = widgets(qtbot)
    made = [make() for _ in range(20)]
    made[0].setAccessibleName("seen")
    assert widgets(qtbot) != before
    del made
    assert widgets(qtbot) - before == Counter()


def test_a_method_of_qts_own_is_still_called_after_a_change_of_theme(qtbot, monkeypatch):
    chips = owned(qtbot, Chips())
    chips.show_chips([Chip("words")])
    before = chips.sizeHint()
    chips.adjustSize()
    theme.zoom(2)
    assert chips.sizeHint().width() > before.width()
    theme.zoom(0)
