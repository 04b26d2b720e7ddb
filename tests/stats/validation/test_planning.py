"""Planning of validation; no figure is ever NaN."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import ceil, isfinite, nan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.agreement import (
    cohen_kappa,
    flip_rate,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)
from annotator.stats.intervals.clustered import clustered_wilson
from annotator.stats.intervals.student import bounds_of
from annotator.stats.validation.comparison import alt_test, both_ways, comparison, kappa_difference
from annotator.stats.validation.correction import NO_LABEL, SystemUnits, plan_labels, standings
from tests.stats.agreement_oracles import corrected_mean

# Four of eight units labelled, half of them 1; the judge is not trusted, so that only the labels count.
LABELS, SAID = [1, 0, 1, 0, None, None, None, None], [1, 1, 1, 0, 1, 0, 1, 0]


def judged(rng, items=60, each=10, right=0.8):
    truth = (rng.random((items, each)) < rng.beta(3, 2, (items, 1))).astype(float)
    said = np.where(rng.random((items, each)) < right, truth, 1.0)
    return truth.ravel(), said.ravel(), np.arange(items).repeat(each)


@pytest.mark.usefixtures("small_cases")
def test_the_width_falls_with_the_labels_as_by_hand():
    # The variance of a label is 1/3, so n labels give a width of 2 t √(1 / 3n): 1.068 for 7 of them, .9653 for 8.
    result = plan_labels(LABELS, SAID, 0.97, tuning=0.0)
    now, then = 2 * 3.18245 * sqrt(1 / 12), 2 * 2.36462 * sqrt(1 / 24)
    widths = (result.width_now, result.width_then, result.least)
    assert widths == pytest.approx((now, then, then), abs=1e-4)
    assert (result.more, plan_labels(LABELS, SAID, 1.07, tuning=0.0).more) == (4, 3)


@pytest.mark.usefixtures("small_cases")
def test_what_is_narrow_enough_takes_nothing():
    result = plan_labels(LABELS, SAID, 3.0, tuning=0.0)
    assert (result.more, result.width_then) == (0, result.width_now)


@pytest.mark.usefixtures("small_cases")
@pytest.mark.parametrize(
    ("labels", "said", "more", "note"),
    [
        # Even all labels cannot reach it.
        (LABELS, SAID, {"tuning": 0.0}, "that takes more items"),
        ([1, 0, 1, None], [1, 0, 1, 1], {"tuning": 1.0}, "labels and judge never differed yet"),
        ([None, None], [1, 0], {}, NO_LABEL),
        ([1, 0], [1, 0], {"clusters": ["p", "p"]}, "1 cluster is too few"),
    ],
)
def test_where_no_labels_help_there_is_no_plan_but_a_reason(labels, said, more, note):
    result = plan_labels(labels, said, 0.1, **more)
    assert (result.more, result.width_then, note in result.note) == (None, None, True)


def test_the_planned_labels_bring_about_the_planned_width():
    widths = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth, said, items = judged(rng)
        order = rng.permutation(600)
        labels = np.where(np.isin(np.arange(600), order[:80]), truth, nan)
        result = plan_labels(labels, said, 0.13, clusters=items)
        if result.more:
            later = np.where(np.isin(np.arange(600), order[: 80 + result.more]), truth, nan)
            then = corrected_mean(later, said, clusters=items).corrected
            widths.append(then.high - then.low)
    assert len(widths) > 20
    assert np.mean(widths) == pytest.approx(0.13, rel=0.08)


def replicated(seed, items, first, narrower, right, each=10):
    """The width reached over the width promised, where whole items of unequal weights are labelled as planned."""
    rng = np.random.default_rng(seed)
    truth, said, clusters = judged(rng, items, each, right)
    heavy = rng.integers(1, 4, items * each).astype(float)
    heavy /= np.bincount(clusters, heavy)[clusters]
    place = np.argsort(rng.permutation(items))

    def labelled(many):
        return np.where(place[clusters] < many, truth, nan)

    now = corrected_mean(labelled(first), said, heavy, clusters).corrected
    promised = narrower * (now.high - now.low)
    result = plan_labels(labelled(first), said, promised, heavy, clusters)
    assert result.width_now == now.high - now.low
    if not result.more:
        return None
    then = corrected_mean(labelled(first + ceil(result.more / each)), said, heavy, clusters).corrected
    return (then.high - then.low) / promised


@pytest.mark.parametrize(
    ("items", "first", "narrower", "right", "runs"),
    [
        (65, 20, 0.8, 0.8, 60),
        (200, 20, 0.7, 0.8, 60),
        (65, 15, 0.8, 0.8, 200),
        (200, 20, 0.5, 0.6, 200),
        (200, 40, 0.85, 0.8, 200),
        (500, 30, 0.5, 0.8, 200),
    ],
)
def test_a_promised_width_is_kept_within_a_tenth_four_times_of_five(items, first, narrower, right, runs):
    result = [replicated(seed, items, first, narrower, right) for seed in range(runs)]
    ratios = np.array([ratio for ratio in result if ratio is not None])
    assert len(ratios) > runs / 4
    assert np.mean(ratios <= 1.1) >= 0.8
    # Nor are labels wasted: what is reached is what was promised.
    assert np.median(ratios) == pytest.approx(1, abs=0.06)


@pytest.mark.usefixtures("small_cases")
def test_the_interval_now_and_then_ends_where_the_figure_does():
    result = plan_labels(LABELS, SAID, 0.5, tuning=0.0, bounds=(0.0, 1.0))
    low, high = bounds_of(0.5, 1 / 12, 4, (0.0, 1.0))
    assert (result.now.low, result.now.high) == pytest.approx((low, high))
    # Of eight the variance is 1/24.
    least = bounds_of(0.5, 1 / 24, 8, (0.0, 1.0))
    assert result.least == pytest.approx(least[1] - least[0])
    assert 0 < low < high < 1


def test_units_alike_within_items_need_more_labels():
    rng = np.random.default_rng(4)
    truth, _, items = judged(rng)
    wrong = (rng.random(60) < 0.3).repeat(10)
    said = np.where(wrong, 1 - truth, truth)
    labels = np.where(items < 20, truth, nan)
    together = plan_labels(labels, said, 0.3, clusters=items, tuning=1.0)
    apart = plan_labels(labels, said, 0.3, tuning=1.0)
    assert together.width_now > 1.5 * apart.width_now
    assert together.more > apart.more == 0


def test_a_width_is_positive():
    with pytest.raises(ValueError, match="a width of 0"):
        plan_labels(LABELS, SAID, 0)


# Mostly of one class, often missing, few items: the corners in which figures come undone.
said = st.sampled_from([0, 0, 0, 1, None])
weight = st.sampled_from([0, 1, 1, 3])
rows = st.lists(st.tuples(said, said, said, weight, st.integers(0, 3)), min_size=1, max_size=12)
FIGURES = {
    "agreement": lambda a, b, c, w, i: (
        percent_agreement(zip(a, b, strict=True)),
        cohen_kappa(a, b, "quadratic", [0, 1], i),
        kappa_difference(a, b, c, clusters=i),
        gwet_ac1([a, b, c], clusters=i),
        gwet_ac1([a, b, c], "ordinal", [0, 1, 2], i),
        krippendorff_alpha([a, b, c], clusters=i),
    ),
    "four cells": lambda a, b, c, w, i: (
        both_ways(a, b, 1, w, i),
        comparison(a, b, c, 1, w, i),
    ),
    "tests": lambda a, b, c, w, i: (alt_test({"a": a, "b": b}, c, clusters=i, fewest=1),),
    "shares": lambda a, b, c, w, i: (
        clustered_wilson(a, i),
        flip_rate([a, b], i),
    ),
    "corrected": lambda a, b, c, w, i: (
        corrected_mean(a, b, w, i, c and [value or 0 for value in c]),
        plan_labels(a, b, 0.2, w, i),
        standings({"one": SystemUnits(a, b, i, w), "other": SystemUnits(c, b, i)}),
    ),
}


def estimates(found: object) -> Iterator[Estimate]:
    """Every estimate inside a result."""
    if isinstance(found, Estimate):
        yield found
    elif isinstance(found, dict):
        yield from estimates(tuple(found.values()))
    elif isinstance(found, tuple):
        for part in found:
            yield from estimates(part)
    elif is_dataclass(found):
        yield from estimates(tuple(getattr(found, field.name) for field in fields(found)))


@pytest.mark.parametrize("kind", FIGURES)
@given(units=rows)
@settings(max_examples=40)
def test_a_figure_is_a_number_or_has_a_reason(kind, units):
    result = list(estimates(FIGURES[kind](*(list(column) for column in zip(*units, strict=True)))))
    assert result
    for one in result:
        numbers = (one.value, one.low, one.high, one.floor, one.ceiling)
        assert all(number is None or isfinite(number) for number in numbers)
        assert one.method
        assert one.value is not None or one.note
        assert one.low is None or one.low <= one.high
