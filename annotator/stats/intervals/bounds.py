"""Bounds of a mean when judgements are missing, and the range in which it lies."""

from collections.abc import Collection, Sequence
from math import fsum
from statistics import fmean

from annotator.domain.texts.estimate import Estimate


def mean_bounds(scores: Collection[Estimate]) -> tuple[float | None, float | None]:
    """The least and the greatest value that the mean of `scores` could take, whatever is missing turns out to be.

    A score with a value counts in the mean whatever happens. One without a value but with bounds may come to count,
    or stay undefined, so it counts where it moves the bound. The mean of the values lies between the bounds exactly.
    None where no score has bounds.
    """
    if all(one.floor is None for one in scores):
        return None, None
    certain = [one for one in scores if one.value is not None]
    open_ = [one for one in scores if one.value is None]
    floor = _least(
        [_of(one.floor, one.value) for one in certain], [x.floor for x in open_ if x.floor is not None]
    )
    ceiling = _least(
        [-_of(one.ceiling, one.value) for one in certain],
        [-x.ceiling for x in open_ if x.ceiling is not None],
    )
    return floor, None if ceiling is None else 0.0 - ceiling


def mean_range(
    scores: Collection[Estimate], within: tuple[float, float] | None = None
) -> tuple[float, float] | None:
    """The range of the mean of the scores that have a value, each `within` these bounds unless it has its own."""
    ranges = [one.within or within for one in scores if one.value is not None]
    known = [each for each in ranges if each is not None]
    return (fmean(low for low, _ in known), fmean(high for _, high in known)) if known else within


def _of(bound: float | None, value: float | None) -> float:
    """The bound of a score that has a value, which bounds itself where nothing is missing."""
    return next(x for x in (bound, value) if x is not None)


def _least(certain: Sequence[float], open_: Sequence[float]) -> float | None:
    """The least mean of all that is certain and any of what is open; None where there is nothing."""
    taken, total = list(certain), fsum(certain)
    for bound in sorted(open_):
        if taken and bound * len(taken) >= total:
            break
        taken.append(bound)
        total += bound
    # Sums are rounded once, so that a mean of lower values is never above one of higher ones.
    return min((fsum(part) / len(part) for part in (certain, taken) if part), default=None)
