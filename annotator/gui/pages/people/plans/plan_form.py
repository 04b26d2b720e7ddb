"""Form of an assignment plan."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from PySide6.QtCore import QDate, Signal
from PySide6.QtWidgets import QCheckBox, QDateEdit, QWidget

from annotator.actions.labelling import label_cases
from annotator.actions.labelling.label_rows import USUAL
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Person, Role
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.due import end_of_day
from annotator.gui.desk.naming import title
from annotator.gui.pages.people.plans.items_choice import ItemsChoice
from annotator.gui.pages.people.plans.overlap_choice import OverlapChoice
from annotator.gui.pages.people.plans.pair_orders import PairOrders
from annotator.gui.review.people_choice import PeopleChoice
from annotator.gui.widgets.bars.flow_row import wrapping
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.fields.number_box import NumberBox
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel

# The stages in which annotators work, in the order of the work; who adjudicates follows from the adjudicators.
WORK = tuple(stage for stage in Stage if stage is not Stage.ADJUDICATION)
FORTNIGHT = 14
MOST_SEEDS = 999_999
REPEATS = (
    "A few of a person's own reports are repeated later under another name. This measures how far they "
    "agree with themselves, an upper limit for their agreement with others."
)


class PlanForm(QWidget):
    """All settings of a plan; `changed` follows every edit."""

    changed = Signal()

    def __init__(self, desk: Desk, answer: MessageBar) -> None:
        """`answer` is where it is said what was chosen at once, whatever becomes of the plan."""
        super().__init__()
        self.pairs = PairOrders(desk, answer)
        self.stages = {stage: QCheckBox(title(stage)) for stage in WORK}
        self.stages[Stage.RUBRIC].setChecked(True)
        self.labels = {
            name: QCheckBox(label_cases.presentation_of(name).tab) for name in label_cases.labelled()
        }
        self.labels[USUAL].setChecked(True)
        self.reviewed = QCheckBox("One drafts and the others review the draft, not blind")
        self.overlap = OverlapChoice()
        self.annotators = PeopleChoice("Annotators", "Nobody has the role of annotator.")
        self.adjudicators = PeopleChoice(
            "Adjudicators", "Nobody has the role of adjudicator; without one, there is no consensus."
        )
        self.items = ItemsChoice(desk)
        self._make_numbers()
        self._lay_out()
        for box in (*self.stages.values(), *self.labels.values(), self.has_due, self.reviewed):
            box.toggled.connect(lambda _: self._stirred())
        for part in (self.overlap, self.annotators, self.adjudicators, self.items):
            part.changed.connect(self._stirred)
        for spin in (self.share, self.after, self.seed):
            spin.valueChanged.connect(lambda _: self._stirred())
        self.due.dateChanged.connect(lambda _: self._stirred())
        self._stirred()

    def _make_numbers(self) -> None:
        self.has_due, self.due = (
            QCheckBox("Due by the end of"),
            QDateEdit(QDate.currentDate().addDays(FORTNIGHT)),
        )
        self.due.setCalendarPopup(True)
        self.due.setDisplayFormat("ddd d MMM yyyy")
        self.due.setAccessibleName("Due date")
        self.share, self.after, self.seed = NumberBox(), NumberBox(), NumberBox()
        self.share.setRange(0, 50)
        self.share.setSuffix(" %")
        self.share.setSpecialValueText("none")
        self.share.setAccessibleName("Share of a person's labelling to repeat, per cent")
        self.after.setRange(1, 365)
        self.after.setValue(10)
        self.after.setSuffix(" days later")
        self.after.setAccessibleName("Days before a repeat")
        self.seed.setRange(0, MOST_SEEDS)
        self.seed.setAccessibleName("Seed of the draw")

    def _lay_out(self) -> None:
        column = vertical(on=self, margins=(2, 8, 14, 12), spacing=6)
        stages, labels = (wrapping(*boxes.values(), gap=16) for boxes in (self.stages, self.labels))
        people = horizontal((self.annotators, 1), (self.adjudicators, 1), spacing=12)
        for heading, part in (
            ("Stages, in the order of the work", stages),
            ("What is labelled", labels),
            ("Number of people who answer each item, blind to one another", self.overlap),
            ("", self.reviewed),
            ("People", people),
            ("Items", self.items),
            ("Due", wrapping(self.has_due, self.due)),
            ("Silent repeats of labelling", wrapping(self.share, self.after)),
        ):
            if heading:
                column.addWidget(PlainLabel(heading, "strong"))
            if isinstance(part, QWidget):
                column.addWidget(part)
            else:
                column.addLayout(part)
            column.addSpacing(6)
        column.insertWidget(column.count() - 1, PlainLabel(REPEATS, "hint", wrap=True))
        column.addWidget(PlainLabel("Labelling of pairs, not only of this plan", "strong"))
        column.addWidget(self.pairs)
        column.addSpacing(6)
        column.addLayout(
            wrapping(PlainLabel("Seed"), self.seed, PlainLabel("the same seed draws the same plan", "hint"))
        )
        column.addStretch(1)

    def fill(self, everybody: Sequence[Person], taken: Mapping[Stage, AbstractSet[str]]) -> None:
        """Offer the people and items there are now; what was chosen stays chosen."""
        self.pairs.fill()
        active = [person for person in everybody if person.active]
        annotators = [person for person in active if person.has(Role.ANNOTATOR)]
        adjudicators = [person for person in active if person.has(Role.ADJUDICATOR)]
        # Anyone who coordinates would see how the partner is doing: they are not asked to write unless others are few.
        others = [person for person in annotators if not person.has(Role.COORDINATOR)]
        usual = others if len(others) >= self.overlap.value() else annotators
        self.annotators.fill(annotators, frozenset(person.id for person in usual))
        self.adjudicators.fill(adjudicators, frozenset(person.id for person in adjudicators))
        self.overlap.at_most(max(2, len(annotators)))
        self.items.fill(taken)

    def plan(self) -> AssignmentPlan:
        """The plan as it now is."""
        date = self.due.date()
        stages = tuple(stage for stage, box in self.stages.items() if box.isChecked())
        # Labels and ratings are given blind whatever else is handed out with them.
        reviewed = tuple(stage for stage in stages if stage not in (Stage.LABELLING, Stage.SELECTION))
        return AssignmentPlan(
            stages=stages,
            reviewed=reviewed if self.reviewed.isChecked() else (),
            overlap=self.overlap.value(),
            annotators=self.annotators.chosen(),
            adjudicators=self.adjudicators.chosen(),
            items=self.items.chosen(),
            due=end_of_day(date) if self.has_due.isChecked() else None,
            seed=self.seed.value(),
            pilot_items=self.items.pilot.chosen(),
            repeat_share=self.share.value() / 100 if self.share.isEnabled() else 0.0,
            repeat_after_days=self.after.value(),
            same_people=self.overlap.same_people(),
            protocols=tuple(name for name, box in self.labels.items() if box.isChecked()),
        )

    def focus_first(self) -> None:
        """Work begins with the stages."""
        next(iter(self.stages.values())).setFocus()

    def _stirred(self) -> None:
        self.due.setEnabled(self.has_due.isChecked())
        labelling = self.stages[Stage.LABELLING].isChecked()
        for box in self.labels.values():
            box.setEnabled(labelling)
        self.share.setEnabled(labelling)
        self.after.setEnabled(labelling and self.share.value() > 0)
        self.items.for_stages(tuple(stage for stage, box in self.stages.items() if box.isChecked()))
        self.changed.emit()
