"""How a question is rated for selection: each dimension of its type from 1 to 5."""

from collections.abc import Collection
from statistics import fmean
from typing import ClassVar

from annotator.domain.kinds.selection import Selection
from annotator.domain.kinds.unit import Unit
from annotator.gui.forms.fields import Choice
from annotator.gui.forms.unit_editor import UnitEditor
from annotator.gui.widgets.plain import PlainLabel

# ResearcherBench, appendix B.4: a question whose mean reaches this is kept.
BAR = 4.5
RATINGS = {1: "poor", 2: "weak", 3: "usable", 4: "sound", 5: "excellent"}


class DimensionEditor(UnitEditor):
    """A dimension, which is given, and its rating."""

    GIVEN: ClassVar[bool] = True

    def build(self) -> None:
        """Rating."""
        self.text.hide()
        self.name = PlainLabel(role="strong", wrap=True)
        self._places["text"].addWidget(self.name)
        rating = Choice(
            "Rating", [(n, f"{n} {word}", f"{word.capitalize()} (press {n})") for n, word in RATINGS.items()]
        )
        self.row.addWidget(rating)
        self.add_field("rating", rating)

    def show_unit(self, unit: Unit, number: int, typing: Collection[str] = ()) -> None:
        """Show a dimension."""
        super().show_unit(unit, number, typing)
        self.name.setText(unit.text)

    def enter(self, field: str = "rating") -> None:
        """Put the focus into a field; the name of the dimension is none."""
        super().enter("rating" if field == "text" else field)


def mean_told(selection: Selection) -> str:
    """The mean of the ratings given so far against the bar."""
    ratings = [unit.rating for unit in selection.units if unit.rating is not None]
    if not ratings:
        return f"not rated yet, the bar is {BAR}"
    mean = fmean(ratings)
    so_far = "" if len(ratings) == len(selection.units) else " so far"
    return f"mean {mean:.2f}{so_far}, {'✓ at or above' if mean >= BAR else 'below'} the bar of {BAR}"
