"""Figures made of others: their values by hand and by the published table, their intervals drawn anew by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from annotator.actions.project.file import Project
from annotator.actions.results import composites, metrics, overview, pools, results
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.results import Counted, ResultRow
from annotator.actions.results.scoring import ALL, JudgedResponse, Score
from annotator.domain.judges.paper import Paper
from annotator.domain.judges.protocol import Composite, Material, Metric, Protocol, RatedResponse
from annotator.domain.material.item import Item
from annotator.domain.material.response import Response
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import COMPOSITES, PROTOCOLS
from annotator.stats.intervals.pooled import geometric_mean
from annotator.stats.intervals.resampling import counts

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


def shape(name: str, *of: Metric) -> Protocol:
    return Protocol(name=name, title=name, citation="", needs=(), metrics=of)


@pytest.fixture(autouse=True)
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    for one in (shape("first", ONE, POOL), shape("second", TWO, WHOLE)):
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


def made(found: Mapping[str, Counted], resamples: int = 500) -> dict[str, ResultRow]:
    rows = [row for one in found.values() for row in results.rows_of(one, resamples)]
    return {row.system_id: row for row in composites.made_of(found, rows, resamples)}


@pytest.mark.parametrize(("parts", "overall"), PUBLISHED.items())
def test_the_published_rows_come_out(parts: tuple[float, ...], overall: float) -> None:
    # The paper computes from means that it does not print: each may be off by half a thousandth.
    low, high = (geometric_mean([part + off for part in parts]) for off in (-0.0005, 0.0005))
    assert low - 0.0005 <= overall <= high + 0.0005


def test_the_rows_of_the_printed_means_are_these() -> None:
    assert round(geometric_mean((0.857, 0.392, 0.629, 0.187, 0.124, 0.399, 0.138)), 3) == 0.309


def test_one_nothing_makes_nothing_and_below_nothing_there_is_no_root() -> None:
    assert geometric_mean((0.5, 0.0, 1.0)) == 0.0
    assert np.isnan(geometric_mean((0.5, -0.1)))
    assert geometric_mean((4.0, 9.0)) == pytest.approx(6.0)
    drawn = geometric_mean((np.array([4.0, 0.0]), np.array([9.0, 1.0])))
    assert drawn.tolist() == pytest.approx([6.0, 0.0])


def test_it_is_made_of_means_over_items_not_item_by_item() -> None:
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


def test_where_a_part_is_undefined_it_is_and_says_of_which() -> None:
    row = made(counted([score("one", 1, 0.5)], [score("two", 1, None)]))["s"]
    assert (row.estimate.value, row.estimate.note) == (None, "Two is undefined")
    alone = {"first": counted([score("one", 1, 0.5)], [])["first"]}
    assert made(alone)["s"].estimate.note == "Two is undefined"
    neither = made(counted([score("one", 1, None)], [score("two", 1, None)]))["s"]
    assert neither.estimate.note == "One, Two are undefined"
    assert made({}) == {}


def test_floors_make_the_floor_and_gaps_of_one_protocol_count_once() -> None:
    first = [score("one", 1, 0.5, missing=2, floor=0.25, ceiling=1.0)]
    row = made(counted(first, [score("two", 1, 1.0)]))["s"]
    assert (row.estimate.floor, row.estimate.ceiling, row.estimate.missing) == (0.5, 1.0, 2)
    assert row.judged == 2


VALUES = {"one": (0.1, 0.9, 0.4, 0.6, 0.2, 0.7), "two": (0.9, 0.2, 0.8, 0.1, 0.5, 0.3)}


def drawn_by_hand(*columns: Sequence[float], draws: int) -> list[float]:
    times = np.concatenate(list(counts(len(columns[0]), draws)))
    return [
        float(np.prod([np.average(column, weights=row) for column in columns]) ** (1 / len(columns)))
        for row in times
    ]


def test_all_parts_have_the_same_items_in_a_draw() -> None:
    found = counted(
        *([score(name, place, value) for place, value in enumerate(own)] for name, own in VALUES.items())
    )
    own = made(found, 2_000)["s"].estimate
    by_hand = np.quantile(drawn_by_hand(*VALUES.values(), draws=2_000), [0.025, 0.975])
    assert (own.low, own.high) == (pytest.approx(by_hand[0]), pytest.approx(by_hand[1]))
    # What makes one part high makes the other low: drawn each by itself the interval were wider.
    apart = [
        float(a * b) ** 0.5
        for a, b in zip(
            drawn_by_hand(VALUES["one"], draws=2_000),
            reversed(drawn_by_hand(VALUES["two"], draws=2_000)),
            strict=True,
        )
    ]
    low, high = np.quantile(apart, [0.025, 0.975])
    assert own.high - own.low < 0.8 * (high - low)
    assert own.note == "6 items only: the interval is rough"


def test_a_pooled_part_is_drawn_with_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, ("pool", "two"))
    said = ((1, 2), (3,), (4, 4, 4), (5,), (9, 1), (2,))
    second = [score("two", place, value) for place, value in enumerate(VALUES["two"])]
    row = made(counted([], second, [heard(place, one) for place, one in enumerate(said)]), 10_000)["s"]
    times = np.concatenate(list(counts(6, pools.DRAWS)))
    rated = [(place, value) for place, one in enumerate(said) for value in one]
    by_hand = []
    for often in times:
        mean = np.average([value for _, value in rated], weights=[often[place] for place, _ in rated])
        by_hand.append((mean * np.average(VALUES["two"], weights=often)) ** 0.5)
    low, high = np.quantile(by_hand, [0.025, 0.975])
    assert (row.estimate.low, row.estimate.high) == (pytest.approx(low), pytest.approx(high))
    assert "1,000 resamples" in row.estimate.method


def test_a_figure_of_the_project_leaves_it_without_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, ("one", "whole"))
    first = [score("one", place, value) for place, value in enumerate(VALUES["one"])]
    row = made(counted(first, [], [heard(place, [1]) for place in range(6)]))["s"]
    assert row.estimate.value is not None
    assert (row.estimate.low, row.estimate.note) == (None, composites.NO_DRAWS)


def test_systems_are_drawn_side_by_side_so_that_they_can_be_compared() -> None:
    both = [
        [
            score(name, place, value / (1 if system == "s" else 2), system)
            for system in "st"
            for place, value in enumerate(own)
        ]
        for name, own in VALUES.items()
    ]
    found = counted(*both, systems="st")
    drawn = composites.draws(COMPOSITES["overall"][1], found, (ALL, ALL), ["s", "t"], 300)
    assert drawn is not None
    assert drawn[:, 0] == pytest.approx(2 * drawn[:, 1])
    assert {row.system for row in made(found).values()} == {"System s", "System t"}


def test_several_raters_are_all_named() -> None:
    found = counted([score("one", 1, 0.5)], [score("two", 1, 0.5)])
    found["second"] = replace(found["second"], rater=ResultRater("you", "you", 1))
    row = made(found)["s"]
    assert (row.rater_id, row.rater) == ("", "me and you")


def test_it_is_described_and_offered_with_the_paper(project: Project) -> None:
    info = metrics.named("overall")
    assert (info.protocol, info.protocol_title, info.of) == ("ours", "Our paper", ("one", "two"))
    assert info.ranging == "of all reports of a system together"
    assert "overall" not in {one.name for one in metrics.qualities(project)}
    offered = next(one for one in overview.choices(project) if one.name == "metric")
    assert "overall" in {value for _, value in offered.values}
