"""Timers written as what they do, and when."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, SignalInstance


def later(owner: QObject, do: Callable[[], object] | SignalInstance, after_ms: int) -> QTimer:
    """A timer that does something once, so long after it was last started."""
    timer = QTimer(owner, singleShot=True, interval=after_ms)
    timer.timeout.connect(do)
    return timer
