"""Vertical layout of related widgets on this page."""

from PySide6.QtWidgets import QLayout, QWidget

from annotator.gui.widgets.basics import vertical


def column(*parts: QWidget | QLayout, grows: QWidget, above: int = 4) -> QWidget:
    """Parts in one column; the one that `grows` takes what room is left."""
    made = QWidget()
    whole = vertical(on=made, margins=(0, above, 0, 0), spacing=4)
    for part in parts:
        if isinstance(part, QLayout):
            whole.addLayout(part)
        else:
            whole.addWidget(part, 1 if part is grows else 0)
    # Where what grows is hidden, the rest stands at the top.
    whole.addStretch(0)
    return made
