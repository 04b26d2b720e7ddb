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


class BudgetBox(AmountBox):
    """US dollars that may be spent; 0 stands for no limit."""

    def __init__(self, most: int = 100_000) -> None:
        super().__init__(minimum=0, maximum=most, decimals=2, prefix="$ ")
        self.setSpecialValueText("no limit")
        self.setAccessibleName("Budget in US dollars")

    @property
    def limit(self) -> float | None:
        """What may be spent; None without a limit."""
        return self.value() or None
