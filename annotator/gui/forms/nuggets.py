"""How nuggets are written: facts, each vital or merely okay."""

from annotator.domain.kinds.nuggets import Nuggets
from annotator.gui.forms.fields import Choice
from annotator.gui.forms.unit_editor import UnitEditor


class NuggetEditor(UnitEditor):
    """A nugget: its words and how much it matters."""

    def build(self) -> None:
        """Importance."""
        importance = Choice(
            "Importance",
            [
                ("vital", "Vital", "A good text must hold it ({weight_1})"),
                ("okay", "Okay", "Good to have, not needed ({weight_2})"),
            ],
        )
        self.row.addWidget(importance)
        self.add_field("importance", importance)


def importance_told(nuggets: Nuggets) -> str:
    """How many nuggets are vital and how many okay."""
    vital = sum(unit.importance == "vital" for unit in nuggets.units)
    return f"{vital} vital, {len(nuggets.units) - vital} okay"
