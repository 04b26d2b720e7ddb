"""Scores from correct, superfluous and missing units (ADRA, appendix F)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotator.domain.texts.estimate import Estimate


@dataclass(frozen=True, slots=True)
class CountTally:
    """Counts: predicted and correct units, gold and found units.

    In the paper's symbols: right = found = TP, predicted = TP + FP, gold = TP + FN. If several predictions may match
    one gold unit, `right` and `found` differ.
    """

    predicted: int
    right: int
    gold: int
    found: int


@dataclass(frozen=True, slots=True)
class CountFigure:
    """A score computed from counts; `of` returns None if it is undefined, and `undefined` states the reason."""

    name: str
    title: str
    formula: str
    of: Callable[[CountTally], float | None]
    undefined: str


def precision(tally: CountTally) -> float | None:
    """TP / (TP + FP): the share of predictions that are right."""
    return tally.right / tally.predicted if tally.predicted else None


def recall(tally: CountTally) -> float | None:
    """TP / (TP + FN): the share of gold that is found."""
    return tally.found / tally.gold if tally.gold else None


def f1(tally: CountTally) -> float | None:
    """2 · P · R / (P + R) in whole numbers, so that it is 0 if nothing was predicted though there was gold."""
    if not (tally.predicted or tally.gold):
        return None
    if not (tally.right and tally.found):
        return 0.0
    return 2 * tally.right * tally.found / (tally.right * tally.gold + tally.found * tally.predicted)


def jaccard(tally: CountTally) -> float | None:
    """TP / (TP + FP + FN), TP being the gold units found (Definition F.1, Eq. 13)."""
    union = tally.gold + tally.predicted - tally.right
    return tally.found / union if union else None


PRECISION = CountFigure("precision", "precision", "P = TP / (TP + FP)", precision, "nothing was predicted")
RECALL = CountFigure("recall", "recall", "R = TP / (TP + FN)", recall, "there is no gold")
F1 = CountFigure("f1", "F1", "F1 = 2 · P · R / (P + R)", f1, "nothing was predicted and there is no gold")
JACCARD = CountFigure(
    "jaccard",
    "Jaccard index",
    "J = TP / (TP + FP + FN)",
    jaccard,
    "nothing was predicted and there is no gold",
)


def estimate(
    value: float | None, could_be: Sequence[float | None], *, n: int, missing: int, method: str, note: str
) -> Estimate:
    """A score with the range of its possible values; undefined ones among these are ignored."""
    known = [bound for bound in could_be if bound is not None]
    floor, ceiling = min(known, default=None), max(known, default=None)
    return Estimate(value, n=n, missing=missing, floor=floor, ceiling=ceiling, method=method, note=note)
