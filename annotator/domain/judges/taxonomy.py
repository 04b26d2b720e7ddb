"""What a second look is: the label people give to a verdict already reached, such as the kind of an error."""

from dataclasses import dataclass
from enum import StrEnum

from annotator.domain.judges.judgement import NO, YES

UNKNOWN = "unknown"


class Miss(StrEnum):
    """How a report falls short of a criterion that it does not cover."""

    INCOMPLETENESS = "incompleteness"
    PARTIAL_MISSING = "partial_missing"


class CitationError(StrEnum):
    """Why a claim's source does not bear it out: it cannot be read or was made up, or it says otherwise."""

    INVALID_ATTRIBUTION = "invalid_attribution"
    UNSUPPORTED_ANSWER = "unsupported_answer"


class Mode(StrEnum):
    """Where a report took from what it says about a criterion that it covers."""

    RETRIEVAL = "retrieval"
    INTERNAL_KNOWLEDGE = "internal_knowledge"
    SINGLE_SOURCE_SYNTHESIS = "single_source_synthesis"
    MULTI_SOURCE_SYNTHESIS = "multi_source_synthesis"


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Labels for the units on which a protocol came to one of some verdicts.

    `name` stands where a protocol's name stands in a label; `of` names the protocol whose verdicts are looked at
    again, `after` the verdicts that ask for a label. `whole` tells whether each of those must get one.
    """

    name: str
    title: str
    of: str
    after: tuple[str, ...]
    values: tuple[str, ...]
    whole: bool = True


MISSES = Taxonomy(
    "researcherbench.misses", "Uncovered criteria", "researcherbench.coverage", (NO,), tuple(Miss)
)
CITATION_ERRORS = Taxonomy(
    "researcherbench.citation_errors",
    "Claims without support",
    "researcherbench.claims",
    (NO, UNKNOWN),
    tuple(CitationError),
)
MODES = Taxonomy(
    "researcherbench.modes",
    "How covered criteria came about",
    "researcherbench.coverage",
    (YES,),
    tuple(Mode),
    whole=False,
)
TAXONOMIES: dict[str, Taxonomy] = {taxonomy.name: taxonomy for taxonomy in (MISSES, CITATION_ERRORS, MODES)}
