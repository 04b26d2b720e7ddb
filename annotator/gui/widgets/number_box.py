"""Boxes for numbers, whose digits stand clear of the frame."""

from typing import Any

from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

# A style sheet cannot move the text inside such a box; in pixels at a zoom of 100 %.
CLEAR = 7


class NumberBox(QSpinBox):
    """A whole number."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.lineEdit().setTextMargins(CLEAR, 0, CLEAR, 0)


class AmountBox(QDoubleSpinBox):
    """A number with decimals."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.lineEdit().setTextMargins(CLEAR, 0, CLEAR, 0)
