"""What tests of the page of judges share: a server's replies, and hands for lists and choices."""

import json
from typing import Any

from PySide6.QtCore import Qt

from annotator.gui.widgets.basics import PlainLabel
from tests.judging.odd_server import Odd, completion
from tests.servers.served import asked_about

QUOTE = "compares the stability of training"


def replies(body: dict[str, Any], _number: int) -> Odd:
    """A yes with a quote of the report, a yes with one of its own making, and a refusal."""
    words = asked_about(body)[0][1]
    if words.startswith("Names"):
        return completion(None, refusal="I would rather not.")
    quote = QUOTE if words.startswith("Compares") else "It never says this."
    return completion(json.dumps({"quote": quote, "rationale": "So.", "covered": "yes"}))


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
