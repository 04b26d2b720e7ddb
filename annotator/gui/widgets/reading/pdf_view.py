"""PDF viewer: words are selected by mouse or keyboard, found, marked and quoted."""

import math
import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from annotator.domain.texts.difference import find
from annotator.gui import theme
from annotator.gui.widgets.basics import Refitting, later, with_properties

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

GAP = 10
_LEAST_WIDTH = 80


class UnreadablePdf(Exception):
    """A PDF that cannot be shown; the message says why."""


class PageLayout:
    """Pages in a column, the widest as wide as the view at 100 %; lengths in pixels, pages counted from 0."""

    def __init__(self, sizes: Sequence[tuple[float, float]], width: int, zoom: int) -> None:
        self._sizes, self._width = sizes, width
        widest = max((size[0] for size in sizes), default=1.0)
        self.scale = max(_LEAST_WIDTH, width - 2 * GAP) / max(1.0, widest) * zoom / 100
        self._tops: list[float] = []
        top = float(GAP)
        for _, height in sizes:
            self._tops.append(top)
            top += height * self.scale + GAP
        self.whole = QSizeF(widest * self.scale + 2 * GAP, top) if sizes else QSizeF(0, 0)

    def top(self, place: int) -> float:
        return self._tops[place]

    def page_at(self, height: float) -> int:
        return max(0, bisect_right(self._tops, height) - 1)

    def between(self, top: float, bottom: float) -> range:
        return range(self.page_at(top), bisect_right(self._tops, bottom)) if self._tops else range(0)

    def box(self, place: int, across: int, down: int) -> QRectF:
        """A page's rectangle in a view scrolled by `across` and `down`."""
        width, height = (side * self.scale for side in self._sizes[place])
        left = max(float(GAP), (self._width - width) / 2)
        return QRectF(left - across, self._tops[place] - down, width, height)

    def scaled(self, box: QRectF, corner: QPointF) -> QRectF:
        """A rectangle in points of a page, in pixels of a view in which the page begins at that corner."""
        scale = self.scale
        sized = QRectF(box.left() * scale, box.top() * scale, box.width() * scale, box.height() * scale)
        return sized.translated(corner)


MOST_PIXELS = 12_000_000
MOST_CACHED = 12
# Positions on a page are looked up on a canvas this much finer than a point.
_FINE = 10
_HYPHENS = "\x02\ufffe\xad"


class PageWords:
    """The text of one page, one letter for each character of PDFium, with boxes in points from the top left."""

    def __init__(self, page: "PdfPage") -> None:
        from pypdfium2 import PdfPosConv

        self._page = page
        self._words = page.get_textpage()
        width, height = page.get_size()
        canvas = (0, 0, math.ceil(width * _FINE), math.ceil(height * _FINE), 0)
        self._places = PdfPosConv(page, canvas)

    def close(self) -> None:
        self._words.close()
        self._page.close()

    @cached_property
    def letters(self) -> str:
        """One letter for each character; a space if PDFium has no letter for it."""
        from pypdfium2 import raw

        codes = (raw.FPDFText_GetUnicode(self._words, place) for place in range(self._words.count_chars()))
        return "".join(chr(code) if code else " " for code in codes)

    def quote(self, start: int, end: int) -> str:
        """The characters [start, end) as text: lines end in a line feed, hyphenated words are joined."""
        letters = self.letters[start:end].replace("\r\n", "\n").replace("\r", "\n")
        for hyphen in _HYPHENS:
            letters = letters.replace(hyphen + "\n", "").replace(hyphen, "")
        whole = letters.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return whole.replace("\x00", "").strip()

    def at(self, x: float, y: float, reach: float = 12.0) -> int | None:
        """The index of the character at or near a point; None if there is none within reach."""
        across, up = self._places.to_page(round(x * _FINE), round(y * _FINE))
        result: int | None = self._words.get_index(across, up, reach, reach)
        return result

    def boxes(self, start: int, end: int) -> list[QRectF]:
        """The rectangles of the characters [start, end), one for each line or part of one."""
        if end <= start:
            return []
        many = self._words.count_rects(start, end - start)
        return [self._box(*self._words.get_rect(place)) for place in range(many)]

    def letter_box(self, place: int) -> QRectF:
        return self._box(*self._words.get_charbox(place, loose=True))

    def _box(self, left: float, bottom: float, right: float, top: float) -> QRectF:
        corners = [self._places.to_bitmap(left, top), self._places.to_bitmap(right, bottom)]
        across, down = sorted(c[0] / _FINE for c in corners), sorted(c[1] / _FINE for c in corners)
        return QRectF(across[0], down[0], across[1] - across[0], down[1] - down[0])


class PdfPages:
    """An open PDF. Pictures of pages are made on demand, and the last few are cached."""

    def __init__(self, data: bytes) -> None:
        """Open a PDF from its bytes; UnreadablePdf if it is damaged, locked or empty."""
        from pypdfium2 import PdfDocument, PdfiumError

        try:
            self._pdf = PdfDocument(data)
            self.sizes = [self._pdf.get_page_size(place) for place in range(len(self._pdf))]
        except PdfiumError as error:
            raise UnreadablePdf(_reason(str(error))) from None
        if not self.sizes:
            raise UnreadablePdf("This PDF has no pages.")
        self._pictures: OrderedDict[tuple[int, int], QImage] = OrderedDict()
        self._words: OrderedDict[int, PageWords] = OrderedDict()
        self._letters: dict[int, str] = {}

    def close(self) -> None:
        self._pictures.clear()
        while self._words:
            self._words.popitem()[1].close()
        self._pdf.close()

    def cached_picture(self, place: int, scale: float) -> QImage | None:
        return self._pictures.get((place, round(scale * 1000)))

    def picture(self, place: int, scale: float) -> QImage:
        """A page, counted from 0, at `scale` pixels per point; UnreadablePdf if the page is damaged."""
        from pypdfium2 import PdfiumError, raw

        if (image := self.cached_picture(place, scale)) is not None:
            return image
        width, height = self.sizes[place]
        fitting = min(scale, math.sqrt(MOST_PIXELS / max(1.0, width * height)))
        try:
            page = self._pdf[place]
            bitmap = page.render(scale=fitting, force_bitmap_format=raw.FPDFBitmap_BGRx)
        except (PdfiumError, ValueError):
            raise UnreadablePdf("This page is damaged and cannot be shown.") from None
        pixels = bytes(bitmap.buffer)
        made = QImage(pixels, bitmap.width, bitmap.height, bitmap.stride, QImage.Format.Format_RGB32).copy()
        bitmap.close()
        page.close()
        self._pictures[(place, round(scale * 1000))] = made
        while len(self._pictures) > MOST_CACHED:
            self._pictures.popitem(last=False)
        return made

    def words(self, place: int) -> PageWords:
        """The words of a page, counted from 0; UnreadablePdf if the page is damaged."""
        from pypdfium2 import PdfiumError

        if place not in self._words:
            try:
                self._words[place] = PageWords(self._pdf[place])
            except PdfiumError:
                raise UnreadablePdf("This page is damaged and cannot be read.") from None
            while len(self._words) > MOST_CACHED:
                self._words.popitem(last=False)[1].close()
        return self._words[place]

    def letters(self, place: int) -> str:
        """The letters of a page, counted from 0, cached; empty if the page is damaged."""
        if place not in self._letters:
            try:
                self._letters[place] = self.words(place).letters
            except UnreadablePdf:
                self._letters[place] = ""
        return self._letters[place]


def _reason(error: str) -> str:
    if "assword" in error or "ecurity" in error:
        return "This PDF is locked with a password. Save a copy without it and add that instead."
    return "This PDF is damaged and cannot be opened. Download it again and add the new copy."


_ZOOM_MIN, _ZOOM_MAX, _ZOOM_STEP = 50, 400, 10


_WORD = re.compile(r"\w+|[^\w\s]+")

# A position is the page's number, counted from 0, times this, plus the index of the letter.
_PAGE = 10_000_000
# Kind of mark → its colour.
_MARKS = {kind: f"mark-{kind}" for kind in ("kept", "evidence", "find", "find-current")}


# From the letters of a page, a position among them and 1 (on) or -1 (back) to a position, which may lie outside.
CaretStep = Callable[[str, int, int], int]


@dataclass(frozen=True, slots=True)
class Caret:
    """A selection between two positions on one page; `head` is the end that moves."""

    page: int
    anchor: int = 0
    head: int = 0

    @property
    def span(self) -> tuple[int, int]:
        return min(self.anchor, self.head), max(self.anchor, self.head)

    def moved(self, letters: str, step: CaretStep, way: int, extend: bool) -> "Caret":
        """The caret one step on (1) or back (-1) in a page's letters; with `extend` its anchor stays."""
        head = max(0, min(len(letters), step(letters, self.head, way)))
        return Caret(self.page, self.anchor if extend else head, head)


def by_letter(_letters: str, head: int, way: int) -> int:
    return head + way


def by_word(letters: str, head: int, way: int) -> int:
    if way > 0:
        hit = _WORD.search(letters, head)
        return hit.end() if hit else len(letters)
    starts = [hit.start() for hit in _WORD.finditer(letters, max(0, head - 500), head)]
    return starts[-1] if starts else max(0, head - 500)


def by_line(letters: str, head: int, way: int) -> int:
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


def to_edge(letters: str, head: int, way: int) -> int:
    return _line_end(letters, head) if way > 0 else letters.rfind("\n", 0, head) + 1


_STEPS = {
    Qt.Key.Key_Left: (by_letter, -1),
    Qt.Key.Key_Right: (by_letter, 1),
    Qt.Key.Key_Up: (by_line, -1),
    Qt.Key.Key_Down: (by_line, 1),
    Qt.Key.Key_Home: (to_edge, -1),
    Qt.Key.Key_End: (to_edge, 1),
}


class PdfView(Refitting, QAbstractScrollArea):
    """A PDF whose words can be selected by mouse or keyboard, found, marked and quoted. Signals count pages from 1."""

    page_changed = Signal(int, int)
    """The page in view and the number of pages."""
    selection_changed = Signal(str, int)
    """The selected words and their page; ("", page) if nothing is selected any more."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages: PdfPages | None = None
        self._open: list[PdfPages] = []
        self._message = ""
        self._zoom = 100
        self._layout = PageLayout((), 0, 100)
        self._broken: dict[int, str] = {}
        self._shown_page = 0
        self._caret = Caret(0)
        self._marks: dict[str, list[tuple[int, int]]] = {}
        with_properties(self, role="report", accessibleName="PDF", focusPolicy=Qt.FocusPolicy.StrongFocus)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self._draw_later = later(self, self._draw_one, 0)
        self.verticalScrollBar().valueChanged.connect(self._tell_page)
        theme.watch(self, self.refit)
        self.destroyed.connect(partial(_close_all, self._open))

    def show_pdf(self, data: bytes) -> bool:
        """Show a PDF from its bytes; if it cannot be read, show the reason and return False."""

        self.clear()
        try:
            self._pages = PdfPages(data)
        except UnreadablePdf as reason:
            self.show_message(str(reason))
            return False
        self._open.append(self._pages)
        self.refit()
        self._tell_page()
        return True

    def show_message(self, words: str) -> None:
        self.clear()
        self._message = words
        self.setAccessibleDescription(words)
        self.viewport().update()

    def clear(self) -> None:
        self._marks, self._caret = {}, Caret(0)
        _close_all(self._open)
        self._pages, self._message, self._broken, self._shown_page = None, "", {}, 0
        self.refit()

    @property
    def message(self) -> str:
        """The reason why there are no pages; empty if there are."""
        return self._message

    @property
    def page(self) -> int:
        middle = self.verticalScrollBar().value() + self.viewport().height() / 3
        return self._layout.page_at(middle) + 1 if self.count else 0

    @property
    def count(self) -> int:
        return len(self._pages.sizes) if self._pages else 0

    def go_to_page(self, page: int) -> None:
        if self._pages and 1 <= page <= self.count:
            self.verticalScrollBar().setValue(round(self._layout.top(page - 1)) - GAP // 2)

    def zoom(self, step: int) -> None:
        """Enlarge (1), reduce (-1), or fit to the width of the view (0)."""
        self._zoom = max(_ZOOM_MIN, min(_ZOOM_MAX, self._zoom + step * _ZOOM_STEP if step else 100))
        self.refit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the visible pages; pages not yet rendered are white."""
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), theme.token("sunken"))
        if self._pages is None:
            painter.setPen(theme.token("text"))
            box = self.viewport().rect().adjusted(24, 24, -24, -24)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap), self._message)
            return
        for place in self._in_view():
            self._draw_page(painter, place)

    def scrollContentsBy(self, _across: int, _down: int) -> None:
        self.viewport().update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1 if event.angleDelta().y() > 0 else -1)
        else:
            super().wheelEvent(event)

    def refit(self) -> None:
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        place = down.value() / max(1, down.maximum())
        sizes = self._pages.sizes if self._pages else ()
        seen = self.viewport().size()
        self._layout = PageLayout(sizes, seen.width(), self._zoom)
        whole = self._layout.whole
        for bar, length, room in (
            (across, whole.width(), seen.width()),
            (down, whole.height(), seen.height()),
        ):
            bar.setPageStep(room)
            bar.setSingleStep(theme.current().px(24))
            bar.setRange(0, max(0, round(length) - room))
        down.setValue(round(place * down.maximum()))
        self.viewport().update()

    def _in_view(self) -> range:
        top = self.verticalScrollBar().value()
        return self._layout.between(top, top + self.viewport().height())

    def _page_box(self, place: int) -> QRectF:
        return self._layout.box(place, self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def _draw_page(self, painter: QPainter, place: int) -> None:
        assert self._pages is not None
        box = self._page_box(place)
        picture = self._pages.cached_picture(place, self._sharpness())
        if picture is None:
            painter.fillRect(box, Qt.GlobalColor.white)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), self._broken.get(place, ""))
            if place not in self._broken:
                self._draw_later.start()
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(box, picture)
        self._draw_marks(painter, place, box)
        painter.setPen(theme.token("border"))
        painter.drawRect(box)

    def _draw_one(self) -> None:
        """Render one missing page, then return to the event loop before the next."""
        for place in self._in_view():
            if self._pages is None or place in self._broken:
                continue
            if self._pages.cached_picture(place, self._sharpness()) is None:
                try:
                    self._pages.picture(place, self._sharpness())
                except UnreadablePdf as reason:
                    self._broken[place] = str(reason)
                self.viewport().update()
                return

    def _sharpness(self) -> float:
        return self._layout.scale * self.devicePixelRatioF()

    def _tell_page(self) -> None:
        if self._pages is not None and self.page != self._shown_page:
            self._shown_page = self.page
            self.page_changed.emit(self.page, self.count)

    def selected(self) -> tuple[str, int] | None:
        """The selected words and their page; None if nothing is selected."""
        first, (start, end) = self._caret.page * _PAGE, self._caret.span
        return self._quote(first + start, first + end)

    def chosen(self) -> tuple[str, int] | None:
        """The selection; if nothing is selected while a search is open, the current match."""
        result = self._marks.get("find-current", [])
        return self.selected() or next((self._quote(*span) for span in result), None)

    def select_page(self) -> None:
        place = self.page - 1
        if words := self._words(place):
            self._move_to(Caret(place, 0, len(words.letters)), follow=False)

    def place(self, quote: str, page: int) -> tuple[int, int] | None:
        """The span of a quotation on a page; None if it is not found there."""
        if self._pages is None or not 1 <= page <= self.count:
            return None
        first, span = (page - 1) * _PAGE, find(self._pages.letters(page - 1), quote)
        return (first + span[0], first + span[1]) if span else None

    def hits(self, words: re.Pattern[str]) -> Iterator[tuple[int, int] | None]:
        """The matches, page by page; none crosses a page break."""
        for place in range(self.count):
            yield None
            for hit in words.finditer(self._pages.letters(place) if self._pages else ""):
                yield place * _PAGE + hit.start(), place * _PAGE + hit.end()

    def set_marks(self, kind: str, spans: list[tuple[int, int]]) -> None:
        self._marks[kind] = spans
        self.viewport().update()

    def reveal(self, start: int, _end: int) -> None:
        if (words := self._words(start // _PAGE)) is not None:
            self._reveal(start // _PAGE, words.letter_box(start % _PAGE))

    def select(self, start: int, end: int) -> None:
        """Select a span as if by hand and bring it into view."""
        self._move_to(Caret(start // _PAGE, start % _PAGE, end % _PAGE), follow=False)
        self.reveal(start, end)

    def forget_selection(self) -> None:
        """Clear the selection, so that a mark in its place can be seen."""
        self._move_to(Caret(self._caret.page, self._caret.head, self._caret.head), follow=False)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            place, head = self._letter_at(event.position())
            if head is not None:
                self._move_to(Caret(place, head, head), follow=False)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            place, head = self._letter_at(event.position())
            if head is not None and place == self._caret.page:
                after = head + (head >= self._caret.anchor)
                self._move_to(Caret(place, self._caret.anchor, after), follow=False)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        place, head = self._letter_at(event.position())
        words = self._words(place)
        if head is not None and words:
            end = Caret(place, head, head).moved(words.letters, by_word, 1, extend=False).head
            start = Caret(place, end, end).moved(words.letters, by_word, -1, extend=False).head
            self._move_to(Caret(place, start, end), follow=False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move the cursor, Shift extends, Ctrl goes by words; Ctrl+A selects the page, Ctrl+C copies."""
        modifiers = event.modifiers()
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_page()
        elif event.matches(QKeySequence.StandardKey.Copy):
            if chosen := self.selected():
                QGuiApplication.clipboard().setText(chosen[0])
        elif event.key() == Qt.Key.Key_Space:
            bar, back = self.verticalScrollBar(), modifiers & Qt.KeyboardModifier.ShiftModifier
            bar.setValue(bar.value() + bar.pageStep() * (-1 if back else 1))
        elif Qt.Key(event.key()) in _STEPS and not modifiers & Qt.KeyboardModifier.AltModifier:
            self._step(Qt.Key(event.key()), modifiers)
        else:
            super().keyPressEvent(event)

    def _step(self, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
        step, way = _STEPS[key]
        if step is by_letter and modifiers & Qt.KeyboardModifier.ControlModifier:
            step = by_word
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

    def _quote(self, start: int, end: int) -> tuple[str, int] | None:
        words = self._words(start // _PAGE)
        quote = words.quote(start % _PAGE, end % _PAGE) if words and end > start else ""
        return (quote, start // _PAGE + 1) if quote else None

    def _words(self, place: int) -> "PageWords | None":
        """The words of a page; None if there is no such page or it cannot be read."""
        if self._pages is None or not 0 <= place < self.count:
            return None
        try:
            return self._pages.words(place)
        except UnreadablePdf:
            return None

    def _draw_marks(self, painter: QPainter, place: int, box: QRectF) -> None:
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


def _close_all(pages: "list[PdfPages]") -> None:
    while pages:
        pages.pop().close()
