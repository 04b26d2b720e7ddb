"""ResearcherBench: coverage, factual grounding and pairwise comparison.

ResearcherBench: Evaluating Deep AI Research Systems on the Frontiers of AI Research.
"""

from annotator.domain.judges.paper import Paper
from annotator.protocols.researcherbench.claims import CLAIMS
from annotator.protocols.researcherbench.coverage import COVERAGE
from annotator.protocols.researcherbench.drafts import (
    BY_DIMENSIONS,
    BY_REFERENCE,
    CLASSIFICATION,
    INSIGHTS,
    REFERENCE,
)
from annotator.protocols.researcherbench.factual import FACTUAL
from annotator.protocols.researcherbench.pairwise import PAIRWISE
from annotator.protocols.researcherbench.tables import TABLES, UNPRINTED
from annotator.protocols.researcherbench.taxonomy import CITATION_ERRORS, MISSES, MODES

PAPER = Paper(
    name="researcherbench",
    title="ResearcherBench",
    protocols=(COVERAGE, FACTUAL, PAIRWISE),
    extractions=(INSIGHTS, CLAIMS, BY_DIMENSIONS, BY_REFERENCE),
    drafts=(INSIGHTS, REFERENCE, CLASSIFICATION),
    taxonomies=(MISSES, CITATION_ERRORS, MODES),
    tables=TABLES,
    unprinted=UNPRINTED,
)
