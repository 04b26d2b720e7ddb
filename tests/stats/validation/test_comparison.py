"""Comparisons: duels and leaderboards of judges, rubrics and sets of them, attempts, and the front."""

import json
from dataclasses import replace
from itertools import combinations
from math import comb, nan, sqrt
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.researcherbench.coverage import weighted
from annotator.stats.agreement.agreement import cohen_kappa, gwet_ac1
from annotator.stats.intervals.student import bounds_of
from annotator.stats.validation.comparison import (
    NO_UNIT,
    TABLE_FIGURES,
    RatedPairs,
    beside,
    both_ways,
    cell_differences,
    kappa_difference,
)
from annotator.stats.validation.correction import NO_LABEL, NO_REACH, SystemUnits, standings
from annotator.stats.validation.duels import (
    Duel,
    ScoredPair,
    agreement,
    best_of,
    dominates,
    expected_best,
    first_slot_rate,
    flip_rate,
    length_bias,
    pass_at_k,
    standings as rubrics_standings,
    win_table,
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
from tests.stats.agreement_oracles import corrected_mean

NAMES = ("accuracy", "precision", "recall", "specificity", "f1", "balanced_accuracy", "mcc", "kappa", "ac1")
WORDS = ["no", "partly", "yes"]


def raters(units=400, seed=4):
    rng = np.random.default_rng(seed)
    truth = rng.random(units) < 0.3
    good, bad = (np.where(rng.random(units) < share, truth, ~truth) for share in (0.9, 0.7))
    return truth.tolist(), good.tolist(), bad.tolist(), np.arange(units) // 10


def test_each_difference_is_that_of_the_two_figures():
    truth, good, bad, items = raters()
    result = cell_differences(truth, good, bad, True, [1, 2] * 200, items)
    one, other = (both_ways(truth, said, True, [1, 2] * 200, items)[1] for said in (good, bad))
    for name in NAMES:
        assert result[name].value == pytest.approx(one[name].value - other[name].value)
    assert result["kappa"].method.startswith("difference of Cohen's κ, units weighted, paired; 95%")


@pytest.mark.usefixtures("small_cases")
def test_the_bounds_are_those_of_leaving_out_each_of_three_items():
    # Per item how many of its units each of the two has right.
    items = [(4, 3, 1), (3, 0, 2), (5, 5, 3)]
    truth, one, other, names = [], [], [], []
    for name, (units, a, b) in enumerate(items):
        truth += [True] * units
        one += [True] * a + [False] * (units - a)
        other += [True] * b + [False] * (units - b)
        names += [name] * units
    left = [(2 - a + b) / (12 - units) for units, a, b in items]
    variance = sum((one - sum(left) / 3) ** 2 for one in left) * 2 / 3
    gap = cell_differences(truth, one, other, True, clusters=names)["recall"]
    assert gap.value == pytest.approx(2 / 12)
    assert (gap.low, gap.high) == pytest.approx(bounds_of(2 / 12, variance, 3, (-1.0, 1.0)))


def test_a_paired_interval_is_narrower_than_two_apart():
    truth, good, _, items = raters()
    nearly = [value if i % 50 else not value for i, value in enumerate(good)]
    gap = cell_differences(truth, good, nearly, True, clusters=items)["accuracy"]
    alone = both_ways(truth, good, True, [1] * 400, items)[0]["accuracy"]
    assert gap.high - gap.low < 0.5 * (alone.high - alone.low)


def test_swapping_the_raters_turns_the_sign_and_nothing_else():
    truth, good, bad, items = raters()
    there, back = (
        cell_differences(truth, good, bad, True, None, items),
        cell_differences(truth, bad, good, True, None, items),
    )
    for name in NAMES:
        one, other = there[name], back[name]
        assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low))


def test_a_unit_that_one_of_three_lacks_is_left_out_for_both():
    gap = cell_differences([True, False, True, None], [True, False, None, True], [False] * 4, True)
    assert (gap["accuracy"].n, gap["accuracy"].missing, gap["accuracy"].value) == (2, 2, 1 - 1 / 2)
    assert "2 of 4 units left out" in gap["f1"].note


def test_a_figure_that_one_of_them_lacks_has_no_difference_but_a_reason():
    lacking = cell_differences([True, False], [True, False], [False, False], True)["precision"]
    assert (lacking.value, lacking.note) == (None, "of one of the two: nothing was called positive")
    nothing = cell_differences([True], [None], [True], True)["accuracy"]
    assert (nothing.value, nothing.n, nothing.note.startswith(NO_UNIT)) == (None, 0, True)
    assert "one category only" in kappa_difference(["a"] * 3, ["a"] * 3, ["a", "b", "a"]).note
    nobody = kappa_difference(["a", None], [None, "a"], ["a", "a"])
    assert (nobody.value, nobody.n, nobody.missing) == (None, 0, 2)


def test_the_difference_of_kappas_of_three_categories():
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 3, 300)
    one, other = (np.where(rng.random(300) < share, truth, rng.integers(0, 3, 300)) for share in (0.9, 0.5))
    named = [[WORDS[code] for code in codes] for codes in (truth, one, other)]
    items = np.arange(300) // 6
    result = kappa_difference(*named, "linear", WORDS, items)
    kappas = [cohen_kappa(named[0], said, "linear", WORDS).value for said in named[1:]]
    assert result.value == pytest.approx(kappas[0] - kappas[1])
    assert 0 < result.low < result.value < result.high
    back = kappa_difference(named[0], named[2], named[1], "linear", WORDS, items)
    assert (back.low, back.high) == pytest.approx((-result.high, -result.low))


def test_two_raters_that_say_the_same_differ_by_nothing():
    truth, good, _, items = raters()
    pairs = groups(truth, good, good, items)
    gap = cell_differences(truth, good, good, True, None, items)["kappa"]
    for one in (gap, beside(*pairs, "kappa", [False, True]).difference):
        assert (one.value, one.low, one.high) == (0, 0, 0)
    assert "no certainty" in gap.note
    none = beside(RatedPairs([], [], [], []), pairs[0], "kappa", [False, True]).difference
    assert (none.value, none.note) == (None, NO_UNIT)


def groups(truth, one, other, items):
    return [RatedPairs(truth, said, items, [1.0] * len(truth)) for said in (one, other)]


@pytest.mark.parametrize("name", NAMES)
def test_beside_one_another_pairs_of_the_same_units_differ_as_two_raters_do(name):
    truth, good, bad, items = raters()
    result = beside(*groups(truth, good, bad, items), name, [False, True], True)
    known = cell_differences(truth, good, bad, True, clusters=items)[name]
    alone = both_ways(truth, good, True, [1] * 400, items)[0][name]
    assert result.one.value == pytest.approx(alone.value)
    assert (result.difference.value, result.difference.low) == pytest.approx((known.value, known.low))


def test_pairs_of_other_units_differ_by_hand():
    # 2 of 4 and 3 of 3 alike; weighed 3 of 6.
    one = RatedPairs(list("aabb"), list("abba"), [1, 1, 2, 2], [1, 2, 2, 1])
    result = beside(one, RatedPairs(list("aab"), list("aab"), [1, 2, 2], [1, 1, 1]), "accuracy", list("abc"))
    assert (result.one.value, result.other.value, result.difference.value) == (0.5, 1.0, -0.5)
    assert (result.one.n, result.other.n) == (4, 3)


def test_figures_of_any_number_of_categories_are_those_of_agreement():
    rng = np.random.default_rng(6)
    truth, one, other = (rng.choice(WORDS, 60).tolist() for _ in range(3))
    items = list(range(60))
    expected = {
        "accuracy": np.mean([a == b for a, b in zip(truth, one, strict=True)]),
        "kappa": cohen_kappa(truth, one, categories=WORDS).value,
        "ac1": gwet_ac1([truth, one], categories=WORDS).value,
    }
    for name in TABLE_FIGURES:
        assert beside(*groups(truth, one, other, items), name, WORDS).one.value == pytest.approx(
            expected[name]
        )


PUBLIC = Path(__file__).parents[3] / "../shared/data/researcherbench/responses"
# Appendix E.7.3, Table 7: wins, ties, losses, win rate in per cent, mean length in characters.
TABLE_7 = {
    "Gemini Deep Research": (527, 43, 15, 90.09, 78857),
    "Doubao Deep Research": (431, 85, 69, 73.68, 58453),
    "OpenAI Deep Research": (401, 84, 100, 68.55, 49335),
    "Mita Deep Research": (317, 125, 143, 54.19, 53189),
    "Claude Research": (245, 109, 231, 41.88, 15183),
    "Perplexity Deep Research": (195, 103, 287, 33.33, 13113),
    "Grok3 DeeperSearch": (156, 107, 322, 26.67, 14132),
    "Grok3 DeepSearch": (141, 121, 323, 24.10, 14380),
    "Sonar Reasoning Pro": (40, 52, 493, 6.84, 4850),
    "GPT-4o Search Preview": (34, 47, 504, 5.81, 6718),
}
WIN, LOSS, TIE = ("first", "second"), ("second", "first"), ("tie", "tie")


def duels(*verdicts, a="A", b="B"):
    return [Duel(f"i{n}", a, b, *both) for n, both in enumerate(verdicts)]


def record(system, found):
    return next(row for row in win_table(found) if row.system == system)


# The table


@pytest.mark.parametrize("system", TABLE_7)
def test_table_7_divides_wins_by_all_comparisons(system):
    win, tie, loss, percent, _ = TABLE_7[system]
    rate = record("A", duels(*[WIN] * win, *[TIE] * tie, *[LOSS] * loss)).win_rate
    assert (rate.n, round(100 * rate.value, 2)) == (585, percent)
    assert rate.low < rate.value < rate.high


def test_a_system_meets_each_rival_on_each_item():
    # A beats B twice, ties once; C beats A once. Wins: A 2/4, C 1/1, B 0/3.
    rows = win_table([*duels(WIN, WIN, TIE), Duel("i0", "C", "A", *WIN)])
    assert [(row.system, dict(row.outcomes), row.win_rate.value) for row in rows] == [
        ("C", {"win": 1}, 1.0),
        ("A", {"win": 2, "tie": 1, "loss": 1}, 2 / 4),
        ("B", {"loss": 2, "tie": 1}, 0.0),
    ]
    assert win_table([]) == []


def test_inconsistent_pairs_and_errors_are_told_apart():
    rows = win_table(duels(WIN, ("first", "first"), ("tie", "first"), ("first", None)))
    assert [(row.system, dict(row.outcomes)) for row in rows] == [
        ("A", {"win": 1, "inconsistent": 2, "error": 1}),
        ("B", {"loss": 1, "inconsistent": 2, "error": 1}),
    ]
    # Of three judged in both orders one is won.
    assert (rows[0].win_rate.value, rows[0].win_rate.missing) == (1 / 3, 1)


def test_a_system_of_errors_only_has_no_rate_and_stands_last():
    rows = win_table([*duels((None, "tie")), *duels(LOSS, a="C", b="D")])
    assert [row.system for row in rows] == ["D", "C", "A", "B"]
    note = "no comparison was judged in both orders; 1 comparison is missing"
    assert (rows[-1].win_rate.value, rows[-1].win_rate.note) == (None, note)


def test_a_pair_meets_once_on_an_item():
    with pytest.raises(ValueError, match="meets once"):
        win_table([Duel("i", "A", "B", *WIN), Duel("i", "B", "A", *WIN)])
    with pytest.raises(ValueError, match="different systems"):
        win_table([Duel("i", "A", "A", *WIN)])


# Position


@pytest.mark.usefixtures("small_cases")
def test_the_flip_rate_is_the_share_of_pairs_that_change():
    # won, changed, changed to a tie, tie; the error is left out: 2/4
    result = flip_rate(duels(WIN, ("first", "first"), ("tie", "second"), TIE, ("first", None)))
    assert (result.value, result.n, result.missing) == (2 / 4, 4, 1)
    # Wilson (1927) for 2 of 4 at 95 %: centre 0.5, half width 0.35 (z²/n = 0.960)
    assert (round(result.low, 3), round(result.high, 3)) == (0.150, 0.850)


def test_the_first_slot_rate_is_over_verdicts_that_name_a_winner():
    # first, first | first, second | tie, first: 4 of 5 for the one shown first
    result = first_slot_rate(duels(("first", "first"), WIN, ("tie", "first"), TIE, ("first", None)))
    assert (result.value, result.n, result.missing) == (4 / 5, 5, 1)


@pytest.mark.parametrize(
    ("pairs", "flips", "first"),
    [
        # Who always wins shows no preference for a place.
        (duels(WIN, LOSS, WIN), 0.0, 1 / 2),
        # Ties alone leave the first slot undefined.
        (duels(TIE), 0.0, None),
        ([], None, None),
        (duels((None, None)), None, None),
        (duels(("first", None)), None, None),
    ],
)
def test_the_place_is_told_by_pairs_judged_in_both_orders(pairs, flips, first):
    result = flip_rate(pairs)
    assert (result.value, first_slot_rate(pairs).value) == (flips, first)
    assert (flips is None) == result.note.startswith("nothing was counted")


def test_comparisons_on_one_question_are_a_cluster():
    # A beats x, y and z on five questions of ten and loses to them on the others: 15 of 30, worth 9 units, since
    # Var = 10 · 1.5² / 30² · 10/9 = 1/36 and ½ · ½ / Var = 9. t with 9 degrees of freedom: 2.26216.
    result = [
        Duel(f"{n}/{rival}", "A", rival, *(WIN if n % 2 else LOSS), question=f"q{n}")
        for n in range(10)
        for rival in "xyz"
    ]
    one = record("A", result).win_rate
    assert (one.value, one.n) == (1 / 2, 30)
    # Centre ½, half width t / (1 + t²/9) · √(¼/9 + t²/(4 · 81)).
    t = 2.26216
    half = t / (1 + t * t / 9) * (1 / 36 + t * t / 324) ** 0.5
    assert (one.low, one.high) == pytest.approx((1 / 2 - half, 1 / 2 + half), abs=1e-5)
    apart = record("A", [replace(each, question="") for each in result]).win_rate
    assert apart.high - apart.low < one.high - one.low


def test_no_interval_over_questions_hangs_on_how_often_one_was_asked():
    # The same pair thrice on each question tells no more of the order than once.
    verdicts = [("first", "first")] * 5 + [("second", "second")] * 4 + [WIN] * 3
    many = [
        Duel(f"{n}/{run}", "A", "B", *both, question=f"q{n}")
        for n, both in enumerate(verdicts)
        for run in range(3)
    ]
    once = [duel for duel in many if duel.item_id.endswith("/0")]
    scored = [ScoredPair(1.0, 0.0, "first" if n < 6 else "second", f"q{n}") for n in range(12)]
    for figure, all_, first in (
        (flip_rate, many, once),
        (first_slot_rate, many, once),
        (lambda pairs: agreement(pairs)[0], scored * 3, scored),
    ):
        thrice, single = figure(all_), figure(first)
        assert (thrice.value, thrice.n) == (single.value, 3 * single.n)
        assert (thrice.low, thrice.high) == pytest.approx((single.low, single.high))


# Length


def test_table_7_has_the_length_bias_that_the_paper_reports():
    # Appendix E.7.5: r = 0.9487, ρ = 0.9273, R² = 0.90.
    lengths = {name: row[4] for name, row in TABLE_7.items()}
    result = length_bias(lengths, {name: row[3] / 100 for name, row in TABLE_7.items()})
    figures = [round(one.value, 4) for one in (result["Pearson's r"], result["Spearman's ρ"])]
    assert (figures, round(result["R²"].value, 2)) == ([0.9487, 0.9273], 0.90)
    assert result["R²"].low == pytest.approx(result["Pearson's r"].low ** 2)
    assert result["Pearson's r"].n == result["Spearman's ρ"].n == 10


def test_r_by_hand():
    # x 1 2 3, y 0 1 1: Sxy = 1, Sxx = 2, Syy = 2/3, r = 1 / √(4/3), R² = 3/4; ranks 1 2 3 and 1 2.5 2.5: ρ = r
    result = length_bias({"a": 1, "b": 2, "c": 3}, {"a": 0.0, "b": 1.0, "c": 1.0})
    assert (result["R²"].value, result["Pearson's r"].value, result["Spearman's ρ"].value) == pytest.approx(
        (3 / 4, (3 / 4) ** 0.5, (3 / 4) ** 0.5)
    )


def test_a_falling_line_explains_as_much_as_a_rising_one():
    rates = {"a": 1.0, "b": 0.6, "c": 0.55, "d": 0.1, "e": 0.2}
    up, down = (
        length_bias(dict(zip("abcde", to, strict=True)), rates) for to in ((5, 4, 3, 2, 1), range(1, 6))
    )
    ends = [(one["R²"].value, one["R²"].low) for one in (up, down)]
    assert ends[0] == pytest.approx(ends[1])


def test_too_few_or_equal_systems_have_no_length_bias():
    two = length_bias({"a": 1, "b": 2}, {"a": 0.1, "b": 0.2})
    assert (two["Pearson's r"].value, two["Spearman's ρ"].value, two["R²"].value) == (None, None, None)
    same = length_bias({"a": 1, "b": 2, "c": 3}, {"a": 0.5, "b": 0.5, "c": 0.5})["R²"]
    assert (same.value, "same" in same.note) == (None, True)


@pytest.mark.usefixtures("small_cases")
def test_an_interval_across_zero_begins_at_zero():
    result = length_bias({"a": 1, "b": 2, "c": 3, "d": 4}, {"a": 0.5, "b": 0.4, "c": 0.9, "d": 0.5})
    assert result["Pearson's r"].low < 0 < result["Pearson's r"].high
    assert result["R²"].low == 0.0


def test_a_system_without_a_rate_is_left_out():
    result = length_bias({"a": 1, "b": 2, "c": 3, "d": 9}, {"a": 0.1, "b": 0.2, "c": 0.3, "d": None})
    assert (result["Pearson's r"].value, result["Pearson's r"].n) == (1.0, 3)
    with pytest.raises(ValueError, match="length"):
        length_bias({}, {"a": 0.1})


def test_public_reports_are_as_long_as_table_7_says():
    if not PUBLIC.exists():
        pytest.skip("the public data of ResearcherBench are not beside this checkout")
    names = {
        "Claude": "Claude Research",
        "OpenAI": "OpenAI Deep Research",
        "Perplexity": "Perplexity Deep Research",
        "sonar-reasoning-pro": "Sonar Reasoning Pro",
        "gpt-4o-search-preview": "GPT-4o Search Preview",
    }
    for file, system in names.items():
        reports = json.loads((PUBLIC / f"{file}.json").read_text(encoding="utf-8"))
        assert int(sum(len(entry["response"]) for entry in reports) / 65) == TABLE_7[system][4]


@pytest.mark.parametrize(
    ("questions", "sort"), [(1, "too few"), (4, "too few"), (5, "rough"), (9, "rough"), (10, "")]
)
def test_intervals_take_as_many_questions_as_those_of_items(questions: int, sort: str) -> None:
    # Three systems give three pairs on each question.
    duels = [
        Duel(f"{n}/{a}{b}", a, b, "first", "second" if n % 2 else "first", question=f"q{n}")
        for n in range(questions)
        for a, b in ("xy", "xz", "yz")
    ]
    scored = [ScoredPair(1.0, 0.0, "first", f"q{n}") for n in range(questions) for _ in range(3)]
    result = [row.win_rate for row in win_table(duels)]
    for one in (*result, flip_rate(duels), first_slot_rate(duels), agreement(scored)[0]):
        assert (one.low is None) == (sort == "too few"), one
        assert sort in one.note
        assert one.n >= 2 * questions


ITEMS = ["p", "p", "q", "q", "r", "r"]
# All units labelled: the corrected scores are the labels' own means, 4/6 and 3/6; the judge has it the other way.
HIGH = SystemUnits([1, 1, 1, 0, 1, 0], [1, 0, 0, 0, 1, 0], ITEMS)
LOW = SystemUnits([1, 0, 0, 1, 0, 1], [1, 1, 1, 1, 0, 1], ITEMS)


def system(seed, share, items=40, each=8, labelled=0.5):
    rng = np.random.default_rng(seed)
    truth = (rng.random((items, each)) < share).astype(float)
    said = np.where(rng.random((items, each)) < 0.85, truth, 1.0)
    labels = np.where((rng.random(items) < labelled)[:, None], truth, nan)
    names = [f"item {i}" for i in range(items) for _ in range(each)]
    return SystemUnits(labels.ravel().tolist(), said.ravel().tolist(), names, [1, 2] * (items * each // 2))


def test_each_system_has_its_corrected_mean():
    systems = {"a": system(1, 0.4), "b": system(2, 0.6)}
    result = standings(systems)
    for name, one in systems.items():
        assert result.scores[name] == corrected_mean(one.labels, one.verdicts, one.weights, one.items)


def test_units_of_negative_weight_spread_as_they_are_scored():
    signed = replace(system(1, 0.6), weights=[2, -1] * 160)
    result = standings({"a": signed, "b": system(2, 0.4)})
    score, single = result.scores["a"], result.pairs[0]
    assert score == corrected_mean(signed.labels, signed.verdicts, signed.weights, signed.items)
    apart = abs(score.corrected.value - result.scores["b"].corrected.value)
    assert abs(single.difference.value) == pytest.approx(apart)
    # Two independent systems: the interval of the difference is as wide as theirs are together.
    widths = [one.corrected.high - one.corrected.low for one in result.scores.values()]
    assert single.difference.high - single.difference.low == pytest.approx(np.hypot(*widths), rel=0.3)


@pytest.mark.parametrize(
    ("other", "note", "of_raw"),
    [
        (replace(LOW, weights=[-1] * 6), "nothing to reach", NO_REACH.format("judged")),
        (SystemUnits([None] * 6, [1, 0, 1, 0, 1, 0], ITEMS), NO_LABEL, ""),
    ],
    ids=["with nothing to reach", "without labels"],
)
def test_a_system_that_has_no_place_says_why_wherever_it_stands(other, note, of_raw):
    result = standings({"high": HIGH, "other": other})
    (pair,) = result.pairs
    assert (result.ranks["high"].value, of_raw in result.scores["other"].raw.note) == (1, True)
    for one in (result.ranks["other"], pair.difference, pair.flip):
        assert (one.value, note in one.note) == (None, True)


def test_a_pair_stands_in_the_judges_order_with_the_corrected_difference():
    (pair,) = standings({"high": HIGH, "low": LOW}).pairs
    assert (pair.first, pair.second, pair.difference.value) == ("low", "high", pytest.approx(3 / 6 - 4 / 6))


def test_systems_that_the_judge_ties_cannot_change_places():
    (pair,) = standings({"high": HIGH, "tied": SystemUnits(LOW.labels, HIGH.verdicts, ITEMS)}).pairs
    assert (pair.flip.value, pair.flip.note) == (None, "the judge puts neither first")
    assert pair.difference.value is not None


@pytest.mark.usefixtures("small_cases")
def test_the_chance_of_the_other_order_is_that_of_t_over_items():
    # Labels of low less those of high by item: 1 − 2, 1 − 1 and 1 − 1 of 6; the judge has low first.
    errors = [(gap + 1 / 3) / 6 for gap in (-1, 0, 0)]
    # Two λ were tuned, which takes one of two degrees of freedom.
    t = (-1 / 6) / sqrt(sum(error**2 for error in errors) * 3 / 2 * 2)
    (pair,) = standings({"high": HIGH, "low": LOW}).pairs
    assert (pair.first, pair.flip.value) == ("low", pytest.approx(stats.t.cdf(-t, 2)))
    half = stats.t.ppf(0.975, 2) * (-1 / 6) / t
    assert (pair.difference.low, pair.difference.high) == pytest.approx((-1 / 6 - half, -1 / 6 + half))


def test_over_few_items_there_is_an_order_without_intervals_but_a_reason():
    result = standings({"high": HIGH, "low": LOW})
    assert (result.ranks["high"].value, result.ranks["high"].low) == (1, None)
    for one in (result.ranks["high"], result.pairs[0].difference, result.pairs[0].flip):
        assert "3 items are too few for an interval" in one.note
    assert standings({}).pairs == ()


def test_a_rank_is_above_those_that_are_worse_beyond_chance_and_below_those_that_are_better():
    board = standings({"a": system(1, 0.2), "b": system(2, 0.5), "c": system(3, 0.5), "d": system(4, 0.9)})
    spans = {name: (one.low, one.high) for name, one in board.ranks.items()}
    assert spans == {"a": (4, 4), "b": (2, 3), "c": (2, 3), "d": (1, 1)}
    assert "95% interval by differences from the others over" in board.ranks["a"].method


@pytest.mark.parametrize(("seed", "strata"), [(3, None), (5, ["easy", "hard"] * 160)])
def test_the_difference_from_nothing_spreads_as_the_score_does(seed, strata):
    # Against a system of zeros only, the difference is the score itself, also where it has strata of its own.
    one = replace(system(seed, 0.5), strata=strata)
    result = standings({"one": one, "zeros": SystemUnits([0] * 320, [0] * 320, one.items)})
    score, gap = result.scores["one"].corrected, result.pairs[0].difference
    assert gap.high - gap.low == pytest.approx(score.high - score.low, rel=0.1)


@pytest.mark.usefixtures("small_cases")
def test_ranks_are_those_of_the_corrected_scores_ties_sharing():
    result = standings({"low": LOW, "high": HIGH, "again": HIGH})
    assert [result.ranks[name].value for name in ("low", "high", "again")] == [3, 1.5, 1.5]


@pytest.mark.usefixtures("small_cases")
@pytest.mark.parametrize(("third", "span"), [(0, (1, 3)), (None, (1, 1))])
def test_a_rank_holds_for_all_its_comparisons_at_once(third, span):
    # 4 above zeros, with a standard error of √⅔ and two degrees of freedom: 4 ± 3.51 in the only comparison, 4 ± 5.07
    # in each of two. A system without a label is compared with nothing.
    labels = {"top": [3, 4, 5], "zeros": [0] * 3, "third": [third] * 3}
    board = standings({name: SystemUnits(own, [0] * 3, ["p", "q", "r"]) for name, own in labels.items()})
    assert (board.ranks["top"].low, board.ranks["top"].high) == span


def test_systems_far_apart_keep_their_places():
    result = standings({"a": system(1, 0.1), "b": system(2, 0.5), "c": system(4, 0.9)})
    orders = [(pair.first, pair.second, pair.flip.value < 1e-4) for pair in result.pairs]
    assert orders == [("c", "b", True), ("c", "a", True), ("b", "a", True)]
    assert (result.ranks["c"].low, result.ranks["c"].value, result.ranks["c"].high) == (1, 1, 1)


def test_the_order_in_which_systems_are_given_moves_nothing():
    systems = {name: system(seed, 0.5) for seed, name in enumerate("abc")}
    there, back = standings(systems), standings(dict(reversed(systems.items())))
    assert (there.pairs, there.ranks, there.scores) == (back.pairs, back.ranks, back.scores)


def test_where_less_is_better_all_is_told_as_of_what_is_left_to_1():
    systems = {
        name: system(seed, share) for seed, (name, share) in enumerate({"a": 0.2, "b": 0.5, "c": 0.5}.items())
    }
    turned = {
        name: replace(one, labels=[1 - x for x in one.labels], verdicts=[1 - x for x in one.verdicts])
        for name, one in systems.items()
    }
    few_, less = standings(turned), standings(systems, higher_is_better=False)
    assert [(pair.first, pair.second) for pair in less.pairs] == [(p.first, p.second) for p in few_.pairs]
    for own, other in zip(less.pairs, few_.pairs, strict=True):
        assert own.flip.value == pytest.approx(other.flip.value)
        assert own.difference.value == pytest.approx(-other.difference.value)
    assert less.pairs[0].first == "a"
    for name in systems:
        assert less.ranks[name].value == few_.ranks[name].value


RUBRICS_PUBLIC = Path(__file__).parents[3] / "../shared/data/researcherbench/rubric.json"
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
    if not RUBRICS_PUBLIC.exists():
        pytest.skip("the public data of ResearcherBench are not beside this checkout")
    rubrics = [
        Rubric(units=tuple(Criterion(text=line["point"], weight=line["weight"]) for line in entry["rubric"]))
        for entry in json.loads(RUBRICS_PUBLIC.read_text(encoding="utf-8"))
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


def rubrics_beside(a, b):
    return side_by_side((a, b), score)


def test_the_same_responses_are_scored_by_both():
    # expert: s 3/4, t 1/4; model: s 3/3, t 2/3. Gaps 1/2 and 1/3.
    both = rubrics_beside(*sets({("i", "s"): "yn", ("i", "t"): "ny"}, {("i", "s"): "yyy", ("i", "t"): "nyy"}))
    scores = {system: [score.value for score in of] for system, of in both.scores.items()}
    assert scores == {"s": [0.75, 1.0], "t": [0.25, 2 / 3]}
    assert [gap.value for gap in both.gaps] == pytest.approx([0.5, 1 / 3])


def test_all_missing_leaves_no_score_and_no_gap():
    both = rubrics_beside(*sets({("i", "s"): ".."}, {("i", "s"): "yyy"}))
    assert ([score.value for score in both.scores["s"]], both.gaps[0].value) == ([None, None], None)


@pytest.mark.usefixtures("small_cases")
def test_a_systems_score_is_the_mean_over_items():
    # expert: 3/4 and 4/4; model: 1/3 and 3/3
    expert, model = {("i", "s"): "yn", ("j", "s"): "yy"}, {("i", "s"): "ynn", ("j", "s"): "yyy"}
    x, y = rubrics_beside(*sets(expert, model, ("i", "j"))).scores["s"]
    assert (x.value, y.value) == (7 / 8, pytest.approx(2 / 3))
    assert (x.n, x.low is not None) == (2, True)


def test_what_is_missing_under_one_set_is_left_out_of_both():
    expert, model = {("i", "s"): "yn", ("j", "s"): "yy"}, {("i", "s"): "ynn", ("j", "s"): "y.y"}
    x, y = rubrics_beside(*sets(expert, model, ("i", "j"))).scores["s"]
    assert (x.value, y.value, x.n, y.n) == (3 / 4, 1 / 3, 1, 1)
    assert "1 of 2 items left out" in x.note


def test_criteria_that_say_the_same_are_aligned_and_weights_stand_beside_each_other():
    both = rubrics_beside(*sets({}, {}))
    ((first, second, _),) = both.alignments["i"].pairs
    # 2 · 1 / (2 + 3)
    assert (first, second, both.matched.value, both.matched.n) == (0, 0, 2 / 5, 5)
    shares = [[share.value for share in of.values()] for of in both.weights]
    assert shares == [[1 / 2, 0.0, 1 / 2], [1.0, 0.0, 0.0]]


def test_sets_without_a_common_item_have_nothing_to_compare():
    a, b = RubricSet("a", {"i": rubric(EXPERT)}), RubricSet("b", {"j": rubric(MODEL)})
    both = rubrics_beside(a, b)
    assert (both.items, both.scores, both.matched.value, both.gaps[1].value) == ((), {}, None, None)
    assert {share.value for share in both.weights[0].values()} == {None}


def test_only_items_and_systems_of_both_sets_count():
    a, b = sets({("i", "s"): "yy", ("i", "t"): "yy"}, {("i", "s"): "yyy", ("i", "u"): "yyy"})
    assert list(rubrics_beside(a, b).scores) == ["s"]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.data())
def test_the_expected_best_is_the_mean_over_all_subsets(scores, data):
    k = data.draw(st.integers(1, len(scores)))
    assert expected_best(scores, k) == pytest.approx(fmean(map(max, combinations(scores, k))))


@given(st.integers(1, 8), st.data())
def test_for_passed_or_failed_it_is_the_estimator_of_chen_and_others(n, data):
    # Chen et al. 2021, §2.1: 1 − C(n − c, k) / C(n, k).
    passed, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert expected_best([1.0] * passed + [0.0] * (n - passed), k) == pytest.approx(
        1 - comb(n - passed, k) / comb(n, k)
    )


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


@pytest.mark.parametrize(
    ("one", "other", "so"),
    [((2, 1), (1, 1), True), ((1, 0), (1, 1), True), ((1, 1), (1, 1), False), ((2, 2), (1, 1), False)],
)
def test_better_on_one_and_as_good_on_the_other_dominates(one, other, so):
    assert dominates(one, other) is so


def front(points):
    return {
        int(one.system)
        for one in rubrics_standings([(str(i), *point) for i, point in enumerate(points)])
        if one.on_front
    }


def test_the_front_is_of_those_that_are_better_or_cheaper():
    # Score, cost: (5, 9) and (1, 1) and (3, 2) are on it; (3, 4) and (2, 2) are beaten by (3, 2).
    assert front([(5, 9), (3, 4), (1, 1), (2, 2), (3, 2)]) == {2, 4, 0}


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8))
def test_the_front_is_what_nobody_dominates(points):
    free = {i for i, one in enumerate(points) if not any(dominates(other, one) for other in points)}
    assert front(points) == free


# The front: Table 2 (Avg. accuracy) against Table 11 (dollars a task)

RETRIEVAL = [("OpenAI", 31.35, 1.76), ("Perplexity", 34.82, 0.68), ("Grok", 39.81, 0.36)]
REASONING = [("OpenAI", 59.18, 1.76), ("Perplexity", 44.60, 0.68), ("Grok", 31.42, 0.36)]


def test_grok_alone_is_on_the_front_of_retrieval():
    # §5.3: Grok dominates the others in retrieval.
    result = rubrics_standings(RETRIEVAL)
    assert [one.system for one in result if one.on_front] == ["Grok"]
    assert result[0].beaten_by == ("Perplexity", "Grok")


def test_all_are_on_the_front_of_reasoning():
    # §5.3: in reasoning who costs more scores more.
    assert all(one.on_front for one in rubrics_standings(REASONING))


@pytest.mark.parametrize("unknown", [("Gemini", 59.76, None), ("Gemini", None, 0.1)])
def test_who_is_not_known_neither_beats_nor_is_beaten(unknown):
    *known, gemini = rubrics_standings([*RETRIEVAL, unknown])
    assert known == list(rubrics_standings(RETRIEVAL))
    assert (gemini.known, gemini.on_front, gemini.beaten_by) == (False, False, ())


def test_equals_share_the_front():
    assert [one.on_front for one in rubrics_standings([("a", 1.0, 1.0), ("b", 1.0, 1.0)])] == [True, True]
