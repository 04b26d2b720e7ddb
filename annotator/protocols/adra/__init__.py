"""ADRA: planning, retrieval and reasoning, each scored against its own gold, and efficiency.

Beyond Retrieval: A Modular Benchmark for Academic Deep Research Agents (ADRA-Bank and ADRA-Eval). In the paper's
order: planning §3.1 (plan), retrieval §3.2 and appendix G (retrieval, with reading), reasoning §3.3 (reasoning),
efficiency §3.4 (efficiency), preference §5.4 (preference). The counts of appendix F are in counts. Its analyses of
arbitrary scores are among the statistics: the front of §5.3, domains of §5.2 and K.2, modes of §5.5, test-time
compute of §5.6; its gold's balance, H.1, with that view.
"""

from annotator.domain.judges.paper import Paper
from annotator.protocols.adra.efficiency import EFFICIENCY
from annotator.protocols.adra.plan import EXTRACTION as PLAN_OF_REPORT, PLAN
from annotator.protocols.adra.preference import PREFERENCE, RESPECTS
from annotator.protocols.adra.reasoning import REASONING
from annotator.protocols.adra.retrieval import EXTRACTION as REFERENCES_OF_REPORT, RETRIEVAL
from annotator.protocols.adra.tables import ABOUT_TABLES, TABLES, UNPRINTED

PAPER = Paper(
    name="adra",
    title="ADRA",
    protocols=(PLAN, RETRIEVAL, REASONING, EFFICIENCY, PREFERENCE),
    extractions=(PLAN_OF_REPORT, REFERENCES_OF_REPORT),
    taxonomies=RESPECTS,
    tables=TABLES,
    unprinted=UNPRINTED,
    tables_about=ABOUT_TABLES,
)
