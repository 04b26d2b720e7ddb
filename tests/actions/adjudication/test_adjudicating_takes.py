"""What an adjudicator may take, word and say on a row, and how it is taken back."""

import pytest

from annotator.actions.adjudication import adjudication_sheets, closing, ruling
from annotator.actions.project.file import Project
from annotator.actions.releases.checking import check
from annotator.actions.undo import history, recovering
from annotator.domain.experts.adjudication import Confidence, Origin, Reason
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs
from tests.projects.pairs_project import adjudication, row

PROJECT = pairs.opened_project


def letter(project: Project, name: str) -> str:
    return pairs.letter_of(project, adjudication(project), name)


def test_a_letter_takes_its_words_and_leaves_its_note(project: Project):
    ben = letter(project, "Ben")
    ruling.rule(project, row(project, "a2").ruling.id, ben, reason=Reason.WEIGHT)
    ((unit, provenance),) = row(project, "a2").made
    assert (unit.text, unit.weight) == pairs.BEN[1]
    assert unit.note == ""
    assert unit.id not in ("a2", "b2")
    assert (provenance.origin, provenance.letter, provenance.reason) == (Origin.ONE, ben, Reason.WEIGHT)
    assert sorted(provenance.sources.values()) == ["a2", "b2"]


def test_both_keeps_one_unit_where_nothing_that_counts_differs(project: Project):
    ruling.rule(project, row(project, "a1").ruling.id, "both")
    ((unit, provenance),) = row(project, "a1").made
    assert (unit.text, provenance.origin) == (pairs.ADA[0][0], Origin.BOTH)


def test_both_keeps_two_units_where_they_differ(project: Project):
    ruling.rule(project, row(project, "a3").ruling.id, "both")
    made = row(project, "a3").made
    assert sorted(unit.weight for unit, _ in made) == [1, 2]
    assert {provenance.letter for _, provenance in made} == {"A", "B"}
    assert len({unit.id for unit, _ in made}) == 2


def test_own_starts_from_what_was_taken(project: Project):
    found, ben = row(project, "a2").ruling, letter(project, "Ben")
    ruling.rule(project, found.id, ben)
    ruling.rule(project, found.id, "own")
    assert row(project, "a2").ruling.own["text"] == pairs.BEN[1][0]
    ruling.write_own(project, found.id, text="Compares kinds of questions")
    ((unit, provenance),) = row(project, "a2").made
    assert (unit.text, unit.weight, provenance.origin) == ("Compares kinds of questions", 3, Origin.EDITED)


def test_an_own_wording_outlives_a_change_of_mind(project: Project):
    found = row(project, "a2").ruling
    ruling.write_own(project, found.id, text="Compares kinds of questions")
    ruling.rule(project, found.id, "A")
    ruling.rule(project, found.id, "own")
    assert row(project, "a2").made[0][0].text == "Compares kinds of questions"


def test_drop_makes_nothing(project: Project):
    ruling.rule(project, row(project, "a5").ruling.id, "drop", reason=Reason.SCOPE)
    assert row(project, "a5").made == ()
    assert not row(project, "a5").ruling.open


def test_the_preview_holds_what_was_ruled_in_the_order_of_rows(project: Project):
    for unit_id in ("a4", "a1"):
        ruling.rule(project, row(project, unit_id).ruling.id, letter(project, "Ada"))
    units = adjudication_sheets.sheet(project, adjudication(project)).consensus.units
    assert [unit.text for unit in units] == [pairs.ADA[0][0], pairs.ADA[3][0]]


@pytest.mark.parametrize("take", ["both", "C", "", "Ada"])
def test_what_is_not_to_be_had_is_refused(project: Project, take: str):
    with pytest.raises(Refusal):
        ruling.rule(project, row(project, "a5").ruling.id, take)
    assert row(project, "a5").ruling.open


def test_a_field_that_does_not_fit_is_named(project: Project):
    found = row(project, "a2").ruling
    with pytest.raises(Refusal, match="The weight does not fit"):
        ruling.write_own(project, found.id, weight=7)
    with pytest.raises(Refusal, match="The note cannot be edited here"):
        ruling.write_own(project, found.id, note="for everybody")
    assert row(project, "a2").ruling == found


def test_reasons_are_added_and_taken_back_one_by_one(project: Project):
    found = row(project, "a2").ruling.id
    ruling.explain(project, found, reason=Reason.SCOPE, rationale="Too wide", confidence=Confidence.LOW)
    ruling.explain(project, found, gap="Says nothing of scope", confidence="")
    said = row(project, "a2").ruling
    assert (said.reason, said.rationale, said.confidence, said.gap) == (
        Reason.SCOPE, "Too wide", None, "Says nothing of scope",
    )  # fmt: skip


def test_saying_the_same_again_is_no_change(project: Project):
    found = row(project, "a3").ruling.id
    assert ruling.rule(project, found, "both").seq > 0
    assert ruling.rule(project, found, "both").seq == 0


def test_a_new_row_comes_below_the_one_named_and_is_the_adjudicators(project: Project):
    third = row(project, "a3").ruling
    change = ruling.add_row(
        project, third.adjudication_id, after=third.id, text="Defines attribution", weight=3
    )
    rows = adjudication_sheets.sheet(project, third.adjudication_id).rows
    assert [each.ruling.id for each in rows].index(change.subject) == rows.index(row(project, "a3")) + 1
    ((unit, provenance),) = rows[rows.index(row(project, "a3")) + 1].made
    assert (unit.text, provenance.origin, provenance.reason) == (
        "Defines attribution",
        Origin.NEW,
        Reason.MISSING,
    )


def test_a_row_is_moved_no_further_than_the_ends(project: Project):
    ruling.move(project, row(project, "a3").ruling.id, -1)
    assert row(project, "a3").number == row(project, "a2").number - 1
    ruling.move(project, row(project, "a3").ruling.id, -99)
    assert row(project, "a3").number == 1


def test_rulings_are_undone_and_done_again(project: Project):
    found = row(project, "a2").ruling
    ruling.rule(project, found.id, "A", reason=Reason.WORDING)
    ruling.move(project, found.id, 2)
    ruling.add_row(project, found.adjudication_id, text="Defines attribution")
    after = adjudication_sheets.sheet(project, found.adjudication_id)
    for _ in range(3):
        history.undo(project)
    assert row(project, "a2").ruling == found
    assert len(adjudication_sheets.sheet(project, found.adjudication_id).rows) == 7
    for _ in range(3):
        history.redo(project)
    assert adjudication_sheets.sheet(project, found.adjudication_id) == after


def test_undo_refuses_when_the_row_has_moved_on(project: Project):
    found = row(project, "a2").ruling.id
    ruling.rule(project, found, "A")
    with project.store.write() as db:
        db.exec_driver_sql("UPDATE ruling SET position = 99 WHERE id = ?", (found,))
    with pytest.raises(Refusal, match="changed elsewhere"):
        history.undo(project)


def test_undo_refuses_once_the_adjudication_is_closed(project: Project):
    for each in adjudication_sheets.sheet(project, adjudication(project)).rows:
        ruling.rule(project, each.ruling.id, next(iter(each.units)), reason=Reason.WORDING)
    closing.close(project, adjudication(project))
    with pytest.raises(Refusal, match="closed"):
        history.undo(project)
    with pytest.raises(Refusal, match="closed"):
        ruling.rule(project, row(project, "a1").ruling.id, "both")


def test_typing_is_kept_and_becomes_a_wording_after_a_crash(project: Project):
    found = row(project, "a2").ruling
    ruling.save_draft(project, found.id, "text", "Compares synth")
    ruling.save_draft(project, found.id, "rationale", "Both are lo")
    assert ruling.kept(project, found.adjudication_id) == {
        (found.id, "rationale"): "Both are lo",
        (found.id, "text"): "Compares synth",
    }
    assert check(project).problems == []
    assert len(recovering.recover(project)) == 2
    kept = row(project, "a2").ruling
    assert (kept.take, kept.own["text"], kept.rationale) == ("own", "Compares synth", "Both are lo")
    assert ruling.kept(project, found.adjudication_id) == {}


def test_a_draft_is_dropped_when_the_field_is_written(project: Project):
    found = row(project, "a2").ruling
    ruling.save_draft(project, found.id, "text", "Compares synth")
    ruling.write_own(project, found.id, text="Compares synthetic questions")
    assert ruling.kept(project, found.adjudication_id) == {}


def test_a_draft_whose_row_is_gone_is_left_and_reported(project: Project):
    ruling.save_draft(project, "no such ruling", "text", "Lost words")
    assert recovering.recover(project) == []
    (finding,) = check(project).problems
    assert "Lost words" in finding.happened
