"""Plan matrix: gold sub-tasks down, predicted ones across, controls on the current cell."""

from collections.abc import Sequence

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from annotator.actions.labelling import label_readings
from annotator.actions.labelling.label_readings import MatrixReading
from annotator.actions.labelling.label_rows import UNSURE
from annotator.gui import keys, theme
from annotator.gui.pages.labelling.bench import LabellingBench
from annotator.gui.pages.labelling.units.locking import why_locked
from annotator.gui.pages.labelling.units.matrix_model import CELL_ROLE, Matrix, MatrixCell
from annotator.gui.pages.labelling.units.unit_details import UnitDetails
from annotator.gui.review.verdicts import OPEN, REWORDED, face, is_flagged
from annotator.gui.tables.rows import Index
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.basics import PlainLabel, horizontal, vertical
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.fields.growing_edit import direction_of
from annotator.gui.widgets.icons import pixmap
from annotator.gui.widgets.later import later
from annotator.gui.widgets.reading.marked_text import lay_out

CELL_WIDTH, PAD = 46, 8
LEAST_WORDS = 150
READINGS = {
    "one-to-one": "each sub-task matches at most one",
    "any-match": "any relevant cell counts",
}


class MatrixView(QWidget):
    """The current predicted sub-task in full, the matrix, its counts, and controls of the current cell."""

    made = Signal(UnitDetails, QWidget)
    """Controls were made, for the widget that has the keyboard."""

    report_wanted = Signal()

    def __init__(self, bench: LabellingBench) -> None:
        super().__init__()
        self._bench = bench
        self.at_hand = ""
        """The unit whose controls are shown."""
        self.model = Matrix(self)
        self.details: UnitDetails | None = None
        self.predicted, self.words = PlainLabel("", "hint"), PlainLabel("", "strong", wrap=True)
        self.readings = PlainLabel("", "hint", wrap=True)
        self.table = _Table(self.model)
        self.table.gone_to.connect(self._go)
        self._foot = QVBoxLayout()
        self.item, self.show_report = (
            ElidedLabel("", "hint"),
            KeyButton("Report", keys.shown("report"), "quiet"),
        )
        self.show_report.set_hint("Show or hide the report of the plan")
        self.show_report.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.show_report.clicked.connect(self.report_wanted)
        over = horizontal((self.item, 1), self.show_report)
        top = horizontal((self.predicted, 0, Qt.AlignmentFlag.AlignTop), (self.words, 1), spacing=8)
        parts = over, top, (self.table, 1), self.readings, self._foot
        vertical(*parts, on=self, margins=(0, 0, 3, 8), spacing=6)

    def show_keys(self) -> None:
        self.show_report.set_key(keys.shown("report"))

    @property
    def holder(self) -> QWidget:
        return self.table

    def show_sheet(self, locked: str, *, weights: bool) -> None:
        """Lay out the matrix of the report that lies open, and make the controls."""
        del weights
        self.at_hand = ""
        sheet = self._bench.sheet
        if self.details is not None:
            self._foot.removeWidget(self.details)
            self.details.deleteLater()
        values = (*sheet.values, UNSURE) if sheet else ()
        self.item.setText(f"{sheet.name}, item {sheet.item.key}: {sheet.item.question}" if sheet else "")
        self.details = UnitDetails(self._bench.protocol, values, locked or why_locked(sheet), flat=True)
        self._foot.addWidget(self.details)
        self.model.lay_out(
            self._bench.protocol, sheet.groups if sheet else (), self._bench.said, self._marked
        )
        self.table.fit()
        self._show_readings()
        self.made.emit(self.details, self.table)

    def show_current(self, unit_id: str) -> None:
        """Go to a cell: its column's sub-task in full, its row marked."""
        self.at_hand = unit_id
        index = self.model.place(unit_id)
        self.table.go_to(index)
        cell = index.data(CELL_ROLE)
        self.predicted.setText(f"Predicted {index.column()} of {self.model.columnCount() - 1}")
        self.words.setText(cell.predicted if isinstance(cell, MatrixCell) else "")
        self.words.setLayoutDirection(direction_of(self.words.text()))
        self._show_details()

    def show_label(self, unit_id: str) -> None:
        self.model.tell(unit_id)
        self._show_readings()
        if unit_id == self.at_hand:
            self._show_details()

    def show_weights(self, shown: bool) -> None:
        """Nothing here has a weight."""

    def _show_details(self) -> None:
        if self.details is not None:
            self.details.show_label(self._bench.kept(self.at_hand))

    def _show_readings(self) -> None:
        found = label_readings.readings(self._bench.sheet) if self._bench.sheet else ()
        self.readings.setText(reading_words(found, self.model.columnCount() - 1, self.model.rowCount()))

    def _marked(self, unit_id: str) -> str:
        kept = self._bench.kept(unit_id)
        if kept.outdated:
            return REWORDED.icon
        return "flag" if is_flagged(kept.label) else "note" if kept.label and kept.label.note else ""

    def _go(self, index: Index) -> None:
        cell = index.data(CELL_ROLE)
        if isinstance(cell, MatrixCell):
            self._bench.move_to(cell.unit_id)


def reading_words(readings: Sequence[MatrixReading], predicted: int, gold: int) -> str:
    """Both readings by name, with what the matrix comes to once it is full."""
    said = []
    for one in readings:
        counts = f"{one.predicted} of {predicted:,} predicted right, {one.gold} of {gold:,} gold found"
        means = READINGS[one.title]
        whole = one.gold is not None
        said.append(f"{one.title.capitalize()} ({means}): {counts}." if whole else f"{one.title}: {means}")
    if readings and readings[0].gold is None:
        return f"Counted in two ways once every cell is decided — {'; '.join(said)}."
    return "  ".join(said)


class _Table(QTableView):
    """A table in which arrows go from cell to cell; gold sub-tasks are headers."""

    gone_to = Signal(object)

    def __init__(self, model: Matrix) -> None:
        super().__init__()
        self.setModel(model)
        self.setItemDelegate(_Painter(self))
        self.setAccessibleName("Predicted sub-tasks across, gold sub-tasks down")
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().hide()
        head = self.horizontalHeader()
        head.setSectionsClickable(False)
        head.setHighlightSections(True)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._soon = later(self, self.fit, 0)
        theme.watch(self, self._fit_soon)

    def fit(self) -> None:
        """Narrow columns for cells, the rest for words; rows as high as their words."""
        px, columns = theme.current().px, self.model().columnCount(QModelIndex())
        for column in range(1, columns):
            self.setColumnWidth(column, px(CELL_WIDTH))
        used = max(0, columns - 1) * px(CELL_WIDTH)
        self.setColumnWidth(0, max(px(LEAST_WORDS), self.viewport().width() - used))
        self.resizeRowsToContents()

    def _fit_soon(self) -> None:
        self._soon.start()

    def go_to(self, index: QModelIndex) -> None:
        """Make a cell the current one, and bring it into view."""
        flag = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(index, flag.ClearAndSelect)
        self.scrollTo(index)
        self.viewport().update()

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Tell where the arrows or the mouse went."""
        super().currentChanged(current, previous)
        self.viewport().update()
        if current.isValid() and current.column() > 0:
            self.gone_to.emit(current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrows and Home, End move; everything else is the page's."""
        moves = (
            Qt.Key.Key_Left,
            Qt.Key.Key_Right,
            Qt.Key.Key_Up,
            Qt.Key.Key_Down,
            Qt.Key.Key_Home,
            Qt.Key.Key_End,
        )
        if event.key() in moves and keys.plain(event):
            super().keyPressEvent(event)
        else:
            event.ignore()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_soon()


class _Painter(QStyledItemDelegate):
    """Words wrap and stand on the side of their script; a cell shows the icon of what is said of it."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """As high as the words at the width of their column."""
        px, view = theme.current().px, self.parent()
        if index.column() or not isinstance(view, QTableView):
            return QSize(px(CELL_WIDTH), px(34))
        words, wide = str(index.data()), view.columnWidth(0) - 2 * px(PAD) - px(24)
        high = lay_out(words, option.font, wide).boundingRect().height()
        return QSize(px(LEAST_WORDS), max(px(34), round(high) + 2 * px(PAD)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        view = self.parent()
        here = view.currentIndex() if isinstance(view, QTableView) else QModelIndex()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.row() == here.row() or (index.column() and index.column() == here.column()):
            painter.fillRect(option.rect, theme.token("hover"))
        painter.setPen(theme.token("border"))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        if index.column():
            self._cell(painter, option.rect, index, at_hand=index == here)
        else:
            self._words(painter, option, index)
        painter.restore()

    def _words(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        px = theme.current().px
        painter.setFont(option.font)
        painter.setPen(theme.token("text-muted"))
        place = option.rect.topLeft() + QPoint(px(PAD), px(PAD))
        number = QRect(place, QSize(px(22), option.fontMetrics.height()))
        painter.drawText(number, Qt.AlignmentFlag.AlignLeft, str(index.row() + 1))
        painter.setPen(theme.token("text"))
        layout = lay_out(str(index.data()), option.font, option.rect.width() - 2 * px(PAD) - px(24))
        layout.draw(painter, place + QPoint(px(24), 0))

    def _cell(self, painter: QPainter, area: QRect, index: Index, *, at_hand: bool) -> None:
        cell, size = index.data(CELL_ROLE), theme.current().px(18)
        shown = face(cell.said, cell.protocol) if isinstance(cell, MatrixCell) else OPEN
        box = area.adjusted(3, 3, -3, -4)
        if isinstance(cell, MatrixCell) and cell.said:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.token(f"state-{shown.state}-soft"))
            painter.drawRoundedRect(box, 5, 5)
        if at_hand:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.token("focus"), 2))
            painter.drawRoundedRect(box, 5, 5)
        painter.setOpacity(1.0 if isinstance(cell, MatrixCell) and cell.said else 0.45)
        if shown.icon:
            picture = pixmap(shown.icon, size, f"state-{shown.state}", painter.device().devicePixelRatioF())
            painter.drawPixmap(area.center() - QPoint(size // 2 - 1, size // 2 - 1), picture)
        else:
            painter.setPen(theme.token(f"state-{shown.state}"))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, shown.words)
        if isinstance(cell, MatrixCell) and cell.marked:
            painter.setOpacity(1.0)
            small = theme.current().px(11)
            mark = pixmap(cell.marked, small, "text-muted", painter.device().devicePixelRatioF())
            painter.drawPixmap(box.topRight() - QPoint(small + 1, -2), mark)
