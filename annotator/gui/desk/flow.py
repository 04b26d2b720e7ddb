"""Automatic advance: the next unit after a visible pause, unless something else is done first."""

from typing import Any

from PySide6.QtCore import QObject

from annotator.gui.widgets.later import later


class Flow(QObject):
    """Base class of automatic advance; pages say where to go."""

    def __init__(self, moment_ms: int, parent: QObject) -> None:
        super().__init__(parent)
        self.said: Any = ""
        """What was decided last, until anything else is touched; going on by itself touches nothing."""
        self._by_itself = False
        self.moment = later(self, self._leave, moment_ms)

    def stop(self) -> None:
        """Stay here after all."""
        self.moment.stop()

    def go_on_soon(self) -> None:
        """Go on after the moment, or at once where there is none."""
        if self.moment.interval():
            self.moment.start()
        else:
            self._leave()

    def touched(self, subject: Any) -> None:
        """Another subject is at hand; where a person brought it there, the last decision is behind them."""
        self.stop()
        if not self._by_itself:
            self.mean(subject)

    def mean(self, subject: Any) -> None:
        """Whatever is said next of a decision is meant for this subject, not for the one decided last."""
        if subject != self.said:
            self.said = ""

    def _leave(self) -> None:
        self._by_itself = True
        try:
            self._go_on()
        finally:
            self._by_itself = False

    def _go_on(self) -> None:
        """Go on to what is open."""
