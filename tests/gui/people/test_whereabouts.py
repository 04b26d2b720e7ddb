"""Who is where: states, dates, what is withdrawn or passed on."""

from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import Qt

from annotator.actions.assignments import assignments, planning, submitting
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.labelling import board
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.domain.kinds.artifact import Kind
from annotator.gui.pages.people.board import DUE, STATE, WITH
from annotator.gui.pages.people.totals_table import HANDED_IN
from tests.projects import pairs_project as pairs
from tests.windows.labelling_keys import focus, press
from tests.windows.people_work import handed_out, rows


def cell(page, row: int, column: int) -> str:
    return page.board.model.index(row, column).data()


def hand_in(project) -> None:
    """Ada writes and seals a rubric of the first item; then Cora works again."""
    pairs.work_as(project, "Ada")
    artifact = artifacts.start(project, items.ids(project)[0], Kind.RUBRIC).subject
    artifacts.add_unit(project, artifact, text="Explains attribution")
    submitting.seal(project, artifact)
    pairs.work_as(project, "Cora")


@pytest.fixture
def a_month_ago(monkeypatch):
    """Dates that have passed by now had not when the work was handed out."""
    monkeypatch.setattr(planning, "now", lambda: datetime.now(UTC) - timedelta(days=30))


@pytest.mark.usefixtures("a_month_ago")
def test_every_piece_shows_with_its_state_its_pair_and_its_date(project, show):
    handed_out(project, due=datetime.now(UTC) - timedelta(days=3))
    hand_in(project)
    page = show("Progress")
    assert rows(page)[:3] == [("1", "rubric", "R2"), ("1", "rubric", "R3"), ("1", "adjudication", "R4")]
    assert [cell(page, row, STATE) for row in (0, 1)] == ["submitted", "not begun"]
    assert cell(page, 0, WITH) == "R3 not begun"
    assert cell(page, 1, DUE) == "3 days late"
    assert "late" not in cell(page, 0, DUE)
    assert page.tabs.tabText(2) == "Progress  3 late"


def test_a_pair_that_is_none_stands_out(project, show):
    handed_out(project)
    third = items.ids(project)[2]
    assignments.assign_one(project, third, pairs.person(project, "Dan").id, Stage.RUBRIC)
    page = show("Progress")
    page.board.show_state("pair incomplete")
    assert rows(page) == [("3", "rubric", "R5")]
    assert cell(page, 0, WITH) == "nobody"


def test_a_pilot_item_does_not_make_single_work_look_like_half_a_pair(project, show):
    first, second, *_ = items.ids(project)
    for name in ("Ada", "Ben"):
        who = pairs.person(project, name).id
        assignments.assign_one(project, first, who, Stage.RUBRIC, purpose=Purpose.PILOT)
    assignments.assign_one(project, second, pairs.person(project, "Dan").id, Stage.RUBRIC)
    page = show("Progress")
    assert page.board.model.counted("pair incomplete") == 0


def test_filters_narrow_and_give_back(project, show):
    handed_out(project, stages=(Stage.RUBRIC, Stage.PLAN))
    page = show("Progress")
    assert len(rows(page)) == 10
    page.board.filters.stage.setCurrentIndex(page.board.filters.stage.findData("plan"))
    assert {stage for _, stage, _ in rows(page)} == {"plan"}
    page.board.filters.choose_person(pairs.person(project, "Ben").id)
    assert rows(page) == [("1", "plan", "R3"), ("2", "plan", "R3")]
    page.board.filters.search.setText("nowhere")
    page.board._narrow()
    assert page.board.no_match.isVisible()
    page.board.filters.clear()
    page.board._narrow()
    assert len(rows(page)) == 10


def test_totals_add_up_and_choosing_a_person_narrows(project, show):
    handed_out(project)
    page = show("Progress")
    totals = page.board.people.totals
    assert [totals.index(row, HANDED_IN).data() for row in range(totals.rowCount())] == [
        "0 of 6",
        "0 of 2",
        "0 of 2",
        "0 of 2",
    ]
    page.board.people.selectRow(1)
    assert rows(page) == [("1", "rubric", "R2"), ("2", "rubric", "R2")]
    page.board.people.selectRow(0)
    assert len(rows(page)) == 6


def test_sorting_by_person_keeps_what_is_chosen(project, show):
    handed_out(project)
    page = show("Progress")
    press("Down", 3)
    chosen = page.board.chosen()[0].assignment_id
    page.board.table.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    assert [alias for _, _, alias in rows(page)] == ["R2", "R2", "R3", "R3", "R4", "R4"]
    assert [line.assignment_id for line in page.board.chosen()] == [chosen]


def test_several_pieces_are_withdrawn_in_one_step_and_come_back_in_one(project, show):
    handed_out(project)
    page = show("Progress")
    press("Ctrl+A")
    press("Ctrl+Backspace")
    assert board.board(project) == []
    assert "Withdrew 6 pieces." in page.board.answer.text()
    press("Ctrl+Z")
    assert len(board.board(project)) == 6


def test_a_date_is_changed_from_the_keyboard(project, show):
    handed_out(project)
    page = show("Progress")
    press("Ctrl+D")
    assert focus() is page.board.due.date
    press("Return")
    first = board.board(project)[0]
    assert first.due is not None
    assert first.due.astimezone().date() == (datetime.now().astimezone() + timedelta(days=14)).date()
    assert focus() is page.board.table
    press("Ctrl+D")
    press("Escape")
    assert not page.board.due.isVisible()


def test_a_piece_goes_to_somebody_else_who_may_do_it(project, show):
    handed_out(project)
    page = show("Progress")
    line = page.board.chosen()[0]
    menu = page.board.acts.people_menu(line, page)
    # Ben has the item already, Cleo adjudicates it, Cora is no annotator.
    assert [action.text() for action in menu.actions()] == ["R5 · Dan"]
    menu.actions()[0].trigger()
    assert {one.alias for one in board.board(project) if one.item_key == "1"} == {"R3", "R5", "R4"}
    press("Ctrl+Z")
    assert {one.alias for one in board.board(project) if one.item_key == "1"} == {"R2", "R3", "R4"}


def test_what_was_handed_in_cannot_go_to_somebody_else(project, show):
    handed_out(project)
    hand_in(project)
    page = show("Progress")
    menu = page.board.acts.people_menu(page.board.model.at(0), page)
    assert [action.isEnabled() for action in menu.actions()] == [False]
    press("Ctrl+Backspace")
    assert "None of these can be withdrawn" in page.window().messages.text()


@pytest.mark.usefixtures("a_month_ago")
def test_ctrl_j_goes_to_the_next_piece_in_trouble(project, show):
    handed_out(project)
    late = assignments.of_person(project, pairs.person(project, "Ben").id)[1].id
    assignments.change_due(project, [late], datetime.now(UTC) - timedelta(days=1))
    page = show("Progress")
    press("Ctrl+J")
    assert [line.assignment_id for line in page.board.chosen()] == [late]


def test_enter_leads_to_the_item(project, show):
    handed_out(project)
    page = show("Progress")
    window = page.window()
    press("Down", 3)
    press("Return")
    assert (window.page.NAME, window.page.item.key) == ("Author", "2")


def test_the_board_keeps_the_rules_of_qt_while_it_is_narrowed_and_sorted(project, show, qtmodeltester):
    handed_out(project)
    page = show("Progress")
    for model in (page.board.model, page.board.people.totals):
        qtmodeltester.check(model)
    page.board.table.selectAll()
    page.board.table.sortByColumn(STATE, Qt.SortOrder.DescendingOrder)
    page.board.show_state("not begun")
    assert len(rows(page)) == 6


def test_a_read_only_file_changes_nothing(project, window_over):
    handed_out(project)
    path = project.path
    project.close()
    window = window_over(Project.open(path, readonly=True))
    page = window.show_page("People", part="Team")
    assert not page.roster.adding.isVisible()
    page = window.show_page("People", part="Hand out")
    assert not page.out.assign.isEnabled()
    page = window.show_page("People", part="Progress")
    assert not page.board.buttons["withdraw"].isEnabled()
