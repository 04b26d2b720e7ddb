"""The label queue: search and filter by state."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSettings, QSignalBlocker, Signal
from PySide6.QtWidgets import QAbstractButton, QWidget

from annotator.actions.labelling.label_tasks import LabelTask
from annotator.domain.texts.counting import counted
from annotator.gui import theme
from annotator.gui.pages.labelling.label_queue import ROW_ROLE, LabelQueue, ReportFilter
from annotator.gui.pages.labelling.queue_delegate import LabellingQueueDelegate
from annotator.gui.widgets.lists.sought_list import SoughtList

# What the versions before kept under another name was not chosen by anyone.
QUEUE = "label/queue-chosen"
# The page is this wide, at 100 %, where the queue stands beside the report from the first.
ROOMY = 1300


class LabellingQueuePane(SoughtList[ReportFilter]):
    """Search, filters, and the list itself."""

    chosen = Signal(str)
    """The line that a person went to, by its id."""

    def __init__(self, queue: LabelQueue) -> None:
        super().__init__(
            ReportFilter, ReportFilter.ALL, finds="Find an item by its words or key", lists="Reports to label"
        )
        self.queue = queue
        self._open = ""
        self.called = "report"
        """What a line is."""
        self.list.setModel(queue)
        self.list.setItemDelegate(LabellingQueueDelegate(self.list))
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
        self.filters.show_tips(
            {show: counted(self.queue.counted(show), self.called) for show in ReportFilter}
        )
        left, all_reports = self.queue.left, self.queue.counted(ReportFilter.ALL)
        unsure = self.queue.counted(ReportFilter.UNSURE)
        said = (
            f"{left:,} of {counted(all_reports, self.called)} to do"
            if left
            else f"All {counted(all_reports, self.called)} labelled"
        )
        self.left.setText(f"{said} · {unsure} with unsure" if unsure else said)

    def _narrow(self) -> None:
        self.queue.narrow(self.filters.held, self.search.text(), self._open)
        self.mark(self.queue.place(self._open))

    def _choose(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if isinstance(row, LabelTask):
            self.chosen.emit(row.id)


class Folding(QObject):
    """Shows the queue beside the report where there is room for both, unless a person decides otherwise."""

    def __init__(self, page: QWidget, queue: QWidget, button: QAbstractButton) -> None:
        super().__init__(page)
        self._page, self._queue, self._button = page, queue, button
        page.installEventFilter(self)
        button.toggled.connect(self._choose)
        theme.watch(self, self._fit)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._fit()
        return super().eventFilter(watched, event)

    def _choose(self, shown: bool) -> None:
        QSettings().setValue(QUEUE, shown)
        self._queue.setVisible(shown)

    def _fit(self) -> None:
        roomy = self._page.width() >= theme.current().px(ROOMY)
        shown = QSettings().value(QUEUE, roomy, bool) is True
        with QSignalBlocker(self._button):
            self._button.setChecked(shown)
        self._queue.setVisible(shown)
