"""Empty state of a document: what the kind is, and how to begin."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.spec import KindSpec
from annotator.gui import keys
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.basics import vertical
from annotator.gui.widgets.empty_state import EmptyState

NO_TYPE = "This item has no question type with dimensions to rate. Choose one on the Items page: "
READ_ONLY = "This file is read-only."


class AuthoringStart(QWidget):
    """A sentence about the kind and one button."""

    started = Signal()
    draft_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._empty = EmptyState("author", "", width=380)
        self.start = self._empty.add_action("Start", self.started.emit, primary=True)
        self.start.setAutoDefault(True)
        self.draft = KeyButton("Ask a model for a draft", keys.shown("model_draft"))
        self.draft.clicked.connect(self.draft_wanted)
        self._empty.add_button(self.draft)
        vertical(self._empty, on=self)

    def show_kind(
        self, words: KindSpec, *, readonly: bool, drafted: bool = False, untyped: Sequence[str] = ()
    ) -> None:
        """Explain a kind that has not been begun; one that is `drafted` may be asked of a model.

        `untyped` names the types of which the item's question must be one first.
        """
        more = f"{NO_TYPE}{', '.join(untyped)}." if untyped else READ_ONLY if readonly else ""
        self._empty.show_words(f"No {words.title.lower()} yet", f"{words.what} {more}".strip())
        self.start.setText(f"Start {words.title.lower()}")
        self.start.setVisible(not readonly and not untyped)
        self.draft.setVisible(drafted and not readonly)
        self.draft.set_words("Take references" if words.kind is Kind.EVIDENCE else "Ask a model for a draft")

    def rebind(self) -> None:
        self.draft.set_key(keys.shown("model_draft"))

    def enter(self) -> None:
        self.start.setFocus(Qt.FocusReason.OtherFocusReason)
