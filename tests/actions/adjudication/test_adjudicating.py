"""What an adjudicator has before them, who may adjudicate, votes before the ruling, and what was settled."""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from sqlalchemy import insert, select, update

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.adjudication.adjudicating import sheet
from annotator.actions.assignments import agreements, assignments
from annotator.actions.authoring import artifacts
from annotator.actions.consensus import consensus, ruling_rows
from annotator.actions.parcels import waiting
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.experts.adjudication import (
    AdjudicationState,
    Agreement,
    Match,
    Origin,
    PairAgreement,
    Reason,
    SealedInput,
)
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.canonical import new_id, now
from annotator.storage.tables import ADJUDICATION, ASSIGNMENT, ITEM
from tests.projects import pairs_project as pairs
from tests.projects.filled_project import add_judgement
from tests.projects.pairs_project import (
    ADA,
    BEN,
    adjudication,
    opened,
    pairs_project,
    person,
    rubric,
    rubrics_project,
    submit,
    work_as,
)
from tests.projects.refusals import expect_refusal
from tests.storage import sql

PROJECT = pairs.rubrics_project


def texts(project: Project, adjudication_id: str) -> list[dict[str, str]]:
    """Row by row, the ids of the units by the name of who wrote them."""
    names = {pairs.letter_of(project, adjudication_id, name): name for name in ("Ada", "Ben")}
    rows = adjudicating.sheet(project, adjudication_id).rows
    return [{names[letter]: unit.id for letter, unit in row.units.items()} for row in rows]


def plain(value: Any) -> Any:
    """A dataclass or model as the JSON tree of all that it holds."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return str(value)


def test_opening_waits_until_the_agreement_is_frozen(tmp_path: Path):
    project = pairs.pairs_project(tmp_path)
    pairs.work_as(project, "Ada")
    artifacts.start(project, pairs.item(project), Kind.RUBRIC, pairs.rubric(pairs.ADA, "a"))
    pairs.work_as(project, "Cleo")
    expect_refusal(
        "not ready to be adjudicated", adjudicating.open_, project, pairs.item(project), Stage.RUBRIC
    )


def test_rows_left_alone_follow_their_neighbour_and_letters_fall_both_ways():
    firsts = {ruling_rows.dealt(["one", "two"], ruling_rows.seed_of(f"item {n}"))["A"] for n in range(20)}
    assert firsts == {"one", "two"}
    orders = {"A": ["a1", "a2"], "B": ["b0", "b1", "bx", "b2"]}
    rows = ruling_rows.rows(frozen(matched=[("a1", "b1"), ("a2", "b2")]), {"A": "p", "B": "q"}, orders)
    assert rows == [{"B": "b0"}, {"A": "a1", "B": "b1"}, {"B": "bx"}, {"A": "a2", "B": "b2"}]


def frozen(matched: list[tuple[str, str]]) -> Agreement:
    inputs = tuple(
        SealedInput(
            person_id=name, artifact_id=name, revision=1, sha256="", chain="", guideline="1", form="1", sealed_at=now()
        )
        for name in "pq"
    )  # fmt: skip
    pair = PairAgreement(a="p", b="q", matched=tuple(Match(a=a, b=b, likeness=1) for a, b in matched))
    return Agreement(
        id="f", item_id="i", stage=Stage.RUBRIC, matcher="1", program="1", frozen_at=now(), inputs=inputs, pairs=(pair,)
    )  # fmt: skip


def test_notes_travel_to_the_adjudicator_under_letters(tmp_path: Path):
    project = pairs.pairs_project(tmp_path)
    noted = Rubric(units=(Criterion(id="a1", text="Names a dataset", note="Not sure"),), remark="In haste")
    pairs.submit(project, {"Ada": noted, "Ben": pairs.rubric((("Names a dataset", 2),), "b")})
    adjudication_id = pairs.opened(project)
    sheet = adjudicating.sheet(project, adjudication_id)
    letter = pairs.letter_of(project, adjudication_id, "Ada")
    assert sheet.rows[0].units[letter].note == "Not sure"
    assert sheet.remarks == {letter: "In haste"}
    assert not sheet.rows[0].contested


def queued(project: Project) -> list[str]:
    return [line.item_key for line in adjudicating.queue(project)]


@pytest.fixture
def three(tmp_path):
    """Items 1 to 3: agreement 2/3, unanimous, and 0."""
    project = pairs.pairs_project(tmp_path, questions=3)
    one, two = ("Explains attribution", 3), ("Names a dataset", 2)
    pairs.submit(project, {"Ada": pairs.rubric((one, two), "a"), "Ben": pairs.rubric((one,), "b")}, 0)
    pairs.submit(project, {"Ada": pairs.rubric((one,), "a"), "Ben": pairs.rubric((one,), "b")}, 1)
    pairs.submit(project, {"Ada": pairs.rubric((one,), "a"), "Ben": pairs.rubric((two,), "b")}, 2)
    return pairs.work_as(project, "Cleo")


def test_the_queue_has_conflicts_first_and_shows_what_is_open(three: Project):
    lines = adjudicating.queue(three)
    assert [line.item_key for line in lines] == ["3", "1", "2"]
    assert [line.conflict for line in lines] == [True, True, False]
    assert [line.agreement.value for line in lines if line.agreement] == pytest.approx([0, 2 / 3, 1])
    assert [(line.rows, line.contested) for line in lines] == [(2, 2), (2, 1), (1, 0)]
    adjudication_id = pairs.opened(three, place=2)
    line = adjudicating.queue(three)[0]
    assert (line.adjudication_id, line.state) == (adjudication_id, AdjudicationState.OPEN.value)
    assert (line.rows, line.contested, line.decided) == (2, 2, 0)


def test_the_queue_ranks_by_the_worst_figure_of_a_pair(tmp_path: Path):
    """Of the second item all statements are matched, and three of five labels clash."""
    project = pairs.pairs_project(tmp_path, questions=2)
    pairs.submit(project, {"Ada": pairs.rubric(pairs.ADA, "a"), "Ben": pairs.rubric(pairs.BEN, "b")})
    said = {"Ada": (True, True, False, True, False), "Ben": (False, False, True, True, False)}
    pairs.submit(project, {name: pairs.diagnostics(own, name) for name, own in said.items()}, 1)
    lines = adjudicating.queue(pairs.work_as(project, "Cleo"))
    assert [line.item_key for line in lines] == ["2", "1"]
    assert (lines[0].agreement.value or 0) < 0


def test_retired_items_leave_the_queue(three: Project):
    with three.store.write() as db:
        db.execute(update(ITEM).where(ITEM.c.key == "3").values(retired=True))
    assert queued(three) == ["1", "2"]


def test_an_agreement_is_laid_out_once(three: Project, monkeypatch: pytest.MonkeyPatch):
    adjudicating.queue(three)
    monkeypatch.setattr(adjudicating, "layout", lambda *_: pytest.fail("laid out again"))
    assert queued(three) == ["3", "1", "2"]


def test_opening_lays_rows_out_once_under_letters_nobody_is_told(project: Project):
    before = sql.rows(project, "SELECT * FROM agreement")
    pairs.opened(project)
    assert sql.rows(project, "SELECT * FROM agreement") == before
    assert len(agreements.of_item(project, pairs.item(project))) == 1
    first = adjudicating.open_(project, pairs.item(project), Stage.RUBRIC)
    before = texts(project, first.id)
    assert adjudicating.open_(project, pairs.item(project), Stage.RUBRIC) == first
    assert texts(project, first.id) == before
    assert adjudicating.open_(project, pairs.item(project), Stage.RUBRIC).letters == {}
    rows = texts(project, pairs.opened(project))
    matched = [{"Ada": f"a{n}", "Ben": f"b{n}"} for n in (1, 2, 3, 4)]
    assert [row for row in rows if len(row) == 2] == matched
    assert sorted(next(iter(row.values())) for row in rows if len(row) == 1) == ["a5", "b5", "b6"]
    pairs.opened(project)
    with project.store.read() as db:
        kept = db.execute(select(ADJUDICATION.c.id, ADJUDICATION.c.seed, ADJUDICATION.c.letters)).one()
    raters = [pairs.person(project, name).id for name in ("Ben", "Ada")]
    assert kept.seed == ruling_rows.seed_of(kept.id)
    assert json.loads(kept.letters) == ruling_rows.dealt(raters, kept.seed)
    rows = {row.number: row for row in adjudicating.sheet(project, pairs.opened(project)).rows}
    by_ada = {next((u.id for u in r.units.values() if u.id[0] == "a"), ""): r for r in rows.values()}
    assert [by_ada[f"a{n}"].differing for n in (1, 2, 3, 4)] == [
        (),
        ("text", "weight"),
        ("weight",),
        ("text",),
    ]
    assert not by_ada["a1"].contested
    assert by_ada["a5"].contested
    (pieces,) = by_ada["a4"].pieces.values()
    first = by_ada["a4"].units["A"]
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == first.text
    figures = {f.name: f for f in adjudicating.sheet(project, pairs.opened(project)).figures}
    assert figures["match_f1"].value == pytest.approx(8 / 11)
    assert figures["match_f1"].note == ""
    adjudication_id = pairs.opened(project)
    shown = json.dumps(
        [plain(adjudicating.sheet(project, adjudication_id)), plain(adjudicating.queue(project))]
    )
    people = [pairs.person(project, name) for name in ("Ada", "Ben")]
    assert "Names at least one dataset" in shown
    for secret in [
        *(p.id for p in people),
        *(f'"{p.name}"' for p in people),
        *(f'"{p.alias}"' for p in people),
    ]:
        assert secret not in shown
    # A date, and not four digits of an id before its hyphen.
    assert not re.search(r"\d{4}-\d\d-\d\d", shown)


def assign(project: Project, name: str, stage: Stage = Stage.ADJUDICATION) -> None:
    row = {
        "id": new_id(),
        "item_id": pairs.item(project),
        "person_id": pairs.person(project, name).id,
        "stage": stage,
    }
    with project.store.write() as db:
        db.execute(insert(ASSIGNMENT).values(**row))


def add_adjudicator(project: Project, name: str, *more: Role) -> None:
    people.add_person(project, name, (Role.ADJUDICATOR, *more))
    pairs.work_as(project, name)


def open_(project: Project) -> str:
    return adjudicating.open_(project, pairs.item(project), Stage.RUBRIC).id


def test_a_rater_is_refused_whatever_their_role(project: Project):
    assign(project, "Ada")
    pairs.work_as(project, "Ada")
    assert adjudicating.queue(project) == []
    expect_refusal("written or labelled something for this item yourself", open_, project)


def test_who_wrote_for_another_stage_of_the_item_is_refused(project: Project):
    add_adjudicator(project, "Eva")
    artifacts.start(project, pairs.item(project), Kind.PLAN)
    assert adjudicating.queue(project) == []
    expect_refusal("written or labelled", open_, project)


def test_who_labelled_a_report_of_the_item_is_refused(project: Project):
    add_adjudicator(project, "Eva")
    named = {"item_id": pairs.item(project), "response_id": pairs.add_report(project), "unit_id": "b1"}
    rater = {"rater_kind": "person", "rater_id": pairs.person(project, "Eva").id, "run_id": None}
    add_judgement(project, **named, **rater, artifact_id="")
    assert adjudicating.queue(project) == []
    expect_refusal("written or labelled", open_, project)


def test_who_is_still_to_answer_the_item_is_refused(project: Project):
    add_adjudicator(project, "Eva")
    assign(project, "Eva", Stage.DIAGNOSTICS)
    assert adjudicating.queue(project) == []
    expect_refusal("written or labelled", open_, project)


def test_without_the_role_and_unassigned_nobody_adjudicates(project: Project):
    pairs.work_as(project, "Dan")
    assert adjudicating.queue(project) == []
    expect_refusal("not an adjudicator", open_, project)


def test_an_assignment_goes_before_the_role(project: Project):
    assign(project, "Dan")
    assert adjudicating.queue(project) == []
    expect_refusal("Someone else adjudicates", open_, project)
    pairs.work_as(project, "Dan")
    assert open_(project)


def test_what_somebody_began_is_theirs(project: Project):
    adjudication_id = open_(project)
    add_adjudicator(project, "Eva")
    assert adjudicating.queue(project) == []
    expect_refusal("Someone else adjudicates", open_, project)
    for verb in (adjudicating.sheet, ruling.close, ruling.missing, consensus.remarks):
        expect_refusal("Someone else adjudicates", verb, project, adjudication_id)


def test_an_assignment_hands_over_what_another_began(project: Project):
    adjudication_id = open_(project)
    row = adjudicating.sheet(project, adjudication_id).rows[0].ruling
    add_adjudicator(project, "Eva")
    assign(project, "Eva")
    assert open_(project) == adjudication_id
    ruling.rule(project, row.id, "both")
    pairs.work_as(project, "Cleo")
    expect_refusal("Someone else adjudicates", ruling.rule, project, row.id, "A")


def test_adjudicating_one_stage_leaves_the_next_one_free(project: Project):
    adjudication_id = open_(project)
    for row in adjudicating.sheet(project, adjudication_id).rows:
        ruling.rule(project, row.ruling.id, next(iter(row.units)), reason="wording")
    ruling.close(project, adjudication_id)
    pairs.submit(project, {"Ada": pairs.diagnostics((True,), "a"), "Ben": pairs.diagnostics((False,), "b")})
    assert pairs.opened(project, Stage.DIAGNOSTICS)


def test_a_rater_never_sees_the_sheet_or_the_discussion(project: Project):
    adjudication_id = open_(project)
    consensus.remark(project, adjudication_id, "Canary of the adjudicator")
    pairs.work_as(project, "Ada")
    for question in (adjudicating.sheet, consensus.remarks):
        expect_refusal("written or labelled", question, project, adjudication_id)


def test_coordinators_talk_unless_they_answered_the_item(project: Project):
    adjudication_id = open_(project)
    consensus.remark(project, adjudication_id, "Is this in scope?")
    pairs.work_as(project, "Cora")
    consensus.remark(project, adjudication_id, "It is.")
    assert [each.text for each in consensus.remarks(project, adjudication_id)] == [
        "Is this in scope?",
        "It is.",
    ]
    artifacts.start(project, pairs.item(project), Kind.PLAN)
    expect_refusal("", consensus.remark, project, adjudication_id, "And now?")


def test_a_consensus_has_its_origins_and_makes_nobody_an_annotator(project: Project, tmp_path):
    with project.store.read() as db:
        cleo, ada = (pairs.person(project, name).id for name in ("Cleo", "Ada"))
        assert assignments.answered(db, cleo) == frozenset()
        assert assignments.answered(db, ada) == {pairs.item(project)}
    project = rubrics_project(tmp_path)
    (version,) = ruling.versions(project, closed(project))
    assert (version.version, version.units, version.dropped) == (1, 6, 1)
    assert version.origins == {Origin.BOTH: 1, Origin.ONE: 5}
    # Four of five and six are paired: 2·4/11.
    assert version.repaired[0].value == pytest.approx(8 / 11)


def closed(project) -> str:
    """The adjudication with what all wrote confirmed, one row dropped and the others taken; its id."""
    adjudication_id = opened(project)
    contested = [row for row in sheet(project, adjudication_id).rows if row.contested]
    for row in contested[:-1]:
        ruling.rule(project, row.ruling.id, next(iter(row.units)), reason=Reason.WORDING)
    ruling.rule(project, contested[-1].ruling.id, "drop", reason=Reason.SCOPE)
    ruling.close(project, adjudication_id)
    return adjudication_id


def test_every_reason_for_an_empty_queue_is_told_apart(tmp_path):
    project = pairs_project(tmp_path)
    assert ruling.lacking(work_as(project, "Dan")) == "role"
    assert ruling.lacking(work_as(project, "Cleo")) == "answers"
    submit(project, {"Ada": rubric(ADA, "a")})
    assert ruling.lacking(work_as(project, "Cleo")) == "seals"


def test_frozen_work_of_ones_own_is_told_from_that_of_others(tmp_path):
    project = pairs_project(tmp_path)
    submit(project, {"Ada": rubric(ADA, "a"), "Cleo": rubric(BEN, "b")})
    assert ruling.lacking(work_as(project, "Cleo")) == "own"
    work_as(project, "Cora")
    people.set_roles(project, person(project, "Dan").id, (Role.ADJUDICATOR,))
    assert ruling.lacking(work_as(project, "Dan")) == "others"


def test_conflicts_wait_for_adjudicators_alone(tmp_path):
    project = rubrics_project(tmp_path)
    assert waiting.counts(project)["Adjudicate"] == 1
    assert waiting.counts(work_as(project, "Ada"))["Adjudicate"] == 0
    closed(project)
    assert waiting.counts(project)["Adjudicate"] == 0


ADA_SAYS, BEN_SAYS = (True, True, False, False, True), (True, False, True, False, False)


@pytest.fixture
def diagnosed(tmp_path: Path):
    diagnosed = pairs.pairs_project(tmp_path)
    pairs.submit(
        diagnosed, {"Ada": pairs.diagnostics(ADA_SAYS, "a"), "Ben": pairs.diagnostics(BEN_SAYS, "b")}
    )
    pairs.opened(diagnosed, Stage.DIAGNOSTICS)
    return diagnosed


def close(diagnosed: Project) -> None:
    for row in adjudicating.sheet(diagnosed, adjudication(diagnosed)).rows:
        ruling.rule(diagnosed, row.ruling.id, next(iter(row.units)), reason=Reason.ERROR)
    ruling.close(diagnosed, adjudication(diagnosed))


def test_votes_are_blind_undone_and_end_with_the_ruling(diagnosed: Project):
    ballots = adjudicating.ballots(diagnosed, adjudication(diagnosed))
    assert [ballot.words for ballot in ballots] == [
        "The paper measures retrieval.", "The paper measures citation accuracy.",
        "The paper measures human verification.",
    ]  # fmt: skip
    assert ballots[0].values == ("true", "false")
    assert ballots[0].vote == ""
    first = adjudicating.ballots(diagnosed, adjudication(diagnosed))[0]
    expect_refusal(
        "“perhaps” is not a valid value here", adjudicating.vote, diagnosed, first.ruling_id, "perhaps"
    )
    first = adjudicating.ballots(diagnosed, adjudication(diagnosed))[0]
    adjudicating.vote(diagnosed, first.ruling_id, "true")
    assert adjudicating.ballots(diagnosed, adjudication(diagnosed))[0].vote == "true"
    history.undo(diagnosed)
    assert adjudicating.ballots(diagnosed, adjudication(diagnosed))[0].vote == ""
    first = adjudicating.ballots(diagnosed, adjudication(diagnosed))[0]
    ruling.rule(diagnosed, first.ruling_id, "A")
    expect_refusal("too late", adjudicating.vote, diagnosed, first.ruling_id, "true")
    assert first.ruling_id not in {
        b.ruling_id for b in adjudicating.ballots(diagnosed, adjudication(diagnosed))
    }


def test_who_reopens_has_seen_both_and_cannot_vote_any_more(diagnosed: Project):
    close(diagnosed)
    ruling.reopen(diagnosed, adjudication(diagnosed), "A second look")
    row = adjudicating.sheet(diagnosed, adjudication(diagnosed)).rows[1].ruling
    ruling.undecide(diagnosed, row.id)
    expect_refusal("too late", adjudicating.vote, diagnosed, row.id, "true")


def test_votes_are_set_beside_every_rater_once_closed_and_shown_to_no_annotator(diagnosed: Project):
    first, second, _ = adjudicating.ballots(diagnosed, adjudication(diagnosed))
    adjudicating.vote(diagnosed, first.ruling_id, "true")
    adjudicating.vote(diagnosed, second.ruling_id, "true")
    assert adjudicating.votes(diagnosed) == []
    close(diagnosed)
    (result,) = adjudicating.votes(diagnosed)
    figures = {figure.name: figure for figure in result.figures}
    assert (result.stage, result.votes, len(result.items)) == (Stage.DIAGNOSTICS, 2, 1)
    # Both votes are right with one rater and wrong with the other.
    assert figures["agreement"].value == 0.5
    assert figures["agreement"].n == 4
    people = [pairs.person(diagnosed, name).id for name in ("Ada", "Ben")]
    assert not any(person in json.dumps(str(result)) for person in people)
    pairs.work_as(diagnosed, "Ada")
    expect_refusal("", adjudicating.votes, diagnosed)


def test_weights_are_voted_on_and_compared_as_an_order(tmp_path: Path):
    diagnosed = pairs.rubrics_project(tmp_path)
    for ballot in adjudicating.ballots(diagnosed, pairs.opened(diagnosed)):
        adjudicating.vote(diagnosed, ballot.ruling_id, "2")
    close(diagnosed)
    (result,) = adjudicating.votes(diagnosed)
    kappa = next(figure for figure in result.figures if figure.name == "kappa")
    # Six contested rows of nine units: a2 a3 a4 a5 b2 b3 b4 b5 b6 weigh 2 1 2 1 3 2 2 2 1.
    assert (result.votes, kappa.n) == (6, 9)
    assert "linear" in kappa.method
    agreement = next(figure for figure in result.figures if figure.name == "agreement")
    assert agreement.value == pytest.approx(5 / 9)


def test_labels_are_voted_on_by_the_words_they_are_about(tmp_path: Path):
    diagnosed = pairs.pairs_project(tmp_path)
    rubric = artifacts.start(
        diagnosed, pairs.item(diagnosed), Kind.RUBRIC, pairs.rubric(pairs.ADA, "c")
    ).subject
    assignments.seal(diagnosed, rubric)
    report = pairs.add_report(diagnosed)
    said = {"Ada": {"c1": "yes"}, "Ben": {"c1": "no"}}
    pairs.submit(diagnosed, {name: pairs.labels(report, values) for name, values in said.items()})
    (ballot,) = adjudicating.ballots(diagnosed, pairs.opened(diagnosed, Stage.LABELLING))
    assert (ballot.words, ballot.report, ballot.values) == (
        pairs.ADA[0][0],
        "Report A",
        ("yes", "no", "unsure"),
    )
    adjudicating.vote(diagnosed, ballot.ruling_id, "unsure")
    close(diagnosed)
    (result,) = adjudicating.votes(diagnosed)
    assert {figure.name: figure.n for figure in result.figures}["agreement"] == 0


def test_a_kind_without_values_is_not_voted_on(tmp_path: Path):
    diagnosed = pairs.pairs_project(tmp_path)
    plans = {
        name: Plan(units=(Subtask(id=name, text=text),))
        for name, text in (("Ada", "Collect answers"), ("Ben", "Measure cost"))
    }
    pairs.submit(diagnosed, plans)
    adjudication_id = pairs.opened(diagnosed, Stage.PLAN)
    assert adjudicating.ballots(diagnosed, adjudication_id) == []
    expect_refusal(
        "no value to vote on",
        adjudicating.vote,
        diagnosed,
        adjudicating.sheet(diagnosed, adjudication_id).rows[0].ruling.id,
        "yes",
    )
