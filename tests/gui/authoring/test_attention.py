"""Active time: reading counts for a minute after each sign of life, absence does not."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from annotator.gui.session.session import Attention, Clock


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


def touch_at(clock: Clock, hand: Hand, *moments: float) -> None:
    for moment in moments:
        hand.at = moment
        clock.touch()


def test_time_between_signs_of_life_adds_up_and_a_long_silence_counts_as_a_minute(clock, hand):
    hand.at = 30
    assert clock.take() == 0
    touch_at(clock, hand, 40, 50, 70)
    assert clock.take() == 30
    touch_at(clock, hand, 3670, 3675)
    assert clock.take() == 65
    hand.at += 3
    assert clock.take() == 3


def test_time_in_another_window_does_not_count(clock, hand):
    clock.touch()
    hand.at = 10
    clock.stop()
    hand.at = 50
    clock.touch()
    hand.at = 54
    assert clock.take() == 14


@pytest.fixture
def page(clock, qtbot):
    """A page in a shown window, watched."""
    window = QWidget()
    shown = QWidget(window)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
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


def test_nothing_counts_once_the_page_is_out_of_view(page, clock, hand):
    hand.at = 20
    page.attention.end()
    hand.at = 40
    QTest.keyClick(page.window().windowHandle(), Qt.Key.Key_A)
    assert clock.take() == 20


def test_time_up_to_the_end_of_the_window_counts(page, clock, hand):
    hand.at = 20
    page.window().destroy()
    page.attention.end()
    hand.at = 40
    page.attention.end()
    assert clock.take() == 20
