"""What was closed is gone: pages, windows, and whatever followed the theme."""

import gc
from collections import Counter

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from annotator.actions.items import items
from annotator.gui import theme
from annotator.gui.shell.starting import Goldsmith
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.empty_state import EmptyState
from tests.gui.shell.test_window import EVERY_PAGE


def widgets(qtbot) -> Counter[str]:
    """All widgets there are, by class, once what is to die has died."""
    for _ in range(3):
        qtbot.wait(1)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
    return Counter(type(widget).__name__ for widget in QApplication.allWidgets())


@pytest.fixture
def goldsmith(qapp):
    made = Goldsmith(qapp)
    yield made
    shown = made._shown
    made.close()
    if shown is not None and isValid(shown):
        shown.deleteLater()


def test_reopening_leaves_no_window_and_no_start_page_behind(small, goldsmith, qtbot):
    path = small.path
    items.add(small, "One more?")
    small.close()
    # The first page lists what was opened before.
    goldsmith.show(path)
    goldsmith.show(None)
    before = widgets(qtbot)
    for name in EVERY_PAGE:
        goldsmith.show(path).show_page(name)
        goldsmith.show(None)
    assert widgets(qtbot) - before == Counter()


@pytest.mark.parametrize(
    "make", [Chips, lambda: EmptyState("items", "Nothing")], ids=["chips", "empty state"]
)
def test_what_follows_the_theme_and_stands_nowhere_dies_with_its_last_reference(make, qtbot):
    before = widgets(qtbot)
    made = [make() for _ in range(20)]
    made[0].setAccessibleName("seen")
    assert widgets(qtbot) != before
    del made
    assert widgets(qtbot) - before == Counter()


def test_a_method_of_qts_own_is_still_called_after_a_change_of_theme(qtbot, monkeypatch):
    chips = Chips()
    qtbot.addWidget(chips)
    chips.show_chips([Chip("words")])
    before = chips.sizeHint()
    chips.adjustSize()
    theme.zoom(2)
    assert chips.sizeHint().width() > before.width()
    theme.zoom(0)
