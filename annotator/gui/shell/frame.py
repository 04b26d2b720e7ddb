"""The frame of every window: empty while what it is to hold is still being loaded.

Nothing here needs a project, so that the frame is painted before anything that does is imported.
"""

import os
import sys
import time

from PySide6.QtCore import (
    QByteArray,
    QCoreApplication,
    QEvent,
    QEventLoop,
    QLocale,
    QPoint,
    QRect,
    QSettings,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QCloseEvent, QFileOpenEvent, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from shiboken6 import isValid

from annotator.gui import theme
from annotator.gui.parts import focused

USUAL = QSize(1280, 800)
# What a title bar and edges take; how much is known only once the window is shown.
EDGES = QSize(16, 40)
GEOMETRY, SIDEBAR = "window/geometry", "window/sidebar"
# A frame that is not painted by then is out of view, and nobody waits for it.
PAINTED_MS = 200


class Application(QApplication):
    """Announces double-clicked files; macOS hands them over as events, not as arguments."""

    file_asked = Signal(str)

    def __init__(self, arguments: list[str]) -> None:
        super().__init__([*arguments, "-style", "fusion"])
        self.announced: list[str] = []
        """Every file that was announced, also while nobody listened."""

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent) and event.file():
            self.announced.append(event.file())
            self.file_asked.emit(event.file())
            return True
        return super().event(event)


class Frame(QWidget):
    """Holds a project's window or the first page; until then it shows where the sidebar was, if `project`."""

    painted = Signal()

    def __init__(self, *, project: bool = False) -> None:
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        _standing.append(self)
        self.setWindowTitle("Goldsmith")
        place(self)
        sidebar = QSettings().value(SIDEBAR) if project else None
        self._sidebar = sidebar if isinstance(sidebar, QRect) else QRect()
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.content: QWidget | None = None

    def hold(self, content: QWidget) -> None:
        """Show a widget in place of what was shown; the frame has its title, and closes when it agrees to close."""
        self.content = content
        self.setWindowTitle(content.windowTitle())
        content.windowTitleChanged.connect(self.setWindowTitle)
        content.resize(self.size())
        focus = focused(content)
        self._layout.addWidget(content)
        content.show()
        if focus is not None:
            focus.setFocus()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.content is None:
            painter = QPainter(self)
            painter.fillRect(self._sidebar, theme.token("sunken"))
            painter.fillRect(
                self._sidebar.adjusted(self._sidebar.width() - 1, 0, 0, 0), theme.token("border")
            )
        self.painted.emit()

    def clear(self) -> bool:
        """Close what is shown; False where it stays, since a job is in progress there."""
        return self.content is None or not isValid(self.content) or self.content.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.clear():
            QSettings().setValue(GEOMETRY, self.saveGeometry())
        else:
            event.ignore()


# Qt ends a frame, with all it holds, when it is closed; Python must not do so before.
_standing: list[Frame] = []


def appear(*, project: bool) -> Frame:
    """Show an empty frame; it is painted when this returns, if it is in view."""
    make_application()
    frame, loop = Frame(project=project), QEventLoop()
    frame.painted.connect(loop.quit)
    QTimer.singleShot(PAINTED_MS, loop.quit)
    frame.show()
    loop.exec()
    frame.painted.disconnect(loop.quit)
    tell_time()
    return frame


def tell_time() -> None:
    """For benchmarks: print the machine's clock, in seconds, when they ask for it."""
    if "GOLDSMITH_STOPWATCH" in os.environ:
        print(time.monotonic(), flush=True)


def make_application() -> QApplication:
    """The one application object, named so that settings find their place, dressed in the theme."""
    if sys.platform == "win32":
        import ctypes

        # The taskbar counts the window to the program of this name, and not to Python.
        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID("org.goldsmith.goldsmith")
    QCoreApplication.setOrganizationName("goldsmith")
    QCoreApplication.setApplicationName("goldsmith")
    existing = QApplication.instance()
    application = existing if isinstance(existing, QApplication) else Application(sys.argv[:1])
    theme.apply(application)
    application.setDesktopFileName("goldsmith")
    # Months are in the language of the rest, the order of a date is that of the country.
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.system().territory()))
    return application


def usual_size(window: QWidget) -> QSize:
    """The size of a window that never had one: never more than the screen has room for."""
    return USUAL.boundedTo(_screen(window).size() - EDGES)


def place(window: QWidget) -> None:
    """Give a window the place it had, or the usual size, and never more than the screen has room for."""
    window.resize(USUAL)
    geometry = QSettings().value(GEOMETRY)
    restored = isinstance(geometry, QByteArray) and window.restoreGeometry(geometry)
    within = _screen(window)
    if not window.isMaximized() and not window.isFullScreen():
        size = window.size().boundedTo(within.size() - EDGES)
        window.resize(size)
        # Where a window stands that never stood anywhere is for the system to say.
        if restored:
            room = within.size() - EDGES - size
            left = within.left() + min(max(window.x() - within.left(), 0), room.width())
            window.move(left, within.top() + min(max(window.y() - within.top(), 0), room.height()))


def keep_sidebar(sidebar: QWidget) -> None:
    """Remember where the sidebar is in its window: the frame shows it there at the next start."""
    QSettings().setValue(SIDEBAR, QRect(sidebar.mapTo(sidebar.window(), QPoint()), sidebar.size()))


def _screen(window: QWidget) -> QRect:
    return (window.screen() or QGuiApplication.primaryScreen()).availableGeometry()
