"""The application object."""

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication


class Application(QApplication):
    """Announces double-clicked files; macOS hands them over as events, not as arguments."""

    file_asked = Signal(str)

    def event(self, event: QEvent) -> bool:
        """Pass the name of a file on."""
        if isinstance(event, QFileOpenEvent) and event.file():
            self.file_asked.emit(event.file())
            return True
        return super().event(event)
