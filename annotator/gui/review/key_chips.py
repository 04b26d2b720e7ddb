"""A row of keyed buttons, one of them chosen: reason of a ruling, confidence of the adjudicator."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from annotator.gui import keys
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.basics import tooltip
from annotator.gui.widgets.chips import Chip, Chips


class KeyChips(QWidget):
    """Buttons in a row after their question; the common part of their keys is shown once."""

    chosen = Signal(object)

    def __init__(self, question: str, options: Sequence[tuple[str, Any, str]]) -> None:
        """`options` are (act of the key table, value, words)."""
        super().__init__()
        self._question, self._options = question, tuple(options)
        self._asked = Chips(wrap=False)
        self.buttons: list[QToolButton] = []
        row = FlowRow(self, gap=4)
        row.addWidget(self._asked)
        for _, value, _ in self._options:
            button = QToolButton()
            button.setCheckable(True)
            button.setProperty("role", "choice")
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.clicked.connect(lambda _=False, value=value: self.chosen.emit(value))
            self.buttons.append(button)
            row.addWidget(button)
        self._shared, self._wanted = "", False
        self.show_keys()

    def show_keys(self) -> None:
        """Print the keys as they now are."""
        shown = [keys.shown(act) for act, *_ in self._options]
        before = {key[: key.rfind("+") + 1] for key in shown}
        self._shared = before.pop() if len(before) == 1 else ""
        for button, key, (_, _, words) in zip(self.buttons, shown, self._options, strict=True):
            button.setText(f"{key.removeprefix(self._shared)} {words}")
            button.setToolTip(tooltip(f"{words} ({key})"))
            button.setAccessibleName(f"{self._question} {words}, key {key}")
        self._ask()

    def show_value(self, value: Any, *, wanted: bool, locked: bool) -> None:
        """Press down what holds; `wanted` asks for it aloud."""
        self._wanted = wanted
        for button, (_, known, _) in zip(self.buttons, self._options, strict=True):
            button.setChecked(known is value)
            button.setEnabled(not locked)
        self._ask()

    def asks(self) -> bool:
        """Whether it asks aloud."""
        return self._wanted

    def _ask(self) -> None:
        words = f"{self._question}  {self._shared}".strip()
        self._asked.show_chips(
            [Chip(words, "question", "incomplete") if self._wanted else Chip(words, "", "missing")]
        )
