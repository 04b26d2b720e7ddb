"""How many references a report has: a column of the paper's Table 3."""

from math import inf

from annotator.domain.judges.protocol import Metric, Protocol, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.citations import read

METHOD = "different addresses in the report"
DEFINITION = """\
How many different addresses a report gives (DeepResearch Arena, Table 3), DOIs and arXiv numbers among them; the same
address counts once, however it is spelled. Undefined where the task has no checklist: the figure stands beside ACE.
"""
DEPARTURES = ("The paper does not say what it counts as a reference; here it is each different address.",)


def references(scored: RatedResponse, _over_valid: bool = False) -> Estimate:
    """The references of one report."""
    if not scored.material.units(Kind.CHECKLIST):
        return Estimate(None, method=METHOD, note="the item has no checklist")
    result = float(len(read(scored.material.response.text, every=True).addresses))
    return Estimate(result, n=1, floor=result, ceiling=result, method=METHOD)


REFERENCES = Protocol(
    name="arena.references",
    title="How many references a report has",
    citation="DeepResearch Arena, Table 3",
    needs=(Kind.CHECKLIST,),
    metrics=(
        Metric("references", "References", DEFINITION, references, unit="addresses", within=(0.0, inf)),
    ),
    departures=DEPARTURES,
)
