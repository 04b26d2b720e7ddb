"""What ADRA says of efficiency."""

from annotator.domain.judges.protocol import Material, RatedResponse
from annotator.protocols.adra.efficiency import EFFICIENCY
from tests.protocols.adra.adra_material import ITEM, metric, response

NAMES = ("latency", "tokens", "tokens_per_s", "cost")


def values(**fields):
    scored = RatedResponse(Material(ITEM, response("A report.", **fields)), {})
    return [metric(EFFICIENCY, name).score(scored, False).value for name in NAMES]


def test_what_is_known_of_a_response_is_told():
    # 13 000 tokens in 650 s: 20 tokens/s.
    assert values(latency_s=650.0, tokens=13_000, cost_usd=0.36) == [650, 13_000, 20, 0.36]


def test_what_is_not_known_is_never_nought():
    assert values() == [None, None, None, None]
    assert values(tokens=100) == [None, 100, None, None]
    assert values(latency_s=5.0) == [5, None, None, None]


def test_nought_is_known():
    assert values(latency_s=0.0, tokens=0, cost_usd=0.0) == [0, 0, None, 0]


def test_what_is_not_known_says_so():
    found = metric(EFFICIENCY, "cost").score(RatedResponse(Material(ITEM, response()), {}), True)
    assert (found.n, found.missing, found.floor, found.note) == (0, 0, None, "not known for this response")


def test_less_is_better_but_for_throughput():
    assert [metric(EFFICIENCY, name).higher_is_better for name in NAMES] == [False, False, True, False]
    assert [metric(EFFICIENCY, name).unit for name in NAMES] == ["s", "tokens", "tokens/s", "US$"]


def test_a_report_is_no_run_and_a_known_part_of_a_cost_is_told():
    of = RatedResponse(Material(ITEM, response("A.", tokens=9, run_tokens=700, cost_part_usd=0.027)), {})
    told = [metric(EFFICIENCY, name).score(of, False) for name in ("tokens", "run_tokens", "cost")]
    assert [one.value for one in told] == [9, 700, None]
    assert (told[2].floor, told[2].note) == (0.027, "at least US$ 0.027: the rest has no price")


def test_it_needs_a_response_and_nothing_else():
    assert EFFICIENCY.lacks({}, 1, ()) == []
    assert EFFICIENCY.lacks({}, 0, ()) == ["a response"]
