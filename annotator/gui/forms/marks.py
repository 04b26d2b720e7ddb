"""Fields that hold several values at once: buttons that toggle, and a menu with marks."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QMenu, QToolButton

from annotator.gui import keys
from annotator.gui.forms.fields import ChoiceButtons
from annotator.gui.widgets.basics import tooltip

LETTERS = 70


class ToggleButtons(ChoiceButtons):
    """Buttons of which any number may be down; a digit toggles one."""

    def __init__(self, name: str, options: Sequence[tuple[Any, str, str]]) -> None:
        super().__init__(name, options)
        self._group.setExclusive(False)

    def value(self) -> tuple[Any, ...]:
        return tuple(
            value for place, value in enumerate(self._values) if self._group.button(place).isChecked()
        )

    def show_value(self, value: Any) -> None:
        """Press the buttons of these values alone; tells nobody."""
        for place, known in enumerate(self._values):
            self._group.button(place).setChecked(known in value)


class MarkMenu(QToolButton):
    """A menu in which any number of entries are marked; the button shows their numbers."""

    chosen = Signal(object)

    def __init__(self, name: str, none: str) -> None:
        """`none` stands on the button where nothing is marked."""
        super().__init__()
        self._name, self._none = name, none
        self._value: tuple[Any, ...] = ()
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.triggered.connect(self._toggle)
        self.setMenu(self._menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setProperty("role", "segment")
        self.setProperty("position", "only")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.show_value(())

    def offer(self, options: Sequence[tuple[Any, str]]) -> None:
        """Give the menu other entries, (value, words), each with its number."""
        self._menu.clear()
        for number, (value, words) in enumerate(options, start=1):
            short = words if len(words) <= LETTERS else f"{words[: LETTERS - 1]}…"
            entry = self._menu.addAction(f"{'&' if number < 10 else ''}{number}  {short.replace('&', '&&')}")
            entry.setCheckable(True)
            entry.setData(value)
            entry.setToolTip(tooltip(words))
        self.show_value(self._value)

    def value(self) -> tuple[Any, ...]:
        """The marked values, those that are not offered among them."""
        return self._value

    def show_value(self, value: Any) -> None:
        """Mark these values alone; tells nobody."""
        self._value = tuple(value)
        numbers = []
        for number, entry in enumerate(self._menu.actions(), start=1):
            entry.setChecked(entry.data() in self._value)
            numbers += [str(number)] * entry.isChecked()
        words = f"{self._name} {', '.join(numbers)}" if numbers else self._none
        self.setText(words)
        self.setAccessibleName(words)

    def lock(self, locked: bool) -> None:
        self.setEnabled(not locked)

    def enter(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and keys.plain(event):
            self.showMenu()
        else:
            super().keyPressEvent(event)

    def _toggle(self, entry: QAction) -> None:
        rest = tuple(value for value in self._value if value != entry.data())
        self.show_value((*rest, entry.data()) if entry.isChecked() else rest)
        self.chosen.emit(self._value)
