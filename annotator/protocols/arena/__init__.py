"""DeepResearch Arena: tasks drawn from seminars, and two ways to score the reports written on them.

DeepResearch Arena: The First Exam of LLMs' Research Abilities via Seminar-Grounded Tasks.
"""

from annotator.domain.judges.paper import Paper, PaperSample
from annotator.protocols.arena.alignment import COMMON_POOL, KEYPOINTS
from annotator.protocols.arena.checklist import CHECKLIST
from annotator.protocols.arena.checklist_drafts import CHECKLIST_MADE
from annotator.protocols.arena.cited import REFERENCES
from annotator.protocols.arena.inspiration_drafts import INSPIRATIONS_DRAWN
from annotator.protocols.arena.keypoints import KEY_POINTS
from annotator.protocols.arena.leakage import LEAKAGE
from annotator.protocols.arena.tables import ABOUT_TABLES, AGREEMENT, TABLES, UNPRINTED
from annotator.protocols.arena.task_drafts import TASKS_WRITTEN

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
