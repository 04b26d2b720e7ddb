"""What a score is when few units have people's labels and all have a judge's: prediction-powered means."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

from annotator.domain.texts.estimate import Estimate, settled
from annotator.stats.intervals.intervals import LEVEL
from annotator.stats.intervals.resampling import Floats


@dataclass(frozen=True, slots=True)
class Corrected:
    """The judge's mean over all units, people's over those they labelled, and the two together.

    `tuning` is λ: how far the judge is trusted, 0 not at all, 1 fully; None where nothing was corrected.
    """

    raw: Estimate
    labelled: Estimate
    corrected: Estimate
    tuning: float | None


def ppi_mean(
    labels: Sequence[float],
    said: Sequence[float],
    said_elsewhere: Sequence[float],
    tuning: float | None = None,
    level: float = LEVEL,
) -> Corrected:
    """The prediction-powered mean λ mean(f̃) + mean(Y − λ f) with its normal interval.

    PPI++ (Angelopoulos, Duchi & Zrnic 2023, §6: power tuning).

    `labels` Y and `said` f are of the labelled units, `said_elsewhere` f̃ of others. λ is `tuning`, or tuned to
    Cov(Y, f) / ((1 + n/N) Var(f)), kept within 0 … 1. Units are independent of each other. ValueError for lengths
    that differ or values that are missing.
    """
    y, f, elsewhere = (np.asarray(values, dtype=np.float64) for values in (labels, said, said_elsewhere))
    if y.shape != f.shape or np.isnan(y).any() or np.isnan(f).any() or np.isnan(elsewhere).any():
        raise ValueError("each labelled unit needs its label and what the judge said of it")
    n, beyond, z = len(y), len(elsewhere), NormalDist().inv_cdf(0.5 + level / 2)
    raw, alone = _normal(elsewhere, "the judge's mean", z, level), _normal(y, "mean of labels", z, level)
    method = f"prediction-powered mean; {level:.0%} normal interval"
    if n < 2 or beyond < 2:
        absent = Estimate(None, n=n, method=method, note="fewer than two units with labels, or without")
        return Corrected(raw, alone, absent, None)
    both = np.var(np.concatenate([f, elsewhere]), ddof=1)
    best = np.mean((y - y.mean()) * (f - f.mean())) / ((1 + n / beyond) * both) if both > 0 else 0.0
    trust = float(np.clip(best, 0.0, 1.0)) if tuning is None else tuning
    value = trust * float(elsewhere.mean()) + float((y - trust * f).mean())
    half = z * sqrt(trust**2 * float(elsewhere.var()) / beyond + float((y - trust * f).var()) / n)
    corrected = Estimate(value, value - half, value + half, n=n, method=trusting(method, trust, tuning))
    corrected = settled(corrected, min(n, beyond), "units")
    return Corrected(raw, alone, corrected, trust)


def _normal(values: Floats, name: str, z: float, level: float) -> Estimate:
    method = f"{name}; {level:.0%} normal interval"
    if len(values) < 2:
        note = "one unit gives no interval" if len(values) else "there is no unit"
        return Estimate(float(values[0]) if len(values) else None, n=len(values), method=method, note=note)
    mean, half = float(values.mean()), z * float(values.std()) / sqrt(len(values))
    return settled(
        Estimate(mean, mean - half, mean + half, n=len(values), method=method), len(values), "units"
    )


def trusting(method: str, trust: float, given: float | None) -> str:
    """What a method's name adds of λ."""
    return f"{method}; λ {trust:.3f}, {'tuned' if given is None else 'given'}"
