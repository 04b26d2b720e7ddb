"""The Pareto front of a score against a cost."""

from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]


def dominates(a: Point, b: Point) -> bool:
    """Whether a, as (score, cost), is at least as good as b on both and better on one: higher score, lower cost."""
    return a[0] >= b[0] and a[1] <= b[1] and a != b


def pareto_front(points: Sequence[Point]) -> tuple[int, ...]:
    """The places of the (score, cost) that no other dominates, the cheapest first; equal points stand together."""
    best: tuple[float, float] | None = None
    front = []
    for place in sorted(range(len(points)), key=lambda i: (points[i][1], -points[i][0], i)):
        if best is None or not dominates(best, points[place]):
            best = points[place]
            front.append(place)
    return tuple(front)


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A system's score and cost, None if unknown; `beaten_by` names those that dominate it."""

    system: str
    score: float | None
    cost: float | None
    beaten_by: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether it has a place in the plane at all."""
        return self.score is not None and self.cost is not None

    @property
    def on_front(self) -> bool:
        """Whether no other system is at least as good on both and better on one."""
        return self.known and not self.beaten_by


def standings(systems: Sequence[tuple[str, float | None, float | None]]) -> tuple[FrontPoint, ...]:
    """Each (system, score, cost) with the systems that are at least as good on both and better on one.

    The score is to be high, the cost (latency, tokens or money) low. What is not known neither beats nor is beaten.
    """
    known = {name: (score, cost) for name, score, cost in systems if score is not None and cost is not None}
    found = []
    for name, score, cost in systems:
        beaten_by = tuple(other for other in known if name in known and dominates(known[other], known[name]))
        found.append(FrontPoint(name, score, cost, beaten_by))
    return tuple(found)
