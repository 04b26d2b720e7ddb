"""Hands of people in stories: a window for each, documents submitted, conflicts settled, all by key."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage
from annotator.gui.shell.window import Window
from tests.projects import pairs_project as pairs
from tests.windows.using import Typed, be_active, press, shut


@contextmanager
def opened(path: Path, name: str) -> Iterator[Project]:
    with closing(Project.open(path)) as project:
        yield pairs.work_as(project, name)


@contextmanager
def window_of(path: Path, name: str, qtbot: Any) -> Iterator[Window]:
    window = Window(pairs.work_as(Project.open(path), name), "Items")
    window.show()
    be_active(window, qtbot)
    yield window
    shut(window)


def submit(page: Any) -> None:
    """Submitted; where remarks are left, with a reason."""
    press("Ctrl+Return")
    if page.sheet.panel.isVisible():
        press("Tab", Typed("It is as it should be."), "Return")


def settle(window: Window, item_id: str, stage: Stage, qtbot: Any) -> None:
    """The conflict on a stage, from its beginning."""
    page = window.show_page("Adjudicate", item_id=item_id, stage=stage.value)
    press("Return")
    rule(page, qtbot)


def rule(page: Any, qtbot: Any) -> None:
    """A wherever there is one, the rest left out, reasons given, closed."""
    qtbot.waitUntil(lambda: bool(page.bench.rows))
    press("Esc")
    for _ in page.bench.rows:
        waiting = page.bench.unresolved(contested=True)
        if waiting:
            press("1" if "A" in page.bench.row.ruling.members else "0")
        if waiting and page.bench.unresolved(contested=True) == waiting:
            press("Alt+1")
    press("Ctrl+Return")
