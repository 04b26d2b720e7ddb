"""How words of a source become a unit's quotation, and how they are found again."""

import pytest
from PySide6.QtCore import Qt, QTimer

from annotator.actions.items import items, sources
from annotator.domain.texts.canonical import sha256
from annotator.gui.review.source_pane import anchor_of, anchor_on_page
from annotator.gui.widgets.bars.message_bar import INFO_MS, READ_MS
from annotator.gui.widgets.reading import report_pages
from tests.gui.authoring.small_pdf import pdf
from tests.material.anchors import stands_in
from tests.projects.authoring_project import PAPER, begun_project, mine
from tests.windows.labelling_keys import focus, press, type_words

PROJECT = begun_project
AGAIN = "A residual block"


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Author")


def select(page, words: str, nth: int = 0) -> None:
    shown, start = page.source.text.text(), -1
    for _ in range(nth + 1):
        start = shown.index(words, start + 1)
    page.source.text.select(start, start + len(words))


def quoted(project, unit: int = 0):
    return mine(project).document.units[unit].anchor


def test_the_selected_words_become_the_quotation_of_the_unit_at_the_cursor(page, project):
    page.sheet.form.editors[1].text.setFocus()
    page.source.enter()
    select(page, "train badly")
    press("Ctrl+E")
    anchor = quoted(project, 1)
    assert (anchor.quote, PAPER[anchor.start : anchor.end]) == ("train badly", "train badly")
    assert anchor.source_id == sources.sources(project, items.ids(project)[0])[0].id
    assert anchor.text_sha256 == sha256(PAPER)
    assert stands_in(anchor, PAPER)
    assert quoted(project, 0) is None


def test_a_long_source_that_is_quoted_comes_in_slices_and_is_marked_once_it_is_there(
    page, qtbot, monkeypatch
):
    page.source.enter()
    select(page, "train badly")
    press("Ctrl+E")
    monkeypatch.setattr(report_pages, "AT_ONCE", 0)
    page.source._show_tab()
    shown = page.source.text
    assert (shown.loading, shown.marks()) == (True, [])
    qtbot.waitUntil(lambda: bool(shown.marks("evidence")))
    assert [shown.text()[mark.start : mark.end] for mark in shown.marks()] == ["train badly"]


def test_markdown_marks_between_the_words_are_part_of_the_quotation(page, project):
    select(page, "its input to")
    press("Ctrl+E")
    assert quoted(project).quote == "its **input** to"


def test_of_two_equal_passages_the_selected_one_is_quoted(page, project):
    select(page, AGAIN, nth=1)
    press("Ctrl+E")
    assert quoted(project).start == PAPER.rindex(AGAIN)


def test_white_space_around_a_selection_is_left_out(page, project):
    select(page, " train badly. ")
    press("Ctrl+E")
    assert quoted(project).quote == "train badly."


def test_after_quoting_one_goes_on_writing_in_the_unit(page):
    page.source.enter()
    select(page, "train badly")
    press("Ctrl+E")
    assert focus() is page.sheet.form.editors[0].text


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
    select(page, AGAIN, nth=1)
    press("Ctrl+E")
    page.source.tabs.setCurrentIndex(1)
    qtbot.mouseClick(page.sheet.form.editors[0]._chips.chips[0].button, Qt.MouseButton.LeftButton)
    (mark,) = page.source.text.marks("evidence")
    shown = page.source.text.text()
    assert page.source.tabs.currentIndex() == 0
    assert (mark.start, shown[mark.start : mark.end]) == (shown.rindex(AGAIN), AGAIN)


def test_a_quotation_is_taken_away_and_comes_back_with_undo(page, project, qtbot):
    select(page, "train badly")
    press("Ctrl+E")
    qtbot.mouseClick(page.sheet.form.editors[0]._chips.chips[0].remove, Qt.MouseButton.LeftButton)
    assert quoted(project) is None
    press("Ctrl+Z")
    assert quoted(project).quote == "train badly"


def test_the_question_can_be_quoted_too(page, project):
    page.source.tabs.setCurrentIndex(page.source.tabs.count() - 1)
    select(page, "residual connections")
    press("Ctrl+E")
    assert (quoted(project).source_id, quoted(project).start) == ("", len("Why do "))


def test_a_page_of_a_pdf_is_quoted_with_its_number_and_its_place_in_the_text(page, project, tmp_path):
    path = tmp_path / "paper.pdf"
    path.write_bytes(pdf([["First page."], ["Deep networks train", "with residual blocks."]]))
    page.desk.do(sources.add_source, page.item.id, path)
    source = sources.sources(project, page.item.id)[1]
    assert page.source.tabs.currentIndex() == 1
    page.source.pdf.go_to_page(2)
    page.source.pdf.select_page()
    press("Ctrl+E")
    anchor = quoted(project)
    assert (anchor.page, anchor.source_id) == (2, source.id)
    assert stands_in(anchor, source.text)
    assert page.sheet.form.editors[0]._chips.chips[0].button.text().endswith("— p. 2")


def test_what_is_found_is_what_the_key_quotes(page, project):
    page.sheet.form.editors[1].text.setFocus()
    press("Ctrl+F")
    type_words("residual block")
    press("Return")
    press("Return")
    press("Esc")
    assert focus() is page.source.text
    press("Ctrl+E")
    anchor = quoted(project, 1)
    assert (anchor.start, anchor.quote) == (PAPER.rindex("residual block"), "residual block")


def test_what_is_found_is_quoted_while_the_search_is_still_open(page, project):
    assert not page.source.quoting.isEnabled()
    press("Ctrl+F")
    type_words("train badly")
    press("Return")
    assert page.source.quoting.isEnabled()
    press("Ctrl+E")
    assert quoted(project).quote == "train badly"


def add_pdf(page, folder, pages) -> None:
    path = folder / "paper.pdf"
    path.write_bytes(pdf(pages))
    page.desk.do(sources.add_source, page.item.id, path)


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
    assert stands_in(anchor, sources.sources(project, page.item.id)[1].text)


def all_quoted(project, unit: int = 0) -> list[str]:
    return [anchor.quote for anchor in mine(project).document.units[unit].anchors]


def chips(page, unit: int = 0):
    return [chip for chip in page.sheet.form.editors[unit]._chips.chips if not chip.isHidden()]


def quote_words(page, *several: str) -> None:
    for words in several:
        select(page, words)
        press("Ctrl+E")


def test_a_second_quotation_stands_beside_the_first_and_both_are_listed(page, project):
    quote_words(page, "train badly", "its input to")
    assert all_quoted(project) == ["train badly", "its **input** to"]
    assert [chip.button.text() for chip in chips(page)] == ["“train badly”", "“its input to”"]
    press("Ctrl+Z")
    assert all_quoted(project) == ["train badly"]
    assert len(chips(page)) == 1


def test_of_several_quotations_one_is_taken_away(page, project, qtbot):
    quote_words(page, "train badly", "its input to", "Residual networks")
    qtbot.mouseClick(chips(page)[0].remove, Qt.MouseButton.LeftButton)
    assert all_quoted(project) == ["its **input** to", "Residual networks"]
    qtbot.mouseClick(chips(page)[1].remove, Qt.MouseButton.LeftButton)
    assert all_quoted(project) == ["its **input** to"]


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


def test_passages_of_a_pdf_stay_marked_too(page, project, tmp_path):
    add_pdf(page, tmp_path, [["First page."], ["Deep networks", "train badly"]])
    for words in ("First", "train badly"):
        press("Ctrl+F")
        page.source.finder.words.setText(words)
        press("Esc")
        press("Ctrl+E")
    assert [anchor.page for anchor in mine(project).document.units[0].anchors] == [1, 2]
    assert len(page.source.pdf._marks["evidence"]) == 2
    assert page.source.pdf_steps.told.text() == "Passage 1 of 2"


def test_the_words_at_the_top_stay_there_when_a_panel_opens(project, page_over, tmp_path):
    long = tmp_path / "long.md"
    long.write_text(
        "\n\n".join(
            f"Paragraph {n} says something, and goes on for long enough to need more lines where it is narrow."
            for n in range(400)
        ),
        "utf-8",
    )
    sources.add_source(project, items.ids(project)[0], long)
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
