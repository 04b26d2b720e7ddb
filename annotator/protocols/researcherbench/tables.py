"""The tables and figures of ResearcherBench that can be computed from a project's data."""

from annotator.domain.judges.paper import (
    RELEASED,
    SUBTOTAL,
    PaperTable,
    Spread,
    SystemsTable,
    TableColumn,
    TablePart,
    TableReading,
    Unprinted,
    ViewTable,
)
from annotator.domain.material.item import QUESTION_TYPES

COVERAGE = TableColumn("Coverage", "coverage")
ACROSS = ("Error type", *reversed(QUESTION_TYPES))


def errors(sheet: str, title: str, *labels: str) -> ViewTable:
    """Errors of a kind in rows and question types in columns, in the paper's order."""
    rows = tuple((label, label.replace("_", " ").capitalize()) for label in (*labels, SUBTOTAL))
    return ViewTable("errors", sheet, (("question_type", ""), *rows), title=title, turned=ACROSS)


TABLES = (
    PaperTable(
        "judge-selection",
        "Judges beside people",
        ("Table 2",),
        (
            ViewTable(
                "judges",
                "weighted",
                (
                    ("rater", "Judge model"),
                    ("accuracy", "Acc."),
                    ("precision", "Prec."),
                    ("recall", "Rec."),
                    ("f1", "F1"),
                    ("cost", "Cost"),
                ),
            ),
        ),
        (
            "The figures by criterion weight are shown: the caption says that importance was considered, and does not "
            "say how. The validation has those without weights too.",
            "A pair on which the judge has no verdict is left out and counted; it is not a disagreement.",
            "Agreement between people is computed before they discuss, on the pairs that both labelled.",
        ),
        data="Validate: submitted labels and judges on the same reports",
    ),
    PaperTable(
        "systems",
        "Coverage, faithfulness and groundedness",
        ("Table 3",),
        (
            SystemsTable(
                (
                    TablePart(
                        "",
                        (
                            COVERAGE,
                            TableColumn("Faithfulness", "faithfulness"),
                            TableColumn("Groundedness", "groundedness"),
                        ),
                    ),
                ),
                spread=Spread.OFFSETS,
                readings=(
                    TableReading(
                        *RELEASED, {name: f"{name}.released" for name in ("faithfulness", "groundedness")}
                    ),
                ),
            ),
        ),
        data="coverage and claims, judged; groups and footnotes of systems; "
        "`--choose reading=released` counts claims as the public code does",
    ),
    PaperTable(
        "coverage-by-type",
        "Coverage by question type",
        ("Figure 2",),
        (SystemsTable((TablePart("", (COVERAGE,)),), across="question_type", average="All"),),
        data="coverage, judged",
    ),
    PaperTable(
        "question-types",
        "Question types",
        ("Table 4",),
        (ViewTable("gold", "question_types"),),
        data="the questions; what a type is stands in the guideline of the selection",
    ),
    PaperTable(
        "subjects",
        "Subjects of the questions",
        ("Figure 3",),
        (ViewTable("gold", "subjects"),),
        data="the questions",
    ),
    PaperTable(
        "timeframes",
        "When reports were collected",
        ("Table 5",),
        (
            ViewTable(
                "collection", "collection", (("system", "DARS"), ("collected", "Data collection timeframe"))
            ),
        ),
        data="days on which reports were collected (Items → Reports)",
    ),
    PaperTable(
        "error-counts",
        "Errors per response by question type",
        ("Table 6",),
        (
            errors("researcherbench_misses", "Rubric assessment", "incompleteness", "partial_missing"),
            errors(
                "researcherbench_citation_errors",
                "Factual assessment",
                "invalid_attribution",
                "unsupported_answer",
            ),
        ),
        data="second looks at verdicts; types in the paper's order",
    ),
    PaperTable(
        "wins-table",
        "Pairwise comparison",
        ("Table 7",),
        (
            ViewTable(
                "wins",
                "wins",
                (
                    ("system", "Model"),
                    ("wins", "Win"),
                    ("tie", "Tie"),
                    ("losses", "Lose"),
                    ("win_rate", "Win rate"),
                    ("mean_length", "Average length (characters)"),
                ),
            ),
            ViewTable("wins", "biases", (("figure", "Figure"), ("value", "Value"), ("p", "p"))),
        ),
        data="reports compared in pairs; with r, ρ and p of length",
    ),
    PaperTable(
        "rubric-scores",
        "Scores under rubric sets",
        ("Table 8",),
        (ViewTable("rubrics", "scores"),),
        ("Intervals are those of Results; the paper prints percentiles of bootstrap means over items.",),
        data="two rubric sets, judged",
    ),
    PaperTable(
        "rubric-validity",
        "A judge beside people under rubric sets",
        ("Table 9",),
        (
            ViewTable(
                "rubrics",
                "validity",
                (
                    ("set", "Rubric type"),
                    ("accuracy", "Acc."),
                    ("precision", "Prec."),
                    ("recall", "Rec."),
                    ("f1", "F1"),
                ),
            ),
        ),
        data="rubric sets, judged and labelled",
    ),
    PaperTable(
        "rubric-weights",
        "Weights of rubric sets",
        ("Table 10",),
        (ViewTable("rubrics", "weights"),),
        data="the project's rubrics; further sets stand beside them",
    ),
    PaperTable(
        "selection-agreement",
        "Agreement on the selection",
        ("Appendix B.4",),
        (ViewTable("selection", "raters"),),
        data="ratings of questions",
    ),
)
UNPRINTED = (Unprinted(("Figure 1", "Table 1"), "the method, and other benchmarks"),)
