"""The overall figure, the geometric mean of the seven metrics, and the tables and figures of DeepScholar-Bench."""

from collections.abc import Sequence
from typing import Any

from annotator.domain.judges.paper import (
    RELEASED,
    Down,
    DuelTable,
    PaperTable,
    SystemsTable,
    TableColumn,
    TablePart,
    TableReading,
    Unprinted,
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
BOARD = (
    ("System Name", ""),
    ("lm", ""),
    ("Org.", "organization"),
    ("Nugget<br>Cov.", "nugget_coverage"),
    ("Rel.<br>Rate.", "relevance_rate"),
    ("Doc.<br>Imp.", "document_importance"),
    ("Ref.<br>Cov.", "reference_coverage"),
    ("Cite-P", "citation_precision"),
    ("Claim<br>Cov.", "claim_coverage"),
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
    """The geometric mean of a system's means, or of arrays of means, one for each selection of items."""
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
                BOARD,
            ),
        ),
        DEPARTURES,
        data="everything that is judged of a report; important references and citations of works",
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
        data="Validate: people's labels of each kind, and judges on the same units",
    ),
    PaperTable(
        "retrieval-apis",
        "One system with several ways to find works",
        ("Table 5",),
        (SystemsTable((TablePart("", tuple(map(TableColumn, TITLES, METRICS))),), down=Down.MODES),),
        (
            "Each way to find works is a mode of the system, and its oracles are given the references that are marked "
            "important here.",
        ),
        data="the figures of Table 2, of reports in two modes or more: “oracle-arxiv”, “oracle-all” "
        "(`goldsmith research write FILE --oracle arxiv`), or a name of your own for another source",
    ),
    PaperTable(
        "report-lengths",
        "Report statistics",
        ("Table 6",),
        (
            ViewTable(
                "report-statistics",
                "report_statistics",
                (
                    ("system", "System"),
                    ("characters", "Chars"),
                    ("words", "Words"),
                    ("sentences", "Sentences"),
                    ("references", "# Unique Refs"),
                    ("citations", "# Inline Citations"),
                ),
            ),
        ),
        data="the reports; nothing is judged",
    ),
    PaperTable(
        "exemplar-statistics",
        "Statistics related to the metrics",
        ("Table 7",),
        (ViewTable("exemplar-references", "exemplar_statistics"),),
        (
            "The paper prints 647.5 as a median, where its §8.4.3 has 647.6 as the mean and 36 as the median of the "
            "same counts: all readings stand here.",
        ),
        data="gold references marked by importance, and citations of works",
    ),
    PaperTable(
        "exemplar-importance",
        "Important references of each exemplar",
        ("Figure 3",),
        (ViewTable("exemplar-references", "exemplar_references"),),
        ("References that nobody has marked stand apart; the public code marks all of them.",),
        data="gold references marked by importance",
    ),
    PaperTable(
        "citation-window",
        "Claim coverage by window",
        ("Figure 5",),
        (ViewTable("windows", "windows"),),
        data="claim coverage, judged; `goldsmith judge window` widens it to 5",
    ),
    PaperTable(
        "citation-counts",
        "How often the exemplars' references are cited",
        ("Figure 6",),
        (ViewTable("exemplar-references", "citation_counts"),),
        (
            "The paper does not say where its bars begin: here two of them are a factor of ten, and works that nobody "
            "has cited have one of their own.",
        ),
        data="citations of works (`goldsmith sources works FILE`)",
    ),
)
UNPRINTED = (
    Unprinted(("Figure 1", "Figure 7"), "pictures of the method and of the authors' system"),
    Unprinted(
        ("Table 1", "Table 4"), "definitions in words; Results has ours of each metric behind its column"
    ),
    Unprinted(
        ("Figure 2",), "a drawing of the data's fields; `goldsmith export` writes the files themselves"
    ),
    Unprinted(("Figure 4",), "the text of a prompt; Judges shows ours"),
    Unprinted(("Figure 8", "Figure 9", "Figure 10"), "code of the authors' system"),
)
ABOUT_TABLES = (
    "A star stands where the best system of a column is beyond chance better than the second best; a second table "
    "tests every two systems, corrected by Holm. The exemplar has a row of its own: its organization is 0.500 by "
    "definition, and its overall figure leaves verifiability out. `--choose reading=released` counts citations and "
    "claims as the public code does. With `--json` there is a row for each system and metric. `--choose "
    "file=LEADERBOARD.csv` sets the rows of its leaderboard's file below the table, each with the overall figure by "
    "the same formula."
)
