"""A view: description, tables, picture, and details of the chosen cell."""

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QPushButton, QTabBar, QTextBrowser, QWidget

from annotator.actions.results.result_sheets import ResultSheet, SheetCell, SheetLine, SheetPicture
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.tables.sheet_widths import fit
from annotator.gui.tables.sheets import SheetModel
from annotator.gui.views.account import account
from annotator.gui.views.picture_pane import PicturePane
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import PlainLabel, column_of, horizontal, vertical
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.later import later
from annotator.gui.widgets.lists.lines_table import LinesTable

SETTLE_MS = 150
FEW = 6
# In pixels of the design: a low window, and what the titles, one row and the bar below it take.
LOW, ONE_ROW = 640, 72
# So many conditions of the figures are told without being asked for, in a low window and in others.
FIRST, ENOUGH = 2, 4


class ViewPane(Splitter):
    """Sheets of a view, one at a time; `opened` asks for the data behind a cell."""

    opened = Signal(object, object)
    left = Signal(str)
    """Another sheet is in view; the response that was chosen in the one before, if any."""
    turned = Signal()
    """Another sheet, cell or order is in view."""

    def __init__(self, desk: Desk, name: str) -> None:
        super().__init__(name, Qt.Orientation.Vertical)
        self._name = name
        self._sheets: tuple[ResultSheet, ...] = ()
        self._metric = ""
        self.account_of: Callable[[ResultSheet, SheetLine | None, SheetCell | None, int, str], str] = account
        """The account of the chosen cell as HTML: of a sheet, a line, a cell, its column, and the view's metric."""
        self.model = SheetModel(self)
        self.table = LinesTable("Figures", self.model, cells=True)
        self.table.setSortingEnabled(True)
        self.table.horizontalHeader().setSortIndicatorClearable(True)
        theme.scale(self.table.setMinimumHeight, ONE_ROW)
        self.table.activated.connect(self._open)
        self.table.selectionModel().currentChanged.connect(lambda *_: self._turn())
        self.tabs = QTabBar()
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setAccessibleName("Tables of this view")
        self.tabs.currentChanged.connect(self._change_sheet)
        self.sought = LineField(placeholderText="Find in the table…", clearButtonEnabled=True)
        self.sought.setAccessibleName("Find in the table")
        theme.scale(self.sought.setMaximumWidth, 240)
        self._seek_soon = later(self, self._seek, SETTLE_MS)
        self.sought.textChanged.connect(lambda _: self._seek_soon.start())
        self.sought.returnPressed.connect(self.table.setFocus)
        self.answers, self.told = PlainLabel(wrap=True), PlainLabel("", "hint", wrap=True)
        for label in (self.answers, self.told):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._conditions: list[str] = []
        self.more = QPushButton()
        self.more.setProperty("role", "quiet")
        self.more.setCheckable(True)
        self.more.setToolTip("What these figures rest on")
        self.more.toggled.connect(self._tell_all)
        self.pictures = PicturePane(desk)
        self.addWidget(self._above())
        self.addWidget(self._below())
        self.setStretchFactor(0, 1)
        self.setStretchFactor(1, 1)
        self.setFocusProxy(self.table)
        theme.watch(self, self._dress)

    def _above(self) -> QWidget:
        head = horizontal((self.tabs, 1), self.sought)
        words = vertical(self.answers, self.told, spacing=4)
        told = horizontal((words, 1), (self.more, 0, Qt.AlignmentFlag.AlignBottom), spacing=4)
        return column_of(head, (self.table, 1), told, margins=(0, 0, 0, 4), spacing=4)

    def _below(self) -> QWidget:
        self.account = QTextBrowser()
        self.account.setProperty("role", "side")
        self.account.setAccessibleName("About the selected figure and its sources")
        self.account.setOpenLinks(False)
        right = column_of(
            PlainLabel("About this figure", "strong"), (self.account, 1), margins=(4, 4, 0, 0), spacing=4
        )
        theme.scale(right.setMinimumWidth, 260)
        return Splitter(f"{self._name} below", parts=(self.pictures, right), sizes=(600, 440))

    def show_sheets(self, sheets: tuple[ResultSheet, ...], metric: str) -> None:
        """Show a view's sheets; the one of the same key and the cell that were chosen stay chosen."""
        kept = self.model.whole.key
        self._sheets, self._metric = sheets, metric
        with QSignalBlocker(self.tabs):
            while self.tabs.count():
                self.tabs.removeTab(0)
            for sheet in sheets:
                self.tabs.addTab(f"{sheet.title} ({len(sheet.lines):,})".replace("&", "&&"))
            known = [sheet.key for sheet in sheets]
            self.tabs.setCurrentIndex(known.index(kept) if kept in known else 0)
        self._show_sheet(self.tabs.currentIndex())
        self.share_room()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QTimer.singleShot(0, self, self.share_room)

    def stop(self) -> None:
        self._seek_soon.stop()
        self.pictures.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out in a low window what is not the answer."""
        super().resizeEvent(event)
        self._fit_words()

    def _fit_words(self) -> None:
        """The answer stands in every window; its conditions leave room for the figures unless all are asked for."""
        low = self.window().height() < theme.current().px(LOW)
        first = ENOUGH if not low else 0 if self.answers.text() else FIRST
        told = self._conditions if self.more.isChecked() else self._conditions[:first]
        self.told.setText("\n".join(told))
        self.told.setVisible(bool(told))
        self.more.setText(
            "Show fewer" if self.more.isChecked() else f"Show {len(self._conditions) - first:,} more"
        )
        self.more.setVisible(len(self._conditions) > first)

    def _tell_all(self) -> None:
        self._fit_words()
        self.share_room()

    def share_room(self) -> None:
        """Give a short table no more than it needs, as long as nobody has moved the divider."""
        if not self.is_fresh or not self.isVisible():
            return
        px, whole = theme.current().px, self.height()
        shown = [label for label in (self.answers, self.told) if not label.isHidden()]
        words = sum(label.heightForWidth(label.width()) for label in shown)
        if not self.more.isHidden():
            words = max(words, self.more.sizeHint().height())
        # Its head, a line for sliding it sideways, and the tabs above it.
        line = self.table.verticalHeader().defaultSectionSize()
        around = words + px(38) + (px(44) if len(self._sheets) > 1 else 0)
        needed = around + line * (self.model.rowCount() + 1)
        # Without a picture the account is short. The words are whole, with a row of the table at least.
        part = 0.67 if self.pictures.isHidden() else 0.56
        above = max(px(150), min(needed, max(round(part * whole), around + 2 * line)))
        self.setSizes([above, whole - above])

    def _change_sheet(self, place: int) -> None:
        line = self.line()
        self._show_sheet(place)
        self.share_room()
        self.left.emit(line.response_id if line is not None else "")

    def _show_sheet(self, place: int) -> None:
        if not 0 <= place < len(self._sheets):
            return
        sheet, index = self._sheets[place], self.table.currentIndex()
        same = sheet.keys == self.model.whole.keys
        row, column = (max(0, index.row()), index.column()) if same else (0, -1)
        self.model.show(sheet)
        self.table.setAccessibleName(sheet.title)
        # A sentence that begins with a name from right to left is still read from the left.
        told = [f"\u200e{words}" for words in sheet.told]
        self.answers.setText("\n".join(told[: sheet.answers]))
        self.answers.setVisible(bool(sheet.answers))
        self._conditions = told[sheet.answers :]
        self.more.setChecked(self.more.isChecked() and same)
        self._fit_words()
        # A find field over four rows only takes room.
        self.sought.setVisible(len(sheet.lines) > FEW or bool(self.sought.text()))
        self.tabs.setVisible(len(self._sheets) > 1 or len(sheet.lines) > FEW)
        self._seek()
        section, order = self.model.sorted_by
        header = self.table.horizontalHeader()
        with QSignalBlocker(header):
            header.setSortIndicator(section, order)
        fit(self.table, self.model)
        pictures = sheet.pictures or _others(self._sheets)
        self.pictures.offer(pictures)
        self.pictures.setVisible(bool(pictures))
        if self.model.rowCount():
            first = column if 0 <= column < self.model.columnCount() else _first_figure(sheet)
            self.table.setCurrentIndex(self.model.index(min(row, self.model.rowCount() - 1), first))
            if not same:
                # What the lines are about stands in the first column.
                self.table.horizontalScrollBar().setValue(0)
        self._turn()

    def _seek(self) -> None:
        self.model.seek(self.sought.text())
        if self.model.rowCount() and not self.table.currentIndex().isValid():
            self.table.setCurrentIndex(self.model.index(0, _first_figure(self.model.whole)))
        self.turned.emit()

    def seek(self) -> None:
        self.sought.show()
        self.sought.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.sought.selectAll()

    def next_sheet(self) -> None:
        if self.tabs.count():
            self.tabs.setCurrentIndex((self.tabs.currentIndex() + 1) % self.tabs.count())

    def line(self) -> SheetLine | None:
        return self.model.at(self.table.currentIndex().row())

    def cell(self) -> SheetCell | None:
        return self.model.cell(self.table.currentIndex())

    def picture(self) -> SheetPicture | None:
        return self.pictures.picture()

    def explain(self) -> None:
        """Go to the account of the chosen cell, or back to the table."""
        (self.table if self.account.hasFocus() else self.account).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _turn(self) -> None:
        """Another cell is chosen."""
        line, cell = self.line(), self.cell()
        column = self.table.currentIndex().column()
        sheet = self.model.whole
        self.account.setHtml(self.account_of(sheet, line, cell, column, self._metric))
        self.pictures.choose((cell.picture if cell else "") or (line.picture if line else ""))
        self.turned.emit()

    def _dress(self) -> None:
        fit(self.table, self.model)
        self._turn()

    def _open(self, index: QModelIndex) -> None:
        line, cell = self.model.at(index.row()), self.model.cell(index)
        if line is not None:
            self.opened.emit(line, cell)


def _others(sheets: tuple[ResultSheet, ...]) -> tuple[SheetPicture, ...]:
    """A table without pictures of its own shows those of the view."""
    return next((sheet.pictures for sheet in sheets if sheet.pictures), ())


def _first_figure(sheet: ResultSheet) -> int:
    """The first column with a figure, where the person who reads begins."""
    for place in range(len(sheet.columns)):
        if any(line.cells[place].estimate is not None for line in sheet.lines):
            return place
    return 0
