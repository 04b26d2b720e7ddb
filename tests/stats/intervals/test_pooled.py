"""Rates and medians of pools drawn anew, each held against the pool written out draw by draw."""

from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.stats.intervals import pooled
from annotator.stats.intervals.resampling import counts

OWNED = st.lists(st.tuples(st.integers(-5, 5).map(float), st.integers(0, 4)), max_size=20)


@given(OWNED, st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=6))
def test_a_median_is_that_of_the_pool_written_out(owned, draws) -> None:
    times = np.array(draws, dtype=np.float64)
    found = pooled.medians([value for value, _ in owned], [owner for _, owner in owned], times)
    for row, value in zip(draws, found, strict=True):
        drawn = [one for one, owner in owned for _ in range(row[owner])]
        assert value == pytest.approx(median(drawn)) if drawn else np.isnan(value)


def test_a_rate_is_the_sum_over_the_sum() -> None:
    times = np.array([[1, 1, 1], [2, 0, 1], [0, 0, 3]], dtype=np.float64)
    found = pooled.rates([1, 3, 0], [4, 4, 0], times)
    # 4 of 8, then 2 of 8; of the third alone nothing is to be divided by.
    assert found[:2].tolist() == [0.5, 0.25]
    assert np.isnan(found[2])


def test_many_draws_of_many_values_are_taken_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    times = np.concatenate(list(counts(7, 50)))
    values, owners = [float(place % 11) for place in range(70)], [place % 7 for place in range(70)]
    whole = pooled.medians(values, owners, times)
    monkeypatch.setattr(pooled, "CELLS", 100)
    assert pooled.medians(values, owners, times).tolist() == whole.tolist()
