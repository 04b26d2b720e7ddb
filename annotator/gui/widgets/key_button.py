"""A button that prints its key on itself, so that the keyboard is learnt by looking."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from annotator.gui.widgets.plain import tooltip

_GAP = "\u2003"


class KeyButton(QPushButton):
    """A push button with its key behind its words, e.g. “Met  1”; the key itself is bound by the page."""

    def __init__(
        self, words: str, key: str | QKeySequence = "", role: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._words, self._key, self._hint = words, "", ""
        if role:
            self.setProperty("role", role)
        self.set_key(key)

    def set_words(self, words: str) -> None:
        """Show other words before the key."""
        self._words = words
        self._show()

    def set_key(self, key: str | QKeySequence) -> None:
        """Show another key, as people write it on this system."""
        native = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
        self._key = native.replace("Return", "Enter")
        self._show()

    def set_hint(self, hint: str) -> None:
        """Say in the tooltip what the button does."""
        self._hint = hint
        self._show()

    def _show(self) -> None:
        self.setText(f"{self._words}{_GAP}{self._key}".strip().replace("&", "&&"))
        said = self._hint or self._words
        self.setToolTip(tooltip(f"{said} ({self._key})" if self._key else said))
        self.setAccessibleName(f"{self._words}, key {self._key}" if self._key else self._words)


def press_focused(window: QWidget, event: QKeyEvent) -> bool:
    """Press the button with the focus of a window when the key is Enter, as the space bar does; whether it was."""
    button, plain = window.focusWidget(), ~Qt.KeyboardModifier.KeypadModifier
    enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers() & plain
    if not enter or event.isAutoRepeat() or not isinstance(button, QPushButton | QToolButton):
        return False
    button.click()
    return True
