"""How the keyboard stays with whoever uses it while something that was under way comes to its end."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid


@contextmanager
def keyboard_stays() -> Iterator[None]:
    """Whatever is done inside, the widget that has the focus keeps it, as long as it can be seen and used."""
    held = QApplication.focusWidget()
    yield
    if held is None or not isValid(held) or QApplication.focusWidget() is held:
        return
    if held.isVisible() and held.isEnabled():
        held.setFocus(Qt.FocusReason.OtherFocusReason)
