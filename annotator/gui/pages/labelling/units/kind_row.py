"""Of what kind a label is, said on looking again: small buttons with their keys, never in the way."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from annotator.domain.judges.taxonomy import Taxonomy
from annotator.gui import keys
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.plain import PlainLabel

ACTS = ("kind_1", "kind_2", "kind_3", "kind_4")
# In words: the heading of each taxonomy, and of each kind its name and meaning.
HEADS = {
    "researcherbench.misses": "What is missing",
    "researcherbench.citation_errors": "What is wrong",
    "researcherbench.modes": "Where it comes from",
}
KINDS: dict[str, tuple[str, str]] = {
    "incompleteness": ("All of it", "Incompleteness: the report does not address the criterion"),
    "partial_missing": ("A part", "Partial missing: the report addresses it in part"),
    "invalid_attribution": (
        "Invalid attribution", "The source cannot be reached, or was made up",
    ),
    "unsupported_answer": ("Unsupported", "The source exists and does not support the claim"),
    "retrieval": ("Retrieved", "Retrieval: taken directly from a source"),
    "internal_knowledge": ("Known", "Internal knowledge: stated without a source"),
    "single_source_synthesis": ("One source", "Derived from one source"),
    "multi_source_synthesis": ("Several sources", "Combined from several sources"),
}  # fmt: skip


class KindRow(QWidget):
    """Hidden while what is said asks for no kind."""

    given = Signal(int)
    """A kind, by its place in the order of the keys."""

    def __init__(self, *, readonly: bool) -> None:
        super().__init__()
        self._readonly = readonly
        self.head = PlainLabel("", "hint")
        self.buttons: list[KeyButton] = []
        row = FlowRow(self, gap=4)
        row.addWidget(self.head)
        for place, act in enumerate(ACTS):
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
        self.head.setText(HEADS[asked.name])
        for button, value in zip(self.buttons, asked.values, strict=False):
            words, hint = KINDS[value]
            button.set_words(f"{words}?" if value == suggested and not kind else words)
            button.set_hint(f"{hint}. Suggested by the label itself." if value == suggested else hint)
            button.setChecked(value == kind)
            button.setEnabled(not self._readonly)
        for place, button in enumerate(self.buttons):
            button.setVisible(place < len(asked.values))
        self.updateGeometry()
