"""What each paper says: how a report is judged and what its scores mean."""

from annotator.domain.judges.protocol import Extraction, Protocol
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import adra
from annotator.protocols.researcherbench import claims, coverage, factual, insights, pairwise


class Known(dict[str, Protocol]):
    """Protocols by name; a name that somebody gave, and that there is not, is refused in words."""

    def __missing__(self, name: str) -> Protocol:
        raise Refusal(f"There is no protocol “{name[:80]}”.", f"Known are: {', '.join(self)}.")


PROTOCOLS: dict[str, Protocol] = Known(
    {
        "researcherbench.coverage": coverage.COVERAGE,
        "researcherbench.claims": factual.FACTUAL,
        "researcherbench.pairwise": pairwise.PAIRWISE,
        "adra.plan": adra.PLAN,
        "adra.retrieval": adra.RETRIEVAL,
        "adra.reasoning": adra.REASONING,
        "adra.efficiency": adra.EFFICIENCY,
        "adra.preference": adra.PREFERENCE,
    }
)
# The protocol that is meant where none is named.
USUAL = next(iter(PROTOCOLS))
# The protocol that is meant where units of a kind are judged, and none is named.
USUAL_OF: dict[Kind, Protocol] = {
    kind: next(shape for shape in PROTOCOLS.values() if shape.unit_kind is kind)
    for kind in Kind
    if any(shape.unit_kind is kind for shape in PROTOCOLS.values())
}
EXTRACTIONS: dict[str, Extraction] = {
    "researcherbench.insights": insights.INSIGHTS,
    "researcherbench.claims.extract": claims.CLAIMS,
    "adra.plan.draw": adra.PLAN_OF_REPORT,
    "adra.references": adra.REFERENCES_OF_REPORT,
}
