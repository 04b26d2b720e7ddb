"""The order of a run: who judges, what, of which systems and items, and how."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QWidget,
)

from annotator.actions import judge_planning
from annotator.actions.judge_cases import Order
from annotator.actions.judge_offers import Drawing, Offer
from annotator.domain.judge import Judge, JudgeKind
from annotator.domain.refusal import Refusal
from annotator.gui import theme
from annotator.gui.desk import Desk
from annotator.gui.models.judge_words import kind_of
from annotator.gui.widgets.choices import offer
from annotator.gui.widgets.number_box import AmountBox, NumberBox
from annotator.gui.widgets.plain import PlainLabel

DRAWS = "Draw: "
ENDPOINT_ONLY = ("together", "trials", "concurrency", "timeout", "budget")
ALL_SYSTEMS = "All systems, unless some are ticked"


class RunForm(QWidget):
    """Choices and numbers; `changed` comes after each of them."""

    changed = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._judges: dict[str, Judge] = {}
        self._offers: dict[str, Offer | Drawing] = {}
        self.judge, self.what = QComboBox(), QComboBox()
        self.items = QLineEdit(placeholderText="all items; or keys, e.g. 1, 4, 7–9", clearButtonEnabled=True)
        self.systems = QListWidget()
        self.wrong = PlainLabel("", "hint", wrap=True)
        self.together = NumberBox(minimum=1, maximum=100)
        self.trials = NumberBox(minimum=1, maximum=100)
        self.concurrency = NumberBox(minimum=1, maximum=512, value=8)
        self.timeout = NumberBox(minimum=5, maximum=3600, value=120, suffix=" s")
        self.batch = QCheckBox("in batc&hes")
        self.batch.setToolTip(
            "The provider answers within a day, mostly at half price. Not every server does."
        )
        self.budget = AmountBox(minimum=0, maximum=100_000, decimals=2, prefix="$ ")
        self.budget.setSpecialValueText("no limit")
        self._lay_out()
        self._listen()

    def _lay_out(self) -> None:
        self.form = form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(7)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for combo in (self.judge, self.what):
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            combo.setMinimumContentsLength(12)
            combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.systems.setToolTip(ALL_SYSTEMS)
        self.together.setToolTip("More than one makes a judge of its own, to be compared with the other")
        rows: tuple[tuple[str, QWidget | QHBoxLayout, str], ...] = (
            ("&Judge", self.judge, "Judge"),
            ("&What", self.what, "What is judged or drawn"),
            ("&Systems", self.systems, "Systems; all unless some are ticked"),
            ("&Items", self.items, "Items by key"),
            ("", self.wrong, ""),
            ("Units a call", self._beside(self.together, "&Trials", self.trials), ""),
            ("At once", self._beside(self.concurrency, "Ti&me-out", self.timeout), ""),
            ("Budget", self._beside(self.budget, "", self.batch), ""),
        )
        for words, field, name in rows:
            form.addRow(words, field)
            if isinstance(field, QWidget) and name:
                field.setAccessibleName(name)
        self.budget.setAccessibleName("Budget in US dollars")
        self.batch.setAccessibleName("By the provider's batches, within a day")
        self.trials.setAccessibleName("Trials of each unit")
        self.timeout.setAccessibleName("Seconds that one call may take")
        self.together.setAccessibleName("Units asked in one call")
        self.concurrency.setAccessibleName("Calls at once")
        self.wrong.hide()

    def _beside(self, first: QWidget, words: str, second: QWidget) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        label = QLabel(words)
        label.setBuddy(second)
        for widget in (first, label, second):
            row.addWidget(widget)
        row.addStretch(1)
        return row

    def _listen(self) -> None:
        self.judge.currentIndexChanged.connect(lambda _: self._turn())
        self.what.currentIndexChanged.connect(lambda _: self._turn())
        self.systems.itemChanged.connect(lambda _: self.changed.emit())
        self.items.textChanged.connect(lambda _: self.changed.emit())
        self.batch.toggled.connect(lambda _: self.changed.emit())
        for number in (self.together, self.trials, self.concurrency, self.timeout, self.budget):
            number.valueChanged.connect(lambda _: self.changed.emit())

    def fill(self, known: Sequence[Judge], offers: Sequence[Offer | Drawing], systems: Sequence[str]) -> None:
        """Offer judges, what they can be asked for, and systems; what was chosen stays chosen."""
        self._judges = {judge.name: judge for judge in known}
        self._offers = {one.name: one for one in offers}
        offer(self.judge, [(f"{one.name} · {one.model or kind_of(one)}", one.name) for one in known])
        offer(
            self.what,
            [
                (f"{DRAWS}{one.title}" if isinstance(one, Drawing) else one.title, one.name)
                for one in offers
                if isinstance(one, Drawing) or one.asked
            ],
        )
        self._show_systems(systems)
        self._turn()

    def _show_systems(self, names: Sequence[str]) -> None:
        self.form.setRowVisible(self.systems, bool(names))
        present = [self.systems.item(row).text() for row in range(self.systems.count())]
        if list(names) == present:
            return
        ticked = set(self.chosen_systems())
        self.systems.blockSignals(True)
        self.systems.clear()
        for name in names:
            entry = QListWidgetItem(name)
            entry.setCheckState(Qt.CheckState.Checked if name in ticked else Qt.CheckState.Unchecked)
            self.systems.addItem(entry)
        self.systems.blockSignals(False)
        self.systems.setFixedHeight(theme.current().px(30) * max(2, min(4, len(names))) + 4)

    def chosen_systems(self) -> tuple[str, ...]:
        """The systems that are ticked; none means all."""
        entries = (self.systems.item(row) for row in range(self.systems.count()))
        return tuple(entry.text() for entry in entries if entry.checkState() == Qt.CheckState.Checked)

    @property
    def offered(self) -> Offer | Drawing | None:
        """What is chosen to be judged or drawn."""
        return self._offers.get(str(self.what.currentData()))

    def order(self) -> Order | None:
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
        return Order(
            judge=judge.name if judge else "",
            protocol=str(self.what.currentData() or ""),
            systems=self.chosen_systems(),
            items=keys,
            concurrency=self.concurrency.value(),
            timeout_s=float(self.timeout.value()),
            budget_usd=(self.budget.value() or None) if endpoint else None,
            together=self.together.value() if endpoint and self.together.isEnabled() else 1,
            trials=self.trials.value() if endpoint and self.trials.isEnabled() else 1,
            batch=endpoint and self.batch.isChecked(),
        )

    def show_place(self, place: Mapping[str, Any]) -> None:
        """Choose what a place names: a `judge`, a `protocol`."""
        for combo, name in ((self.judge, "judge"), (self.what, "protocol")):
            row = combo.findData(place.get(name))
            if row >= 0:
                combo.setCurrentIndex(row)

    def how(self) -> dict[str, Any]:
        """How fast and for how much money, for a run whose scope is known."""
        return {
            "concurrency": self.concurrency.value(),
            "timeout_s": float(self.timeout.value()),
            "budget_usd": self.budget.value() or None,
        }

    def _turn(self) -> None:
        judge, what = self._judges.get(str(self.judge.currentData())), self.offered
        endpoint = judge is not None and judge.kind == JudgeKind.ENDPOINT
        draws = isinstance(what, Drawing)
        for row in range(5, self.form.rowCount()):
            self.form.setRowVisible(row, endpoint)
        together = endpoint and judge is not None and not judge.asked.of
        self.together.setEnabled(together and isinstance(what, Offer) and what.together)
        self.trials.setEnabled(not draws)
        self.changed.emit()
