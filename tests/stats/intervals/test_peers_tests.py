"""That tests and intervals are those of packages in wide use, over random cases with gaps."""

import warnings
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from annotator.domain.texts.estimate import FEWEST
from annotator.stats.agreement.levels import kendall_tau_b, pearson, spearman
from annotator.stats.intervals.clustered import Statistic, benjamini_yekutieli, holm, intervals, over, tallied
from annotator.stats.intervals.student import lower_tail, two_sided, wilson
from annotator.stats.validation.comparison import alt_test
from tests.stats.agreement_oracles import icc

peer = pytest.importorskip("scipy.stats", reason="scipy comes with the development tools")
multitest = pytest.importorskip("statsmodels.stats.multitest", reason="statsmodels does, too")
proportion = pytest.importorskip("statsmodels.stats.proportion", reason="statsmodels does, too")

small = st.one_of(st.none(), st.integers(-3, 3))
many = settings(max_examples=50)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
@many
def test_adjusted_ps_are_statsmodels(ps):
    # The peer collects garbage on every call, which takes long beside all that other tests have loaded.
    with patch("gc.collect"):
        by_holm, by_yekutieli = (multitest.multipletests(ps, method=how)[1] for how in ("holm", "fdr_by"))
    assert holm(ps) == pytest.approx(by_holm)
    assert benjamini_yekutieli(ps) == pytest.approx(by_yekutieli)


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

    tally = tallied(np.column_stack([np.ones(40), values]), None)
    (result,) = intervals(tally, [Statistic(mean)])
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
