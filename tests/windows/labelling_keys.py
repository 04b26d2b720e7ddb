"""A keyboard for tests: every key goes to whatever has the focus, as it would from a person's hands."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget


def be_active(window: QWidget, qtbot) -> None:
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window.window())


def press(keys: str, times: int = 1) -> None:
    combination = QKeySequence(keys)[0]
    for _ in range(times):
        QTest.keyClick(focus(), combination.key(), combination.keyboardModifiers())


def type_words(words: str) -> None:
    QTest.keyClicks(focus(), words, Qt.KeyboardModifier.NoModifier)


def focus() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None, "nothing has the focus"
    return widget
