"""Text field of a unit: it grows with its text and keeps its cursor when the text is replaced."""

from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QTextCursor

from annotator.gui import keys
from annotator.gui.theme import set_role
from annotator.gui.widgets.fields.growing_edit import GrowingEdit


class TextField(GrowingEdit):
    """A text of any length, script and direction."""

    stirred = Signal()
    """A key changed the text."""

    def __init__(self, name: str, prompt: str = "", *, most: int = 12) -> None:
        super().__init__(most=most)
        self.setAccessibleName(name)
        self.setPlaceholderText(prompt)
        self._putting = False
        self._last = ""
        self.textChanged.connect(self._stir)

    def event(self, event: QEvent) -> bool:
        """Leave the page's own keys to the page, also those that a text field would take for itself."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.modifiers() & keys.COMMANDS
            and not self._composing
            and _belongs_to_page(QKeySequence(event.keyCombination()))
        ):
            event.ignore()
            return True
        return super().event(event)

    def _stir(self) -> None:
        # An input method that composes changes the layout before it changes the text.
        text, before = self.toPlainText(), self._last
        self._last = text
        if text != before and not self._putting:
            self.stirred.emit()

    def value(self) -> Any:
        return self.toPlainText()

    def show_value(self, value: Any) -> None:
        """Write the text of a revision, keeping the cursor; tells nobody.

        Taking back what led to it is the page's undo from now on, no longer the field's.
        """
        text = str(value or "")
        if text == self.toPlainText():
            self.document().clearUndoRedoStacks()
            return
        place = self.textCursor().position()
        self._putting = True
        self.setPlainText(text)
        self._putting = False
        cursor = self.textCursor()
        cursor.setPosition(min(place, len(text)) if self.hasFocus() else 0)
        self.setTextCursor(cursor)

    def lock(self, locked: bool) -> None:
        """Let the text be read and copied but not changed."""
        if self.isReadOnly() != locked:
            self.setReadOnly(locked)
            set_role(self)

    def enter(self) -> None:
        if not self.hasFocus():
            self.moveCursor(QTextCursor.MoveOperation.End)
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)


def _belongs_to_page(key: QKeySequence) -> bool:
    acts = [binding.act for binding in keys.BINDINGS if binding.page == "Author"]
    return any(key in keys.sequences(act) for act in acts)
