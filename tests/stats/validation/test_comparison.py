"""How two raters differ on the same units."""

import numpy as np
import pytest

from annotator.stats.agreement.agreement import cohen_kappa
from annotator.stats.agreement.chance import gwet_ac1
from annotator.stats.intervals.student import bounds_of
from annotator.stats.validation.classification import NO_UNIT, both_ways
from annotator.stats.validation.comparison import (
    TABLE_FIGURES,
    RatedPairs,
    beside,
    comparison,
    kappa_difference,
)

NAMES = ("accuracy", "precision", "recall", "specificity", "f1", "balanced_accuracy", "mcc", "kappa", "ac1")
WORDS = ["no", "partly", "yes"]


def raters(units=400, seed=4):
    rng = np.random.default_rng(seed)
    truth = rng.random(units) < 0.3
    good, bad = (np.where(rng.random(units) < share, truth, ~truth) for share in (0.9, 0.7))
    return truth.tolist(), good.tolist(), bad.tolist(), np.arange(units) // 10


def test_each_difference_is_that_of_the_two_figures():
    truth, good, bad, items = raters()
    found = comparison(truth, good, bad, True, [1, 2] * 200, items)
    for name in NAMES:
        one, other = (getattr(side, name).value for side in (found.one, found.other))
        assert getattr(found.difference, name).value == pytest.approx(one - other)
    alone = both_ways(truth, good, True, [1, 2] * 200, items).weighted
    assert found.one.kappa.value == alone.kappa.value
    assert found.difference.kappa.method.startswith("difference of Cohen's κ, units weighted, paired; 95%")


@pytest.mark.usefixtures("small_cases")
def test_the_bounds_are_those_of_leaving_out_each_of_three_items():
    # Per item how many of its units each of the two has right.
    items = [(4, 3, 1), (3, 0, 2), (5, 5, 3)]
    truth, one, other, names = [], [], [], []
    for name, (units, a, b) in enumerate(items):
        truth += [True] * units
        one += [True] * a + [False] * (units - a)
        other += [True] * b + [False] * (units - b)
        names += [name] * units
    left = [(2 - a + b) / (12 - units) for units, a, b in items]
    variance = sum((one - sum(left) / 3) ** 2 for one in left) * 2 / 3
    gap = comparison(truth, one, other, True, clusters=names).difference.recall
    assert gap.value == pytest.approx(2 / 12)
    assert (gap.low, gap.high) == pytest.approx(bounds_of(2 / 12, variance, 3, (-1.0, 1.0)))


def test_a_paired_interval_is_narrower_than_two_apart():
    truth, good, _, items = raters()
    nearly = [value if i % 50 else not value for i, value in enumerate(good)]
    found = comparison(truth, good, nearly, True, clusters=items)
    gap = found.difference.accuracy
    assert gap.high - gap.low < 0.5 * (found.one.accuracy.high - found.one.accuracy.low)


def test_swapping_the_raters_turns_the_sign_and_nothing_else():
    truth, good, bad, items = raters()
    there, back = (
        comparison(truth, good, bad, True, None, items),
        comparison(truth, bad, good, True, None, items),
    )
    for name in NAMES:
        assert getattr(there.one, name).high == pytest.approx(getattr(back.other, name).high)
        one, other = getattr(there.difference, name), getattr(back.difference, name)
        assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low))


def test_a_unit_that_one_of_three_lacks_is_left_out_for_both():
    found = comparison([True, False, True, None], [True, False, None, True], [False] * 4, True)
    assert (found.one.accuracy.n, found.difference.accuracy.missing) == (2, 2)
    assert found.difference.accuracy.value == pytest.approx(1 - 1 / 2)
    assert "2 of 4 units left out" in found.difference.f1.note


def test_a_figure_that_one_of_them_lacks_has_no_difference_but_a_reason():
    found = comparison([True, False], [True, False], [False, False], True)
    assert found.difference.precision.value is None
    assert found.difference.precision.note == "of one of the two: nothing was called positive"
    nothing = comparison([True], [None], [True], True).difference.accuracy
    assert (nothing.value, nothing.n, nothing.note.startswith(NO_UNIT)) == (None, 0, True)


def test_the_difference_of_kappas_of_three_categories():
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 3, 300)
    one, other = (np.where(rng.random(300) < share, truth, rng.integers(0, 3, 300)) for share in (0.9, 0.5))
    named = [[WORDS[code] for code in codes] for codes in (truth, one, other)]
    items = np.arange(300) // 6
    found = kappa_difference(*named, "linear", WORDS, items)
    kappas = [cohen_kappa(named[0], said, "linear", WORDS).value for said in named[1:]]
    assert found.value == pytest.approx(kappas[0] - kappas[1])
    assert 0 < found.low < found.value < found.high
    back = kappa_difference(named[0], named[2], named[1], "linear", WORDS, items)
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))


def test_without_a_kappa_of_both_there_is_no_difference_but_a_reason():
    assert "one category only" in kappa_difference(["a"] * 3, ["a"] * 3, ["a", "b", "a"]).note
    nothing = kappa_difference(["a", None], [None, "a"], ["a", "a"])
    assert (nothing.value, nothing.n, nothing.missing) == (None, 0, 2)


def test_two_raters_that_say_the_same_differ_by_nothing():
    truth, good, _, items = raters()
    gap = comparison(truth, good, good, True, None, items).difference.kappa
    assert (gap.value, gap.low, gap.high) == (0, 0, 0)
    assert "no certainty" in gap.note


def groups(truth, one, other, items):
    return [RatedPairs(truth, said, items, [1.0] * len(truth)) for said in (one, other)]


@pytest.mark.parametrize("name", NAMES)
def test_beside_one_another_pairs_of_the_same_units_differ_as_two_raters_do(name):
    truth, good, bad, items = raters()
    found = beside(*groups(truth, good, bad, items), name, [False, True], True)
    known = comparison(truth, good, bad, True, clusters=items)
    assert found.one.value == pytest.approx(getattr(known.one, name).value)
    assert found.difference.value == pytest.approx(getattr(known.difference, name).value)
    assert found.difference.low == pytest.approx(getattr(known.difference, name).low)


def test_pairs_of_other_units_differ_by_hand():
    # 2 of 4 and 3 of 3 alike; weighed 3 of 6.
    one = RatedPairs(list("aabb"), list("abba"), [1, 1, 2, 2], [1, 2, 2, 1])
    other = RatedPairs(list("aab"), list("aab"), [1, 2, 2], [1, 1, 1])
    found = beside(one, other, "accuracy", list("abc"))
    assert (found.one.value, found.other.value, found.difference.value) == (0.5, 1.0, -0.5)
    assert (found.one.n, found.other.n) == (4, 3)


def test_figures_of_any_number_of_categories_are_those_of_agreement():
    rng = np.random.default_rng(6)
    truth, one, other = (rng.choice(WORDS, 60).tolist() for _ in range(3))
    items = list(range(60))
    expected = {
        "accuracy": np.mean([a == b for a, b in zip(truth, one, strict=True)]),
        "kappa": cohen_kappa(truth, one, categories=WORDS).value,
        "ac1": gwet_ac1([truth, one], categories=WORDS).value,
    }
    for name in TABLE_FIGURES:
        assert beside(*groups(truth, one, other, items), name, WORDS).one.value == pytest.approx(
            expected[name]
        )


def test_the_same_pairs_differ_by_nothing_and_no_pairs_have_a_reason():
    truth, good, _, items = raters()
    same = beside(*groups(truth, good, good, items), "kappa", [False, True]).difference
    assert (same.value, same.low, same.high) == (0, 0, 0)
    none = beside(RatedPairs([], [], [], []), groups(truth, good, good, items)[0], "kappa", [False, True])
    assert (none.difference.value, none.difference.note) == (None, NO_UNIT)
