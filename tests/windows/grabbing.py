"""Pictures of a project's pages, light and dark: `python -m tests.windows.grabbing FILE FOLDER [--page NAME]`."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import QBuffer, QDeadlineTimer, QIODevice, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from annotator import files
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.gui import theme
from annotator.gui.shell.navigation import PAGES
from annotator.gui.shell.start import StartPage, make_application
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
    spelled = {name.lower(): name for name in (START, *PAGES)}
    return [spelled[page.lower()] for page in pages] or list(spelled.values())


def _place(window: Window, name: str) -> dict[str, str]:
    """The first item for the pages that show one, so that pictures of the same project are alike."""
    first = items.ids(window.session.project)[:1]
    return {"item_id": first[0]} if first and name in ("Author", "Label") else {}


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


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("file", type=Path)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--size", default="1280x800")
    asked.add_argument("--zoom", type=int, default=100)
    asked.add_argument("--page", action="append", default=[])
    given = asked.parse_args()
    width, height = map(int, given.size.split("x"))
    for written in grab_all(given.file, given.folder, (width, height), given.zoom, given.page):
        print(written.name)
