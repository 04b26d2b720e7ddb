"""How a figure of agreement gets its interval, and what does not move it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.agreement import cohen_kappa
from annotator.stats.agreement.alpha import krippendorff_alpha
from annotator.stats.agreement.chance import ac1_of_pairs, gwet_ac1
from annotator.stats.validation.classification import both_ways
from tests.stats.agreement_oracles import two_raters

WORDS = ("none", "partial", "full")
values = st.sampled_from([*WORDS, None])
units = st.lists(st.tuples(values, values, st.integers(0, 3)), min_size=1, max_size=25)
judged = st.lists(st.lists(values, min_size=3, max_size=3), min_size=1, max_size=25)
MANY = [krippendorff_alpha, gwet_ac1]


def same(one: Estimate, other: Estimate) -> None:
    """Equal but for rounding."""
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
    found = [figure([a[i::100], b[i::100]]) for i in range(100)]
    assert sum(not estimate.low <= truth <= estimate.high for estimate in found) <= 12


def test_the_method_names_what_was_left_out_in_turn():
    a, b = noisy(50)
    by_item = cohen_kappa(a, b, "linear", (0, 1, 2), clusters=np.arange(50) // 5)
    assert by_item.method == (
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
    found = cohen_kappa([0, 1, 1], [0, 1, 0], clusters=["q", "q", "q"])
    assert found.value == pytest.approx(0.4)  # 2/3 seen, 4/9 by chance
    assert (found.low, found.high) == (None, None)
    assert found.note == "1 cluster is too few for an interval, which takes 5"


@pytest.mark.usefixtures("small_cases")
def test_few_clusters_are_warned_of():
    found = cohen_kappa([0, 1, 1, 0, 0], [0, 1, 1, 0, 1], clusters=["p", "p", "q", "q", "q"])
    assert "2 clusters only: the interval is rough" in found.note


def test_full_agreement_has_the_interval_of_so_many_yes_and_says_so():
    found = gwet_ac1(two_raters([[20, 0], [0, 30]]))
    assert (found.low, found.high) == pytest.approx((2 * 50 / (50 + 2.009575**2) - 1, 1))
    assert "no unit differs, so that each counts as one unit" in found.note


@given(units, st.randoms(use_true_random=False))
def test_the_order_of_units_and_the_names_of_clusters_move_nothing(rows, random):
    a, b, clusters = zip(*rows, strict=True)
    found = cohen_kappa(a, b, "linear", WORDS, clusters)
    random.shuffle(rows)
    a, b, clusters = zip(*rows, strict=True)
    assert cohen_kappa(a, b, "linear", WORDS, [f"item {-c}" for c in clusters]) == found


@given(units)
def test_swapping_raters_moves_nothing(rows):
    a, b, clusters = zip(*rows, strict=True)
    for within in (None, clusters):
        same(cohen_kappa(a, b, clusters=within), cohen_kappa(b, a, clusters=within))


@given(units)
def test_swapping_raters_turns_weights_that_tell_them_apart(rows):
    a, b, clusters = zip(*rows, strict=True)
    given_weights, turned = [[0, 1, 2], [3, 0, 1], [6, 3, 0]], [[0, 3, 6], [1, 0, 3], [2, 1, 0]]
    found = cohen_kappa(a, b, given_weights, WORDS, clusters)
    same(cohen_kappa(b, a, turned, WORDS, clusters), found)


@given(units, st.permutations(["x", 7, True]))
def test_other_names_for_categories_leave_kappa_as_it_is(rows, names):
    a, b, _ = zip(*rows, strict=True)
    named = dict(zip(WORDS, names, strict=True)) | {None: None}
    before, after = (
        cohen_kappa(a, b),
        cohen_kappa(*([named[v] for v in r] for r in (a, b))),
    )
    assert after.value == pytest.approx(before.value) if before.value is not None else after.value is None


@given(units)
def test_a_reversed_order_leaves_weighted_kappa_as_it_is(rows):
    a, b, _ = zip(*rows, strict=True)
    up = cohen_kappa(a, b, "quadratic", WORDS).value
    down = cohen_kappa(a, b, "quadratic", WORDS[::-1]).value
    assert (up is None) == (down is None)
    assert up is None or up == pytest.approx(down)


@pytest.mark.parametrize("figure", MANY)
@given(rows=judged, random=st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_neither_the_order_of_raters_nor_that_of_units_moves_a_figure_of_many(figure, rows, random):
    before = figure(list(zip(*rows, strict=True)), categories=WORDS)
    random.shuffle(rows)
    for row in rows:
        random.shuffle(row)
    same(figure(list(zip(*rows, strict=True)), categories=WORDS), before)


@pytest.mark.parametrize("figure", MANY)
@given(rows=judged)
@settings(max_examples=40)
def test_a_figure_is_a_number_or_has_a_reason(figure, rows):
    found = figure(list(zip(*rows, strict=True)), clusters=[i // 2 for i in range(len(rows))])
    assert found.note if found.value is None else found.value <= 1 + 1e-12
    assert all(math.isfinite(bound) for bound in (found.value, found.low, found.high) if bound is not None)
    assert found.low is None or found.low <= found.high


def test_ac1_of_two_raters_rests_on_the_units_that_both_judged_as_their_kappa_does():
    rng = np.random.default_rng(5)
    a, b = (np.where(rng.random(60) < 0.1, None, (rng.random(60) < 0.7).astype(int)) for _ in range(2))
    items = np.arange(60) // 6
    there = np.flatnonzero((a != None) & (b != None))  # noqa: E711
    found = ac1_of_pairs(a, b, (0, 1), items)
    whole = gwet_ac1([a[there], b[there]], categories=(0, 1), clusters=items[there])
    of_cells = both_ways(a, b, 1, np.ones(60), items).plain.ac1
    for other in (whole, of_cells):
        assert (found.value, found.low, found.high) == pytest.approx((other.value, other.low, other.high))
    assert (found.n, found.missing) == (len(there), (a == None).sum() + (b == None).sum())  # noqa: E711
    assert f"{60 - len(there)} of 60 units left out" in found.note
