"""Navigation on the left: steps with icon, key and count of waiting work."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QPainter, QPaintEvent, QShortcut
from PySide6.QtWidgets import QButtonGroup, QFrame, QLabel, QSizePolicy, QToolButton, QWidget

from annotator.gui import keys, theme
from annotator.gui.widgets.basics import vertical
from annotator.gui.widgets.icons import put

# Where work may wait for the person.
COUNTED = ("Author", "Label", "Adjudicate", "Send")


class Navigation(QFrame):
    """Buttons for the pages; Ctrl+1 … Ctrl+9 go to them."""

    chosen = Signal(str)

    def __init__(self, pages: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "navigation")
        self._buttons: dict[str, _Step] = {}
        self._group = QButtonGroup(self)
        self._folded = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored)
        column = vertical(on=self, margins=(8, 10, 8, 10), spacing=2)
        for number, (name, picture) in enumerate(pages, start=1):
            button = self._button(name, picture, number)
            self._group.addButton(button)
            column.addWidget(button)
        column.addStretch(1)
        self.person = QLabel(self)
        self.person.setTextFormat(Qt.TextFormat.PlainText)
        self.person.setProperty("role", "hint")
        self.person.setWordWrap(True)
        # A long name breaks into lines and makes nothing wider.
        self.person.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        column.addWidget(self.person)

    def _button(self, name: str, picture: str, number: int) -> "_Step":
        button = _Step(self)
        button.widest = f" {name}  88" if name in COUNTED else ""
        button.setProperty("role", "navigation")
        button.setText(f" {name}")
        put(button, picture, 20)
        button.setCheckable(True)
        button.setAccessibleName(name)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        # Not the button's own shortcut: that is lost whenever its text changes.
        key = QKeySequence(f"Ctrl+{number}")
        QShortcut(key, self).activated.connect(lambda: self.chosen.emit(name))
        button.setToolTip(f"{name} ({keys.written(key)})")
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
            button.waiting = count
            button.setText(f" {name}  {count}" if count else f" {name}")
            button.setAccessibleName(f"{name}, {count} waiting" if count else name)
            button.update()

    def fold(self, *, folded: bool) -> None:
        """Show the icons alone, each with a mark where something waits, or the names beside them."""
        if folded == self._folded:
            return
        self._folded = folded
        icon, both = Qt.ToolButtonStyle.ToolButtonIconOnly, Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        for button in self._buttons.values():
            button.setToolButtonStyle(icon if folded else both)
            theme.set_role(button, folded=folded)
        self.person.setVisible(not folded)


class _Step(QToolButton):
    """A step of the work; where only its icon is shown, a dot marks waiting work."""

    waiting = 0
    widest = ""

    def sizeHint(self) -> QSize:
        """A count that comes later moves nothing: where one may come, two digits have their room from the start."""
        folded = self.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
        wide = self.fontMetrics().horizontalAdvance
        lacks = 0 if folded else max(0, wide(self.widest) - wide(self.text()))
        return super().sizeHint() + QSize(lacks, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.waiting and self.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly:
            px = theme.current().px
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.token("accent"))
            painter.drawEllipse(self.width() - px(13), px(5), px(7), px(7))
