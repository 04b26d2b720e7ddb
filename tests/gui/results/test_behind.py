"""From a figure to its rows: items first, then judgements with their replies, and back by Esc."""

from PySide6.QtCore import Qt

from annotator.actions.project import people
from annotator.domain.experts.person import Role
from annotator.domain.texts.change import Change
from tests.gui.results.conftest import at, go, opened
from tests.storage import sql
from tests.windows.labelling_keys import be_active


def deeper(page, qtbot, row=0):
    behind = page.behind
    behind.items_table.activated.emit(behind.items.index(row, 0))
    page.desk.wait()
    qtbot.waitUntil(lambda: behind.levels.currentIndex() == 1)
    return behind


def test_double_click_leads_to_the_items_and_then_to_the_judgements(page, qtbot, qtmodeltester):
    behind = opened(page, qtbot)
    assert page.body.currentWidget() is behind
    assert behind.items.rowCount() == 2
    qtmodeltester.check(behind.items)
    deeper(page, qtbot)
    assert behind.judgements.rowCount() == 3
    qtmodeltester.check(behind.judgements)
    assert "Asked about Explains residual connections" in behind.said.toPlainText()
    assert "3 judgements." in behind.note.text()


def test_the_reply_of_a_judge_is_shown_as_it_came(page, qtbot):
    opened(page, qtbot)
    behind = deeper(page, qtbot)
    page.desk.wait()
    qtbot.waitUntil(lambda: behind.detail.currentIndex() == 1)
    assert "Explains residual connections" in behind.replies.made.toPlainText()


def test_esc_goes_back_level_by_level(page, qtbot):
    opened(page, qtbot)
    be_active(page.window(), qtbot)
    behind = deeper(page, qtbot)
    assert behind.table.hasFocus()
    behind.leave.click()
    assert behind.levels.currentIndex() == 0
    behind.leave.click()
    assert page.body.currentWidget() is page.view


def test_the_list_is_not_taken_away_from_under_ones_eyes(page, qtbot):
    opened(page, qtbot)
    page._count()
    qtbot.waitUntil(lambda: not page.desk._errands)
    assert page.body.currentWidget() is page.behind
    page.behind.back.emit()
    at(page, qtbot)


def test_columns_in_which_all_lines_say_the_same_are_left_out(page, qtbot):
    behind = opened(page, qtbot)
    titles = [behind.items.columns[n] for n in range(8) if not behind.items_table.isColumnHidden(n)]
    # One system, one trial, nothing missing; how many were judged is said in any case.
    assert titles == ["Item", "Question", "Coverage", "Judged"]


def test_a_missing_judgement_is_listed_with_its_cause(adra_page, qtbot):
    row = next(n for n in range(2) if adra_page.view.model.index(n, 0).data() == "深度研究智能体")
    opened(adra_page, qtbot, row, 1)
    behind = deeper(adra_page, qtbot)
    assert "8 judgements, 1 without a verdict." in behind.note.text()
    model = behind.judgements
    assert model.index(7, 2).data() == "No answer in time"
    assert model.index(7, 2).data(Qt.ItemDataRole.ForegroundRole) is not None


def test_what_is_computed_says_so(page, qtbot):
    sql.alter(page.desk.project, "UPDATE response SET tokens = 100")
    page.on_change(Change("import", "x", "import"))
    go(page, qtbot, "overview", metric="tokens")
    behind = opened(page, qtbot)
    behind.items_table.activated.emit(behind.items.index(0, 0))
    assert "without judgements" in behind.note.text()


def test_only_a_coordinator_reads_the_rows(page, qtbot):
    project = page.desk.project
    people.add_person(project, "Ada", (Role.ANNOTATOR,))
    project.work_as(next(person for person in people.people(project) if person.name == "Ada"))
    behind = opened(page, qtbot)
    assert "Only a coordinator" in behind.note.text()
    assert behind.items.rowCount() == 0
