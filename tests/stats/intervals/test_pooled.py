"""Rates of pools drawn anew."""

import numpy as np

from annotator.stats.intervals import pooled


def test_a_rate_is_the_sum_over_the_sum() -> None:
    times = np.array([[1, 1, 1], [2, 0, 1], [0, 0, 3]], dtype=np.float64)
    found = pooled.rates([1, 3, 0], [4, 4, 0], times)
    # 4 of 8, then 2 of 8; of the third alone nothing is to be divided by.
    assert found[:2].tolist() == [0.5, 0.25]
    assert np.isnan(found[2])
