"""Tabs and stacks of which one part is in view."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QStackedWidget, QTabWidget, QWidget

from annotator.gui import theme


class Tabs(QTabWidget):
    """Tabs without a frame, no larger than the current one needs."""

    def __init__(self, name: str = "Parts of the page") -> None:
        super().__init__()
        self.setDocumentMode(True)
        self.tabBar().setDrawBase(False)
        self.setAccessibleName(name)
        self.currentChanged.connect(lambda _: self.updateGeometry())
        theme.watch(self, self._fit_letters)

    def _fit_letters(self) -> None:
        """Qt keeps the letters of tabs whose bar wears a sheet of its own as they were, and the bar's with them."""
        bar, font = self.tabBar(), self.font()
        if bar.styleSheet() and font.pointSizeF() != theme.current().points:
            font.setPointSizeF(theme.current().points)
            self.setFont(font)
            bar.setStyleSheet(bar.styleSheet())

    def minimumSizeHint(self) -> QSize:
        """Room for the part in view; the others ask for theirs when they are."""
        bar, least = self.tabBar().minimumSizeHint(), _least(self.currentWidget())
        return QSize(max(bar.width(), least.width()), bar.height() + least.height())


class Stack(QStackedWidget):
    """Stacked widgets, no larger than the current one needs."""

    def __init__(self, *parts: QWidget) -> None:
        super().__init__()
        for part in parts:
            self.addWidget(part)
        self.currentChanged.connect(lambda _: self.updateGeometry())

    def minimumSizeHint(self) -> QSize:
        """Room for the part in view; the others ask for theirs when they are."""
        return _least(self.currentWidget())


def _least(part: QWidget | None) -> QSize:
    return QSize(0, 0) if part is None else part.minimumSizeHint().expandedTo(part.minimumSize())
