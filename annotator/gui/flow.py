"""How a page goes on by itself: a visible moment after what was done, unless something else is done first."""

from PySide6.QtCore import QObject, QTimer


class Flow(QObject):
    """Where it goes on to is for each page to say."""

    def __init__(self, moment_ms: int, parent: QObject) -> None:
        super().__init__(parent)
        self.moment = QTimer(self, singleShot=True, interval=moment_ms)
        self.moment.timeout.connect(self._go_on)

    def stop(self) -> None:
        """Stay here after all."""
        self.moment.stop()

    def go_on_soon(self) -> None:
        """Go on after the moment, or at once where there is none."""
        if self.moment.interval():
            self.moment.start()
        else:
            self._go_on()

    def _go_on(self) -> None:
        """Go on to what is open."""
