"""What share is truly positive when a judge of known faults calls some share so."""

from math import sqrt

import numpy as np
import pytest

from annotator.stats.validation.rogan_gladen import rogan_gladen
from tests.stats.agreement_oracles import needs_oracles, oracle


def units(tp, fp, fn, tn, called, rest):
    labels = [1] * (tp + fn) + [0] * (fp + tn) + [None] * (called + rest)
    return labels, [1] * tp + [0] * fn + [1] * fp + [0] * tn + [1] * called + [0] * rest


def test_a_share_by_hand():
    # Recall 3/4, specificity 4/5, 1/2 called positive: (1/2 + 4/5 − 1) / (3/4 + 4/5 − 1).
    found = rogan_gladen(*units(3, 1, 1, 4, 5, 5), positive=1)
    assert found.value == pytest.approx(0.3 / 0.55)
    assert found.n == 19


def test_the_interval_of_independent_units_by_hand():
    # Recall and specificity 41/52, drawn to 1/2 by one unit either way; the middle is 1/2 and does not shift.
    found = rogan_gladen(*units(40, 10, 10, 40, 50, 50), positive=1)
    z = 1.959964
    of_each = 41 / 52 * 11 / 52 / 52
    half = z * sqrt(0.25 / (100 + z * z) + 2 * 0.25 * of_each) / (30 / 52)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)
    assert "Lang and Reiczigel" in found.method


def test_the_interval_covers_as_often_as_it_says():
    # 400 samples; a sound 95 % interval misses 0.4 at most 32 times, p < .005.
    rng, missed = np.random.default_rng(2), 0
    for _ in range(400):
        truth = rng.random(460) < 0.4
        said = np.where(truth, rng.random(460) < 0.9, rng.random(460) < 0.2)
        labels = [bool(value) if i < 60 else None for i, value in enumerate(truth)]
        found = rogan_gladen(labels, said, positive=True)
        missed += not found.low <= 0.4 <= found.high
    assert missed <= 32


def test_items_are_drawn_whole():
    labels, said = units(40, 10, 10, 40, 50, 50)
    order = np.random.default_rng(1).permutation(200)
    labels, said = [labels[i] for i in order], [said[i] for i in order]
    found = rogan_gladen(labels, said, 1, [i // 5 for i in range(200)], resamples=500)
    assert found.low < found.value < found.high
    assert "bootstrap over 40 clusters, 500 resamples" in found.method


def test_what_the_formula_puts_below_0_is_0():
    found = rogan_gladen(*units(4, 2, 1, 3, 0, 9), positive=1)
    assert (found.value, found.low) == (0, 0)
    assert "the nearest share is given" in found.note


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ((0, 1, 0, 3, 5, 5), "nothing 1, so the judge's recall"),
        ((3, 0, 1, 0, 5, 5), "nothing other than 1, so the judge's specificity"),
        ((1, 2, 1, 2, 5, 5), "no better than chance"),
        ((3, 1, 1, 3, 0, 0), "take the share of the labels"),
    ],
)
def test_an_undefined_share_has_a_reason(cells, reason):
    found = rogan_gladen(*units(*cells), positive=1)
    assert (found.value, found.low) == (None, None)
    assert reason in found.note


def test_too_few_labels_give_a_share_without_an_interval():
    # Recall 1/1 and specificity 1/8, drawn to 1/2 by a unit either way, are 2/3 and 1/5: no better than chance.
    found = rogan_gladen(*units(1, 7, 0, 1, 9, 1), positive=1)
    assert found.value is not None
    assert (found.low, found.note) == (None, "too few labels for an interval")


def test_units_without_a_judgement_are_left_out():
    labels, said = units(3, 1, 1, 4, 5, 5)
    found = rogan_gladen([*labels, 1], [*said, None], positive=1)
    assert (found.value, found.missing) == (rogan_gladen(labels, said, positive=1).value, 1)
    with pytest.raises(ValueError, match="same units"):
        rogan_gladen([1], [1, 0], positive=1)


@needs_oracles
def test_it_matches_the_packaged_point_estimate():
    published = oracle("ppi_mean_cross_check")
    elsewhere = [1, 1, 0, 1, 1, 1, 0, 1] * 25
    found = rogan_gladen([*published["Y"], *[None] * 200], [*published["Yhat"], *elsewhere], positive=1)
    assert round(found.value, 7) == published["rogan_gladen_judgy_point"]
