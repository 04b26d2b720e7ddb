"""The base class of pages: one step of the work, with its own acts and a count of waiting work."""

import sys
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, ClassVar

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QShortcut
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QPlainTextEdit, QWidget

from annotator.domain.texts.change import Change
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk

WINDOWS = sys.platform == "win32"


class Page(QWidget):
    """A page: one step of the work, made at its first visit, alive as long as its project is open."""

    NAME: ClassVar[str]
    ICON: ClassVar[str]
    # The kinds of change that the page hears of while it is in view, and those that it hears of also out of view.
    HEARS: ClassVar[Collection[str]] = ()
    BEHIND: ClassVar[Collection[str]] = ()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._shortcuts: dict[str, list[QShortcut]] = {}
        desk.listen(self._hear, self.HEARS)

    def arrive(self, place: dict[str, Any]) -> None:
        """The page has come into view; `place` says where on it to go (item_id, unit_id …)."""

    def place(self) -> dict[str, str]:
        """Where on the page the person is, in the words of `arrive`; empty where nothing is kept of it."""
        return {}

    def leave(self) -> None:
        """The page is about to go out of view, or the window to close: keep what is being typed."""

    def wear(self) -> None:
        theme.wear(self)

    def stop(self) -> None:
        """The page is about to be taken down: end what it started."""

    def _hear(self, change: Change) -> None:
        if self.isVisible() or change.kind in self.BEHIND:
            self.on_change(change)

    def on_change(self, change: Change) -> None:
        """A change was committed of a kind that the page hears of."""
        self.arrive({})

    def focus_first(self) -> None:
        """Put the keyboard where work on this page begins."""
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def event(self, event: QEvent) -> bool:
        """Leave to the field that is written in what deletes a word or line, where the page says so, and codes."""
        field = QApplication.focusWidget()
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and isinstance(field, QLineEdit | QPlainTextEdit | QAbstractSpinBox)
            and not field.isReadOnly()
            and (_types_a_code(event) or (_deletes(event) and (keys.MAC or self.keeps_words(field))))
        ):
            event.accept()
            return True
        return super().event(event)

    def keeps_words(self, _field: QWidget) -> bool:
        """Whether that key deletes a word in this field, although elsewhere on the page it removes something.

        On macOS, where it deletes to the start of the line, every field keeps it.
        """
        return True

    def bind(self, act: str, slot: Callable[[], object], widget: QWidget | None = None) -> None:
        """Let the act's keys call `slot` while the focus is inside `widget` (by default this page).

        A text field that has the focus keeps plain letters, digits and arrows for itself.
        """
        made = []
        for sequence in keys.sequences(act):
            shortcut = QShortcut(sequence, widget or self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(partial(self.desk.attempt, slot))
            made.append(shortcut)
        self._shortcuts[act] = made

    def press(self, act: str) -> bool:
        """Do an act of this page as its key would; whether the page has it."""
        shortcuts = self._shortcuts.get(act, [])
        for shortcut in shortcuts[:1]:
            shortcut.activated.emit()
        return bool(shortcuts)

    def rebind(self) -> None:
        """Take over keys that were changed since the page was made."""
        for act, shortcuts in self._shortcuts.items():
            for shortcut, sequence in zip(shortcuts, keys.sequences(act), strict=False):
                shortcut.setKey(sequence)


def _deletes(event: QKeyEvent) -> bool:
    """Whether the key deletes the word before the cursor, or on macOS the line."""
    return event.key() == Qt.Key.Key_Backspace and event.modifiers() == Qt.KeyboardModifier.ControlModifier


def _types_a_code(event: QKeyEvent) -> bool:
    """Whether the key is a digit of a character's code, as Windows takes them from the number pad under Alt."""
    code = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.KeypadModifier
    return WINDOWS and event.modifiers() == code
