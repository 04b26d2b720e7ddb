"""The coordinator's page: who works here, what is handed out, and how far it is."""

from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from annotator.actions.assignments import assignments, planning
from annotator.actions.items import items
from annotator.actions.labelling import board, label_cases
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.gui.pages.people.roster import DUE, NAME, STATE, WITH
from tests.projects import pairs_project as pairs
from tests.windows.judges_window import choose
from tests.windows.using import Typed, be_active, focus, press, type_words


@pytest.fixture
def project(tmp_path) -> Project:
    """Cora R1 coordinates, Ada R2, Ben R3 and Dan R5 annotate, Cleo R4 adjudicates; four items."""
    return pairs.pairs_project(tmp_path, 4)


@pytest.fixture
def show(project, page_over):

    def make(part: str = "Team"):
        page = page_over(project, "People", part=part)
        page.focus_first()
        return page

    return make


def test_ctrl_enter_assigns_what_is_previewed_undo_takes_it_back_and_ctrl_enter_again_sends_it(
    project, show, tmp_path, monkeypatch, qtbot
):
    page = show("Hand out")
    press("Space")
    assert Stage.SELECTION in page.out.form.stages.ticked()
    qtbot.waitUntil(lambda: "20 pieces" in page.out.preview.summary.text())
    press("Space")
    qtbot.waitUntil(lambda: "12 pieces" in page.out.preview.summary.text())
    press("Ctrl+Return")
    assert (len(board.board(project)), page.out.preview.summary.text()) == (12, "Nothing is left to assign")
    assert page.out.tasks.isVisible()
    press("Ctrl+Z")
    assert (board.board(project), page.out.form.isVisible()) == ([], True)
    press("Ctrl+Return")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "out"))
    assert page.out.tasks.all.text().startswith("Write 3 task files")
    press("Ctrl+Return")
    qtbot.waitUntil(lambda: "Wrote 3 task files" in page.out.tasks.answer.text())
    assert {path.name.partition("-")[2] for path in (tmp_path / "out").iterdir()} == {
        f"{who}-task.goldsmith-task" for who in ("R2-Ada", "R3-Ben", "R5-Dan")
    }
    page.out.tasks.mail.click()
    assert QApplication.clipboard().text().startswith("Dear Ada,")


def test_the_whole_form_makes_the_plan(project, show):
    form = show("Hand out").out.form
    form.stages.tick([Stage.RUBRIC, Stage.LABELLING])
    form.has_due.setChecked(True)
    for field, value in ((form.overlap.number, 1), (form.share, 5), (form.after, 12), (form.seed, 42)):
        field.setValue(value)
    form.items.pilot.fold.open()
    form.items.pilot.list.item(0).setCheckState(Qt.CheckState.Checked)
    plan = form.plan()
    assert (plan.stages, plan.overlap, plan.seed) == ((Stage.RUBRIC, Stage.LABELLING), 1, 42)
    assert (plan.repeat_share, plan.repeat_after_days) == (0.05, 12)
    assert (plan.pilot_items, plan.due.astimezone().strftime("%H:%M")) == ((items.ids(project)[0],), "23:59")
    assert plan.adjudicators == (pairs.person(project, "Cleo").id,)


def test_people_whom_a_plan_needs_are_added_beside_it_by_name_and_with_their_role(small, window_over, qtbot):
    window = be_active(window_over(small, "People", part="Hand out"), qtbot)
    out = window.page.out
    qtbot.waitUntil(lambda: "cannot be met" in out.preview.answer.text())
    out.preview.answer._act.click()
    type_words("Ana Silva; Li")
    elsewhere = QWidget()
    elsewhere.show()
    be_active(elsewhere, qtbot)
    assert len(people.people(small)) == 1
    elsewhere.close()
    be_active(window, qtbot)
    press(Typed(" Wei"), "Tab")
    # One pair shares all there is: a sentence says so, no column.
    assert out.preview.load.columns == ["Person", "Items", "New"]
    press(Typed("x" * 300), "Ctrl+Return")
    assert board.board(small) == []
    focus().selectAll()
    press(Typed("Kofi"), "Ctrl+Return")
    added = [(each.name, each.roles) for each in people.people(small)][1:]
    assert added == [("Ana Silva", "annotator"), ("Li Wei", "annotator"), ("Kofi", "adjudicator")]
    # Whoever coordinates writes only where others are too few, also when that was so at first.
    written = {line.person for line in board.board(small) if line.stage is Stage.RUBRIC}
    assert written == {"Ana Silva", "Li Wei"}


PAIRS = "researcherbench.pairwise"


def test_what_few_plans_need_is_behind_options_as_both_orders_of_pairs_are(small, page_over):
    out = page_over(small, "People", part="Hand out").out
    assert not out.form.seed.isVisible()
    out.form.options.button.click()
    assert out.form.seed.isVisible()
    out.form.seed.setValue(7)
    assert (out.form.options.note.text(), out.form.pairs.boxes[PAIRS].isChecked()) == ("seed 7", False)
    out.form.pairs.boxes[PAIRS].click()
    assert label_cases.both_orders(small, PAIRS)


def named(page, name: str) -> QModelIndex:
    model = page.roster.model
    return model.index(model.row_of(pairs.person(page.session.project, name).id), NAME)


def test_people_are_renamed_from_the_keyboard_get_roles_in_the_table_and_are_added_by_several_names(
    show, qtbot
):
    page = show()
    role = named(page, "Dan").siblingAtColumn(3)
    page.roster.model.setData(role, Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)
    assert pairs.person(page.session.project, "Dan").roles == "adjudicator annotator"
    press("Ctrl+Z")
    assert pairs.person(page.session.project, "Dan").roles == "annotator"
    page.roster.list.setCurrentIndex(named(page, "Ben"))
    press("Ctrl+R", at=page.roster.list)
    focus().selectAll()
    press(Typed("Benedikt"), "Return")
    qtbot.waitUntil(lambda: named(page, "Cora").siblingAtRow(2).data() == "Benedikt")
    assert (pairs.person(page.session.project, "Benedikt").alias, page.window().page) == ("R3", page)
    # A click on a role leaves the caret in the names.
    page.roster.name.setFocus()
    QApplication.clipboard().setText("Bo Lind\nCy Aoki")
    press("Ctrl+V")
    QTest.mouseClick(page.roster.roles[Role.ADJUDICATOR], Qt.MouseButton.LeftButton, pos=QPoint(8, 8))
    press(Typed("; Di Ek"), "Return")
    added = [(one.name, one.alias, one.roles) for one in people.people(page.session.project)][-3:]
    assert added == [(*of, "adjudicator") for of in (("Bo Lind", "R6"), ("Cy Aoki", "R7"), ("Di Ek", "R8"))]


def test_who_leaves_with_open_work_is_asked_about_it(project, show):
    handed_out(project)
    page = show()
    page.roster.list.setCurrentIndex(named(page, "Ada"))
    press("Ctrl+L")
    assert not pairs.person(project, "Ada").active
    assert "2 pieces of work not handed in" in page.roster.answer.text()
    page.roster.answer._act.click()
    assert assignments.of_person(project, pairs.person(project, "Ada").id) == []


def test_an_annotator_sees_people_but_changes_nothing_and_a_tab_is_filled_once(project, show, monkeypatch):
    handed_out(project)
    pairs.work_as(project, "Ada")
    page = show()
    assert (page.tabs.isTabVisible(1), page.roster.adding.isVisible()) == (False, False)
    assert not page.roster.model.flags(named(page, "Ben")) & Qt.ItemFlag.ItemIsEditable
    press("F6")
    assert (page.tabs.currentIndex(), rows(page)) == (2, [("1", "rubric", "R2"), ("2", "rubric", "R2")])
    assert page.board.table.isColumnHidden(WITH)
    assert not page.board.buttons["withdraw"].isVisible()
    window, asked, board_of = page.window(), [], board.board
    monkeypatch.setattr(board, "board", lambda project: asked.append(project) or board_of(project))
    window.show_page("People", part="Progress")
    assert len(asked) == 1


def test_every_piece_shows_with_its_state_its_pair_and_its_date_and_ctrl_j_goes_to_one_in_trouble(
    project, show, monkeypatch
):
    # Dates that have passed by now had not when the work was handed out.
    monkeypatch.setattr(planning, "now", lambda: datetime.now(UTC) - timedelta(days=30))
    handed_out(project, due=datetime.now(UTC) - timedelta(days=3))
    pairs.submit(project, {"Ada": pairs.rubric(pairs.ADA, "a")})
    pairs.work_as(project, "Cora")
    page = show("Progress")
    assert rows(page)[:3] == [("1", "rubric", "R2"), ("1", "rubric", "R3"), ("1", "adjudication", "R4")]
    states, dates = ([page.board.model.index(row, of).data() for row in (0, 1)] for of in (STATE, DUE))
    assert (states, dates[1]) == (["submitted", "not begun"], "3 days late")
    assert (page.board.model.index(0, WITH).data(), "late" in dates[0]) == ("R3 not begun", False)
    assert page.tabs.tabText(2) == "Progress  3 late"
    press("Ctrl+J")
    (line,) = page.board.chosen()
    assert (line.item_key, line.stage, line.alias) == ("1", Stage.RUBRIC, "R3")


def test_filters_narrow_and_give_back(project, show, qtmodeltester):
    handed_out(project, stages=(Stage.RUBRIC, Stage.PLAN))
    page = show("Progress")
    pieces, filters = page.board, page.board.filters
    for model in (pieces.model, pieces.people.totals):
        qtmodeltester.check(model)
    choose(filters.stage, "plan")
    assert {stage for _, stage, _ in rows(page)} == {"plan"}
    filters.choose_person(pairs.person(project, "Ben").id)
    assert rows(page) == [("1", "plan", "R3"), ("2", "plan", "R3")]
    filters.search.setText("nowhere")
    pieces._narrow()
    assert pieces.no_match.isVisible()
    filters.clear()
    pieces._narrow()
    pieces.table.sortByColumn(STATE, Qt.SortOrder.DescendingOrder)
    pieces.go({"state": "not begun"})
    assert len(rows(page)) == 10
    # Where there is no room for both, the pieces have it.
    page.window().resize(960, 600)
    assert pieces.people.isHidden()


def test_a_piece_goes_to_somebody_else_gets_another_date_and_several_are_withdrawn_in_one_step(project, show):
    handed_out(project)
    page = show("Progress")
    press("Ctrl+D")
    assert focus() is page.board.due.date
    press("Return")
    in_two_weeks = (datetime.now().astimezone() + timedelta(days=14)).date()
    assert board.board(project)[0].due.astimezone().date() == in_two_weeks
    assert focus() is page.board.table
    press("Ctrl+D", "Escape")
    assert not page.board.due.isVisible()
    # Ben has the item already, Cleo adjudicates it, Cora is no annotator.
    (other,) = page.board.people_menu(page.board.chosen()[0], page).actions()
    assert other.text() == "R5 · Dan"
    other.trigger()
    assert {one.alias for one in board.board(project) if one.item_key == "1"} == {"R3", "R5", "R4"}
    press("Ctrl+Z")
    press("Ctrl+A", "Ctrl+Backspace", at=page.board.table)
    assert board.board(project) == []
    press("Ctrl+Z")
    assert len(board.board(project)) == 6


def handed_out(project: Project, *, due: datetime | None = None, stages=(Stage.RUBRIC,)) -> None:
    """Ada and Ben have the first two items, Cleo adjudicates them."""
    ada, ben, cleo = (pairs.person(project, name).id for name in ("Ada", "Ben", "Cleo"))
    plan = AssignmentPlan(stages, 2, (ada, ben), (cleo,), tuple(items.ids(project)[:2]), due)
    assignments.assign(project, plan)


def rows(page) -> list[tuple[str, str, str]]:
    return [(line.item_key, line.stage.value, line.alias) for line in page.board.model.rows]
