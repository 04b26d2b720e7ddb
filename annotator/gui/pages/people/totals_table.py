"""Table of each person's progress; choosing a person filters the board."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from annotator.actions.labelling import board
from annotator.actions.labelling.board import AssignmentStatus, StatusTotal
from annotator.domain.texts.ordering import natural
from annotator.gui import theme
from annotator.gui.desk.naming import named
from annotator.gui.pages.people.board import time_words
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.rows import Index
from annotator.gui.widgets.lists.lines_table import LinesTable

PERSON, HANDED_IN, LATE, TIME, PROGRAM = range(5)
EVERYBODY = "Everybody"
VERSION = "The version of Goldsmith that a person's newest returned work was made with"

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


def columns(
    aliases: Mapping[str, str], programs: Mapping[str, str] | None = None
) -> Sequence[Column[StatusTotal]]:
    """What is shown of each person's work, and in each tip how much of it is in which state.

    `programs` are the versions that people worked with, by their ids.
    """
    worked_with = programs or {}

    def person(total: StatusTotal) -> str:
        return named(aliases.get(total.key) or total.name, total.name)

    def states(total: StatusTotal) -> str:
        program = worked_with.get(total.key, "")
        told = [f"works with Goldsmith {program}"] if program else []
        counts = (f"{state}: {count}" for state, count in total.states.items())
        return "\n".join((person(total), *counts, *told))

    return (
        Column("Person", person, 150, tip=states),
        Column("Handed in", lambda total: f"{total.handed_in:,} of {total.assignments:,}", 92, tip=states),
        Column(
            "Late",
            lambda total: str(total.overdue or ""),
            68,
            tip=states,
            look=lambda total: ("warning", "state-disagree") if total.overdue else None,
        ),
        Column("Time", lambda total: time_words(total.seconds), 66, tip=states, number=True),
        Column("Goldsmith", lambda total: worked_with.get(total.key, ""), 92, tip=states, about=VERSION),
    )


def with_everybody(totals: Sequence[StatusTotal]) -> list[StatusTotal]:
    """What they come to together, then the totals in the order given; the first has an empty key."""
    return [_together(totals), *totals] if totals else []


def _together(totals: Sequence[StatusTotal]) -> StatusTotal:
    return StatusTotal(
        key="",
        name=EVERYBODY,
        assignments=sum(total.assignments for total in totals),
        states=_states(totals),
        handed_in=sum(total.handed_in for total in totals),
        overdue=sum(total.overdue for total in totals),
        units=sum(total.units for total in totals),
        seconds=sum(total.seconds for total in totals),
    )


def _states(totals: Sequence[StatusTotal]) -> dict[str, int]:
    found: dict[str, int] = {}
    for total in totals:
        for state, count in total.states.items():
            found[state] = found.get(state, 0) + count
    return found
