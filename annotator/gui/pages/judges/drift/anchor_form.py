"""Form to freeze an anchor set and to check against it."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QWidget

from annotator.actions.judging import drift, judge_planning
from annotator.actions.judging.drift import DriftStatus
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.desk import Desk
from annotator.gui.review.judge_words import when
from annotator.gui.widgets.fields.labelled import beside, label_of
from annotator.gui.widgets.fields.number_box import BudgetBox, NumberBox
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.lists.tick_list import TickList
from annotator.gui.widgets.plain import PlainLabel

MOST = 100_000


class AnchorForm(QWidget):
    """Verdicts per set, systems (all by default) and items; below, speed and budget of a check."""

    changed = Signal()
    """Something that a check costs or takes by."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.words = PlainLabel("", wrap=True)
        self.many = NumberBox(minimum=1, maximum=MOST, value=drift.SIZE)
        self.systems = TickList("Systems; all unless some are ticked", 2, 3)
        self.items = LineField(placeholderText="all items; or keys, e.g. 1, 4, 7–9", clearButtonEnabled=True)
        self.concurrency = NumberBox(minimum=1, maximum=512, value=8)
        self.timeout = NumberBox(minimum=5, maximum=3600, value=120, suffix=" s")
        self.budget = BudgetBox()
        for widget, name in (
            (self.many, "Number of verdicts to freeze"),
            (self.items, "Items, by key"),
            (self.concurrency, "Concurrent calls"),
            (self.timeout, "Timeout of one call, in seconds"),
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
        form.addRow(PlainLabel("Frozen verdicts", "strong"))
        form.addRow(self.words)
        chance = beside(self.many, PlainLabel("chosen at random", "hint"))
        self._choice: tuple[QWidget | QHBoxLayout, ...] = (chance, self.systems, self.items)
        form.addRow(label_of(self.many, "&Verdicts"), chance)
        form.addRow("&Systems", self.systems)
        form.addRow("&Items", self.items)
        form.addRow(PlainLabel("The check", "strong"))
        pace = beside(self.concurrency, label_of(self.timeout, "Ti&me-out"), self.timeout)
        form.addRow(label_of(self.concurrency, "At &once"), pace)
        form.addRow(label_of(self.budget, "&Budget"), beside(self.budget))

    def show_standing(self, one: DriftStatus) -> None:
        """Say what is frozen of a judge."""
        if self._shown != (one.judge_id, one.protocol, one.frozen_at):
            self._shown = (one.judge_id, one.protocol, one.frozen_at)
            self._offer_choice(offered=one.frozen_at is None)
        whole = counted(one.verdicts, "verdict")
        if one.frozen_at is None:
            self.words.setText(f"None of {whole} yet. Freezing makes no call and costs nothing.")
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

    def keys(self) -> tuple[str, ...] | Refusal:
        """The items' keys that are written, none for all; what is wrong with them instead where something is."""
        try:
            return judge_planning.keys_of(self._desk.project, self.items.text())
        except Refusal as refusal:
            return refusal

    def order(self, one: DriftStatus) -> RunRequest:
        """The order of a check."""
        return RunRequest(
            judge=one.judge,
            protocol=drift.PREFIX + one.protocol,
            concurrency=self.concurrency.value(),
            timeout_s=float(self.timeout.value()),
            budget_usd=self.budget.limit,
        )
