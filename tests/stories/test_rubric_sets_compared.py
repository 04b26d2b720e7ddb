"""A rubric by experts and two by a model: reports judged and labelled by each, and the sets side by side."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.items import items
from annotator.actions.labelling import label_sealing, label_tasks, labels
from annotator.actions.project.file import Project
from annotator.actions.studies import rubric_views
from annotator.cli import run_command
from tests.judging.odd_server import Odd, OddServer, completion
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE, add_judge
from tests.storage import sql

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
def project(tmp_path: Path, server: OddServer) -> Iterator[Project]:
    server.answer = answer
    project = small_project(tmp_path)
    paper = tmp_path / "paper.md"
    paper.write_text("# A paper\n\nTraining is stable with residual connections on ImageNet.", "utf-8")
    for item_id in items.ids(project):
        items.add_source(project, item_id, paper)
    add_judge(project, server)
    yield project
    project.close()


def judged(project: Project) -> dict[tuple[str, str], str]:
    rows = sql.rows(project, "SELECT response_id, unit_id, value FROM judgement WHERE rater_kind = 'judge'")
    return {(response, unit): value for response, unit, value in rows}


def label_all(project: Project, contrary: int) -> int:
    """Say what the judge says of every criterion in force, and the contrary of the first so many; then submit."""
    said, values, other = 0, judged(project), {"yes": "no", "no": "yes"}
    for task in label_tasks.queue(project):
        for unit in labels.sheet(project, task.response_id).units:
            value = values[task.response_id, unit.id]
            labels.set_label(project, task.response_id, unit.id, other[value] if said < contrary else value)
            said += 1
    for item_id in items.ids(project):
        label_sealing.submit(project, item_id)
    return said


def test_letter_18_rubric_sets_are_drafted_judged_labelled_and_compared(
    project: Project, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(project.path)

    def told(*words: str) -> Any:
        capsys.readouterr()
        assert run_command([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    told("judge", "run", file, "--judge", "baseline")
    assert label_all(project, contrary=1) == 12
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
    with closing(Project.open(project.path)) as again:
        rubric_views.use(again, "by dimensions")
        for item_id in items.ids(again):
            label_sealing.reopen(again, item_id)
        assert label_all(again, contrary=2) == 8
        rubric_views.use(again, "")
    assert told("results", file, "--metric", "coverage", "--by", "all")["rows"] == before
    result = {
        sheet["title"]: sheet
        for sheet in told("results", file, "--view", "rubrics", "--judge", "baseline")["sheets"]
    }
    assert list(result) == ["Scores", "Agreement with people", "Weights", "Criteria"]
    by_set = {row["set"]: row for row in result["Agreement with people"]["rows"]}
    assert {name: (row["pairs"], row["accuracy"]) for name, row in by_set.items()} == {
        "settled": (12, pytest.approx(11 / 12)), "by dimensions": (8, pytest.approx(6 / 8)), "by reference": (0, None),
    }  # fmt: skip
    weights = {row["weight"]: row for row in result["Weights"]["rows"]}
    assert [weights[weight]["set_by_dimensions"] for weight in (1, 2, 3)] == [1.0, 0.0, 0.0]
    assert [weights[weight]["set_by_reference"] for weight in (1, 2, 3)] == [0.0, 0.5, 0.5]
