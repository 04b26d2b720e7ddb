"""Guideline checks, run shortly after the last keystroke."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from annotator.domain.kinds.finding import Finding

DELAY_MS = 150


class Checking(QObject):
    """Requests findings and announces them, at most once per pause in typing."""

    found = Signal(list)

    def __init__(self, ask: Callable[[], list[Finding]], parent: QObject) -> None:
        super().__init__(parent)
        self._ask = ask
        self.findings: list[Finding] = []
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(self.check)

    def soon(self) -> None:
        """Something was typed."""
        self._timer.start()

    def check(self) -> list[Finding]:
        """Ask now, and tell."""
        self._timer.stop()
        self.findings = self._ask()
        self.found.emit(self.findings)
        return self.findings
