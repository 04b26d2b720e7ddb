"""How the keyboard stays with whoever uses it while something that was under way comes to its end."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QPlainTextEdit
from shiboken6 import isValid


@contextmanager
def keyboard_stays(*, typing_only: bool = False) -> Iterator[None]:
    """Whatever is done inside, the widget that has the focus keeps it, as long as it can be seen and used.

    An answer that was waited for may go on from a list or a button, never from where somebody types (`typing_only`).
    """
    held = QApplication.focusWidget()
    yield
    if held is None or not isValid(held) or QApplication.focusWidget() is held:
        return
    if typing_only and not isinstance(held, QLineEdit | QPlainTextEdit | QAbstractSpinBox):
        return
    if held.isVisible() and held.isEnabled():
        held.setFocus(Qt.FocusReason.OtherFocusReason)
