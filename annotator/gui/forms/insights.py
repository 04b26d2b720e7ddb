"""How key insights are written: one after the other, each with the passage it is drawn from."""

from annotator.gui.forms.unit_editor import UnitEditor


class InsightEditor(UnitEditor):
    """An insight: its words and its quotation."""
