"""Pictures of widgets at rest, for the manual and for whoever looks at a change."""

from pathlib import Path

from PySide6.QtCore import QBuffer, QDeadlineTimer, QIODevice, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from annotator import files

SETTLE_MS = 700
PATIENCE_MS = 15_000


def grab(widget: QWidget, path: Path, width: int, height: int) -> Path:
    """Write a picture of a widget at rest, in this size and without a window on the screen; its path."""
    widget.resize(width, height)
    widget.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    widget.show()
    _settle(widget)
    picture = QBuffer()
    picture.open(QIODevice.OpenModeFlag.WriteOnly)
    widget.grab().save(picture, "PNG")
    return files.save(path, bytes(picture.data().data()))


def _settle(widget: QWidget) -> None:
    """Let background tasks come home and timers fire, so that the picture shows a page at rest."""
    session = getattr(widget, "session", None)
    deadline = QDeadlineTimer(PATIENCE_MS)
    QTest.qWait(SETTLE_MS)
    # What was asked for may ask for more once it is there.
    for _ in range(3 if session is not None else 0):
        if not deadline.hasExpired():
            session.wait()
            QTest.qWait(SETTLE_MS)
    QApplication.sendPostedEvents()
