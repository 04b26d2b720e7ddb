"""Form fields, each with a label whose key leads to it."""

from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from annotator.gui.widgets.basics import StretchSpace, horizontal, tooltip


def label_of(field: QWidget, words: str) -> QLabel:
    """A label whose key puts the caret into a field that stands beside others."""
    label = QLabel(words)
    label.setBuddy(field)
    return label


def beside(*parts: QWidget) -> QHBoxLayout:
    """Parts of one line of a form, at its beginning."""
    return horizontal(*parts, StretchSpace(1), spacing=8)


def together(words: str, field: QWidget, tip: str = "") -> QWidget:
    """A field behind its words, from which it is not parted where a row breaks."""
    made, label = QWidget(), label_of(field, words)
    for each in (label, field):
        each.setToolTip(tooltip(tip))
    horizontal(label, field, on=made, margins=0, spacing=6)
    return made
