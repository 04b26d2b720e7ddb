"""The overview: figures with interval, n and gaps, what each is, and what it stands on."""

from dataclasses import replace

from PySide6.QtCore import Qt

from annotator.actions.project import people
from annotator.actions.results import publishing
from annotator.domain.experts.person import Role
from tests.gui.results.conftest import at, cells, go, heads, opened
from tests.storage import sql


def account(page):
    return page.view.account.toPlainText()


def test_the_table_keeps_qts_contract_and_shows_n_and_why_there_is_no_interval(page, qtmodeltester):
    qtmodeltester.check(page.view.model)
    assert heads(page) == ["System", "Coverage, n = 2"]
    assert {cells(page, row)[0] for row in range(2)} == {"Alpha", "Beta"}
    assert cells(page)[1] == "0.833  floor"
    page.view.table.setCurrentIndex(page.view.model.index(0, 1))
    assert "2 items are too few for an interval" in account(page)


def test_the_definition_stands_beside_the_chosen_figure(page):
    page.view.table.setCurrentIndex(page.view.model.index(0, 1))
    for said in (
        "n = 2",
        "mean over items",
        "What Coverage is",
        "Higher is better",
        "Differences from the paper",
    ):
        assert said in account(page)


def test_conditions_leave_room_for_the_figures_until_all_are_asked_for(page, qtbot):
    page.window().resize(1366, 768)
    sheet = replace(page.view.model.whole, told=tuple(f"Condition {n}." for n in range(1, 8)), answers=0)
    page.view.show_sheets((sheet,), "")
    assert page.view.told.text().endswith("Condition 4.")
    assert page.view.more.text() == "Show 3 more"
    page.view.more.setFocus()
    qtbot.keyClick(page.view.more, Qt.Key.Key_Space)
    assert page.view.told.text().endswith("Condition 7.")
    assert page.view.more.text() == "Show fewer"
    qtbot.keyClick(page.view.more, Qt.Key.Key_Space)
    page.window().resize(1366, 600)
    qtbot.waitUntil(lambda: page.view.told.text().endswith("Condition 2."))
    page.view.show_sheets((replace(sheet, told=sheet.told[:1]),), "")
    assert page.view.more.isHidden()


def test_a_key_leads_to_the_definition_and_back(page, qtbot):
    page.view.table.setFocus()
    page._explain()
    assert page.view.account.hasFocus()
    page._explain()
    assert page.view.table.hasFocus()


def test_every_column_can_be_sorted_by_and_gives_its_order_back(page):
    table, model = page.view.table, page.view.model
    for column in range(model.columnCount()):
        for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
            table.sortByColumn(column, order)
            values = [model.cell(model.index(row, column)).worth for row in range(2)]
            assert values == sorted(values, reverse=order == Qt.SortOrder.DescendingOrder)
    table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    assert [cells(page, row)[0] for row in range(2)] == [line.cells[0].words for line in model.whole.lines]


def test_one_metric_shows_range_gaps_and_whether_it_can_be_published(adra_page, qtbot):
    page = go(adra_page, qtbot, "overview", metric="plan.recall")
    assert heads(page)[1:] == [
        "Plan recall (one-to-one)", "95 % interval", "Items", "Missing", "Share missing", "At least", "At most",
        "Publishable",
    ]  # fmt: skip
    row = next(cells(page, n) for n in range(2) if cells(page, n)[0] == "深度研究智能体")
    # Of 8 cells 1 is missing on each of two items.
    assert row[3:6] == ["2", "2", "12.5 %"]
    assert row[-1] == "no"


def test_a_figure_that_is_not_publishable_is_marked_with_an_icon_and_a_word(adra_page):
    model = adra_page.view.model
    column = heads(adra_page).index("Plan recall (one-to-one), n = 2")
    row = next(n for n in range(2) if cells(adra_page, n)[0] == "深度研究智能体")
    adra_page.view.table.setCurrentIndex(model.index(row, column))
    assert not model.index(row, column).data(Qt.ItemDataRole.DecorationRole).isNull()
    assert "Not publishable" in account(adra_page)
    assert "more than 5.0 %" in account(adra_page)


def test_the_limit_is_set_where_it_is_seen(adra_page, qtbot):
    adra_page.choosers.limit.setValue(30.0)
    assert publishing.limit(adra_page.desk.project) == 0.3
    adra_page._later.timeout.emit()
    at(adra_page, qtbot)
    assert not any("not publishable" in words for words in adra_page.view.model.whole.told)


def test_only_a_coordinator_sets_it(adra_page, qtbot):
    project = adra_page.desk.project
    people.add_person(project, "Ada", (Role.ANNOTATOR,))
    project.work_as(next(person for person in people.people(project) if person.name == "Ada"))
    go(adra_page, qtbot, "items")
    go(adra_page, qtbot, "overview")
    assert not adra_page.choosers.limit.isEnabled()


def test_the_picture_is_that_of_the_chosen_figure(adra_page, qtbot):
    view = adra_page.view
    view.table.setCurrentIndex(view.model.index(0, 3))
    assert view.picture().name == view.cell().picture
    qtbot.waitUntil(lambda: view.pictures.view.image is not None)


def test_a_choice_that_changes_only_the_table_counts_nothing_anew(page, qtbot):
    kept = page._known["overview"].kept
    page.choosers.choose("by", "question_type")
    page.desk.wait()
    qtbot.waitUntil(lambda: heads(page)[0] == "Question type")
    assert page._known["overview"].kept is kept


def test_new_judgements_are_counted_while_the_page_is_looked_at(page, qtbot):
    from annotator.domain.texts.change import Change

    sql.alter(page.desk.project, "DELETE FROM judgement")
    page.desk.tell(Change("judgement", "x", "label"))
    page._later.timeout.emit()
    assert at(page, qtbot, "empty").empty.isVisible()


def test_names_from_right_to_left_and_of_wide_letters_are_shown_whole(adra_page, qtbot):
    shown = {cells(adra_page, row)[0] for row in range(2)}
    assert shown == {"深度研究智能体", "باحث عميق"}
    behind = opened(adra_page, qtbot)
    assert any(name in behind.title.text() for name in shown)


def test_what_comes_home_after_the_page_was_taken_down_is_shown_to_nobody(page, qtbot):
    page.stop()
    before = page.body.currentWidget()
    page._count()
    page.stop()
    qtbot.waitUntil(lambda: not page.desk._errands)
    assert page.hint.text() == "Counting…"
    assert page.body.currentWidget() is before
