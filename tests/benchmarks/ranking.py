"""How fast tasks are ranked: a Bradley–Terry fit beside choix, and the bootstrap beside single fits, timed in one run.

    python -m tests.benchmarks.ranking [--quick]

A fit is at least 20 times as fast as choix's on the same matches, for which choix takes each match as five games. 1 000
resamples of 20 rounds of 10 000 tasks cost at most 200 single fits, and hold at most 500 MB.
"""

import sys
import tracemalloc

import numpy as np

from annotator.stats.ranking import bradley_terry as bt
from tests.benchmarks.measuring import best, parser, verdict
from tests.stats.ranking.simulated import Contest

try:
    import choix
except ImportError:
    choix = None


def peer(players: int, matches) -> object:
    won = matches.value > 0.5
    winners = np.where(won, matches.first, matches.second).tolist()
    losers = np.where(won, matches.second, matches.first).tolist()
    pairs = list(zip(winners, losers, strict=True))
    return choix.opt_pairwise(players, [*pairs * 4, *((b, a) for a, b in pairs)], alpha=2.5 * bt.PRIOR)


def beside_choix(players: int, rounds: int, times: int) -> bool | None:
    contest = Contest(players, 1)
    contest.at_random(rounds)
    matches = contest.together
    ours, _ = best(times, lambda: bt.fitted(players, matches))
    if choix is None:
        print(f"{players} tasks × {rounds} rounds: {ours * 1e3:.1f} ms; choix is not installed")
        return None
    theirs, _ = best(1, lambda: peer(players, matches))
    apart = np.max(np.abs(bt.fitted(players, matches) - peer(players, matches)))
    print(
        f"{players} tasks × {rounds} rounds: {ours * 1e3:.1f} ms, choix {theirs * 1e3:.0f} ms: {theirs / ours:.0f}×"
    )
    print(f"largest distance of strengths: {apart:.1e}")
    return theirs / ours >= 20


def bootstrap(players: int, rounds: int, resamples: int, times: int) -> tuple[bool, bool]:
    contest = Contest(players, 2)
    contest.at_random(rounds)
    matches = contest.together
    fit, _ = best(times, lambda: bt.fitted(players, matches))
    strengths, top = bt.fitted(players, matches), max(1, players // 100)
    all_of_them, wall = best(1, lambda: bt.resampled(players, matches, strengths, top, resamples))
    fits = all_of_them / fit * (1_000 / resamples)
    tracemalloc.start()
    bt.resampled(players, matches, strengths, top, resamples)
    held = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    print(f"{players} tasks × {rounds} rounds: a fit {fit * 1e3:.0f} ms, {resamples} resamples {wall:.1f} s")
    print(f"1 000 resamples cost {fits:.0f} fits and hold {held:.0f} MB")
    return fits <= 200, held <= 500


def main() -> int:
    options = parser(
        __doc__, tasks=(10_000, 60), rounds=(20, 4), resamples=(1_000, 20), peers=(500, 30), times=(5, 1)
    ).parse_args()
    fast = beside_choix(options.peers, options.rounds, options.times)
    cheap, small = bootstrap(options.tasks, options.rounds, options.resamples, options.times)
    return verdict(options, {"20 times choix": fast, "200 fits": cheap, "500 MB": small})


if __name__ == "__main__":
    sys.exit(main())
