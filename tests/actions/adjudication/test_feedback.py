"""After consensus annotators learn what became of their own work and why, and may object once."""

import json
from pathlib import Path

import pytest
from sqlalchemy import insert

from annotator.actions.adjudication import adjudicating, feedback, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.project.file import Project
from annotator.actions.releases.checking import check
from annotator.domain.experts.adjudication import DigestRow, Dispute, DisputeState, Reason
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.canonical import derived_id, new_id, now
from annotator.storage.tables import ASSIGNMENT
from tests.projects import pairs_project as pairs
from tests.projects.pairs_project import adjudication
from tests.projects.refusals import expect_refusal


@pytest.fixture
def project(tmp_path: Path):
    """Both rubrics are adjudicated: 1 both, 2 Ben's, 3 own weight, 4 own words, a5 dropped, b5 kept, b6 dropped."""
    project = pairs.rubrics_project(tmp_path)
    pairs.opened(project)
    ben = pairs.letter_of(project, adjudication(project), "Ben")
    rule(project, "a1", "both", rationale="Canary: never told")
    rule(project, "a2", ben, reason=Reason.WEIGHT, rationale="The comparison is central")
    own(project, "a3", weight=3)
    own(project, "a4", text="Describes citation accuracy and how it is measured")
    rule(project, "a5", "drop", reason=Reason.SCOPE, rationale="Costs are not asked for")
    rule(project, "b5", ben)
    rule(project, "b6", "drop", reason=Reason.DUPLICATE, rationale="Canary: about Ben's alone")
    ruling.add_row(project, adjudication(project), text="Defines attribution")
    ruling.close(project, adjudication(project))
    return project


def ruling_of(project: Project, unit_id: str) -> str:
    return pairs.row(project, unit_id).ruling.id


def rule(project: Project, unit_id: str, take: str, **why: object) -> None:
    ruling.rule(project, ruling_of(project, unit_id), take, **why)


def own(project: Project, unit_id: str, **fields: object) -> None:
    ruling.write_own(project, ruling_of(project, unit_id), **fields)
    ruling.explain(project, ruling_of(project, unit_id), reason=Reason.OTHER)


def of(project: Project, name: str) -> feedback.Digest:
    pairs.work_as(project, name)
    return feedback.digest(project, pairs.item(project))


def told(project: Project, name: str) -> dict[str, DigestRow]:
    """Row by row, by the id of the person's own unit; what was added by the words that stand."""
    (stage,) = of(project, name).stages
    return {(row.own or {}).get("id") or (row.consensus or {})["text"]: row for row in stage.rows}


def test_each_is_told_what_became_of_their_own_units_and_nothing_of_the_partner(project: Project):
    rows = told(project, "Ada")
    assert {key: row.change for key, row in rows.items()} == {
        "a1": "kept", "a2": "reworded", "a3": "weight changed", "a4": "merged", "a5": "dropped",
        "Identifies open problems in multilingual evaluation": "added", "Defines attribution": "added",
    }  # fmt: skip
    assert rows["a5"].consensus is None
    assert (rows["a5"].reason, rows["a5"].rationale) == (Reason.SCOPE, "Costs are not asked for")
    assert rows["a2"].consensus is not None
    assert rows["a2"].consensus["text"] == pairs.BEN[1][0]
    assert {key: row.change for key, row in told(project, "Ben").items()} == {
        "b1": "kept", "b2": "kept", "b3": "weight changed", "b4": "merged", "b5": "kept", "b6": "dropped",
        "Defines attribution": "added",
    }  # fmt: skip
    said = json.dumps(of(project, "Ada").stages[0].model_dump(mode="json"))
    for secret in ("Canary", pairs.BEN[5][0], pairs.BEN[3][0], '"b2"', '"b6"', "letter"):
        assert secret not in said
    for name in ("Ben", "Cleo", "Cora"):
        result = pairs.person(project, name)
        assert result.id not in said
        assert f'"{result.alias}"' not in said
    assert "Canary" not in json.dumps(told(project, "Ben")["b1"].model_dump(mode="json"))
    pairs.work_as(project, "Ada")
    (line,) = feedback.items_with_digest(project)
    assert (line.item_key, line.stages, line.changed, line.dispute) == ("1", (Stage.RUBRIC,), 6, None)
    (stage,) = of(project, "Ada").stages
    pairs.work_as(project, "Cora")
    records = feedback.digest_records(project, pairs.person(project, "Ada").id)
    assert records == [stage.model_dump(mode="json")]
    assert records[0]["item_id"] == pairs.item(project)
    assert json.loads(json.dumps(records)) == records
    assert feedback.digest_records(project, pairs.person(project, "Dan").id) == []


def test_notes_and_remarks_of_the_partner_never_reach_the_consensus(tmp_path: Path):
    project = pairs.pairs_project(tmp_path)
    noted = Rubric(units=(Criterion(text="Names a dataset", note="Canary note"),), remark="Canary remark")
    pairs.submit(project, {"Ada": pairs.rubric((("Explains cost", 1),), "a"), "Ben": noted})
    pairs.opened(project)
    for row in adjudicating.sheet(project, adjudication(project)).rows:
        ruling.rule(project, row.ruling.id, next(iter(row.units)))
    ruling.close(project, adjudication(project))
    assert "Canary" not in json.dumps(of(project, "Ada").stages[0].model_dump(mode="json"))


def test_before_consensus_and_for_strangers_there_is_nothing_to_tell(project: Project, tmp_path: Path):
    assert of(project, "Dan").stages == ()
    assert feedback.items_with_digest(project) == []
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    waiting = pairs.rubrics_project(fresh)
    pairs.opened(waiting)
    assert of(waiting, "Ada").stages == ()
    expect_refusal(
        "no consensus on your rubric",
        feedback.dispute,
        waiting,
        pairs.item(waiting),
        Stage.RUBRIC,
        "Too early",
    )


def test_what_is_told_is_the_version_that_stands(project: Project):
    pairs.work_as(project, "Cleo")
    ruling.reopen(project, adjudication(project), "A second look")
    rule(project, "a5", pairs.letter_of(project, adjudication(project), "Ada"))
    assert told(project, "Ada")["a5"].change == "dropped"
    pairs.work_as(project, "Cleo")
    ruling.close(project, adjudication(project))
    assert told(project, "Ada")["a5"].change == "kept"
    assert of(project, "Ada").stages[0].version == 2


def dispute(project: Project, name: str = "Ada", text: str = "Costs matter") -> str:
    pairs.work_as(project, name)
    return feedback.dispute(project, pairs.item(project), Stage.RUBRIC, text).subject


def test_one_reasoned_objection_per_item(project: Project):
    assert of(project, "Ada").may_dispute
    expect_refusal("Nothing is written", dispute, project, text="  ")
    expect_refusal("longer than 20000", dispute, project, text="x" * 20_001)
    dispute(project)
    assert not of(project, "Ada").may_dispute
    expect_refusal("objected to this item before", dispute, project, text="And again")


def test_an_objection_reaches_the_adjudicator_under_a_letter(project: Project):
    dispute_id = dispute(project)
    pairs.work_as(project, "Cleo")
    (line,) = adjudicating.queue(project)
    assert (line.state, line.disputes, line.conflict, line.closed) == ("closed", 1, True, False)
    (shown,) = adjudicating.sheet(project, line.adjudication_id).disputes
    letter = pairs.letter_of(project, line.adjudication_id, "Ada")
    assert (shown.id, shown.letter, shown.text) == (dispute_id, letter, "Costs matter")


def test_a_new_version_answers_an_objection(project: Project):
    dispute(project)
    pairs.work_as(project, "Cleo")
    ruling.reopen(project, adjudication(project), "Ada may be right")
    rule(project, "a5", pairs.letter_of(project, adjudication(project), "Ada"))
    ruling.close(project, adjudication(project))
    told_ = of(project, "Ada").stages[0].dispute
    assert (told_.state, told_.answered_version, told_.answer) == (DisputeState.ANSWERED, 2, "")
    pairs.work_as(project, "Cleo")
    assert adjudicating.queue(project)[0].closed
    assert check(project).problems == []


def test_an_objection_is_answered_in_words_once_and_by_the_adjudicator_alone(project: Project):
    dispute_id = dispute(project)
    expect_refusal("", feedback.answer, project, dispute_id, "I agree with myself")
    pairs.work_as(project, "Cleo")
    feedback.answer(project, dispute_id, "Costs are another item's")
    expect_refusal("is already answered", feedback.answer, project, dispute_id, "Or not")
    assert adjudicating.queue(project)[0].closed
    told_ = of(project, "Ada").stages[0].dispute
    assert (told_.state, told_.answer) == (DisputeState.ANSWERED, "Costs are another item's")


def test_objections_are_read_without_their_authors(project: Project):
    dispute(project)
    (mine,) = feedback.disputes(project)
    assert mine.person_id == project.by
    for name in ("Cleo", "Cora"):
        pairs.work_as(project, name)
        assert [each.person_id for each in feedback.disputes(project)] == [""]
    for name in ("Ben", "Dan"):
        pairs.work_as(project, name)
        assert feedback.disputes(project) == []


def test_an_objection_that_comes_twice_is_taken_in_once(project: Project):
    ada, item, at = pairs.person(project, "Ada").id, pairs.item(project), now()
    with project.store.write() as db:
        first = feedback.receive(project, db, ada, item, Stage.RUBRIC, "By mail", at)
        again = feedback.receive(project, db, ada, item, Stage.RUBRIC, "By mail", at)
    assert (first, again) == (True, False)
    pairs.work_as(project, "Ada")
    expected = Dispute(
        id=derived_id("dispute", item, ada), item_id=item, person_id=ada, stage=Stage.RUBRIC, text="By mail", at=at
    )  # fmt: skip
    assert feedback.disputes(project) == [expected]


@pytest.fixture
def away(project: Project, tmp_path: Path):
    """Ada's own file, which knows of the consensus only by what came in her package."""
    records = feedback.digest_records(project, pairs.person(project, "Ada").id)
    folder = tmp_path / "away"
    folder.mkdir()
    away = pairs.work_as(pairs.pairs_project(folder), "Ada")
    here = pairs.item(away)
    away.set(f"{feedback.RECEIVED}{here}", [{**each, "item_id": here} for each in records])
    return away


def test_in_ones_own_file_the_digest_and_the_objection_show_at_once(away: Project):
    assert told(away, "Ada")["a5"].change == "dropped"
    assert [line.changed for line in feedback.items_with_digest(away)] == [6]
    dispute(away)
    (stage,) = of(away, "Ada").stages
    assert (stage.dispute.text, stage.dispute.state) == ("Costs matter", DisputeState.OPEN)
    assert not of(away, "Ada").may_dispute


def test_what_came_back_goes_before_what_the_file_knows(away: Project):
    dispute(away)
    key = f"{feedback.RECEIVED}{pairs.item(away)}"
    answered = {"text": "Costs matter", "state": "answered", "answer": "No", "answered_version": 0}
    away.set(key, [{**away.get(key)[0], "dispute": answered, "version": 2}])
    (stage,) = of(away, "Ada").stages
    assert (stage.version, stage.dispute.answer) == (2, "No")


def labelled(tmp_path: Path) -> Project:
    """Ada's and Ben's labels of one report, closed with Ben's."""
    project = pairs.pairs_project(tmp_path)
    rubric = artifacts.start(project, pairs.item(project), Kind.RUBRIC, pairs.rubric(pairs.ADA, "c")).subject
    assignments.seal(project, rubric)
    report = pairs.add_report(project)
    said = {"Ada": {"c1": "yes", "c2": "no"}, "Ben": {"c1": "no", "c2": "no"}}
    pairs.submit(project, {name: pairs.labels(report, values) for name, values in said.items()})
    adjudication_id = pairs.opened(project, Stage.LABELLING)
    ben = pairs.letter_of(project, adjudication_id, "Ben")
    for row in adjudicating.sheet(project, adjudication_id).rows:
        ruling.rule(project, row.ruling.id, ben, reason=Reason.ERROR)
    ruling.close(project, adjudication_id)
    return project


def test_labels_are_told_by_the_words_they_are_about(tmp_path: Path):
    (stage,) = of(labelled(tmp_path), "Ada").stages
    assert [(row.heading, row.change) for row in stage.rows] == [
        (pairs.ADA[0][0], "value changed"), (pairs.ADA[1][0], "kept"),
    ]  # fmt: skip


def test_labels_that_are_to_be_repeated_are_not_explained_before(tmp_path: Path):
    project = labelled(tmp_path)
    ada = pairs.person(project, "Ada").id
    row = {"id": new_id(), "item_id": pairs.item(project), "person_id": ada, "stage": "labelling", "trial": 2}
    with project.store.write() as db:
        db.execute(insert(ASSIGNMENT).values(**row, purpose="repeat"))
    assert of(project, "Ada").stages == ()
    assert feedback.digest_records(project, ada) == []
    assert len(of(project, "Ben").stages) == 1
