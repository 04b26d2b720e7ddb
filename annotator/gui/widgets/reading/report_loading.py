"""Loading of a long document in slices of a few milliseconds."""

import re
import time
from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QFont, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextDocument

SLICE_S = 0.008
STEP = 2_000
# The first screen is painted before the rest is laid out.
PAINTED_MS = 25
_TAG = re.compile(r"<(\w+)>?")


class Loading(QObject):
    """Fills an invisible document with pieces of HTML; `finished` hands it over."""

    finished = Signal()

    def __init__(self, document: QTextDocument, pieces: Sequence[str]) -> None:
        super().__init__(document)
        self.document = document
        self._pieces = [piece.strip() for piece in pieces]
        self._formats: dict[str, QTextBlockFormat] = {}
        self._next = 0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._slice)

    def start(self) -> None:
        """Go on whenever the window has nothing better to do."""
        self._timer.start(0)

    def stop(self) -> None:
        """Leave off; nothing is handed over any more."""
        self._timer.stop()
        self._next = len(self._pieces)

    def finish(self) -> None:
        while self._next < len(self._pieces):
            self._insert()
        self._end()

    def _slice(self) -> None:
        until = time.perf_counter() + SLICE_S
        while self._next < len(self._pieces) and time.perf_counter() < until:
            self._insert()
        if self._next >= len(self._pieces):
            self._end()

    def _end(self) -> None:
        self._timer.stop()
        self.finished.emit()

    def _insert(self) -> None:
        """Add a piece as if the whole had been set at once.

        It begins with a paragraph, a heading, or the next part of a table that ended the piece before.
        """
        html = self._pieces[self._next]
        self._next += 1
        if self._next == 1:
            self.document.setHtml(html)
            return
        cursor = QTextCursor(self.document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        tag = _TAG.match(html)
        if tag and tag[1] != "table":
            cursor.insertBlock(self._format_of(tag[1]), QTextCharFormat())
        cursor.insertHtml(html)

    def _format_of(self, tag: str) -> QTextBlockFormat:
        """A block's format by its tag: inserted HTML gives its first block none."""
        if tag not in self._formats:
            sample = QTextDocument()
            sample.setDefaultStyleSheet(self.document.defaultStyleSheet())
            sample.setHtml(f"<{tag}>x</{tag}>")
            self._formats[tag] = sample.begin().blockFormat()
        return self._formats[tag]


class LayingOut(QObject):
    """Lays out a document in slices; Qt alone would take ever larger parts at a time."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._document = document
        self._reached = 0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._slice)
        QTimer.singleShot(PAINTED_MS, self, lambda: self._timer.start(0))

    def _slice(self) -> None:
        layout, last = self._document.documentLayout(), self._document.characterCount() - 1
        until = time.perf_counter() + SLICE_S
        while self._reached < last and time.perf_counter() < until:
            self._reached = min(last, self._reached + STEP)
            layout.blockBoundingRect(self._document.findBlock(self._reached))
        if self._reached >= last:
            self._timer.stop()


def empty_document(parent: QObject, sheet: str, font: QFont, margin: int) -> QTextDocument:
    """A document to be filled; its parent answers what it asks to load."""
    made = QTextDocument(parent)
    made.setUndoRedoEnabled(False)
    made.setDefaultStyleSheet(sheet)
    made.setDefaultFont(font)
    made.setDocumentMargin(margin)
    return made


def position_at(document: QTextDocument, height: float) -> int:
    """The first character of the line at a height, as the document counts.

    `cursorForPosition` answers with the document's end while what follows is not laid out.
    """
    layout, first, last = document.documentLayout(), 0, 1
    while last < document.blockCount() - 1 and _ends(document, last) <= height:
        first, last = last, 2 * last
    last = min(last, document.blockCount() - 1)
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if _ends(document, middle) > height else (middle + 1, last)
    block = document.findBlockByNumber(first)
    top = layout.blockBoundingRect(block).top()
    lines = (block.layout().lineAt(place) for place in range(block.layout().lineCount()))
    start = next((line.textStart() for line in lines if top + line.rect().bottom() > height), 0)
    return block.position() + start


def _ends(document: QTextDocument, number: int) -> float:
    return document.documentLayout().blockBoundingRect(document.findBlockByNumber(number)).bottom()
