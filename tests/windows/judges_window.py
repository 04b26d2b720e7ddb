"""What tests of the page of judges share: hands for lists and choices."""

from typing import Any

from PySide6.QtCore import Qt

from annotator.gui.widgets.basics import PlainLabel


def choose(combo: Any, value: str) -> None:
    row = combo.findData(value)
    assert row >= 0, value
    combo.setCurrentIndex(row)


def tick(entries: Any, *names: str) -> None:
    for row in range(entries.count()):
        entry = entries.item(row)
        entry.setCheckState(Qt.CheckState.Checked if entry.text() in names else Qt.CheckState.Unchecked)


def cells(view: Any, column: int) -> list[str]:
    model = view.model()
    return [model.index(row, column).data() for row in range(model.rowCount())]


def said_in(card: Any) -> str:
    return "\n".join(label.text() for label in card.findChildren(PlainLabel))
