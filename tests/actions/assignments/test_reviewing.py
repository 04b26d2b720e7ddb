"""Draft then review: one person drafts, another refines it openly, the author answers; nobody is blind."""

import json
from pathlib import Path

import pytest

from annotator.actions.assignments import assignments, reviewing
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.items import items
from annotator.actions.parcels import packing, tasking, tray, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.cli.saying import app
from annotator.domain.experts.adjudication import form_of
from annotator.domain.experts.assignment import ParcelOutcome, Purpose, Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import project_with

DRAFT = Rubric(
    units=(
        Criterion(id="k1", text="Explains how citations are checked", weight=3),
        Criterion(id="k2", text="Names a study", weight=1),
        Criterion(id="k3", text="Is well written", weight=1),
    )
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """One item whose rubric one person drafts and another reviews."""
    return reviewed(project_with(tmp_path, 2))


def reviewed(project: Project) -> Project:
    """With one item that everybody who rates drafts or reviews."""
    items.add(project, "How is evidence attributed?")
    assignments.assign(project, plan(project, Stage.RUBRIC))
    return project


def plan(project: Project, stage: Stage) -> AssignmentPlan:
    everyone = tuple(one.id for one in people.people(project) if one.name.startswith("Rater"))
    return AssignmentPlan(
        (stage,), len(everyone), everyone, items=tuple(items.ids(project)), reviewed=(stage,)
    )


def who(project: Project) -> tuple[str, ...]:
    """The author and the reviewers, by their aliases."""
    of = [
        (purpose is not Purpose.WORK, person.alias, person.id)
        for person in people.people(project)
        for purpose in (one.purpose for one in assignments.of_person(project, person.id))
    ]
    return tuple(person_id for *_, person_id in sorted(of))


def as_(project: Project, person_id: str) -> Project:
    project.work_as(people.known(project, person_id))
    return project


def draft(project: Project) -> None:
    assignments.seal(project, artifacts.start(project, items.ids(project)[0], Kind.RUBRIC, DRAFT).subject)


def review(project: Project) -> str:
    """Reword a criterion with a comment, take one out, add one, answer the form, submit."""
    artifact = reviewing.begin(project, items.ids(project)[0], Kind.RUBRIC).subject
    artifacts.change_unit(project, artifact, "k2", text="Names the first study", note="Which one?")
    artifacts.remove_unit(project, artifact, "k3")
    artifacts.add_unit(project, artifact, text="Compares two ways of checking", weight=2)
    expect_refusal("lacks an answer", assignments.seal, project, artifact)
    submit(project, artifact)
    return artifact


def submit(project: Project, artifact: str) -> None:
    for question in form_of(Kind.RUBRIC):
        reviewing.fill_in(project, artifact, question, "yes", "")
    assignments.seal(project, artifact)


def test_letter_5_a_draft_is_reviewed_unit_by_unit_and_its_author_answers(project: Project) -> None:
    coordinator = people.someone(project)
    author, reviewer = who(project)
    item_id = items.ids(project)[0]
    expect_refusal("not submitted", reviewing.begin, as_(project, reviewer), item_id, Kind.RUBRIC)
    draft(as_(project, author))
    artifact = review(as_(project, reviewer))
    kept = reviewing.of_artifact(project, artifact)
    # No agreement is figured where nobody was blind, and nobody's counts before they agree.
    assert assignments.all_frozen(project) == []
    with project.store.read() as db:
        assert annotating.whose(db, Kind.RUBRIC) == {item_id: annotating.LEFT_OUT}
    changes = {unit.unit_id: (unit.change, unit.comment) for unit in reviewing.units(project, kept)}
    assert [changes.pop(unit) for unit in ("k1", "k2", "k3")] == [
        ("kept", ""), ("changed", "Which one?"), ("removed", ""),
    ]  # fmt: skip
    assert list(changes.values()) == [("added", "")]
    expect_refusal("Only the author", reviewing.answer, project, artifact, True)
    as_(project, author)
    expect_refusal("do not agree", reviewing.answer, project, artifact, False)
    reviewing.answer(project, artifact, True, "Right.")
    as_(project, coordinator.id)
    (line,) = reviewing.lines(project)
    assert line.state == "agreed"
    with project.store.read() as db:
        assert annotating.whose(db, Kind.RUBRIC) == {item_id: annotating.REVIEWED}
    refused = expect_refusal("", assignments.assign, project, plan(project, Stage.LABELLING))
    assert "blind" in " ".join(refused.details)


def test_letter_5_draft_review_and_answer_travel_in_packages(project: Project, tmp_path: Path) -> None:
    author, reviewer = who(project)
    expect_refusal("not submitted", packing.task, project, reviewer, tmp_path / "early")
    first = tasking.take_task(packing.task(project, author, tmp_path / "a").path).project
    draft(first)
    unpacking.take_in(project, [tray.work(first, tmp_path / "a").path])
    second = tasking.take_task(packing.task(project, reviewer, tmp_path / "b").path).project
    review(second)
    came = tray.work(second, tmp_path / "b").path
    second.close()
    unpacking.preview(project, [came])
    unpacking.take_in(project, [came])
    task = packing.task(project, author, tmp_path / "a").path
    first.close()
    first = tasking.take_task(task, first.path).project
    (line,) = [line for line in reviewing.lines(first) if not line.reviewer_id]
    changes = [unit.change for unit in reviewing.units(first, line.review)]
    assert changes == ["kept", "changed", "added", "removed"]
    reviewing.answer(first, line.review.artifact_id, True, "Thank you.")
    home = tray.work(first, tmp_path / "c").path
    first.close()
    unpacking.preview(project, [home])
    assert ParcelOutcome.NEW in {piece.outcome for piece in unpacking.take_in(project, [home])[0].pieces}
    (line,) = reviewing.lines(project)
    assert (line.state, line.review.answer) == ("agreed", "Thank you.")


def test_letter_5_reviews_are_listed_by_the_command_line(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    author, reviewer = who(project)
    draft(as_(project, author))
    review(as_(project, reviewer))
    answer = ["answer", str(project.path), "--item", "1", "--kind", "rubric", "--agree", "--as", author]
    app(["reviews", *answer], standalone_mode=False)
    capsys.readouterr()
    app(["reviews", "list", str(project.path), "--as", author, "--json"], standalone_mode=False)
    (one,) = json.loads(capsys.readouterr().out)["reviews"]
    assert (one["state"], one["blind"], len(one["units"])) == ("agreed", False, 4)


def test_letter_5_a_second_reviewer_goes_on_from_what_the_author_agreed_with(tmp_path: Path) -> None:
    project = reviewed(project_with(tmp_path, 3))
    (item_id,), coordinator = items.ids(project), people.someone(project)
    author, first, second = who(project)
    draft(as_(project, author))
    expect_refusal("comes first", reviewing.begin, as_(project, second), item_id, Kind.RUBRIC)
    one = review(as_(project, first))
    expect_refusal("comes first", reviewing.begin, as_(project, second), item_id, Kind.RUBRIC)
    expect_refusal("another review", packing.task, as_(project, coordinator.id), second, tmp_path / "early")
    reviewing.answer(as_(project, author), one, True)
    other = reviewing.begin(as_(project, second), item_id, Kind.RUBRIC).subject
    reviewing.fill_in(project, other, "clarity", "partly", "Two readings.")
    history.undo(project)
    assert reviewing.of_artifact(project, other).form == {}
    expect_refusal("no such answer", reviewing.fill_in, project, other, "beauty", "yes")
    begun = [unit.text for unit in artifacts.read(project, other).document.units]
    assert begun == [
        "Explains how citations are checked",
        "Names the first study",
        "Compares two ways of checking",
    ]
    artifacts.change_unit(project, other, "k1", text="Explains how each citation is checked")
    submit(project, other)
    assert settled(project) == begun
    reviewing.answer(as_(project, author), other, True)
    assert settled(project) == ["Explains how each citation is checked", *begun[1:]]
    as_(project, coordinator.id)
    assert [line.state for line in reviewing.lines(project)] == ["agreed", "agreed"]


def settled(project: Project) -> list[str]:
    with project.store.read() as db:
        (row,) = annotating.judged_rows(db, Kind.RUBRIC).values()
    return [unit.text for unit in artifacts.artifact_of(row).document.units]
