"""How fast intervals are: the shared-matrix bootstrap beside `scipy.stats.bootstrap`, timed in one run.

    python -m tests.benchmarks.bootstrap [--quick]

Goal 10: 10 systems × 65 items × 10 000 resamples in at most a quarter of scipy's time. Goal 11: 50 systems ×
10 000 items × 10 000 resamples at least 40 times as fast as scipy called system by system, timed on few resamples
and scaled, while holding less than 150 MB. Scipy's one call over all systems is faster than 50 calls but holds
4 MB per resample unless batched; its scaled time is printed beside.

Ratios compare processor seconds of one thread each: scipy is timed in slices of some milliseconds, of which the
best falls into a quiet moment of a shared machine, while a run of a second never does. Wall time is printed too.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import tracemalloc
from collections.abc import Callable

import numpy as np
import scipy.stats

from annotator.stats.intervals.intervals import bootstrap_means
from tests.benchmarks.measuring import best, parser, verdict

RESAMPLES = 10_000


def peer(values: np.ndarray, resamples: int = RESAMPLES) -> object:
    return scipy.stats.bootstrap(
        (values,), np.mean, axis=0, n_resamples=resamples, method="percentile", rng=np.random.default_rng(1)
    )


def agree(values: np.ndarray) -> float:
    theirs = peer(values).confidence_interval
    ours = bootstrap_means(values)
    return max(
        max(abs(e.low - low), abs(e.high - high))
        for e, low, high in zip(ours, theirs.low, theirs.high, strict=True)
    )


def megabytes(call: Callable[[], object]) -> float:
    """The most memory the call held at once, in MB, numpy's arrays included."""
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def small(rounds: int) -> bool:
    values = np.random.default_rng(7).random((65, 10))
    ours, our_wall = best(rounds, lambda: bootstrap_means(values))
    theirs, their_wall = best(rounds, lambda: peer(values))
    print(f"10 systems × 65 items × 10 000 (goal 10): ours {ours * 1e3:.1f} ms, scipy {theirs * 1e3:.1f} ms")
    print(
        f"  ratio {ours / theirs:.3f} (goal ≤ 0.25); wall {our_wall * 1e3:.1f} and {their_wall * 1e3:.1f} ms"
    )
    print(f"  bounds differ by at most {agree(values):.4f}")
    return ours / theirs <= 0.25


def large(items: int, rounds: int) -> bool:
    values = np.random.default_rng(7).random((items, 50))
    ours, our_wall = best(rounds, lambda: bootstrap_means(values))
    memory = megabytes(lambda: bootstrap_means(values))
    theirs, their_wall = (50 * 50 * seconds for seconds in best(rounds, lambda: peer(values[:, :1], 200)))
    together, _ = (500 * seconds for seconds in best(rounds, lambda: peer(values, 20)))
    print(
        f"50 systems × {items:,} items × 10 000 (goal 11): ours {ours:.2f} s, scipy about {theirs:.0f} s (scaled)"
    )
    print(
        f"  {theirs / ours:.0f} times as fast (goal ≥ 40); wall {our_wall:.2f} and about {their_wall:.0f} s"
    )
    print(f"  {memory:.0f} MB held (goal < 150)")
    print(
        f"  scipy, all systems in one call: about {together:.0f} s (scaled), {together / ours:.0f} times ours"
    )
    return theirs / ours >= 40 and memory < 150


def main() -> int:
    """Both comparisons; exit code 1 when a goal is missed."""
    options = parser(__doc__, items=(10_000, 100), rounds=(20, 1)).parse_args()
    goals = {"goal 10": small(options.rounds), "goal 11": large(options.items, min(options.rounds, 3))}
    return verdict(options, goals)


if __name__ == "__main__":
    sys.exit(main())
