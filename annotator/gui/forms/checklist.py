"""How a checklist is written: points with their shares of the whole."""

from math import fsum

from PySide6.QtWidgets import QLabel

from annotator.domain.kinds.checklist import Checklist
from annotator.gui.forms.fields import Share
from annotator.gui.forms.unit_editor import UnitEditor


class PointEditor(UnitEditor):
    """A point: its words and its share."""

    def build(self) -> None:
        """Share."""
        share, caption = Share(), QLabel("Share")
        caption.setBuddy(share)
        self.row.addWidget(caption)
        self.row.addWidget(share)
        self.add_field("share", share)


def shares_told(checklist: Checklist) -> str:
    """What the shares sum to."""
    total = fsum(unit.share for unit in checklist.units)
    return f"shares sum to {total:.2f} of 1.00"
