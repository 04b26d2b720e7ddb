"""A judge beside people over the same pairs: accuracy, κ, the Brier score and calibration of its confidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from annotator.domain.texts.estimate import SHARE, Estimate
from annotator.stats.agreement.agreement import cohen_kappa, percent_agreement
from annotator.stats.agreement.correlation import spearman
from annotator.stats.intervals.student import mean_interval

TIE = 0.5
# Confidence in the preferred one, in five stretches of equal width from .5 to 1.
BINS = 5


@dataclass(frozen=True, slots=True)
class BesidePeople:
    """What one rater's matches are worth, taken another's choices for the truth; ties of either are counted apart."""

    accuracy: Estimate
    kappa: Estimate
    brier: Estimate
    calibration: Estimate
    ratings: Estimate
    ties: int


def beside(
    pairs: Sequence[tuple[float, float]],
    ratings: Mapping[str, float] | None = None,
    theirs: Mapping[str, float] | None = None,
) -> BesidePeople:
    """Compare what a rater gave the first of each pair with what people gave it, and the ratings that came of both.

    Accuracy and κ are over pairs that neither ties, each both ways round in κ, since which of two is the first says
    nothing; the Brier score is over those that people do not tie: mean (C − outcome)², ¼ for always one half.
    Calibration is the expected error of C over five stretches.
    """
    clear = [(own, other) for own, other in pairs if other != TIE]
    told = [(own > TIE, other > TIE) for own, other in clear if own != TIE]
    common = sorted((ratings or {}).keys() & (theirs or {}).keys())
    return BesidePeople(
        percent_agreement(told),
        _kappa(told),
        _brier(clear),
        _calibration(clear),
        spearman([(ratings or {})[one] for one in common], [(theirs or {})[one] for one in common]),
        len(pairs) - len(told),
    )


def _kappa(told: Sequence[tuple[bool, bool]]) -> Estimate:
    """κ over pairs that count both ways round, which is Scott's π (1955); each pair is a cluster."""
    both = [*told, *((not own, not other) for own, other in told)]
    places = [*range(len(told))] * 2
    found = cohen_kappa([own for own, _ in both], [other for _, other in both], clusters=places)
    return replace(found, n=len(told), method=found.method.replace("Cohen's κ", "Scott's π"))


def _brier(pairs: Sequence[tuple[float, float]]) -> Estimate:
    method = "mean of (C − outcome)²"
    if not pairs:
        return Estimate(None, method=method, note="no pair was decided by people")
    found = mean_interval([(own - (other > TIE)) ** 2 for own, other in pairs], within=SHARE, what="pairs")
    return replace(found, method=found.method.replace("mean over pairs", method))


def _calibration(pairs: Sequence[tuple[float, float]]) -> Estimate:
    """Σ over stretches of their share · |mean confidence − share right|."""
    method = f"expected calibration error over {BINS} stretches of confidence"
    held: dict[int, list[tuple[float, bool]]] = {}
    for own, other in pairs:
        if own != TIE:
            sure = max(own, 1 - own)
            at = min(BINS - 1, int((sure - TIE) * 2 * BINS + 1e-9))
            held.setdefault(at, []).append((sure, (own > TIE) == (other > TIE)))
    many = sum(map(len, held.values()))
    if not many:
        return Estimate(None, method=method, note="no pair was decided by both")
    apart = sum(abs(sum(sure for sure, _ in one) - sum(right for _, right in one)) for one in held.values())
    note = "no interval: it is a distance, which chance alone holds above 0"
    return Estimate(apart / many, n=many, method=method, note=note)
