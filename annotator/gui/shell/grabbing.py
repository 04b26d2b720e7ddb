"""Screenshots of every page, light and dark."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import QBuffer, QDeadlineTimer, QEventLoop, QIODevice, Qt, QTimer
from PySide6.QtWidgets import QApplication, QTabWidget, QWidget

from annotator import files
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.domain.texts.refusal import Refusal
from annotator.gui import theme
from annotator.gui.parts import below
from annotator.gui.shell.start import StartPage
from annotator.gui.shell.starting import make_application
from annotator.gui.shell.steps import ASIDE, STEPS
from annotator.gui.shell.window import Window

SCHEMES: tuple[theme.Scheme, ...] = ("light", "dark")
START = "Start"
SETTLE_MS = 700
PATIENCE_MS = 15_000


def grab_all(
    file: Path, folder: Path, size: tuple[int, int] = (1280, 800), zoom: int = 100, pages: Sequence[str] = ()
) -> Iterator[Path]:
    """Write `PAGE-light.png` and `PAGE-dark.png` of a project's pages into a folder; each path as it is written.

    Without `pages`, which are names as the navigation and the menus have them, every page is drawn.
    """
    wanted = _wanted(pages)
    make_application()
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in SCHEMES:
        # Shown so for these pictures only; the person's own choices stay.
        theme.current().choice, theme.current().zoom = scheme, zoom
        theme.current().dress()
        if START in wanted:
            yield grab(StartPage([file]), folder / f"start-{scheme}.png", *size)
        window = Window(Project.open(file))
        for name in [name for name in wanted if name != START]:
            window.show_page(name, **_place(window, name))
            yield grab(window, folder / f"{name.lower()}-{scheme}.png", *size)
        window.close()


def _wanted(pages: Sequence[str]) -> list[str]:
    """The pages by their names, however these are written; all when none is named."""
    known = [START, *(step[0] for step in STEPS), *(aside[0] for aside in ASIDE)]
    spelled = {name.lower(): name for name in known}
    for page in pages:
        if page.lower() not in spelled:
            raise Refusal(f"There is no page “{page}”.", f"There are {', '.join(known)}.")
    return [spelled[page.lower()] for page in pages] or known


def _place(window: Window, name: str) -> dict[str, str]:
    """The first item for the pages that show one, so that pictures of the same project are alike."""
    first = items.ids(window.desk.project)[:1]
    return {"item_id": first[0]} if first and name in ("Author", "Label") else {}


def try_window() -> str:
    """Open the sample's window, let it draw every page with all its parts and close it; what was seen, in words."""
    import sys
    import tempfile

    from annotator.actions.imports import samples

    application, faults = make_application(), list[BaseException]()
    told, sys.excepthook = sys.excepthook, lambda _kind, error, _trace: faults.append(error)
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            window = Window(samples.create(Path(folder) / "tried.goldsmith"))
            picture = Path(folder) / "tried.png"
            grab(window, picture, 800, 600)
            parts = sum(
                _try_page(window, name) for name in [*(step[0] for step in STEPS), *(a[0] for a in ASIDE)]
            )
            window.close()
            drawn = picture.stat().st_size
    finally:
        sys.excepthook = told
    if faults:
        raise RuntimeError(f"{type(faults[0]).__name__}: {faults[0]}") from faults[0]
    return f"{application.platformName()}, {drawn} bytes, {parts} pages and parts"


def _try_page(window: Window, name: str) -> int:
    """Draw a page and each of its parts; how many there were."""
    tabs = list(below(window.show_page(name), QTabWidget))
    places = [(one, place) for one in tabs for place in range(one.count()) if one.isTabVisible(place)]
    for one, place in places:
        one.setCurrentIndex(place)
        _pause(0)
        window.desk.wait()
    _pause(0)
    window.grab()
    return max(1, len(places))


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
    desk = getattr(widget, "desk", None)
    deadline = QDeadlineTimer(PATIENCE_MS)
    _pause(SETTLE_MS)
    if desk is not None and not deadline.hasExpired():
        desk.wait()
        _pause(SETTLE_MS)
    QApplication.sendPostedEvents()


def _pause(milliseconds: int) -> None:
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()
