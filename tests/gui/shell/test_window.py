"""The window: its places, pages, palette, messages, person and focus, and that what was closed is gone."""

import gc
import re
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from threading import Event, current_thread, main_thread

import pytest
from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, QSettings, Qt
from PySide6.QtGui import QAction, QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTabBar, QTabWidget, QToolButton, QWidget
from shiboken6 import isValid

from annotator import __version__
from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.parcels import waiting
from annotator.actions.project import people, profile
from annotator.actions.project.file import Project, settings_of
from annotator.actions.project.people import new_project
from annotator.domain.common import Refusal
from annotator.domain.kinds.documents import KINDS, WRITTEN
from annotator.domain.kinds.kind import Kind, Role, Stage
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.gui import keys, theme
from annotator.gui.forms.profile_form import NewProjectDialog
from annotator.gui.parts import below
from annotator.gui.session.session import TaskCallbacks
from annotator.gui.shell.navigation import PAGES, PLACES, SETTINGS, PlaceBar, PlaceTab
from annotator.gui.shell.palette import Choice, _line_of
from annotator.gui.shell.window import DISMISS, TRY
from annotator.gui.widgets.basics import column_of
from annotator.gui.widgets.chips import Chip, Chips, EmptyState
from annotator.places import user_data
from annotator.protocols import PROTOCOLS, profiles
from tests.common import once
from tests.projects.filled_project import judge_everything, label_everything, peer_folder
from tests.projects.small_projects import empty_project
from tests.windows.using import (
    Typed,
    all_words,
    be_active,
    focus,
    in_view,
    owned,
    press,
    seen_words,
    settle,
    type_words,
)

EVERY_PAGE = [*PAGES]


def entries(window) -> list[QAction]:
    return [entry for menu in window.menuBar().actions() for entry in menu.menu().actions()]


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


def test_closing_gives_the_file_back_and_one_that_is_read_only_offers_no_change(small, window_over):
    window_over(small).close()
    moved = small.path.rename(small.path.with_name("moved.goldsmith"))
    with closing(Project.open(moved)) as again:
        again.hold()
        assert items.count(again) == 2
    window = window_over(Project.open(moved, readonly=True))
    assert ("read only" in window.windowTitle(), window.page.add.isEnabled()) == (True, False)


def test_the_menu_cuts_copies_and_pastes_where_the_focus_is(small, window_over, qtbot):
    window = be_active(window_over(small), qtbot)
    field = window.page.search
    field.setText("basalt")
    field.setFocus()
    field.selectAll()
    acts = {act.text().split("\t")[0]: act for act in entries(window)}
    for act in ("Cut", "Paste", "Paste"):
        acts[act].trigger()
    assert field.text() == "basaltbasalt"


def test_about_says_the_version_the_licences_and_where_files_lie(small, window_over):
    said = window_over(small, "Help", topic="about").page.text.toPlainText()
    assert all(words in said for words in (__version__, "LGPL 3", str(user_data())))
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
    artifact = window.page.sheet.artifact
    window.session.do(
        artifacts.change_unit, artifact.id, artifact.document.units[0].id, text="Another wording"
    )
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
    for path in (project.path, None):
        goldsmith.show(path)
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
    reader = people.add_person(small, "Second reader", (Role.ANNOTATOR,)).subject
    window = be_active(window_over(small), qtbot)
    window.choose_person(reader)
    assert (small.by, "Second reader" in window.navigation.person.text()) == (reader, True)
    pages = [weakref.ref(window.show_page(name)) for name in ("Help", "Items", "Material")]
    window.choose_person(reader)
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


def test_there_are_at_most_ten_places_with_four_tabs_and_twenty_menu_entries(tmp_path, window_over):
    # Most where everything is used; what a project does not use has no tab.
    window = window_over(new_project(tmp_path / "p.goldsmith", uses=profiles.ALL))
    assert len(window._places) == 10
    assert all(sum(map(bool, map(window._words, place.tabs))) <= 4 for place in window._places)
    assert len([entry for entry in entries(window) if not entry.isSeparator()]) <= 20
    other = window_over(new_project(tmp_path / "r.goldsmith", uses="rubrics"))
    tabs = [{tab.words for _, tab in each.offered()} for each in (window, other)]
    assert ["Seminars" in each for each in tabs] == [True, False]


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
    assert (window.page.NAME, window.bar.beside.isVisible()) == ("Exchange", True)
    window.bar.beside.setCurrentIndex(2)
    assert window.page.part_name() == "Tray"
    window.show_page("Material", part="Cited pages")
    assert window.bar.tabs.tabText(window.bar.tabs.currentIndex()) == "Reports"
    assert window.bar.beside.tabText(window.bar.beside.currentIndex()) == "Cited pages"
    window.show_place("Home")
    window.show_place("Items")
    assert window.page.part_name() == "Cited pages"


def test_who_knew_the_keys_of_before_is_told_once_that_they_moved(small, opened):
    small.close()
    QSettings().setValue("window/geometry", QByteArray(b"of an earlier version"))
    QSettings().remove("places/moved")
    for first in (True, False):
        window = opened(small.path)
        assert ("Ctrl+6 is Validate" in window.messages.text()) is first
        window.close()


@pytest.fixture
def dialog(tmp_path, qtbot):
    return owned(qtbot, NewProjectDialog(None, tmp_path))


@pytest.mark.parametrize("name", [choice.name for choice in profiles.CHOICES])
def test_a_new_project_uses_what_was_chosen(name, dialog, tmp_path):
    dialog.uses.cards[name].radio.click()
    dialog.name.setText("study 1.2")
    dialog.create_button.click()
    assert dialog.path == tmp_path / "study 1.2.goldsmith"
    assert profile.profile(Project.open(dialog.path)).kinds == profiles.parsed(name).kinds


def test_parts_are_chosen_one_by_one(dialog):
    dialog.name.setText("own")
    dialog.uses.own.open()
    for ticks in dialog.uses.parts.values():
        for row in range(ticks.count()):
            wanted = ticks.item(row).text() == KINDS[Kind.PLAN].title
            ticks.item(row).setCheckState(Qt.CheckState.Checked if wanted else Qt.CheckState.Unchecked)
    dialog.create_button.click()
    assert profile.profile(Project.open(dialog.path)).kinds == {Kind.PLAN}


def test_a_new_project_that_cannot_be_made_is_refused_where_it_was_asked_for(dialog, tmp_path):
    new_project(tmp_path / "taken.goldsmith").close()
    for name in ("taken", " "):
        dialog.name.setText(name)
        dialog.create_button.click()
        assert (dialog.path, dialog.messages.level) == (None, "warning")


def test_settings_show_what_the_project_uses_and_change_it(tmp_path, window_over):
    project = new_project(tmp_path / "p.goldsmith", uses="plans")
    window = window_over(project, "Items")
    # An empty list offers once what the head of a full one does.
    assert [each.text() for each in in_view(window.page) if isinstance(each, QPushButton)].count(
        "Import…"
    ) == 1
    page = window.show_page("Project", part="uses")
    assert (page.form.isVisible(), page.form.text) == (True, "plans")
    page.form.cards["rubrics"].radio.click()
    page.apply.click()
    assert (profile.profile(project).kinds, page.uses.note.text()) == ({Kind.RUBRIC}, "Weighted rubrics")


# Of other papers: their documents, what they are made of, what is judged by them, and their names.
FOREIGN = re.compile(
    r"(?i)\b(contests?|transcripts?|nuggets?|seminars?|inspirations?|diagnostics?|exemplars?|key points?|checklists?"
    r"|KAE|ACE|gold plans?|gold evidence|gold statements?|sub-?tasks?|rank(ed|ing)? tasks?|ADRA|DeepScholar\S*"
    r"|DeepResearch Arena|related[- ]work|preferred (report|of two)|efficiency|organization"
    r"|candidate questions?|(?-i:Plans?))\b"
)


@once
def rubrics_only(folder):
    project = new_project(folder / "rubrics.goldsmith", "Rubrics", uses="rubrics")
    imports.run(project, "researcherbench", [peer_folder(folder / "peer", 3, 3, 2)], warm=False)
    judge_everything(project, 1)
    for name in ("Ada", "Ben"):
        label_everything(project, name, 0.7, 0.8)
    return project


def nothing_yet(folder):
    return new_project(folder / "empty.goldsmith", "Nothing yet", uses="rubrics")


def places_in(window) -> Iterator[str]:
    """Every tab of every place, and of each every tab of its own, one after the other in view."""
    for place, tab in [*window.offered(), (None, PlaceTab("Import", "Import"))]:
        # Here every benchmark may be told of.
        if tab.page == "Project":
            continue
        window.show_part(tab.page, tab.part)
        settle(window.page)
        if window.page.press("all_views"):
            settle(window.page)
        if (tab.page, tab.part) == ("People", "Hand out"):
            window.page.out.form.options.open()
        name = f"{place.name if place else ''} {tab.words}"
        yield name
        yield from tabs_of(window.page, name)


def tabs_of(page: QWidget, name: str) -> Iterator[str]:
    for bar in list(below(page, QTabBar)):
        for place in range(bar.count()):
            if bar.isVisible() and bar.isTabVisible(place) and place != bar.currentIndex():
                bar.setCurrentIndex(place)
                settle(page)
                yield f"{name}, {bar.tabText(place)}"


@pytest.mark.slow
@pytest.mark.parametrize("make", [nothing_yet, rubrics_only])
def test_under_rubrics_no_page_says_a_word_of_another_benchmark(make, tmp_path, window_over):
    window = window_over(make(tmp_path))
    window.resize(1366, 768)
    # Each text where it stood first.
    said, labels = dict[str, str](), dict[str, str]()
    for place in places_in(window):
        said = dict.fromkeys(seen_words(window), place) | said
        labels |= {label.text(): place for label in in_view(window) if isinstance(label, QLabel)}
    met = [(said[text], found[0], text[:110]) for text in said for found in FOREIGN.finditer(text)]
    met += [(place, "a command", words) for words, place in labels.items() if "goldsmith " in words]
    assert not met, "\n".join(f"{place}: {word}: {text!r}" for place, word, text in sorted(met))


@pytest.mark.parametrize("choice", profiles.CHOICES[:2], ids=lambda choice: choice.name)
def test_written_is_what_the_project_uses(choice, tmp_path, window_over):
    project = new_project(tmp_path / "p.goldsmith", uses=choice.name)
    items.add(project, "Why?")
    tabs = window_over(project, "Author").page.tabs
    shown = [tabs.tabText(place) for place in range(tabs.count()) if tabs.isTabVisible(place)]
    assert shown == [KINDS[kind].title for kind in WRITTEN if kind in choice.kinds]


def test_what_is_handed_out_is_what_the_project_uses_and_another_choice_is_offered_at_once(
    tmp_path, window_over
):
    project = new_project(tmp_path / "p.goldsmith", uses="rubrics")
    items.add(project, "Why?")
    window = window_over(project, "People", part="Hand out")
    form = settle(window.page).out.form
    rubrics = next(choice for choice in profiles.CHOICES if choice.name == "rubrics")
    assert sorted(form.labels.values()) == sorted(
        name for name in rubrics.protocols if PROTOCOLS[name].values
    )
    window.session.do(profile.choose, "rubrics, plan")
    settle(window.page)
    assert sorted(form.stages.values()) == sorted([Stage.RUBRIC, Stage.PLAN, Stage.LABELLING])
    assert "adra.plan" in form.labels.values()
    assert (form.plan().stages, form.labels.isVisible()) == ((Stage.RUBRIC,), False)
    form.stages.item(2).setCheckState(Qt.CheckState.Checked)
    assert (Stage.LABELLING in form.plan().stages, form.labels.isVisible()) == (True, True)


def test_the_sample_alone_opens_with_what_to_try_until_it_is_dismissed(
    whole_sample, small, opened, window_over
):
    whole_sample.close()
    window = opened(whole_sample.path)
    assert (window.page.NAME, TRY in all_words(window)) == ("Home", True)
    assert len([one for one in window.tries.findChildren(QPushButton) if one.isVisible()]) == 5
    window.tries.findChild(QToolButton).click()
    assert not window.tries.isVisible()
    window.close()
    assert not opened(whole_sample.path).tries.isVisible()
    assert window_over(small).tries is None


def test_in_a_low_window_the_steps_are_in_a_menu_below_the_page(whole_sample, window_over):
    window = window_over(whole_sample)
    window.resize(960, 600)
    assert not window.tries.isVisible()
    button = window.tries.button
    assert button.isVisible()
    button.menu().aboutToShow.emit()
    steps = button.menu().actions()
    assert [step.text() for step in steps if step.text()] == [
        "1  Write a criterion", "2  Quote the source", "3  Label a report", "4  Settle a conflict",
        "5  Finish the judge's run", DISMISS,
    ]  # fmt: skip
    steps[3].trigger()
    assert window.page.NAME == "Adjudicate"
    theme.zoom_to(80)
    assert window.tries.isVisible()
    theme.zoom_to(100)
    steps[-1].trigger()
    assert not button.isVisible()
    window.resize(1280, 760)
    assert not window.tries.isVisible()


def test_what_is_beside_a_tab_stands_below_where_letters_are_large(small, window_over):
    window = window_over(small, "Exchange")
    for zoom, under in ((100, False), (200, True)):
        theme.zoom_to(zoom)
        window.resize(1366, 768)
        settle(window.page)
        bar = window.bar
        assert (bar.beside.y() > bar.tabs.y()) is under
        assert all(tabs.width() >= tabs.sizeHint().width() for tabs in (bar.tabs, bar.beside))


def test_one_goes_on_where_one_left_a_step_of_the_work(whole_sample, opened):
    path = whole_sample.path
    whole_sample.close()
    window = opened(path)
    for step, shows in zip(window.tries._steps_to_try[2:4], ("response_id", "item_id"), strict=True):
        window.session.go(step.page, **step.place)
        left = window.page.place()
        assert left[shows]
        window.close()
        window = opened(path)
        assert (window.page.NAME, window.page.place()) == (step.page, left)
    window.close()
    # A place is a person's own: it is not in the file that others open too.
    before = settings_of(path)
    window = opened(path)
    window.show_page("Results")
    window.close()
    assert settings_of(path) == before
    with closing(Project.open(path)) as project:
        me, other = project.person, next(one for one in people.people(project) if one.alias == "Annotator B")
    for person, page in ((other, "Author"), (me, "Results")):
        Project.open(path).work_as(person)
        window = opened(path)
        assert page == window.page.NAME
        window.show_page("Check")
        window.close()
    assert opened(path).page.NAME == "Home"


def test_tabs_that_were_measured_out_of_view_are_whole(qtbot):
    place = max(PLACES, key=lambda place: len(place.tabs))
    host = owned(qtbot, column_of(bar := PlaceBar()))
    for tabs in (place.tabs[:1], place.tabs):
        bar.show_tabs({tab: tab.words for tab in tabs}, {}, place.tabs[0])
        bar.sizeHint()
    host.show()
    assert bar.tabs.width() >= bar.tabs.sizeHint().width()


def typed(window, words: str) -> list[str]:
    if not window._palette.isVisible():
        press("Ctrl+K")
    window._palette.field.clear()
    type_words(words)
    settle(window.page)
    return listed(window)


def listed(window) -> list[str]:
    choices = window._palette.choices
    return [choices.index(row).data() for row in range(choices.rowCount())]


def test_an_item_is_gone_to_by_words_of_its_question_and_a_unit_in_its_document(window):
    assert typed(window, "zirconium") == ["Nothing found"]
    press("Return")
    assert window._palette.isVisible()
    assert typed(window, "residual conn")[:2] == ["Items", "1 What do residual connections do? Deep learning"]
    press("Return")
    assert (window._palette.isVisible(), window.page.NAME, window.page.item.key) == (False, "Author", "1")
    typed(window, "training stability")
    press("Return")
    settle(window.page)
    assert window.page.place()["unit_id"] == window.page.sheet.form.current.unit_id
    assert focus().toPlainText() == "Compares training stability"
    # Elsewhere this key deletes to the end of the line.
    press("Home", "Ctrl+K")
    assert window._palette.isVisible()
    press("Escape")
    assert focus().toPlainText() == "Compares training stability"


def test_enter_ahead_of_the_texts_goes_to_what_comes(window):
    gathered = Event()
    window.session._tasks_behind.send(lambda _tell: gathered.wait(), TaskCallbacks(None))
    press("Ctrl+K", Typed("residual"))
    assert listed(window) == ["Searching texts…"]
    press("Return")
    gathered.set()
    settle(window.page)
    assert (window.page.NAME, window.page.item.key) == ("Author", "1")


def test_arrows_pass_over_the_names_of_kinds_and_a_click_chooses_in_a_palette_within_its_window(window):
    lines = typed(window, "re")
    choices = window._palette.choices.places()
    assert 0 not in choices
    assert len(lines) > len(choices) + 1
    walked = []
    for _ in choices:
        walked.append(window._palette.list.currentIndex().row())
        press("Down")
    assert (walked, window._palette.list.currentIndex().row()) == (choices, choices[0])
    press("Up", "PgUp", "PgUp", "PgUp")
    assert (window._palette.list.currentIndex().row(), focus()) == (choices[0], window._palette.field)
    assert focus().accessibleDescription() == lines[choices[0]]
    press("Escape")
    window.resize(1200, 800)
    typed(window, "residual")
    palette = window._palette
    window.resize(700, 480)
    QApplication.processEvents()
    assert window.rect().contains(palette.geometry())
    headline, first = (palette.list.visualRect(palette.choices.index(row)).center() for row in (0, 1))
    QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=headline)
    assert palette.isVisible()
    QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=first)
    assert window.page.NAME == "Author"


def test_it_closes_and_the_keyboard_is_where_it_was_and_with_nothing_typed_it_offers_what_was_chosen(window):
    window.page.search.setFocus()
    for key in ("Escape", "Ctrl+K"):
        press("Ctrl+K")
        assert focus() is window._palette.field
        press(key)
        assert (window._palette.isVisible(), focus()) == (False, window.page.search)
    press("Ctrl+Shift+F")
    window.page.search.setFocus()
    assert not window._palette.isVisible()
    typed(window, "who?")
    press("Return")
    window.show_page("Agreement")
    press("Ctrl+K")
    settle(window.page)
    assert listed(window)[:4] == ["Recent", "2 Who? Deep learning", "Author 2  Who?", "Items"]
    press("Down", "Return")
    assert (window.page.NAME, window.page.item.key) == ("Author", "2")


def test_an_act_of_a_menu_and_one_of_the_page_are_done_where_the_focus_was(window):
    assert "View Larger Ctrl++" in typed(window, "larger")
    before = theme.current().zoom
    press("Return")
    assert theme.current().zoom > before
    theme.zoom(0)
    assert typed(window, "add an it") == ["Acts", "Items Add an item Ctrl+N"]
    press("Return")
    assert window.page.form.isVisible()
    window.show_page("Help")
    assert "Items Add an item Ctrl+N" not in typed(window, "add an it")
    # Nor among what was chosen last: that page is not in view.
    window._palette.field.clear()
    settle(window.page)
    assert listed(window)[:3] == ["Recent", "View Larger Ctrl++", "Items"]
    press("Escape")
    assert keys.rebind("zoom_in", "Ctrl+Alt+L") is None
    assert "View Larger Ctrl+Alt+L" in typed(window, "larger")
    assert "Results Agreement" in typed(window, "agreem")
    press("Return")
    assert window.page.NAME == "Agreement"


def test_what_was_listed_for_one_person_is_gone_for_the_next(window, small):
    rubric = Rubric(units=(Criterion(text="Names iridium"),))
    artifacts.start(small, items.add(small, "Which?").subject, Rubric.KIND, rubric)
    ada = people.add_person(small, "Ada").subject
    assert len(typed(window, "iridium")) == 2
    press("Return")
    window.choose_person(ada)
    press("Ctrl+K")
    settle(window.page)
    assert "iridium" not in " ".join(listed(window))
    assert typed(window, "iridium") == ["Nothing found"]


def test_acts_that_had_its_key_are_told_once_where_they_are(window):
    window.show_page("Contest", part="Keep")
    settle(window.page)
    press("Ctrl+K")
    assert "“Keep the task: make an item of it” has the key Ctrl+T now." in window._palette.news.text()
    press("Escape", "Ctrl+K")
    assert not window._palette.news.isVisible()
    press("Escape")
    # Find on a page without a search of its own finds anywhere.
    window.show_page("Help", topic="about")
    next(act for act in entries(window) if act.text().startswith("Find on")).trigger()
    assert window._palette.isVisible()


@pytest.mark.parametrize(("words", "right"), [("Weight of gold", False), ("وزن الذهب", True)])
def test_a_line_stands_at_the_side_where_its_script_begins(words: str, right: bool) -> None:
    layout = _line_of(Choice("Items", words, list, marks=((0, 3),)), QFont(), 500)
    assert (layout.lineAt(0).naturalTextRect().left() > 250) is right


def test_words_too_long_for_a_line_are_cut_and_marks_count_letters_beyond_the_first_plane() -> None:
    layout = _line_of(Choice("Items", f"𠮷𠮷 gold {'long ' * 200}", list, marks=((3, 7),)), QFont(), 300)
    assert layout.text().endswith("…")
    (bold,) = layout.formats()
    units = layout.text().encode("utf-16-le")[2 * bold.start : 2 * (bold.start + bold.length)]
    assert units.decode("utf-16-le") == "gold"
