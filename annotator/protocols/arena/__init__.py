"""DeepResearch Arena: tasks extracted from seminars, and two ways to score the reports written on them.

DeepResearch Arena: The First Exam of LLMs' Research Abilities via Seminar-Grounded Tasks.
"""

from annotator.domain.judges.paper import Paper, PaperSample
from annotator.protocols.arena.alignment import COMMON_POOL, KEYPOINTS
from annotator.protocols.arena.checklist import CHECKLIST, CHECKLIST_MADE, REFERENCES
from annotator.protocols.arena.keypoints import KEY_POINTS
from annotator.protocols.arena.leakage import LEAKAGE
from annotator.protocols.arena.seminar_drafts import INSPIRATIONS_DRAWN, TASKS_WRITTEN
from annotator.protocols.arena.tables import ABOUT_TABLES, AGREEMENT, TABLES, UNPRINTED

PAPER = Paper(
    name="arena",
    title="DeepResearch Arena",
    protocols=(CHECKLIST, KEYPOINTS, COMMON_POOL, REFERENCES, LEAKAGE),
    extractions=(KEY_POINTS,),
    drafts=(INSPIRATIONS_DRAWN, TASKS_WRITTEN, CHECKLIST_MADE),
    tables=TABLES,
    unprinted=UNPRINTED,
    tables_about=ABOUT_TABLES,
    score_aims=AGREEMENT,
    sample=PaperSample(
        "seminar",
        "Sample: one seminar, its tasks, two systems",
        layout="goldsmith",
        uses="seminars",
    ),
)
