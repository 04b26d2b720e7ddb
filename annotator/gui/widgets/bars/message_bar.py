"""Message bar: what happened and what to do, with a level and an optional action."""

from collections.abc import Callable
from functools import partial
from typing import Literal

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QToolButton, QWidget

from annotator.gui import theme
from annotator.gui.widgets import icons
from annotator.gui.widgets.basics import PlainLabel, horizontal, vertical

Level = Literal["info", "success", "warning", "error"]
SUCCESS_MS, INFO_MS, READ_MS = 6_000, 6_000, 60
# What offers a way on stays long enough to take it.
ACT_MS = 30_000
# In pixels: between a message and what it lies over, and the widest that a passing one gets.
EDGE, WIDEST = 8, 820
_ICONS = {"info": "info", "success": "check", "warning": "warning", "error": "error"}
_SPOKEN = {"info": "Note", "success": "Done", "warning": "Warning", "error": "Error"}


class MessageBar(QFrame):
    """One message at a time, hidden when there is none. Informational ones disappear by themselves."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.level: Level = "info"
        self._lasting = False
        self._host: QWidget | None = None
        self._below = True
        self.setProperty("role", "message")
        self._icon = QLabel()
        self._happened, self._todo = PlainLabel(role="strong", wrap=True), PlainLabel(wrap=True)
        self._act, self._other, self._close = QPushButton(), QPushButton(), QToolButton()
        self._slots: dict[QPushButton, Callable[[], object]] = {}
        for button in (self._act, self._other):
            button.clicked.connect(partial(self._do, button))
        icons.put(self._close, "close", 14)
        self._close.setToolTip("Dismiss (Esc)")
        self._close.setAccessibleName("Dismiss the message")
        self._close.clicked.connect(self.clear)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.clear)
        horizontal(
            (self._icon, 0, Qt.AlignmentFlag.AlignTop),
            (vertical(self._happened, self._todo, spacing=2), 1),
            self._act,
            self._other,
            (self._close, 0, Qt.AlignmentFlag.AlignTop),
            on=self,
            margins=(12, 8, 8, 8),
            spacing=10,
        )
        theme.watch(self, self._dress)
        self.hide()

    def float_over(self, host: QWidget, *, below: bool = True) -> None:
        """Lie over a widget, at its lower or upper edge, instead of pushing it; only what lasts makes it give way."""
        parent = host.parentWidget()
        if parent is None:
            raise ValueError("A message bar floats over a widget that is laid out already.")
        self._host, self._below = host, below
        self.setParent(parent)
        self.hide()
        host.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._host and event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show):
            self._lie()
        return super().eventFilter(watched, event)

    def _lie(self) -> None:
        host, layout = self._host, self.layout()
        if host is None or layout is None:
            return
        wide = max(1, host.width() - 2 * EDGE)
        wide = wide if self._lasting else min(wide, theme.current().px(WIDEST))
        high = layout.totalHeightForWidth(wide)
        high = high if high > 0 else self.sizeHint().height()
        given = high + 2 * EDGE if self._lasting and not self.isHidden() else 0
        host.setContentsMargins(0, 0 if self._below else given, 0, given if self._below else 0)
        top = host.y() + (host.height() - high - EDGE if self._below else EDGE)
        self.setGeometry(host.x() + (host.width() - wide) // 2, top, wide, high)
        self.raise_()

    def show_message(self, level: Level, happened: str, todo: str = "", lasting: bool = False) -> None:
        """Say what happened and what to do; a lasting message cannot be dismissed, only replaced or cleared."""
        self.level, self._lasting = level, lasting
        self._happened.setText(happened)
        self._todo.setText(todo)
        self._todo.setVisible(bool(todo))
        self._slots.clear()
        self._act.hide()
        self._other.hide()
        self._close.setVisible(not lasting)
        self.setAccessibleName(f"{_SPOKEN[level]}: {happened} {todo}".strip())
        self._dress()
        self.show()
        self._lie()
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))
        self._timer.stop()
        if level == "success" and not lasting:
            self._timer.start(SUCCESS_MS)
        elif level == "info" and not lasting:
            # As long as it takes to read.
            self._timer.start(INFO_MS + READ_MS * len(self.text()))

    def set_action(self, words: str, slot: Callable[[], object]) -> None:
        self._offer(self._act, words, slot)

    def set_other(self, words: str, slot: Callable[[], object]) -> None:
        """Offer another act beside the first."""
        self._offer(self._other, words, slot)

    def _offer(self, button: QPushButton, words: str, slot: Callable[[], object]) -> None:
        self._slots[button] = slot
        button.setText(words.replace("&", "&&"))
        button.show()
        self._lie()
        if self._timer.isActive():
            self._timer.start(ACT_MS)

    def text(self) -> str:
        """All that is said now; empty when nothing is."""
        return "" if self.isHidden() else f"{self._happened.text()} {self._todo.text()}".strip()

    def clear(self) -> None:
        self._timer.stop()
        self.hide()
        self._lasting = False
        self._lie()

    def expire(self, *, left: bool = False) -> None:
        """The act that this was said of is over: only what lasts, or offers a way on, stays.

        Once the page is `left`, what offers a way on goes too, unless it is a warning or an error.
        """
        gone = self._act.isHidden() or (left and self.level in ("success", "info"))
        if not self._lasting and gone:
            self.clear()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._close.isVisible():
            self.clear()
        else:
            super().keyPressEvent(event)

    def _do(self, button: QPushButton, _checked: bool = False) -> None:
        if slot := self._slots.get(button):
            slot()

    def _dress(self) -> None:
        size = theme.current().px(18)
        self._icon.setPixmap(
            icons.pixmap(_ICONS[self.level], size, f"level-{self.level}", self.devicePixelRatio())
        )
        theme.set_role(self, level=self.level)
