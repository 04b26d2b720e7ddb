"""Which judge may stand in for people."""

import pytest

from annotator.protocols.researcherbench.judge_selection import (
    Pair,
    cost_per_question,
    held_against,
    judge_table,
)
from annotator.stats.classification import f1_of

# §4.3.1, Table 2: accuracy, precision, recall, F1, US dollars per question.
TABLE_2 = {
    "DeepSeek R1": (0.71, 0.83, 0.68, 0.75, 0.23),
    "Gemini 2.5 Flash": (0.72, 0.75, 0.82, 0.78, 0.54),
    "GPT-4.1": (0.72, 0.75, 0.85, 0.80, 0.19),
    "o3": (0.76, 0.80, 0.83, 0.81, 0.22),
    "o3-mini": (0.76, 0.85, 0.76, 0.80, 0.13),
}


def pairs(values, weights=None, items=2):
    """Pairs of a response and a criterion with a value each, `None` for none, spread over items."""
    made = {}
    for n, value in enumerate(values):
        if value != ".":
            weight = (weights or [1] * len(values))[n]
            made[Pair(f"i{n % items}", "r", f"c{n}", weight)] = {"y": "yes", "n": "no"}[value]
    return made


def row(people, said, weights=None, costs=()):
    return held_against(pairs(people, weights), pairs(said, weights), "j", costs, resamples=0)


@pytest.mark.parametrize("judge", TABLE_2)
def test_f1_follows_from_precision_and_recall_in_every_row_of_table_2(judge):
    _, precision, recall, f1, _ = TABLE_2[judge]
    assert round(f1_of(precision, recall), 2) == f1


def test_cells_that_make_the_row_of_o3_mini_give_all_its_figures():
    # Of 1000 pairs 642 covered: tp 488, fn 154, fp 86, tn 272. P 488/574, R 488/642, accuracy 760/1000.
    found = row("y" * 642 + "n" * 358, "y" * 488 + "n" * 154 + "y" * 86 + "n" * 272).plain
    figures = [found.accuracy.value, found.precision.value, found.recall.value, found.f1.value]
    assert [round(figure, 2) for figure in figures] == list(TABLE_2["o3-mini"][:4])


def test_a_pair_counts_once_plainly_and_its_weight_by_weight():
    # people y y y n, judge y n y y; weights 3 2 1 3. Plain: tp 2, fn 1, fp 1. By weight: tp 4, fn 2, fp 3.
    found = row("yyyn", "ynyy", [3, 2, 1, 3])
    assert (found.plain.precision.value, found.plain.recall.value) == (2 / 3, 2 / 3)
    assert (found.plain.accuracy.value, found.plain.f1.value) == (2 / 4, 2 / 3)
    assert (found.weighted.precision.value, found.weighted.recall.value) == (4 / 7, 4 / 6)
    assert (found.weighted.accuracy.value, found.weighted.f1.value) == (4 / 9, 8 / 13)


def test_a_verdict_that_did_not_come_is_no_disagreement():
    found = row("yyn", "y.n")
    assert (found.plain.accuracy.value, found.plain.accuracy.n, found.plain.accuracy.missing) == (1.0, 2, 1)


def test_one_class_and_no_overlap_have_their_reasons():
    assert row("nn", "nn").plain.f1.value is None
    assert row("nn", "nn").kappa.value is None
    assert row("yy", "..").plain.accuracy.value is None
    assert row("", "").plain.accuracy.value is None


def test_kappa_stands_beside_them():
    # people y y n n, judge y n n n: agreed 3/4, by chance 1/2·1/4 + 1/2·3/4 = 1/2; κ = (3/4 − 1/2) / (1/2)
    assert row("yynn", "ynnn").kappa.value == pytest.approx(1 / 2)


def test_the_best_judge_stands_first_and_one_without_figures_last():
    people = pairs("yyyn")
    judges = {"silent": {}, "worse": pairs("ynnn"), "best": pairs("yyyn"), "also": pairs("yyyn")}
    rows = judge_table(people, judges, {"best": [0.1, 0.3]}, resamples=0)
    assert [one.rater for one in rows] == ["also", "best", "worse", "silent"]
    assert rows[1].cost.value == pytest.approx(0.2)
    assert (rows[0].cost.value, rows[0].cost.note) == (None, "no cost is known")


def test_the_interval_is_over_items():
    people, said = pairs("yn" * 10, items=5), pairs("yy" * 10, items=5)
    found = held_against(people, said, "j", resamples=200)
    assert "5 clusters" in found.plain.accuracy.method
    assert "5 clusters" in found.kappa.method or found.kappa.value is None


def test_the_mean_cost_leaves_out_what_is_not_known_and_counts_it():
    # (0.1 + 0.2) / 2; not (0.1 + 0.2 + 0) / 3
    found = cost_per_question([0.1, None, 0.2])
    assert found.value == pytest.approx(0.15)
    assert (found.n, found.missing) == (2, 1)
    assert "1 of 3" in found.note


def test_a_judge_that_costs_nothing_costs_0():
    # (0 + 0.3) / 2
    assert cost_per_question([0.0, 0.3]).value == 0.15


@pytest.mark.parametrize("costs", [[], [None, None]])
def test_no_known_cost_is_not_0(costs):
    assert cost_per_question(costs).value is None
