"""The panel that lets a judge work: what there is to judge, how, and how far it is."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
)

from annotator.actions import judge_runs, judges
from annotator.domain.judge import Judge, JudgeKind
from annotator.domain.refusal import Refusal
from annotator.gui.child import JudgingChild
from annotator.gui.desk import Desk
from annotator.gui.widgets.choices import offer
from annotator.gui.widgets.progress_row import ProgressRow


class RunPanel(QFrame):
    """Scope, concurrency, budget, start, progress and cancel."""

    ended = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._judge: Judge | None = None
        self.setProperty("role", "card")
        self._child = JudgingChild(self)
        self._child.progressed.connect(self._progressed)
        self._child.ended.connect(self._finished)
        title = QLabel("Judge coverage")
        title.setProperty("role", "subtitle")
        self.words = QLabel()
        self.words.setWordWrap(True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.progress = ProgressRow()
        self.progress.cancelled.connect(self._cancel)
        self.progress.hide()
        column = QVBoxLayout(self)
        column.addWidget(title)
        column.addWidget(self.words)
        column.addLayout(self._settings())
        column.addWidget(self.progress)

    def _settings(self) -> QHBoxLayout:
        self.system = QComboBox()
        self.system.setAccessibleName("Which system's reports")
        self.system.setMinimumContentsLength(16)
        self.system.currentIndexChanged.connect(lambda _: self.show_plan())
        self.concurrency = QSpinBox(minimum=1, maximum=512, value=8)
        self.concurrency.setAccessibleName("Calls at once")
        self.budget = QDoubleSpinBox(minimum=0, maximum=100_000, decimals=2, prefix="$ ")
        self.budget.setSpecialValueText("no limit")
        self.budget.setAccessibleName("Budget in US dollars")
        self.begin = QPushButton("Start judging")
        self.begin.setProperty("role", "primary")
        self.begin.clicked.connect(self.start)
        self._endpoint_only = [QLabel("Calls at once"), self.concurrency, QLabel("Budget"), self.budget]
        row = QHBoxLayout()
        row.addWidget(QLabel("Reports of"))
        row.addWidget(self.system)
        for widget in self._endpoint_only:
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.begin)
        return row

    def show_judge(self, judge: Judge) -> None:
        """Get ready for a judge."""
        self._judge = judge
        for widget in self._endpoint_only:
            widget.setVisible(judge.kind == JudgeKind.ENDPOINT)
        self._fill_systems()
        self.show_plan()

    def _fill_systems(self) -> None:
        names = self._desk.ask(judge_runs.systems) or []
        offer(self.system, [("all systems", ""), *((name, name) for name in names)])

    def _order(self) -> judge_runs.Order:
        chosen = self.system.currentData()
        return judge_runs.Order(
            judge=self._judge.name if self._judge else "",
            systems=(chosen,) if chosen else (),
            concurrency=self.concurrency.value(),
            budget_usd=self.budget.value() or None,
        )

    def show_plan(self) -> None:
        """Say how much there is to judge, and what is lacking where nothing can be."""
        if self._judge is None or self._child.running:
            return
        plan = self._desk.ask(judge_runs.plan, self._order())
        self.words.setText(plan.words() if plan else "")
        self.begin.setEnabled(bool(plan and plan.to_do) and not self._desk.project.readonly)

    def start(self) -> None:
        """Start the run that the panel shows."""
        self.carry_out(self._order())

    def again(self, line: judge_runs.RunLine) -> None:
        """Ask for what a run left open: the same systems and items as then, and no others."""
        self.carry_out(replace(self._order(), systems=line.systems, items=line.items))

    def carry_out(self, order: judge_runs.Order) -> None:
        """Start a run as a process of its own."""
        if self._child.running or self._judge is None:
            return
        words = ["judge", "run", str(self._desk.project.path), "--judge", order.judge]
        words += ["--protocol", order.protocol, "--concurrency", str(order.concurrency)]
        for name in order.systems:
            words += ["--system", name]
        for key in order.items:
            words += ["--item", key]
        if order.budget_usd:
            words += ["--budget", str(order.budget_usd)]
        self.begin.setEnabled(False)
        self.progress.show()
        self.progress.show_progress("Starting the judge", 0, 0)
        self._child.start(words, judges.handed_over(self._judge))

    def stop(self) -> None:
        """End the run before the window closes."""
        self._child.stop_now()

    def _cancel(self) -> None:
        self.progress.show_progress("Stopping; what is finished is kept", 0, 0)
        self._child.cancel()

    def _progressed(self, line: dict[str, Any]) -> None:
        missing = sum((line.get("missing") or {}).values())
        what = f"{line.get('rate', 0):.0f} a second"
        if line.get("cost_usd"):
            what += f" · ${line['cost_usd']:.2f}"
        if missing:
            what += f" · {missing} without a verdict"
        if line.get("paused"):
            what = str(line["paused"])
        self.progress.show_progress(what, int(line["done"]), int(line["total"]), line.get("left_s"))
        self._tell_status(line)

    def _finished(self, line: dict[str, Any]) -> None:
        self.progress.hide()
        self._tell_status(None)
        if line.get("event") == "refused":
            self._desk.refused.emit(Refusal(str(line["error"]), str(line.get("todo", ""))))
        self.ended.emit()
        self.show_plan()

    def _tell_status(self, line: dict[str, Any] | None) -> None:
        status = getattr(self.window(), "status", None)
        if status is not None:
            status.show_run(line)
