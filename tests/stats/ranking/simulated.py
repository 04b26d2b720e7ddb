"""Contests of players whose true quality is known, and a judge who is right 82 % of the time at one SD."""

import numpy as np

from annotator.stats.ranking import elo, pairing
from annotator.stats.ranking.elo import Matches

RIGHT = np.log(0.82 / 0.18)
SURE = 0.8


class Contest:
    """Players of normal quality, their rounds so far and their ratings."""

    def __init__(self, players: int, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.quality = self._rng.normal(size=players)
        self.ids = [f"t{place:05d}" for place in range(players)]
        self.seed, self.rounds, self.met = seed, [], {}
        self.ratings = np.full(players, elo.START)

    @property
    def calls(self) -> int:
        return sum(map(len, self.rounds))

    @property
    def together(self) -> Matches:
        parts = ("first", "second", "value")
        return Matches(*(np.concatenate([getattr(one, part) for one in self.rounds]) for part in parts))

    def play(self, pairs: list[pairing.Pair]) -> None:
        first, second = (np.array([int(pair[side][1:]) for pair in pairs], dtype=np.intp) for side in (0, 1))
        chance = 1 / (1 + np.exp(-RIGHT * (self.quality[first] - self.quality[second])))
        won = self._rng.random(len(first)) < chance
        self.rounds.append(Matches(first, second, np.where(won, SURE, 1 - SURE)))
        for one, other in pairs:
            known = min(one, other), max(one, other)
            self.met[known] = self.met.get(known, 0) + 1
        self.ratings = elo.after_round(self.ratings, self.rounds[-1])

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
