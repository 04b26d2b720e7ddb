"""What Goldsmith promises to whoever sits at its window."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtWidgets import QApplication

from annotator.actions import items
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


def benchmark(folder: Path) -> Path:
    """A tiny benchmark in ResearcherBench's layout."""
    (folder / "responses").mkdir(parents=True)
    question = {"id": 1, "question": "What is gold?"}
    for name, entry in (
        ("questions.json", {"category": "Technical Details", "Subject": "Metals"}),
        ("rubric.json", {"rubric": [{"point": "Explains its weight", "weight": 2}]}),
        ("responses/Alpha.json", {"response": "# Gold\n\nIt is heavy."}),
    ):
        (folder / name).write_text(json.dumps([question | entry]), "utf-8")
    return folder


def test_an_import_that_ends_leaves_page_focus_and_words_to_whoever_types(
    open_window, qtbot, tmp_path: Path
) -> None:
    project = begun_project(tmp_path)
    window = open_window(project)
    importing = window.show_page("Import")
    importing.look_at([benchmark(tmp_path / "bench")])
    qtbot.waitUntil(importing.go.isEnabled)
    importing.go.click()
    page = window.show_page("Author", kind="rubric")
    field = page.sheet.form.editors[0].text
    type_words(" at a depth")
    qtbot.waitUntil(lambda: len(items.ids(project)) == 3 and not len(window.desk._errands))
    type_words(" of fifty layers")
    assert window.page is page
    assert QApplication.focusWidget() is field
    window.checkpoint()
    assert texts(project)[0].endswith("train badly. at a depth of fifty layers")
    assert "The import is done" in window.messages.text()
    window.messages._act.click()
    assert window.page.NAME == "Items"
