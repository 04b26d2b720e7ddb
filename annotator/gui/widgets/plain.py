"""Foreign words in labels and tooltips, never read as markup."""

from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QListWidget, QWidget


class PlainLabel(QLabel):
    """A label that shows plain text with all its lines; `role` is used by the style sheet."""

    def __init__(
        self, text: str = "", role: str = "", wrap: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._lines = 0
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if role:
            self.setProperty("role", role)
        self.setText(text)

    def minimumSizeHint(self) -> QSize:
        """As high as its lines are at the width that it has."""
        hint = super().minimumSizeHint()
        # Out of view it may never have been given its width.
        if not self._lines or not self.isVisible():
            return hint
        return hint.expandedTo(QSize(0, self.heightForWidth(self.width())))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In another width it may need more lines, or fewer."""
        super().resizeEvent(event)
        high = self.heightForWidth(self.width()) if self.wordWrap() else 0
        if high != self._lines:
            self._lines = high
            self.updateGeometry()


def wrap_lines(entries: QListWidget) -> None:
    """Have the entries of a list break into lines and show all of them, whatever its width."""
    entries.setWordWrap(True)
    entries.setTextElideMode(Qt.TextElideMode.ElideNone)
    entries.setResizeMode(QListWidget.ResizeMode.Adjust)
    entries.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)


def tooltip(text: str) -> str:
    """A tooltip that shows the text as it is: Qt takes any tooltip that looks like markup for markup."""
    return f"<qt>{escape(text).replace(chr(10), '<br>')}</qt>" if text else ""
