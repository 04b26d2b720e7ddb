"""PDFs: searched, selected by key and mouse, marked, and explained where they cannot be read."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication

from annotator.gui.widgets.reading import find_bar
from annotator.gui.widgets.reading.pdf_view import Caret, CaretStep, PdfView
from tests.gui.authoring.small_pdf import pdf
from tests.windows.using import owned

PAGES = [["Gold is soft", "It melts at 1064 degrees"], ["Silver tarnishes"], ["Copper"]]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def view(qtbot) -> Iterator[PdfView]:
    made = owned(qtbot, PdfView(), 600, 500)
    made.setFocus()
    yield made
    made.clear()


@pytest.fixture
def shown(view) -> PdfView:
    assert view.show_pdf(pdf(PAGES))
    return view


def point(view: PdfView, across: float, down: float) -> QPoint:
    """A point of the viewport, from points of the first page counted from its top left."""
    corner, scale = view._page_box(0).topLeft(), view._layout.scale
    return (corner + QPointF(across * scale, down * scale)).toPoint()


def test_a_pdf_is_searched_in_slices_page_by_page(shown, qtbot, monkeypatch):
    monkeypatch.setattr(find_bar, "AT_ONCE_S", 0)
    bar = find_bar.FindBar(shown, shown)
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
    bar = find_bar.FindBar(shown, shown)
    bar.open_bar("copper")
    assert shown.chosen() is not None
    monkeypatch.setattr(find_bar, "AT_ONCE_S", 0)
    bar.open_bar("no such words")
    assert shown.chosen() is None
    bar.go(1)
    assert bar._count.text() == "Searching…"
    bar.close_bar()
    assert shown.selected() is None


def test_pages_in_view_are_drawn_and_no_others(shown, qtbot):
    qtbot.waitUntil(lambda: shown._pages.cached_picture(0, shown._sharpness()) is not None)
    assert shown._pages.cached_picture(2, shown._sharpness()) is None
    image = shown.grab().toImage()
    box = shown._page_box(0)
    inks = {
        image.pixelColor(x, y).lightness() for x in range(60, 200) for y in range(int(box.top()) + 40, 90)
    }
    assert min(inks) < 60


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
    assert QGuiApplication.clipboard().text() == told.args[0]
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
def test_an_unreadable_pdf_is_explained_in_its_place(view, data, words):
    assert not view.show_pdf(data)
    assert words in view.message
    assert (view.count, view.page, view.selected()) == (0, 0, None)
    view.grab()


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
def test_damage_anywhere_never_ends_the_program(view):
    whole = pdf(PAGES)
    for place in range(0, len(whole), 23):
        view.show_pdf(whole[:place] + b"\xff" + whole[place + 1 :])
        assert not view.grab().isNull()
        view.select_page()


LETTERS = "Gold is soft.\r\nIt melts at 1064 °C\r\nin air"


def head(at: int, step: CaretStep, way: int) -> int:
    return Caret(0, at, at).moved(LETTERS, step, way, extend=False).head


@pytest.mark.parametrize(
    ("at", "step", "way", "place"),
    [
        (0, CaretStep.LETTER, 1, 1),
        (0, CaretStep.LETTER, -1, 0),
        (0, CaretStep.WORD, 1, 4),
        (4, CaretStep.WORD, 1, 7),
        (7, CaretStep.WORD, -1, 5),
        (2, CaretStep.LINE, 1, 17),
        (17, CaretStep.LINE, -1, 2),
        (30, CaretStep.LINE, 1, 42),
        (2, CaretStep.LINE, -1, 0),
        (38, CaretStep.LINE, 1, 42),
        (2, CaretStep.EDGE, 1, 13),
        (20, CaretStep.EDGE, -1, 15),
        (42, CaretStep.LETTER, 1, 42),
    ],
)
def test_the_caret_goes_by_letters_words_and_lines(at, step, way, place):
    assert head(at, step, way) == place


def test_extending_keeps_the_anchor_whichever_way_it_goes():
    back = Caret(0, 8, 8).moved(LETTERS, CaretStep.WORD, -1, extend=True)
    assert (back.anchor, back.span) == (8, (5, 8))
    assert back.moved(LETTERS, CaretStep.WORD, 1, extend=True).span == (7, 8)
