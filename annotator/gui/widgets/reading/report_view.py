"""Report viewer: words found, selected, quoted and marked."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QMimeData, QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QTextEdit, QWidget

from annotator.gui import theme
from annotator.gui.widgets.reading import report_style as style
from annotator.gui.widgets.reading.formulas import OBJECT
from annotator.gui.widgets.reading.report_pages import ReportPages


@dataclass(frozen=True, slots=True)
class Mark:
    """Words [start, end) of the text, marked as a kind of `report_style.MARKS`."""

    start: int
    end: int
    kind: str


class ReportView(ReportPages):
    """All offsets are into `text()`, in Python's characters."""

    marked_words = Signal()
    """The selection changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._marks: list[Mark] = []
        self._moments: Sequence[tuple[int, str]] = ()
        self.selectionChanged.connect(self.marked_words)

    def show_plain(self, text: str, moments: Sequence[tuple[int, str]] = ()) -> None:
        """Show text as it is; each of the `moments`, in the order of the text, stands beside the line of its offset."""
        self._moments = moments
        super().show_plain(text)

    def hits(self, words: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        return (hit.span() for hit in words.finditer(self.text()))

    def selected_text(self) -> tuple[str, int, int]:
        """The selected words with their offsets; ("", -1, -1) where nothing is selected."""
        if not self.textCursor().hasSelection():
            return "", -1, -1
        text, cursor = self.text(), self.textCursor()
        first = self._places.to_qt(self._pages[self._page])
        start = self._places.from_qt(cursor.selectionStart() + first)
        end = self._places.from_qt(cursor.selectionEnd() + first)
        return text[start:end], start, end

    def select(self, start: int, end: int) -> None:
        """Select words as if by hand and bring them into view."""
        self._turn_to(start)
        self.setTextCursor(self._cursor(start, end))
        self.reveal(start, end)

    def mark(self, start: int, end: int, kind: str) -> None:
        """Mark words; they keep their mark until `clear_marks` or another text. KeyError for an unknown kind."""
        style.MARKS[kind]
        self._marks.append(Mark(start, end, kind))
        self.paint_marks()

    def set_marks(self, kind: str, spans: list[tuple[int, int]]) -> None:
        """Put these marks in the place of all others of the kind."""
        style.MARKS[kind]
        self._marks = [m for m in self._marks if m.kind != kind] + [Mark(a, b, kind) for a, b in spans]
        self.paint_marks()

    def clear_marks(self, kind: str | None = None) -> None:
        self._marks = [mark for mark in self._marks if kind is not None and mark.kind != kind]
        self.paint_marks()

    def marks(self, kind: str | None = None) -> list[Mark]:
        """The marks of a kind, or all, in the order they were set."""
        return [mark for mark in self._marks if kind is None or mark.kind == kind]

    def reveal(self, start: int, end: int) -> None:
        """Scroll to words and leave the selection alone."""
        self._turn_to(start)
        box = self.cursorRect(self._cursor(start, start))
        if box.top() < 0 or self.cursorRect(self._cursor(end, end)).bottom() > self.viewport().height():
            bar = self.verticalScrollBar()
            place = bar.value() + box.top() - self.viewport().height() // 3
            if place > bar.maximum():
                self._lay_out_to_the_end()
            bar.setValue(place)

    def createMimeDataFromSelection(self) -> QMimeData:
        """What is copied: formulas as their source."""
        copied = super().createMimeDataFromSelection()
        if OBJECT in copied.text():
            words, copied = self.selected_text()[0], QMimeData()
            copied.setText(words)
        return copied

    def _begin(self, html: str, plain: str | None) -> None:
        super()._begin(html, plain)
        self._marks = []

    def _make_again(self) -> None:
        marks = self._marks
        super()._make_again()
        self._marks = marks

    def _take(self, document: QTextDocument) -> None:
        """Leave room for moments at the left."""
        root = document.rootFrame()
        shape = root.frameFormat()
        shape.setLeftMargin(shape.leftMargin() + self._moments_width())
        root.setFrameFormat(shape)
        super()._take(document)

    def _moments_width(self) -> int:
        shown = self._moments if self._plain is not None else ()
        return max((self.fontMetrics().horizontalAdvance(f"{words}  ") for _, words in shown), default=0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Print the moments of the lines in view in the left margin, where no word is."""
        super().paintEvent(event)
        if wide := self._moments_width():
            painter, height = QPainter(self.viewport()), self.viewport().height()
            painter.setPen(theme.token("text-muted"))
            here = range(self._pages[self._page], self._page_end())
            for at, words in (one for one in self._moments if one[0] in here):
                line = self.cursorRect(self._cursor(at, at))
                if line.bottom() >= 0 and line.top() <= height:
                    room = QRect(0, line.top(), wide, line.height())
                    painter.drawText(
                        room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{words}  "
                    )

    def paint_marks(self) -> None:
        """Paint the marks of the words that are shown now."""
        if self._loading is not None:
            return
        if not self._marks:
            self.setExtraSelections([])
            return
        self.text()
        first, last = self._pages[self._page], self._page_end()
        shown = [mark for mark in self._marks if mark.start < last and mark.end > first]
        self.setExtraSelections([self._selection(mark, first, last) for mark in shown])

    def _selection(self, mark: Mark, first: int, last: int) -> QTextEdit.ExtraSelection:
        base = self._places.to_qt(first)
        start = self._places.to_qt(max(mark.start, first))
        end = self._places.to_qt(min(mark.end, last), end=True)
        return style.selection(self, start - base, end - base, mark.kind)

    def _cursor(self, start: int, end: int) -> QTextCursor:
        self.text()
        base = self._places.to_qt(self._pages[self._page])
        last = self.document().characterCount() - 1
        cursor = QTextCursor(self.document())
        cursor.setPosition(max(0, min(last, self._places.to_qt(start) - base)))
        cursor.setPosition(
            max(0, min(last, self._places.to_qt(end, end=end > start) - base)),
            QTextCursor.MoveMode.KeepAnchor,
        )
        return cursor
