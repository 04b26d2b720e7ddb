"""What share is truly positive when a judge of known faults calls some share so: the estimate of Rogan and Gladen."""

from collections.abc import Hashable
from math import sqrt
from statistics import NormalDist

import numpy as np

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.clustered import Draws, Found, intervals, over, tallied, told
from annotator.stats.intervals.coding import Values, cluster_codes, left_out, plain
from annotator.stats.intervals.intervals import LEVEL
from annotator.stats.intervals.resampling import RESAMPLES, SEED, Floats
from annotator.stats.intervals.tails import Interval
from annotator.stats.validation.cells import crossed, recall, specificity

NAME = "share, corrected after Rogan and Gladen"
NO_TRUTH = "people called nothing {}, so the judge's {} is not known"
NO_BETTER = "the judge does no better than chance on the labelled units"


def rogan_gladen(
    labels: Values,
    said: Values,
    positive: Hashable,
    clusters: Values | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    interval: Interval = "percentile",
) -> Estimate:
    """(p + Sp − 1) / (Se + Sp − 1), within 0 … 1 (Rogan & Gladen 1978): p is the share the judge calls positive.

    `labels` are people's, None or NaN where there is none; `said` the judge's of all units. Recall Se and
    specificity Sp come from units that have both, p from those without a label. With `clusters` the interval is
    a bootstrap over them; without, that of Lang & Reiczigel (2014), units being independent. ValueError for
    lengths that differ.
    """
    listed = [plain(values) for values in (labels, said)]
    known, judged = (np.array([value is not None for value in row], dtype=bool) for row in listed)
    if len(known) != len(judged):
        raise ValueError("labels and judgements are of the same units")
    true, called = (np.array([value == positive for value in row], dtype=np.float64) for row in listed)
    groups = cluster_codes(clusters, len(known))
    both, elsewhere = known & judged, ~known & judged
    columns = [
        crossed(true, called) * both[:, None],
        np.column_stack([called, 1 - called]) * elsewhere[:, None],
    ]
    rows = np.hstack(columns)[judged]
    n, missing = int(judged.sum()), int((~judged).sum())
    notes = left_out(missing, len(judged), "the judge gave no judgement")
    sums = rows.sum(axis=0)
    if reason := _undefined(sums, positive):
        return Estimate(None, n=n, missing=missing, method=NAME, note="; ".join([reason, *notes]))
    value = float(_share(sums[None])[0])
    if groups is None:
        found = _lang_reiczigel(value, sums)
    else:
        (found,) = intervals(tallied(rows, groups[judged]), [_share], Draws(resamples, seed, interval))
    if not 0 <= _raw_share(sums[None])[0] <= 1:
        notes.insert(0, "the formula leaves 0 … 1, so the nearest share is given")
    return told(found, NAME, n, notes, missing)


def _undefined(sums: Floats, positive: Hashable) -> str:
    """Why there is no estimate, or nothing."""
    tp, fp, fn, tn, called, rest = sums.tolist()
    if tp + fn == 0:
        return NO_TRUTH.format(positive, "recall")
    if fp + tn == 0:
        return NO_TRUTH.format(f"other than {positive}", "specificity")
    if called + rest == 0:
        return "every judged unit has a label: take the share of the labels"
    return NO_BETTER if tp / (tp + fn) + tn / (fp + tn) <= 1 else ""


def _raw_share(sums: Floats) -> Floats:
    """The formula itself, from sums (draws × 6): the four cells, then units called positive and not, unlabelled."""
    se, sp = recall(sums[:, :4]), specificity(sums[:, :4])
    return over(over(sums[:, 4], sums[:, 4] + sums[:, 5]) + sp - 1, se + sp - 1)


def _share(sums: Floats) -> Floats:
    return np.asarray(np.clip(_raw_share(sums), 0, 1))


def _lang_reiczigel(value: float, sums: Floats) -> Found:
    """The interval of Lang & Reiczigel (2014): each share is drawn towards 1/2 and the middle is shifted."""
    tp, fp, fn, tn, called, rest = sums.tolist()
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    n, n_se, n_sp = called + rest + z * z, tp + fn + 2, fp + tn + 2
    p, se, sp = (called + z * z / 2) / n, (tp + 1) / n_se, (tn + 1) / n_sp
    better = se + sp - 1
    if better <= 0:
        return Found(value, warnings=("too few labels for an interval",))
    middle, of_se, of_sp = (p + sp - 1) / better, se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * z * z * (middle * of_se - (1 - middle) * of_sp)
    half = z * sqrt(p * (1 - p) / n + middle**2 * of_se + (1 - middle) ** 2 * of_sp) / better
    low, high = (min(max(bound, 0.0), 1.0) for bound in (middle + shift - half, middle + shift + half))
    return Found(value, low, high, f"; {LEVEL:.0%} interval of Lang and Reiczigel (2014)")
