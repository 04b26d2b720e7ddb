"""Reports and PDFs: marks, selections, search, formulas and drawings, and what a report must never be able to do."""

import builtins
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication, QCheckBox
from pytestqt.qtbot import QtBot

from annotator.domain.texts.difference import find, locate
from annotator.domain.texts.rendered import CUT
from annotator.exchange.texts.rendering import render
from annotator.gui import theme
from annotator.gui.pages.help import IllustratedView
from annotator.gui.review.source_pane import TextPane
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.reading.find_bar import FindBar
from annotator.gui.widgets.reading.marked_text import OBJECT, TextPositions
from annotator.gui.widgets.reading.pdf_view import Caret, PdfView, by_letter, by_line, by_word, to_edge
from annotator.gui.widgets.reading.report_view import MARKS, PAGE, ReportView
from annotator.places import resources
from tests.gui.authoring.small_pdf import pdf
from tests.windows.using import inks, owned

SHORT = (
    "# A 👩‍🔬 title\n\nThe **model** answers [most](https://example.org/a?b=1) questions.\n\n- one\n- two\n"
)


@pytest.fixture
def view(qtbot) -> ReportView:
    return owned(qtbot, ReportView(), 600, 400)


def long_markdown() -> str:
    one = "Some **words** of a [paragraph](https://a.b/c) that go on. " * 6
    blocks = [f"## Part {n}\n\n{one}\n\n- first {n}\n- second\n\n" for n in range(120)]
    table = ["|a|b|\n|-|-|\n", *(f"|{n}|x|\n" for n in range(450)), "\n"]
    return "".join(["---\n\n", *blocks[:60], *table, *blocks[60:]])


def colours_at(view: ReportView, offset: int) -> list[str]:
    return [
        each.format.background().color().name() for each in view.extraSelections()
        if each.cursor.selectionStart() <= offset < each.cursor.selectionEnd()
    ]  # fmt: skip


def test_offsets_are_pythons_and_marks_and_selections_lie_on_the_words(view):
    view.show_html(render(SHORT).html)
    view.mark(*find(view.text(), "model answers most"), "evidence")
    (selection,) = view.extraSelections()
    assert selection.cursor.selectedText() == "model answers most"
    assert selection.format.underlineStyle() == QTextCharFormat.UnderlineStyle.SingleUnderline
    assert view.selected_text() == ("", -1, -1)
    start = view.text().index("model")
    view.select(start, start + 13)
    assert view.selected_text() == ("model answers", start, start + 13)
    assert SHORT[slice(*locate(SHORT, view.text(), start, start + 13))] == "model** answers"


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
    assert len({line for _, line in MARKS.values()}) == len(MARKS)


def test_loading_in_pieces_gives_the_same_document_as_at_once(view, qtbot):
    html = render(long_markdown()).html
    with qtbot.waitSignal(view.loaded):
        view.show_html(html)
    whole = view._new_document()
    whole.setHtml("".join(piece.strip() for piece in html.split(CUT)))
    mine, theirs = view.document().begin(), whole.begin()
    while theirs.isValid():
        assert (mine.text(), mine.blockFormat()) == (theirs.text(), theirs.blockFormat())
        mine, theirs = mine.next(), theirs.next()
    assert not mine.isValid()


def test_a_mark_set_while_loading_is_painted_when_all_is_there_and_kept_in_another_scheme(view, qtbot):
    with qtbot.waitSignal(view.loaded):
        view.show_html(render(long_markdown()).html)
        view.mark(0, 6, "evidence")
    assert colours_at(view, 3) == [theme.token("mark-evidence").name()]
    view.moveCursor(QTextCursor.MoveOperation.End)
    theme.choose("dark")
    assert colours_at(view, 3) == [theme.token("mark-evidence").name()]
    assert view.verticalScrollBar().value() > view.verticalScrollBar().maximum() * 0.9


def test_what_is_asked_for_while_loading_is_all_of_it_and_another_report_takes_its_place(view, qtbot):
    view.show_html(render(long_markdown()).html)
    assert "Part 119" in view.text()
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


def test_a_long_plain_text_comes_in_pages_across_which_marks_and_selections_reach(view, qtbot):
    view.show_plain("".join(f"line {n:05} 👩\n" for n in range(8_000)))
    assert view.pages == len(view.text()) // PAGE
    assert len(view.document().toPlainText()) <= PAGE * 3 // 2
    start = view.text().index("line 07000")
    view.mark(start, start + 10, "judge")
    assert view.extraSelections() == []
    view.reveal(start, start + 10)
    (selection,) = view.extraSelections()
    assert selection.cursor.selectedText() == "line 07000"
    view.select(start, start + 10)
    assert view.selected_text() == ("line 07000", start, start + 10)
    view.reveal(0, 4)
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


def test_the_words_at_the_top_stay_there_when_it_becomes_narrower(view):
    words = "Paragraph {} says something, and goes on for long enough to need more lines where it is narrow."
    view.show_html(render("\n\n".join(words.format(n) for n in range(400))).html)
    at = view.text().index("Paragraph 250 ")
    view.reveal(at, at + 13)
    bar = view.verticalScrollBar()
    bar.setValue(bar.value() + view.cursorRect(view._cursor(at, at)).top())
    values = {bar.value()}
    for width in (500, 900, 620, 1100, 700):
        view.setFixedWidth(width)
        assert view.cursorForPosition(view.rect().topLeft()).block().text().startswith("Paragraph 250 ")
        values.add(bar.value())
    assert len(values) > 1


TARGETS = ("https://example.invalid/x.png", "file:///etc/hostname", "/dev/zero", "\\\\host\\x", "file://host/x",
           "FILE:////host/x", "data:image/png;base64,AAAA", "x.png", "qrc:/x")  # fmt: skip


def test_whatever_is_asked_for_is_one_transparent_dot(view):
    for kind, target in product(QTextDocument.ResourceType, TARGETS):
        answer = view.loadResource(kind.value, QUrl(target))
        assert (answer.width(), answer.height(), answer.pixelColor(0, 0).alpha()) == (1, 1, 0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders here")
@pytest.mark.timeout(20)
def test_raw_html_that_got_past_every_guard_still_opens_no_file(view, tmp_path: Path):
    # A pipe nobody writes to would hang whoever opens it.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    view.show_html(
        f"<html><head><style>@import url('{pipe}'); body {{ background: url('{pipe}'); }}</style>"
        f"<link rel='stylesheet' href='{pipe}'></head><body background='{pipe}'>"
        f"<img src='{pipe}'><img src='file://{pipe}'><img src='/dev/zero'>"
        f"<table background='{pipe}'><tr><td>x</td></tr></table></body></html>"
    )
    view.grab()
    assert "x" in view.text()


@pytest.mark.timeout(20)
def test_a_report_with_every_kind_of_image_asks_for_nothing(view, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(ReportView, "loadResource", lambda self, kind, name: asked.append(str(name)))
    monkeypatch.setattr(builtins, "open", lambda *_: pytest.fail("a file was opened"))
    view.show_html(render("\n\n".join(f"![alt]({target}) [a]({target})" for target in TARGETS)).html)
    view.grab()
    assert (asked, view.text().count("[image: alt] a")) == ([], len(TARGETS))


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
    assert view.text().replace("\u200b", "") == text.replace("\r\n", "\n").replace("\r", "\n")


@pytest.fixture
def short_view(qtbot) -> ReportView:
    made = owned(qtbot, ReportView(), 600, 400)
    made.show_html(render("One cat, two Cats.\n\nNo dog. A *c*at again (a.b).").html)
    return made


@pytest.fixture
def bar(short_view, qtbot) -> FindBar:
    return owned(qtbot, FindBar(short_view))


def test_all_places_are_marked_counted_and_gone_through_until_escape(bar, short_view, qtbot):
    short_view.mark(0, 3, "evidence")
    bar.open_bar("cat")
    assert (bar.count(), len(short_view.marks("find"))) == ((1, 3), 2)
    assert [(m.start, m.end) for m in short_view.marks("find-current")] == [(4, 7)]
    for expected in (2, 3, 1):
        qtbot.keyClick(bar.words, Qt.Key.Key_Return)
        assert bar.count() == (expected, 3)
    qtbot.keyClick(bar.words, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.count() == (3, 3)
    with qtbot.waitSignal(bar.closed):
        qtbot.keyClick(bar.words, Qt.Key.Key_Escape)
    assert (bar.isHidden(), [mark.kind for mark in short_view.marks()]) == (True, ["evidence"])
    bar.open_bar("Cat")
    bar.findChild(QCheckBox).setChecked(True)
    assert bar.count() == (1, 1)
    # On another page.
    short_view.show_plain("word " * 15_000 + "needle")
    bar.open_bar("needle")
    assert (bar.count(), short_view._page) == ((1, 1), short_view.pages - 1)


FORMULA = r"$\theta_i^2$"
TEXT = f"The 😀 angle {FORMULA} and \\(x\\) turn.\n\n这里 $$E=mc^2$$ 有公式。\n\nهذا $y$ نص.\n"
SHOWN = f"The 😀 angle {FORMULA} and \\(x\\) turn.\n这里 $$E=mc^2$$ 有公式。\nهذا $y$ نص."


@pytest.fixture
def formulas(qtbot) -> ReportView:
    made = owned(qtbot, ReportView(), 600, 300)
    made.show_html(render(TEXT).html)
    return made


@pytest.mark.parametrize(
    ("words", "selected"),
    [
        (FORMULA, FORMULA), (f"angle {FORMULA} and",) * 2, ("$$E=mc^2$$ 有",) * 2, ("$y$", "$y$"),
        ("turn.\n这里 $$E=mc^2$$",) * 2, ("نص", "نص"), ("theta", FORMULA),
    ],
)  # fmt: skip
def test_words_are_selected_told_and_copied_across_formulas_each_as_it_is_written(formulas, words, selected):
    assert OBJECT in formulas.document().toPlainText()
    assert formulas.text() == SHOWN
    start = SHOWN.index(words)
    formulas.select(start, start + len(words))
    start = SHOWN.index(selected)
    assert formulas.selected_text() == (selected, start, start + len(selected))
    formulas.copy()
    assert QApplication.clipboard().text() == selected


def test_words_in_a_formula_are_found(formulas, qtbot):
    bar = owned(qtbot, FindBar(formulas))
    bar.open_bar("mc^2")
    assert bar.count() == (1, 1)
    bar.close_bar()
    assert formulas.selected_text()[0] == "$$E=mc^2$$"


def test_a_mark_over_a_formula_covers_it(formulas):
    start, end = SHOWN.index(FORMULA), SHOWN.index(FORMULA) + len(FORMULA)
    formulas.mark(start, end, "evidence")
    (selection,) = formulas.extraSelections()
    assert selection.cursor.selectionEnd() - selection.cursor.selectionStart() == 1
    first, last = (formulas.cursorRect(formulas._cursor(place, place)) for place in (start, end))
    picture = formulas.viewport().grab(first.united(last).adjusted(1, 0, -1, 0))
    assert theme.token("mark-evidence").name() in inks(picture)


def test_a_formula_wider_than_the_page_is_made_to_fit(qtbot):
    made = owned(qtbot, ReportView(), 300, 300)
    made.show_html(render(f"$$ {' + '.join(f'x_{{{n}}}' for n in range(40))} $$").html)
    assert made.document().size().width() <= made.viewport().width()


@pytest.mark.parametrize("objects", [(), ((2, 6),), ((0, 3), (3, 5), (6, 9))])
def test_places_go_there_and_back(objects):
    text = "ab😀cd😀ef😀"
    places = TextPositions(text, objects)
    inside = {n for start, end in objects for n in range(start + 1, end)}
    outside = [n for n in range(len(text) + 1) if n not in inside]
    told = [*map(places.to_qt, outside)]
    assert told == sorted(set(told))
    assert [*map(places.from_qt, told)] == outside
    for start, end in objects:
        assert {places.to_qt(n) for n in range(start, end)} == {places.to_qt(start)}
        assert places.to_qt(start + 1, end=True) == places.to_qt(end)


def test_a_formula_is_quoted_with_its_brackets_and_placed_where_it_stands(small, qtbot):
    pane = owned(qtbot, TextPane(ProjectSession(small)), 600, 300)
    text = "One **bold** \\(x_1\\), then \\(x_1\\) again, and \\(\\unknown\\) last."
    pane.show_report(text)
    assert "could not be drawn" in pane.banner.text()
    at, start = pane.report.text().rindex("\\(x_1"), text.rindex("\\(x_1")
    pane.report.select(at, at + 7)
    assert pane.selection() == ("\\(x_1\\)", start, start + 7)
    # Between its brackets; a mark within a formula covers all of it.
    assert pane.place("\\(x_1\\)", start) == (at + 2, at + 5)


WORDS = "First.\n\n![Two “windows” & a button.](pictures/smartscreen.svg)\n\nThen `![no](pictures/x.svg)`.\n"
IMAGE = 2


@pytest.fixture
def drawn(qtbot: QtBot) -> IllustratedView:
    made = owned(qtbot, IllustratedView(resources() / "help" / "pictures"), 900, 500)
    made.show_with_drawings(render(WORDS).html, WORDS)
    return made


def test_a_drawing_is_as_large_as_it_was_made_and_never_wider_than_the_page(drawn: IllustratedView) -> None:
    drawing = drawn.document().resource(IMAGE, "drawing:smartscreen")
    assert (drawing.width(), drawing.height(), drawing.pixelColor(20, 150).name()) == (600, 232, "#1c5a96")
    drawn.resize(400, 500)
    assert drawn.document().resource(IMAGE, "drawing:smartscreen").width() < drawn.viewport().width()
    assert drawn.horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize(
    "address", ["drawing:gatekeeper", "drawing:../../icons/goldsmith", "/etc/hosts", "file:x"]
)
def test_what_the_text_does_not_name_is_not_opened(drawn: IllustratedView, address: str) -> None:
    assert drawn.loadResource(IMAGE, address).width() == 1


PAGES = [["Gold is soft", "It melts at 1064 degrees"], ["Silver tarnishes"], ["Copper"]]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def pdf_view(qtbot) -> Iterator[PdfView]:
    made = owned(qtbot, PdfView(), 600, 500)
    made.setFocus()
    yield made
    made.clear()


@pytest.fixture
def shown(pdf_view) -> PdfView:
    assert pdf_view.show_pdf(pdf(PAGES))
    return pdf_view


def point(view: PdfView, across: float, down: float) -> QPoint:
    """A point of the viewport, from points of the first page counted from its top left."""
    corner, scale = view._page_box(0).topLeft(), view._layout.scale
    return (corner + QPointF(across * scale, down * scale)).toPoint()


def test_a_pdf_is_searched_in_slices_page_by_page(shown, qtbot, monkeypatch):
    monkeypatch.setattr("annotator.gui.widgets.reading.find_bar.AT_ONCE_S", 0)
    bar = FindBar(shown, shown)
    bar.open_bar("copper")
    assert (bar.count(), bar._count.text(), shown._pages._letters) == ((0, 0), "Searching…", {})
    qtbot.waitUntil(lambda: bar.count() == (1, 1))
    assert bar._count.text() == "1 of 1"
    bar.open_bar("gold")
    bar.close_bar()
    shown.clear()
    qtbot.wait(5)
    assert bar.count() == (0, 0)


def test_while_a_pdf_is_searched_no_place_of_the_words_before_counts_as_found(shown, qtbot, monkeypatch):
    bar = FindBar(shown, shown)
    bar.open_bar("copper")
    assert shown.chosen() is not None
    monkeypatch.setattr("annotator.gui.widgets.reading.find_bar.AT_ONCE_S", 0)
    bar.open_bar("no such words")
    assert shown.chosen() is None
    bar.go(1)
    assert bar._count.text() == "Searching…"
    bar.close_bar()
    assert shown.selected() is None


def test_pages_in_view_are_drawn_and_no_others(shown, qtbot):
    qtbot.waitUntil(lambda: shown._pages.cached_picture(0, shown._sharpness()) is not None)
    assert shown._pages.cached_picture(2, shown._sharpness()) is None
    image, top = shown.grab().toImage(), int(shown._page_box(0).top())
    assert min(image.pixelColor(x, y).lightness() for x in range(60, 200) for y in range(top + 40, 90)) < 60


def test_words_are_selected_by_keys_copied_and_gone_on_from_to_the_next_page(shown, qtbot):
    qtbot.keyClick(shown, Qt.Key.Key_Right, CONTROL | SHIFT)
    assert shown.selected() == ("Gold", 1)
    qtbot.keyClick(shown, Qt.Key.Key_End, SHIFT)
    assert shown.selected() == ("Gold is soft", 1)
    qtbot.keyClick(shown, Qt.Key.Key_Down, SHIFT)
    assert shown.selected() == ("Gold is soft\nIt melts at", 1)
    qtbot.keyClick(shown, Qt.Key.Key_Right)
    assert shown.selected() is None
    with qtbot.waitSignal(shown.selection_changed) as told:
        qtbot.keyClick(shown, Qt.Key.Key_A, CONTROL)
    assert told.args == ["Gold is soft\nIt melts at 1064 degrees", 1]
    qtbot.keyClick(shown, Qt.Key.Key_C, CONTROL)
    assert QApplication.clipboard().text() == told.args[0]
    for _ in range(3):
        qtbot.keyClick(shown, Qt.Key.Key_Down)
    qtbot.keyClick(shown, Qt.Key.Key_Home)
    qtbot.keyClick(shown, Qt.Key.Key_Right, CONTROL | SHIFT)
    assert shown.selected() == ("Silver", 2)


def test_words_are_selected_by_the_mouse(shown, qtbot):
    qtbot.mousePress(shown.viewport(), Qt.MouseButton.LeftButton, pos=point(shown, 52, 58))
    qtbot.mouseMove(shown.viewport(), point(shown, 79, 58))
    qtbot.mouseRelease(shown.viewport(), Qt.MouseButton.LeftButton)
    qtbot.mouseDClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=point(shown, 60, 58))
    assert shown.selected() == ("Gold", 1)


def test_a_quotation_is_marked_and_brought_into_view(shown):
    span = shown.place("silver\n tarnishes", 2)
    shown.set_marks("evidence", [span])
    shown.reveal(*span)
    assert (shown.page, shown.place("platinum", 3), shown.place("Gold", 9)) == (2, None, None)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "damaged"),
        (b"%PDF-1.7 and then nothing", "damaged"),
        (b"<html>not a PDF</html>", "damaged"),
        (pdf(PAGES)[:200], "damaged"),
        (pdf(PAGES, locked=True), "password"),
    ],
    ids=["empty", "cut short", "HTML", "truncated", "locked"],
)
def test_an_unreadable_pdf_is_explained_in_its_place(pdf_view, data, words):
    assert not pdf_view.show_pdf(data)
    assert words in pdf_view.message
    assert (pdf_view.count, pdf_view.page, pdf_view.selected()) == (0, 0, None)
    pdf_view.grab()


def test_another_pdf_takes_the_place_of_the_first_and_nothing_is_done_where_there_is_none(shown, qtbot):
    shown.select_page()
    assert shown.show_pdf(pdf([["Other"]]))
    assert (shown.count, shown.selected()) == (1, None)
    shown.select_page()
    assert shown.selected() == ("Other", 1)
    # A turned page is selected where it is drawn.
    shown.show_pdf(pdf([["Turned words"]], rotate=90))
    words = shown._words(0)
    box = words.boxes(0, 6)[0]
    assert box.height() > box.width()
    assert words.at(box.center().x(), box.center().y()) in range(6)
    shown.show_message("No file came with this source.")
    for key in (Qt.Key.Key_Down, Qt.Key.Key_A, Qt.Key.Key_C, Qt.Key.Key_Space):
        qtbot.keyClick(shown, key, CONTROL)
    qtbot.mouseDClick(shown.viewport(), Qt.MouseButton.LeftButton)
    assert shown.selected() is None


@pytest.mark.timeout(60)
def test_damage_anywhere_never_ends_the_program(pdf_view):
    whole = pdf(PAGES)
    for place in range(0, len(whole), 23):
        pdf_view.show_pdf(whole[:place] + b"\xff" + whole[place + 1 :])
        assert not pdf_view.grab().isNull()
        pdf_view.select_page()


LETTERS = "Gold is soft.\r\nIt melts at 1064 °C\r\nin air"


@pytest.mark.parametrize(
    ("at", "step", "way", "place"),
    [
        (0, by_letter, 1, 1),
        (0, by_letter, -1, 0),
        (0, by_word, 1, 4),
        (4, by_word, 1, 7),
        (7, by_word, -1, 5),
        (2, by_line, 1, 17),
        (17, by_line, -1, 2),
        (30, by_line, 1, 42),
        (2, by_line, -1, 0),
        (38, by_line, 1, 42),
        (2, to_edge, 1, 13),
        (20, to_edge, -1, 15),
        (42, by_letter, 1, 42),
    ],
)
def test_the_caret_goes_by_letters_words_and_lines(at, step, way, place):
    assert Caret(0, at, at).moved(LETTERS, step, way, extend=False).head == place


def test_extending_keeps_the_anchor_whichever_way_it_goes():
    back = Caret(0, 8, 8).moved(LETTERS, by_word, -1, extend=True)
    assert (back.anchor, back.span) == (8, (5, 8))
    assert back.moved(LETTERS, by_word, 1, extend=True).span == (7, 8)
