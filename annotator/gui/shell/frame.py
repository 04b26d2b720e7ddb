"""The frame of every window: empty until its content is loaded.

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
# The assumed size of title bar and edges; the real one is known only once the window is shown.
EDGES = QSize(16, 40)
GEOMETRY, SIDEBAR = "window/geometry", "window/sidebar"
# Milliseconds to wait for the first paint: a frame not painted by then is out of view.
PAINTED_MS = 200


class Application(QApplication):
    """Announces double-clicked files; macOS passes them as events, not as arguments."""

    file_asked = Signal(str)

    def __init__(self, arguments: list[str]) -> None:
        super().__init__([*arguments, "-style", "fusion"])
        self.announced: list[str] = []
        """Every file announced so far, also before anyone listened."""

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent) and event.file():
            self.announced.append(event.file())
            self.file_asked.emit(event.file())
            return True
        return super().event(event)


class Frame(QWidget):
    """Holds a project's window or the start page; until then, with `project`, shows where the sidebar was."""

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
        """Replace the content by a widget; the frame takes its title, and closes when it agrees to close."""
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
        """Close the content; False if it stays open because a job is in progress there."""
        return self.content is None or not isValid(self.content) or self.content.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.clear():
            QSettings().setValue(GEOMETRY, self.saveGeometry())
        else:
            event.ignore()


# Keeps frames alive: Qt deletes a frame with its content when it is closed, and Python must not do so before.
_standing: list[Frame] = []


def appear(*, project: bool) -> Frame:
    """Show an empty frame; on return it has been painted, if it is in view."""
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
    """Print the monotonic clock, in seconds, if a benchmark asks for it."""
    if "GOLDSMITH_STOPWATCH" in os.environ:
        print(time.monotonic(), flush=True)


def make_application() -> QApplication:
    """The one application object: named, so that settings are found, and with the theme applied."""
    if sys.platform == "win32":
        import ctypes

        # Group the taskbar button under this id, not under Python.
        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID("org.goldsmith.goldsmith")
    QCoreApplication.setOrganizationName("goldsmith")
    QCoreApplication.setApplicationName("goldsmith")
    existing = QApplication.instance()
    application = existing if isinstance(existing, QApplication) else Application(sys.argv[:1])
    theme.apply(application)
    application.setDesktopFileName("goldsmith")
    # Month names in English like the rest, the order of a date as in the system's country.
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.system().territory()))
    return application


def usual_size(window: QWidget) -> QSize:
    """The default size of a window: never larger than the screen."""
    return USUAL.boundedTo(_screen(window).size() - EDGES)


def place(window: QWidget) -> None:
    """Restore a window's position and size, or use the default size; never larger than the screen."""
    window.resize(USUAL)
    geometry = QSettings().value(GEOMETRY)
    restored = isinstance(geometry, QByteArray) and window.restoreGeometry(geometry)
    within = _screen(window)
    if not window.isMaximized() and not window.isFullScreen():
        size = window.size().boundedTo(within.size() - EDGES)
        window.resize(size)
        # A window shown for the first time is placed by the system.
        if restored:
            room = within.size() - EDGES - size
            left = within.left() + min(max(window.x() - within.left(), 0), room.width())
            window.move(left, within.top() + min(max(window.y() - within.top(), 0), room.height()))


def keep_sidebar(sidebar: QWidget) -> None:
    """Store the sidebar's position in its window: the frame shows it there at the next start."""
    QSettings().setValue(SIDEBAR, QRect(sidebar.mapTo(sidebar.window(), QPoint()), sidebar.size()))


def _screen(window: QWidget) -> QRect:
    return (window.screen() or QGuiApplication.primaryScreen()).availableGeometry()
