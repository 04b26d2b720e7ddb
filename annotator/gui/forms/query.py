"""How a query is worded: the first wording is the one that is asked, others are alternatives."""

from collections.abc import Collection

from PySide6.QtWidgets import QLabel

from annotator.domain.kinds.unit import Unit
from annotator.gui.forms.unit_editor import UnitEditor


class WordingEditor(UnitEditor):
    """A wording, and whether it is the one that is asked."""

    def build(self) -> None:
        """What the wording is for."""
        self.use = QLabel()
        self.use.setProperty("role", "hint")
        self.row.addWidget(self.use)

    def show_unit(self, unit: Unit, number: int, typing: Collection[str] = ()) -> None:
        """Show a wording; the first one is asked."""
        super().show_unit(unit, number, typing)
        self.use.setText(
            "This wording is asked." if number == 1 else "An alternative; move it up to have it asked."
        )
