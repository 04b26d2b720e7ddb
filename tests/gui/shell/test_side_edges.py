"""No page loses its right edge where it cannot be scrolled there, in a window of the usual size."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea

from annotator.gui.desk.parted_page import PartedPage
from tests.gui.shell.test_window import EVERY_PAGE

OFF = Qt.ScrollBarPolicy.ScrollBarAlwaysOff


def cut_off(window) -> list[str]:
    areas = [area for area in window.findChildren(QScrollArea) if area.isVisible() and area.widget()]
    return [
        area.accessibleName() or type(area.parent()).__name__
        for area in areas
        if area.horizontalScrollBarPolicy() == OFF and area.widget().width() > area.viewport().width()
    ]


@pytest.mark.parametrize("name", EVERY_PAGE)
def test_every_part_of_every_page_is_seen_to_its_edge(name, sample, window_over, qtbot):
    window = window_over(sample, name)
    window.resize(1280, 800)
    tabs = window.page.tabs if isinstance(window.page, PartedPage) else None
    for place in range(tabs.count()) if tabs else (0,):
        if tabs:
            tabs.setCurrentIndex(place)
        qtbot.waitUntil(lambda: not window.desk._errands)
        qtbot.waitUntil(lambda: not cut_off(window))
        assert cut_off(window) == []


@pytest.mark.parametrize("size", [(1280, 800), (960, 600)], ids=["usual", "narrowest"])
def test_the_form_of_a_new_set_is_seen_to_its_edge_with_what_it_comes_to(size, sample, window_over, qtbot):
    window = window_over(sample, "Validate", part="Sets")
    window.resize(*size)
    sets = window.page.sets
    sets.acts["new_set"]()
    qtbot.waitUntil(lambda: sets.form.told.text() != "")
    qtbot.waitUntil(lambda: not cut_off(window))
    assert sets.form.told.isVisible()
    assert sets.form.told.visibleRegion().boundingRect().height() == sets.form.told.height()
