"""Keyboard acts of the Adjudicate page: rule, explain, pair, split, add and move rows."""

from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from functools import partial
from typing import Any

from PySide6.QtCore import QObject

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.adjudication.adjudicating import SheetRow
from annotator.actions.labelling.label_rows import UNSURE
from annotator.domain.experts.adjudication import BOTH, DROP, OWN, Confidence, Reason
from annotator.domain.texts.words import shortened
from annotator.gui import keys
from annotator.gui.pages.adjudication.bench import AdjudicationFlow, AdjudicationModel
from annotator.gui.pages.adjudication.rows_pane import RowsPane
from annotator.gui.review.field_chips import CONFIDENCES, LETTER_ACTS, REASONS, about, votes_of
from annotator.gui.widgets.message_bar import MessageBar

PLAIN_TAKES = {"take_both": BOTH, "write_own": OWN, "drop_unit": DROP}


class AdjudicationActs(QObject):
    """One method for each act. Pending typing is stored first."""

    def __init__(
        self,
        bench: AdjudicationModel,
        flow: AdjudicationFlow,
        rows: RowsPane,
        messages: MessageBar,
    ) -> None:
        super().__init__(bench)
        self._bench, self._flow, self._rows = bench, flow, rows
        self._messages = messages
        self.pairing_id = ""
        """The row that looks for its partner."""
        self._partners: list[str] = []
        self._at = 0
        self.splitting = False
        bench.moved.connect(lambda _: self.leave_modes())
        flow.leaving.connect(rows.anchor)

    def table(self) -> dict[str, Callable[[], object]]:
        """Act of the key table → what it does; digits are not among them."""
        acts: dict[str, Callable[[], object]] = {
            "next_open": self._flow.next_open,
            "note": self.here(partial(self._rows.enter, "rationale")),
            "flag": self.here(partial(self._rows.enter, "gap")),
            "pair_row": self.pair,
            "split_row": self.split,
            "leave_open": self.here(self._leave_open),
            "new_row": self.new_row,
            "row_up": self.here(partial(self._move_row, -1)),
            "row_down": self.here(partial(self._move_row, 1)),
            "confirm_unanimous": self.confirm,
        }
        for act, reason, _ in REASONS:
            acts[act] = partial(self.reason, reason)
        for act, confidence, _ in CONFIDENCES:
            acts[act] = partial(self.sure, confidence)
        return acts

    def here(self, act: Callable[..., object]) -> Callable[..., object]:
        """The act, which touches the current row: reasons are for that one from then on."""

        def do(*args: Any) -> None:
            self._flow.touched()
            act(*args)

        return do

    def digit(self, act: str) -> None:
        """A ruling's key: it votes while a vote is wanted, names a letter while one is split off, and rules else."""
        if self.splitting:
            self._split_off(act)
            return
        self._leave_pairing()
        ballot, row = self._bench.ballot(self._bench.ruling_id), self._bench.row
        if ballot is not None and (value := votes_of(ballot.values).get(act)) is not None:
            self.vote(value)
        elif ballot is not None:
            self._messages.show_message(
                "info", "Vote first: what is your own value?", "A and B are shown after your vote."
            )
        elif row is not None and not row.ruling.open and self._flow.is_spent(row.ruling.id) and act != UNSURE:
            self._flow.spent.emit()
        elif act != UNSURE:
            self.take(PLAIN_TAKES.get(act) or "ABCD"[LETTER_ACTS.index(act)])

    def vote(self, value: str) -> None:
        """Say a value of the row at hand before seeing what others said."""
        if self._bench.ruling_id:
            self._bench.do(adjudicating.vote, self._bench.ruling_id, value)

    def word(self, fields: Mapping[str, Any]) -> None:
        """Give fields of the own wording of the row at hand other values, in one ruling."""
        row = self._bench.row
        if row is not None:
            self._bench.do(ruling.write_own, row.ruling.id, **fields)

    def _leave_open(self) -> None:
        row = self._bench.row
        if row is not None and not row.ruling.open:
            self._bench.do(ruling.undecide, row.ruling.id)

    def _move_row(self, by: int) -> None:
        if self._bench.ruling_id:
            self._bench.do(ruling.move, self._bench.ruling_id, by)

    def _pair(self, ruling_id: str, other_id: str) -> None:
        """Bring the units of another row into a row, which is at hand then."""
        if self._bench.do(adjudicating.pair, ruling_id, other_id):
            self._bench.move_to(ruling_id)

    def take(self, take: str) -> None:
        self._rows.flush()
        self.leave_modes()
        self._flow.take(take)

    def reason(self, reason: Reason) -> None:
        """Say why; the row is left when it lacks nothing more and nothing is being typed in it.

        A row that was left by itself still takes the reason. A gap of the guideline is to be put into words first,
        in its own row.
        """
        self._mind_typing()
        last = self._flow.last
        if last is None or self._bench.ballot(last.ruling.id) is not None:
            return
        self._rows.flush()
        given = self._flow.give_reason(reason)
        row = self._bench.row
        if given and reason is Reason.GUIDELINE_GAP and not last.ruling.gap and not self._rows.writing:
            self._bench.move_to(last.ruling.id)
            self._rows.enter("gap")
        elif row is None or row.ruling.id != last.ruling.id:
            self._say_behind(last.ruling.id)
        elif given and not self._rows.writing:
            self._flow.go_on_when_done()

    def sure(self, confidence: Confidence) -> None:
        self._mind_typing()
        row = self._flow.last
        if row is not None:
            chosen = "" if row.ruling.confidence is confidence else confidence
            self._bench.do(ruling.explain, row.ruling.id, confidence=chosen)
            if row.ruling.id != self._bench.ruling_id:
                self._say_behind(row.ruling.id)

    def _mind_typing(self) -> None:
        if self._rows.writing:
            self._flow.touched()

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
            self._rows.flush()
            self._pair(ruling_id, source_id)

    def split(self) -> None:
        """Give one letter's unit a row of its own; of three or more, its key says which."""
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
        if bench.sheet is None or not bench.do(ruling.add_row, bench.sheet.adjudication_id, bench.ruling_id):
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
                self._flow.settled.emit()
            if not self._rows.writing:
                self._rows.take_focus()

    def step(self, by: int) -> None:
        if self.pairing_id:
            self._at = (self._at + by) % len(self._partners)
            self._show_aim()
        else:
            self._bench.step(by)

    def enter(self) -> None:
        """Enter on the current row: pair it, go into its own wording, or into its rationale."""
        if self.pairing_id:
            ruling_id, partner = self.pairing_id, self._partners[self._at]
            self.leave_modes()
            self._pair(ruling_id, partner)
            return
        row = self._bench.row
        if row is not None:
            self._rows.enter("own" if row.ruling.take == OWN else "rationale")

    def leave_modes(self) -> bool:
        """Neither pair nor split after all; whether anything of the kind was going on."""
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
        """Propose a partner; the rows may have become others meanwhile."""
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


def can_pair(row: SheetRow, other: SheetRow) -> bool:
    """Whether units of another row find a place in this one."""
    mine, theirs = row.units.keys(), other.units.keys()
    return bool(mine and theirs) and (bool(theirs - mine) or theirs < mine)


def _likeness(row: SheetRow, other: SheetRow) -> float:
    """How alike the words of two rows look: only what is proposed first hangs on it."""
    return SequenceMatcher(None, about(row).casefold(), about(other).casefold(), autojunk=False).quick_ratio()
