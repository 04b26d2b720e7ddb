"""The consensus so far: its numbered units with their fields and origin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPoint,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from annotator.domain.experts.adjudication import AdjudicationState, Provenance
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.labels import Label
from annotator.gui import theme
from annotator.gui.pages.adjudication.bench import AdjudicationBench
from annotator.gui.review.field_chips import field_chips
from annotator.gui.review.ruling_words import about, origin
from annotator.gui.tables.rows import Index, resetting
from annotator.gui.widgets.basics import PlainLabel, horizontal, vertical
from annotator.gui.widgets.chips import Chip, paint, size_of
from annotator.gui.widgets.reading.marked_text import lay_out

LINE_ROLE = int(Qt.ItemDataRole.UserRole) + 1

_NUMBER, _EDGE, _GAP, _ABOVE = 30, 8, 6, 3
# Never less than this share of a line for the words.
_LEAST = 0.5


class ConsensusList(QWidget):
    """A headline with the count, and the list; a click on a unit goes to its row."""

    chosen = Signal(str)

    def __init__(self, bench: AdjudicationBench) -> None:
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
        bench.told.connect(lambda ids: self._show(ids))
        bench.moved.connect(self._follow)

    def _show(self, told: tuple[str, ...] = ()) -> None:
        sheet = self._bench.sheet
        if sheet is None:
            return
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
        for ruling_id in told:
            self.list.scrollTo(self.model.last_of(ruling_id))
        self._follow(self._bench.ruling_id)

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
    """A list with lines as high as their words."""

    def __init__(self) -> None:
        super().__init__()
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QListView.SelectionMode.SingleSelection)
        self.nothing = PlainLabel("Units you take appear here, in their final order.", "hint", parent=self)
        self.nothing.move(10, 8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.nothing.adjustSize()
        self.scheduleDelayedItemsLayout()


@dataclass(frozen=True, slots=True)
class ConsensusLine:
    """One unit: its number, its words (for a label those of what is judged), and the row it was ruled in."""

    number: int
    unit: Unit
    provenance: Provenance
    words: str
    row: int


class ConsensusModel(QAbstractListModel):
    """The units made so far."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: tuple[ConsensusLine, ...] = ()

    def show(self, lines: Sequence[ConsensusLine]) -> None:
        if tuple(lines) == self._lines:
            return
        with resetting(self):
            self._lines = tuple(lines)

    def last_of(self, ruling_id: str) -> QModelIndex:
        """Where the last unit of a ruling is shown; an invalid index when it made none."""
        for row in range(len(self._lines) - 1, -1, -1):
            if self._lines[row].provenance.ruling_id == ruling_id:
                return self.index(row)
        return QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a line shows; the delegate takes the line itself."""
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role == LINE_ROLE:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{line.number}  {line.words}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{line.number}, from row {line.row}: {line.words}"
        return None


class _Delegate(QStyledItemDelegate):
    """Number, words, fields and origin."""

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

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        px, area, line = theme.current().px, option.rect, index.data(LINE_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
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
        painter.restore()

    def _chips(self, line: ConsensusLine) -> list[Chip]:
        return [*field_chips(self.kind, line.unit), origin(line.provenance)]

    def _room(self, width: int, chips: list[Chip], option: QStyleOptionViewItem) -> float:
        px = theme.current().px
        taken = sum(size_of(chip, option.font).width() + px(_GAP) for chip in chips)
        return max(width * _LEAST, width - px(_NUMBER) - px(_EDGE) - px(_GAP) - taken)
