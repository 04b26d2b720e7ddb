"""The parts of a window or page."""

from collections.abc import Iterator
from typing import TypeVar

from PySide6.QtCore import QObject

Part = TypeVar("Part", bound=QObject)


def below(whole: QObject, kind: type[Part]) -> Iterator[Part]:
    """All parts of a kind, however deep, in the order of Qt's own search.

    That search (`findChildren`) is not called: PySide makes whatever it finds a child of the object that was asked,
    which then keeps it in memory and makes every later end of a part slower.
    """
    for part in whole.children():
        if isinstance(part, kind):
            yield part
        yield from below(part, kind)
