"""The Adjudicate page."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QKeyEvent

from annotator.actions.adjudication import adjudicating, feedback, ruling
from annotator.actions.consensus import consensus
from annotator.actions.items import items
from annotator.actions.labelling.label_rows import UNSURE
from annotator.domain.experts.adjudication import Reason
from annotator.domain.kinds.documents import KINDS
from annotator.domain.texts.canonical import Change
from annotator.gui.pages.adjudication.acts import PLAIN_TAKES, AdjudicationActs
from annotator.gui.pages.adjudication.bench import (
    RULING_KINDS,
    AdjudicationModel,
    AdjudicationQueue,
    LineFilter,
)
from annotator.gui.pages.adjudication.frame import Frame, nothing_yet
from annotator.gui.pages.adjudication.side import TITLES
from annotator.gui.parts import holds
from annotator.gui.review.field_chips import LETTER_ACTS
from annotator.gui.session.page import Page
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.basics import horizontal

# A senior expert with forty minutes, fifteen criteria against seventeen. What annoys them elsewhere: names that bias,
# scrolling between two documents, reading again what nobody disputes, losing the place after each decision.
VOTE = "adjudicate/vote"
SCREENS = {int(Qt.Key.Key_PageDown): 1, int(Qt.Key.Key_PageUp): -1}
STALE_KINDS = ("item", "import", "person", "assignment", "agreement", "artifact", "adjudication", "dispute")


class AdjudicatePage(Page):
    """The Adjudicate page: queue on the left, consensus above its rows, sources and notes on demand."""

    NAME = "Adjudicate"
    ONCE = (*LETTER_ACTS, *PLAIN_TAKES, UNSURE)
    HEARS = (*STALE_KINDS, "ruling")
    BEHIND = RULING_KINDS

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.queue, self.bench = (
            AdjudicationQueue(LineFilter.CONFLICTS, self),
            AdjudicationModel(session, self),
        )
        self.frame = frame = Frame(session, self.bench, self.queue)
        horizontal(frame, on=self, margins=0)
        self.rows, self.side, self.messages = frame.rows, frame.side, frame.messages
        self.acts = AdjudicationActs(session, self.bench, self.queue, frame)
        self._gaps: Counter[str] = Counter()
        self._listen()
        self._acts: dict[str, Callable[[], object]] = {
            "find": self._find,
            "vote_first": self._toggle_vote,
            **{name: partial(self.side.toggle, name) for name in TITLES},
            **self.acts.table(),
        }
        for act, slot in self._acts.items():
            self.bind(act, self._saving(slot))
        self.bind("next_row", lambda: self.acts.step(1), self.rows)
        self.bind("previous_row", lambda: self.acts.step(-1), self.rows)
        for act in self.ONCE:
            self.bind(act, partial(self.acts.digit, act), self.frame.work)
        self.bind("take_back", self._saving(partial(self.session.take_back, self.NAME)), self.frame.work)
        self.bind("other_pane", self.frame.next_pane)
        self.bind("conflicts", self.frame.head.queue_shown.toggle)

    def _listen(self) -> None:
        bench, frame, rows, controls = self.bench, self.frame, self.rows, self.rows.controls
        bench.opened.connect(self._opened)
        bench.moved.connect(lambda _: self._hush())
        for sign in (bench.laid, bench.rows_changed):
            sign.connect(lambda *_: self._show_progress())
        frame.close_panel.jumped.connect(self._go_to_row)
        frame.standing.answered.connect(self._answer)
        for button in (frame.queue_pane.unanimous, frame.done.confirm):
            button.clicked.connect(frame.unanimous.ask)
        frame.done.look.clicked.connect(self._look_at_sample)
        frame.unanimous.ended.connect(self.acts.fill_queue)
        frame.unanimous.looked.connect(self._look_at)
        frame.unanimous.closed.connect(frame.focus_first)
        frame.queue_pane.chosen.connect(self._open)
        frame.beginning.begin.clicked.connect(self._begin)
        frame.head.asked.connect(lambda act: self._acts[act]())
        frame.bar.asked.connect(lambda act: self._saving(self._acts[act])())
        frame.consensus.chosen.connect(self._go_to_row)
        frame.standing.reopened.connect(self._reopen)
        frame.close_panel.confirm.clicked.connect(self.acts.confirm)
        frame.close_panel.closed.connect(rows.take_focus)
        bench.entered.connect(self.acts.enter)
        bench.dropped.connect(self.acts.pair_dropped)
        bench.worded.connect(lambda fields: bench.do_here(ruling.write_own, **fields))
        bench.quote_wanted.connect(self._show_quote)
        controls.taken.connect(self.acts.take)
        controls.voted.connect(partial(bench.do_here, adjudicating.vote))
        controls.reasons.chosen.connect(self.acts.here(self.acts.reason))
        controls.sureness.chosen.connect(self.acts.here(self.acts.sure))
        controls.asked.connect(lambda act: self._acts[act]())
        self.side.turned.connect(self._show_turned)
        bench.row_wanted.connect(self._go_to_ruling)

    def _saving(self, slot: Callable[[], object]) -> Callable[[], object]:
        def act() -> None:
            self.bench.typing.keep()
            slot()

        return act

    def navigate(self, place: dict[str, Any]) -> None:
        self.acts.fill_queue()
        if not self.queue.lines:
            self.frame.show_nothing(nothing_yet(self.session, self.session.ask(ruling.lacking) or "items"))
            return
        # Queried for the whole project; from then on only those of the open item are updated.
        self._gaps = Counter(gap.adjudication_id for gap in self.session.ask(consensus.gaps) or ())
        if not self.side.shown:
            self.side.restore()
        self.bench.vote_first = QSettings().value(VOTE, False, bool) is True
        self.frame.head.buttons["vote_first"].setChecked(self.bench.vote_first)
        line = self._line_at(place)
        if line is not None:
            self._open(line, str(place.get("ruling_id", "")))
        elif self.bench.sheet is not None and self.queue.line(self.bench.place):
            self.frame.show_middle(self.frame.work)
            self.bench.refresh()
        else:
            self._show_first()

    def place(self) -> dict[str, str]:
        if self.bench.sheet is None:
            return {}
        item_id, stage = self.bench.place
        return {"item_id": item_id, "stage": stage.value, "ruling_id": self.bench.current_id}

    def _show_first(self) -> None:
        """Open the conflict that was begun; if there is none, wait for the person to start one."""
        conflicts = [line for line in self.queue.lines if line.conflict]
        begun = next((line for line in conflicts if line.adjudication_id), None)
        if begun is not None:
            self._open(begun)
        elif conflicts:
            self.frame.beginning.show_first(conflicts[0], len(conflicts))
            self.frame.show_middle(self.frame.beginning)
        else:
            self.acts.show_done()

    def focus_first(self) -> None:
        self.frame.focus_first()

    def leave(self) -> None:
        self.acts.leave_modes()
        self.bench.typing.keep()

    def stop(self) -> None:
        self.rows.stop()
        self.side.stop()

    def on_change(self, change: Change) -> None:
        """Show rulings at once; after undo or redo, go to the row concerned."""
        acting = self.bench.acting
        about = self.bench.take_in(change)
        if change.kind in STALE_KINDS and not acting and self.isVisible():
            self.acts.refill_soon.start()
        if change.kind == "ruling" and about and self.session.turning and self.isVisible():
            self.acts.touched()
            self._go_to_ruling(about, change.subject)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc leaves a mode or returns to the current row; from there the page keys scroll."""
        if event.key() == Qt.Key.Key_Escape:
            if not self.acts.leave_modes():
                self.frame.focus_first()
        elif holds(self.rows) and event.key() in SCREENS:
            self.rows.turn(SCREENS[event.key()])
        else:
            super().keyPressEvent(event)

    def _line_at(self, place: dict[str, Any]) -> adjudicating.QueueLine | None:
        """The line for a location on the page: by item, and by stage if one is named."""
        of_item = [line for line in self.queue.lines if line.item_id == place.get("item_id")]
        if place.get("stage"):
            of_item = [line for line in of_item if line.stage.value == str(place["stage"])]
        return next(iter([line for line in of_item if line.conflict] or of_item), None)

    def _begin(self) -> None:
        self._open(next((line for line in self.queue.lines if line.conflict), None))

    def _open(self, line: adjudicating.QueueLine | None, ruling_id: str = "") -> None:
        if line is None:
            return
        if line.place == self.bench.place and self.bench.sheet is not None:
            self.frame.show_middle(self.frame.work)
            self.bench.move_to(ruling_id)
        else:
            self.bench.open(line, ruling_id)
        self.frame.focus_first()

    def _reopen(self, reason: str) -> None:
        sheet = self.bench.sheet
        if sheet is not None and self.bench.do(ruling.reopen, sheet.adjudication_id, reason):
            self.acts.fill_queue()
            self.rows.take_focus()

    def _show_quote(self, ruling_id: str, letter: str, place: int) -> None:
        self.bench.move_to(ruling_id)
        source, row = self.side.source(), self.bench.row
        own = row.made[0][0] if row and row.made and not letter else None
        result = source.sources.show_anchor(own.anchors[place]) if own else source.show_quote(letter, place)
        if not result:
            self.messages.show_message("info", "These words are no longer in the source.")

    def _go_to_ruling(self, adjudication_id: str, ruling_id: str) -> None:
        self._open(
            next((line for line in self.queue.lines if line.adjudication_id == adjudication_id), None),
            ruling_id,
        )

    def _show_turned(self, shown: str) -> None:
        for name in TITLES:
            self.frame.head.buttons[name].setChecked(name == shown)

    def _toggle_vote(self) -> None:
        vote_first = not self.bench.vote_first
        QSettings().setValue(VOTE, vote_first)
        self.frame.head.buttons["vote_first"].setChecked(vote_first)
        self.bench.show_votes(vote_first)
        self.rows.take_focus()

    def _find(self) -> None:
        if holds(self.side):
            self.side.seek()
        else:
            self.frame.queue_pane.seek()

    def _opened(self) -> None:
        sheet, frame = self.bench.open_sheet, self.frame
        frame.messages.clear()
        frame.close_panel.hide()
        item = self.session.ask(items.read, sheet.item_id)
        if item is not None:
            frame.rows.item = item
            frame.speller.follow(item, sheet.stage)
        frame.head.show_sheet(sheet)
        frame.head.buttons["vote_first"].setVisible(KINDS[sheet.kind].voted is not None)
        frame.show_middle(frame.work)
        frame.queue_pane.show_open(self.bench.place)
        self._show_progress()

    def _show_progress(self) -> None:
        sheet, bench, frame = self.bench.open_sheet, self.bench, self.frame
        closed = bench.ask(ruling.versions) if sheet.version else []
        frame.standing.show_sheet(sheet, closed or [], readonly=self.session.project.readonly)
        frame.head.show_sheet(sheet)
        self._gaps[sheet.adjudication_id] = sum(
            (bool(row.ruling.gap) or row.ruling.reason is Reason.GUIDELINE_GAP) for row in sheet.rows
        )
        frame.head.buttons["gaps"].setText(f"Gaps ({sum(self._gaps.values())})")
        self.queue.follow(sheet, begun=bench.begun)
        left, agreed = len(bench.unresolved(contested=True)), len(bench.unconfirmed)
        frame.bar.show_sheet(
            sheet,
            left=left,
            agreed=agreed,
            conflicts=self.queue.counted(LineFilter.CONFLICTS),
            locked=bench.locked,
        )
        if frame.close_panel.isVisible():
            self.acts.show_lacking()

    def _hush(self) -> None:
        if not self.acts.pairing_id:
            self.frame.messages.clear()

    def _go_to_row(self, ruling_id: str, field: str = "") -> None:
        self.bench.move_to(ruling_id)
        self.rows.take_focus()
        if field == "own":
            self.rows.enter("own")

    def _answer(self, dispute_id: str, text: str) -> None:
        if self.session.do(feedback.answer, dispute_id, text) is not None:
            self.acts.fill_queue()
            self.frame.messages.show_message("success", "Answered: the consensus stays unchanged.")

    def _look_at_sample(self) -> None:
        self.frame.queue_pane.show_only(LineFilter.UNANIMOUS)
        self._open(next((each for each in self.queue.lines if each.spot_check and not each.closed), None))

    def _look_at(self, unanimous: consensus.AdjudicatedStage) -> None:
        self._open(self.queue.line((unanimous.item_id, unanimous.stage)))
