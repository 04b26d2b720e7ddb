"""Number boxes, read the same whatever the system's language."""

import unicodedata
from typing import Any

from PySide6.QtCore import QLocale
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QSpinBox

# A style sheet cannot move the text inside such a box; in pixels at a zoom of 100 %.
CLEAR = 7
# What people type between a whole number and its decimals, here and there.
POINTS = str.maketrans({",": ".", "٫": "."})


class NumberBox(QSpinBox):
    """A whole number."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        _make(self)

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        return super().validate(_digits(text), place)


class AmountBox(QDoubleSpinBox):
    """A number with decimals, after a point or a comma: “2,5” must never become 25, nor “2.5”."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        _make(self)

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        """Digits of any script count, and a comma is a point."""
        return super().validate(_digits(text).translate(POINTS), place)


class BudgetBox(AmountBox):
    """A budget in US dollars; 0 stands for no limit."""

    def __init__(self, most: int = 100_000) -> None:
        super().__init__(minimum=0, maximum=most, decimals=4, prefix="$ ")
        self.setSpecialValueText("no limit")
        self.setAccessibleName("Budget in US dollars")

    def textFromValue(self, value: float) -> str:
        """Cents, and the parts of one that a small sum needs."""
        whole, _, parts = f"{value:.4f}".partition(".")
        return f"{whole}.{parts[:2]}{parts[2:].rstrip('0')}"

    @property
    def limit(self) -> float | None:
        """What may be spent; None without a limit."""
        return self.value() or None


def _make(box: QAbstractSpinBox) -> None:
    # Every other number of the program is written so, too.
    box.setLocale(QLocale.c())
    box.lineEdit().setTextMargins(CLEAR, 0, CLEAR, 0)


def _digits(text: str) -> str:
    return "".join(str(unicodedata.decimal(sign, sign)) for sign in text)
