"""Page area of a window: the navigation folds where it is narrow, large pages scroll."""

from PySide6.QtCore import QByteArray, QEvent, QSettings, QSize, Qt
from PySide6.QtGui import QGuiApplication, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from annotator.gui import theme
from annotator.gui.shell.navigation import Navigation
from annotator.gui.widgets.bars.fitting_bar import crowd
from annotator.gui.widgets.basics import vertical
from annotator.gui.widgets.keyless_area import KeylessArea

USUAL = QSize(1280, 800)
# What a title bar and edges take; how much is known only once the window is shown.
FRAME = QSize(16, 40)
GEOMETRY = "window/geometry"
# A window that is narrower than this, at 100 %, shows the steps of the work by their icons alone.
NAMED = 1180
# In one that is narrower than this the keys of buttons are in their tooltips alone.
KEYED = 660


class Pages(QWidget):
    """The pages, one in view; only that one sets the minimum size."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = QStackedWidget(self)

    def minimumSizeHint(self) -> QSize:
        page = self.stack.currentWidget()
        return QSize(0, 0) if page is None else page.minimumSizeHint().expandedTo(page.minimumSize())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.stack.setGeometry(self.rect())

    def event(self, event: QEvent) -> bool:
        """The page in view may need more or less room now."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().event(event)


class PageRoom(QWidget):
    """The navigation beside the current page (`stack`), with messages above it (`above`)."""

    def __init__(self, navigation: Navigation) -> None:
        super().__init__()
        self._navigation = navigation
        pages = Pages()
        self.stack = pages.stack
        self.area = KeylessArea("Current page", pages)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        # Not the area: it would have every page dressed again.
        for bar in (self.area.horizontalScrollBar(), self.area.verticalScrollBar()):
            theme.wear(bar)
        self.work = QWidget()
        """Where the page in view is; what lies over it may have it give way."""
        around = vertical(self.area, on=self.work)
        self.above, whole = QVBoxLayout(), QHBoxLayout(self)
        for layout in (self.above, whole, around):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        whole.addWidget(navigation)
        whole.addLayout(self.above, 1)
        self.above.addWidget(self.work, 1)
        self.stack.currentChanged.connect(lambda _: pages.updateGeometry())
        theme.watch(self, self._fit)

    def say_above(self, widget: QWidget) -> None:
        """Show something above the page, below what is shown there already."""
        self.above.insertWidget(self.above.count() - 1, widget)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        crowd(self, False)

    def _fit(self) -> None:
        crowd(self, self.isVisible() and self.width() < theme.current().px(KEYED))
        self._navigation.fold(folded=self.width() < theme.current().px(NAMED))


def place(window: QWidget) -> None:
    """Give a window the place it had, or the usual size, and never more than the screen has room for."""
    window.resize(USUAL)
    kept = QSettings().value(GEOMETRY)
    restored = isinstance(kept, QByteArray) and window.restoreGeometry(kept)
    screen = window.screen() or QGuiApplication.primaryScreen()
    within = screen.availableGeometry()
    if not window.isMaximized() and not window.isFullScreen():
        size = window.size().boundedTo(within.size() - FRAME)
        window.resize(size)
        # Where a window stands that never stood anywhere is for the system to say.
        if restored:
            room = within.size() - FRAME - size
            left = within.left() + min(max(window.x() - within.left(), 0), room.width())
            top = within.top() + min(max(window.y() - within.top(), 0), room.height())
            window.move(left, top)


def keep_place(window: QWidget) -> None:
    """Remember where a window stood."""
    QSettings().setValue(GEOMETRY, window.saveGeometry())
