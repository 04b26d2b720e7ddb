"""What a project holds, counted."""

from pathlib import Path

from annotator.actions.assignments import assignments
from annotator.actions.items import summaries
from annotator.domain.experts.assignment import Stage
from tests.projects.pairs_project import item, opened, person, rubrics_project, work_as


def test_the_work_in_pairs_is_counted(tmp_path: Path) -> None:
    project = rubrics_project(tmp_path)
    opened(project)
    work_as(project, "Cora")
    assignments.assign_one(project, item(project), person(project, "Dan").id, Stage.PLAN)
    found = summaries.counts(project)
    assert [found[name] for name in ("assignments", "agreements", "adjudications")] == [1, 1, 1]
    assert (found["items"], found["artifacts"]) == (1, {"rubric": 2})
