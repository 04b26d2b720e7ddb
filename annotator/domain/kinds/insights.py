"""Key insights: an expert's conclusions from the sources before writing criteria."""

from collections.abc import Iterator

from annotator.domain.kinds.artifact import (
    Context,
    Document,
    Finding,
    Kind,
    KindSpec,
    Unit,
    count_band,
    near_duplicates,
)

COUNT = (8, 15)  # ResearcherBench, appendix C.1.1


class Insight(Unit):
    """One insight; criteria may be tied to it by its id."""


class Insights(Document[Insight], kind=Kind.INSIGHTS):
    """The key insights of one item (ResearcherBench §4.1.1, stage 1)."""


def findings(insights: Insights, _context: Context) -> Iterator[Finding]:
    units = [unit for unit in insights.units if unit.text.strip()]
    yield from count_band(units, *COUNT, "insights")
    yield from near_duplicates(units, "insight")


SPEC = KindSpec(
    Insights,
    title="Insights",
    unit="insight",
    units="insights",
    what="Key insights are what you draw from the source before writing criteria: what a reader must come away with.",
    prompt="One thing a reader must come away with.",
    table="insights",
    lint=findings,
)
