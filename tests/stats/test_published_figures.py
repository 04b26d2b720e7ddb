"""Published figures are reproduced; few cases show nothing."""

import json
import re
from pathlib import Path

import pytest

from annotator.domain.texts.estimate import SHARE, Estimate, cut, few, settled
from tests.stats.agreement_oracles import PATH, needs_oracles

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
