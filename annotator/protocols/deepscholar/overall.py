"""The overall figure, and the tables in which all systems stand and judges beside people.

DeepScholar-Bench: the geometric mean of the seven metrics, Table 2; agreement of judges with people, Table 3.
"""

from collections.abc import Sequence
from typing import Any

from annotator.domain.judges.paper_table import (
    RELEASED,
    DuelTable,
    PaperTable,
    TableColumn,
    TableReading,
    ViewTable,
)
from annotator.domain.judges.protocol import Composite

WITHOUT_VERIFIABILITY = (
    "organization",
    "nugget_coverage",
    "relevance_rate",
    "reference_coverage",
    "document_importance",
)
METRICS = (*WITHOUT_VERIFIABILITY, "citation_precision", "claim_coverage")
TITLES = (
    "Org.",
    "Nug. Cov.",
    "Rel. Rate",
    "Ref. Cov.",
    "Doc. Imp.",
    "Cite-P",
    "Claim Cov.",
    "Overall",
)
DEPARTURES = (
    "The star of the overall figure is ours: p < 0.05 by t, from what the difference is without each item (jackknife). "
    "The paper does not say how it tests a product of means.",
    "An item on which one of two systems has no figure is left out of their comparison.",
    "Best and second best are tested as the paper does; the p of all other pairs of systems is corrected by Holm.",
    "The exemplar takes no part in the comparison of systems.",
    "Over fewer than five items no difference is called one: there a t-test leans on what so few cannot show.",
)
DEFINITION = """\
$$\\text{Overall} = ⁷√(Org \\cdot Nug \\cdot RR \\cdot RC \\cdot DI \\cdot \\text{Cite-P} \\cdot Cov)$$

The geometric mean of a system's seven means over items (Table 2), not the mean of what single items make. One 0 makes
it 0; where one is undefined, so is it, and it says which. Of the exemplar five count: its verifiability is left out.
"""


def overall(means: Sequence[Any]) -> Any:
    """The geometric mean of a system's means, or choice by choice of items."""
    from annotator.stats.intervals.clustered import geometric_mean

    return geometric_mean(means)


OVERALL = Composite(
    "overall",
    "Overall",
    DEFINITION,
    METRICS,
    overall,
    departures=DEPARTURES[:1],
    of_exemplar=WITHOUT_VERIFIABILITY,
)
TABLES = (
    PaperTable(
        "deepscholar",
        "All systems by all metrics",
        ("Table 2",),
        (
            DuelTable(
                tuple(map(TableColumn, TITLES, (*METRICS, OVERALL.name))),
                (
                    TableReading(
                        *RELEASED,
                        {
                            "relevance_rate": "relevance_rate.released",
                            "citation_precision": "citation_precision.released",
                            "claim_coverage": "claim_coverage.released",
                        },
                    ),
                    TableReading(
                        "all-works",
                        "References on arXiv or not",
                        {"reference_coverage": "reference_coverage.all"},
                    ),
                    TableReading(
                        "pooled",
                        "Document importance over all reports",
                        {"document_importance": "document_importance.pooled"},
                    ),
                ),
            ),
        ),
        DEPARTURES,
    ),
    PaperTable(
        "human-agreement",
        "Agreement of judges with people",
        ("Table 3",),
        (ViewTable("human-agreement", "human_agreement", chosen=(("paper", "deepscholar"),)),),
        (
            "Document importance is computed, so that nothing of it is judged or labelled; the paper's table says n/a.",
            "The paper has over 200 labels in all and does not say how many of each kind.",
        ),
    ),
)
