"""The list of work steps on the left, each with its icon, its key and the count of what waits."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QButtonGroup, QFrame, QLabel, QToolButton, QVBoxLayout, QWidget

from annotator.gui.widgets.icons import put


class Navigation(QFrame):
    """Buttons for the pages; Ctrl+1 … Ctrl+9 go to them."""

    chosen = Signal(str)

    def __init__(self, pages: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "navigation")
        self._buttons: dict[str, QToolButton] = {}
        self._group = QButtonGroup(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 10, 8, 10)
        column.setSpacing(2)
        for number, (name, picture) in enumerate(pages, start=1):
            button = self._button(name, picture, number)
            self._group.addButton(button)
            column.addWidget(button)
        column.addStretch(1)
        self.person = QLabel(self)
        self.person.setTextFormat(Qt.TextFormat.PlainText)
        self.person.setProperty("role", "hint")
        self.person.setWordWrap(True)
        column.addWidget(self.person)

    def _button(self, name: str, picture: str, number: int) -> QToolButton:
        button = QToolButton(self)
        button.setProperty("role", "navigation")
        button.setText(f" {name}")
        put(button, picture, 20)
        button.setCheckable(True)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        # Not the button's own shortcut: that is lost whenever its text changes.
        QShortcut(QKeySequence(f"Ctrl+{number}"), self).activated.connect(lambda: self.chosen.emit(name))
        button.setToolTip(f"{name} (Ctrl+{number})")
        button.setMinimumWidth(132)
        button.clicked.connect(lambda: self.chosen.emit(name))
        self._buttons[name] = button
        return button

    def show_chosen(self, name: str) -> None:
        """Mark the page that is in view; none for a page that is reached from a menu."""
        self._group.setExclusive(False)
        for known, button in self._buttons.items():
            button.setChecked(known == name)
        self._group.setExclusive(True)

    def show_waiting(self, name: str, count: int) -> None:
        """Say beside a page how many things wait there for the person working, if it is offered."""
        if button := self._buttons.get(name):
            button.setText(f" {name}  {count}" if count else f" {name}")
            button.setAccessibleName(f"{name}, {count} waiting" if count else name)
