"""Form for rubrics: criteria with their weights and the key insights they come from."""

from collections.abc import Sequence

from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.kinds.spec import UnitField
from annotator.domain.material.item import Item
from annotator.gui.forms.fields import PickList
from annotator.gui.forms.standard import StandardField
from annotator.gui.forms.unit_editor import UnitEditor

INSIGHT_CHARACTERS = 60


class CriterionEditor(UnitEditor):
    """A criterion: its words, its weight, its key insight."""

    def build(self) -> None:
        """The key insight takes the room that is left."""
        self.insight = PickList("Key insight", "No key insight", no_value="")
        super().build()
        self.row.setStretchFactor(self.insight, 1)

    def made(self, field: UnitField, *, keyed: bool) -> StandardField:
        """The key insight is chosen from those of the item."""
        return self.insight if field.name == "insight_id" else super().made(field, keyed=keyed)

    def offer(
        self, item: Item, made_of: Sequence[tuple[str, str]], rated_as: QuestionType | None = None
    ) -> None:
        """The key insights to choose from; without any, the choice is not shown."""
        self.insight.offer([(unit_id, _short(words)) for unit_id, words in made_of])
        self.insight.setVisible(bool(made_of))


def _short(words: str) -> str:
    return words if len(words) <= INSIGHT_CHARACTERS else f"{words[: INSIGHT_CHARACTERS - 1]}…"
