"""Parts of a window keep their owners: nothing is kept that Qt made, and no search adopts what it finds."""

import re

import shiboken6
from PySide6.QtWidgets import QPushButton, QWidget

from annotator.gui.parts import below, focused
from tests.house import reading

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
    before = shiboken6.dump(whole)
    assert list(below(whole, QPushButton)) == [deep, beside]
    assert shiboken6.dump(whole) == before


def test_what_has_the_focus_is_told_and_stays_with_its_own_parent(qapp) -> None:
    whole = QWidget()
    inner = QWidget(whole)
    deep = QPushButton(inner)
    assert focused(whole) is None
    deep.setFocus()
    before = shiboken6.dump(whole)
    assert focused(whole) is deep
    assert shiboken6.dump(whole) == before
