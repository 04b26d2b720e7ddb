"""Pairing by a judge: what it has paired, what the rest would cost, and the run itself."""

from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from annotator.actions.agreement.agreement_report import AgreementReport
from annotator.actions.agreement.assisted import Assistance
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.run import BackgroundRun
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.fields.number_box import BudgetBox
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.plain import PlainLabel

TOLD, AT_ONCE = 3, 4


class AssistancePane(QFrame):
    """Hidden without a chosen judge; `came` reports the end of a run."""

    came = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._given: Assistance | None = None
        self._stage: Stage | None = None
        self.words, self.estimate = PlainLabel(role="hint", wrap=True), PlainLabel(role="hint", wrap=True)
        self.budget, self.ask = BudgetBox(most=10_000), QPushButton("Pair what is &missing")
        self.ask.setProperty("role", "primary")
        self.ask.clicked.connect(self.start)
        self.run, self.answer = BackgroundRun(desk, "Pairing", "Agreement", self), MessageBar()
        self.run.ended.connect(self._ended)
        said, row = QVBoxLayout(), QHBoxLayout()
        for label in (self.words, self.estimate):
            said.addWidget(label)
        row.addLayout(said, 1)
        for part in (self.budget, self.ask):
            row.addWidget(part)
        vertical(row, RunPanel(self.run), on=self, margins=0)
        self.hide()

    def show_report(self, report: AgreementReport) -> None:
        """Say how much there is of the chosen judge's pairing, and offer to ask for the rest."""
        before, self._given, self._stage = self._given, report.assistance, report.stage
        given = self._given
        self.setVisible(given is not None)
        if given is None or before is None or before.judge != given.judge:
            self.answer.clear()
        if given is None:
            return
        self.words.setText(given.words())
        self.estimate.clear()
        left = given.there < given.lists
        for part in (self.estimate, self.budget, self.ask):
            part.setVisible(left)
        self.ask.setEnabled(left and not self._desk.project.readonly and not self.run.running)
        if left:
            from annotator.actions.agreement import assisting
            from annotator.actions.orders import orders

            order = assisting.order(given.judge, self._stage)
            self._desk.ask_later(partial(self._show_forecast, given), orders.forecast, order)

    def start(self) -> None:
        """Ask the chosen judge for what is missing, in a process of its own."""
        from annotator.actions.agreement import assisting

        given = self._given
        if given is None or not self.ask.isEnabled():
            return
        self.answer.clear()
        order = assisting.order(given.judge, self._stage, concurrency=AT_ONCE, budget_usd=self.budget.limit)
        self.ask.setEnabled(not self.run.start(order))

    def _show_forecast(self, asked: Assistance, forecast: Any) -> None:
        if asked is self._given:
            self.estimate.setText(" ".join(forecast.words()[1:]) or forecast.words()[0])

    def _ended(self, line: dict[str, Any]) -> None:
        failed = line.get("failed") or []
        if failed:
            causes = [f"Item {one['item']}, {one['stage']}: {one['cause']}" for one in failed[:TOLD]]
            more = f" And {len(failed) - TOLD:,} more." if len(failed) > TOLD else ""
            happened = f"No result for {counted(len(failed), 'pair')} of lists; excluded from the figures."
            self.answer.show_message(
                "warning", happened, f"{' '.join(causes)}{more} Run it again to retry these."
            )
        elif line.get("event") == "ended" and line["state"] != "done":
            self.answer.show_message("info", "Stopped; finished pairs are kept.", str(line["cause"]))
        self.came.emit()
