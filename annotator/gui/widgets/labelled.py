"""How a form's fields stand beside each other, each with a label whose key leads to it."""

from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget


def label_of(field: QWidget, words: str) -> QLabel:
    """A label whose key puts the caret into a field that stands beside others."""
    label = QLabel(words)
    label.setBuddy(field)
    return label


def beside(*parts: QWidget) -> QHBoxLayout:
    """Parts of one line of a form, at its beginning."""
    row = QHBoxLayout()
    row.setSpacing(8)
    for part in parts:
        row.addWidget(part)
    row.addStretch(1)
    return row
