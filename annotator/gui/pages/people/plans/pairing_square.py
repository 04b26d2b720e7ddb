"""Square of people by people: how often two meet, tinted by number."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from annotator.actions.assignments.planning import PlannedPairing
from annotator.gui import theme
from annotator.gui.pages.people.plans.pairings import PairingsModel
from annotator.gui.tables.rows import Index

CELL, ROW = 34, 26


class PairingSquare(QTableView):
    """People down and across; where they are too many, it scrolls sideways."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs = PairingsModel(self)
        self.setModel(self.pairs)
        self.setItemDelegate(_Tinted(self))
        self.setAccessibleName("Number of shared items per pair of people")
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setTabKeyNavigation(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setDefaultAlignment(Qt.AlignmentFlag.AlignCenter)
        theme.watch(self, self.fit)

    def show_pairs(self, people: Sequence[tuple[str, str, str]], pairings: Sequence[PlannedPairing]) -> None:
        """Show people (id, alias, name) and how often each two of them meet."""
        self.pairs.show(people, pairings)
        self.fit()

    def fit(self) -> None:
        """Cells that hold an alias each, and room for all of them where there is any."""
        px, people = theme.current().px, self.pairs.rowCount()
        names = [str(self.pairs.headerData(n, Qt.Orientation.Horizontal)) for n in range(people)]
        titles = (self.horizontalHeader().sectionSizeHint(number) for number in range(people))
        wide = max(px(CELL), *titles) if names else px(CELL)
        self.horizontalHeader().setDefaultSectionSize(wide)
        self.verticalHeader().setDefaultSectionSize(px(ROW))
        head = self.horizontalHeader().sizeHint().height()
        self.setMaximumWidth(self._names_width(names) + wide * people + 2 * self.frameWidth() + 2)
        self.setFixedHeight(head + px(ROW) * people + px(14))

    def _names_width(self, names: Sequence[str]) -> int:
        """The room for the aliases down the side, which the header itself tells only once it is shown."""
        wide = max((self.fontMetrics().horizontalAdvance(name) for name in names), default=0)
        self.verticalHeader().setFixedWidth(wide + theme.current().px(28))
        return wide + theme.current().px(28)


class _Tinted(QStyledItemDelegate):
    """A style sheet leaves no background of a cell's own: it is drawn here."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The tint, and the number on it."""
        tint = index.data(Qt.ItemDataRole.BackgroundRole)
        if tint is not None:
            painter.fillRect(option.rect, tint)
        super().paint(painter, option, index)
