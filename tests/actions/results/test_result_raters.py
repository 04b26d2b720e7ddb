"""Whose judgements a result may be made of: judges, all people, each of them, and what was settled."""

import asyncio
from pathlib import Path

import pytest

from annotator.actions.adjudication import adjudication_sheets, closing, ruling
from annotator.actions.assignments import submitting  # fmt: skip
from annotator.actions.authoring import artifacts
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters, results, results_behind
from annotator.actions.results.result_sheets import FigureSource
from annotator.actions.runs import judge_cases
from annotator.domain.experts.adjudication import Reason
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.labels import UNSURE
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs
from tests.projects.labelling_project import submit_labels
from tests.projects.small_project import units_of
from tests.storage import sql

COVERAGE = "researcherbench.coverage"


def label(project: Project, who: str, verdicts: list[str]) -> None:
    """A person's labels of Alpha's report on the first item; the coordinator works again afterwards."""
    me, item = people.someone(project), results_item(project)
    units = units_of(project, item)
    if who not in {person.name for person in people.people(project)}:
        people.add_person(project, who, (Role.ANNOTATOR,))
    project.work_as(next(person for person in people.people(project) if person.name == who))
    for unit, verdict in zip(units, verdicts, strict=True):
        labels.set_label(project, response(project, item), unit, verdict)
    submit_labels(project)
    project.work_as(me)


def results_item(project: Project) -> str:
    return str(sql.first(project, "SELECT id FROM item ORDER BY position")[0])


def response(project: Project, item: str) -> str:
    of_alpha = "system_id IN (SELECT id FROM system WHERE name = 'Alpha')"
    question = f"SELECT id FROM response WHERE item_id = ? AND {of_alpha}"
    return str(sql.first(project, question, [item])[0])


def coverage(project: Project, rater_id: str) -> float | None:
    found = results.rows(project, rater_id)
    return next(row.estimate.value for row in found if row.system == "Alpha" and row.group == "all")


def test_each_person_is_a_rater_of_their_own_beside_all_of_them(project: Project) -> None:
    label(project, "Ada", ["yes", "yes", "no"])
    label(project, "Ben", ["yes", "no", "no"])
    asyncio.run(judge_runs.run(project, judge_cases.RunRequest("baseline")))
    found = {rater.name: (rater.id, rater.judgements) for rater in result_raters.everybody(project, COVERAGE)}
    assert list(found) == ["baseline", "people", "R2", "R3"]
    assert [count for _, count in found.values()] == [12, 6, 3, 3]
    # Weights 3, 2 and 1: 5/6 and 3/6, and 4/6 on average.
    assert coverage(project, found["R2"][0]) == pytest.approx(5 / 6)
    assert coverage(project, found["R3"][0]) == pytest.approx(3 / 6)
    assert coverage(project, "people") == pytest.approx(4 / 6)


def test_what_a_person_was_not_given_is_not_missing(project: Project) -> None:
    label(project, "Ada", ["yes", "yes", UNSURE])
    rater = next(one for one in result_raters.everybody(project, COVERAGE) if one.name == "R2")
    found = next(row for row in results.rows(project, rater.id) if row.group == "all")
    assert (found.system, found.estimate.n, found.estimate.missing) == ("Alpha", 1, 1)
    assert found.missing_rate == pytest.approx(1 / 3)


def test_only_a_coordinator_is_told_how_one_person_answered(project: Project) -> None:
    label(project, "Ada", ["yes", "yes", "no"])
    assert len(result_raters.named_people(project, COVERAGE)) == 1
    project.work_as(next(person for person in people.people(project) if person.name == "Ada"))
    assert [rater.name for rater in result_raters.everybody(project, COVERAGE)] == ["people"]
    assert result_raters.named_people(project, COVERAGE) == []
    with pytest.raises(Refusal, match="Only a coordinator can read the judgements behind a figure"):
        results_behind.of_source(project, FigureSource(COVERAGE, "people"))


def test_settled_labels_are_a_rater_too(tmp_path: Path) -> None:
    project = pairs.pairs_project(tmp_path)
    rubric = pairs.rubric((("Explains it", 3), ("Names it", 1)), "c")
    submitting.seal(project, artifacts.start(project, pairs.item(project), Kind.RUBRIC, rubric).subject)
    report = pairs.add_report(project, "Alpha")
    said = {"Ada": {"c1": "yes", "c2": "yes"}, "Ben": {"c1": "yes", "c2": "no"}}
    pairs.submit(project, {name: pairs.labels(report, values) for name, values in said.items()})
    adjudication_id = pairs.opened(project, Stage.LABELLING)
    first, second = adjudication_sheets.sheet(project, adjudication_id).rows
    ruling.rule(project, first.ruling.id, "both")
    ruling.rule(
        project, second.ruling.id, pairs.letter_of(project, adjudication_id, "Ben"), reason=Reason.ERROR
    )
    closing.close(project, adjudication_id)
    pairs.work_as(project, "Cora")
    rater = next(
        one for one in result_raters.everybody(project, COVERAGE) if one.id == result_raters.CONSENSUS
    )
    assert rater.judgements == 2
    # Met is what weighs 3 of 4.
    assert coverage(project, rater.id) == pytest.approx(3 / 4)
    lines = results_behind.of_source(project, FigureSource(COVERAGE, rater.id))
    assert [(line.rater, line.unit, line.judgement.value) for line in lines] == [
        ("consensus", "Explains it", "yes"), ("consensus", "Names it", "no"),
    ]  # fmt: skip
    project.close()
