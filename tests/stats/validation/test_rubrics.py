"""How good a rubric is."""

import json
from pathlib import Path

import pytest

from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.stats.validation.rubrics import (
    CriterionReach,
    CriterionVote,
    criterion_agreement,
    discrimination,
    gap,
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
    (found,) = discrimination(votes("c", values, per_system))
    return found


# Discrimination


def test_the_spread_is_the_deviation_of_pass_rates_over_systems():
    # s0 2/2, s1 1/2, s2 0/2: mean 1/2, variance (1/4 + 0 + 1/4) / 3 = 1/6
    found = one("yyynnn", per_system=2)
    assert found.rates == {"s0": 1.0, "s1": 0.5, "s2": 0.0}
    assert found.spread.value == pytest.approx((1 / 6) ** 0.5)
    assert (found.spread.n, found.reach) == (3, CriterionReach.APART)


def test_half_passing_is_the_widest_spread():
    assert one("yn").spread.value == 1 / 2


@pytest.mark.parametrize(
    ("values", "reach"), [("yyyy", CriterionReach.CEILING), ("nnnn", CriterionReach.FLOOR)]
)
def test_what_all_or_none_pass_tells_nothing_apart(values, reach):
    found = one(values)
    assert (found.spread.value, found.reach) == (0.0, reach)


@pytest.mark.parametrize(
    ("values", "reach"),
    [("yy.", CriterionReach.OPEN), ("nn.", CriterionReach.OPEN), ("yn.", CriterionReach.APART)],
)
def test_a_missing_vote_leaves_open_what_it_could_change(values, reach):
    found = one(values)
    assert (found.reach, found.spread.missing, found.rates["s2"]) == (reach, 1, None)
    assert "1 of 3" in found.spread.note


@pytest.mark.parametrize("values", ["y", "y.", ".."])
def test_fewer_than_two_systems_have_no_spread(values):
    assert one(values).spread.value is None
    assert "too few" in one(values).spread.note


def test_criteria_keep_their_order_and_strange_votes_are_refused():
    found = discrimination([*votes("b", "yn"), *votes("a", "yy")])
    assert [one.criterion_id for one in found] == ["b", "a"]
    with pytest.raises(ValueError, match="yes or no"):
        discrimination([CriterionVote("c", "s", "r", "maybe")])


# Agreement


def test_kappa_is_given_for_each_criterion():
    # y y n n against y n n n: agreed 3/4, by chance 1/2·1/4 + 1/2·3/4 = 1/2; κ = 1/2.
    found = criterion_agreement(votes("c", "yynn"), [*votes("c", "ynnn"), *votes("d", "y")])
    assert (found["c"].kappa.value, found["c"].percent.value) == (pytest.approx(1 / 2), 3 / 4)
    assert (found["d"].kappa.value, found["d"].percent.value, found["d"].kappa.n) == (None, None, 0)


def test_one_class_has_percent_agreement_and_no_kappa():
    found = criterion_agreement(votes("c", "yyy"), votes("c", "yyy"))["c"]
    assert (found.percent.value, found.kappa.value) == (1.0, None)
    assert found.kappa.note


def test_a_response_that_one_did_not_judge_is_missing():
    found = criterion_agreement(votes("c", "yn."), votes("c", "yny"))["c"]
    assert (found.percent.value, found.percent.n, found.percent.missing) == (1.0, 2, 1)
    with pytest.raises(ValueError, match="two votes"):
        criterion_agreement([*votes("c", "y"), *votes("c", "n")], [])


# The gap


@pytest.mark.parametrize(("place", "percent"), [(0, 10.58), (1, 38.93), (2, 34.56)])
def test_the_gaps_of_table_8(place, percent):
    # Appendix G.2 names 10.58 % for Rubric_dim and 38.93 % for Rubric_ref; of the experts' it is .7032 − .3576.
    found = gap({system: row[place] for system, row in TABLE_8.items()})
    assert (round(100 * found.value, 2), found.n) == (percent, 10)
    assert found.note.endswith("worst GPT-4o Search Preview")


def test_a_system_without_a_score_is_left_out_of_the_gap():
    found = gap({"a": 0.5, "b": None, "c": 0.25})
    assert (found.value, found.n) == (0.25, 2)
    assert "1 of 3" in found.note
    assert gap({"a": 0.5, "b": None}).value is None
    assert gap({}).value is None


# Weights


def test_the_public_rubrics_weigh_as_table_10_says():
    if not PUBLIC.exists():
        pytest.skip("the public data of ResearcherBench are not beside this checkout")
    rubrics = [
        Rubric(units=tuple(Criterion(text=line["point"], weight=line["weight"]) for line in entry["rubric"]))
        for entry in json.loads(PUBLIC.read_text(encoding="utf-8"))
    ]
    found = weight_shares(rubrics)
    assert [round(100 * found[w].value, 2) for w in (1, 2, 3)] == [35.45, 50.91, 13.64]
    assert found[1].n == 931


def test_weight_shares_by_hand():
    # 1 3 | 3 3: 1/4, 0/4, 3/4
    rubrics = [Rubric(units=tuple(Criterion(text="x", weight=w) for w in ws)) for ws in ((1, 3), (3, 3))]
    assert {w: share.value for w, share in weight_shares(rubrics).items()} == {1: 1 / 4, 2: 0.0, 3: 3 / 4}


def test_no_criteria_have_no_shares():
    assert {share.value for share in weight_shares([Rubric()]).values()} == {None}
