"""Sharing out work: who does which stage of which item, evenly, and the same for the same seed."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import combinations
from random import Random

from annotator.domain.common import derived_id, sha256
from annotator.domain.experts.assignment import Assignment, Purpose, Stage

# The number of exchanges tried per team before the pairings stay as they are, and the maximum in all.
TRIES, MOST_TRIES = 400, 40_000
# The share of tries that replace one person instead of exchanging two.
REPLACED = 0.2


@dataclass(frozen=True, slots=True)
class TeamSlot:
    """A team to fill: its members, how many more are wanted, and who may be chosen.

    At least one of the `spared` stays outside, as long as the team can be filled without them.
    """

    key: str
    members: frozenset[str]
    size: int
    candidates: frozenset[str]
    spared: frozenset[str] = frozenset()


def draw(
    slots: Iterable[TeamSlot],
    load: Mapping[str, int],
    together: Mapping[frozenset[str], int],
    rng: Random,
) -> dict[str, list[str]]:
    """The people added to each slot, by its key; fewer than wanted if nobody else may be chosen.

    `load` is how often each person was chosen before, `together` how often each two were in one team before, not
    counting these slots. The loads differ by one at most if the candidates allow it; the pairings are evened out
    without changing the loads. The result depends neither on the order of the slots nor on that of the people.
    """
    result = _Draw(sorted(slots, key=lambda slot: slot.key), load, together, rng)
    result.fill()
    result.level()
    result.mix()
    return result.teams()


class _Draw:
    """The state of one random assignment. People are numbers, so that counting pairs is fast."""

    def __init__(
        self,
        slots: Sequence[TeamSlot],
        load: Mapping[str, int],
        together: Mapping[frozenset[str], int],
        rng: Random,
    ) -> None:
        self.people = sorted({person for slot in slots for person in slot.members | slot.candidates})
        numbers = {person: number for number, person in enumerate(self.people)}
        self.rng = rng
        self.slots = slots
        self.members = [[numbers[person] for person in sorted(slot.members)] for slot in slots]
        self.candidates = [{numbers[person] for person in slot.candidates - slot.members} for slot in slots]
        # Someone who cannot be chosen anyway stays outside by themselves.
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

    def teams(self) -> dict[str, list[str]]:
        return {
            slot.key: sorted(self.people[number] for number in new)
            for slot, new in zip(self.slots, self.new, strict=True)
        }

    def fill(self) -> None:
        """Give each slot the people who were chosen least often, and among them those who met its members least.

        The slots with the fewest candidates come first.
        """
        order = list(range(len(self.slots)))
        self.rng.shuffle(order)
        order.sort(key=lambda place: len(self.candidates[place]) - self.slots[place].size)
        for place in order:
            for _ in range(self.slots[place].size):
                team = self._team(place)
                free = [n for n in sorted(self.candidates[place]) if n not in team]
                free = [n for n in free if self._spares(place, [*team, n])] or free
                if not free:
                    break
                ranks = {n: (self.load[n], sum(self.pairs[n][mate] for mate in team)) for n in free}
                least = min(ranks.values())
                self._take(place, self.rng.choice([n for n in free if ranks[n] == least]))

    def level(self) -> None:
        """Even out the loads if the candidates prevented that in the first round, passing slots on along a chain."""
        while max(self.load, default=0) - min(self.load, default=0) > 1:
            takers = self._takers()
            by_load = sorted(range(len(self.people)), key=lambda person: (-self.load[person], person))
            if not any(self._relieve(person, takers) for person in by_load):
                return

    def mix(self) -> None:
        """Even out the pairings by exchanging people between two slots, which leaves every load as it is.

        Neutral exchanges are made too, so that the search does not get stuck.
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
        """Whether the numbers of meetings of any two pairs of people differ by at most one."""
        row = [count for a, counts in enumerate(self.pairs) for count in counts[:a]]
        return max(row) - min(row) <= 1

    def _exchange(self, place: int, person: int, other: int) -> int:
        """Exchange people of two slots unless that makes the pairings less even; returns the gain."""
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
        """Replace a person by someone chosen once less often, which keeps the loads as even; returns the gain."""
        free = sorted(self.candidates[place] - set(self._team(place)))
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
        """For each person, who could take over one of their slots, and which."""
        result: dict[int, dict[int, int]] = {person: {} for person in range(len(self.people))}
        for place, new in enumerate(self.new):
            team = self._team(place)
            free = sorted(self.candidates[place] - set(team))
            for giver in new:
                rest = [mate for mate in team if mate != giver]
                for taker in free:
                    if self._spares(place, [*rest, taker]):
                        result[giver].setdefault(taker, place)
        return result

    def _relieve(self, person: int, takers: Mapping[int, Mapping[int, int]]) -> bool:
        """Pass slots on, from this person to a second, from the second to a third …, to one chosen far less often."""
        came = {person: person}
        waiting = deque([person])
        while waiting:
            giver = waiting.popleft()
            if self.load[giver] <= self.load[person] - 2:
                while came[taker := giver] != taker:
                    giver = came[taker]
                    self._swap(takers[giver][taker], giver, taker)
                return True
            for taker in takers[giver]:
                if taker not in came:
                    came[taker] = giver
                    waiting.append(taker)
        return False

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
        """Put one person in another's place; returns the gain in evenness of the pairings (sum of squares)."""
        self.new[place].remove(out)
        mates = self._team(place)
        gain = -self._meet(out, mates, -1) - self._meet(into, mates, 1)
        self.new[place].append(into)
        self.load[out] -= 1
        self.load[into] += 1
        return gain

    def _meet(self, person: int, mates: Iterable[int], by: int) -> int:
        """Count meetings of a person with others; returns the growth of the sum of squares of all counts."""
        grown = 0
        for mate in mates:
            count = self.pairs[person][mate]
            grown += (count + by) ** 2 - count**2
            self.pairs[person][mate] = self.pairs[mate][person] = count + by
        return grown


_PLACES = {stage: place for place, stage in enumerate(Stage)}


@dataclass(frozen=True, slots=True)
class AssignmentPlan:
    """A coordinator's plan for sharing out work. People and items are named by id, in any order.

    `overlap` people do each stage of each item, and the same ones all stages of authoring unless `same_people` is
    False; everybody does the pilot items. An adjudicator is chosen for each item that two or more people answer.
    `repeat_share` of a person's labelling comes back to them `repeat_after_days` after its due date (or, without one,
    after the day of sharing out). Adjudication and repeats have no due date. Someone who labels an item already by
    other `protocols` than the plan's may be asked for these as well. In a `reviewed` stage the first person drafts
    and the others review that draft.
    """

    stages: tuple[Stage, ...]
    overlap: int
    annotators: tuple[str, ...]
    adjudicators: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    due: datetime | None = None
    seed: int = 0
    pilot_items: tuple[str, ...] = ()
    repeat_share: float = 0.0
    repeat_after_days: int = 10
    same_people: bool = True
    protocols: tuple[str, ...] = ()
    reviewed: tuple[Stage, ...] = ()

    @property
    def work(self) -> tuple[Stage, ...]:
        """The annotators' stages, in their order; the adjudicators depend on `adjudicators` alone."""
        return tuple(sorted(set(self.stages) - {Stage.ADJUDICATION}, key=_PLACES.__getitem__))


@dataclass(frozen=True, slots=True)
class SharedWork:
    """The result of a plan: the assignments to make, and where it cannot be met.

    `short` is the number of people that an item still lacks; `unadjudicated` lists items that nobody is left to
    adjudicate.
    """

    made: tuple[Assignment, ...]
    short: dict[str, int] = field(default_factory=dict)
    unadjudicated: tuple[str, ...] = ()


def assignment_id(item_id: str, person_id: str, stage: Stage, trial: int = 1) -> str:
    """The id of an assignment: the same in every file."""
    again = (trial,) if trial > 1 else ()
    return derived_id("assignment", item_id, person_id, stage.value, *again)


def share(
    plan: AssignmentPlan,
    existing: Iterable[Assignment],
    answered: Mapping[str, AbstractSet[str]],
    at: datetime,
) -> SharedWork:
    """Share a plan out, keeping and counting every existing assignment.

    `answered` holds, by item, the people who have written or labelled something for it already: they may not
    adjudicate it. `at` is the moment from which repeats count if there is no due date.
    """
    sharing = _Sharing(plan, existing, answered, at)
    for stages in _groups(plan):
        sharing.deal(stages)
    sharing.pilot()
    sharing.adjudicate()
    sharing.repeat()
    made = sorted(sharing.made, key=lambda a: (a.item_id, _PLACES[a.stage], a.trial, a.person_id))
    return SharedWork(tuple(made), dict(sharing.short), tuple(sharing.unadjudicated))


def _groups(plan: AssignmentPlan) -> list[tuple[Stage, ...]]:
    """The stages that the same people do: all authoring together, labelling by itself."""
    if not plan.same_people:
        return [(stage,) for stage in plan.work]
    authoring = tuple(stage for stage in plan.work if stage is not Stage.LABELLING)
    labelling = tuple(stage for stage in plan.work if stage is Stage.LABELLING)
    return [stages for stages in (authoring, labelling) if stages]


class _Sharing:
    """The state of sharing out: who is assigned to what, existing and new."""

    def __init__(
        self,
        plan: AssignmentPlan,
        existing: Iterable[Assignment],
        answered: Mapping[str, AbstractSet[str]],
        at: datetime,
    ) -> None:
        self.plan, self.at = plan, at
        self.items = sorted(set(plan.items) - set(plan.pilot_items))
        self.pilots = sorted(set(plan.pilot_items))
        self.annotators, self.adjudicators = sorted(set(plan.annotators)), sorted(set(plan.adjudicators))
        self.made: list[Assignment] = []
        self.short: Counter[str] = Counter()
        self.unadjudicated: list[str] = []
        # Who does a stage of an item, who is involved in an item at all, who adjudicates it, and which repeats exist.
        self.on: defaultdict[tuple[str, Stage], set[str]] = defaultdict(set)
        self.engaged: defaultdict[str, set[str]] = defaultdict(set)
        self.judges: defaultdict[str, set[str]] = defaultdict(set)
        self.again: set[tuple[str, str]] = set()
        self.otherwise: dict[tuple[str, str], Assignment] = {}
        self.piloted = set(plan.pilot_items)
        for item_id, people in answered.items():
            self.engaged[item_id] |= people
        for assignment in sorted(existing, key=lambda a: a.id):
            self._count(assignment)

    def _count(self, assignment: Assignment) -> None:
        item_id, person = assignment.item_id, assignment.person_id
        if assignment.stage is Stage.ADJUDICATION:
            self.judges[item_id].add(person)
            return
        self.engaged[item_id].add(person)
        unasked = set(self.plan.protocols) - set(assignment.protocols.split())
        if assignment.trial > 1:
            self.again.add((person, item_id))
        elif assignment.stage is Stage.LABELLING and unasked:
            self.otherwise[item_id, person] = assignment
        else:
            self.on[item_id, assignment.stage].add(person)
        if assignment.purpose is Purpose.PILOT:
            self.piloted.add(item_id)

    def _make(
        self, item_id: str, person: str, stage: Stage, purpose: Purpose = Purpose.WORK, trial: int = 1
    ) -> None:
        again = trial > 1
        if stage in self.plan.reviewed and self.on[item_id, stage]:
            purpose = Purpose.REVIEW
        assignment = Assignment(
            id=assignment_id(item_id, person, stage, trial),
            item_id=item_id,
            person_id=person,
            stage=stage,
            trial=trial,
            purpose=purpose,
            not_before=(self.plan.due or self.at) + timedelta(days=self.plan.repeat_after_days)
            if again
            else None,
            due=None if again or stage is Stage.ADJUDICATION else self.plan.due,
            protocols=" ".join(self.plan.protocols) if stage is Stage.LABELLING else "",
        )
        if stage is Stage.LABELLING and not again and (former := self.otherwise.pop((item_id, person), None)):
            both = dict.fromkeys([*former.protocols.split(), *self.plan.protocols])
            changed = {"protocols": " ".join(both), "submitted_at": None, "due": assignment.due or former.due}
            assignment = former.model_copy(update=changed)
        self.made.append(assignment)
        self._count(assignment)

    def deal(self, stages: Sequence[Stage]) -> None:
        alike = self._alike(stages)
        teams = {item_id: self._team(item_id, alike) for item_id in self.items}
        slots = [self._slot(item_id, stages, teams[item_id]) for item_id in self.items]
        rng = Random(f"{self.plan.seed}/{'+'.join(stages)}")
        # The number of items of each person in these stages; pilot items, which everybody has, do not count.
        load = Counter(person for _, people in self._teams(alike) for person in people)
        chosen = draw(slots, load, self._together(alike), rng)
        for slot in slots:
            team = [*teams[slot.key], *chosen[slot.key]]
            lacking = slot.size - len(chosen[slot.key])
            if lacking:
                self.short[slot.key] = max(self.short[slot.key], lacking)
            for stage in stages:
                there = set(self.on[slot.key, stage])
                free = [person for person in team if person not in there]
                for person in free[: max(0, self.plan.overlap - len(there))]:
                    self._make(slot.key, person, stage)

    def _alike(self, stages: Sequence[Stage]) -> tuple[Stage, ...]:
        """The stages whose people continue with these, if they work on an item already."""
        if not self.plan.same_people or Stage.LABELLING in stages:
            return tuple(stages)
        return tuple(stage for stage in Stage if stage not in (Stage.LABELLING, Stage.ADJUDICATION))

    def _team(self, item_id: str, alike: Sequence[Stage]) -> list[str]:
        """The item's people of these stages who may continue with it, those with the most stages first."""
        counted = Counter(person for stage in alike for person in self.on[item_id, stage])
        free = counted.keys() & set(self.annotators) - self.judges[item_id]
        return sorted(free, key=lambda person: (-counted[person], person))

    def _slot(self, item_id: str, stages: Sequence[Stage], team: Sequence[str]) -> TeamSlot:
        on = [self.on[item_id, stage] for stage in stages]
        number = max(self.plan.overlap - len(there | set(team)) for there in on)
        free = set(self.annotators) - set(team) - self.judges[item_id]
        spared = set() if self.judges[item_id] else set(self.adjudicators) - self.engaged[item_id]
        return TeamSlot(item_id, frozenset(team), max(0, number), frozenset(free), frozenset(spared))

    def _together(self, stages: Sequence[Stage]) -> Counter[frozenset[str]]:
        """The number of items that each two people share, without those shared out now."""
        now = set(self.items)
        return Counter(
            frozenset(pair)
            for item_id, people in self._teams(stages)
            if item_id not in now
            for pair in combinations(sorted(people), 2)
        )

    def _teams(self, stages: Sequence[Stage]) -> list[tuple[str, set[str]]]:
        teams: defaultdict[str, set[str]] = defaultdict(set)
        for (item_id, stage), people in self.on.items():
            if stage in stages and item_id not in self.piloted:
                teams[item_id] |= people
        return list(teams.items())

    def pilot(self) -> None:
        """Give the pilot items to everybody but the person who adjudicates them already."""
        for item_id in self.pilots:
            for stage in self.plan.work:
                for person in self.annotators:
                    if person not in self.on[item_id, stage] | self.judges[item_id]:
                        self._make(item_id, person, stage, Purpose.PILOT)

    def adjudicate(self) -> None:
        """Choose an adjudicator for each item that two or more people answer, among those who do not."""
        if not self.adjudicators:
            return
        slots = []
        for item_id in (*self.items, *self.pilots):
            if not self.judges[item_id] and len(self.engaged[item_id]) > 1:
                free = frozenset(self.adjudicators) - self.engaged[item_id]
                slots.append(TeamSlot(item_id, frozenset(), 1, free))
        load = Counter(person for people in self.judges.values() for person in people)
        chosen = draw(slots, load, {}, Random(f"{self.plan.seed}/{Stage.ADJUDICATION}"))
        for item_id, people in sorted(chosen.items()):
            for person in people:
                self._make(item_id, person, Stage.ADJUDICATION)
            if not people:
                self.unadjudicated.append(item_id)

    def repeat(self) -> None:
        """Serve a share of each person's labelling again, chosen by the seed; pilot items are not repeated."""
        if Stage.LABELLING not in self.plan.work or not self.plan.repeat_share:
            return
        for person in self.annotators:
            own = [item_id for item_id in self.items if person in self.on[item_id, Stage.LABELLING]]
            # Half a repeat is rounded up: without any, a person's agreement with themselves is unknown.
            number = max(bool(own), int(len(own) * self.plan.repeat_share + 0.5))
            number -= sum((person, item_id) in self.again for item_id in own)
            fresh = [item_id for item_id in own if (person, item_id) not in self.again]
            fresh.sort(key=lambda item_id: sha256(f"{self.plan.seed}/{person}/{item_id}"))
            for item_id in fresh[: max(0, number)]:
                self._make(item_id, person, Stage.LABELLING, Purpose.REPEAT, trial=2)
