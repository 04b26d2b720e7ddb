"""Windows of tests: settings of their own, the theme as a newcomer sees it, and projects that are closed again."""

import gc
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtWidgets import QApplication

from annotator.actions.project.file import Project
from annotator.gui import theme
from annotator.gui.session.page import Page
from annotator.gui.shell.window import Window
from tests.projects.small_projects import small_project
from tests.windows.using import be_active, settle, shut


@pytest.fixture(autouse=True)
def fresh_settings(qapp: QApplication) -> Iterator[None]:
    qapp.setOrganizationName("goldsmith")
    qapp.setApplicationName("goldsmith-tests")
    QSettings().clear()
    theme.apply(qapp)
    yield
    QSettings().clear()
    # What was copied is of Python, and must not outlive it.
    qapp.clipboard().clear()


@pytest.fixture
def nothing_older() -> None:
    """What earlier tests left is passed over when a test looks for what it left itself: looking takes a second else."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def sample_at_once(whole_sample_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample that the program would make is a copy of one that was made before."""
    from annotator.actions.imports import samples

    def create(path: Path, *_: object) -> Project:
        return Project.open(shutil.copyfile(whole_sample_file, path))

    monkeypatch.setattr(samples, "create", create)


@pytest.fixture
def small(tmp_path: Path) -> Project:
    return small_project(tmp_path)


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    """What PROJECT of the file makes in a folder; a window over it closes it."""
    return request.module.PROJECT(tmp_path)


@pytest.fixture
def windows(qapp: QApplication) -> Iterator[list[Window]]:
    """What a test puts here is closed after it."""
    made: list[Window] = []
    yield made
    for window in made:
        shut(window)
    # Now, and not in the middle of another test.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def window_over(windows: list[Window]) -> Callable[..., Window]:
    def make(project: Project, page: str = "Items", **place: object) -> Window:
        window = Window(project, page, **place)
        windows.append(window)
        window.show()
        if page not in window._pages:
            # What is no place of the project is only gone to.
            window.show_page(page, **place)
        return window

    return make


@pytest.fixture
def window(small: Project, window_over: Callable[..., Window], qtbot) -> Window:
    return be_active(window_over(small), qtbot)


@pytest.fixture
def opened(windows: list[Window]) -> Callable[[Path], Window]:
    """Opens windows over project files, each where it was left, as the program does."""

    def open_(path: Path) -> Window:
        windows.append(Window(Project.open(path)))
        windows[-1].show()
        return windows[-1]

    return open_


@pytest.fixture
def page_over(window_over, qtbot):
    """Opens a page over a project, in a window that has the keyboard."""

    def make(project: Project, page: str, **place: object) -> Page:
        return be_active(window_over(project, page, **place), qtbot).page

    return make


@pytest.fixture
def page_at_rest(page_over):
    """Opens a page as `page_over` does, once all is there that it asks for, with the keyboard at its first place."""

    def make(project: Project, page: str, **place: object) -> Page:
        made = settle(page_over(project, page, **place))
        made.focus_first()
        return made

    return make
