"""People and their work: handed out, followed, exchanged by files or a shared folder, opened by itself."""

import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from PySide6.QtCore import QMimeData, QModelIndex, QPoint, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from annotator import __main__
from annotator.actions.assignments import assignments, planning
from annotator.actions.items import items
from annotator.actions.labelling import board, label_cases
from annotator.actions.parcels import known_keys, shared_folder, tasking, tray, unpacking
from annotator.actions.project import backups, people, shared
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Role, Stage, TrayState
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.gui import keys, theme
from annotator.gui.pages.inbox.page import HAND_OUT, REASON, RECEIVED, TAKE_IN, TRAY
from annotator.gui.pages.people.roster import DUE, NAME, STATE, WITH
from annotator.gui.shell.navigation import recent
from annotator.gui.shell.start import StartPage
from annotator.gui.shell.window import Window
from annotator.gui.widgets.fields import GrowingEdit
from tests.projects import pairs_project as pairs
from tests.projects.pairs_project import (
    annotators,
    coordinated,
    edit_rubric,
    project_in,
    returned,
    second_copy,
    task_for,
    write_rubric,
)
from tests.projects.small_projects import labelling_project
from tests.storage import sql
from tests.windows.judges_window import choose
from tests.windows.using import Typed, be_active, drop, focus, owned, press, settle, type_words


@pytest.fixture
def study(tmp_path):
    return coordinated(tmp_path / "study")


@pytest.fixture
def work(study, tmp_path):
    return {person.name: returned(study, person.id, tmp_path / person.alias) for person in annotators(study)}


@pytest.fixture
def exchange(study, work, window_over, qtbot):
    return be_active(window_over(study, "Exchange"), qtbot)


def settled(window, qtbot):
    intake = window.page.intake
    qtbot.waitUntil(lambda: not intake._busy)
    return intake


def column(tree, place):
    return [tree.topLevelItem(row).text(place) for row in range(tree.topLevelItemCount())]


def do(window, act):
    press(keys.sequences(act)[0].toString(), at=window.focusWidget() or window.page)


def worked_twice(study, person, own, path):
    """Work of the same person, written in a second copy of their project."""
    with closing(second_copy(study, person.id, own, own.parent / "copy")) as theirs:
        write_rubric(theirs, items.ids(theirs)[0], "Explains the price of gold instead")
        return tray.work(theirs, path).path


def test_dropped_files_are_taken_in_by_key_after_a_backup_and_found_by_a_code_however_it_was_typed(
    exchange, study, work, qtbot
):
    drop(exchange.page.intake, *work.values())
    settled(exchange, qtbot)
    before = len(backups.listing(study.path))
    do(exchange, "submit")
    intake = settled(exchange, qtbot)
    # What was done stays done in other colours.
    theme.choose("dark")
    assert column(intake.tree, 2) == ["imported", "imported"]
    assert (intake.tree.topLevelItem(0).child(0).text(REASON), len(backups.listing(study.path))) == (
        "",
        before + 1,
    )
    exchange.page.turn(RECEIVED)
    received = exchange.page.received
    code = next(one.receipt for one in unpacking.received(study) if one.person_name == "李明")
    received.search.setText(code.replace("-", " ").lower().replace("0", "o"))
    assert column(received.tree, 1) == ["李明"]
    received.tree.selectAll()
    received.copy.click()
    assert QApplication.clipboard().text() == code


def test_another_key_is_refused_until_it_is_replaced_and_a_name_that_turns_its_letters_round_is_written_out(
    exchange, study, work, tmp_path, qtbot
):
    ana = annotators(study)[0]
    unpacking.take_in(study, [work["Ana Silva"]])
    again = returned(study, ana.id, tmp_path / "new laptop", "Explains it once more")
    exchange.page.go_to(TAKE_IN, {"files": [again]})
    intake = settled(exchange, qtbot)
    assert (column(intake.tree, 2)[0], intake.bring_in.isEnabled()) == ("other key", False)
    before = known_keys.words_of(study, ana.id)
    assert before in intake.answer.text()
    intake.answer._act.click()
    settled(exchange, qtbot).take_in()
    assert column(settled(exchange, qtbot).tree, 2)[0] != "other key"
    assert known_keys.words_of(study, ana.id) != before
    odd = tmp_path / "work\u202egnp.goldsmith-work"
    odd.write_bytes(work["Ana Silva"].read_bytes())
    exchange.page.go_to(TAKE_IN, {"files": [odd]})
    assert column(settled(exchange, qtbot).tree, 0)[-1] == "work⟨U+202E⟩gnp.goldsmith-work"


def test_it_says_for_whom_there_is_no_task_yet_and_selects_whose_is_wanted(study, window_over):
    people.add_person(study, "Kofi Mensah", (Role.ADJUDICATOR,))
    assignments.assign_one(study, items.ids(study)[0], people.people(study)[-1].id, Stage.ADJUDICATION)
    second = annotators(study)[1]
    out = window_over(study, "Exchange", part="Hand out", person=second.id).page.out
    assert out.later.text().startswith("No task for Kofi Mensah yet. 1 item to adjudicate waits")
    assert out._selected() == [second.id]


@pytest.fixture
def clash(exchange, study, work, tmp_path):
    """A piece of Ana's that clashes with what is here, waiting in the tray."""
    unpacking.take_in(study, list(work.values()))
    ana = annotators(study)[0]
    unpacking.take_in(
        study, [worked_twice(study, ana, project_in(tmp_path / ana.alias), tmp_path / "second")]
    )
    exchange.page.turn(TRAY)
    return exchange.page.tray


def test_a_piece_in_the_tray_stands_beside_what_is_here_and_may_be_set_aside_and_accepted_later(
    clash, exchange, study
):
    assert (exchange.page.tabs.tabText(TRAY), clash.list.count()) == ("Tray  1", 1)
    for words in ("Explains the price of gold instead", "Explains the weight of gold"):
        assert words in clash.units.toPlainText()
    do(exchange, "set_work_aside")
    assert [entry.state for entry in tray.entries(study, None)] == [TrayState.SET_ASIDE]
    clash.every.setChecked(True)
    clash.accept.click()
    assert [entry.state for entry in tray.entries(study, None)] == [TrayState.ACCEPTED]


def test_whoever_answers_the_item_decides_without_seeing_the_partner(clash, exchange, study):
    write_rubric(study, items.ids(study)[0], "The coordinator's own", seal=False)
    clash.fill()
    assert "You work on this item yourself" in clash.units.toPlainText()
    assert "gold instead" not in clash.units.toPlainText()


@pytest.fixture
def theirs(study, tmp_path):
    return tasking.take_task(task_for(study, annotators(study)[0].id, tmp_path / "ana")).project


def test_the_window_of_a_task_sends_what_is_submitted_leads_to_drafts_and_refuses_a_bad_folder(
    theirs, tmp_path, window_over, qtbot
):
    first, second = items.ids(theirs)
    write_rubric(theirs, first, "Explains the weight of gold")
    write_rubric(theirs, second, "Not ready", seal=False)
    window = be_active(window_over(theirs, "Send"), qtbot)
    assert list(window.navigation._buttons) == ["Author", "Label", "Send", "Settings"]
    words = {action.text() for menu in window.menuBar().actions() for action in menu.menu().actions()}
    assert words & {"Send my work…", "Exchange…", "Import…", "Team…"} == {"Send my work…"}
    page = window.page
    assert column(page.table, 3) == ["goes back", "a draft, stays"]
    page.table.setFocus()
    do(window, "next_open")
    assert page.table.row() == 1
    press("Return", at=page.table)
    assert (window.page.NAME, window.page.item.id) == ("Author", second)
    window.show_page("Send")
    (tmp_path / "in the way").write_text("a file", "utf-8")
    window.page.write_to(tmp_path / "in the way" / "mine")
    qtbot.waitUntil(lambda: "The folder “mine” could not be made" in window.messages.text())
    assert (window.page.go.isEnabled(), window.page.receipt.isVisible()) == (True, False)


def test_enter_on_reports_to_label_goes_to_them(tmp_path, window_over, qtbot):
    study = labelling_project(tmp_path, reports=1, questions=1)
    (rater,), (item_id,) = annotators(study), items.ids(study)
    sql.alter(study, "UPDATE artifact SET author_id = '', state = 'consensus'")
    assignments.assign_one(study, item_id, rater.id, Stage.LABELLING)
    window = window_over(tasking.take_task(task_for(study, rater.id, tmp_path)).project, "Send")
    with qtbot.waitSignal(window.session.wanted) as went:
        qtbot.keyClick(window.page.table, Qt.Key.Key_Return)
    assert went.args == ["Label", {"item_id": item_id}]


def test_what_was_sent_is_told_from_what_is_new_since(theirs, tmp_path, window_over, qtbot, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "mine"), ""))
    first, second = items.ids(theirs)
    write_rubric(theirs, first, "Explains the weight of gold")
    window = be_active(window_over(theirs, "Send"), qtbot)
    page = window.page
    press("Space", at=page.go)
    qtbot.waitUntil(page.receipt.isVisible)
    # From the button the keyboard goes on to copying the code.
    assert window.focusWidget() is page.receipt.copy
    code = page.receipt.code.text()
    assert column(page.table, 3)[0] == "already sent"
    write_rubric(theirs, second, "Compares two lodes")
    edit_rubric(theirs, first, "Explains the weight of refined gold")
    window.show_page("Send")
    assert column(page.table, 3) == ["goes back", "goes back"]
    page.write_to(tmp_path / "mine")
    qtbot.waitUntil(lambda: page.progress.isHidden())
    assert page.receipt.code.text() != code
    assert code in page.receipt.earlier.text()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (made := tmp_path / "synced").mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(made))
    return made


@pytest.fixture
def home(tmp_path, folder, window_over):
    """The coordinator's window, in which the folder was chosen and the tasks were sent."""
    window = window_over(coordinated(tmp_path / "home"), "Exchange", part="Hand out")
    line = window.page.out.shared
    assert (line.send_button.isVisible(), line.leave_button.isVisible()) == (False, False)
    line.choose_button.click()
    settle(window.page)
    line.send_button.click()
    settle(window.page)
    return window


@pytest.fixture
def their_window(home, folder, tmp_path, window_over):
    (task,) = (folder / "R2").glob("*.goldsmith-task")
    return window_over(tasking.take_task(task, folder=tmp_path / "own").project, "Send")


def look(window):
    window._folder.look()
    settle(window.page)


def test_the_folder_is_looked_at_soon_after_someone_comes_back_to_the_window_and_to_no_other(
    home, their_window, qtbot
):
    be_active(home, qtbot)
    home._folder._soon.stop()
    be_active(their_window, qtbot)
    assert (home._folder._soon.isActive(), their_window._folder._soon.isActive()) == (False, True)
    be_active(home, qtbot)
    qtbot.waitUntil(home._folder._soon.isActive)


def test_a_key_is_compared_on_the_line_and_then_work_and_a_newer_task_come_in_by_themselves(
    home, their_window
):
    look(their_window)
    look(home)
    line, project = home.page.out.shared, their_window.session.project
    assert known_keys.own_words(project) in line.keys.text()
    their_window.session.do(lambda project: write_rubric(project, items.ids(project)[0], "Explains gold"))
    look(their_window)
    look(home)
    assert unpacking.received(home.session.project) == []
    line.keys._act.click()
    settle(home.page)
    assert line.keys.isHidden()
    (arrival,) = unpacking.received(home.session.project)
    assert arrival.receipt == their_window.page.receipt.code.text() == tray.outlook(project).sent[0].receipt
    assert "Not joined yet: R3." in line.state.text()
    assert their_window.navigation.person.text() == "Working as\nR2"
    look(their_window)
    assert their_window.navigation.person.text() == "Working as\nAna Silva"
    assert their_window.messages.text().startswith("A newer task came")


def test_what_needs_a_decision_is_told_of_and_waits_in_the_tray(home, their_window, folder):
    # A second copy of her project, under the same key, says something else of the same revision.
    project, study = their_window.session.project, home.session.project
    write_rubric(project, items.ids(project)[0], "Explains gold")
    look(their_window)
    shared_folder.trust(study, known_keys.own_words(project))
    look(home)
    worked_twice(study, annotators(study)[0], project.path, folder / "R2/by hand.goldsmith-work")
    home.show_page("Items")
    look(home)
    assert home.messages.text().startswith("1 piece of work came from Ana Silva; some waits for you.")
    home.messages._act.click()
    assert home.page.tabs.tabText(home.page.tabs.currentIndex()) == "Tray  1"


def test_the_line_says_that_the_folder_is_gone_that_tasks_were_sent_and_lets_go_of_it(home, folder, tmp_path):
    line = home.page.out.shared
    folder.rename(tmp_path / "unplugged")
    look(home)
    assert ("cannot be reached" in line.state.text(), home.page.tabs.currentIndex()) == (True, HAND_OUT)
    (tmp_path / "unplugged").rename(folder)
    look(home)
    assert "cannot be reached" not in line.state.text()
    line.leave_button.click()
    assert (shared.folder_of(home.session.project), line.folder.text()) == (None, "Shared folder: none")


@pytest.fixture
def task(study, tmp_path):
    return task_for(study, annotators(study)[0].id, tmp_path / "mail")


def window_of(goldsmith, qtbot):
    qtbot.waitUntil(lambda: isinstance(goldsmith._shown, Window))
    return goldsmith._shown


@pytest.fixture
def own(goldsmith, task, qtbot):
    goldsmith.show(task)
    window = window_of(goldsmith, qtbot)
    return window.session.project.path, window


def told(goldsmith, qtbot, words):
    qtbot.waitUntil(lambda: words in goldsmith._shown.messages.text())
    return goldsmith._shown.messages


def with_a_third_item(study, tmp_path):
    ana = annotators(study)[0].id
    assignments.assign_one(study, items.add(study, "What is gold worth?").subject, ana, Stage.RUBRIC)
    return task_for(study, ana, tmp_path / "second mail")


@pytest.mark.parametrize(
    "name", ["a.goldsmith", "A B.GOLDSMITH-TASK", "c.goldsmith-work", "d.goldsmith-task.zip"]
)
def test_files_of_ours_open_the_window(name, monkeypatch):
    opened = []
    monkeypatch.setattr(sys, "argv", ["goldsmith", name])
    monkeypatch.setattr("annotator.gui.shell.frame.appear", lambda project: None)
    monkeypatch.setattr("annotator.gui.shell.start.run", lambda _, path: opened.append(str(path)) or 0)
    assert (__main__.main(), opened) == (0, [name])


def test_a_task_becomes_a_project_beside_it_and_says_where(goldsmith, task, qtbot):
    assert isinstance(goldsmith.show(task), StartPage)
    window = window_of(goldsmith, qtbot)
    path = window.session.project.path
    assert (path.parent, items.count(window.session.project)) == (task.parent, 2)
    assert window.session.project.person.name == "Ana Silva"
    assert (path.name in window.messages.text(), recent()) == (True, [path.resolve()])


def test_a_task_dropped_on_its_own_window_brings_it_up_to_date_unless_it_is_refused(
    goldsmith, study, own, task, tmp_path, qtbot
):
    path, before = own
    before.show_page("Items").search.setText("typed")
    task.write_bytes(b"junk")
    drop(before, task)
    qtbot.waitUntil(lambda: before.messages.level == "error")
    assert (goldsmith._shown, before.page.search.text()) == (before, "typed")
    drop(before, with_a_third_item(study, tmp_path))
    told(goldsmith, qtbot, "This task adds 1 new item.")
    assert goldsmith._shown is not before
    assert goldsmith._shown.shows(path)
    assert items.count(goldsmith._shown.session.project) == 3


def test_a_task_is_not_taken_into_a_project_open_elsewhere(goldsmith, study, own, tmp_path, qtbot):
    goldsmith.show(None)
    elsewhere = Project.open(own[0])
    elsewhere.hold()
    goldsmith.show(with_a_third_item(study, tmp_path))
    assert "Drop the task on that window" in told(goldsmith, qtbot, "is open in another Goldsmith").text()
    assert items.count(elsewhere) == 2


def test_a_making_that_was_cut_short_is_gone_on_with(goldsmith, own, task, qtbot):
    goldsmith.show(None)
    own[0].unlink()
    Project.create(own[0]).close()
    goldsmith.show(task)
    assert items.count(window_of(goldsmith, qtbot).session.project) == 2


def test_returned_work_leads_to_the_project_it_belongs_to(goldsmith, study, tmp_path, qtbot):
    work = returned(study, annotators(study)[0].id, tmp_path / "ana")
    study.close()
    for path in (study.path, None, work):
        goldsmith.show(path)
    told(goldsmith, qtbot, "is work that came back to “Study of gold”.")._act.click()
    window = window_of(goldsmith, qtbot)
    assert window.page.NAME == "Exchange"
    qtbot.waitUntil(lambda: window.page.intake.tree.topLevelItemCount() == 1)


def test_a_file_that_the_system_asks_for_is_passed_on():
    # In a process of its own: there is only one application to a process, and this one's is plain.
    program = (
        "import sys; from annotator.gui.shell.frame import Application; "
        "from PySide6.QtGui import QFileOpenEvent; application = Application(sys.argv[:1]); "
        "application.file_asked.connect(print); "
        "application.sendEvent(application, QFileOpenEvent('/mail/a.goldsmith-task'))"
    )
    output = subprocess.check_output([sys.executable, "-c", program], encoding="utf-8")
    assert output.strip() == "/mail/a.goldsmith-task"


def test_a_dropped_file_never_becomes_words_of_a_text_field(qtbot):
    edit = owned(qtbot, GrowingEdit())
    file, words = QMimeData(), QMimeData()
    file.setUrls([QUrl.fromLocalFile("/mail/a.goldsmith-task")])
    words.setText("Explains the weight of gold")
    assert not edit.canInsertFromMimeData(file)
    assert edit.canInsertFromMimeData(words)


@pytest.fixture
def project(tmp_path) -> Project:
    """Cora R1 coordinates, Ada R2, Ben R3 and Dan R5 annotate, Cleo R4 adjudicates; four items."""
    return pairs.pairs_project(tmp_path, 4)


@pytest.fixture
def show(project, page_at_rest):
    return partial(page_at_rest, project, "People", part="Team")


def test_ctrl_enter_assigns_what_is_previewed_undo_takes_it_back_and_ctrl_enter_again_sends_it(
    project, show, tmp_path, monkeypatch, qtbot
):
    page = show(part="Hand out")
    press("Space")
    assert Stage.SELECTION in page.out.form.stages.ticked()
    qtbot.waitUntil(lambda: "20 pieces" in page.out.preview.summary.text())
    press("Space")
    qtbot.waitUntil(lambda: "12 pieces" in page.out.preview.summary.text())
    press("Ctrl+Return")
    assert (len(board.board(project)), page.out.preview.summary.text()) == (12, "Nothing is left to assign")
    press("Ctrl+Z")
    assert (board.board(project), page.out.form.isVisible()) == ([], True)
    press("Ctrl+Return")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "out"))
    press("Ctrl+Return")
    qtbot.waitUntil(lambda: "Wrote 3 task files" in page.out.tasks.answer.text())
    assert {path.name.partition("-")[2] for path in (tmp_path / "out").iterdir()} == {
        f"{who}-task.goldsmith-task" for who in ("R2-Ada", "R3-Ben", "R5-Dan")
    }
    page.out.tasks.mail.click()
    assert QApplication.clipboard().text().startswith("Dear Ada,")


def test_the_whole_form_makes_the_plan(project, show):
    form = show(part="Hand out").out.form
    form.stages.tick([Stage.RUBRIC, Stage.LABELLING])
    form.has_due.setChecked(True)
    for field, value in ((form.overlap, 1), (form.share, 5), (form.after, 12), (form.seed, 42)):
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
    assert {line.person for line in board.board(small) if line.stage is Stage.RUBRIC} == {
        "Ana Silva",
        "Li Wei",
    }


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
    assert (page.board.table.isColumnHidden(WITH), page.board.buttons["withdraw"].isVisible()) == (
        True,
        False,
    )
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
    page = show(part="Progress")
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
    page = show(part="Progress")
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
    page = show(part="Progress")
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
