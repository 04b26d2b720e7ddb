"""Request for a model's draft: the judge, its estimated cost, the run, and why nothing came."""

from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout

from annotator.actions.judges import judges
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.material.item import Item
from annotator.domain.material.writer_aid import NAMES, WriterAid
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.run import REFUSED, BackgroundRun
from annotator.gui.review.judge_words import status_words
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.basics import PlainLabel, vertical
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.number_box import BudgetBox

AT_ONCE, TIMEOUT_S = 4, 600.0
NO_SOURCE = "Add a source with text to this item first: a model drafts from sources only."
NO_JUDGE = "No judge has an endpoint yet. Add one on the Judges page."


class DraftAsking(QFrame):
    """The upper part of the panel."""

    came = Signal()
    """A run has ended: there may be a draft."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._item: Item | None = None
        self._kind: Kind | WriterAid = Kind.RUBRIC
        self._lacks = ""
        self._asked: Any = None
        self.judge = ChoiceBox()
        self.judge.setAccessibleName("Judge that writes the draft")
        self.judge.keep_short(10)
        self.judge.currentIndexChanged.connect(lambda _: self.show_estimate())
        self.budget = BudgetBox(most=10_000)
        self.words, self.estimate = PlainLabel(role="hint", wrap=True), PlainLabel(role="hint", wrap=True)
        self.ask = KeyButton("Ask for a draft", keys.shown("ask_draft"), "primary")
        self.ask.clicked.connect(self.start)
        self.run, self.answer = BackgroundRun(desk, "Drafting", "Author", self), MessageBar()
        self.run.ended.connect(self._ended)
        self._lay_out()

    def _lay_out(self) -> None:
        row, acts = QHBoxLayout(), QHBoxLayout()
        row.addWidget(self.judge, 1)
        row.addWidget(self.budget)
        acts.addStretch(1)
        acts.addWidget(self.ask)
        vertical(self.words, row, self.estimate, acts, RunPanel(self.run), on=self, margins=0, spacing=6)

    def show_item(self, item: Item, kind: Kind | WriterAid, *, lacks: str, waiting: bool) -> None:
        """Get ready for a kind of an item; `lacks` says what must be there first, `waiting` that a draft of it is."""
        other = self._item is None or (item.id, kind) != (self._item.id, self._kind)
        self._item, self._kind, self._lacks = item, kind, lacks
        if other:
            self.answer.clear()
        self._fill_judges()
        self.words.setText(self._said())
        offered = self._offered() and not waiting
        for part in (self.judge, self.budget, self.estimate, self.ask):
            part.setVisible(offered and bool(self.judge.count()))
        self.show_estimate()

    def show_estimate(self) -> None:
        """Say what asking would take; it is counted on another thread."""
        fit = not self.ask.isHidden() and not self._lacks and not self._desk.project.readonly
        self.ask.setEnabled(fit and not self.run.running)
        self.estimate.clear()
        self._asked = self._order() if fit and self._item is not None else None
        if self._asked is not None:
            from annotator.actions.orders import orders

            self._desk.ask_later(partial(self._show_forecast, self._asked), orders.forecast, self._asked)

    def start(self) -> None:
        """Ask the chosen judge, in a process of its own."""
        if self._item is None or not self.ask.isEnabled() or self.ask.isHidden():
            return
        self.answer.clear()
        self.ask.setEnabled(not self.run.start(self._order()))

    def rebind(self) -> None:
        self.ask.set_key(keys.shown("ask_draft"))

    def _order(self) -> Any:
        from annotator.actions.material import draft_runs
        from annotator.actions.runs.judge_cases import RunRequest

        chosen = (self._item.key,) if self._item else ()
        kind, limit = draft_runs.protocol_name(self._kind), self.budget.limit
        return RunRequest(
            self.judge.currentText(),
            kind,
            items=chosen,
            concurrency=AT_ONCE,
            timeout_s=TIMEOUT_S,
            budget_usd=limit,
        )

    def _offered(self) -> bool:
        from annotator.actions.material import draft_runs

        return self._kind in draft_runs.OFFERED

    def _said(self) -> str:
        from annotator.actions.material import draft_runs

        if not self._offered():
            known = ", ".join(
                NAMES[kind] if isinstance(kind, WriterAid) else KINDS[kind].title.lower()
                for kind in draft_runs.OFFERED
                if kind is not WriterAid.CLASSIFICATION
            )
            return f"Models do not draft a {self._kind.value}. They draft: {known}."
        if self._lacks:
            return self._lacks
        if not self.judge.count():
            return NO_JUDGE
        asked = draft_runs.wording(self._kind)
        if self._kind is WriterAid.CLASSIFICATION:
            return (
                "A model reads the question and what the project says of its types, and proposes a type and a subject "
                f"with a reason, using the prompt {asked}. Nothing is set until you save it."
            )
        if isinstance(self._kind, WriterAid):
            return (
                "A model answers the question from the sources and the key insights, as material for the "
                f"experts, using the prompt {asked}. Only you see it until you add it to the item."
            )
        words = KINDS[self._kind]
        offered = draft_runs.OFFERED[self._kind]
        made_of = [KINDS[kind].units for kind in offered.needs]
        read = (
            "section that people wrote" if offered.exemplar else "sources" if offered.sources else "question"
        )
        read = made_of[0] if made_of else read
        return (
            f"A model reads the {read} and proposes {words.units}, using the prompt {asked}. Only you see "
            f"them; nothing enters your document until you take it, {words.unit} by {words.unit}."
        )

    def _fill_judges(self) -> None:
        from annotator.actions.material import draft_runs

        extraction = draft_runs.OFFERED.get(self._kind)
        alone = extraction is not None and extraction.baseline is not None
        fit = (JudgeKind.ENDPOINT, *((JudgeKind.BASELINE,) if alone else ()))
        found = [judge for judge in self._desk.ask(judges.all_of) or [] if judge.kind in fit]
        # A model is what is asked for here; the baseline only copies sentences.
        found.sort(key=lambda judge: judge.kind == JudgeKind.BASELINE)
        offer(self.judge, [(judge.name, judge.name) for judge in found])

    def _show_forecast(self, asked: Any, forecast: Any) -> None:
        if asked is self._asked and not self.ask.isHidden():
            self.estimate.setText(" ".join(forecast.words()[1:]) or forecast.words()[0])

    def _ended(self, line: dict[str, Any]) -> None:
        if line.get("event") != REFUSED:
            failed = line.get("failed") or []
            if failed:
                happened = f"No draft came: {status_words(str(failed[0]['status']))}."
                self.answer.show_message("warning", happened, str(failed[0]["cause"]))
            elif line.get("state") != "done":
                self.answer.show_message("info", "Stopped before a draft arrived.", str(line["cause"]))
        self.came.emit()
