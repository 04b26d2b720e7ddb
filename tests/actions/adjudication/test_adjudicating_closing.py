"""Closing makes a consensus beside what it was made from; closing again makes the next version of the same units."""

import json

import pytest

from annotator.actions.adjudication import adjudicating, adjudication_sheets, closing, ruling
from annotator.actions.assignments import submitting
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.consensus import consensus_versions, remarks
from annotator.actions.labelling import labels
from annotator.actions.project.file import Project
from annotator.actions.releases.checking import check
from annotator.domain.experts.adjudication import AdjudicationState, ConsensusVersion, Origin, Reason
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs
from tests.projects.pairs_project import adjudication, row
from tests.storage import sql

PROJECT = pairs.opened_project


def rule_all(project: Project) -> None:
    """Ada's wording wherever she has one, Ben's lone units dropped."""
    ada = pairs.letter_of(project, adjudication(project), "Ada")
    for each in adjudication_sheets.sheet(project, adjudication(project)).rows:
        take = ada if ada in each.units else "drop"
        ruling.rule(project, each.ruling.id, take, reason=Reason.WORDING)


def consensus(project: Project) -> Artifact:
    found = annotating.artifacts_of(project, pairs.item(project))
    return next(each for each in found if each.state is State.CONSENSUS)


def versions(project: Project) -> list[ConsensusVersion]:
    with project.store.read() as db:
        return consensus_versions.versions(db, adjudication(project))


def needs(project: Project) -> list[tuple[str, str]]:
    rows = {each.ruling.id: each for each in adjudication_sheets.sheet(project, adjudication(project)).rows}
    lacking = closing.missing(project, adjudication(project))
    return [(min(rows[each.ruling_id].ruling.members.values()), each.field) for each in lacking]


def test_at_first_every_contested_row_is_missing(project: Project):
    lacking = closing.missing(project, adjudication(project))
    assert [each.number for each in lacking] == [2, 3, 4, 5, 6, 7]
    assert {each.field for each in lacking} == {"take"}


def test_a_reason_is_asked_for_where_work_is_changed_left_out_or_passed_over(project: Project):
    rule_all(project)
    for unit_id in ("a1", "a2", "a3", "a4", "a5", "b5", "b6"):
        ruling.explain(project, row(project, unit_id).ruling.id, reason="")
    ruling.rule(project, row(project, "a3").ruling.id, "both")
    ruling.write_own(project, row(project, "a5").ruling.id, text="Discusses cost")
    reasons = {("a2", "reason"), ("a4", "reason"), ("a5", "reason"), ("b5", "reason"), ("b6", "reason")}
    assert set(needs(project)) == reasons


def test_what_one_of_them_alone_wrote_is_kept_without_a_reason(project: Project):
    rule_all(project)
    ruling.rule(project, row(project, "b5").ruling.id, _letter(project, "Ben"))
    for unit_id in ("a5", "b5"):
        ruling.explain(project, row(project, unit_id).ruling.id, reason="")
    assert needs(project) == []


def test_an_own_wording_must_say_something_of_its_own(project: Project):
    rule_all(project)
    ruling.write_own(project, row(project, "a2").ruling.id, text="  ")
    ruling.rule(project, row(project, "a3").ruling.id, "own")
    assert needs(project) == [("a2", "own"), ("a3", "own")]


def test_a_row_that_nobody_wrote_and_nobody_keeps_needs_no_reason(project: Project):
    rule_all(project)
    added = ruling.add_row(project, adjudication(project), text="Defines attribution").subject
    ruling.explain(project, added, reason="")
    ruling.rule(project, added, "drop")
    assert needs(project) == []


def test_closing_lists_what_is_missing_and_changes_nothing(project: Project):
    with pytest.raises(Refusal) as refusal:
        closing.close(project, adjudication(project))
    assert refusal.value.details[0] == "Row 2 is undecided."
    assert len(refusal.value.details) == 6
    assert versions(project) == []


def test_a_consensus_of_nothing_is_refused(project: Project):
    for each in adjudication_sheets.sheet(project, adjudication(project)).rows:
        ruling.rule(project, each.ruling.id, "drop", reason=Reason.SCOPE)
    with pytest.raises(Refusal, match="The consensus would be empty"):
        closing.close(project, adjudication(project))


def test_closing_makes_a_new_artifact_and_touches_nothing_of_a_or_b(project: Project):
    before = [pairs.kept(project, Kind.RUBRIC, name) for name in ("Ada", "Ben")]
    agreement = sql.rows(project, "SELECT * FROM agreement")
    rule_all(project)
    change = closing.close(project, adjudication(project))
    assert [pairs.kept(project, Kind.RUBRIC, name) for name in ("Ada", "Ben")] == before
    assert sql.rows(project, "SELECT * FROM agreement") == agreement
    found = consensus(project)
    assert (change.verb, change.after["artifact"]) == ("close", found.id)
    assert found.author_id == pairs.person(project, "Cleo").id
    assert [unit.text for unit in found.document.units] == [text for text, _ in pairs.ADA]
    assert adjudicating.queue(project)[0].state == AdjudicationState.CLOSED.value


def test_every_unit_of_a_consensus_says_where_it_comes_from(project: Project):
    ruling.write_own(project, row(project, "a4").ruling.id, text="Describes measures")
    rule_all(project)
    ruling.rule(project, row(project, "a4").ruling.id, "own", rationale="Shorter")
    closing.close(project, adjudication(project))
    (version,) = versions(project)
    units = consensus(project).document.units
    assert [provenance.unit_id for provenance in version.provenance] == [unit.id for unit in units]
    edited = version.provenance[3]
    assert (edited.origin, edited.rationale, edited.reason) == (Origin.EDITED, "Shorter", Reason.WORDING)
    assert set(edited.sources.values()) == {"a4", "b4"}
    assert len(version.rulings) == 7


def test_the_whole_project_is_sound_after_closing(project: Project):
    rule_all(project)
    closing.close(project, adjudication(project))
    assert check(project).problems == []


def test_reopening_lets_the_consensus_stand(project: Project):
    rule_all(project)
    closing.close(project, adjudication(project))
    before = consensus(project)
    closing.reopen(project, adjudication(project), "One criterion is missing")
    ruling.rule(project, row(project, "a5").ruling.id, "drop", reason=Reason.SCOPE)
    assert consensus(project) == before
    assert adjudicating.queue(project)[0].state == AdjudicationState.REOPENED.value
    (said,) = remarks.remarks(project, adjudication(project))
    assert said.text == "One criterion is missing"


def test_reopening_needs_a_reason_and_something_closed(project: Project):
    with pytest.raises(Refusal, match="not closed"):
        closing.reopen(project, adjudication(project), "Why not")
    rule_all(project)
    closing.close(project, adjudication(project))
    with pytest.raises(Refusal, match="Nothing is written"):
        closing.reopen(project, adjudication(project), "  ")


def test_units_keep_their_ids_over_versions_and_judgements_stay_attached(project: Project):
    response = pairs.add_report(project)
    rule_all(project)
    closing.close(project, adjudication(project))
    first = consensus(project).document.units
    pairs.work_as(project, "Dan")
    labels.set_label(project, response, first[1].id, "yes")
    pairs.work_as(project, "Cleo")
    closing.reopen(project, adjudication(project), "A dispute")
    ruling.write_own(project, row(project, "a2").ruling.id, text="Compares kinds of questions")
    ruling.rule(project, row(project, "b5").ruling.id, _letter(project, "Ben"))
    closing.close(project, adjudication(project))
    second = consensus(project).document.units
    assert second[1].text == "Compares kinds of questions"
    assert {unit.id for unit in first} < {unit.id for unit in second}
    assert [version.version for version in versions(project)] == [1, 2]
    pairs.work_as(project, "Dan")
    assert labels.sheet(project, response).labels.keys() == {first[1].id}
    assert check(project).problems == []


def _letter(project: Project, name: str) -> str:
    return pairs.letter_of(project, adjudication(project), name)


def test_an_earlier_version_stays_as_it_was_closed(project: Project):
    rule_all(project)
    closing.close(project, adjudication(project))
    (first,) = versions(project)
    closing.reopen(project, adjudication(project), "A second look")
    ruling.rule(project, row(project, "a5").ruling.id, "drop", reason=Reason.SCOPE)
    closing.close(project, adjudication(project))
    assert versions(project)[0] == first
    contents = [
        json.loads(json.dumps(each.content)) for each in artifacts.revisions(project, first.artifact_id)
    ]
    assert [len(content["units"]) for content in contents] == [4, 5]


def test_an_adjudicated_consensus_is_changed_by_adjudication_alone(project: Project):
    rule_all(project)
    closing.close(project, adjudication(project))
    found = consensus(project)
    with pytest.raises(Refusal, match="Change it on the Adjudicate page"):
        artifacts.change_unit(project, found.id, found.document.units[0].id, text="By the back door")
    with pytest.raises(Refusal, match="Adjudicate page"):
        submitting.seal(project, found.id)
    assert consensus(project) == found
    with pytest.raises(Refusal, match="Adjudicate page"):
        submitting.reopen(project, found.id)


def test_gaps_are_collected_with_their_item(project: Project):
    ruling.explain(project, row(project, "a2").ruling.id, gap="Are comparisons one claim?")
    ruling.explain(project, row(project, "a3").ruling.id, reason=Reason.GUIDELINE_GAP, rationale="Weights")
    found = {gap.text: gap for gap in remarks.gaps(project)}
    assert found.keys() == {"Are comparisons one claim?", "Weights"}
    assert found["Weights"].ruling_id == row(project, "a3").ruling.id
    assert found["Weights"].item_key == "1"


def test_whoever_answered_the_item_learns_of_gaps_after_consensus_without_rationales(project: Project):
    rule_all(project)
    ruling.explain(project, row(project, "a2").ruling.id, gap="Are comparisons one claim?")
    ruling.explain(project, row(project, "a3").ruling.id, reason=Reason.GUIDELINE_GAP, rationale="Canary")
    pairs.work_as(project, "Ben")
    assert remarks.gaps(project) == []
    pairs.work_as(project, "Cleo")
    closing.close(project, adjudication(project))
    pairs.work_as(project, "Ben")
    assert {gap.text for gap in remarks.gaps(project)} == {"Are comparisons one claim?", ""}


def test_remarks_are_kept_in_order_and_say_something(project: Project):
    subject = row(project, "a2").ruling.id
    for text in ("First", " Second "):
        remarks.remark(project, subject, text)
    with pytest.raises(Refusal):
        remarks.remark(project, subject, "\n")
    assert [each.text for each in remarks.remarks(project, subject)] == ["First", "Second"]
    with pytest.raises(Refusal):
        remarks.remark(project, "no such subject", "Hello")
