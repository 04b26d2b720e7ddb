"""That figures of agreement are those of packages in wide use, over random cases with gaps and rare classes."""

import warnings
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from annotator.stats.agreement.agreement import cohen_kappa, krippendorff_alpha, percent_agreement
from annotator.stats.validation.comparison import both_ways

metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn comes with the development tools")
inter_rater = pytest.importorskip("statsmodels.stats.inter_rater", reason="statsmodels does, too")
krippendorff = pytest.importorskip("krippendorff", reason="krippendorff does, too")

# Nine in ten are of one class, and some are missing.
SKEWED = ["no"] * 9 + ["yes"]
words = st.sampled_from([*SKEWED, None])
grades = st.sampled_from([0, 0, 0, 0, 1, 2, 3, None])
weights = st.sampled_from([0.5, 1.0, 2.0, 3.0])
many = settings(max_examples=40)
FIGURES = ("accuracy", "precision", "recall", "specificity", "f1", "balanced_accuracy", "mcc", "kappa")


def quietly(call, *arguments, **named):
    """What a peer says without its warnings: of what is undefined it warns and gives NaN or a number of its own."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return call(*arguments, **named)


def same(ours, theirs):
    return (
        ours.value is None
        if theirs is None or isnan(theirs)
        else ours.value == pytest.approx(theirs, abs=1e-9)
    )


def whole(rows):
    return [row for row in rows if None not in row]


@given(st.lists(st.tuples(words, words), min_size=1, max_size=60))
@many
def test_kappa_of_two_classes_is_scikit_learns(rows):
    result, pairs = cohen_kappa(*zip(*rows, strict=True)), whole(rows)
    assert result.n == len(pairs)
    theirs = quietly(metrics.cohen_kappa_score, *zip(*pairs, strict=True)) if pairs else None
    assert same(result, theirs)


@pytest.mark.parametrize("name", ["linear", "quadratic"])
@given(rows=st.lists(st.tuples(grades, grades), min_size=1, max_size=60))
@many
def test_weighted_kappa_is_scikit_learns(name, rows):
    result, pairs = cohen_kappa(*zip(*rows, strict=True), name, range(4)), whole(rows)
    columns = list(zip(*pairs, strict=True))
    theirs = quietly(metrics.cohen_kappa_score, *columns, weights=name, labels=range(4)) if pairs else None
    assert same(result, theirs)


def by_scikit_learn(truth, said, heavy):
    """The figures, None where the peer has no answer of its own."""
    given_weights = {"sample_weight": heavy}
    binary = {"pos_label": "yes", "zero_division": np.nan, **given_weights}
    classes, called = set(truth), set(said)
    return {
        "accuracy": metrics.accuracy_score(truth, said, **given_weights),
        "precision": metrics.precision_score(truth, said, **binary),
        "recall": metrics.recall_score(truth, said, **binary),
        "specificity": metrics.recall_score(truth, said, **(binary | {"pos_label": "no"})),
        "f1": metrics.f1_score(truth, said, **binary),
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, said, **given_weights)
        if len(classes) > 1
        else None,
        "mcc": metrics.matthews_corrcoef(truth, said, **given_weights)
        if min(len(classes), len(called)) > 1
        else None,
        "kappa": metrics.cohen_kappa_score(truth, said, labels=["no", "yes"], **given_weights),
    }


@given(st.lists(st.tuples(words, words, weights), min_size=1, max_size=60))
@settings(max_examples=30)
def test_the_figures_of_four_cells_are_scikit_learns(rows):
    result, used = (
        both_ways(*list(zip(*rows, strict=True))[:2], "yes", [w for *_, w in rows]),
        whole(rows),
    )
    if not used:
        assert result.plain.accuracy.value is None
        return
    truth, said, heavy = (list(column) for column in zip(*used, strict=True))
    for ours, given_weights in ((result.plain, None), (result.weighted, heavy)):
        theirs = quietly(by_scikit_learn, truth, said, given_weights)
        assert {name for name in FIGURES if not same(getattr(ours, name), theirs[name])} == set()


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@given(rows=st.lists(st.tuples(grades, grades, grades), min_size=1, max_size=40))
@many
def test_alpha_is_that_of_the_krippendorff_package(level, rows):
    raters = list(zip(*rows, strict=True))
    result = krippendorff_alpha(raters, level, range(4) if level == "ordinal" else None)
    values = {value for row in rows for value in row if value is not None}
    pairable = {
        value for row in rows if sum(v is not None for v in row) > 1 for value in row if value is not None
    }
    if len(pairable) < 2:
        assert result.value is None
        return
    grid = np.array([[np.nan if value is None else float(value) for value in rater] for rater in raters])
    theirs = quietly(
        krippendorff.alpha,
        reliability_data=grid,
        level_of_measurement=level,
        value_domain=sorted(map(float, values)),
    )
    assert same(result, theirs)


@given(st.lists(st.lists(st.integers(0, 20), min_size=3, max_size=3), min_size=3, max_size=3))
@many
def test_kappa_is_statsmodels(table):
    counts = np.array(table)
    first, second = np.indices(counts.shape)
    raters = first.ravel().repeat(counts.ravel()), second.ravel().repeat(counts.ravel())
    result = cohen_kappa(*raters, categories=range(3))
    if result.value is None or counts.sum() == 0:
        return
    theirs = quietly(inter_rater.cohens_kappa, counts)
    assert result.value == pytest.approx(theirs.kappa, abs=1e-9)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=60))
@many
def test_percent_agreement_is_scikit_learns_accuracy(rows):
    result, pairs = percent_agreement(rows), whole(rows)
    assert same(result, metrics.accuracy_score(*zip(*pairs, strict=True)) if pairs else None)
