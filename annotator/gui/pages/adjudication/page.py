"""The Adjudicate page and its acts: rule, explain, pair, split, add and move rows, and go on to open ones."""

from collections import Counter
from collections.abc import Callable
from difflib import SequenceMatcher
from functools import partial
from typing import Any

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QKeyEvent

from annotator.actions.adjudication import adjudicating, feedback, ruling
from annotator.actions.consensus import consensus
from annotator.actions.items import items
from annotator.actions.labelling.label_rows import UNSURE
from annotator.domain.common import Change, shortened
from annotator.domain.experts.adjudication import BOTH, DROP, OWN, Confidence, Reason
from annotator.domain.kinds.documents import KINDS
from annotator.gui import keys
from annotator.gui.pages.adjudication.bench import (
    RULING_KINDS,
    AdjudicationModel,
    AdjudicationQueue,
    LineFilter,
)
from annotator.gui.pages.adjudication.frame import Frame, nothing_yet
from annotator.gui.pages.adjudication.side import TITLES
from annotator.gui.parts import holds
from annotator.gui.review.field_chips import (
    CONFIDENCES,
    LETTER_ACTS,
    REASONS,
    about,
    figures_words,
    title_of,
    votes_of,
)
from annotator.gui.session.page import Flow, Page
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.basics import horizontal, later

PLAIN_TAKES = {"take_both": BOTH, "write_own": OWN, "drop_unit": DROP}


class AdjudicationActs(Flow):
    """One method for each act. Typed text is stored first; after a ruling, the next open row becomes current."""

    def __init__(
        self, session: ProjectSession, bench: AdjudicationModel, queue: AdjudicationQueue, frame: Frame
    ) -> None:
        super().__init__(bench)
        self._session, self._bench, self._queue, self._frame = session, bench, queue, frame
        self._rows, self._messages = frame.rows, frame.messages
        self.refill_soon = later(self, self.fill_queue, 150)
        self.pairing_id = ""
        """The row to be paired; empty while none is."""
        self._partners: list[str] = []
        self._at = 0
        self.splitting = False
        bench.moved.connect(lambda _: self.touched())
        bench.moved.connect(lambda _: self.leave_modes())

    def table(self) -> dict[str, Callable[[], object]]:
        """Act of the key table → method; the digits have `digit`."""
        return {
            "submit": self.submit,
            "next_open": self.next_open,
            "next_item": partial(self.neighbour, 1),
            "previous_item": partial(self.neighbour, -1),
            "note": self.here(partial(self._rows.enter, "rationale")),
            "flag": self.here(partial(self._rows.enter, "gap")),
            "pair_row": self.pair,
            "split_row": self.split,
            "leave_open": self.here(self._leave_open),
            "new_row": self.new_row,
            "row_up": self.here(partial(self._bench.do_here, ruling.move, -1)),
            "row_down": self.here(partial(self._bench.do_here, ruling.move, 1)),
            "confirm_unanimous": self.confirm,
            **{act: partial(self.reason, reason) for act, reason, _ in REASONS},
            **{act: partial(self.sure, confidence) for act, confidence, _ in CONFIDENCES},
        }

    def here(self, act: Callable[..., object]) -> Callable[..., object]:
        """The act as one that touches the current row, so that reasons given afterwards are for that row."""

        def do(*args: Any) -> None:
            self.touched()
            act(*args)

        return do

    def digit(self, act: str) -> None:
        """Handle a ruling's key: split off a document's unit, cast a vote if one is wanted, or rule."""
        if self.splitting:
            self._split_off(act)
            return
        self._leave_pairing()
        ballot, row = self._bench.ballot(self._bench.current_id), self._bench.row
        if ballot is not None and (value := votes_of(ballot.values).get(act)) is not None:
            self._bench.do_here(adjudicating.vote, value)
        elif ballot is not None:
            self._messages.show_message(
                "info", "Vote first: what is your own value?", "A and B are shown after your vote."
            )
        elif row is not None and not row.ruling.open and self.is_spent(row.ruling.id) and act != UNSURE:
            self._say_spent()
        elif act != UNSURE:
            self.take(PLAIN_TAKES.get(act) or "ABCD"[LETTER_ACTS.index(act)])

    def _leave_open(self) -> None:
        row = self._bench.row
        if row is not None and not row.ruling.open:
            self._bench.do_here(ruling.undecide)

    def _pair(self, ruling_id: str, other_id: str) -> None:
        """Move the units of another row into a row, and make that row the current one."""
        if self._bench.do(adjudicating.pair, ruling_id, other_id):
            self._bench.move_to(ruling_id)

    def take(self, take: str) -> None:
        """Rule on the current row, and go on to the next one without a ruling."""
        self._bench.typing.keep()
        self.leave_modes()
        row = self._bench.row
        if row is None or (row.ruling.take != take and not self._bench.do(ruling.rule, row.ruling.id, take)):
            return
        self.decided = "" if take == OWN else self._bench.current_id
        if take == OWN:
            self._rows.enter("own")
        elif not self._bench.rows[self.decided].ruling.open:
            self.advance()

    def reason(self, reason: Reason) -> None:
        """Give the reason for a ruling, or remove it if it is the same; then leave the row if it lacks nothing.

        A row left by automatic advance still takes the reason. The row also stays while something is typed in it, and
        for a guideline gap, which must be described first.
        """
        self._mind_typing()
        last = self._last
        if last is None or self._bench.ballot(last.ruling.id) is not None:
            return
        self._bench.typing.keep()
        again = self._last is not None and self._last.ruling.reason is reason
        done = self._bench.do(ruling.explain, last.ruling.id, reason="" if again else reason)
        given, row = done and not again, self._bench.row
        if given and reason is Reason.GUIDELINE_GAP and not last.ruling.gap and not self._rows.writing:
            self._bench.move_to(last.ruling.id)
            self._rows.enter("gap")
        elif row is None or row.ruling.id != last.ruling.id:
            self._say_behind(last.ruling.id)
        elif given and not self._rows.writing:
            self._go_on_when_done()

    def sure(self, confidence: Confidence) -> None:
        self._mind_typing()
        row = self._last
        if row is not None:
            chosen = "" if row.ruling.confidence is confidence else confidence
            self._bench.do(ruling.explain, row.ruling.id, confidence=chosen)
            if row.ruling.id != self._bench.current_id:
                self._say_behind(row.ruling.id)

    def _mind_typing(self) -> None:
        if self._rows.writing:
            self.touched()

    def _say_behind(self, ruling_id: str) -> None:
        row = self._bench.rows[ruling_id]
        parts = [part.value.replace("_", " ") for part in (row.ruling.reason, row.ruling.confidence) if part]
        self._messages.show_message("info", f"Row {row.number}: {', '.join(parts) or 'no reason'}.")

    def pair(self) -> None:
        row = self._bench.row
        if row is None or self._bench.ballot(row.ruling.id) is not None:
            return
        partners = [
            name for name, other in self._bench.rows.items() if other is not row and can_pair(row, other)
        ]
        if self.pairing_id or not partners:
            self._leave_pairing()
            self._messages.show_message(
                "info", "No row can be paired with this one.", "Split one of them first."
            )
            return
        rows, self.pairing_id, self._partners = self._bench.rows, row.ruling.id, partners
        likely = max(partners, key=lambda name: (-len(rows[name].units), _likeness(row, rows[name])))
        self._at = partners.index(likely)
        self._show_aim()

    def pair_dropped(self, ruling_id: str, source_id: str, letter: str) -> None:
        rows = self._bench.rows
        target, source = rows.get(ruling_id), rows.get(source_id)
        if target is None or source is None:
            return
        if letter in target.units and len(source.units) > 1:
            self._messages.show_message(
                "info",
                f"Row {target.number} already contains a unit of {letter}.",
                f"Drop it on a row without {letter}, or split that row first.",
            )
        else:
            self._bench.typing.keep()
            self._pair(ruling_id, source_id)

    def split(self) -> None:
        """Move one document's unit to a row of its own; with three or more, the next key selects the document."""
        self.leave_modes()
        row = self._bench.row
        if row is None or self._bench.ballot(row.ruling.id) is not None:
            return
        if len(row.units) <= 2:
            self._bench.do(adjudicating.split, row.ruling.id, list(row.units)[-1] if row.units else "")
            return
        self.splitting = True
        offered = ", ".join(
            f"{keys.shown(act)} {letter}" for act, letter in zip(LETTER_ACTS, row.units, strict=False)
        )
        self._messages.show_message(
            "info", f"Which one should be split off? {offered}", "Esc cancels.", lasting=True
        )

    def _split_off(self, act: str) -> None:
        row = self._bench.row
        self.leave_modes()
        letter = "ABCD"[LETTER_ACTS.index(act)] if act in LETTER_ACTS else ""
        if row is not None:
            self._bench.do(adjudicating.split, row.ruling.id, letter)

    def new_row(self) -> None:
        self.leave_modes()
        bench, before = self._bench, set(self._bench.rows)
        if bench.sheet is None or not bench.do(ruling.add_row, bench.sheet.adjudication_id, bench.current_id):
            return
        for new in bench.rows.keys() - before:
            bench.move_to(new)
            self._rows.enter("own")

    def confirm(self) -> None:
        count, sheet = len(self._bench.unconfirmed), self._bench.sheet
        if sheet is not None and self._bench.do(adjudicating.confirm_unanimous, sheet.adjudication_id):
            rows = "The agreed row is" if count == 1 else f"All {count} agreed rows are"
            self._messages.show_message("success", f"{rows} confirmed.")
            if not self._bench.lacking:
                self._say_settled()
            if not self._rows.writing:
                self._rows.take_focus()

    def step(self, by: int) -> None:
        if self.pairing_id:
            self._at = (self._at + by) % len(self._partners)
            self._show_aim()
        else:
            self._bench.step(by)

    def enter(self) -> None:
        """Handle Enter on the current row: pair it, or focus its own wording or its rationale."""
        if self.pairing_id:
            ruling_id, partner = self.pairing_id, self._partners[self._at]
            self.leave_modes()
            self._pair(ruling_id, partner)
            return
        row = self._bench.row
        if row is not None:
            self._rows.enter("own" if row.ruling.take == OWN else "rationale")

    def leave_modes(self) -> bool:
        """Leave pairing or splitting; whether one of them was in progress."""
        going = bool(self.pairing_id) or self.splitting
        self.splitting = False
        self._leave_pairing()
        if going:
            self._messages.clear()
        return going

    def _leave_pairing(self) -> None:
        if self.pairing_id:
            self.pairing_id = ""
            self._rows.aim("")
            self._messages.clear()

    def _show_aim(self) -> None:
        """Propose a partner; the rows may have changed meanwhile."""
        partner = self._partners[self._at]
        self._rows.aim(partner)
        row, other = self._bench.rows.get(self.pairing_id), self._bench.rows.get(partner)
        if row is None or other is None:
            self._messages.clear()
            return
        up, down = keys.shown("previous_row"), keys.shown("next_row")
        self._messages.show_message(
            "info",
            f"Pair row {row.number} with row {other.number}: “{shortened(' '.join(about(other).split()), 240)}”",
            f"Enter pairs them, {up} and {down} choose another, Esc cancels.",
            lasting=True,
        )

    @property
    def _last(self) -> adjudicating.SheetRow | None:
        """The row ruled on last until another is touched, otherwise the current one."""
        return self._bench.rows.get(self.decided) or self._bench.row

    def _go_on_when_done(self) -> None:
        row = self._bench.row
        if row is not None and not row.ruling.open and not self._bench.lacks(row.ruling.id):
            self.advance()

    def next_open(self) -> None:
        """Go to the next row that lacks something, contested ones first; if none does, to the next conflict."""
        here = self._bench.current_id
        for contested in (True, False):
            waiting = [name for name in self._bench.unresolved(contested=contested) if name != here]
            if waiting:
                self._rows.anchor()
                self._bench.move_to(self._bench.following(waiting))
                return
        if here in self._bench.lacking:
            # This key does not leave an item of which any row lacks something, even the current one.
            return
        line = self._queue.next_open(self._bench.place)
        if line is not None and line.place != self._bench.place:
            self._bench.open(line)
        elif line is None and not self._bench.lacking:
            self.show_done()
        elif not self._bench.lacking:
            self._say_settled()

    def neighbour(self, by: int) -> None:
        """Open the item shown below (1) or above (-1) in the queue."""
        line = self._queue.neighbour(self._bench.place, by)
        if line is not None:
            self._bench.open(line)

    def submit(self) -> None:
        """Close this item and go to the next, or list what is missing; leave an item that is closed already."""
        if self._bench.sheet is None or self._bench.locked:
            self._leave_closed()
        elif self._bench.lacking:
            self._list_lacking()
        elif self._bench.do(ruling.close, self._bench.sheet.adjudication_id):
            self._say_closed()

    def _leave_closed(self) -> None:
        line = self._queue.next_open(self._bench.place)
        if line is None or line.place == self._bench.place:
            self.show_done()
        else:
            self._bench.open(line)

    def _go_on(self) -> None:
        """Skip rows with a ruling that lack a reason: the next key would rule on them again."""
        waiting = [
            each for each in self._bench.unresolved(contested=True) if self._bench.rows[each].ruling.open
        ]
        following = self._bench.following(waiting)
        if following and following != self._bench.current_id:
            self._rows.anchor()
            self._bench.move_to(following)
        elif not waiting:
            self._say_settled()

    def show_done(self) -> None:
        lines = self._queue.lines
        closed, agreed = sum(line.closed for line in lines), sum(line.confirmable for line in lines)
        self._frame.done.show_counts(
            closed, sum(each.spot_check and not each.closed for each in lines), agreed
        )
        self._frame.show_middle(self._frame.done)

    def fill_queue(self) -> None:
        self.refill_soon.stop()
        self._queue.fill(self._session.ask(adjudicating.queue) or [])
        self._frame.queue_pane.refill()

    def _say_settled(self) -> None:
        agreed, messages = len(self._bench.unconfirmed), self._messages
        if wanting := len(self._bench.unresolved(contested=True)):
            rows = "One row still lacks" if wanting == 1 else f"{wanting:,} rows still lack"
            messages.show_message(
                "info",
                f"Every conflict of this item is ruled on. {rows} a reason or a wording.",
                lasting=True,
            )
            messages.set_action("Go there", self.next_open, "next_open")
        elif agreed:
            messages.show_message("success", "Every conflict of this item is settled.", lasting=True)
            messages.set_action(f"Confirm {agreed} agreed", self.confirm, "confirm_unanimous")
        elif not self._bench.lacking:
            messages.show_message("success", "Every row of this item is settled.", lasting=True)
            messages.set_action("Close it", self.submit, "submit")

    def _say_spent(self) -> None:
        if any(self._bench.rows[each].ruling.open for each in self._bench.unresolved(contested=True)):
            back, on = keys.shown("take_back"), keys.shown("next_open")
            self._messages.show_message(
                "info", "This row is ruled on.", f"{back} takes the ruling back, {on} goes on."
            )
        else:
            self._say_settled()

    def _list_lacking(self) -> None:
        self._messages.clear()
        self.show_lacking()
        self._frame.close_panel.enter()

    def show_lacking(self) -> None:
        lacking = [each for result in self._bench.lacking.values() for each in result]
        self._frame.close_panel.show_lacking(lacking, self._bench.unconfirmed, self._bench.rows)

    def _say_closed(self) -> None:
        sheet = self._bench.open_sheet
        versions = self._bench.ask(ruling.versions) or []
        self.fill_queue()
        self._leave_closed()
        if not versions:
            return
        last, title = versions[-1], title_of(sheet.stage, sheet.kind)
        units = KINDS[sheet.kind].counted(last.units)
        frozen = f"Frozen: {figures_words(sheet.figures[:1]) or 'no figure'}"
        by_hand = figures_words(last.repaired[:1])
        self._messages.show_message(
            "success",
            f"{title} of item {sheet.item_key} is closed as version {last.version}: {units}.",
            f"{frozen}; by your pairing: {by_hand}." if by_hand else f"{frozen}.",
        )


def can_pair(row: adjudicating.SheetRow, other: adjudicating.SheetRow) -> bool:
    """Whether units of another row fit into this one."""
    mine, theirs = row.units.keys(), other.units.keys()
    return bool(mine and theirs) and (bool(theirs - mine) or theirs < mine)


def _likeness(row: adjudicating.SheetRow, other: adjudicating.SheetRow) -> float:
    """The similarity of two rows' texts; it only determines which partner is proposed first."""
    return SequenceMatcher(None, about(row).casefold(), about(other).casefold(), autojunk=False).quick_ratio()


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
