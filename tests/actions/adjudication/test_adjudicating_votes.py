"""A senior may say what they think before they see A and B; it is compared with the raters once all is closed."""

import json
from pathlib import Path

import pytest

from annotator.actions.adjudication import adjudication_sheets, closing, ruling, voting
from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.experts.adjudication import Reason
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs
from tests.projects.pairs_project import adjudication

ADA, BEN = (True, True, False, False, True), (True, False, True, False, False)


@pytest.fixture
def project(tmp_path: Path):
    project = pairs.pairs_project(tmp_path)
    pairs.submit(project, {"Ada": pairs.diagnostics(ADA, "a"), "Ben": pairs.diagnostics(BEN, "b")})
    pairs.opened(project, Stage.DIAGNOSTICS)
    yield project
    project.close()


def close(project: Project) -> None:
    for row in adjudication_sheets.sheet(project, adjudication(project)).rows:
        ruling.rule(project, row.ruling.id, next(iter(row.units)), reason=Reason.ERROR)
    closing.close(project, adjudication(project))


def test_contested_rows_are_put_to_the_vote_without_anybodys_value(project: Project):
    ballots = voting.ballots(project, adjudication(project))
    assert [ballot.words for ballot in ballots] == [
        "The paper measures retrieval.", "The paper measures citation accuracy.",
        "The paper measures human verification.",
    ]  # fmt: skip
    assert ballots[0].values == ("true", "false")
    assert ballots[0].vote == ""


def test_a_vote_is_kept_and_can_be_undone(project: Project):
    first = voting.ballots(project, adjudication(project))[0]
    voting.vote(project, first.ruling_id, "true")
    assert voting.ballots(project, adjudication(project))[0].vote == "true"
    history.undo(project)
    assert voting.ballots(project, adjudication(project))[0].vote == ""


def test_only_a_value_of_the_kind_can_be_voted(project: Project):
    first = voting.ballots(project, adjudication(project))[0]
    with pytest.raises(Refusal, match="“perhaps” is not a valid value here"):
        voting.vote(project, first.ruling_id, "perhaps")


def test_after_ruling_it_is_too_late_to_vote(project: Project):
    first = voting.ballots(project, adjudication(project))[0]
    ruling.rule(project, first.ruling_id, "A")
    with pytest.raises(Refusal, match="too late"):
        voting.vote(project, first.ruling_id, "true")
    assert first.ruling_id not in {b.ruling_id for b in voting.ballots(project, adjudication(project))}


def test_who_reopens_has_seen_both_and_cannot_vote_any_more(project: Project):
    close(project)
    closing.reopen(project, adjudication(project), "A second look")
    row = adjudication_sheets.sheet(project, adjudication(project)).rows[1].ruling
    ruling.undecide(project, row.id)
    with pytest.raises(Refusal, match="too late"):
        voting.vote(project, row.id, "true")


def test_votes_are_set_beside_every_rater_once_closed(project: Project):
    first, second, _ = voting.ballots(project, adjudication(project))
    voting.vote(project, first.ruling_id, "true")
    voting.vote(project, second.ruling_id, "true")
    assert voting.votes(project) == []
    close(project)
    (found,) = voting.votes(project)
    figures = {figure.name: figure for figure in found.figures}
    assert (found.stage, found.votes, len(found.items)) == (Stage.DIAGNOSTICS, 2, 1)
    # Both votes are right with one rater and wrong with the other.
    assert figures["agreement"].value == 0.5
    assert figures["agreement"].n == 4
    people = [pairs.person(project, name).id for name in ("Ada", "Ben")]
    assert not any(person in json.dumps(str(found)) for person in people)


def test_annotators_are_not_shown_votes(project: Project):
    pairs.work_as(project, "Ada")
    with pytest.raises(Refusal):
        voting.votes(project)


def test_weights_are_voted_on_and_compared_as_an_order(tmp_path: Path):
    project = pairs.rubrics_project(tmp_path)
    adjudication_id = pairs.opened(project)
    for ballot in voting.ballots(project, adjudication_id):
        voting.vote(project, ballot.ruling_id, "2")
    close(project)
    (found,) = voting.votes(project)
    kappa = next(figure for figure in found.figures if figure.name == "kappa")
    # Six contested rows of nine units: a2 a3 a4 a5 b2 b3 b4 b5 b6 weigh 2 1 2 1 3 2 2 2 1.
    assert (found.votes, kappa.n) == (6, 9)
    assert "linear" in kappa.method
    agreement = next(figure for figure in found.figures if figure.name == "agreement")
    assert agreement.value == pytest.approx(5 / 9)


def test_labels_are_voted_on_by_the_words_they_are_about(tmp_path: Path):
    project = pairs.pairs_project(tmp_path)
    rubric = artifacts.start(project, pairs.item(project), Kind.RUBRIC, pairs.rubric(pairs.ADA, "c")).subject
    submitting.seal(project, rubric)
    report = pairs.add_report(project)
    said = {"Ada": {"c1": "yes"}, "Ben": {"c1": "no"}}
    pairs.submit(project, {name: pairs.labels(report, values) for name, values in said.items()})
    (ballot,) = voting.ballots(project, pairs.opened(project, Stage.LABELLING))
    assert (ballot.words, ballot.report, ballot.values) == (
        pairs.ADA[0][0],
        "Report A",
        ("yes", "no", "unsure"),
    )
    voting.vote(project, ballot.ruling_id, "unsure")
    close(project)
    (found,) = voting.votes(project)
    assert {figure.name: figure.n for figure in found.figures}["agreement"] == 0


def test_a_kind_without_values_is_not_voted_on(tmp_path: Path):
    project = pairs.pairs_project(tmp_path)
    plans = {
        name: Plan(units=(Subtask(id=name, text=text),))
        for name, text in (("Ada", "Collect answers"), ("Ben", "Measure cost"))
    }
    pairs.submit(project, plans)
    adjudication_id = pairs.opened(project, Stage.PLAN)
    assert voting.ballots(project, adjudication_id) == []
    with pytest.raises(Refusal, match="no value to vote on"):
        voting.vote(project, adjudication_sheets.sheet(project, adjudication_id).rows[0].ruling.id, "yes")
