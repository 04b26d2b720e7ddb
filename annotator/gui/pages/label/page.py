"""The page where people say of each criterion whether a report meets it, blind to systems and to other raters."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QMenu, QStackedWidget, QVBoxLayout, QWidget

from annotator.actions import guidelines, labels
from annotator.domain.assignment import Stage
from annotator.domain.change import Change
from annotator.gui import keys
from annotator.gui.assigned import due_of_items
from annotator.gui.attention import Attention, Clock
from annotator.gui.desk import Desk
from annotator.gui.models.label_queue import LabelQueue, Show
from annotator.gui.page import Page
from annotator.gui.pages.label.action_bar import ActionBar
from annotator.gui.pages.label.bench import Bench
from annotator.gui.pages.label.criteria_pane import CriteriaPane, below
from annotator.gui.pages.label.empty import AllDone, nothing_yet
from annotator.gui.pages.label.flow import Flow
from annotator.gui.pages.label.guideline import GuidelinePanel
from annotator.gui.pages.label.locking import LOCKED
from annotator.gui.pages.label.queue_pane import QueuePane
from annotator.gui.pages.label.recent import recent_menu
from annotator.gui.pages.label.report_pane import ReportPane
from annotator.gui.pages.label.sealed_strip import SealedStrip
from annotator.gui.pages.label.submission import Submission
from annotator.gui.widgets.message_bar import MessageBar
from annotator.gui.widgets.splitter import Splitter

# People: domain experts who read long reports and label hundreds of criteria by keyboard. What annoys them elsewhere:
# controls that scroll away, losing their place, labels changed by a stray key, and not knowing what is left.
VERDICT_ACTS = ("met", "not_met", "unsure")
QUEUE = "label/queue"
LEAST_WIDTHS = (150, 260, 250)
SCREENS = {int(Qt.Key.Key_PageDown): 1, int(Qt.Key.Key_PageUp): -1}
STALE_KINDS = ("item", "artifact", "import", "response", "person")


class LabelPage(Page):
    """Queue on the left, report in the middle, criteria on the right, acts below."""

    NAME = "Label"
    ICON = "label"
    MOMENT_MS: ClassVar[int] = 350
    """A label stays in view this long before the next criterion takes the focus."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.clock = Clock()
        self.queue = LabelQueue(self)
        self.bench = Bench(desk, self.queue, self.clock)
        readonly = desk.project.readonly
        self.flow = Flow(self.bench, self.queue, self.MOMENT_MS, readonly=readonly)
        self.submission = Submission(desk, self.queue, self.bench)
        self.sealed = SealedStrip(readonly=readonly)
        self._stale = True
        self._empty: QWidget | None = None
        self._attention = Attention(self, self.clock)
        self._build()
        self._listen()
        self._bind()

    def _build(self) -> None:
        locked = LOCKED if self.desk.project.readonly else ""
        self.queue_pane = QueuePane(self.queue)
        self.report_pane = ReportPane(self.desk, self.bench)
        self.criteria = CriteriaPane(self.bench, locked)
        self.guideline = GuidelinePanel()
        self.guideline.hide()
        self.bar = ActionBar(locked)
        self.messages = MessageBar()
        side = Splitter("label/side", Qt.Orientation.Vertical)
        side.addWidget(self.criteria)
        side.addWidget(self.guideline)
        side.setStretchFactor(0, 1)
        side.setSizes([420, 280])
        reading = Splitter("label/reading")
        reading.addWidget(self.report_pane)
        reading.addWidget(side)
        reading.setStretchFactor(0, 3)
        reading.setStretchFactor(1, 2)
        reading.setSizes([495, 425])
        self.work = QWidget()
        column = QVBoxLayout(self.work)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(reading, 1)
        column.addWidget(self.sealed)
        column.addWidget(self.messages)
        self.done = AllDone(self._go_again, self._go_unsure, self.submission.submit_all, self.desk)
        self.middle = QStackedWidget()
        self.middle.currentChanged.connect(lambda place: self.bar.setVisible(place == 0))
        self.middle.addWidget(self.work)
        self.middle.addWidget(self.done)
        self.main = Splitter("label/main")
        self.main.addWidget(self.queue_pane)
        self.main.addWidget(self.middle)
        self.main.setStretchFactor(1, 1)
        self.main.setSizes([252, 1000])
        # Less than what they would like: large type must not push the window over the edge of the screen.
        for pane, least in zip((self.queue_pane, self.report_pane, side), LEAST_WIDTHS, strict=True):
            pane.setMinimumWidth(least)
        self.labelling = QWidget()
        rows = QVBoxLayout(self.labelling)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self.main, 1)
        rows.addWidget(self.bar)
        self.whole = QStackedWidget()
        self.whole.addWidget(self.labelling)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.whole)
        self.report_pane.queue_shown.setChecked(QSettings().value(QUEUE, True, bool) is True)
        self._show_queue(self.report_pane.queue_shown.isChecked())

    def _listen(self) -> None:
        self.queue_pane.chosen.connect(self._open)
        self.report_pane.queue_toggled.connect(self._show_queue)
        self.report_pane.stepped.connect(self.flow.neighbour)
        self.report_pane.scrolled.connect(self.clock.touch)
        self.criteria.said.connect(self.flow.say)
        self.criteria.evidence_wanted.connect(self.report_pane.show_evidence)
        self.criteria.evidence_cleared.connect(lambda: self.bench.mark(self.bench.unit_id, "", None, None))
        self.criteria.recent_wanted.connect(self._show_recent)
        self.guideline.closed.connect(self.guideline.hide)
        self.bar.said.connect(self.flow.say)
        self.bar.asked.connect(lambda act: self._acts[act]())
        self.flow.paused.connect(self._say_report_done)
        self.flow.still_open.connect(self.criteria.list_open)
        self.flow.finished.connect(self._show_done)
        self.flow.ready.connect(self.submission.submit)
        self.sealed.reopen_wanted.connect(self.submission.reopen)
        self.submission.missing.connect(self._show_missing)
        self.submission.submitted.connect(self._say_submitted)
        self.submission.reopened.connect(self._say_reopened)
        self.bench.opened.connect(self._opened)
        self.bench.told.connect(lambda _: self._show_progress())
        for sign in (self.bench.told, self.bench.moved):
            sign.connect(lambda _: self.messages.clear())

    def _bind(self) -> None:
        self._acts: dict[str, Callable[[], object]] = {
            "submit": self.flow.submit,
            "reopen_labels": self.submission.reopen,
            "next_open": self.flow.next_open,
            "next_item": lambda: self.flow.neighbour(1),
            "previous_item": lambda: self.flow.neighbour(-1),
            "evidence": self._mark,
            "note": self.criteria.enter_note,
            "flag": self.bench.flag,
            "find": self._find,
            "guideline": lambda: self.guideline.setVisible(self.guideline.isHidden()),
        }
        for act, slot in self._acts.items():
            self.bind(act, self._kept(slot))
        self.bind("next_unit", lambda: self.flow.step(1), self.criteria)
        self.bind("previous_unit", lambda: self.flow.step(-1), self.criteria)
        for place, act in enumerate(VERDICT_ACTS):
            self.bind(act, partial(self.flow.say, place), self.work)
            # A key held down labels one criterion, not one after the other.
            for shortcut in self._shortcuts[act]:
                shortcut.setAutoRepeat(False)
        self.bind("other_pane", self._other_pane)

    def _kept(self, slot: Callable[[], object]) -> Callable[[], object]:
        """The act, done after what is being typed was kept."""

        def act() -> None:
            self.clock.touch()
            self.criteria.flush()
            slot()

        return act

    def arrive(self, place: dict[str, Any]) -> None:
        """Show the queue as it now is, and the report that is wanted, was open, or waits first."""
        self.guideline.show_words(self.desk.ask(guidelines.text_in_force, Stage.LABELLING) or "")
        self.queue.fill(self.desk.ask(labels.queue) or [])
        self.queue.know_due(due_of_items(self.desk, [Stage.LABELLING]))
        self.queue_pane.recount()
        self.queue_pane.show_open(self.bench.response_id)
        if not self.queue.tasks:
            self._show_nothing()
            return
        self.whole.setCurrentWidget(self.labelling)
        wanted = self._wanted(place)
        if wanted is None and self.queue.left == 0 and not self.desk.project.readonly:
            self._show_done()
        elif self._stale or wanted or self.bench.response_id != self._first():
            self._open(wanted or self._first(), str(place.get("unit_id", "")))
        self._stale = False
        if wanted is None and place.get("item_id"):
            self.messages.show_message(
                "info",
                "The item you came from has nothing to label yet.",
                "It needs a report and a submitted rubric.",
            )

    def focus_first(self) -> None:
        """Work begins at the criterion at hand."""
        self.criteria.take_focus()

    def leave(self) -> None:
        """Keep the note that is being typed and the time that was spent."""
        self.flow.stop()
        self.criteria.flush()
        self.bench.put_down()

    def on_change(self, change: Change) -> None:
        """This person's own labels show at once; what is undone or redone is brought before them."""
        if change.kind in STALE_KINDS:
            self._stale = True
            return
        acting = self.bench.acting
        response_id, unit_id = self.bench.take_in(change)
        if response_id:
            self.queue_pane.recount()
        if response_id and not acting and self.isVisible():
            self.flow.stop()
            self._open(response_id, unit_id)

    def rebind(self) -> None:
        """Take over keys that were changed, and print them on the buttons."""
        super().rebind()
        self.bar.show_keys()
        self.sealed.rebind()
        # The controls of the criteria are made anew with the report.
        self._stale = True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc leads back to the criterion at hand; from there the page keys scroll the report."""
        inside = self.criteria.isAncestorOf(QApplication.focusWidget() or self)
        if event.key() == Qt.Key.Key_Escape:
            self.criteria.take_focus()
        elif inside and event.key() in SCREENS:
            self.report_pane.turn(SCREENS[event.key()])
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Time counts from here."""
        super().showEvent(event)
        self._attention.begin()

    def hideEvent(self, event: QHideEvent) -> None:
        """Time no longer counts."""
        self._attention.end()
        super().hideEvent(event)

    def _wanted(self, place: dict[str, Any]) -> str | None:
        """The report a place on the page speaks of: by its id, or the first open one of an item."""
        if place.get("response_id"):
            return str(place["response_id"])
        tasks = [task for task in self.queue.tasks if task.item_id == place.get("item_id")]
        waiting = [task for task in tasks if task.labelled < task.units]
        chosen = next(iter(waiting or tasks), None)
        return chosen.response_id if chosen else None

    def _first(self) -> str:
        """The report that was open, or the first that waits, or the first of all."""
        if self.queue.task(self.bench.response_id):
            return self.bench.response_id
        waiting = self.queue.next_open("")
        return (waiting or self.queue.tasks[0]).response_id

    def _open(self, response_id: str, unit_id: str = "") -> None:
        self.middle.setCurrentWidget(self.work)
        same = response_id == self.bench.response_id
        if not same or self._stale:
            self.bench.open(response_id, unit_id or (self.bench.unit_id if same else ""))
        elif unit_id:
            self.bench.move_to(unit_id)
        self.criteria.take_focus()

    def _opened(self) -> None:
        self.messages.clear()
        self.middle.setCurrentWidget(self.work)
        self.queue_pane.show_open(self.bench.response_id)
        sheet = self.bench.sheet
        self.sealed.show_standing(self.submission.standing(), sheet.item.key if sheet else "")
        self._show_progress()

    def _show_progress(self) -> None:
        units, sheet = len(self.bench.units), self.bench.sheet
        self.bar.show_progress(units - len(self.bench.open_units), units, self.queue.left)
        self.bar.show_standing(sealed=bool(sheet and sheet.sealed), last=self._is_last)

    @property
    def _is_last(self) -> bool:
        """Whether no other report of the item has open criteria."""
        beside = self.queue.open_beside(self.bench.response_id)
        return beside is None or beside.response_id == self.bench.response_id

    def _say_report_done(self) -> None:
        units = len(self.bench.units)
        words = "Submit the labels of this item" if self._is_last else "Next report"
        self.messages.show_message("success", f"All {units} criteria of this report are labelled.")
        self.messages.set_action(f"{words}  {keys.shown('submit')}", self.flow.submit)

    def _show_missing(self, response_id: str, unit_id: str, missing: int) -> None:
        """Go to the first label that is missing before the item can be submitted, and list those of its report."""
        self._open(response_id, unit_id)
        self.criteria.list_open()
        many = "One label is" if missing == 1 else f"{missing} labels are"
        self.messages.show_message("warning", f"{many} still missing before this item can be submitted.")

    def _say_submitted(self, words: str) -> None:
        """Go on, and say there that the item is sealed; it can be reopened at any time."""
        self.queue_pane.recount()
        self.flow.go_on()
        if self.middle.currentWidget() is self.work:
            self.messages.show_message("success", words, "They are locked now; reopen them to change any.")

    def _say_reopened(self, words: str) -> None:
        self.queue_pane.recount()
        self.messages.show_message(
            "info", words, "Submit them again when you are done; the first stays as it is."
        )

    def _show_done(self) -> None:
        tasks = self.queue.tasks
        criteria, unsure = sum(t.units for t in tasks), sum(t.unsure for t in tasks)
        self.done.show_counts(len(tasks), criteria, unsure, len(self.queue.unsubmitted()))
        self.middle.setCurrentWidget(self.done)

    def _show_nothing(self) -> None:
        if self._empty is not None:
            self.whole.removeWidget(self._empty)
            self._empty.deleteLater()
        self._empty = nothing_yet(self.desk, self.desk.ask(labels.lacking) or "items")
        self.whole.addWidget(self._empty)
        self.whole.setCurrentWidget(self._empty)

    def _go_again(self) -> None:
        self.queue_pane.show_only(Show.ALL)
        self._open(self.queue.tasks[0].response_id)

    def _go_unsure(self) -> None:
        self.queue_pane.show_only(Show.UNSURE)
        self._open(next(task.response_id for task in self.queue.tasks if task.unsure))
        unsure = (unit.id for unit in self.bench.units if self.bench.said(unit.id) == labels.UNSURE)
        self.bench.move_to(next(unsure))

    def _mark(self) -> None:
        quote, start, end = self.report_pane.selection()
        if not quote:
            self.messages.show_message(
                "info",
                "Nothing is selected in the report.",
                "Select the words that decide it, then mark them.",
            )
        elif self.bench.mark(self.bench.unit_id, quote, start, end):
            self.messages.clear()
            self.report_pane.forget_selection()

    def _find(self) -> None:
        if self.queue_pane.isAncestorOf(QApplication.focusWidget() or self):
            self.queue_pane.seek()
        else:
            self.report_pane.seek()

    def _show_queue(self, shown: bool) -> None:
        QSettings().setValue(QUEUE, shown)
        self.queue_pane.setVisible(shown)

    def recent(self) -> QMenu:
        """The labels given last, as a menu that leads to them."""
        decisions = self.desk.ask(labels.recent) or []
        values = self.bench.sheet.values if self.bench.sheet else ()
        return recent_menu(decisions, values, self._open, self)

    def _show_recent(self) -> None:
        menu = self.recent()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(below(self.criteria.recent))

    def _other_pane(self) -> None:
        """From the criteria to the report, from there to the list of reports, and round again."""
        here = QApplication.focusWidget() or self
        if self.criteria.isAncestorOf(here):
            self.report_pane.report.setFocus(Qt.FocusReason.ShortcutFocusReason)
        elif self.report_pane.isAncestorOf(here) and self.queue_pane.isVisible():
            self.queue_pane.list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            self.criteria.take_focus()
