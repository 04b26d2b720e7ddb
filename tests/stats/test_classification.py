"""How well a rater finds what others call positive."""

import pytest

from annotator.stats.classification import NO_UNIT, classification, f1_of

FIGURES = ("accuracy", "precision", "recall", "f1")


def values(found):
    return tuple(getattr(found, name).value for name in FIGURES)


def found(truth, said, **more):
    return classification(list(truth), list(said), "y", resamples=0, **more)


def test_each_figure_is_a_ratio_of_cells():
    # truth y y y n n n, said y y n y n n: tp 2, fn 1, fp 1, tn 2
    result = found("yyynnn", "yynynn")
    assert (result.tp, result.fp, result.fn, result.tn) == (2, 1, 1, 2)
    assert values(result) == (4 / 6, 2 / 3, 2 / 3, 4 / 6)
    assert {getattr(result, name).n for name in FIGURES} == {6}


def test_a_unit_counts_its_weight():
    # weights 3 2 1 | 3 2 1: tp 3 + 2, fn 1, fp 3, tn 2 + 1
    result = found("yyynnn", "yynynn", weights=[3, 2, 1, 3, 2, 1])
    assert values(result) == pytest.approx((8 / 12, 5 / 8, 5 / 6, 10 / 14))
    assert "weighted" in result.f1.method


def test_missing_units_are_left_out_and_counted():
    result = classification(["y", "n", None, "y"], ["y", None, "y", "y"], "y", resamples=0)
    assert values(result) == (1.0, 1.0, 1.0, 1.0)
    assert (result.accuracy.n, result.accuracy.missing) == (2, 2)
    assert "2 of 4 units left out" in result.accuracy.note


def test_one_class_leaves_what_it_cannot_tell_undefined():
    nothing = found("nn", "nn")
    assert values(nothing) == (1.0, None, None, None)
    assert nothing.precision.note == "nothing was called positive"
    assert nothing.recall.note == "nothing is positive"
    assert values(found("yy", "nn")) == (0.0, None, 0.0, 0.0)
    assert values(found("nn", "yy")) == (0.0, 0.0, None, 0.0)


@pytest.mark.parametrize("units", [0, 3])
def test_without_a_unit_judged_by_both_nothing_is_defined(units):
    result = classification(["y"] * units, [None] * units, "y")
    assert values(result) == (None, None, None, None)
    assert result.f1.note.startswith(NO_UNIT)
    assert result.f1.missing == units


def test_units_that_weigh_nothing_tell_nothing():
    assert found("yn", "yn", weights=[0, 0]).accuracy.note == "the units weigh nothing"


def test_the_interval_is_over_clusters_and_the_same_on_every_run():
    truth, said = ["y", "n"] * 20, ["y", "n", "n", "n"] * 10
    items = [place // 4 for place in range(40)]
    one = classification(truth, said, "y", clusters=items, resamples=500)
    again = classification(truth[::-1], said[::-1], "y", clusters=items[::-1], resamples=500)
    # Every cluster is alike: y y, n n, y n, n n. So no resample differs.
    assert (one.f1.low, one.f1.value, one.f1.high) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert one == again
    assert "10 clusters" in one.f1.method


@pytest.mark.parametrize("weights", [[1], [1, -1], [1, float("nan")], [1, float("inf")]])
def test_weights_that_do_not_fit_are_refused(weights):
    with pytest.raises(ValueError, match="weight"):
        found("yn", "yn", weights=weights)


def test_lists_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="same units"):
        found("yn", "y")


@pytest.mark.parametrize(
    ("precision", "recall", "f1"),
    [(0.83, 0.68, 0.75), (0.75, 0.82, 0.78), (0.75, 0.85, 0.80), (0.80, 0.83, 0.81), (0.85, 0.76, 0.80)],
)
def test_table_2_of_researcherbench_is_consistent(precision, recall, f1):
    # Table 2: DeepSeek R1, Gemini 2.5 Flash, GPT-4.1, o3, o3-mini.
    assert round(f1_of(precision, recall), 2) == f1


@pytest.mark.parametrize(
    ("precision", "recall", "f1"), [(0.91, 0.99, 0.95), (0.83, 0.60, 0.70), (0.85, 0.76, 0.80)]
)
def test_table_9_of_researcherbench_is_consistent(precision, recall, f1):
    # Table 9: Rubric_dim, Rubric_ref, Expert-Designed.
    assert round(f1_of(precision, recall), 2) == f1


def test_f1_by_hand():
    # 2 · (1/2) · (1/3) / (1/2 + 1/3) = (1/3) / (5/6)
    assert f1_of(1 / 2, 1 / 3) == pytest.approx(2 / 5)
    assert f1_of(0.0, 0.0) is None
    with pytest.raises(ValueError, match="shares"):
        f1_of(1.2, 0.5)
