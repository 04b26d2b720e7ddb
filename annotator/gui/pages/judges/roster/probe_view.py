"""Result of a judge's test: does it answer, in which format, how fast, at what cost?"""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QPushButton

from annotator.actions.judging.judge_probes import facts
from annotator.gui import theme
from annotator.gui.widgets.basics import PlainLabel, vertical
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.reading.raw_text import RawText


class ProbeView(QFrame):
    """A card that is hidden until something was tested."""

    accepted = Signal()
    """The judge is to run although its test failed."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.words = PlainLabel("", "strong", wrap=True)
        self.state = Chips(wrap=False)
        self.facts = QFormLayout()
        self.facts.setHorizontalSpacing(14)
        self.facts.setVerticalSpacing(3)
        self.raw = RawText("The reply as it came")
        self.accept = QPushButton("Use it all the same")
        self.accept.setToolTip("Let it run; its figures say that it failed its test")
        self.accept.clicked.connect(self.accepted)
        vertical(self.state, self.words, self.facts, self.raw, self.accept, on=self)
        self.clear()

    def clear(self) -> None:
        self._forget()
        self.hide()

    def wait(self) -> None:
        self._forget()
        self.state.show_chips([Chip("Asking…", "clock", "incomplete")])
        self.words.setText("Sending one long page, with a code word at each end.")
        self.show()

    def show_found(self, found: Mapping[str, Any]) -> None:
        """Show what came of it."""
        self._forget()
        ok = bool(found.get("ok"))
        chip = Chip("Answers", "check", "agreed") if ok else Chip("Not usable like this", "cross", "disagree")
        self.state.show_chips([chip])
        self.words.setText(str(found.get("words", "")))
        for name, words in facts(found):
            self.facts.addRow(PlainLabel(name, "hint"), PlainLabel(words, wrap=True))
        self.accept.setVisible(not ok)
        raw = str(found.get("raw", ""))
        self.raw.setPlainText(raw)
        theme.scale(self.raw.setFixedHeight, 96)
        self.raw.setVisible(bool(raw))
        self.show()

    def _forget(self) -> None:
        self.words.setText("")
        self.raw.hide()
        self.accept.hide()
        while self.facts.rowCount():
            self.facts.removeRow(0)
