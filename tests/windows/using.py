"""What a person does with a window: keys go to whatever has the focus, and what was asked for is waited for."""

import time
from collections.abc import Iterator
from typing import Any, TypeVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

Widget = TypeVar("Widget", bound=QWidget)
PATIENCE_S = 15.0
# Long enough for what was changed to be drawn.
TURN_MS = 5
# What waits longer is no pause before something that was asked for.
PAUSE_MS = 1000
HERE = Qt.FindChildOption.FindDirectChildrenOnly


def settle(page: Any) -> Any:
    """A page once it and its window are at rest; tasks_behind come home and pauses end at once."""
    deadline, quiet = time.monotonic() + PATIENCE_S, 0
    while quiet < 2 and time.monotonic() < deadline:
        ended = _end_pauses([*page.findChildren(QTimer), *page.window().findChildren(QTimer, options=HERE)])
        QTest.qWait(TURN_MS)
        page.session.wait()
        quiet = 0 if ended or page.session._tasks_behind else quiet + 1
    return page


def _end_pauses(timers: list[QTimer]) -> bool:
    """Do now what is to be done after a pause; whether there was any."""
    pauses = [
        each for each in timers if each.isActive() and each.isSingleShot() and each.interval() < PAUSE_MS
    ]
    for pause in pauses:
        # One may have ended another.
        if isValid(pause) and pause.isActive():
            pause.stop()
            pause.timeout.emit()
    return bool(pauses)


def in_view(whole: QWidget) -> Iterator[QWidget]:
    """What is seen of a widget, however deep; what lies in a hidden part is not even looked at."""
    for part in whole.children():
        if isinstance(part, QWidget) and part.isVisible():
            yield part
            yield from in_view(part)


def shut(window: QWidget) -> None:
    """Close a window; one with a job in progress closes by itself once that is done."""
    if isValid(window) and not window.close():
        deadline = time.monotonic() + 4 * PATIENCE_S
        while isValid(window) and window.isVisible():
            assert time.monotonic() < deadline, "its job does not end"
            QTest.qWait(TURN_MS)


def owned(qtbot, widget: Widget) -> Widget:
    """A widget that is closed after the test."""
    qtbot.addWidget(widget)
    return widget


def inks(picture: QPixmap) -> set[str]:
    """The colours that cover what is under them."""
    image = picture.toImage()
    points = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
    return {colour.name() for colour in points if colour.alpha() == 255}


def be_active(window: Widget, qtbot) -> Widget:
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window.window())
    return window


def press(*keys: str | int) -> None:
    """Press keys one after the other; a number behind one says how often."""
    for key, behind in zip(keys, (*keys[1:], 1), strict=True):
        if isinstance(key, str):
            combination = QKeySequence(key)[0]
            for _ in range(behind if isinstance(behind, int) else 1):
                QTest.keyClick(focus(), combination.key(), combination.keyboardModifiers())


def type_words(words: str) -> None:
    QTest.keyClicks(focus(), words, Qt.KeyboardModifier.NoModifier)


def focus() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None, "nothing has the focus"
    return widget
