"""Tables to be imported: their first rows, and above each column a choice of what it holds."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QFileDialog,
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from annotator.actions.imports import matching
from annotator.actions.imports.matching import Refused, TableMatch
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.rows import Index
from annotator.gui.widgets.bars.flow_row import wrapping
from annotator.gui.widgets.basics import vertical
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.growing_edit import direction_of
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.lists.columns import wanted
from annotator.gui.widgets.lists.lines_table import LinesTable

# The row of choices among the model's rows, which otherwise are places of the table's own rows.
CHOICES = -1
# The widest a column gets, what a choice needs beside its words, and the least height of the table.
WIDEST, ARROW, LEAST = 300, 26, 126
FILES = "Mappings (*.json)"


class ChoiceDelegate(QStyledItemDelegate):
    """Draws the first row as combo boxes: hundreds of live ones are slow."""

    def __init__(self, view: LinesTable) -> None:
        super().__init__(view)
        self._box = ChoiceBox(view)
        self._box.addItem("")
        self._box.hide()

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """A cell is read from the side on which its script begins."""
        super().initStyleOption(option, index)
        if direction_of(option.text) == Qt.LayoutDirection.RightToLeft:
            option.direction = Qt.LayoutDirection.RightToLeft

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        if index.row() == 0:
            self._box.setItemText(0, index.data())
            self._box.resize(option.rect.size() - QSize(4, 2))
            painter.drawPixmap(option.rect.topLeft() + QPoint(2, 1), self._box.grab())


class MatchTable(LinesTable):
    """The rows of a table, as high as they are; Enter or a click on a choice opens it."""

    def __init__(self, rows: CellsModel[int]) -> None:
        super().__init__("First rows", rows, cells=True)
        self.rows = rows
        self.setItemDelegate(ChoiceDelegate(self))
        self.setSizeAdjustPolicy(QAbstractScrollArea.SizeAdjustPolicy.AdjustToContents)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)

    def fit(self) -> None:
        header, px, widths = self.horizontalHeader(), theme.current().px, dict(wanted(self).widths)
        # The choices and a row or two stay in view.
        self.setMinimumHeight(px(LEAST))
        for place, width in widths.items():
            header.resizeSection(
                place, min(max(header.sectionSizeHint(place), width + px(ARROW)), px(WIDEST))
            )
        if widths and (left := self.viewport().width() - header.length()) > 0:
            widest = max(widths, key=lambda place: widths[place])
            header.resizeSection(widest, header.sectionSize(widest) + left)


class MatchingView(QWidget):
    """The tables of an import, one in view, and how they are matched."""

    matched = Signal(object)
    """Another mapping holds."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._refused: set[tuple[str, str]] = set()
        self.tables: list[TableMatch] = []
        self.which = ChoiceBox()
        self.which.setAccessibleName("Table")
        self.which.keep_short(24)
        self.which.currentIndexChanged.connect(lambda _: self._show())
        self.constants = LineField(placeholderText="The same in every row: System = Alder; Language = en")
        self.constants.setAccessibleName("The same in every row")
        self.constants.editingFinished.connect(self._take_constants)
        self.mapping = QPushButton("Mapping")
        menu = QMenu(self.mapping)
        menu.addAction("Save mapping…", self._save)
        menu.addAction("Load mapping…", self._choose)
        for name in matching.shipped():
            menu.addAction(f"Load {name}", partial(self.load, Path(name)))
        self.mapping.setMenu(menu)
        self.table = MatchTable(CellsModel([], self))
        for asked in (self.table.pressed, self.table.activated):
            asked.connect(self._open)
        vertical(
            wrapping(self.which, self.constants, self.mapping, gap=10),
            self.table,
            on=self,
            margins=0,
            spacing=8,
        )

    def show_tables(self, tables: Sequence[TableMatch], refused: Sequence[Refused]) -> None:
        self.tables, self._refused = [*tables], {(file, row) for file, row, _ in refused}
        offer(self.which, [(f"{one.table.name} · {one.size}", one.table.name) for one in tables])
        self.which.setVisible(len(tables) > 1)
        self._show()

    @property
    def _shown(self) -> TableMatch:
        return self.tables[self.which.currentIndex()]

    def _show(self) -> None:
        if not self.tables:
            return
        shown, rows = self._shown, self.table.rows
        self.constants.setText(shown.constants)
        if tuple(rows.columns) == shown.paths and len(rows.rows) == len(shown.table.rows) + 1:
            # Whoever has scrolled to a column stays there.
            rows.tell_all()
            self.table.fit()
            return
        columns = [
            Column(path, partial(self._words, path), look=partial(self._look, path), about=path)
            for path in shown.paths
        ]
        rows.show([CHOICES, *range(len(shown.table.rows))], columns)
        self.table.setCurrentIndex(rows.index(0, 0))

    def _words(self, path: str, row: int) -> str:
        return self._shown.words(path) if row == CHOICES else self._shown.cell(row, path)

    def _look(self, path: str, row: int) -> tuple[str, str]:
        left_out = self._shown.words(path) == matching.LEFT_OUT
        refused = (self._shown.table.name, self._shown.table.place(row)) in self._refused
        return "", "level-error" if refused else "text-muted" if left_out else "text"

    def _open(self, index: Index) -> None:
        """Offer what a column may hold, below its choice."""
        if index.row() == 0:
            path, menu = self._shown.paths[index.column()], QMenu(self.table)
            menu.aboutToHide.connect(menu.deleteLater)
            for field, words in {"": self._shown.unmatched(path), **matching.WORDS}.items():
                menu.addAction(words, partial(self.match, path, field))
            menu.popup(self.table.viewport().mapToGlobal(self.table.visualRect(index).bottomLeft()))

    def match(self, path: str, field: str) -> None:
        self._replace(self._shown.match(path, field))

    def _take_constants(self) -> None:
        if self.tables and (typed := self.constants.text()) != self._shown.constants:
            self._replace(self._desk.attempt(lambda: self._shown.with_constants(typed)) or self._shown)

    def _replace(self, table: TableMatch) -> None:
        self.tables[self.which.currentIndex()] = table
        self._show()
        self.matched.emit(matching.exactly(self.tables))

    def _save(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Save mapping", "mapping.json", FILES)
        if name:
            self._desk.attempt(lambda: matching.save_mapping(Path(name), self.tables))

    def _choose(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Load mapping", "", FILES)
        if name:
            self.load(Path(name))

    def load(self, path: Path) -> None:
        if (mapping := self._desk.attempt(partial(matching.load_mapping, path))) is not None:
            self.matched.emit(mapping)
