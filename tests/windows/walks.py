"""Which functions a window, a label and a typed word pass through; `tests.house.figures` prints it."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from annotator.actions.project.file import Project
from annotator.gui import theme
from annotator.gui.shell.window import Window
from annotator.gui.widgets.fields.growing_edit import LONGEST_MS
from tests.house import reading
from tests.projects.authoring_project import begun_project
from tests.projects.labelling_project import labelling_project
from tests.windows.labelling_keys import press, type_words

PROGRAM = f"{reading.HERE / 'annotator'}{os.sep}"
# Where every change of a project begins to be written.
DISK = ("storage/store.py", "write")
WHILE_MS = 300
Called = tuple[str, str]


def called(frame: FrameType) -> Called:
    """File and function of a frame of the program; empty for one of others."""
    path = frame.f_code.co_filename
    if not path.startswith(PROGRAM):
        return ("", "")
    return path.removeprefix(PROGRAM).replace(os.sep, "/"), frame.f_code.co_name


@contextmanager
def watched(see: Callable[[FrameType], object]) -> Iterator[None]:
    """Show every call of a Python function to `see`."""

    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            see(frame)

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


@contextmanager
def to_disk(found: list[Called]) -> Iterator[None]:
    """Fill a list with the calls that lead to the first writing, from the outermost; the names of classes left out."""

    def see(frame: FrameType) -> None:
        if found or called(frame) != DISK:
            return
        behind: FrameType | None = frame
        while behind is not None:
            found.insert(0, called(behind))
            behind = behind.f_back
        found[:] = [one for one in found if one[0]]

    with watched(see):
        yield


@contextmanager
def stays(found: list[str]) -> Iterator[None]:
    """Fill a list with the modules of `actions` that the project is handed to, one for each stay."""
    seen: list[str] = []

    def see(frame: FrameType) -> None:
        path, _ = called(frame)
        given = frame.f_code.co_varnames[: frame.f_code.co_argcount]
        if path.startswith("actions/") and "project" in given:
            seen.append(path)

    with watched(see):
        yield
    found += [module for module, _ in groupby(seen)]


def returns(found: Sequence[str]) -> int:
    return len(found) - len(set(found))


def opening(project: Project) -> list[str]:
    """The stays while a window is made over a project and shown."""
    found: list[str] = []
    with stays(found):
        window = Window(project)
        window.show()
        QTest.qWait(WHILE_MS)
    window.close()
    return found


def pressed(project: Project, page: str, do: Callable[[], object]) -> list[Called]:
    """The calls from what is done with the keyboard on a page to the disk."""
    found: list[Called] = []
    window = Window(project)
    window.show()
    window.show_page(page)
    window.activateWindow()
    QTest.qWait(WHILE_MS)
    with to_disk(found):
        do()
        QTest.qWait(LONGEST_MS + WHILE_MS)
    window.close()
    return found


def told() -> Iterator[str]:
    """The three walks in lines."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication(sys.argv[:1])
    application.setApplicationName("goldsmith-walks")
    theme.apply(application)
    with TemporaryDirectory() as folder:
        first, second, third = (Path(folder, name) for name in ("opened", "labelled", "written"))
        for path in (first, second, third):
            path.mkdir()
        found = opening(labelling_project(first))
        typed = pressed(begun_project(third), "Author", lambda: type_words("x"))
        label = pressed(labelling_project(second), "Label", lambda: press("1"))
    yield f"opening a window: {len(found)} stays in {len(set(found))} modules of actions, {returns(found)} returns"
    yield f"    {' → '.join(found)}"
    for name, walk in (("a word on Author", typed), ("a label on Label", label)):
        yield f"from a key to the disk, {name}: {len(walk) - 1} calls through {len({path for path, _ in walk})} files"
        yield from (f"    {path}: {function}" for path, function in walk)
