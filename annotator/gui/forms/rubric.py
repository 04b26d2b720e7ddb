"""Form for rubrics: criteria with their weights and the key insights they come from."""

from collections.abc import Collection, Sequence

from annotator.domain.kinds.artifact import Unit
from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.kinds.spec import UnitField
from annotator.domain.material.item import Item
from annotator.gui.forms.fields import PickList
from annotator.gui.forms.standard import StandardField
from annotator.gui.forms.unit_editor import UnitEditor

INSIGHT, INSIGHT_CHARACTERS = "insight_id", 60


class CriterionEditor(UnitEditor):
    """A criterion: its words, its weight, its key insight."""

    def build(self) -> None:
        """The key insights are offered once the item has any: a list is the dearest field to make and to dress."""
        self._insight: PickList | None = None
        self._insight_id = ""
        super().build()

    def made(self, field: UnitField, *, keyed: bool) -> StandardField | None:
        return None if field.name == INSIGHT else super().made(field, keyed=keyed)

    def show_unit(self, unit: Unit, number: int, typing: Collection[str] = ()) -> None:
        """Keep which key insight it comes from for when they are offered."""
        self._insight_id = getattr(unit, INSIGHT)
        super().show_unit(unit, number, typing)

    def offer(
        self, item: Item, made_of: Sequence[tuple[str, str]], rated_as: QuestionType | None = None
    ) -> None:
        """The key insights to choose from; without any, the choice is not shown."""
        if made_of and self._insight is None:
            self._insight = self._made_insight()
        if self._insight is not None:
            self._insight.offer([(unit_id, _short(words)) for unit_id, words in made_of])
            self._insight.show_value(self._insight_id)
            self._insight.setVisible(bool(made_of))

    def _made_insight(self) -> PickList:
        """The choice, in the room that is left beside the weight."""
        made = PickList("Key insight", "No key insight", no_value="")
        self.row.insertWidget(self.row.count() - 1, made, 1)
        self.add_field(INSIGHT, made)
        made.lock(self._locked)
        self.chain()
        return made


def _short(words: str) -> str:
    return words if len(words) <= INSIGHT_CHARACTERS else f"{words[: INSIGHT_CHARACTERS - 1]}…"
