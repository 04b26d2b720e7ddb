"""How words of a source become a unit's quotation, and how they are found again."""

import pytest
from PySide6.QtCore import Qt

from annotator.actions import items, sources
from annotator.domain.canonical import sha256
from annotator.gui.pages.author.quoting import anchor_of, anchor_on_page
from tests.authoring_project import PAPER, begun_project, mine
from tests.gui.small_pdf import pdf
from tests.labelling_keys import focus, press

PROJECT = begun_project
AGAIN = "A residual block"


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Author")


def select(page, words: str, nth: int = 0) -> None:
    """Select the n-th occurrence of words in the source as shown."""
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
    assert anchor.stands_in(PAPER)
    assert quoted(project, 0) is None


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
    assert "Select words in the source first" in page.sheet.messages.text()


def test_the_quotation_is_a_press_away_from_its_place(page, project, qtbot):
    select(page, AGAIN, nth=1)
    press("Ctrl+E")
    page.source.tabs.setCurrentIndex(1)
    qtbot.mouseClick(page.sheet.form.editors[0]._chip.button, Qt.MouseButton.LeftButton)
    (mark,) = page.source.text.marks("evidence")
    shown = page.source.text.text()
    assert page.source.tabs.currentIndex() == 0
    assert (mark.start, shown[mark.start : mark.end]) == (shown.rindex(AGAIN), AGAIN)


def test_a_quotation_is_taken_away_and_comes_back_with_undo(page, project, qtbot):
    select(page, "train badly")
    press("Ctrl+E")
    qtbot.mouseClick(page.sheet.form.editors[0]._chip.remove, Qt.MouseButton.LeftButton)
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
    assert anchor.stands_in(source.text)
    assert page.sheet.form.editors[0]._chip.button.text().endswith("— p. 2")


def test_a_pdf_is_searched_as_text(page, project, tmp_path):
    path = tmp_path / "paper.pdf"
    path.write_bytes(pdf([["First page."], ["Deep networks train"]]))
    page.desk.do(sources.add_source, page.item.id, path)
    press("Ctrl+F")
    assert page.source.as_text.isChecked()
    page.source.finder.words.setText("networks")
    page.source.finder.search()
    assert page.source.finder.count() == (1, 1)
    select(page, "networks")
    page.source.enter()
    press("Ctrl+E")
    assert quoted(project).page == 2


def test_offsets_on_a_page_are_those_of_the_whole_text():
    text = "same words here\n\f\nsame words here\n\f\nlast"
    anchor = anchor_on_page("s", text, "words here", 2)
    assert (anchor.start, anchor.end, anchor.page) == (23, 33, 2)


def test_words_that_the_text_of_a_pdf_does_not_hold_are_kept_without_offsets():
    anchor = anchor_on_page("s", "", "scanned words", 3)
    assert (anchor.quote, anchor.page, anchor.start) == ("scanned words", 3, -1)


def test_words_that_are_not_in_the_text_give_no_quotation():
    assert anchor_of("s", "some text", "another thing", 0, 7) is None
