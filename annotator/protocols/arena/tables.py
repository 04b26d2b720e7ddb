"""The tables of DeepResearch Arena that rest on data a project holds."""

from annotator.domain.judges.paper_table import (
    PaperTable,
    SystemsTable,
    TableColumn,
    TablePart,
    ViewTable,
)
from annotator.domain.judges.published import ScoreAim

COLUMNS = (
    TableColumn("KSR", "ksr"),
    TableColumn("KCR", "kcr"),
    TableColumn("KOR", "kor"),
    TableColumn("ACE", "ace"),
    TableColumn("Avg. Token", "tokens"),
    TableColumn("Avg. references", "references"),
)
LEAKAGE = (
    ("system", "Model"),
    ("leakage_leaked", "Leak"),
    ("leakage_composite", "Avg. Comp."),
    ("leakage_string", "Avg. StrSim"),
    ("leakage_tfidf", "Avg. TFIDF"),
    ("leakage_overlap", "Avg. Overlap"),
    ("count", "Count"),
    ("leakage_marked", "Marked (ours)"),
    ("leakage_composite_cut", "Avg. Comp., cut (ours)"),
    ("continuations", "Continuations"),
)
DEPARTURES = (
    "Rates are shares and not percentages, tokens are not in thousands, and columns stand by language: the paper sets "
    "English and Chinese side by side in each column.",
    "Each figure is the mean over a system's items, with its interval. The paper does not say so; most of its Chinese "
    "rates are exactly shares of one pool of few key points.",
    "Similarities are shares, too. The last row of the second table is the mean of the rows above it, before "
    "rounding.",
)
LENGTH = (
    "The paper does not set ACE against length. By its own Table 3 the two rank systems alike: Spearman's ρ of ACE and "
    "tokens is .92 in English and .83 in Chinese, of ACE and references .78 and .81.",
)
AGREEMENT = (
    *(ScoreAim(name, 0.84, 0.79, 0.68, "Table 5, KAE") for name in ("ksr", "kcr", "kor")),
    ScoreAim("ace", 0.81, 0.76, 0.65, "Table 5, ACE"),
)
AGAINST = tuple(
    ViewTable("length", sheet, chosen=(("of", of), ("metric", "ace")), title=title)
    for of in ("characters", "tokens")
    for sheet, title in (
        ("length", f"ACE against {of}"),
        ("correlations", f"Correlations of ACE and {of}"),
    )
)
TABLES = (
    PaperTable(
        "arena",
        "Rates of key points, ACE, tokens and references by language; leakage",
        ("Table 3", "Table 4"),
        (
            SystemsTable(
                (TablePart("", COLUMNS),), across="language", average="", title="Systems by language"
            ),
            ViewTable("leakage", "systems", LEAKAGE),
        ),
        DEPARTURES,
    ),
    PaperTable(
        "scores-of-people",
        "Scores beside people's",
        ("Table 5",),
        (ViewTable("score-agreement", "score_agreement"),),
    ),
    PaperTable("ace-length", "ACE against length", ("beside Table 3",), AGAINST, LENGTH),
)
