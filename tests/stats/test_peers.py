"""Figures, tests and intervals are those of packages in wide use, and those that papers published."""

import json
import re
import warnings
from math import isnan
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from annotator.domain.texts.estimate import FEWEST, SHARE, Estimate, cut, few, settled
from annotator.stats.agreement.agreement import cohen_kappa, krippendorff_alpha, percent_agreement
from annotator.stats.agreement.levels import kendall_tau_b, pearson, spearman
from annotator.stats.intervals.clustered import Statistic, benjamini_yekutieli, holm, intervals, over, tallied
from annotator.stats.intervals.student import lower_tail, two_sided, wilson
from annotator.stats.validation.comparison import alt_test, both_ways
from tests.stats.agreement_oracles import PATH, icc, needs_oracles

peer = pytest.importorskip("scipy.stats", reason="scipy comes with the development tools")
metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn does, too")
inter_rater = pytest.importorskip("statsmodels.stats.inter_rater", reason="statsmodels does, too")
multitest = pytest.importorskip("statsmodels.stats.multitest", reason="statsmodels does, too")
proportion = pytest.importorskip("statsmodels.stats.proportion", reason="statsmodels does, too")
krippendorff = pytest.importorskip("krippendorff", reason="krippendorff does, too")

# Nine in ten are of one class, and some are missing.
SKEWED = ["no"] * 9 + ["yes"]
words = st.sampled_from([*SKEWED, None])
grades = st.sampled_from([0, 0, 0, 0, 1, 2, 3, None])
weights = st.sampled_from([0.5, 1.0, 2.0, 3.0])
small = st.one_of(st.none(), st.integers(-3, 3))
many = settings(max_examples=50)
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
    assert same(result, quietly(metrics.cohen_kappa_score, *zip(*pairs, strict=True)) if pairs else None)


@pytest.mark.parametrize("name", ["linear", "quadratic"])
@given(rows=st.lists(st.tuples(grades, grades), min_size=1, max_size=60))
@many
def test_weighted_kappa_is_scikit_learns(name, rows):
    result, pairs = cohen_kappa(*zip(*rows, strict=True), name, range(4)), whole(rows)
    columns = list(zip(*pairs, strict=True))
    theirs = quietly(metrics.cohen_kappa_score, *columns, weights=name, labels=range(4)) if pairs else None
    assert same(result, theirs)


def by_scikit_learn(truth, said, heavy):
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
        assert result[0]["accuracy"].value is None
        return
    truth, said, heavy = (list(column) for column in zip(*used, strict=True))
    for ours, given_weights in zip(result, (None, heavy), strict=True):
        theirs = quietly(by_scikit_learn, truth, said, given_weights)
        assert {name for name in FIGURES if not same(ours[name], theirs[name])} == set()


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


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
@many
def test_adjusted_ps_are_statsmodels(ps):
    # The peer collects garbage on every call, which takes long beside all that other tests have loaded.
    with patch("gc.collect"):
        by_holm, by_yekutieli = (multitest.multipletests(ps, method=how)[1] for how in ("holm", "fdr_by"))
    assert (holm(ps), benjamini_yekutieli(ps)) == (pytest.approx(by_holm), pytest.approx(by_yekutieli))


@given(st.integers(FEWEST, 500), st.data())
@many
def test_wilson_is_statsmodels(n, data):
    successes = data.draw(st.integers(0, n))
    result = wilson(successes, n)
    assert (result.low, result.high) == pytest.approx(
        proportion.proportion_confint(successes, n, method="wilson"), abs=1e-12
    )


@pytest.mark.parametrize(
    ("ours", "theirs"), [(pearson, "pearsonr"), (spearman, "spearmanr"), (kendall_tau_b, "kendalltau")]
)
@given(rows=st.lists(st.tuples(small, small), min_size=3, max_size=40))
@many
def test_correlations_are_scipys(ours, theirs, rows):
    result = ours(*zip(*rows, strict=True))
    if result.value is None or abs(result.value) == 1:
        return
    pairs = [row for row in rows if None not in row]
    scipys = getattr(peer, theirs)(*zip(*pairs, strict=True))
    assert result.value == pytest.approx(scipys.statistic, abs=1e-9)


@given(st.floats(-60, 60), st.integers(1, 400))
@many
def test_tails_of_t_are_scipys(t, df):
    assert two_sided(t, df) == pytest.approx(2 * peer.t.sf(abs(t), df), rel=1e-9)
    assert lower_tail(t, df) == pytest.approx(peer.t.cdf(t, df), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_of_a_mean_over_clusters_is_scipys(seed):
    values = np.random.default_rng(seed).exponential(size=40)

    def mean(sums):
        return over(sums[:, 1], sums[:, 0])

    (result,) = intervals(tallied(np.column_stack([np.ones(40), values]), None), [Statistic(mean)])
    theirs = peer.t.interval(0.95, 39, values.mean(), peer.sem(values))
    assert (result.low, result.high) == pytest.approx(theirs)


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=20))
@many
def test_the_first_intraclass_correlation_is_that_of_an_analysis_of_variance(rows):
    result = icc(list(zip(*rows, strict=True)), "1,1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = peer.f_oneway(*rows).statistic
    if np.isfinite(f):
        assert result == pytest.approx((f - 1) / (f + 2), abs=1e-9)


def one_against_all(people, judge, person, epsilon):
    """ρ of the judge and the p against one person, unit by unit as the paper defines them."""
    others = [said for name, said in people.items() if name != person]
    judge_wins, leads = [], []
    for unit, own in enumerate(people[person]):
        rest = [said[unit] for said in others if said[unit] is not None]
        if own is None or judge[unit] is None or not rest:
            continue
        by_judge, by_person = (np.mean([value == other for other in rest]) for value in (judge[unit], own))
        judge_wins.append(by_judge >= by_person)
        leads.append(int(by_person >= by_judge) - int(by_judge >= by_person))
    return np.mean(judge_wins), peer.ttest_1samp(leads, epsilon, alternative="less").pvalue


@pytest.mark.parametrize("seed", range(5))
def test_the_alternative_annotator_test_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    said = rng.choice(["a", "b", "c"], (4, 80)).tolist()
    people = {i: [None if rng.random() < 0.2 else value for value in row] for i, row in enumerate(said[:3])}
    result = alt_test(people, said[3], epsilon=0.1)
    expected = [one_against_all(people, said[3], person, 0.1) for person in people]
    assert [one.judge for one in result.people] == pytest.approx([rate for rate, _ in expected])
    assert [one.p for one in result.people] == pytest.approx([p for _, p in expected])
    rejected = multitest.multipletests([p for _, p in expected], 0.05, method="fdr_by")[0]
    assert result.winning_rate.value == pytest.approx(np.mean(rejected))


# Of figures that no page shows: Fleiss' κ, Student's paired t, the prediction-powered mean of independent units, the
# accelerated bootstrap; and of McNemar's test, which is computed no more.
NOT_SHOWN = {
    "fleiss_1971",
    "mcnemar",
    "fleiss_wikipedia",
    "student_sleep_1908",
    "ppi_mean_cross_check",
    "bca_efron_tibshirani_1993_spatial_A",
}


@needs_oracles
def test_every_entry_is_asked_for() -> None:
    asked = "".join(path.read_text("utf-8") for path in Path(__file__).parent.rglob("test_*.py"))
    entries = {name for name in json.loads(PATH.read_text("utf-8")) if not name.startswith("_")} - NOT_SHOWN
    assert {name for name in entries if not re.search(rf'"{re.escape(name)}"', asked)} == set()


def interval(count: int, low: float = 0.4, high: float = 0.6, **rest: object) -> Estimate:
    return settled(Estimate(0.5, low, high, n=count), count, **rest)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_fewer_than_five_items_give_no_interval_but_a_reason(count: int):
    result = interval(count)
    assert (result.value, result.low, result.high) == (0.5, None, None)
    assert result.note == few(count) != ""


@pytest.mark.parametrize("count", [5, 9])
def test_fewer_than_ten_items_give_a_rough_interval(count: int):
    result = interval(count)
    assert (result.low, result.high, result.note) == (0.4, 0.6, f"{count} items only: the interval is rough")


def test_ten_items_give_an_interval_without_a_remark():
    assert interval(10) == Estimate(0.5, 0.4, 0.6, n=10)


def test_an_interval_ends_where_its_figure_does_and_says_so():
    result = interval(10, -0.2, 1.3, within=SHARE)
    assert (result.low, result.high) == (0.0, 1.0)
    assert "cut at 0 and 1" in result.note


def test_the_interval_of_a_value_beyond_its_bounds_reaches_it():
    result = cut(Estimate(1.1, 0.9, 1.3), SHARE)
    assert (result.low, result.high) == (0.9, 1.1)


def test_what_is_undefined_keeps_its_own_reason():
    assert settled(Estimate(None, note="no label"), 2) == Estimate(None, note="no label")
