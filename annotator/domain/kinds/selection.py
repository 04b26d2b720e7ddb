"""Selection ratings: how well a candidate question suits the benchmark, dimension by dimension."""

from collections.abc import Iterator
from statistics import fmean
from typing import ClassVar

from pydantic import Field

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.checks import Context
from annotator.domain.kinds.finding import Finding, error
from annotator.domain.kinds.spec import AlignmentRule, KindSpec, UnitField
from annotator.domain.kinds.unit import Unit

# ResearcherBench, appendix B.4: a question whose mean reaches this is kept.
BAR = 4.5


class DimensionRating(Unit):
    """A five-point rating of one dimension; `text` names the dimension."""

    rating: int | None = Field(default=None, ge=1, le=5)


class Selection(Document[DimensionRating]):
    """One rater's ratings of one question."""

    KIND: ClassVar[Kind] = Kind.SELECTION
    UNIT: ClassVar[type[Unit]] = DimensionRating


def findings(selection: Selection, _context: Context) -> Iterator[Finding]:
    """An error for each dimension that has no rating (ResearcherBench, appendix B.4)."""
    for unit in selection.units:
        if unit.rating is None:
            yield error(
                "no-rating", "Not rated yet.", "Rate it from 1 (poor) to 5 (excellent).", unit.id, "rating"
            )


def _told(selection: Selection) -> str:
    """The mean of the ratings given so far against the bar."""
    ratings = [unit.rating for unit in selection.units if unit.rating is not None]
    if not ratings:
        return f"not rated yet, the threshold is {BAR}"
    mean = fmean(ratings)
    so_far = "" if len(ratings) == len(selection.units) else " for now"
    return f"mean {mean:.2f}{so_far}, {'✓ at or above' if mean >= BAR else 'below'} the bar of {BAR}"


SPEC = KindSpec(
    Selection,
    title="Selection",
    unit="dimension",
    units="dimensions",
    what="Selection rates how well the question suits the benchmark, from 1 (poor) to 5 (excellent) on each dimension.",
    prompt="",
    table="selection_ratings",
    fields=(
        UnitField(
            "rating",
            "Rating",
            ((1, "poor", ""), (2, "weak", ""), (3, "usable", ""), (4, "sound", ""), (5, "excellent", "")),
            level="ordinal",
            correlated=True,
        ),
    ),
    lint=findings,
    told=_told,
    says="rating",
    aligned=AlignmentRule.KEY,
    overlap=(),
    given=frozenset({"text"}),
    scored="rating",
)
