"""A scroll area for pages whose own keys move over what it shows."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QScrollArea


class KeylessArea(QScrollArea):
    """Scrolls by the wheel and by what is brought into view; the keys are left to the page."""

    resized = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave every key to the page."""
        event.ignore()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tell, so that what is at hand stays in view."""
        super().resizeEvent(event)
        self.resized.emit()
