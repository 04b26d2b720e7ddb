"""What comes of comparing systems in pairs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from annotator.stats.validation.duels import (
    Duel,
    ScoredPair,
    agreement,
    first_slot_rate,
    flip_rate,
    length_bias,
    win_table,
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
    assert [(r.system, r.win, r.tie, r.loss) for r in rows] == [
        ("C", 1, 0, 0),
        ("A", 2, 1, 1),
        ("B", 0, 1, 2),
    ]
    assert [row.win_rate.value for row in rows] == [1.0, 2 / 4, 0.0]


def test_inconsistent_pairs_and_errors_are_told_apart():
    rows = {r.system: r for r in win_table(duels(WIN, ("first", "first"), ("tie", "first"), ("first", None)))}
    assert (rows["A"].win, rows["A"].inconsistent, rows["A"].error, rows["A"].tie) == (1, 2, 1, 0)
    assert (rows["B"].loss, rows["B"].inconsistent, rows["B"].error) == (1, 2, 1)
    # Of three judged in both orders one is won.
    assert (rows["A"].win_rate.value, rows["A"].win_rate.missing) == (1 / 3, 1)


def test_a_system_of_errors_only_has_no_rate_and_stands_last():
    rows = win_table([*duels((None, "tie")), *duels(LOSS, a="C", b="D")])
    assert [row.system for row in rows] == ["D", "C", "A", "B"]
    assert rows[-1].win_rate.value is None
    assert rows[-1].win_rate.note == "no comparison was judged in both orders; 1 comparison is missing"


def test_a_pair_meets_once_on_an_item():
    with pytest.raises(ValueError, match="meets once"):
        win_table([Duel("i", "A", "B", *WIN), Duel("i", "B", "A", *WIN)])
    with pytest.raises(ValueError, match="different systems"):
        win_table([Duel("i", "A", "A", *WIN)])


def test_nothing_makes_an_empty_table():
    assert win_table([]) == []


# Position


@pytest.mark.usefixtures("small_cases")
def test_the_flip_rate_is_the_share_of_pairs_that_change():
    # won, changed, changed to a tie, tie; the error is left out: 2/4
    found = flip_rate(duels(WIN, ("first", "first"), ("tie", "second"), TIE, ("first", None)))
    assert (found.value, found.n, found.missing) == (2 / 4, 4, 1)
    # Wilson (1927) for 2 of 4 at 95 %: centre 0.5, half width 0.35 (z²/n = 0.960)
    assert (round(found.low, 3), round(found.high, 3)) == (0.150, 0.850)


def test_the_first_slot_rate_is_over_verdicts_that_name_a_winner():
    # first, first | first, second | tie, first: 4 of 5 for the one shown first
    found = first_slot_rate(duels(("first", "first"), WIN, ("tie", "first"), TIE, ("first", None)))
    assert (found.value, found.n, found.missing) == (4 / 5, 5, 1)


def test_who_always_wins_shows_no_preference_for_a_place():
    assert first_slot_rate(duels(WIN, LOSS, WIN)).value == 1 / 2
    assert flip_rate(duels(WIN, LOSS, WIN)).value == 0.0


@pytest.mark.parametrize("pairs", [[], duels((None, None)), duels(("first", None))])
def test_without_a_pair_judged_in_both_orders_neither_is_defined(pairs):
    assert (flip_rate(pairs).value, first_slot_rate(pairs).value) == (None, None)
    assert flip_rate(pairs).note.startswith("nothing was counted")


def test_ties_alone_leave_the_first_slot_undefined():
    assert first_slot_rate(duels(TIE)).value is None
    assert flip_rate(duels(TIE)).value == 0.0


def test_comparisons_on_one_question_are_a_cluster():
    # A beats x, y and z on five questions of ten and loses to them on the others: 15 of 30, worth 9 units, since
    # Var = 10 · 1.5² / 30² · 10/9 = 1/36 and ½ · ½ / Var = 9. t with 9 degrees of freedom: 2.26216.
    found = [
        Duel(f"{n}/{rival}", "A", rival, *(WIN if n % 2 else LOSS), question=f"q{n}")
        for n in range(10)
        for rival in "xyz"
    ]
    one = record("A", found).win_rate
    assert (one.value, one.n) == (1 / 2, 30)
    # Centre ½, half width t / (1 + t²/9) · √(¼/9 + t²/(4 · 81)).
    t = 2.26216
    half = t / (1 + t * t / 9) * (1 / 36 + t * t / 324) ** 0.5
    assert (one.low, one.high) == pytest.approx((1 / 2 - half, 1 / 2 + half), abs=1e-5)
    apart = record("A", [replace(each, question="") for each in found]).win_rate
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
        (lambda pairs: agreement(pairs).share, scored * 3, scored),
    ):
        thrice, single = figure(all_), figure(first)
        assert (thrice.value, thrice.n) == (single.value, 3 * single.n)
        assert (thrice.low, thrice.high) == pytest.approx((single.low, single.high))


# Length


def test_table_7_has_the_length_bias_that_the_paper_reports():
    # Appendix E.7.5: r = 0.9487, ρ = 0.9273, R² = 0.90.
    found = length_bias(
        {s: row[4] for s, row in TABLE_7.items()}, {s: row[3] / 100 for s, row in TABLE_7.items()}
    )
    assert round(found.pearson.value, 4) == 0.9487
    assert round(found.spearman.value, 4) == 0.9273
    assert round(found.r_squared.value, 2) == 0.90
    assert found.r_squared.low == pytest.approx(found.pearson.low**2)
    assert found.pearson.n == found.spearman.n == 10


def test_r_by_hand():
    # x 1 2 3, y 0 1 1: Sxy = 1, Sxx = 2, Syy = 2/3, r = 1 / √(4/3), R² = 3/4; ranks 1 2 3 and 1 2.5 2.5: ρ = r
    found = length_bias({"a": 1, "b": 2, "c": 3}, {"a": 0.0, "b": 1.0, "c": 1.0})
    assert found.r_squared.value == pytest.approx(3 / 4)
    assert found.pearson.value == pytest.approx((3 / 4) ** 0.5)
    assert found.spearman.value == pytest.approx((3 / 4) ** 0.5)


def test_a_falling_line_explains_as_much_as_a_rising_one():
    rates = {"a": 1.0, "b": 0.6, "c": 0.55, "d": 0.1, "e": 0.2}
    up = length_bias({"a": 5, "b": 4, "c": 3, "d": 2, "e": 1}, rates)
    down = length_bias({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, rates)
    assert up.r_squared.value == pytest.approx(down.r_squared.value)
    assert up.r_squared.low == pytest.approx(down.r_squared.low)


@pytest.mark.usefixtures("small_cases")
def test_an_interval_across_zero_begins_at_zero():
    found = length_bias({"a": 1, "b": 2, "c": 3, "d": 4}, {"a": 0.5, "b": 0.4, "c": 0.9, "d": 0.5})
    assert found.pearson.low < 0 < found.pearson.high
    assert found.r_squared.low == 0.0


def test_too_few_or_equal_systems_have_no_length_bias():
    two = length_bias({"a": 1, "b": 2}, {"a": 0.1, "b": 0.2})
    assert (two.pearson.value, two.spearman.value, two.r_squared.value) == (None, None, None)
    same = length_bias({"a": 1, "b": 2, "c": 3}, {"a": 0.5, "b": 0.5, "c": 0.5})
    assert same.r_squared.value is None
    assert "same" in same.r_squared.note


def test_a_system_without_a_rate_is_left_out():
    found = length_bias({"a": 1, "b": 2, "c": 3, "d": 9}, {"a": 0.1, "b": 0.2, "c": 0.3, "d": None})
    assert (found.pearson.value, found.pearson.n) == (1.0, 3)
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
    found = [row.win_rate for row in win_table(duels)]
    for one in (*found, flip_rate(duels), first_slot_rate(duels), agreement(scored).share):
        assert (one.low is None) == (sort == "too few"), one
        assert sort in one.note
        assert one.n >= 2 * questions
