"""How well a rater finds what others call positive."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from annotator.stats.intervals.student import wilson_bounds
from annotator.stats.validation.classification import NO_UNIT, both_ways

FIGURES = ("accuracy", "precision", "recall", "f1")
OTHERS = ("specificity", "balanced_accuracy", "mcc", "kappa", "ac1")


def values(found, names=FIGURES):
    return tuple(getattr(found, name).value for name in names)


def classified(truth, said, positive, weights=None, clusters=None, **more):
    """One of both ways: the weighted one where there are weights."""
    both = both_ways(truth, said, positive, weights or [1] * len(truth), clusters, **more)
    return both.weighted if weights else both.plain


def found(truth, said, **more):
    return classified(list(truth), list(said), "y", **more)


def test_each_figure_is_a_ratio_of_cells():
    # truth y y y n n n, said y y n y n n: tp 2, fn 1, fp 1, tn 2
    result = found("yyynnn", "yynynn")
    assert values(result) == (4 / 6, 2 / 3, 2 / 3, 4 / 6)
    assert {getattr(result, name).n for name in FIGURES} == {6}


def test_a_unit_counts_its_weight():
    # weights 3 2 1 | 3 2 1: tp 3 + 2, fn 1, fp 3, tn 2 + 1
    result = found("yyynnn", "yynynn", weights=[3, 2, 1, 3, 2, 1])
    assert values(result) == pytest.approx((8 / 12, 5 / 8, 5 / 6, 10 / 14))
    assert "weighted" in result.f1.method


def test_agreement_beyond_chance_is_read_off_the_same_cells():
    # tp 5, fn 1, fp 3, tn 3: specificity 3/6; recall 5/6; MCC 12 / √(8 · 6 · 4 · 6); 8/12 agree, by chance
    # (8 · 6 + 4 · 6) / 144 = 1/2; 14 of 24 judgements are positive, so Gwet's chance is 2 · 7/12 · 5/12.
    result = found("yyynnn", "yynynn", weights=[3, 2, 1, 3, 2, 1])
    ac1 = (Fraction(8, 12) - Fraction(70, 144)) / (1 - Fraction(70, 144))
    expected = (1 / 2, (5 / 6 + 1 / 2) / 2, 12 / sqrt(8 * 6 * 4 * 6), 1 / 3, float(ac1))
    assert values(result, OTHERS) == pytest.approx(expected)


# Labels of people, verdicts of a judge and weights of criteria, and the formulas of ResearcherBench (§4.3.1: accuracy,
# precision, recall and F1 with “covered” as the positive class) written out, a pair counting one or its weight.
COVERED = [True, True, False, True, False, False, True, True, False, True, False, True]
JUDGED = [True, False, False, True, True, False, True, True, False, False, True, True]
IMPORTANCE = [3, 2, 2, 1, 3, 1, 2, 3, 2, 2, 1, 3]


@pytest.mark.parametrize("weights", [None, IMPORTANCE])
def test_the_figures_are_those_of_researcherbenchs_formulas(weights):
    pairs = list(zip(COVERED, JUDGED, weights or [1] * 12, strict=True))
    right = Fraction(sum(w for label, verdict, w in pairs if label == verdict), sum(w for _, _, w in pairs))
    both = sum(w for label, verdict, w in pairs if label and verdict)
    precision = Fraction(both, sum(w for _, verdict, w in pairs if verdict))
    recall = Fraction(both, sum(w for label, _, w in pairs if label))
    f1 = 2 * precision * recall / (precision + recall)
    result = classified(COVERED, JUDGED, True, weights)
    assert values(result) == pytest.approx([float(figure) for figure in (right, precision, recall, f1)])


def test_units_that_all_weigh_one_count_as_they_do_unweighted():
    result = both_ways(COVERED, JUDGED, True, [1] * 12)
    assert values(result.weighted) == values(result.plain)
    assert values(result.weighted) != values(both_ways(COVERED, JUDGED, True, IMPORTANCE).weighted)


def test_all_figures_of_one_pass_have_intervals_over_the_same_items():
    rng = np.random.default_rng(8)
    truth = rng.random(300) < 0.4
    said = np.where(rng.random(300) < 0.8, truth, ~truth)
    weights = rng.choice([1, 2, 3], 300).tolist()
    result = both_ways(truth, said, True, weights, np.arange(300) // 10)
    for way in (result.plain, result.weighted):
        for name in (*FIGURES, *OTHERS):
            one = getattr(way, name)
            assert one.low < one.value < one.high
            assert "95% Wilson score interval, jackknife over 30 clusters" in one.method


def test_missing_units_are_left_out_and_counted():
    result = classified(["y", "n", None, "y"], ["y", None, "y", "y"], "y")
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


def test_one_class_has_neither_kappa_nor_balanced_accuracy_but_reasons():
    result = found("nnn", "nnn")
    assert values(result, OTHERS) == (1.0, None, None, None, 1.0)
    assert "only one class occurs" in result.balanced_accuracy.note
    assert "one class only" in result.mcc.note
    assert "chance alone agrees as often" in result.kappa.note


@pytest.mark.parametrize("letters", ["nnn", "yyy"])
def test_a_1_of_one_class_data_is_never_bare(letters):
    result = found(letters, letters)
    full = [getattr(result, name) for name in (*FIGURES, *OTHERS) if getattr(result, name).value == 1.0]
    assert len(full) >= 3
    assert all("all judgements are of one category" in one.note for one in full)
    assert "one category" not in found("nny", "nny").accuracy.note


@pytest.mark.parametrize("units", [0, 3])
def test_without_a_unit_judged_by_both_nothing_is_defined(units):
    result = classified(["y"] * units, [None] * units, "y")
    assert values(result) == (None, None, None, None)
    assert result.f1.note.startswith(NO_UNIT)
    assert result.f1.missing == units


def test_units_that_weigh_nothing_tell_nothing():
    assert found("yn", "yn", weights=[0, 0]).accuracy.note == "the units weigh nothing"


def test_the_interval_is_over_clusters_and_the_same_on_every_run():
    truth, said = ["y", "n"] * 20, ["y", "n", "n", "n"] * 10
    items = [place // 4 for place in range(40)]
    one = classified(truth, said, "y", clusters=items)
    again = classified(truth[::-1], said[::-1], "y", clusters=items[::-1])
    # Every cluster is alike: y y, n n, y n, n n. So nothing is known of how clusters differ, and 40 units bound it.
    assert (one.f1.low, one.f1.high) == pytest.approx(wilson_bounds(2 / 3, 40, 2.262157), abs=1e-6)
    assert one == again
    assert "10 clusters" in one.f1.method


@pytest.mark.parametrize("weights", [[1], [1, -1], [1, float("nan")], [1, float("inf")]])
def test_weights_that_do_not_fit_are_refused(weights):
    with pytest.raises(ValueError, match="weight"):
        found("yn", "yn", weights=weights)


def test_lists_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="same units"):
        found("yn", "y")


# Precision, recall and F1 as printed. Table 2: DeepSeek R1, Gemini 2.5 Flash, GPT-4.1, o3, o3-mini; Table 9: the
# dimension-based, the reference-based and the experts' rubrics.
PRINTED = (
    (0.83, 0.68, 0.75), (0.75, 0.82, 0.78), (0.75, 0.85, 0.80), (0.80, 0.83, 0.81), (0.85, 0.76, 0.80),
    (0.91, 0.99, 0.95), (0.83, 0.60, 0.70),
)  # fmt: skip


@pytest.mark.parametrize(("precision", "recall", "f1"), PRINTED)
def test_units_of_the_printed_precision_and_recall_give_the_printed_f1(precision, recall, f1):
    tp = 2000
    fp, fn = round(tp * (1 - precision) / precision), round(tp * (1 - recall) / recall)
    told = found("y" * (tp + fn) + "n" * fp, "y" * tp + "n" * fn + "y" * fp)
    assert round(told.f1.value, 2) == f1


def test_units_that_make_the_row_of_o3_mini_give_all_its_figures():
    # Of 1000 pairs 642 covered: tp 488, fn 154, fp 86, tn 272. P 488/574, R 488/642, accuracy 760/1000.
    told = found("y" * 642 + "n" * 358, "y" * 488 + "n" * 154 + "y" * 86 + "n" * 272)
    figures = (told.accuracy, told.precision, told.recall, told.f1)
    assert [round(one.value, 2) for one in figures] == [0.76, 0.85, 0.76, 0.80]


def test_missing_judgements_leave_a_share_a_range_and_kappa_none() -> None:
    found = both_ways(["yes", "yes", "yes", "no"], ["yes", "no", None, "no"], "yes", [1, 1, 1, 1]).plain
    spans = [(one.value, one.floor, one.ceiling) for one in (found.accuracy, found.recall, found.precision)]
    # Wrong or right, it makes two or three of four; of the positive ones, one or two of three.
    assert spans == [(2 / 3, 2 / 4, 3 / 4), (1 / 2, 1 / 3, 2 / 3), (1, 1, 1)]
    assert (found.kappa.floor, found.kappa.missing) == (None, 1)
