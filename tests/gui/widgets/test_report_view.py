"""A report as it is read: marks, selections and places, and what it must never be able to do."""

import builtins
import os
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QCheckBox

from annotator.domain.texts.difference import find, locate
from annotator.domain.texts.rendered import CUT
from annotator.exchange.texts.rendering import render
from annotator.gui import theme
from annotator.gui.widgets.reading import report_view
from annotator.gui.widgets.reading.find_bar import FindBar
from annotator.gui.widgets.reading.report_view import PAGE, ReportView

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
    lines = [line for _, line in report_view.MARKS.values()]
    assert len(set(lines)) == len(lines)


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


def test_each_paragraph_runs_in_its_own_direction(view):
    view.show_html(render("English words.\n\nهذا نص عربي.\n").html)
    first = view.document().begin()
    assert first.textDirection() == Qt.LayoutDirection.LeftToRight
    assert first.next().textDirection() == Qt.LayoutDirection.RightToLeft


TARGETS = ("https://example.invalid/x.png", "file:///etc/hostname", "/dev/zero", "\\\\host\\x", "file://host/x",
           "FILE:////host/x", "data:image/png;base64,AAAA", "x.png", "qrc:/x")  # fmt: skip


def test_whatever_is_asked_for_is_one_transparent_dot(view):
    for kind, target in product(QTextDocument.ResourceType, TARGETS):
        answer = view.loadResource(kind.value, QUrl(target))
        assert (answer.width(), answer.height()) == (1, 1)
        assert answer.pixelColor(0, 0).alpha() == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders here")
@pytest.mark.timeout(20)
def test_raw_html_that_got_past_every_guard_still_opens_no_file(view, tmp_path: Path):
    """A pipe nobody writes to would hang whoever opens it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    style = f"<style>@import url('{pipe}'); body {{ background: url('{pipe}'); }}</style>"
    table = f"<table background='{pipe}'><tr><td>x</td></tr></table>"
    images = f"<img src='{pipe}'><img src='file://{pipe}'><img src='/dev/zero'>{table}"
    head = f"<head>{style}<link rel='stylesheet' href='{pipe}'></head>"
    view.show_html(f"<html>{head}<body background='{pipe}'>{images}</body></html>")
    view.grab()
    assert "x" in view.text()


@pytest.mark.timeout(20)
def test_a_report_with_every_kind_of_image_asks_for_nothing(view, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(ReportView, "loadResource", lambda self, kind, name: asked.append(str(name)))
    monkeypatch.setattr(builtins, "open", lambda *_: pytest.fail("a file was opened"))
    view.show_html(render("\n\n".join(f"![alt]({target}) [a]({target})" for target in TARGETS)).html)
    view.grab()
    assert asked == []
    assert view.text().count("[image: alt] a") == len(TARGETS)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    ["a" * 1_000_000, "[" * 50_000, "> " * 10_000 + "a", "words of it " * 870_000, "a" + "\u0301" * 100_000,
     "\u202ea" * 50_000, "👩‍👩‍👧" * 20_000, "a\r\u2028\u2029\r\nb"],
    ids=["1 MB without a space", "brackets", "quotations", "10 MB", "zalgo", "overrides", "emoji", "line ends"],
)  # fmt: skip
def test_hostile_text_is_shown_plain_with_every_letter(view, text):
    view.show_plain(text)
    view.grab()
    seen = view.text().replace("\u200b", "")
    assert seen == text.replace("\r\n", "\n").replace("\r", "\n")


def test_noncharacters_do_not_pass_for_frames(view):
    view.show_html(render("a\ufdd0b\ufdd1c\n\nd").html)
    assert view.text() == "a\ufffdb\ufffdc\nd"


@pytest.fixture
def short_view(qtbot) -> ReportView:
    made = ReportView()
    qtbot.addWidget(made)
    made.show_html(render("One cat, two Cats.\n\nNo dog. A *c*at again (a.b).").html)
    made.show()
    return made


@pytest.fixture
def bar(short_view, qtbot) -> FindBar:
    made = FindBar(short_view)
    qtbot.addWidget(made)
    return made


def test_all_places_are_marked_and_counted(bar, short_view):
    bar.open_bar("cat")
    assert bar.count() == (1, 3)
    assert len(short_view.marks("find")) == 2
    assert [(m.start, m.end) for m in short_view.marks("find-current")] == [(4, 7)]


def test_enter_goes_on_around_the_end_and_shift_enter_back(bar, qtbot):
    bar.open_bar("cat")
    for expected in (2, 3, 1):
        qtbot.keyClick(bar.words, Qt.Key.Key_Return)
        assert bar.count() == (expected, 3)
    qtbot.keyClick(bar.words, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.count() == (3, 3)


def test_case_counts_when_it_is_asked_for(bar):
    bar.open_bar("Cat")
    bar.findChild(QCheckBox).setChecked(True)
    assert bar.count() == (1, 1)


def test_escape_closes_and_takes_the_marks_away(bar, short_view, qtbot):
    short_view.mark(0, 3, "evidence")
    bar.open_bar("cat")
    with qtbot.waitSignal(bar.closed):
        qtbot.keyClick(bar.words, Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert [mark.kind for mark in short_view.marks()] == ["evidence"]


def test_words_on_another_page_are_found(bar, short_view):
    short_view.show_plain("word " * 15_000 + "needle")
    bar.open_bar("needle")
    assert bar.count() == (1, 1)
    assert short_view._page == short_view.pages - 1
