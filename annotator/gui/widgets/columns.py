"""Tables and lists with column widths, filters and search: whole titles, and one column that takes the rest."""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QRect, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QGridLayout,
    QHeaderView,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QStyle,
    QStyleOptionViewItem,
    QTableView,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from annotator.gui import theme
from annotator.gui.widgets.basics import (
    Refitting,
    later,
    tooltip,
    with_properties,
)
from annotator.gui.widgets.fields import ChoiceBox, choose, offer

# The minimum width of the stretched column, and of another one that shrinks.
LEAST, WIDE = 84, 80
# Only the first MEASURED rows are measured, LETTERS of each cell; no column but the stretched one gets more than MOST.
# PAD is added around the text, PICTURE for an icon before it.
MEASURED, LETTERS, MOST, PAD, PICTURE = 60, 60, 240, 22, 22
# The maximum width of a state; a wider cell has more text beside its icon, and may be elided.
STATE = 130


@dataclass(frozen=True, slots=True)
class ColumnNeeds:
    """Column widths of the content in pixels, and columns never elided: states with an icon, and numbers."""

    widths: Mapping[int, int]
    whole: frozenset[int]


NOTHING = ColumnNeeds({}, frozenset())


class Columns:
    """Column widths of a table. Widths set by hand stay until the zoom or the table's width changes."""

    def __init__(self, stretched: int, least: int = LEAST) -> None:
        """`stretched` is the column that takes the remaining width, -1 for none; `least` its minimum at 100 %."""
        self._stretched, self._least = stretched, least
        self._given: tuple[dict[int, int], bool, int] | None = None

    def fit(
        self,
        header: QHeaderView,
        widths: Mapping[int, int],
        room: int,
        firm: Collection[int] = (),
        needs: ColumnNeeds = NOTHING,
    ) -> None:
        """Set the column widths; if space is short, the widest columns shrink first.

        Titles are never elided, nor are the columns in `needs.whole`; a `firm` column keeps at least its given width.
        Ask the table for its header each time: PySide can take a stored one for deleted while it lives.
        """
        px = theme.current().px
        stretches = self._stretched >= 0 and not header.isSectionHidden(self._stretched)
        if stretches:
            widths = {**widths, self._stretched: max(px(self._least), widths.get(self._stretched, 0))}
        shown = [place for place in widths if not header.isSectionHidden(place)]
        titles = {place: header.sectionSizeHint(place) for place in shown}
        given = {place: max(titles[place], widths[place]) for place in shown}
        content = {place: needs.widths.get(place, given[place]) for place in shown}
        most = {place: max(titles[place], min(content[place], px(MOST))) for place in shown}
        floors = {place: max(titles[place], min(width, px(WIDE))) for place, width in content.items()}
        floors |= {place: min(given[place], most[place]) for place in floors.keys() & set(firm)}
        floors |= {place: most[place] for place in floors.keys() & needs.whole}
        least = 0
        if stretches:
            least = max(floors[self._stretched], min(content[self._stretched], px(self._least)))
            most[self._stretched] = max(least, content[self._stretched])
            floors[self._stretched] = least
        best = {
            place: most[place] if place in needs.whole else max(given[place], most[place]) for place in shown
        }
        if sum(best.values()) > room:
            best = levelled(most, floors, room)
        fixed = {place: width for place, width in best.items() if place != self._stretched}
        tight = room - sum(fixed.values()) < least
        if self._given != (fixed, tight, header.count()):
            self._given = fixed, tight, header.count()
            for place, width in fixed.items():
                header.resizeSection(place, width)
            if stretches:
                mode = QHeaderView.ResizeMode
                header.setSectionResizeMode(self._stretched, mode.Interactive if tight else mode.Stretch)
                if tight:
                    # The rest is reached by scrolling.
                    header.resizeSection(self._stretched, least)


def levelled(most: Mapping[int, int], floors: Mapping[int, int], room: int) -> dict[int, int]:
    """Column widths within `room`: each gets its maximum, but the widest are levelled, none below its floor."""
    widths, left = dict[int, int](), room
    for place in sorted(most, key=lambda place: (floors[place] < most[place], most[place])):
        widths[place] = max(floors[place], min(most[place], left // (len(most) - len(widths))))
        left -= widths[place]
    return widths


def column_needs(view: QAbstractItemView) -> ColumnNeeds:
    """The widths the first rows of a table need; nothing is read before it is visible."""
    if not view.isVisible():
        return NOTHING
    model, px, measure = view.model(), theme.current().px, view.fontMetrics().horizontalAdvance
    widths, whole = dict[int, int](), set[int]()
    for place in range(model.columnCount()):
        cells = [model.index(row, place, QModelIndex()) for row in range(min(MEASURED, model.rowCount()))]
        pictures = [bool(cell.data(Qt.ItemDataRole.DecorationRole)) for cell in cells]
        words = {(str(cell.data() or "")[:LETTERS], one) for cell, one in zip(cells, pictures, strict=True)}
        widest = max((measure(text) + px(PICTURE) * one for text, one in words), default=0)
        widths[place] = widest + px(PAD)
        number = any(cell.data(Qt.ItemDataRole.TextAlignmentRole) == END for cell in cells)
        if number or (any(pictures) and widths[place] <= px(STATE)):
            whole.add(place)
    return ColumnNeeds(widths, frozenset(whole))


GAP = 2
Filter = TypeVar("Filter", bound=Enum)
Line = TypeVar("Line")


class FilterRow(Refitting, QWidget, Generic[Filter]):
    """A button for each member of an enum, whose value is the label."""

    chosen = Signal()
    """Another filter was chosen, or the same one again."""

    def __init__(self, filters: type[Filter], held: Filter) -> None:
        super().__init__()
        self.held = held
        self._buttons: dict[Filter, QToolButton] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        group = QButtonGroup(self)
        for one in filters:
            button = with_properties(QToolButton(self), text=one.value, checkable=True, checked=one is held)
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.clicked.connect(lambda _=False, one=one: self.hold(one))
            group.addButton(button)
            self._buttons[one] = button
        self.refit()

    def hold(self, one: Filter) -> None:
        self.held = one
        self._buttons[one].setChecked(True)
        self.chosen.emit()

    def offer(self, filters: Container[Filter]) -> None:
        """Show these filters and the current one."""
        for one, button in self._buttons.items():
            button.setVisible(one in filters or one is self.held)
        self.refit()

    def show_counts(self, counts: Mapping[Filter, int]) -> None:
        for one, count in counts.items():
            self._buttons[one].setText(f"{one.value} {count:,}" if count else one.value)
            self._buttons[one].setAccessibleName(f"{one.value}, {count}")
        self.refit()

    def show_tips(self, tips: Mapping[Filter, str]) -> None:
        for one, tip in tips.items():
            with_properties(self._buttons[one], toolTip=tip, accessibleName=f"{one.value}, {tip}")

    def refit(self) -> None:
        """In one line, or in two columns or one if space is short."""
        shown = [button for button in self._buttons.values() if not button.isHidden()]
        widths = [button.sizeHint().width() for button in shown]
        wide, widest = sum(widths) + GAP * len(widths), 2 * max(widths) + GAP
        columns = len(widths) if wide <= self.width() else 2 if widest <= self.width() else 1
        for place, button in enumerate(shown):
            self._grid.addWidget(button, place // columns, place % columns)


class FilterChoice(ChoiceBox):
    """Like a `FilterRow`, as a drop-down list."""

    chosen = Signal()

    def __init__(self, name: str, filters: type[Filter]) -> None:
        super().__init__(accessibleName=name)
        self._filters = filters
        self.offer(list(filters))
        self.activated.connect(lambda _: self.chosen.emit())

    @property
    def held(self) -> Any:
        return self._filters[self.currentData()]

    def hold(self, enum: Enum) -> None:
        choose(self, enum.name)
        self.chosen.emit()

    def offer(self, filters: Container[Enum]) -> None:
        """Offer these filters and the current one."""
        current = self.currentData()
        offer(self, [(one.value, one.name) for one in self._filters if one in filters or one.name == current])

    def show_counts(self, counts: Mapping[Any, int]) -> None:
        for one, count in counts.items():
            self.setItemText(self.findData(one.name), f"{one.value} {count:,}" if count else one.value)


ROW, CELL_PICTURE = 32, 16


def around(here: int, count: int) -> Iterator[int]:
    """All rows, from the one below `here` on, wrapping around."""
    return ((here + step) % count for step in range(1, count + 1))


class LinesTable(QTableView):
    """A model's rows. `widths` are the column widths; the column `stretched` takes the rest."""

    def __init__(
        self,
        name: str,
        model: QAbstractItemModel,
        widths: Sequence[int] = (),
        stretched: int = -1,
        *,
        cells: bool = False,
        moved: Callable[[], object] | None = None,
        opened: Callable[[QModelIndex], object] | None = None,
        row_height: int = ROW,
    ) -> None:
        """`moved` is called when the current row changes, or with `cells` the current cell.

        `opened` is called with the index of a double click or Enter.
        """
        super().__init__()
        self.setModel(model)
        if opened is not None:
            self.activated.connect(opened)
        if moved is not None:
            marked = self.selectionModel()
            (marked.currentChanged if cells else marked.currentRowChanged).connect(lambda *_: moved())
        self.setAccessibleName(name)
        whole = (
            QAbstractItemView.SelectionBehavior.SelectItems
            if cells
            else QAbstractItemView.SelectionBehavior.SelectRows
        )
        with_properties(
            self,
            selectionBehavior=whole,
            selectionMode=QAbstractItemView.SelectionMode.SingleSelection,
            showGrid=False,
            alternatingRowColors=True,
            wordWrap=False,
            tabKeyNavigation=False,
        )
        self.verticalHeader().hide()
        for titles in (self.verticalHeader(), self.horizontalHeader()):
            titles.setTextElideMode(Qt.TextElideMode.ElideRight)
            titles.setDefaultAlignment(START)
        self.horizontalHeader().setHighlightSections(False)
        self.widths, self._columns = dict(enumerate(widths)), Columns(stretched)
        self.firm: Collection[int] = getattr(model, "firm", ())
        """Columns that do not shrink in favour of others."""
        # Columns shown only if the table is at least this wide, at 100 %.
        self.rooms: Mapping[int, int] = getattr(model, "rooms", {})
        self._soon = later(self, self.fit, 0)
        self._measured: tuple[float, ColumnNeeds] | None = None
        """The measured needs of the rows, and the font size they were measured at."""
        changes = (model.modelReset, model.rowsInserted, model.dataChanged)
        for instance in (*changes, model.rowsRemoved, model.layoutChanged):
            instance.connect(self._forget)
        for instance in changes:
            instance.connect(self._soon.start)
        self._height = row_height
        theme.follow(self, self._restyle)

    def resizeEvent(self, event: QResizeEvent) -> None:
        for place, room in self.rooms.items():
            self.setColumnHidden(place, self.width() < theme.current().px(room))
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        px = theme.current().px
        widths = {place: px(width) for place, width in self.widths.items()}
        result = self._needs() if self.widths else NOTHING
        self._columns.fit(self.horizontalHeader(), widths, self.viewport().width(), self.firm, result)

    def choose(self, row: int, *, first: bool = False) -> None:
        """Make a row current; for -1 the `first` one, or keep the current row."""
        if row >= 0 or first:
            self.setCurrentIndex(self.model().index(max(0, row), 0))

    def step(self, by: int) -> bool:
        """Go to the row below (1) or above (-1); whether there is one."""
        row = self.currentIndex().row() + by
        if there := 0 <= row < self.model().rowCount():
            self.choose(row)
        return there

    def choose_next(self, matches: Callable[[int], bool]) -> None:
        """Go to the next row that matches, wrapping around."""
        self.choose(next(filter(matches, around(self.currentIndex().row(), self.model().rowCount())), -1))

    def _needs(self) -> ColumnNeeds:
        """The needs of the rows, measured once for all the sizes that a layout tries."""
        points = self.font().pointSizeF()
        if self._measured is None or self._measured[0] != points or not self.isVisible():
            result = column_needs(self)
            self._measured = (points, result) if self.isVisible() else None
            return result
        return self._measured[1]

    def _forget(self) -> None:
        self._measured = None

    def _restyle(self) -> None:
        self.verticalHeader().setDefaultSectionSize(theme.current().px(self._height))
        self.setIconSize(QSize(1, 1) * theme.current().px(CELL_PICTURE))
        self.fit()


END = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
START = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
# At 100 %: the minimum width for an item's key in a narrow list, and the gap to the text beside it.
_KEY, _GAP = 130, 7
# Text beyond _LONGEST letters fits in no line; with space for fewer than _LETTERS nothing is shown.
_LONGEST, _LETTERS = 300, 3


def is_chosen(option: QStyleOptionViewItem) -> bool:
    return bool(option.state & QStyle.StateFlag.State_Selected)


def paint_ground(painter: QPainter, option: QStyleOptionViewItem, area: QRect) -> None:
    """Paint the background of a row that is selected, hovered or focused."""
    if is_chosen(option) or option.state & QStyle.StateFlag.State_MouseOver:
        painter.setBrush(theme.token("selection" if is_chosen(option) else "hover"))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawRoundedRect(QRectF(area), 5, 5)
    if option.state & QStyle.StateFlag.State_HasFocus:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(theme.token("focus"))
        painter.drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)


def paint_key(painter: QPainter, option: QStyleOptionViewItem, row: QRect, key: str, share: int = 2) -> QRect:
    """Paint an item's key in bold, and return the rectangle beside it; the key gets 1/`share` of the row, more in a
    narrow list.

    A key that is too long is elided in the middle, because keys often begin alike.
    """
    px, bold = theme.current().px, QFont(option.font)
    bold.setWeight(QFont.Weight.DemiBold)
    painter.setFont(bold)
    room = min(row.width(), max(row.width() // share, px(_KEY)))
    shown = painter.fontMetrics().elidedText(key, Qt.TextElideMode.ElideMiddle, room)
    painter.drawText(row, START, shown)
    used = painter.fontMetrics().horizontalAdvance(shown) + px(_GAP)
    painter.setFont(option.font)
    return row.adjusted(used, 0, 0, 0)


def elided(option: QStyleOptionViewItem, words: str, width: int) -> str:
    """A text in one line, elided to a width; empty if there is hardly space for a letter."""
    if width < _LETTERS * option.fontMetrics.averageCharWidth():
        return ""
    plain = " ".join(words[:_LONGEST].split())
    return option.fontMetrics.elidedText(plain, Qt.TextElideMode.ElideRight, width)


def paint_bar(painter: QPainter, bar: QRect, share: float | None, colour: QColor) -> None:
    """Paint a bar filled to a share from 0 to 1, visibly even if small; None leaves it empty."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.token("border"))
    painter.drawRoundedRect(QRectF(bar), bar.height() / 2, bar.height() / 2)
    if share is not None:
        done = QRectF(bar)
        done.setWidth(max(bar.height(), bar.width() * share))
        painter.setBrush(colour)
        painter.drawRoundedRect(done, bar.height() / 2, bar.height() / 2)


class RowsTree(Refitting, QTreeWidget):
    """A tree used as a table; with `several`, multiple rows can be selected, with `nested` it shows branches.

    The `firm` columns do not shrink in favour of others; the stretched one has at least `least` pixels at 100 %.
    """

    def __init__(
        self,
        name: str,
        columns: Sequence[str],
        widths: Sequence[int],
        stretched: int,
        *,
        several: bool = False,
        nested: bool = False,
        firm: Collection[int] = (),
        least: int = LEAST,
        moved: Callable[[], object] | None = None,
    ) -> None:
        """`moved` is called when the current row changes."""
        super().__init__()
        if moved is not None:
            self.currentItemChanged.connect(lambda *_: moved())
        self.setAccessibleName(name)
        self.setColumnCount(len(columns))
        self.setHeaderLabels(list(columns))
        with_properties(
            self,
            rootIsDecorated=nested,
            uniformRowHeights=True,
            allColumnsShowFocus=True,
            alternatingRowColors=True,
            editTriggers=QAbstractItemView.EditTrigger.NoEditTriggers,
        )
        mode = QAbstractItemView.SelectionMode
        self.setSelectionMode(mode.ExtendedSelection if several else mode.SingleSelection)
        header = self.header()
        header.setSectionsMovable(False)
        header.setHighlightSections(False)
        # The stretched column takes the rest, whichever it is.
        header.setStretchLastSection(False)
        self._widths, self._columns, self._firm = tuple(widths), Columns(stretched, least), firm
        self._soon = later(self, self.refit, 0)
        self.model().rowsInserted.connect(self._soon.start)
        theme.follow(self, self.refit)

    def refit(self) -> None:
        px = theme.current().px
        self.setIconSize(QSize(1, 1) * px(CELL_PICTURE))
        widths = {place: px(width) for place, width in enumerate(self._widths)}
        self._columns.fit(self.header(), widths, self.viewport().width(), self._firm, column_needs(self))

    def row(self) -> int:
        line = self.currentItem()
        while line is not None and line.parent() is not None:
            line = line.parent()
        return self.indexOfTopLevelItem(line) if line is not None else -1

    def line_of(self, lines: Sequence[Line]) -> Line | None:
        """The element of `lines` that the current row shows; None if there is none."""
        row = self.row()
        return lines[row] if 0 <= row < len(lines) else None

    def show_lines(self, lines: Iterable[Sequence[str] | QTreeWidgetItem], row: int = -1) -> None:
        """Show other lines, as cells or as entries, and select one of them, without emitting."""
        with QSignalBlocker(self):
            self.clear()
            self.addTopLevelItems([one if isinstance(one, QTreeWidgetItem) else line(one) for one in lines])
            self.choose(row)

    def choose(self, row: int) -> None:
        if (line := self.topLevelItem(row)) is not None:
            self.setCurrentItem(line)

    def chosen(self) -> list[int]:
        rows = {self.indexOfTopLevelItem(line.parent() or line) for line in self.selectedItems()}
        return sorted(rows)


def line(cells: Sequence[str]) -> QTreeWidgetItem:
    """A row of these cells, each with its full text as tooltip."""
    made = QTreeWidgetItem(list(cells))
    for column, words in enumerate(cells):
        made.setToolTip(column, tooltip(words))
    return made


# The height of a line, and of the frame around all of them, in design pixels.
LINE, AROUND = 30, 4


VALUE = Qt.ItemDataRole.UserRole


class TickList(QListWidget):
    """Lines with a check box, each with a value; `ticked_anew` emits a value and whether it is now ticked."""

    ticked_anew = Signal(str, bool)

    def __init__(self, name: str = "", least: int = 1, most: int = 1) -> None:
        """Between `least` and `most` lines high, depending on the number of lines."""
        super().__init__()
        self._least, self._most = least, most
        with_properties(
            self, accessibleName=name, horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self.itemChanged.connect(
            lambda entry: self.ticked_anew.emit(
                entry.data(VALUE), entry.checkState() == Qt.CheckState.Checked
            )
        )

    def offer(self, words: Mapping[str, str], *, ticked: bool = False) -> None:
        """Offer other values with their labels, without emitting; ticks are kept, new values get `ticked`."""
        if list(words.items()) == [(entry.data(VALUE), entry.text()) for entry in self._entries()]:
            return
        before, chosen = self.values(), self.ticked()
        with QSignalBlocker(self):
            self.clear()
            for value, text in words.items():
                self.add(value, text, text, ticked=value in chosen if value in before else ticked)
            self.setCurrentRow(0)
        lines = max(self._least, min(self._most, len(words)))
        self.setFixedHeight(theme.current().px(LINE) * lines + AROUND)

    def add(self, value: str, words: str, tip: str, *, ticked: bool) -> QListWidgetItem:
        entry = QListWidgetItem(words)
        entry.setData(VALUE, value)
        entry.setToolTip(tooltip(tip))
        entry.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
        self.addItem(entry)
        return entry

    def tick(self, values: Container[str]) -> None:
        """Tick exactly these values, without emitting."""
        with QSignalBlocker(self):
            for entry in self._entries():
                ticked = entry.data(VALUE) in values
                entry.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)

    def values(self) -> tuple[str, ...]:
        return tuple(entry.data(VALUE) for entry in self._entries())

    def ticked(self) -> tuple[str, ...]:
        return tuple(
            entry.data(VALUE) for entry in self._entries() if entry.checkState() == Qt.CheckState.Checked
        )

    def _entries(self) -> list[QListWidgetItem]:
        return [self.item(row) for row in range(self.count())]
