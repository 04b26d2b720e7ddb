"""What an adjudicator has before them in every kind of artifact, who may adjudicate, votes, and what all agree on."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.consensus import consensus, ruling_rows
from annotator.actions.contests import contest_standings
from annotator.actions.items import items
from annotator.actions.parcels import waiting
from annotator.actions.project import backups, people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.undo import history
from annotator.domain.common import now
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
from annotator.domain.kinds.artifact import Document, Kind, State, stage_of
from annotator.domain.kinds.diagnostics import Aspect
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.kinds.selection import DimensionRating, Selection
from annotator.domain.kinds.tasks import Task, Tasks
from tests.common import expect_refusal, fixture_of
from tests.projects import pairs_project as pairs
from tests.projects.filled_project import add_judgement
from tests.storage import sql

PROJECT = pairs.rubrics_project


def test_rows_left_alone_follow_their_neighbour_and_letters_fall_both_ways():
    assert {ruling_rows.dealt(["one", "two"], ruling_rows.seed_of(f"item {n}"))["A"] for n in range(20)} == {
        "one",
        "two",
    }
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
    assert (sheet.rows[0].units[letter].note, sheet.remarks) == ("Not sure", {letter: "In haste"})
    assert not sheet.rows[0].contested


def test_the_queue_has_conflicts_first_and_shows_what_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    three = pairs.pairs_project(tmp_path, questions=3)
    one, two = ("Explains attribution", 3), ("Names a dataset", 2)
    # Items 1 to 3: agreement 2/3, unanimous, and 0.
    for place, (ada, ben) in enumerate((((one, two), (one,)), ((one,), (one,)), ((one,), (two,)))):
        pairs.submit(three, {"Ada": pairs.rubric(ada, "a"), "Ben": pairs.rubric(ben, "b")}, place)
    pairs.work_as(three, "Cleo")
    lines = adjudicating.queue(three)
    assert [line.item_key for line in lines] == ["3", "1", "2"]
    assert [line.conflict for line in lines] == [True, True, False]
    assert [line.agreement.value for line in lines if line.agreement] == pytest.approx([0, 2 / 3, 1])
    assert [(line.rows, line.contested) for line in lines] == [(2, 2), (2, 1), (1, 0)]
    # What was laid out is not laid out again.
    monkeypatch.setattr(adjudicating, "layout", lambda *_: pytest.fail("laid out again"))
    assert adjudicating.queue(three) == lines
    monkeypatch.undo()
    adjudication_id = pairs.opened(three, place=2)
    line = adjudicating.queue(three)[0]
    assert (line.adjudication_id, line.state, line.rows, line.contested, line.decided) == (
        adjudication_id, AdjudicationState.OPEN.value, 2, 2, 0,
    )  # fmt: skip
    sql.alter(three, "UPDATE item SET retired = 1 WHERE key = '3'")
    assert [line.item_key for line in adjudicating.queue(three)] == ["1", "2"]


def test_opening_lays_rows_out_once_under_letters_nobody_is_told(project: Project):
    before = sql.rows(project, "SELECT * FROM agreement")
    adjudication_id = pairs.opened(project)
    assert sql.rows(project, "SELECT * FROM agreement") == before
    sheet = adjudicating.sheet(project, adjudication_id)
    again = adjudicating.open_(project, pairs.item(project), Stage.RUBRIC)
    assert (again.id, again.letters) == (adjudication_id, {})
    assert adjudicating.sheet(project, adjudication_id) == sheet
    seed, letters = sql.first(project, "SELECT seed, letters FROM adjudication")
    people = [pairs.person(project, name) for name in ("Ben", "Ada")]
    assert seed == ruling_rows.seed_of(adjudication_id)
    assert json.loads(letters) == ruling_rows.dealt([each.id for each in people], seed)
    units = [sorted(unit.id for unit in row.units.values()) for row in sheet.rows]
    assert [row for row in units if len(row) == 2] == [[f"a{n}", f"b{n}"] for n in (1, 2, 3, 4)]
    assert sorted(row for row in units if len(row) == 1) == [["a5"], ["b5"], ["b6"]]
    rows = {of[0]: row for of, row in zip(units, sheet.rows, strict=True)}
    assert [rows[f"a{n}"].differing for n in (1, 2, 3, 4)] == [(), ("text", "weight"), ("weight",), ("text",)]
    assert [rows[name].contested for name in ("a1", "a5")] == [False, True]
    (pieces,) = rows["a4"].pieces.values()
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == rows["a4"].units["A"].text
    figures = {figure.name: figure for figure in sheet.figures}
    assert (figures["match_f1"].value, figures["match_f1"].note) == (pytest.approx(8 / 11), "")
    shown = repr([sheet, adjudicating.queue(project)])
    assert "Names at least one dataset" in shown
    for secret in ("datetime", *(f"'{word}'" for who in people for word in (who.id, who.name, who.alias))):
        assert secret not in shown


def open_(project: Project) -> str:
    return adjudicating.open_(project, pairs.item(project), Stage.RUBRIC).id


@pytest.mark.parametrize(
    "name", [
        pytest.param("Ada", id="a rater"), pytest.param("Eva", id="wrote for another stage"),
        pytest.param("Fay", id="labelled a report"), pytest.param("Gus", id="is still to answer"),
    ],
)  # fmt: skip
def test_who_answers_the_item_does_not_adjudicate_it(project: Project, name: str):
    for senior in ("Eva", "Fay", "Gus"):
        people.add_person(project, senior, (Role.ADJUDICATOR,))
    pairs.assign(project, "Ada", Stage.ADJUDICATION)
    artifacts.start(pairs.work_as(project, "Eva"), pairs.item(project), Kind.PLAN)
    add_judgement(
        project, item_id=pairs.item(project), response_id=pairs.add_report(project), unit_id="b1", artifact_id="",
        rater_kind="person", rater_id=pairs.who(project, "Fay"), run_id=None,
    )  # fmt: skip
    pairs.assign(project, "Gus", Stage.DIAGNOSTICS)
    assert adjudicating.queue(pairs.work_as(project, name)) == []
    expect_refusal("written or labelled something for this item yourself", open_, project)


def test_an_assignment_goes_before_the_role(project: Project):
    expect_refusal("not an adjudicator", open_, pairs.work_as(project, "Dan"))
    assert adjudicating.queue(project) == []
    pairs.assign(project, "Dan", Stage.ADJUDICATION)
    assert adjudicating.queue(pairs.work_as(project, "Cleo")) == []
    expect_refusal("Someone else adjudicates", open_, project)
    assert open_(pairs.work_as(project, "Dan"))


def test_what_somebody_began_is_theirs_until_an_assignment_hands_it_over(project: Project):
    adjudication_id = open_(project)
    row = adjudicating.sheet(project, adjudication_id).rows[0].ruling
    people.add_person(project, "Eva", (Role.ADJUDICATOR,))
    assert adjudicating.queue(pairs.work_as(project, "Eva")) == []
    expect_refusal("Someone else adjudicates", open_, project)
    for verb in (adjudicating.sheet, ruling.close, ruling.missing, consensus.remarks):
        expect_refusal("Someone else adjudicates", verb, project, adjudication_id)
    pairs.assign(project, "Eva", Stage.ADJUDICATION)
    assert open_(project) == adjudication_id
    ruling.rule(project, row.id, "both")
    expect_refusal("Someone else adjudicates", ruling.rule, pairs.work_as(project, "Cleo"), row.id, "A")


def test_the_discussion_is_for_coordinators_too_but_never_for_who_answered_the_item(project: Project):
    adjudication_id = open_(project)
    consensus.remark(project, adjudication_id, "Is this in scope?")
    pairs.work_as(project, "Ada")
    for question in (adjudicating.sheet, consensus.remarks):
        expect_refusal("written or labelled", question, project, adjudication_id)
    consensus.remark(pairs.work_as(project, "Cora"), adjudication_id, "It is.")
    assert [each.text for each in consensus.remarks(project, adjudication_id)] == [
        "Is this in scope?",
        "It is.",
    ]
    artifacts.start(project, pairs.item(project), Kind.PLAN)
    expect_refusal("", consensus.remark, project, adjudication_id, "And now?")


def test_a_consensus_has_its_origins_and_is_waited_for_until_it_is_closed(project: Project):
    assert waiting.counts(pairs.work_as(project, "Ada"))["Adjudicate"] == 0
    adjudication_id = pairs.opened(project)
    assert waiting.counts(project)["Adjudicate"] == 1
    contested = [row for row in adjudicating.sheet(project, adjudication_id).rows if row.contested]
    for row in contested[:-1]:
        ruling.rule(project, row.ruling.id, next(iter(row.units)), reason=Reason.WORDING)
    ruling.rule(project, contested[-1].ruling.id, "drop", reason=Reason.SCOPE)
    ruling.close(project, adjudication_id)
    assert waiting.counts(project)["Adjudicate"] == 0
    (version,) = ruling.versions(project, adjudication_id)
    assert (version.version, version.units, version.dropped, version.origins) == (
        1, 6, 1, {Origin.BOTH: 1, Origin.ONE: 5},
    )  # fmt: skip
    # Four of five and six are paired: 2·4/11.
    assert version.repaired[0].value == pytest.approx(8 / 11)


def test_why_nothing_is_to_be_adjudicated_is_told_apart(tmp_path: Path):
    project = pairs.pairs_project(tmp_path)
    assert ruling.lacking(pairs.work_as(project, "Dan")) == "role"
    assert ruling.lacking(pairs.work_as(project, "Cleo")) == "answers"
    pairs.submit(project, {"Ada": pairs.rubric(pairs.ADA, "a")})
    assert ruling.lacking(pairs.work_as(project, "Cleo")) == "seals"
    expect_refusal("not ready to be adjudicated", open_, project)
    pairs.submit(project, {"Cleo": pairs.rubric(pairs.BEN, "b")})
    assert ruling.lacking(pairs.work_as(project, "Cleo")) == "own"
    people.set_roles(pairs.work_as(project, "Cora"), pairs.who(project, "Dan"), (Role.ADJUDICATOR,))
    assert ruling.lacking(pairs.work_as(project, "Dan")) == "others"


ADA_SAYS, BEN_SAYS = (True, True, False, False, True), (True, False, True, False, False)


@pytest.fixture
def diagnosed(tmp_path: Path) -> Project:
    diagnosed, said = pairs.pairs_project(tmp_path), {"Ada": ADA_SAYS, "Ben": BEN_SAYS}
    pairs.submit(diagnosed, {name: pairs.diagnostics(of, name[0].lower()) for name, of in said.items()})
    pairs.opened(diagnosed, Stage.DIAGNOSTICS)
    return diagnosed


def close(diagnosed: Project) -> None:
    for row in adjudicating.sheet(diagnosed, pairs.adjudication(diagnosed)).rows:
        ruling.rule(diagnosed, row.ruling.id, next(iter(row.units)), reason=Reason.ERROR)
    ruling.close(diagnosed, pairs.adjudication(diagnosed))


def test_votes_are_blind_undone_and_end_with_the_ruling(diagnosed: Project):
    first, *rest = adjudicating.ballots(diagnosed, pairs.adjudication(diagnosed))
    assert [ballot.words for ballot in (first, *rest)] == [
        "The paper measures retrieval.", "The paper measures citation accuracy.",
        "The paper measures human verification.",
    ]  # fmt: skip
    assert (first.values, first.vote) == (("true", "false"), "")
    expect_refusal(
        "“perhaps” is not a valid value here", adjudicating.vote, diagnosed, first.ruling_id, "perhaps"
    )
    adjudicating.vote(diagnosed, first.ruling_id, "true")
    assert adjudicating.ballots(diagnosed, pairs.adjudication(diagnosed))[0].vote == "true"
    history.undo(diagnosed)
    assert adjudicating.ballots(diagnosed, pairs.adjudication(diagnosed)) == [first, *rest]
    ruling.rule(diagnosed, first.ruling_id, "A")
    expect_refusal("too late", adjudicating.vote, diagnosed, first.ruling_id, "true")
    assert adjudicating.ballots(diagnosed, pairs.adjudication(diagnosed)) == rest


def test_votes_are_set_beside_every_rater_once_closed_and_shown_to_no_annotator(diagnosed: Project):
    for ballot in adjudicating.ballots(diagnosed, pairs.adjudication(diagnosed))[:2]:
        adjudicating.vote(diagnosed, ballot.ruling_id, "true")
    assert adjudicating.votes(diagnosed) == []
    close(diagnosed)
    (result,) = adjudicating.votes(diagnosed)
    figures = {figure.name: figure for figure in result.figures}
    assert (result.stage, len(result.items)) == (Stage.DIAGNOSTICS, 1)
    # Both votes are right with one rater and wrong with the other.
    assert (figures["agreement"].value, figures["agreement"].n) == (0.5, 4)
    assert not any(pairs.who(diagnosed, name) in str(result) for name in ("Ada", "Ben"))
    # Who reopens has seen both, and cannot vote any more.
    ruling.reopen(diagnosed, pairs.adjudication(diagnosed), "A second look")
    second = adjudicating.sheet(diagnosed, pairs.adjudication(diagnosed)).rows[1].ruling.id
    ruling.undecide(diagnosed, second)
    expect_refusal("too late", adjudicating.vote, diagnosed, second, "true")
    expect_refusal("", adjudicating.votes, pairs.work_as(diagnosed, "Ada"))


def test_weights_are_voted_on_and_compared_as_an_order(project: Project):
    for ballot in adjudicating.ballots(project, pairs.opened(project)):
        adjudicating.vote(project, ballot.ruling_id, "2")
    close(project)
    (result,) = adjudicating.votes(project)
    figures = {figure.name: figure for figure in result.figures}
    # Six contested rows of nine units: a2 a3 a4 a5 b2 b3 b4 b5 b6 weigh 2 1 2 1 3 2 2 2 1.
    assert figures["kappa"].n == 9
    assert figures["agreement"].value == pytest.approx(5 / 9)


def test_labels_are_voted_on_by_the_words_they_are_about(unanswered: Project):
    (ballot,) = adjudicating.ballots(unanswered, labelled(unanswered, Ada={"c1": "yes"}, Ben={"c1": "no"}))
    assert (ballot.words, ballot.values) == (pairs.ADA[0][0], ("yes", "no", "unsure"))
    adjudicating.vote(unanswered, ballot.ruling_id, "unsure")
    close(unanswered)
    (result,) = adjudicating.votes(unanswered)
    assert {figure.name: figure.n for figure in result.figures}["agreement"] == 0


unanswered = fixture_of(pairs.pairs_project)


SAME, OTHER = "Attribution ties claims to sources", "Retrieval finds passages of evidence"


def two(kind: Kind, second: dict[str, Any]) -> Document[Any]:
    # The shares of a checklist make up one.
    first = {"share": 0.5} if kind is Kind.CHECKLIST else {}
    unit = DOCUMENTS[kind].UNIT
    return DOCUMENTS[kind](units=(unit(text=SAME, **first), unit(**{"text": OTHER} | second)))


# Kind by kind, how the second units of Ada and Ben differ, the first ones being the same.
WRITTEN: dict[Kind, tuple[dict[str, Any], dict[str, Any]]] = {
    Kind.QUERY: ({"text": OTHER}, {"text": f"{OTHER} today"}),
    Kind.INSIGHTS: ({"text": OTHER}, {"text": f"{OTHER} now"}),
    Kind.INSPIRATIONS: (
        {"type": "limitation", "qualities": ("challenge", "explorability")},
        {"type": "hypothesis", "qualities": ("explorability", "verifiability")},
    ),
    Kind.TASKS: (
        {"phase": "design", "family": "Hypothesis Generation"}, {"phase": "evaluate", "family": "Comparative Analysis"},
    ),
    Kind.PLAN: ({"text": OTHER}, {"text": f"{OTHER} now"}),
    Kind.RUBRIC: ({"weight": 1}, {"weight": 3}),
    Kind.EVIDENCE: ({"identifier": "10.1000/one"}, {"identifier": ""}),
    Kind.DIAGNOSTICS: ({"label": True, "aspect": Aspect.RESULTS}, {"label": False, "aspect": Aspect.FUTURE}),
    Kind.NUGGETS: ({"importance": "vital"}, {"importance": "okay"}),
    Kind.CHECKLIST: ({"share": 0.5}, {"share": 0.49}),
    Kind.SELECTION: ({"rating": 5}, {"rating": 2}),
}  # fmt: skip


def agreed(project: Project, kind: Kind) -> Document[Any]:
    result = annotating.artifacts_of(project, pairs.item(project))
    return next(each for each in result if each.state is State.CONSENSUS and each.kind is kind).document


@pytest.mark.parametrize("kind", sorted({*DOCUMENTS} - {Kind.LABELS}))
def test_a_kind_goes_all_the_way_to_its_consensus(unanswered: Project, kind: Kind) -> None:
    ada, ben = (two(kind, second) for second in WRITTEN[kind])
    pairs.submit(unanswered, {"Ada": ada, "Ben": ben})
    adjudication_id = pairs.opened(unanswered, stage_of(kind))
    letter = pairs.letter_of(unanswered, adjudication_id, "Ben")
    (contested,) = (row for row in adjudicating.sheet(unanswered, adjudication_id).rows if row.contested)
    assert contested.differing == tuple(WRITTEN[kind][0])
    ruling.rule(unanswered, contested.ruling.id, letter, reason=Reason.ERROR)
    ruling.close(unanswered, adjudication_id)
    document = agreed(unanswered, kind)
    fields = set(consensus.writable(kind)) | {"text"}
    assert type(document) is DOCUMENTS[kind]
    assert [unit.model_dump(include=fields) for unit in document.units] == [
        unit.model_dump(include=fields) for unit in ben.units
    ]


def labelled(project: Project, **values: dict[str, str]) -> str:
    """The adjudication of labels of one report, which is judged by a sealed rubric; rater → unit → value."""
    pairs.submit(project, {"Cora": pairs.rubric(pairs.ADA, "c")})
    report = pairs.add_report(project)
    pairs.submit(project, {name: pairs.labels(report, said) for name, said in values.items()})
    return pairs.opened(project, Stage.LABELLING)


def test_labels_meet_without_matching_keep_their_ids_and_get_no_second_figure(unanswered: Project) -> None:
    adjudication_id = labelled(unanswered, Ada={"c1": "yes", "c2": "no"}, Ben={"c1": "yes", "c2": "yes"})
    first, second = adjudicating.sheet(unanswered, adjudication_id).rows
    assert (first.contested, second.contested) == (False, True)
    ruling.rule(unanswered, first.ruling.id, "both")
    ruling.rule(
        unanswered, second.ruling.id, pairs.letter_of(unanswered, adjudication_id, "Ada"), reason=Reason.ERROR
    )
    ruling.close(unanswered, adjudication_id)
    labels = agreed(unanswered, Kind.LABELS).units
    assert [(label.unit_id, label.value) for label in labels] == [("c1", "yes"), ("c2", "no")]
    assert [label.id for label in labels] == [next(iter(row.units.values())).id for row in (first, second)]
    assert ruling.versions(unanswered, adjudication_id)[0].repaired == ()


def test_a_row_of_labels_hides_its_system_and_takes_a_value_of_the_protocol(unanswered: Project) -> None:
    adjudication_id = labelled(unanswered, Ada={"c1": "yes"}, Ben={"c1": "no"})
    (row,) = adjudicating.sheet(unanswered, adjudication_id).rows
    assert (row.heading, row.report) == (pairs.ADA[0][0], "Report A")
    assert "Canary" not in repr(adjudicating.sheet(unanswered, adjudication_id))
    # Rows of labels are given.
    for act, *more in ((adjudicating.split, row.ruling.id, "A"), (ruling.add_row, adjudication_id)):
        expect_refusal("rows of labels are fixed", act, unanswered, *more)
    expect_refusal("cannot both be kept", ruling.rule, unanswered, row.ruling.id, "both")
    expect_refusal(
        "“perhaps” is not a valid value here", ruling.write_own, unanswered, row.ruling.id, value="perhaps"
    )
    ruling.write_own(unanswered, row.ruling.id, value="no")
    ruling.write_own(unanswered, row.ruling.id, value="unsure")
    ruling.explain(unanswered, row.ruling.id, reason=Reason.OTHER)
    ruling.close(unanswered, adjudication_id)
    assert agreed(unanswered, Kind.LABELS).units[0].value == "unsure"


def test_why_a_figure_is_undefined_is_told_and_no_score_of_a_single_rater(unanswered: Project) -> None:
    ratings = [DimensionRating(text=text, rating=3) for text in ("Openness", "Depth", "Precision")]
    pairs.submit(
        unanswered, {"Ada": Selection(units=tuple(ratings)), "Ben": Selection(units=tuple(ratings[:2]))}
    )
    figures = adjudicating.sheet(unanswered, pairs.opened(unanswered, Stage.SELECTION)).figures
    assert "rating_agreement" in {figure.name for figure in figures}
    assert not any(figure.name.startswith("item_score") for figure in figures)
    (kappa,) = (figure for figure in figures if "kappa" in figure.name)
    assert (kappa.value, "one category only" in kappa.note, "only A" in kappa.note) == (None, True, False)


def test_criteria_name_the_insights_of_the_consensus(unanswered: Project) -> None:
    insights = {name: Insight(id=f"i-{name}", text=SAME) for name in ("Ada", "Ben")}
    criteria = {name: Criterion(text=OTHER, insight_id=insight.id) for name, insight in insights.items()}
    pairs.submit(unanswered, {name: Insights(units=(unit,)) for name, unit in insights.items()})
    pairs.submit(unanswered, {name: Rubric(units=(unit,)) for name, unit in criteria.items()})
    for stage in (Stage.INSIGHTS, Stage.RUBRIC):
        ruling.close(unanswered, pairs.opened(unanswered, stage))
    (criterion,) = agreed(unanswered, Kind.RUBRIC).units
    assert criterion.insight_id == agreed(unanswered, Kind.INSIGHTS).units[0].id


CRITERIA = ("Explains attribution of claims", "Names a dataset of answers", "Discusses what review costs")


def test_three_raters_share_rows_and_both_keeps_what_agrees_as_one(unanswered: Project) -> None:
    # Ada, Ben and Dan all wrote the first criterion, two of them the second, Dan alone the third.
    written = {"Ada": ((0, 3), (1, 2)), "Ben": ((0, 3),), "Dan": ((2, 1), (1, 3), (0, 3))}
    documents = {
        name: pairs.rubric(tuple((CRITERIA[n], weight) for n, weight in chosen), name[0].lower())
        for name, chosen in written.items()
    }
    pairs.submit(unanswered, documents)
    of_three = pairs.opened(unanswered)
    sheet = adjudicating.sheet(unanswered, of_three)
    assert sheet.letters == ("A", "B", "C")
    rows = {"".join(sorted(unit.id for unit in row.units.values())): row for row in sheet.rows}
    assert {units: row.contested for units, row in rows.items()} == {
        "a1b1d3": False,
        "a2d2": True,
        "d1": True,
    }
    for units in ("a1b1d3", "a2d2"):
        ruling.rule(unanswered, rows[units].ruling.id, "both")
    made = {len(row.units): row.made for row in adjudicating.sheet(unanswered, of_three).rows}
    assert [provenance.origin for _, provenance in made[3]] == [Origin.BOTH]
    assert {(unit.weight, provenance.origin) for unit, provenance in made[2]} == {
        (2, Origin.ONE),
        (3, Origin.ONE),
    }
    adjudicating.split(unanswered, rows["a2d2"].ruling.id, pairs.letter_of(unanswered, of_three, "Dan"))
    close(unanswered)
    repaired = {each.name: each for each in ruling.versions(unanswered, of_three)[0].repaired}
    # Only the first criterion is shared now: F1 of Ada and Ben 2/3, of Ada and Dan 2/5, of Ben and Dan 2/4.
    assert repaired["repaired_match_f1"].value == pytest.approx((2 / 3 + 2 / 5 + 2 / 4) / 3)


TRAITS = {"phase": "design", "difficulty": "basic"}
TASKS = Tasks(
    units=(
        Task(
            id="t-a",
            text="Survey stations and deliver a table.",
            phase="synthesize",
            family="Literature Survey",
        ),
        Task(
            id="t-b", text="Write a protocol.", phase="design", family="Method Blueprint", difficulty="basic"
        ),
    )
)


def test_a_settled_task_becomes_an_item_once(unanswered: Project) -> None:
    seminar = pairs.item(unanswered)
    items.change(unanswered, seminar, key="s012", subject="Seismology", dataset="seminars")
    pairs.submit(unanswered, {"Ada": TASKS})
    pairs.work_as(unanswered, "Cora")
    assert {name: [task.id for task in of] for name, of in contest_standings.settled(unanswered).items()} == {
        seminar: ["t-a", "t-b"]
    }
    made = items.read(unanswered, contest_standings.keep(unanswered, seminar, "t-b").subject)
    assert (made.key, made.question, made.question_type) == (
        "s012-t02",
        "Write a protocol.",
        "Method / Experiment Blueprint",
    )
    assert (made.subject, made.origin, made.traits, made.made_from) == ("Seismology", "s012", TRAITS, "t-b")
    assert contest_standings.made(unanswered) == {"t-b": made.id}
    again = contest_standings.keep(unanswered, seminar, "t-b")
    assert (again.seq, again.subject, items.count(unanswered)) == (0, made.id, 2)
    assert (
        items.read(unanswered, contest_standings.keep(unanswered, seminar, "t-a").subject).key == "s012-t01"
    )
    assert not checking.check(unanswered).problems


def test_only_settled_tasks_of_a_coordinator_become_items(unanswered: Project) -> None:
    seminar = pairs.item(unanswered)
    pairs.submit(unanswered, {"Ada": TASKS, "Ben": TASKS})
    pairs.work_as(unanswered, "Cora")
    assert contest_standings.settled(unanswered) == {}
    expect_refusal("not among the settled ones", contest_standings.keep, unanswered, seminar, "t-a")
    pairs.work_as(unanswered, "Ada")
    expect_refusal("can make items of tasks", contest_standings.keep, unanswered, seminar, "t-a")
    assert items.count(unanswered) == 1


ALIKE = (("Explains attribution", 3), ("Names a dataset", 2))


@pytest.fixture
def unanimous(tmp_path: Path):
    """Three items on which the rubrics are the same, and a fourth with Ada's and Ben's usual ones."""
    unanimous = pairs.pairs_project(tmp_path, questions=4)
    for place in range(3):
        pairs.submit(unanimous, {"Ada": pairs.rubric(ALIKE, "a"), "Ben": pairs.rubric(ALIKE, "b")}, place)
    pairs.submit(unanimous, {"Ada": pairs.rubric(pairs.ADA, "a"), "Ben": pairs.rubric(pairs.BEN, "b")}, 3)
    return pairs.work_as(unanimous, "Cleo")


def states(unanimous: Project) -> dict[str, tuple[str, bool]]:
    """Item by item how far its adjudication is, and whether it is a spot check."""
    return {line.item_key: (line.state, line.spot_check) for line in adjudicating.queue(unanimous)}


def test_unanimous_items_are_closed_once_but_for_a_sample(unanimous: Project):
    assert adjudicating.auto_unanimous(pairs.work_as(unanimous, "Ada")).closed == ()
    before = states(pairs.work_as(unanimous, "Cleo"))
    assert set(before.values()) == {("not begun", False)}
    expect_refusal("not a share", adjudicating.auto_unanimous, unanimous, share=10)
    told: list[tuple[str, int, int]] = []
    report = adjudicating.auto_unanimous(
        unanimous, share=0.4, seed=7, progress=lambda *words: told.append(words)
    )
    assert (len(report.closed), len(report.spot_check), report.seed) == (1, 2, 7)
    after = before | {line.item_key: ("open", True) for line in report.spot_check}
    assert states(unanimous) == after | {report.closed[0].item_key: ("closed", False)}
    assert [done for _, done, _ in told] == [1, 2, 3]
    assert backups.listing(unanimous.path)[0].why == "before confirming unanimous items"
    (agreed,) = (
        each
        for each in annotating.artifacts_of(unanimous, report.closed[0].item_id)
        if each.state is State.CONSENSUS
    )
    assert [(unit.text, unit.weight) for unit in agreed.document.units] == list(ALIKE)
    again = adjudicating.auto_unanimous(unanimous)
    assert (again.closed, again.spot_check) == ((), ())
    line = report.spot_check[0]
    adjudicating.confirm_unanimous(unanimous, line.adjudication_id)
    ruling.close(unanimous, line.adjudication_id)
    assert states(unanimous)[line.item_key] == ("closed", True)


@pytest.mark.parametrize(("share", "kept"), [(0.01, 1), (0, 0)])
def test_at_least_one_is_drawn_but_by_a_share_of_0(unanswered: Project, share: float, kept: int):
    pairs.submit(unanswered, {"Ada": pairs.rubric(ALIKE, "a"), "Ben": pairs.rubric(ALIKE, "b")})
    report = adjudicating.auto_unanimous(pairs.work_as(unanswered, "Cleo"), share=share)
    assert [len(report.closed), len(report.spot_check)] == [1 - kept, kept]


def test_the_same_items_and_seed_give_the_same_draw(unanimous: Project, tmp_path: Path):
    reports = []
    for name in ("one", "two"):
        copy = Project.open(backups.save_copy(unanimous, tmp_path / f"{name}.goldsmith"))
        reports.append(adjudicating.auto_unanimous(pairs.work_as(copy, "Cleo")))
        copy.close()
    assert reports[0] == reports[1]
    assert reports[0].seed != 0


def test_what_somebody_has_begun_to_rule_on_is_left_to_them_and_theirs_to_undo(unanimous: Project):
    first = adjudicating.sheet(unanimous, pairs.opened(unanimous)).rows[0].ruling
    ruling.rule(unanimous, first.id, "drop", reason=Reason.SCOPE)
    report = adjudicating.auto_unanimous(unanimous, share=0)
    assert "1" not in {line.item_key for line in (*report.closed, *report.spot_check)}
    assert states(unanimous)["1"] == ("open", False)
    assert history.undo(unanimous).subject == first.id


def test_a_kind_without_values_is_not_voted_on(unanswered: Project):
    ada, ben = (two(Kind.PLAN, second) for second in WRITTEN[Kind.PLAN])
    pairs.submit(unanswered, {"Ada": ada, "Ben": ben})
    adjudication_id = pairs.opened(unanswered, Stage.PLAN)
    assert adjudicating.ballots(unanswered, adjudication_id) == []
    (row,) = (row for row in adjudicating.sheet(unanswered, adjudication_id).rows if row.contested)
    expect_refusal("no value to vote on", adjudicating.vote, unanswered, row.ruling.id, "yes")


def test_a_plan_in_another_order_is_not_unanimous(unanswered: Project):
    steps = (
        "Motivate the study of attribution",
        "Collect long answers by experts",
        "Measure citation accuracy",
    )
    ada, ben = (Plan(units=tuple(Subtask(text=steps[n]) for n in order)) for order in ((0, 1, 2), (0, 2, 1)))
    pairs.submit(unanswered, {"Ada": ada, "Ben": ben})
    (line,) = adjudicating.queue(pairs.work_as(unanswered, "Cleo"))
    assert (line.contested, line.order_differs, line.conflict) == (0, True, True)
    assert adjudicating.auto_unanimous(unanswered).spot_check == ()
    sheet = adjudicating.sheet(unanswered, pairs.opened(unanswered, Stage.PLAN))
    assert (sheet.order_differs, sheet.kind) == (True, Kind.PLAN)


def test_confirmed_rows_need_no_reason_and_are_opened_and_confirmed_again(unanimous: Project):
    adjudication_id = pairs.opened(unanimous, place=3)
    rows = adjudicating.sheet(unanimous, adjudication_id).rows
    assert {(row.contested, row.ruling.take) for row in rows} == {(False, "both"), (True, "")}
    contested = {number for number, row in enumerate(rows, 1) if row.contested}
    assert {lacking.number for lacking in ruling.missing(unanimous, adjudication_id)} == contested
    (agreed,) = (row for row in rows if not row.contested)
    ruling.undecide(unanimous, agreed.ruling.id)
    assert adjudicating.confirm_unanimous(unanimous, adjudication_id).seq
    (again,) = (row for row in adjudicating.sheet(unanimous, adjudication_id).rows if not row.contested)
    assert again.ruling.take == "both"
