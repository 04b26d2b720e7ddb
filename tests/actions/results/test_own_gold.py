"""A judge that scores by what its own model drafted: its figures say so, and others' do not."""

import asyncio
import json
from pathlib import Path

from annotator.actions.assignments import submitting
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.material import draft_runs, drafting_by_model
from annotator.actions.orders import orders
from annotator.actions.results import results
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.kinds.artifact import Kind
from tests.judging.odd_server import OddServer, at_work, completion
from tests.projects.labelling_project import add_report, project_with

NAME = "arena.checklist"
DRAFT = {
    "points": [
        {"title": f"Point {n}", "description": "Sources are cited.", "weight": one}
        for n, one in enumerate((0.5, 0.3, 0.2))
    ]
}
RATED = {"quote": "", "rationale": "Basic.", "rating": 6}


def test_a_figure_says_that_its_judges_model_drafted_the_checklist(tmp_path: Path) -> None:
    with at_work(OddServer()) as server:
        project = project_with(tmp_path, 0)
        for name, model in (("writer", "gpt-4o-mini"), ("other", "gemini-2.5-flash")):
            judges.add(project, name, base_url=server.url, model=model)
        item_id = items.add(project, "How are sources cited?").subject
        add_report(project, item_id, "Alpha", "Sources are cited.")
        server.script(completion(json.dumps(DRAFT)))
        order = RunRequest("writer", draft_runs.protocol_name(Kind.CHECKLIST), items=("1",))
        assert asyncio.run(draft_runs.run(project, order))["state"] == "done"
        (proposal,) = drafting_by_model.proposals(project)
        drafting_by_model.take(project, proposal.id)
        (artifact,) = artifacts_of(project, item_id)
        submitting.seal(project, artifact.id)
        for name in ("writer", "other"):
            server.script(*[completion(json.dumps(RATED))] * 3)
            asyncio.run(orders.carry_out(project, RunRequest(name, NAME, concurrency=1)))
        gold = {
            row.rater: row.gold
            for one in judges.all_of(project)
            for row in results.rows(project, one.id, protocol=NAME)
        }
        project.close()
    assert "3 points drafted by the judge's own model, gpt-4o-mini" in gold["writer"]
    assert "drafted" not in gold["other"]
