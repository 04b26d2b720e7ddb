"""Figures of ordered values: published examples, other packages, and cases worked out by hand."""

from math import sqrt

import krippendorff
import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from annotator.domain.judges.protocol import (
    FIGURES,
    IN_UNITS,
    WORDS,
    Level,
    Scale,
    Value,
    numbers,
    plain,
    uncrossed,
)
from annotator.stats.agreement import levels
from annotator.stats.agreement.agreement import gwet_ac1, krippendorff_alpha
from annotator.stats.validation import comparison
from tests.stats.agreement_oracles import icc, needs_oracles, oracle, two_raters

ORDINAL, NUMBER = numbers(0, 10, level=Level.ORDINAL), numbers(0, 10)
# Bland & Altman (1986), Lancet 327, 307-310: peak flow by a large and by a mini meter, l/min.
LARGE = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]


def judged(seed: int = 3, units: int = 60) -> tuple[list[str | None], list[str | None], list[int]]:
    """Two raters of 0 to 10 who differ by two at most, five units to an item, one value of each missing."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 11, units)
    second = np.clip(first + rng.integers(-2, 3, units), 0, 10)
    a, b = ([str(value) for value in values] for values in (first, second))
    return [None, *a[1:]], [*b[:-1], None], [place // 5 for place in range(units)]


def both(a: list[str | None], b: list[str | None]) -> tuple[list[int], list[int]]:
    pairs = [(int(x), int(y)) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return [x for x, _ in pairs], [y for _, y in pairs]


@pytest.mark.parametrize("level", FIGURES)
def test_every_figure_of_a_level_is_told(level: Level) -> None:
    a, b, items = judged()
    scale = {Level.NOMINAL: plain("a", "b"), Level.ORDINAL: ORDINAL, Level.INTERVAL: NUMBER}[level]
    if level is Level.NOMINAL:
        assert levels.measures(scale) == {}
        return
    result = levels.figures(scale, a, b, items)
    assert list(result) == [name for name in FIGURES[level] if name != "agreement"]
    assert all(one.low <= one.value <= one.high for one in result.values())
    assert {(one.n, one.missing) for one in result.values()} == {(58, 2)}
    assert all("2 of 60 units left out" in one.note for one in result.values())
    assert result.keys() <= WORDS.keys()


def values(scale: Scale, *given: object, **more: object) -> dict[str, float | None]:
    return {name: one.value for name, one in levels.figures(scale, *given, **more).items()}


def test_ordinal_figures_are_those_of_other_packages() -> None:
    a, b, items = judged()
    first, second = both(a, b)
    words = [[str(x) for x in first], [str(y) for y in second]]
    peers = {
        "alpha": krippendorff.alpha([first, second], level_of_measurement="ordinal", value_domain=range(11)),
        "spearman": spearmanr(first, second).statistic,
        "ac2": gwet_ac1(words, "quadratic", ORDINAL.names).value,
    }
    for weights in ("linear", "quadratic"):
        peers[f"kappa_{weights}"] = cohen_kappa_score(first, second, labels=range(11), weights=weights)
    assert values(ORDINAL, a, b, items) == pytest.approx(peers)


@needs_oracles
def test_weighted_kappa_is_as_published() -> None:
    known = oracle("cohen_1960_1968")
    scale = Scale(Level.ORDINAL, tuple(Value(name, name) for name in ("low", "middle", "high")))
    result = values(scale, *([scale.names[code] for code in codes] for codes in two_raters(known["data"])))
    kappas = (result["kappa_linear"], result["kappa_quadratic"])
    assert kappas == pytest.approx((known["linear"], known["quadratic"]))


def test_alpha_and_icc_of_numbers_are_those_of_other_packages() -> None:
    a, b, items = judged()
    first, second = both(a, b)
    result = values(NUMBER, a, b, items)
    assert (result["alpha"], result["kappa_quadratic"]) == pytest.approx(
        (
            krippendorff.alpha([first, second], level_of_measurement="interval"),
            cohen_kappa_score(first, second, weights="quadratic", labels=list(range(11))),
        )
    )
    # Shrout & Fleiss's oracle is told of `icc`, which takes any number of raters.
    for form in ("2,1", "1,1"):
        one = levels.figures(NUMBER, a, b, items, form=form)["icc"]
        assert (one.value, one.method[:8]) == (pytest.approx(icc([first, second], form)), f"ICC({form})")


def test_limits_of_agreement_are_those_of_bland_and_altman() -> None:
    named = sorted({*LARGE, *MINI})
    scale = Scale(Level.INTERVAL, tuple(Value(f"{one}", "") for one in named), of_numbers=True)
    result = values(scale, [str(one) for one in MINI], [str(one) for one in LARGE])
    half = (result["upper_limit"] - result["lower_limit"]) / 2
    # Published: the large meter less the mini one −2.1, standard deviation 38.8.
    assert (result["mean_difference"], half / 1.96) == pytest.approx((-2.1, 38.8), abs=0.05)
    assert result["absolute_difference"] == pytest.approx(492 / 17)
    # So many numbers make no table.
    assert "kappa_quadratic" not in result


def test_differences_are_worked_out_by_hand() -> None:
    # Second less first: 2, 0, −1, 3; mean 1, absolute 6/4, variance (1 + 1 + 4 + 4) / 3.
    first, second = ["1", "5", "9", "4"], ["3", "5", "8", "7"]
    result, half = values(NUMBER, first, second), 1.959964 * sqrt(10 / 3)
    assert (result["mean_difference"], result["absolute_difference"]) == (1, 1.5)
    assert (result["lower_limit"], result["upper_limit"]) == pytest.approx((1 - half, 1 + half))
    assert values(NUMBER, second, first)["mean_difference"] == -1


def test_units_count_by_weight_where_that_has_a_meaning() -> None:
    first, second = ["1", "5", "9"], ["3", "5", "8"]
    result = values(NUMBER, first, second, weights=[3.0, 0.5, 1.0])
    # (3 · 2 − 1) / 4.5 and (3 · 2 + 1) / 4.5.
    differences = (result["mean_difference"], result["absolute_difference"])
    assert differences == pytest.approx((5 / 4.5, 7 / 4.5))
    assert result.keys() == {"kappa_quadratic", "mean_difference", "absolute_difference"}
    twice = values(ORDINAL, ["1", *first], ["3", *second])
    weighted = {name: twice[name] for name in ("kappa_quadratic", "kappa_linear", "ac2")}
    assert values(ORDINAL, first, second, weights=[2, 1, 1]) == pytest.approx(weighted)


def test_kappa_of_numbers_goes_by_their_differences_and_not_by_their_places() -> None:
    scale = Scale(Level.INTERVAL, tuple(Value(one, one) for one in ("0", "1", "10")), of_numbers=True)
    result = levels.figures(scale, ["0", "1", "10", "1"], ["0", "10", "10", "0"])
    # Observed 0 + 81 + 0 + 1 = 82 of 4 pairs; expected over 16 pairs, of 0, 1, 10, 1 and 0, 10, 10, 0:
    # 0: 200; 1: 2 + 162 = 164, twice; 10: 200. 1 − (82 / 4) / (728 / 16).
    assert result["kappa_quadratic"].value == pytest.approx(1 - 20.5 / 45.5)


@pytest.mark.parametrize("scale", [ORDINAL, NUMBER])
def test_what_is_undefined_has_a_reason(scale: Scale) -> None:
    for figure in levels.figures(scale, [None, "3"], ["4", None], ["i", "j"]).values():
        assert figure.value is None
        assert figure.note.startswith(("no unit was judged by both", "0 pairs are too few"))
    same = levels.figures(scale, ["7"] * 12, ["7"] * 12, list(range(12)))
    for name, one in same.items():
        # AC2 has a chance that stays small, and is full agreement here.
        assert (one.value is None) is (name not in IN_UNITS | {"ac2"}), name
        assert one.note


def test_whoever_comes_first_moves_nothing_but_what_has_a_sign() -> None:
    a, b, items = judged()
    for scale in (ORDINAL, NUMBER):
        one, other = (levels.figures(scale, *sides, items) for sides in ((a, b), (b, a)))
        for name in one.keys() - {"mean_difference", "lower_limit", "upper_limit"}:
            ends = [(each[name].value, each[name].low, each[name].high) for each in (one, other)]
            assert ends[0] == pytest.approx(ends[1]), name


@pytest.mark.parametrize("name", ["kappa_linear", "alpha", "icc"])
def test_a_difference_of_two_judges_is_that_of_their_figures(name: str) -> None:
    scale = NUMBER if name == "icc" else ORDINAL
    truth, one, items = judged()
    other = judged(seed=5)[1]
    measure = levels.measures(scale)[name]
    gap = comparison.difference(truth, one, other, measure, scale.names, None, items)
    turned = comparison.difference(truth, other, one, measure, scale.names, None, items)
    there = [row for row in zip(truth, one, other, strict=True) if None not in row]
    values = [
        levels.figures(scale, [row[0] for row in there], [row[i] for row in there])[name].value
        for i in (1, 2)
    ]
    assert gap.value == pytest.approx(values[0] - values[1])
    assert gap.low <= gap.value <= gap.high
    assert (turned.value, turned.low, turned.high) == pytest.approx((-gap.value, -gap.high, -gap.low))


def test_where_no_unit_can_be_compared_weights_are_no_fault() -> None:
    measure = levels.measures(ORDINAL)["kappa_linear"]
    gap = comparison.difference([None], [None], [None], measure, ORDINAL.names, [-1.0], None)
    assert gap.note.startswith(comparison.NO_UNIT)


def test_a_judge_beside_people_has_the_figures_of_both_groups() -> None:
    truth, said, items = judged()
    pairs = [row for row in zip(truth, said, items, strict=True) if None not in row]
    groups = [
        comparison.RatedPairs(
            [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows], [1.0] * len(rows)
        )
        for rows in (pairs, pairs[::2])
    ]
    measure = levels.measures(ORDINAL)["alpha"]
    result = comparison.beside(groups[0], groups[1], measure, ORDINAL.names)
    for told, group in zip((result.one, result.other), groups, strict=True):
        alpha = krippendorff_alpha([group.truth, group.values], "ordinal", ORDINAL.names)
        assert told.value == pytest.approx(alpha.value)
    assert result.difference.value == pytest.approx(result.one.value - result.other.value)


def test_long_scales_are_not_crossed_and_say_why() -> None:
    assert [uncrossed(scale) for scale in (plain("a", "b"), ORDINAL, numbers(1, 5))] == ["", "", ""]
    assert "the scale has 11 values" in uncrossed(NUMBER)
