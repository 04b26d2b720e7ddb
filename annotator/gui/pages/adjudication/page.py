"""The Adjudicate page."""

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from annotator.actions.adjudication import adjudicating, closing, settled
from annotator.actions.adjudication.adjudicating import QueueLine
from annotator.actions.labelling.label_rows import UNSURE
from annotator.domain.texts.change import Change
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.pages.adjudication.acts import PLAIN_TAKES, AdjudicationActs
from annotator.gui.pages.adjudication.bench import KINDS, AdjudicationBench
from annotator.gui.pages.adjudication.beside.side import TITLES
from annotator.gui.pages.adjudication.confirming import Confirming
from annotator.gui.pages.adjudication.empty import nothing_yet
from annotator.gui.pages.adjudication.flow import AdjudicationFlow
from annotator.gui.pages.adjudication.frame import Frame, fill
from annotator.gui.pages.adjudication.news import RulingNews
from annotator.gui.review.adjudication_queue import AdjudicationQueue, place_of
from annotator.gui.review.ruling_words import LETTER_ACTS
from annotator.gui.widgets.later import later

# A senior expert with forty minutes, fifteen criteria against seventeen. What annoys them elsewhere: names that bias,
# scrolling between two documents, reading again what nobody disputes, losing the place after each decision.
VOTE = "adjudicate/vote"
SCREENS = {int(Qt.Key.Key_PageDown): 1, int(Qt.Key.Key_PageUp): -1}
STALE_KINDS = ("item", "import", "person", "assignment", "agreement", "artifact", "adjudication", "dispute")
REQUEUE_MS = 150


class AdjudicatePage(Page):
    """Queue on the left; consensus above its rows; sources and notes on demand."""

    NAME = "Adjudicate"
    ICON = "adjudicate"
    HEARS = (*STALE_KINDS, "ruling")
    BEHIND = KINDS

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.queue, self.bench = AdjudicationQueue(self), AdjudicationBench(desk, self)
        self.flow = AdjudicationFlow(self.bench, self.queue)
        self._requeue = later(self, self._fill_queue, REQUEUE_MS)
        self.frame = frame = Frame(desk, self.bench, self.queue)
        fill(self, frame)
        self.rows, self.side, self.messages = frame.rows, frame.side, frame.messages
        self.acts = AdjudicationActs(self.bench, self.flow, self.rows, self.messages)
        self.news = RulingNews(desk, self.bench, self.flow, self.acts, frame, self.queue, self._fill_queue)
        self.confirming = Confirming(desk, frame, self.queue, self._fill_queue, self._open)
        self._listen()
        self._bind()

    def _listen(self) -> None:
        bench, frame, rows, controls = self.bench, self.frame, self.rows, self.rows.controls
        frame.queue_pane.chosen.connect(self._open)
        frame.beginning.begin.clicked.connect(self._begin)
        frame.head.asked.connect(lambda act: self._acts[act]())
        frame.bar.asked.connect(self._press)
        frame.consensus.chosen.connect(self._choose)
        frame.standing.reopened.connect(self._reopen)
        frame.close_panel.confirm_wanted.connect(self.acts.confirm)
        frame.close_panel.closed.connect(rows.take_focus)
        rows.entered.connect(self.acts.enter)
        rows.dropped.connect(self.acts.pair_dropped)
        rows.worded.connect(self.acts.word)
        rows.quote_wanted.connect(self._show_quote)
        rows.own_quote_wanted.connect(lambda place: self._show_quote(bench.ruling_id, "", place))
        controls.taken.connect(self.acts.take)
        controls.voted.connect(self.acts.vote)
        controls.reasoned.connect(self.acts.reason_here)
        controls.sure.connect(self.acts.sure_here)
        controls.asked.connect(lambda act: self._acts[act]())
        self.side.turned.connect(self._show_turned)
        self.side.row_wanted.connect(self._go_to_ruling)
        self.flow.own_wanted.connect(lambda: rows.enter("own"))
        self.flow.finished.connect(self._show_done)

    def _bind(self) -> None:
        self._acts: dict[str, Callable[[], object]] = {
            "submit": self.flow.submit,
            "next_item": lambda: self.flow.neighbour(1),
            "previous_item": lambda: self.flow.neighbour(-1),
            "find": self._find,
            "vote_first": self._toggle_vote,
            **{name: partial(self.side.toggle, name) for name in TITLES},
            **self.acts.table(),
        }
        for act, slot in self._acts.items():
            self.bind(act, self._kept(slot))
        self.bind("next_row", lambda: self.acts.step(1), self.rows)
        self.bind("previous_row", lambda: self.acts.step(-1), self.rows)
        for act in (*LETTER_ACTS, *PLAIN_TAKES, UNSURE):
            self.bind(act, partial(self.acts.digit, act), self.frame.work)
            # A key held down rules on one row, not on one after the other.
            for shortcut in self._shortcuts[act]:
                shortcut.setAutoRepeat(False)
        self.bind("take_back", self._kept(partial(self.desk.take_back, self.NAME)), self.frame.work)
        self.bind("other_pane", self.frame.next_pane)
        self.bind("conflicts", self.frame.head.queue_shown.toggle)

    def _kept(self, slot: Callable[[], object]) -> Callable[[], object]:
        """The act, done after what is being typed was kept."""

        def act() -> None:
            self.rows.flush()
            slot()

        return act

    def _press(self, act: str) -> None:
        if act in self._acts:
            self._kept(self._acts[act])()
        else:
            self.rows.flush()
            self.acts.digit(act)

    def arrive(self, place: dict[str, Any]) -> None:
        """Show the queue as it now is, and the item that is wanted, was open, or was begun."""
        self._fill_queue()
        if not self.queue.lines:
            self.frame.show_nothing(nothing_yet(self.desk, self.desk.ask(settled.lacking) or "items"))
            return
        self.news.count_gaps()
        if not self.side.shown:
            self.side.restore()
        self.bench.vote_first = QSettings().value(VOTE, False, bool) is True
        self.frame.head.show_pressed("vote_first", self.bench.vote_first)
        wanted = self._wanted(place)
        if wanted is not None:
            self._open(wanted, str(place.get("ruling_id", "")))
        elif self.bench.sheet is not None and self.queue.line(self.bench.place):
            self.frame.show_middle(self.frame.work)
            self.bench.refresh()
        else:
            self._show_first()

    def place(self) -> dict[str, str]:
        """The item and stage that lie open, and the current row."""
        if self.bench.sheet is None:
            return {}
        item_id, stage = self.bench.place
        return {"item_id": item_id, "stage": stage.value, "ruling_id": self.bench.ruling_id}

    def _show_first(self) -> None:
        """What was begun goes on; what nobody has begun waits for a word."""
        conflicts = [line for line in self.queue.lines if line.conflict]
        begun = next((line for line in conflicts if line.adjudication_id), None)
        if begun is not None:
            self._open(begun)
        elif conflicts:
            self.frame.beginning.show_first(conflicts[0], len(conflicts))
            self.frame.show_middle(self.frame.beginning)
        else:
            self._show_done()

    def focus_first(self) -> None:
        """Work begins at the current row, or at the button that begins it."""
        self.frame.focus_first()

    def leave(self) -> None:
        self.acts.leave_modes()
        self.rows.flush()

    def stop(self) -> None:
        self.rows.stop()
        self.side.stop()

    def on_change(self, change: Change) -> None:
        """Rulings show at once; what is undone or redone is brought before the adjudicator."""
        acting = self.bench.acting
        about = self.bench.take_in(change)
        if change.kind in STALE_KINDS and not acting and self.isVisible():
            self._requeue.start()
        if change.kind == "ruling" and about and self.desk.turning and self.isVisible():
            self.flow.touched()
            self._go_to_ruling(about, change.subject)

    def rebind(self) -> None:
        """Take over keys that were changed, and print them on the buttons."""
        super().rebind()
        for part in (self.frame.bar, self.frame.head, self.frame.close_panel, self.rows):
            part.show_keys()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc leaves a mode or leads back to the current row; from there the page keys scroll."""
        inside = self.rows.isAncestorOf(QApplication.focusWidget() or self)
        if event.key() == Qt.Key.Key_Escape:
            if not self.acts.leave_modes():
                self.frame.focus_first()
        elif inside and event.key() in SCREENS:
            self.rows.turn(SCREENS[event.key()])
        else:
            super().keyPressEvent(event)

    def _wanted(self, place: dict[str, Any]) -> QueueLine | None:
        """The line a place on the page speaks of: by item, and stage where one is named."""
        of_item = [line for line in self.queue.lines if line.item_id == place.get("item_id")]
        if place.get("stage"):
            of_item = [line for line in of_item if line.stage.value == str(place["stage"])]
        return next(iter([line for line in of_item if line.conflict] or of_item), None)

    def _begin(self) -> None:
        line = next((line for line in self.queue.lines if line.conflict), None)
        if line is not None:
            self._open(line)

    def _open(self, line: QueueLine, ruling_id: str = "") -> None:
        if place_of(line) == self.bench.place and self.bench.sheet is not None:
            self.frame.show_middle(self.frame.work)
            self.bench.move_to(ruling_id)
        else:
            self.bench.open(line, ruling_id)
        self.frame.focus_first()

    def _choose(self, ruling_id: str) -> None:
        self.bench.move_to(ruling_id)
        self.rows.take_focus()

    def _reopen(self, reason: str) -> None:
        sheet = self.bench.sheet
        if sheet is not None and self.bench.do(closing.reopen, sheet.adjudication_id, reason):
            self._fill_queue()
            self.rows.take_focus()

    def _show_quote(self, ruling_id: str, letter: str, place: int) -> None:
        self.bench.move_to(ruling_id)
        source, row = self.side.source(), self.bench.row
        own = row.made[0][0] if row and row.made and not letter else None
        found = source.show_anchor(own.anchors[place]) if own else source.show_quote(letter, place)
        if not found:
            self.messages.show_message("info", "These words are no longer in the source.")

    def _go_to_ruling(self, adjudication_id: str, ruling_id: str) -> None:
        line = next((line for line in self.queue.lines if line.adjudication_id == adjudication_id), None)
        if line is not None:
            self._open(line, ruling_id)

    def _show_done(self) -> None:
        lines = self.queue.lines
        closed, agreed = sum(line.closed for line in lines), sum(line.confirmable for line in lines)
        self.frame.done.show_counts(
            closed, sum(each.spot_check and not each.closed for each in lines), agreed
        )
        self.frame.show_middle(self.frame.done)

    def _fill_queue(self) -> None:
        self._requeue.stop()
        self.frame.queue_pane.fill(self.desk.ask(adjudicating.queue) or [])

    def _show_turned(self, shown: str) -> None:
        for name in TITLES:
            self.frame.head.show_pressed(name, name == shown)

    def _toggle_vote(self) -> None:
        wanted = not self.bench.vote_first
        QSettings().setValue(VOTE, wanted)
        self.frame.head.show_pressed("vote_first", wanted)
        self.bench.show_votes(wanted)
        self.rows.take_focus()

    def _find(self) -> None:
        if self.side.isAncestorOf(QApplication.focusWidget() or self):
            self.side.seek()
        else:
            self.frame.queue_pane.seek()
