"""The Label page, where people answer what a judge is asked about reports, blind to systems and to other raters."""

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QWidget

from annotator.actions.labelling import label_cases, label_offers, label_rows, label_tasks
from annotator.actions.labelling.label_cases import presentation_of
from annotator.actions.labelling.label_rows import USUAL
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.change import Change
from annotator.gui import keys
from annotator.gui.desk.assigned import due_of_items
from annotator.gui.desk.attention import Attention, Clock
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.pages.labelling.action_bar import LabellingActionBar
from annotator.gui.pages.labelling.bench import LabellingBench
from annotator.gui.pages.labelling.empty import LabellingDone, needs, nothing_yet, way_to_mend
from annotator.gui.pages.labelling.flow import LabellingFlow
from annotator.gui.pages.labelling.hand import LabellingHand
from annotator.gui.pages.labelling.kept_places import KeptPlaces
from annotator.gui.pages.labelling.label_queue import LabelQueue, ReportFilter
from annotator.gui.pages.labelling.protocol_tabs import ProtocolTabs
from annotator.gui.pages.labelling.queue_pane import Folding, LabellingQueuePane
from annotator.gui.pages.labelling.reading import ReadingSplitter
from annotator.gui.pages.labelling.recent import recent_menu
from annotator.gui.pages.labelling.report_pane import EVIDENCE_STEPS, ReportPane
from annotator.gui.pages.labelling.sealed_strip import SealedStrip
from annotator.gui.pages.labelling.submission import LabelSubmission
from annotator.gui.pages.labelling.units.locking import LOCKED, why_locked
from annotator.gui.pages.labelling.units.units_pane import UnitsPane, below
from annotator.gui.review.kind_row import ACTS as KIND_ACTS
from annotator.gui.review.label_guideline import GuidelinePanel
from annotator.gui.review.verdicts import ACTS, OTHERS, places
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import column_of, stacked, vertical

# People: domain experts who read long reports and label hundreds of units by keyboard. What annoys them elsewhere:
# controls that scroll away, losing their place, labels changed by a stray key, and not knowing what is left.
PROTOCOL = "label/protocol"
NOTHING = "The previous item has nothing to label yet."
NEWS = "The keys have changed: 1 is the best answer everywhere, then down to the worst."
NEWS_MORE = "Unsure has one key everywhere. Each button shows its own."
LOCKED_NOW = "They are locked now; reopen them to change any."
COUNT_NOW = "They count now. What you change later counts once you submit it again."
LEAST_QUEUE = 150
STALE_KINDS = ("item", "artifact", "import", "response", "person", "extract", "page", "setting")


class LabelPage(Page):
    """Tabs on top, queue on the left, text in the middle, units beside it, acts below."""

    NAME = "Label"
    ICON = "label"
    HEARS = BEHIND = (*STALE_KINDS, "judgement")

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.clock = Clock()
        self.queue = LabelQueue(self)
        self.bench = LabellingBench(desk, self.queue, self.clock, self)
        readonly = desk.project.readonly
        self.flow = LabellingFlow(self.bench, self.queue, readonly=readonly)
        self.submission = LabelSubmission(desk, self.queue, self.bench)
        self.sealed = SealedStrip(readonly=readonly)
        self._stale = True
        self._seen: tuple[str, str, object] | None = None
        self._submits = True
        self.kept_places = KeptPlaces(self.queue, self.bench)
        self._empty: QWidget | None = None
        self._attention = Attention(self, self.clock)
        self._build()
        self._listen()
        self._bind()

    def _build(self) -> None:
        locked = LOCKED if self.desk.project.readonly else ""
        self.tabs = ProtocolTabs()
        self.queue_pane = LabellingQueuePane(self.queue)
        self.report_pane = ReportPane(self.desk, self.bench)
        self.criteria = UnitsPane(self.bench, locked)
        self.flow.waits_for_kinds = self.criteria.waiting.isChecked()
        self.guideline = GuidelinePanel()
        self.bar = LabellingActionBar(locked)
        self.messages = MessageBar()
        self.hand = LabellingHand(self.bench, self.criteria, self.report_pane, self.queue_pane, self.messages)
        self.reading = ReadingSplitter(self.report_pane, self.criteria, self.guideline)
        self.work = column_of((self.reading, 1), self.sealed, spacing=0)
        self.messages.float_over(self.reading)
        self.done = LabellingDone(self._go_again, self._go_unsure, self.submission.submit_all, self.desk)
        self.middle = stacked(self.work, self.done)
        self.main = Splitter(
            "label/main", parts=(self.queue_pane, self.middle), sizes=(252, 1000), stretch=(0, 1)
        )
        self.main.grow(self.queue_pane, 252)
        self.queue_pane.setMinimumWidth(LEAST_QUEUE)
        self.labelling = column_of((self.main, 1), self.bar, spacing=0)
        self.middle.currentChanged.connect(lambda place: self.bar.setVisible(place == 0))
        self.whole = stacked(self.labelling)
        vertical(self.tabs, (self.whole, 1), on=self, margins=0, spacing=0)
        Folding(self, self.queue_pane, self.report_pane.queue_shown)

    def _listen(self) -> None:
        self.tabs.picked.connect(self._pick)
        self.tabs.mending_wanted.connect(lambda page, place: self.desk.go(page, **place))
        self.queue_pane.chosen.connect(self._open)
        self.report_pane.stepped.connect(self.flow.neighbour)
        self.report_pane.scrolled.connect(self.clock.touch)
        self.criteria.said.connect(self.flow.say)
        self.criteria.kind_given.connect(self.flow.look_again_here)
        self.criteria.waits.connect(lambda on: setattr(self.flow, "waits_for_kinds", on))
        self.criteria.evidence_wanted.connect(self.report_pane.show_evidence)
        self.criteria.evidence_cleared.connect(lambda: self.bench.mark(self.bench.unit_id, "", None, None))
        self.criteria.recent_wanted.connect(self._show_recent)
        self.criteria.matrix.report_wanted.connect(self.reading.toggle_report)
        self.guideline.closed.connect(self.reading.toggle_guideline)
        self.bar.said.connect(self.flow.say)
        self.bar.asked.connect(lambda act: self._acts[act]())
        self.flow.paused.connect(self._say_report_done)
        self.flow.kind_missing.connect(self._say_kind_missing)
        self.flow.still_open.connect(self.criteria.list_open)
        self.flow.finished.connect(self._show_done)
        self.flow.ready.connect(self.submission.submit)
        self.sealed.reopen_wanted.connect(self.submission.reopen)
        self.submission.missing.connect(self._show_missing)
        self.submission.submitted.connect(self._say_submitted)
        self.submission.reopened.connect(self._say_reopened)
        self.bench.opened.connect(self._opened)
        for sign in (self.bench.told, self.bench.moved):
            sign.connect(lambda _: self.messages.clear())
            sign.connect(lambda _: self.bar.show_rest(self.bench.rest()))
            sign.connect(lambda _: self._show_progress())

    def _bind(self) -> None:
        self._acts: dict[str, Callable[[], object]] = {
            "submit": self._submit,
            "reopen_labels": self.submission.reopen,
            "next_open": self.flow.next_open,
            "next_item": lambda: self.flow.neighbour(1),
            "previous_item": lambda: self.flow.neighbour(-1),
            "evidence": self.hand.mark,
            "note": self.criteria.enter_note,
            "flag": self.bench.flag,
            "find": self.hand.find,
            **{act: partial(self.report_pane.step_evidence, way) for act, way in EVIDENCE_STEPS.items()},
            "guideline": self.reading.toggle_guideline,
            "next_protocol": lambda: self.tabs.step(1),
            "previous_protocol": lambda: self.tabs.step(-1),
            "report": self.reading.toggle_report,
        }
        for act, slot in self._acts.items():
            self.bind(act, self._kept(slot))
        # In a matrix the arrows are the matrix's own, and go in four directions.
        self.bind("next_unit", lambda: self.flow.step(1), self.criteria.cards)
        self.bind("previous_unit", lambda: self.flow.step(-1), self.criteria.cards)
        for act in (*ACTS, *OTHERS):
            self._bind_once(act, partial(self.flow.answer, act))
        for place, act in enumerate(KIND_ACTS):
            self._bind_once(act, partial(self.flow.look_again, place))
        self._bind_once("say_rest", self._acts.setdefault("say_rest", self.flow.say_rest))
        self.bind("take_back", self._kept(partial(self.desk.take_back, self.NAME)), self.work)
        self.bind("other_pane", self.hand.other_pane)
        self.bind("queue", self.report_pane.queue_shown.toggle)
        self._offer_keys()

    def _offer_keys(self) -> None:
        """Only keys of answers that there are take a press: a person may have given theirs to another act."""
        offered = places(self.bench.protocol)
        for act in (*ACTS, *OTHERS):
            for shortcut in self._shortcuts[act]:
                shortcut.setEnabled(act in offered)

    def _bind_once(self, act: str, slot: Callable[[], object]) -> None:
        """A key held down labels one unit, not one after the other."""
        self.bind(act, slot, self.work)
        for shortcut in self._shortcuts[act]:
            shortcut.setAutoRepeat(False)

    def _kept(self, slot: Callable[[], object]) -> Callable[[], object]:
        """The act, done after what is being typed was kept."""

        def act() -> None:
            self.clock.touch()
            self.criteria.flush()
            slot()

        return act

    def arrive(self, place: dict[str, Any]) -> None:
        """Show the queue as it now is, and the report that is wanted, was open, or waits first."""
        offered = self.desk.ask(label_offers.offered) or [USUAL]
        wished = str(place.get("protocol") or QSettings().value(PROTOCOL, USUAL))
        if wished != self.bench.protocol and wished in offered:
            self._take_up(wished)
        elif self.bench.protocol not in offered:
            self._take_up(offered[0])
        self.tabs.offer(offered, self.bench.protocol)
        self._fill()
        if not self.queue.tasks:
            other = "" if "protocol" in place else self.desk.ask(label_tasks.first_asked, offered)
            self.arrive({**place, "protocol": other}) if other else self._show_nothing()
            return
        self.whole.setCurrentWidget(self.labelling)
        wanted = self.kept_places.wanted(place)
        if wanted is None and self.queue.left == 0 and not self.desk.project.readonly:
            self._show_done()
        elif self._stale or wanted or self.bench.task_id != self.kept_places.first():
            task_id = wanted or self.kept_places.first()
            self._open(task_id, str(place.get("unit_id", "")) or self.kept_places.unit_of(task_id))
        self._stale = False
        if wanted is None and place.get("item_id"):
            self.messages.show_message("info", NOTHING, needs(self.bench.protocol))
        elif keys.is_news("label order") and any(task.labelled for task in self.queue.tasks):
            self.messages.show_message("info", NEWS, NEWS_MORE, lasting=True)

    def place(self) -> dict[str, str]:
        """The question, the report (or pair) and the current unit."""
        return self.kept_places.now()

    def _fill(self) -> None:
        """Take over what waits under the protocol in hand, and how it is answered."""
        protocol = self.bench.protocol
        self.guideline.show_words(self.desk.ask(label_offers.guide, protocol) or "")
        seen = self.desk.ask(label_tasks.seen, protocol)
        # Claims are looked through report by report; a queue that is as it was need not be asked for again.
        self._submits = bool(self.desk.ask(label_cases.handed_out, protocol))
        if self._stale or seen != self._seen or self._submits:
            self._seen, found = seen, self.desk.ask(label_tasks.outlook, protocol)
            self.queue.fill(found.tasks if found else [], submits=self._submits)
            self.tabs.show_gaps(found.gaps if found else (), *way_to_mend(protocol))
        self.queue.know_due(due_of_items(self.desk, [Stage.LABELLING]) if self._submits else {})
        self.queue_pane.called = presentation_of(protocol).line
        self.queue_pane.recount()
        self.queue_pane.show_open(self.bench.task_id)

    def _take_up(self, protocol: str) -> None:
        """Another kind of question from now on; the place under the former is kept."""
        self.criteria.flush()
        self.kept_places.leave()
        self.bench.take_up(protocol)
        self.criteria.take_up()
        QSettings().setValue(PROTOCOL, protocol)
        self.bar.show_protocol(protocol)
        self._offer_keys()
        self.reading.arrange(protocol)
        self._stale = True

    def _pick(self, protocol: str) -> None:
        self.arrive({"protocol": protocol})
        if self.whole.currentWidget() is self.labelling and self.middle.currentWidget() is self.work:
            self.criteria.take_focus()

    def focus_first(self) -> None:
        self.criteria.take_focus()

    def leave(self) -> None:
        """Keep the note that is being typed and the time that was spent."""
        self.criteria.flush()
        self.bench.put_down()

    def on_change(self, change: Change) -> None:
        """This person's own labels show at once; what is undone or redone is brought before them."""
        if change.kind in STALE_KINDS:
            self._stale = True
            return
        told = self.bench.take_in(change)
        if told is None:
            return
        self.queue_pane.recount()
        # Only undo and redo lead elsewhere: what comes in meanwhile must not move what the next key is for.
        if self.desk.turning and self.isVisible():
            self.flow.touched()
            if told.protocol != self.bench.protocol:
                self.arrive({"protocol": told.protocol})
            task = self.queue.about(told.response_id, told.unit_id)
            if task is not None:
                self._open(task.id, told.unit_id)

    def rebind(self) -> None:
        """Take over keys that were changed, and print them on the buttons."""
        super().rebind()
        self.bar.show_keys()
        self.criteria.matrix.show_keys()
        self.sealed.rebind()
        # The controls of the criteria are made again with the report.
        self._stale = True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.hand.takes(event):
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._attention.begin()

    def hideEvent(self, event: QHideEvent) -> None:
        self._attention.end()
        super().hideEvent(event)

    def _open(self, task_id: str, unit_id: str = "") -> None:
        self.middle.setCurrentWidget(self.work)
        same = task_id == self.bench.task_id
        if not same or self._stale:
            self.bench.open(task_id, unit_id or (self.bench.unit_id if same else ""))
        elif unit_id:
            self.bench.move_to(unit_id)
        self.criteria.take_focus()

    def _opened(self) -> None:
        self.messages.clear()
        self.middle.setCurrentWidget(self.work)
        self.queue_pane.show_open(self.bench.task_id)
        sheet = self.bench.sheet
        self.sealed.show_standing(self.submission.standing(), sheet.item.key if sheet else "")
        self._show_progress()

    def _show_progress(self) -> None:
        units, sheet = len(self.bench.units), self.bench.sheet
        self.bar.show_progress(units - len(self.bench.open_units), units, self.queue.left)
        here = why_locked(sheet, self.bench.unit_id)
        sealed = bool(sheet and sheet.sealed)
        self.bar.show_standing(locked=here, sealed=sealed, last=self._is_last, alone=not self._submits)

    @property
    def _is_last(self) -> bool:
        """Whether no other report of the item has open criteria."""
        beside = self.queue.open_beside(self.bench.task_id)
        alone = beside is None or beside.id == self.bench.task_id
        return alone and self._submits

    def _say_report_done(self) -> None:
        units = presentation_of(self.bench.protocol).counted(len(self.bench.units))
        self.messages.show_message(
            "success", f"All {units} of this report are labelled.",
            f"{keys.shown('take_back')} takes the last label back.",
        )  # fmt: skip
        words = "Submit the labels of this item" if self._is_last else "Next report"
        words = words if self._submits else "Submit them and go on"
        self.messages.set_action(f"{words}  {keys.shown('submit')}", self.flow.submit)

    def _say_kind_missing(self) -> None:
        self.messages.show_message(
            "info", "This label waits for its kind.",
            f"Give it, leave it with {keys.shown('next_open')}, or take the label back with {keys.shown('take_back')}.",
        )  # fmt: skip

    def _submit(self) -> None:
        """Done with what is in view: with a report, or with all of them."""
        done = self.middle.currentWidget() is self.done
        (self.submission.submit_all if done else self.flow.submit)()

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
            self.messages.show_message("success", words, LOCKED_NOW if self._submits else COUNT_NOW)

    def _say_reopened(self, words: str) -> None:
        self.queue_pane.recount()
        todo = "Submit them again when you are done; the first submission stays unchanged."
        self.messages.show_message("info", words, todo)

    def _show_done(self) -> None:
        tasks, called = self.queue.tasks, presentation_of(self.bench.protocol)
        units, unsure = sum(t.units for t in tasks), sum(t.unsure for t in tasks)
        self.done.show_counts(called, len(tasks), units, unsure, len(self.queue.unsubmitted()))
        self.middle.setCurrentWidget(self.done)

    def _show_nothing(self) -> None:
        if self._empty is not None:
            self.whole.removeWidget(self._empty)
            self._empty.deleteLater()
        protocol = self.bench.protocol
        lacking = self.desk.ask(label_tasks.lacking, protocol) or label_offers.ITEMS
        self._empty = nothing_yet(self.desk, protocol, lacking)
        self.whole.addWidget(self._empty)
        self.whole.setCurrentWidget(self._empty)

    def _go_again(self) -> None:
        self.queue_pane.show_only(ReportFilter.ALL)
        self._open(self.queue.tasks[0].id)

    def _go_unsure(self) -> None:
        self.queue_pane.show_only(ReportFilter.UNSURE)
        self._open(next(task.id for task in self.queue.tasks if task.unsure))
        self.bench.move_to(next(u.id for u in self.bench.units if self.bench.said(u.id) == label_rows.UNSURE))

    def recent(self) -> QMenu:
        """The labels given last, as a menu that leads to them."""
        decisions = self.desk.ask(label_tasks.recent, protocol=self.bench.protocol) or []
        return recent_menu(decisions, self.bench.protocol, self._open, self)

    def _show_recent(self) -> None:
        (menu := self.recent()).setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(below(self.criteria.recent))
