"""How two texts scroll as one: each to the same share of its length."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QScrollBar


class Together(QObject):
    """Links two scroll bars while it is `on`."""

    def __init__(self, one: QScrollBar, other: QScrollBar) -> None:
        super().__init__(one)
        self.on = False
        self._busy = False
        one.valueChanged.connect(lambda _: self._follow(one, other))
        other.valueChanged.connect(lambda _: self._follow(other, one))

    def _follow(self, leader: QScrollBar, follower: QScrollBar) -> None:
        if not self.on or self._busy:
            return
        self._busy = True
        share = leader.value() / max(1, leader.maximum())
        follower.setValue(round(share * follower.maximum()))
        self._busy = False
