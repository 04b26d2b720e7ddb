"""What a window shows and a command says; what Validate says of agreement that was published, and of none."""

import io
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel

from annotator.cli import run_command

STANCE, RATING = "planted.stance", "planted.rating"
AIM = (
    "Published aim: Cohen's κ 0.50 of people with one another (Table 9); Accuracy 0.75 of an early judge with people "
    "(Table 9)."
)
NONE = "No published aim: no agreement with people is printed for “Planted mean” (Nowhere)."


def shown(window: Any) -> Iterator[str]:
    for widget in (*window.findChildren(QLabel), *window.findChildren(QAbstractButton)):
        yield widget.text()
    for combo in window.findChildren(QComboBox):
        yield from (combo.itemText(place) for place in range(combo.count()))


def said(words: list[str], code: int = 0) -> str:
    told = io.StringIO()
    with redirect_stdout(told), redirect_stderr(told):
        result = run_command(words)
    assert result == code, f"{words}: {told.getvalue()}"
    return " ".join(told.getvalue().split())
