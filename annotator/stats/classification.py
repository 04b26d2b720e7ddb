"""How well a rater finds what others call positive: accuracy, precision, recall and F1, by weight of the units."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.domain.estimate import Estimate
from annotator.stats.clustered import Draws, estimate, over, tallied
from annotator.stats.coding import Values, cluster_codes, left_out, plain
from annotator.stats.resampling import RESAMPLES, SEED, Floats

NO_UNIT = "no unit has both a true value and one that was said"


@dataclass(frozen=True, slots=True)
class Classification:
    """The figures of one rater against the truth, and the cells they come from: sums of weights."""

    accuracy: Estimate
    precision: Estimate
    recall: Estimate
    f1: Estimate
    tp: float
    fp: float
    fn: float
    tn: float


def classification(
    truth: Values,
    said: Values,
    positive: Hashable,
    weights: Sequence[float] | None = None,
    clusters: Values | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Classification:
    """Accuracy, precision, recall and F1 of what was `said`, with percentile bootstrap intervals over clusters.

    Values by unit, None or NaN where missing: such units are left out and counted. Everything but `positive` is
    negative. `weights` count a unit as so many (ResearcherBench, Table 2); `clusters` names the item of each unit,
    without which each stands for itself. No resamples, no interval. ValueError for lengths that differ, and for
    weights that are negative or not finite.
    """
    listed = [plain(truth), plain(said)]
    heavy = np.ones(len(listed[0])) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(listed[0]) != len(listed[1]) or heavy.shape != (len(listed[0]),):
        raise ValueError("truth, what was said and the weights must be of the same units")
    if not np.isfinite(heavy).all() or (heavy < 0).any():
        raise ValueError("a weight is neither negative nor infinite")
    both = np.array([None not in pair for pair in zip(*listed, strict=True)], dtype=bool)
    true, said_so = (np.array([value == positive for value in values], dtype=bool) for values in listed)
    cells = np.column_stack([true & said_so, ~true & said_so, true & ~said_so, ~true & ~said_so])
    rows = (cells * heavy[:, None])[both]
    groups = cluster_codes(clusters, len(both))
    missing = sum(values.count(None) for values in listed)
    notes = left_out(int((~both).sum()), len(both))
    tally = tallied(rows, None if groups is None else groups[both]) if len(rows) else None
    weighted = "" if weights is None else ", units weighted"

    def found(name: str) -> Estimate:
        figure, reason = _FIGURES[name]
        method, n = name + weighted, len(rows)
        value = estimate(tally, figure, Draws(resamples, seed), method, n, notes, missing) if tally else None
        note = "; ".join([reason if n else NO_UNIT, *notes])
        return value or Estimate(None, n=n, missing=missing, method=method, note=note)

    tp, fp, fn, tn = rows.sum(axis=0).tolist()
    return Classification(**{name: found(name) for name in _FIGURES}, tp=tp, fp=fp, fn=fn, tn=tn)


def f1_of(precision: float, recall: float) -> float | None:
    """The harmonic mean of precision and recall; None when both are 0. ValueError for what is no share."""
    if not (0 <= precision <= 1 and 0 <= recall <= 1):
        raise ValueError(f"precision {precision} and recall {recall} are shares")
    return 2 * precision * recall / (precision + recall) if precision + recall else None


def _accuracy(sums: Floats) -> Floats:
    return over(sums[:, 0] + sums[:, 3], sums.sum(axis=1))


def _precision(sums: Floats) -> Floats:
    return over(sums[:, 0], sums[:, 0] + sums[:, 1])


def _recall(sums: Floats) -> Floats:
    return over(sums[:, 0], sums[:, 0] + sums[:, 2])


def _f1(sums: Floats) -> Floats:
    return over(2 * sums[:, 0], 2 * sums[:, 0] + sums[:, 1] + sums[:, 2])


# Each figure of the sums (true positives, false positives, false negatives, true negatives), and why it is undefined.
_FIGURES: dict[str, tuple[Callable[[Floats], Floats], str]] = {
    "accuracy": (_accuracy, "the units weigh nothing"),
    "precision": (_precision, "nothing was called positive"),
    "recall": (_recall, "nothing is positive"),
    "f1": (_f1, "nothing is positive and nothing was called so"),
}
