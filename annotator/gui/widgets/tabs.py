"""Parts of a page behind tabs."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QTabWidget


class Tabs(QTabWidget):
    """Tabs without a frame, which need no more room than the part in view."""

    def __init__(self, name: str = "Parts of the page") -> None:
        super().__init__()
        self.setDocumentMode(True)
        self.tabBar().setDrawBase(False)
        self.setAccessibleName(name)
        self.currentChanged.connect(lambda _: self.updateGeometry())

    def minimumSizeHint(self) -> QSize:
        """Room for the part in view; the others ask for theirs when they are."""
        part, bar = self.currentWidget(), self.tabBar().minimumSizeHint()
        least = QSize(0, 0) if part is None else part.minimumSizeHint().expandedTo(part.minimumSize())
        return QSize(max(bar.width(), least.width()), bar.height() + least.height())
