"""Search the children of a window or page without PySide adopting the results.

PySide takes whatever `findChildren`, `nextInFocusChain` or `focusWidget` return for a child of the object that was
asked, and keeps it in memory for that object: pages then outlive their end, and deleting each part becomes slower.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

Part = TypeVar("Part", bound=QObject)


def application() -> QApplication:
    """The running application: without one there are no widgets."""
    running = QApplication.instance()
    assert isinstance(running, QApplication)
    return running


def below(whole: QObject, kind: type[Part]) -> Iterator[Part]:
    """All descendants of a type, in the order of Qt's own search."""
    waiting = whole.children()[::-1]
    while waiting:
        part = waiting.pop()
        if isinstance(part, kind):
            yield part
        waiting += reversed(part.children())


def focused(whole: QWidget) -> QWidget | None:
    """The focused widget of a window or a part of it, or the one to be focused once the window is active again."""
    held: QWidget | None = whole.focusWidget()
    if held is not None and (around := held.parentWidget()) is not None:
        # Setting the same parent moves nothing; it makes PySide take the widget for a child of that parent again.
        held.setParent(around)
    return held


def holds(whole: QWidget) -> bool:
    """Whether the focused widget is inside `whole`."""
    here = QApplication.focusWidget()
    return here is not None and whole.isAncestorOf(here)


def go_round(panes: Sequence[tuple[QWidget, Callable[[], object]]]) -> None:
    """Go to the pane after the focused one, cyclically; each pane comes with the function that goes there."""
    focus = QApplication.focusWidget()
    here = next((n for n, (pane, _) in enumerate(panes) if pane is focus or holds(pane)), -1)
    if panes:
        panes[(here + 1) % len(panes)][1]()
