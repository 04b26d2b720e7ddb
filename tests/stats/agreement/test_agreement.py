"""Agreement of raters: figures, intervals, repeats and words; figures of ordered values."""

from dataclasses import replace
from fractions import Fraction
from math import nan, sqrt

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from annotator.domain.judges.protocol import (
    FIGURES,
    IN_UNITS,
    WORDS as LEVELS_WORDS,
    Level,
    Scale,
    Value,
    numbers,
    plain,
    uncrossed,
)
from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement import levels
from annotator.stats.agreement.agreement import (
    ac1_of_pairs,
    cohen_kappa,
    flip_rate,
    gwet_ac1,
    krippendorff_alpha,
    meetings,
    percent_agreement,
    prevalence,
    prevalence_skewed,
)
from annotator.stats.intervals.student import bounds_of, wilson
from annotator.stats.validation import comparison
from annotator.stats.validation.comparison import both_ways
from tests.stats.agreement_oracles import icc, needs_oracles, oracle, two_raters

# 35 of 50 agree; by chance (25 · 30 + 25 · 20) / 50² = 1/2 would: κ = (7/10 − 1/2) / (1/2).
TABLE = [[20, 5], [10, 15]]
THREE = [0, 1, 2]


def test_percent_agreement_is_a_share_with_wilsons_interval():
    result = percent_agreement(zip(*two_raters(TABLE), strict=True))
    # Wilson's bounds by hand: (70 + z² ∓ z √(z² + 4 · 35 · 15 / 50)) / 2 (50 + z²) with z = 1.959964.
    assert (result.value, result.n, result.missing) == (0.7, 50, 0)
    assert (result.low, result.high) == pytest.approx((0.562496, 0.808964), abs=1e-6)


def test_a_missing_judgement_is_no_disagreement():
    result = percent_agreement([("yes", "yes"), ("no", None), (nan, "no"), ("no", "yes")])
    assert (result.value, result.n, result.missing) == (0.5, 2, 2)
    assert result.note.endswith("; 2 of 4 units left out: a judgement is missing")


def test_full_agreement_on_one_category_is_never_bare():
    result = percent_agreement([("no", "no")] * 10)
    note = "all judgements are of one category, which tells nothing of the others"
    assert (result.value, result.note) == (1, note)


def test_no_pair_has_no_percent_agreement_but_a_reason():
    result = percent_agreement([("yes", None)])
    assert (result.value, result.low, result.n, result.missing) == (None, None, 0, 1)
    assert "no unit was judged by both" in result.note


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
    assert cohen_kappa([0, 0, 1, 2], [0, 1, 1, 0], weights, categories=THREE).value == pytest.approx(
        float(kappa), abs=1e-15
    )


def test_an_unused_category_between_two_keeps_them_apart():
    a, b = [0, 0, 2, 2, 1], [0, 2, 2, 2, 1]
    apart = cohen_kappa(a, b, "quadratic", categories=[0, 1, 2]).value
    assert apart == cohen_kappa(a, b, "quadratic", categories=[0, 1, 2, 3]).value
    assert apart != pytest.approx(cohen_kappa(a, b, "quadratic", categories=[1, 0, 2]).value)


@pytest.mark.parametrize(
    ("b", "arguments", "words"),
    [
        ([2, 1], {"weights": "linear"}, "in their order"),
        ([2, 1], {"categories": [1]}, "none of the categories"),
        ([2, 1], {"categories": [1, 2, 2]}, "named twice"),
        ([2, 1], {"categories": [1, 2], "weights": "cubic"}, "not cubic"),
        ([2, 1], {"categories": [1, 2], "weights": [[0, 1]]}, "2 × 2"),
        ([2, 1], {"categories": [1, 2], "weights": [[0, -1], [1, 0]]}, "none negative"),
        ([2, 1], {"categories": [1, 2], "weights": [[1, 1], [1, 0]]}, "itself"),
        ([2, 1], {"clusters": ["one"]}, "its cluster"),
        ([2, 1], {"clusters": ["one", None]}, "its cluster"),
        ([1], {}, "different numbers"),
    ],
)
def test_what_does_not_fit_is_refused(b, arguments, words):
    with pytest.raises(ValueError, match=words):
        cohen_kappa([1, 2], b, **arguments)


@pytest.mark.parametrize(
    ("a", "b", "more", "n", "notes"),
    [
        (["yes"] * 3, ["yes"] * 3, {"categories": ["yes", "no"]}, 3, ("one category only", "3 of 3 units")),
        (["yes"] * 3, ["yes"] * 3, {"clusters": [7, 7, 8]}, 3, ("one category only", "3 of 3 units")),
        ([], [], {}, 0, ("no unit was judged by both",)),
        ([1, None], [nan, 2], {}, 0, ("no unit was judged by both",)),
        # The weights hold nothing between the categories that are used.
        (
            [0, 1],
            [1, 0],
            {"weights": [[0, 0, 1], [0, 0, 1], [1, 1, 0]], "categories": THREE},
            2,
            ("no disagreement",),
        ),
    ],
)
def test_where_nothing_can_differ_there_is_no_kappa_but_a_reason(a, b, more, n, notes):
    result = cohen_kappa(a, b, **more)
    assert (result.value, result.low, result.high, result.n) == (None, None, None, n)
    assert [note for note in notes if note not in result.note] == []


def test_one_rater_of_one_category_has_a_kappa_of_0():
    # Seen and by chance 2 of 4 agree.
    assert cohen_kappa([1, 1, 1, 1], [1, 2, 1, 2]).value == 0


def test_missing_judgements_leave_the_unit_out():
    a, b = two_raters(TABLE)
    result = cohen_kappa([*a, None, 0], [*b, 1, nan])
    assert (result.value, result.n, result.missing) == (pytest.approx(0.4), 50, 2)
    assert "2 of 52 units left out" in result.note


def test_a_missing_judgement_leaves_its_unit_out_of_its_cluster():
    a, b = [0, 1, 1, 0, None], [0, 1, 0, 0, 1]
    result = cohen_kappa(a, b, clusters=["p", "p", "q", "q", "q"])
    assert (result.value, result.n, result.missing) == (cohen_kappa(a[:4], b[:4]).value, 4, 1)


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
    result = cohen_kappa(
        *zip(*pairs, strict=True), clusters=[i for i, item in enumerate(items) for _ in item]
    )
    assert result.value == pytest.approx(float(plain_kappa(pairs)))
    # In two of them both say 0.
    assert (result.low, result.high) == pytest.approx(
        bounds_of(result.value, float(variance), 2, (-1.0, 1.0))
    )


@needs_oracles
@pytest.mark.parametrize(
    ("weights", "figure"),
    [("none", "kappa_exact"), ("linear", "linear"), ("quadratic", "quadratic"), (None, "weighted_exact")],
)
def test_kappa_matches_cohens_tables(weights, figure):
    published = oracle("cohen_1960_1968")
    given = weights or published["weights_disagreement_1968"]
    result = cohen_kappa(*two_raters(published["data"]), given, categories=THREE)
    assert result.value == pytest.approx(published[figure], abs=5e-8)
    if weights is None:
        assert round(result.value, 3) == published["weighted_kappa_1968"]


@needs_oracles
@pytest.mark.parametrize(("name", "digits"), [("gwet_abstractors_3x3", 7), ("gwet_2008_2x2", 5)])
def test_kappa_matches_gwets_tables(name, digits):
    published = oracle(name)
    assert round(cohen_kappa(*two_raters(published["data"])).value, digits) == published["kappa"]


@needs_oracles
def test_kappa_and_percent_agreement_match_the_paradox_of_feinstein_and_cicchetti():
    for published in oracle("feinstein_cicchetti_1990"):
        a, b = two_raters(published["data"])
        assert cohen_kappa(a, b).value == pytest.approx(published["kappa"], abs=5e-6)
        assert percent_agreement(zip(a, b, strict=True)).value == published["po"]


def test_percent_agreement_is_over_items_where_these_are_named():
    # Ten items of three units, on five of which raters agree throughout and on five never: worth 9 units (as in duels).
    pairs = [("yes", "yes" if item < 5 else "no") for item in range(10) for _ in range(3)]
    result = percent_agreement([*pairs, ("yes", None)], [*(item for item in range(10) for _ in range(3)), 0])
    t = 2.26216
    half = t / (1 + t * t / 9) * (1 / 36 + t * t / 324) ** 0.5
    assert (result.value, result.n, result.missing) == (1 / 2, 30, 1)
    assert (result.low, result.high) == pytest.approx((1 / 2 - half, 1 / 2 + half), abs=1e-5)
    assert percent_agreement(pairs).low > result.low


WORDS = ("none", "partial", "full")
values = st.sampled_from([*WORDS, None])
units = st.lists(st.tuples(values, values, st.integers(0, 3)), min_size=1, max_size=25)
judged = st.lists(st.lists(values, min_size=3, max_size=3), min_size=1, max_size=25)
MANY = [krippendorff_alpha, gwet_ac1]


def same(one: Estimate, other: Estimate) -> None:
    assert replace(one, value=None, low=None, high=None) == replace(other, value=None, low=None, high=None)
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), abs=1e-12)


def noisy(items: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, items)
    return first, np.where(rng.random(items) < 0.7, first, rng.integers(0, 3, items))


def test_units_of_one_item_do_not_count_as_five():
    a, b = noisy(40)
    alone = cohen_kappa(a, b)
    repeated = cohen_kappa(a.repeat(5), b.repeat(5), clusters=np.arange(40).repeat(5))
    assert (repeated.low, repeated.value, repeated.high) == pytest.approx(
        (alone.low, alone.value, alone.high)
    )
    taken_for_units = cohen_kappa(a.repeat(5), b.repeat(5))
    assert taken_for_units.high - taken_for_units.low < 0.6 * (alone.high - alone.low)


@pytest.mark.parametrize("figure", MANY)
def test_the_interval_covers_as_often_as_it_says(figure):
    # 100 samples of 60 units; a sound 95 % interval misses the figure of the whole at most 12 times, p < .005.
    a, b = noisy(6000)
    truth = figure([a, b]).value
    result = [figure([a[i::100], b[i::100]]) for i in range(100)]
    assert sum(not estimate.low <= truth <= estimate.high for estimate in result) <= 12


def test_the_method_names_what_was_left_out_in_turn():
    a, b = noisy(50)
    assert cohen_kappa(a, b, "linear", (0, 1, 2), clusters=np.arange(50) // 5).method == (
        "Cohen's κ, linear weights; 95% Wilson score interval, jackknife over 10 clusters"
    )
    assert "over 50 units" in cohen_kappa(a, b).method


@pytest.mark.parametrize("figure", MANY)
def test_a_unit_that_cannot_be_used_leaves_the_others_in_their_clusters(figure):
    a, b = (codes.tolist() for codes in noisy(30))
    items = [i // 3 for i in range(30)]
    plain = figure([a, b], clusters=items)
    more = figure([[None, *a], [None, *b]], clusters=[9, *items])
    assert (more.value, more.low, more.high) == (plain.value, plain.low, plain.high)
    assert "over 10 clusters" in more.method


def test_one_cluster_gives_a_value_and_no_interval():
    result = cohen_kappa([0, 1, 1], [0, 1, 0], clusters=["q", "q", "q"])
    # 2/3 seen, 4/9 by chance.
    assert (result.value, result.low, result.high) == (pytest.approx(0.4), None, None)
    assert result.note == "1 cluster is too few for an interval, which takes 5"


def test_full_agreement_has_the_interval_of_so_many_yes_and_says_so():
    result = gwet_ac1(two_raters([[20, 0], [0, 30]]))
    assert (result.low, result.high) == pytest.approx((2 * 50 / (50 + 2.009575**2) - 1, 1))
    assert "no unit differs, so that each counts as one unit" in result.note


@given(units, st.randoms(use_true_random=False))
def test_the_order_of_units_and_the_names_of_clusters_move_nothing(rows, random):
    a, b, clusters = zip(*rows, strict=True)
    result = cohen_kappa(a, b, "linear", WORDS, clusters)
    random.shuffle(rows)
    a, b, clusters = zip(*rows, strict=True)
    assert cohen_kappa(a, b, "linear", WORDS, [f"item {-c}" for c in clusters]) == result


@given(units)
def test_swapping_raters_moves_nothing(rows):
    a, b, clusters = zip(*rows, strict=True)
    for within in (None, clusters):
        same(cohen_kappa(a, b, clusters=within), cohen_kappa(b, a, clusters=within))


@given(units)
def test_swapping_raters_turns_weights_that_tell_them_apart(rows):
    a, b, clusters = zip(*rows, strict=True)
    given_weights, turned = [[0, 1, 2], [3, 0, 1], [6, 3, 0]], [[0, 3, 6], [1, 0, 3], [2, 1, 0]]
    result = cohen_kappa(a, b, given_weights, WORDS, clusters)
    same(cohen_kappa(b, a, turned, WORDS, clusters), result)


@given(units, st.permutations(["x", 7, True]))
def test_other_names_for_categories_leave_kappa_as_it_is(rows, names):
    a, b, _ = zip(*rows, strict=True)
    named = dict(zip(WORDS, names, strict=True)) | {None: None}
    before, after = (
        cohen_kappa(a, b),
        cohen_kappa(*([named[v] for v in r] for r in (a, b))),
    )
    assert after.value == pytest.approx(before.value) if before.value is not None else after.value is None


@pytest.mark.parametrize("figure", MANY)
@given(rows=judged, random=st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_neither_the_order_of_raters_nor_that_of_units_moves_a_figure_of_many(figure, rows, random):
    before = figure(list(zip(*rows, strict=True)), categories=WORDS)
    random.shuffle(rows)
    for row in rows:
        random.shuffle(row)
    same(figure(list(zip(*rows, strict=True)), categories=WORDS), before)


def test_ac1_of_two_raters_rests_on_the_units_that_both_judged_as_their_kappa_does():
    rng = np.random.default_rng(5)
    a, b = (np.where(rng.random(60) < 0.1, None, (rng.random(60) < 0.7).astype(int)) for _ in range(2))
    items = np.arange(60) // 6
    there = np.flatnonzero((a != None) & (b != None))  # noqa: E711
    result = ac1_of_pairs(a, b, (0, 1), items)
    whole = gwet_ac1([a[there], b[there]], categories=(0, 1), clusters=items[there])
    for other in (whole, both_ways(a, b, 1, np.ones(60), items)[0]["ac1"]):
        assert (result.value, result.low, result.high) == pytest.approx((other.value, other.low, other.high))
    assert (result.n, result.missing) == (len(there), (a == None).sum() + (b == None).sum())  # noqa: E711
    assert f"{60 - len(there)} of 60 units left out" in result.note


@pytest.mark.parametrize(
    ("raters", "categories", "shares"),
    [
        ([["a", "a", "b"], ["a", None, "b"]], None, {"a": 0.6, "b": 0.4}),
        ([["a", None]], ["a", "b"], {"a": 1.0, "b": 0.0}),
        ([[None]], None, {}),
    ],
)
def test_prevalence_is_over_all_raters_and_leaves_missing_out(raters, categories, shares):
    assert prevalence(raters, categories=categories) == shares


@pytest.mark.parametrize(
    ("shares", "skewed"),
    [
        ([0.81, 0.19], True),
        ([0.19, 0.81], True),
        ([0.8, 0.2], False),
        ([0.5, 0.5], False),
        ([1.0], True),
        ([0.1, 0.1, 0.4, 0.4], False),
        ([0.05, 0.1, 0.85], True),
        ([], False),
    ],
)
def test_prevalence_is_skewed_above_80_percent(shares, skewed):
    assert prevalence_skewed(shares) is skewed


@pytest.mark.parametrize("shares", [[0.9], [0.7, 0.7], [1.2, -0.2]])
def test_what_are_no_shares_of_a_whole_are_refused(shares):
    with pytest.raises(ValueError, match="add up to 1"):
        prevalence_skewed(shares)


# Three trials of five units: two are mixed, two agree, one was judged once.
TRIALS = [["y", "y", "n", "n", None], ["y", "n", "n", None, "y"], ["y", "y", "n", "y", None]]


def test_a_unit_flips_when_its_trials_do_not_all_agree():
    result, plain = flip_rate(TRIALS), wilson(2, 4)
    assert (result.value, result.n, result.missing) == (0.5, 4, 3)
    assert (result.low, result.high) == (plain.low, plain.high)
    few, left = (
        "4 units are too few for an interval, which takes 5",
        "1 of 5 units left out: judged fewer than twice",
    )
    assert result.note == f"{few}; {left}"
    assert result.method.startswith("flip rate of 3 trials: share; 95% Wilson")


def test_a_rater_that_never_flips_is_not_said_to_be_certain():
    result = flip_rate([["y"] * 10, ["y"] * 10], [i // 2 for i in range(10)])
    assert (result.value, "so that each counts as one unit" in result.note) == (0, True)
    assert result.high > 0.4


def test_an_interval_over_items():
    result = flip_rate([["y"] * 20, ["y", "y", "y", "n"] * 5], [i // 4 for i in range(20)])
    assert (result.value, "jackknife over 5 clusters" in result.method) == (0.25, True)


@pytest.mark.parametrize("trials", [[], [["y", "n"]], [["y", None], [None, "n"]]])
def test_without_repeats_there_is_no_rate_but_a_reason(trials):
    result = flip_rate(trials)
    assert (result.value, result.low, result.n) == (None, None, 0)
    assert result.note


ORDINAL, NUMBER = numbers(0, 10, level=Level.ORDINAL), numbers(0, 10)
# Bland & Altman (1986), Lancet 327, 307-310: peak flow by a large and by a mini meter, l/min.
LARGE = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]


def levels_judged(seed: int = 3, units: int = 60) -> tuple[list[str | None], list[str | None], list[int]]:
    """Two raters of 0 to 10 who differ by two at most, five units to an item, one value of each missing."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 11, units)
    second = np.clip(first + rng.integers(-2, 3, units), 0, 10)
    a, b = ([str(value) for value in values] for values in (first, second))
    return [None, *a[1:]], [*b[:-1], None], [place // 5 for place in range(units)]


def both(a: list[str | None], b: list[str | None]) -> tuple[list[int], list[int]]:
    pairs = [(int(x), int(y)) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return [x for x, _ in pairs], [y for _, y in pairs]


@pytest.mark.parametrize("level", FIGURES)
def test_every_figure_of_a_level_is_told(level: Level) -> None:
    a, b, items = levels_judged()
    scale = {Level.NOMINAL: plain("a", "b"), Level.ORDINAL: ORDINAL, Level.INTERVAL: NUMBER}[level]
    if level is Level.NOMINAL:
        assert levels.measures(scale) == {}
        return
    result = levels.figures(scale, a, b, items)
    assert list(result) == [name for name in FIGURES[level] if name != "agreement"]
    assert all(one.low <= one.value <= one.high for one in result.values())
    assert {(one.n, one.missing) for one in result.values()} == {(58, 2)}
    assert all("2 of 60 units left out" in one.note for one in result.values())
    assert result.keys() <= LEVELS_WORDS.keys()


def levels_values(scale: Scale, *given: object, **more: object) -> dict[str, float | None]:
    return {name: one.value for name, one in levels.figures(scale, *given, **more).items()}


def test_ordinal_figures_are_those_of_other_packages() -> None:
    a, b, items = levels_judged()
    first, second = both(a, b)
    words = [[str(x) for x in first], [str(y) for y in second]]
    peers = {
        "alpha": krippendorff.alpha([first, second], level_of_measurement="ordinal", value_domain=range(11)),
        "spearman": spearmanr(first, second).statistic,
        "ac2": gwet_ac1(words, "quadratic", ORDINAL.names).value,
    }
    for weights in ("linear", "quadratic"):
        peers[f"kappa_{weights}"] = cohen_kappa_score(first, second, labels=range(11), weights=weights)
    assert levels_values(ORDINAL, a, b, items) == pytest.approx(peers)


@needs_oracles
def test_weighted_kappa_is_as_published() -> None:
    known = oracle("cohen_1960_1968")
    scale = Scale(Level.ORDINAL, tuple(Value(name, name) for name in ("low", "middle", "high")))
    result = levels_values(
        scale, *([scale.names[code] for code in codes] for codes in two_raters(known["data"]))
    )
    assert (result["kappa_linear"], result["kappa_quadratic"]) == pytest.approx(
        (known["linear"], known["quadratic"])
    )


def test_alpha_and_icc_of_numbers_are_those_of_other_packages() -> None:
    a, b, items = levels_judged()
    first, second = both(a, b)
    result = levels_values(NUMBER, a, b, items)
    assert (result["alpha"], result["kappa_quadratic"]) == pytest.approx(
        (
            krippendorff.alpha([first, second], level_of_measurement="interval"),
            cohen_kappa_score(first, second, weights="quadratic", labels=list(range(11))),
        )
    )
    # Shrout & Fleiss's oracle is told of `icc`, which takes any number of raters.
    for form in ("2,1", "1,1"):
        one = levels.figures(NUMBER, a, b, items, form=form)["icc"]
        assert (one.value, one.method[:8]) == (pytest.approx(icc([first, second], form)), f"ICC({form})")


def test_limits_of_agreement_are_those_of_bland_and_altman() -> None:
    named = sorted({*LARGE, *MINI})
    scale = Scale(Level.INTERVAL, tuple(Value(f"{one}", "") for one in named), of_numbers=True)
    result = levels_values(scale, [str(one) for one in MINI], [str(one) for one in LARGE])
    half = (result["upper_limit"] - result["lower_limit"]) / 2
    # Published: the large meter less the mini one −2.1, standard deviation 38.8.
    assert (result["mean_difference"], half / 1.96) == pytest.approx((-2.1, 38.8), abs=0.05)
    assert result["absolute_difference"] == pytest.approx(492 / 17)
    # So many numbers make no table.
    assert "kappa_quadratic" not in result


def test_differences_are_worked_out_by_hand() -> None:
    # Second less first: 2, 0, −1, 3; mean 1, absolute 6/4, variance (1 + 1 + 4 + 4) / 3.
    first, second = ["1", "5", "9", "4"], ["3", "5", "8", "7"]
    result, half = levels_values(NUMBER, first, second), 1.959964 * sqrt(10 / 3)
    assert (result["mean_difference"], result["absolute_difference"]) == (1, 1.5)
    assert (result["lower_limit"], result["upper_limit"]) == pytest.approx((1 - half, 1 + half))
    assert levels_values(NUMBER, second, first)["mean_difference"] == -1


def test_units_count_by_weight_where_that_has_a_meaning() -> None:
    first, second = ["1", "5", "9"], ["3", "5", "8"]
    result = levels_values(NUMBER, first, second, weights=[3.0, 0.5, 1.0])
    # (3 · 2 − 1) / 4.5 and (3 · 2 + 1) / 4.5.
    assert (result["mean_difference"], result["absolute_difference"]) == pytest.approx((5 / 4.5, 7 / 4.5))
    assert result.keys() == {"kappa_quadratic", "mean_difference", "absolute_difference"}
    twice = levels_values(ORDINAL, ["1", *first], ["3", *second])
    weighted = {name: twice[name] for name in ("kappa_quadratic", "kappa_linear", "ac2")}
    assert levels_values(ORDINAL, first, second, weights=[2, 1, 1]) == pytest.approx(weighted)


def test_kappa_of_numbers_goes_by_their_differences_and_not_by_their_places() -> None:
    scale = Scale(Level.INTERVAL, tuple(Value(one, one) for one in ("0", "1", "10")), of_numbers=True)
    result = levels.figures(scale, ["0", "1", "10", "1"], ["0", "10", "10", "0"])
    # Observed 0 + 81 + 0 + 1 = 82 of 4 pairs; expected over 16 pairs, of 0, 1, 10, 1 and 0, 10, 10, 0:
    # 0: 200; 1: 2 + 162 = 164, twice; 10: 200. 1 − (82 / 4) / (728 / 16).
    assert result["kappa_quadratic"].value == pytest.approx(1 - 20.5 / 45.5)


@pytest.mark.parametrize("scale", [ORDINAL, NUMBER])
def test_what_is_undefined_has_a_reason(scale: Scale) -> None:
    for figure in levels.figures(scale, [None, "3"], ["4", None], ["i", "j"]).values():
        assert figure.value is None
        assert figure.note.startswith(("no unit was judged by both", "0 pairs are too few"))
    for name, one in levels.figures(scale, ["7"] * 12, ["7"] * 12, list(range(12))).items():
        # AC2 has a chance that stays small, and is full agreement here.
        assert (one.value is None) is (name not in IN_UNITS | {"ac2"}), name
        assert one.note


def test_whoever_comes_first_moves_nothing_but_what_has_a_sign() -> None:
    a, b, items = levels_judged()
    for scale in (ORDINAL, NUMBER):
        one, other = (levels.figures(scale, *sides, items) for sides in ((a, b), (b, a)))
        for name in one.keys() - {"mean_difference", "lower_limit", "upper_limit"}:
            ends = [(each[name].value, each[name].low, each[name].high) for each in (one, other)]
            assert ends[0] == pytest.approx(ends[1]), name


@pytest.mark.parametrize("name", ["kappa_linear", "alpha", "icc"])
def test_a_difference_of_two_judges_is_that_of_their_figures(name: str) -> None:
    scale = NUMBER if name == "icc" else ORDINAL
    truth, one, items = levels_judged()
    other = levels_judged(seed=5)[1]
    measure = levels.measures(scale)[name]
    gap = comparison.difference(truth, one, other, measure, scale.names, None, items)
    turned = comparison.difference(truth, other, one, measure, scale.names, None, items)
    there = [row for row in zip(truth, one, other, strict=True) if None not in row]
    values = [
        levels.figures(scale, [row[0] for row in there], [row[i] for row in there])[name].value
        for i in (1, 2)
    ]
    assert gap.value == pytest.approx(values[0] - values[1])
    assert gap.low <= gap.value <= gap.high
    assert (turned.value, turned.low, turned.high) == pytest.approx((-gap.value, -gap.high, -gap.low))


def test_where_no_unit_can_be_compared_weights_are_no_fault() -> None:
    measure = levels.measures(ORDINAL)["kappa_linear"]
    gap = comparison.difference([None], [None], [None], measure, ORDINAL.names, [-1.0], None)
    assert gap.note.startswith(comparison.NO_UNIT)


def test_a_judge_beside_people_has_the_figures_of_both_groups() -> None:
    truth, said, items = levels_judged()
    pairs = [row for row in zip(truth, said, items, strict=True) if None not in row]
    groups = [
        comparison.RatedPairs(
            [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows], [1.0] * len(rows)
        )
        for rows in (pairs, pairs[::2])
    ]
    measure = levels.measures(ORDINAL)["alpha"]
    result = comparison.beside(groups[0], groups[1], measure, ORDINAL.names)
    for told, group in zip((result.one, result.other), groups, strict=True):
        alpha = krippendorff_alpha([group.truth, group.verdicts], "ordinal", ORDINAL.names)
        assert told.value == pytest.approx(alpha.value)
    assert result.difference.value == pytest.approx(result.one.value - result.other.value)


def test_long_scales_are_not_crossed_and_say_why() -> None:
    assert [uncrossed(scale) for scale in (plain("a", "b"), ORDINAL, numbers(1, 5))] == ["", "", ""]
    assert "the scale has 11 values" in uncrossed(NUMBER)
