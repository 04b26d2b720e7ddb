"""Who works here: roles, aliases, those who leave."""

from PySide6.QtCore import QModelIndex, Qt

from annotator.actions.assignments import assignments
from annotator.actions.project import people
from annotator.domain.experts.person import Role
from annotator.gui.pages.people.board import WITH
from annotator.gui.pages.people.roster import NAME
from tests.projects import pairs_project as pairs
from tests.windows.labelling_keys import focus, press, type_words
from tests.windows.people_work import handed_out, rows


def named(page, name: str) -> QModelIndex:
    model = page.roster.model
    row = model.row_of(pairs.person(page.desk.project, name).id)
    return model.index(row, NAME)


def tick(page, name: str, role: Role) -> bool:
    column = {Role.ANNOTATOR: 2, Role.ADJUDICATOR: 3, Role.COORDINATOR: 4}[role]
    cell = named(page, name).siblingAtColumn(column)
    on = cell.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
    wanted = Qt.CheckState.Unchecked if on else Qt.CheckState.Checked
    return page.roster.model.setData(cell, wanted, Qt.ItemDataRole.CheckStateRole)


def test_everybody_is_listed_by_alias_with_their_roles(show):
    model = show().roster.model
    assert [model.at(row).alias for row in range(model.rowCount())] == ["R1", "R2", "R3", "R4", "R5"]
    checked = [
        [model.index(row, column).data(Qt.ItemDataRole.CheckStateRole) for column in (2, 3, 4)].index(
            Qt.CheckState.Checked
        )
        for row in range(5)
    ]
    # Cora coordinates, Cleo adjudicates, the others annotate.
    assert checked == [2, 0, 0, 1, 0]


def test_r10_comes_after_r9_and_whoever_left_comes_last(project, show):
    for number in range(6, 11):
        people.add_person(project, f"Person {number}")
    people.deactivate(project, pairs.person(project, "Ada").id)
    model = show().roster.model
    shown = [model.at(row).alias for row in range(model.rowCount())]
    assert shown == ["R1", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R2"]


def test_the_model_of_people_keeps_the_rules_of_qt(show, qtmodeltester):
    page = show()
    qtmodeltester.check(page.roster.model)
    people.add_person(page.desk.project, "One more")
    page.arrive({})
    assert page.roster.model.rowCount() == 6


def test_a_person_is_added_with_roles_and_alias(show):
    page = show()
    page.roster.name.setFocus()
    type_words("Emmy Noether")
    page.roster.alias.setText("EN")
    page.roster.roles[Role.ADJUDICATOR].setChecked(True)
    press("Return")
    added = pairs.person(page.desk.project, "Emmy Noether")
    assert (added.alias, added.roles) == ("EN", "adjudicator annotator")
    assert page.roster.name.text() == ""


def test_roles_are_ticked_in_the_table_and_undo_takes_them_back(show):
    page = show()
    assert tick(page, "Dan", Role.ADJUDICATOR)
    assert pairs.person(page.desk.project, "Dan").roles == "adjudicator annotator"
    press("Ctrl+Z")
    assert pairs.person(page.desk.project, "Dan").roles == "annotator"


def test_the_last_coordinator_stays_one_and_the_bar_says_why(show):
    page = show()
    assert not tick(page, "Cora", Role.COORDINATOR)
    assert "No active coordinator would be left" in page.window().messages.text()


def test_a_person_is_renamed_from_the_keyboard(show, qtbot):
    page = show()
    page.roster.list.setCurrentIndex(named(page, "Ben"))
    press("Ctrl+R")
    focus().selectAll()
    type_words("Benedikt")
    press("Return")
    qtbot.waitUntil(lambda: named(page, "Cora").siblingAtRow(2).data() == "Benedikt")
    assert pairs.person(page.desk.project, "Benedikt").alias == "R3"
    assert page.window().page is page


def test_who_leaves_with_open_work_is_asked_about_it(project, show):
    handed_out(project)
    page = show()
    page.roster.list.setCurrentIndex(named(page, "Ada"))
    press("Ctrl+L")
    assert not pairs.person(project, "Ada").active
    assert "Ada left the project with 2 pieces of work not handed in." in page.roster.answer.text()
    page.roster.answer._act.click()
    assert assignments.of_person(project, pairs.person(project, "Ada").id) == []


def test_enter_works_as_the_person(show):
    page = show()
    window = page.window()
    page.roster.list.setCurrentIndex(named(page, "Ben"))
    press("Return")
    assert window.desk.project.by == pairs.person(window.desk.project, "Ben").id


def test_an_annotator_sees_people_but_changes_and_hands_out_nothing(project, show):
    handed_out(project)
    pairs.work_as(project, "Ada")
    page = show()
    assert not page.tabs.isTabVisible(1)
    assert not page.roster.adding.isVisible()
    assert not page.roster.model.flags(named(page, "Ben")) & Qt.ItemFlag.ItemIsEditable
    press("F6")
    assert page.tabs.currentIndex() == 2
    assert rows(page) == [("1", "rubric", "R2"), ("2", "rubric", "R2")]
    assert page.board.table.isColumnHidden(WITH)
    assert not page.board.buttons["withdraw"].isVisible()
