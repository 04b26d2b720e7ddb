"""List of the open item's rows, with controls on the current one; and the list of consensus units."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPoint,
    QPointF,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QListView,
    QStyle,
    QStyleOptionViewItem,
    QWidget,
)

from annotator.actions.adjudication.adjudicating import SheetRow
from annotator.domain.experts.adjudication import OWN, AdjudicationState, Provenance
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.documents import KINDS, Label
from annotator.domain.material.item import Item
from annotator.gui import keys, theme
from annotator.gui.forms import forms
from annotator.gui.forms.fields import ChoiceButtons, Speller, SpellMarks
from annotator.gui.forms.unit_editor import UnitEditor
from annotator.gui.pages.adjudication.bench import AdjudicationModel
from annotator.gui.pages.adjudication.row_card import RowCard, RowControls
from annotator.gui.parts import application, below, holds
from annotator.gui.review.field_chips import about, field_chips, origin, protocol_of
from annotator.gui.review.queues import LINE_ROLE, LinesModel, PaintingDelegate
from annotator.gui.review.sheets import Index, resetting
from annotator.gui.review.verdict_words import answers, faces
from annotator.gui.widgets.basics import (
    KeylessArea,
    PlainLabel,
    horizontal,
    take_out,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Chip, paint, size_of
from annotator.gui.widgets.reading.marked_text import lay_out

_NUMBER, _EDGE, _GAP, _ABOVE = 30, 8, 6, 3
# The text gets at least this share of a line.
_LEAST = 0.5


class ConsensusList(QWidget):
    """A heading with the count, and the list; a click on a unit goes to its row."""

    chosen = Signal(str)

    def __init__(self, bench: AdjudicationModel) -> None:
        super().__init__()
        self._bench = bench
        self.model, self.list = ConsensusModel(self), _List()
        self._delegate = _Delegate(self.list)
        self.list.setModel(self.model)
        self.list.setItemDelegate(self._delegate)
        self.list.setAccessibleName("Current consensus")
        self.list.clicked.connect(self._choose)
        self.list.activated.connect(self._choose)
        self.title, self.count = PlainLabel("Consensus", "subtitle"), PlainLabel("", "hint")
        vertical(
            horizontal(self.title, (self.count, 1)), (self.list, 1), on=self, margins=(8, 4, 8, 2), spacing=4
        )
        for sign in (bench.opened, bench.laid):
            sign.connect(self._show)
        bench.rows_changed.connect(lambda ids: self._show(ids))
        bench.moved.connect(self._follow)

    def _show(self, ruling_ids: tuple[str, ...] = ()) -> None:
        sheet = self._bench.open_sheet
        self._delegate.kind = sheet.kind
        lines: list[ConsensusLine] = []
        for row in sheet.rows:
            for unit, provenance in row.made:
                words = about(row) if isinstance(unit, Label) else unit.text
                report = f"{row.report}: " if row.report else ""
                lines.append(ConsensusLine(len(lines) + 1, unit, provenance, f"{report}{words}", row.number))
        bar = self.list.verticalScrollBar()
        place = bar.value()
        self.model.show(lines)
        so_far = "" if sheet.state is AdjudicationState.CLOSED else " so far"
        self.count.setText(f"{KINDS[sheet.kind].counted(len(lines))}{so_far}")
        self.list.nothing.setVisible(not lines)
        self.list.doItemsLayout()
        bar.setValue(place)
        for ruling_id in ruling_ids:
            self.list.scrollTo(self.model.last_of(ruling_id))
        self._follow(self._bench.current_id)

    def _follow(self, ruling_id: str) -> None:
        index = self.model.last_of(ruling_id)
        self.list.setCurrentIndex(index)
        if index.isValid():
            self.list.scrollTo(index)

    def _choose(self, index: QModelIndex) -> None:
        line = index.data(LINE_ROLE)
        if isinstance(line, ConsensusLine):
            self.chosen.emit(line.provenance.ruling_id)


class _List(QListView):
    def __init__(self) -> None:
        super().__init__()
        with_properties(
            self,
            horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
            verticalScrollMode=QListView.ScrollMode.ScrollPerPixel,
            selectionMode=QListView.SelectionMode.SingleSelection,
        )
        self.nothing = PlainLabel("Units you take appear here, in their final order.", "hint", parent=self)
        self.nothing.move(10, 8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.nothing.adjustSize()
        self.scheduleDelayedItemsLayout()


@dataclass(frozen=True, slots=True)
class ConsensusLine:
    """One unit: its number, its text (of a label that of the judged unit), and the row it was ruled in."""

    number: int
    unit: Unit
    provenance: Provenance
    words: str
    row: int


class ConsensusModel(LinesModel):
    def show(self, lines: Sequence[ConsensusLine]) -> None:
        if lines != self._rows:
            with resetting(self):
                self._rows = lines

    def last_of(self, ruling_id: str) -> QModelIndex:
        """The index of the last unit of a ruling; invalid if the ruling has none."""
        rows = [row for row, line in enumerate(self._rows) if line.provenance.ruling_id == ruling_id]
        return self.index(rows[-1]) if rows else QModelIndex()

    def words(self, line: ConsensusLine) -> str:
        return f"{line.number}  {line.words}"

    def spoken(self, line: ConsensusLine) -> str:
        return f"{line.number}, from row {line.row}: {line.words}"


class _Delegate(PaintingDelegate):
    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self._view = view
        self.kind = Kind.RUBRIC

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        wide = self._view.viewport().width()
        line = index.data(LINE_ROLE)
        chips = self._chips(line)
        words = lay_out(line.words, option.font, self._room(wide, chips, option))
        high = max(words.boundingRect().height(), *(size_of(chip, option.font).height() for chip in chips))
        return QSize(wide, round(high) + 2 * theme.current().px(_ABOVE))

    def paint_line(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        px, area, line = theme.current().px, option.rect, index.data(LINE_ROLE)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.token("accent-soft" if chosen else "hover"))
            painter.drawRoundedRect(QRectF(area).adjusted(2, 0, -2, 0), 5, 5)
        painter.setFont(option.font)
        painter.setPen(theme.token("text-muted"))
        top = area.top() + px(_ABOVE)
        painter.drawText(
            QRectF(area.left(), top, px(_NUMBER) - px(_GAP), option.fontMetrics.height()),
            Qt.AlignmentFlag.AlignRight,
            str(line.number),
        )
        chips = self._chips(line)
        room = self._room(area.width(), chips, option)
        painter.setPen(theme.token("text"))
        lay_out(line.words, option.font, room).draw(painter, QPointF(area.left() + px(_NUMBER), top))
        right = area.right() - px(_EDGE)
        for chip in reversed(chips):
            right -= size_of(chip, option.font).width()
            paint(painter, QPoint(right, top - 1), chip, option.font)
            right -= px(_GAP)

    def _chips(self, line: ConsensusLine) -> list[Chip]:
        return [*field_chips(self.kind, line.unit), origin(line.provenance)]

    def _room(self, width: int, chips: list[Chip], option: QStyleOptionViewItem) -> float:
        px = theme.current().px
        taken = sum(size_of(chip, option.font).width() + px(_GAP) for chip in chips)
        return max(width * _LEAST, width - px(_NUMBER) - px(_EDGE) - px(_GAP) - taken)


ROUND_A_ROW = 24


class RowsPane(QWidget):
    def __init__(self, bench: AdjudicationModel, speller: Speller) -> None:
        super().__init__()
        self._bench, self._speller = bench, speller
        self.cards: dict[str, RowCard] = {}
        self.controls = RowControls()
        self.own: OwnEditor | None = None
        self._current = self._own_id = ""
        self.item: Item | None = None
        self._anchor: int | None = None
        self._hold = QWidget(self)
        self._hold.hide()
        self.controls.setParent(self._hold)
        for field in (self.controls.rationale, self.controls.gap):
            SpellMarks(field, speller)
            field.left.connect(self.take_focus)
        self.area = KeylessArea("Rows")
        self.area.resized.connect(self._bring_into_view_soon)
        vertical((self.area, 1), on=self, margins=(6, 0, 6, 0))
        bench, controls = self._bench, self.controls
        bench.leaving.connect(bench.typing.keep)
        bench.opened.connect(self._show_rows)
        bench.laid.connect(self._show_rows)
        bench.moved.connect(self._show_current)
        bench.rows_changed.connect(self._show_changed)
        controls.typed.connect(lambda field, text: bench.typing.type(self._current, field, text))
        controls.paused.connect(lambda field, text: bench.typing.draft(self._current, field, text))
        application().focusChanged.connect(self._focus_moved)

    def stop(self) -> None:
        application().focusChanged.disconnect(self._focus_moved)

    @property
    def card(self) -> RowCard | None:
        return self.cards.get(self._current)

    def take_focus(self) -> None:
        (self.card or self.area).setFocus(Qt.FocusReason.OtherFocusReason)

    def enter(self, field: str) -> None:
        if self.card is None or self._bench.ballot(self._current):
            return
        if field == "own" and self.own is not None:
            self.own.editor.enter()
        elif field != "own":
            self.controls.enter(field)
        self._bring_into_view_soon()

    @property
    def writing(self) -> bool:
        """Whether the focus is in a field of the current row, not on the row itself."""
        return holds(self.controls)

    def anchor(self) -> None:
        """Remember the current row's vertical position: the next one is shown there, so that the eye need not move."""
        if self.card is not None:
            top = self.card.y() - self.area.verticalScrollBar().value()
            self._anchor = max(ROUND_A_ROW, min(top, self.area.viewport().height() // 3))

    def aim(self, ruling_id: str) -> None:
        """Show which row would be paired with the current one; none for an empty id."""
        for name, card in self.cards.items():
            card.aim(name == ruling_id)

    def turn(self, screens: int) -> None:
        bar = self.area.verticalScrollBar()
        bar.setValue(bar.value() + screens * bar.pageStep())

    def _show_rows(self) -> None:
        sheet = self._bench.open_sheet
        self._put_own_away()
        self.controls.setParent(self._hold)
        focused = self.isAncestorOf(QApplication.focusWidget() or self.window())
        known, self.cards, self._current = self.cards, {}, ""
        inside = QWidget()
        column = vertical(on=inside, margins=(0, 0, 3, 8), spacing=6)
        report = ""
        for ruling_id, row in self._bench.rows.items():
            if row.report != report:
                report = row.report
                column.addWidget(PlainLabel(report, "subtitle"))
            card = RowCard(row, sheet, self._bench)
            card.pressed.connect(self._bench.move_to)
            self.cards[ruling_id] = card
            column.addWidget(card)
        column.addStretch(1)
        place = self.area.verticalScrollBar().value() if known.keys() & self.cards.keys() else 0
        self.area.setWidget(inside)
        self.controls.show_letters(sheet.letters)
        self.area.verticalScrollBar().setValue(place)
        if self._bench.current_id in self.cards:
            self._show_current(self._bench.current_id, focus=focused)

    def _show_current(self, ruling_id: str, *, focus: bool = True) -> None:
        self._bench.typing.keep()
        if self._current == ruling_id or ruling_id not in self.cards:
            return
        if self.card is not None:
            self.card.set_current(False)
        self._current = ruling_id
        card = self.cards[ruling_id]
        card.set_current(True)
        card.column.addWidget(self.controls)
        self.controls.show()
        self._show_controls()
        if focus:
            self.take_focus()
        self._bring_into_view_soon()

    def _show_changed(self, ids: tuple[str, ...]) -> None:
        for ruling_id in self.cards.keys() & set(ids):
            self.cards[ruling_id].refresh()
        if self._current in ids:
            self._show_controls()

    def _show_controls(self) -> None:
        row, sheet = self._bench.rows[self._current], self._bench.open_sheet
        typed = self._bench.typing.typed.get(row.ruling.id, {})
        self._show_own(row, sheet.kind, typed)
        self.controls.show_row(
            row,
            sheet.kind,
            self._bench.lacks(row.ruling.id),
            self._bench.ballot(row.ruling.id),
            typed,
            locked=self._bench.locked,
        )

    def _show_own(self, row: SheetRow, kind: Kind, typed: dict[str, object]) -> None:
        own_id = row.ruling.id if row.ruling.take == OWN and row.made else ""
        if self.own is not None and self._own_id != own_id:
            self._put_own_away()
        if not own_id:
            return
        if self.own is None and self.item is not None:
            self._own_id = own_id
            protocol = protocol_of(row.made[0][0])
            self.own = OwnEditor(self._bench, kind, protocol, self.item, self.cards[own_id])
            editor, typing = self.own.editor, self._bench.typing
            editor.typed.connect(lambda _, field, value: typing.type(own_id, field, value))
            editor.paused.connect(lambda _, field, text: typing.draft(own_id, field, text))
            editor.spell(self._speller)
            self.controls.column.insertWidget(0, self.own)
            # At once, not at the next event loop iteration: it is to be focused now.
            self.own.show()
        assert self.own is not None
        self.own.show_row(row, typed, locked=self._bench.locked)
        for field, value in typed.items():
            if not self.writing:
                self.own.put(field, value)

    def _put_own_away(self) -> None:
        if self.own is not None:
            self.own.hide()
            take_out(self.controls.column, self.own)
        self.own, self._own_id = None, ""

    def _focus_moved(self, before: QWidget | None, now: QWidget | None) -> None:
        """Rule on typed text as soon as its field loses the focus."""
        left = before is not None and self.controls.isAncestorOf(before) and before is not now
        if left and now is not None:
            self._bench.typing.keep()

    def _bring_into_view_soon(self) -> None:
        """Scroll once the layout has given the cards their new heights."""
        QTimer.singleShot(0, self, self._bring_into_view)

    def _bring_into_view(self) -> None:
        card, inside = self.card, self.area.widget()
        if card is None or inside is None:
            return
        layout = inside.layout()
        if layout is not None:
            layout.activate()
        if self._anchor is not None:
            self.area.verticalScrollBar().setValue(card.y() - self._anchor)
            self._anchor = None
        self.area.horizontalScrollBar().setValue(0)
        # If a card is higher than the pane, show its top.
        self.area.ensureWidgetVisible(card, 0, ROUND_A_ROW)
        if card.height() > self.area.viewport().height():
            self.area.verticalScrollBar().setValue(card.y() - ROUND_A_ROW)


class LabelEditor(UnitEditor):
    """Editor of a label, of which only the value can be changed."""

    def __init__(self, protocol: str) -> None:
        self._protocol = protocol
        super().__init__(KINDS[Kind.LABELS])

    def build(self) -> None:
        (field,) = self.words.fields
        shown = zip(answers(self._protocol), faces(self._protocol), strict=True)
        choice = ChoiceButtons(field.title, [(value, face.words, face.hint) for value, face in shown])
        self.row.addWidget(choice)
        self.add_field("value", choice)


class OwnEditor(QWidget):
    """Editor of one's own wording; Esc returns to the row."""

    def __init__(self, bench: AdjudicationModel, kind: Kind, protocol: str, item: Item, row: QWidget) -> None:
        """`protocol` determines a label's possible values; Esc focuses `row`."""
        super().__init__()
        self.editor = LabelEditor(protocol) if kind is Kind.LABELS else forms.editor(kind, bench.weights)
        self._bench, self._row = bench, row
        self.editor.installEventFilter(self)
        self.editor.number.hide()
        self.editor.listed = False
        # Without a frame: the row's frame shows the focus instead.
        self.editor.setProperty("role", "")
        self.editor.text.setPlaceholderText("Your own wording")
        self.editor.offer(item, ())
        for button in below(self.editor, QAbstractButton):
            # Here the keys shown to authors have other meanings.
            button.setToolTip(button.toolTip().rsplit(" (", 1)[0])
        self.editor.chosen.connect(lambda _, field, value: bench.worded.emit({field: value}))
        self.editor.asked.connect(self._ask)
        vertical(self.editor, on=self, margins=0)

    def show_row(self, row: SheetRow, typing: Collection[str], *, locked: bool) -> None:
        """Show the own wording of a row; fields named in `typing` hold newer input and are left alone."""
        self._unit: Unit = row.made[0][0]
        self.editor.show_unit(self._unit, row.number, typing)
        self.editor.lock(locked)
        self.editor.chain()

    def put(self, field: str, value: object) -> None:
        """Show text that was typed before but not ruled on yet."""
        if field in self.editor.fields:
            self.editor.fields[field].show_value(value)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass the focus to the row: it is on a field or the row, never on the editor itself."""
        if watched is self.editor and event.type() == QEvent.Type.FocusIn:
            self._row.setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Keep plain keys from the page: here digits choose values, they do not rule."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and not event.modifiers() & keys.COMMANDS
        ):
            event.accept()
            return True
        return super().event(event)

    def _ask(self, _unit_id: str, ask: str) -> None:
        ask, _, place = ask.partition(" ")
        if ask == "show_quote":
            self._bench.quote_wanted.emit(self._bench.current_id, "", int(place))
        elif ask == "unquote":
            remaining = self._unit.anchors[: int(place)] + self._unit.anchors[int(place) + 1 :]
            before, after = (self._unit.quoting(anchors) for anchors in (self._unit.anchors, remaining))
            self._bench.worded.emit(
                {field: value for field, value in after.items() if value != before[field]}
            )
