"""What the Author page shows around the document: items, kinds, states, guideline, revisions, time."""

from functools import partial

import pytest
from PySide6.QtCore import Qt
from sqlalchemy import update

from annotator.actions.assignments import submitting, times
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.documents import WRITTEN
from annotator.domain.kinds.nuggets import Nuggets
from annotator.domain.kinds.plan import Plan
from annotator.gui.pages.authoring import work_status
from annotator.storage.tables import ArtifactRow, table
from tests.projects.authoring_project import TEXTS, authoring_project, begin, mine, rubric, texts
from tests.windows.labelling_keys import focus, press, type_words

PROJECT = authoring_project


@pytest.fixture
def open_page(project, page_over):
    return partial(page_over, project, "Author")


def settle(project: Project, artifact_id: str, author: str = "", state: State = State.CONSENSUS) -> None:
    with project.store.write() as db:
        row = table(ArtifactRow)
        db.execute(update(row).where(row.c.id == artifact_id).values(author_id=author, state=state.value))


def test_without_items_the_page_says_where_they_come_from(tmp_path, window_over):
    page = window_over(new_project(tmp_path / "empty.goldsmith"), "Author").page
    assert page._stack.currentIndex() == 1


def test_a_kind_that_was_not_begun_is_explained_and_enter_begins_it(open_page, project):
    page = open_page(kind="rubric")
    assert "each weighted 1" in page.sheet.beginning._empty._words.text()
    press("Return")
    assert texts(project) == [""]
    assert focus() is page.sheet.form.editors[0].text


def test_every_kind_can_be_begun_and_has_its_tab_marked(open_page, project):
    page = open_page()
    for kind in WRITTEN:
        page._pick(kind)
        page.sheet.start()
        assert mine(project, kind).document.KIND is kind
    place = WRITTEN.index(Kind.SELECTION)
    assert page.tabs.tabText(place) == "Selection  4"
    assert "draft, 4 dimensions" in page.tabs.tabToolTip(place)


def test_keys_go_from_kind_to_kind_and_round_again(open_page):
    page = open_page(kind="selection")
    press("Ctrl+Tab")
    assert page.sheet.kind is Kind.QUERY
    press("Ctrl+Shift+Tab")
    assert page.sheet.kind is Kind.SELECTION


def test_the_kind_stays_from_item_to_item_and_the_ends_hold(open_page, project):
    page = open_page(item_id=items.ids(project)[0], kind="plan")
    press("Ctrl+PgUp")
    assert page.header.place.text() == "1 of 2"
    press("Ctrl+PgDown", 3)
    assert (page.header.place.text(), page.sheet.kind) == ("2 of 2", Kind.PLAN)


def test_a_long_question_is_shortened_and_shown_whole_on_demand(open_page, project, qtbot):
    long = "Why do residual connections help? " * 20
    page = open_page()
    page.desk.do(lambda p: items.change(p, page.item.id, question=long))
    assert page.header.question.text().endswith("…")
    qtbot.mouseClick(page.header.more, Qt.MouseButton.LeftButton)
    assert page.header.question.text() == long.strip()


def test_a_consensus_that_is_not_mine_to_change_is_read_and_can_be_copied(open_page, project):
    artifact_id = begin(project, Kind.RUBRIC, rubric())
    settle(project, artifact_id)
    project.work_as(people.people(project)[0])
    people.add_person(project, "Ann")
    project.work_as(next(p for p in people.people(project) if p.name == "Ann"))
    page = open_page(kind="rubric")
    assert page.sheet.form.editors[0].text.isReadOnly()
    page.sheet.strip.copy.click()
    assert (mine(project).author_id, texts(project)) == (project.by, list(TEXTS))
    assert mine(project).id != artifact_id
    copied = {unit.id for unit in mine(project).document.units}
    assert not copied & {unit.id for unit in artifacts.read(project, artifact_id).document.units}


def test_mine_comes_first_and_the_consensus_can_be_looked_at(open_page, project):
    settle(project, begin(project, Kind.RUBRIC, rubric(("Explains what was agreed on.",), (3,))))
    begin(project, Kind.RUBRIC, rubric())
    page = open_page(kind="rubric")
    versions = page.sheet.strip.versions
    assert [versions.itemText(place) for place in range(versions.count())] == ["Mine", "Consensus"]
    assert page.sheet.form.editors[0].text.toPlainText() == TEXTS[0]
    versions.setCurrentIndex(1)
    versions.activated.emit(1)
    assert page.sheet.form.editors[0].text.toPlainText() == "Explains what was agreed on."


def test_nobody_sees_what_another_annotator_writes(open_page, project):
    begin(project, Kind.RUBRIC, rubric())
    people.add_person(project, "Ann")
    project.work_as(next(p for p in people.people(project) if p.name == "Ann"))
    page = open_page(kind="rubric")
    assert page.sheet.artifact is None
    assert page.tabs.tabText(WRITTEN.index(Kind.RUBRIC)) == "Rubric"


def test_the_guideline_follows_the_field_with_the_focus(open_page, project):
    begin(project, Kind.RUBRIC, rubric())
    page = open_page(kind="rubric")
    press("F2")
    assert "One claim per criterion" in page.side.text.text()
    press("Tab")
    assert "Weight" in page.side.text.text()
    assert "One claim per criterion" not in page.side.text.text()
    press("F2")
    assert page.side.isHidden()


def test_every_revision_can_be_looked_at(open_page, project):
    begin(project, Kind.RUBRIC, rubric())
    page = open_page(kind="rubric")
    type_words(" at depth")
    press("Tab")
    page.sheet.strip.history.click()
    history = page.side.history
    assert [history.list.item(row).text().split("\n")[0] for row in range(2)] == [
        "2 · changed text",
        "1 · begun",
    ]
    history.list.setCurrentRow(1)
    assert history.words.toPlainText().startswith(f"1. {TEXTS[0]}\n    Weight: 3")


def test_active_time_is_kept_for_the_document_when_the_page_is_left(open_page, project):
    artifact_id = begin(project, Kind.RUBRIC, rubric())
    page = open_page(kind="rubric")
    page.clock._sum = 12.5
    page.leave()
    assert 12.5 <= times.spent(project, artifact_id) < 14


def test_f6_goes_between_source_and_form(open_page, project):
    begin(project, Kind.RUBRIC, rubric())
    page = open_page(kind="rubric")
    press("F6")
    assert focus() is page.source.text
    press("F6")
    assert focus() is page.sheet.form.editors[0].text


def test_the_next_that_waits_is_the_item_that_is_not_submitted(project):
    submitting.seal(project, begin(project, Kind.RUBRIC, rubric()))
    first, second = items.ids(project)
    assert work_status.next_open(project, first, Kind.RUBRIC) == (second, Kind.RUBRIC)
    submitting.seal(project, begin(project, Kind.RUBRIC, rubric(), item=1))
    assert work_status.next_open(project, first, Kind.RUBRIC) is None


def test_where_the_kind_is_submitted_already_a_begun_one_waits(project):
    submitting.seal(project, begin(project, Kind.RUBRIC, rubric()))
    submitting.seal(project, begin(project, Kind.RUBRIC, rubric(), item=1))
    begin(project, Kind.NUGGETS, Nuggets(), item=1)
    first, second = items.ids(project)
    assert work_status.next_open(project, first, Kind.RUBRIC) == (second, Kind.NUGGETS)


def test_every_field_says_its_name_to_a_screen_reader(open_page, project):
    page = open_page()
    for kind in WRITTEN:
        page._pick(kind)
        page.sheet.start()
        stops = page.sheet.form.editors[0].stops()
        assert all(stop.accessibleName() for stop in stops), kind


def test_undo_shows_the_document_in_which_something_was_taken_back(open_page, project):
    first, second = items.ids(project)
    begin(project, Kind.RUBRIC, rubric())
    begin(project, Kind.PLAN, Plan(), item=1)
    page = open_page(item_id=first, kind="rubric")
    type_words(" at depth")
    page.go_to(second, Kind.PLAN)
    page.sheet.form.setFocus()
    press("Ctrl+Z")
    assert (page.item.id, page.sheet.kind) == (first, Kind.RUBRIC)
    assert texts(project)[0] == TEXTS[0]
    assert "change text" in page.sheet.messages.text()


def test_ctrl_enter_on_what_is_submitted_goes_on(open_page, project):
    submitting.seal(project, begin(project, Kind.RUBRIC, rubric()))
    page = open_page(item_id=items.ids(project)[0], kind="rubric")
    press("Ctrl+Return")
    assert page.item.id == items.ids(project)[1]


def test_a_source_is_named_as_fully_as_there_is_room(sample, window_over, qtbot):
    window = window_over(sample, "Author")
    tabs, titles = window.page.source.tabs, []
    for size in ((960, 600), (1920, 1080), (1280, 800), (960, 600)):
        window.resize(*size)
        qtbot.wait(20)
        titles.append(tabs.tabText(0))
        assert size[0] == 960 or tabs.tabRect(tabs.count() - 1).right() <= tabs.width()
    assert len(titles[1]) > len(titles[2]) >= len(titles[0]) >= 8
