"""The application object: what the system asks of the program as a whole."""

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication


class Application(QApplication):
    """Tells of files that were double-clicked; macOS hands them over as events, not as arguments."""

    file_asked = Signal(str)

    def event(self, event: QEvent) -> bool:
        """Pass the name of a file on."""
        if isinstance(event, QFileOpenEvent) and event.file():
            self.file_asked.emit(event.file())
            return True
        return super().event(event)
