"""Who may adjudicate: whoever is assigned, or has the role; never someone who answered the item themselves."""

import pytest
from sqlalchemy import insert

from annotator.actions.adjudication import adjudicating, adjudication_sheets, closing, openings, ruling
from annotator.actions.assignments import adjudicators
from annotator.actions.authoring import artifacts
from annotator.actions.consensus import remarks
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.change import new_id
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import AssignmentRow, table
from tests.projects import pairs_project as pairs
from tests.projects.filled_project import add_judgement

PROJECT = pairs.rubrics_project


def assign(project: Project, name: str, stage: Stage = Stage.ADJUDICATION) -> None:
    row = {
        "id": new_id(),
        "item_id": pairs.item(project),
        "person_id": pairs.person(project, name).id,
        "stage": stage,
    }
    with project.store.write() as db:
        db.execute(insert(table(AssignmentRow)).values(**row))


def add_adjudicator(project: Project, name: str, *more: Role) -> None:
    people.add_person(project, name, (Role.ADJUDICATOR, *more))
    pairs.work_as(project, name)


def open_(project: Project) -> str:
    return openings.open_(project, pairs.item(project), Stage.RUBRIC).id


def test_a_rater_is_refused_whatever_their_role(project: Project):
    assign(project, "Ada")
    pairs.work_as(project, "Ada")
    assert adjudicating.queue(project) == []
    with pytest.raises(Refusal, match="written or labelled something for this item yourself"):
        open_(project)


def test_who_wrote_for_another_stage_of_the_item_is_refused(project: Project):
    add_adjudicator(project, "Eva")
    artifacts.start(project, pairs.item(project), Kind.PLAN)
    assert adjudicating.queue(project) == []
    with pytest.raises(Refusal, match="written or labelled"):
        open_(project)


def test_who_labelled_a_report_of_the_item_is_refused(project: Project):
    add_adjudicator(project, "Eva")
    named = {"item_id": pairs.item(project), "response_id": pairs.add_report(project), "unit_id": "b1"}
    rater = {"rater_kind": "person", "rater_id": pairs.person(project, "Eva").id, "run_id": None}
    add_judgement(project, **named, **rater, artifact_id="")
    assert adjudicating.queue(project) == []
    with pytest.raises(Refusal, match="written or labelled"):
        open_(project)


def test_who_is_still_to_answer_the_item_is_refused(project: Project):
    add_adjudicator(project, "Eva")
    assign(project, "Eva", Stage.DIAGNOSTICS)
    assert adjudicating.queue(project) == []
    with pytest.raises(Refusal, match="written or labelled"):
        open_(project)


def test_without_the_role_and_unassigned_nobody_adjudicates(project: Project):
    pairs.work_as(project, "Dan")
    assert adjudicating.queue(project) == []
    with pytest.raises(Refusal, match="not an adjudicator"):
        open_(project)


def test_an_assignment_goes_before_the_role(project: Project):
    assign(project, "Dan")
    assert adjudicating.queue(project) == []
    with pytest.raises(Refusal, match="Someone else adjudicates"):
        open_(project)
    pairs.work_as(project, "Dan")
    assert open_(project)


def test_what_somebody_began_is_theirs(project: Project):
    adjudication_id = open_(project)
    add_adjudicator(project, "Eva")
    assert adjudicating.queue(project) == []
    with pytest.raises(Refusal, match="Someone else adjudicates"):
        open_(project)
    for verb in (adjudication_sheets.sheet, closing.close, closing.missing, remarks.remarks):
        with pytest.raises(Refusal, match="Someone else adjudicates"):
            verb(project, adjudication_id)


def test_an_assignment_hands_over_what_another_began(project: Project):
    adjudication_id = open_(project)
    row = adjudication_sheets.sheet(project, adjudication_id).rows[0].ruling
    add_adjudicator(project, "Eva")
    assign(project, "Eva")
    assert open_(project) == adjudication_id
    ruling.rule(project, row.id, "both")
    pairs.work_as(project, "Cleo")
    with pytest.raises(Refusal, match="Someone else adjudicates"):
        ruling.rule(project, row.id, "A")


def test_adjudicating_one_stage_leaves_the_next_one_free(project: Project):
    adjudication_id = open_(project)
    for row in adjudication_sheets.sheet(project, adjudication_id).rows:
        ruling.rule(project, row.ruling.id, next(iter(row.units)), reason="wording")
    closing.close(project, adjudication_id)
    pairs.submit(project, {"Ada": pairs.diagnostics((True,), "a"), "Ben": pairs.diagnostics((False,), "b")})
    assert pairs.opened(project, Stage.DIAGNOSTICS)


def test_a_rater_never_sees_the_sheet_or_the_discussion(project: Project):
    adjudication_id = open_(project)
    remarks.remark(project, adjudication_id, "Canary of the adjudicator")
    pairs.work_as(project, "Ada")
    for question in (adjudication_sheets.sheet, remarks.remarks):
        with pytest.raises(Refusal, match="written or labelled"):
            question(project, adjudication_id)


def test_coordinators_talk_unless_they_answered_the_item(project: Project):
    adjudication_id = open_(project)
    remarks.remark(project, adjudication_id, "Is this in scope?")
    pairs.work_as(project, "Cora")
    remarks.remark(project, adjudication_id, "It is.")
    assert [each.text for each in remarks.remarks(project, adjudication_id)] == [
        "Is this in scope?",
        "It is.",
    ]
    artifacts.start(project, pairs.item(project), Kind.PLAN)
    with pytest.raises(Refusal):
        remarks.remark(project, adjudication_id, "And now?")


def test_a_consensus_does_not_make_its_adjudicator_an_annotator(project: Project):
    with project.store.read() as db:
        cleo, ada = (pairs.person(project, name).id for name in ("Cleo", "Ada"))
        assert adjudicators.answered(db, cleo) == frozenset()
        assert adjudicators.answered(db, ada) == {pairs.item(project)}
