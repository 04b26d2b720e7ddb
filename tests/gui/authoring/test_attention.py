"""Active time: reading counts for a minute after each sign of life, absence does not."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from annotator.gui.session.session import Attention, Clock
from tests.windows.using import owned


class Hand:
    """A clock's hand that tests move."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def hand():
    return Hand()


@pytest.fixture
def clock(hand):
    return Clock(hand)


def test_time_between_signs_of_life_adds_up_and_a_long_silence_counts_as_a_minute(clock, hand):
    def touch_at(*moments: float) -> None:
        for moment in moments:
            hand.at = moment
            clock.touch()

    hand.at = 30
    assert clock.take() == 0
    touch_at(40, 50, 70)
    assert clock.take() == 30
    touch_at(3670, 3675)
    assert clock.take() == 65
    hand.at += 3
    assert clock.take() == 3
    # Time in another window does not count.
    hand.at += 7
    clock.stop()
    touch_at(4000)
    hand.at += 4
    assert clock.take() == 11


@pytest.fixture
def page(clock, qtbot):
    """A page in a shown window, watched."""
    window = owned(qtbot, QWidget())
    shown = QWidget(window)
    window.show()
    shown.attention = Attention(shown, clock)
    shown.attention.begin()
    yield shown
    window.close()


def test_keys_and_mouse_in_the_window_are_signs_of_life(page, clock, hand):
    handle = page.window().windowHandle()
    for act in (
        lambda: QTest.keyClick(handle, Qt.Key.Key_A),
        lambda: QTest.mouseClick(handle, Qt.MouseButton.LeftButton),
    ):
        hand.at += 50
        act()
        hand.at += 50
        act()
    assert clock.take() == 200


@pytest.mark.parametrize("destroyed", [False, True])
def test_nothing_counts_once_the_page_is_out_of_view_or_its_window_gone(page, clock, hand, destroyed):
    hand.at = 20
    if destroyed:
        page.window().destroy()
    page.attention.end()
    hand.at = 40
    if destroyed:
        page.attention.end()
    else:
        QTest.keyClick(page.window().windowHandle(), Qt.Key.Key_A)
    assert clock.take() == 20
