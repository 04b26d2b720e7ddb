"""Extraction by a judge: choice of judge and reports, cost estimate, and the run."""

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from annotator.actions.judges import judges
from annotator.actions.judging.forecasts import CostEstimate
from annotator.actions.judging.judge_offers import ExtractionOffer
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.order_estimate import OrderEstimate
from annotator.gui.desk.run import REFUSED, BackgroundRun
from annotator.gui.pages.material.drawn_lines import DrawnLine
from annotator.gui.review.judge_words import causes_words
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.basics import PlainLabel, horizontal, push_button, vertical
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.number_box import BudgetBox

ALL, CHOSEN = "all", "chosen"


class DrawingBar(QFrame):
    """A line of settings with a button; existing extracts are not asked for again."""

    came = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._drawing: ExtractionOffer | None = None
        self._line: DrawnLine | None = None
        self.setProperty("role", "card")
        self.judge, self.scope = ChoiceBox(), ChoiceBox()
        self.judge.setAccessibleName("Judge that extracts")
        self.scope.setAccessibleName("Reports")
        for combo in (self.judge, self.scope):
            combo.keep_short(14)
            combo.currentIndexChanged.connect(lambda _: self._change())
        self.budget = BudgetBox()
        self.begin = KeyButton("Draw", keys.shown("start_run"), "primary")
        self.begin.clicked.connect(self.start)
        self.words = PlainLabel(role="hint", wrap=True)
        self.count = push_button("Estimate", self._count, "quiet")
        self.count.setToolTip("Estimate calls and cost, without making a call")
        self.run = BackgroundRun(desk, "Extracting from reports", "Material", self, part="Extracts")
        self.answer = MessageBar()
        self.run.ended.connect(self._ended)
        self._estimate = OrderEstimate(desk, self, self._order)
        self._estimate.told.connect(self._show_estimate)
        choices = FlowRow(gap=10)
        for words, choice in (("Judge", self.judge), ("from", self.scope), ("Budget", self.budget)):
            horizontal(PlainLabel(words), choice, on=(both := QWidget()), margins=0)
            choices.addWidget(both)
        column = vertical(horizontal((choices, 1), self.count, self.begin), on=self, margins=(10, 8, 10, 8))
        for widget in (self.words, RunPanel(self.run)):
            column.addWidget(widget)

    def offer(self, drawing: ExtractionOffer | None, line: DrawnLine | None) -> None:
        """Get ready to draw one thing; `line` is the report at the cursor."""
        self._drawing, self._line = drawing, line
        known = self._desk.ask(judges.all_of) or []
        fit = [one for one in known if drawing is not None and _draws(one, drawing)]
        fit.sort(key=lambda one: one.kind == JudgeKind.BASELINE)
        offer(self.judge, [(_named(one), one.name) for one in fit])
        things = drawing.things if drawing else "report"
        choices: list[tuple[str, str]] = [(f"every {things}", ALL)]
        choices += [(f"the {things} shown", CHOSEN)] if line is not None else []
        offer(self.scope, choices)
        self._change()

    def start(self) -> None:
        """Draw, in a process of its own."""
        order = self._order()
        if order is None or not self.begin.isEnabled():
            return
        self.answer.clear()
        self.begin.setEnabled(not self.run.start(order))

    def stop(self) -> None:
        self._estimate.stop()

    def rebind(self) -> None:
        self.begin.set_key(keys.shown("start_run"))

    def _order(self) -> RunRequest | None:
        drawing, line = self._drawing, self._line
        if drawing is None or not self.judge.count():
            return None
        one = line if self.scope.currentData() == CHOSEN else None
        return RunRequest(
            judge=str(self.judge.currentData()),
            protocol=drawing.name,
            systems=(one.system,) if one and one.system else (),
            items=(one.item,) if one else (),
            budget_usd=self.budget.limit,
        )

    def _change(self) -> None:
        drawing, order = self._drawing, self._order()
        lacks = "" if drawing is None else drawing.lacks
        free = order is not None and not lacks and not self.run.running and not self._desk.project.readonly
        self.begin.setEnabled(free)
        if lacks or order is None:
            self._estimate.stop()
            self.words.setText(
                lacks or ("No judge can extract this: add one with an endpoint." if drawing else "")
            )
        else:
            self.words.setText(drawing.words() if drawing else "")
            # Of every report it takes seconds to count, and so it is counted when that is asked for.
            if order.items:
                self._estimate.count_soon()
            else:
                self._estimate.stop()
        self.count.setVisible(free and order is not None and not order.items)

    def _count(self) -> None:
        self.words.setText("Counting…")
        self._estimate.count()

    def _show_estimate(self, found: CostEstimate) -> None:
        if self._drawing is None:
            return
        said = self._drawing.words()
        self.words.setText(
            f"{said} {' '.join(found.words())}" if found.units else f"{said} {found.judge} has extracted all."
        )
        self.begin.setEnabled(bool(found.units) and not self.run.running and not self._desk.project.readonly)

    def _ended(self, line: dict[str, Any]) -> None:
        if line.get("event") != REFUSED:
            missing = line.get("missing") or {}
            if missing:
                said = f"Incomplete: {causes_words(missing)}."
                self.answer.show_message("warning", said, "Start again to retry.")
            elif line.get("state") == "done":
                self.answer.show_message("success", f"{line['done']:,} of {line['total']:,} are extracted.")
            else:
                self.answer.show_message(
                    "info", "Stopped.", str(line.get("cause") or "Start again to resume.")
                )
        self.came.emit()
        self._change()


def _draws(judge: Judge, drawing: ExtractionOffer) -> bool:
    return judge.kind == JudgeKind.ENDPOINT or (judge.kind == JudgeKind.BASELINE and drawing.alone)


def _named(judge: Judge) -> str:
    return f"{judge.name} (no network)" if judge.kind == JudgeKind.BASELINE else judge.name
