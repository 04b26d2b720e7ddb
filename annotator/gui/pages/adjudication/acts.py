"""Acts of the Adjudicate page: rule, explain, pair, split, add and move rows, and go on to open ones."""

from collections.abc import Callable
from difflib import SequenceMatcher
from functools import partial
from typing import Any

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.labelling.label_rows import UNSURE
from annotator.domain.experts.adjudication import BOTH, DROP, OWN, Confidence, Reason
from annotator.domain.kinds.documents import KINDS
from annotator.domain.texts.words import shortened
from annotator.gui import keys
from annotator.gui.pages.adjudication.bench import AdjudicationModel, AdjudicationQueue
from annotator.gui.pages.adjudication.frame import Frame
from annotator.gui.review.field_chips import (
    CONFIDENCES,
    LETTER_ACTS,
    REASONS,
    about,
    figures_words,
    title_of,
    votes_of,
)
from annotator.gui.session.page import Flow
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.basics import later

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
