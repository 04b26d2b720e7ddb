"""A quotation as a button that leads to its place."""

import re

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy

from annotator.gui import theme
from annotator.gui.widgets import icons
from annotator.gui.widgets.basics import tooltip

TOLD_CHARACTERS = 600
# A quotation is kept as it stands in the Markdown; its marks and links' targets would only disturb here.
_MARKS = re.compile(r"\]\([^()\s]*\)|[*`#\[\]]+")
# Room beside the words for the icon and the ends.
_AROUND = 54
_LEAST = 80


class QuoteButton(QPushButton):
    """As wide as its words where there is room, elided otherwise. `tail` (a page) is never cut off."""

    def __init__(self, role: str, hint: str) -> None:
        super().__init__()
        self._quote, self._tail, self._hint = "", "", hint
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        icons.put(self, "quote", 14)

    def show_quote(self, quote: str, tail: str = "") -> None:
        """Show another quotation and, behind it, its tail."""
        self._quote, self._tail = " ".join(_MARKS.sub("", quote).split()), tail
        short = self._quote if len(self._quote) <= TOLD_CHARACTERS else f"{self._quote[:TOLD_CHARACTERS]}…"
        self.setToolTip(tooltip(f"“{short}”{tail}\n{self._hint}"))
        self.setAccessibleName(f"Quotation: {short}{tail}")
        self._fit()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        words = self.fontMetrics().horizontalAdvance(f"“{self._quote[:TOLD_CHARACTERS]}”{self._tail}")
        return QSize(words + theme.current().px(_AROUND), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.current().px(_LEAST), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        metrics, room = self.fontMetrics(), self.width() - theme.current().px(_AROUND)
        shown = self._quote
        if metrics.horizontalAdvance(f"“{shown}”{self._tail}") > room:
            rest = room - metrics.horizontalAdvance(f"“ ”{self._tail}")
            shown = metrics.elidedText(shown, Qt.TextElideMode.ElideRight, rest)
        self.setText(f"“{shown}”{self._tail}".replace("&", "&&"))
