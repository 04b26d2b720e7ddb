"""Drawing teams: everybody equally often, and every two people together as equally often as possible."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

# So many exchanges are tried for a team before the pairings are left as they are, and never more than that in all.
TRIES, MOST_TRIES = 400, 40_000
# This share of them replaces one person instead of exchanging two.
REPLACED = 0.2


@dataclass(frozen=True, slots=True)
class TeamSlot:
    """A team to fill: its members, how many more are wanted, and who may be drawn.

    Of `spared` one person at least stays outside, as long as the team can be filled without them.
    """

    key: str
    members: frozenset[str]
    wanted: int
    candidates: frozenset[str]
    spared: frozenset[str] = frozenset()


def draw(
    slots: Iterable[TeamSlot],
    load: Mapping[str, int],
    together: Mapping[frozenset[str], int],
    rng: Random,
) -> dict[str, list[str]]:
    """Whom each slot gets in addition to its members, by its key; fewer than wanted where nobody else may be drawn.

    `load` is how often each person was drawn before, `together` how often each two were in one team before, not
    counting these slots. The loads differ by one at most wherever the candidates allow it; the pairings are evened
    out without touching the loads. Neither the order of the slots nor that of the people makes any difference.
    """
    found = _Draw(sorted(slots, key=lambda slot: slot.key), load, together, rng)
    found.fill()
    found.level()
    found.mix()
    return found.drawn()


class _Draw:
    """The state of one draw. People are numbers, so that counting pairs is fast."""

    def __init__(
        self,
        slots: Sequence[TeamSlot],
        load: Mapping[str, int],
        together: Mapping[frozenset[str], int],
        rng: Random,
    ) -> None:
        everybody = {person for slot in slots for person in slot.members | slot.candidates}
        self.people = sorted(everybody)
        numbers = {person: number for number, person in enumerate(self.people)}
        self.rng = rng
        self.slots = slots
        self.members = [[numbers[person] for person in sorted(slot.members)] for slot in slots]
        self.candidates = [{numbers[person] for person in slot.candidates - slot.members} for slot in slots]
        # Someone who cannot be drawn anyway stays outside by themselves.
        self.spared = [
            {numbers[person] for person in slot.spared}
            if slot.spared and slot.spared <= slot.candidates | slot.members
            else set()
            for slot in slots
        ]
        self.new: list[list[int]] = [[] for _ in slots]
        self.load = [load.get(person, 0) for person in self.people]
        self.pairs = [[together.get(frozenset((a, b)), 0) for b in self.people] for a in self.people]
        for members in self.members:
            for place, a in enumerate(members):
                self._meet(a, members[:place], 1)

    def drawn(self) -> dict[str, list[str]]:
        return {
            slot.key: sorted(self.people[number] for number in new)
            for slot, new in zip(self.slots, self.new, strict=True)
        }

    def fill(self) -> None:
        """Give each slot the people who were drawn least often, and among them those who met its members least.

        The slots with the fewest to choose from come first.
        """
        order = list(range(len(self.slots)))
        self.rng.shuffle(order)
        order.sort(key=lambda place: len(self.candidates[place]) - self.slots[place].wanted)
        for place in order:
            for _ in range(self.slots[place].wanted):
                team = self._team(place)
                free = [n for n in sorted(self.candidates[place]) if n not in team]
                free = [n for n in free if self._spares(place, [*team, n])] or free
                if not free:
                    break
                ranks = {n: (self.load[n], sum(self.pairs[n][mate] for mate in team)) for n in free}
                least = min(ranks.values())
                self._take(place, self.rng.choice([n for n in free if ranks[n] == least]))

    def level(self) -> None:
        """Even out the loads where who may be drawn kept the first round from it, handing slots on along a chain."""
        while max(self.load, default=0) - min(self.load, default=0) > 1:
            takers = self._takers()
            if not any(self._relieve(person, takers) for person in self._by_load()):
                return

    def mix(self) -> None:
        """Even out the pairings by exchanging people between two slots, which leaves every load as it is.

        What is no improvement is done as well as long as it is no loss, so that the search does not stick.
        """
        places = [place for place, new in enumerate(self.new) if new]
        teams = [len(self._team(place)) for place in places]
        if not places or max(teams) < 2:
            return
        even = self._even()
        for _ in range(min(MOST_TRIES, TRIES * len(places))):
            if even:
                return
            place = self.rng.choice(places)
            person = self.rng.choice(self.new[place])
            other = self.rng.choice(places)
            alone = other == place or self.rng.random() < REPLACED
            gain = self._replace(place, person) if alone else self._exchange(place, person, other)
            even = gain > 0 and self._even()

    def _even(self) -> bool:
        """Whether no two of the people met twice more often than another two."""
        row = [count for a, counts in enumerate(self.pairs) for count in counts[:a]]
        return max(row) - min(row) <= 1

    def _exchange(self, place: int, person: int, other: int) -> int:
        """Let people of two slots change places unless the pairings lose by it; what they gain."""
        mate = self.rng.choice(self.new[other])
        if person in self._team(other) or mate in self._team(place):
            return 0
        if mate not in self.candidates[place] or person not in self.candidates[other]:
            return 0
        gain = self._swap(place, person, mate) + self._swap(other, mate, person)
        if gain < 0 or not (self._fits(place) and self._fits(other)):
            self._swap(other, person, mate)
            self._swap(place, mate, person)
            return 0
        return gain

    def _replace(self, place: int, person: int) -> int:
        """Let someone drawn once less often take a person's place, which keeps the loads as even; what that gains."""
        team = self._team(place)
        free = sorted(self.candidates[place] - set(team))
        others = [other for other in free if self.load[other] == self.load[person] - 1]
        if not others:
            return 0
        other = self.rng.choice(others)
        gain = self._swap(place, person, other)
        if gain < 0 or not self._fits(place):
            self._swap(place, other, person)
            return 0
        return gain

    def _takers(self) -> dict[int, dict[int, int]]:
        """Person by person, who could take one of their slots over, and which."""
        found: dict[int, dict[int, int]] = {person: {} for person in range(len(self.people))}
        for place, new in enumerate(self.new):
            team = self._team(place)
            free = sorted(self.candidates[place] - set(team))
            for giver in new:
                rest = [mate for mate in team if mate != giver]
                for taker in free:
                    if self._spares(place, [*rest, taker]):
                        found[giver].setdefault(taker, place)
        return found

    def _relieve(self, person: int, takers: Mapping[int, Mapping[int, int]]) -> bool:
        """Pass slots on, from this person to a second, from the second to a third …, to one drawn far less often."""
        came = {person: person}
        waiting = deque([person])
        while waiting:
            giver = waiting.popleft()
            if self.load[giver] <= self.load[person] - 2:
                self._pass_on(came, giver, takers)
                return True
            for taker in takers[giver]:
                if taker not in came:
                    came[taker] = giver
                    waiting.append(taker)
        return False

    def _pass_on(self, came: Mapping[int, int], taker: int, takers: Mapping[int, Mapping[int, int]]) -> None:
        while came[taker] != taker:
            giver = came[taker]
            self._swap(takers[giver][taker], giver, taker)
            taker = giver

    def _by_load(self) -> list[int]:
        return sorted(range(len(self.people)), key=lambda person: (-self.load[person], person))

    def _team(self, place: int) -> list[int]:
        return self.members[place] + self.new[place]

    def _fits(self, place: int) -> bool:
        return self._spares(place, self._team(place))

    def _spares(self, place: int, team: Sequence[int]) -> bool:
        return not self.spared[place] or not self.spared[place] <= set(team)

    def _take(self, place: int, person: int) -> None:
        self._meet(person, self._team(place), 1)
        self.new[place].append(person)
        self.load[person] += 1

    def _swap(self, place: int, out: int, into: int) -> int:
        """Put one person in another's place; by how much that makes the pairings more even (sum of squares)."""
        self.new[place].remove(out)
        mates = self._team(place)
        gain = -self._meet(out, mates, -1) - self._meet(into, mates, 1)
        self.new[place].append(into)
        self.load[out] -= 1
        self.load[into] += 1
        return gain

    def _meet(self, person: int, mates: Iterable[int], by: int) -> int:
        """Count meetings of a person with others; by how much the sum of squares of all counts grows."""
        grown = 0
        for mate in mates:
            count = self.pairs[person][mate]
            grown += (count + by) ** 2 - count**2
            self.pairs[person][mate] = self.pairs[mate][person] = count + by
        return grown
