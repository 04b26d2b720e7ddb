"""Assignment tab: a plan on the left, its preview on the right, one key to assign."""

from collections import defaultdict
from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QWidget

from annotator.actions.assignments import assignments, planning
from annotator.actions.items import items
from annotator.actions.labelling.board import AssignmentStatus
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Person
from annotator.domain.texts.counting import counted
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.people.plans.plan_form import PlanForm
from annotator.gui.pages.people.plans.plan_preview import PlanPreview
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.later import later
from annotator.gui.widgets.layouts import stacked, vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.plain_area import PlainArea

SETTLE_MS = 150


class HandOut(QWidget):
    """The form, its live preview, and the bar that assigns."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._people: Sequence[Person] = ()
        self.answer = MessageBar()
        self.form, self.preview = PlanForm(desk, self.answer), PlanPreview()
        self._later = later(self, self.work_out, SETTLE_MS)
        self.form.changed.connect(self._later.start)
        self.assign = KeyButton("Assign", role="primary")
        self.assign.clicked.connect(self.submit)
        self.nothing = EmptyState(
            "items",
            "No items to hand out",
            "Work is handed out item by item. Import a benchmark, or write the first item yourself.",
        )
        self.nothing.add_action("Import…", lambda: desk.go("Import"), primary=True)
        self.nothing.add_action("Go to Items", lambda: desk.go("Items"))
        self.body = stacked(self.nothing, self._work())
        vertical(self.body, on=self, margins=0)
        self.rebind()

    def _work(self) -> QWidget:
        area = PlainArea("Work to hand out", self.form)
        parts = Splitter("people/hand out", parts=(area, self.preview), sizes=(470, 600), stretch=(2, 3))
        foot = QHBoxLayout()
        foot.addWidget(PlainLabel(
            "Existing assignments stay and are counted; the adjudicator of an item is never one of its "
            "annotators.", "hint", wrap=True,
        ), 1)  # fmt: skip
        foot.addWidget(self.assign)
        work = QWidget()
        column = vertical((parts, 1), on=work, margins=(0, 6, 0, 0), spacing=6)
        self.answer.float_over(parts)
        column.addLayout(foot)
        return work

    def rebind(self) -> None:
        """Print the keys as they now are on the buttons."""
        self.assign.set_key(keys.shown("submit"))

    def focus_first(self) -> None:
        """Work begins in the form."""
        if self.body.currentIndex() == 1:
            self.form.focus_first()

    def fill(self, everybody: Sequence[Person], lines: Sequence[AssignmentStatus]) -> None:
        """Take over the people, items and assignments there are now."""
        self._people = everybody
        taken: defaultdict[Stage, set[str]] = defaultdict(set)
        for line in lines:
            taken[line.stage].add(line.item_id)
        self.body.setCurrentIndex(1 if self._desk.ask(items.count) else 0)
        self.form.fill(everybody, taken)
        self.work_out()

    def work_out(self) -> None:
        """Work the plan out as the form now has it."""
        self._later.stop()
        plan = self.form.plan()
        found = self._desk.ask(planning.preview, plan)
        if found is not None:
            self.preview.show_preview(plan, found, self._people)
            # One that cannot be met may be pressed, too: it then says why.
            wanted = bool(found.new or found.refusals)
            self.assign.setEnabled(wanted and not self._desk.project.readonly)

    def submit(self) -> None:
        """Assign the plan; one that cannot be met says why, where it is shown."""
        if self._later.isActive():
            self.work_out()
        if self.body.currentIndex() == 0 or not self.assign.isEnabled():
            return
        self.answer.clear()
        change = self._desk.do(assignments.assign, self.form.plan())
        self.work_out()
        if change is not None:
            made = counted(len(change.after["rows"]), "piece")
            self.answer.show_message(
                "success", f"Assigned {made} of work.", f"{keys.shown('undo')} undoes it."
            )
            self.answer.set_action("See progress", lambda: self._desk.go("People", part="Progress"))
