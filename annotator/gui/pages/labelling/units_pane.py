"""The units beside the text, as cards or as a matrix, with controls on the current one."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPoint,
    QRect,
    QSettings,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QAction, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QHeaderView,
    QMenu,
    QSizePolicy,
    QStyleOptionViewItem,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from annotator.actions.labelling import labels
from annotator.actions.labelling.label_cases import presentation_of
from annotator.actions.labelling.label_rows import UNSURE
from annotator.actions.labelling.label_sealing import TAXONOMIES
from annotator.domain.judges.protocol import CaseLayout, Presentation
from annotator.domain.kinds.artifact import Unit
from annotator.gui import keys, theme
from annotator.gui.pages.labelling.bench import LabellingModel
from annotator.gui.pages.labelling.unit_card import UnitCards, UnitDetails, why_locked
from annotator.gui.review.queues import PaintingDelegate
from annotator.gui.review.sheets import Index, RowsModel, resetting
from annotator.gui.review.verdict_words import OPEN, REWORDED, UnitLabel, face, is_flagged, label_value
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainLabel,
    RoleFrame,
    Stack,
    StretchSpace,
    direction_of,
    horizontal,
    later,
    take_out,
    tooltip,
    vertical,
    with_properties,
)
from annotator.gui.widgets.columns import START
from annotator.gui.widgets.reading.marked_text import lay_out

CELL_ROLE, UNIT_ROLE = int(Qt.ItemDataRole.UserRole) + 1, int(Qt.ItemDataRole.UserRole) + 2


class Matrix(RowsModel[Unit]):
    """Column 0 holds the gold sub-tasks' texts; every other column is one predicted sub-task.

    CELL_ROLE is the face of a cell's label and the icon beside it, UNIT_ROLE the cell's id.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self._protocol = ""
        self._groups: Sequence[labels.UnitGroup] = ()
        self._label_of: Callable[[str], UnitLabel] = lambda _: UnitLabel()
        self._places: dict[str, tuple[int, int]] = {}

    def lay_out(
        self, protocol: str, groups: Sequence[labels.UnitGroup], label_of: Callable[[str], UnitLabel]
    ) -> None:
        """Show other sub-tasks; `label_of` returns the label of a cell by its id."""
        with resetting(self):
            self._protocol, self._groups, self._label_of = protocol, groups, label_of
            self._rows = groups[0].units if groups else ()
            self.columns = ("Gold sub-tasks", *(f"P{place}" for place in range(1, len(groups) + 1)))
            self._places = {
                unit.id: (row, column)
                for column, group in enumerate(groups, start=1)
                for row, unit in enumerate(group.units)
            }

    def tell(self, unit_id: str) -> None:
        index = self.place(unit_id)
        self.dataChanged.emit(index, index)

    def place(self, unit_id: str) -> QModelIndex:
        return self.index(*self._places[unit_id]) if unit_id in self._places else QModelIndex()

    def flags(self, index: Index) -> Qt.ItemFlag:
        cell = index.isValid() and index.column() > 0
        flag = Qt.ItemFlag
        return flag.ItemIsEnabled | flag.ItemIsSelectable if cell else flag.NoItemFlags

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        across = orientation == Qt.Orientation.Horizontal
        if across and role == Qt.ItemDataRole.ToolTipRole and section:
            return tooltip(predicted_of(self._groups[section - 1]))
        if across and role == Qt.ItemDataRole.TextAlignmentRole and not section:
            return START
        return super().headerData(section, orientation, role)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if not index.column():
            return self._rows[index.row()].text if role == Qt.ItemDataRole.DisplayRole else None
        unit_id = self._groups[index.column() - 1].units[index.row()].id
        if role == UNIT_ROLE:
            return unit_id
        shown = self._label_of(unit_id)
        value = label_value(shown.label)
        if role == CELL_ROLE:
            return face(value, self._protocol), icon_beside(shown)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"P{index.column()} against gold {index.row() + 1}: {value or 'open'}"
        return None


def predicted_of(group: labels.UnitGroup | None) -> str:
    return next(iter(group.given.values()), "") if group else ""


def icon_beside(shown: UnitLabel) -> str:
    """The icon of what accompanies a label most importantly; empty for nothing."""
    if shown.outdated:
        return REWORDED.icon
    return "flag" if is_flagged(shown.label) else "note" if shown.label and shown.label.note else ""


CELL_WIDTH, PAD = 46, 8
LEAST_WORDS = 150
READINGS = {
    "one-to-one": "each sub-task matches at most one",
    "any-match": "any relevant cell counts",
}


class MatrixView(QWidget):
    """The current predicted sub-task in full, the matrix, its counts, and the controls of the current cell."""

    def __init__(self, bench: LabellingModel) -> None:
        super().__init__()
        self._bench = bench
        self.at_hand = ""
        """The unit whose controls are shown."""
        self.model = Matrix(self)
        self.details: UnitDetails | None = None
        self.predicted, self.words = PlainLabel("", "hint"), PlainLabel("", "strong", wrap=True)
        self.readings = PlainLabel("", "hint", wrap=True)
        self.table = _Table(self.model)
        self.table.gone_to.connect(lambda index: bench.move_to(index.data(UNIT_ROLE)))
        self._foot = QVBoxLayout()
        self.item, self.show_report = (
            ElidedLabel("", "hint"),
            KeyButton(
                "Report",
                act="report",
                role="quiet",
                hint="Show or hide the report of the plan",
                focusPolicy=Qt.FocusPolicy.NoFocus,
            ),
        )
        over = horizontal((self.item, 1), self.show_report)
        top = horizontal((self.predicted, 0, Qt.AlignmentFlag.AlignTop), (self.words, 1), spacing=8)
        parts = over, top, (self.table, 1), self.readings, self._foot
        vertical(*parts, on=self, margins=(0, 0, 3, 8), spacing=6)

    @property
    def holder(self) -> QWidget:
        return self.table

    def show_sheet(self, locked: str, *, weights: bool) -> None:
        self.at_hand = ""
        sheet = self._bench.sheet
        if self.details is not None:
            take_out(self._foot, self.details)
        values = (*sheet.values, UNSURE) if sheet else ()
        self.item.setText(f"{sheet.name}, item {sheet.item.key}: {sheet.item.question}" if sheet else "")
        self.details = UnitDetails(
            self._bench, self.table, lambda: self.at_hand, values, locked or why_locked(sheet), flat=True
        )
        self._foot.addWidget(self.details)
        self.model.lay_out(self._bench.protocol, sheet.groups if sheet else (), self._bench.label_of)
        self.table.fit()
        self._show_readings()

    def show_current(self, unit_id: str) -> None:
        self.at_hand = unit_id
        index = self.model.place(unit_id)
        self.table.go_to(index)
        self.predicted.setText(f"Predicted {index.column()} of {self.model.columnCount() - 1}")
        self.words.setText(predicted_of(self._bench.group))
        self.words.setLayoutDirection(direction_of(self.words.text()))
        self._show_details()

    def show_label(self, unit_id: str) -> None:
        self.model.tell(unit_id)
        self._show_readings()
        if unit_id == self.at_hand:
            self._show_details()

    def _show_details(self) -> None:
        if self.details is not None:
            self.details.show_label(self._bench.label_of(self.at_hand))

    def _show_readings(self) -> None:
        result = labels.readings(self._bench.sheet) if self._bench.sheet else ()
        self.readings.setText(reading_words(result, self.model.columnCount() - 1, self.model.rowCount()))


def reading_words(readings: Sequence[labels.MatrixReading], predicted: int, gold: int) -> str:
    """Both readings by name, with their results once the matrix is full."""
    sentences = []
    for reading in readings:
        counts = (
            f"{reading.predicted} of {predicted:,} predicted right, {reading.gold} of {gold:,} gold found"
        )
        means = READINGS[reading.title]
        whole = reading.gold is not None
        sentences.append(
            f"{reading.title.capitalize()} ({means}): {counts}." if whole else f"{reading.title}: {means}"
        )
    if readings and readings[0].gold is None:
        return f"Counted in two ways once every cell is decided — {'; '.join(sentences)}."
    return "  ".join(sentences)


class _Table(QTableView):
    """A table in which arrows go from cell to cell; gold sub-tasks are headers."""

    gone_to = Signal(object)

    def __init__(self, model: Matrix) -> None:
        super().__init__()
        self.setModel(model)
        self.setItemDelegate(_Painter(self))
        with_properties(
            self,
            accessibleName="Predicted sub-tasks across, gold sub-tasks down",
            selectionMode=QAbstractItemView.SelectionMode.SingleSelection,
            editTriggers=QAbstractItemView.EditTrigger.NoEditTriggers,
            verticalScrollMode=QAbstractItemView.ScrollMode.ScrollPerPixel,
            horizontalScrollMode=QAbstractItemView.ScrollMode.ScrollPerPixel,
            showGrid=False,
            tabKeyNavigation=False,
            cornerButtonEnabled=False,
        )
        self.verticalHeader().hide()
        head = self.horizontalHeader()
        head.setSectionsClickable(False)
        head.setHighlightSections(True)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._soon = later(self, self.fit, 0)
        theme.watch(self, self._soon.start)

    def fit(self) -> None:
        """Narrow columns for cells, the rest for text; rows as high as their text."""
        px, columns = theme.current().px, self.model().columnCount(QModelIndex())
        for column in range(1, columns):
            self.setColumnWidth(column, px(CELL_WIDTH))
        used = max(0, columns - 1) * px(CELL_WIDTH)
        self.setColumnWidth(0, max(px(LEAST_WORDS), self.viewport().width() - used))
        self.resizeRowsToContents()

    def go_to(self, index: QModelIndex) -> None:
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self.scrollTo(index)
        self.viewport().update()

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.viewport().update()
        if current.isValid() and current.column() > 0:
            self.gone_to.emit(current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrows and Home, End move; all other keys are left to the page."""
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
        self._soon.start()


class _Painter(PaintingDelegate):
    """Text wraps and is aligned by its script; a cell shows the icon of its answer."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        px, view = theme.current().px, self.parent()
        if index.column() or not isinstance(view, QTableView):
            return QSize(px(CELL_WIDTH), px(34))
        words, wide = str(index.data()), view.columnWidth(0) - 2 * px(PAD) - px(24)
        high = lay_out(words, option.font, wide).boundingRect().height()
        return QSize(px(LEAST_WORDS), max(px(34), round(high) + 2 * px(PAD)))

    def paint_line(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        view = self.parent()
        here = view.currentIndex() if isinstance(view, QTableView) else QModelIndex()
        if index.row() == here.row() or (index.column() and index.column() == here.column()):
            painter.fillRect(option.rect, theme.token("hover"))
        painter.setPen(theme.token("border"))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        if index.column():
            self._cell(painter, option.rect, index, at_hand=index == here)
        else:
            self._words(painter, option, index)

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
        (shown, beside), size = index.data(CELL_ROLE), theme.current().px(18)
        box = area.adjusted(3, 3, -3, -4)
        if shown != OPEN:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.token(f"state-{shown.state}-soft"))
            painter.drawRoundedRect(box, 5, 5)
        if at_hand:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.token("focus"), 2))
            painter.drawRoundedRect(box, 5, 5)
        painter.setOpacity(0.45 if shown == OPEN else 1.0)
        if shown.icon:
            picture = chips.pixmap(
                shown.icon, size, f"state-{shown.state}", painter.device().devicePixelRatioF()
            )
            painter.drawPixmap(area.center() - QPoint(size // 2 - 1, size // 2 - 1), picture)
        else:
            painter.setPen(theme.token(f"state-{shown.state}"))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, shown.words)
        if beside:
            painter.setOpacity(1.0)
            small = theme.current().px(11)
            mark = chips.pixmap(beside, small, "text-muted", painter.device().devicePixelRatioF())
            painter.drawPixmap(box.topRight() - QPoint(small + 1, -2), mark)


IN_A_ROW = 8
# At most this many open units are listed one by one.
MOST = 24


class OpenList(RoleFrame):
    """The open units; hidden until needed, shrinks as units are labelled."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__("message")
        self._summary = PlainLabel(role="strong", wrap=True)
        self.buttons: dict[str, QToolButton] = {}
        close = chips.tool_button("Dismiss", "close", self.hide, 14, accessibleName="Dismiss the list")
        head = horizontal((self._summary, 1), (close, 0, Qt.AlignmentFlag.AlignTop))
        self._grid = QGridLayout()
        self._grid.setSpacing(2)
        vertical(head, self._grid, on=self, margins=(10, 6, 6, 6), spacing=2)
        theme.set_role(self, level="warning")
        self.hide()

    def show_open(self, units: Sequence[Unit], waiting: Sequence[str], called: Presentation) -> None:
        """List the open units by number; the list is hidden if there are none."""
        take_out(self._grid, *self.buttons.values())
        self.buttons.clear()
        for number, unit in enumerate(units, start=1):
            if unit.id in waiting and len(self.buttons) < MOST:
                self._add(number, unit, called)
        count = len(waiting)
        rest = f" (the first {MOST})" if count > MOST else ""
        many = f"{count} {called.many} are" if count > 1 else f"One {called.one} is"
        self._summary.setText(f"{many} still open{rest}:")
        self.setVisible(count > 0)

    def _add(self, number: int, unit: Unit, called: Presentation) -> None:
        button = with_properties(
            QToolButton(),
            text=str(number),
            toolTip=tooltip(unit.text or called.ask),
            accessibleName=f"Go to {called.one} {number}",
        )
        button.clicked.connect(lambda _=False: self.chosen.emit(unit.id))
        place = len(self.buttons)
        self._grid.addWidget(button, place // IN_A_ROW, place % IN_A_ROW, Qt.AlignmentFlag.AlignLeft)
        self.buttons[unit.id] = button


WEIGHTS, WAITS = "label/weights", "label/waits"
# Below this width, at 100 %, the pane's head shows icons without words.
WORDED = 240


class UnitsPane(QWidget):
    def __init__(self, bench: LabellingModel, locked: str) -> None:
        """`locked` says why nothing can ever be changed here, if so."""
        super().__init__()
        self._bench, self._locked = bench, locked
        self.cards, self.matrix = UnitCards(bench), MatrixView(bench)
        self.title, self.count = ElidedLabel("", "subtitle"), ElidedLabel("", "hint")
        # A long question must not take the space of the words beside it.
        for label in (self.title, self.count):
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.recent = chips.tool_button(
            "Your last ten labels", "restore", text="Recent", accessibleName="Recent"
        )
        self.options = chips.tool_button(
            "Options",
            "settings",
            lambda: self.menu.popup(below(self.options)),
            accessibleName="Options of the list",
        )
        self.menu = self._menu()
        self.head = horizontal(self.title, self.count, StretchSpace(1), self.recent, self.options)
        self.open_list = OpenList()
        self.open_list.chosen.connect(self._bench.move_to)
        self.bodies = Stack(self.cards, self.matrix)
        vertical(self.head, self.open_list, (self.bodies, 1), on=self, margins=(4, 10, 6, 0), spacing=8)
        self.take_up()
        bench.leaving.connect(self.flush)
        bench.opened.connect(self._show_sheet)
        bench.moved.connect(self._show_current)
        bench.answer_changed.connect(self._show_label)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the button of the last labels without its word if the pane is narrow."""
        super().resizeEvent(event)
        wide = self.width() >= theme.current().px(WORDED)
        icon, both = Qt.ToolButtonStyle.ToolButtonIconOnly, Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        self.recent.setToolButtonStyle(both if wide else icon)

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        self.weights, self.waiting = (
            QAction("Show weights", self),
            QAction("Stay until the kind is given", self),
        )
        self.weights.setToolTip("Weights are hidden by default, so that they do not influence the label")
        self.waiting.setToolTip("The unit stays selected until you give the kind of error")
        self.weights.toggled.connect(self.cards.show_weights)
        for action, name in ((self.weights, WEIGHTS), (self.waiting, WAITS)):
            action.setCheckable(True)
            action.setChecked(QSettings().value(name, False, bool) is True)
            action.toggled.connect(lambda on, name=name: QSettings().setValue(name, on))
            menu.addAction(action)
        return menu

    @property
    def body(self) -> UnitCards | MatrixView:
        return (
            self.matrix if presentation_of(self._bench.protocol).layout is CaseLayout.MATRIX else self.cards
        )

    @property
    def details(self) -> UnitDetails | None:
        return self.body.details

    def take_up(self) -> None:
        """Show the units of another protocol, as cards or in a matrix."""
        for body in (self.cards, self.matrix):
            # A hidden body must not ask for space.
            shown = QSizePolicy.Policy.Expanding if body is self.body else QSizePolicy.Policy.Ignored
            body.setSizePolicy(shown, shown)
        self.bodies.setCurrentWidget(self.body)

    def take_focus(self) -> None:
        self.body.holder.setFocus(Qt.FocusReason.OtherFocusReason)

    def enter_note(self) -> None:
        if self.details is not None:
            self.details.note.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def flush(self) -> None:
        if self.details is not None:
            self.details.note.tell()

    def list_open(self) -> None:
        self.open_list.show_open(
            self._bench.units, self._bench.open_units, presentation_of(self._bench.protocol)
        )

    def _show_sheet(self) -> None:
        protocol = self._bench.protocol
        self.open_list.hide()
        self.title.setText(presentation_of(protocol).title)
        self.weights.setVisible(any(hasattr(unit, "weight") for unit in self._bench.units))
        self.waiting.setVisible(
            any(taxonomy.of == protocol and taxonomy.whole for taxonomy in TAXONOMIES.values())
        )
        self.options.setVisible(self.weights.isVisible() or self.waiting.isVisible())
        self.body.show_sheet(self._locked, weights=self.weights.isChecked())
        self._show_count()

    def _show_current(self, unit_id: str) -> None:
        self.flush()
        self.body.show_current(unit_id)
        self.take_focus()

    def _show_label(self, unit_id: str) -> None:
        self.body.show_label(unit_id)
        self._show_count()
        if self.open_list.isVisible():
            self.list_open()

    def _show_count(self) -> None:
        units = len(self._bench.units)
        self.count.setText(f"{units - len(self._bench.open_units)} of {units}" if units > 1 else "")


def below(button: QToolButton) -> QPoint:
    return button.mapToGlobal(button.rect().bottomLeft())
