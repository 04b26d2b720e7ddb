"""Scroll area for pages whose own keys move over its content."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent

from annotator.gui.widgets.plain_area import PlainArea


class KeylessArea(PlainArea):
    """Scrolls by the wheel and to visible widgets; keys are left to the page."""

    resized = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tell, so that what is at hand stays in view."""
        super().resizeEvent(event)
        self.resized.emit()
