"""The window: its pages, its messages, its person, its focus, its closing, and that what was closed is gone."""

import gc
import re
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from threading import Event, current_thread, main_thread

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLabel, QMenu, QPushButton, QTabWidget, QWidget
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
from annotator.gui.pages.guidelines import SetDrafting
from annotator.gui.pages.people.page import PlanPreview
from annotator.gui.parts import below
from annotator.gui.review.source_pane import TextPane
from annotator.gui.session.session import TaskCallbacks
from annotator.gui.session.shared_folder import FolderLine
from annotator.gui.shell.navigation import PAGES
from annotator.gui.widgets.chips import Chip, Chips, EmptyState
from annotator.gui.widgets.message_bar import MessageBar
from annotator.places import user_data
from tests.projects.small_projects import empty_project, small_project
from tests.windows.using import be_active, focus, in_view, owned, press, settle

# Their parts ask everything on the other thread.
ANSWERED_LATER = ("Judges", "Validate", "Material", "Results")
EVERY_PAGE = [*PAGES]


def called_empty(window) -> set[str]:
    seen = [*in_view(window.page)]
    states = {state.findChildren(QLabel)[1].text() for state in seen if isinstance(state, EmptyState)}
    labels = (label.text() for label in seen if isinstance(label, QLabel))
    return states | {words for words in labels if re.match(r"No matches|(No|Nothing)\b.* yet\b", words)}


def test_nothing_is_called_empty_before_the_answer_came_and_every_model_keeps_qts_contract(
    sample, window_over, qtbot, qtmodeltester
):
    window, answers = window_over(sample, "Help"), Event()
    window.session._tasks_behind.send(lambda _tell: answers.wait(), TaskCallbacks(None))
    early, checked = {}, set()
    try:
        for place in parts(window):
            qtbot.wait(20)
            early[place] = called_empty(window)
    finally:
        answers.set()
    qtbot.waitUntil(lambda: not len(window.session._tasks_behind))
    for place in parts(window):
        # What is known at once stays.
        known = set() if window.page.NAME in ANSWERED_LATER else called_empty(window)
        assert early[place] <= known, place
        for model in [view.model() for view in below(window.page, QAbstractItemView)]:
            if type(model).__module__.startswith("annotator") and type(model) not in checked:
                qtmodeltester.check(model)
                checked.add(type(model))
    assert len(checked) == 12


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


def alive() -> dict[int, str]:
    """Everything of Qt's that the window's own code has made and that is still there."""
    result = (o for o in gc.get_objects() if issubclass(type(o), QObject) and isValid(o))
    return {id(o): type(o).__name__ for o in result if type(o).__module__.startswith("annotator.gui")}


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_older")
def test_all_pages_are_dressed_keep_their_messages_over_them_and_go_with_their_window(
    sample, window_over, qtbot
):
    before = alive()
    window = window_over(sample)
    for name in EVERY_PAGE:
        window.show_page(name)
        window.session.wait()
    within = window.findChildren(QWidget)
    popups = [each for each in within if each.isWindow() and each.windowType() == Qt.WindowType.Popup]
    assert any(isinstance(each, QMenu) for each in popups)
    assert [each for each in popups if each.style().metaObject().className() != "QStyleSheetStyle"] == []
    pushing = [type(bar.parent()) for bar in window.findChildren(MessageBar) if bar._host is None]
    # What is said there is part of what is shown: why a text is plain, why a plan cannot be met, how drafting ended,
    # whose key is to be compared.
    assert {*pushing} <= {TextPane, PlanPreview, SetDrafting, FolderLine}
    window.close()

    def left() -> list[str]:
        gc.collect()
        return [name for which, name in alive().items() if which not in before]

    qtbot.waitUntil(lambda: not left())
    assert left() == []


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


OF_SEVERAL = (
    "Author", "Label", "Judges", "Agreement", "Validate", "Exchange", "Material", "People", "Guidelines",
)  # fmt: skip


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


PROJECTS = {"empty": empty_project, "small": small_project, "locked": small_project}


@pytest.mark.slow
@pytest.mark.parametrize("kind", PROJECTS)
def test_the_focus_is_on_something_seen_on_every_page_and_part(kind, tmp_path, window_over, qtbot):
    project = PROJECTS[kind](tmp_path)
    project.close()
    window = be_active(window_over(Project.open(project.path, readonly=kind == "locked")), qtbot)
    hidden = []
    for place in parts(window):
        settle(window.page)
        held = window.focusWidget()
        if held is None or not held.isVisible():
            hidden.append((place, type(held).__name__))
    assert hidden == [], hidden


@pytest.mark.slow
def test_on_every_page_f6_leads_to_another_part_that_is_seen_and_enter_presses(small, window_over, qtbot):
    window = be_active(window_over(small), qtbot)
    for name in EVERY_PAGE:
        window.show_page(name)
        met = {focus()}
        for _ in range(2):
            press("F6")
            settle(window.page)
            assert focus().isVisible(), name
            met.add(focus())
        assert len(met) > 1 or name not in OF_SEVERAL, name
        shown = [one for one in in_view(window.page) if isinstance(one, QPushButton)]
        button, pressed = QPushButton("Tried", shown[-1].parentWidget() if shown else window.page), []
        button.clicked.connect(lambda *_, pressed=pressed: pressed.append("Tried"))
        button.show()
        button.setFocus()
        press("Return", "Enter")
        assert len(pressed) == 2, name


def widgets(qtbot) -> Counter[str]:
    """All widgets there are, by class, once what is to die has died."""
    for _ in range(3):
        qtbot.wait(1)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
    return Counter(type(widget).__name__ for widget in QApplication.allWidgets())


@pytest.mark.usefixtures("nothing_older")
def test_reopening_leaves_no_window_and_no_start_page_behind(small, goldsmith, qtbot):
    path = small.path
    items.add(small, "One more?")
    small.close()
    # The first page lists what was opened before.
    goldsmith.show(path)
    goldsmith.show(None)
    before = widgets(qtbot)
    window = goldsmith.show(path)
    for name in EVERY_PAGE:
        window.show_page(name)
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
