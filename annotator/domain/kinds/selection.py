"""What a selection rating is: how well a candidate question suits the benchmark, dimension by dimension."""

from typing import ClassVar

from pydantic import Field

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.unit import Unit

# ResearcherBench, appendix B.4: each question type is rated on its own dimensions, 1 (poor) to 5 (excellent).
DIMENSIONS: dict[str, tuple[str, ...]] = {
    "Technical Details": (
        "Technical specificity",
        "Precision requirements",
        "Factual verifiability",
        "Application value",
    ),
    "Literature Review": (
        "Direction clarity and survey scope",
        "Literature coverage",
        "Verifiability and stability",
    ),
    "Open Consulting": (
        "Openness and depth",
        "Forward-looking value",
        "Conceptual innovation potential",
        "Grounding and long-term relevance",
    ),
}


class DimensionRating(Unit):
    """A five-point rating of one dimension; `text` names the dimension."""

    rating: int | None = Field(default=None, ge=1, le=5)


class Selection(Document[DimensionRating]):
    """One rater's ratings of one question."""

    KIND: ClassVar[Kind] = Kind.SELECTION
    UNIT: ClassVar[type[Unit]] = DimensionRating
