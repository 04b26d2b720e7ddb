"""Order form of a run: judge, protocol, systems, items and options."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QSizePolicy, QWidget

from annotator.actions.judging import judge_offers, judge_planning
from annotator.actions.judging.judge_offers import ExtractionOffer, ProtocolOffer
from annotator.actions.runs.judge_cases import RunRequest, units_a_call
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.desk import Desk
from annotator.gui.review.judge_words import kind_of
from annotator.gui.widgets.basics import PlainLabel
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.labelled import beside, label_of
from annotator.gui.widgets.fields.number_box import BudgetBox, NumberBox
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.lists.tick_list import TickList

DRAWS = "Draw: "
ALL_SYSTEMS = "All systems, unless some are ticked"


class RunForm(QWidget):
    """Choices and numbers; `changed` follows every edit."""

    changed = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._judges: dict[str, Judge] = {}
        self._offers: dict[str, ProtocolOffer | ExtractionOffer] = {}
        self._usual_of = "", ""
        self.judge, self.what = ChoiceBox(), ChoiceBox()
        self.every = QCheckBox("Show &all")
        self.every.setToolTip("Also what cannot be run yet: what is lacking is said below")
        self.items = LineField(placeholderText="all items; or keys, e.g. 1, 4, 7–9", clearButtonEnabled=True)
        self.systems = TickList("Systems; all unless some are ticked", 2, 4)
        self.wrong = PlainLabel("", "hint", wrap=True)
        self.together = NumberBox(minimum=1, maximum=100)
        self.trials = NumberBox(minimum=1, maximum=100)
        self.concurrency = NumberBox(minimum=1, maximum=512, value=8)
        self.timeout = NumberBox(minimum=5, maximum=3600, value=120, suffix=" s")
        self.batch = QCheckBox("in batc&hes")
        self.batch.setToolTip(
            "The provider answers within a day, usually at half price. Not every server supports this."
        )
        self.budget = BudgetBox()
        self._lay_out()
        self._listen()

    def _lay_out(self) -> None:
        self.form = form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(7)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for combo in (self.judge, self.what):
            combo.keep_short(12)
            combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.systems.setToolTip(ALL_SYSTEMS)
        self.together.setToolTip(
            "Another number than the usual one creates a separate judge, to compare with this one"
        )
        form.addRow("&Judge", self.judge)
        form.addRow("&What", self.what)
        form.addRow("", self.every)
        form.addRow("&Systems", self.systems)
        form.addRow("&Items", self.items)
        form.addRow("", self.wrong)
        self._of_endpoints = {
            "Units per call": beside(self.together, label_of(self.trials, "&Trials"), self.trials),
            "At once": beside(self.concurrency, label_of(self.timeout, "Ti&me-out"), self.timeout),
            "Budget": beside(self.budget, self.batch),
        }
        for words, line in self._of_endpoints.items():
            form.addRow(words, line)
        for widget, name in (
            (self.judge, "Judge"),
            (self.what, "What is judged or extracted"),
            (self.items, "Items by key"),
            (self.batch, "With the provider's batch API, within a day"),
            (self.trials, "Trials per unit"),
            (self.timeout, "Timeout of one call, in seconds"),
            (self.together, "Units per call"),
            (self.concurrency, "Concurrent calls"),
        ):
            widget.setAccessibleName(name)
        self.wrong.hide()

    def _listen(self) -> None:
        self.judge.currentIndexChanged.connect(lambda _: self._turn())
        self.what.currentIndexChanged.connect(lambda _: self._turn())
        self.every.toggled.connect(lambda _: self._offer_what())
        self.systems.ticked_anew.connect(self.changed)
        self.items.textChanged.connect(lambda _: self.changed.emit())
        self.batch.toggled.connect(lambda _: self.changed.emit())
        for number in (self.together, self.trials, self.concurrency, self.timeout, self.budget):
            number.valueChanged.connect(lambda _: self.changed.emit())

    def fill(
        self,
        known: Sequence[Judge],
        offers: Sequence[ProtocolOffer | ExtractionOffer],
        systems: Sequence[str],
    ) -> None:
        """Offer judges, what they can be asked for, and systems; what was chosen stays chosen."""
        self._judges = {judge.name: judge for judge in known}
        self._offers = {one.name: one for one in offers}
        offer(self.judge, [(f"{one.name} · {one.model or kind_of(one)}", one.name) for one in known])
        self._offer_what()
        self.systems.offer(systems)
        self.form.setRowVisible(self.systems, bool(systems))
        self._turn()

    def _offer_what(self) -> None:
        """Offer what can be run now, or everything; what is chosen already stays."""
        chosen = self.what.currentData()
        shown = [
            one
            for one in self._offers.values()
            if self.every.isChecked() or one.name == chosen or judge_offers.runnable(one)
        ]
        offer(
            self.what,
            [
                (f"{DRAWS}{one.title}" if isinstance(one, ExtractionOffer) else one.title, one.name)
                for one in shown or self._offers.values()
                if isinstance(one, ExtractionOffer) or one.asked
            ],
        )

    @property
    def offered(self) -> ProtocolOffer | ExtractionOffer | None:
        return self._offers.get(str(self.what.currentData()))

    def order(self) -> RunRequest | None:
        """What is put together; None while the items are not written rightly, which is then said."""
        try:
            keys = judge_planning.keys_of(self._desk.project, self.items.text())
        except Refusal as refusal:
            self.wrong.setText(f"{refusal.happened} {refusal.todo}")
            self.wrong.show()
            return None
        self.wrong.hide()
        judge = self._judges.get(str(self.judge.currentData()))
        endpoint = judge is not None and judge.kind == JudgeKind.ENDPOINT
        return RunRequest(
            judge=judge.name if judge else "",
            protocol=str(self.what.currentData() or ""),
            systems=self.systems.ticked(),
            items=keys,
            concurrency=self.concurrency.value(),
            timeout_s=float(self.timeout.value()),
            budget_usd=self.budget.limit if endpoint else None,
            together=self.together.value() if endpoint and self.together.isEnabled() else 0,
            trials=self.trials.value() if endpoint and self.trials.isEnabled() else 1,
            batch=endpoint and self.batch.isChecked(),
        )

    def show_place(self, place: Mapping[str, Any]) -> None:
        """Choose what a place names: a `judge`, a `protocol`."""
        for combo, name in ((self.judge, "judge"), (self.what, "protocol")):
            if combo is self.what and combo.findData(place.get(name)) < 0:
                self.every.setChecked(place.get(name) in self._offers)
            row = combo.findData(place.get(name))
            if row >= 0:
                combo.setCurrentIndex(row)

    def how(self) -> dict[str, Any]:
        """How fast and for how much money, for a run whose scope is known."""
        return {
            "concurrency": self.concurrency.value(),
            "timeout_s": float(self.timeout.value()),
            "budget_usd": self.budget.limit,
        }

    def _turn(self) -> None:
        judge, what = self._judges.get(str(self.judge.currentData())), self.offered
        endpoint = judge is not None and judge.kind == JudgeKind.ENDPOINT
        draws = isinstance(what, ExtractionOffer)
        for line in self._of_endpoints.values():
            self.form.setRowVisible(line, endpoint)
        if judge is not None and what is not None and (judge.id, what.name) != self._usual_of:
            self._usual_of = judge.id, what.name
            self.together.setValue(units_a_call(judge, what.name))
        together = endpoint and judge is not None and not judge.asked.of
        self.together.setEnabled(together and isinstance(what, ProtocolOffer) and what.together)
        self.trials.setEnabled(not draws)
        self.changed.emit()
