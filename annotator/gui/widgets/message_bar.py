"""Message bar (what happened, what to do, level, optional action), progress row, and panels in the same style."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QListWidget,
    QProgressBar,
    QPushButton,
    QWidget,
)

from annotator.domain.common import in_window
from annotator.gui import keys, theme
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainLabel,
    RoleFrame,
    add_entry,
    horizontal,
    later,
    vertical,
    with_properties,
)

Level = Literal["info", "success", "warning", "error"]
SUCCESS_MS, INFO_MS, READ_MS = 6_000, 6_000, 60
# Milliseconds for a message with an action, to leave time for it.
ACT_MS = 30_000
# In pixels: the margin around a message, and the maximum width of a temporary one.
EDGE, WIDEST = 8, 820
_ICONS = {"info": "info", "success": "check", "warning": "warning", "error": "error"}
_SPOKEN = {"info": "Note", "success": "Done", "warning": "Warning", "error": "Error"}


class MessageBar(RoleFrame):
    """One message at a time, hidden if there is none. Informational ones disappear after a time."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("message", parent)
        self.level: Level = "info"
        self._lasting = False
        self._host: QWidget | None = None
        self._below = True
        self._icon = QLabel()
        self._happened, self._todo = PlainLabel(role="strong", wrap=True), PlainLabel(wrap=True)
        self._act, self._other = QPushButton(), QPushButton()
        self._close = chips.tool_button(
            "Dismiss (Esc)", "close", self.clear, 14, accessibleName="Dismiss the message"
        )
        self._slots: dict[QPushButton, Callable[[], object]] = {}
        for button in (self._act, self._other):
            button.clicked.connect(partial(self._do, button))
        self._timer = later(self, self.clear, INFO_MS)
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
        theme.watch(self, self._restyle)
        self.hide()

    def float_over(self, host: QWidget, *, below: bool = True) -> None:
        """Overlay a widget at its lower or upper edge instead of pushing it; only lasting messages make it give way."""
        parent = host.parentWidget()
        if parent is None:
            raise ValueError("A message bar floats over a widget that is laid out already.")
        self._host, self._below = host, below
        self.setParent(parent)
        self.hide()
        host.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._host and event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show):
            self._reposition()
        return super().eventFilter(watched, event)

    def _reposition(self) -> None:
        host, layout = self._host, self.layout()
        if host is None or layout is None:
            return
        wide = max(1, host.width() - 2 * EDGE)
        wide = wide if self._lasting else min(wide, theme.current().px(WIDEST))
        high = layout.totalHeightForWidth(wide)
        high = high if high > 0 else self.sizeHint().height()
        given = high + 2 * EDGE if self._lasting and not self.isHidden() else 0
        # A frame's own border is part of its margins.
        edge = host.frameWidth() if isinstance(host, QFrame) else 0
        above = 0 if self._below else given
        host.setContentsMargins(edge, edge + above, edge, edge + given - above)
        top = host.y() + (host.height() - high - EDGE if self._below else EDGE)
        self.setGeometry(host.x() + (host.width() - wide) // 2, top, wide, high)
        self.raise_()

    def show_message(self, level: Level, happened: str, todo: str = "", lasting: bool = False) -> None:
        """Show what happened and what to do; a lasting message cannot be dismissed, only replaced or cleared."""
        self.level, self._lasting = level, lasting
        self._happened.setText(happened)
        todo = in_window(todo)
        self._todo.show_words(todo)
        self._slots.clear()
        self._act.hide()
        self._other.hide()
        self._close.setVisible(not lasting)
        self.setAccessibleName(f"{_SPOKEN[level]}: {happened} {todo}".strip())
        self._restyle()
        self.show()
        self._reposition()
        # Imported late: the module takes a millisecond to load, for its many events.
        from PySide6.QtGui import QAccessible, QAccessibleEvent

        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))
        self._timer.stop()
        if level == "success" and not lasting:
            self._timer.start(SUCCESS_MS)
        elif level == "info" and not lasting:
            # In proportion to the reading time.
            self._timer.start(INFO_MS + READ_MS * len(self.text()))

    def set_action(self, words: str, slot: Callable[[], object], act: str = "") -> None:
        """Show an action button; `act` of the key table triggers the same."""
        self._offer(self._act, words, slot, act)

    def set_other(self, words: str, slot: Callable[[], object]) -> None:
        self._offer(self._other, words, slot)

    def _offer(self, button: QPushButton, words: str, slot: Callable[[], object], act: str = "") -> None:
        self._slots[button] = slot
        button.setText(words.replace("&", "&&"))
        keys.tell(button, "toolTip", f"{words} ({{{act}}})" if act else "")
        button.show()
        self._reposition()
        if self._timer.isActive():
            self._timer.start(ACT_MS)

    def text(self) -> str:
        """The whole message; empty if there is none."""
        return "" if self.isHidden() else f"{self._happened.text()} {self._todo.text()}".strip()

    def clear(self) -> None:
        self._timer.stop()
        self.hide()
        self._lasting = False
        self._reposition()

    def expire(self, *, left: bool = False) -> None:
        """Clear the message once its act is over, unless it is lasting or offers an action.

        After the page is `left`, a message with an action goes, too, unless it is a warning or an error.
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

    def _restyle(self) -> None:
        size = theme.current().px(18)
        self._icon.setPixmap(
            chips.pixmap(_ICONS[self.level], size, f"level-{self.level}", self.devicePixelRatio())
        )
        theme.set_role(self, level=self.level)


# Before this share and this many seconds have passed, the remaining time cannot be estimated.
_SHARE_TO_TELL = 0.03
_SECONDS_TO_TELL = 2.0


class ProgressRow(QWidget):
    """A progress bar with text; hidden until there is progress to show."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._what, self._count = ElidedLabel(), PlainLabel(role="hint")
        self._bar = with_properties(QProgressBar(), textVisible=False)
        self._begun: tuple[str, float] = ("", 0.0)
        vertical(horizontal((self._what, 1), self._count), self._bar, on=self, margins=0, spacing=4)
        self.hide()

    def show_progress(self, what: str, done: int, total: int, left_s: float | None = None) -> None:
        """Show that `done` of `total` are finished; a total of 0 means unknown.

        Without `left_s`, the remaining seconds are estimated from the elapsed time.
        """
        if self._begun[0] != what or done == 0:
            self._begun = (what, time.monotonic())
        left = left_s if left_s is not None else self._estimate(done, total)
        self._what.setText(what)
        self._bar.setRange(0, total)
        self._bar.setValue(min(done, total))
        counted = f"{done:,} of {total:,}" if total else ""
        self._count.setText(" · ".join(part for part in (counted, left_in_words(left)) if part))
        self._bar.setAccessibleName(f"{what} {self._count.text()}")
        self.show()

    def _estimate(self, done: int, total: int) -> float | None:
        passed = time.monotonic() - self._begun[1]
        if not total or done >= total or done < total * _SHARE_TO_TELL or passed < _SECONDS_TO_TELL:
            return None
        return passed / done * (total - done)


def left_in_words(seconds: float | None) -> str:
    """The remaining time in words: “about 3 min left”; empty if unknown."""
    if seconds is None:
        return ""
    if seconds < 5:
        return "a few seconds left"
    if seconds < 55:
        return f"about {round(seconds / 5) * 5} s left"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"about {max(1, minutes)} min left"
    return f"about {minutes // 60} h {minutes % 60:02} min left"


class EscapePanel(RoleFrame):
    """A hidden panel in the style of a message; Esc and its button close it."""

    closed = Signal()

    def __init__(self, close_words: str) -> None:
        super().__init__("message")
        self.close_button = KeyButton(close_words, "Esc", "quiet", press=self.close_panel)
        self.hide()

    def close_panel(self) -> None:
        self.hide()
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_panel()
        else:
            super().keyPressEvent(event)


class MissingPanel(EscapePanel):
    """The list of missing entries, which lead to their places; subclasses lay it out."""

    jumped = Signal(str, str)
    """An entry was chosen: its subject and the field."""

    def __init__(self, name: str, close_words: str) -> None:
        super().__init__(close_words)
        self.title, self.entries = (
            PlainLabel(role="strong", wrap=True),
            with_properties(QListWidget(), accessibleName=name),
        )
        for sign in (self.entries.itemActivated, self.entries.itemClicked):
            sign.connect(lambda entry: self.jumped.emit(*entry.data(Qt.ItemDataRole.UserRole)))

    def show_entries(
        self, entries: Sequence[tuple[str, str, tuple[str, str]]], least_height: int, most: int
    ) -> None:
        """List entries of (icon, words, place); at most `most` are in view at once, fewer if space is short."""
        chosen = self.entries.currentRow()
        self.entries.clear()
        for picture, words, place in entries:
            add_entry(self.entries, words, place).setIcon(chips.icon(picture))
        self.entries.setVisible(bool(entries))
        self.entries.setCurrentRow(max(0, min(chosen, len(entries) - 1)))
        row = max(self.entries.sizeHintForRow(0), least_height)
        frame = 2 * self.entries.frameWidth() + 2
        with_properties(
            self.entries,
            minimumHeight=row * min(2, len(entries)) + frame,
            maximumHeight=row * min(most, len(entries)) + frame,
        )
