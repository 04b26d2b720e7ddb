"""The queue of the Label page, the state of the open report and its labels, and automatic advance."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from operator import attrgetter
from typing import Any

from PySide6.QtCore import (
    QObject,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QMenu, QStyleOptionViewItem, QWidget

from annotator.actions.assignments import assignments
from annotator.actions.labelling import label_rows, label_sealing, labels
from annotator.actions.labelling.label_cases import presentation_of
from annotator.actions.labelling.labels import (
    SEVERAL,
    LabelDecision,
    LabelPlace,
    LabelSheet,
    LabelTask,
    UnitGroup,
    task_id,
)
from annotator.domain.common import Change, counted, grouped, shortened
from annotator.domain.judges.judge import Judgement, RaterKind
from annotator.domain.judges.paper import Taxonomy
from annotator.domain.judges.protocol import CaseLayout
from annotator.domain.kinds.artifact import Unit
from annotator.gui import theme
from annotator.gui.review.queues import LINE_ROLE, Queue, QueueDelegate, QueueFilter, QueuePane, WorkModel
from annotator.gui.review.sheets import Index
from annotator.gui.review.verdict_words import ZERO, UnitLabel, answers, face, is_flagged, label_value, places
from annotator.gui.session import page
from annotator.gui.session.session import Clock, ProjectSession
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


class LabellingModel(WorkModel):
    """The open report; all labels and their changes pass through here."""

    answer_changed = Signal(str)
    """The id of the unit whose answer has changed."""
    chosen = Signal(int)
    """The index of the label chosen for the current unit, in the order of the keys."""
    kind_given = Signal(int)
    """The index of the kind chosen on the current unit's card."""
    evidence_wanted = Signal()
    """Scroll to the current unit's evidence."""

    def __init__(self, session: ProjectSession, queue: LabelQueue, clock: Clock, page: QObject) -> None:
        super().__init__(session, page)
        self._queue, self._clock = queue, clock
        self._unspent = 0.0
        self._kinds: dict[str, dict[str, str]] = {}
        """Answers at second looks, by taxonomy and unit; a taxonomy that is not asked about is missing."""
        self._left: dict[str, tuple[str, str]] = {}
        """Protocol → the line and unit where it was left."""
        self.protocol = label_rows.USUAL
        self.sheet: LabelSheet | None = None

    @property
    def task_id(self) -> str:
        return self.sheet.id if self.sheet else ""

    @property
    def response_id(self) -> str:
        """The id of the open report (of a pair the first), or an empty string."""
        return self.sheet.response_id if self.sheet else ""

    @property
    def units(self) -> Sequence[Unit]:
        return self.sheet.units if self.sheet else ()

    @property
    def ids(self) -> list[str]:
        return [unit.id for unit in self.units]

    @property
    def open_units(self) -> list[str]:
        return [unit.id for unit in self.units if not self.value_of(unit.id)]

    @property
    def group(self) -> UnitGroup | None:
        groups = self.sheet.groups if self.sheet else ()
        return next((group for group in groups if self.current_id in {unit.id for unit in group.units}), None)

    @property
    def unit(self) -> Unit | None:
        return next((unit for unit in self.units if unit.id == self.current_id), None)

    def label(self, unit_id: str) -> Judgement | None:
        return self.sheet.labels.get(unit_id) if self.sheet else None

    def value_of(self, unit_id: str) -> str:
        """The answer to a unit: a value, “unsure”, or an empty string."""
        return label_value(self.label(unit_id))

    def _outdated(self, unit_id: str) -> str:
        """The answer to a unit's earlier wording, unless it was answered again since."""
        if self.sheet is None or (self.value_of(unit_id) and not self.sheet.sealed):
            return ""
        return label_value(self.sheet.outdated.get(unit_id))

    def label_of(self, unit_id: str) -> UnitLabel:
        asked = self._kinds_asked(unit_id)
        taxonomy, kind = asked[0] if asked else (None, "")
        return UnitLabel(
            self.label(unit_id),
            taxonomy,
            kind,
            self._outdated(unit_id),
            self.sheet.given.get(unit_id, "") if self.sheet else "",
            tuple(asked[1:]),
        )

    def _kinds_asked(self, unit_id: str) -> list[tuple[Taxonomy, str]]:
        """The taxonomies that apply to a unit's answer, each with the kind given, or an empty string."""
        value = self.value_of(unit_id)
        offered = [(label_sealing.TAXONOMIES[name], given) for name, given in self._kinds.items()]
        return [(taxonomy, given.get(unit_id, "")) for taxonomy, given in offered if value in taxonomy.after]

    def lacks_kind(self, unit_id: str) -> bool:
        """Whether a required kind is missing."""
        return any(taxonomy.whole and not given for taxonomy, given in self._kinds_asked(unit_id))

    def give_kind(self, unit_id: str, place: int) -> bool:
        """Give a label the kind of an index in key order, or remove it if it has it; whether that succeeded."""
        known = [(one, given, value) for one, given in self._kinds_asked(unit_id) for value in one.values]
        if place >= len(known):
            return False
        taxonomy, given, value = known[place]
        return self._do(label_sealing.give, unit_id, taxonomy.name, "" if given == value else value)

    def wanted(self, place: Mapping[str, Any]) -> str | None:
        """The line for a location on the page: by its report's id, or the first open one of an item."""
        if place.get("response_id"):
            response_id = str(place["response_id"])
            task = self._queue.about(response_id, str(place.get("other_id", "")))
            return task.id if task else response_id
        tasks = [task for task in self._queue.lines if task.item_id == place.get("item_id")]
        chosen = next(iter([task for task in tasks if task.labelled < task.units] or tasks), None)
        return chosen.id if chosen else None

    def first(self) -> str:
        """The line that is open, or was left under this protocol, or the first open one, or the first of all."""
        for known in (self.task_id, self._was[0]):
            if self._queue.line(known):
                return known
        return (self._queue.next_open("") or self._queue.lines[0]).id

    def unit_of(self, task_id: str) -> str:
        return self._was[1] if self._was[0] == task_id else ""

    @property
    def _was(self) -> tuple[str, str]:
        return self._left.get(self.protocol, ("", ""))

    def take_up(self, protocol: str) -> None:
        """Switch to another protocol: close the report, and remember the location under the former one."""
        self._left[self.protocol] = (self.task_id, self.current_id)
        self.leaving.emit()
        self.put_down()
        self.protocol, self.sheet, self.current_id = protocol, None, ""

    def open(self, task_id: str, unit_id: str = "") -> None:
        """Open a report or a pair at a unit, by default its first open one."""
        self.leaving.emit()
        self.put_down()
        task = self._queue.line(task_id)
        response_id, other_id = (task.response_id, task.other_id) if task else (task_id, "")
        sheet = self._session.ask(labels.sheet, response_id, self.protocol, other_id)
        if sheet is None:
            return
        self.sheet, self.current_id = sheet, ""
        offered = self._session.ask(label_sealing.offered, self.protocol)
        self._kinds = {
            name: self._session.ask(label_sealing.of_report, response_id, name) or {}
            for name, taxonomy in label_sealing.TAXONOMIES.items()
            if offered and taxonomy.of == self.protocol
        }
        self.opened.emit()
        ids = self.ids
        if ids:
            self.move_to(unit_id if unit_id in ids else (self.open_units or ids)[0])

    def put_down(self) -> None:
        """Record the active time spent on the report that is left."""
        self._unspent += self._clock.take()
        if self.sheet and not self._session.project.readonly and self._unspent >= 0.1:
            self._session.ask(assignments.spend, self.sheet.response_id, self._unspent)
        self._unspent = 0.0

    def say(self, place: int) -> bool:
        """Give the current unit the label of an index in the order of the keys; whether it now has it."""
        known = answers(self.protocol) if self.sheet else ()
        if not self.current_id or place >= len(known):
            return False
        value = known[place]
        if self.value_of(self.current_id) == value:
            return True
        seconds = self._clock.take()
        self._unspent += seconds
        before = self.label(self.current_id)
        earlier = (before.seconds or 0.0) if before else 0.0
        return self._do(
            labels.set_label, self.current_id, value, seconds=earlier + seconds, protocol=self.protocol
        )

    def say_rest(self) -> bool:
        """Give all open units beside the current one the default answer; whether there were any."""
        rest, group = self.rest(), self.group
        if not rest or group is None:
            return False
        waiting = [unit.id for unit in group.units if not self.value_of(unit.id)]
        return self._do(labels.set_labels, waiting, rest, protocol=self.protocol)

    def rest(self) -> str:
        """The default answer for all open units beside the current one; empty if there is none."""
        shown, group = presentation_of(self.protocol), self.group
        value = shown.rest
        # In a list, units are answered together only if there is a single answer.
        alone = group is not None and (shown.layout is CaseLayout.MATRIX or group.values == (value,))
        return value if alone and group and any(not self.value_of(unit.id) for unit in group.units) else ""

    def note(self, unit_id: str, words: str) -> None:
        label = self.label(unit_id)
        if words != (label.note if label else ""):
            self._do(labels.set_note, unit_id, words, self.protocol)

    def flag(self) -> None:
        if self.current_id:
            self._do(
                labels.set_flag, self.current_id, not is_flagged(self.label(self.current_id)), self.protocol
            )

    def mark(self, unit_id: str, quote: str, start: int | None, end: int | None) -> bool:
        """Store a passage as a unit's evidence; an empty quote removes it."""
        return self._do(labels.set_evidence, unit_id, quote, start, end, self.protocol)

    def take_in(self, change: Change) -> LabelPlace | None:
        """Apply a change of this person's own labels and return its subject, by the protocol of the question.

        None for judgements of other raters, which are ignored.
        """
        mine = [(before, after) for before, after in _each(change) if self._is_mine(after or before)]
        changed = [self._take_in_one(before, after) for before, after in mine]
        return changed[0] if changed else None

    def _take_in_one(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> LabelPlace:
        tree = after or before
        protocol, response_id, unit_id = tree["protocol"], str(tree["response_id"]), str(tree["unit_id"])
        taxonomy = label_sealing.TAXONOMIES.get(protocol)
        here = LabelPlace(taxonomy.of if taxonomy else protocol, response_id, unit_id)
        open_here = response_id == self.response_id and here.protocol == self.protocol
        if taxonomy and open_here:
            given = self._kinds.setdefault(protocol, {})
            given.pop(unit_id, None)
            if after:
                given[unit_id] = str(after["value"])
        elif not taxonomy and here.protocol == self.protocol:
            now, was = self._as_it_counts(here, after), label_value(self._as_it_counts(here, before))
            waits = label_rows.is_waiting(after.get("flags", ""))
            if self.sheet and here.response_id == self.response_id:
                self.sheet.labels.pop(here.unit_id, None)
                if now is not None:
                    self.sheet.labels[here.unit_id] = now
                waits = any(label_rows.is_waiting(label.flags) for label in self.sheet.labels.values())
            self._recount(here, was, label_value(now), waits=waits)
        if open_here and any(unit.id == unit_id for unit in self.units):
            self.answer_changed.emit(unit_id)
        return here

    def _as_it_counts(self, here: LabelPlace, image: Mapping[str, Any]) -> Judgement | None:
        label = Judgement(**image) if image else None
        if self.sheet is None or label is None or here.response_id != self.response_id:
            return label
        return self.sheet.as_it_counts(label)

    def _do(self, verb: Callable[..., Change], *args: object, **kwargs: object) -> bool:
        self._clock.touch()
        return self._session.do(verb, self.response_id, *args, **kwargs) is not None

    def _is_mine(self, tree: Mapping[str, object]) -> bool:
        person = self._session.project.person
        rater = tree.get("rater_kind"), tree.get("rater_id")
        return person is not None and rater == (RaterKind.PERSON.value, person.id)

    def _recount(self, here: LabelPlace, before: str, now: str, *, waits: bool) -> None:
        task = self._queue.about(here.response_id, here.unit_id)
        if task is not None:
            labelled = task.labelled + bool(now) - bool(before)
            unsure = task.unsure + (now == label_rows.UNSURE) - (before == label_rows.UNSURE)
            self._queue.count(task.id, labelled, unsure, waits=waits)


def _each(change: Change) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    before, after = change.before or {}, change.after or {}
    if SEVERAL not in before and SEVERAL not in after:
        yield before, after
        return
    one, other = before.get(SEVERAL, {}), after.get(SEVERAL, {})
    for label_id in one | other:
        yield one.get(label_id) or {}, other.get(label_id) or {}


class LabellingFlow(page.Flow):
    """Advances over the units of a report and the reports of the queue."""

    paused = Signal()
    """Every unit of the report is labelled; the person decides when to go on."""
    kind_missing = Signal()
    """A key was pressed while the current unit waits for the kind of its error."""
    still_open = Signal()
    """The report was to be finished, but units are open."""
    ready = Signal(str)
    """The id of an item whose labels can be submitted, as the person asked."""
    finished = Signal()
    """Nothing is left to label in any report."""

    def __init__(self, bench: LabellingModel, queue: LabelQueue, *, readonly: bool = False) -> None:
        super().__init__(bench)
        self.readonly = readonly
        self.waits_for_kinds = False
        """Whether a unit with an error stays current until the kind of the error is given."""
        self._bench, self._queue = bench, queue
        bench.moved.connect(lambda _: self.touched())

    def say(self, place: int) -> None:
        if self._bench.say(place):
            self.decided = self._bench.current_id
            self._go_on_unless_open()

    def answer(self, act: str) -> None:
        """Give the answer of an act under the current protocol, if it has one."""
        place = places(self._bench.protocol).get(act)
        if place is None:
            return
        unit_id = self._bench.current_id
        if not (self.is_spent(unit_id) and self._bench.value_of(unit_id)):
            self.say(place)
        elif self.waits_for_kinds and self._bench.lacks_kind(unit_id):
            self.kind_missing.emit()
        else:
            self.advance()

    def say_rest(self) -> None:
        """Label all open units beside the current one, and go on; if answers are numbers, the key gives 0 instead."""
        if ZERO in places(self._bench.protocol):
            self.answer(ZERO)
        elif self._bench.say_rest():
            self.advance()

    def look_again(self, place: int) -> None:
        """Give the label given last a kind, and go on if it was waiting for one.

        Another unit gets it only once the person touches that unit: automatic advance does not redirect the key.
        """
        unit_id = self.decided or self._bench.current_id
        given = self._bench.give_kind(unit_id, place)
        if given and self.waits_for_kinds and unit_id == self._bench.current_id:
            self._go_on_unless_open()

    def next_open(self) -> None:
        """Go to the next open unit, in this report and then in the following ones, wrapping around."""
        unit_id, ids = self._bench.following(self._bench.open_units), self._bench.ids
        if unit_id and (ids.index(unit_id) > ids.index(self._bench.current_id)):
            self._bench.move_to(unit_id)
            return
        task = self._queue.next_open(self._bench.task_id)
        if task is None:
            self.finished.emit()
        elif task.id != self._bench.task_id:
            self._bench.open(task.id)
        else:
            self._bench.move_to(unit_id)

    def neighbour(self, by: int) -> None:
        """Open the report shown below (1) or above (-1) in the queue."""
        task = self._queue.neighbour(self._bench.task_id, by)
        if task is not None:
            self._bench.open(task.id)

    def submit(self) -> None:
        """Finish this report: open the item's next one, or offer to submit; if units are open, go to the first."""
        waiting = self._bench.open_units
        if waiting:
            self._bench.move_to(waiting[0])
            self.still_open.emit()
            return
        here = self._queue.line(self._bench.task_id)
        beside = self._queue.open_beside(self._bench.task_id) if self._queue.submits else None
        if beside is not None:
            self._bench.open(beside.id)
        elif here is not None and here.item_id in self._queue.unsubmitted() and not self.readonly:
            self.ready.emit(here.item_id)
        else:
            self.go_on()

    def go_on(self) -> None:
        task = self._queue.next_open(self._bench.task_id)
        if task is None:
            self.finished.emit()
        else:
            self._bench.open(task.id)

    def _go_on_unless_open(self) -> None:
        if not (self.waits_for_kinds and self._bench.lacks_kind(self._bench.current_id)):
            self.advance()

    def _go_on(self) -> None:
        unit_id = self._bench.following(self._bench.open_units)
        if unit_id:
            self._bench.move_to(unit_id)
        elif self._bench.sheet is not None and self._bench.sheet.other_id:
            # A pair has no other unit; the person can go back to add something.
            self.go_on()
        else:
            self.paused.emit()
