"""What was closed is gone: pages, windows, and whatever followed the theme."""

import gc
import weakref
from collections import Counter

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from annotator.actions.items import items
from annotator.actions.project import people
from annotator.domain.experts.assignment import Role
from annotator.gui import theme
from annotator.gui.shell.start import Goldsmith
from annotator.gui.widgets.chips import Chip, Chips, EmptyState
from tests.gui.shell.test_window import EVERY_PAGE
from tests.windows.labelling_keys import be_active

pytestmark = pytest.mark.usefixtures("nothing_older")


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


def test_pages_that_were_looked_over_for_a_place_for_the_keyboard_go_with_their_person(
    small, window_over, qtbot
):
    people.add_person(small, "Second reader", (Role.ANNOTATOR,))
    reader = people.people(small)[-1]
    window = window_over(small)
    be_active(window, qtbot)
    window.choose_person(reader.id)
    pages = [weakref.ref(window.show_page(name)) for name in ("Help", "Items", "Material")]
    window.choose_person(reader.id)
    # It is only for coordinators: nothing on it takes the keyboard, and all of it was looked over in vain.
    assert QApplication.focusWidget() is window.page
    widgets(qtbot)
    assert [type(page()).__name__ for page in pages if page() is not None] == []


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
