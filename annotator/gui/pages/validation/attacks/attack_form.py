"""Order form of an attack test: judge, attacks, sample size, cost estimate."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QWidget,
)

from annotator.actions.attacks import attack_offers, attack_tests
from annotator.actions.attacks.attack_offers import AttackableJudge
from annotator.actions.attacks.attack_tests import WIDTH, AttackRequest, AttackRunRequest
from annotator.domain.texts.counting import counted
from annotator.gui.desk.child import Child
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.basics import PlainLabel, horizontal, tooltip, vertical
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.number_box import AmountBox, NumberBox
from annotator.gui.widgets.later import later

SETTLE_MS = 500
NAME = Qt.ItemDataRole.UserRole


class AttackForm(QWidget):
    """Choices above, estimate below; `changed` follows every new estimate."""

    changed = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._offers: dict[str, AttackableJudge] = {}
        self._left_out: set[str] = set()
        self._child: Child | None = None
        self._counted: AttackRequest | None = None
        self.judge, self.what = ChoiceBox(), ChoiceBox()
        self.attacks = QListWidget()
        self.many = NumberBox(minimum=0, maximum=100_000)
        self.many.setSpecialValueText("by the width")
        self.span = AmountBox(minimum=0.02, maximum=0.9, decimals=2, singleStep=0.05, value=WIDTH)
        self.seed = NumberBox(minimum=1, maximum=999_999, value=1)
        self.concurrency = NumberBox(minimum=1, maximum=512, value=8)
        self.budget = AmountBox(minimum=0, maximum=100_000, decimals=2, prefix="$ ")
        self.budget.setSpecialValueText("no limit")
        self.told, self.cost = PlainLabel("", wrap=True), PlainLabel("", "strong", wrap=True)
        self._soon = later(self, self._count, SETTLE_MS)
        self._lay_out()
        self._listen()

    def _lay_out(self) -> None:
        self.form = form = QFormLayout()
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(7)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        rows: tuple[tuple[str, QWidget | QHBoxLayout, QWidget, str], ...] = (
            ("&Judge", self.judge, self.judge, "The judge to test"),
            ("&What", self.what, self.what, "What it judged"),
            ("&Attacks", self.attacks, self.attacks, "Attacks"),
            ("&Verdicts", self._beside(self.many, "w&idth", self.span), self.many, "How many verdicts"),
            ("&Chance", self._beside(self.seed, "at &once", self.concurrency), self.seed, "Seed of the draw"),
            ("&Budget", self.budget, self.budget, "Budget in US dollars"),
        )
        for words, field, named, name in rows:
            label = QLabel(words)
            label.setBuddy(named)
            named.setAccessibleName(name)
            form.addRow(label, field)
        for combo in (self.judge, self.what):
            combo.keep_short(10)
            combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.span.setAccessibleName("Largest width of a rate's interval")
        self.span.setToolTip("Largest width of a failure rate's 95 % interval")
        self.many.setToolTip("Number of the judge's verdicts used for each attack")
        self.seed.setToolTip("The same seed draws the same verdicts")
        self.concurrency.setAccessibleName("Concurrent calls")
        card = QFrame()
        card.setProperty("role", "card")
        vertical(PlainLabel("Before it starts", "hint"), self.cost, self.told, on=card, spacing=4)
        vertical((form, 1), card, on=self, margins=(0, 0, 8, 0), spacing=10)

    def _beside(self, first: QWidget, words: str, second: QWidget) -> QHBoxLayout:
        row = horizontal(spacing=6)
        label = QLabel(words)
        label.setBuddy(second)
        for widget in (first, label, second):
            row.addWidget(widget)
        row.addStretch(1)
        return row

    def _listen(self) -> None:
        self.judge.currentIndexChanged.connect(lambda _: self._offer_protocols())
        self.what.currentIndexChanged.connect(lambda _: self._offer_attacks())
        self.attacks.itemChanged.connect(self._ticked)
        for number in (self.many, self.seed, self.span):
            number.valueChanged.connect(lambda _: self._turn())

    def fill(self, found: Sequence[AttackableJudge]) -> None:
        """Offer judges; what was chosen stays chosen."""
        self._offers = {one.judge.name: one for one in found}
        offer(self.judge, [(one.judge.name, one.judge.name) for one in found])
        self._counted = None
        self._offer_protocols()

    def show_place(self, judge: str) -> None:
        row = self.judge.findData(judge)
        if row >= 0:
            self.judge.setCurrentIndex(row)

    @property
    def offered(self) -> AttackableJudge | None:
        return self._offers.get(str(self.judge.currentData()))

    def chosen(self) -> tuple[str, ...]:
        entries = (self.attacks.item(row) for row in range(self.attacks.count()))
        return tuple(str(one.data(NAME)) for one in entries if one.checkState() == Qt.CheckState.Checked)

    def request(self) -> AttackRequest | None:
        """What is put together; None where nobody can be asked or nothing is ticked."""
        found, attacks = self.offered, self.chosen()
        if found is None or not attacks:
            return None
        return AttackRequest(
            found.judge.name, str(self.what.currentData()), attacks, self.many.value() or None,
            round(self.span.value(), 2), self.seed.value(),
        )  # fmt: skip

    def order(self) -> AttackRunRequest | None:
        """The same as an order: how fast, and for how much money."""
        request, found = self.request(), self.offered
        if request is None or found is None:
            return None
        budget = self.budget.value() or None if found.asks else None
        return attack_tests.order(request, concurrency=self.concurrency.value(), budget_usd=budget)

    def stop(self) -> None:
        self._soon.stop()
        self._end()

    def _offer_protocols(self) -> None:
        found = self.offered
        offer(
            self.what,
            [(f"{words} · {many:,}", name) for name, words, many in (found.protocols if found else ())],
        )
        for row in (self.form.rowCount() - 1,):
            self.form.setRowVisible(row, bool(found and found.asks))
        self._offer_attacks()

    def _offer_attacks(self) -> None:
        found = self.offered
        with QSignalBlocker(self.attacks):
            self.attacks.clear()
            for one in attack_offers.attacks_on(found.judge, str(self.what.currentData())) if found else ():
                entry = QListWidgetItem(one.title)
                entry.setData(NAME, one.name)
                entry.setToolTip(tooltip(f"{one.about}\n{one.lacks}".strip()))
                if one.lacks:
                    entry.setFlags(
                        entry.flags() & ~(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable)
                    )
                    entry.setData(Qt.ItemDataRole.AccessibleDescriptionRole, one.lacks)
                else:
                    off = one.name in self._left_out
                    entry.setCheckState(Qt.CheckState.Unchecked if off else Qt.CheckState.Checked)
                self.attacks.addItem(entry)
        self._turn()

    def _ticked(self, entry: QListWidgetItem) -> None:
        name = str(entry.data(NAME))
        off = entry.checkState() != Qt.CheckState.Checked
        self._left_out = self._left_out | {name} if off else self._left_out - {name}
        self._turn()

    def _turn(self) -> None:
        self.span.setEnabled(self.many.value() == 0)
        request = self.request()
        if request is None:
            self._end()
            self._counted = None
            self.cost.setText("")
            self.told.setText("Tick an attack." if self.offered else "")
        elif request != self._counted:
            self.cost.setText("Counting the questions…")
            self.told.setText("")
            self._soon.start()
        self.changed.emit()

    def _count(self) -> None:
        self._end()
        request = self.request()
        if request is None:
            return
        child = self._child = Child(self._desk, self)
        child.ended.connect(lambda line: self._ended(child, request, line))
        child.start(attack_tests.order(request), estimate=True)

    def _ended(self, child: Child, request: AttackRequest, found: dict[str, Any]) -> None:
        if child is not self._child or request != self.request():
            return
        self._child = None
        if "error" in found:
            self.cost.setText("")
            self.told.setText(found["error"])
            return
        self._counted = request
        self.cost.setText(cost_words(found))
        self.told.setText("\n".join(found["words"]))
        self.changed.emit()

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None and child.running:
            child.kill()


def cost_words(found: dict[str, Any]) -> str:
    """What a test costs, in a line."""
    judging, money = found["judging"], found["cost_usd"]
    verdicts = f"{counted(judging['units'], 'verdict')} on copies"
    if not judging["model"]:
        return f"{verdicts}; no model is called, and there is no cost."
    calls = counted(judging["calls"], "call")
    return f"{verdicts} by {calls}; {'at an unknown price' if money is None else f'about ${money:,.2f}'}."
