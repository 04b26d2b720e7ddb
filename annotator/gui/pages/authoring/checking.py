"""Guideline checks, run shortly after the last keystroke."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from annotator.domain.kinds.finding import Finding
from annotator.gui.widgets.later import later

DELAY_MS = 150


class Checking(QObject):
    """Requests findings and announces them, at most once per pause in typing."""

    found = Signal(list)

    def __init__(self, ask: Callable[[], list[Finding]], parent: QObject) -> None:
        super().__init__(parent)
        self._ask = ask
        self.findings: list[Finding] = []
        self._timer = later(self, self.check, DELAY_MS)

    def soon(self) -> None:
        self._timer.start()

    def check(self) -> list[Finding]:
        self._timer.stop()
        self.findings = self._ask()
        self.found.emit(self.findings)
        return self.findings
