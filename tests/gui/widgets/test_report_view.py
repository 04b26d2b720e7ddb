"""What is read: marks, selections, formulas and drawings, and what a report must never be able to do."""

import builtins
import os
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication, QCheckBox
from pytestqt.qtbot import QtBot

from annotator.actions.items import items
from annotator.actions.labelling import labels
from annotator.domain.texts.difference import find, locate
from annotator.domain.texts.rendered import CUT
from annotator.exchange.texts.rendering import render
from annotator.gui import theme
from annotator.gui.pages.help import IllustratedView
from annotator.gui.widgets.reading.find_bar import FindBar
from annotator.gui.widgets.reading.marked_text import OBJECT, TextPositions
from annotator.gui.widgets.reading.report_view import MARKS, PAGE, ReportView
from annotator.places import resources
from tests.material.anchors import stands_in
from tests.projects.authoring_project import begun_project, mine
from tests.projects.small_projects import add_report, labelling_project
from tests.windows.using import inks, owned, press

SHORT = (
    "# A 👩‍🔬 title\n\nThe **model** answers [most](https://example.org/a?b=1) questions.\n\n- one\n- two\n"
)


@pytest.fixture
def view(qtbot) -> ReportView:
    return owned(qtbot, ReportView(), 600, 400)


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


def test_offsets_are_pythons_and_marks_and_selections_lie_on_the_words(view):
    view.show_html(render(SHORT).html)
    span = find(view.text(), "model answers most")
    view.mark(*span, "evidence")
    (selection,) = view.extraSelections()
    assert selection.cursor.selectedText() == "model answers most"
    assert selection.format.underlineStyle() == QTextCharFormat.UnderlineStyle.SingleUnderline
    assert view.selected_text() == ("", -1, -1)
    start = view.text().index("model")
    view.select(start, start + 13)
    assert view.selected_text() == ("model answers", start, start + 13)
    span = locate(SHORT, view.text(), start, start + 13)
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
    lines = [line for _, line in MARKS.values()]
    assert len(set(lines)) == len(lines)


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
    assert "Part 119" in view.text()
    bar = view.verticalScrollBar()
    assert bar.value() > bar.maximum() * 0.9


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
    shown = view.document().toPlainText()
    # Cut at lines.
    assert shown.startswith("line 00000")
    assert len(shown) <= PAGE * 3 // 2
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
        assert (answer.width(), answer.height(), answer.pixelColor(0, 0).alpha()) == (1, 1, 0)


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


def test_noncharacters_do_not_pass_for_frames(view):
    view.show_html(render("a\ufdd0b\ufdd1c\n\nd").html)
    assert view.text() == "a\ufffdb\ufffdc\nd"


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


def ink(formulas: ReportView, words: str) -> set[str]:
    start = formulas.text().index(words)
    box = formulas.cursorRect(formulas._cursor(start, start))
    end = formulas.cursorRect(formulas._cursor(start + len(words), start + len(words)))
    seen = inks(formulas.viewport().grab(box.united(end).adjusted(1, 0, -1, 0)))
    return seen - {formulas.palette().base().color().name()}


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
    start = SHOWN.index(FORMULA)
    formulas.mark(start, start + len(FORMULA), "evidence")
    (selection,) = formulas.extraSelections()
    cursor: QTextCursor = selection.cursor
    assert cursor.selectionEnd() - cursor.selectionStart() == 1
    assert theme.token("mark-evidence").name() in ink(formulas, FORMULA)


def test_a_formula_wider_than_the_page_is_made_to_fit(qtbot):
    made = owned(qtbot, ReportView(), 300, 300)
    made.show_html(render(f"$$ {' + '.join(f'x_{{{n}}}' for n in range(40))} $$").html)
    assert made.document().size().width() <= made.viewport().width()


@pytest.mark.parametrize("objects", [(), ((2, 6),), ((0, 3), (3, 5), (6, 9))])
def test_places_go_there_and_back(objects):
    text = "ab😀cd😀ef😀"
    places = TextPositions(text, objects)
    inside = {n for start, end in objects for n in range(start + 1, end)}
    told = [places.to_qt(n) for n in range(len(text) + 1) if n not in inside]
    assert told == sorted(set(told))
    assert [places.from_qt(position) for position in told] == [
        n for n in range(len(text) + 1) if n not in inside
    ]
    for start, end in objects:
        assert {places.to_qt(n) for n in range(start, end)} == {places.to_qt(start)}
        assert places.to_qt(start + 1, end=True) == places.to_qt(end)


def test_a_quotation_across_a_formula_keeps_its_offsets_in_the_source(tmp_path, page_over):
    project = begun_project(tmp_path)
    paper = "# On angles\n\nThe **angle** $\\theta$ and the angle $\\theta$ are `equal`, as $\\theta$ is.\n"
    path = tmp_path / "angles.md"
    path.write_text(paper, "utf-8")
    items.add_source(project, items.ids(project)[0], path)
    page = page_over(project, "Author")
    page.source.tabs.setCurrentIndex(1)
    shown = page.source.text.text()
    start = shown.rindex("angle $")
    page.source.text.select(start, shown.index(" are") + 4)
    press("Ctrl+E")
    anchor = mine(project).document.units[0].anchor
    assert (anchor.start, anchor.quote) == (paper.rindex("angle $"), "angle $\\theta$ are")
    assert stands_in(anchor, paper)
    (mark,) = page.source.text.marks("evidence")
    assert (mark.start, mark.end) == (start, shown.index(" are") + 4)


def test_evidence_that_is_a_formula_is_marked_where_it_stands(tmp_path, page_over):
    project = labelling_project(tmp_path)
    page = page_over(project, "Label")
    text = "First \\(x^2\\), then \\(x^2\\) again, and \\(\\unknown\\) last."
    response_id = add_report(project, page.queue.lines[3].item_id, "formulas", text)
    page.window().show_page("Label", response_id=response_id)
    assert "could not be drawn" in page.report_pane.banner.text()
    at = page.report_pane.report.text().rindex("\\(x^2\\)")
    page.report_pane.report.select(at, at + 7)
    press("Ctrl+E")
    label = labels.sheet(project, response_id).labels[page.bench.units[0].id]
    assert (label.quote, label.quote_start) == ("\\(x^2\\)", text.rindex("\\(x^2\\)"))
    (shown,) = page.report_pane.report.extraSelections()
    covered = page.report_pane.report._places.from_qt
    assert (covered(shown.cursor.selectionStart()), covered(shown.cursor.selectionEnd())) == (at, at + 7)


def test_a_quotation_that_is_a_formula_holds_its_brackets():
    text = "One **bold** word, \\(x_1\\), then \\(x_1\\) and $y$."
    shown = text.replace("**", "")
    start = shown.rindex("\\(x_1")
    assert locate(text, shown, start, start + 7) == (text.rindex("\\(x_1"), text.rindex("\\(x_1") + 7)


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
