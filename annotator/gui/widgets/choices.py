"""How a combo box is given other choices while what was chosen stays chosen."""

from collections.abc import Iterable

from PySide6.QtWidgets import QComboBox


def offer(combo: QComboBox, choices: Iterable[tuple[str, str]]) -> None:
    """Offer choices, each in words and with its value, and tell nobody; the first holds where the former is gone."""
    kept = combo.currentData()
    combo.blockSignals(True)
    combo.clear()
    for words, value in choices:
        combo.addItem(words, value)
    combo.setCurrentIndex(max(0, combo.findData(kept)))
    combo.blockSignals(False)
