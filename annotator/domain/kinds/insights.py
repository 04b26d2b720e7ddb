"""What key insights are: what an expert draws from the source before writing criteria."""

from typing import ClassVar

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.unit import Unit


class Insight(Unit):
    """One insight; criteria may be tied to it by its id."""


class Insights(Document[Insight]):
    """The key insights of one item (ResearcherBench §4.1.1, stage 1)."""

    KIND: ClassVar[Kind] = Kind.INSIGHTS
    UNIT: ClassVar[type[Unit]] = Insight
