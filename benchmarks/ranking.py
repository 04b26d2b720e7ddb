"""How tasks are ranked: what intervals and “certain” are worth, and how fast it is beside choix, in one run.

    python -m benchmarks.ranking [--quick]

Over contests whose true strengths are known (`tests/stats/ranking/simulated.py`), with 5, 10 and 40 rounds, in both
orders and in one, by a judge with a bias: intervals cover at least .93; in at most 5 % of contests a task is called
certain that is not among the best; in both orders at least 80 % of those who truly win .9 are certain after 40 rounds,
and hardly anybody after 5.
A fit is at least 20 times as fast as choix's on the same matches. 1 000 draws over 20 rounds of 10 000 tasks cost at
most 200 single fits, and hold at most 500 MB.
"""

import sys
import tracemalloc

import numpy as np

from annotator.stats.ranking import standings
from benchmarks.measuring import best, parser, verdict
from tests.stats.ranking.simulated import Contest, kept_its_word

try:
    import choix
except ImportError:
    choix = None


def peer(players: int, matches) -> object:
    won = matches.value > 0.5
    winners = np.where(won, matches.first, matches.second).tolist()
    losers = np.where(won, matches.second, matches.first).tolist()
    return choix.opt_pairwise(players, list(zip(winners, losers, strict=True)), alpha=standings.PRIOR / 2)


def beside_choix(players: int, rounds: int, times: int) -> bool | None:
    contest = Contest(players, 1)
    contest.at_random(rounds)
    matches = contest.together
    ours, _ = best(times, lambda: standings.fitted(players, matches))
    if choix is None:
        print(f"{players} tasks × {rounds} rounds: {ours * 1e3:.1f} ms; choix is not installed")
        return None
    theirs, _ = best(1, lambda: peer(players, matches))
    print(
        f"{players} tasks × {rounds} rounds: {ours * 1e3:.1f} ms, choix {theirs * 1e3:.0f} ms: {theirs / ours:.0f}×"
    )
    return theirs / ours >= 20


def draws(players: int, rounds: int, many: int, times: int) -> tuple[bool, bool]:
    contest = Contest(players, 2)
    contest.at_random(rounds)
    matches = contest.together
    fit, _ = best(times, lambda: standings.fitted(players, matches))
    strengths, top = standings.fitted(players, matches), max(1, players // 100)
    all_of_them, wall = best(1, lambda: standings.uncertainty(strengths, top, many))
    fits = all_of_them / fit * (1_000 / many)
    tracemalloc.start()
    standings.uncertainty(strengths, top, many)
    held = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    print(f"{players} tasks × {rounds} rounds: a fit {fit * 1e3:.0f} ms, {many} draws {wall:.1f} s")
    print(f"1 000 draws cost {fits:.0f} fits and hold {held:.0f} MB")
    return fits <= 200, held <= 500


def simulated(players: int, runs: int) -> dict[str, bool]:
    """What intervals and “certain” are worth; the goals that hold."""
    result = {
        (both, best_, rounds): kept_its_word(players, rounds, runs, both=both, best=best_)
        for both in (True, False)
        for best_ in (True, False)
        for rounds in (5, 10, 40)
    }
    for (both, best_, rounds), one in result.items():
        print(
            f"{rounds} rounds, {'both orders' if both else 'one order'}, "
            f"{'a tenth wins .9' if best_ else 'normal strengths'}: "
            f"coverage {one['coverage']:.3f}{' (over .98)' if one['coverage'] > 0.98 else ''}, "
            f"shown {one['shown']:.2f}, “certain” wrong in {one['wrong']:.3f} of {runs} contests, "
            f"of the best {one['certain']:.2f} certain"
        )
    return {
        "coverage of .93": all(one["coverage"] >= 0.93 for one in result.values()),
        "“certain” wrong in 5 %": all(one["wrong"] <= 0.05 for one in result.values()),
        "80 % certain at .9 after 40 rounds": result[True, True, 40]["certain"] >= 0.8,
        "5 % certain after 5": all(one["certain"] <= 0.05 for at, one in result.items() if at[2] == 5),
    }


def main() -> int:
    options = parser(
        __doc__,
        tasks=(10_000, 60),
        rounds=(20, 4),
        draws=(1_000, 20),
        peers=(500, 30),
        times=(5, 1),
        players=(60, 20),
        runs=(400, 1),
    ).parse_args()
    fast = beside_choix(options.peers, options.rounds, options.times)
    cheap, small = draws(options.tasks, options.rounds, options.draws, options.times)
    worth = simulated(options.players, options.runs)
    return verdict(options, {"20 times choix": fast, "200 fits": cheap, "500 MB": small, **worth})


if __name__ == "__main__":
    sys.exit(main())
