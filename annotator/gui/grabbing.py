"""Pictures of every page, light and dark: for the README, and for looking at what people see."""

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QBuffer, QDeadlineTimer, QEventLoop, QIODevice, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from annotator import files
from annotator.actions import items
from annotator.actions.project import Project
from annotator.gui import theme
from annotator.gui.pages.start import StartPage
from annotator.gui.starting import make_application
from annotator.gui.steps import ASIDE, STEPS
from annotator.gui.window import Window

SCHEMES: tuple[theme.Scheme, ...] = ("light", "dark")
SETTLE_MS = 700
PATIENCE_MS = 15_000


def grab_all(file: Path, folder: Path, width: int = 1280, height: int = 800) -> Iterator[Path]:
    """Write `PAGE-light.png` and `PAGE-dark.png` of a project's pages into a folder; each path as it is written."""
    make_application()
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in SCHEMES:
        # Shown so for these pictures only; the person's own choice stays.
        theme.current().choice = scheme
        theme.current().dress()
        start = StartPage([file])
        yield _grab(start, folder / f"start-{scheme}.png", width, height)
        window = Window(Project.open(file))
        for name in [*(step[0] for step in STEPS), *(aside[0] for aside in ASIDE)]:
            window.show_page(name, **_place(window, name))
            yield _grab(window, folder / f"{name.lower()}-{scheme}.png", width, height)
        window.close()


def _place(window: Window, name: str) -> dict[str, str]:
    """The first item for the pages that show one, so that pictures of the same project are alike."""
    first = items.ids(window.desk.project)[:1]
    return {"item_id": first[0]} if first and name in ("Author", "Label") else {}


def try_window() -> str:
    """Open an empty project's window, let it draw once and close it; what was seen, in words."""
    import tempfile

    application = make_application()
    with tempfile.TemporaryDirectory() as folder:
        window = Window(Project.create(Path(folder) / "tried.goldsmith"))
        picture = Path(folder) / "tried.png"
        _grab(window, picture, 800, 600)
        window.close()
        return f"{application.platformName()}, {picture.stat().st_size} bytes"


def _grab(widget: QWidget, path: Path, width: int, height: int) -> Path:
    widget.resize(width, height)
    widget.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    widget.show()
    _settle(widget)
    picture = QBuffer()
    picture.open(QIODevice.OpenModeFlag.WriteOnly)
    widget.grab().save(picture, "PNG")
    return files.save(path, bytes(picture.data().data()))


def _settle(widget: QWidget) -> None:
    """Let errands come home and timers fire, so that the picture shows a page at rest."""
    desk = getattr(widget, "desk", None)
    loop, deadline = QEventLoop(), QDeadlineTimer(PATIENCE_MS)
    QTimer.singleShot(SETTLE_MS, loop.quit)
    loop.exec()
    if desk is not None and not deadline.hasExpired():
        desk.wait()
        QTimer.singleShot(SETTLE_MS, loop.quit)
        loop.exec()
    QApplication.sendPostedEvents()
