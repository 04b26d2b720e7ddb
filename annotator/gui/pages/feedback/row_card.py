"""One of the person's units beside the consensus unit, with what changed and why."""

from PySide6.QtWidgets import QFrame, QWidget

from annotator.domain.experts.digest import DigestRow, Fate
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.unit import Unit
from annotator.domain.texts.difference import TextPiece, differences
from annotator.gui.pages.feedback.wording import fate, field_words, unit_of
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.reading.marked_text import MarkedText, Span, keep_hidden, spans_of

# Where less than this share of the words stayed, marking the rest would only be noise.
WORTH_MARKING = 0.3
GONE, NEW = "state-disagree", "state-agreed"
NOTHING = {
    "own": "You had no such unit.",
    "consensus": "The consensus has no such unit.",
}


class FeedbackCard(QFrame):
    """A card with two columns, under the outcome and above the reason."""

    def __init__(self, kind: Kind, row: DigestRow, about: str = "") -> None:
        super().__init__()
        self.setProperty("role", "card")
        own, agreed = unit_of(kind, row.own), unit_of(kind, row.consensus)
        pieces = differences(own.text, agreed.text) if own is not None and agreed is not None else ()
        self.own = _Side(
            kind, own, agreed, _spans(pieces, "removed"), "own", struck=row.change == Fate.DROPPED
        )
        self.consensus = _Side(kind, agreed, own, _spans(pieces, "added"), "consensus")
        column = vertical(on=self, margins=(10, 8, 10, 10), spacing=6)
        self.chips = Chips()
        reason = [Chip(f"reason: {row.reason.value}")] if row.reason else []
        self.chips.show_chips([fate(row), *reason])
        column.addWidget(self.chips)
        if heading := " · ".join(part for part in (about, row.heading) if part):
            words = MarkedText()
            words.show_text(heading)
            column.addWidget(words)
        sides = horizontal((self.own, 1), (self.consensus, 1), spacing=16)
        column.addLayout(sides)
        if row.rationale.strip():
            self.why = MarkedText()
            self.why.show_text(f"Why: {row.rationale.strip()}")
            column.addWidget(self.why)
        self.setAccessibleName(
            f"{fate(row).words}. Yours: {own.text if own else 'nothing'}. "
            f"Consensus: {agreed.text if agreed else 'nothing'}. {row.rationale}"
        )


class _Side(QWidget):
    """One of the two sides."""

    def __init__(
        self,
        kind: Kind,
        unit: Unit | None,
        other: Unit | None,
        marked: list[Span],
        which: str,
        *,
        struck: bool = False,
    ) -> None:
        super().__init__()
        self.text, self.fields = MarkedText(mark=GONE if which == "own" else NEW), Chips()
        column = vertical(on=self, margins=0, spacing=4)
        if unit is None:
            column.addWidget(PlainLabel(NOTHING[which], "hint", wrap=True))
        else:
            if unit.text:
                self.text.show_text(unit.text, marked, struck=struck)
                column.addWidget(self.text)
            self.fields.show_chips(field_words(kind, unit, other, given_up=which == "own"))
            column.addWidget(self.fields)
        column.addStretch(1)
        keep_hidden(self, self.text, self.fields)


def _spans(pieces: tuple[TextPiece, ...], kind: str) -> list[Span]:
    """Where the pieces of a kind stand in their own wording; nothing where nearly all was changed."""
    whole = sum(len(piece.text) for piece in pieces)
    same = sum(len(piece.text) for piece in pieces if piece.kind == "same")
    if not whole or same < WORTH_MARKING * (whole + same) / 2:
        return []
    return spans_of(pieces, kind)
