"""Coefficients against published examples: α, chance, ICC, ratings and correlations."""

import random
from fractions import Fraction
from math import atanh, nan, sqrt, tanh

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from annotator.domain.kinds.question_types import BAR
from annotator.domain.kinds.selection import DimensionRating, Selection
from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.agreement import gwet_ac1, krippendorff_alpha
from annotator.stats.agreement.levels import (
    MEASURES,
    agreement,
    item_score,
    kendall_tau_b,
    over_items,
    pearson,
    rater_score,
    spearman,
    within_items,
)
from annotator.stats.intervals.student import bounds_of
from tests.projects.pairs_project import DIMENSIONS
from tests.stats.agreement_oracles import icc, needs_oracles, oracle, two_raters

LEVELS = ("nominal", "ordinal", "interval")
ORDER = (1, 2, 3, 4, 5)


def alpha(raters, level, **more):
    return krippendorff_alpha(raters, level, categories=ORDER if level == "ordinal" else None, **more)


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
    result = alpha([[1, 1, 4, None], [1, 2, 4, 3]], level)
    assert (result.value, result.n) == (pytest.approx(float(value)), 3)
    assert "1 of 4 units left out: fewer than two judgements" in result.note


def test_a_unit_of_three_raters_weighs_by_its_raters():
    # Unit 1: two of three pairs differ, each weighs 1/2: 1; unit 2 agrees. Values a a b b b: 6 pairs differ.
    assert krippendorff_alpha([["a", "b"], ["a", "b"], ["b", None]]).value == pytest.approx(1 - 4 * 1 / 6)


def test_none_and_nan_are_both_missing():
    with_none = alpha([[1, 2, None], [1, 3, 2]], "interval")
    assert alpha(np.array([[1, 2, nan], [1, 3, 2]]), "interval") == with_none
    assert krippendorff_alpha([[1, 2, nan], [1, 3, 2]]).n == 2


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("raters", "n", "note"),
    [
        ([[3, 3, 3], [3, None, 3]], 2, "2 units are the same"),
        ([], 0, "no unit was judged by two raters"),
        ([[], []], 0, "no unit was judged by two raters"),
        ([[1, 2]], 0, "no unit was judged by two raters"),
        ([[1, None], [None, 2]], 0, "no unit was judged by two raters"),
    ],
)
def test_where_nothing_differs_there_is_no_alpha_but_a_reason(level, raters, n, note):
    result = alpha(raters, level)
    assert (result.value, result.low, result.high, result.n) == (None, None, None, n)
    assert note in result.note


def test_equal_fractions_far_from_zero_are_still_equal():
    assert alpha([[1e9 + 0.1] * 3, [1e9 + 0.1] * 3], "interval").value is None


def test_scores_far_from_zero_keep_their_alpha():
    near = alpha([[1.0, 2.0, 4.0], [1.0, 3.0, 4.0]], "interval")
    assert alpha(
        [[1e9 + 1, 1e9 + 2, 1e9 + 4], [1e9 + 1, 1e9 + 3, 1e9 + 4]], "interval"
    ).value == pytest.approx(near.value)


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
    result = alpha(raters, level, clusters=[0, 0, 1, 2, 2, 2])
    assert result.value == pytest.approx(by_definition(units, level))
    # In [4, 5, 4] no two judgements are of other values than 4: values that are counted rest on two items.
    assert (result.low, result.high) == pytest.approx(
        bounds_of(result.value, variance, 3 if level == "interval" else 2, (-1.0, 1.0))
    )


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
    result = alpha(published["data"], level)
    assert (round(result.value, 3), result.n) == (published["published"][level], 11)
    assert result.value == pytest.approx(published["computed"][level], abs=5e-7)


@needs_oracles
@pytest.mark.parametrize(
    ("name", "data"), [("krippendorff_2011_A_binary", "data"), ("krippendorff_2011_B_nominal", "data_exact")]
)
def test_two_observers_match_krippendorffs_examples(name, data):
    published = oracle(name)
    result = krippendorff_alpha(published[data]).value
    assert (result, round(result, 3)) == (
        pytest.approx(published["computed"], abs=5e-7),
        published["published"],
    )


@needs_oracles
def test_nominal_alpha_matches_gwets_tables():
    four = oracle("gwet_handbook_4raters")
    result = krippendorff_alpha(list(zip(*four["data"], strict=True)))
    assert round(result.value, 5) == four["published_and_computed"]["krippendorff_nominal"]
    abstractors = oracle("gwet_abstractors_3x3")
    assert round(krippendorff_alpha(two_raters(abstractors["data"])).value, 5) == abstractors["krippendorff"]


# 35 of 50 agree; of 100 judgements 55 and 45 are of either category.
TABLE = [[20, 5], [10, 15]]


def test_two_raters_by_hand_against_chance():
    # Chance 2 · .55 · .45 = .495; of three categories guessing agrees in .495 / 2.
    raters = two_raters(TABLE)
    result = gwet_ac1(raters)
    assert (result.value, result.n, result.note) == (pytest.approx(41 / 101), 50, "")
    assert result.low < result.value < result.high
    assert gwet_ac1(raters, categories=[0, 1, 2]).value == pytest.approx((0.7 - 0.2475) / 0.7525)
    # Weights of two categories change nothing.
    assert gwet_ac1(raters, "quadratic", [0, 1]).value == pytest.approx(result.value)


def test_three_raters_with_a_missing_judgement_by_hand():
    # Agreeing pairs: 1/3, 1, 1 (of two raters), 7/9 on the mean; shares (2/3 + 0 + 1) / 3 and 4/9: chance 40/81.
    assert gwet_ac1([["a", "b", "a"], ["a", "b", None], ["b", "b", "a"]]).value == pytest.approx(
        float((Fraction(7, 9) - Fraction(40, 81)) / Fraction(41, 81))
    )


def test_a_unit_judged_once_counts_for_chance_only():
    # The last unit moves the shares from 1/2 and 1/2 to 5/8 and 3/8; 3/4 agree.
    result = gwet_ac1([["a", "a", "b", "b", "a"], ["a", "a", "b", "a", None]])
    chance = 2 * Fraction(7, 10) * Fraction(3, 10)  # shares: (1 + 1 + 0 + 1/2 + 1) / 5
    assert result.value == pytest.approx(float((Fraction(3, 4) - chance) / (1 - chance)))
    assert result.n == 4
    assert "1 of 5 units judged fewer than twice" in result.note


def test_ordinal_weights_by_hand():
    # Of categories 0, 1, 2 those a step apart are 1 − 1/3 alike, those two apart not at all.
    result = gwet_ac1([[0, 0, 1, 2], [0, 1, 1, 0]], "ordinal", [0, 1, 2])
    agreed = (1 + Fraction(2, 3) + 1) / 4
    table = Fraction(3) + 4 * Fraction(2, 3)
    shares = [Fraction(4, 8), Fraction(3, 8), Fraction(1, 8)]
    chance = table / 6 * sum(share * (1 - share) for share in shares)
    assert result.value == pytest.approx(float((agreed - chance) / (1 - chance)))
    assert result.method.startswith("Gwet's AC2, ordinal weights")


def test_ordinal_weights_lie_between_linear_and_quadratic_ones():
    raters = [[0, 1, 2, 3, 4, 4], [1, 1, 3, 3, 3, 4]]
    values = [gwet_ac1(raters, weights, range(5)).value for weights in ("linear", "ordinal", "quadratic")]
    assert values == sorted(values)


def test_full_agreement_on_one_category_is_never_bare():
    result = gwet_ac1([["a"] * 30, ["a"] * 30], categories=["a", "b"])
    assert (result.value, result.note.startswith("all judgements are of one category")) == (1, True)


@pytest.mark.parametrize(
    ("raters", "note"),
    [
        ([], "no unit was judged by two raters"),
        ([[], []], "no unit was judged by two raters"),
        ([["a", None], [None, "b"]], "no unit was judged by two raters"),
        ([["a", "a"], ["a", "a"]], "needs the others named"),
    ],
)
def test_where_chance_cannot_be_told_there_is_no_ac1_but_a_reason(raters, note):
    result = gwet_ac1(raters)
    assert (result.value, result.low, note in result.note) == (None, None, True)


def test_weights_between_raters_who_are_alike_are_symmetric():
    with pytest.raises(ValueError, match="not symmetric"):
        gwet_ac1(two_raters(TABLE), [[0, 1], [2, 0]], [0, 1])


# Fleiss (1971), Psychological Bulletin 76, Table 1: 30 patients, 6 psychiatrists; depression, personality disorder,
# schizophrenia, neurosis, other.


@needs_oracles
def test_four_raters_match_gwets_handbook():
    data = oracle("gwet_handbook_4raters")
    published, raters = data["published_and_computed"], list(zip(*data["data"], strict=True))
    assert round(gwet_ac1(raters).value, 5) == published["AC1"]
    assert round(gwet_ac1(raters, "quadratic", [1, 2, 3, 4, 5]).value, 3) == published["AC2_quadratic"]


@needs_oracles
def test_two_raters_match_the_published_figures():
    abstractors = oracle("gwet_abstractors_3x3")
    for published in (abstractors, oracle("gwet_2008_2x2"), *oracle("feinstein_cicchetti_1990")):
        assert gwet_ac1(two_raters(published["data"])).value == pytest.approx(published["AC1"], abs=5e-6)


FORMS = ("1,1", "2,1")
# Two raters, the second always 1 above: between units 4 (mean square 2), between raters 1.5, error 0.
SHIFTED = [[1, 2, 3], [2, 3, 4]]


@pytest.mark.parametrize(
    ("form", "value"),
    [
        # Mean squares: between units 2, within them 1/2, between raters 3/2, error 0.
        ("1,1", (2 - 0.5) / (2 + 0.5)),
        ("2,1", 2 / (2 + 2 * 1.5 / 3)),
    ],
)
def test_each_form_by_hand(form, value):
    assert icc(SHIFTED, form) == pytest.approx(value)


def test_scores_far_from_zero_keep_their_correlation():
    far = [[score + 1e8 for score in rater] for rater in SHIFTED]
    assert icc(far, "2,1") == pytest.approx(icc(SHIFTED, "2,1"))


@pytest.mark.parametrize("form", FORMS)
def test_units_that_do_not_differ_have_no_correlation(form):
    assert icc([[0.1, 0.1], [0.1, 0.1]], form) is None


@needs_oracles
@pytest.mark.parametrize("form", FORMS)
def test_six_targets_match_shrout_and_fleiss(form):
    published = oracle("shrout_fleiss_1979")
    result = icc(list(zip(*published["data"], strict=True)), form)
    name = "ICC" + form.replace(",", "_")
    assert round(result, 2) == published["published"][name]
    assert result == pytest.approx(published["computed"][name], abs=5e-7)


@pytest.mark.parametrize("form", FORMS)
def test_it_ends_where_correlations_of_one_rater_do(form):
    """Where raters differ by less than chance, the second form as printed gives −3 for these two."""
    chance = random.Random(form)
    assert icc([[1, 2, 3], [3, 2, 1]], form) == pytest.approx(-1)
    for _ in range(300):
        raters, units = chance.choice((2, 3)), chance.choice((2, 3, 6))
        scores = [[chance.randint(0, 2) for _ in range(units)] for _ in range(raters)]
        value = icc(scores, form)
        assert value is None or -1 / (raters - 1) - 1e-12 <= value <= 1 + 1e-12, (scores, value)


def test_a_whole_that_is_rounding_alone_is_none():
    # Between units as much as raters take away: 1 / 0.
    chance = random.Random(1)
    for _ in range(2_000):
        scores = [[chance.randint(0, 2) for _ in range(chance.choice((2, 4)))] for _ in range(2)]
        if len(scores[0]) == len(scores[1]):
            value = icc(scores, "2,1")
            assert value is None or abs(value) < 1e6, scores


def rated(question_type, *ratings):
    units = [
        DimensionRating(text=name, rating=rating)
        for name, rating in zip(DIMENSIONS[question_type], ratings, strict=False)
    ]
    return rater_score(Selection(units=tuple(units)), DIMENSIONS[question_type])


def whole(*scores):
    return [Estimate(score, n=3, floor=score, ceiling=score) for score in scores]


# One rater


@pytest.mark.parametrize(
    ("question_type", "ratings", "score"),
    [
        # Examples 1 and 2 of appendix B5: Transformer and Mamba; GQA and MQA.
        ("Literature Review", (4, 5, 3), 4),
        ("Technical Details", (2, 2, 3, 2), 2.25),
        ("Open Consulting", (5, 5, 4, 4), 18 / 4),
    ],
)
def test_a_rater_gives_the_mean_of_the_ratings_by_dimension(question_type, ratings, score):
    result = rated(question_type, *ratings)
    assert (result.value, result.n, result.missing) == (score, len(ratings), 0)


@pytest.mark.parametrize("ratings", [(5, 4), (5, None, 4)])
def test_a_rating_that_is_missing_leaves_a_range(ratings):
    # 5 + 4 of three: with 1 (5 + 4 + 1) / 3, with 5 (5 + 4 + 5) / 3
    result = rated("Literature Review", *ratings)
    assert (result.value, result.floor, result.ceiling, result.missing) == (None, 10 / 3, 14 / 3, 1)


def test_nothing_rated_leaves_the_whole_scale():
    result = rated("Literature Review")
    assert (result.value, result.floor, result.ceiling, result.n) == (None, 1.0, 5.0, 0)


def test_another_type_is_rated_on_what_its_raters_filled_in():
    units = (DimensionRating(text="Own", rating=3), DimensionRating(text="Other", rating=4))
    assert rater_score(Selection(units=units)).value == 3.5
    assert rater_score(Selection()).note == "there are no dimensions to rate"


@pytest.mark.parametrize("names", [("Openness and depth",), ("Literature coverage",) * 2])
def test_a_dimension_that_is_foreign_or_rated_twice_is_refused(names):
    ratings = Selection(units=tuple(DimensionRating(text=name, rating=3) for name in names))
    with pytest.raises(ValueError, match="rated once"):
        rater_score(ratings, DIMENSIONS["Literature Review"])


# The item


HALF = rated("Literature Review", 5, 5)


@pytest.mark.parametrize(
    ("scores", "bar", "value", "kept"),
    [
        # (4.75 + 4.25) / 2 = 4.5, which is kept; (4.75 + 4) / 2 = 4.375 is not.
        (whole(4.75, 4.25), BAR, 4.5, True),
        (whole(4.75, 4.0), BAR, 4.375, False),
        (whole(4.0, 4.0), 4.0, 4.0, True),
        (whole(5.0, 5.0), 5.0, 5.0, True),
        # Fewer than two raters keep nothing.
        ([], BAR, None, None),
        (whole(5.0), BAR, None, None),
        # The second rater's score lies in [11/3, 5]; the mean in [13/3, 5], or [10/3, 4], which is never kept.
        ([*whole(5.0), HALF], BAR, None, None),
        ([*whole(3.0), HALF], BAR, None, False),
        # 5 and at least (5 + 5 + 5 + 1) / 4 = 4: never below 4.5.
        ([*whole(5.0), rated("Open Consulting", 5, 5, 5)], BAR, None, True),
    ],
)
def test_an_item_has_the_mean_of_its_raters_and_is_kept_by_it(scores, bar, value, kept):
    result = item_score(scores, bar=bar)
    assert (result.score.value, result.is_kept) == (value, kept)


def test_a_rater_who_is_missing_or_not_done_is_told():
    assert "1 of at least 2 raters" in item_score(whole(5.0)).score.note
    score = item_score([*whole(5.0), HALF]).score
    assert (score.floor, score.ceiling) == (pytest.approx(13 / 3), 5.0)


# Agreement


SAME = {"x": 4, "y": 4, "z": 4}


@pytest.mark.parametrize(
    ("a", "b", "value", "n", "note"),
    [
        # Sxy = 4, Sxx = 5, Syy = 6; r = 4 / √30.
        ({"p": 2, "q": 3, "r": 4, "s": 5}, {"p": 1, "q": 4, "r": 3, "s": 4}, 4 / 30**0.5, 4, ""),
        # Only items that both rated count.
        ({"x": 1, "y": 2, "z": 3}, {"y": 4, "z": 5, "w": 1}, None, 2, "too few"),
        ({"x": 1}, {"y": 1}, None, 0, "too few"),
        (SAME, {"x": 1, "y": 2, "z": 3}, None, 3, "same"),
    ],
)
def test_agreement_is_pearsons_r_over_items(a, b, value, n, note):
    result = agreement({"A": a, "B": b})["A", "B"]
    assert (result.value, result.n, note in result.note) == (value and pytest.approx(value), n, True)


def test_one_rater_has_nobody_to_agree_with():
    assert agreement({"A": SAME}) == {}


def test_of_three_raters_each_two_are_compared():
    scores = {"x": 1, "y": 2, "z": 3}
    assert list(agreement({"C": scores, "A": scores, "B": scores})) == [("A", "B"), ("A", "C"), ("B", "C")]


ALL = (pearson, spearman, kendall_tau_b)
X, Y = [1, 2, 3, 4, 5], [2, 1, 4, 3, 5]
small = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30)


@pytest.mark.parametrize(
    ("figure", "value", "variance"),
    [
        (pearson, Fraction(8, 10), 1 / 2),
        # 1 − 6 · 4 / (5 · 24)
        (spearman, Fraction(8, 10), (1 + 0.8**2 / 2) / 2),
        # 8 pairs rise, 2 fall.
        (kendall_tau_b, Fraction(6, 10), 0.437 / 1),
    ],
)
def test_five_pairs_by_hand_have_the_interval_of_the_published_variance(figure, value, variance):
    result, half = figure(X, Y), 1.959964 * sqrt(variance)
    assert (result.n, result.note) == (5, "5 pairs only: the interval is rough")
    low, high = tanh(atanh(value) - half), tanh(atanh(value) + half)
    assert (result.value, result.low, result.high) == pytest.approx((float(value), low, high), abs=1e-6)


@pytest.mark.parametrize("figure", ALL)
def test_missing_values_leave_the_pair_out(figure):
    result = figure([*X, None, 3], [*Y, 1, nan])
    assert result.value == figure(X, Y).value
    assert (result.n, result.missing) == (5, 2)
    assert "2 of 7 units left out: a value is missing" in result.note


@pytest.mark.parametrize("figure", ALL)
@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "0 pairs are too few"),
        ([1, 2], [2, 1], "2 pairs are too few"),
        ([1, 2, None], [2, 1, 3], "2 pairs are too few"),
        ([0.1, 0.1, 0.1], [1, 2, 3], "all values of the first series"),
        ([1, 2, 3], [7, 7, 7], "all values of the second series"),
        ([5, 5, 5], [7, 7, 7], "the first and the second series"),
    ],
)
def test_an_undefined_correlation_has_a_reason(figure, x, y, reason):
    result = figure(x, y)
    assert (result.value, result.low, result.high) == (None, None, None)
    assert reason in result.note


@pytest.mark.parametrize(("figure", "units"), [(pearson, 3), (spearman, 3), (kendall_tau_b, 4)])
def test_too_few_pairs_for_an_interval_still_have_a_value(figure, units):
    result = figure(X[:units], Y[:units])
    assert result.value is not None
    assert (result.low, result.high) == (None, None)
    assert f"{units} pairs give no interval" in result.note


@pytest.mark.parametrize("figure", ALL)
def test_a_perfect_order_is_exactly_1_and_has_no_interval(figure):
    result = figure([0.1 * i for i in range(9)], [0.3 * i + 0.7 for i in range(9)])
    assert (result.value, result.low) == (1, None)
    assert "perfect" in result.note
    assert figure(range(9), [-i for i in range(9)]).value == -1


def test_neither_large_nor_small_values_are_lost():
    for scale in (1e-200, 1e200):
        assert pearson([x * scale for x in X], Y).value == pytest.approx(0.8)
    assert pearson([1e12 + x for x in X], Y).value == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("x", "y"), [([1, 2, 3], [1, 2]), ([1, 2, float("inf")], [1, 2, 3]), (["a", "b", "c"], [1, 2, 3])]
)
@pytest.mark.parametrize("figure", ALL)
def test_correlation_what_does_not_fit_is_refused(figure, x, y):
    with pytest.raises(ValueError, match=r"inhomogeneous|infinite|could not convert"):
        figure(x, y)


@pytest.mark.parametrize("figure", ALL)
@given(pairs=small, random=st.randoms(use_true_random=False))
def test_neither_swapping_nor_reordering_moves_a_correlation(figure, pairs, random):
    before = figure(*zip(*pairs, strict=True))
    random.shuffle(pairs)
    y, x = zip(*pairs, strict=True)
    assert before.value is None or figure(x, y).value == pytest.approx(before.value, abs=1e-12)
    assert (before.value is None) == (figure(x, y).value is None)


@pytest.mark.parametrize("figure", [spearman, kendall_tau_b])
@given(pairs=small)
def test_only_the_order_counts_for_ranks(figure, pairs):
    x, y = zip(*pairs, strict=True)
    assert figure([value**3 for value in x], y) == figure(x, y)


@needs_oracles
def test_nine_pairs_match_hollander_and_wolfe():
    published = oracle("hollander_wolfe_1973")
    result = pearson(published["x"], published["y"])
    assert result.value == pytest.approx(published["pearson_r"], abs=5e-8)
    assert (result.low, result.high) == pytest.approx(tuple(published["pearson_ci95"]), abs=5e-8)
    assert spearman(published["x"], published["y"]).value == pytest.approx(published["spearman_rho"])
    assert kendall_tau_b(published["x"], published["y"]).value == pytest.approx(
        published["kendall_tau"], abs=5e-8
    )


@pytest.mark.parametrize("figure", [spearman, kendall_tau_b, pearson])
def test_scores_that_differ_by_rounding_alone_are_tied(figure):
    # By shares of .5, .3 and .2 the ratings 0, 0, 3 and 0, 2, 0 are both .6; so are half of all scores of checklists.
    first, second = 0.2 * 3, 0.3 * 2
    assert first != second
    assert figure([first, second, 3.0, 2.5], [1, 2, 3, 4]).value == pytest.approx(
        figure([0.6, 0.6, 3.0, 2.5], [1, 2, 3, 4]).value, abs=1e-12
    )
    assert figure([first, second, 0.6], [1, 2, 3]).note == "all values of the first series are the same"
    assert figure([1e15, 1e15 + 1, 1e15 + 2], [1, 2, 3]).value == 1


PEERS = {"spearman": spearmanr, "pearson": pearsonr, "kendall": kendalltau}


def made(seed: int = 1, items: int = 12, systems: int = 5) -> tuple[list[float], list[float], list[str]]:
    """Scores of items that differ a lot, and of systems that differ little and noisily."""
    rng = np.random.default_rng(seed)
    level = np.repeat(rng.normal(0, 3, items), systems)
    quality = np.tile(np.arange(systems) / 4, items)
    x, y = (np.round(level + quality + rng.normal(0, 0.6, items * systems), 1) for _ in range(2))
    return x.tolist(), y.tolist(), [f"i{n // systems}" for n in range(items * systems)]


@pytest.mark.parametrize("name", MEASURES)
def test_values_are_those_of_another_package_and_intervals_hold_them(name: str) -> None:
    x, y, items = made()
    result = over_items(name, x, y, items)
    assert result.value == pytest.approx(PEERS[name](x, y).statistic)
    assert -1 <= result.low < result.value < result.high <= 1
    assert "jackknife over 12 items" in result.method
    assert over_items(name, x, y, items) == result


def test_items_are_drawn_whole() -> None:
    x, y, items = made()
    apart = over_items("pearson", x, y, [f"{n}" for n in range(len(x))])
    whole = over_items("pearson", x, y, items)
    # Of five alike reports an item there are twelve independent things and not sixty.
    assert whole.high - whole.low > apart.high - apart.low


def test_few_items_give_no_interval_and_say_so() -> None:
    result = over_items("spearman", [1, 2, 3, 4], [1, 2, 4, 3], ["a", "a", "b", "b"])
    assert (result.value, result.low) == (pytest.approx(0.8), None)
    assert "2 items are too few" in result.note


def test_what_does_not_vary_has_no_correlation_but_a_reason() -> None:
    over = over_items("kendall", [1, 1, 1], [1, 2, 3], ["a", "b", "c"])
    within = within_items([1, 2], [1, 2], ["a", "a"])
    assert [(one.value, one.note) for one in (over, within)] == [
        (None, "all values of the first series are the same"),
        (None, "no item has 3 responses that differ on both sides"),
    ]


def test_within_items_is_the_mean_of_each_items_own() -> None:
    # +1 in a, −1 in b, .5 in c; d has two pairs and e is all alike.
    x = [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 1, 1, 1]
    result = within_items(x, [10, 20, 30, 3, 2, 1, 5, 9, 7, 1, 2, 1, 2, 3], list("aaabbbcccddeee"))
    assert (result.value, result.n) == (pytest.approx((1 - 1 + 0.5) / 3), 3)


def test_a_spread_between_items_alone_shows_pooled_and_not_within() -> None:
    rng = np.random.default_rng(2)
    level = np.repeat(np.arange(12.0) * 10, 5)
    x, y = ((level + rng.normal(0, 1, 60)).tolist() for _ in range(2))
    items = [f"i{n // 5}" for n in range(60)]
    assert over_items("spearman", x, y, items).value > 0.9
    within = within_items(x, y, items)
    assert within.low < 0 < within.high


def test_a_perfect_order_and_one_that_hangs_on_one_item_say_so() -> None:
    items = list("abcdef")
    perfect = over_items("spearman", [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6], items)
    # Six items that all agree: as Wilson's of 6 of 6, on the way from −1 to 1.
    assert (perfect.low, perfect.high) == pytest.approx((2 * 6 / (6 + 2.5705818**2) - 1, 1))
    rare = over_items("spearman", [0, 0, 0, 0, 0, 1], [0, 1, 2, 3, 4, 5], items)
    assert (rare.low, "undefined without one of the" in rare.note) == (None, True)
    x = [1, 2, 3, 1, 2]
    assert "1 of 2 units left out" in within_items(x, x, list("aaabb")).note


@pytest.mark.parametrize("name", MEASURES)
def test_means_of_the_same_ratings_tie_whatever_order_they_were_added_in(name: str) -> None:
    first, second = 0.2 * 3, 0.3 * 2
    x, y, items = [first, second, 3.0, 2.5, first, 0.5], [1, 2, 3, 4, 5, 6], list("aaabbb")
    even = [0.6 if value in (first, second) else value for value in x]
    assert over_items(name, x, y, items).value == pytest.approx(over_items(name, even, y, items).value)
    assert within_items(x, y, items).value == pytest.approx(within_items(even, y, items).value)
