"""Calls into Qt give back every reference they take: PySide6 6.12.0 on Python 3.11 lost one per call."""

import re
import sys
from collections.abc import Callable

import pytest
import shiboken6
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from annotator.gui.parts import below, focused
from tests.house import reading

CALLS = 10_000
# What else the interpreter may take or drop meanwhile; a leak of one reference per call is far outside.
NOISE = CALLS // 100


class Speaker(QObject):
    """Has a signal to emit."""

    spoken = Signal(bool)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="constants are immortal from Python 3.12 on")
@pytest.mark.parametrize("constant", [None, True], ids=str)
@pytest.mark.parametrize("call", ["setObjectName", "emit"])
def test_void_calls_leave_constants_where_they_were(qapp, call: str, constant: object) -> None:
    speaker = Speaker()
    speaker.spoken.connect(lambda _: None)
    calls: dict[str, Callable[[], object]] = {
        "setObjectName": lambda: speaker.setObjectName("x"),
        "emit": lambda: speaker.spoken.emit(True),
    }
    before = sys.getrefcount(constant)
    for _ in range(CALLS):
        calls[call]()
    assert abs(sys.getrefcount(constant) - before) < NOISE


CHILDREN = "verticalScrollBar|horizontalScrollBar|horizontalHeader|verticalHeader|header|viewport"
KEPT_CHILD = re.compile(rf"self\.\w+(, self\.\w+)* = [\w.]*\b({CHILDREN})\(\)(?!\.)")


def test_no_attribute_keeps_a_child_that_qt_made() -> None:
    """Python's hold on such a child may end before the child does: its owner is asked for it each time."""
    kept = [
        reading.name(path)
        for path in reading.files("annotator/gui")
        if KEPT_CHILD.search(path.read_text("utf-8"))
    ]
    assert kept == []


ADOPTING = re.compile(r"\.findChild(ren)?\(|InFocusChain\(|(?<!QApplication)\.focusWidget\(")


def test_no_part_is_found_by_a_search_that_adopts_it() -> None:
    """PySide makes what such calls find a child of the object asked: `annotator.gui.parts` looks without that."""
    adopting = [
        reading.name(path)
        for path in reading.files("annotator/gui")
        if path.name != "parts.py" and ADOPTING.search(path.read_text("utf-8"))
    ]
    assert adopting == []


def test_parts_are_found_in_the_order_of_qt_and_are_not_adopted(qapp) -> None:
    whole = QWidget()
    inner = QWidget(whole)
    deep, beside = QPushButton(inner), QPushButton(whole)
    assert list(below(whole, QPushButton)) == [deep, beside]
    assert adopted(whole) == 2
    assert whole.findChildren(QPushButton) == [deep, beside]
    assert adopted(whole) == 3, "PySide adopts no more: `below` may go"


def test_what_has_the_focus_is_told_and_stays_with_its_own_parent(qapp) -> None:
    whole = QWidget()
    inner = QWidget(whole)
    deep = QPushButton(inner)
    assert focused(whole) is None
    deep.setFocus()
    assert focused(whole) is deep
    assert (adopted(whole), adopted(inner)) == (1, 1)
    assert whole.focusWidget() is deep
    assert adopted(whole) == 2, "PySide adopts no more: `focused` may go"


def adopted(whole: QWidget) -> int:
    (held,) = re.findall(r"children\.+ \[(\d+)\]", shiboken6.dump(whole))
    return int(held)
