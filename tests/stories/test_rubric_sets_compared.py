"""A rubric by experts and two by a model: reports judged by each, and the sets side by side."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.cli import run_command
from tests.judging.odd_server import Odd, OddServer, completion
from tests.projects.small_projects import small_project
from tests.servers.served import JUDGE, add_judge

DIMENSIONS, REFERENCE = "researcherbench.rubric.dimensions", "researcherbench.rubric.reference"
BY_DIMENSION = (("Explains residual connections well", 1), ("Is easy to read", 1))
DRAFTED = (("Compares the stability of training", 3),)
REVIEWED = (*DRAFTED, ("Names the dataset that was used", 2))


def answer(body: dict[str, Any], number: int) -> Odd:
    """Criteria by dimensions, or by reference: first drafted, then reviewed."""
    system, user = (message["content"] for message in body["messages"])
    if "four general dimensions" in system:
        criteria = BY_DIMENSION
    else:
        criteria = REVIEWED if "Hand in the final rubric." in user else DRAFTED
    trees = [{"basis": "readability", "text": text, "weight": weight} for text, weight in criteria]
    return completion(json.dumps({"criteria": trees}))


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Project:
    server.answer = answer
    project = small_project(tmp_path)
    paper = tmp_path / "paper.md"
    paper.write_text("# A paper\n\nTraining is stable with residual connections on ImageNet.", "utf-8")
    for item_id in items.ids(project):
        items.add_source(project, item_id, paper)
    add_judge(project, server)
    return project


def test_letter_18_rubric_sets_are_drafted_judged_and_compared(
    project: Project, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(project.path)

    def told(*words: str) -> Any:
        capsys.readouterr()
        assert run_command([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    told("judge", "run", file, "--judge", "baseline")
    for extraction in (DIMENSIONS, REFERENCE):
        told("judge", "extract", file, "--judge", JUDGE, "--extraction", extraction)
    # One call for each item by dimensions; a draft and its review by reference.
    assert len(server.bodies) == 2 + 4
    assert [(one["set"], one["criteria"], one["in_force"]) for one in told("rubrics", "list", file)["sets"]] == [
        ("settled", 6, True), ("by dimensions", 4, False), ("by reference", 4, False), ("R1", 6, False),
    ]  # fmt: skip
    before = told("results", file, "--metric", "coverage", "--by", "all")["rows"]
    for name in ("by dimensions", "by reference"):
        told("rubrics", "use", file, name)
        told("judge", "run", file, "--judge", "baseline")
        overview = told("results", file, "--view", "overview", "--judge", "baseline")["sheets"][0]
        assert f"Rubrics in force: “{name}”, not the experts' own." in overview["told"]
    told("rubrics", "use", file, "settled")
    assert told("results", file, "--metric", "coverage", "--by", "all")["rows"] == before
    result = {
        sheet["title"]: sheet
        for sheet in told("results", file, "--view", "rubrics", "--judge", "baseline")["sheets"]
    }
    assert {"Scores", "Weights", "Criteria"} <= set(result)
    weights = {row["weight"]: row for row in result["Weights"]["rows"]}
    assert [weights[weight]["set_by_dimensions"] for weight in (1, 2, 3)] == [1.0, 0.0, 0.0]
    assert [weights[weight]["set_by_reference"] for weight in (1, 2, 3)] == [0.0, 0.5, 0.5]
