"""Organization: wins over the exemplar in both orders, counted as the paper's printed figures have it."""

from dataclasses import replace

import pytest

from annotator.domain.judges.protocol import Material, RatedResponse
from annotator.protocols.deepscholar import organization
from annotator.protocols.deepscholar.organization import BetterOrganized
from tests.protocols.deepscholar.related_work_material import EXEMPLARS, ITEM, report

COMPARED = Material(ITEM, report(), facing=(EXEMPLARS,))
# Table 2, in the order of its rows: every figure is a count of wins over 63 papers in two orders.
PRINTED = (0.206, 0.119, 0.309, 0.151, 0.556, 0.849, 0.698, 0.706, 0.857, 0.206, 0.809, 0.857, 0.698, 0.770)
WINS = (26, 15, 39, 19, 70, 107, 88, 89, 108, 26, 102, 108, 88, 97)


def score(first: str | None, second: str | None, *, over_valid: bool = False) -> organization.Estimate:
    """Org from what was said with the report first, and with it second."""
    said = {EXEMPLARS.id: first} if first else {}
    turned = {EXEMPLARS.id: second} if second else {}
    return organization.organization(RatedResponse(COMPARED, said, turned), over_valid)


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ("first", "second", 1.0),
        ("second", "first", 0.0),
        ("first", "first", 0.5),
        ("second", "second", 0.5),
        ("tie", "tie", 0.5),
        ("first", "tie", 0.75),
    ],
)
def test_a_win_counts_in_each_order(first: str, second: str, value: float) -> None:
    assert score(first, second).value == value


def test_printed_figures_are_wins_over_two_orders_of_63_papers() -> None:
    for printed, wins in zip(PRINTED, WINS, strict=True):
        # So many wins fall on papers one by one: on some both orders, on one perhaps half.
        papers = [1.0] * (wins // 2) + [0.5] * (wins % 2) + [0.0] * (63 - (wins + 1) // 2)
        values = [
            score(*{1.0: ("first", "second"), 0.5: ("first", "first"), 0.0: ("second", "first")}[one]).value
            for one in papers
        ]
        mean = sum(value for value in values if value is not None) / len(values)
        assert mean == pytest.approx(wins / 126)
        # Printed to three places; one of the 14 is cut instead of rounded.
        assert abs(mean - printed) <= 0.0006


def test_a_flip_is_told() -> None:
    assert score("first", "first").note == "the verdict changed with the order"
    assert not score("first", "second").note


def test_a_missing_order_leaves_the_score_open() -> None:
    found = score("first", None)
    assert (found.value, found.missing, found.floor, found.ceiling) == (None, 1, 0.5, 1.0)
    assert score("first", None, over_valid=True).value is None


def test_the_exemplar_is_at_one_half_by_definition() -> None:
    own = replace(COMPARED, response=EXEMPLARS, facing=(report(),))
    assert organization.organization(RatedResponse(own, {})).value == 0.5


def test_without_an_exemplar_there_is_no_score() -> None:
    alone = RatedResponse(Material(ITEM, report()), {})
    assert organization.organization(alone).note == "the item has no exemplar"


def test_both_orders_are_asked() -> None:
    own = replace(COMPARED, response=EXEMPLARS, facing=(report(),))
    (one,), (other,) = (list(organization.ORGANIZATION.cases(material)) for material in (COMPARED, own))
    assert (one.response.id, one.unit.id) == ("r", "people")
    assert (other.response.id, other.unit.id) == ("people", "r")


def test_a_judge_may_not_call_it_a_tie() -> None:
    assert BetterOrganized.from_text("Second.\nClearer.").better == "second"
    with pytest.raises(ValueError, match="first line"):
        BetterOrganized.from_text("tie\nBoth are fine.")
