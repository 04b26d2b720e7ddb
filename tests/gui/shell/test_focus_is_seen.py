"""The keyboard is always on something that is seen, whatever there is to do on a page."""

import pytest
from PySide6.QtWidgets import QTabWidget

from annotator.actions.project.file import Project
from tests.gui.shell.test_window import EVERY_PAGE
from tests.projects.small_project import empty_project, small_project
from tests.windows.labelling_keys import be_active

PROJECTS = {"empty": empty_project, "small": small_project, "locked": small_project}


@pytest.mark.slow
@pytest.mark.parametrize("kind", PROJECTS)
def test_the_focus_is_on_something_seen_on_every_page_and_part(kind, tmp_path, window_over, qtbot):
    project = PROJECTS[kind](tmp_path)
    project.close()
    window = window_over(Project.open(project.path, readonly=kind == "locked"))
    be_active(window, qtbot)
    hidden = []
    for name in EVERY_PAGE:
        page = window.show_page(name)
        tabs = page.findChild(QTabWidget)
        for place in range(tabs.count() if tabs else 1):
            if tabs and tabs.isTabVisible(place):
                tabs.setCurrentIndex(place)
            window.show_page(name)
            window.desk.wait()
            qtbot.wait(30)
            held = window.focusWidget()
            if held is None or not held.isVisible():
                hidden.append((name, place, type(held).__name__))
    assert hidden == [], hidden
