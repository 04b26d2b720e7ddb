"""Linked scrolling of two texts, each to the same share of its length."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QAbstractScrollArea


class LinkedScrolling(QObject):
    """Links the vertical scroll bars of two areas while it is `on`."""

    def __init__(self, one: QAbstractScrollArea, other: QAbstractScrollArea) -> None:
        super().__init__(one)
        self.on = False
        self._busy = False
        # Python's hold on a bar may end before the bar does: it is asked for again each time.
        self._areas = one, other
        one.verticalScrollBar().valueChanged.connect(self._one_moved)
        other.verticalScrollBar().valueChanged.connect(self._other_moved)
        # A pane that is closed loses its areas one after the other, and the first may still move.
        other.destroyed.connect(self._part)

    def _one_moved(self) -> None:
        self._follow(*self._areas)

    def _other_moved(self) -> None:
        self._follow(*reversed(self._areas))

    def _part(self) -> None:
        self.on = False

    def _follow(self, leader: QAbstractScrollArea, follower: QAbstractScrollArea) -> None:
        if not self.on or self._busy:
            return
        self._busy = True
        bar, other = leader.verticalScrollBar(), follower.verticalScrollBar()
        other.setValue(round(bar.value() / max(1, bar.maximum()) * other.maximum()))
        self._busy = False
