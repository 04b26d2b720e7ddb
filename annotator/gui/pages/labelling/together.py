"""How two texts scroll as one: each to the same share of its length."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QScrollBar


class Together(QObject):
    """Links two scroll bars while it is `on`."""

    def __init__(self, one: QScrollBar, other: QScrollBar) -> None:
        super().__init__(one)
        self.on = False
        self._busy = False
        self._bars = one, other
        one.valueChanged.connect(self._one_moved)
        other.valueChanged.connect(self._other_moved)
        # A pane that is closed loses its bars one after the other, and the first may still move.
        other.destroyed.connect(self._part)

    def _one_moved(self) -> None:
        self._follow(*self._bars)

    def _other_moved(self) -> None:
        self._follow(*reversed(self._bars))

    def _part(self) -> None:
        self.on = False

    def _follow(self, leader: QScrollBar, follower: QScrollBar) -> None:
        if not self.on or self._busy:
            return
        self._busy = True
        share = leader.value() / max(1, leader.maximum())
        follower.setValue(round(share * follower.maximum()))
        self._busy = False
