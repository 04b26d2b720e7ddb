"""What a rubric is: criteria a good report must meet, each weighted from 1 to 3."""

from typing import ClassVar, Literal

from pydantic import Field

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.unit import Unit

WEIGHTS = (1, 2, 3)
# ResearcherBench, Table 10: the share of weights in the experts' 931 criteria.
EXPERT_WEIGHT_SHARES = {1: 0.3545, 2: 0.5091, 3: 0.1364}


class Criterion(Unit):
    """A line of a rubric: met or not met by a report, with its importance."""

    weight: Literal[1, 2, 3] = Field(default=2, description="3 core, 2 supporting, 1 nice to have")
    insight_id: str = Field(default="", description="The key insight it was written from, if any")


class Rubric(Document[Criterion]):
    """The criteria of one item, in order (ResearcherBench §4.1)."""

    KIND: ClassVar[Kind] = Kind.RUBRIC
    UNIT: ClassVar[type[Unit]] = Criterion
