"""Files dropped on a page, including those in a dropped folder."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtGui import QDropEvent

PROJECT, TASK, WORK = ".goldsmith", ".goldsmith-task", ".goldsmith-work"
PACKAGES = (TASK, WORK)


def form_of(path: Path) -> str:
    """Which of our endings a file has, or an empty text; some mail programs put “.zip” behind it."""
    name = path.name.lower().removesuffix(".zip")
    return next((form for form in (PROJECT, *PACKAGES) if name.endswith(form)), "")


def files(event: QDropEvent) -> list[Path]:
    """The files of this computer that are being dragged or dropped."""
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]


def ours(event: QDropEvent) -> list[Path]:
    """Those among them that this program opens: projects, tasks and returned work."""
    return [path for path in files(event) if form_of(path)]


def with_contents(paths: Sequence[Path]) -> list[Path]:
    """The files themselves, and in place of a folder the returned work in it, each once."""
    found: dict[Path, None] = {}
    for path in paths:
        inside = [path]
        if path.is_dir():
            inside = [one for one in sorted(path.iterdir()) if form_of(one) == WORK]
        found |= dict.fromkeys(inside)
    return list(found)
