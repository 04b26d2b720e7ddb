"""What is typed on the Author page is in the file within a second, a revision when left, and can be taken back."""

import sys
from collections import Counter

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from sqlalchemy import select

from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.gui.pages.authoring import saving
from annotator.gui.shell.steps import steps
from annotator.gui.widgets.fields import growing_edit
from annotator.storage.tables import DraftRow, table
from tests.projects.authoring_project import TEXTS, begun_project, mine, texts
from tests.windows.labelling_keys import focus, press, type_words

PROJECT = begun_project
MORE = " and slowly"
# Without comprehensions. Half of them make the revision, from the chain of hashes to the witness.
MOST_FUNCTIONS = 135
# What asks, lays out or paints what another wording leaves as it is.
OF_WHAT_STAYS = {
    *("lint", "consequence", "StateStrip.show_artifact", "UnitsForm.offer", "ReportView.paint_marks"),
    *("FlowRow._arrange", "Splitter.minimumSizeHint", "SpreadBar.paintEvent", "QuoteButton.show_quote"),
}


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Author")


def drafts(project) -> dict[str, str]:
    with project.store.read() as db:
        rows = db.execute(select(table(DraftRow).c.place, table(DraftRow).c.text)).all()
    return {row.place.split("|")[2]: row.text for row in rows}


def test_work_begins_in_the_first_criterion(page):
    assert focus() is page.sheet.form.editors[0].text
    assert focus().toPlainText() == TEXTS[0]


def test_typing_is_in_the_file_within_a_second_and_not_yet_a_revision(page, project, qtbot):
    before = mine(project).revision
    type_words(MORE)
    qtbot.waitUntil(lambda: drafts(project) == {"text": TEXTS[0] + MORE})
    assert growing_edit.LONGEST_MS <= 1_000
    assert mine(project).revision == before


def test_leaving_the_field_makes_one_revision_and_clears_the_draft(page, project):
    before = mine(project).revision
    type_words(MORE)
    press("Tab")
    assert texts(project)[0] == TEXTS[0] + MORE
    assert (mine(project).revision, drafts(project)) == (before + 1, {})


def test_leaving_a_field_that_was_not_changed_makes_no_revision(page, project):
    before = mine(project).revision
    press("Tab", 8)
    assert mine(project).revision == before


def test_typing_goes_into_a_revision_after_a_while_though_the_field_is_not_left(page, project, qtbot):
    page.sheet.saving._timer.setInterval(50)
    type_words(MORE)
    qtbot.waitUntil(lambda: texts(project)[0] == TEXTS[0] + MORE)
    assert focus().textCursor().position() == len(TEXTS[0] + MORE)
    assert saving.REVISION_EVERY_MS == 20_000


def test_a_text_typed_back_to_what_it_was_leaves_neither_draft_nor_revision(page, project, qtbot):
    before = mine(project).revision
    type_words("x")
    qtbot.waitUntil(lambda: bool(drafts(project)))
    press("Backspace")
    press("Tab")
    assert (drafts(project), mine(project).revision) == ({}, before)


def test_undo_takes_back_the_revision_and_leaves_the_focus_where_it_is(page, project):
    type_words(MORE)
    press("Tab")
    press("Shift+Tab")
    field = focus()
    press("Ctrl+Z")
    assert (texts(project)[0], field.toPlainText()) == (TEXTS[0], TEXTS[0])
    assert focus() is field
    press("Ctrl+Shift+Z")
    assert field.toPlainText() == TEXTS[0] + MORE


def test_a_weight_chosen_while_typing_keeps_the_words_and_each_is_taken_back_alone(page, project):
    type_words(MORE)
    press("Alt+1")
    assert (texts(project)[0], mine(project).document.units[0].weight) == (TEXTS[0] + MORE, 1)
    press("Ctrl+Z")
    assert (texts(project)[0], mine(project).document.units[0].weight) == (TEXTS[0] + MORE, 3)
    press("Ctrl+Z")
    assert texts(project)[0] == TEXTS[0]


def test_a_change_made_elsewhere_does_not_touch_what_is_being_typed(page, project):
    type_words(MORE)
    second = mine(project).document.units[1].id
    page.desk.do(lambda p: artifacts.change_unit(p, mine(p).id, second, text="Outlines another thing."))
    assert focus().toPlainText() == TEXTS[0] + MORE
    assert page.sheet.form.editors[1].text.toPlainText() == "Outlines another thing."


@pytest.mark.parametrize("paused", [False, True])
def test_words_typed_into_a_unit_that_is_taken_out_elsewhere_stand_in_a_new_one(page, project, qtbot, paused):
    type_words(MORE)
    if paused:
        qtbot.waitUntil(lambda: bool(drafts(project)))
    first = mine(project).document.units[0].id
    with qtbot.waitSignal(page.desk.refused) as refused:
        page.desk.do(artifacts.remove_unit, mine(project).id, first)
        press("Tab")
    assert texts(project) == [*TEXTS[1:], TEXTS[0] + MORE]
    assert "taken out elsewhere" in refused.args[0].happened
    assert [editor.text.toPlainText() for editor in page.sheet.form.editors] == texts(project)
    assert (drafts(project), page.sheet.saving.typed) == ({}, {})


def test_going_to_another_item_keeps_what_was_typed(page, project):
    type_words(MORE)
    press("Ctrl+PgDown")
    assert page.item.id == items.ids(project)[1]
    assert texts(project)[0] == TEXTS[0] + MORE
    press("Ctrl+PgUp")
    assert focus().toPlainText() == TEXTS[0] + MORE


def test_words_that_cannot_be_kept_stay_on_screen_and_hold_the_page(page, project, qtbot):
    page.sheet.form.editors[0].text.insertPlainText("x" * 20_001)
    with qtbot.waitSignal(page.desk.refused):
        press("Ctrl+PgDown")
    assert page.item.id == items.ids(project)[0]
    assert len(page.sheet.form.editors[0].text.toPlainText()) > 20_000


def test_chinese_and_arabic_are_kept_letter_for_letter(page, project):
    press("Ctrl+A")
    focus().insertPlainText("说明残差连接为何有效。")
    press("Tab")
    assert texts(project)[0] == "说明残差连接为何有效。"
    page.sheet.form.editors[1].text.setFocus()
    press("Ctrl+A")
    focus().insertPlainText("يشرح سبب النجاح.")
    page.leave()
    assert texts(project)[1] == "يشرح سبب النجاح."


def test_a_note_is_opened_by_its_key_and_kept(page, project):
    press("Ctrl+M")
    type_words("borderline")
    press("Esc")
    assert mine(project).document.units[0].note == "borderline"


def test_typing_into_a_file_that_may_only_be_read_does_nothing(project, tmp_path, window_over):
    path = project.path
    project.close()
    page = window_over(type(project).open(path, readonly=True), "Author").page
    assert all(editor.text.isReadOnly() for editor in page.sheet.form.editors)
    assert page.sheet.bar.submit.isHidden()
    assert "read" in page.sheet.strip.words.text().lower()


def called(act) -> Counter[str]:
    # The functions of the program that are called meanwhile, and how often.
    calls = Counter[str]()

    def note(frame, event, _) -> None:
        if event == "call" and frame.f_globals.get("__name__", "").startswith("annotator."):
            calls[frame.f_code.co_qualname] += 1

    sys.setprofile(note)
    act()
    sys.setprofile(None)
    return calls


def test_leaving_a_field_tells_those_who_asked_and_does_nothing_again_for_what_stays(page, project, qtbot):
    for name, *_ in steps(project):
        page.window().show_page(name)
    page.window().show_page("Author")
    type_words(MORE)
    # Until all that the pages count is counted, and the words are checked.
    qtbot.waitUntil(lambda: not OF_WHAT_STAYS & called(lambda: qtbot.wait(500)).keys(), timeout=20_000)
    calls = called(lambda: QTest.keyPress(focus(), Qt.Key.Key_Tab))
    later = called(lambda: qtbot.wait(600))
    heard = {name for name in calls if name.endswith(".on_change")}
    assert (heard, calls["begin"], calls["CriterionEditor.show_unit"]) == (
        {"AuthorPage.on_change", "LabelPage.on_change", "Viewer.on_change"},
        2,
        1,
    )
    assert OF_WHAT_STAYS & (calls + later).keys() == set()
    assert len([name for name in calls if not name.endswith(">")]) <= MOST_FUNCTIONS, sorted(calls)
    press("Ctrl+Z")
    assert "lint" in called(lambda: qtbot.wait(600))
