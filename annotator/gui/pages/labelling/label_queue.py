"""Qt model of the label queue: reports under their items, with progress."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from html import escape
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QRect,
    QSettings,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractButton, QMenu, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from annotator.actions.labelling.label_tasks import LabelDecision, LabelTask, task_id
from annotator.domain.texts.words import counted
from annotator.gui import theme
from annotator.gui.review.sheets import Index, resetting
from annotator.gui.review.verdict_words import face
from annotator.gui.widgets.chips import icon, pixmap
from annotator.gui.widgets.columns import (
    END,
    START,
    SearchableList,
    elided,
    is_chosen,
    paint_bar,
    paint_ground,
    paint_key,
)

ROW_ROLE = int(Qt.ItemDataRole.UserRole) + 1


class ReportFilter(Enum):
    ALL = "All"
    TO_DO = "To do"
    UNSURE = "Unsure"
    DONE = "Done"

    def admits(self, task: LabelTask) -> bool:
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
        self.due: Mapping[str, str] = {}
        """By when items are due, in words for the tooltips."""
        self._show, self._words, self._kept = ReportFilter.ALL, "", ""
        self.submits = True
        """Whether labels are submitted item by item, and locked; else report by report, and stay open."""

    @property
    def tasks(self) -> Sequence[LabelTask]:
        return list(self._tasks.values())

    @property
    def left(self) -> int:
        return sum(task.labelled < task.units for task in self._tasks.values())

    def task(self, task_id: str) -> LabelTask | None:
        return self._tasks.get(task_id)

    def about(self, response_id: str, unit_id: str) -> LabelTask | None:
        """The line that a unit of a report belongs to; of a pair the unit is the report shown second."""
        return self._tasks.get(response_id) or self._tasks.get(task_id(response_id, unit_id))

    def counted(self, show: ReportFilter) -> int:
        return sum(show.admits(task) for task in self._tasks.values())

    def fill(self, tasks: Sequence[LabelTask], *, submits: bool = True) -> None:
        """Take over the queue as it now is; `submits` tells whether labels are submitted item by item, and locked."""
        self.submits = submits
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

    def count(self, task_id: str, labelled: int, unsure: int, *, waits: bool = False) -> None:
        """A report's progress has changed; its row stays where it is until the list is narrowed again."""
        waits = waits and not self.submits
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

    def open_beside(self, task_id: str) -> LabelTask | None:
        """The next report of the same item with open criteria, from its first again after its last; or None."""
        here = self._tasks.get(task_id)
        tasks = [task for task in self._tasks.values() if here is not None and task.item_id == here.item_id]
        return _open_after(tasks, task_id)

    def unsubmitted(self) -> list[str]:
        """The items of which every report is labelled, but nothing submitted; where reports are submitted one by one,
        those with such a report.
        """
        if not self.submits:
            return list(dict.fromkeys(task.item_id for task in self._tasks.values() if is_ready(task)))
        result: dict[str, bool] = {}
        for task in self._tasks.values():
            ready = task.labelled == task.units and not task.sealed
            result[task.item_id] = result.get(task.item_id, True) and ready
        # Where all was given elsewhere nothing waits for this person.
        own = {task.item_id for task in self._tasks.values() if not task.given}
        return [item_id for item_id, ready in result.items() if ready and item_id in own]

    def seal(self, item_id: str, *, sealed: bool) -> None:
        for task in list(self._tasks.values()):
            if task.item_id == item_id and self.submits:
                self._replace(replace(task, sealed=sealed))
            elif task.item_id == item_id and is_ready(task):
                self._replace(replace(task, waits=False))

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
            due = self.due.get(row.item_id, "")
            if isinstance(row, LabelTask):
                return (
                    f"{progress_words(row)} · due {due}"
                    if due and state_of(row) != "submitted"
                    else progress_words(row)
                )
            lines = [escape(row.question[:600]), *([f"Due {escape(due)}"] if due else [])]
            return f"<qt>{'<br>'.join(lines)}</qt>"
        return None


def is_ready(task: LabelTask) -> bool:
    """Whether a report that is submitted by itself is labelled, and its labels are to be submitted."""
    return task.waits and task.labelled == task.units


def state_of(task: LabelTask) -> str:
    if task.sealed or task.given:
        return "submitted"
    if task.labelled < task.units:
        return "begun" if task.labelled else "new"
    return "unsure" if task.unsure else "done"


def progress_words(task: LabelTask) -> str:
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
    return next((task for task in ((*tasks[at + 1 :], *tasks[: at + 1])) if task.labelled < task.units), None)


# State of a report → icon and colour.
STATES = {
    "new": ("new", "state-missing"),
    "begun": ("clock", "state-incomplete"),
    "unsure": ("question", "state-unconfirmed"),
    "done": ("check", "state-agreed"),
    "submitted": ("lock", "state-agreed"),
}


class LabellingQueueDelegate(QStyledItemDelegate):
    """Lines of one height, so that a list of thousands is laid out at once."""

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(theme.current().px(120), option.fontMetrics.height() + theme.current().px(12))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, ItemGroup):
            px, area = theme.current().px, option.rect
            painter.setPen(theme.token("text"))
            rest = paint_key(painter, option, area.adjusted(px(8), 0, -px(8), 0), row.item_key)
            painter.setPen(theme.token("text-muted"))
            painter.drawText(rest, START, elided(option, row.question, rest.width()))
        elif isinstance(row, LabelTask):
            self._paint_task(painter, option, row)
        painter.restore()

    def _paint_task(self, painter: QPainter, option: QStyleOptionViewItem, task: LabelTask) -> None:
        px, area = (
            theme.current().px,
            option.rect.adjusted(theme.current().px(4), 1, -theme.current().px(4), -1),
        )
        paint_ground(painter, option, area)
        name, colour = STATES[state_of(task)]
        size = px(16)
        top = area.top() + (area.height() - size) // 2
        ratio = painter.device().devicePixelRatioF()
        painter.drawPixmap(area.left() + px(10), top, pixmap(name, size, colour, ratio))
        painter.setPen(theme.token("on-selection" if is_chosen(option) else "text"))
        inner = area.adjusted(px(34), 0, -px(8), 0)
        painter.drawText(inner, START, task.name)
        if task.units == 1:
            # Open or done: the icon says it.
            return
        metrics = option.fontMetrics
        left = inner.left() + metrics.horizontalAdvance(task.name) + px(10)
        right = inner.right() - metrics.horizontalAdvance(f"{task.units:,} of {task.units:,}") - px(10)
        # In a narrow list the bar goes first, then the words; the icon and the tooltip stay.
        if right >= left - px(10):
            painter.drawText(inner, END, f"{task.labelled:,} of {task.units:,}")
        if right - left >= px(16):
            bar = QRect(left, area.center().y() - px(2), min(right - left, px(90)), px(5))
            bar.moveRight(right)
            share = task.labelled / task.units if task.units and task.labelled else None
            paint_bar(painter, bar, share, theme.token(colour))


# What the versions before kept under another name was not chosen by anyone.
QUEUE = "label/queue-chosen"
# The page is this wide, at 100 %, where the queue stands beside the report from the first.
ROOMY = 1300


class LabellingQueuePane(SearchableList[ReportFilter]):
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
        self._open = task_id
        if not self.queue.place(task_id).isValid():
            self._narrow()
        self.mark(self.queue.place(task_id))

    def recount(self) -> None:
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
        shown = QSettings().value(QUEUE, (self._page.width() >= theme.current().px(ROOMY)), bool) is True
        with QSignalBlocker(self._button):
            self._button.setChecked(shown)
        self._queue.setVisible(shown)


SHOWN_CHARACTERS = 60


def recent_menu(
    decisions: Sequence[LabelDecision],
    protocol: str,
    go: Callable[[str, str], object],
    parent: QWidget,
) -> QMenu:
    """A menu of labels, newest first; choosing one goes to its unit."""
    menu = QMenu(parent)
    for decision in decisions:
        shown = face(decision.said, protocol)
        words = " ".join(decision.words.split())
        short = words if len(words) <= SHOWN_CHARACTERS else f"{words[: SHOWN_CHARACTERS - 1].rstrip()}…"
        place = f"item {decision.item_key}, {decision.name}"
        action = menu.addAction(f"{shown.words} — {short}  ({place})".replace("&", "&&"))
        action.setIcon(icon(shown.icon, theme.current().px(16), f"state-{shown.state}"))
        action.triggered.connect(lambda _=False, d=decision: go(d.task_id, d.unit_id))
    if not decisions:
        menu.addAction("No labels yet").setEnabled(False)
    return menu
