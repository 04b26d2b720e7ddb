"""The page on which an annotator sends their work: what goes, what stays, one file, its receipt."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from annotator.actions.assignments import submitting
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.items import items
from annotator.actions.parcels import parcel_secrets, sending, tasking, unpacking
from annotator.domain.experts.parcel import ParcelOutcome
from annotator.gui import keys
from tests.material.sent_apart import annotators, coordinated, edit_rubric, task_for, write_rubric
from tests.windows.labelling_keys import be_active

GOING = 3


@pytest.fixture
def study(tmp_path):
    return coordinated(tmp_path / "study")


@pytest.fixture
def theirs(study, tmp_path):
    return tasking.take_task(task_for(study, annotators(study)[0].id, tmp_path / "ana")).project


def sent(window, path, qtbot):
    page = window.page
    page.write_to(path)
    qtbot.waitUntil(lambda: page.progress.isHidden())
    return page.receipt.code.text()


def goings(page):
    return [page.table.topLevelItem(row).text(GOING) for row in range(page.table.topLevelItemCount())]


def test_the_window_of_a_task_offers_an_annotators_steps_and_the_way_back(theirs, window_over):
    window = window_over(theirs)
    assert list(window.navigation._buttons) == ["Items", "Author", "Label", "Send"]
    words = [action.text() for menu in window.menuBar().actions() for action in menu.menu().actions()]
    assert "Send my work…" in words
    assert not {"Exchange…", "Import…", "Team…"} & set(words)


def test_the_items_of_a_task_are_neither_added_nor_imported(theirs, window_over):
    page = window_over(theirs).page
    assert not page.add.isVisible()
    assert not page.bring.isVisible()


def test_with_nothing_submitted_there_is_nothing_to_send_and_it_says_so(theirs, window_over):
    page = window_over(theirs, "Send").page
    assert goings(page) == ["not begun", "not begun"]
    assert "Nothing is submitted yet" in page.summary.text()
    assert not page.go.isEnabled()


def test_what_is_submitted_goes_and_drafts_stay(theirs, window_over):
    first, second = items.ids(theirs)
    write_rubric(theirs, first, "Explains the weight of gold")
    write_rubric(theirs, second, "Not ready", seal=False)
    page = window_over(theirs, "Send").page
    assert goings(page) == ["goes back", "a draft, stays"]
    assert page.summary.text() == "1 document goes back · 1 document not submitted: it stays here"


def test_a_reopened_document_goes_as_submitted_and_says_that_the_draft_stays(theirs, window_over):
    first = items.ids(theirs)[0]
    write_rubric(theirs, first, "Explains the weight of gold")
    submitting.reopen(theirs, artifacts_of(theirs, first)[0].id)
    assert goings(window_over(theirs, "Send").page)[0] == "goes back; your newer draft stays"


def test_enter_goes_to_the_draft_and_the_key_for_open_work_finds_it(theirs, window_over, qtbot):
    first, second = items.ids(theirs)
    write_rubric(theirs, first, "Explains the weight of gold")
    write_rubric(theirs, second, "Not ready", seal=False)
    window = window_over(theirs, "Send")
    with qtbot.waitActive(window):
        window.activateWindow()
    key = keys.sequences("next_open")[0][0]
    qtbot.keyClick(window.page.table, key.key(), key.keyboardModifiers())
    assert window.page.table.row() == 1
    qtbot.keyClick(window.page.table, Qt.Key.Key_Return)
    assert window.page.NAME == "Author"
    assert window.page.item.id == second


def test_the_file_is_written_by_key_and_its_receipt_is_what_the_coordinator_sees(
    study, theirs, tmp_path, window_over, qtbot, monkeypatch
):
    write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    window = window_over(theirs, "Send")
    with qtbot.waitActive(window):
        window.activateWindow()
    path = tmp_path / "mine.goldsmith-work"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    key = keys.sequences("submit")[0][0]
    qtbot.keyClick(window.page.table, key.key(), key.keyboardModifiers())
    qtbot.waitUntil(path.exists)
    qtbot.waitUntil(lambda: window.page.receipt.isVisible())
    arrival = unpacking.preview(study, [path])[0]
    assert window.page.receipt.code.text() == arrival.receipt
    assert arrival.outcome is ParcelOutcome.NEW
    assert "mine.goldsmith-work" in window.page.receipt.about.text()


def test_the_code_is_copied_alone(theirs, tmp_path, window_over, qtbot):
    write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    window = window_over(theirs, "Send")
    code = sent(window, tmp_path / "mine", qtbot)
    assert window.page.table.hasFocus()
    window.page.receipt.copy.click()
    assert QGuiApplication.clipboard().text() == code


def test_from_the_button_the_keyboard_goes_on_to_copying_the_code(
    theirs, tmp_path, window_over, qtbot, monkeypatch
):
    write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    window = window_over(theirs, "Send")
    be_active(window, qtbot)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "mine"), ""))
    window.page.go.setFocus()
    qtbot.keyClick(window.page.go, Qt.Key.Key_Space)
    qtbot.waitUntil(window.page.receipt.isVisible)
    assert window.focusWidget() is window.page.receipt.copy


def test_what_was_sent_is_told_from_what_is_new_since(theirs, tmp_path, window_over, qtbot):
    first, second = items.ids(theirs)
    write_rubric(theirs, first, "Explains the weight of gold")
    window = window_over(theirs, "Send")
    code = sent(window, tmp_path / "mine", qtbot)
    assert goings(window.page)[0] == "goes back again"
    write_rubric(theirs, second, "Compares two lodes")
    edit_rubric(theirs, first, "Explains the weight of refined gold")
    window.show_page("Send")
    assert goings(window.page) == ["goes back", "goes back"]
    assert "write the file again" in window.page.receipt.earlier.text()
    assert sent(window, tmp_path / "mine", qtbot) != code
    assert code in window.page.receipt.earlier.text()


def test_the_same_work_sent_again_has_the_same_receipt(theirs, tmp_path, window_over, qtbot):
    write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    window = window_over(theirs, "Send")
    assert sent(window, tmp_path / "one", qtbot) == sent(window, tmp_path / "two", qtbot)
    assert len(sending.outlook(theirs).sent) == 1


def test_work_to_send_is_counted_beside_the_step(theirs, window_over, qtbot):
    write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    window = window_over(theirs)
    button = window.navigation._buttons["Send"]
    qtbot.waitUntil(lambda: button.text().endswith("1"))
    assert "Send  1" in button.text()


def test_a_folder_that_cannot_be_written_to_is_refused_in_words(theirs, tmp_path, window_over, qtbot):
    write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    window = window_over(theirs, "Send")
    (tmp_path / "in the way").write_text("a file", "utf-8")
    window.page.write_to(tmp_path / "in the way" / "mine")
    qtbot.waitUntil(lambda: "The folder “mine” could not be made" in window.messages.text())
    assert window.page.go.isEnabled()
    assert not window.page.receipt.isVisible()


def test_both_keys_stand_where_work_is_sent_from(theirs, study, window_over):
    window = window_over(theirs, "Send")
    assert parcel_secrets.own_words(theirs) in window.page.keys.text()
    assert parcel_secrets.own_words(study) in window.page.keys.text()
