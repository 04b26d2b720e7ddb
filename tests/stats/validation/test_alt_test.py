"""Whether a judge may stand in for a person."""

import json
from math import atan, pi, sqrt

import numpy as np
import pytest

from annotator.stats.validation.alt_test import alt_test
from tests.stats.agreement_oracles import PATH, needs_oracles, oracle

PEOPLE = {"a": list("yynn"), "b": list("yyny"), "c": list("ynnn")}
JUDGE = list("yynn")
# The published annotations, as their authors name the files, may stand beside the published figures.
ANNOTATIONS = PATH.parent / "alt_test"


def tail_of_three(t):
    """The share of Student's t with three degrees of freedom beyond t, in closed form."""
    x = t / sqrt(3)
    return 1 / 2 - (x / (1 + x * x) + atan(x)) / pi


def test_each_person_against_the_judge_by_hand():
    # a: every unit is even, so no lead varies. b: of the others both say n on unit 4, as the judge does alone; leads
    # 0 0 0 −1: t = (−1/4 − 1/5) / (1/4). c: likewise on unit 2.
    found = alt_test(PEOPLE, JUDGE, fewest=4)
    p = tail_of_three(1.8)
    assert [one.p for one in found.people] == pytest.approx([0, p, p])
    assert [one.own for one in found.people] == [1, 3 / 4, 3 / 4]
    assert [one.judge for one in found.people] == [1, 1, 1]


def test_the_rates_are_means_over_people():
    # p .085 of two, raised by 3 · (1 + 1/2 + 1/3) / 3, is above .05: one of three is beaten.
    found = alt_test(PEOPLE, JUDGE, fewest=4)
    assert [one.beaten for one in found.people] == [True, False, False]
    assert found.winning_rate.value == pytest.approx(1 / 3)
    assert (found.advantage.value, found.passed) == (1, False)
    assert "ε 0.2" in found.winning_rate.method


def test_distances_count_when_scores_are_numbers():
    # Others 2 and 4: the judge's 3 is nearer than 5; of equal values equality would see neither as close.
    people = {"a": [5, 5, 5], "b": [2, 2, 2], "c": [4, 4, 4]}
    found = alt_test(people, [3, 3, 3], scoring="neg_rmse", fewest=2)
    assert (found.people[0].judge, found.people[0].own) == (1, 0)
    assert alt_test(people, [3, 3, 3], fewest=2).people[0].own == 1


def test_a_unit_counts_when_judge_person_and_another_have_it():
    people = {"a": ["y", "y", None, "n"], "b": ["y", None, "n", "n"], "c": [None, None, "n", "n"]}
    found = alt_test(people, ["y", "y", "y", None], fewest=1)
    # a: unit 1 only; b: units 1 and 3; c: unit 3 only. Two are needed for a test.
    assert [(one.person, one.n) for one in found.people] == [("b", 2)]
    assert "2 of 3 people left out: fewer than 1 units" in found.winning_rate.note


def test_few_units_leave_nothing_to_test_but_a_reason():
    found = alt_test(PEOPLE, JUDGE)
    assert (found.winning_rate.value, found.advantage.value, found.passed) == (None, None, None)
    assert "no person can be tested; 3 of 3 people left out: fewer than 30" in found.advantage.note


def test_a_judge_like_the_best_of_them_passes_and_a_coin_does_not():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 100)
    people = {i: np.where(rng.random(100) < 0.8, truth, rng.integers(0, 3, 100)) for i in range(4)}
    assert alt_test(people, truth).passed is True
    assert alt_test(people, rng.integers(0, 3, 100)).passed is False


def test_units_of_one_item_do_not_count_as_five():
    rng = np.random.default_rng(5)
    people = {i: rng.integers(0, 2, 40) for i in range(3)}
    judge, items = rng.integers(0, 2, 40), np.arange(40).repeat(5)
    alone = alt_test(people, judge)
    repeated = alt_test(
        {name: said.repeat(5) for name, said in people.items()}, judge.repeat(5), clusters=items
    )
    assert [one.p for one in repeated.people] == pytest.approx([one.p for one in alone.people])
    assert (repeated.advantage.low, repeated.advantage.high) == pytest.approx(
        (alone.advantage.low, alone.advantage.high)
    )


def test_an_unknown_scoring_is_refused():
    with pytest.raises(ValueError, match="accuracy or neg_rmse"):
        alt_test(PEOPLE, JUDGE, scoring="bleu")


@needs_oracles
@pytest.mark.skipif(
    not ANNOTATIONS.exists(),
    reason="oracles/alt_test holds no copy of the annotations that nitaytech/AltTest publishes in data/",
)
@pytest.mark.parametrize("entry", ["framing_eps0.15", "wax_eps0.1", "cebab_aspects_eps0.1"])
def test_it_matches_the_authors_notebook(entry):
    name, epsilon = entry.split("_eps")
    folder = ANNOTATIONS / name
    people, judges = (
        json.loads((folder / f"{who}_annotations.json").read_text("utf-8")) for who in ("human", "llm")
    )
    units = sorted({unit for said in people.values() for unit in said})
    listed = {person: [said.get(unit) for unit in units] for person, said in people.items()}
    for judge, (rate, advantage) in oracle("alt_test_published")[entry].items():
        found = alt_test(listed, [judges[judge].get(unit) for unit in units], float(epsilon))
        assert round(found.winning_rate.value, 2) == rate
        assert round(found.advantage.value, 2) == advantage
