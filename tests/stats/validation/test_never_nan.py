"""That no figure is ever NaN or infinite, and what is undefined has a reason, however little there is to go by."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.agreement import cohen_kappa, percent_agreement
from annotator.stats.agreement.alpha import krippendorff_alpha
from annotator.stats.agreement.chance import gwet_ac1
from annotator.stats.agreement.repeats import flip_rate
from annotator.stats.intervals.cluster_means import clustered_wilson
from annotator.stats.validation.alt_test import alt_test
from annotator.stats.validation.classification import both_ways
from annotator.stats.validation.comparison import comparison, kappa_difference
from annotator.stats.validation.leaderboard import SystemUnits, standings
from annotator.stats.validation.planning import plan_labels
from tests.stats.corrections import corrected_mean

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
    found = list(estimates(FIGURES[kind](*(list(column) for column in zip(*units, strict=True)))))
    assert found
    for one in found:
        numbers = (one.value, one.low, one.high, one.floor, one.ceiling)
        assert all(number is None or isfinite(number) for number in numbers)
        assert one.method
        assert one.value is not None or one.note
        assert one.low is None or one.low <= one.high
