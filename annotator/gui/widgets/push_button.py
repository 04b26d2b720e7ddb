"""Buttons written as their words and what they do."""

from collections.abc import Callable

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QPushButton


def push_button(words: str, press: Callable[..., object] | SignalInstance, role: str = "") -> QPushButton:
    """A button that does something when it is pressed; `role` is used by the style sheet."""
    made = QPushButton(words)
    if role:
        made.setProperty("role", role)
    made.clicked.connect(press)
    return made
