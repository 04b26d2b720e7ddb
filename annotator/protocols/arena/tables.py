"""The tables of DeepResearch Arena that can be computed from a project's data."""

from annotator.domain.judges.paper import (
    PaperTable,
    SystemsTable,
    TableColumn,
    TablePart,
    Unprinted,
    ViewTable,
)
from annotator.domain.judges.protocol import ScoreAim

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
        data="key points and checklists, judged or labelled; languages of the items; continuations",
    ),
    PaperTable(
        "scores-of-people",
        "Scores beside people's",
        ("Table 5",),
        (ViewTable("score-agreement", "score_agreement"),),
        data="checklists or key points: a judge and people, three of them each report, on the same reports",
    ),
    PaperTable(
        "ace-length",
        "ACE against length",
        ("beside Table 3",),
        AGAINST,
        LENGTH,
        data="checklists, judged or labelled",
    ),
    PaperTable(
        "ace-domains",
        "ACE by discipline and by task type",
        ("Figure 3",),
        tuple(
            ViewTable("domains", "domains", chosen=(("by", by), ("metric", "ace")), title=f"ACE by {title}")
            for by, title in (("subject", "discipline"), ("question_type", "task type"))
        ),
        data="checklists, judged or labelled; subjects and types of the tasks. `--to FILE.png` draws both parts",
    ),
    PaperTable(
        "ace-reports",
        "ACE of each report, by a judge and by people",
        ("Table 6",),
        tuple(
            ViewTable("items", "items", chosen=(("metric", "ace"), *whose), title=title)
            for whose, title in (
                ((), "ACE, task by task"),
                ((("judge", "people"),), "ACE by people, task by task"),
            )
        ),
        (
            "The paper's table is one task with its report, both scores and a comment; here stands every task.",
        ),
        data="checklists: a judge and people on the same reports",
    ),
)
UNPRINTED = (
    Unprinted(("Figure 1", "Figure 2", "Table 1"), "the authors' corpus, their method, and other benchmarks"),
    Unprinted(("Table 2",), "terms in words"),
    Unprinted(
        ("Figure 4",),
        "the paper gives none: no formula for its efficiency score stands in it. Rates of key points beside tokens: "
        "`ace-length` and the view *Score against cost*",
    ),
)
ABOUT_TABLES = (
    "Table 4 is made of continuations: `goldsmith respond FILE --system S --mode continuation --base-url … --model …` "
    "sends the first half of each task and keeps what comes back. Such texts count in no other figure. **Leak** is as "
    "printed; **Marked** is what to look at: `--view leakage` lists each continuation, with the longest run of words "
    "it has in common with the half held back."
)
