"""Standings: every player's rating, strength and probability to be among the best, and whether more rounds are
worthwhile.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotator.domain.texts.estimate import SHARE, Estimate, enough, few, settled
from annotator.stats.agreement.agreement import cohen_kappa, percent_agreement
from annotator.stats.agreement.levels import spearman
from annotator.stats.intervals.student import mean_interval
from annotator.stats.ranking.pairing import FurtherPair, Pair, PlayedMatch, near_round

TIE = 0.5
# Confidence in the preferred one, in five bins of equal width from .5 to 1.
BINS = 5


@dataclass(frozen=True, slots=True)
class BesidePeople:
    """Figures of one rater's matches against another's choices as the truth; ties of either are counted separately."""

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
    """Compare a rater's and people's values for the first of each pair, and the ratings that result from both.

    Accuracy and κ are over pairs that neither ties, each in both orders in κ, since which of two is the first carries
    no information; the Brier score is over those that people do not tie: mean (C − outcome)², ¼ for always one half.
    Calibration is the expected error of C over five bins.
    """
    clear = [(own, other) for own, other in pairs if other != TIE]
    preferences = [(own > TIE, other > TIE) for own, other in clear if own != TIE]
    common = sorted((ratings or {}).keys() & (theirs or {}).keys())
    return BesidePeople(
        percent_agreement(preferences),
        _kappa(preferences),
        _brier(clear),
        _calibration(clear),
        spearman([(ratings or {})[one] for one in common], [(theirs or {})[one] for one in common]),
        len(pairs) - len(preferences),
    )


def _kappa(preferences: Sequence[tuple[bool, bool]]) -> Estimate:
    """κ over pairs counted in both orders, which is Scott's π (1955); each pair is a cluster."""
    both = [*preferences, *((not own, not other) for own, other in preferences)]
    places = [*range(len(preferences))] * 2
    result = cohen_kappa([own for own, _ in both], [other for _, other in both], clusters=places)
    return replace(result, n=len(preferences), method=result.method.replace("Cohen's κ", "Scott's π"))


def _brier(pairs: Sequence[tuple[float, float]]) -> Estimate:
    method = "mean of (C − outcome)²"
    if not pairs:
        return Estimate(None, method=method, note="no pair was decided by people")
    result = mean_interval([(own - (other > TIE)) ** 2 for own, other in pairs], within=SHARE, what="pairs")
    return replace(result, method=result.method.replace("mean over pairs", method))


def _calibration(pairs: Sequence[tuple[float, float]]) -> Estimate:
    """Σ over bins of their share · |mean confidence − share correct|."""
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


Floats = NDArray[np.float64]
Places = NDArray[np.intp]

START, K, SCALE = 1200.0, 32.0, 400.0


@dataclass(frozen=True, slots=True)
class Matches:
    """Matches as arrays: positions of both players, and the points of the first, between 0 and 1."""

    first: Places
    second: Places
    value: Floats

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, float]]) -> "Matches":
        """The arrays of a list of rows."""
        held = list(rows)
        return cls(
            np.array([row[0] for row in held], dtype=np.intp),
            np.array([row[1] for row in held], dtype=np.intp),
            np.array([row[2] for row in held], dtype=np.float64),
        )

    def __len__(self) -> int:
        return len(self.value)


def expected(own: ArrayLike, other: ArrayLike) -> Floats:
    """e = 1 / (1 + 10^((other − own) / 400)), equation 1."""
    apart = np.asarray(other, dtype=np.float64) - np.asarray(own, dtype=np.float64)
    return np.asarray(1.0 / (1.0 + 10.0 ** (apart / SCALE)))


def after_round(ratings: Floats, matches: Matches, k: float = K) -> Floats:
    """The ratings after a round of disjoint pairs, equation 3; all start from the ratings before it.

    ValueError if someone plays twice.
    """
    players = np.concatenate((matches.first, matches.second))
    if len(np.unique(players)) < len(players):
        raise ValueError("in a round nobody plays twice")
    moved = k * (matches.value - expected(ratings[matches.first], ratings[matches.second]))
    result = ratings.copy()
    result[matches.first] += moved
    result[matches.second] -= moved
    return result


def rated(players: int, rounds: Iterable[Matches], k: float = K) -> Floats:
    """The ratings after all rounds, starting from 1200 each."""
    result = np.full(players, START)
    for matches in rounds:
        result = after_round(result, matches, k)
    return result


# One point of Elo in units of θ, and the prior: strengths spread by 1 200 points.
POINT = float(np.log(10.0)) / SCALE
PRIOR = 1.0 / (1_200.0 * POINT) ** 2
DRAWS = 1_000
SEED = 20_261_122
# The error of “certain” over all tasks of a contest, and the half-width of a 95 % interval in standard errors.
ERROR = 0.05
_REACH = NormalDist().inv_cdf(0.975)
# The tolerance of a fit, the maximum relative error of its first steps, and the tolerance of a draw.
EXACT, _FAR, ROUGHLY = 1e-10, 0.1, 0.02
# The minimum variance of a match in both orders, as a share of that in one: it carries at most as much as two
# matches.
_LEAST_SHARE = 0.5
_MOST_STEPS, _MOST_TURNS = 60, 400


@dataclass(frozen=True, slots=True)
class Strengths:
    """Strengths θ, and the pairs behind them: each with its mean outcome, its weight, and its number of independent
    matches.
    """

    theta: Floats
    pairs: Matches
    weight: Floats
    counts: Floats

    @property
    def matches(self) -> Floats:
        return np.asarray(
            sum(
                np.bincount(side, self.counts, len(self.theta))
                for side in (self.pairs.first, self.pairs.second)
            )
        )


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """The 95 % interval of each strength in points, how often each was among the top k, and who certainly is."""

    low: Floats
    high: Floats
    in_top: Floats
    certain: NDArray[np.bool_]


def points(strengths: Floats) -> Floats:
    """Strengths on the scale of Elo ratings."""
    return np.asarray(START + strengths / POINT)


def fitted(players: int, matches: Matches) -> Strengths:
    """The strengths with the highest posterior; those without a match have 0.

    Matches of one pair count as one as far as they have the same result; a match left open by its two orders varies
    less than one that is won, since s(1 − s) is subtracted from p(1 − p). Products are summed here without `@`, which
    from ten thousand on wakes every processor and makes them wait for more, longer than the whole fit takes.
    """
    pairs, times, within, open_ = _by_pair(players, matches)
    fit = _Fit(players, pairs)
    alone = fit.solved(np.ones(len(pairs)), 100.0 * EXACT)
    _, spread = fit.expected(alone)
    share = max(_LEAST_SHARE, 1.0 - open_ / (float(np.sum(times * spread)) or 1.0))
    alike = 1.0 - min(1.0, within / (share * float(np.sum((times - 1.0) * spread)) or 1.0))
    counts = times / (1.0 + (times - 1.0) * alike)
    weight = counts / share
    return Strengths(fit.solved(weight, start=alone), pairs, weight, counts)


def _by_pair(players: int, matches: Matches) -> tuple[Matches, Floats, float, float]:
    """Each pair once with its mean outcome and how often it met; Σ (s − mean)² within pairs, and Σ s(1 − s)."""
    won = (np.sign((matches.value - 0.5) * (matches.second - matches.first)) + 1.0) / 2.0
    low, high = np.minimum(matches.first, matches.second), np.maximum(matches.first, matches.second)
    # Short integers are sorted by radix.
    order = np.lexsort([side.astype(np.min_scalar_type(players)) for side in (high, low)])
    begins = np.diff((low * players + high)[order], prepend=-1) != 0
    at = np.empty_like(order)
    at[order] = np.cumsum(begins) - 1
    times = np.bincount(at).astype(np.float64)
    mean = np.bincount(at, won, len(times)) / times
    pairs = Matches(low[order[begins]], high[order[begins]], mean)
    return pairs, times, float(np.sum((won - mean[at]) ** 2)), float(np.sum(won * (1.0 - won)))


def uncertainty(strengths: Strengths, top: int, draws: int = DRAWS, seed: int = SEED) -> Uncertainty:
    """The joint uncertainty of strengths, by draws from their normal approximation."""
    players = len(strengths.theta)
    cut = max(0, players - top)
    samples, in_top = np.empty((draws, players), dtype=np.float32), np.zeros(players)
    for place, one in enumerate(_sampled_errors(strengths, draws, seed)):
        samples[place] = one
        in_top += strengths.theta + one >= np.partition(strengths.theta + one, cut)[cut]
    error = samples.std(axis=0, dtype=np.float64)
    low, high = (points(strengths.theta + sign * _REACH * error) for sign in (-1.0, 1.0))
    return Uncertainty(low, high, in_top / draws, _certain(strengths.theta, samples, error, top))


def _sampled_errors(strengths: Strengths, draws: int, seed: int) -> Iterator[Floats]:
    """Sampled errors of the strengths, with mean zero: from the inverse of the information, without ever storing it."""
    rng = np.random.Generator(np.random.SFC64(seed))
    fit = _Fit(len(strengths.theta), strengths.pairs)
    _, spread = fit.expected(strengths.theta)
    curve = strengths.weight * spread
    deviation, system = np.sqrt(curve), fit.system(curve)
    for _ in range(draws):
        moved = fit.summed(deviation * rng.standard_normal(len(curve)))
        moved += np.sqrt(PRIOR) * rng.standard_normal(len(moved))
        error = fit.step(moved, system, ROUGHLY)
        yield error - error.mean()


def _certain(theta: Floats, samples: NDArray[np.float32], error: Floats, top: int) -> NDArray[np.bool_]:
    """Who is better than so many that fewer than `top` are left, each by a one-sided test at ERROR / top.

    One who is not among the best passes only by beating one of the `top` who are better.
    """
    result = np.zeros(len(theta), dtype=np.bool_)
    limit = NormalDist().inv_cdf(1.0 - ERROR / top)
    for at in np.argsort(-theta)[:top]:
        shared = samples[:, at] @ samples / len(samples)
        apart = np.sqrt(np.maximum(error[at] ** 2 + error**2 - 2.0 * shared, 0.0))
        result[at] = np.sum(theta[at] - theta > limit * apart) >= len(theta) - top
    return result


class _Fit:
    """Pairs, and their positions in a matrix of all players: row by row its diagonal, and each pair on either side."""

    def __init__(self, players: int, pairs: Matches) -> None:
        self._players, self._value = players, pairs.value
        self._first, self._second = first, second = pairs.first, pairs.second
        own, at = np.arange(players), np.arange(len(pairs))
        # Short integers are sorted by radix.
        rows = np.concatenate((own, first, second)).astype(np.min_scalar_type(players))
        order, none = np.argsort(rows, kind="stable"), np.full(players, len(pairs))
        self._columns, self._pair = (
            np.concatenate(parts)[order] for parts in ((own, second, first), (none, at, at))
        )
        self._starts = np.searchsorted(rows[order], own)
        # Allocating memory anew in every iteration takes longer than filling it.
        self._curve, (self._beside, self._room) = np.zeros(len(pairs) + 1), np.empty((2, len(rows)))

    def expected(self, strengths: Floats) -> tuple[Floats, Floats]:
        """The probability p that the first beats the second, and p(1 − p)."""
        result: Floats = 1.0 / (1.0 + np.exp(strengths.take(self._second) - strengths.take(self._first)))
        return result, result * (1.0 - result)

    def solved(self, weight: Floats, exact: float = EXACT, start: Floats | None = None) -> Floats:
        """The strengths by Newton's steps, each solved by conjugate gradients as closely as the next one can profit.

        The strengths of all who met are made to sum to zero; the prior alone would reach that only in many
        iterations.
        """
        times = np.diff(self._starts, append=len(self._columns)) - 1
        share = (times > 0) / max(1.0, float(np.sum(times > 0)))
        # Without a start: each player's share of points, as if all others were alike.
        ahead = 2.0 * self.summed(self._value - 0.5)
        result: Floats = np.log((times + 1.0 + ahead) / (times + 1.0 - ahead)) if start is None else start
        result, within = result - result.sum() * share, _FAR
        for _ in range(_MOST_STEPS):
            chance, spread = self.expected(result)
            slope = self.summed(weight * (self._value - chance)) - PRIOR * result
            step = self.step(slope, self.system(weight * spread), within)
            step -= step.sum() * share
            # Far from the solution a whole step may overshoot.
            largest = float(np.max(np.abs(step), initial=0.0))
            result += step if largest <= 4.0 else step * (4.0 / largest)
            # The error left after a step is that share of it, or its square.
            left = largest * max(within, largest)
            if left <= exact:
                break
            within = min(_FAR, max(left, 0.3 * exact / left))
        return result

    def summed(self, moved: Floats) -> Floats:
        """The total of each player: that of the matches as first, less that of those as second."""
        return np.asarray(
            np.bincount(self._first, moved, self._players) - np.bincount(self._second, moved, self._players),
            dtype=np.float64,
        )

    def system(self, curve: Floats) -> tuple[Floats, Floats]:
        """The Laplacian of the curves + prior: the off-diagonal values to subtract, row by row, and the diagonal."""
        self._curve[:-1] = curve
        beside_it = self._curve.take(self._pair, out=self._beside, mode="clip")
        return beside_it, PRIOR + np.add.reduceat(beside_it, self._starts)

    def step(self, slope: Floats, system: tuple[Floats, Floats], within: float) -> Floats:
        """The solution of system · step = slope, to a relative error of `within`."""
        beside_it, scale = system
        step, left = np.zeros(self._players), slope.copy()
        ahead = left / scale
        way, size = ahead.copy(), float((left * ahead).sum())
        bound = size * within**2
        for _ in range(_MOST_TURNS):
            if size <= bound or size == 0.0:
                break
            others = way.take(self._columns, out=self._room, mode="clip")
            others *= beside_it
            bent = scale * way - np.add.reduceat(others, self._starts)
            far = size / float((way * bent).sum())
            step += far * way
            left -= far * bent
            ahead = left / scale
            before, size = size, float((left * ahead).sum())
            way = ahead + (size / before) * way
        return step


# A smaller change of the best between rounds counts as none.
STEADY = 0.02
# The rounding error allowed in a count of independent matches.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's standing: rating, strength in points with its 95 % interval, probability to be among the best,
    matches.

    With too few independent matches of its own for an interval it has none, as `note` says, and is never certain to
    be among the best; with too few in all, there is no probability.
    """

    id: str
    rank: int
    elo: float
    bradley_terry: float
    low: float | None
    high: float | None
    p_top: float | None
    matches: int
    note: str = ""
    certain: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """All standings, the best first; `changed` is the share of the best that the last round replaced."""

    rows: tuple[Standing, ...]
    top: int
    rounds: int
    matches: int
    changed: float | None
    independent: int

    @property
    def certain(self) -> int:
        """The number of the best that are certain to be among them."""
        return sum(row.certain for row in self.rows[: self.top])

    @property
    def converged(self) -> bool:
        """Whether the last round changed less than two in a hundred of the best."""
        return self.changed is not None and self.changed < STEADY

    @property
    def too_few(self) -> str:
        """Why there is no probability to be among the best; empty if there is one."""
        return (
            "" if enough(self.independent) else few(self.independent, _named(self.independent, self.matches))
        )


def ranking(
    ids: Iterable[str],
    played: Iterable[PlayedMatch],
    top: int,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Ranking:
    """Rank the players by Elo rating, then by strength, then by id. ValueError if one plays twice in a round."""
    names = sorted(ids)
    rounds, won = _rounds(names, played)
    before = rated(len(names), rounds[:-1])
    now = after_round(before, rounds[-1]) if rounds else before
    strengths = fitted(len(names), won)
    places = points(strengths.theta)
    known = uncertainty(strengths, top, draws, seed)
    times = np.bincount(np.concatenate((won.first, won.second)), minlength=len(names))
    own, independent = strengths.matches, int(strengths.counts.sum() + ROUNDING)
    order = _order(names, now, places)
    rows = tuple(
        _standing(
            names[at],
            rank,
            float(now[at]),
            Estimate(
                float(places[at]), float(known.low[at]), float(known.high[at]), n=int(own[at] + ROUNDING)
            ),
            float(known.in_top[at]) if enough(independent) else None,
            int(times[at]),
            bool(known.certain[at]),
        )
        for rank, at in enumerate(order, start=1)
    )
    lost = len(set(_order(names, before, places)[:top]) - set(order[:top]))
    changed = lost / max(1, min(top, len(names))) if len(rounds) > 1 else None
    return Ranking(rows, top, len(rounds), len(won), changed, independent)


def _standing(
    name: str, rank: int, rating: float, strength: Estimate, chance: float | None, matches: int, certain: bool
) -> Standing:
    result = settled(strength, strength.n, _named(strength.n, matches))
    return Standing(
        name,
        rank,
        rating,
        result.value or 0.0,
        result.low,
        result.high,
        chance,
        matches,
        result.note,
        certain and enough(strength.n),
    )


def _named(independent: int, matches: int) -> str:
    """The unit of the count: matches of one pair with the same result count as one."""
    return "matches" if independent == matches else "independent matches"


def _order(names: Sequence[str], first: Floats, second: Floats) -> list[int]:
    """Positions by one rating, then by the other, then by name; values that differ by rounding are equal."""
    return sorted(
        range(len(names)),
        key=lambda at: (-round(float(first[at]), 6), -round(float(second[at]), 6), names[at]),
    )


def ratings(ids: Sequence[str], played: Iterable[PlayedMatch]) -> dict[str, float]:
    names = sorted(ids)
    return dict(zip(names, rated(len(names), _rounds(names, played)[0]).tolist(), strict=True))


def met(played: Iterable[PlayedMatch]) -> Mapping[Pair, int]:
    """How often each pair met, by their ids in order."""
    result: dict[Pair, int] = {}
    for match in played:
        pair = min(match.first, match.second), max(match.first, match.second)
        result[pair] = result.get(pair, 0) + 1
    return result


def near(ids: Sequence[str], played: Sequence[PlayedMatch], top: int, seed: int, round_: int) -> list[Pair]:
    """The pairs of another round near the cut."""
    return near_round(ratings(ids, played), top, seed, round_, met(played))


def further(ids: Sequence[str], played: Sequence[PlayedMatch], top: int, draws: int = 200) -> FurtherPair:
    """Whether another pair may change the order of the `top` best by strength, and which.

    A place is open while the 95 % intervals of its holder and the next overlap; a player without an interval may have
    any place. Of pairs that have not met, overlap, and include one of the best, the nearest is chosen.
    """
    rows = sorted(ranking(ids, played, top, draws).rows, key=lambda row: (-row.bradley_terry, row.id))
    known = met(played)
    pairs = (
        (rows[at], rows[at + apart])
        for apart in range(1, len(rows))
        for at in range(min(top, len(rows) - apart))
    )
    open_ = sum(_overlap(*pair) for pair in pairwise(rows[: top + 1]))
    names = (
        (min(standing.id, other.id), max(standing.id, other.id))
        for standing, other in pairs
        if _overlap(standing, other)
    )
    return FurtherPair(open_, next((pair for pair in names if pair not in known), None) if open_ else None)


def _overlap(better: Standing, other: Standing) -> bool:
    return better.low is None or other.high is None or better.low <= other.high


def _rounds(names: Sequence[str], played: Iterable[PlayedMatch]) -> tuple[list[Matches], Matches]:
    """The matches of each round in their order, with confidence; and all together, with their plain results."""
    at = {name: place for place, name in enumerate(names)}
    by_round: dict[int, list[tuple[int, int, float]]] = {}
    won = []
    for match in played:
        first, second = at[match.first], at[match.second]
        by_round.setdefault(match.round, []).append((first, second, match.value))
        won.append((first, second, match.value if match.outcome is None else match.outcome))
    return [Matches.of(by_round[number]) for number in sorted(by_round)], Matches.of(won)
