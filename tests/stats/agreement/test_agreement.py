"""What agreement of two raters is."""

from fractions import Fraction
from math import nan

import numpy as np
import pytest

from annotator.stats.agreement.agreement import cohen_kappa, meetings, percent_agreement
from annotator.stats.intervals.student import bounds_of
from tests.stats.agreement_oracles import needs_oracles, oracle, two_raters

# 35 of 50 agree; by chance (25 · 30 + 25 · 20) / 50² = 1/2 would: κ = (7/10 − 1/2) / (1/2).
TABLE = [[20, 5], [10, 15]]
THREE = [0, 1, 2]


def test_percent_agreement_is_a_share_with_wilsons_interval():
    found = percent_agreement(zip(*two_raters(TABLE), strict=True))
    # Wilson's bounds by hand: (70 + z² ∓ z √(z² + 4 · 35 · 15 / 50)) / 2 (50 + z²) with z = 1.959964.
    assert (found.value, found.n, found.missing) == (0.7, 50, 0)
    assert (found.low, found.high) == pytest.approx((0.562496, 0.808964), abs=1e-6)


def test_a_missing_judgement_is_no_disagreement():
    found = percent_agreement([("yes", "yes"), ("no", None), (nan, "no"), ("no", "yes")])
    assert (found.value, found.n, found.missing) == (0.5, 2, 2)
    assert found.note.endswith("; 2 of 4 units left out: a judgement is missing")


def test_full_agreement_on_one_category_is_never_bare():
    found = percent_agreement([("no", "no")] * 10)
    assert found.value == 1
    assert found.note == "all judgements are of one category, which tells nothing of the others"


def test_an_interval_is_named():
    found = cohen_kappa(*two_raters(TABLE))
    assert "95% Wilson score interval, jackknife over 50 units" in found.method
    assert found.low < found.value < found.high


def test_no_pair_has_no_percent_agreement_but_a_reason():
    found = percent_agreement([("yes", None)])
    assert (found.value, found.low, found.n, found.missing) == (None, None, 0, 1)
    assert "no unit was judged by both" in found.note


def test_kappa_of_a_table_by_hand():
    found = cohen_kappa(*two_raters(TABLE))
    assert found.value == pytest.approx(Fraction(2, 5))
    assert found.n == 50


def test_kappa_of_words_and_of_truth_values():
    a, b = two_raters(TABLE)
    words = [["covered" if code else "not covered" for code in codes] for codes in (a, b)]
    truths = [[bool(code) for code in codes] for codes in (a, b)]
    assert cohen_kappa(*words).value == cohen_kappa(*truths).value == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("weights", "kappa"),
    [
        # One pair a step apart and one two: linear 3 seen against 12 / 4 by chance, quadratic 5 against 16 / 4.
        ("linear", Fraction(0)),
        ("quadratic", Fraction(-1, 4)),
        # Given: 1 and 2 seen against (4 · 1 + 2 · 3 + 2 · 2 + 2 · 3) / 4 by chance.
        ([[0, 1, 2], [3, 0, 1], [2, 3, 0]], Fraction(2, 5)),
    ],
)
def test_weighted_kappa_by_hand(weights, kappa):
    found = cohen_kappa([0, 0, 1, 2], [0, 1, 1, 0], weights, categories=THREE)
    assert found.value == pytest.approx(float(kappa), abs=1e-15)


def test_an_unused_category_between_two_keeps_them_apart():
    a, b = [0, 0, 2, 2, 1], [0, 2, 2, 2, 1]
    apart = cohen_kappa(a, b, "quadratic", categories=[0, 1, 2]).value
    assert apart == cohen_kappa(a, b, "quadratic", categories=[0, 1, 2, 3]).value
    assert apart != pytest.approx(cohen_kappa(a, b, "quadratic", categories=[1, 0, 2]).value)


def test_weights_need_an_order():
    with pytest.raises(ValueError, match="in their order"):
        cohen_kappa([1, 2], [2, 1], "linear")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"categories": [1]}, "none of the categories"),
        ({"categories": [1, 2, 2]}, "named twice"),
        ({"categories": [1, 2], "weights": "cubic"}, "not cubic"),
        ({"categories": [1, 2], "weights": [[0, 1]]}, "2 × 2"),
        ({"categories": [1, 2], "weights": [[0, -1], [1, 0]]}, "none negative"),
        ({"categories": [1, 2], "weights": [[1, 1], [1, 0]]}, "itself"),
        ({"clusters": ["one"]}, "its cluster"),
        ({"clusters": ["one", None]}, "its cluster"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        cohen_kappa([1, 2], [2, 1], **arguments)


def test_raters_of_different_units_are_refused():
    with pytest.raises(ValueError, match="different numbers"):
        cohen_kappa([1, 2], [1])


@pytest.mark.parametrize("clusters", [None, [7, 7, 8]])
def test_one_category_only_has_no_kappa_but_a_reason(clusters):
    found = cohen_kappa(["yes"] * 3, ["yes"] * 3, categories=["yes", "no"], clusters=clusters)
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 3)
    assert "one category only" in found.note
    assert "3 of 3 units" in found.note


@pytest.mark.parametrize(("a", "b"), [([], []), ([1, None], [nan, 2])])
def test_no_pair_has_no_kappa_but_a_reason(a, b):
    found = cohen_kappa(a, b)
    assert (found.value, found.n) == (None, 0)
    assert "no unit was judged by both" in found.note


def test_weights_that_hold_nothing_between_the_used_categories_give_no_kappa():
    found = cohen_kappa([0, 1], [1, 0], [[0, 0, 1], [0, 0, 1], [1, 1, 0]], categories=THREE)
    assert found.value is None
    assert "no disagreement" in found.note


def test_one_rater_of_one_category_has_a_kappa_of_0():
    # Seen and by chance 2 of 4 agree.
    assert cohen_kappa([1, 1, 1, 1], [1, 2, 1, 2]).value == 0


def test_missing_judgements_leave_the_unit_out():
    a, b = two_raters(TABLE)
    found = cohen_kappa([*a, None, 0], [*b, 1, nan])
    assert found.value == pytest.approx(0.4)
    assert (found.n, found.missing) == (50, 2)
    assert "2 of 52 units left out" in found.note


def test_a_missing_judgement_leaves_its_unit_out_of_its_cluster():
    a, b = [0, 1, 1, 0, None], [0, 1, 0, 0, 1]
    whole = cohen_kappa(a, b, clusters=["p", "p", "q", "q", "q"])
    assert whole.value == cohen_kappa(a[:4], b[:4]).value
    assert (whole.n, whole.missing) == (4, 1)


@pytest.mark.parametrize("kind", ["int64", "int8", "uint8", "bool"])
def test_arrays_are_counted_as_lists_are(kind):
    a, b = (np.array(codes, dtype=kind) for codes in two_raters([[20, 5], [10, 16]]))
    assert cohen_kappa(a, b) == cohen_kappa(a.tolist(), b.tolist())


@pytest.mark.parametrize(("low", "high"), [(-8, 7), (-128, -120), (40, 130), (0, 1000), (2**40, 2**40 + 3)])
@pytest.mark.parametrize("units", [1, 2, 501])
def test_a_confusion_of_arrays_is_that_of_lists(low, high, units):
    a, b = np.random.default_rng(3).integers(low, high, size=(2, units), endpoint=True)
    arrays, lists = (meetings(x, y, None) for x, y in ((a, b), (a.tolist(), b.tolist())))
    assert sorted(met(arrays)) == sorted(met(lists))
    assert arrays.n == lists.n == units


def met(found):
    """Which category met which, and how often; a range of arrays has categories that nobody used."""
    said = (found.categories[code] for code in found.first), (found.categories[code] for code in found.second)
    return zip(*said, found.times.tolist(), strict=True)


def test_an_array_of_floats_may_hold_nan():
    assert cohen_kappa(np.array([0.0, 1.0, nan, 0.0]), np.array([0.0, 1.0, 1.0, 1.0])).n == 3


def plain_kappa(pairs) -> Fraction | None:
    """κ of pairs of 0 and 1, straight from its definition."""
    n = len(pairs)
    shares = [[Fraction(sum(pair[rater] == k for pair in pairs), n) for k in (0, 1)] for rater in (0, 1)]
    seen, chance = (
        Fraction(sum(a == b for a, b in pairs), n),
        sum(a * b for a, b in zip(*shares, strict=True)),
    )
    return None if chance == 1 else (seen - chance) / (1 - chance)


@pytest.mark.usefixtures("small_cases")
def test_the_bounds_are_those_of_leaving_out_each_of_three_items():
    items = [[(0, 0), (1, 1), (1, 0)], [(0, 1), (1, 1)], [(1, 0), (0, 0), (1, 1), (1, 1)]]
    left = [plain_kappa([pair for item in items if item is not out for pair in item]) for out in items]
    variance = sum((one - sum(left) / 3) ** 2 for one in left) * 2 / 3
    pairs = [pair for item in items for pair in item]
    found = cohen_kappa(*zip(*pairs, strict=True), clusters=[i for i, item in enumerate(items) for _ in item])
    assert found.value == pytest.approx(float(plain_kappa(pairs)))
    # In two of them both say 0.
    assert (found.low, found.high) == pytest.approx(bounds_of(found.value, float(variance), 2, (-1.0, 1.0)))


@needs_oracles
@pytest.mark.parametrize(
    ("weights", "figure"),
    [("none", "kappa_exact"), ("linear", "linear"), ("quadratic", "quadratic"), (None, "weighted_exact")],
)
def test_kappa_matches_cohens_tables(weights, figure):
    published = oracle("cohen_1960_1968")
    given = weights or published["weights_disagreement_1968"]
    found = cohen_kappa(*two_raters(published["data"]), given, categories=THREE)
    assert found.value == pytest.approx(published[figure], abs=5e-8)
    if weights is None:
        assert round(found.value, 3) == published["weighted_kappa_1968"]


@needs_oracles
@pytest.mark.parametrize(("name", "digits"), [("gwet_abstractors_3x3", 7), ("gwet_2008_2x2", 5)])
def test_kappa_matches_gwets_tables(name, digits):
    published = oracle(name)
    assert round(cohen_kappa(*two_raters(published["data"])).value, digits) == published["kappa"]


@needs_oracles
def test_percent_agreement_matches_gwets_table():
    published = oracle("gwet_2008_2x2")
    assert percent_agreement(zip(*two_raters(published["data"]), strict=True)).value == published["po"]


@needs_oracles
def test_kappa_and_percent_agreement_match_the_paradox_of_feinstein_and_cicchetti():
    for published in oracle("feinstein_cicchetti_1990"):
        a, b = two_raters(published["data"])
        assert cohen_kappa(a, b).value == pytest.approx(published["kappa"], abs=5e-6)
        assert percent_agreement(zip(a, b, strict=True)).value == published["po"]


def test_percent_agreement_is_over_items_where_these_are_named():
    # Ten items of three units, on five of which raters agree throughout and on five never: worth 9 units (as in duels).
    pairs = [("yes", "yes" if item < 5 else "no") for item in range(10) for _ in range(3)]
    found = percent_agreement([*pairs, ("yes", None)], [*(item for item in range(10) for _ in range(3)), 0])
    t = 2.26216
    half = t / (1 + t * t / 9) * (1 / 36 + t * t / 324) ** 0.5
    assert (found.value, found.n, found.missing) == (1 / 2, 30, 1)
    assert (found.low, found.high) == pytest.approx((1 / 2 - half, 1 / 2 + half), abs=1e-5)
    assert percent_agreement(pairs).low > found.low
