"""Sample sizes: how many units to label for an interval of a given width, with the design effect of clusters."""

from collections.abc import Sequence
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np

from annotator.domain.texts.estimate import Estimate, settled
from annotator.stats.intervals.coding import Codes, Values, group_codes, left_out, numbers
from annotator.stats.intervals.intervals import LEVEL, wilson_bounds
from annotator.stats.intervals.resampling import Floats
from annotator.stats.intervals.student import t_quantile

NOTHING = "nothing was counted"


def wilson_size(width: float, share: float = 0.5, design_effect: float = 1.0, level: float = LEVEL) -> int:
    """The fewest units whose Wilson interval is no wider than `width` when the share is found to be `share`.

    Of units of one item each counts 1 / `design_effect`. Solved from Wilson (1927) for n: the width is
    2 z √(n p (1 − p) + z²/4) / (n + z²). ValueError unless 0 < width < 1, 0 ≤ share ≤ 1 and the effect is positive.
    """
    if not 0 < width < 1 or not 0 <= share <= 1 or design_effect <= 0:
        raise ValueError(f"a width of {width} about {share} with a design effect of {design_effect}")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    spread, square = share * (1 - share), z * z
    # width² (n + z²)² = 4 z² (n p (1 − p) + z²/4), the greater root.
    half = square * (2 * spread / width**2 - 1)
    rest = square * square * (1 - 1 / width**2)
    return max(1, ceil(design_effect * (half + sqrt(max(half * half - rest, 0.0))) - 1e-9))


def kish_effect(sizes: Sequence[float], likeness: float) -> float:
    """The design effect 1 + (m̄ − 1) ρ of clusters of these sizes (Kish 1965, §5.4; m̄ = Σm² / Σm for unequal ones).

    `likeness` is ρ, how alike units of one cluster are. ValueError for no clusters, or ρ outside 0 … 1.
    """
    if not sizes or min(sizes) <= 0 or not 0 <= likeness <= 1:
        raise ValueError("clusters have units, and ρ lies in 0 … 1")
    return 1 + (sum(size * size for size in sizes) / sum(sizes) - 1) * likeness


def clustered_wilson(holds: Values, clusters: Values, level: float = LEVEL) -> Estimate:
    """A share of units with Wilson's interval for as many independent units as the clusters are worth.

    n / deff units, deff the variance over clusters by the one over units, 1 at least (Korn & Graubard 1998, with
    Wilson's interval, after Dean & Pagano 2015), and t over clusters for z. When all units are alike deff cannot be
    seen, and a cluster counts as one unit. Truth values by unit, None or NaN where missing, which is left out.
    """
    given, groups, missing = _grouped(holds, clusters)
    if not np.isin(given, (0.0, 1.0)).all():
        raise ValueError("a share is of units that are or are not so")
    n, k = len(given), int(groups.max(initial=-1)) + 1
    notes = left_out(missing, n + missing, "nothing is known of them")
    method = f"share; {level:.0%} Wilson score interval"
    if n == 0:
        return Estimate(None, missing=missing, method=method, note="; ".join([NOTHING, *notes]))
    share = float(given.mean())
    if k < 2:
        found = Estimate(share, n=n, missing=missing, method=method, note="; ".join(notes))
        return settled(found, k, "clusters")
    worth = _worth(given, groups, share)
    low, high = wilson_bounds(share, worth, t_quantile(level, k - 1))
    if share in (0, 1):
        notes.insert(0, "all units are alike, so that a cluster counts as one unit")
    method = f"{method} of {worth:.1f} units, which {n} in {k:,} clusters are worth"
    found = Estimate(share, low, high, n=n, missing=missing, method=method, note="; ".join(notes))
    return settled(found, k, "clusters")


def _worth(given: Floats, groups: Codes, share: float) -> float:
    """How many independent units the units of clusters are worth: no more than there are."""
    n, k = len(given), int(groups.max()) + 1
    if share in (0, 1):
        return float(k)
    totals = np.bincount(groups, given - share)
    variance = float(totals @ totals) / n**2 * k / (k - 1)
    return min(float(n), share * (1 - share) / variance) if variance else float(n)


def _grouped(values: Values, clusters: Values) -> tuple[Floats, Codes, int]:
    grid = numbers([values])[0]
    given = ~np.isnan(grid)
    groups = np.unique(group_codes(clusters, len(grid))[given], return_inverse=True)[1]
    return grid[given], groups, int((~given).sum())
