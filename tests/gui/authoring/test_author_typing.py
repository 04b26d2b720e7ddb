"""What is typed, quoted, spelled or taken from a draft on the Author page, its keys, and active time."""

import re
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDropEvent,
    QInputMethodEvent,
    QMouseEvent,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from annotator.actions.authoring import artifacts
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.items import items, items as items_module, spelling
from annotator.actions.judges import judges
from annotator.actions.material import model_drafts
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.insights import Insight, Insights
from annotator.gui.forms.fields import SpellMarks
from annotator.gui.review.source_pane import anchor_of, anchor_on_page
from annotator.gui.session.page import KEEP_EVERY_MS
from annotator.gui.session.session import Attention, Clock
from annotator.gui.widgets import fields
from annotator.gui.widgets.message_bar import INFO_MS, READ_MS
from tests.common import stands_in
from tests.gui.authoring.small_pdf import pdf
from tests.judging.odd_server import OddServer, error
from tests.projects.small_projects import PAPER, TEXTS, begin, begun_project, mine, texts
from tests.servers.writing_server import ADDED, CRITERIA, SAID, ben, drafting, drafting_project, first_item
from tests.storage import sql
from tests.windows.judges_window import stopped_by_key
from tests.windows.using import Typed, focus, owned, press, settle, type_words

PROJECT = begun_project

MORE = " and slowly"


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Author")


def drafts(project) -> dict[str, str]:
    return {place.split("|")[2]: text for place, text in sql.rows(project, "SELECT place, text FROM draft")}


def test_typing_is_in_the_file_within_a_second_and_a_revision_when_the_field_is_left_or_after_a_while(
    page, project, qtbot
):
    before = mine(project).revision
    type_words("x")
    qtbot.waitUntil(lambda: bool(drafts(project)))
    press("Backspace", "Tab")
    assert (drafts(project), mine(project).revision) == ({}, before)
    press("Shift+Tab", "Ctrl+End", Typed(MORE))
    qtbot.waitUntil(lambda: drafts(project) == {"text": TEXTS[0] + MORE})
    assert fields.LONGEST_MS <= 1_000
    assert mine(project).revision == before
    press("Tab")
    assert (texts(project)[0], mine(project).revision, drafts(project)) == (TEXTS[0] + MORE, before + 1, {})
    press("Ctrl+Z", "Shift+Tab", "Ctrl+End")
    assert texts(project)[0] == TEXTS[0]
    page.sheet.saving._timer.setInterval(50)
    type_words(MORE)
    qtbot.waitUntil(lambda: texts(project)[0] == TEXTS[0] + MORE)
    assert focus().textCursor().position() == len(TEXTS[0] + MORE)
    assert KEEP_EVERY_MS == 20_000


def test_a_weight_chosen_while_typing_keeps_the_words_and_each_is_taken_back_alone(page, project):
    press(Typed(MORE), "Alt+1")
    assert (texts(project)[0], mine(project).document.units[0].weight) == (TEXTS[0] + MORE, 1)
    press("Ctrl+Z")
    assert (texts(project)[0], mine(project).document.units[0].weight) == (TEXTS[0] + MORE, 3)
    press("Ctrl+Z")
    assert texts(project)[0] == TEXTS[0]


def test_what_is_being_typed_outlives_a_change_made_elsewhere_and_going_to_another_item(page, project):
    press("Ctrl+A")
    focus().insertPlainText("说明残差连接为何有效。يشرح")
    typed, second = focus().toPlainText(), mine(project).document.units[1].id
    page.session.do(lambda p: artifacts.change_unit(p, mine(p).id, second, text="Outlines another thing."))
    assert focus().toPlainText() == typed
    assert page.sheet.form.editors[1].text.toPlainText() == "Outlines another thing."
    press("Ctrl+PgDown")
    assert (page.item.id, texts(project)[0]) == (items.ids(project)[1], typed)
    press("Ctrl+PgUp")
    assert focus().toPlainText() == typed


@pytest.mark.parametrize("paused", [False, True])
def test_words_typed_into_a_unit_that_is_taken_out_elsewhere_stand_in_a_new_one(page, project, qtbot, paused):
    type_words(MORE)
    if paused:
        qtbot.waitUntil(lambda: bool(drafts(project)))
    first = mine(project).document.units[0].id
    with qtbot.waitSignal(page.session.refused) as refused:
        page.session.do(artifacts.remove_unit, mine(project).id, first)
        press("Tab")
    assert texts(project) == [*TEXTS[1:], TEXTS[0] + MORE]
    assert "taken out elsewhere" in refused.args[0].happened
    assert boxes_of(page) == texts(project)
    assert (drafts(project), page.sheet.saving.typed) == ({}, {})


def test_words_that_cannot_be_kept_stay_on_screen_and_hold_the_page(page, project, qtbot):
    page.sheet.form.editors[0].text.insertPlainText("x" * 20_001)
    with qtbot.waitSignal(page.session.refused):
        press("Ctrl+PgDown")
    assert page.item.id == items.ids(project)[0]
    assert len(page.sheet.form.editors[0].text.toPlainText()) > 20_000


def test_typing_into_a_file_that_may_only_be_read_does_nothing(project, tmp_path, window_over):
    path = project.path
    project.close()
    page = window_over(type(project).open(path, readonly=True), "Author").page
    assert all(editor.text.isReadOnly() for editor in page.sheet.form.editors)
    assert page.sheet.bar.submit.isHidden()
    assert "read" in page.sheet.strip.words.text().lower()


AGAIN = "A residual block"


def quote(page, words: str, nth: int = 0) -> None:
    start = [one.start() for one in re.finditer(re.escape(words), page.source.text.text())][nth]
    page.source.text.select(start, start + len(words))
    press("Ctrl+E")


def quoted(project, unit: int = 0):
    return mine(project).document.units[unit].anchor


def test_the_selected_words_become_the_quotation_of_the_unit_at_the_cursor(page, project):
    press("Ctrl+E")
    assert quoted(project) is None
    said = page.sheet.messages.text()
    # Nothing takes it away before it can have been read.
    timers = [*page.sheet.children(), *page.sheet.messages.children()]
    running = [each.interval() for each in timers if isinstance(each, QTimer) and each.isActive()]
    assert running == [INFO_MS + READ_MS * len(said)]
    page.sheet.form.editors[1].text.setFocus()
    page.source.enter()
    quote(page, "train badly")
    anchor = quoted(project, 1)
    assert (anchor.quote, PAPER[anchor.start : anchor.end]) == ("train badly", "train badly")
    assert anchor.source_id == items.sources(project, items.ids(project)[0])[0].id
    assert stands_in(anchor, PAPER)
    assert (quoted(project, 0), focus()) == (None, page.sheet.form.editors[1].text)
    page.sheet.form.editors[0].text.setFocus()
    page.source.tabs.setCurrentIndex(page.source.tabs.count() - 1)
    quote(page, "residual connections")
    assert (quoted(project).source_id, quoted(project).start) == ("", len("Why do "))


def test_quotations_stand_side_by_side_each_once_and_a_press_away_from_its_place(page, project, qtbot):
    def chips() -> list:
        return [chip for chip in page.sheet.form.editors[0]._chips.chips if not chip.isHidden()]

    def words() -> list[str]:
        return [anchor.quote for anchor in mine(project).document.units[0].anchors]

    quote(page, AGAIN, nth=1)
    # Marks of Markdown between the words are part of the quotation.
    quote(page, "its input to")
    assert words() == [AGAIN, "its **input** to"]
    assert [chip.button.text() for chip in chips()] == [f"“{AGAIN}”", "“its input to”"]
    press("Ctrl+Z")
    assert (words(), len(chips())) == ([AGAIN], 1)
    quote(page, AGAIN, nth=1)
    assert words() == [AGAIN]
    page.source.tabs.setCurrentIndex(1)
    qtbot.mouseClick(chips()[0].button, Qt.MouseButton.LeftButton)
    (mark,) = page.source.text.marks("evidence")
    shown = page.source.text.text()
    assert page.source.tabs.currentIndex() == 0
    assert (mark.start, shown[mark.start : mark.end]) == (shown.rindex(AGAIN), AGAIN)
    qtbot.mouseClick(chips()[0].remove, Qt.MouseButton.LeftButton)
    assert words() == []


def test_a_page_of_a_pdf_and_what_is_found_there_are_quoted_with_number_and_place(page, project, tmp_path):
    path = tmp_path / "paper.pdf"
    path.write_bytes(pdf([["First page."], ["Deep networks train", "with residual blocks."]]))
    page.session.do(items.add_source, page.item.id, path)
    source = items.sources(project, page.item.id)[1]
    page.source.pdf.go_to_page(2)
    page.source.pdf.select_page()
    press("Ctrl+E")
    anchor = quoted(project)
    assert (anchor.page, anchor.source_id) == (2, source.id)
    assert page.sheet.form.editors[0]._chips.chips[0].button.text().endswith("— p. 2")
    press("Ctrl+F", Typed("train with"), "Return")
    assert (page.source.pdf_finder.count(), page.source.quoting.isEnabled()) == ((1, 1), True)
    press("Esc")
    assert focus() is page.source.pdf
    press("Ctrl+E")
    anchor = mine(project).document.units[0].anchors[1]
    assert (anchor.page, anchor.quote.split()) == (2, ["train", "with"])
    assert stands_in(anchor, source.text)


def test_all_that_is_quoted_stays_marked_and_is_stepped_through(page):
    quote(page, "train badly")
    quote(page, "its input to")
    page.sheet.form.editors[1].text.setFocus()
    quote(page, "Residual networks")
    text = page.source.text
    marked = [
        text.text()[mark.start : mark.end] for kind in ("evidence", "kept") for mark in text.marks(kind)
    ]
    assert marked == ["Residual networks", "train badly", "its input to"]
    assert page.source.pane.steps.count.text() == "Passage 1 of 3"
    press("Alt+PgDown", "Alt+PgUp", 2)
    assert page.source.pane.steps.count.text() == "Passage 3 of 3"


def test_offsets_are_those_of_the_whole_text_and_are_lacking_where_it_does_not_hold_the_words():
    anchor = anchor_on_page("s", "same words here\n\f\nsame words here\n\f\nlast", "words here", 2)
    assert (anchor.start, anchor.end, anchor.page) == (23, 33, 2)
    anchor = anchor_on_page("s", "", "scanned words", 3)
    assert (anchor.quote, anchor.page, anchor.start) == ("scanned words", 3, -1)
    assert anchor_of(None, "some text", "another thing", 0, 7) is None


FIRST, SECOND, THIRD = TEXTS


def test_criteria_are_gone_through_moved_and_retired_by_keys_and_digits_only_write_in_a_text(page, project):
    field = focus()
    press("Alt+Down", 3)
    assert (texts(project), focus()) == ([SECOND, THIRD, FIRST], field)
    press("Alt+Up")
    assert texts(project) == [SECOND, FIRST, THIRD]
    press("Ctrl+Backspace")
    assert (texts(project), focus().toPlainText()) == ([SECOND, THIRD], THIRD)
    press("Ctrl+Z")
    assert texts(project) == boxes_of(page) == [SECOND, FIRST, THIRD]
    page.sheet.form.go(page.sheet.form.editors[0].unit_id)
    press("Esc", "Down")
    assert focus() is page.sheet.form.editors[1]
    press("Return", "Ctrl+End", Typed(" 1 2 3 iure"), "Shift+Return", Typed("more"), "Tab")
    assert texts(project) == [SECOND, f"{FIRST} 1 2 3 iure\nmore", THIRD]
    assert [unit.weight for unit in mine(project).document.units] == [2, 3, 1]


def boxes_of(page) -> list[str]:
    return [editor.text.toPlainText() for editor in page.sheet.form.editors]


def test_enter_begins_the_next_criterion_below_and_an_empty_one_goes_no_further(page, project):
    press("Return", Typed("A new one"), "Enter", "Enter", 2)
    assert boxes_of(page) == [FIRST, "A new one", "", SECOND, THIRD]
    page.sheet.form.go(page.sheet.form.editors[1].unit_id)
    press("Enter")
    assert focus() is page.sheet.form.editors[2].text
    # One that ends a composition begins nothing.
    page.sheet.form.go(page.sheet.form.editors[1].unit_id)
    QApplication.sendEvent(focus(), QInputMethodEvent("かん", []))
    press("Return")
    composed = QInputMethodEvent("", [])
    composed.setCommitString("漢")
    QApplication.sendEvent(focus(), composed)
    assert focus() is page.sheet.form.editors[1].text
    assert focus().toPlainText().endswith("漢")
    assert len(boxes_of(page)) == 5


def test_enter_goes_to_the_next_field_where_a_unit_has_several_texts_or_a_note(page, project):
    press("Ctrl+M", Typed("A note"), "Return")
    assert page.sheet.form.editors[1].isAncestorOf(focus())
    assert mine(project).document.units[0].note == "A note"
    begin(project, Kind.EVIDENCE, Evidence(units=(Reference(text="A paper"),)))
    page.go_to(page.item.id, Kind.EVIDENCE)
    page.sheet.focus_first()
    (editor,) = page.sheet.form.editors
    for name in ("text", "identifier", "authors", "year"):
        assert editor.field_of(focus()) == name
        press("Return")
    assert len(page.sheet.form.editors) == 1


def drag(form, to: int) -> None:
    number, goal = form.editors[0].number, form.editors[to]
    at = number.mapFromGlobal(goal.mapToGlobal(QPoint(10, goal.height() - 2 if to else 8)))
    QTest.mousePress(number, Qt.MouseButton.LeftButton)
    QTest.mouseMove(number, at)
    held = QMouseEvent(
        QMouseEvent.Type.MouseMove, QPointF(at), QPointF(number.mapToGlobal(at)),
        Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(number, held)
    assert form._gap.isVisible()
    QTest.mouseRelease(number, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    assert not form._gap.isVisible()


def test_a_criterion_is_dragged_by_its_number(page, project, qtbot):
    drag(page.sheet.form, 0)
    assert texts(project) == [FIRST, SECOND, THIRD]
    drag(page.sheet.form, 1)
    assert texts(project) == [SECOND, FIRST, THIRD]
    first, second, third = page.sheet.form.editors
    qtbot.waitUntil(lambda: first.y() < second.y() < third.y())
    drag(page.sheet.form, 2)
    assert texts(project) == [FIRST, THIRD, SECOND]


def dragged(target, kind, *paths) -> bool:
    """Whether files are taken where they are dragged over, or dropped, as the system tells it."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    no_keys, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    at = QPointF(5, 5) if kind is QDropEvent else QPoint(5, 5)
    event = kind(at, Qt.DropAction.CopyAction, mime, left, no_keys)
    # What nothing on the page takes is the window's to import.
    target.window().setAcceptDrops(False)
    QApplication.sendEvent(target, event)
    return event.isAccepted()


def test_a_paper_dropped_on_the_source_is_put_beside_the_item(page, project, tmp_path):
    path, other = tmp_path / "deep.pdf", tmp_path / "rows.csv"
    path.write_bytes(pdf([["Deep networks"]]))
    other.write_text("a,b", "utf-8")
    assert dragged(page.source.text.viewport(), QDragEnterEvent, path)
    assert not dragged(page.source, QDragEnterEvent, other)
    assert dragged(page.source, QDropEvent, path)
    assert [source.title for source in items.sources(project, page.item.id)] == ["paper", "deep"]


def test_the_wheel_over_a_list_changes_nothing(page, project):
    page.sheet.form.offer(page.item, [("a", "One"), ("b", "Two")])
    combo = page.sheet.form.editors[0].fields["insight_id"]
    turn = QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(combo, turn)
    assert combo.currentIndex() == 0
    # No model is offered without an endpoint.
    assert not page.sheet.strip.draft.isVisible()
    judges.add(project, "pen", base_url="http://127.0.0.1:1/v1", model="m")
    page.navigate({})
    assert page.sheet.strip.draft.isVisible()


@pytest.fixture
def checked(project, page_over, tmp_path, monkeypatch):
    monkeypatch.setattr("annotator.places.user_data", lambda: tmp_path / "data")
    monkeypatch.setattr(spelling, "SYSTEM", ())
    monkeypatch.setattr("annotator.gui.forms.fields.START_MS", 0)
    return settle(page_over(project, "Author"))


def misspelt(field) -> list[str]:
    settle(field.window().page)
    return [one.cursor.selectedText() for one in field.extraSelections()]


def menu_at(field, word: str = "") -> QMenu:
    if word:
        at = field.cursorRect(field.document().find(word)).center() - QPoint(3, 0)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, field.viewport().mapToGlobal(at))
        QApplication.sendEvent(field.viewport(), event)
    else:
        press("Shift+F10")
    settle(field.window().page)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def offered(menu: QMenu) -> list[str]:
    return [entry.text() for entry in menu.actions() if entry.isVisible() and not entry.isSeparator()]


def choose(menu: QMenu, words: str) -> None:
    next(entry for entry in menu.actions() if entry.text() == words).trigger()
    menu.close()


def test_a_word_is_underlined_once_it_is_ended_or_its_field_is_left(checked, project):
    field = focus()
    press("Ctrl+A", Typed("It cites a wrod"))
    assert misspelt(field) == []
    type_words(" and")
    assert misspelt(field) == ["wrod"]
    press("Left", len(" and"))
    assert misspelt(field) == ["wrod"]
    press("Ctrl+A")
    field.insertPlainText("𝒳 and 😀 are wrod here but nto")
    press("Tab")
    assert misspelt(field) == ["wrod", "nto"]
    press("Ctrl+M", Typed("A scetch of it"))
    assert misspelt(focus()) == ["scetch"]


@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.parametrize("by_mouse", [False, True])
def test_the_menu_offers_what_is_meant_and_the_choice_is_kept_like_typing(checked, project, by_mouse):
    field = focus()
    press("Ctrl+A", Typed("It"))
    menu = menu_at(field, "It" if by_mouse else "")
    assert "Add to my words" not in offered(menu)
    menu.close()
    type_words(" recieved")
    menu = menu_at(field, "recieved" if by_mouse else "")
    assert offered(menu)[0] == "received"
    choose(menu, "received")
    press("Tab")
    assert (texts(project)[0], misspelt(field)) == ("It received", [])


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_word_of_ones_own_is_underlined_in_no_field_any_more_and_one_key_turns_all_off(
    checked, project, page_over
):
    first, second = (editor.text for editor in checked.sheet.form.editors[:2])
    for field in (first, second):
        press("Ctrl+A", Typed("A gromply is here"), at=field)
    assert misspelt(first) == misspelt(second) == ["gromply"]
    choose(menu_at(second, "gromply"), "Add to my words")
    assert misspelt(first) == misspelt(second) == []
    press("Ctrl+End", at=first)
    field = focus()
    type_words(" wrod and")
    assert misspelt(field) == ["wrod"]
    press("F7")
    assert misspelt(field) == []
    assert not page_over(project, "Author").sheet.speller.on
    press("F7")


def test_what_is_closed_or_in_a_language_without_a_dictionary_is_not_checked(checked, project):
    editor = checked.sheet.form.editors[1]
    editor.lock(True)
    editor.text.setPlainText("wrod")
    assert misspelt(editor.text) == []
    assert editor.text.findChildren(SpellMarks)
    first = items.ids(project)[0]
    checked.session.do(items.change, first, language="ar")
    settle(checked)
    assert checked.sheet.messages.text() == "There is no spelling dictionary for the item's language (ar)."


ONE, TWO, THREE = (text for text, _, _ in CRITERIA)


@pytest.fixture
def server() -> Iterator[OddServer]:
    with drafting() as server:
        yield server


@pytest.fixture
def drafted(tmp_path, server):
    return drafting_project(tmp_path, server)


@pytest.fixture
def draft_page(drafted, page_over):
    return page_over(drafted, "Author", item_id=first_item(drafted), kind="rubric")


@pytest.fixture
def panel(draft_page):
    press("F8")
    return draft_page.side.draft


def asked(panel, qtbot) -> None:
    with qtbot.waitSignal(panel.asking.came):
        press("Ctrl+Shift+D")


def shown_in(panel) -> list[tuple[str, bool]]:
    return [(card.unit.text, card.is_taken) for card in panel.cards]


@pytest.mark.usefixtures("real_children")
def test_a_draft_is_asked_for_by_key_is_nobodys_document_and_what_is_taken_stays_marked(
    draft_page, panel, drafted, qtbot
):
    assert draft_page.side.shows(panel)
    qtbot.waitUntil(lambda: "tokens in" in panel.asking.estimate.text())
    asked(panel, qtbot)
    assert shown_in(panel) == [(ONE, False), (TWO, False), (THREE, False)]
    assert artifacts_of(drafted, first_item(drafted)) == []
    press("Ctrl+Shift+T")
    assert focus() is draft_page.sheet.form.editors[0].text
    type_words(" Briefly.")
    assert draft_page.sheet.saving.keep()
    assert texts(drafted) == [f"{ONE} Briefly."]
    assert "From test-model's draft" in draft_page.sheet.form.editors[0]._drafted.text()
    press("Ctrl+Shift+Backspace")
    assert (panel.draft_id, draft_page.isAncestorOf(focus())) == ("", True)


def test_why_nothing_came_is_said_beside_the_button(draft_page, panel, server, qtbot):
    server.answer = lambda *_: error(400, "Not today.")
    asked(panel, qtbot)
    assert "No draft came: endpoint failed." in panel.asking.answer.text()
    stopped_by_key(draft_page, qtbot, server, panel.asking.run, panel.asking.start)
    assert "Stopped before a draft arrived." in panel.asking.answer.text()
    assert panel.asking.begin.isVisible()


def test_the_arrows_choose_enter_takes_and_undo_gives_back_to_the_draft(draft_page, panel, drafted, qtbot):
    asked(panel, qtbot)
    assert focus() is panel.cards[0]
    press("Down", 2, "Return")
    assert texts(drafted) == [THREE]
    press("Ctrl+T")
    assert texts(drafted) == [THREE, ONE]
    draft_page.session.undo()
    assert shown_in(panel) == [(ONE, False), (TWO, False), (THREE, True)]
    press("Ctrl+T", 2)
    # With the last of a draft the keyboard does not go.
    assert (panel.draft_id, draft_page.isAncestorOf(focus())) == ("", True)


def test_the_blind_partner_sees_no_draft(draft_page, panel, drafted, qtbot, window_over):
    asked(panel, qtbot)
    press("Ctrl+T")
    window = draft_page.window()
    window.choose_person(ben(drafted).id)
    window.show_page("Author", item_id=first_item(drafted), kind="rubric")
    press("F8")
    assert window.page.side.draft.cards == []
    assert window.page.sheet.artifact is None


# Reference material


@pytest.fixture
def of_reference(drafted, page_over):
    artifacts.start(drafted, first_item(drafted), Kind.INSIGHTS, Insights(units=(Insight(text="Adds."),)))
    draft_page = page_over(drafted, "Author", item_id=first_item(drafted), kind="insights")
    press("F8")
    draft_page.side.draft.what.setCurrentIndex(1)
    return draft_page.side.draft


def beside(drafted) -> list[str]:
    return [source.text for source in items_module.sources(drafted, first_item(drafted))][1:]


def test_reference_material_is_chosen_beside_key_insights_edited_in_its_parts_and_put_beside_the_item(
    of_reference, drafted, qtbot
):
    assert "researcherbench.reference" in of_reference.asking.words.text()
    of_reference.window().page.tabs.picked.emit(Kind.RUBRIC)
    assert "draft.rubric" in of_reference.asking.words.text()
    of_reference.window().page.tabs.picked.emit(Kind.INSIGHTS)
    of_reference.what.setCurrentIndex(1)
    asked(of_reference, qtbot)
    fields, page = of_reference.reference.fields, of_reference.window().page
    assert [field.toPlainText() for field in fields.values()] == [SAID, ADDED]
    of_reference.enter()
    qtbot.waitUntil(fields["text"].hasFocus)
    press("Ctrl+End", Typed(" Checked."))
    fields["beyond"].setPlainText("")
    fields["beyond"].edited.emit("")
    press("Ctrl+T")
    assert beside(drafted) == [f"## From the sources\n\n{SAID} Checked."]
    pane = page.source
    assert pane.tabs.tabText(pane.tabs.currentIndex()).startswith("Reference")
    assert (of_reference.reference.isVisible(), of_reference.asking.begin.isVisible()) == (False, True)


def test_what_was_typed_last_stays_with_the_draft_it_was_typed_into(of_reference, drafted, qtbot):
    asked(of_reference, qtbot)
    waiting = model_drafts.waiting(drafted, first_item(drafted))
    fields = of_reference.reference.fields
    fields["text"].moveCursor(QTextCursor.MoveOperation.End)
    fields["text"].insertPlainText(" Mine.")
    of_reference.reference.show_draft(
        replace(waiting, proposal=replace(waiting.proposal, id="another"), from_sources="Another.")
    )
    assert fields["text"].toPlainText() == "Another."
    assert model_drafts.waiting(drafted, first_item(drafted)).from_sources == f"{SAID} Mine."


@pytest.fixture
def hand():
    return SimpleNamespace(at=0.0)


@pytest.fixture
def clock(hand):
    return Clock(lambda: hand.at)


def test_time_between_signs_of_life_adds_up_and_a_long_silence_counts_as_a_minute(clock, hand):
    def touch_at(*moments: float) -> None:
        for moment in moments:
            hand.at = moment
            clock.touch()

    hand.at = 30
    assert clock.take() == 0
    touch_at(40, 50, 70)
    assert clock.take() == 30
    touch_at(3670, 3675)
    assert clock.take() == 65
    hand.at += 3
    assert clock.take() == 3
    # Time in another window does not count.
    hand.at += 7
    clock.stop()
    touch_at(4000)
    hand.at += 4
    assert clock.take() == 11


@pytest.fixture
def watched(clock, qtbot):
    window = owned(qtbot, QWidget())
    shown = QWidget(window)
    window.show()
    shown.attention = Attention(shown, clock)
    shown.attention.begin()
    yield shown
    window.close()


def test_keys_and_mouse_in_the_window_are_signs_of_life(watched, clock, hand):
    handle = watched.window().windowHandle()
    for act, what in ((QTest.keyClick, Qt.Key.Key_A), (QTest.mouseClick, Qt.MouseButton.LeftButton)):
        for _ in range(2):
            hand.at += 50
            act(handle, what)
    assert clock.take() == 200


@pytest.mark.parametrize("destroyed", [False, True])
def test_nothing_counts_once_the_page_is_out_of_view_or_its_window_gone(watched, clock, hand, destroyed):
    hand.at = 20
    if destroyed:
        watched.window().destroy()
    watched.attention.end()
    hand.at = 40
    if destroyed:
        watched.attention.end()
    else:
        QTest.keyClick(watched.window().windowHandle(), Qt.Key.Key_A)
    assert clock.take() == 20
