"""What Krippendorff's α is."""

from fractions import Fraction
from math import nan

import numpy as np
import pytest

from annotator.stats.agreement.alpha import krippendorff_alpha
from annotator.stats.intervals.student import bounds_of
from tests.stats.agreement_oracles import needs_oracles, oracle, two_raters

LEVELS = ("nominal", "ordinal", "interval")
ORDER = (1, 2, 3, 4, 5)


def alpha(raters, level, **more):
    return krippendorff_alpha(raters, level, categories=ORDER if level == "ordinal" else None, **more)


def test_two_raters_by_hand():
    # 15 of 50 units disagree, 55 · 45 of the pairs of 100 values differ: 1 − 99 · 15 / 2475.
    found = krippendorff_alpha(two_raters([[20, 5], [10, 15]]))
    assert found.value == pytest.approx(0.4)
    assert found.n == 50


@pytest.mark.parametrize(
    ("level", "value"),
    [
        # Units 1 1, 1 2, 4 4: of values 1 1 1 2 4 4, unordered pairs apart 3 + 6 + 2 = 11; one unit disagrees.
        ("nominal", 1 - Fraction(5 * 1, 11)),
        # Mean ranks 2, 4, 5.5: (1·3·4 + 6·12.25 + 2·2.25) = 90; seen 4.
        ("ordinal", 1 - Fraction(5 * 4, 90)),
        # 3 · 1 + 6 · 9 + 2 · 4 = 65; seen 1.
        ("interval", 1 - Fraction(5 * 1, 65)),
    ],
)
def test_each_level_by_hand(level, value):
    found = alpha([[1, 1, 4, None], [1, 2, 4, 3]], level)
    assert found.value == pytest.approx(float(value))
    assert found.n == 3
    assert "1 of 4 units left out: fewer than two judgements" in found.note


def test_a_unit_of_three_raters_weighs_by_its_raters():
    # Unit 1: two of three pairs differ, each weighs 1/2: 1; unit 2 agrees. Values a a b b b: 6 pairs differ.
    found = krippendorff_alpha([["a", "b"], ["a", "b"], ["b", None]])
    assert found.value == pytest.approx(1 - 4 * 1 / 6)


def test_none_and_nan_are_both_missing():
    with_none = alpha([[1, 2, None], [1, 3, 2]], "interval")
    assert alpha(np.array([[1, 2, nan], [1, 3, 2]]), "interval") == with_none
    assert krippendorff_alpha([[1, 2, nan], [1, 3, 2]]).n == 2


@pytest.mark.parametrize("level", LEVELS)
def test_values_that_are_all_the_same_have_no_alpha_but_a_reason(level):
    found = alpha([[3, 3, 3], [3, None, 3]], level)
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 2)
    assert "2 units are the same" in found.note


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("raters", [[], [[], []], [[1, 2]], [[1, None], [None, 2]]])
def test_nothing_to_compare_has_no_alpha_but_a_reason(level, raters):
    found = alpha(raters, level)
    assert (found.value, found.n) == (None, 0)
    assert "no unit was judged by two raters" in found.note


def test_scores_far_from_zero_keep_their_alpha():
    near = alpha([[1.0, 2.0, 4.0], [1.0, 3.0, 4.0]], "interval")
    far = alpha([[1e9 + 1, 1e9 + 2, 1e9 + 4], [1e9 + 1, 1e9 + 3, 1e9 + 4]], "interval")
    assert far.value == pytest.approx(near.value)


def test_equal_fractions_far_from_zero_are_still_equal():
    assert alpha([[1e9 + 0.1] * 3, [1e9 + 0.1] * 3], "interval").value is None


@pytest.mark.parametrize(
    ("raters", "level", "words"),
    [
        ([[1, 2], [2, 1]], "ordinal", "in their order"),
        ([[1, 2], [2, 1]], "absolute", "nominal, ordinal"),
        ([[1, float("inf")], [2, 1]], "interval", "infinite"),
        ([["low", "high"], ["low", "low"]], "interval", "could not convert"),
        ([[1, 2], [2]], "nominal", "different numbers"),
        ([[1, 2], [2]], "interval", "inhomogeneous"),
    ],
)
def test_what_does_not_fit_is_refused(raters, level, words):
    with pytest.raises(ValueError, match=words):
        krippendorff_alpha(raters, level)


def pairs_apart(values, distance):
    return sum(distance(x, y) for i, x in enumerate(values) for y in values[i + 1 :])


def by_definition(units, level):
    """α of units (each a list of values, two at least), pair by pair."""
    values = sorted(value for unit in units for value in unit)

    def distance(x, y):
        low, high = min(x, y), max(x, y)
        between = sum(low <= value <= high for value in values) - Fraction(
            values.count(x) + values.count(y), 2
        )
        return {"nominal": x != y, "ordinal": between**2 * (x != y), "interval": (x - y) ** 2}[level]

    expected = pairs_apart(values, distance)
    seen = sum(Fraction(pairs_apart(unit, distance)) / (len(unit) - 1) for unit in units)
    return float(1 - (len(values) - 1) * seen / expected) if expected else None


@pytest.mark.usefixtures("small_cases")
@pytest.mark.parametrize("level", LEVELS)
def test_the_bounds_are_those_of_leaving_out_each_of_three_items(level):
    items = [[[1, 1], [1, 2, 5]], [[4, 5, 4]], [[2, 5], [1, 1], [2, 2]]]
    left = [
        by_definition([unit for item in items if item is not out for unit in item], level) for out in items
    ]
    variance = sum((one - sum(left) / 3) ** 2 for one in left) * 2 / 3
    units = [unit for item in items for unit in item]
    raters = [[unit[i] if i < len(unit) else None for unit in units] for i in range(3)]
    found = alpha(raters, level, clusters=[0, 0, 1, 2, 2, 2])
    assert found.value == pytest.approx(by_definition(units, level))
    # In [4, 5, 4] no two judgements are of other values than 4: values that are counted rest on two items.
    rests_on = 3 if level == "interval" else 2
    assert (found.low, found.high) == pytest.approx(bounds_of(found.value, variance, rests_on, (-1.0, 1.0)))


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_alpha_rests_on_the_items_in_which_two_agree_on_the_rarer_value(level):
    agreed, alone, items = [2, 2, 1], [1, 1, 2], [unit // 2 for unit in range(24)]

    def of(agreeing):
        units = [agreed if unit < 2 * agreeing and unit % 2 else alone for unit in range(24)]
        return alpha(list(zip(*units, strict=True)), level, clusters=items)

    few, enough = of(4), of(5)
    assert (few.low, few.high) == (None, None)
    assert "4 of 12 clusters have any of the rarest class" in few.note
    assert enough.low < enough.value < enough.high
    assert "5 clusters only: the interval is rough" in enough.note


@needs_oracles
@pytest.mark.parametrize("level", LEVELS)
def test_four_observers_match_krippendorffs_example(level):
    published = oracle("krippendorff_2011_C")
    found = alpha(published["data"], level)
    assert found.value == pytest.approx(published["computed"][level], abs=5e-7)
    assert round(found.value, 3) == published["published"][level]
    assert found.n == 11


@needs_oracles
@pytest.mark.parametrize(
    ("name", "data"), [("krippendorff_2011_A_binary", "data"), ("krippendorff_2011_B_nominal", "data_exact")]
)
def test_two_observers_match_krippendorffs_examples(name, data):
    published = oracle(name)
    found = krippendorff_alpha(published[data]).value
    assert found == pytest.approx(published["computed"], abs=5e-7)
    assert round(found, 3) == published["published"]


@needs_oracles
def test_nominal_alpha_matches_gwets_tables():
    four = oracle("gwet_handbook_4raters")
    found = krippendorff_alpha(list(zip(*four["data"], strict=True)))
    assert round(found.value, 5) == four["published_and_computed"]["krippendorff_nominal"]
    abstractors = oracle("gwet_abstractors_3x3")
    assert round(krippendorff_alpha(two_raters(abstractors["data"])).value, 5) == abstractors["krippendorff"]
