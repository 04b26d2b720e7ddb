"""The page of exchange: returned files looked at and taken in, the tray decided, tasks handed out."""

from contextlib import closing

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QFileDialog

from annotator import __version__
from annotator.actions.items import items
from annotator.actions.parcels import known_keys, parcel_secrets, returning, tasking, tray, unpacking
from annotator.actions.project import backups, people
from annotator.actions.project.file import Project
from annotator.domain.experts.parcel import ParcelOutcome, TrayState
from annotator.domain.experts.person import Role
from annotator.gui import keys
from annotator.gui.pages.inbox.handing_out import PROGRAM
from annotator.gui.pages.inbox.page import HAND_OUT, RECEIVED, TAKE_IN, TRAY
from annotator.gui.pages.people.totals_table import PROGRAM as TOTAL_PROGRAM
from annotator.gui.widgets.bars.message_bar import EDGE
from tests.material.sent_apart import (
    annotators,
    coordinated,
    project_in,
    returned,
    second_copy,
    task_for,
    write_rubric,
)


@pytest.fixture
def study(tmp_path):
    return coordinated(tmp_path / "study")


@pytest.fixture
def work(study, tmp_path):
    return {person.name: returned(study, person.id, tmp_path / person.alias) for person in annotators(study)}


@pytest.fixture
def exchange(study, work, window_over, qtbot):
    window = window_over(study, "Exchange")
    with qtbot.waitActive(window):
        window.activateWindow()
    return window


def settled(window, qtbot):
    intake = window.page.intake
    qtbot.waitUntil(lambda: not intake._busy)
    return intake


def rows(tree):
    """The cells of a tree's first level."""
    lines = [tree.topLevelItem(row) for row in range(tree.topLevelItemCount())]
    return [[line.text(column) for column in range(tree.columnCount())] for line in lines]


def press(qtbot, window, act):
    key = keys.sequences(act)[0][0]
    qtbot.keyClick(window.focusWidget() or window.page, key.key(), key.keyboardModifiers())


def from_second_copy(study, person, folder):
    """Work of the same person, written in a second copy of their project."""
    first = project_in(study.path.parents[1] / person.alias)
    theirs = second_copy(study, person.id, first, folder)
    write_rubric(theirs, items.ids(theirs)[0], "Explains the price of gold instead")
    path = returning.work(theirs, folder / "second").path
    theirs.close()
    return path


def test_an_empty_page_says_what_to_do_next(exchange):
    intake = exchange.page.intake
    assert intake.body.currentWidget() is intake.nothing
    assert keys.shown("choose_work") in intake._first.text()


def test_looking_at_files_changes_nothing_and_tells_what_each_would_do(exchange, study, work, qtbot):
    exchange.page.look_at(list(work.values()))
    intake = settled(exchange, qtbot)
    assert [(row[1], row[2]) for row in rows(intake.tree)] == [("Ana Silva", "new"), ("李明", "new")]
    assert "What would happen · 2 files: 2 new" in intake.head.text()
    assert unpacking.received(study) == []
    assert intake.go.isEnabled()


def test_a_file_opens_into_its_pieces_with_the_reason_for_each(exchange, work, qtbot):
    exchange.page.look_at([work["Ana Silva"]])
    tree = settled(exchange, qtbot).tree
    pieces = [tree.topLevelItem(0).child(place) for place in range(2)]
    assert [piece.text(0) for piece in pieces] == [
        "Item 1 · rubric · revision 2",
        "Item 2 · rubric · revision 2",
    ]
    assert [piece.text(4) for piece in pieces] == ["It will be added.", "It will be added."]


def test_dropped_files_are_taken_in_by_key_after_a_backup(exchange, study, work, qtbot):
    urls = QMimeData()
    urls.setUrls([QUrl.fromLocalFile(str(path)) for path in work.values()])
    drop = QDropEvent(
        QPoint(9, 9),
        Qt.DropAction.CopyAction,
        urls,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    exchange.page.intake.dropEvent(drop)
    settled(exchange, qtbot)
    before = len(backups.listing(study.path))
    press(qtbot, exchange, "submit")
    intake = settled(exchange, qtbot)
    assert "Imported: 4 pieces of work." in intake.answer.text()
    assert len(backups.listing(study.path)) == before + 1
    assert {one.person_name for one in unpacking.received(study)} == {"Ana Silva", "李明"}


def test_taking_the_same_files_in_again_changes_nothing_and_says_so(exchange, study, work, qtbot):
    unpacking.take_in(study, list(work.values()))
    exchange.page.look_at(list(work.values()))
    intake = settled(exchange, qtbot)
    assert "already here" in intake.about.text()
    intake.take_in()
    assert "Nothing new was imported." in settled(exchange, qtbot).answer.text()
    assert len(unpacking.received(study)) == 2


def test_a_damaged_file_stands_first_and_the_others_still_go_in(exchange, study, work, tmp_path, qtbot):
    cut = tmp_path / "zz cut.goldsmith-work"
    cut.write_bytes(work["Ana Silva"].read_bytes()[:-30])
    exchange.page.look_at([*work.values(), cut])
    intake = settled(exchange, qtbot)
    assert rows(intake.tree)[0][2] == "damaged"
    assert "cut off" in rows(intake.tree)[0][4]
    intake.take_in()
    assert "1 file was left out" in settled(exchange, qtbot).answer.text()
    assert len(unpacking.received(study)) == 2


def test_damaged_files_alone_cannot_be_taken_in(exchange, tmp_path, qtbot):
    junk = tmp_path / "junk.goldsmith-work"
    junk.write_text("<html>", "utf-8")
    exchange.page.look_at([junk])
    intake = settled(exchange, qtbot)
    assert not intake.go.isEnabled()
    assert "None of these can be imported" in intake.about.text()


def test_a_key_seen_for_the_first_time_is_shown_before_anything_is_taken_in(exchange, study, work, qtbot):
    exchange.page.look_at([work["Ana Silva"]])
    file = settled(exchange, qtbot).tree.topLevelItem(0)
    told = file.child(file.childCount() - 1).text(4)
    with closing(Project.open(project_in(work["Ana Silva"].parent))) as theirs:
        assert parcel_secrets.own_words(theirs) in told
    assert file.isExpanded()
    assert known_keys.words_of(study, annotators(study)[0].id) == ""


def test_another_key_is_refused_until_the_coordinator_replaces_it(exchange, study, work, tmp_path, qtbot):
    ana = annotators(study)[0]
    unpacking.take_in(study, [work["Ana Silva"]])
    again = returned(study, ana.id, tmp_path / "new laptop", "Explains it once more")
    exchange.page.look_at([again])
    intake = settled(exchange, qtbot)
    assert rows(intake.tree)[0][2] == "other key"
    assert not intake.go.isEnabled()
    assert "From now on work under the name of Ana Silva" in intake.answer.text()
    before = known_keys.words_of(study, ana.id)
    assert before in intake.answer.text()
    intake.answer._act.click()
    settled(exchange, qtbot).take_in()
    assert rows(settled(exchange, qtbot).tree)[0][2] != "other key"
    assert known_keys.words_of(study, ana.id) != before


def test_the_row_that_a_message_is_about_is_not_hidden_by_it(exchange, study, work, tmp_path, qtbot):
    unpacking.take_in(study, [work["Ana Silva"]])
    exchange.page.look_at([returned(study, annotators(study)[0].id, tmp_path / "new laptop", "Once more")])
    intake = settled(exchange, qtbot)
    tree, answer = intake.tree, intake.answer
    file = tree.topLevelItem(0)
    piece, row = file.child(file.childCount() - 1), tree.visualItemRect(file).height()
    tree.setFixedHeight(tree.header().height() + answer.height() + 2 * EDGE + row + row // 2)
    answer.clear()
    file.setExpanded(True)
    tree.setCurrentItem(piece)
    assert "another key" in answer.text()
    assert tree.viewport().rect().contains(tree.visualItemRect(piece))


def test_the_words_of_the_projects_key_stand_where_tasks_are_written(exchange, study):
    exchange.page._turn_to(HAND_OUT)
    assert parcel_secrets.own_words(study) in exchange.page.out.key.text()


def test_a_folder_brings_the_returned_work_in_it(exchange, work, tmp_path, qtbot):
    exchange.page.look_at([work["Ana Silva"].parent])
    assert len(rows(settled(exchange, qtbot).tree)) == 1
    (tmp_path / "empty").mkdir()
    exchange.page.intake._clear()
    exchange.page.look_at([tmp_path / "empty"])
    assert "no file ending in .goldsmith-work" in exchange.page.intake.nothing._headline.text()


def test_a_file_chosen_twice_is_listed_once_and_may_be_taken_off_again(exchange, work, qtbot):
    exchange.page.look_at(list(work.values()))
    settled(exchange, qtbot)
    exchange.page.look_at([work["Ana Silva"]])
    intake = settled(exchange, qtbot)
    assert len(rows(intake.tree)) == 2
    qtbot.keyClick(intake.tree, Qt.Key.Key_Delete)
    assert [row[1] for row in rows(settled(exchange, qtbot).tree)] == ["李明"]


def test_choosing_files_has_a_key_on_every_part(exchange, work, qtbot, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(work["李明"])], ""))
    exchange.page._turn_to(HAND_OUT)
    press(qtbot, exchange, "choose_work")
    assert [row[1] for row in rows(settled(exchange, qtbot).tree)] == ["李明"]
    assert exchange.page.tabs.currentIndex() == TAKE_IN


def test_codes_are_copied_with_the_names_they_are_for(exchange, study, work, qtbot):
    exchange.page.look_at(list(work.values()))
    settled(exchange, qtbot)
    exchange.page.intake.take_in()
    settled(exchange, qtbot).copy.click()
    codes = {one.person_name: one.receipt for one in unpacking.received(study)}
    lines = [line.split("\t") for line in QGuiApplication.clipboard().text().splitlines()]
    assert {name: code for name, code in lines} == codes


def test_the_code_the_coordinator_sees_is_the_one_the_annotator_saw(study, tmp_path, window_over, qtbot):
    person = annotators(study)[0]
    theirs = tasking.take_task(task_for(study, person.id, tmp_path / "t")).project
    write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    packed = returning.work(theirs)
    theirs.close()
    window = window_over(study, "Exchange")
    window.page.look_at([packed.path])
    assert rows(settled(window, qtbot).tree)[0][3] == packed.receipt


def test_received_files_are_found_by_a_code_however_it_was_typed(exchange, study, work, qtbot):
    unpacking.take_in(study, list(work.values()))
    exchange.page._turn_to(RECEIVED)
    received = exchange.page.received
    code = next(one.receipt for one in unpacking.received(study) if one.person_name == "李明")
    received.search.setText(code.replace("-", " ").lower().replace("0", "o"))
    assert [row[1] for row in rows(received.tree)] == ["李明"]
    received.tree.selectAll()
    received.copy.click()
    assert QGuiApplication.clipboard().text() == code


@pytest.fixture
def clash(exchange, study, work, tmp_path):
    """A piece of Ana's that clashes with what is here, waiting in the tray."""
    unpacking.take_in(study, list(work.values()))
    unpacking.take_in(study, [from_second_copy(study, annotators(study)[0], tmp_path / "copy")])
    exchange.page._turn_to(TRAY)
    return exchange.page.tray


def test_the_tray_shows_what_came_beside_what_is_here(clash, exchange):
    assert exchange.page.tabs.tabText(TRAY) == "Tray  1"
    assert clash.list.count() == 1
    assert "Ana Silva" in clash.title.text()
    shown = clash.units.toPlainText()
    assert "Explains the price of gold instead" in shown
    assert "Explains the weight of gold" in shown


def test_a_piece_is_accepted_by_key_as_the_newest_revision(clash, exchange, study, qtbot):
    press(qtbot, exchange, "accept_work")
    assert [entry.state for entry in tray.entries(study, None)] == [TrayState.ACCEPTED]
    assert exchange.page.tabs.tabText(TRAY) == "Tray"
    assert clash.body.currentWidget() is clash.nothing


def test_a_piece_set_aside_by_key_stays_and_may_be_accepted_later(clash, exchange, study, qtbot):
    press(qtbot, exchange, "set_work_aside")
    assert [entry.state for entry in tray.entries(study, None)] == [TrayState.SET_ASIDE]
    clash.every.setChecked(True)
    assert "set aside" in clash.list.item(0).text()
    clash.accept.click()
    assert [entry.state for entry in tray.entries(study, None)] == [TrayState.ACCEPTED]


def test_whoever_answers_the_item_decides_without_seeing_the_partner(clash, exchange, study):
    write_rubric(study, items.ids(study)[0], "The coordinator's own", seal=False)
    clash.fill()
    assert "You work on this item yourself" in clash.units.toPlainText()
    assert "gold instead" not in clash.units.toPlainText()


def test_a_file_of_another_project_is_named_but_cannot_be_accepted(exchange, study, tmp_path):
    other = coordinated(tmp_path / "other", ["Somebody"])
    foreign = returned(other, annotators(other)[0].id, tmp_path / "foreign")
    other.close()
    unpacking.take_in(study, [foreign])
    exchange.page._turn_to(TRAY)
    assert tray.entries(study)[0].reason is ParcelOutcome.FOREIGN
    assert "another project" in exchange.page.tray.why.text()
    assert not exchange.page.tray.accept.isVisible()
    assert exchange.page.tray.aside.isVisible()


def test_handing_out_lists_what_each_person_would_get(exchange):
    exchange.page._turn_to(HAND_OUT)
    cells = rows(exchange.page.out.table)
    assert [(row[0], row[2], row[3], row[5]) for row in cells] == [
        ("Ana Silva", "2", "rubric × 2", "0 of 2"),
        ("李明", "2", "rubric × 2", "0 of 2"),
    ]


def test_all_tasks_are_written_into_one_folder_by_key(exchange, tmp_path, qtbot, monkeypatch):
    folder = tmp_path / "to mail"
    folder.mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(folder))
    exchange.page._turn_to(HAND_OUT)
    press(qtbot, exchange, "submit")
    qtbot.waitUntil(lambda: "Wrote 2 tasks" in exchange.page.out.answer.text())
    assert sorted(path.name for path in folder.iterdir()) == [
        "study-R2-task.goldsmith-task",
        "study-R3-task.goldsmith-task",
    ]


def test_a_task_written_from_the_window_is_signed_for_what_comes_back(study, tmp_path, window_over, qtbot):
    """The window's own connection and the one that wrote the task agree on the secret."""
    window = window_over(study, "Exchange")
    person = annotators(study)[0]
    window.page.out.write([person.id], tmp_path)
    window.desk.wait()
    theirs = tasking.take_task(next(tmp_path.glob("*.goldsmith-task"))).project
    write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    path = returning.work(theirs).path
    theirs.close()
    task_for(study, annotators(study)[1].id, tmp_path / "second")
    assert unpacking.preview(Project.open(study.path), [path])[0].outcome is ParcelOutcome.NEW


def test_nobody_to_hand_out_to_leads_to_where_work_is_handed_out(tmp_path, window_over):
    window = window_over(coordinated(tmp_path / "alone", names=()), "Exchange")
    window.page._turn_to(HAND_OUT)
    assert window.page.out.body.currentWidget() is window.page.out.nothing


def test_only_a_coordinator_exchanges_files(study, window_over):
    people.someone(study)
    study.work_as(next(person for person in people.people(study) if not person.has(Role.COORDINATOR)))
    page = window_over(study, "Exchange").page
    assert page.body.currentIndex() == 1


def test_a_name_that_turns_its_letters_round_is_written_out(exchange, work, tmp_path, qtbot):
    odd = tmp_path / "work\u202egnp.goldsmith-work"
    odd.write_bytes(work["Ana Silva"].read_bytes())
    exchange.page.look_at([odd])
    assert rows(settled(exchange, qtbot).tree)[0][0] == "work⟨U+202E⟩gnp.goldsmith-work"


def test_the_tables_show_who_works_with_which_version(exchange, study, work):
    unpacking.take_in(study, [work["Ana Silva"]])
    exchange.page.out.fill()
    shown = {cells[0]: cells[PROGRAM] for cells in rows(exchange.page.out.table)}
    assert shown == {"Ana Silva": __version__, "李明": "–"}
    totals = exchange.show_page("People", part="Progress").board.people.totals
    cells = [totals.index(row, TOTAL_PROGRAM).data() for row in range(totals.rowCount())]
    assert sorted(cells) == ["", "", __version__]
