"""Choice of the items of a plan, and of those that everybody does first."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from annotator.actions.items import items
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.people.plans.pilot_choice import PilotChoice
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel


class ItemsChoice(QWidget):
    """All items, filtered by type, subject and unassigned ones; and the pilot items."""

    changed = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._taken: Mapping[Stage, AbstractSet[str]] = {}
        self._stages: tuple[Stage, ...] = ()
        self.type, self.subject = ChoiceBox(), ChoiceBox()
        for combo, name in ((self.type, "Question type"), (self.subject, "Subject")):
            combo.setAccessibleName(name)
            combo.keep_short(12)
            combo.currentIndexChanged.connect(lambda _: self._tell())
        self.fresh = QCheckBox("Only items not yet assigned at these stages")
        self.fresh.toggled.connect(lambda _: self._tell())
        self.count = PlainLabel("", "hint")
        self.pilot = PilotChoice(desk)
        self.pilot.changed.connect(self.changed)
        vertical(
            horizontal((self.type, 1), (self.subject, 1)),
            self.fresh,
            self.count,
            self.pilot,
            on=self,
            margins=0,
            spacing=4,
        )

    def fill(self, taken: Mapping[Stage, AbstractSet[str]]) -> None:
        """Offer what there is; `taken` says stage by stage which items someone has already."""
        self._taken = taken
        types, subjects = self._desk.ask(items.choices) or ([], [])
        for combo, first, values in (
            (self.type, "All types", types),
            (self.subject, "All subjects", subjects),
        ):
            offer(combo, [(first, ""), *((value, value) for value in values)])
        self.pilot.fill()
        self._count()

    def for_stages(self, stages: tuple[Stage, ...]) -> None:
        """From now on “nobody has it yet” is meant of these stages."""
        self._stages = stages
        self._count()

    def chosen(self) -> tuple[str, ...]:
        """The ids of the items that are to be shared out."""
        narrowed = items.Filter(
            question_type=self.type.currentData() or "", subject=self.subject.currentData() or ""
        )
        found = self._desk.ask(items.ids, narrowed) or []
        if self.fresh.isChecked():
            had = set().union(*(self._taken.get(stage, set()) for stage in self._stages))
            found = [item_id for item_id in found if item_id not in had]
        return tuple(found)

    def _tell(self) -> None:
        self._count()
        self.changed.emit()

    def _count(self) -> None:
        total = self._desk.ask(items.count) or 0
        self.count.setText(f"{len(self.chosen()):,} of {counted(total, 'item')}")
