"""Actions of an adjudicator on the current row and on the item."""

from collections.abc import Mapping
from typing import Any

from annotator.actions.adjudication import closing, pairing, ruling, unanimity, voting
from annotator.gui.pages.adjudication.bench import AdjudicationBench


class AdjudicationHand:
    """One method for each act; each returns whether it was done, and refusals are shown as usual."""

    def __init__(self, bench: AdjudicationBench) -> None:
        self._bench = bench

    def rule(self, take: str) -> bool:
        """Rule on the current row; whether it is so ruled now."""
        row = self._bench.row
        return row is not None and (
            row.ruling.take == take or self._bench.do(ruling.rule, row.ruling.id, take)
        )

    def leave_open(self) -> bool:
        """Take the ruling on the current row back."""
        row = self._bench.row
        return row is not None and not row.ruling.open and self._bench.do(ruling.undecide, row.ruling.id)

    def explain(self, ruling_id: str, **fields: Any) -> bool:
        """Say why, how surely, or what the guideline leaves open, of a row."""
        return self._bench.do(lambda project: ruling.explain(project, ruling_id, **fields))

    def word(self, fields: Mapping[str, Any]) -> bool:
        """Give fields of the own wording of the current row other values, in one ruling."""
        row = self._bench.row
        return row is not None and self._bench.do(
            lambda project: ruling.write_own(project, row.ruling.id, **fields)
        )

    def add_row(self) -> str:
        """A row that nobody wrote, below the current one; its id, or nothing."""
        before = set(self._bench.rows)
        if self._bench.sheet is None or not self._bench.do(
            ruling.add_row, self._bench.sheet.adjudication_id, self._bench.ruling_id
        ):
            return ""
        return next((ruling_id for ruling_id in self._bench.rows if ruling_id not in before), "")

    def move_row(self, by: int) -> bool:
        """Move the current row down (1) or up (-1)."""
        return bool(self._bench.ruling_id) and self._bench.do(ruling.move, self._bench.ruling_id, by)

    def pair(self, ruling_id: str, other_id: str) -> bool:
        """Bring the units of another row into a row, which is at hand then."""
        if not self._bench.do(pairing.pair, ruling_id, other_id):
            return False
        self._bench.move_to(ruling_id)
        return True

    def split(self, ruling_id: str, letter: str) -> bool:
        """Give a letter's unit a row of its own."""
        return self._bench.do(pairing.split, ruling_id, letter)

    def vote(self, value: str) -> bool:
        """Say a value of the current row before seeing what others said."""
        return bool(self._bench.ruling_id) and self._bench.do(voting.vote, self._bench.ruling_id, value)

    def confirm(self) -> bool:
        """Confirm every row on which everybody agrees."""
        return self._bench.sheet is not None and self._bench.do(
            unanimity.confirm_unanimous, self._bench.sheet.adjudication_id
        )

    def close(self) -> bool:
        """Make the consensus of what was ruled."""
        return self._bench.sheet is not None and self._bench.do(
            closing.close, self._bench.sheet.adjudication_id
        )

    def reopen(self, reason: str) -> bool:
        """Take up a closed adjudication again."""
        return self._bench.sheet is not None and self._bench.do(
            closing.reopen, self._bench.sheet.adjudication_id, reason
        )
