"""What an adjudicator may take, word and pair; how closing makes a consensus; what annotators learn and may object."""

import json
from pathlib import Path

import pytest

from annotator.actions.adjudication import adjudicating, feedback, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.consensus import consensus
from annotator.actions.labelling import labels
from annotator.actions.project.file import Project
from annotator.actions.releases.checking import check
from annotator.actions.undo import history
from annotator.domain.common import now
from annotator.domain.experts.adjudication import (
    AdjudicationState,
    Confidence,
    ConsensusVersion,
    DigestDispute,
    DigestRow,
    DisputeState,
    Origin,
    Reason,
)
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.domain.kinds.rubric import Criterion, Rubric
from tests.common import expect_refusal, fixture_of, once
from tests.projects import pairs_project as pairs
from tests.projects.pairs_project import adjudication, row
from tests.storage import sql

PROJECT = pairs.opened_project


def letter(project: Project, name: str) -> str:
    return pairs.letter_of(project, adjudication(project), name)


def id_of(project: Project, unit_id: str) -> str:
    """The ruling on the row that holds a unit; the unit's id is a1, b3 …"""
    return row(project, unit_id).ruling.id


def test_rulings_take_a_letter_both_or_nothing(project: Project):
    ben = letter(project, "Ben")
    ruling.rule(project, id_of(project, "a2"), ben, reason=Reason.WEIGHT)
    ((unit, provenance),) = row(project, "a2").made
    assert (unit.text, unit.weight, unit.note) == (*pairs.BEN[1], "")
    assert unit.id not in ("a2", "b2")
    assert (provenance.origin, provenance.letter, provenance.reason) == (Origin.ONE, ben, Reason.WEIGHT)
    assert sorted(provenance.sources.values()) == ["a2", "b2"]
    ruling.rule(project, id_of(project, "a1"), "both")
    ((unit, provenance),) = row(project, "a1").made
    assert (unit.text, provenance.origin) == (pairs.ADA[0][0], Origin.BOTH)
    assert ruling.rule(project, id_of(project, "a3"), "both").seq > 0
    assert ruling.rule(project, id_of(project, "a3"), "both").seq == 0
    made = row(project, "a3").made
    assert sorted(unit.weight for unit, _ in made) == [1, 2]
    assert {provenance.letter for _, provenance in made} == {"A", "B"}
    assert len({unit.id for unit, _ in made}) == 2
    ruling.rule(project, id_of(project, "a5"), "drop", reason=Reason.SCOPE)
    assert (row(project, "a5").made, row(project, "a5").ruling.open) == ((), False)


def test_an_own_wording_starts_from_what_was_taken_and_outlives_a_change_of_mind(project: Project):
    ruling_id = id_of(project, "a2")
    ruling.rule(project, ruling_id, letter(project, "Ben"))
    ruling.rule(project, ruling_id, "own")
    assert row(project, "a2").ruling.own["text"] == pairs.BEN[1][0]
    ruling.write_own(project, ruling_id, text="Compares kinds of questions")
    ((unit, provenance),) = row(project, "a2").made
    assert (unit.text, unit.weight, provenance.origin) == ("Compares kinds of questions", 3, Origin.EDITED)
    ruling.rule(project, ruling_id, "A")
    ruling.rule(project, ruling_id, "own")
    assert row(project, "a2").made[0][0].text == "Compares kinds of questions"


def test_the_preview_holds_what_was_ruled_in_the_order_of_rows(project: Project):
    for unit_id in ("a4", "a1"):
        ruling.rule(project, id_of(project, unit_id), letter(project, "Ada"))
    rows = adjudicating.sheet(project, adjudication(project)).rows
    assert [unit.text for row in rows for unit, _ in row.made] == [pairs.ADA[0][0], pairs.ADA[3][0]]


def test_what_is_not_to_be_had_is_refused(project: Project):
    for take in ("both", "C", "", "Ada"):
        expect_refusal("", ruling.rule, project, id_of(project, "a5"), take)
        assert row(project, "a5").ruling.open


def test_a_field_that_does_not_fit_is_named_and_reasons_come_and_go(project: Project):
    before = row(project, "a2").ruling
    expect_refusal("The weight does not fit", ruling.write_own, project, before.id, weight=7)
    expect_refusal("The note cannot be edited here", ruling.write_own, project, before.id, note="for all")
    assert row(project, "a2").ruling == before
    ruling.explain(project, before.id, reason=Reason.SCOPE, rationale="Too wide", confidence=Confidence.LOW)
    ruling.explain(project, before.id, gap="Says nothing of scope", confidence="")
    said = row(project, "a2").ruling
    assert (said.reason, said.rationale, said.confidence, said.gap) == (
        Reason.SCOPE, "Too wide", None, "Says nothing of scope",
    )  # fmt: skip


def test_rows_are_added_and_moved(project: Project):
    third = row(project, "a3")
    new = {"text": "Defines attribution", "weight": 3}
    added = ruling.add_row(project, adjudication(project), after=third.ruling.id, **new).subject
    below = adjudicating.sheet(project, adjudication(project)).rows[third.number]
    ((unit, provenance),) = below.made
    assert (below.ruling.id, unit.text) == (added, "Defines attribution")
    assert (provenance.origin, provenance.reason) == (Origin.NEW, Reason.MISSING)
    ruling.move(project, third.ruling.id, -1)
    assert row(project, "a3").number == row(project, "a2").number - 1
    ruling.move(project, third.ruling.id, -99)
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


def test_undo_refuses_when_the_row_has_moved_on_or_the_adjudication_is_closed(project: Project):
    ruling.rule(project, id_of(project, "a2"), "A")
    sql.alter(project, "UPDATE ruling SET position = 99 WHERE id = ?", [id_of(project, "a2")])
    expect_refusal("changed elsewhere", history.undo, project)
    rule_all(project)
    ruling.close(project, adjudication(project))
    expect_refusal("closed", history.undo, project)
    expect_refusal("closed", ruling.rule, project, id_of(project, "a1"), "both")


def test_drafts_become_wordings_or_are_left_and_reported(project: Project):
    result = row(project, "a2").ruling
    artifacts.save_draft(project, artifacts.RULING, result.id, "text", "Compares synth")
    artifacts.save_draft(project, artifacts.RULING, result.id, "rationale", "Both are lo")
    assert ruling.unfinished(project, result.adjudication_id) == {
        (result.id, "rationale"): "Both are lo",
        (result.id, "text"): "Compares synth",
    }
    assert (check(project).problems, len(history.recover(project))) == ([], 2)
    kept = row(project, "a2").ruling
    assert (kept.take, kept.own["text"], kept.rationale) == ("own", "Compares synth", "Both are lo")
    assert ruling.unfinished(project, result.adjudication_id) == {}
    artifacts.save_draft(project, artifacts.RULING, "no such ruling", "text", "Lost words")
    assert history.recover(project) == []
    (finding,) = check(project).problems
    assert "Lost words" in finding.happened


def rule_all(project: Project) -> None:
    """Ada's wording wherever she has one, Ben's lone units dropped."""
    ada = letter(project, "Ada")
    for each in adjudicating.sheet(project, adjudication(project)).rows:
        ruling.rule(project, each.ruling.id, (ada if ada in each.units else "drop"), reason=Reason.WORDING)


def agreed(project: Project) -> Artifact:
    return next(
        each
        for each in annotating.artifacts_of(project, pairs.item(project))
        if each.state is State.CONSENSUS
    )


def versions(project: Project) -> list[ConsensusVersion]:
    with project.store.read() as db:
        return consensus.versions(db, adjudication(project))


def needs(project: Project) -> list[tuple[str, str]]:
    rows = adjudicating.sheet(project, adjudication(project)).rows
    return [
        (min(rows[each.number - 1].ruling.members.values()), each.field)
        for each in ruling.missing(project, adjudication(project))
    ]


def test_what_is_missing_is_listed_and_nothing_closed(project: Project):
    lacking = ruling.missing(project, adjudication(project))
    assert [each.number for each in lacking] == [2, 3, 4, 5, 6, 7]
    assert {each.field for each in lacking} == {"take"}
    refusal = expect_refusal("", ruling.close, project, adjudication(project))
    assert refusal.details[0] == "Row 2 is undecided."
    for each in adjudicating.sheet(project, adjudication(project)).rows:
        ruling.rule(project, each.ruling.id, "drop", reason=Reason.SCOPE)
    expect_refusal("The consensus would be empty", ruling.close, project, adjudication(project))
    assert (len(refusal.details), versions(project)) == (6, [])


def test_a_reason_is_asked_for_where_work_is_changed_left_out_or_passed_over(project: Project):
    rule_all(project)
    for unit_id in ("a1", "a2", "a3", "a4", "a5", "b5", "b6"):
        ruling.explain(project, id_of(project, unit_id), reason="")
    # What one of them alone wrote is kept without a reason.
    assert set(needs(project)) == {(unit_id, "reason") for unit_id in ("a2", "a3", "a4", "b5", "b6")}
    ruling.rule(project, id_of(project, "b5"), letter(project, "Ben"))
    ruling.rule(project, id_of(project, "a3"), "both")
    ruling.write_own(project, id_of(project, "a5"), text="Discusses cost")
    assert set(needs(project)) == {(unit_id, "reason") for unit_id in ("a2", "a4", "a5", "b6")}


def test_an_own_wording_and_a_row_of_nobody_need_what_they_need(project: Project):
    rule_all(project)
    added = ruling.add_row(project, adjudication(project), text="Defines attribution").subject
    ruling.explain(project, added, reason="")
    ruling.rule(project, added, "drop")
    assert needs(project) == []
    ruling.write_own(project, id_of(project, "a2"), text="  ")
    ruling.rule(project, id_of(project, "a3"), "own")
    assert needs(project) == [("a2", "own"), ("a3", "own")]


def test_closing_makes_a_new_artifact_with_origins_and_touches_nothing_of_a_or_b(project: Project):
    before = [pairs.kept(project, Kind.RUBRIC, name) for name in ("Ada", "Ben")]
    agreement = sql.rows(project, "SELECT * FROM agreement")
    rule_all(project)
    ruling.write_own(project, id_of(project, "a4"), text="Describes measures")
    ruling.rule(project, id_of(project, "a4"), "own", rationale="Shorter")
    change = ruling.close(project, adjudication(project))
    assert [pairs.kept(project, Kind.RUBRIC, name) for name in ("Ada", "Ben")] == before
    assert sql.rows(project, "SELECT * FROM agreement") == agreement
    result = agreed(project)
    assert (change.verb, change.after["artifact"]) == ("close", result.id)
    assert result.author_id == pairs.who(project, "Cleo")
    own = [text for text, _ in pairs.ADA]
    assert [unit.text for unit in result.document.units] == [*own[:3], "Describes measures", own[4]]
    assert adjudicating.queue(project)[0].state == AdjudicationState.CLOSED.value
    (version,) = versions(project)
    units = [unit.id for unit in result.document.units]
    assert [provenance.unit_id for provenance in version.provenance] == units
    edited = version.provenance[3]
    assert (edited.origin, edited.rationale, edited.reason, set(edited.sources.values())) == (
        Origin.EDITED, "Shorter", Reason.WORDING, {"a4", "b4"},
    )  # fmt: skip
    assert len(version.rulings) == 7


def test_reopening_lets_the_consensus_stand_and_closing_again_the_earlier_version(project: Project):
    expect_refusal("not closed", ruling.reopen, project, adjudication(project), "Why not")
    rule_all(project)
    ruling.close(project, adjudication(project))
    before, (first,) = agreed(project), versions(project)
    expect_refusal("Nothing is written", ruling.reopen, project, adjudication(project), "  ")
    ruling.reopen(project, adjudication(project), "One criterion is missing")
    ruling.rule(project, id_of(project, "a5"), "drop", reason=Reason.SCOPE)
    assert agreed(project) == before
    assert adjudicating.queue(project)[0].state == AdjudicationState.REOPENED.value
    (said,) = consensus.remarks(project, adjudication(project))
    assert said.text == "One criterion is missing"
    ruling.close(project, adjudication(project))
    assert versions(project)[0] == first
    contents = [each.content for each in artifacts.revisions(project, first.artifact_id)]
    assert [len(content["units"]) for content in contents] == [4, 5]


def test_units_keep_their_ids_over_versions_and_judgements_stay_attached(project: Project):
    response = pairs.add_report(project)
    rule_all(project)
    ruling.close(project, adjudication(project))
    first = agreed(project).document.units
    labels.set_label(pairs.work_as(project, "Dan"), response, first[1].id, "yes")
    ruling.reopen(pairs.work_as(project, "Cleo"), adjudication(project), "A dispute")
    ruling.write_own(project, id_of(project, "a2"), text="Compares kinds of questions")
    ruling.rule(project, id_of(project, "b5"), letter(project, "Ben"))
    ruling.close(project, adjudication(project))
    second = agreed(project).document.units
    assert second[1].text == "Compares kinds of questions"
    assert {unit.id for unit in first} < {unit.id for unit in second}
    assert [version.version for version in versions(project)] == [1, 2]
    assert labels.sheet(pairs.work_as(project, "Dan"), response).labels.keys() == {first[1].id}
    assert check(project).problems == []


def test_an_adjudicated_consensus_is_changed_by_adjudication_alone(project: Project):
    rule_all(project)
    ruling.close(project, adjudication(project))
    result = agreed(project)
    where, first = "Change it on the Adjudicate page", result.document.units[0].id
    expect_refusal(where, artifacts.change_unit, project, result.id, first, text="By the back door")
    for verb in (assignments.seal, assignments.reopen):
        expect_refusal("Adjudicate page", verb, project, result.id)
    assert agreed(project) == result


def test_gaps_are_collected_and_told_after_consensus_without_rationales(project: Project):
    rule_all(project)
    ruling.explain(project, id_of(project, "a2"), gap="Are comparisons one claim?")
    ruling.explain(project, id_of(project, "a3"), reason=Reason.GUIDELINE_GAP, rationale="Weights")
    result = {gap.text: gap for gap in consensus.gaps(project)}
    assert (result.keys(), result["Weights"].ruling_id, result["Weights"].item_key) == (
        {"Are comparisons one claim?", "Weights"}, id_of(project, "a3"), "1",
    )  # fmt: skip
    assert consensus.gaps(pairs.work_as(project, "Ben")) == []
    ruling.close(pairs.work_as(project, "Cleo"), adjudication(project))
    assert {gap.text for gap in consensus.gaps(pairs.work_as(project, "Ben"))} == {
        "Are comparisons one claim?",
        "",
    }


def test_remarks_are_kept_in_order_and_say_something(project: Project):
    subject = adjudication(project)
    for text in ("First", " Second "):
        consensus.remark(project, subject, text)
    expect_refusal("", consensus.remark, project, subject, "\n")
    assert [each.text for each in consensus.remarks(project, subject)] == ["First", "Second"]


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
def repaired(tmp_path: Path) -> Project:
    """Ada has 15 criteria and Ben 17: thirteen are the same, two more mean the same in other words."""
    repaired = pairs.pairs_project(tmp_path)
    shared = tuple((f"Explains the role of {subject}", 2) for subject in SUBJECTS)
    ada = shared + tuple(zip(ADA_ALONE, (1, 3), strict=True))
    ben = shared + tuple(zip((*BEN_ALONE, *BEN_MORE), (1, 2, 1, 1), strict=True))
    pairs.submit(repaired, {"Ada": pairs.rubric(ada, "a"), "Ben": pairs.rubric(ben, "b")})
    pairs.opened(repaired)
    return repaired


def pair(repaired: Project, one: str, other: str) -> None:
    adjudicating.pair(repaired, id_of(repaired, one), id_of(repaired, other))


def together(repaired: Project, unit_id: str) -> list[str]:
    return sorted(row(repaired, unit_id).ruling.members.values())


def frozen_f1(repaired: Project) -> float | None:
    return next(
        figure.value
        for figure in adjudicating.sheet(repaired, adjudication(repaired)).figures
        if figure.name == "match_f1"
    )


def test_pairs_are_made_split_and_undone(repaired: Project):
    before = adjudicating.sheet(repaired, adjudication(repaired))
    assert len(before.rows) == 19
    pair(repaired, "a14", "b14")
    adjudicating.split(repaired, id_of(repaired, "a1"), "A")
    for _ in range(2):
        history.undo(repaired)
    assert adjudicating.sheet(repaired, adjudication(repaired)) == before
    pair(repaired, "a1", "b16")
    assert (together(repaired, "a1"), together(repaired, "b1")) == (["a1", "b16"], ["b1"])
    assert not row(repaired, "a1").ruling.unanimous
    expect_refusal("every letter already", pair, repaired, "a1", "a2")
    expect_refusal("another of the same item", pair, repaired, "a1", "a1")
    pair(repaired, "a14", "b2")
    assert (together(repaired, "a14"), together(repaired, "a2")) == (["a14", "b2"], ["a2"])


def test_two_pairings_give_a_second_figure_and_leave_the_frozen_one(repaired: Project):
    agreement = sql.rows(repaired, "SELECT * FROM agreement")
    assert frozen_f1(repaired) == pytest.approx(26 / 32)
    # What was said of either row is kept, and the row is open again.
    drop = {"reason": Reason.SCOPE, "rationale": "Costs are out of scope"}
    ruling.rule(repaired, id_of(repaired, "a14"), "drop", **drop)
    ruling.explain(repaired, id_of(repaired, "b14"), gap="Are costs in scope?")
    pair(repaired, "a14", "b14")
    joined = row(repaired, "a14").ruling
    assert (joined.open, joined.rationale, joined.gap) == (
        True, "Costs are out of scope", "Are costs in scope?",
    )  # fmt: skip
    pair(repaired, "b15", "a15")
    assert (together(repaired, "a14"), together(repaired, "a15")) == (["a14", "b14"], ["a15", "b15"])
    for each in adjudicating.sheet(repaired, adjudication(repaired)).rows:
        ruling.rule(repaired, each.ruling.id, next(iter(each.units)), reason=Reason.WORDING)
    ruling.close(repaired, adjudication(repaired))
    (version,) = versions(repaired)
    second = {figure.name: figure for figure in version.repaired}
    assert second["repaired_match_f1"].value == pytest.approx(30 / 32)
    # 14 of 15 pairs have equal weights; linear weights, marginals 1: (1, 1), 2: (13, 14), 3: (1, 0) of 15 each.
    observed, expected = 1 / 15, (1 * 14 + 13 * 1 + 1 * 14 + 2 * 1 * 1) / 15**2
    assert second["repaired_weight_kappa"].value == pytest.approx(1 - observed / expected)
    assert all(name.startswith("repaired_") for name in second)
    assert sql.rows(repaired, "SELECT * FROM agreement") == agreement
    assert frozen_f1(repaired) == pytest.approx(26 / 32)


def test_a_split_row_can_be_paired_again(repaired: Project):
    ben = letter(repaired, "Ben")
    adjudicating.split(repaired, id_of(repaired, "a1"), ben)
    assert (row(repaired, "b1").number, together(repaired, "a1"), together(repaired, "b1")) == (
        row(repaired, "a1").number + 1, ["a1"], ["b1"],
    )  # fmt: skip
    apart = row(repaired, "a1").ruling
    assert (apart.unanimous, apart.open) == (False, True)
    expect_refusal("is not paired", adjudicating.split, repaired, id_of(repaired, "b1"), ben)
    pair(repaired, "a1", "b1")
    again = row(repaired, "a1").ruling
    assert (again.unanimous, again.take) == (True, "both")


@once
def settled_project(folder: Path) -> Project:
    """Both rubrics are adjudicated: 1 both, 2 Ben's, 3 own weight, 4 own words, a5 dropped, b5 kept, b6 dropped."""
    settled = pairs.rubrics_project(folder)
    pairs.opened(settled)
    ben = pairs.letter_of(settled, adjudication(settled), "Ben")
    rule(settled, "a1", "both", rationale="Canary: never told")
    rule(settled, "a2", ben, reason=Reason.WEIGHT, rationale="The comparison is central")
    own(settled, "a3", weight=3)
    own(settled, "a4", text="Describes citation accuracy and how it is measured")
    rule(settled, "a5", "drop", reason=Reason.SCOPE, rationale="Costs are not asked for")
    rule(settled, "b5", ben)
    rule(settled, "b6", "drop", reason=Reason.DUPLICATE, rationale="Canary: about Ben's alone")
    ruling.add_row(settled, adjudication(settled), text="Defines attribution")
    ruling.close(settled, adjudication(settled))
    return settled


settled = fixture_of(settled_project)


def rule(settled: Project, unit_id: str, take: str, **why: object) -> None:
    ruling.rule(settled, id_of(settled, unit_id), take, **why)


def own(settled: Project, unit_id: str, **fields: object) -> None:
    ruling.write_own(settled, id_of(settled, unit_id), **fields)
    ruling.explain(settled, id_of(settled, unit_id), reason=Reason.OTHER)


def of(settled: Project, name: str) -> feedback.Digest:
    return feedback.digest(pairs.work_as(settled, name), pairs.item(settled))


def told(settled: Project, name: str) -> dict[str, DigestRow]:
    """Row by row, by the id of the person's own unit; what was added by the words that stand."""
    (stage,) = of(settled, name).stages
    return {(row.own or {}).get("id") or (row.consensus or {})["text"]: row for row in stage.rows}


def test_each_is_told_what_became_of_their_own_units_and_nothing_of_the_partner(settled: Project):
    rows = told(settled, "Ada")
    assert {key: row.change for key, row in rows.items()} == {
        "a1": "kept", "a2": "reworded", "a3": "weight changed", "a4": "merged", "a5": "dropped",
        "Identifies open problems in multilingual evaluation": "added", "Defines attribution": "added",
    }  # fmt: skip
    assert (rows["a5"].consensus, rows["a5"].reason, rows["a5"].rationale) == (
        None, Reason.SCOPE, "Costs are not asked for",
    )  # fmt: skip
    assert rows["a2"].consensus is not None
    assert rows["a2"].consensus["text"] == pairs.BEN[1][0]
    assert {key: row.change for key, row in told(settled, "Ben").items()} == {
        "b1": "kept", "b2": "kept", "b3": "weight changed", "b4": "merged", "b5": "kept", "b6": "dropped",
        "Defines attribution": "added",
    }  # fmt: skip
    said = json.dumps(of(settled, "Ada").stages[0].model_dump(mode="json"))
    for secret in ("Canary", pairs.BEN[5][0], pairs.BEN[3][0], '"b2"', '"b6"', "letter"):
        assert secret not in said
    for name in ("Ben", "Cleo", "Cora"):
        person = pairs.person(settled, name)
        assert not [word for word in (person.id, f'"{person.alias}"') if word in said]
    assert "Canary" not in json.dumps(told(settled, "Ben")["b1"].model_dump(mode="json"))
    (line,) = feedback.items_with_digest(pairs.work_as(settled, "Ada"))
    assert (line.item_key, line.changed, line.dispute) == ("1", 6, None)
    (stage,) = of(settled, "Ada").stages
    assert stage.item_id == pairs.item(settled)
    records = {
        name: feedback.digest_records(pairs.work_as(settled, "Cora"), pairs.who(settled, name))
        for name in ("Ada", "Dan")
    }
    assert records == {"Ada": [stage.model_dump(mode="json")], "Dan": []}


def test_notes_and_remarks_of_the_partner_never_reach_the_consensus(tmp_path: Path):
    settled = pairs.pairs_project(tmp_path)
    noted = Rubric(units=(Criterion(text="Names a dataset", note="Canary note"),), remark="Canary remark")
    pairs.submit(settled, {"Ada": pairs.rubric((("Explains cost", 1),), "a"), "Ben": noted})
    for each in adjudicating.sheet(settled, pairs.opened(settled)).rows:
        ruling.rule(settled, each.ruling.id, next(iter(each.units)))
    ruling.close(settled, adjudication(settled))
    assert "Canary" not in json.dumps(of(settled, "Ada").stages[0].model_dump(mode="json"))


def test_before_consensus_and_for_strangers_there_is_nothing_to_tell(settled: Project, tmp_path: Path):
    assert (of(settled, "Dan").stages, feedback.items_with_digest(settled)) == ((), [])
    (fresh := tmp_path / "fresh").mkdir()
    waiting = pairs.opened_project(fresh)
    assert of(waiting, "Ada").stages == ()
    expect_refusal("no consensus on your rubric", dispute, waiting, text="Too early")


def dispute(settled: Project, name: str = "Ada", text: str = "Costs matter") -> str:
    return feedback.dispute(pairs.work_as(settled, name), pairs.item(settled), Stage.RUBRIC, text).subject


def test_one_reasoned_objection_per_item(settled: Project):
    assert of(settled, "Ada").may_dispute
    expect_refusal("Nothing is written", dispute, settled, text="  ")
    expect_refusal("longer than 20000", dispute, settled, text="x" * 20_001)
    dispute(settled)
    assert not of(settled, "Ada").may_dispute
    expect_refusal("objected to this item before", dispute, settled, text="And again")


def test_the_version_that_stands_is_told_and_a_new_one_answers_an_objection(settled: Project):
    dispute(settled)
    ruling.reopen(pairs.work_as(settled, "Cleo"), adjudication(settled), "Ada may be right")
    rule(settled, "a5", letter(settled, "Ada"))
    assert told(settled, "Ada")["a5"].change == "dropped"
    ruling.close(pairs.work_as(settled, "Cleo"), adjudication(settled))
    assert adjudicating.queue(settled)[0].closed
    assert (check(settled).problems, told(settled, "Ada")["a5"].change) == ([], "kept")
    (stage,) = of(settled, "Ada").stages
    answer = stage.dispute
    assert (stage.version, answer.state, answer.answered_version, answer.answer) == (
        2, DisputeState.ANSWERED, 2, "",
    )  # fmt: skip


def test_an_objection_comes_under_a_letter_to_the_adjudicator_who_alone_answers_it_once(settled: Project):
    dispute_id = dispute(settled)
    expect_refusal("", feedback.answer, settled, dispute_id, "I agree with myself")
    (line,) = adjudicating.queue(pairs.work_as(settled, "Cleo"))
    assert (line.state, line.disputes, line.conflict, line.closed) == ("closed", 1, True, False)
    (shown,) = adjudicating.sheet(settled, line.adjudication_id).disputes
    assert (shown.id, shown.letter, shown.text) == (dispute_id, letter(settled, "Ada"), "Costs matter")
    feedback.answer(settled, dispute_id, "Costs are another item's")
    expect_refusal("is already answered", feedback.answer, settled, dispute_id, "Or not")
    assert adjudicating.queue(settled)[0].closed
    told_ = of(settled, "Ada").stages[0].dispute
    assert (told_.state, told_.answer) == (DisputeState.ANSWERED, "Costs are another item's")


def test_an_objection_that_comes_twice_is_taken_in_once(settled: Project):
    ada, item, at = pairs.person(settled, "Ada").id, pairs.item(settled), now()
    with settled.store.write() as db:
        new = [feedback.receive(settled, db, ada, item, Stage.RUBRIC, "By mail", at) for _ in range(2)]
    assert new == [True, False]
    (stage,) = of(settled, "Ada").stages
    assert stage.dispute == DigestDispute(text="By mail", state=DisputeState.OPEN)


def test_in_ones_own_file_the_objection_shows_at_once_and_what_came_back_goes_before_it(
    settled: Project, tmp_path: Path
):
    # Ada's own file knows of the consensus only by what came in her package.
    records = feedback.digest_records(settled, pairs.person(settled, "Ada").id)
    (folder := tmp_path / "away").mkdir()
    away = pairs.work_as(pairs.pairs_project(folder), "Ada")
    key = f"{feedback.RECEIVED}{pairs.item(away)}"
    away.set(key, [{**each, "item_id": pairs.item(away)} for each in records])
    assert told(away, "Ada")["a5"].change == "dropped"
    assert [line.changed for line in feedback.items_with_digest(away)] == [6]
    dispute(away)
    (stage,) = of(away, "Ada").stages
    assert (stage.dispute.text, stage.dispute.state) == ("Costs matter", DisputeState.OPEN)
    assert not of(away, "Ada").may_dispute
    answered = {"text": "Costs matter", "state": "answered", "answer": "No", "answered_version": 0}
    away.set(key, [{**away.get(key)[0], "dispute": answered, "version": 2}])
    (stage,) = of(away, "Ada").stages
    assert (stage.version, stage.dispute.answer) == (2, "No")


def test_labels_are_told_by_their_words_but_not_to_who_is_to_repeat_them(tmp_path: Path):
    settled = pairs.settled_labels(tmp_path)
    (stage,) = of(settled, "Ada").stages
    assert [(row.heading, row.change) for row in stage.rows] == [
        ("Explains it", "kept"), ("Names it", "value changed"),
    ]  # fmt: skip
    pairs.assign(settled, "Ada", Stage.LABELLING, trial=2, purpose="repeat")
    assert of(settled, "Ada").stages == ()
    assert feedback.digest_records(settled, pairs.who(settled, "Ada")) == []
    assert len(of(settled, "Ben").stages) == 1
