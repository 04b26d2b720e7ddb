"""Taxonomy of errors and of origins: labels on criteria and on unsupported claims.

ResearcherBench, appendix E.6: the kinds of error, E.6.1; their mean number per response, E.6.2, Table 6; response
modes, appendix F.
"""

from enum import StrEnum
from functools import partial

from annotator.domain.judges.judge import NO, YES
from annotator.domain.judges.paper import Taxonomy
from annotator.domain.judges.protocol import Value
from annotator.protocols.researcherbench.coverage import COVERAGE
from annotator.protocols.researcherbench.factual import FACTUAL, PAGE, PAGE_CUT, UNKNOWN

DEPARTURES = (
    "Every response that was looked at counts, also one without any error; the paper draws ten of each system. "
    "A verdict that an expert rejected in a review needs no kind, and is no error.",
    "A claim whose page could not be read is offered as an invalid attribution, one that its page denies as an "
    "unsupported answer; people decide.",
    "An uncovered criterion or unsupported claim that nobody has labelled makes the figures incomplete: it is counted "
    "in the subtotal, and bounds what each label can come to. A response mode may be left out.",
)


class Miss(StrEnum):
    """How a report falls short of a criterion that it does not cover."""

    INCOMPLETENESS = "incompleteness"
    PARTIAL_MISSING = "partial_missing"


class CitationError(StrEnum):
    """Why a claim's source does not support it: it cannot be read or was made up, or it says otherwise."""

    INVALID_ATTRIBUTION = "invalid_attribution"
    UNSUPPORTED_ANSWER = "unsupported_answer"


class Mode(StrEnum):
    """The origin of a report's words on a criterion that it covers."""

    RETRIEVAL = "retrieval"
    INTERNAL_KNOWLEDGE = "internal_knowledge"
    SINGLE_SOURCE_SYNTHESIS = "single_source_synthesis"
    MULTI_SOURCE_SYNTHESIS = "multi_source_synthesis"


def suggested(value: str, flags: str) -> str:
    """The suggested label for a claim: by the state of its page, or by its verdict; empty if neither decides."""
    if any(flag.startswith(PAGE) and flag != PAGE_CUT for flag in flags.split()):
        return CitationError.INVALID_ATTRIBUTION
    return CitationError.UNSUPPORTED_ANSWER if value == NO else ""


_counted = partial(Taxonomy, printed="Table 6", departures=DEPARTURES)
MISSES = _counted(
    "researcherbench.misses",
    "Uncovered criteria",
    COVERAGE.name,
    (NO,),
    "What is missing",
    (
        Value(Miss.INCOMPLETENESS, "All of it", "Incompleteness: the report does not address the criterion"),
        Value(Miss.PARTIAL_MISSING, "A part", "Partial missing: the report addresses it in part"),
    ),
)
CITATION_ERRORS = _counted(
    "researcherbench.citation_errors",
    "Claims without support",
    FACTUAL.name,
    (NO, UNKNOWN),
    "What is wrong",
    (
        Value(
            CitationError.INVALID_ATTRIBUTION,
            "Invalid attribution",
            "The source cannot be reached, or was made up",
        ),
        Value(
            CitationError.UNSUPPORTED_ANSWER,
            "Unsupported",
            "The source exists and does not support the claim",
        ),
    ),
    suggested=suggested,
)
MODES = _counted(
    "researcherbench.modes",
    "How covered criteria came about",
    COVERAGE.name,
    (YES,),
    "Where it comes from",
    (
        Value(Mode.RETRIEVAL, "Retrieved", "Retrieval: taken directly from a source"),
        Value(Mode.INTERNAL_KNOWLEDGE, "Known", "Internal knowledge: stated without a source"),
        Value(Mode.SINGLE_SOURCE_SYNTHESIS, "One source", "Derived from one source"),
        Value(Mode.MULTI_SOURCE_SYNTHESIS, "Several sources", "Combined from several sources"),
    ),
    whole=False,
)
