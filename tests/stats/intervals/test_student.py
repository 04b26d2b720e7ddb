"""How far a mean of few values may err."""

from math import exp, inf, pi, sqrt, tan

import pytest

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import (
    UNBOUNDED,
    Bounds,
    bounds_of,
    lower_tail,
    mean_interval,
    mean_of_scores,
    p_above,
    t_quantile,
    two_sided,
)


# Fisher & Yates, Statistical Tables, table III (two-sided 5 %), as in every textbook.
@pytest.mark.parametrize(
    ("df", "t"),
    [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (4, 2.776),
        (9, 2.262),
        (19, 2.093),
        (20, 2.086),
        (30, 2.042),
        (120, 1.980),
    ],
)
def test_quantiles_are_those_of_the_tables(df, t):
    assert t_quantile(0.95, df) == pytest.approx(t, abs=5e-4)


def test_one_and_two_degrees_of_freedom_have_closed_forms():
    # Cauchy: tan(π/2 · level). Two: level · √(2 / (1 − level²)).
    assert t_quantile(0.95, 1) == pytest.approx(tan(pi / 2 * 0.95), rel=1e-12)
    assert t_quantile(0.95, 2) == pytest.approx(0.95 * sqrt(2 / (1 - 0.95**2)), rel=1e-12)


@pytest.mark.parametrize("df", [1, 2, 7, 8, 199])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.95, 0.999])
def test_the_quantile_and_the_share_undo_each_other(df, level):
    assert two_sided(t_quantile(level, df), df) == pytest.approx(1 - level, rel=1e-12)


@pytest.mark.parametrize(("level", "df"), [(0, 3), (1, 3), (0.95, 0)])
def test_what_has_no_quantile_is_refused(level, df):
    with pytest.raises(ValueError, match="degrees of freedom"):
        t_quantile(level, df)


@pytest.mark.usefixtures("small_cases")
def test_the_margin_is_t_standard_errors():
    # 1, 2, 3: mean 2, s = 1, margin 4.3027 · 1/√3 = 2.4841.
    found = mean_interval([1, 2, 3])
    assert found.value == 2
    assert (found.low, found.high) == pytest.approx((2 - 2.4841, 2 + 2.4841), abs=1e-4)
    assert (found.n, found.method) == (3, "mean over items; 95% t interval")


@pytest.mark.usefixtures("small_cases")
def test_equal_values_leave_no_margin():
    found = mean_interval([0.25, 0.25, 0.25])
    assert (found.value, found.low, found.high) == (0.25, 0.25, 0.25)


def test_one_value_has_no_interval_and_none_has_no_mean():
    one, none = mean_interval([0.5]), mean_interval([])
    assert (one.value, one.low, one.high, one.n, one.note) == (
        0.5,
        None,
        None,
        1,
        "1 item is too few for an interval, which takes 5",
    )
    assert (none.value, none.n, none.note) == (None, 0, "there are no values")


def test_undefined_scores_are_left_out_and_counted():
    found = mean_of_scores([Estimate(0.2), Estimate(None, note="no claims"), Estimate(0.4)])
    assert found.value == pytest.approx(0.3)
    assert (found.n, found.floor, found.note) == (
        2,
        None,
        "2 items are too few for an interval, which takes 5; 1 of 3 items left out: no defined score",
    )


def test_bounds_are_averaged_over_all_that_have_them():
    # Floors (1/2 + 1/4) / 2, ceilings (1/2 + 3/4) / 2.
    complete = Estimate(0.5, floor=0.5, ceiling=0.5)
    incomplete = Estimate(None, missing=2, floor=0.25, ceiling=0.75)
    found = mean_of_scores([complete, incomplete])
    assert (found.value, found.n, found.missing) == (0.5, 1, 2)
    assert (found.floor, found.ceiling) == (3 / 8, 5 / 8)


def test_of_no_scores_nothing_is_known():
    found = mean_of_scores([])
    assert (found.value, found.floor, found.ceiling, found.note) == (
        None,
        None,
        None,
        "no item has a defined score",
    )


def test_tails_have_closed_forms():
    # One degree of freedom is Cauchy's: at 1 a half. Two: 1 − t / √(2 + t²).
    assert two_sided(1, 1) == pytest.approx(0.5, rel=1e-14)
    assert two_sided(3, 2) == pytest.approx(1 - 3 / sqrt(11), rel=1e-12)
    assert (two_sided(0, 7), two_sided(inf, 7)) == (1, 0)
    assert lower_tail(-1, 1) + lower_tail(1, 1) == pytest.approx(1)
    assert lower_tail(-1, 1) == pytest.approx(0.25)


def test_a_tail_far_out_is_not_rounded_to_0():
    # For many degrees of freedom nearly the normal tail, e^(−t²/2) √(2/π) / t, which is 4.9e-198 · … at 30.
    assert two_sided(30, 10**9) == pytest.approx(exp(-450) * sqrt(2 / 3.14159265) / 30, rel=2e-3)


def test_tails_need_a_degree_of_freedom():
    with pytest.raises(ValueError, match="degrees of freedom"):
        two_sided(1, 0)


@pytest.mark.parametrize("within", [UNBOUNDED, (-2.0, 2.0)])
@pytest.mark.parametrize(("value", "at"), [(0.1, -0.05), (-0.2, -0.05), (1.9, 1.0)])
def test_a_p_value_is_that_of_the_level_whose_interval_ends_there(
    within: Bounds, value: float, at: float
) -> None:
    p = p_above(value, 0.03, 12, within, at)
    assert p is not None
    side = 0 if value > at else 1
    ends = bounds_of(value, 0.03, 12, within, level=1 - 2 * min(p, 1 - p))
    assert ends[side] == pytest.approx(at)
    assert (p < 0.5) is (value > at)


def test_without_a_variance_there_is_no_p_value() -> None:
    assert p_above(0.5, 0.0, 12, UNBOUNDED, 0.0) is None
    assert p_above(2.0, 0.1, 12, (-2.0, 2.0), 0.0) is None
