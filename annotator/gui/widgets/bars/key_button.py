"""Button that shows its key."""

from PySide6.QtCore import Property, QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton, QWidget
from shiboken6 import isValid

from annotator.gui import keys
from annotator.gui.widgets.basics import tooltip

_GAP = "\u2003"
BUTTONS = (QPushButton, QToolButton)


class KeyButton(QPushButton):
    """A push button with its key behind its words, e.g. “Met  1”; the key itself is bound by the page."""

    crowded = False
    """Whether the window is so narrow that no button prints its key."""

    def __init__(
        self, words: str, key: str | QKeySequence = "", role: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._words, self._key, self._hint, self._brief = words, "", "", False
        self._shown: tuple[str, str, str, bool] | None = None
        if role:
            self.setProperty("role", role)
        self.set_key(key)

    def set_words(self, words: str) -> None:
        self._words = words
        self.show_words()

    def set_key(self, key: str | QKeySequence) -> None:
        """Show another key, as people write it on this system."""
        self._key = keys.written(key).replace("Return", "Enter")
        self.show_words()

    key = Property(str, lambda self: self._key, set_key)
    """The same as a property, which `keys.tell` keeps up to date."""

    def set_hint(self, hint: str) -> None:
        self._hint = hint
        self.show_words()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """A double click presses once: the button may act on the next subject by now."""
        event.accept()

    def show_brief(self, brief: bool) -> None:
        """Print the words alone, where there is no room for the key; its tooltip still tells it."""
        self._brief = brief
        self.show_words()

    def show_words(self) -> None:
        """Print the words, and the key where there is room."""
        brief = self._brief or KeyButton.crowded
        if self._shown == (shows := (self._words, self._key, self._hint, brief)):
            return
        self._shown = shows
        # A number whose key is its digit says it once.
        shown = self._words if brief or self._words == self._key else f"{self._words}{_GAP}{self._key}"
        self.setText(shown.strip().replace("&", "&&"))
        said = self._hint or self._words
        self.setToolTip(tooltip(f"{said} ({self._key})" if self._key else said))
        self.setAccessibleName(f"{self._words}, key {self._key}" if self._key else self._words)


class EnterPresses(QObject):
    """Lets Enter press the focused button, as the space bar does.

    Only a key that goes to the button itself: one that led the focus there goes on to the window, not to the button.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._moved)

    def _moved(self, left: QWidget | None, reached: QWidget | None) -> None:
        if isinstance(left, BUTTONS) and isValid(left):
            left.removeEventFilter(self)
        if isinstance(reached, BUTTONS) and self._window.isAncestorOf(reached):
            reached.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(watched, BUTTONS) and isinstance(event, QKeyEvent) and _is_enter(event):
            watched.click()
            return True
        return super().eventFilter(watched, event)


def _is_enter(event: QKeyEvent) -> bool:
    if event.type() != QEvent.Type.KeyPress or event.isAutoRepeat():
        return False
    return event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and keys.plain(event)
