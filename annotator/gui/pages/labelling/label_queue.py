"""Qt model of the label queue: reports under their items, with progress."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from html import escape
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt

from annotator.actions.labelling.label_tasks import LabelTask, task_id
from annotator.gui.tables.rows import Index, resetting

ROW_ROLE = int(Qt.ItemDataRole.UserRole) + 1


class ReportFilter(Enum):
    """Filter of the queue."""

    ALL = "All"
    TO_DO = "To do"
    UNSURE = "Unsure"
    DONE = "Done"

    def admits(self, task: LabelTask) -> bool:
        """Whether a report is shown under this filter."""
        match self:
            case ReportFilter.TO_DO:
                return task.labelled < task.units
            case ReportFilter.UNSURE:
                return task.unsure > 0
            case ReportFilter.DONE:
                return task.labelled == task.units
            case _:
                return True


@dataclass(frozen=True, slots=True)
class ItemGroup:
    """The line above an item's reports."""

    item_id: str
    item_key: str
    question: str


class LabelQueue(QAbstractListModel):
    """All reports in order; rows are those that match filter and search, under their items."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks: dict[str, LabelTask] = {}
        self._rows: list[ItemGroup | LabelTask] = []
        self._places: dict[str, int] = {}
        self._due: Mapping[str, str] = {}
        self._show, self._words, self._kept = ReportFilter.ALL, "", ""
        self._submits = True

    @property
    def tasks(self) -> Sequence[LabelTask]:
        return list(self._tasks.values())

    @property
    def left(self) -> int:
        return sum(task.labelled < task.units for task in self._tasks.values())

    def task(self, task_id: str) -> LabelTask | None:
        """A report by its id, or a pair by those of both."""
        return self._tasks.get(task_id)

    def about(self, response_id: str, unit_id: str) -> LabelTask | None:
        """The line that a unit of a report belongs to; of a pair the unit is the report shown second."""
        return self._tasks.get(response_id) or self._tasks.get(task_id(response_id, unit_id))

    def counted(self, show: ReportFilter) -> int:
        return sum(show.admits(task) for task in self._tasks.values())

    def fill(self, tasks: Sequence[LabelTask], *, submits: bool = True) -> None:
        """Take over the queue as it now is; `submits` tells whether labels are submitted item by item, and locked."""
        self._submits = submits
        self._tasks = {task.id: task for task in tasks}
        self.narrow(self._show, self._words, self._kept)

    def narrow(self, show: ReportFilter, words: str, keep: str) -> None:
        """Show only what matches; the report in `keep` stays whatever the filter, so that no one loses their place."""
        self._show, self._words, self._kept = show, words, keep
        sought = words.casefold().split()
        with resetting(self):
            self._rows = []
            item_id = ""
            for task in self._tasks.values():
                admitted = show.admits(task) and _matches(task, sought)
                if not admitted and task.id != keep:
                    continue
                if task.item_id != item_id:
                    item_id = task.item_id
                    self._rows.append(ItemGroup(item_id, task.item_key, " ".join(task.question.split())))
                self._rows.append(task)
            self._places = {row.id: n for n, row in enumerate(self._rows) if isinstance(row, LabelTask)}

    @property
    def submits(self) -> bool:
        """Whether labels are submitted item by item, and locked; else report by report, and stay open."""
        return self._submits

    def count(self, task_id: str, labelled: int, unsure: int, *, waits: bool = False) -> None:
        """A report's progress has changed; its row stays where it is until the list is narrowed again."""
        waits = waits and not self._submits
        self._replace(replace(self._tasks[task_id], labelled=labelled, unsure=unsure, waits=waits))

    def _replace(self, task: LabelTask) -> None:
        self._tasks[task.id] = task
        place = self._places.get(task.id)
        if place is not None:
            self._rows[place] = task
            self.dataChanged.emit(self.index(place), self.index(place))

    def place(self, task_id: str) -> QModelIndex:
        """Where a report is shown; an invalid index when it is not."""
        row = self._places.get(task_id)
        return QModelIndex() if row is None else self.index(row)

    def neighbour(self, task_id: str, step: int) -> LabelTask | None:
        """The report shown next (1) or before (-1); None at the ends."""
        shown = [row for row in self._rows if isinstance(row, LabelTask)]
        places = [row.id for row in shown]
        at = places.index(task_id) + step if task_id in places else 0
        return shown[at] if 0 <= at < len(shown) else None

    def next_open(self, task_id: str) -> LabelTask | None:
        """The next report, shown or not, with open criteria, wrapping around; None when all is done."""
        return _open_after(list(self._tasks.values()), task_id)

    def _explained(self, row: ItemGroup | LabelTask) -> str:
        due = self._due.get(row.item_id, "")
        if isinstance(row, LabelTask):
            return (
                f"{progress_words(row)} · due {due}"
                if due and state_of(row) != "submitted"
                else progress_words(row)
            )
        lines = [escape(row.question[:600]), *([f"Due {escape(due)}"] if due else [])]
        return f"<qt>{'<br>'.join(lines)}</qt>"

    def open_beside(self, task_id: str) -> LabelTask | None:
        """The next report of the same item with open criteria, from its first again after its last; or None."""
        here = self._tasks.get(task_id)
        tasks = [task for task in self._tasks.values() if here is not None and task.item_id == here.item_id]
        return _open_after(tasks, task_id)

    def unsubmitted(self) -> list[str]:
        """The items of which every report is labelled, but nothing submitted; where reports are submitted one by one,
        those with such a report.
        """
        if not self._submits:
            return list(dict.fromkeys(task.item_id for task in self._tasks.values() if is_ready(task)))
        found: dict[str, bool] = {}
        for task in self._tasks.values():
            ready = task.labelled == task.units and not task.sealed
            found[task.item_id] = found.get(task.item_id, True) and ready
        # Where all was given elsewhere nothing waits for this person.
        own = {task.item_id for task in self._tasks.values() if not task.given}
        return [item_id for item_id, ready in found.items() if ready and item_id in own]

    def seal(self, item_id: str, *, sealed: bool) -> None:
        """The labels of an item are submitted, or open again."""
        for task in list(self._tasks.values()):
            if task.item_id == item_id and self._submits:
                self._replace(replace(task, sealed=sealed))
            elif task.item_id == item_id and is_ready(task):
                self._replace(replace(task, waits=False))

    def know_due(self, due: Mapping[str, str]) -> None:
        """From now on tooltips say by when items are due, in these words."""
        self._due = due

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Only reports can be chosen; the lines of items are passed over by the keys."""
        if not index.isValid() or isinstance(self._rows[index.row()], ItemGroup):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a line shows; the delegate takes the row itself."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{row.item_key}  {row.question}" if isinstance(row, ItemGroup) else row.name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return (
                f"Item {row.item_key}" if isinstance(row, ItemGroup) else f"{row.name}, {progress_words(row)}"
            )
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._explained(row)
        return None


def is_ready(task: LabelTask) -> bool:
    """Whether a report that is submitted by itself is labelled, and its labels are to be submitted."""
    return task.waits and task.labelled == task.units


def state_of(task: LabelTask) -> str:
    """How far a report is, in a word."""
    if task.sealed or task.given:
        return "submitted"
    if task.labelled < task.units:
        return "begun" if task.labelled else "new"
    return "unsure" if task.unsure else "done"


def progress_words(task: LabelTask) -> str:
    """How far a report is, in words."""
    words = f"{task.labelled:,} of {task.units:,} labelled"
    words = f"{words}, {task.unsure} unsure" if task.unsure else words
    if task.given:
        words = f"{words}, given elsewhere"
    return f"{words}, submitted" if task.sealed else f"{words}, not submitted" if task.waits else words


def _matches(task: LabelTask, sought: Sequence[str]) -> bool:
    return not sought or all(word in f"{task.item_key} {task.question}".casefold() for word in sought)


def _open_after(tasks: list[LabelTask], task_id: str) -> LabelTask | None:
    """The first with open criteria after a report, from the top again after the last; None where all is done."""
    at = next((n for n, task in enumerate(tasks) if task.id == task_id), -1)
    after = (*tasks[at + 1 :], *tasks[: at + 1])
    return next((task for task in after if task.labelled < task.units), None)
