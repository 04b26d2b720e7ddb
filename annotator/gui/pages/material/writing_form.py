"""Order form for reports by a model: system, gold given, items, cost estimate."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QFrame,
)

from annotator.actions.items.roles import LeftOut
from annotator.actions.judges import judges
from annotator.actions.judging.forecasts import CostEstimate
from annotator.actions.material import response_settings
from annotator.actions.material.response_journal import MissingResponse
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.order_estimate import OrderEstimate
from annotator.gui.desk.run import REFUSED, BackgroundRun
from annotator.gui.pages.material.research_fields import INPUTS, SEARCHES, ResearchFields
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, vertical
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.number_box import BudgetBox, NumberBox
from annotator.gui.widgets.fields.typed import LineField, completing

MODES = (
    ("the question alone", "end-to-end"),
    ("the question and the gold plan", "gold-plan-injection"),
    ("the question, gold plan and gold evidence", "isolated"),
    ("the first half of the task, to be continued", "continuation"),
)
RESEARCH = tuple(name for _, name in INPUTS)
ALL, CHOSEN, FEW = "all", "chosen", "few"
END_TO_END, CONTINUED = MODES[0][1], MODES[-1][1]
A_FEW = 3
TIMEOUT_S = 900.0


class WritingForm(QFrame):
    """Settings with one button; existing reports are never written again."""

    came = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._keys: Sequence[str] = ()
        self._without = LeftOut()
        self._chosen = self._unfit = ""
        self._judges: Sequence[Judge] = ()
        self.setProperty("role", "card")
        self.system = LineField(placeholderText="a name, e.g. model X, plain")
        self._known = completing(self.system)
        self.judge, self.mode, self.items = ChoiceBox(), ChoiceBox(), ChoiceBox()
        self.planned = QCheckBox("Ask for a plan first and keep it")
        self.condition = ChoiceBox()
        for one in response_settings.CONDITIONS:
            self.condition.addItem(one.title, one.name)
        self.cutoff = LineField(placeholderText="none, or a day such as 2025-03-24")
        self.filed_as = LineField(placeholderText="the input's own mode")
        self.trials = NumberBox(minimum=1, maximum=100)
        self.at_once = NumberBox(minimum=1, maximum=64, value=4)
        self.budget = BudgetBox()
        self.research = ResearchFields(self)
        for words, value in MODES + INPUTS:
            self.mode.addItem(words, value)
        self.words, self.estimate = PlainLabel(role="hint", wrap=True), PlainLabel(role="hint", wrap=True)
        self.begin = KeyButton("Write reports", keys.shown("start_run"), "primary")
        self.begin.clicked.connect(self.start)
        self.run = BackgroundRun(desk, "Writing reports", "Material", self, part="Reports")
        self.answer = MessageBar()
        self.run.ended.connect(self._ended)
        self._estimate = OrderEstimate(desk, self, self.order)
        self._estimate.told.connect(self._show_estimate)
        self._lay_out()
        self._listen()

    def _lay_out(self) -> None:
        self._form = form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for words, field in (
            ("System", self.system), ("Endpoint of", self.judge), ("Input", self.mode), ("", self.planned),
            ("Prompt", self.condition), ("Cut-off", self.cutoff), ("Mode name", self.filed_as), ("On", self.items),
        ):  # fmt: skip
            field.setAccessibleName(words or self.planned.text())
            form.addRow(words, field)
        for words, row in self.research.rows:
            form.insertRow(form.rowCount() - 1, words, row)
        for combo in (self.judge, self.mode, self.condition, self.items):
            combo.keep_short(12)
        self.trials.setAccessibleName("Runs per item")
        self.at_once.setAccessibleName("Concurrent calls")
        numbers = horizontal(self.trials, PlainLabel("concurrent"), self.at_once, StretchSpace(1))
        form.addRow("Runs", numbers)
        form.addRow("Budget", self.budget)
        vertical(
            PlainLabel("Have a model write reports", "subtitle"),
            self.words,
            form,
            self.estimate,
            horizontal(StretchSpace(1), self.begin),
            RunPanel(self.run),
            on=self,
        )

    def _listen(self) -> None:
        self.system.textChanged.connect(lambda _: self._change())
        for line in (self.cutoff, self.filed_as):
            line.textChanged.connect(lambda _: self._change())
        self.mode.currentIndexChanged.connect(lambda _: self._offer_judges())
        for combo in (self.judge, self.mode, self.condition, self.items):
            combo.currentIndexChanged.connect(lambda _: self._change())
        self.research.changed.connect(self._change)
        self.planned.toggled.connect(lambda _: self._change())
        self.trials.valueChanged.connect(lambda _: self._change())

    def offer(self, systems: Sequence[str], item_keys: Sequence[str], without: LeftOut) -> None:
        """Offer these systems and items; others are left out, as is told."""
        self._keys, self._without = item_keys, without
        self._known.setStringList(list(systems))
        self._judges = self._desk.ask(judges.all_of) or []
        self._offer_judges()
        self._offer_items()

    def _offer_judges(self) -> None:
        """Those with an endpoint; the baseline too where works are searched or given."""
        kinds = [JudgeKind.ENDPOINT, *([JudgeKind.BASELINE] if (self.mode.currentData() in RESEARCH) else [])]
        found = sorted(
            (one for one in self._judges if one.kind in kinds), key=lambda one: kinds.index(one.kind)
        )
        offer(self.judge, [(one.name, one.name) for one in found])

    def choose(self, key: str) -> None:
        """Offer the item at the cursor, to be asked about alone."""
        if key != self._chosen:
            self._chosen = key
            self._offer_items()

    def _offer_items(self) -> None:
        count = len(self._keys)
        but = f" but {counted(self._without.seminars, 'seminar')}" if self._without.seminars else ""
        choices = [(f"all items{but} ({count:,})" if count > 1 else "the one item", ALL)] if count else []
        choices += [(f"the first {A_FEW}, to try it", FEW)] if count > A_FEW else []
        choices += [(f"only item {self._chosen}", CHOSEN)] if self._chosen and count else []
        offer(self.items, choices)
        self._change()

    def order(self) -> RunRequest | None:
        """What the fields say; None while something is lacking."""
        system = self.system.text().strip()
        if not system or not self.judge.currentText() or not self._keys:
            return None
        manner = self._manner()
        if not manner:
            return None
        chosen = {ALL: (), FEW: tuple(self._keys[:A_FEW]), CHOSEN: (self._chosen,)}
        return RunRequest(
            judge=self.judge.currentText(),
            protocol=manner,
            systems=(system,),
            items=chosen.get(str(self.items.currentData()), ()),
            trials=self.trials.value(),
            concurrency=self.at_once.value(),
            timeout_s=TIMEOUT_S,
            budget_usd=self.budget.limit,
            corpus=self.research.place(),
        )

    def _manner(self) -> str:
        """The manner that the fields say; empty where one of them does not fit, and `_unfit` then says why."""
        mode = str(self.mode.currentData())
        try:
            self._unfit = ""
            if mode in RESEARCH:
                model = self.judge.currentText() != judges.BASELINE.name
                self._unfit = self.research.lacks(model=model) if mode == SEARCHES else ""
                return "" if self._unfit else self.research.manner(mode)
            if mode == CONTINUED:
                return response_settings.protocol_name(mode)
            return response_settings.protocol_name(
                mode, planned=self.planned.isChecked() and mode == END_TO_END,
                condition=str(self.condition.currentData()), cutoff=self.cutoff.text(), filed_as=self.filed_as.text(),
            )  # fmt: skip
        except Refusal as refusal:
            self._unfit = str(refusal)
            return ""

    def start(self) -> None:
        """Have the reports written, in a process of its own."""
        order = self.order()
        if order is None or not self.begin.isEnabled():
            return
        self._run(order)

    def again(self, lacking: Sequence[MissingResponse]) -> None:
        """Ask once more for reports of one system in one mode, of the writer and in the manner of the last time."""
        if not lacking or self.run.running:
            return
        last = max(lacking, key=lambda one: one.at)
        runs = self._desk.ask(run_records.runs) or []
        run = next((one for one in runs if one.id == last.run_id), None)
        if run is None:
            return
        items = tuple(dict.fromkeys(one.item for one in lacking))
        order = RunRequest(
            run.judge, run.protocol, (last.system,), items, trials=max(one.trial for one in lacking),
            concurrency=self.at_once.value(), timeout_s=TIMEOUT_S, budget_usd=self.budget.limit,
            corpus=self.research.place(),
        )  # fmt: skip
        self._run(order)

    def stop(self) -> None:
        self._estimate.stop()

    def rebind(self) -> None:
        self.begin.set_key(keys.shown("start_run"))

    def _run(self, order: RunRequest) -> None:
        self.answer.clear()
        self.begin.setEnabled(not self.run.start(order))

    def _change(self) -> None:
        self.planned.setEnabled(self.mode.currentData() == END_TO_END)
        for field in (self.planned, self.condition, self.cutoff, self.filed_as):
            self._form.setRowVisible(field, self.mode.currentData() not in (*RESEARCH, CONTINUED))
        for _, row in self.research.rows:
            self._form.setRowVisible(row, self.mode.currentData() == SEARCHES)
        order, free = self.order(), not self.run.running and not self._desk.project.readonly
        self.begin.setEnabled(order is not None and free)
        self.words.setText(self._lacks())
        self.words.setVisible(bool(self.words.text()))
        self.estimate.setVisible(order is not None)
        if order is None:
            self._estimate.stop()
        else:
            self._estimate.count_soon()

    def _lacks(self) -> str:
        if self._desk.project.readonly:
            return "This file is read-only."
        if not self._keys:
            return f"There are no items yet to write about. {self._without.not_asked}".strip()
        if not self.judge.count():
            return (
                "There is no judge with an endpoint yet. Add one on the Judges page: its endpoint writes "
                "the reports."
            )
        if not self.system.text().strip():
            return "Name the system: a name stands for one model with one set of parameters."
        return self._unfit

    def _show_estimate(self, found: CostEstimate) -> None:
        if not found.units:
            self.estimate.setText(f"Every report of this system is there: {found.total:,}.")
        else:
            without = found.units - found.calls - found.in_journal
            lacks = counted(without, "item lacks", "items lack")
            lacks = f" {lacks} the required gold." if without > 0 else ""
            self.estimate.setText(" ".join(found.words()) + lacks)
        self.begin.setEnabled(bool(found.units) and not self.run.running and not self._desk.project.readonly)

    def _ended(self, line: dict[str, Any]) -> None:
        if line.get("event") != REFUSED:
            failed, done = len(line.get("failed") or []), int(line.get("done", 0))
            told = f"{done:,} of {int(line['total']):,} reports are there."
            if failed:
                self.answer.show_message("warning", told, "Failures are listed below with their cause.")
            elif line.get("state") == "done":
                self.answer.show_message("success", told)
            else:
                why = str(line.get("cause") or "Start again to resume; nothing is written twice.")
                self.answer.show_message("info", f"{told} Stopped.", why)
        self.came.emit()
        self._change()
