"""The Label page, where people answer a judge's questions about reports, blind to systems and to other raters."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QWidget

from annotator.actions.assignments import assignments
from annotator.actions.labelling import label_cases, label_rows, label_sealing, labels
from annotator.actions.labelling.label_cases import judged_by, presentation_of
from annotator.domain.common import Change, counted
from annotator.domain.judges.protocol import Presentation
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.kind import Kind, Stage
from annotator.domain.material.extract import ResponsePart
from annotator.gui import keys, theme
from annotator.gui.pages.labelling.bench import (
    LabellingFlow,
    LabellingModel,
    LabellingQueuePane,
    LabelQueue,
    ReportFilter,
    recent_menu,
)
from annotator.gui.pages.labelling.report_pane import EVIDENCE_STEPS, ReadingSplitter, ReportPane
from annotator.gui.pages.labelling.unit_card import LOCKED, LabellingActionBar, ProtocolTabs, why_locked
from annotator.gui.pages.labelling.units_pane import UnitsPane, below
from annotator.gui.parts import go_round, holds
from annotator.gui.review.field_chips import frozen_words, moment
from annotator.gui.review.people_choice import ACTS as KIND_ACTS, GuidelinePanel
from annotator.gui.review.queues import Folding
from annotator.gui.review.verdict_words import ACTS, OTHERS, places
from annotator.gui.session.page import Page, way_to
from annotator.gui.session.session import Attention, Clock, ProjectSession, due_of_items
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import (
    PlainLabel,
    RoleFrame,
    Stack,
    column_of,
    horizontal,
    take_out,
    vertical,
)
from annotator.gui.widgets.chips import EmptyState, Picture
from annotator.gui.widgets.message_bar import MessageBar
from annotator.gui.widgets.splitter import Splitter

# The parts of the Material page on which reports are prepared for judging.
EXTRACTS, CITED = {"part": "Extracts"}, {"part": "Cited pages"}
# What is missing under any protocol → headline, text, the page that mends it, and the button's text.
LACKING = {
    "items": (
        "No items yet",
        "Reports are labelled item by item. Import a benchmark, or write the first item yourself.",
        "Items", "Go to Items",
    ),
    "assignments": (
        "Nothing is assigned to you to label",
        "You have other assignments. Ask the coordinator if you expected reports here.",
        "Author", "Go to Author",
    ),
    "responses": (
        "No reports yet",
        "Import the reports of the systems under test. They are shown here without system names.",
        "Import", "Import reports…",
    ),
    "rivals": (
        "No two reports to compare",
        "Reports are compared in pairs: an item needs reports by two systems, of the same trial and mode.",
        "Import", "Import reports…",
    ),
    "writing": (
        "First write your own",
        "The gold of these items stays hidden until you have submitted yours. Then you can label their "
        "reports here.",
        "Author", "Go to Author",
    ),
    "citations": (
        "No claim cites a source",
        "Only claims that cite a page can be checked. Review the extracted claims under Items → Reports.",
        "Material", way_to("Material"),
    ),
    "pages": (
        "No cited page was fetched",
        "Claims are checked against a snapshot of the page they cite. Fetch the pages under Items → Reports.",
        "Material", way_to("Material"),
    ),
}  # fmt: skip


def way_to_mend(protocol: str) -> tuple[str, dict[str, str]]:
    """The page and place where the gaps of a protocol, under which the rest can be asked, are fixed."""
    page = presentation_of(protocol).mended_on
    return page, EXTRACTS if page == "Material" else {}


def needs(protocol: str) -> str:
    """What an item needs before it can be labelled under a protocol, or what else to do."""
    kind = judged_by(protocol)
    if kind is None:
        return "Choose another kind of question above."
    return f"It needs a report and submitted {KINDS[kind].units}."


def nothing_yet(session: ProjectSession, protocol: str, lacking: str) -> EmptyState:
    headline, words, page, button = LACKING.get(lacking) or _lacking(protocol, lacking)
    place = (CITED if lacking == "pages" else EXTRACTS) if page == "Material" else {}
    return EmptyState("label", headline, words, actions=[(button, lambda: session.go(page, **place))])


def _lacking(protocol: str, lacking: str) -> tuple[str, str, str, str]:
    """Headline, text, page and button for a missing kind of artifact, a part of reports, or a protocol's own need."""
    if lacking in set(Kind):
        spec = KINDS[Kind(lacking)]
        words = f"Reports are labelled by {spec.units} that are submitted on the Author page."
        return f"No {spec.title.lower()} to label by", words, "Author", "Go to Author"
    if lacking.startswith(label_cases.EXTRACT_PREFIX):
        extracted = ResponsePart(lacking.removeprefix(label_cases.EXTRACT_PREFIX)).extraction
        return (
            f"No {extracted} from any report",
            "That is done under Items → Reports; the built-in judge does it without a network.",
            "Material",
            way_to("Material"),
        )
    shown = presentation_of(protocol)
    return *shown.lacking, shown.mended_on, way_to(shown.mended_on)


class LabellingDone(EmptyState):
    """Shown when every report is labelled; suggests what to do next."""

    def __init__(
        self,
        again: Callable[[], object],
        unsure: Callable[[], object],
        submit: Callable[[], object],
        session: ProjectSession,
    ) -> None:
        super().__init__("check", "All labelled")
        self._unsure = self.add_action("Review the unsure ones", unsure)
        self.add_action("Go through them again", again)
        self._results = self.add_action("See the results", lambda: session.go("Results"))
        self._submit = self.add_action("Submit", submit, primary=True)

    def show_counts(
        self, called: Presentation, lines: int, units: int, unsure: int, unsubmitted: int
    ) -> None:
        """Show how much is labelled, how much of it as unsure, and of how many items it is not submitted yet."""
        where = f" in {counted(lines, called.line)}" if called.line != called.one else ""
        done = f"{called.counted(units)}{where}. Thank you."
        about = " They count as missing, never as an answer." if unsure else ""
        remark = f" {unsure:,} {'is' if unsure == 1 else 'are'} marked unsure.{about}" if unsure else ""
        items = counted(unsubmitted, "item")
        waits = f" The labels of {items} are not submitted yet, and do not count." if unsubmitted else ""
        self.show_words(
            "All labelled" if unsubmitted else "All labelled and submitted", f"{done}{remark}{waits}"
        )
        self._submit.setText(f"Submit the labels of {items}")
        self._submit.setVisible(unsubmitted > 0)
        theme.set_role(self._results, role="" if unsubmitted else "primary")
        self._unsure.setVisible(unsure > 0)


class SealedStrip(RoleFrame):
    def __init__(self, *, readonly: bool) -> None:
        super().__init__("message")
        self._icon, self.words = Picture("lock", "level-success"), PlainLabel("", wrap=True)
        self.reopen = KeyButton(
            "Reopen",
            act="reopen_labels",
            hint="Change your labels in a new revision; the submitted ones count until you submit again",
        )
        horizontal(self._icon, (self.words, 1), self.reopen, on=self, margins=(12, 6, 8, 6))
        self.reopen.setVisible(not readonly)
        theme.set_role(self, level="success")
        self.hide()

    def show_submission(self, submission: Any, key: str) -> None:
        """Show when an item's labels were submitted, by their artifact; None hides the line."""
        self.setVisible(submission is not None)
        if submission is not None:
            when = f" on {moment(submission.sealed_at)}" if submission.sealed_at else ""
            self.words.setText(f"Your labels of item {key} are submitted{when}. They are locked.")


# People: domain experts who read long reports and label hundreds of units by keyboard. What annoys them elsewhere:
# controls that scroll away, losing their place, labels changed by a stray key, and not knowing what is left.
PROTOCOL = "label/protocol"
# A new name: what earlier versions stored under another was not chosen by anyone.
QUEUE = "label/queue-chosen"
# From this width on, at 100 %, the queue is shown beside the report by default.
ROOMY = 1300
NOTHING = "That item has nothing to label yet."
NEWS = "The keys have changed: 1 is the best answer everywhere, then down to the worst."
LOCKED_NOW = "They are locked now; reopen them to change any."
COUNT_NOW = "They count now. What you change later counts once you submit it again."
SHOWN_QUOTE = 60
SCREENS = {int(Qt.Key.Key_PageDown): 1, int(Qt.Key.Key_PageUp): -1}
STALE_KINDS = ("item", "artifact", "import", "response", "person", "extract", "page", "setting")


class LabelPage(Page):
    """The Label page: tabs on top, queue on the left, text in the middle, units beside it, acts below."""

    NAME = "Label"
    ONCE = (*ACTS, *OTHERS, *KIND_ACTS, "say_rest")
    HEARS = BEHIND = (*STALE_KINDS, "judgement")

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.clock = Clock()
        self.queue = LabelQueue(self)
        self.bench = LabellingModel(session, self.queue, self.clock, self)
        readonly = session.project.readonly
        self.flow = LabellingFlow(self.bench, self.queue, readonly=readonly)
        self.sealed = SealedStrip(readonly=readonly)
        self._stale = True
        self._seen: tuple[str, str, object] | None = None
        self._empty: QWidget | None = None
        self._attention = Attention(self, self.clock)
        self._build()
        self._listen()
        self._bind()

    def _build(self) -> None:
        locked = LOCKED if self.session.project.readonly else ""
        self.tabs = ProtocolTabs(self.session)
        self.queue_pane = LabellingQueuePane(self.queue)
        self.report_pane = ReportPane(self.session, self.bench)
        self.criteria = UnitsPane(self.bench, locked)
        self.flow.waits_for_kinds = self.criteria.waiting.isChecked()
        self.guideline = GuidelinePanel()
        self.bar = LabellingActionBar(locked)
        self.messages = MessageBar()
        self.reading = ReadingSplitter(self.report_pane, self.criteria, self.guideline)
        self.work = column_of((self.reading, 1), self.sealed, spacing=0)
        self.messages.float_over(self.reading)
        self.done = LabellingDone(self._go_again, self._go_unsure, self.submit_all, self.session)
        self.middle = Stack(self.work, self.done)
        self.main = Splitter(
            "label/main", parts=(self.queue_pane, self.middle), sizes=(252, 1000), stretch=(0, 1)
        )
        self.main.grow(self.queue_pane, 252)
        self.queue_pane.setMinimumWidth(150)
        self.labelling = column_of((self.main, 1), self.bar, spacing=0)
        self.middle.currentChanged.connect(lambda place: self.bar.setVisible(place == 0))
        self.whole = Stack(self.labelling)
        vertical(self.tabs, (self.whole, 1), on=self, margins=0, spacing=0)
        Folding(self, self.queue_pane, self.report_pane.queue_shown, QUEUE, ROOMY)

    def _listen(self) -> None:
        self.tabs.picked.connect(self._pick)
        self.queue_pane.chosen.connect(lambda task: self._open(task.id))
        self.report_pane.stepped.connect(self.flow.neighbour)
        self.report_pane.scrolled.connect(self.clock.touch)
        self.bench.chosen.connect(self.flow.say)
        # A kind clicked on the current unit's card is meant for that unit.
        self.bench.kind_given.connect(lambda _: self.flow.touched())
        self.bench.kind_given.connect(self.flow.look_again)
        self.criteria.waiting.toggled.connect(lambda on: setattr(self.flow, "waits_for_kinds", on))
        self.criteria.recent.clicked.connect(self._show_recent)
        self.criteria.matrix.show_report.clicked.connect(self.reading.toggle_report)
        self.guideline.leave.clicked.connect(self.reading.toggle_guideline)
        self.bar.asked.connect(self._press)
        self.flow.paused.connect(self._say_report_done)
        self.flow.kind_missing.connect(self._say_kind_missing)
        self.flow.still_open.connect(self.criteria.list_open)
        self.flow.finished.connect(self._show_done)
        self.flow.ready.connect(self.submit_item)
        self.sealed.reopen.clicked.connect(self._reopen)
        self.bench.opened.connect(self._opened)
        for sign in (self.bench.answer_changed, self.bench.moved):
            sign.connect(lambda _: self.messages.clear())
            sign.connect(lambda _: self.bar.show_rest(self.bench.rest()))
            sign.connect(lambda _: self._show_progress())

    def _bind(self) -> None:
        self._acts: dict[str, Callable[[], object]] = {
            "submit": self._submit,
            "reopen_labels": self._reopen,
            "next_open": self.flow.next_open,
            "next_item": lambda: self.flow.neighbour(1),
            "previous_item": lambda: self.flow.neighbour(-1),
            "evidence": self._mark,
            "note": self.criteria.enter_note,
            "flag": self.bench.flag,
            "find": self._find,
            **{act: partial(self.report_pane.step_evidence, way) for act, way in EVIDENCE_STEPS.items()},
            "guideline": self.reading.toggle_guideline,
            "next_protocol": lambda: self.tabs.step(1),
            "previous_protocol": lambda: self.tabs.step(-1),
            "report": self.reading.toggle_report,
        }
        for act, slot in self._acts.items():
            self.bind(act, self._saving(slot))
        # In a matrix the arrows belong to the matrix, and go in four directions.
        self.bind("next_unit", partial(self.bench.step, 1), self.criteria.cards)
        self.bind("previous_unit", partial(self.bench.step, -1), self.criteria.cards)
        for act in (*ACTS, *OTHERS):
            self.bind(act, partial(self.flow.answer, act), self.work)
        for place, act in enumerate(KIND_ACTS):
            self.bind(act, partial(self.flow.look_again, place), self.work)
        self.bind("say_rest", self._acts.setdefault("say_rest", self.flow.say_rest), self.work)
        self.bind("take_back", self._saving(partial(self.session.take_back, self.NAME)), self.work)
        self.bind("other_pane", self._other_pane)
        self.bind("queue", self.report_pane.queue_shown.toggle)
        self._offer_keys()

    def _offer_keys(self) -> None:
        """Enable only the keys of available answers: a person may have assigned the other keys to other acts."""
        offered = places(self.bench.protocol)
        for act in (*ACTS, *OTHERS):
            for shortcut in self._shortcuts[act]:
                shortcut.setEnabled(act in offered)

    def _press(self, act: str) -> None:
        """Trigger a button's act; unlike its key, an answer's button repeats an answer already given."""
        if act in (*ACTS, *OTHERS):
            self.flow.say(places(self.bench.protocol)[act])
        else:
            self._acts[act]()

    def _saving(self, slot: Callable[[], object]) -> Callable[[], object]:
        def act() -> None:
            self.clock.touch()
            self.criteria.flush()
            slot()

        return act

    def navigate(self, place: dict[str, Any]) -> None:
        offered = self.session.ask(label_cases.offered) or [
            self.session.ask(label_cases.usual) or label_rows.USUAL
        ]
        wished = str(place.get("protocol") or QSettings().value(PROTOCOL, label_rows.USUAL))
        if wished != self.bench.protocol and wished in offered:
            self._take_up(wished)
        elif self.bench.protocol not in offered:
            self._take_up(offered[0])
        self.tabs.offer(offered, self.bench.protocol)
        self._fill()
        if not self.queue.lines:
            other = "" if "protocol" in place else self.session.ask(labels.first_assigned, offered)
            self.navigate({**place, "protocol": other}) if other else self._show_nothing()
            return
        self.whole.setCurrentWidget(self.labelling)
        requested = self.bench.wanted(place)
        if (
            requested is None
            and self.queue.counted(ReportFilter.TO_DO) == 0
            and not self.session.project.readonly
        ):
            self._show_done()
        elif self._stale or requested or self.bench.task_id != self.bench.first():
            task_id = requested or self.bench.first()
            self._open(task_id, str(place.get("unit_id", "")) or self.bench.unit_of(task_id))
        self._stale = False
        if requested is None and place.get("item_id"):
            self.messages.show_message("info", NOTHING, needs(self.bench.protocol))
        elif (
            not self.session.project.is_sample
            and keys.is_news("label order")
            and any(task.labelled for task in self.queue.lines)
        ):
            self.messages.show_message(
                "info", NEWS, "Unsure has one key everywhere. Each button shows its own.", lasting=True
            )

    def place(self) -> dict[str, str]:
        sheet = self.bench.sheet
        if sheet is None:
            return {}
        at = {"protocol": self.bench.protocol, "unit_id": self.bench.current_id}
        return at | {"response_id": sheet.response_id, "other_id": sheet.other_id}

    def _fill(self) -> None:
        """Show the queue and the answers of the current protocol."""
        protocol = self.bench.protocol
        self.guideline.show_words(self.session.ask(label_cases.guide, protocol) or "")
        seen = self.session.ask(labels.seen, protocol)
        # Claims are listed report by report; an unchanged queue is not queried again.
        self.queue.submits = bool(self.session.ask(label_cases.handed_out, protocol))
        if self._stale or seen != self._seen or self.queue.submits:
            self._seen, result = seen, self.session.ask(labels.outlook, protocol)
            self.queue.fill(result.tasks if result else [])
            self.tabs.show_gaps(result.gaps if result else (), *way_to_mend(protocol))
        self.queue.due = due_of_items(self.session, [Stage.LABELLING]) if self.queue.submits else {}
        self.queue_pane.called = presentation_of(protocol).line
        self.queue_pane.recount()
        self.queue_pane.show_open(self.bench.task_id)

    def _take_up(self, protocol: str) -> None:
        self.criteria.flush()
        self.bench.take_up(protocol)
        self.criteria.take_up()
        QSettings().setValue(PROTOCOL, protocol)
        self.bar.show_protocol(protocol)
        self._offer_keys()
        self.reading.arrange(protocol)
        self._stale = True

    def _pick(self, protocol: str) -> None:
        self.navigate({"protocol": protocol})
        if self.whole.currentWidget() is self.labelling and self.middle.currentWidget() is self.work:
            self.criteria.take_focus()

    def focus_first(self) -> None:
        self.criteria.take_focus()

    def leave(self) -> None:
        self.criteria.flush()
        self.bench.put_down()

    def on_change(self, change: Change) -> None:
        """Show this person's own labels at once; after undo or redo, go to the changed one."""
        if change.kind in STALE_KINDS:
            self._stale = True
            return
        changed = self.bench.take_in(change)
        if changed is None:
            return
        self.queue_pane.recount()
        # Only undo and redo navigate: other changes must not redirect the next key.
        if self.session.turning and self.isVisible():
            self.flow.touched()
            if changed.protocol != self.bench.protocol:
                self.navigate({"protocol": changed.protocol})
            task = self.queue.about(changed.response_id, changed.unit_id)
            if task is not None:
                self._open(task.id, changed.unit_id)

    def rebind(self) -> None:
        super().rebind()
        # The controls of the units are rebuilt with the report.
        self._stale = True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc returns to the current unit; from there the page keys scroll the text."""
        if event.key() == Qt.Key.Key_Escape:
            self.criteria.take_focus()
        elif holds(self.criteria) and event.key() in SCREENS:
            self.report_pane.in_hand.turn(SCREENS[event.key()])
        else:
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
            self.bench.open(task_id, unit_id or (self.bench.current_id if same else ""))
        elif unit_id:
            self.bench.move_to(unit_id)
        self.criteria.take_focus()

    def _opened(self) -> None:
        self.messages.clear()
        self.middle.setCurrentWidget(self.work)
        self.queue_pane.show_open(self.bench.task_id)
        sheet = self.bench.sheet
        submission = None
        if sheet is not None and sheet.sealed:
            submission = self.session.ask(label_sealing.submission, sheet.item.id)
        self.sealed.show_submission(submission, sheet.item.key if sheet else "")
        self._show_progress()

    def _show_progress(self) -> None:
        units, sheet = len(self.bench.units), self.bench.sheet
        self.bar.show_progress(
            units - len(self.bench.open_units), units, self.queue.counted(ReportFilter.TO_DO)
        )
        here = why_locked(sheet, self.bench.current_id)
        sealed = bool(sheet and sheet.sealed)
        self.bar.show_standing(locked=here, sealed=sealed, last=self._is_last, alone=not self.queue.submits)

    @property
    def _is_last(self) -> bool:
        """Whether no other report of the item has open units, and labels are submitted by item."""
        beside = self.queue.open_beside(self.bench.task_id)
        return (beside is None or beside.id == self.bench.task_id) and self.queue.submits

    def _say_report_done(self) -> None:
        units = presentation_of(self.bench.protocol).counted(len(self.bench.units))
        self.messages.show_message(
            "success", f"All {units} of this report are labelled.",
            f"{keys.shown('take_back')} takes the last label back.",
        )  # fmt: skip
        words = "Submit the labels of this item" if self._is_last else "Next report"
        words = words if self.queue.submits else "Submit them and go on"
        self.messages.set_action(words, self.flow.submit, "submit")

    def _say_kind_missing(self) -> None:
        self.messages.show_message(
            "info", "This label waits for its kind.",
            f"Give it, leave it with {keys.shown('next_open')}, or take the label back with {keys.shown('take_back')}.",
        )  # fmt: skip

    def _mark(self) -> None:
        """Store the words selected in the text as the current unit's evidence."""
        quote, start, end = self.report_pane.selection()
        if not quote:
            self.messages.show_message(
                "info", "No text is selected.", "Select the deciding words, then mark them."
            )
            return
        unit_id = self.bench.current_id
        before = self.bench.label(unit_id)
        if self.bench.mark(unit_id, quote, start, end):
            self.messages.clear()
            self.report_pane.forget_selection()
            if before and before.quote and (before.quote, before.quote_start) != (quote, start):
                short = " ".join(before.quote.split())
                short = short if len(short) <= SHOWN_QUOTE else f"{short[:SHOWN_QUOTE]}…"
                self.messages.show_message("info", f"“{short}” was replaced by this passage as evidence.")
                old = (before.unit_id, before.quote, before.quote_start, before.quote_end)
                self.messages.set_action("Restore it", lambda: self.bench.mark(*old))

    def _find(self) -> None:
        """Find an item if the queue has the focus, otherwise words in the text."""
        (self.queue_pane if holds(self.queue_pane) else self.report_pane).seek()

    def _other_pane(self) -> None:
        """Cycle the focus: units, each of the texts, the queue."""
        texts = [(pane, pane.report) for pane in self.report_pane.panes]
        parts = [(self.criteria, self.criteria.body.holder), *texts, (self.queue_pane, self.queue_pane.list)]
        focus = Qt.FocusReason.ShortcutFocusReason
        go_round([(pane, partial(inside.setFocus, focus)) for pane, inside in parts if inside.isVisible()])

    def _submit(self) -> None:
        """Finish what is in view: a report, or all of them."""
        (self.submit_all if self.middle.currentWidget() is self.done else self.flow.submit)()

    def submit_item(self, item_id: str) -> None:
        """Submit the labels of an item, or go to the first missing one and list those of its report."""
        missing: Sequence[tuple[str, str]] = ()
        if self.queue.submits:
            missing = self.session.ask(label_sealing.missing, item_id, self.bench.protocol) or ()
        if missing:
            self._open(*missing[0])
            self.criteria.list_open()
            many = counted(len(missing), "label is", "labels are")
            self.messages.show_message("warning", f"{many} still missing before this item can be submitted.")
        elif (froze := self._seal(item_id)) is not None:
            self._say_submitted(f"Your labels of {self._words([item_id])} are submitted. {froze}".strip())

    def submit_all(self) -> None:
        done = {item_id: self._seal(item_id) for item_id in self.queue.unsubmitted()}
        done = {item_id: froze for item_id, froze in done.items() if froze is not None}
        if done:
            sentence = f"Your labels of {self._words([*done])} are submitted."
            self._say_submitted(" ".join(filter(None, (sentence, *done.values()))))

    def _seal(self, item_id: str) -> str | None:
        """Submit; return the message about an agreement frozen with it (may be empty), or None if it was refused."""
        change = self.session.do(label_sealing.submit, item_id, self.bench.protocol)
        if change is None:
            return None
        self.queue.seal(item_id, sealed=True)
        at = Stage.LABELLING, change.subject, (change.after or {}).get("revision", 0)
        key = next((task.item_key for task in self.queue.lines if task.item_id == item_id), "")
        return frozen_words(key, self.session.ask(assignments.frozen_by, item_id, *at))

    def _words(self, item_ids: list[str]) -> str:
        tasks = [task for task in self.queue.lines if task.item_id in item_ids]
        called = presentation_of(self.bench.protocol)
        units, reports = called.counted(sum(task.units for task in tasks)), counted(len(tasks), "report")
        what = f"item {tasks[0].item_key}" if len(item_ids) == 1 and tasks else counted(len(item_ids), "item")
        return f"{what} ({units} in {reports})"

    def _say_submitted(self, words: str) -> None:
        """Go on, and say there that the item is submitted; it can be reopened at any time."""
        self.queue_pane.recount()
        self.flow.go_on()
        if self.middle.currentWidget() is self.work:
            self.messages.show_message("success", words, LOCKED_NOW if self.queue.submits else COUNT_NOW)

    def _reopen(self) -> None:
        sheet = self.bench.sheet
        if sheet is None or not sheet.sealed:
            return
        if self.session.do(label_sealing.reopen, sheet.item.id) is not None:
            self.queue.seal(sheet.item.id, sealed=False)
            self.bench.open(sheet.id, self.bench.current_id)
            self.queue_pane.recount()
            todo = "Submit them again when you are done; the first submission stays unchanged."
            words = f"Your labels of item {sheet.item.key} are open again."
            self.messages.show_message("info", words, todo)

    def _show_done(self) -> None:
        tasks, called = self.queue.lines, presentation_of(self.bench.protocol)
        units, unsure = sum(t.units for t in tasks), sum(t.unsure for t in tasks)
        self.done.show_counts(called, len(tasks), units, unsure, len(self.queue.unsubmitted()))
        self.middle.setCurrentWidget(self.done)

    def _show_nothing(self) -> None:
        if self._empty is not None:
            take_out(self.whole, self._empty)
        protocol = self.bench.protocol
        lacking = self.session.ask(labels.lacking, protocol) or label_cases.ITEMS
        self._empty = nothing_yet(self.session, protocol, lacking)
        self.whole.addWidget(self._empty)
        self.whole.setCurrentWidget(self._empty)

    def _go_again(self) -> None:
        self.queue_pane.show_only(ReportFilter.ALL)
        self._open(self.queue.lines[0].id)

    def _go_unsure(self) -> None:
        self.queue_pane.show_only(ReportFilter.UNSURE)
        self._open(next(task.id for task in self.queue.lines if task.unsure))
        self.bench.move_to(
            next(u.id for u in self.bench.units if self.bench.value_of(u.id) == label_rows.UNSURE)
        )

    def recent(self) -> QMenu:
        decisions = self.session.ask(labels.recent, protocol=self.bench.protocol) or []
        return recent_menu(decisions, self.bench.protocol, self._open, self)

    def _show_recent(self) -> None:
        (menu := self.recent()).setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(below(self.criteria.recent))
