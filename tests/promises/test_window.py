"""What Goldsmith promises to whoever sits at its window."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtWidgets import QApplication

from annotator.actions.project import Project
from annotator.gui.starting import make_application
from annotator.gui.window import Window
from tests.authoring_project import begun_project, mine, texts
from tests.labelling_keys import be_active, press, type_words


@pytest.fixture
def open_window(qapp: QApplication, qtbot) -> Iterator:
    """Opens real windows that have the keyboard."""
    make_application()
    QSettings().clear()
    made: list[Window] = []

    def make(project: Project) -> Window:
        window = Window(project)
        made.append(window)
        window.show()
        qtbot.waitExposed(window)
        be_active(window, qtbot)
        return window

    yield make
    for window in made:
        window.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QSettings().clear()


def settled(project: Project) -> Project:
    """The same project with its rubric as the imported consensus."""
    with project.store.write():
        project.store.raw.execute("UPDATE artifact SET state = 'consensus', author_id = ''")
    return project


def test_stray_keys_change_no_consensus(open_window, tmp_path: Path) -> None:
    project = settled(begun_project(tmp_path))
    before = mine(project)
    window = open_window(project)
    press("Return")
    type_words(" stray words")
    for key in ("Ctrl+Return", "Ctrl+N", "Ctrl+Backspace", "Alt+1", "Alt+Down", "Delete", "Ctrl+Return"):
        press(key)
    window.checkpoint()
    assert mine(project) == before
    assert "the consensus" in window.page.sheet.messages.text()


def test_a_consensus_is_edited_after_one_key_that_says_so(open_window, tmp_path: Path) -> None:
    project = settled(begun_project(tmp_path))
    window = open_window(project)
    press("Return")
    assert "Edit consensus" in window.page.sheet.strip.reopen.text()
    press("Ctrl+R")
    type_words(" at depth")
    press("Ctrl+Return")
    assert texts(project)[0].endswith(" at depth")
    told = project.store.raw.execute("SELECT verb FROM audit WHERE kind = 'artifact' ORDER BY seq").fetchall()
    assert [verb for (verb,) in told][-3:] == ["edit consensus", "change text", "seal"]
    type_words(" stray")
    window.checkpoint()
    assert texts(project)[0].endswith(" at depth")
