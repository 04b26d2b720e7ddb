"""Corrections of p-values for multiple tests."""

from collections.abc import Sequence
from itertools import accumulate
from math import fsum


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Each p adjusted by Holm (1979): below α where the family-wise error stays below α; None stays None.

    What is None was not tested and does not count. ValueError for what is no probability.
    """
    tested = _ranked(ps)
    raised = ((len(tested) - place) * p for place, (_, p) in enumerate(tested))
    return _placed(len(ps), [i for i, _ in tested], list(accumulate(raised, max)))


def benjamini_yekutieli(ps: Sequence[float | None]) -> list[float | None]:
    """Each p adjusted by Benjamini & Yekutieli (2001, theorem 1.3): the false discovery rate under any dependence.

    None and errors as in `holm`.
    """
    tested = _ranked(ps)
    factor = fsum(1 / k for k in range(1, len(tested) + 1)) * len(tested)
    raised = [factor / place * p for place, (_, p) in enumerate(tested, 1)]
    return _placed(len(ps), [i for i, _ in tested], list(accumulate(raised[::-1], min))[::-1])


def _ranked(ps: Sequence[float | None]) -> list[tuple[int, float]]:
    if not all(p is None or 0 <= p <= 1 for p in ps):
        raise ValueError("a p-value is a probability")
    return sorted(((i, p) for i, p in enumerate(ps) if p is not None), key=lambda pair: pair[1])


def _placed(size: int, places: Sequence[int], raised: Sequence[float]) -> list[float | None]:
    adjusted: list[float | None] = [None] * size
    for place, p in zip(places, raised, strict=True):
        adjusted[place] = min(1.0, p)
    return adjusted
