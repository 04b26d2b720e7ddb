"""PDF viewer: words selected by mouse or keyboard, found, marked and quoted."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
)
from PySide6.QtWidgets import QWidget

from annotator.domain.texts.quotation import find
from annotator.gui import theme
from annotator.gui.widgets.reading.pdf_layout import UnreadablePdf
from annotator.gui.widgets.reading.pdf_sheets import PdfSheets

if TYPE_CHECKING:
    from annotator.gui.widgets.reading.pdf_pages import PageWords


_WORD = re.compile(r"\w+|[^\w\s]+")

# A place is the page's number, counted from 0, times this, and the letter on it.
_PAGE = 10_000_000
# Kind of mark: its colour.
_MARKS = {kind: f"mark-{kind}" for kind in ("kept", "evidence", "find", "find-current")}


class CaretStep(Enum):
    """The step of a key press."""

    LETTER = "letter"
    WORD = "word"
    LINE = "line"
    EDGE = "edge of the line"


@dataclass(frozen=True, slots=True)
class Caret:
    """A selection between two places of one page; `head` is the end that moves."""

    page: int
    anchor: int = 0
    head: int = 0

    @property
    def span(self) -> tuple[int, int]:
        return min(self.anchor, self.head), max(self.anchor, self.head)

    def moved(self, letters: str, step: CaretStep, way: int, extend: bool) -> "Caret":
        """The caret a step on (1) or back (-1) in a page's letters, its anchor staying when it extends."""
        head = max(0, min(len(letters), _PLACES[step](letters, self.head, way)))
        return Caret(self.page, self.anchor if extend else head, head)


def _letter(_letters: str, head: int, way: int) -> int:
    return head + way


def _word(letters: str, head: int, way: int) -> int:
    if way > 0:
        hit = _WORD.search(letters, head)
        return hit.end() if hit else len(letters)
    starts = [hit.start() for hit in _WORD.finditer(letters, max(0, head - 500), head)]
    return starts[-1] if starts else max(0, head - 500)


def _line(letters: str, head: int, way: int) -> int:
    start = letters.rfind("\n", 0, head) + 1
    column = head - start
    if way > 0:
        end = letters.find("\n", head)
        return len(letters) if end < 0 else _on_line(letters, end + 1, column)
    return 0 if start == 0 else _on_line(letters, letters.rfind("\n", 0, start - 1) + 1, column)


def _on_line(letters: str, start: int, column: int) -> int:
    return min(start + column, _line_end(letters, start))


def _line_end(letters: str, place: int) -> int:
    end = letters.find("\n", place)
    return len(letters) if end < 0 else end - letters[place:end].endswith("\r")


def _edge(letters: str, head: int, way: int) -> int:
    return _line_end(letters, head) if way > 0 else letters.rfind("\n", 0, head) + 1


_PLACES = {CaretStep.LETTER: _letter, CaretStep.WORD: _word, CaretStep.LINE: _line, CaretStep.EDGE: _edge}


_STEPS = {
    Qt.Key.Key_Left: (CaretStep.LETTER, -1),
    Qt.Key.Key_Right: (CaretStep.LETTER, 1),
    Qt.Key.Key_Up: (CaretStep.LINE, -1),
    Qt.Key.Key_Down: (CaretStep.LINE, 1),
    Qt.Key.Key_Home: (CaretStep.EDGE, -1),
    Qt.Key.Key_End: (CaretStep.EDGE, 1),
}


class PdfView(PdfSheets):
    """Words are selected by mouse or keyboard, found, marked and quoted."""

    selection_changed = Signal(str, int)
    """The selected words and their page; ("", page) when nothing is selected any more."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._caret = Caret(0)
        self._marks: dict[str, list[tuple[int, int]]] = {}
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)

    def clear(self) -> None:
        self._marks, self._caret = {}, Caret(0)
        super().clear()

    def selected(self) -> tuple[str, int] | None:
        """The selected words and their page; None where nothing is selected."""
        first, (start, end) = self._caret.page * _PAGE, self._caret.span
        return self._quote(first + start, first + end)

    def chosen(self) -> tuple[str, int] | None:
        """What is selected; while a search is open and nothing is selected, the place it found."""
        found = self._marks.get("find-current", [])
        return self.selected() or next((self._quote(*span) for span in found), None)

    def select_page(self) -> None:
        place = self.page - 1
        if words := self._words(place):
            self._move_to(Caret(place, 0, len(words.letters)), follow=False)

    def place(self, quote: str, page: int) -> tuple[int, int] | None:
        """Where a quotation stands on a page; None when it is not found there."""
        if self._pages is None or not 1 <= page <= self.count:
            return None
        first, span = (page - 1) * _PAGE, find(self._pages.letters(page - 1), quote)
        return (first + span[0], first + span[1]) if span else None

    def hits(self, words: re.Pattern[str]) -> Iterator[tuple[int, int] | None]:
        """Where words stand, one place after the other; none goes over a page's end."""
        for place in range(self.count):
            yield None
            for hit in words.finditer(self._pages.letters(place) if self._pages else ""):
                yield place * _PAGE + hit.start(), place * _PAGE + hit.end()

    def set_marks(self, kind: str, spans: list[tuple[int, int]]) -> None:
        """Put these marks in the place of all others of the kind."""
        self._marks[kind] = spans
        self.viewport().update()

    def reveal(self, start: int, _end: int) -> None:
        words = self._words(start // _PAGE)
        if words is not None:
            self._reveal(start // _PAGE, words.letter_box(start % _PAGE))

    def select(self, start: int, end: int) -> None:
        """Select a place as if by hand and bring it into view."""
        self._move_to(Caret(start // _PAGE, start % _PAGE, end % _PAGE), follow=False)
        self.reveal(start, end)

    def forget_selection(self) -> None:
        """Take the selection away, so that a mark in its place can be seen."""
        self._move_to(Caret(self._caret.page, self._caret.head, self._caret.head), follow=False)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            place, head = self._letter_at(event.position())
            if head is not None:
                self._move_to(Caret(place, head, head), follow=False)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Extend the selection on its page."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            place, head = self._letter_at(event.position())
            if head is not None and place == self._caret.page:
                after = head + (head >= self._caret.anchor)
                self._move_to(Caret(place, self._caret.anchor, after), follow=False)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select a word."""
        place, head = self._letter_at(event.position())
        words = self._words(place)
        if head is not None and words:
            end = Caret(place, head, head).moved(words.letters, CaretStep.WORD, 1, extend=False).head
            start = Caret(place, end, end).moved(words.letters, CaretStep.WORD, -1, extend=False).head
            self._move_to(Caret(place, start, end), follow=False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move the cursor, Shift extends, Ctrl goes by words; Ctrl+A takes the page, Ctrl+C copies."""
        modifiers = event.modifiers()
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_page()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self._copy()
        elif event.key() == Qt.Key.Key_Space:
            bar, back = self.verticalScrollBar(), modifiers & Qt.KeyboardModifier.ShiftModifier
            bar.setValue(bar.value() + bar.pageStep() * (-1 if back else 1))
        elif Qt.Key(event.key()) in _STEPS and not modifiers & Qt.KeyboardModifier.AltModifier:
            self._step(Qt.Key(event.key()), modifiers)
        else:
            super().keyPressEvent(event)

    def _step(self, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
        step, way = _STEPS[key]
        if step is CaretStep.LETTER and modifiers & Qt.KeyboardModifier.ControlModifier:
            step = CaretStep.WORD
        extend = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        caret = self._caret
        if caret.page not in self._in_view() and not extend:
            caret = Caret(self.page - 1)
        words = self._words(caret.page)
        if words is None:
            return
        moved = caret.moved(words.letters, step, way, extend)
        if not extend and moved == caret and 0 <= caret.page + way < self.count:
            following = self._words(caret.page + way)
            edge = 0 if way > 0 or following is None else len(following.letters)
            moved = Caret(caret.page + way, edge, edge)
        self._move_to(moved, follow=True)

    def _move_to(self, caret: Caret, follow: bool) -> None:
        before, self._caret = self.selected(), caret
        words = self._words(caret.page)
        if follow and words and words.letters:
            self._reveal(caret.page, words.letter_box(min(caret.head, len(words.letters) - 1)))
        self.viewport().update()
        if (after := self.selected()) != before:
            self.selection_changed.emit(*(after or ("", caret.page + 1)))

    def _copy(self) -> None:
        if chosen := self.selected():
            QGuiApplication.clipboard().setText(chosen[0])

    def _quote(self, start: int, end: int) -> tuple[str, int] | None:
        words = self._words(start // _PAGE)
        quote = words.quote(start % _PAGE, end % _PAGE) if words and end > start else ""
        return (quote, start // _PAGE + 1) if quote else None

    def _words(self, place: int) -> "PageWords | None":
        """The words of a page, or None where there is no page or it cannot be read."""
        if self._pages is None or not 0 <= place < self.count:
            return None
        try:
            return self._pages.words(place)
        except UnreadablePdf:
            return None

    def paint_over(self, painter: QPainter, place: int, box: QRectF) -> None:
        """Draw the marks of a page, its selection and the cursor."""
        for kind, colour in _MARKS.items():
            for start, end in self._marks.get(kind, ()):
                if start // _PAGE == place:
                    self._tint(painter, place, start % _PAGE, end % _PAGE, colour)
        if self._caret.page == place:
            self._tint(painter, place, *self._caret.span, "selection")
            self._draw_caret(painter, box)

    def _tint(self, painter: QPainter, place: int, start: int, end: int, colour: str) -> None:
        words, corner = self._words(place), self._page_box(place).topLeft()
        if words is None or end <= start:
            return
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Multiply)
        tint = theme.colours("light")[colour]
        for part in words.boxes(start, end):
            painter.fillRect(self._layout.scaled(part, corner), tint)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)

    def _draw_caret(self, painter: QPainter, box: QRectF) -> None:
        words = self._words(self._caret.page) if self.hasFocus() else None
        if words is None or not words.letters:
            return
        after = self._caret.head >= len(words.letters)
        last = words.letter_box(min(self._caret.head, len(words.letters) - 1))
        letter = self._layout.scaled(last, box.topLeft())
        left = letter.right() if after else letter.left()
        painter.fillRect(QRectF(left, letter.top(), 2, letter.height()), Qt.GlobalColor.black)

    def _letter_at(self, point: QPointF) -> tuple[int, int | None]:
        for place in self._in_view():
            box = self._page_box(place)
            if box.contains(point):
                words, scale = self._words(place), self._layout.scale
                inside = point - box.topLeft()
                return place, words.at(inside.x() / scale, inside.y() / scale) if words else None
        return 0, None

    def _reveal(self, place: int, box: QRectF) -> None:
        bar, spot = self.verticalScrollBar(), self._layout.scaled(box, self._page_box(place).topLeft())
        if spot.top() < 0 or spot.bottom() > self.viewport().height():
            bar.setValue(round(bar.value() + spot.top() - self.viewport().height() / 3))
