"""The label queue: the Qt model of reports under their items, with progress; its pane; the menu of recent labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from operator import attrgetter

from PySide6.QtCore import (
    QObject,
    QRect,
    Qt,
)
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QMenu, QStyleOptionViewItem, QWidget

from annotator.actions.labelling.labels import LabelDecision, LabelTask, task_id
from annotator.domain.texts.words import counted, grouped, shortened
from annotator.gui import theme
from annotator.gui.review.queues import LINE_ROLE, Queue, QueueDelegate, QueueFilter, QueuePane
from annotator.gui.review.sheets import Index
from annotator.gui.review.verdict_words import face
from annotator.gui.widgets.chips import icon
from annotator.gui.widgets.columns import (
    END,
    START,
    elided,
    paint_bar,
    paint_key,
)


class ReportFilter(QueueFilter):
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


class LabelQueue(Queue[str, LabelTask]):
    """All reports in order; rows are those that match filter and search, under their items."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(ReportFilter.ALL, parent)
        self.due: Mapping[str, str] = {}
        """Item → due date in words, for tooltips."""
        self.submits = True
        """Whether labels are submitted by item, and then locked; otherwise by report, and stay open."""

    def key_of(self, line: ItemGroup | LabelTask) -> str | None:
        return line.id if isinstance(line, LabelTask) else None

    def is_open(self, line: LabelTask) -> bool:
        return line.labelled < line.units

    def sought_in(self, line: LabelTask) -> str:
        return f"{line.item_key} {line.question}"

    def laid_out(self, lines: list[LabelTask]) -> list[ItemGroup | LabelTask]:
        rows: list[ItemGroup | LabelTask] = []
        for item_id, tasks in groupby(lines, key=attrgetter("item_id")):
            of_item = list(tasks)
            question = " ".join(of_item[0].question.split())
            rows += [ItemGroup(item_id, of_item[0].item_key, question), *of_item]
        return rows

    def about(self, response_id: str, unit_id: str) -> LabelTask | None:
        """The line of a unit of a report; for a pair `unit_id` is the second report."""
        return self.line(response_id) or self.line(task_id(response_id, unit_id))

    def count(self, task_id: str, labelled: int, unsure: int, *, waits: bool = False) -> None:
        waits = waits and not self.submits
        self.put(task_id, replace(self._lines[task_id], labelled=labelled, unsure=unsure, waits=waits))

    def open_beside(self, task_id: str) -> LabelTask | None:
        """The next report of the same item with open units, wrapping around; None if there is none."""
        here = self.line(task_id)
        return self.next_open(task_id, [task for task in self.lines if here and task.item_id == here.item_id])

    def unsubmitted(self) -> list[str]:
        """The items whose reports are all labelled but not submitted; if reports are submitted one by one, the items
        with a labelled report that is not.
        """
        if not self.submits:
            return list(dict.fromkeys(task.item_id for task in self._lines.values() if is_ready(task)))
        # Labels that all came from elsewhere do not wait for this person.
        return [
            item_id
            for item_id, tasks in grouped((task.item_id, task) for task in self._lines.values()).items()
            if all(task.labelled == task.units and not task.sealed for task in tasks)
            and not all(task.given for task in tasks)
        ]

    def seal(self, item_id: str, *, sealed: bool) -> None:
        for task in self.lines:
            if task.item_id == item_id and self.submits:
                self.put(task.id, replace(task, sealed=sealed))
            elif task.item_id == item_id and is_ready(task):
                self.put(task.id, replace(task, waits=False))

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Only reports can be selected; the keys skip the headings of items."""
        heading = index.isValid() and isinstance(self._rows[index.row()], ItemGroup)
        return Qt.ItemFlag.NoItemFlags if heading else super().flags(index)

    def words(self, line: ItemGroup | LabelTask) -> str:
        return f"{line.item_key}  {line.question}" if isinstance(line, ItemGroup) else line.name

    def spoken(self, line: ItemGroup | LabelTask) -> str:
        if isinstance(line, ItemGroup):
            return f"Item {line.item_key}"
        return f"{line.name}, {progress_words(line)}"

    def tip(self, line: ItemGroup | LabelTask) -> str:
        due = self.due.get(line.item_id, "")
        if isinstance(line, LabelTask):
            waits = due and state_of(line) != "submitted"
            return f"{progress_words(line)} · due {due}" if waits else progress_words(line)
        lines = [escape(line.question[:600]), *([f"Due {escape(due)}"] if due else [])]
        return f"<qt>{'<br>'.join(lines)}</qt>"


def is_ready(task: LabelTask) -> bool:
    """Whether a report that is submitted by itself is labelled, but not submitted yet."""
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


# State of a report → icon and colour.
STATES = {
    "new": ("new", "missing"),
    "begun": ("clock", "incomplete"),
    "unsure": ("question", "unconfirmed"),
    "done": ("check", "agreed"),
    "submitted": ("lock", "agreed"),
}


class LabellingQueueDelegate(QueueDelegate):
    def paint_line(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(LINE_ROLE)
        if isinstance(row, LabelTask):
            self._paint_task(painter, option, row)
            return
        px = theme.current().px
        painter.setPen(theme.token("text"))
        rest = paint_key(painter, option, option.rect.adjusted(px(8), 0, -px(8), 0), row.item_key)
        painter.setPen(theme.token("text-muted"))
        painter.drawText(rest, START, elided(option, row.question, rest.width()))

    def _paint_task(self, painter: QPainter, option: QStyleOptionViewItem, task: LabelTask) -> None:
        px = theme.current().px
        (row,) = self.rows(painter, option)
        picture, state = STATES[state_of(task)]
        inner = self.paint_state(painter, row, picture, state)
        painter.setPen(theme.token(self.inks(option)[0]))
        painter.drawText(inner, START, task.name)
        if task.units == 1:
            # Open or done: the icon is enough.
            return
        metrics = option.fontMetrics
        left = inner.left() + metrics.horizontalAdvance(task.name) + px(10)
        right = inner.right() - metrics.horizontalAdvance(f"{task.units:,} of {task.units:,}") - px(10)
        # In a narrow list the bar is dropped first, then the numbers; the icon and the tooltip stay.
        if right >= left - px(10):
            painter.drawText(inner, END, f"{task.labelled:,} of {task.units:,}")
        if right - left >= px(16):
            bar = QRect(left, row.center().y() - px(2), min(right - left, px(90)), px(5))
            bar.moveRight(right)
            share = task.labelled / task.units if task.units and task.labelled else None
            paint_bar(painter, bar, share, theme.token(f"state-{state}"))


class LabellingQueuePane(QueuePane[ReportFilter, LabelQueue]):
    def __init__(self, queue: LabelQueue) -> None:
        super().__init__(
            queue,
            ReportFilter.ALL,
            LabellingQueueDelegate,
            finds="Find an item by its words or key",
            lists="Reports to label",
        )
        self.called = "report"
        """The noun for a line."""

    def progress(self) -> str:
        left, every = self.queue.counted(ReportFilter.TO_DO), counted(len(self.queue.lines), self.called)
        summary = f"{left:,} of {every} to do" if left else f"All {every} labelled"
        unsure = self.queue.counted(ReportFilter.UNSURE)
        return f"{summary} · {unsure} with unsure" if unsure else summary

    def recount(self) -> None:
        self.filters.show_tips(
            {show: counted(self.queue.counted(show), self.called) for show in ReportFilter}
        )
        self.left.setText(self.progress())


def recent_menu(
    decisions: Sequence[LabelDecision],
    protocol: str,
    go: Callable[[str, str], object],
    parent: QWidget,
) -> QMenu:
    """A menu of labels, newest first; choosing one goes to its unit."""
    menu = QMenu(parent)
    for decision in decisions:
        shown = face(decision.value, protocol)
        short = shortened(" ".join(decision.words.split()), 60)
        place = f"item {decision.item_key}, {decision.name}"
        action = menu.addAction(f"{shown.words} — {short}  ({place})".replace("&", "&&"))
        action.setIcon(icon(shown.icon, theme.current().px(16), f"state-{shown.state}"))
        action.triggered.connect(lambda _=False, d=decision: go(d.task_id, d.unit_id))
    if not decisions:
        menu.addAction("No labels yet").setEnabled(False)
    return menu
