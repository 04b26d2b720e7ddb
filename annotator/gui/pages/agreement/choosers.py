"""What is looked at: which section, grouped by what, of which stage."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QLabel, QSizePolicy, QToolButton, QWidget

from annotator.actions.agreement.agreement_figures import Row
from annotator.actions.agreement.agreement_report import Report
from annotator.domain.experts.assignment import Stage
from annotator.gui import theme
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.layouts import horizontal
from annotator.gui.widgets.plain import tooltip

GROUPINGS = (
    ("stage", "Stage"),
    ("pair", "Pair of raters"),
    ("person", "Person"),
    ("criterion", "Criterion"),
    ("item", "Item"),
    ("week", "Week"),
    ("guideline", "Guideline version"),
)
ASSISTED = (
    "A judge with an endpoint pairs units by meaning; these figures are reported separately. No call is "
    "made until you start it."
)
SECTIONS = ("Between raters", "With themselves", "Seniors' first votes")


class Choosers(QWidget):
    """Two lists and, once there is anything to choose between, the sections beside one another."""

    asked = Signal()
    """Another grouping or stage is to be counted."""
    turned = Signal()
    """Another section is to be shown."""

    def __init__(self) -> None:
        super().__init__()
        self.grouping, self.stages, self.judges = ChoiceBox(), ChoiceBox(), ChoiceBox()
        row = FlowRow(self, gap=10)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        for said, combo, name in (
            ("&By", self.grouping, "Grouped by"),
            ("Sta&ge", self.stages, "Stage"),
            ("Assis&ted by", self.judges, "Judge that pairs by meaning"),
        ):
            label = QLabel(said)
            label.setBuddy(combo)
            combo.setAccessibleName(name)
            row.addWidget(_side_by_side(label, combo))
        for by, said in GROUPINGS:
            self.grouping.addItem(said, by)
        self.stages.addItem("All stages", None)
        self.judges.setToolTip(tooltip(ASSISTED))
        for combo in (self.grouping, self.stages, self.judges):
            combo.currentIndexChanged.connect(lambda _: self.asked.emit())
        row.addWidget(self._sections())

    def _sections(self) -> QWidget:
        self.sections = QButtonGroup(self)
        for place, name in enumerate(SECTIONS):
            button = QToolButton()
            button.setText(name)
            button.setCheckable(True)
            button.hide()
            button.setProperty("role", "segment")
            self.sections.addButton(button, place)
        self.sections.button(0).setChecked(True)
        self.sections.idToggled.connect(lambda _, on: self.turned.emit() if on else None)
        return _side_by_side(*self.sections.buttons(), gap=0)

    @property
    def by(self) -> str:
        """What the figures are grouped by."""
        return str(self.grouping.currentData())

    @property
    def stage(self) -> Stage | None:
        """Of which stage they are, None for all."""
        return Stage(self.stages.currentData()) if self.stages.currentData() else None

    @property
    def judge(self) -> str:
        """The judge whose pairing gives second figures; empty for nobody."""
        return str(self.judges.currentData() or "")

    @property
    def asks(self) -> tuple[str, Stage | None, str]:
        """What is to be counted: grouped by what, of which stage, and by whose pairing besides."""
        return self.by, self.stage, self.judge

    def offer_judges(self, found: list[tuple[str, int]]) -> None:
        """Offer judges, each with how much it has paired; at first whoever paired most is chosen. Tells nobody."""
        first = not self.judges.count()
        offer(self.judges, [("nobody", ""), *((name, name) for name, _ in found)])
        if first and found and found[0][1]:
            blocked = self.judges.blockSignals(True)
            self.judges.setCurrentIndex(1)
            self.judges.blockSignals(blocked)

    def rows(self, report: Report) -> list[Row]:
        """The rows of the chosen section."""
        return list((report.rows, report.repeats, report.votes)[self.sections.checkedId()])

    def offer(self, report: Report) -> None:
        """Offer the stages and sections of a report; tells nobody."""
        kept = self.stages.currentData()
        blocked = self.stages.blockSignals(True), self.sections.blockSignals(True)
        self.stages.clear()
        self.stages.addItem("All stages", None)
        for stage in report.stages:
            self.stages.addItem(stage.value.capitalize(), stage.value)
        self.stages.setCurrentIndex(max(0, self.stages.findData(kept)))
        there = [bool(report.repeats or report.votes), bool(report.repeats), bool(report.votes)]
        last = max((place for place, any_ in enumerate(there) if any_), default=0)
        for place, any_ in enumerate(there):
            button = self.sections.button(place)
            button.setVisible(any_)
            theme.set_role(button, position={0: "first", last: "last"}.get(place, ""))
        if not there[self.sections.checkedId()]:
            self.sections.button(0).setChecked(True)
        self.stages.blockSignals(blocked[0])
        self.sections.blockSignals(blocked[1])

    def choose(self, by: str, stage: Stage | None = None) -> None:
        """Choose a grouping and a stage."""
        self.stages.setCurrentIndex(max(0, self.stages.findData(stage.value if stage else None)))
        self.grouping.setCurrentIndex(self.grouping.findData(by))

    def enable(self, enabled: bool) -> None:
        """Let choose, or not; people with themselves and seniors' votes have one grouping only."""
        self.stages.setEnabled(enabled)
        self.judges.setEnabled(enabled)
        self.grouping.setEnabled(enabled and self.sections.checkedId() == 0)


def _side_by_side(*widgets: QWidget, gap: int = 6) -> QWidget:
    """Widgets that stay together where the row breaks."""
    made = QWidget()
    horizontal(*widgets, on=made, margins=0, spacing=gap)
    return made
