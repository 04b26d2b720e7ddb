"""How a rubric is written: criteria with their weights and the key insights they come from."""

from collections.abc import Sequence

from annotator.domain.kinds.rubric import Rubric
from annotator.domain.material.item import Item
from annotator.gui.forms.fields import Choice, PickList
from annotator.gui.forms.unit_editor import UnitEditor

MEANINGS = {1: "Nice to have", 2: "Supporting", 3: "Core"}
INSIGHT_CHARACTERS = 60


class CriterionEditor(UnitEditor):
    """A criterion: its words, its weight, its key insight."""

    def build(self) -> None:
        """Weight and key insight."""
        weights = [(w, f"{w} {meaning}", f"{meaning} ({{weight_{w}}})") for w, meaning in MEANINGS.items()]
        weight, self.insight = (
            Choice("Weight", weights),
            PickList("Key insight", "No key insight", no_value=""),
        )
        self.row.addWidget(weight)
        self.row.addWidget(self.insight, 1)
        self.add_field("weight", weight)
        self.add_field("insight_id", self.insight)

    def offer(self, item: Item, insights: Sequence[tuple[str, str]]) -> None:
        """The key insights to choose from; without any, the choice is not shown."""
        self.insight.offer([(unit_id, _short(words)) for unit_id, words in insights])
        self.insight.setVisible(bool(insights))


def _short(words: str) -> str:
    return words if len(words) <= INSIGHT_CHARACTERS else f"{words[: INSIGHT_CHARACTERS - 1]}…"


def weights_told(_: Rubric) -> str:
    """What the bar beside the count shows."""
    return "weights, experts’ below"
