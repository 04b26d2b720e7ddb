"""Which of several are worth their cost: the Pareto front of a score against a cost."""

from collections.abc import Sequence

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
