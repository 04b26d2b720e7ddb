"""Automatic advance: a key decides, and the next open subject is at hand before the next key is read."""

from typing import Any

from PySide6.QtCore import QObject


class Flow(QObject):
    """Base class of automatic advance; pages say where to go.

    Where nothing is left to go to, the subject decided last stays at hand, and further keys do not decide it anew:
    whoever types ahead would change an answer unseen. Moving there, or taking the answer back, opens it again.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.said: Any = ""
        """What was decided last, until the person touches anything else; automatic advance touches nothing."""
        self._by_itself = False

    def is_spent(self, subject: Any) -> bool:
        """Whether a key has decided this subject already, and the person has touched nothing since."""
        return bool(subject) and subject == self.said

    def touched(self) -> None:
        """Another subject is at hand; where a person brought it there, the last decision is behind them."""
        if not self._by_itself:
            self.said = ""

    def advance(self) -> None:
        self._by_itself = True
        try:
            self._go_on()
        finally:
            self._by_itself = False

    def _go_on(self) -> None:
        """Go on to what is open."""
