"""The labelling guideline beside the work, toggled by its key."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QTextBrowser, QToolButton

from annotator.gui import keys
from annotator.gui.widgets import icons
from annotator.gui.widgets.basics import PlainLabel, horizontal, vertical

# The guideline's sections are named after fields; people know them by these names.
FIELDS = {"value": "The label", "quote": "Evidence", "note": "Note", "flags": "Flag"}


class GuidelinePanel(QFrame):
    """The current guideline."""

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "side")
        self.text = QTextBrowser()
        self.text.setProperty("role", "side")
        self.text.setOpenLinks(False)
        self.text.setAccessibleName("Guideline")
        close = QToolButton()
        icons.put(close, "close", 14)
        close.setToolTip("Hide the guideline")
        close.setAccessibleName("Hide the guideline")
        close.clicked.connect(self.closed)
        vertical(
            horizontal((PlainLabel("Guideline", "subtitle"), 1), close),
            (self.text, 1),
            on=self,
            margins=(10, 8, 8, 8),
        )
        self._shown = ""

    def show_words(self, words: str) -> None:
        """Show a guideline's words (Markdown), its fields called as on the page."""
        if words != self._shown:
            self._shown = words
            for field, name in FIELDS.items():
                words = words.replace(f"\n## {field}\n", f"\n## {name}\n")
            self.text.setMarkdown(keys.in_words(words))
