"""How items are drawn anew."""

from fractions import Fraction

import numpy as np
import pytest

from annotator.stats.intervals.resampling import (
    MOST_CELLS,
    chunk_rows,
    counts,
    exactly_summable,
    resampled_sums,
)


@pytest.mark.parametrize("items", [1, 65, 5000])
def test_every_resample_draws_as_many_items_as_there_are(items):
    chunks = list(counts(items, resamples=33, seed=3))
    assert sum(len(chunk) for chunk in chunks) == 33
    assert all((chunk.sum(axis=1) == items).all() for chunk in chunks)


def test_the_last_chunk_holds_only_the_rest():
    resamples = chunk_rows(65) + 1
    assert [len(chunk) for chunk in counts(65, resamples, seed=1)] == [resamples - 1, 1]


def test_the_mean_and_the_variance_of_a_count_are_those_of_a_multinomial():
    drawn = np.vstack(list(counts(10, resamples=20_000, seed=5)))
    # Multinomial(10, 1/10): mean 1, variance 10 · 1/10 · 9/10.
    assert drawn.mean() == 1.0
    assert drawn.var(axis=0) == pytest.approx(np.full(10, 0.9), abs=0.04)


@pytest.mark.parametrize("items", [1, 65, 10_000, 250_000])
def test_a_chunk_is_bounded_in_memory(items):
    assert 1 <= chunk_rows(items) <= max(1, MOST_CELLS // items)


def test_sums_are_the_same_bits_beside_other_columns_and_in_another_order():
    columns = np.random.default_rng(4).random((65, 9)) / 3
    together = resampled_sums(columns, 500, seed=2)
    assert (together[:, ::-1] == resampled_sums(columns[:, ::-1], 500, seed=2)).all()
    assert all((together[:, i] == resampled_sums(columns[:, [i]], 500, seed=2)[:, 0]).all() for i in range(9))


def test_another_seed_draws_other_items():
    column = np.arange(20.0)[:, None]
    assert (resampled_sums(column, 50, seed=1) != resampled_sums(column, 50, seed=2)).any()


def test_rounded_columns_sum_without_rounding():
    column = np.random.default_rng(1).random((65, 1))
    rounded = exactly_summable(column)
    exact = sum(Fraction(value) for value in rounded[:, 0].tolist())
    assert Fraction(float(rounded[:, 0].sum())) == exact
    assert abs(rounded - column).max() < 1e-13


def test_no_items_cannot_be_drawn_from():
    with pytest.raises(ValueError, match="no items"):
        resampled_sums(np.empty((0, 2)))
