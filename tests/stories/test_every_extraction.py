"""Every extraction on public reports by a model server: something is drawn from each report, or each item."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from llmock.pytest_plugin import LLMock

from annotator.actions.authoring import artifacts
from annotator.actions.imports import samples
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.material import draft_runs, extracting
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.tasks import Family, Phase
from annotator.domain.material.item import ItemRole
from annotator.protocols import EXTRACTIONS
from tests.judging.odd_server import at_work
from tests.material import key_points
from tests.material.bundles import REAL
from tests.projects.both_papers import FOUND, QUESTIONS, STEPS, SYSTEMS, both_papers
from tests.servers.served import CountingServer, near
from tests.stories.test_every_protocol import add_exemplars

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the shared ResearcherBench data are not there")
OF_REPORTS = {
    "researcherbench.claims.extract", "adra.plan.draw", "adra.references", "deepscholar.sentences",
    key_points.EXTRACTION,
}  # fmt: skip
JUDGE = "mock"
CHECKLIST, REFERENCE = "arena.checklist.make", "researcherbench.reference"
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


def keys(project: Project) -> list[str]:
    return [items.read(project, one).key for one in items.ids(project)]


# Those that ask nobody, or that need another document first, are left out.
@pytest.mark.parametrize(
    "name",
    [
        *(name for name in EXTRACTIONS if name != "deepscholar.sentences"),
        *(f"{draft_runs.PREFIX}{name}" for name in ("deepscholar.nuggets.make", "draft.rubric")),
        *(f"{draft_runs.PREFIX}{name}" for name in ("draft.diagnostics", "researcherbench.insights")),
        *(f"{draft_runs.PREFIX}{name}" for name in ("researcherbench.classification", CHECKLIST, REFERENCE)),
    ],
)
def test_what_is_drawn_and_drafted_takes_what_its_estimate_says(tmp_path: Path, name: str) -> None:
    project = both_papers(tmp_path)
    add_exemplars(project)
    if name == key_points.EXTRACTION:
        key_points.fetch(project, "It was measured.")
    if name.endswith(REFERENCE):
        for item in items.ids(project):
            artifacts.start(
                project, item, Kind.INSIGHTS, Insights(units=(Insight(text="A block adds its input."),))
            )
    with at_work(CountingServer()) as server:
        if name.endswith(CHECKLIST):
            server.listed, server.fixed = 4, {"weight": 0.25}
        judges.add(project, JUDGE, base_url=server.url, model="test-model")
        first, other = (RunRequest(JUDGE, name, items=(key,)) for key in keys(project))
        asyncio.run(near(project, server, first, other))
    project.close()


@pytest.mark.parametrize("piece_words", [0, 150, 400])
def test_a_transcript_in_pieces_takes_what_its_estimate_says(tmp_path: Path, piece_words: int) -> None:
    project = samples.create_small(tmp_path / "seminar.goldsmith", samples.SEMINAR)
    with at_work(CountingServer()) as server:
        server.listed = 6
        judges.add(project, JUDGE, base_url=server.url, model="test-model")
        of = RunRequest(JUDGE, f"{draft_runs.PREFIX}arena.inspirations", piece_words=piece_words)
        seminars = [one for one in items.ids(project) if items.of(project, one) is ItemRole.SEMINAR]
        order = replace(of, items=tuple(items.read(project, seminar).key for seminar in seminars))
        assert order.items
        asyncio.run(near(project, server, order, measured=False))
    project.close()


def test_tasks_of_a_seminar_take_what_their_estimate_says(tmp_path: Path) -> None:
    project = samples.create_small(tmp_path / "seminar.goldsmith", samples.SEMINAR)
    seminar = keys(project)[0]
    with at_work(CountingServer()) as server:
        server.listed, server.fixed = 6, {"phase": Phase.SYNTHESIZE.value, "family": Family.SURVEY.value}
        judges.add(project, JUDGE, base_url=server.url, model="test-model")
        order = RunRequest(JUDGE, f"{draft_runs.PREFIX}arena.tasks", items=(seminar,))
        asyncio.run(near(project, server, order, measured=False))
    project.close()
