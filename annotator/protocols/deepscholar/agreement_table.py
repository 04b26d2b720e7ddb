"""Table 3 of DeepScholar-Bench: how far judges agree with people, kind by kind of label."""

from annotator.domain.judges.paper_table import PaperTable, ViewTable

AGREEMENT = PaperTable(
    "human-agreement",
    "Agreement of judges with people",
    ("Table 3",),
    (ViewTable("human-agreement", "human_agreement", chosen=(("paper", "deepscholar"),)),),
    (
        "Document importance is computed, so that nothing of it is judged or labelled; the paper's table says n/a.",
        "The paper has over 200 labels in all and does not say how many of each kind.",
    ),
)
