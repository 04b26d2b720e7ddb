"""Keyboard focus while something that was running comes to its end."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from annotator.gui.parts import below, focused
from annotator.gui.widgets.later import later

TYPED = (QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox)


@contextmanager
def keyboard_stays(*, typing_only: bool = False) -> Iterator[None]:
    """Whatever is done inside, the widget that has the focus keeps it, as long as it can be seen and used.

    An answer that was waited for may go on from a list or a button, never from where someone types (`typing_only`).
    """
    held = QApplication.focusWidget()
    yield
    if held is None or not isValid(held) or QApplication.focusWidget() is held:
        return
    if typing_only and not isinstance(held, TYPED):
        return
    if _usable(held):
        held.setFocus(Qt.FocusReason.OtherFocusReason)


class Pressed(QObject):
    """The button that was pressed and then disabled, until the focus moves."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._button: QAbstractButton | None = None
        self._standing: QWidget | None = None
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._moved)

    @contextmanager
    def answered(self) -> Iterator[None]:
        """What answers may take the focus that the button lost; otherwise the button has it back once it is usable."""
        button, standing = self._button, self._standing
        if button is None or not self._waits(button):
            with keyboard_stays():
                yield
            return
        yield
        if QApplication.focusWidget() is standing and isValid(button) and _usable(button):
            button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _waits(self, button: QAbstractButton) -> bool:
        """Whether the focus is where the button left it, on the same page, and nobody types there."""
        standing = self._standing
        page = button.parentWidget() if isValid(button) else None
        here = page is not None and page.isVisible()
        return here and QApplication.focusWidget() is standing and not isinstance(standing, TYPED)

    def _moved(self, left: QWidget | None, reached: QWidget | None) -> None:
        """A button that is left because it went out of use is not left by the person who pressed it."""
        if isinstance(left, QAbstractButton) and isValid(left) and not _usable(left):
            self._button, self._standing = left, reached
        elif reached is not self._standing:
            self._button = self._standing = None


class FocusKeeper(QObject):
    """Keeps a window's focus on something visible, also when the clicked widget is hidden."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._line: list[QWidget] = []
        """What has the focus, or had it last, and all that it is in, from within."""
        self._later = later(self, self._look, 0)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._moved)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What has the focus is hidden: look once the click is over."""
        if event.type() == QEvent.Type.Hide:
            self._later.start()
        return super().eventFilter(watched, event)

    def _moved(self, left: QWidget | None, reached: QWidget | None) -> None:
        if left is not None and isValid(left):
            left.removeEventFilter(self)
        if reached is None:
            self._later.start()
        elif self._window.isAncestorOf(reached):
            reached.installEventFilter(self)
            self._line = list(_line(reached))

    def _look(self) -> None:
        window = self._window
        if not self._line or not window.isVisible() or not window.isActiveWindow():
            return
        held, left = focused(window), self._line[0]
        if held is not None:
            be_seen(window)
        elif not isValid(left) or not left.isVisible():
            _go_on_in(next((each for each in self._line if isValid(each) and each.isVisible()), None))


def be_seen(window: QWidget | None) -> None:
    """Where the widget that has a window's focus is hidden, the first one beside it that is seen takes it over."""
    held = focused(window) if window is not None else None
    if held is not None and not held.isVisible():
        _go_on_in(next((each for each in _line(held) if each.isVisible()), None))


def _line(widget: QWidget) -> Iterator[QWidget]:
    """A widget and all that it is in, from within."""
    each: QWidget | None = widget
    while each is not None:
        yield each
        each = each.parentWidget()


def _go_on_in(around: QWidget | None) -> None:
    """Give the focus to the first part that can have it."""
    if around is None:
        return
    reached = next((part for part in below(around, QWidget) if _reachable(part)), around)
    reached.setFocus(Qt.FocusReason.OtherFocusReason)


def _reachable(widget: QWidget) -> bool:
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and _usable(widget)


def _usable(widget: QWidget) -> bool:
    return widget.isVisible() and widget.isEnabled()
