"""What an adjudicator may take, word and pair, and how closing makes a consensus, version by version."""

import json
from pathlib import Path

import pytest

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.consensus import consensus
from annotator.actions.consensus import consensus as consensus_module
from annotator.actions.labelling import labels
from annotator.actions.project.file import Project
from annotator.actions.releases.checking import check
from annotator.actions.undo import history
from annotator.domain.experts.adjudication import (
    AdjudicationState,
    Confidence,
    ConsensusVersion,
    Figure,
    Origin,
    Reason,
    Ruling,
)
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Artifact, Kind, State
from tests.projects import pairs_project as pairs
from tests.projects.pairs_project import adjudication, row
from tests.projects.refusals import expect_refusal
from tests.storage import sql

PROJECT = pairs.opened_project


def letter(project: Project, name: str) -> str:
    return pairs.letter_of(project, adjudication(project), name)


def test_rulings_take_a_letter_both_or_an_own_wording(project: Project):
    ben = letter(project, "Ben")
    ruling.rule(project, row(project, "a2").ruling.id, ben, reason=Reason.WEIGHT)
    ((unit, provenance),) = row(project, "a2").made
    assert (unit.text, unit.weight) == pairs.BEN[1]
    assert unit.note == ""
    assert unit.id not in ("a2", "b2")
    assert (provenance.origin, provenance.letter, provenance.reason) == (Origin.ONE, ben, Reason.WEIGHT)
    assert sorted(provenance.sources.values()) == ["a2", "b2"]
    ruling.rule(project, row(project, "a1").ruling.id, "both")
    ((unit, provenance),) = row(project, "a1").made
    assert (unit.text, provenance.origin) == (pairs.ADA[0][0], Origin.BOTH)
    ruling.rule(project, row(project, "a3").ruling.id, "both")
    made = row(project, "a3").made
    assert sorted(unit.weight for unit, _ in made) == [1, 2]
    assert {provenance.letter for _, provenance in made} == {"A", "B"}
    assert len({unit.id for unit, _ in made}) == 2
    ruling.rule(project, row(project, "a5").ruling.id, "drop", reason=Reason.SCOPE)
    assert row(project, "a5").made == ()
    assert not row(project, "a5").ruling.open


def test_an_own_wording_starts_from_what_was_taken_and_outlives_a_change_of_mind(project: Project):
    result, ben = row(project, "a2").ruling, letter(project, "Ben")
    ruling.rule(project, result.id, ben)
    ruling.rule(project, result.id, "own")
    assert row(project, "a2").ruling.own["text"] == pairs.BEN[1][0]
    ruling.write_own(project, result.id, text="Compares kinds of questions")
    ((unit, provenance),) = row(project, "a2").made
    assert (unit.text, unit.weight, provenance.origin) == ("Compares kinds of questions", 3, Origin.EDITED)
    result = row(project, "a2").ruling
    ruling.write_own(project, result.id, text="Compares kinds of questions")
    ruling.rule(project, result.id, "A")
    ruling.rule(project, result.id, "own")
    assert row(project, "a2").made[0][0].text == "Compares kinds of questions"


def test_the_preview_holds_what_was_ruled_in_the_order_of_rows(project: Project):
    for unit_id in ("a4", "a1"):
        ruling.rule(project, row(project, unit_id).ruling.id, letter(project, "Ada"))
    units = adjudicating.sheet(project, adjudication(project)).consensus.units
    assert [unit.text for unit in units] == [pairs.ADA[0][0], pairs.ADA[3][0]]


@pytest.mark.parametrize("take", ["both", "C", "", "Ada"])
def test_what_is_not_to_be_had_is_refused(project: Project, take: str):
    expect_refusal("", ruling.rule, project, row(project, "a5").ruling.id, take)
    assert row(project, "a5").ruling.open


def test_a_field_that_does_not_fit_is_named_and_reasons_come_and_go(project: Project):
    result = row(project, "a2").ruling
    expect_refusal("The weight does not fit", ruling.write_own, project, result.id, weight=7)
    expect_refusal(
        "The note cannot be edited here", ruling.write_own, project, result.id, note="for everybody"
    )
    assert row(project, "a2").ruling == result
    result = row(project, "a2").ruling.id
    ruling.explain(project, result, reason=Reason.SCOPE, rationale="Too wide", confidence=Confidence.LOW)
    ruling.explain(project, result, gap="Says nothing of scope", confidence="")
    said = row(project, "a2").ruling
    assert (said.reason, said.rationale, said.confidence, said.gap) == (
        Reason.SCOPE, "Too wide", None, "Says nothing of scope",
    )  # fmt: skip
    result = row(project, "a3").ruling.id
    assert ruling.rule(project, result, "both").seq > 0
    assert ruling.rule(project, result, "both").seq == 0


def test_rows_are_added_moved_and_undone(project: Project):
    third = row(project, "a3").ruling
    change = ruling.add_row(
        project, third.adjudication_id, after=third.id, text="Defines attribution", weight=3
    )
    rows = adjudicating.sheet(project, third.adjudication_id).rows
    assert [each.ruling.id for each in rows].index(change.subject) == rows.index(row(project, "a3")) + 1
    ((unit, provenance),) = rows[rows.index(row(project, "a3")) + 1].made
    assert (unit.text, provenance.origin, provenance.reason) == (
        "Defines attribution",
        Origin.NEW,
        Reason.MISSING,
    )
    ruling.move(project, row(project, "a3").ruling.id, -1)
    assert row(project, "a3").number == row(project, "a2").number - 1
    ruling.move(project, row(project, "a3").ruling.id, -99)
    assert row(project, "a3").number == 1


def test_rulings_are_undone_and_done_again(project: Project):
    result = row(project, "a2").ruling
    ruling.rule(project, result.id, "A", reason=Reason.WORDING)
    ruling.move(project, result.id, 2)
    ruling.add_row(project, result.adjudication_id, text="Defines attribution")
    after = adjudicating.sheet(project, result.adjudication_id)
    for _ in range(3):
        history.undo(project)
    assert row(project, "a2").ruling == result
    assert len(adjudicating.sheet(project, result.adjudication_id).rows) == 7
    for _ in range(3):
        history.redo(project)
    assert adjudicating.sheet(project, result.adjudication_id) == after


def test_undo_refuses_when_the_row_has_moved_on(project: Project):
    result = row(project, "a2").ruling.id
    ruling.rule(project, result, "A")
    with project.store.write() as db:
        db.exec_driver_sql("UPDATE ruling SET position = 99 WHERE id = ?", (result,))
    expect_refusal("changed elsewhere", history.undo, project)


def test_undo_refuses_once_the_adjudication_is_closed(project: Project):
    for each in adjudicating.sheet(project, adjudication(project)).rows:
        ruling.rule(project, each.ruling.id, next(iter(each.units)), reason=Reason.WORDING)
    ruling.close(project, adjudication(project))
    expect_refusal("closed", history.undo, project)
    expect_refusal("closed", ruling.rule, project, row(project, "a1").ruling.id, "both")


def test_drafts_become_wordings_or_are_reported(project: Project):
    result = row(project, "a2").ruling
    ruling.save_draft(project, result.id, "text", "Compares synth")
    ruling.save_draft(project, result.id, "rationale", "Both are lo")
    assert ruling.kept(project, result.adjudication_id) == {
        (result.id, "rationale"): "Both are lo",
        (result.id, "text"): "Compares synth",
    }
    assert check(project).problems == []
    assert len(history.recover(project)) == 2
    kept = row(project, "a2").ruling
    assert (kept.take, kept.own["text"], kept.rationale) == ("own", "Compares synth", "Both are lo")
    assert ruling.kept(project, result.adjudication_id) == {}
    ruling.write_own(project, result.id, text="Compares synthetic questions")
    assert ruling.kept(project, result.adjudication_id) == {}


def test_a_draft_whose_row_is_gone_is_left_and_reported(project: Project):
    ruling.save_draft(project, "no such ruling", "text", "Lost words")
    assert history.recover(project) == []
    (finding,) = check(project).problems
    assert "Lost words" in finding.happened


def rule_all(project: Project) -> None:
    """Ada's wording wherever she has one, Ben's lone units dropped."""
    ada = pairs.letter_of(project, adjudication(project), "Ada")
    for each in adjudicating.sheet(project, adjudication(project)).rows:
        ruling.rule(project, each.ruling.id, (ada if ada in each.units else "drop"), reason=Reason.WORDING)


def agreed(project: Project) -> Artifact:
    result = annotating.artifacts_of(project, pairs.item(project))
    return next(each for each in result if each.state is State.CONSENSUS)


def versions(project: Project) -> list[ConsensusVersion]:
    with project.store.read() as db:
        return consensus_module.versions(db, adjudication(project))


def needs(project: Project) -> list[tuple[str, str]]:
    rows = {each.ruling.id: each for each in adjudicating.sheet(project, adjudication(project)).rows}
    lacking = ruling.missing(project, adjudication(project))
    return [(min(rows[each.ruling_id].ruling.members.values()), each.field) for each in lacking]


def test_what_is_missing_is_listed_and_nothing_closed(project: Project):
    lacking = ruling.missing(project, adjudication(project))
    assert [each.number for each in lacking] == [2, 3, 4, 5, 6, 7]
    assert {each.field for each in lacking} == {"take"}
    refusal = expect_refusal("", ruling.close, project, adjudication(project))
    assert refusal.details[0] == "Row 2 is undecided."
    assert len(refusal.details) == 6
    assert versions(project) == []


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


def test_an_own_wording_and_a_row_of_nobody_need_what_they_need(project: Project):
    rule_all(project)
    added = ruling.add_row(project, adjudication(project), text="Defines attribution").subject
    ruling.explain(project, added, reason="")
    ruling.rule(project, added, "drop")
    assert needs(project) == []
    ruling.write_own(project, row(project, "a2").ruling.id, text="  ")
    ruling.rule(project, row(project, "a3").ruling.id, "own")
    assert needs(project) == [("a2", "own"), ("a3", "own")]


def test_a_consensus_of_nothing_is_refused(project: Project):
    for each in adjudicating.sheet(project, adjudication(project)).rows:
        ruling.rule(project, each.ruling.id, "drop", reason=Reason.SCOPE)
    expect_refusal("The consensus would be empty", ruling.close, project, adjudication(project))


def test_closing_makes_a_new_artifact_and_touches_nothing_of_a_or_b(project: Project):
    before = [pairs.kept(project, Kind.RUBRIC, name) for name in ("Ada", "Ben")]
    agreement = sql.rows(project, "SELECT * FROM agreement")
    rule_all(project)
    change = ruling.close(project, adjudication(project))
    assert [pairs.kept(project, Kind.RUBRIC, name) for name in ("Ada", "Ben")] == before
    assert sql.rows(project, "SELECT * FROM agreement") == agreement
    result = agreed(project)
    assert (change.verb, change.after["artifact"]) == ("close", result.id)
    assert result.author_id == pairs.person(project, "Cleo").id
    assert [unit.text for unit in result.document.units] == [text for text, _ in pairs.ADA]
    assert adjudicating.queue(project)[0].state == AdjudicationState.CLOSED.value


def test_every_unit_of_a_consensus_says_where_it_comes_from(project: Project):
    ruling.write_own(project, row(project, "a4").ruling.id, text="Describes measures")
    rule_all(project)
    ruling.rule(project, row(project, "a4").ruling.id, "own", rationale="Shorter")
    ruling.close(project, adjudication(project))
    (version,) = versions(project)
    units = agreed(project).document.units
    assert [provenance.unit_id for provenance in version.provenance] == [unit.id for unit in units]
    edited = version.provenance[3]
    assert (edited.origin, edited.rationale, edited.reason) == (Origin.EDITED, "Shorter", Reason.WORDING)
    assert set(edited.sources.values()) == {"a4", "b4"}
    assert len(version.rulings) == 7


def test_reopening_lets_the_consensus_stand(project: Project):
    rule_all(project)
    ruling.close(project, adjudication(project))
    before = agreed(project)
    ruling.reopen(project, adjudication(project), "One criterion is missing")
    ruling.rule(project, row(project, "a5").ruling.id, "drop", reason=Reason.SCOPE)
    assert agreed(project) == before
    assert adjudicating.queue(project)[0].state == AdjudicationState.REOPENED.value
    (said,) = consensus_module.remarks(project, adjudication(project))
    assert said.text == "One criterion is missing"


def test_reopening_needs_a_reason_and_something_closed(project: Project):
    expect_refusal("not closed", ruling.reopen, project, adjudication(project), "Why not")
    rule_all(project)
    ruling.close(project, adjudication(project))
    expect_refusal("Nothing is written", ruling.reopen, project, adjudication(project), "  ")


def test_units_keep_their_ids_over_versions_and_judgements_stay_attached(project: Project):
    response = pairs.add_report(project)
    rule_all(project)
    ruling.close(project, adjudication(project))
    first = agreed(project).document.units
    pairs.work_as(project, "Dan")
    labels.set_label(project, response, first[1].id, "yes")
    pairs.work_as(project, "Cleo")
    ruling.reopen(project, adjudication(project), "A dispute")
    ruling.write_own(project, row(project, "a2").ruling.id, text="Compares kinds of questions")
    ruling.rule(project, row(project, "b5").ruling.id, _letter(project, "Ben"))
    ruling.close(project, adjudication(project))
    second = agreed(project).document.units
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
    ruling.close(project, adjudication(project))
    (first,) = versions(project)
    ruling.reopen(project, adjudication(project), "A second look")
    ruling.rule(project, row(project, "a5").ruling.id, "drop", reason=Reason.SCOPE)
    ruling.close(project, adjudication(project))
    assert versions(project)[0] == first
    contents = [
        json.loads(json.dumps(each.content)) for each in artifacts.revisions(project, first.artifact_id)
    ]
    assert [len(content["units"]) for content in contents] == [4, 5]


def test_an_adjudicated_consensus_is_changed_by_adjudication_alone(project: Project):
    rule_all(project)
    ruling.close(project, adjudication(project))
    result = agreed(project)
    expect_refusal(
        "Change it on the Adjudicate page",
        artifacts.change_unit,
        project,
        result.id,
        result.document.units[0].id,
        text="By the back door",
    )
    expect_refusal("Adjudicate page", assignments.seal, project, result.id)
    assert agreed(project) == result
    expect_refusal("Adjudicate page", assignments.reopen, project, result.id)


def test_gaps_are_collected_with_their_item(project: Project):
    ruling.explain(project, row(project, "a2").ruling.id, gap="Are comparisons one claim?")
    ruling.explain(project, row(project, "a3").ruling.id, reason=Reason.GUIDELINE_GAP, rationale="Weights")
    result = {gap.text: gap for gap in consensus_module.gaps(project)}
    assert result.keys() == {"Are comparisons one claim?", "Weights"}
    assert result["Weights"].ruling_id == row(project, "a3").ruling.id
    assert result["Weights"].item_key == "1"


def test_whoever_answered_the_item_learns_of_gaps_after_consensus_without_rationales(project: Project):
    rule_all(project)
    ruling.explain(project, row(project, "a2").ruling.id, gap="Are comparisons one claim?")
    ruling.explain(project, row(project, "a3").ruling.id, reason=Reason.GUIDELINE_GAP, rationale="Canary")
    pairs.work_as(project, "Ben")
    assert consensus_module.gaps(project) == []
    pairs.work_as(project, "Cleo")
    ruling.close(project, adjudication(project))
    pairs.work_as(project, "Ben")
    assert {gap.text for gap in consensus_module.gaps(project)} == {"Are comparisons one claim?", ""}


def test_remarks_are_kept_in_order_and_say_something(project: Project):
    subject = row(project, "a2").ruling.id
    for text in ("First", " Second "):
        consensus_module.remark(project, subject, text)
    expect_refusal("", consensus_module.remark, project, subject, "\n")
    assert [each.text for each in consensus_module.remarks(project, subject)] == ["First", "Second"]
    expect_refusal("", consensus_module.remark, project, "no such subject", "Hello")


SUBJECTS = (
    "attribution", "retrieval", "citation accuracy", "synthetic questions", "human verification", "multilingual data",
    "long documents", "table reading", "numerical claims", "temporal reasoning", "conflicting sources",
    "abstention", "prompt injection",
)  # fmt: skip
# Two ideas that each words in its own way: no matcher by likeness brings them together.
ADA_ALONE = ("Discusses what checking by people costs", "Outlines where the field should go next")
BEN_ALONE = ("Analyses expenses of manual review", "Identifies promising future directions")
BEN_MORE = ("Names a public leaderboard", "Provides licence terms")


@pytest.fixture
def repaired(tmp_path: Path):
    """Ada has 15 criteria and Ben 17: thirteen are the same, two more mean the same in other words."""
    repaired = pairs.pairs_project(tmp_path)
    shared = tuple((f"Explains the role of {subject}", 2) for subject in SUBJECTS)
    ada = shared + tuple((text, weight) for text, weight in zip(ADA_ALONE, (1, 3), strict=True))
    ben = shared + tuple((text, weight) for text, weight in zip(BEN_ALONE, (1, 2), strict=True))
    ben += tuple((text, 1) for text in BEN_MORE)
    pairs.submit(repaired, {"Ada": pairs.rubric(ada, "a"), "Ben": pairs.rubric(ben, "b")})
    pairs.opened(repaired)
    return repaired


def ruling_of(repaired: Project, unit_id: str) -> Ruling:
    return pairs.row(repaired, unit_id).ruling


def units(found: Ruling) -> list[str]:
    return sorted(found.members.values())


def frozen(repaired: Project) -> tuple[dict[str, Figure], list[tuple[object, ...]]]:
    sheet = adjudicating.sheet(repaired, adjudication(repaired))
    return {figure.name: figure for figure in sheet.figures}, sql.rows(repaired, "SELECT * FROM agreement")


def test_pairs_are_made_split_and_undone(repaired: Project):
    figures, _ = frozen(repaired)
    assert figures["match_f1"].value == pytest.approx(26 / 32)
    assert len(adjudicating.sheet(repaired, adjudication(repaired)).rows) == 19
    before = adjudicating.sheet(repaired, adjudication(repaired))
    adjudicating.pair(repaired, ruling_of(repaired, "a14").id, ruling_of(repaired, "b14").id)
    adjudicating.split(repaired, ruling_of(repaired, "a1").id, "A")
    for _ in range(2):
        history.undo(repaired)
    assert adjudicating.sheet(repaired, adjudication(repaired)) == before
    adjudicating.pair(repaired, ruling_of(repaired, "a1").id, ruling_of(repaired, "b16").id)
    assert units(ruling_of(repaired, "a1")) == ["a1", "b16"]
    assert units(ruling_of(repaired, "b1")) == ["b1"]
    assert not ruling_of(repaired, "a1").unanimous
    expect_refusal(
        "every letter already",
        adjudicating.pair,
        repaired,
        ruling_of(repaired, "a1").id,
        ruling_of(repaired, "a2").id,
    )
    expect_refusal(
        "another of the same item",
        adjudicating.pair,
        repaired,
        ruling_of(repaired, "a1").id,
        ruling_of(repaired, "a1").id,
    )
    adjudicating.pair(repaired, ruling_of(repaired, "a14").id, ruling_of(repaired, "b2").id)
    assert units(ruling_of(repaired, "a14")) == ["a14", "b2"]
    assert units(ruling_of(repaired, "a2")) == ["a2"]


def test_two_pairings_give_a_second_figure_and_leave_the_frozen_one(repaired: Project):
    _, before = frozen(repaired)
    adjudicating.pair(repaired, ruling_of(repaired, "a14").id, ruling_of(repaired, "b14").id)
    adjudicating.pair(repaired, ruling_of(repaired, "b15").id, ruling_of(repaired, "a15").id)
    assert units(ruling_of(repaired, "a14")) == ["a14", "b14"]
    assert units(ruling_of(repaired, "a15")) == ["a15", "b15"]
    for each in adjudicating.sheet(repaired, adjudication(repaired)).rows:
        ruling.rule(repaired, each.ruling.id, next(iter(each.units)), reason=Reason.WORDING)
    ruling.close(repaired, adjudication(repaired))
    with repaired.store.read() as db:
        (version,) = consensus.versions(db, adjudication(repaired))
    second = {figure.name: figure for figure in version.repaired}
    assert second["repaired_match_f1"].value == pytest.approx(30 / 32)
    # 14 of 15 pairs have equal weights; linear weights, marginals 1: (1, 1), 2: (13, 14), 3: (1, 0) of 15 each.
    observed, expected = 1 / 15, (1 * 14 + 13 * 1 + 1 * 14 + 2 * 1 * 1) / 15**2
    assert second["repaired_weight_kappa"].value == pytest.approx(1 - observed / expected)
    assert all(name.startswith("repaired_") for name in second)
    figures, after = frozen(repaired)
    assert after == before
    assert figures["match_f1"].value == pytest.approx(26 / 32)


def test_pairing_opens_the_row_again_and_keeps_what_was_said(repaired: Project):
    ruling.rule(
        repaired,
        ruling_of(repaired, "a14").id,
        "drop",
        reason=Reason.SCOPE,
        rationale="Costs are out of scope",
    )
    ruling.explain(repaired, ruling_of(repaired, "b14").id, gap="Are costs in scope?")
    adjudicating.pair(repaired, ruling_of(repaired, "a14").id, ruling_of(repaired, "b14").id)
    joined = ruling_of(repaired, "a14")
    assert joined.open
    assert (joined.rationale, joined.gap) == ("Costs are out of scope", "Are costs in scope?")


def test_a_split_row_can_be_paired_again(repaired: Project):
    ben = pairs.letter_of(repaired, adjudication(repaired), "Ben")
    adjudicating.split(repaired, ruling_of(repaired, "a1").id, ben)
    rows = [units(each.ruling) for each in adjudicating.sheet(repaired, adjudication(repaired)).rows]
    assert rows[rows.index(["a1"]) + 1] == ["b1"]
    assert not ruling_of(repaired, "a1").unanimous
    expect_refusal("is not paired", adjudicating.split, repaired, ruling_of(repaired, "b1").id, ben)
    assert ruling_of(repaired, "a1").open
    adjudicating.pair(repaired, ruling_of(repaired, "a1").id, ruling_of(repaired, "b1").id)
    assert ruling_of(repaired, "a1").unanimous
    assert ruling_of(repaired, "a1").take == "both"


def test_rows_of_labels_are_given(repaired: Project):
    report = pairs.add_report(repaired)
    pairs.submit(
        repaired, {"Ada": pairs.labels(report, {"u": "yes"}), "Ben": pairs.labels(report, {"u": "no"})}
    )
    adjudication_id = pairs.opened(repaired, Stage.LABELLING)
    (only,) = adjudicating.sheet(repaired, adjudication_id).rows
    expect_refusal("rows of labels are fixed", adjudicating.split, repaired, only.ruling.id, "A")
    expect_refusal("rows of labels are fixed", ruling.add_row, repaired, adjudication_id, value="yes")
    expect_refusal("cannot both be kept", ruling.rule, repaired, only.ruling.id, "both")
