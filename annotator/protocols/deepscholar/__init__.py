"""DeepScholar-Bench: related-work sections compared with those that people wrote.

DeepScholar-Bench: A Live Benchmark and Automated Evaluation for Generative Research Synthesis.
"""

from annotator.domain.judges.paper import Paper, PaperSample
from annotator.protocols.deepscholar import system
from annotator.protocols.deepscholar.coverage import COVERAGE
from annotator.protocols.deepscholar.importance import NUGGET_IMPORTANCE, REFERENCE_IMPORTANCE
from annotator.protocols.deepscholar.nuggets import NUGGETS, NUGGETS_MADE
from annotator.protocols.deepscholar.organization import ORGANIZATION
from annotator.protocols.deepscholar.overall import ABOUT_TABLES, OVERALL, TABLES, UNPRINTED
from annotator.protocols.deepscholar.precision import PRECISION
from annotator.protocols.deepscholar.references import REFERENCES, RELEVANCE
from annotator.protocols.deepscholar.sentences import EXTRACTION as SENTENCES_OF_REPORT

__all__ = ["PAPER", "system"]

PAPER = Paper(
    name="deepscholar",
    title="DeepScholar-Bench",
    protocols=(
        ORGANIZATION,
        NUGGETS,
        RELEVANCE,
        REFERENCES,
        PRECISION,
        COVERAGE,
        NUGGET_IMPORTANCE,
        REFERENCE_IMPORTANCE,
    ),
    extractions=(SENTENCES_OF_REPORT,),
    drafts=(NUGGETS_MADE,),
    composites=(OVERALL,),
    tables=TABLES,
    unprinted=UNPRINTED,
    tables_about=ABOUT_TABLES,
    sample=PaperSample(
        "related-work",
        "Sample: the related work of five papers, two systems",
        layout="deepscholar",
        uses="related-work",
    ),
)
