"""How diagnostics are written: statements with their gold label and the part of the paper they are about."""

from annotator.domain.kinds.diagnostics import Aspect, Diagnostics
from annotator.gui.forms.fields import Choice, PickList
from annotator.gui.forms.unit_editor import UnitEditor


class StatementEditor(UnitEditor):
    """A statement: its words, whether it is true, its aspect."""

    def build(self) -> None:
        """Label and aspect."""
        label = Choice(
            "Gold label",
            [
                (True, "True", "The source supports it ({weight_1})"),
                (False, "False", "The source does not support it ({weight_2})"),
            ],
        )
        aspect = PickList("Part of the paper", "Which part of the paper?", letters=20)
        aspect.offer([(part.value, part.value.capitalize()) for part in Aspect])
        self.row.addWidget(label)
        self.row.addWidget(aspect)
        self.add_field("label", label)
        self.add_field("aspect", aspect)


def balance_told(diagnostics: Diagnostics) -> str:
    """How many statements are true, false and undecided."""
    labels = [unit.label for unit in diagnostics.units]
    parts = [f"{labels.count(True)} true", f"{labels.count(False)} false"]
    parts += [f"{labels.count(None)} undecided"] if None in labels else []
    return ", ".join(parts)
