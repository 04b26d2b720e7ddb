"""Sample sizes: how many units to label for an interval of a given width, with the design effect of clusters."""

from collections.abc import Sequence
from math import ceil, sqrt
from statistics import NormalDist

from annotator.stats.intervals.student import LEVEL


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
