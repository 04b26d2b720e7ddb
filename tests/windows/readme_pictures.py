"""The pictures of README and docs/tour.md, made again from the sample: `python -m tests.windows.readme_pictures`."""

import os
import sys
import tempfile
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtTest import QTest

from annotator import files
from annotator.actions.imports import samples
from annotator.actions.judges import judges
from annotator.gui import theme
from annotator.gui.shell.start import make_application
from annotator.gui.shell.window import Window
from annotator.places import resources
from annotator.protocols import USUAL
from tests.windows.using import settle

SETTLE_MS = 700
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
        pictures = [_picture(window, folder / f"{name}.png", led) for name in PICTURES]
        window.close()
        return pictures


def _picture(window: Window, path: Path, led: dict[str, dict[str, str]]) -> Path:
    """A picture of a page at rest, without a window on the screen; its path."""
    name, given = PICTURES[path.stem]
    place = dict(led[name] if given is None else given)
    if "judge" in place:
        place |= {"judge_id": judges.named(window.session.project, place.pop("judge")).id, "protocol": USUAL}
    page = window.show_page(name, **place)
    window.session.wait()
    if name == "Adjudicate":
        page.frame.beginning.begin.click()
    window.resize(*SIZE)
    window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    window.show()
    settle(page)
    QTest.qWait(SETTLE_MS)
    picture = QBuffer()
    picture.open(QIODevice.OpenModeFlag.WriteOnly)
    window.grab().save(picture, "PNG")
    return files.save(path, bytes(picture.data().data()))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as settings:
        os.environ |= {"QT_QPA_PLATFORM": "offscreen", "XDG_CONFIG_HOME": settings}
        target = Path(sys.argv[1]) if len(sys.argv) > 1 else resources() / "help" / "pictures"
        for picture in make(target):
            print(picture.name)
