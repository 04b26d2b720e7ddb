"""A row as a card: the units of each document side by side, their differences, and the ruling."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QMimeData, QPoint, Qt, Signal
from PySide6.QtGui import (
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from annotator.actions.adjudication.adjudicating import AdjudicationSheet, Ballot, SheetRow
from annotator.domain.experts.adjudication import BOTH, DROP, OWN, Reason
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.documents import KINDS, Label
from annotator.domain.texts.difference import TextPiece
from annotator.gui import keys, theme
from annotator.gui.pages.adjudication.bench import AdjudicationModel
from annotator.gui.review.field_chips import (
    CONFIDENCES,
    LETTER_ACTS,
    REASONS,
    KeyChips,
    about,
    difference_chips,
    field_chips,
    ruled,
    value_words,
    votes_of,
)
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import FlowRow, KeyButton
from annotator.gui.widgets.basics import (
    PlainLabel,
    column_of,
    horizontal,
    take_out,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Chip, Chips, WorkCard
from annotator.gui.widgets.fields import GrowingEdit
from annotator.gui.widgets.reading.marked_text import MarkedText, QuoteButton, Span, keep_hidden, spans_of

UNIT_MIME = "application/x-goldsmith-unit"
SMALL = 0.92
# If less than this share of the words is common, marking the rest would only be noise.
WORTH_MARKING = 0.3

# From this width on a folded row has room for its fields: a third of the card.
ROOMY = 560
ENTER_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class RowCard(WorkCard):
    """A row of the adjudication; settled rows are folded to one line."""

    def __init__(self, row: SheetRow, sheet: AdjudicationSheet, bench: AdjudicationModel) -> None:
        super().__init__(row.ruling.id)
        self.row, self._kind, self._letters, self._bench = row, sheet.kind, sheet.letters, bench
        self._show_quote = partial(bench.quote_wanted.emit, row.ruling.id)
        self._current = self._aimed = False
        self._layout_key: object = None
        self.cells: list[UnitCell] = []
        self.setAcceptDrops(True)
        self.number = with_properties(PlainLabel(role="unit-number"), minimumWidth=theme.current().px(20))
        self.line, self.fields, self.differs = MarkedText(), Chips(wrap=False), Chips()
        self.line.fold(True)
        self.notes, self.state = Chips(wrap=False), Chips(wrap=False)
        self.head = horizontal(
            self.number, (self.differs, 1), (self.line, 1), self.fields, self.notes, self.state, spacing=6
        )
        self.column = vertical(self.head, on=self, margins=(8, 6, 8, 7), spacing=5)
        self._body: QWidget | None = None
        self.refresh()

    @property
    def folded(self) -> bool:
        """Whether only one line is shown: the row is unanimous or settled, and not the current one."""
        settled = not self.row.ruling.open and not self._lacks
        return not self._current and (settled or self.row.ruling.unanimous)

    def refresh(self) -> None:
        bench, ruling_id = self._bench, self.row.ruling.id
        self.row = bench.rows[ruling_id]
        self._lacks, self._ballot = bench.lacks(ruling_id), bench.ballot(ruling_id)
        self._show()

    def set_current(self, current: bool) -> None:
        self._current = current
        super().set_current(current)
        self._show()

    def aim(self, aimed: bool) -> None:
        """Show whether this is the row with which another would be paired."""
        self._aimed = aimed
        self.update()

    def _show(self) -> None:
        row, folded = self.row, self.folded
        chip = Chip("vote first", "eye", "incomplete") if self._ballot else ruled(row, self._lacks)
        self.number.setText(str(row.number))
        self.state.show_chips([chip])
        self.line.setVisible(folded)
        self.differs.show_chips([] if folded or self._ballot else difference_chips(self._kind, row))
        self._show_line()
        layout_key = (folded, self._ballot, row.units, row.differing, row.pieces, row.ruling.unanimous)
        if layout_key != self._layout_key:
            self._layout_key = layout_key
            self._fill()
        self.setAccessibleName(f"Row {row.number}, {chip.words}: {about(row)}")

    def _show_line(self) -> None:
        row = self.row
        notes = any(unit.note.strip() for unit in row.units.values())
        self.notes.show_chips([Chip("note", "note")] if notes and self.folded else [])
        if not self.folded:
            self.fields.show_chips([])
            return
        made = [unit for unit, _ in row.made]
        unit = made[0] if made else next(iter(row.units.values()), None)
        words = (
            about(row) if self._kind is Kind.LABELS or not made else " ⏎ ".join(each.text for each in made)
        )
        self.line.show_text(words, struck=row.ruling.take == DROP)
        self.line.fold(True)
        dropped = row.ruling.take == DROP or unit is None
        self.fields.show_chips([] if dropped or unit is None else field_chips(self._kind, unit))

    def _fill(self) -> None:
        if self._body is not None:
            take_out(self.column, self._body)
        self._body, self.cells = None, []
        if self.folded:
            return
        self._body = QWidget()
        column = vertical(margins=0, spacing=5)
        if self._ballot:
            column.addWidget(MarkedText(self._ballot.words))
        elif self.row.ruling.unanimous:
            self._fill_agreed(column)
        elif self.row.units:
            if shared := shared_words(self.row):
                column.addWidget(MarkedText(shared))
            column.addLayout(self._columns())
        self._body.setLayout(column)
        self.column.insertWidget(1, self._body)

    def _fill_agreed(self, column: QVBoxLayout) -> None:
        """Add what all documents have in common, once, and then each one's quotations and note."""
        units = self.row.units
        first = next(iter(units.values()))
        column.addWidget(MarkedText(about(self.row)))
        chips = Chips()
        chips.show_chips(field_chips(self._kind, first))
        column.addWidget(chips)
        for letter, unit in units.items():
            add_beside(column, unit, partial(self._show_quote, letter), letter)

    def _columns(self) -> QHBoxLayout:
        columns = horizontal(spacing=12)
        for letter in self._letters:
            show_quote = partial(self._show_quote, letter)
            cell = UnitCell(letter, self._kind, self.row, show_quote, with_words=not shared_words(self.row))
            self.cells.append(cell)
            columns.addWidget(cell, 1)
        return columns

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the text of a folded row rather than its fields if the card is narrow."""
        super().resizeEvent(event)
        self.fields.setMaximumWidth(self.width() // 3 if self.width() >= theme.current().px(ROOMY) else 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.hasFocus() and event.key() in ENTER_KEYS and keys.plain(event):
            self._bench.entered.emit()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dragged(event)[0] not in ("", self.row.ruling.id):
            event.acceptProposedAction()
            self.aim(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.aim(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self.aim(False)
        event.acceptProposedAction()
        self._bench.dropped.emit(self.row.ruling.id, *_dragged(event))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._aimed:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.token("gold"), 3, Qt.PenStyle.DashLine))
            painter.drawRoundedRect(self.rect().adjusted(2, 2, -2, -2), 7, 7)


def shared_words(row: SheetRow) -> str:
    """The text shown once for all documents: a label's heading, or the wording common to all; empty if they differ."""
    alike = len(row.units) > 1 and "text" not in row.differing
    return row.heading or (next(iter(row.units.values())).text if alike else "")


def _dragged(event: QDropEvent) -> tuple[str, str]:
    """The row from which a unit is dragged, and its letter; both empty for any other drag."""
    ruling_id, _, letter = bytes(event.mimeData().data(UNIT_MIME).data()).decode().partition("|")
    return ruling_id, letter


class UnitCell(QWidget):
    """A column of a row; it can be dragged onto another row."""

    def __init__(
        self, letter: str, kind: Kind, row: SheetRow, show_quote: Callable[[int], object], *, with_words: bool
    ) -> None:
        """Without words if they are shown once above all columns."""
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
            self._show(unit, show_quote, with_words=with_words)
        self._column.addStretch(1)
        keep_hidden(self, self.text, self.chips)

    def _show(self, unit: Unit, show_quote: Callable[[int], object], *, with_words: bool) -> None:
        if with_words:
            self.text.show_text(unit.text, marked_in(self._row, self.letter))
            self._column.addWidget(self.text)
        self.chips.show_chips(field_chips(self._kind, unit, self._row.differing))
        self._column.addWidget(self.chips)
        add_beside(self._column, unit, show_quote)
        if self._kind not in (Kind.LABELS, Kind.SELECTION):
            self.setToolTip("Drag it onto another row to pair it with that one.")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where a drag may begin; the event is passed on."""
        self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
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
    """Add a unit's quotations, as links to their places, and its note."""
    pages = [(anchor.quote, anchor.page) for anchor in unit.anchors]
    if isinstance(unit, Label):
        pages = [(unit.quote, None)] if unit.quote else []
    for place, (quote, page) in enumerate(pages):
        button = with_properties(
            QuoteButton("chip", "Press to show its place."), focusPolicy=Qt.FocusPolicy.NoFocus
        )
        button.show_quote(quote, f" — p. {page}" if page else "")
        button.clicked.connect(lambda _=False, place=place: show_quote(place))
        column.addWidget(button)
    if unit.note.strip():
        note = f"Note{f' of {whose}' if whose else ''}: {unit.note.strip()}"
        column.addWidget(MarkedText(note, SMALL, "text-muted"))


def marked_in(row: SheetRow, letter: str) -> list[Span]:
    """The spans of a document's words that another lacks; empty if hardly a word is common."""
    if letter in row.pieces:
        return _spans(row.pieces[letter], "added")
    first = next(iter(row.units.values()), None)
    if first is None or letter not in row.units or row.units[letter].text != first.text:
        return []
    return _joined(sorted([span for pieces in row.pieces.values() for span in _spans(pieces, "removed")]))


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


ACROSS, DOWN = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
WIDE = 640


class RowControls(QWidget):
    """The controls of a ruling: one set for all rows, shown under the current one."""

    taken = Signal(str)
    voted = Signal(str)
    asked = Signal(str)
    """An act of the key table: pair_row, split_row, leave_open."""
    typed = Signal(str, str)
    """Field (rationale or gap) and text, emitted at every key."""
    paused = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.takes: dict[str, KeyButton] = {}
        self.acts: dict[str, KeyButton] = {}
        self._letters: tuple[str, ...] = ()
        self.column = vertical(on=self, margins=(0, 4, 0, 0), spacing=6)
        self._takes_row, self._votes_row = QWidget(), QWidget()
        self._takes, self._votes = FlowRow(self._takes_row), FlowRow(self._votes_row)
        self.votes: list[QPushButton] = []
        self._votes.addWidget(PlainLabel("Your own value?", "hint"))
        self.reasons, self.sureness = KeyChips("Why?", REASONS), KeyChips("Confidence?", CONFIDENCES)
        self.rationale = self._field("rationale", "Rationale", "note", "shown to the annotators afterwards")
        self.gap = self._field("gap", "Guideline gap", "flag", "what the guideline leaves open")
        # Side by side if there is room, otherwise one above the other.
        self._words = horizontal(self.sureness, (self.rationale, 3), (self.gap, 2), spacing=6)
        self._explaining = column_of(self.reasons, self._words, spacing=6)
        for part in (self._votes_row, self._takes_row, self._explaining):
            self.column.addWidget(part)

    def _field(self, name: str, words: str, act: str, what: str) -> GrowingEdit:
        field = GrowingEdit(least=1, most=8, accessibleName=words)
        keys.tell(field, "placeholderText", f"{words} ({{{act}}}): {what}")
        field.textChanged.connect(lambda: self._tell_typed(name, field))
        field.edited.connect(lambda text: self.paused.emit(name, text))
        return field

    def _tell_typed(self, name: str, field: GrowingEdit) -> None:
        if field.hasFocus():
            self.typed.emit(name, field.toPlainText())

    def show_letters(self, letters: tuple[str, ...]) -> None:
        if letters == self._letters and self.takes:
            return
        self._letters = letters
        take_out(self._takes, *self.takes.values(), *self.acts.values())
        self.takes, self.acts = {}, {}
        for place, letter in enumerate(letters):
            act = LETTER_ACTS[place] if place < len(LETTER_ACTS) else ""
            self._take(letter, f"Take {letter}", act, "")
        both = "Both" if len(letters) == 2 else "All"
        for take, words, act, picture, hint in (
            (BOTH, both, "take_both", "", "Keep all wordings"),
            (OWN, "Own", "write_own", "author", "Write your own wording"),
            (DROP, "Drop", "drop_unit", "trash", "Leave it out of the consensus"),
        ):
            self._take(take, words, act, picture, hint)
        for act, words, picture in (
            ("pair_row", "Pair…", "link"),
            ("split_row", "Split", ""),
            ("leave_open", "Open again", "undo"),
        ):
            self.acts[act] = self._button(words, act, picture, "quiet")
            self.acts[act].clicked.connect(lambda _=False, act=act: self.asked.emit(act))

    def _take(self, take: str, words: str, act: str, picture: str, hint: str = "") -> None:
        button = self._button(words, act, picture)
        button.set_hint(hint)
        button.setCheckable(True)
        button.clicked.connect(lambda _=False: self.taken.emit(take))
        self.takes[take] = button

    def _button(self, words: str, act: str, picture: str, role: str = "") -> KeyButton:
        button = with_properties(KeyButton(words, act=act, role=role), focusPolicy=Qt.FocusPolicy.NoFocus)
        # A focused button would take over from the list, and Space would press it.
        if picture:
            chips.put(button, picture, 14)
        self._takes.addWidget(button)
        return button

    def show_row(
        self,
        row: SheetRow,
        kind: Kind,
        lacks: set[str],
        ballot: Ballot | None,
        typing: Mapping[str, Any],
        *,
        locked: bool,
    ) -> None:
        """Show the ruling on a row, or the vote before it; fields in `typing` hold newer input."""
        ruling, given = row.ruling, bool(KINDS[kind].given)
        self._show_votes(ballot, kind)
        self._takes_row.setVisible(ballot is None and not locked)
        for take, button in self.takes.items():
            button.setChecked(ruling.take == take)
            alone = take == BOTH and (len(row.units) < 2 or (given and not ruling.unanimous))
            button.setEnabled(not locked and not alone and (take in row.units or len(take) > 1))
        self.acts["pair_row"].setVisible(not given and bool(row.units) and not locked)
        self.acts["split_row"].setVisible(not given and len(row.units) > 1 and not locked)
        self.acts["leave_open"].setVisible(not ruling.open and not locked)
        explained = not ruling.unanimous or not ruling.open
        answered = bool(ruling.reason or ruling.confidence or ruling.rationale or ruling.gap)
        self._explaining.setVisible(ballot is None and (answered if locked else explained))
        self.reasons.show_value(ruling.reason, required="reason" in lacks, locked=locked)
        self.sureness.show_value(ruling.confidence, required=False, locked=locked)
        for name, field in (("rationale", self.rationale), ("gap", self.gap)):
            text = str(typing.get(name, getattr(ruling, name)))
            if text != field.toPlainText() and not (field.hasFocus() and name in typing):
                field.setPlainText(text)
            if field.isReadOnly() != locked:
                field.setReadOnly(locked)
                theme.set_role(field)
        gap_shown = (
            bool(self.gap.toPlainText()) or ruling.reason is Reason.GUIDELINE_GAP or self.gap.hasFocus()
        )
        self.gap.setVisible(gap_shown)
        self._takes.invalidate()

    def _show_votes(self, ballot: Ballot | None, kind: Kind) -> None:
        self._votes_row.setVisible(ballot is not None)
        take_out(self._votes, *self.votes)
        self.votes = []
        field = KINDS[kind].voted
        acts = {value: act for act, value in votes_of(ballot.values if ballot else ()).items()}
        for value in ballot.values if ballot else ():
            words = value_words(field, value, ballot.protocol) if field and ballot else value
            button = with_properties(
                KeyButton(
                    words,
                    act=acts.get(value, ""),
                    press=lambda _=False, value=value: self.voted.emit(value),
                ),
                focusPolicy=Qt.FocusPolicy.NoFocus,
            )
            self._votes.addWidget(button)
            self.votes.append(button)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._words.setDirection(ACROSS if self.width() >= theme.current().px(WIDE) else DOWN)

    def enter(self, name: str) -> None:
        field = self.gap if name == "gap" else self.rationale
        field.show()
        field.setFocus(Qt.FocusReason.ShortcutFocusReason)
