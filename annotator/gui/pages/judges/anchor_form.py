"""What is to be frozen of a judge's verdicts, and how the check against them is carried out."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from annotator.actions import drift, judge_planning
from annotator.actions.drift_standings import Standing
from annotator.actions.judge_cases import Order
from annotator.domain.counting import counted
from annotator.domain.refusal import Refusal
from annotator.gui import theme
from annotator.gui.desk import Desk
from annotator.gui.models.judge_words import when
from annotator.gui.widgets.number_box import AmountBox, NumberBox
from annotator.gui.widgets.plain import PlainLabel

MOST = 100_000


class AnchorForm(QWidget):
    """How many verdicts of which systems and items, and below it the pace and the budget of a check."""

    changed = Signal()
    """Something that a check costs or takes by."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.words = PlainLabel("", wrap=True)
        self.many = NumberBox(minimum=1, maximum=MOST, value=drift.SIZE)
        self.systems = QListWidget()
        self.items = QLineEdit(placeholderText="all items; or keys, e.g. 1, 4, 7–9", clearButtonEnabled=True)
        self.concurrency = NumberBox(minimum=1, maximum=512, value=8)
        self.timeout = NumberBox(minimum=5, maximum=3600, value=120, suffix=" s")
        self.budget = AmountBox(minimum=0, maximum=100_000, decimals=2, prefix="$ ")
        self.budget.setSpecialValueText("no limit")
        for widget, name in (
            (self.many, "How many verdicts are frozen"),
            (self.systems, "Of which systems; all unless some are ticked"),
            (self.items, "Of which items, by key"),
            (self.concurrency, "Calls at once"),
            (self.timeout, "Seconds that one call may take"),
            (self.budget, "Budget in US dollars"),
        ):
            widget.setAccessibleName(name)
        self.systems.setToolTip("All systems, unless some are ticked")
        # Of whom it is now said what is frozen.
        self._shown: tuple[str, str, object] = ("", "", None)
        self._lay_out()
        for number in (self.concurrency, self.timeout, self.budget):
            number.valueChanged.connect(lambda _: self.changed.emit())

    def _lay_out(self) -> None:
        self.form = form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(7)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow(PlainLabel("What is frozen", "strong"))
        form.addRow(self.words)
        chance = _row(self.many, PlainLabel("chosen by chance", "hint"))
        self._choice: tuple[QWidget | QHBoxLayout, ...] = (chance, self.systems, self.items)
        form.addRow("&Verdicts", chance)
        form.addRow("&Systems", self.systems)
        form.addRow("&Items", self.items)
        form.addRow(PlainLabel("The check", "strong"))
        form.addRow("At &once", _row(self.concurrency, _named("Ti&me-out", self.timeout), self.timeout))
        form.addRow("&Budget", _row(self.budget))
        for words, field in (
            ("&Verdicts", self.many),
            ("At &once", self.concurrency),
            ("&Budget", self.budget),
        ):
            self._label(words).setBuddy(field)

    def _label(self, words: str) -> QLabel:
        return next(label for label in self.findChildren(QLabel) if label.text() == words)

    def offer_systems(self, names: Sequence[str]) -> None:
        """Offer the systems there are; what was ticked stays ticked."""
        if list(names) == [self.systems.item(row).text() for row in range(self.systems.count())]:
            return
        ticked = self.chosen_systems()
        self.systems.clear()
        for name in names:
            entry = QListWidgetItem(name)
            entry.setCheckState(Qt.CheckState.Checked if name in ticked else Qt.CheckState.Unchecked)
            self.systems.addItem(entry)
        self.systems.setFixedHeight(theme.current().px(30) * max(2, min(3, len(names))) + 4)

    def show_standing(self, one: Standing) -> None:
        """Say what is frozen of a judge."""
        if self._shown != (one.judge_id, one.protocol, one.frozen_at):
            self._shown = (one.judge_id, one.protocol, one.frozen_at)
            self._offer_choice(offered=one.frozen_at is None)
        whole = counted(one.verdicts, "verdict")
        if one.frozen_at is None:
            self.words.setText(f"Nothing yet, of {whole}. Freezing asks nobody and costs nothing.")
            return
        self.words.setText(
            f"{counted(one.frozen, 'verdict')} on {counted(one.items, 'item')}, since {when(one.frozen_at)}."
        )

    def choose_anew(self) -> None:
        """Let verdicts be chosen although some are frozen."""
        self._offer_choice(offered=True)

    def _offer_choice(self, *, offered: bool) -> None:
        for row in self._choice:
            self.form.setRowVisible(row, offered and (row is not self.systems or self.systems.count() > 1))

    def chosen_systems(self) -> tuple[str, ...]:
        """The systems that are ticked; none means all."""
        entries = (self.systems.item(row) for row in range(self.systems.count()))
        return tuple(entry.text() for entry in entries if entry.checkState() == Qt.CheckState.Checked)

    def keys(self) -> tuple[str, ...] | Refusal:
        """The items' keys that are written, none for all; what is wrong with them instead where something is."""
        try:
            return judge_planning.keys_of(self._desk.project, self.items.text())
        except Refusal as refusal:
            return refusal

    def order(self, one: Standing) -> Order:
        """The order of a check."""
        return Order(
            judge=one.judge,
            protocol=drift.PREFIX + one.protocol,
            concurrency=self.concurrency.value(),
            timeout_s=float(self.timeout.value()),
            budget_usd=self.budget.value() or None,
        )


def _row(*parts: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(8)
    for part in parts:
        row.addWidget(part)
    row.addStretch(1)
    return row


def _named(words: str, field: QWidget) -> QLabel:
    label = QLabel(words)
    label.setBuddy(field)
    return label
