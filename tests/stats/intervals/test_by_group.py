"""The mean of each group of items."""

from math import sqrt

import pytest

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import by_group

# Table 10: mean accuracy and 95 % margin of twenty items each (200 instances, ten equal disciplines, §4.1).
TABLE_10 = {
    "Biology": (65.51, 7.92),
    "Medicine": (64.51, 7.73),
    "Environmental Science": (63.75, 9.50),
    "Energy": (61.35, 8.60),
    "Chemistry": (60.44, 8.64),
    "Building and Construction": (57.90, 8.27),
    "Earth Sciences": (57.00, 9.33),
    "Materials": (56.57, 8.23),
    "Computer Science": (54.25, 8.86),
    "Finance": (45.19, 10.07),
}
T_19 = 2.0930


def margin(mean: Estimate) -> float | None:
    return None if mean.high is None else mean.high - mean.value


def items():
    """Twenty scores for each domain, ten above and ten below its mean by what makes the printed margin."""
    scores, domains = {}, {}
    for domain, (mean, half) in TABLE_10.items():
        # s = d · √(20/19) and margin = t · s / √20, hence d = margin · √19 / t.
        distance = half * sqrt(19) / T_19
        for n in range(20):
            scores[f"{domain} {n}"] = Estimate(mean + (distance if n % 2 else -distance))
            domains[f"{domain} {n}"] = domain
    return scores, domains


def test_twenty_items_a_domain_reproduce_table_10_in_its_order():
    found = by_group(*items())
    assert list(found) == list(TABLE_10)
    for domain, (mean, half) in TABLE_10.items():
        assert (found[domain].value, margin(found[domain])) == pytest.approx((mean, half), abs=5e-3)
        assert found[domain].n == 20


def test_the_means_of_table_10_average_to_what_section_5_5_says():
    scores, _ = items()
    overall = by_group(scores, {})[""]
    assert overall.value == pytest.approx(58.65, abs=5e-3)


def test_a_domain_of_one_item_has_no_margin_and_an_undefined_one_comes_last():
    scores = {"a": Estimate(0.1), "b": Estimate(None, note="no statements"), "c": Estimate(0.3)}
    found = by_group(scores, {"a": "x", "b": "y", "c": "z"})
    assert list(found) == ["z", "x", "y"]
    assert (margin(found["z"]), margin(found["y"])) == (None, None)
    assert (found["y"].value, found["y"].note) == (
        None,
        "no item has a defined score; 1 of 1 items left out: no defined score",
    )


@pytest.mark.usefixtures("small_cases")
def test_a_hand_made_domain():
    # .2, .4, .6: mean .4, s = .2, margin 4.3027 · .2/√3 = .49683.
    found = by_group(
        {k: Estimate(v) for k, v in (("a", 0.2), ("b", 0.4), ("c", 0.6))}, dict.fromkeys("abc", "x")
    )
    assert found["x"].value == pytest.approx(0.4)
    assert margin(found["x"]) == pytest.approx(0.49683, abs=1e-5)


def test_nothing_has_no_domains():
    assert by_group({}, {}) == {}
