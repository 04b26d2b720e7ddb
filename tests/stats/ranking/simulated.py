"""Contests of players whose true quality is known, and a judge who is right 82 % of the time at one SD."""

import numpy as np

from annotator.actions.contests import contest_rows
from annotator.domain.judges.contest import Showing, meetings
from annotator.stats.ranking import pairing, standings

RIGHT = np.log(0.82 / 0.18)
SURE = 0.8


class Contest:
    """Players of normal quality, their rounds so far and their ratings."""

    def __init__(self, players: int, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.quality = self._rng.normal(size=players)
        self.ids = [f"t{place:05d}" for place in range(players)]
        self.seed, self.rounds, self.met = seed, [], {}
        self.ratings = np.full(players, standings.START)

    @property
    def calls(self) -> int:
        return sum(map(len, self.rounds))

    @property
    def together(self) -> standings.Matches:
        parts = ("first", "second", "value")
        return standings.Matches(
            *(np.concatenate([getattr(one, part) for one in self.rounds]) for part in parts)
        )

    def play(self, pairs: list[pairing.Pair]) -> None:
        first, second = (np.array([int(pair[side][1:]) for pair in pairs], dtype=np.intp) for side in (0, 1))
        chance = 1 / (1 + np.exp(-RIGHT * (self.quality[first] - self.quality[second])))
        won = self._rng.random(len(first)) < chance
        self.rounds.append(standings.Matches(first, second, np.where(won, SURE, 1 - SURE)))
        for one, other in pairs:
            known = min(one, other), max(one, other)
            self.met[known] = self.met.get(known, 0) + 1
        self.ratings = standings.after_round(self.ratings, self.rounds[-1])

    def at_random(self, rounds: int) -> None:
        for _ in range(rounds):
            self.play(pairing.random_round(self.ids, self.seed, len(self.rounds))[0])

    def near_the_cut(self, top: int, calls: int) -> None:
        while self.calls < calls:
            known = dict(zip(self.ids, self.ratings.tolist(), strict=True))
            self.play(
                pairing.near_round(known, top, self.seed, len(self.rounds), self.met)[: calls - self.calls]
            )

    def kept(self, top: int) -> float:
        best, rated = np.argsort(-self.quality)[:top], np.argsort(-self.ratings, kind="stable")[:top]
        return len({*best.tolist()} & {*rated.tolist()}) / top


class Judged:
    """A contest as the program holds it, in one order or in both, by a judge who prefers what is shown first.

    The confidence that it states is .8 in one order, and in both any from .5 to 1, whatever it is worth. With `best`
    the first tenth win .9 of their matches against the others, who are alike; without, strengths are normal.
    """

    def __init__(self, players: int, rounds: int, seed: int, *, both: bool, best: bool) -> None:
        self._rng, self.bias = np.random.default_rng(seed), 0.7 if both else 0.3
        self.ids, self.top = [f"t{place:03d}" for place in range(players)], players // 10
        cosh = np.cosh(self.bias)
        # The mean of both orders, 1 / (1 + e^(−θ ± bias)), is .9.
        apart = np.log((0.8 * cosh + np.sqrt(0.64 * cosh**2 + 0.36)) / 0.2)
        self.quality = (
            apart * (np.arange(players) < self.top) if best else RIGHT * self._rng.normal(size=players)
        )
        showings, resting = [], ""
        for round_ in range(1, rounds + 1):
            pairs, resting = pairing.random_round(self.ids, seed, round_, resting)
            for one, other in pairs:
                showings += [
                    self._shown(round_, *order) for order in ((one, other), (other, one))[: 1 + both]
                ]
        self._played = contest_rows.played(meetings(showings))

    def _shown(self, round_: int, first: str, second: str) -> Showing:
        one, other = (self.quality[int(name[1:])] for name in (first, second))
        won = self._rng.random() < 1 / (1 + np.exp(other - one - self.bias))
        sure = self._rng.uniform(0.5, 1) if self.bias > 0.5 else SURE
        return Showing(round_, first, second, "first" if won else "second", sure, "ok")

    @property
    def truth(self) -> np.ndarray:
        """The strengths in points that matches without end would give, each pair in both orders as often."""
        first, second = np.triu_indices(len(self.ids), 1)
        apart = self.quality[first] - self.quality[second]
        won = sum(1 / (1 + np.exp(-apart + shift)) for shift in (self.bias, -self.bias)) / 2
        return standings.points(
            standings._Fit(len(self.ids), standings.Matches(first, second, won)).solved(
                np.full(len(first), 1e6)
            )
        )

    def ranking(self, draws: int = 200) -> standings.Ranking:
        return standings.ranking(self.ids, self._played, self.top, draws)


def kept_its_word(players: int, rounds: int, runs: int, *, both: bool, best: bool, draws: int = 200) -> dict:
    """Over so many contests: how often intervals cover and are shown, and what “certain” is worth."""
    covered, wrong, hits = [], 0, 0
    for seed in range(runs):
        contest = Judged(players, rounds, seed, both=both, best=best)
        truth = dict(zip(contest.ids, contest.truth, strict=True))
        among = set(sorted(contest.ids, key=lambda one: -truth[one])[: contest.top])
        rows = contest.ranking(draws).rows
        covered += [row.low <= truth[row.id] <= row.high for row in rows if row.low is not None]
        sure = {row.id for row in rows if row.certain}
        wrong, hits = wrong + bool(sure - among), hits + len(sure & among)
    return {
        "coverage": float(np.mean(covered)) if covered else float("nan"), "shown": len(covered) / (runs * players),
        "wrong": wrong / runs, "certain": hits / (runs * (players // 10)),
    }  # fmt: skip
