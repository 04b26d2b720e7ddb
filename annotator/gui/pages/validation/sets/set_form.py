"""Form of a validation set: name, subject, raters, size, and a preview."""

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFormLayout,
    QHBoxLayout,
    QRadioButton,
    QSizePolicy,
    QWidget,
)

from annotator.actions.judging.judge_offers import title
from annotator.actions.labelling import label_offers
from annotator.actions.labelling.label_rows import USUAL, submits
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets
from annotator.actions.sets.validation_sets import SetPreview, SetRequest
from annotator.domain.experts.person import Role
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.naming import in_order
from annotator.gui.review.people_choice import PeopleChoice
from annotator.gui.widgets.basics import PlainLabel
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.labelled import beside
from annotator.gui.widgets.fields.number_box import AmountBox, NumberBox
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.later import later

PAUSE_MS = 300
ABOUT = (
    "Responses are drawn at random, stratified by question type, system and length, and assigned to people "
    "blind to judge and system. No judge is shown on them before their labels are locked."
)
WIDTH = "Target width of the 95 % interval of a share, such as an agreement"
SHARE = "The agreement you expect; 0.5 needs the most labels"
LIKENESS = "Correlation of units within an item: 0 none, 1 identical. The higher, the more labels are needed"
UNNAMED = "Name the set to see what would be drawn."
TEST = "Items of the test part are for the figures you report: choose and tune judges on the others"


def looked(project: Project, request: SetRequest) -> SetPreview | Refusal:
    """What a request comes to, or why it cannot be had."""
    try:
        return validation_sets.preview(project, request)
    except Refusal as refusal:
        return refusal


class SetForm(QWidget):
    """The form of a request; `told` is its preview, for the page to keep in view.

    `looked_at` tells whether that can be had.
    """

    looked_at = Signal(bool)

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk, self._asked, self.stopped = desk, 0, False
        self._stale = True
        self.name = LineField(placeholderText="e.g. Spring validation", clearButtonEnabled=True)
        self.what, self.people = ChoiceBox(), PeopleChoice("People", "Nobody has the role of annotator.")
        self.raters = NumberBox(minimum=2, maximum=20, value=2)
        self.by_width, self.by_size = QRadioButton("for an &interval"), QRadioButton("number of &reports")
        self.interval = AmountBox(
            minimum=0.01, maximum=0.9, decimals=2, singleStep=0.01, value=0.1, suffix=" wide"
        )
        self.reports = NumberBox(minimum=1, maximum=100_000, value=20)
        self.share = AmountBox(minimum=0, maximum=1, decimals=2, singleStep=0.05, value=0.5)
        self.likeness = AmountBox(minimum=0, maximum=1, decimals=2, singleStep=0.05, value=0.1)
        self.test = NumberBox(minimum=0, maximum=100, value=50, suffix=" % of items")
        self.seed = NumberBox(minimum=0, maximum=999_999, value=1)
        self.apart = QCheckBox("Hand out as assignments, to label apart and submit")
        self.told = PlainLabel("", wrap=True)
        self._later = later(self, self._look, PAUSE_MS)
        self._lay_out()
        self._listen()

    def _lay_out(self) -> None:
        sizes = QButtonGroup(self)
        for button in (self.by_width, self.by_size):
            sizes.addButton(button)
        self.by_width.setChecked(True)
        form = self.form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(7)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow(PlainLabel(ABOUT, "hint", wrap=True))
        self.what.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        rows: tuple[tuple[str, QWidget | QHBoxLayout], ...] = (
            ("&Name", self.name),
            ("&What", self.what),
            ("", self.people),
            ("People per item", beside(self.raters)),
            ("As many as", beside(self.by_width, self.interval)),
            ("or", beside(self.by_size, self.reports)),
            ("Expected agreement", beside(self.share)),
            ("Intra-item ICC", beside(self.likeness)),
            ("Test part", beside(self.test)),
            ("Seed", beside(self.seed)),
            ("", self.apart),
        )
        for words, field in rows:
            form.addRow(words, field)
        named: tuple[tuple[QWidget, str, str], ...] = (
            (self.name, "Name of the set", ""),
            (self.what, "Protocol", ""),
            (self.raters, "People per item", ""),
            (self.interval, "Width of the interval", WIDTH),
            (self.reports, "Number of reports", ""),
            (self.share, "Expected agreement", SHARE),
            (self.likeness, "Intra-item correlation (ICC)", LIKENESS),
            (self.test, "Share of items in the test part, per cent", TEST),
            (self.seed, "Seed of the draw", "The same seed draws the same set"),
        )
        for box, name, tip in named:
            box.setAccessibleName(name)
            box.setToolTip(tip)

    def _listen(self) -> None:
        self.name.textChanged.connect(lambda _: self._look_soon())
        self.what.currentIndexChanged.connect(lambda _: self._chosen())
        self.people.changed.connect(self._look_soon)
        self.by_width.toggled.connect(lambda _: self._turn())
        for number in (
            self.raters,
            self.interval,
            self.reports,
            self.share,
            self.likeness,
            self.test,
            self.seed,
        ):
            number.valueChanged.connect(lambda _: self._look_soon())
        self._turn()

    def _turn(self) -> None:
        by_width = self.by_width.isChecked()
        for box in (self.interval, self.share, self.likeness):
            box.setEnabled(by_width)
        self.reports.setEnabled(not by_width)
        self._look_soon()

    def _chosen(self) -> None:
        always = submits(str(self.what.currentData() or USUAL))
        self.apart.setChecked(always or self.apart.isChecked())
        self.apart.setEnabled(not always)
        self._look_soon()

    def fill(self) -> None:
        """Offer the people and questions there are now; what was chosen stays chosen."""
        active = [one for one in people.people(self._desk.project) if one.active and one.has(Role.ANNOTATOR)]
        usual = [one for one in active if not one.has(Role.COORDINATOR)] or active
        self.people.fill(in_order(active), frozenset(one.id for one in usual))
        offer(self.what, [(title(name), name) for name in self._desk.ask(label_offers.offered) or ()])
        self._chosen()

    def request(self) -> SetRequest:
        return SetRequest(
            name=self.name.text().strip(),
            people=self.people.chosen(),
            protocol=str(self.what.currentData() or USUAL),
            width=round(self.interval.value(), 4),
            share=round(self.share.value(), 4),
            likeness=round(self.likeness.value(), 4),
            size=self.reports.value() if self.by_size.isChecked() else None,
            test_share=self.test.value() / 100,
            raters=self.raters.value(),
            seed=self.seed.value(),
            apart=self.apart.isChecked(),
        )

    def focus_first(self) -> None:
        self.name.setFocus()

    def stop(self) -> None:
        self.stopped = True
        self._later.stop()

    def _look_soon(self) -> None:
        """What a request comes to is counted for anyone who sees it."""
        self._stale = True
        if self.isVisible():
            self._later.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._later.start()

    def _look(self) -> None:
        self._asked += 1
        self._stale = False
        asked = self._asked

        def show(found: Any) -> None:
            if asked == self._asked and not self.stopped:
                self._show(found)

        self._desk.ask_later(show, looked, self.request())

    def _show(self, found: SetPreview | Refusal) -> None:
        refused = isinstance(found, Refusal)
        words = f"{found.happened} {found.todo}" if isinstance(found, Refusal) else "\n".join(found.told)
        words = words if self.name.text().strip() else UNNAMED
        self.told.setText(words)
        self.told.setProperty("role", "hint" if refused else "")
        self.told.style().polish(self.told)
        self.looked_at.emit(not refused)
