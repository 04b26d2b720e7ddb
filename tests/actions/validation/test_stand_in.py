"""Whether a judge may stand in for people: yes, no or not yet known, by hand and over judges that err as told."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import publishing
from annotator.actions.validation import stand_in, validation
from annotator.actions.validation.stand_in import StandInQuery, StandInVerdict
from annotator.domain.experts.person import Role
from annotator.domain.texts.refusal import Refusal
from tests.projects.validation_project import judge_says, noisy, places, validation_project
from tests.promises.labelled_at_once import labelled_at_once


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = validation_project(tmp_path, 30, ("Alpha",), (1, 1, 1))
    yield project
    project.close()


def labelled(project: Project, persons: int) -> None:
    for number in range(persons):
        alias = f"R{number + 2}"
        if number > 1:
            people.add_person(project, f"Rater {alias}", (Role.ANNOTATOR,))
        labelled_at_once(project, alias, noisy(project, 0.1, number + 1))


def answer(project: Project, **more: object) -> stand_in.StandInAnswer:
    query = replace(StandInQuery(validation.ValidationQuery()), **more)
    (found,) = stand_in.report(project, query).answers
    return found


def test_a_judge_better_than_people_may_stand_in_by_both_tests(project: Project) -> None:
    labelled(project, 3)
    judge_says(project, "good", noisy(project, 0.01, 9))
    found = answer(project)
    assert (found.verdict, found.people, found.items) == (StandInVerdict.YES, 3, 30)
    assert "stays above −0.05, so it is not worse than people with one another" in found.because
    assert (
        "the alternative annotator test is passed: ω 1.00 of 3 people, at least 0.5; ρ 0.9" in found.because
    )
    assert found.difference.value == pytest.approx((found.judge.value or 0) - (found.human.value or 0))


def test_a_coin_may_not(project: Project) -> None:
    labelled(project, 3)
    judge_says(project, "coin", noisy(project, 0.5, 9))
    found = answer(project)
    assert found.verdict is StandInVerdict.NO
    assert "stays below −0.05, so it is worse than people with one another" in found.because
    assert "(n = 270, 30 items, p 0.000)" in found.because
    assert "test is not passed: ω 0.00 of 3 people, below 0.5" in found.because


def test_what_few_labels_leave_open_is_not_yet_known_and_says_what_to_do(project: Project) -> None:
    labelled(project, 3)
    judge_says(project, "alike", noisy(project, 0.1, 9))
    found = answer(project)
    assert found.verdict is StandInVerdict.UNKNOWN
    assert "reaches to both sides of −0.05" in found.because
    assert found.because.endswith("Have more items labelled, each by two people or more.")
    # A margin that allows as much makes a yes of it.
    assert answer(project, delta=0.5).verdict is StandInVerdict.YES


def test_two_people_are_too_few_for_the_test_but_not_for_the_margin(project: Project) -> None:
    labelled(project, 2)
    judge_says(project, "good", noisy(project, 0.01, 9))
    found = answer(project)
    assert (found.verdict, found.alt) == (StandInVerdict.YES, None)
    assert "the alternative annotator test takes 3 people, and 2 people labelled" in found.because


def test_one_person_leaves_nothing_to_say(project: Project) -> None:
    labelled(project, 1)
    judge_says(project, "good", noisy(project, 0.01, 9))
    found = answer(project)
    assert (found.verdict, found.difference.value) == (StandInVerdict.UNKNOWN, None)
    assert found.because.startswith("only one person labelled")
    assert found.because.endswith("Have a second person label some of the same reports.")


def test_a_judge_of_which_too_much_is_missing_is_not_yet_known(project: Project) -> None:
    labelled(project, 3)
    says = noisy(project, 0.01, 9)
    judge_says(project, "gappy", lambda at: "-" if at[0] < 4 else says(at))
    found = answer(project)
    assert found.verdict is StandInVerdict.UNKNOWN
    assert found.because.startswith("10.0 % of its judgements are missing")
    publishing.set_limit(project, 0.2)
    assert answer(project).verdict is StandInVerdict.YES


def test_a_failed_test_of_a_judge_within_the_margin_leaves_it_open(project: Project) -> None:
    labelled(project, 3)
    judge_says(project, "middling", noisy(project, 0.3, 9))
    found = answer(project, delta=0.9, epsilon=0.0)
    assert found.alt is not None
    assert (found.alt.passed, found.verdict) == (False, StandInVerdict.UNKNOWN)


def test_judge_and_people_are_held_against_people_on_the_same_units(project: Project) -> None:
    labelled_at_once(project, "R2", lambda _: "yes")
    labelled_at_once(
        project, "R3", lambda at: "yes" if at[2] < 3 else "no", [at for at in places(project) if at[0] < 11]
    )
    judge_says(project, "some", lambda at: ("yes" if at[2] == 1 else "no") if at[0] < 6 else "")
    found = answer(project, figure="accuracy")
    # Items 1 to 5: R2 says 3 yes, R3 2, the judge 1. It agrees with R2 on 1 of 3, with R3 on 2 of 3.
    assert (found.items, found.judge.value, found.human.value) == (
        5,
        pytest.approx(1 / 2),
        pytest.approx(2 / 3),
    )


def test_nothing_is_asked_of_senseless_margins_or_figures(project: Project) -> None:
    labelled(project, 2)
    judge_says(project, "good", noisy(project, 0.01, 9))
    margin, figure = "not be negative", "cannot be chosen by"
    for more, words in (
        ({"delta": -0.1}, margin),
        ({"epsilon": -0.1}, margin),
        ({"figure": "beauty"}, figure),
    ):
        with pytest.raises(Refusal, match=words):
            answer(project, **more)


def test_every_answer_stands_in_words_above_its_figures(project: Project) -> None:
    labelled(project, 3)
    judge_says(project, "good", noisy(project, 0.01, 9))
    judge_says(project, "coin", noisy(project, 0.5, 8))
    first, persons = stand_in.sheets(stand_in.report(project, StandInQuery(validation.ValidationQuery())))
    assert [[cell.words for cell in line.cells[:2]] for line in first.lines] == [
        ["good", "Yes"],
        ["coin", "No"],
    ]
    assert first.told[0].startswith("“good”: Yes, because Δ Cohen's κ")
    assert [line.cells[6].words for line in first.lines] == ["3 of 3", "0 of 3"]
    assert [picture.name for picture in first.pictures] == ["difference"]
    assert [line.cells[1].words for line in persons.lines] == ["R2", "R3", "R4"] * 2


def test_a_unit_of_three_people_weighs_no_more_among_people_than_beside_the_judge(project: Project) -> None:
    people.add_person(project, "Cleo", (Role.ANNOTATOR,))
    where = list(places(project))
    labelled_at_once(project, "R2", lambda _: "yes", where[:9])
    labelled_at_once(project, "R3", lambda at: "yes" if at[0] == 1 else "no", where[:9])
    labelled_at_once(project, "R4", lambda _: "yes", where[:3])
    judge_says(project, "kind", lambda _: "yes")
    found = answer(project, figure="accuracy")
    # Item 1: nine pairs with the judge, all alike. Items 2 and 3: twelve, half of them; of people nine, and none of 12.
    assert found.judge.value == pytest.approx((9 + 6) / 21)
    assert found.human.value == pytest.approx(9 / 21)


def test_a_yes_by_itself_is_none_among_ten_judges(project: Project) -> None:
    labelled(project, 2)
    judge_says(project, "j0", noisy(project, 0.1, 20))
    # The margin at which chance would say Yes to a judge that is so much worse once in sixty times.
    low, high = 0.0, 1.0
    for _ in range(30):
        margin = (low + high) / 2
        p = answer(project, delta=margin).p or 0.0
        low, high = (margin, high) if p > 1 / 60 else (low, margin)
    assert answer(project, delta=high).verdict is StandInVerdict.YES
    for number in range(1, 10):
        judge_says(project, f"j{number}", noisy(project, 0.5, number + 20))
    query = StandInQuery(validation.ValidationQuery(), delta=high)
    best = next(one for one in stand_in.report(project, query).answers if one.rater.name == "j0")
    assert (best.verdict, best.p) == (StandInVerdict.UNKNOWN, pytest.approx(10 / 60, abs=1e-6))
    assert "by itself, which may be chance" in best.because
    assert "p 0.167, of 10 judges" in best.because
    # Asked about alone, it stands among the same ten.
    (alone,) = stand_in.report(project, replace(query, of=validation.ValidationQuery(judge="j0"))).answers
    assert alone == best


def test_looks_at_a_test_part_count_as_judges_do(project: Project) -> None:
    labelled(project, 2)
    judge_says(project, "j0", noisy(project, 0.1, 20))
    found = validation.ground_of(project, validation.ValidationQuery())
    once, thrice = (
        stand_in.decided(found, StandInQuery(delta=0.3), looks=looks).answers[0] for looks in (1, 3)
    )
    assert once.p is not None
    assert thrice.p == pytest.approx(min(1.0, 3 * once.p))
    assert "of 3 looks" in thrice.because


def test_nothing_follows_from_few_items_or_from_no_spread(tmp_path: Path) -> None:
    project = validation_project(tmp_path, 9, ("Alpha",), (1, 1, 1))
    labelled(project, 2)
    judge_says(project, "perfect", noisy(project, 0.0, 1))
    found = answer(project, delta=0.9)
    assert found.verdict is StandInVerdict.UNKNOWN
    assert "says too little (" in found.because
    assert "items only: the interval is rough)" in found.because
    project.close()


def test_a_judge_that_says_yes_to_everything_is_not_taken_for_one_that_agrees(project: Project) -> None:
    chances = Random(3), Random(4)
    for alias, chance in zip(("R2", "R3"), chances, strict=True):
        labelled_at_once(project, alias, lambda _, chance=chance: "no" if chance.random() < 0.03 else "yes")
    judge_says(project, "kind", lambda _: "yes")
    for figure in ("kappa", "ac1", "accuracy", "f1"):
        found = answer(project, figure=figure, delta=0.2)
        assert found.verdict is StandInVerdict.UNKNOWN, figure
    assert "people are no reference" in found.because
    (remark,) = found.remarks
    assert remark.endswith("% of people's labels are “yes”: agreement beyond chance rests on the few others.")


def test_a_judge_must_pass_the_least_agreement_that_is_asked_for(project: Project) -> None:
    labelled(project, 2)
    judge_says(project, "good", noisy(project, 0.01, 9))
    assert answer(project, least=0.5).verdict is StandInVerdict.YES
    found = answer(project, least=0.9)
    assert found.verdict is StandInVerdict.UNKNOWN
    assert "its own agreement beyond chance is not shown to be above 0.9" in found.because
    with pytest.raises(Refusal, match="least agreement"):
        answer(project, least=-0.1)


def test_a_judge_that_copies_one_person_is_remarked(project: Project) -> None:
    for number, alias in enumerate(("R2", "R3")):
        labelled_at_once(project, alias, noisy(project, 0.2, number + 1))
    judge_says(project, "honest", noisy(project, 0.05, 9))
    judge_says(project, "copy", noisy(project, 0.2, 1))
    found = {one.rater.name: one.remarks for one in stand_in.report(project, StandInQuery()).answers}
    assert found["honest"] == ()
    (remark,) = found["copy"]
    assert remark.startswith("It agrees with R2 (1.000")
    assert "copied from" in remark
