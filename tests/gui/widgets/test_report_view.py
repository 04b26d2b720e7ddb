import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCharFormat, QTextCursor

from annotator.domain.texts.quotation import find, locate
from annotator.domain.texts.rendered import CUT
from annotator.exchange.texts.rendering import render
from annotator.gui import theme
from annotator.gui.widgets.reading import report_style
from annotator.gui.widgets.reading.report_pages import AT_ONCE, PAGE
from annotator.gui.widgets.reading.report_view import ReportView

SHORT = (
    "# A 👩‍🔬 title\n\nThe **model** answers [most](https://example.org/a?b=1) questions.\n\n- one\n- two\n"
)


@pytest.fixture
def view(qtbot) -> ReportView:
    made = ReportView()
    qtbot.addWidget(made)
    made.resize(600, 400)
    made.show()
    qtbot.waitExposed(made)
    return made


def long_markdown(parts: int = 120) -> str:
    table = "|a|b|\n|-|-|\n" + "".join(f"|{n}|x|\n" for n in range(450))
    one = "Some **words** of a [paragraph](https://a.b/c) that go on. " * 6
    blocks = [f"## Part {n}\n\n{one}\n\n- first {n}\n- second\n\n" for n in range(parts)]
    blocks[0] = "---\n\n" + blocks[0]
    return "".join(blocks[:60]) + table + "\n" + "".join(blocks[60:])


def colours_at(view: ReportView, offset: int) -> list[str]:
    covering = [
        s for s in view.extraSelections() if s.cursor.selectionStart() <= offset < s.cursor.selectionEnd()
    ]
    return [selection.format.background().color().name() for selection in covering]


def test_offsets_are_pythons_and_marks_lie_on_the_words(view):
    view.show_html(render(SHORT).html)
    span = find(view.text(), "model answers most")
    assert span
    view.mark(*span, "evidence")
    (selection,) = view.extraSelections()
    assert selection.cursor.selectedText() == "model answers most"
    assert selection.format.underlineStyle() == QTextCharFormat.UnderlineStyle.SingleUnderline


def test_a_selection_comes_back_with_its_words_and_offsets(view):
    view.show_html(render(SHORT).html)
    assert view.selected_text() == ("", -1, -1)
    start = view.text().index("model")
    view.select(start, start + 13)
    assert view.selected_text() == ("model answers", start, start + 13)
    span = locate(SHORT, view.text(), start, start + 13)
    assert span
    assert SHORT[slice(*span)] == "model** answers"


def test_marks_of_a_kind_are_replaced_and_cleared_alone(view):
    view.show_html(render(SHORT).html)
    view.mark(0, 3, "evidence")
    view.set_marks("judge", [(4, 6), (8, 9)])
    view.set_marks("judge", [(4, 6)])
    assert [(m.start, m.kind) for m in view.marks()] == [(0, "evidence"), (4, "judge")]
    view.clear_marks("evidence")
    assert len(view.extraSelections()) == 1
    with pytest.raises(KeyError):
        view.mark(0, 1, "unknown")


def test_kinds_of_marks_differ_in_more_than_their_colour():
    lines = [line for _, line in report_style.MARKS.values()]
    assert len(set(lines)) == len(lines)


def test_a_long_report_is_whole_once_it_is_loaded(view, qtbot):
    html = render(long_markdown()).html
    assert len(html) > AT_ONCE
    with qtbot.waitSignal(view.loaded):
        view.show_html(html)
    text = view.document().toPlainText()
    assert text.index("Part 0") < text.index("Part 119")
    assert view.text() == text


def test_loading_in_pieces_gives_the_same_document_as_at_once(view, qtbot):
    html = render(long_markdown()).html
    with qtbot.waitSignal(view.loaded):
        view.show_html(html)
    whole = view._new_document()
    whole.setHtml("".join(piece.strip() for piece in html.split(CUT)))
    mine, theirs = view.document().begin(), whole.begin()
    while theirs.isValid():
        assert mine.text() == theirs.text()
        assert mine.blockFormat() == theirs.blockFormat()
        mine, theirs = mine.next(), theirs.next()
    assert not mine.isValid()


def test_who_asks_for_the_text_gets_all_of_it_even_while_loading(view):
    view.show_html(render(long_markdown()).html)
    assert "Part 119" in view.text()


def test_a_mark_set_while_loading_is_painted_when_all_is_there(view, qtbot):
    with qtbot.waitSignal(view.loaded):
        view.show_html(render(long_markdown()).html)
        view.mark(0, 6, "evidence")
    assert colours_at(view, 3) == [theme.token("mark-evidence").name()]


def test_another_report_in_the_middle_of_loading_takes_its_place(view, qtbot):
    view.show_html(render(long_markdown()).html)
    view.show_html(render("only this").html)
    qtbot.wait(60)
    assert view.text() == view.document().toPlainText() == "only this"


def test_a_mark_out_of_sight_is_brought_into_view_and_the_selection_kept(view):
    view.show_html(render(long_markdown()).html)
    view.text()
    view.select(1, 7)
    start = view.text().index("second", view.text().index("Part 100"))
    view.reveal(start, start + 6)
    assert 0 <= view.cursorRect(view._cursor(start, start)).top() <= view.viewport().height()
    assert view.selected_text() == ("Part 0", 1, 7)


def test_plain_text_is_shown_letter_by_letter(view):
    view.show_plain("<b>not bold</b> **nor this**\r\nnext")
    assert view.text() == "<b>not bold</b> **nor this**\nnext"
    assert view.document().toPlainText() == view.text()
    assert view.pages == 1


def test_a_long_plain_text_comes_in_pages_cut_at_lines(view):
    view.show_plain("a line of words 👩\n" * 8_000)
    assert view.pages == len(view.text()) // PAGE
    shown = view.document().toPlainText()
    assert shown.startswith("a line")
    assert len(shown) <= PAGE * 3 // 2


def test_marks_and_selections_reach_across_pages(view):
    view.show_plain("".join(f"line {n:05} 👩\n" for n in range(8_000)))
    start = view.text().index("line 07000")
    view.mark(start, start + 10, "judge")
    assert view.extraSelections() == []
    view.reveal(start, start + 10)
    (selection,) = view.extraSelections()
    assert selection.cursor.selectedText() == "line 07000"
    view.select(start, start + 10)
    assert view.selected_text() == ("line 07000", start, start + 10)


def test_the_page_after_is_a_press_of_space_away(view, qtbot):
    view.show_plain("word " * 20_000)
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    qtbot.keyClick(view, Qt.Key.Key_Space)
    assert view._page == 1
    qtbot.keyClick(view, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    assert view._page == 0


def test_a_link_is_told_and_not_followed(view, qtbot):
    view.show_html(render(SHORT).html)
    cursor = view.textCursor()
    cursor.setPosition(view._cursor(view.text().index("most") + 2, 0).anchor())
    view.setTextCursor(cursor)
    with qtbot.waitSignal(view.link_clicked) as told:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert told.args == ["https://example.org/a?b=1"]
    assert "model" in view.text()


def test_another_scheme_keeps_text_marks_and_place(view, qtbot):
    with qtbot.waitSignal(view.loaded):
        view.show_html(render(long_markdown()).html)
    view.mark(0, 6, "evidence")
    view.moveCursor(QTextCursor.MoveOperation.End)
    theme.choose("dark")
    assert colours_at(view, 3) == [theme.token("mark-evidence").name()]
    assert "Part 119" in view.text()
    bar = view.verticalScrollBar()
    assert bar.value() > bar.maximum() * 0.9


def test_this_text_alone_grows(view):
    view.show_html(render(SHORT).html)
    before = view.document().defaultFont().pointSizeF()
    view.zoom_text(1)
    assert view.document().defaultFont().pointSizeF() == pytest.approx(before * 1.1)
    view.zoom_text(0)
    assert view.document().defaultFont().pointSizeF() == pytest.approx(before)


def test_each_paragraph_runs_in_its_own_direction(view):
    view.show_html(render("English words.\n\nهذا نص عربي.\n").html)
    first = view.document().begin()
    assert first.textDirection() == Qt.LayoutDirection.LeftToRight
    assert first.next().textDirection() == Qt.LayoutDirection.RightToLeft
