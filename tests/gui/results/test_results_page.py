"""Figures of Results and Validate: intervals, n and gaps, the views, what lies behind a figure, and what leaves."""

import csv
import re
import shutil

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from annotator.actions.papers.paper_tables import VIEWS
from annotator.actions.project import people
from annotator.actions.results import results
from annotator.actions.sets import validation_sets
from annotator.domain.common import Change
from annotator.domain.experts.assignment import Role
from tests.actions.validation.test_judge_choice import price
from tests.common import once
from tests.gui.results.conftest import at, cells, choose_last, counted, go, heads, opened
from tests.projects.validation_project import judge_says, person, person_says, validation_project
from tests.storage import sql
from tests.windows.using import be_active, settle


def account(page):
    return page.view.account.toPlainText()


def test_the_table_shows_n_and_no_interval_gives_its_order_back_keeps_its_account_and_counts_what_is_new(
    page, qtbot, qtmodeltester
):
    words, width = page.view.account, page.view.width()
    words.selectAll()
    selected = words.textCursor().selectedText()
    page.window().resize(page.window().width() + 90, page.window().height())
    qtbot.waitUntil(lambda: page.view.width() != width)
    assert ("Coverage" in selected, words.textCursor().selectedText()) == (True, selected)
    table, model = page.view.table, page.view.model
    qtmodeltester.check(model)
    assert (heads(page), cells(page)[1]) == (["System", "Coverage, n = 2"], "0.833  floor")
    table.setCurrentIndex(model.index(0, 1))
    assert "2 items are too few for an interval" in account(page)
    for column in range(model.columnCount()):
        for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
            table.sortByColumn(column, order)
            values = [model.cell(model.index(row, column)).worth for row in range(2)]
            assert values == sorted(values, reverse=order == Qt.SortOrder.DescendingOrder)
    table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    assert [cells(page, row)[0] for row in range(2)] == [line.cells[0].words for line in model.whole.lines]
    # New judgements are counted while the page is looked at.
    sql.alter(page.session.project, "DELETE FROM judgement")
    page.session.tell(Change("judgement", "x", "label"))
    page._later.timeout.emit()
    assert at(page, qtbot, "empty").empty.isVisible()


def test_a_figure_that_is_not_publishable_is_marked_and_the_limit_set_where_it_is_seen(adra_page, qtbot):
    model = adra_page.view.model
    column = heads(adra_page).index("Plan recall (one-to-one), n = 2")
    row = next(n for n in range(2) if cells(adra_page, n)[0] == "深度研究智能体")
    adra_page.view.table.setCurrentIndex(model.index(row, column))
    assert not model.index(row, column).data(Qt.ItemDataRole.DecorationRole).isNull()
    assert all(words in account(adra_page) for words in ("Not publishable", "more than 5.0 %"))
    opened(adra_page, qtbot, row, 1)
    behind = deeper(adra_page, qtbot)
    missing = behind.judgements.index(7, 2)
    assert missing.data() == "No answer in time"
    assert missing.data(Qt.ItemDataRole.ForegroundRole) is not None
    behind.back.emit()
    adra_page.limit.setValue(30.0)
    assert results.limit(adra_page.session.project) == 0.3
    adra_page._later.timeout.emit()
    at(adra_page, qtbot)
    assert not any("not publishable" in words for words in model.whole.notes)
    # The matrix is that of the chosen report.
    go(adra_page, qtbot, "plan")
    row = next(n for n in range(4) if cells(adra_page, n)[1] == "深度研究智能体")
    adra_page.view.table.setCurrentIndex(adra_page.view.model.index(row, 4))
    adra_page.view.next_sheet()
    adra_page.session.wait()
    qtbot.waitUntil(lambda: "深度研究智能体" in adra_page.view.notes.text())
    assert adra_page.view.model.rowCount() == 2


def deeper(page, qtbot, row=0):
    behind = page.behind
    behind.items_table.activated.emit(behind.items.index(row, 0))
    page.session.wait()
    qtbot.waitUntil(lambda: behind.levels.currentIndex() == 1)
    return behind


def test_double_click_leads_to_the_items_then_to_the_judgements_and_back_level_by_level(
    page, qtbot, qtmodeltester
):
    behind = opened(page, qtbot)
    be_active(page.window(), qtbot)
    assert (page.body.currentWidget(), behind.items.rowCount()) == (behind, 2)
    qtmodeltester.check(behind.items)
    deeper(page, qtbot)
    assert (behind.table.hasFocus(), behind.judgements.rowCount()) == (True, 3)
    qtmodeltester.check(behind.judgements)
    # Counting anew takes the list away from under nobody's eyes.
    page._count()
    qtbot.waitUntil(lambda: not page.session._tasks_behind)
    assert page.body.currentWidget() is behind
    behind.leave.click()
    assert behind.levels.currentIndex() == 0
    behind.leave.click()
    assert page.body.currentWidget() is page.view
    # What comes home after the page was taken down is shown to nobody.
    page._count()
    page.session.forget_pages()
    qtbot.waitUntil(lambda: not page.session._tasks_behind)
    assert (page.hint.text(), page.body.currentWidget()) == ("Counting…", page.view)


@pytest.fixture
def sample_page(sample, window_over, qtbot):
    sample.work_as(next(person for person in people.people(sample) if person.has(Role.COORDINATOR)))
    return go(window_over(sample, "Results", view="overview").page.viewer, qtbot, "overview")


def test_table_and_picture_leave_as_they_are_in_view_and_keys_turn_the_views_round(page, tmp_path, qtbot):
    page.leaving.copy()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t")[:4] == ["System", "Coverage", "Coverage, low", "Coverage, high"]
    assert (len(lines), page.hint.text()) == (3, "Copied 2 lines, with full precision.")
    for ending, start in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        page.leaving.save_picture(tmp_path / f"a.{ending}")
        page.session.wait()
        assert (tmp_path / f"a.{ending}").read_bytes().startswith(start)
    # What is narrowed leaves narrowed.
    page.view.model.seek("alpha")
    page.leaving.save_table(tmp_path / "a.csv")
    rows = csv.DictReader((tmp_path / "a.csv").read_text("utf-8-sig").splitlines())
    assert [row["system"] for row in rows] == ["Alpha"]
    with qtbot.waitSignal(page.session.refused) as told:
        page.leaving.save_table(tmp_path / "a.xls")
    assert told.args[0].happened == "A table cannot be saved as “.xls”."
    page.view.model.seek("")
    be_active(page.window(), qtbot)
    there = [view.name for view in VIEWS if view.name in listed(page)]
    page.views.choose(there[0])
    for way, name in ((-1, there[-1]), (1, there[0])):
        page.views.turn(way)
        assert page._name == name
    qtbot.keyClick(page.view.table, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: page._name == there[1])


def test_another_project_is_held_beside_this_one(sample_page, sample_file, tmp_path, qtbot):
    go(sample_page, qtbot, "rubrics")
    sample_page.compare_with(shutil.copyfile(sample_file, tmp_path / "other.goldsmith"))
    sample_page.session.wait()
    qtbot.waitUntil(lambda: heads(sample_page)[1:3] == ["settled", "other"])
    sample_page.view.tabs.setCurrentIndex(0)
    # The same rubrics on the same reports: no difference.
    assert all(line.cells[3].value == 0 for line in sample_page.view.model.whole.lines)


def test_a_choice_made_while_another_view_is_counted_belongs_to_its_view_and_ratings_are_not_shown_to_raters(
    sample_page, qtbot
):
    made = None
    for place, then in enumerate(VIEWS[:4]):
        first = VIEWS[place - 1].name
        sample_page.show_view(first)
        counted(sample_page, qtbot)
        before = dict(sample_page._chosen.get(then.name, {}))
        sample_page.show_view(then.name)
        made = choose_last(sample_page)
        counted(sample_page, qtbot)
        assert (sample_page.title.text(), sample_page._chosen.get(then.name, {})) == (then.title, before)
        assert made is None or sample_page._chosen[first][made[0]] == made[1]
    assert made is not None
    project = sample_page.session.project
    project.work_as(next(person for person in people.people(project) if not person.has(Role.COORDINATOR)))
    go(sample_page, qtbot, "selection", "denied")
    assert not sample_page.leaving.buttons["save_results"].isEnabled()


def listed(page):
    lines = map(page.views.item, range(page.views.count()))
    return {line.data(Qt.ItemDataRole.UserRole) for line in lines if not line.isHidden()} - {None}


def test_views_that_rest_on_nothing_are_listed_on_demand_and_every_view_shows_something_or_says_what_to_do(
    sample_page, qtbot, qtmodeltester
):
    table, window = sample_page.view.table, sample_page.window()
    for size in ((960, 600), (1366, 768)):
        window.resize(*size)
        settle(window.page)
    needed = sample_page.view.model.rowCount() * table.verticalHeader().defaultSectionSize()
    assert 0 < needed <= table.viewport().height()
    there = listed(sample_page)
    assert there & {"overview", "plan", "contest", "leakage", "preferences"} == {"overview", "plan"}
    be_active(sample_page.window(), qtbot)
    qtbot.keyClick(sample_page, Qt.Key.Key_A, Qt.KeyboardModifier.AltModifier)
    # The sample has no tasks of seminars, no key points and no sentences.
    assert listed(sample_page) == {view.name for view in VIEWS} - {"contest", "key-points", "windows"}
    lines = [sample_page.views.item(place) for place in range(sample_page.views.count())]
    lacks = next(view.lacks for view in VIEWS if view.name == "leakage")
    assert any(lacks in each.toolTip() for each in lines)
    # Commands are for the command line alone.
    assert not any("goldsmith" in one.toolTip() for one in lines)
    go(sample_page, qtbot, "leakage", "empty")
    sample_page.views.turn_all()
    # The one in view stays in the list.
    assert listed(sample_page) == there | {"leakage"}
    sample_page.views.turn(-1)
    assert sample_page._name in there
    for name in (
        "wins", "plan", "retrieval", "overview", "items", "efficiency", "length", "domains", "errors", "pilot",
        "rubrics", "selection", "gold",
    ):  # fmt: skip
        go(sample_page, qtbot, name)
        assert sample_page.view.model.rowCount() > 0
        qtmodeltester.check(sample_page.view.model)
    for view in (view for view in VIEWS if view.name in ("preferences", "modes", "runs")):
        go(sample_page, qtbot, view.name, "empty")
        assert sample_page._lead.text() == f"Go to {view.page}"
        # One way to a page is enough.
        assert sample_page._other.isVisible() is (view.page != "Label")
        assert not sample_page.leaving.buttons["copy_results"].isEnabled()
    go(sample_page, qtbot, "tables", "empty", table="gold-plan")
    qtbot.waitUntil(lambda: "gold-plan injection" in sample_page.empty._words.text())
    assert "goldsmith" not in sample_page.empty._words.text()


NAMES = ("深度研究智能体", "باحث عميق")


def labelled(path, ann, ben, **judged):
    """A locked set of all reports of two people, and what each judge says, at a cent a call."""
    project = validation_project(path, 4, NAMES)
    both = {"R2": ann, "R3": ben}
    asked = tuple(person(project, alias).id for alias in both)
    validation_sets.make(project, validation_sets.SetRequest("Spring", asked, size=8))
    for alias, says in both.items():
        person_says(project, alias, says)
    for name, says in judged.items():
        judge_says(project, name, says)
        price(project, name, 0.01)
    validation_sets.lock(project, "Spring")
    return project


def first(at):
    return "yes" if at[1] == NAMES[0] else "no"


@once
def differing(path):
    """People differ on one report; “same” follows R2, “yes” always says so."""
    ben = lambda at: "yes" if at == (1, NAMES[1], 1) else first(at)  # noqa: E731
    return labelled(path, first, ben, same=first, yes=lambda _: "yes")


@pytest.fixture
def viewer(tmp_path, window_over, qtbot):
    return at(window_over(differing(tmp_path), "Validate", part="Figures").page.figures, qtbot)


@pytest.mark.usefixtures("small_cases")
def test_every_view_has_a_table_a_picture_and_an_account_and_the_test_part_is_asked_for_before_it_is_opened(
    viewer, qtbot, qtmodeltester
):
    project = viewer.session.project
    answers = {cells(viewer, row)[0]: cells(viewer, row)[1] for row in range(2)}
    assert answers.keys() == {"same", "yes"}
    for name, answer in answers.items():
        assert f"“{name}”: {answer}, because " in viewer.view.answers.text()
    for name in ("answer", "judges", "choice", "corrected", "rulings"):
        go(viewer, qtbot, name)
        assert viewer.view.model.rowCount() > 0
        qtbot.waitUntil(lambda: viewer.view.pictures.view.image is not None)
        assert "n = " in viewer.view.account.toPlainText()
    go(viewer, qtbot, "judges")
    qtmodeltester.check(viewer.view.model)
    said = {cells(viewer, row)[0] for row in range(viewer.view.model.rowCount())}
    assert said == {"same", "yes", "people", "R2", "R3"}
    qtmodeltester._cleanup()
    go(viewer, qtbot, "judges", "gate", set="Spring", part="test")
    assert validation_sets.named(project, "Spring").openings == 0
    assert not viewer.leaving.buttons["save_results"].isEnabled()
    viewer.gate.open.click()
    at(viewer, qtbot)
    assert validation_sets.named(project, "Spring").openings == 1


def test_a_figure_leads_to_its_units_and_on_to_the_judgements(viewer, qtbot):
    go(viewer, qtbot, "judges")
    row = next(n for n in range(5) if cells(viewer, n)[0] == "yes")
    behind = opened(viewer, qtbot, row, heads(viewer).index("Precision"))
    assert behind.title.text() == "yes: Precision"
    deeper(viewer, qtbot)
    assert {behind.judgements.index(n, 5).data() for n in range(behind.judgements.rowCount())} == {
        "R2", "R3", "same", "yes",
    }  # fmt: skip


def test_one_class_gives_no_bare_figure_anywhere(tmp_path, window_over, qtbot):
    always = lambda _: "yes"  # noqa: E731
    project = labelled(tmp_path, always, always, one=always, two=always)
    result = at(window_over(project, "Validate", part="Figures").page.figures, qtbot)
    said = []
    for name in ("answer", "judges", "choice", "corrected", "rulings"):
        go(result, qtbot, name)
        for place in range(max(1, result.view.tabs.count())):
            result.view.tabs.setCurrentIndex(place)
            said += [words for row in range(result.view.model.rowCount()) for words in cells(result, row)]
    assert "1.000  one class only" in said
    # Not a number, or a perfect value with nothing beside it.
    assert [words for words in said if re.search(r"(?i)\b(nan|inf)\b|^(1\.0+|0\.000)$", words)] == []
