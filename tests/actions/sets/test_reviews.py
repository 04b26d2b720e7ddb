"""Open reviews of a judge's verdicts: what comes up when, what is accepted, and that none of it is a blind label."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from annotator.actions.project.file import Project
from annotator.actions.sets import reviews, validation_sets, validation_units
from annotator.actions.sets.reviews import ReviewOrder
from annotator.actions.undo import history
from annotator.actions.validation import validation
from annotator.domain.judges.informed import Fault, Review
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import JUDGEMENT
from tests.projects.validation_project import (
    At,
    judge_says,
    negative,
    person,
    person_says,
    places,
    validation_project,
)


def ann(at: At) -> str:
    return "yes" if at[1] == "Alpha" else "no"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A judge that says yes of all sixteen units, and another that says no of the first one."""
    project = validation_project(tmp_path)
    judge_says(project, "small", lambda _: "yes")
    judge_says(project, "other", lambda at: "no" if at == (1, "Alpha", 2) else "yes")
    yield project
    project.close()


def say(project: Project, at: At, said: Review, **more: str) -> None:
    _, response, unit = places(project)[at]
    reviews.review(project, "small", response, unit, said, **more)


def test_what_judges_differ_on_comes_up_first_then_what_weighs_more(project: Project) -> None:
    uncertain = reviews.queue(project, "small")
    assert (uncertain[0].place.unit_id, uncertain[0].uncertainty) == ("i1c2", 1.0)
    assert [one.place.weight for one in uncertain[1:]] == [3] * 8 + [1] * 7
    lines = reviews.outlook(project, "small").lines
    assert [list(part) for part in (lines[-2:], lines[16:])] == [[lines[14], lines[15]], []]
    heavy = reviews.queue(project, "small", order=ReviewOrder.WEIGHT)
    assert [one.place.weight for one in heavy] == [3] * 8 + [1] * 8
    assert heavy[8].place.unit_id == "i1c2"
    chance = reviews.queue(project, "small", order=ReviewOrder.RANDOM)
    assert {one.place.key for one in chance} == {one.place.key for one in heavy}
    assert [one.place.key for one in chance] != [one.place.key for one in heavy]


def test_what_takes_away_comes_up_as_heavy_as_its_weight(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch, 3)
    heavy = reviews.queue(project, "small", order=ReviewOrder.WEIGHT)
    assert [one.place.weight for one in heavy] == [-3] * 8 + [1] * 8


def test_what_is_flagged_is_uncertain(project: Project) -> None:
    _, response, unit = places(project)[3, "Beta", 2]
    with project.store.write() as db:
        mine = (JUDGEMENT.c.response_id == response) & (JUDGEMENT.c.unit_id == unit)
        db.execute(update(JUDGEMENT).where(mine).values(flags="quote_missing"))
    assert [one.place.unit_id for one in reviews.queue(project, "small")[:2]] in (
        ["i1c2", "i3c2"],
        ["i3c2", "i1c2"],
    )


def test_a_reviewed_verdict_waits_for_a_second_expert_only_when_two_are_wanted(project: Project) -> None:
    say(project, (1, "Alpha", 1), Review.AGREE)
    assert len(reviews.queue(project, "small", experts=2)) == 15
    project.work_as(person(project, "R2"))
    assert len(reviews.queue(project, "small")) == 15
    assert len(reviews.queue(project, "small", experts=2)) == 16


def test_the_accepted_rate_is_counted_with_the_reasons(project: Project) -> None:
    for item in (1, 2, 3, 4):
        say(project, (item, "Alpha", 1), Review.AGREE)
        say(project, (item, "Beta", 1), Review.DISAGREE if item < 3 else Review.UNSURE, reason=Fault.INVENTED)
    (line,) = reviews.report(project)
    # Four of six; two are unsure. The interval is over four items, not over six units.
    assert (line.accepted.value, line.accepted.n) == (pytest.approx(4 / 6), 6)
    assert "4 clusters are too few" in line.accepted.note
    assert line.said == {"agree": 4, "disagree": 2, "unsure": 2}
    assert line.reasons == {Fault.INVENTED.value: 2}
    by = {one.group: one.accepted.value for one in reviews.report(project, by="type")}
    assert by == {"Technical Details": pytest.approx(2 / 3), "Literature Review": 0.5, "Open Consulting": 1.0}
    assert len(reviews.report(project, by="criterion")) == 4
    assert reviews.sheets([line])[0].lines[0].cells[1].words == "small"


def test_reviews_of_two_criteria_in_the_same_words_are_told_apart(project: Project, monkeypatch) -> None:
    say(project, (1, "Alpha", 1), Review.AGREE)
    say(project, (1, "Alpha", 2), Review.DISAGREE)
    found = validation_units.places

    def alike(*of: object) -> object:
        return {key: place._replace(words="Names gold") for key, place in found(*of).items()}

    monkeypatch.setattr(validation_units, "places", alike)
    told = {one.group: one.accepted.value for one in reviews.report(project, by="criterion")}
    assert told == {"item 1: Names gold": 1, "item 1: Names gold (2)": 0}


def test_a_review_of_a_verdict_that_was_replaced_enters_nothing(project: Project) -> None:
    say(project, (1, "Alpha", 1), Review.AGREE)
    _, response, unit = places(project)[1, "Alpha", 1]
    with project.store.write() as db:
        mine = (JUDGEMENT.c.response_id == response) & (JUDGEMENT.c.unit_id == unit)
        db.execute(update(JUDGEMENT).where(mine).values(value="no"))
    (line,) = reviews.report(project)
    assert (line.accepted.value, line.outdated) == (None, 1)


def test_a_second_review_takes_the_place_of_the_first_and_can_be_undone(project: Project) -> None:
    say(project, (1, "Alpha", 1), Review.AGREE)
    say(project, (1, "Alpha", 1), Review.DISAGREE)
    assert reviews.report(project)[0].said == {"disagree": 1}
    history.undo(project)
    assert reviews.report(project)[0].said == {"agree": 1}


def test_whoever_is_still_to_label_an_item_blind_is_not_shown_its_verdicts(project: Project) -> None:
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=8))
    project.work_as(person(project, "R2"))
    assert reviews.queue(project, "small") == []
    with pytest.raises(Refusal, match="still have to label this item blind"):
        say(project, (1, "Alpha", 1), Review.AGREE)
    person_says(project, "R2", ann)
    assert len(reviews.queue(project, "small")) == 16


def test_a_label_given_after_a_review_is_no_blind_label(project: Project) -> None:
    person_says(project, "R2", ann)
    query = validation.ValidationQuery(against=("R2",))
    before = validation.report(project, query).of("small").told.confusion
    project.work_as(person(project, "R3"))
    for at in places(project):
        say(project, at, Review.AGREE)
    person_says(project, "R3", lambda _: "yes")
    project.work_as(person(project, "R1"))
    assert validation.report(project, query).of("small").told.confusion == before
    with pytest.raises(Refusal, match="Nobody has submitted"):
        validation.report(project, replace(query, against=("R3",)))


def test_what_there_is_not_is_refused(project: Project) -> None:
    with pytest.raises(Refusal, match="not a valid reason"):
        say(project, (1, "Alpha", 1), Review.DISAGREE, reason="mood")
    with pytest.raises(Refusal, match="The note does not fit"):
        say(project, (1, "Alpha", 1), Review.DISAGREE, note="x" * 20_001)
    with pytest.raises(Refusal, match="no longer has a verdict"):
        reviews.review(project, "small", "nowhere", "u", Review.AGREE)
    with pytest.raises(Refusal, match="cannot be broken down"):
        reviews.report(project, by="mood")
