"""Every extraction on public reports by a model server: something is drawn from each report, or each item."""

import asyncio
import json
from pathlib import Path

import pytest
from llmock.pytest_plugin import LLMock

from annotator.actions.judges import judges
from annotator.actions.material import extracting
from annotator.actions.runs.judge_cases import RunRequest
from annotator.protocols import EXTRACTIONS
from tests.material import key_points
from tests.material.bundles import REAL
from tests.projects.both_papers import FOUND, QUESTIONS, STEPS, SYSTEMS, both_papers

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the shared ResearcherBench data are not there")
OF_REPORTS = {
    "researcherbench.claims.extract", "adra.plan.draw", "adra.references", "deepscholar.sentences",
    key_points.EXTRACTION,
}  # fmt: skip
JUDGE = "mock"
WRITTEN = {"criteria": [{"basis": "Depth", "text": "Says what was measured.", "weight": 3}]}
REPLY_OF = {
    # Nobody is asked.
    "deepscholar.sentences": {},
    "researcherbench.rubric.dimensions": WRITTEN,
    "researcherbench.rubric.reference": WRITTEN,
    "researcherbench.claims.extract": {"claims": [{"context": "", "text": "It was measured.", "url": ""}]},
    "adra.plan.draw": {"subtasks": [{"passage": "", "text": step} for step in STEPS]},
    "adra.references": {
        "references": [
            {"quote": "", "title": "LongCite", "identifier": FOUND, "authors": "", "year": None},
        ]
    },
    key_points.EXTRACTION: {"points": [{"spans": ["It was measured."], "text": "Somebody measured it."}]},
    "researcherbench.insights": {
        "insights": [
            {
                "quote": "What was measured is reported below.",
                "text": "It was measured.",
                "explanation": "It matters.",
            }
        ]
    },
}


@pytest.mark.parametrize("name", EXTRACTIONS)
def test_a_model_server_draws_from_every_report_or_item(tmp_path: Path, llmock: LLMock, name: str) -> None:
    project = both_papers(tmp_path)
    judges.add(project, JUDGE, base_url=llmock.base_url(), model="gpt-4o-mini")
    llmock.reply(json.dumps(REPLY_OF[name]), times=None)
    if name == key_points.EXTRACTION:
        key_points.fetch(project, "It was measured.")
    ended = asyncio.run(extracting.run(project, RunRequest(JUDGE, name)))
    things = len(QUESTIONS) * (len(SYSTEMS) if name in OF_REPORTS else 1)
    assert (ended["state"], ended["done"]) == ("done", things)
    project.close()
