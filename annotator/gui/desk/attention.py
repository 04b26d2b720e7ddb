"""Active time: intervals between two signs of activity, none longer than a minute."""

import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QGuiApplication, QWindow
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

# Reading is work too: a person who neither types nor scrolls counts as reading for this long.
READING_S = 60.0
_SIGNS = frozenset(
    (QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove, QEvent.Type.Wheel)
)


class Clock:
    """A clock of active seconds since the last `take`; it stands still until the first activity."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last: float | None = None
        self._sum = 0.0

    def touch(self) -> None:
        """A sign of life: the stretch since the last one counts, up to a minute of it."""
        self._add()
        self._last = self._now()

    def stop(self) -> None:
        """The person has turned to something else; the next sign of life begins a new stretch."""
        self._add()
        self._last = None

    def take(self) -> float:
        """The active seconds so far, which are then forgotten; a clock that was going goes on."""
        self._add()
        if self._last is not None:
            self._last = self._now()
        taken, self._sum = self._sum, 0.0
        return taken

    def _add(self) -> None:
        if self._last is not None:
            self._sum += min(self._now() - self._last, READING_S)


class Attention(QObject):
    """Feeds a clock with activity in a page's window while that page is in view."""

    def __init__(self, page: QWidget, clock: Clock) -> None:
        super().__init__(page)
        self._page, self._clock = page, clock
        self._window: QWindow | None = None
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.focusWindowChanged.connect(self._turned)

    def begin(self) -> None:
        """The page has come into view."""
        window = self._page.window().windowHandle()
        if window is not None and window is not self._window:
            self.end()
            self._window = window
            window.installEventFilter(self)
        self._clock.touch()

    def end(self) -> None:
        if self._window is not None and isValid(self._window):
            self._window.removeEventFilter(self)
        self._window = None
        self._clock.stop()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Count keys, wheel and mouse as signs of life; nothing is held back."""
        if event.type() in _SIGNS:
            self._clock.touch()
        return False

    def _turned(self, window: QWindow | None) -> None:
        if window is None or window is not self._window:
            self._clock.stop()
        elif self._page.isVisible():
            self._clock.touch()
