"""What is typed or quoted on the Author page is kept at once, and what its keys do to units."""

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QInputMethodEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from sqlalchemy import select

from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.project.people import new_project
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.documents import WRITTEN
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.texts.canonical import sha256
from annotator.gui.forms.unit_editor import FindingLines
from annotator.gui.review.source_pane import anchor_of, anchor_on_page
from annotator.gui.session.page import KEEP_EVERY_MS
from annotator.gui.widgets import fields
from annotator.gui.widgets.message_bar import INFO_MS, READ_MS
from annotator.storage.tables import DRAFT
from tests.gui.authoring.small_pdf import pdf
from tests.material.anchors import stands_in
from tests.projects.authoring_project import PAPER, TEXTS, begin, begun_project, mine, texts
from tests.windows.labelling_keys import focus, press, type_words

PROJECT = begun_project

MORE = " and slowly"
# Without comprehensions. Half of them make the revision, from the chain of hashes to the witness.
# What asks, lays out or paints what another wording leaves as it is.


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Author")


def drafts(project) -> dict[str, str]:
    with project.store.read() as db:
        rows = db.execute(select(DRAFT.c.place, DRAFT.c.text)).all()
    return {row.place.split("|")[2]: row.text for row in rows}


def test_typing_is_in_the_file_within_a_second_and_not_yet_a_revision(page, project, qtbot):
    before = mine(project).revision
    type_words(MORE)
    qtbot.waitUntil(lambda: drafts(project) == {"text": TEXTS[0] + MORE})
    assert fields.LONGEST_MS <= 1_000
    assert mine(project).revision == before


def test_leaving_the_field_makes_one_revision_and_clears_the_draft(page, project):
    before = mine(project).revision
    type_words(MORE)
    press("Tab")
    assert texts(project)[0] == TEXTS[0] + MORE
    assert (mine(project).revision, drafts(project)) == (before + 1, {})


def test_typing_goes_into_a_revision_after_a_while_though_the_field_is_not_left(page, project, qtbot):
    page.sheet.saving._timer.setInterval(50)
    type_words(MORE)
    qtbot.waitUntil(lambda: texts(project)[0] == TEXTS[0] + MORE)
    assert focus().textCursor().position() == len(TEXTS[0] + MORE)
    assert KEEP_EVERY_MS == 20_000


def test_a_text_typed_back_to_what_it_was_leaves_neither_draft_nor_revision(page, project, qtbot):
    before = mine(project).revision
    type_words("x")
    qtbot.waitUntil(lambda: bool(drafts(project)))
    press("Backspace")
    press("Tab")
    assert (drafts(project), mine(project).revision) == ({}, before)


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
    page.session.do(lambda p: artifacts.change_unit(p, mine(p).id, second, text="Outlines another thing."))
    assert focus().toPlainText() == TEXTS[0] + MORE
    assert page.sheet.form.editors[1].text.toPlainText() == "Outlines another thing."


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
    with qtbot.waitSignal(page.session.refused):
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


def test_typing_into_a_file_that_may_only_be_read_does_nothing(project, tmp_path, window_over):
    path = project.path
    project.close()
    page = window_over(type(project).open(path, readonly=True), "Author").page
    assert all(editor.text.isReadOnly() for editor in page.sheet.form.editors)
    assert page.sheet.bar.submit.isHidden()
    assert "read" in page.sheet.strip.words.text().lower()


AGAIN = "A residual block"


def select_words(page, words: str, nth: int = 0) -> None:
    shown, start = page.source.text.text(), -1
    for _ in range(nth + 1):
        start = shown.index(words, start + 1)
    page.source.text.select(start, start + len(words))


def quoted(project, unit: int = 0):
    return mine(project).document.units[unit].anchor


def test_the_selected_words_become_the_quotation_of_the_unit_at_the_cursor(page, project):
    page.sheet.form.editors[1].text.setFocus()
    page.source.enter()
    select_words(page, "train badly")
    press("Ctrl+E")
    anchor = quoted(project, 1)
    assert (anchor.quote, PAPER[anchor.start : anchor.end]) == ("train badly", "train badly")
    assert anchor.source_id == items.sources(project, items.ids(project)[0])[0].id
    assert anchor.text_sha256 == sha256(PAPER)
    assert stands_in(anchor, PAPER)
    assert quoted(project, 0) is None
    assert focus() is page.sheet.form.editors[1].text


def test_markdown_marks_between_the_words_are_part_of_the_quotation(page, project):
    select_words(page, "its input to")
    press("Ctrl+E")
    assert quoted(project).quote == "its **input** to"


def test_without_a_selection_nothing_is_quoted_and_it_is_said_how(page, project):
    press("Ctrl+E")
    assert quoted(project) is None
    said = page.sheet.messages.text()
    assert "Select words in the source first" in said
    # Nothing takes it away before it can have been read.
    timers = [*page.sheet.children(), *page.sheet.messages.children()]
    running = [each.interval() for each in timers if isinstance(each, QTimer) and each.isActive()]
    assert running == [INFO_MS + READ_MS * len(said)]


def test_the_quotation_is_a_press_away_from_its_place(page, project, qtbot):
    select_words(page, AGAIN, nth=1)
    press("Ctrl+E")
    page.source.tabs.setCurrentIndex(1)
    qtbot.mouseClick(page.sheet.form.editors[0]._chips.chips[0].button, Qt.MouseButton.LeftButton)
    (mark,) = page.source.text.marks("evidence")
    shown = page.source.text.text()
    assert page.source.tabs.currentIndex() == 0
    assert (mark.start, shown[mark.start : mark.end]) == (shown.rindex(AGAIN), AGAIN)


def test_a_quotation_is_taken_away_and_comes_back_with_undo(page, project, qtbot):
    select_words(page, "train badly")
    press("Ctrl+E")
    qtbot.mouseClick(page.sheet.form.editors[0]._chips.chips[0].remove, Qt.MouseButton.LeftButton)
    assert quoted(project) is None
    press("Ctrl+Z")
    assert quoted(project).quote == "train badly"


def test_the_question_can_be_quoted_too(page, project):
    page.source.tabs.setCurrentIndex(page.source.tabs.count() - 1)
    select_words(page, "residual connections")
    press("Ctrl+E")
    assert (quoted(project).source_id, quoted(project).start) == ("", len("Why do "))


def test_a_page_of_a_pdf_is_quoted_with_its_number_and_its_place_in_the_text(page, project, tmp_path):
    path = tmp_path / "paper.pdf"
    path.write_bytes(pdf([["First page."], ["Deep networks train", "with residual blocks."]]))
    page.session.do(items.add_source, page.item.id, path)
    source = items.sources(project, page.item.id)[1]
    assert page.source.tabs.currentIndex() == 1
    page.source.pdf.go_to_page(2)
    page.source.pdf.select_page()
    press("Ctrl+E")
    anchor = quoted(project)
    assert (anchor.page, anchor.source_id) == (2, source.id)
    assert stands_in(anchor, source.text)
    assert page.sheet.form.editors[0]._chips.chips[0].button.text().endswith("— p. 2")


def add_pdf(page, folder, pages) -> None:
    path = folder / "paper.pdf"
    path.write_bytes(pdf(pages))
    page.session.do(items.add_source, page.item.id, path)


@pytest.mark.parametrize("still_open", [False, True])
def test_what_is_found_in_a_pdf_is_what_the_key_quotes(page, project, tmp_path, still_open):
    add_pdf(page, tmp_path, [["First page."], ["Deep networks", "train badly"]])
    press("Ctrl+F")
    type_words("networks train")
    press("Return")
    assert page.source.finder.count() == (1, 1)
    if still_open:
        assert page.source.quoting.isEnabled()
    else:
        press("Esc")
        assert focus() is page.source.pdf
    press("Ctrl+E")
    anchor = quoted(project)
    assert (anchor.page, anchor.quote.split()) == (2, ["networks", "train"])
    assert stands_in(anchor, items.sources(project, page.item.id)[1].text)


def all_quoted(project, unit: int = 0) -> list[str]:
    return [anchor.quote for anchor in mine(project).document.units[unit].anchors]


def chips(page, unit: int = 0):
    return [chip for chip in page.sheet.form.editors[unit]._chips.chips if not chip.isHidden()]


def quote_words(page, *several: str) -> None:
    for words in several:
        select_words(page, words)
        press("Ctrl+E")


def test_a_second_quotation_stands_beside_the_first_and_both_are_listed(page, project):
    quote_words(page, "train badly", "its input to")
    assert all_quoted(project) == ["train badly", "its **input** to"]
    assert [chip.button.text() for chip in chips(page)] == ["“train badly”", "“its input to”"]
    press("Ctrl+Z")
    assert all_quoted(project) == ["train badly"]
    assert len(chips(page)) == 1


def test_the_same_words_are_quoted_once(page, project):
    quote_words(page, "train badly", "train badly")
    assert all_quoted(project) == ["train badly"]
    assert "already" in page.sheet.messages.text()


def marked(page, kind: str) -> list[str]:
    shown = page.source.text.text()
    return [shown[mark.start : mark.end] for mark in page.source.text.marks(kind)]


def test_all_that_is_quoted_stays_marked_and_is_stepped_through(page):
    quote_words(page, "train badly", "its input to")
    page.sheet.form.editors[1].text.setFocus()
    quote_words(page, "Residual networks")
    assert marked(page, "evidence") == ["Residual networks"]
    assert sorted(marked(page, "kept")) == ["its input to", "train badly"]
    assert page.source.pane.steps.told.text() == "Passage 1 of 3"
    press("Alt+PgDown")
    assert page.source.pane.steps.told.text() == "Passage 2 of 3"
    press("Alt+PgUp")
    press("Alt+PgUp")
    assert page.source.pane.steps.told.text() == "Passage 3 of 3"


def test_the_words_at_the_top_stay_there_when_a_panel_opens(project, page_over, tmp_path):
    long = tmp_path / "long.md"
    long.write_text(
        "\n\n".join(
            f"Paragraph {n} says something, and goes on for long enough to need more lines where it is narrow."
            for n in range(400)
        ),
        "utf-8",
    )
    items.add_source(project, items.ids(project)[0], long)
    page = page_over(project, "Author")
    page.source.tabs.setCurrentIndex(1)
    view = page.source.text
    at = view.text().index("Paragraph 250 ")
    view.reveal(at, at + 13)
    bar = view.verticalScrollBar()
    bar.setValue(bar.value() + view.cursorRect(view._cursor(at, at)).top())
    values = {bar.value()}

    def top() -> str:
        return view.cursorForPosition(view.rect().topLeft()).block().text()[:14]

    assert top() == "Paragraph 250 "
    for width in (500, 900, 620, 1100, 700):
        view.setFixedWidth(width)
        assert top() == "Paragraph 250 "
        values.add(bar.value())
    assert len(values) > 1


def test_offsets_on_a_page_are_those_of_the_whole_text():
    text = "same words here\n\f\nsame words here\n\f\nlast"
    anchor = anchor_on_page("s", text, "words here", 2)
    assert (anchor.start, anchor.end, anchor.page) == (23, 33, 2)


def test_words_that_the_text_of_a_pdf_does_not_hold_are_kept_without_offsets():
    anchor = anchor_on_page("s", "", "scanned words", 3)
    assert (anchor.quote, anchor.page, anchor.start) == ("scanned words", 3, -1)


def test_words_that_are_not_in_the_text_give_no_quotation():
    assert anchor_of(None, "some text", "another thing", 0, 7) is None


FIRST, SECOND, THIRD = TEXTS


def weights(project) -> list[int]:
    return [unit.weight for unit in mine(project).document.units]


def test_digits_and_letters_only_write_while_a_text_has_the_focus(page, project):
    type_words(" 1 2 3 iure")
    press("Tab")
    assert (weights(project), texts(project)[0]) == ([3, 2, 1], f"{FIRST} 1 2 3 iure")


def test_alt_and_an_arrow_move_the_criterion_and_the_focus_goes_with_it(page, project):
    field = focus()
    press("Alt+Down")
    assert texts(project) == [SECOND, FIRST, THIRD]
    assert focus() is field
    press("Alt+Down", 2)
    assert texts(project) == [SECOND, THIRD, FIRST]
    press("Alt+Up")
    assert texts(project) == [SECOND, FIRST, THIRD]
    assert [editor.number.text() for editor in page.sheet.form.editors] == ["1", "2", "3"]


def test_retiring_takes_the_criterion_out_and_undo_brings_it_back(page, project):
    press("Ctrl+Backspace")
    assert texts(project) == [SECOND, THIRD]
    assert focus().toPlainText() == SECOND
    press("Ctrl+Z")
    assert texts(project) == [FIRST, SECOND, THIRD]
    assert [editor.text.toPlainText() for editor in page.sheet.form.editors] == [FIRST, SECOND, THIRD]


def test_esc_leaves_the_field_arrows_go_from_unit_to_unit_and_enter_goes_in(page):
    press("Esc")
    assert focus() is page.sheet.form.editors[0]
    press("Down")
    assert focus() is page.sheet.form.editors[1]
    press("Return")
    assert focus() is page.sheet.form.editors[1].text


def boxes_of(page) -> list[str]:
    return [editor.text.toPlainText() for editor in page.sheet.form.editors]


def test_enter_begins_the_next_criterion_below_and_an_empty_one_goes_no_further(page, project):
    press("Return")
    type_words("A new one")
    assert boxes_of(page) == [FIRST, "A new one", SECOND, THIRD]
    press("Enter")
    press("Enter", 2)
    assert boxes_of(page) == [FIRST, "A new one", "", SECOND, THIRD]
    page.sheet.form.go(page.sheet.form.editors[1].unit_id)
    press("Enter")
    assert focus() is page.sheet.form.editors[2].text
    assert len(boxes_of(page)) == 5


def test_shift_and_enter_break_the_line(page, project):
    press("Shift+Return")
    type_words("more")
    press("Tab")
    assert texts(project) == [f"{FIRST}\nmore", SECOND, THIRD]


def test_enter_that_ends_a_composition_begins_nothing(page, project):
    field = focus()
    QApplication.sendEvent(field, QInputMethodEvent("かん", []))
    press("Return")
    assert len(boxes_of(page)) == 3
    composed = QInputMethodEvent("", [])
    composed.setCommitString("漢")
    QApplication.sendEvent(field, composed)
    assert field.toPlainText().endswith("漢")


def test_enter_goes_to_the_next_field_where_a_unit_has_several_texts(page, project):
    begin(project, Kind.EVIDENCE, Evidence(units=(Reference(text="A paper"),)))
    page.go_to(page.item.id, Kind.EVIDENCE)
    page.sheet.focus_first()
    (editor,) = page.sheet.form.editors
    for name in ("text", "identifier", "authors", "year"):
        assert editor.field_of(focus()) == name
        press("Return")
    assert len(page.sheet.form.editors) == 1


def test_enter_in_a_note_goes_on_too(page, project):
    press("Ctrl+M")
    type_words("A note")
    press("Return")
    assert page.sheet.form.editors[1].isAncestorOf(focus())
    assert mine(project).document.units[0].note == "A note"


@pytest.mark.parametrize(
    ("to", "order"), [(2, [SECOND, THIRD, FIRST]), (1, [SECOND, FIRST, THIRD]), (0, TEXTS)]
)
def test_a_criterion_is_dragged_by_its_number(page, project, to, order):
    editors, form = page.sheet.form.editors, page.sheet.form
    number, goal = editors[0].number, editors[to]
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
    assert texts(project) == list(order)


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
    assert page.source.tabs.tabText(1) == "deep"


def test_a_submitted_criterion_is_not_dragged(page, project):
    press("Ctrl+Return")
    assert mine(project).state is State.SEALED
    numbers = [editor.number for editor in page.sheet.form.editors]
    assert all(one.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents) for one in numbers)


def test_no_model_is_offered_without_an_endpoint(page, project):
    assert not page.sheet.strip.draft.isVisible()
    judges.add(project, "pen", base_url="http://127.0.0.1:1/v1", model="m")
    page.navigate({})
    assert page.sheet.strip.draft.isVisible()


def test_the_wheel_over_a_list_changes_nothing(page, project, qtbot):
    from PySide6.QtCore import QPoint, QPointF, Qt
    from PySide6.QtGui import QWheelEvent
    from PySide6.QtWidgets import QApplication

    page.sheet.form.offer(page.item, [("a", "One"), ("b", "Two")])
    combo = page.sheet.form.editors[0].fields["insight_id"]
    turn = QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(combo, turn)
    assert combo.currentIndex() == 0


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_form_opens_without_a_remark_and_makes_them_once_it_is_to_be_submitted(kind, tmp_path, page_over):
    project = new_project(tmp_path / "new.goldsmith")
    item_id = items.add(project, "What is basalt?").subject
    page = page_over(project, "Author", item_id=item_id, kind=kind.value)
    page.sheet.start()
    page.sheet.checking.check()
    assert [line for line in page.sheet.form.findChildren(FindingLines) if line.isVisible()] == []
    assert "to fix" not in page.sheet.bar.remarks.text()
    page.sheet.submission.submit()
    assert "to fix" in page.sheet.bar.remarks.text()
