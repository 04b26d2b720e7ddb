"""Rubrics and sets of them, attempts, and the front."""

import json
from itertools import combinations
from math import comb
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given, strategies as st

from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.researcherbench.coverage import weighted
from annotator.stats.validation.duels import (
    best_of,
    dominates,
    expected_best,
    pareto_front,
    pass_at_k,
    standings,
)
from annotator.stats.validation.rubrics import (
    CriterionReach,
    CriterionVote,
    RubricSet,
    criterion_agreement,
    discrimination,
    gap,
    side_by_side,
    weight_shares,
)

PUBLIC = Path(__file__).parents[3] / "../shared/data/researcherbench/rubric.json"
# Appendix G.2, Table 8: coverage under Rubric_dim, Rubric_ref and the expert-designed rubrics.
TABLE_8 = {
    "OpenAI Deep Research": (0.9693, 0.6527, 0.7032),
    "Gemini Deep Research": (0.9792, 0.6706, 0.6929),
    "Claude Research": (0.9635, 0.5616, 0.6113),
    "Mita Deep Research": (0.9706, 0.5628, 0.5835),
    "Doubao Deep Research": (0.9564, 0.5130, 0.5754),
    "Perplexity Deep Research": (0.9552, 0.3921, 0.4800),
    "Grok3 DeepSearch": (0.9390, 0.4074, 0.4414),
    "Grok3 DeeperSearch": (0.9526, 0.4021, 0.4398),
    "Sonar Reasoning Pro": (0.9358, 0.4111, 0.4663),
    "GPT-4o Search Preview": (0.8734, 0.2813, 0.3576),
}
VALUES = {"y": "yes", "n": "no", ".": None}


def votes(criterion_id, values, per_system=1):
    """One vote per letter: so many responses of each system, one system after another."""
    return [
        CriterionVote(criterion_id, f"s{n // per_system}", f"r{n}", VALUES[value])
        for n, value in enumerate(values)
    ]


def one(values, per_system=1):
    (result,) = discrimination(votes("c", values, per_system))
    return result


# Discrimination


def test_the_spread_is_the_deviation_of_pass_rates_over_systems():
    # s0 2/2, s1 1/2, s2 0/2: mean 1/2, variance (1/4 + 0 + 1/4) / 3 = 1/6
    result = one("yyynnn", per_system=2)
    assert result.rates == {"s0": 1.0, "s1": 0.5, "s2": 0.0}
    assert result.spread.value == pytest.approx((1 / 6) ** 0.5)
    assert (result.spread.n, result.reach) == (3, CriterionReach.APART)


@pytest.mark.parametrize(
    ("values", "spread", "reach", "missing"),
    [
        # Half passing is the widest spread; what all or none pass tells nothing apart.
        ("yn", 1 / 2, CriterionReach.APART, 0),
        ("yyyy", 0.0, CriterionReach.CEILING, 0),
        ("nnnn", 0.0, CriterionReach.FLOOR, 0),
        # A missing vote leaves open what it could change.
        ("yy.", 0.0, CriterionReach.OPEN, 1),
        ("nn.", 0.0, CriterionReach.OPEN, 1),
        ("yn.", 1 / 2, CriterionReach.APART, 1),
    ],
)
def test_what_all_or_none_pass_tells_nothing_apart(values, spread, reach, missing):
    result = one(values)
    assert (result.spread.value, result.reach, result.spread.missing) == (spread, reach, missing)
    assert not missing or ("1 of 3" in result.spread.note, result.rates["s2"]) == (True, None)


@pytest.mark.parametrize("values", ["y", "y.", ".."])
def test_fewer_than_two_systems_have_no_spread(values):
    spread = one(values).spread
    assert (spread.value, "too few" in spread.note) == (None, True)


def test_criteria_keep_their_order_and_strange_votes_are_refused():
    result = discrimination([*votes("b", "yn"), *votes("a", "yy")])
    assert [one.criterion_id for one in result] == ["b", "a"]
    with pytest.raises(ValueError, match="yes or no"):
        discrimination([CriterionVote("c", "s", "r", "maybe")])


# Agreement


def test_kappa_is_given_for_each_criterion():
    # y y n n against y n n n: agreed 3/4, by chance 1/2·1/4 + 1/2·3/4 = 1/2; κ = 1/2.
    result = criterion_agreement(votes("c", "yynn"), [*votes("c", "ynnn"), *votes("d", "y")])
    assert (result["c"].kappa.value, result["c"].percent.value) == (pytest.approx(1 / 2), 3 / 4)
    assert (result["d"].kappa.value, result["d"].percent.value, result["d"].kappa.n) == (None, None, 0)


def test_one_class_has_percent_agreement_and_no_kappa():
    result = criterion_agreement(votes("c", "yyy"), votes("c", "yyy"))["c"]
    assert (result.percent.value, result.kappa.value, result.kappa.note != "") == (1.0, None, True)


def test_a_response_that_one_did_not_judge_is_missing():
    percent = criterion_agreement(votes("c", "yn."), votes("c", "yny"))["c"].percent
    assert (percent.value, percent.n, percent.missing) == (1.0, 2, 1)
    with pytest.raises(ValueError, match="two votes"):
        criterion_agreement([*votes("c", "y"), *votes("c", "n")], [])


# The gap


@pytest.mark.parametrize(("place", "percent"), [(0, 10.58), (1, 38.93), (2, 34.56)])
def test_the_gaps_of_table_8(place, percent):
    # Appendix G.2 names 10.58 % for Rubric_dim and 38.93 % for Rubric_ref; of the experts' it is .7032 − .3576.
    result = gap({system: row[place] for system, row in TABLE_8.items()})
    assert (round(100 * result.value, 2), result.n) == (percent, 10)
    assert result.note.endswith("worst GPT-4o Search Preview")


def test_a_system_without_a_score_is_left_out_of_the_gap():
    result = gap({"a": 0.5, "b": None, "c": 0.25})
    assert (result.value, result.n, "1 of 3" in result.note) == (0.25, 2, True)
    assert (gap({"a": 0.5, "b": None}).value, gap({}).value) == (None, None)


# Weights


def test_the_public_rubrics_weigh_as_table_10_says():
    if not PUBLIC.exists():
        pytest.skip("the public data of ResearcherBench are not beside this checkout")
    rubrics = [
        Rubric(units=tuple(Criterion(text=line["point"], weight=line["weight"]) for line in entry["rubric"]))
        for entry in json.loads(PUBLIC.read_text(encoding="utf-8"))
    ]
    result = weight_shares(rubrics)
    assert [round(100 * result[w].value, 2) for w in (1, 2, 3)] == [35.45, 50.91, 13.64]
    assert result[1].n == 931


def test_weight_shares_by_hand():
    # 1 3 | 3 3: 1/4, 0/4, 3/4
    rubrics = [Rubric(units=tuple(Criterion(text="x", weight=w) for w in ws)) for ws in ((1, 3), (3, 3))]
    assert {w: share.value for w, share in weight_shares(rubrics).items()} == {1: 1 / 4, 2: 0.0, 3: 3 / 4}
    assert {share.value for share in weight_shares([Rubric()]).values()} == {None}


EXPERT = ("Explains why retrieval lowers the error rate", "Compares the cost of both architectures")
MODEL = ("Explains why the error rate is lowered by retrieval", "Is pleasant to read", "Has headings")


def rubric(texts, weights=None, prefix="c"):
    weights = weights or [1] * len(texts)
    return Rubric(
        units=tuple(
            Criterion(id=f"{prefix}{n}", text=t, weight=w)
            for n, (t, w) in enumerate(zip(texts, weights, strict=True))
        )
    )


def said(values, prefix="c"):
    return {f"{prefix}{n}": {"y": "yes", "n": "no"}[v] for n, v in enumerate(values) if v != "."}


def sets(expert, model, items=("i",)):
    a = RubricSet(
        "expert", {i: rubric(EXPERT, [3, 1]) for i in items}, {k: said(v) for k, v in expert.items()}
    )
    b = RubricSet("model", {i: rubric(MODEL) for i in items}, {k: said(v) for k, v in model.items()})
    return a, b


def score(rubric, verdicts):
    return weighted([(unit.weight, verdicts.get(unit.id)) for unit in rubric.units]).value


def beside(a, b):
    return side_by_side((a, b), score)


def test_the_same_responses_are_scored_by_both():
    # expert: s 3/4, t 1/4; model: s 3/3, t 2/3. Gaps 1/2 and 1/3.
    both = beside(*sets({("i", "s"): "yn", ("i", "t"): "ny"}, {("i", "s"): "yyy", ("i", "t"): "nyy"}))
    scores = {system: [score.value for score in of] for system, of in both.scores.items()}
    assert scores == {"s": [0.75, 1.0], "t": [0.25, 2 / 3]}
    assert [gap.value for gap in both.gaps] == pytest.approx([0.5, 1 / 3])


def test_all_missing_leaves_no_score_and_no_gap():
    both = beside(*sets({("i", "s"): ".."}, {("i", "s"): "yyy"}))
    assert ([score.value for score in both.scores["s"]], both.gaps[0].value) == ([None, None], None)


@pytest.mark.usefixtures("small_cases")
def test_a_systems_score_is_the_mean_over_items():
    # expert: 3/4 and 4/4; model: 1/3 and 3/3
    expert, model = {("i", "s"): "yn", ("j", "s"): "yy"}, {("i", "s"): "ynn", ("j", "s"): "yyy"}
    x, y = beside(*sets(expert, model, ("i", "j"))).scores["s"]
    assert (x.value, y.value) == (7 / 8, pytest.approx(2 / 3))
    assert (x.n, x.low is not None) == (2, True)


def test_what_is_missing_under_one_set_is_left_out_of_both():
    expert, model = {("i", "s"): "yn", ("j", "s"): "yy"}, {("i", "s"): "ynn", ("j", "s"): "y.y"}
    x, y = beside(*sets(expert, model, ("i", "j"))).scores["s"]
    assert (x.value, y.value, x.n, y.n) == (3 / 4, 1 / 3, 1, 1)
    assert "1 of 2 items left out" in x.note


def test_criteria_that_say_the_same_are_aligned_and_weights_stand_beside_each_other():
    both = beside(*sets({}, {}))
    ((first, second, _),) = both.alignments["i"].pairs
    # 2 · 1 / (2 + 3)
    assert (first, second, both.matched.value, both.matched.n) == (0, 0, 2 / 5, 5)
    shares = [[share.value for share in of.values()] for of in both.weights]
    assert shares == [[1 / 2, 0.0, 1 / 2], [1.0, 0.0, 0.0]]


def test_sets_without_a_common_item_have_nothing_to_compare():
    a, b = RubricSet("a", {"i": rubric(EXPERT)}), RubricSet("b", {"j": rubric(MODEL)})
    both = beside(a, b)
    assert (both.items, both.scores, both.matched.value, both.gaps[1].value) == ((), {}, None, None)
    assert {share.value for share in both.weights[0].values()} == {None}


def test_only_items_and_systems_of_both_sets_count():
    a, b = sets({("i", "s"): "yy", ("i", "t"): "yy"}, {("i", "s"): "yyy", ("i", "u"): "yyy"})
    assert list(beside(a, b).scores) == ["s"]


def outcomes(n, passed):
    return [1.0] * passed + [0.0] * (n - passed)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.data())
def test_the_expected_best_is_the_mean_over_all_subsets(scores, data):
    k = data.draw(st.integers(1, len(scores)))
    assert expected_best(scores, k) == pytest.approx(fmean(map(max, combinations(scores, k))))


@given(st.integers(1, 8), st.data())
def test_for_passed_or_failed_it_is_the_estimator_of_chen_and_others(n, data):
    # Chen et al. 2021, §2.1: 1 − C(n − c, k) / C(n, k).
    passed, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert expected_best(outcomes(n, passed), k) == pytest.approx(1 - comb(n - passed, k) / comb(n, k))


@pytest.mark.parametrize(("n", "k"), [(2, 3), (2, 0), (0, 1)])
def test_the_best_of_more_runs_than_there_are_or_of_none_is_refused(n, k):
    with pytest.raises(ValueError, match=f"best of {k} of {n}"):
        expected_best([0.5] * n, k)


def known(*values):
    return [Estimate(value, n=1, floor=value, ceiling=value) for value in values]


def missing(floor, ceiling):
    return Estimate(None, missing=1, floor=floor, ceiling=ceiling)


def test_table_7_best_of_three_runs_of_ten_items():
    # Retrieval, research papers, Perplexity: pass@1 70.00, pass@3 80.00. Seven items are found by every run, two by
    # none, one by no run but the last: the best of three runs of each is 8/10.
    runs = {f"found {n}": known(1, 1, 1) for n in range(7)}
    runs |= {f"not {n}": known(0, 0, 0) for n in range(2)} | {"late": known(0, 0, 1)}
    assert pass_at_k(runs, 3).value == 8 / 10
    # By its first run alone 7/10, as printed; any one of the three finds (7 + 1/3) / 10 on average.
    assert pass_at_k({item: own[:1] for item, own in runs.items()}, 1).value == 7 / 10
    assert pass_at_k(runs, 1).value == pytest.approx((7 + 1 / 3) / 10)


def test_scores_between_nought_and_one_take_the_mean_best_of_all_pairs():
    # Item a: pairs of .2, .4, .9 have bests .4, .9, .9; item b: .5, .5, .5. Mean ((2.2 / 3) + .5) / 2.
    result = pass_at_k({"a": known(0.2, 0.4, 0.9), "b": known(0.5, 0.5, 0.5)}, 2)
    assert (result.value, result.n, result.missing) == (pytest.approx((2.2 / 3 + 0.5) / 2), 2, 0)


@pytest.mark.parametrize(
    ("runs", "k", "value", "bounds", "missing", "note"),
    [
        # Of .5 and [.25, 1] the best is at least .5 and at most 1.
        ([*known(0.5), missing(0.25, 1.0)], 2, None, (0.5, 1.0), 1, "1 judgement missing in its runs"),
        # A run with nothing to score is no run.
        ([*known(0.5), Estimate(None, note="no claims")], 1, 0.5, (0.5, 0.5), 0, ""),
        (known(1.0), 2, None, (None, None), 0, "1 scored runs are fewer than 2"),
    ],
)
def test_a_run_that_is_not_fully_judged_leaves_a_range(runs, k, value, bounds, missing, note):
    result = best_of(runs, k)
    assert (result.value, (result.floor, result.ceiling)) == (value, bounds)
    assert (result.missing, result.note) == (missing, note)


def test_too_few_runs_leave_an_item_out():
    result = pass_at_k({"a": known(0.5, 1.0), "b": known(1.0)}, 2)
    assert (result.value, result.n, pass_at_k({}, 3).value) == (1.0, 1, None)
    few = "1 item is too few for an interval, which takes 5"
    assert result.note == f"{few}; 1 of 2 items left out: no defined score"


def test_k_is_at_least_one():
    with pytest.raises(ValueError, match="best of 0"):
        best_of(known(1.0), 0)


POINTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


@pytest.mark.parametrize(
    ("one", "other", "so"),
    [((2, 1), (1, 1), True), ((1, 0), (1, 1), True), ((1, 1), (1, 1), False), ((2, 2), (1, 1), False)],
)
def test_better_on_one_and_as_good_on_the_other_dominates(one, other, so):
    assert dominates(one, other) is so


def test_the_front_runs_from_the_cheapest_up():
    # Score, cost: (5, 9) and (1, 1) and (3, 2) are on it; (3, 4) and (2, 2) are beaten by (3, 2).
    assert pareto_front([(5, 9), (3, 4), (1, 1), (2, 2), (3, 2)]) == (2, 4, 0)


@given(POINTS)
def test_the_front_is_what_nobody_dominates(points):
    free = {i for i, one in enumerate(points) if not any(dominates(other, one) for other in points)}
    assert set(pareto_front(points)) == free


# The front: Table 2 (Avg. accuracy) against Table 11 (dollars a task)

RETRIEVAL = [("OpenAI", 31.35, 1.76), ("Perplexity", 34.82, 0.68), ("Grok", 39.81, 0.36)]
REASONING = [("OpenAI", 59.18, 1.76), ("Perplexity", 44.60, 0.68), ("Grok", 31.42, 0.36)]


def test_grok_alone_is_on_the_front_of_retrieval():
    # §5.3: Grok dominates the others in retrieval.
    result = standings(RETRIEVAL)
    assert [one.system for one in result if one.on_front] == ["Grok"]
    assert result[0].beaten_by == ("Perplexity", "Grok")


def test_all_are_on_the_front_of_reasoning():
    # §5.3: in reasoning who costs more scores more.
    assert all(one.on_front for one in standings(REASONING))


@pytest.mark.parametrize("unknown", [("Gemini", 59.76, None), ("Gemini", None, 0.1)])
def test_who_is_not_known_neither_beats_nor_is_beaten(unknown):
    *known, gemini = standings([*RETRIEVAL, unknown])
    assert known == list(standings(RETRIEVAL))
    assert (gemini.known, gemini.on_front, gemini.beaten_by) == (False, False, ())


def test_equals_share_the_front():
    assert [one.on_front for one in standings([("a", 1.0, 1.0), ("b", 1.0, 1.0)])] == [True, True]
