"""What a test of a judge showed: whether it answers, in which form, how fast, and what that costs."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QFormLayout, QFrame, QVBoxLayout

from annotator.gui import theme
from annotator.gui.models.judge_words import usd
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.raw_text import RawText

FORMS = {
    "json_schema": "JSON by schema",
    "json_object": "JSON, but not by a schema",
    "text": "plain text only",
}


class ProbeView(QFrame):
    """A card that is hidden until something was tested."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.words = PlainLabel("", "strong", wrap=True)
        self.state = Chips(wrap=False)
        self.facts = QFormLayout()
        self.facts.setHorizontalSpacing(14)
        self.facts.setVerticalSpacing(3)
        self.raw = RawText("The reply as it came")
        column = QVBoxLayout(self)
        column.addWidget(self.state)
        column.addWidget(self.words)
        column.addLayout(self.facts)
        column.addWidget(self.raw)
        self.clear()

    def clear(self) -> None:
        """Show nothing."""
        self._forget()
        self.hide()

    def wait(self) -> None:
        """Say that the endpoint is being asked."""
        self._forget()
        self.state.show_chips([Chip("Asking…", "clock", "incomplete")])
        self.words.setText("One long page is on its way, with a code word at each end.")
        self.show()

    def show_found(self, found: Mapping[str, Any]) -> None:
        """Show what came of it."""
        self._forget()
        ok = bool(found.get("ok"))
        chip = Chip("Answers", "check", "agreed") if ok else Chip("Cannot be used so", "cross", "disagree")
        self.state.show_chips([chip])
        self.words.setText(str(found.get("words", "")))
        for name, words in facts(found):
            self.facts.addRow(PlainLabel(name, "hint"), PlainLabel(words, wrap=True))
        raw = str(found.get("raw", ""))
        self.raw.setPlainText(raw)
        self.raw.setFixedHeight(theme.current().px(96))
        self.raw.setVisible(bool(raw))
        self.show()

    def _forget(self) -> None:
        self.words.setText("")
        self.raw.hide()
        while self.facts.rowCount():
            self.facts.removeRow(0)


def facts(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was learnt, name by name; what is not known is left out, never 0."""
    ends = [found.get("first_arrived"), found.get("last_arrived")]
    seconds, cost, tokens = (found.get(name) for name in ("latency_s", "cost_usd", "tokens_input"))
    form = FORMS.get(str(found.get("form")), "")
    rejected = ", ".join(found.get("rejected_parameters") or ())
    told = {
        "Replies in": f"{form}{'' if found.get('enforced') else ', which it did not keep to at once'}"
        if form
        else "",
        "Long prompts": _ends(ends) if form else "",
        "Answered as": str(found.get("model") or ""),
        "Took": f"{seconds:.1f} s" if seconds is not None else "",
        "Prompt": f"{tokens:,} tokens" if tokens is not None else "",
        "This call": usd(cost) if cost is not None else "",
        "Price": str(found.get("price") or ""),
        "Turned down": rejected,
        "Attempts": str(found["attempts"]) if found.get("attempts", 1) > 1 else "",
    }
    return [(name, words) for name, words in told.items() if words]


def _ends(arrived: list[Any]) -> str:
    if all(arrived):
        return "both ends arrive"
    lost = [end for end, came in zip(("beginning", "end"), arrived, strict=True) if not came]
    return f"the {' and the '.join(lost)} of a long one is cut off without a word"
