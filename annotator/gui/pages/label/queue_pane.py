"""The reports to be labelled, on the left: found by item, narrowed by state, each with how far it is."""

from PySide6.QtCore import QModelIndex, Signal

from annotator.actions.labels import Task
from annotator.domain.counting import counted
from annotator.gui.models.label_queue import ROW_ROLE, LabelQueue, Show
from annotator.gui.pages.label.queue_delegate import QueueDelegate
from annotator.gui.widgets.sought_list import SoughtList


class QueuePane(SoughtList[Show]):
    """Search, filters, and the list itself."""

    chosen = Signal(str)
    """The line that a person went to, by its id."""

    def __init__(self, queue: LabelQueue) -> None:
        super().__init__(Show, Show.ALL, finds="Find an item by its words or key", lists="Reports to label")
        self.queue = queue
        self._open = ""
        self.called = "report"
        """What a line is."""
        self.list.setModel(queue)
        self.list.setItemDelegate(QueueDelegate(self.list))
        self.narrowed.connect(self._narrow)
        self.entered.connect(self._choose)

    def show_open(self, task_id: str) -> None:
        """Mark the report that is open, and bring it into view."""
        self._open = task_id
        if not self.queue.place(task_id).isValid():
            self._narrow()
        self.mark(self.queue.place(task_id))

    def recount(self) -> None:
        """Say how much is left, on the filters and below the list."""
        self.filters.show_tips({show: counted(self.queue.counted(show), self.called) for show in Show})
        left, all_reports = self.queue.left, self.queue.counted(Show.ALL)
        unsure = self.queue.counted(Show.UNSURE)
        said = (
            f"{left} of {counted(all_reports, self.called)} to do"
            if left
            else f"All {counted(all_reports, self.called)} labelled"
        )
        self.left.setText(f"{said} · {unsure} with unsure" if unsure else said)

    def _narrow(self) -> None:
        self.queue.narrow(self.filters.held, self.search.text(), self._open)
        self.mark(self.queue.place(self._open))

    def _choose(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if isinstance(row, Task):
            self.chosen.emit(row.id)
