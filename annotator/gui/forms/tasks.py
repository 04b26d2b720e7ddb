"""Form for tasks: phase, family and difficulty, and the inspirations that a task is made of."""

from collections.abc import Sequence
from typing import Any

from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.kinds.spec import UnitField
from annotator.domain.kinds.tasks import Family
from annotator.domain.material.item import Item
from annotator.gui.forms.fields import PickList
from annotator.gui.forms.marks import MarkMenu
from annotator.gui.forms.standard import StandardField
from annotator.gui.forms.unit_editor import UnitEditor
from annotator.gui.widgets.basics import StretchSpace, horizontal


class TaskEditor(UnitEditor):
    """A task; choosing a family chooses its phase."""

    def build(self) -> None:
        """Phase and family stand above, difficulty and the menu of inspirations below them."""
        self.inspirations = MarkMenu("Inspirations", "No inspiration")
        super().build()
        below = horizontal(self.fields["difficulty"], self.inspirations, StretchSpace(1))
        self._places["more"].addLayout(below)

    def made(self, field: UnitField, *, keyed: bool) -> StandardField | None:
        """The inspirations are chosen from those of the item."""
        if field.name == "inspirations":
            return self.inspirations
        made = super().made(field, keyed=keyed)
        if isinstance(made, PickList):
            made.chosen.connect(self._file)
        return made

    def offer(
        self, item: Item, made_of: Sequence[tuple[str, str]], rated_as: QuestionType | None = None
    ) -> None:
        """The inspirations to choose from; without any, the choice is not shown."""
        self.inspirations.offer(made_of)
        self.inspirations.setVisible(bool(made_of))

    def _file(self, family: Any) -> None:
        phase = Family(family).phase if family else None
        if phase and self.fields["phase"].value() != phase:
            self.chosen.emit(self.unit_id, "phase", phase)
