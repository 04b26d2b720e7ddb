"""Table of each person's progress; choosing a person filters the board."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from annotator.actions.labelling import board
from annotator.actions.labelling.board import AssignmentStatus, StatusTotal
from annotator.domain.texts.ordering import natural
from annotator.gui import theme
from annotator.gui.pages.people.totals import HANDED_IN, PERSON, PROGRAM, TIME, columns, with_everybody
from annotator.gui.tables.cells import CellsModel
from annotator.gui.tables.rows import Index
from annotator.gui.widgets.lists.lines_table import LinesTable

# With less room than this the time, and the version of the program, are in the tooltips alone.
ROOM_FOR_TIME, ROOM_FOR_PROGRAM = 350, 440
BAR = 4


class TotalsTable(LinesTable):
    """Everybody together, then each person."""

    chosen = Signal(str)
    """Somebody was chosen: their id, or an empty text for everybody."""

    def __init__(self) -> None:
        self.totals = CellsModel[StatusTotal](columns({}))
        super().__init__("People and their progress", self.totals, self.totals.widths, stretched=PERSON)
        self.totals.setParent(self)
        self.setItemDelegate(_Bars(self))
        self._filling = False
        self.selectionModel().currentRowChanged.connect(self._tell)

    def fill(
        self, lines: Sequence[AssignmentStatus], person_id: str, programs: Mapping[str, str] | None = None
    ) -> None:
        """Add up these lines; the row of a person stays the chosen one, if there is such a row."""
        aliases = {line.person_id: line.alias for line in lines}
        found = sorted(board.per_person(lines), key=lambda total: natural(aliases[total.key]))
        self._filling = True
        self.totals.show(with_everybody(found), columns(aliases, programs))
        self._filling = False
        self.show_person(person_id)

    def show_person(self, person_id: str) -> None:
        """Mark the row of a person, or that of everybody; tells nobody."""
        self._filling = True
        self.setCurrentIndex(
            self.totals.index(max(0, self.totals.place_of(lambda total: total.key == person_id)), PERSON)
        )
        self._filling = False

    def _tell(self, index: QModelIndex) -> None:
        if not self._filling:
            total = self.totals.at(index.row())
            self.chosen.emit(total.key if total is not None else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what there is no room for."""
        self.setColumnHidden(TIME, self.width() < theme.current().px(ROOM_FOR_TIME))
        self.setColumnHidden(PROGRAM, self.width() < theme.current().px(ROOM_FOR_PROGRAM))
        super().resizeEvent(event)


class _Bars(QStyledItemDelegate):
    """Draws a thin bar under the submitted count."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The cell as usual, and the bar at its foot."""
        super().paint(painter, option, index)
        model = index.model()
        total = model.at(index.row()) if isinstance(model, CellsModel) else None
        if index.column() != HANDED_IN or not isinstance(total, StatusTotal) or not total.assignments:
            return
        px = theme.current().px
        room = QRectF(option.rect).adjusted(px(6), option.rect.height() - px(BAR + 2), -px(6), -px(2))
        painter.save()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.token("border"))
        painter.drawRoundedRect(room, px(2), px(2))
        done = QRectF(room)
        done.setWidth(room.width() * total.handed_in / total.assignments)
        whole = total.handed_in == total.assignments
        painter.setBrush(theme.token("state-agreed" if whole else "accent"))
        painter.drawRoundedRect(done, px(2), px(2))
        painter.restore()
