"""Preview of a plan: why it cannot be met, load, pairings, items."""

from collections.abc import Sequence

from PySide6.QtWidgets import (
    QWidget,
)

from annotator.actions.assignments.planning import PlannedWork
from annotator.domain.experts.person import Person
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.texts.counting import counted
from annotator.domain.texts.ordering import natural
from annotator.gui.pages.people.plans.load_bars import LoadBars
from annotator.gui.pages.people.plans.pairing_square import PairingSquare
from annotator.gui.pages.people.plans.pairings import in_a_sentence, of_ids
from annotator.gui.pages.people.plans.plan_lines import ItemPlan, columns, item_plans
from annotator.gui.tables.cells import CellsModel
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.bars.tabs import Tabs
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.lists.lines_table import LinesTable
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.plain_area import PlainArea

# So many reasons are shown; the item-by-item table has them all.
REASONS = 6
STAGE_WIDTH = 136


class PlanPreview(QWidget):
    """Updated with every edit of the form."""

    def __init__(self) -> None:
        super().__init__()
        self.summary, self.answer = PlainLabel("", "subtitle", wrap=True), MessageBar()
        self.load = LoadBars()
        self.met, self.square = PlainLabel("", "hint", wrap=True), PairingSquare()
        self.lines = CellsModel[ItemPlan]((), self)
        self.table = LinesTable("The plan item by item", self.lines)
        self.table.horizontalHeader().setDefaultSectionSize(STAGE_WIDTH)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.tabs = Tabs("Views of the plan")
        self.tabs.addTab(self._overview(), "Load and pairings")
        self.tabs.addTab(self.table, "Item by item")
        vertical(self.summary, self.answer, (self.tabs, 1), on=self, margins=(14, 8, 2, 0), spacing=8)

    def _overview(self) -> QWidget:
        inside = QWidget()
        column = vertical(on=inside, margins=(0, 10, 10, 8), spacing=6)
        self._heads = [PlainLabel("Load", "strong"), PlainLabel("Pairs", "strong")]
        column.addWidget(self._heads[0])
        column.addWidget(self.load)
        column.addSpacing(8)
        for part in (self._heads[1], self.met, self.square):
            column.addWidget(part)
        column.addStretch(1)
        return PlainArea("Overview", inside)

    def show_preview(self, plan: AssignmentPlan, found: PlannedWork, everybody: Sequence[Person]) -> None:
        """Show what a plan would come to."""
        by_alias = sorted(everybody, key=lambda person: natural(person.alias))
        known = {person.id: (person.alias, person.name) for person in by_alias}
        self.summary.setText(_summary(found))
        self._say(found)
        self.load.show_load(found.load)
        chosen = [person.id for person in by_alias if person.id in plan.annotators]
        pairs = plan.overlap > 1 and len(chosen) > 1 and bool(found.pairings)
        self.square.show_pairs(of_ids(known, chosen) if pairs else [], found.pairings)
        self.met.setText(in_a_sentence(found.pairings) if pairs else "")
        self._heads[0].setVisible(bool(found.load))
        for part in (self._heads[1], self.met, self.square):
            part.setVisible(pairs)
        aliases = {key: alias for key, (alias, _) in known.items()}
        self.lines.show(item_plans(found.lines), columns(found.lines, aliases, plan.overlap))

    def _say(self, found: PlannedWork) -> None:
        if found.refusals:
            more = len(found.refusals) - REASONS
            reasons = [*found.refusals[:REASONS], *([f"… and {more} more"] if more > 0 else [])]
            self.answer.show_message("error", "This plan cannot be met.", "\n".join(reasons), lasting=True)
        elif found.notes:
            self.answer.show_message("info", found.notes[0], "\n".join(found.notes[1:]), lasting=True)
        else:
            self.answer.clear()


def _summary(found: PlannedWork) -> str:
    if found.refusals:
        return "Nothing can be assigned yet"
    if not found.new:
        return "Nothing is left to assign"
    people = sum(1 for each in found.load if each.new)
    items = len({line.item_id for line in found.lines})
    to = counted(people, "person", "people")
    return f"{counted(found.new, 'piece')} of work for {to} on {counted(items, 'item')}"
