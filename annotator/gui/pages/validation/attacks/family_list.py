"""Model families of systems and judges, read from their names and correctable."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QWidget

from annotator.actions.attacks import families
from annotator.actions.attacks.families import NONE, FamilyMember
from annotator.domain.judges.families import STEMS
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.layouts import StretchSpace, vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.plain_area import PlainArea

ABOUT = (
    "A judge may favour reports of its own family. By default the family is inferred from the name of the "
    "model or system; choose or type another, or “none”. The Bias view is updated."
)
BY_NAME = "by its name"


class FamilyList(QWidget):
    """A row for each system and judge with its family, to choose or type."""

    changed = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.boxes: dict[str, QComboBox] = {}
        self.area = PlainArea("Families")
        vertical(
            PlainLabel("Families", "subtitle"),
            PlainLabel(ABOUT, "hint", wrap=True),
            (self.area, 1),
            on=self,
            margins=0,
        )

    def fill(self) -> None:
        """Show everybody as they now are."""
        inner, grid = QWidget(), QGridLayout()
        self.boxes = {}
        for row, one in enumerate(self._desk.ask(families.members) or []):
            kind = "judge" if one.judge else "system"
            model = f" · {one.model}" if one.model else ""
            box = self._box(one)
            self.boxes[one.name] = box
            grid.addWidget(ElidedLabel(one.name), row, 0)
            grid.addWidget(ElidedLabel(f"{kind}{model}", "hint"), row, 1)
            grid.addWidget(box, row, 2)
        for place, stretch in enumerate((3, 3, 4)):
            grid.setColumnStretch(place, stretch)
        vertical(grid, StretchSpace(1), on=inner)
        self.area.setWidget(inner)

    def _box(self, one: FamilyMember) -> QComboBox:
        box = QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        line = LineField()
        box.setLineEdit(line)
        box.setAccessibleName(f"Family of {one.name}")
        told = f": {one.family or 'none known'}" if not one.said else ""
        box.addItem(f"{BY_NAME}{told}", "")
        box.addItem(NONE, NONE)
        for family in sorted({*STEMS, *([one.family] if one.family else [])}):
            box.addItem(family, family)
        place = box.findData(one.family or NONE) if one.said else 0
        box.setCurrentIndex(max(0, place))
        box.setEnabled(not self._desk.project.readonly)
        box.activated.connect(lambda _: self._say(one.name, box))
        line.editingFinished.connect(lambda: self._say(one.name, box))
        return box

    def _say(self, name: str, box: QComboBox) -> None:
        """Keep what was chosen or written, where that is something else."""
        words = box.currentText().strip()
        row = box.findText(words)
        family = str(box.itemData(row)) if row >= 0 else words
        known = {one.name: one for one in self._desk.ask(families.members) or []}
        one = known.get(name)
        kept = "" if one is None or not one.said else one.family or NONE
        if one is not None and family != kept:
            self._desk.do(families.set_family, name, family)
            self.changed.emit()
