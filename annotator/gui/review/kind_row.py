"""Buttons for the kind of a label or of a judge's verdict, given at a second look."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from annotator.domain.judges.taxonomy import Taxonomy
from annotator.gui import keys
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.basics import PlainLabel

ACTS = tuple(f"kind_{number}" for number in range(1, 10))
USUAL = 4
# While a judge's verdict is reviewed.
OF_VERDICT = ("verdict_kind_1", "verdict_kind_2", "verdict_kind_3", "verdict_kind_4")


class KindRow(QWidget):
    """Hidden when the label asks for no kind."""

    given = Signal(int)
    """A kind, by its place in the order of the keys."""

    def __init__(self, *, readonly: bool, acts: Sequence[str] = ACTS[:USUAL]) -> None:
        super().__init__()
        self._readonly = readonly
        self.head = PlainLabel("", "hint")
        self.buttons: list[KeyButton] = []
        row = FlowRow(self, gap=4)
        row.addWidget(self.head)
        for place, act in enumerate(acts):
            button = KeyButton("", keys.sequences(act)[0], "quiet")
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.clicked.connect(lambda _=False, place=place: self.given.emit(place))
            self.buttons.append(button)
            row.addWidget(button)
        self.hide()

    def show_kind(self, asked: Taxonomy | None, kind: str, suggested: str) -> None:
        """Offer the kinds of a taxonomy, the given one down; what the label itself suggests is named so."""
        self.setVisible(asked is not None and not (self._readonly and not kind))
        if asked is None:
            return
        self.head.setText(asked.head)
        for button, one in zip(self.buttons, asked.kinds, strict=False):
            by_itself = one.name == suggested
            button.set_words(f"{one.words}?" if by_itself and not kind else one.words)
            button.set_hint(f"{one.hint}. Suggested by the label itself." if by_itself else one.hint)
            button.setChecked(one.name == kind)
            button.setEnabled(not self._readonly)
        for place, button in enumerate(self.buttons):
            button.setVisible(place < len(asked.kinds))
        self.updateGeometry()
