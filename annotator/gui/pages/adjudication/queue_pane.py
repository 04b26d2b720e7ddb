"""The adjudication queue: search, filter by state, most contested first."""

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QPushButton

from annotator.actions.adjudication.adjudicating import QueueLine
from annotator.gui.pages.adjudication.queue_delegate import AdjudicationQueueDelegate
from annotator.gui.review.adjudication_queue import (
    LINE_ROLE,
    NOWHERE,
    AdjudicationQueue,
    LineFilter,
    Place,
)
from annotator.gui.widgets.lists.sought_list import SoughtList


class AdjudicationQueuePane(SoughtList[LineFilter]):
    """Search, filters, the list, and bulk confirmation."""

    chosen = Signal(object)
    """The line a person went to."""
    unanimous_wanted = Signal()

    def __init__(self, queue: AdjudicationQueue) -> None:
        super().__init__(
            LineFilter,
            LineFilter.CONFLICTS,
            finds="Find an item by its words, key or stage",
            lists="Items to adjudicate",
        )
        self.queue = queue
        self._open: Place = NOWHERE
        self.list.setModel(queue)
        self.list.setItemDelegate(AdjudicationQueueDelegate(self.list))
        self.narrowed.connect(self._narrow)
        self.entered.connect(self._choose)
        self.unanimous = QPushButton()
        self.unanimous.clicked.connect(self.unanimous_wanted)
        self.column.addWidget(self.unanimous)

    def show_open(self, place: Place) -> None:
        """Mark the line that is open, and bring it into view."""
        self._open = place
        if self.queue.row_of(place) < 0:
            self._narrow()
        self._mark_open()

    def fill(self, lines: list[QueueLine]) -> None:
        self.queue.fill(lines)
        self._narrow()
        self.recount()

    def recount(self) -> None:
        """Say how much is left, on the filters and below the list."""
        self.filters.show_counts({show: self.queue.counted(show) for show in LineFilter})
        conflicts = self.queue.counted(LineFilter.CONFLICTS)
        drawn = sum(line.spot_check and not line.closed for line in self.queue.lines)
        words = "1 conflict is left" if conflicts == 1 else f"{conflicts} conflicts are left"
        looks = f" · {drawn} drawn for a spot check" if drawn else ""
        self.left.setText(f"{words if conflicts else 'No conflict is left'}{looks}")
        agreed = sum(line.confirmable for line in self.queue.lines)
        self.unanimous.setText(f"Confirm {agreed} unanimous item{'s' if agreed != 1 else ''}…")
        self.unanimous.setVisible(agreed > 0)

    def _narrow(self) -> None:
        self.queue.narrow(self.filters.held, self.search.text(), self._open)
        self._mark_open()

    def _mark_open(self) -> None:
        self.mark(self.queue.index(self.queue.row_of(self._open)))

    def _choose(self, index: QModelIndex) -> None:
        line = index.data(LINE_ROLE)
        if isinstance(line, QueueLine):
            self.chosen.emit(line)
