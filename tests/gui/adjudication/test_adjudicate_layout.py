"""The Adjudicate page as a whole: it stays in its window, and its rows in their pane."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject, QRect
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyleOptionViewItem

from annotator.domain.experts.agreement import Figure
from annotator.gui import theme
from annotator.gui.review.ruling_words import figures_words
from tests.projects.adjudication_project import scripts_project
from tests.windows.adjudicating_window import adjudicate
from tests.windows.labelling_keys import press


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


@pytest.mark.parametrize("dark", [False, True])
def test_keys_alike_in_their_first_half_are_told_apart_in_a_small_window(dark, tmp_path, window_over, qtbot):
    theme.choose("dark" if dark else "light")
    theme.zoom_to(200)
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot)
    page.window().resize(960, 600)
    line, list_ = page.queue.lines[0], page.frame.queue_pane.list
    area, option = QRect(0, 0, list_.viewport().width(), 160), QStyleOptionViewItem()
    list_.initViewItemOption(option)
    drawn = []
    for key in ("night-trains-of-europe-1", "night-trains-of-europe-2"):
        page.queue.fill([replace(line, item_key=key)])
        option.rect, picture = area, QImage(area.size(), QImage.Format.Format_RGB32)
        picture.fill(theme.token("surface"))
        painter = QPainter(picture)
        list_.itemDelegate().paint(painter, option, page.queue.index(0))
        painter.end()
        drawn.append(picture)
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize("percent", [80, 200])
def test_no_row_is_wider_than_its_pane(tmp_path, window_over, qtbot, percent):
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot)
    page.window().resize(1280, 800)
    theme.zoom_to(percent)
    press("4")
    QTest.qWait(20)
    area = page.rows.area
    assert area.widget().width() <= area.viewport().width()


def test_why_a_figure_of_one_item_is_undefined_speaks_of_reports():
    found = Figure(
        name="value_kappa", value=None, note="all said yes; 3 clusters are too few for an interval"
    )
    assert figures_words([found]) == "value κ undefined (all said yes; 3 reports are too few for an interval)"
