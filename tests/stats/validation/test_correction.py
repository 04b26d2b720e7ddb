"""How people's labels correct a judge's score."""

from math import nan, sqrt

import numpy as np
import pytest

from annotator.stats.validation.correction import NO_LABEL, NO_REACH
from tests.stats.corrections import corrected_mean

# Items A, B and C of two units each; C is not labelled.
LABELS, SAID, ITEMS = [1, 0, 1, 1, None, None], [1, 1, 1, 0, 1, 0], ["A", "A", "B", "B", "C", "C"]


def world(rng, items=60, each=10, labelled=20):
    """Units whose judge is right in four of five, less often on hard items; some items are labelled."""
    ease = rng.beta(3, 2, (items, 1))
    truth = (rng.random((items, each)) < ease).astype(float)
    said = np.where(rng.random((items, each)) < rng.beta(8, 2, (items, 1)), truth, 1.0)
    labels = np.where((rng.permutation(items) < labelled)[:, None], truth, nan)
    return labels.ravel(), said.ravel(), np.arange(items).repeat(each)


def test_fully_trusted_it_is_the_judges_mean_and_peoples_less_the_judges():
    # 4/6 + (3/4 − 3/4), people and judge each positive on three of four labelled units.
    found = corrected_mean(LABELS, SAID, clusters=ITEMS, tuning=1.0)
    assert found.corrected.value == pytest.approx(4 / 6 + 3 / 4 - 3 / 4)
    assert (found.raw.value, found.labelled.value) == pytest.approx((4 / 6, 3 / 4))
    assert (found.raw.n, found.corrected.n) == (6, 4)


@pytest.mark.usefixtures("small_cases")
def test_the_interval_is_students_over_the_labelled_items():
    # Labels 1 0 and 1 1: the items add −1/8 and +1/8 to the error: variance 2 · 2/64, t of one degree of freedom.
    found = corrected_mean(LABELS, SAID, clusters=ITEMS, tuning=0.0).corrected
    assert (found.low, found.high) == pytest.approx((0.75 - 12.7062 / 4, 0.75 + 12.7062 / 4), abs=1e-4)
    assert "t interval over 2 clusters" in found.method
    assert "2 clusters only: the interval is rough" in found.note


@pytest.mark.parametrize("tuning", [0.0, 0.5, 1.0, None])
def test_once_all_is_labelled_the_labels_are_the_score(tuning):
    found = corrected_mean([1, 0, 1, 1], [1, 1, 0, 1], tuning=tuning)
    assert found.corrected.value == pytest.approx(3 / 4)


def test_weights_count_in_every_mean():
    # People (3 + 1) / 5, judge there (3 + 1 + 1) / 5, judge (3 + 1 + 1 + 2) / 8, by hand with weights 3 1 1 1 2.
    found = corrected_mean([1, 0, 1, None, None], [1, 1, 1, 0, 1], [3, 1, 1, 1, 2], tuning=1.0)
    assert found.corrected.value == pytest.approx(7 / 8 + 4 / 5 - 5 / 5)


def test_a_unit_of_no_weight_is_none():
    light = corrected_mean([1, 0, 1], [1, 1, 0], [1, 1, 0], tuning=1.0)
    assert light == corrected_mean([1, 0], [1, 1], [1, 1], tuning=1.0)


def test_a_unit_of_negative_weight_takes_away_from_what_can_be_reached():
    # Of weights 3 1 −2: people (3 − 2)/4, judge there (3 + 1)/4; of all, 2 and −1 with them, judge (3 + 1 + 2 − 1)/6.
    found = corrected_mean([1, 0, 1, None, None], [1, 1, 0, 1, 1], [3, 1, -2, 2, -1], tuning=0.5)
    assert (found.labelled.value, found.raw.value) == pytest.approx((1 / 4, 5 / 6))
    assert found.corrected.value == pytest.approx(1 / 4 + 0.5 * (5 / 6 - 1))


def test_a_score_that_takes_away_all_it_gives_lies_at_zero_and_may_lie_below():
    assert corrected_mean([1, 1], [1, 1], [1, -1]).raw.value == 0
    assert corrected_mean([0, 1], [0, 1], [1, -1]).corrected.value == -1


def test_the_interval_of_a_ratio_knows_that_some_units_add_no_reach():
    # Items of +2 and −1, scores (2x − y)/2: the same as those of single units, whose spread is that of a plain mean.
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 2, (2, 40)).astype(float)
    signed = corrected_mean(
        np.column_stack([x, y]).ravel(), np.ones(80), [2, -1] * 40, np.arange(40).repeat(2), tuning=0.0
    )
    single = corrected_mean(x - y / 2, np.ones(40), clusters=np.arange(40), tuning=0.0)
    for end in ("value", "low", "high"):
        assert getattr(signed.labelled, end) == pytest.approx(getattr(single.labelled, end))


def test_where_nothing_can_be_reached_the_reason_is_said():
    found = corrected_mean([1, None], [1, 1], [-1, -2])
    assert (found.raw.value, found.raw.note) == (None, NO_REACH.format("judged"))
    found = corrected_mean([None, 1], [1, 1], [1, -1])
    assert found.raw.value == 0
    assert (found.corrected.value, found.corrected.note) == (None, NO_REACH.format("labelled"))


def test_strata_count_as_much_as_they_hold():
    # Of 2 units in s one has label 1, of 4 in t two have 0, 1: people (2 · 1 + 4 · 1/2) / 6, judge (0 + 4 · 1/2) / 6.
    labels, said = [1, None, 0, 1, None, None], [0, 1, 0, 1, 1, 1]
    found = corrected_mean(labels, said, strata=list("sstttt"), tuning=1.0)
    assert found.labelled.value == pytest.approx(4 / 6)
    assert found.corrected.value == pytest.approx(4 / 6 + 4 / 6 - 2 / 6)


def test_a_stratum_without_a_label_is_corrected_as_the_others_are():
    # In s the judge errs by −1 on the mean; in u nobody looked.
    found = corrected_mean([0, 0, None, None], [1, 1, 1, 0], strata=list("ssuu"), tuning=1.0)
    assert found.corrected.value == pytest.approx(3 / 4 - 1)


def test_of_independent_units_it_comes_near_the_published_form():
    rng = np.random.default_rng(3)
    truth = rng.random(4000) < 0.6
    said = np.where(rng.random(4000) < 0.85, truth, ~truth).astype(float)
    labels = np.where(np.arange(4000) < 400, truth, nan)
    ours = corrected_mean(labels, said).corrected
    # PPI++ (Angelopoulos, Duchi & Zrnic 2023, §6): power tuning and the normal interval.
    y, f, rest = truth[:400].astype(float), said[:400], said[400:]
    trust = np.mean((y - y.mean()) * (f - f.mean())) / ((1 + 400 / 3600) * said.var(ddof=1))
    half = 1.96 * sqrt(trust**2 * rest.var() / 3600 + (y - trust * f).var() / 400)
    assert ours.value == pytest.approx(trust * rest.mean() + (y - trust * f).mean(), abs=2e-3)
    assert ours.high - ours.low == pytest.approx(2 * half, rel=0.02)


def test_correcting_narrows_the_interval_of_the_labels():
    found = corrected_mean(*world(np.random.default_rng(5))[:2], clusters=world(np.random.default_rng(5))[2])
    assert 0 < found.tuning <= 1
    assert found.corrected.high - found.corrected.low < 0.9 * (found.labelled.high - found.labelled.low)


@pytest.mark.parametrize("layered", [False, True])
@pytest.mark.parametrize("labelled", [6, 25])
def test_the_interval_covers_as_often_as_it_says(labelled, layered):
    # 300 worlds; a sound 95 % interval misses the true mean, 3/5, at most 26 times, p < .005.
    missed = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        labels, said, items = world(rng, labelled=labelled)
        strata = rng.integers(0, 3, len(items)) if layered else None
        found = corrected_mean(labels, said, clusters=items, strata=strata).corrected
        missed += not found.low <= 3 / 5 <= found.high
    assert missed <= 26


def test_a_unit_that_the_judge_did_not_judge_is_left_out_and_counted():
    found = corrected_mean([1, 0, 1], [1, 0, None])
    assert (found.corrected.value, found.corrected.n, found.corrected.missing) == (1 / 2, 2, 1)
    assert "1 of 3 units left out: the judge gave no judgement" in found.corrected.note


@pytest.mark.usefixtures("small_cases")
def test_without_a_label_there_is_only_the_judges_own_score():
    found = corrected_mean([None, None, None], [1, 0, 1], clusters=["p", "q", "r"])
    assert (found.corrected.value, found.labelled.value, found.tuning) == (None, None, None)
    assert found.corrected.note == NO_LABEL
    assert found.raw.value == pytest.approx(2 / 3)
    assert found.raw.low < found.raw.value < found.raw.high


def test_of_no_unit_nothing_is_known():
    found = corrected_mean([], [])
    assert (found.raw.value, found.raw.note) == (None, "no unit was judged")


def test_one_labelled_item_has_a_score_and_no_interval():
    found = corrected_mean([1, 0, None, None], [1, 1, 1, 0], clusters=["p", "p", "q", "q"]).corrected
    assert found.value is not None
    assert (found.low, found.high) == (None, None)
    assert "1 cluster is too few for an interval, which takes 5" in found.note


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"weights": [1]}, "weights for 1 of 2"),
        ({"weights": [1, float("inf")]}, "finite number"),
        ({"clusters": ["a"]}, "its cluster"),
        ({"strata": ["a", None]}, "its cluster"),
    ],
)
def test_what_does_not_fit_is_refused(more, words):
    with pytest.raises(ValueError, match=words):
        corrected_mean([1, 0], [1, 1], **more)
