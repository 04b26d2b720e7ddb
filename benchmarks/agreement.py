"""How fast figures of agreement are: κ beside scikit-learn, the interval of α beside a loop over units, in one run.

    python -m benchmarks.agreement [--quick]

Goal 12: κ of 1 000 000 pairs of integers at least 25 times as fast as scikit-learn's `cohen_kappa_score`; α of three
raters with its jackknife interval over 500 clusters at least 200 times as fast as a loop that leaves each cluster out
and counts coincidences anew, timed on few clusters and scaled, and than one over the `krippendorff` package where that
is installed. Without scikit-learn there is no κ to compare, and the script says so.

Ratios compare processor seconds of one thread each, the least of several rounds.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import importlib
import importlib.util
import sys
from collections import Counter

import numpy as np

from annotator.stats.agreement.agreement import cohen_kappa, krippendorff_alpha
from benchmarks.measuring import best, parser, verdict

RATERS, PER_CLUSTER, CATEGORIES = 3, 20, 5
LOOPED = 10
Units = list[tuple[int, ...]]


def judged(raters: int, units: int, categories: int) -> np.ndarray:
    """Judgements (raters × units) of which seven in ten are those of the first rater."""
    rng = np.random.default_rng(7)
    first = rng.integers(0, categories, units)
    others = rng.integers(0, categories, (raters, units))
    return np.where(rng.random((raters, units)) < 0.7, first, others)


def kappa(pairs: int, rounds: int) -> bool | None:
    if importlib.util.find_spec("sklearn") is None:
        print("scikit-learn is not installed: nothing to compare κ with")
        return None
    peer = importlib.import_module("sklearn.metrics").cohen_kappa_score
    a, b = judged(2, pairs, 2)
    ours, _ = best(rounds, lambda: cohen_kappa(a, b))
    theirs, _ = best(min(rounds, 5), lambda: peer(a, b))
    print(f"κ of {pairs:,} pairs (goal 12): ours {ours * 1e3:.1f} ms, scikit-learn {theirs * 1e3:.1f} ms")
    print(f"  {theirs / ours:.0f} times as fast with its interval (goal ≥ 25)")
    print(f"  the values differ by {abs(cohen_kappa(a, b).value - peer(a, b)):.1e}")
    return theirs / ours >= 25


def looped_alpha(units: Units) -> float:
    """Nominal α of complete units, coincidence by coincidence."""
    totals: Counter[int] = Counter()
    seen = 0.0
    for unit in units:
        counted = Counter(unit)
        totals.update(counted)
        seen += (len(unit) ** 2 - sum(times * times for times in counted.values())) / (len(unit) - 1)
    size = sum(totals.values())
    return 1 - (size - 1) * seen / (size * size - sum(times * times for times in totals.values()))


def looped_jackknife(clusters: list[Units], many: int) -> list[float]:
    """α without each of the first clusters."""
    return [
        looped_alpha([unit for place, cluster in enumerate(clusters) if place != out for unit in cluster])
        for out in range(many)
    ]


def packaged_jackknife(grid: np.ndarray, groups: np.ndarray, many: int) -> list[float]:
    package = importlib.import_module("krippendorff")
    return [package.alpha(grid[:, groups != out], level_of_measurement="nominal") for out in range(many)]


def alpha(many: int, rounds: int) -> bool:
    grid = judged(RATERS, many, CATEGORIES)
    groups = np.arange(many) // PER_CLUSTER
    units = [tuple(unit) for unit in grid.T.tolist()]
    clusters = [units[start : start + PER_CLUSTER] for start in range(0, many, PER_CLUSTER)]
    result = krippendorff_alpha(grid, clusters=groups)
    print(f"α of {RATERS} raters × {many:,} units, {len(clusters)} clusters left out in turn (goal 12)")
    print(f"  {result.value:.3f} with bounds {result.low:.3f} and {result.high:.3f}")
    ours = {
        f"over {len(clusters)} clusters": best(rounds, lambda: krippendorff_alpha(grid, clusters=groups))[0],
        "over units": best(rounds, lambda: krippendorff_alpha(grid))[0],
    }
    loops = {"a loop over units": lambda: looped_jackknife(clusters, LOOPED)}
    if importlib.util.find_spec("krippendorff") is not None:
        loops["a loop over krippendorff"] = lambda: packaged_jackknife(grid, groups, LOOPED)
    scaled = {name: best(min(rounds, 3), loop)[0] * len(clusters) / LOOPED for name, loop in loops.items()}
    for name, theirs in scaled.items():
        print(f"  {name}: about {theirs:.0f} s (scaled)")
        for what, seconds in ours.items():
            print(
                f"    ours {what} {seconds * 1e3:.0f} ms, {theirs / seconds:.0f} times as fast (goal ≥ 200)"
            )
    return min(scaled.values()) / max(ours.values()) >= 200


def main() -> int:
    """Both comparisons; exit code 1 when a goal is missed."""
    sizes = {"pairs": (1_000_000, 1_000), "units": (10_000, 200), "rounds": (20, 1)}
    options = parser(__doc__, **sizes).parse_args()
    goals = {
        "goal 12 for κ": kappa(options.pairs, options.rounds),
        "for α": alpha(options.units, options.rounds),
    }
    return verdict(options, goals)


if __name__ == "__main__":
    sys.exit(main())
