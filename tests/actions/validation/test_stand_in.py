"""Whether a judge may stand in for people: yes, no or not yet known, by hand and over judges that err as told."""

from collections.abc import Callable, Iterator
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
from tests.projects.validation_project import At, judge_says, places, validation_project
from tests.promises.labelled_at_once import labelled_at_once

OTHER = {"yes": "no", "no": "yes"}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = validation_project(tmp_path, 30, ("Alpha",), (1, 1, 1))
    yield project
    project.close()


def noisy(project: Project, errs: float, seed: int) -> Callable[[At], str]:
    chance, truth = Random(seed), Random(0)
    said = {at: truth.choice(("yes", "no")) for at in places(project)}
    wrong = {at for at in said if chance.random() < errs}
    return lambda at: OTHER[said[at]] if at in wrong else said[at]


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
