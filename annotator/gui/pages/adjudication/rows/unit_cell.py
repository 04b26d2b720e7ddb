"""One letter's unit in a row: its words with differences marked, fields, quotation and note."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QMimeData, QPoint, Qt, Signal
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QSizePolicy, QVBoxLayout, QWidget

from annotator.actions.adjudication.adjudication_sheets import SheetRow
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.labels import Label
from annotator.domain.kinds.unit import Unit
from annotator.domain.texts.difference import TextPiece
from annotator.gui.review.field_chips import field_chips
from annotator.gui.widgets.chips import Chips
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.reading.marked_text import MarkedText, Span, keep_hidden, spans_of
from annotator.gui.widgets.reading.quote_button import QuoteButton

UNIT_MIME = "application/x-goldsmith-unit"
SMALL = 0.92
# Where less than this share of the words stayed, marking the rest would only be noise.
WORTH_MARKING = 0.3


class UnitCell(QWidget):
    """A column of a row; it can be dragged onto another row."""

    quote_wanted = Signal(str, int)
    """The quotation is to be shown where it stands: the letter, and which of its quotations."""

    def __init__(self, letter: str, kind: Kind, row: SheetRow, *, with_words: bool) -> None:
        """Without words where they stand above all columns, since everybody wrote them alike."""
        super().__init__()
        self.letter, self._kind, self._row = letter, kind, row
        self._pressed: QPoint | None = None
        unit = row.units.get(letter)
        self.text, self.chips = MarkedText(), Chips()
        self._column = vertical(margins=0, spacing=4)
        badge = PlainLabel(letter, "unit-number")
        badge.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        horizontal((badge, 0, Qt.AlignmentFlag.AlignTop), (self._column, 1), on=self, margins=0, spacing=6)
        if unit is None:
            self._column.addWidget(PlainLabel(f"– not in {letter}", "hint"))
        else:
            self._show(unit, with_words=with_words)
        self._column.addStretch(1)
        keep_hidden(self, self.text, self.chips)

    def _show(self, unit: Unit, *, with_words: bool) -> None:
        if with_words:
            self.text.show_text(unit.text, marked_in(self._row, self.letter))
            self._column.addWidget(self.text)
        self.chips.show_chips(field_chips(self._kind, unit, self._row.differing))
        self._column.addWidget(self.chips)
        add_beside(self._column, unit, partial(self.quote_wanted.emit, self.letter))
        if self._kind not in (Kind.LABELS, Kind.SELECTION):
            self.setToolTip("Drag it onto another row to pair it with that one.")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where a drag may begin; the row is taken up in any case."""
        self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the unit once the mouse has gone far enough."""
        far = QApplication.startDragDistance()
        moved = self._pressed is not None and (event.position().toPoint() - self._pressed).manhattanLength()
        if not moved or moved < far or self.letter not in self._row.units:
            return
        self._pressed = None
        drag, mime = QDrag(self), QMimeData()
        mime.setData(UNIT_MIME, f"{self._row.ruling.id}|{self.letter}".encode())
        drag.setMimeData(mime)
        drag.setPixmap(self.grab())
        drag.exec(Qt.DropAction.MoveAction)


def add_beside(column: QVBoxLayout, unit: Unit, show_quote: Callable[[int], object], whose: str = "") -> None:
    """Below a unit's words: its quotations, each a press away from its place, and its note."""
    pages = [(one.quote, one.page) for one in unit.anchors]
    if isinstance(unit, Label):
        pages = [(unit.quote, None)] if unit.quote else []
    for place, (quote, page) in enumerate(pages):
        button = QuoteButton("chip", "Press to show its place.")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.show_quote(quote, f" — p. {page}" if page else "")
        button.clicked.connect(partial(_show, show_quote, place))
        column.addWidget(button)
    if unit.note.strip():
        note = MarkedText(SMALL, "text-muted")
        note.show_text(f"Note{f' of {whose}' if whose else ''}: {unit.note.strip()}")
        column.addWidget(note)


def _show(show_quote: Callable[[int], object], place: int, _pressed: object = None) -> None:
    show_quote(place)


def marked_in(row: SheetRow, letter: str) -> list[Span]:
    """The words of a letter that another does not have; nothing where hardly a word stayed."""
    if letter in row.pieces:
        return _spans(row.pieces[letter], "added")
    first = next(iter(row.units.values()), None)
    if first is None or letter not in row.units or row.units[letter].text != first.text:
        return []
    found = [span for pieces in row.pieces.values() for span in _spans(pieces, "removed")]
    return _joined(sorted(found))


def _spans(pieces: Sequence[TextPiece], kind: str) -> list[Span]:
    same = sum(len(piece.text) for piece in pieces if piece.kind == "same")
    whole = sum(len(piece.text) for piece in pieces if piece.kind in ("same", kind))
    if not whole or same / whole < WORTH_MARKING:
        return []
    return spans_of(pieces, kind)


def _joined(spans: list[Span]) -> list[Span]:
    made: list[Span] = []
    for start, end in spans:
        if made and start <= made[-1][1]:
            made[-1] = (made[-1][0], max(end, made[-1][1]))
        else:
            made.append((start, end))
    return made
