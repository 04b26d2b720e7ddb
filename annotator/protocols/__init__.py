"""What each paper says: how a report is judged and what its scores mean."""

from annotator.domain.protocol import Extraction, Protocol
from annotator.protocols import adra
from annotator.protocols.researcherbench import claims, coverage, factual, insights, pairwise

PROTOCOLS: dict[str, Protocol] = {
    "researcherbench.coverage": coverage.COVERAGE,
    "researcherbench.claims": factual.FACTUAL,
    "researcherbench.pairwise": pairwise.PAIRWISE,
    "adra.plan": adra.PLAN,
    "adra.retrieval": adra.RETRIEVAL,
    "adra.reasoning": adra.REASONING,
    "adra.efficiency": adra.EFFICIENCY,
    "adra.preference": adra.PREFERENCE,
}
EXTRACTIONS: dict[str, Extraction] = {
    "researcherbench.insights": insights.INSIGHTS,
    "researcherbench.claims.extract": claims.CLAIMS,
    "adra.plan.draw": adra.PLAN_OF_REPORT,
    "adra.references": adra.REFERENCES_OF_REPORT,
}
