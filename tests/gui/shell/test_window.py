"""The window: its places, pages, messages, person and focus, its closing, and that what was closed is gone."""

import gc
import re
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from threading import current_thread, main_thread

import pytest
from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, QSettings, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTabBar, QTabWidget, QToolButton, QWidget
from shiboken6 import isValid

from annotator import __version__
from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.parcels import waiting
from annotator.actions.project import people, profile
from annotator.actions.project.file import Project, settings_of
from annotator.actions.project.people import add_person, new_project
from annotator.domain.experts.assignment import Role
from annotator.domain.kinds.artifact import Kind, Stage, stage_of
from annotator.domain.kinds.documents import KINDS, WRITTEN
from annotator.domain.texts.refusal import Refusal
from annotator.gui import theme
from annotator.gui.forms.profile_form import NewProjectDialog
from annotator.gui.parts import below
from annotator.gui.shell.navigation import PAGES, PLACES, SETTINGS, PlaceBar, PlaceTab
from annotator.gui.shell.window import DISMISS, TRY
from annotator.gui.widgets.basics import column_of
from annotator.gui.widgets.chips import Chip, Chips, EmptyState
from annotator.places import user_data
from annotator.protocols import PROTOCOLS, profiles
from tests.projects.judged_project import judge_everything, label_everything, peer_folder
from tests.projects.small_projects import empty_project
from tests.templates import once
from tests.windows.using import all_words, be_active, in_view, owned, press, seen_words, settle

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
    said = window_over(small, "Help", topic="about").page.text.toPlainText()
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
    assert (window.page.NAME, window.bar.beside.isVisible()) == ("Exchange", True)
    window.bar.beside.setCurrentIndex(2)
    assert window.page.part_name() == "Tray"
    window.show_page("Material", part="Cited pages")
    assert window.bar.tabs.tabText(window.bar.tabs.currentIndex()) == "Reports"
    assert window.bar.beside.tabText(window.bar.beside.currentIndex()) == "Cited pages"
    window.show_place("Home")
    window.show_place("Items")
    assert window.page.part_name() == "Cited pages"


def test_every_place_is_one_key_away(small, window_over, qtbot):
    window = be_active(window_over(small, "Author"), qtbot)
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
    ann = next(person for person in people.people(small) if person.name == "Ann")
    small.close()
    # Who knew the keys of before is told once that they moved.
    QSettings().setValue("window/geometry", QByteArray(b"of an earlier version"))
    QSettings().remove("places/moved")
    window = opened(path)
    assert window.page.NAME == "Home"
    assert "Ctrl+6 is Validate" in window.messages.text()
    window.close()
    Project.open(path).work_as(ann)
    window = opened(path)
    assert window.page.NAME == "Author"
    assert "Ctrl+6" not in window.messages.text()
    # What only a coordinator does is no tab.
    assert "Send & receive" not in [tab.words for _, tab in window.offered()]


@pytest.fixture
def dialog(tmp_path, qtbot):
    return owned(qtbot, NewProjectDialog(None, tmp_path))


@pytest.mark.parametrize("name", CHOICES)
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
        assert dialog.path is None
        assert dialog.messages.level == "warning"


def test_settings_show_what_the_project_uses_and_change_it(tmp_path, window_over):
    project = new_project(tmp_path / "p.goldsmith", uses="plans")
    window = window_over(project, "Items")
    # An empty list offers once what the head of a full one does.
    assert [each.text() for each in in_view(window.page) if isinstance(each, QPushButton)].count(
        "Import…"
    ) == 1
    page = window.show_page("Project", part="uses")
    assert (page.form.isVisible(), page.form.text, page.uses.note.text()) == (
        True,
        "plans",
        "Plans, evidence and diagnostics",
    )
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
# Here every benchmark may be told of.
TOLD_OF_ALL = ("Project",)


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
        if tab.page in TOLD_OF_ALL:
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
def test_written_and_handed_out_is_what_the_project_uses(choice, tmp_path, window_over):
    project = new_project(tmp_path / "p.goldsmith", uses=choice.name)
    items.add(project, "Why?")
    window = window_over(project, "Author")
    tabs = window.page.tabs
    shown = [tabs.tabText(place) for place in range(tabs.count()) if tabs.isTabVisible(place)]
    assert shown == [KINDS[kind].title for kind in WRITTEN if kind in choice.kinds]
    form = window.show_page("People", part="Hand out").out.form
    settle(window.page)
    assert set(form.stages.values()) == {Stage.LABELLING, *(stage_of(kind) for kind in choice.kinds)}
    assert set(form.labels.values()) == {name for name in choice.protocols if PROTOCOLS[name].values}
    assert (form.stages.count(), form.labels.count()) == (
        len(set(form.stages.values())),
        len(set(form.labels.values())),
    )


def test_another_choice_is_offered_at_once(tmp_path, window_over):
    project = new_project(tmp_path / "p.goldsmith", uses="rubrics")
    items.add(project, "Why?")
    window = window_over(project, "People", part="Hand out")
    window.session.do(profile.choose, "rubrics, plan")
    settle(window.page)
    form = window.page.out.form
    assert set(form.stages.values()) == {Stage.RUBRIC, Stage.PLAN, Stage.LABELLING}
    assert form.plan().stages == (Stage.RUBRIC,)
    assert "adra.plan" in form.labels.values()
    assert not form.labels.isVisible()
    form.stages.item(2).setCheckState(Qt.CheckState.Checked)
    assert Stage.LABELLING in form.plan().stages
    assert form.labels.isVisible()


def test_the_sample_alone_opens_with_what_to_try_until_it_is_dismissed(
    whole_sample, small, opened, window_over
):
    whole_sample.close()
    window = opened(whole_sample.path)
    assert window.page.NAME == "Home"
    assert TRY in all_words(window)
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
    entries = button.menu().actions()
    assert [entry.text() for entry in entries if entry.text()] == [
        "1  Write a criterion", "2  Quote the source", "3  Label a report", "4  Settle a conflict",
        "5  Finish the judge's run", DISMISS,
    ]  # fmt: skip
    entries[3].trigger()
    assert window.page.NAME == "Adjudicate"
    theme.zoom_to(80)
    assert window.tries.isVisible()
    theme.zoom_to(100)
    entries[-1].trigger()
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
        me = project.person
        project.work_as(next(one for one in people.people(project) if one.alias == "Annotator B"))
    window = opened(path)
    assert window.page.NAME == "Author"
    window.close()
    Project.open(path).work_as(me)
    window = opened(path)
    assert window.page.NAME == "Results"
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
