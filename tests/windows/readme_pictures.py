"""The pictures of README and docs/tour.md, made again from the sample: `python -m tests.windows.readme_pictures`."""

import os
import sys
import tempfile
from pathlib import Path

from PySide6.QtCore import QBuffer, QDeadlineTimer, QIODevice, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from annotator import files
from annotator.actions.imports import samples
from annotator.actions.judges import judges
from annotator.gui import theme
from annotator.gui.shell.start import make_application
from annotator.gui.shell.window import Window
from annotator.places import resources
from annotator.protocols import USUAL

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


SIZE = (1280, 800)
# Picture → page and place; with None, where the sample's strip leads for that page.
PICTURES: dict[str, tuple[str, dict[str, str] | None]] = {
    "home": ("Home", {}),
    "author": ("Author", None),
    "label": ("Label", None),
    "adjudicate": ("Adjudicate", None),
    "judges": ("Judges", {"part": "Replies", "judge": samples.RECORDED}),
    "agreement": ("Agreement", {}),
    "validate": ("Validate", {"part": "Figures"}),
    "results": ("Results", {}),
}


def make(folder: Path) -> list[Path]:
    make_application()
    theme.current().choice, theme.current().zoom = "light", 100
    theme.current().dress()
    with tempfile.TemporaryDirectory() as home:
        window = Window(samples.create(Path(home) / "sample.goldsmith"))
        led = {step.page: step.place for step in samples.tries(window.session.project)}
        samples.stop_trying(window.session.project)
        pictures = [
            _picture(window, folder / f"{name}.png", page, led) for name, (page, _) in PICTURES.items()
        ]
        window.close()
        return pictures


def _picture(window: Window, path: Path, name: str, led: dict[str, dict[str, str]]) -> Path:
    given = PICTURES[path.stem][1]
    place = dict(led[name] if given is None else given)
    if "judge" in place:
        place |= {"judge_id": judges.named(window.session.project, place.pop("judge")).id, "protocol": USUAL}
    page = window.show_page(name, **place)
    window.session.wait()
    if name == "Adjudicate":
        page.frame.beginning.begin.click()
    return grab(window, path, *SIZE)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as settings:
        os.environ |= {"QT_QPA_PLATFORM": "offscreen", "XDG_CONFIG_HOME": settings}
        target = Path(sys.argv[1]) if len(sys.argv) > 1 else resources() / "help" / "pictures"
        for picture in make(target):
            print(picture.name)
