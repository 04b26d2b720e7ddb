"""The Adjudicate page as a whole: it stays in its window, and its rows in their pane."""

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtTest import QTest

from annotator.gui import theme
from tests.projects.adjudication_project import scripts_project
from tests.windows.adjudicating_window import adjudicate
from tests.windows.labelling_keys import press

pytestmark = pytest.mark.usefixtures("at_once")


def test_nothing_of_the_page_is_ever_a_window_of_its_own(qapp, tmp_path, window_over, qtbot):
    shown = []

    class Watch(QObject):
        def eventFilter(self, watched, event):
            if event.type() == QEvent.Type.Show and watched.isWidgetType() and watched.isWindow():
                shown.append(type(watched).__name__)
            return False

    watch = Watch()
    qapp.installEventFilter(watch)
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot)
    for key in (
        "1",
        "Alt+1",
        "4",
        "Esc",
        "Ctrl+J",
        "Ctrl+P",
        "Esc",
        "F9",
        "F9",
        "F4",
        "F8",
        "F4",
        "Ctrl+Return",
    ):
        press(key)
    page._open(page.queue.lines[2])
    qapp.removeEventFilter(watch)
    assert shown == ["Window"]


@pytest.mark.parametrize("percent", [80, 200])
def test_no_row_is_wider_than_its_pane(tmp_path, window_over, qtbot, percent):
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot)
    page.window().resize(1280, 800)
    theme.zoom_to(percent)
    press("4")
    QTest.qWait(20)
    area = page.rows.area
    assert area.widget().width() <= area.viewport().width()
