"""Figures made of others: their values by hand and by the published table, their intervals by hand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from statistics import fmean

import numpy as np
import pytest

from annotator.actions.project.file import Project
from annotator.actions.results import overview, results, scoring
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.results import Counted, ResultRow
from annotator.actions.results.scoring import ALL, JudgedResponse, Score
from annotator.domain.judges.paper import Paper
from annotator.domain.judges.protocol import Composite, Material, Metric, Protocol, RatedResponse
from annotator.domain.material.item import Item, Response
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import COMPOSITES, PROTOCOLS
from annotator.stats.intervals.clustered import geometric_mean
from annotator.stats.intervals.student import bounds_of

ME = ResultRater("me", "me", 1)
# DeepScholar, Table 2: organization, nuggets, relevance, references, importance, precision, claims → overall.
PUBLISHED = {
    (0.206, 0.230, 0.385, 0.047, 0.008, 0.312, 0.396): 0.137,
    (0.119, 0.183, 0.218, 0.003, 0.006, 0.238, 0.586): 0.073,
    (0.309, 0.278, 0.017, 0.008, 0.013, 0.010, 0.138): 0.042,
    (0.151, 0.193, 0.445, 0.060, 0.009, 0.316, 0.368): 0.135,
    (0.556, 0.265, 0.490, 0.050, 0.009, 0.498, 0.470): 0.186,
    (0.849, 0.348, 0.610, 0.165, 0.026, 0.425, 0.495): 0.287,
    (0.698, 0.307, 0.583, 0.131, 0.008, 0.701, 0.760): 0.256,
    (0.706, 0.277, 0.583, 0.061, 0.010, 0.415, 0.398): 0.196,
    (0.857, 0.392, 0.629, 0.187, 0.124, 0.399, 0.138): 0.309,
    (0.206, 0.241, 0.436, 0.103, 0.008, 0.674, 0.851): 0.195,
    (0.809, 0.348, 0.590, 0.166, 0.008, 0.788, 0.899): 0.285,
    (0.857, 0.384, 0.645, 0.167, 0.007, 0.824, 0.760): 0.285,
    (0.698, 0.307, 0.610, 0.152, 0.009, 0.944, 0.895): 0.286,
    (0.770, 0.331, 0.590, 0.181, 0.006, 0.904, 0.937): 0.282,
}


def sums(pool: Sequence[RatedResponse], over_valid: bool) -> Estimate:
    said = [float(value) for one in pool for value in one.values.values()]
    return Estimate(sum(said) / len(said), n=len(said)) if said else Estimate(None, note="nothing")


ONE, TWO = Metric("one", "One", "x"), Metric("two", "Two", "x")
POOL = Metric("pool", "Pool", "x", pooled=sums, within=(0, 10))
WHOLE = Metric("whole", "Whole", "x", table=lambda pool, _: {"s": Estimate(0.5)})


def protocol(name: str, *of: Metric) -> Protocol:
    return Protocol(name=name, title=name, citation="", needs=(), metrics=of)


@pytest.fixture(autouse=True)
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    for one in (protocol("first", ONE, POOL), protocol("second", TWO, WHOLE)):
        monkeypatch.setitem(PROTOCOLS, one.name, one)
    declare(monkeypatch, ("one", "two"))


def declare(monkeypatch: pytest.MonkeyPatch, of: tuple[str, ...]) -> None:
    made = Composite("overall", "Overall", "The root of the product.", of, geometric_mean, within=(0, 10))
    monkeypatch.setitem(COMPOSITES, "overall", (Paper("ours", "Our paper", ()), made))


def score(metric: str, item: int, value: float | None, system: str = "s", **bounds: float | int) -> Score:
    estimate = Estimate(value, n=int(value is not None), **bounds)  # type: ignore[arg-type]
    return Score(f"i{item}", system, metric, ((ALL, ALL),), estimate, f"r{item}", 1, "end-to-end", 1)


def heard(item: int, said: Sequence[float], system: str = "s") -> JudgedResponse:
    material = Material(
        Item(id=f"i{item}", key=str(item), question="?", position=item),
        Response(id=f"r{item}", item_id=f"i{item}", system_id=system, text="x"),
    )
    values = {str(place): str(one) for place, one in enumerate(said)}
    return JudgedResponse(((ALL, ALL),), {"me": RatedResponse(material, values)})


def counted(
    first: Sequence[Score],
    second: Sequence[Score],
    members: Sequence[JudgedResponse] = (),
    systems: str = "s",
) -> dict[str, Counted]:
    names = {name: f"System {name}" for name in systems}
    return {
        "first": Counted(PROTOCOLS["first"], ME, tuple(first), tuple(members), names),
        "second": Counted(PROTOCOLS["second"], ME, tuple(second), tuple(members), names),
    }


def made(found: Mapping[str, Counted]) -> dict[str, ResultRow]:
    rows = [row for one in found.values() for row in results.rows_of(one)]
    return {row.system_id: row for row in overview.made_of(found, rows)}


@pytest.mark.parametrize(("parts", "overall"), PUBLISHED.items())
def test_the_published_rows_come_out(parts: tuple[float, ...], overall: float) -> None:
    # The paper computes from means that it does not print: each may be off by half a thousandth.
    low, high = (geometric_mean([part + off for part in parts]) for off in (-0.0005, 0.0005))
    assert low - 0.0005 <= overall <= high + 0.0005


def test_one_nothing_makes_nothing_and_below_nothing_there_is_no_root() -> None:
    assert geometric_mean((0.5, 0.0, 1.0)) == 0.0
    assert np.isnan(geometric_mean((0.5, -0.1)))
    assert geometric_mean((4.0, 9.0)) == pytest.approx(6.0)
    several = geometric_mean((np.array([4.0, 0.0]), np.array([9.0, 1.0])))
    assert several.tolist() == pytest.approx([6.0, 0.0])


def test_undefined_parts_and_floors_are_told() -> None:
    row = made(counted([score("one", 1, 0.5)], [score("two", 1, None)]))["s"]
    assert (row.estimate.value, row.estimate.note) == (None, "Two is undefined")
    alone = {"first": counted([score("one", 1, 0.5)], [])["first"]}
    assert made(alone)["s"].estimate.note == "Two is undefined"
    neither = made(counted([score("one", 1, None)], [score("two", 1, None)]))["s"]
    assert neither.estimate.note == "One, Two are undefined"
    assert made({}) == {}
    first = [score("one", 1, 0.5, missing=2, floor=0.25, ceiling=1.0)]
    row = made(counted(first, [score("two", 1, 1.0)]))["s"]
    assert (row.estimate.floor, row.estimate.ceiling, row.estimate.missing, row.judged) == (0.5, 1.0, 2, 2)
    result = counted([score("one", 1, 0.5)], [score("two", 1, 0.5)])
    result["second"] = replace(result["second"], rater=ResultRater("you", "you", 1))
    row = made(result)["s"]
    assert (row.rater_id, row.rater) == ("", "me and you")
    row = made(
        counted([score("one", 1, 0.0), score("one", 2, 0.5)], [score("two", 1, 1.0), score("two", 2, 0.0)])
    )["s"]
    # Of means .25 and .5; item by item both products were 0.
    assert row.estimate.value == pytest.approx(0.125**0.5)
    assert (row.metric, row.protocol, row.title, row.group, row.rater) == (
        "overall",
        "ours",
        "Overall",
        ALL,
        "me",
    )
    assert row.estimate.method.startswith("made of One, Two")
    assert row.estimate.note == "2 items are too few for an interval, which takes 5"


VALUES = {"one": (0.1, 0.9, 0.4, 0.6, 0.2, 0.7), "two": (0.9, 0.2, 0.8, 0.1, 0.5, 0.3)}


def spread_by_hand(of_choice: Callable[[list[int]], float]) -> float:
    """The jackknife variance over six items of what a choice of them makes."""
    left = [of_choice([item for item in range(6) if item != out]) for out in range(6)]
    return 5 / 6 * sum((one - fmean(left)) ** 2 for one in left)


def test_an_item_is_left_out_of_all_parts_at_once() -> None:
    result = counted(
        *([score(name, place, value) for place, value in enumerate(own)] for name, own in VALUES.items())
    )
    own = made(result)["s"].estimate

    def of_both(items: list[int]) -> float:
        return prod(fmean(column[i] for i in items) for column in VALUES.values()) ** 0.5

    bounds = bounds_of(of_both([*range(6)]), spread_by_hand(of_both), 6, (0.0, 10.0))
    assert (own.low, own.high) == pytest.approx(bounds)
    assert own.note == "6 items only: the interval is rough"


def test_an_item_is_left_out_of_a_pooled_part_with_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, ("pool", "two"))
    said = ((1, 2), (3,), (4, 4, 4), (5,), (9, 1), (2,))
    second = [score("two", place, value) for place, value in enumerate(VALUES["two"])]
    row = made(counted([], second, [heard(place, one) for place, one in enumerate(said)]))["s"].estimate

    def of_both(items: list[int]) -> float:
        return (fmean(v for i in items for v in said[i]) * fmean(VALUES["two"][i] for i in items)) ** 0.5

    bounds = bounds_of(of_both([*range(6)]), spread_by_hand(of_both), 6, (0.0, 10.0))
    assert (row.low, row.high) == pytest.approx(bounds)
    assert "jackknife over 6 items" in row.method


def test_a_figure_of_the_project_leaves_it_without_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, ("one", "whole"))
    first = [score("one", place, value) for place, value in enumerate(VALUES["one"])]
    row = made(counted(first, [], [heard(place, [1]) for place in range(6)]))["s"]
    assert row.estimate.value is not None
    assert (row.estimate.low, row.estimate.note) == (None, overview.NO_PARTS)


def test_systems_lose_the_same_item_so_that_they_can_be_compared() -> None:
    both = [
        [
            score(name, place, value / (1 if system == "s" else 2), system)
            for system in "st"
            for place, value in enumerate(own)
        ]
        for name, own in VALUES.items()
    ]
    result = counted(*both, systems="st")
    left = overview.without_each(COMPOSITES["overall"][1], result, (ALL, ALL), ["s", "t"])
    assert left is not None
    assert left[:, 0] == pytest.approx(2 * left[:, 1])
    assert {row.system for row in made(result).values()} == {"System s", "System t"}


def test_it_is_described_and_offered_with_the_paper(project: Project) -> None:
    info = scoring.named("overall")
    assert (info.protocol, info.protocol_title, info.of) == ("ours", "Our paper", ("one", "two"))
    assert info.ranging == "of all reports of a system together"
    assert "overall" not in {quality.name for quality in scoring.qualities(project)}
    offered = next(choice for choice in overview.choices(project) if choice.name == "metric")
    assert "overall" in {value for _, value in offered.values}
