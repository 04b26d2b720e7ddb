"""Random samples of responses to label, balanced over question types, systems, lengths and items."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from annotator.actions.sets.validation_units import UnitPlace
from annotator.domain.judges.validation import Sampled, Split

# Question type, system, length quartile.
Stratum = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A response that may be drawn, and its number of units."""

    response_id: str
    item_id: str
    stratum: Stratum
    units: int


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The number of responses for an interval width: units needed, and the design effect."""

    responses: int
    units: int
    effect: float
    reached: bool


def candidates(places: Iterable[UnitPlace]) -> list[Candidate]:
    """The responses of these units."""
    by_response: dict[str, list[UnitPlace]] = defaultdict(list)
    for place in places:
        by_response[place.response_id].append(place)
    return [
        Candidate(
            response_id, own[0].item_id, (own[0].question_type, own[0].system_id, own[0].quartile), len(own)
        )
        for response_id, own in by_response.items()
    ]


def size_for(found: Sequence[Candidate], width: float, share: float, likeness: float) -> SampleSize:
    """The fewest responses, spread over the items, after which the 95 % Wilson interval of a share is `width` wide.

    Units of one item are alike by `likeness` (ρ), so that each counts 1 / deff (Kish 1965). ValueError as in
    `wilson_size` and `kish_effect`; there must be a response.
    """
    from annotator.stats.intervals.sample_size import kish_effect, wilson_size

    each = sum(one.units for one in found) / len(found)
    held = sorted(Counter(one.item_id for one in found).values(), reverse=True)
    for responses in range(1, len(found) + 1):
        effect = kish_effect([each * size for size in _spread(held, responses)], likeness)
        needed = wilson_size(width, share, effect)
        if responses * each >= needed:
            return SampleSize(responses, needed, effect, reached=True)
    return SampleSize(len(found), needed, effect, reached=False)


def _spread(held: Sequence[int], responses: int) -> list[int]:
    """How many responses each item gives when they are imported turn from all that have one left."""
    taken, turn = [0] * len(held), 0
    while responses:
        for place, size in enumerate(held):
            if size > turn and responses:
                taken[place] += 1
                responses -= 1
        turn += 1
    return [size for size in taken if size]


def drawn(found: Iterable[Candidate], responses: int, seed: int) -> list[Candidate]:
    """So many responses at random: each stratum gives its share, and items give in turn; the same for the same seed.

    What is left after whole shares comes from the largest remainders (Hamilton), of equal ones from the items that
    have given least.
    """
    chance = Random(seed)
    waiting: dict[Stratum, list[Candidate]] = defaultdict(list)
    for one in sorted(found, key=lambda one: (one.stratum, one.response_id)):
        waiting[one.stratum].append(one)
    whole = sum(map(len, waiting.values()))
    # In whole numbers, so that equal remainders are equal.
    parts = {stratum: divmod(responses * len(own), whole) for stratum, own in waiting.items()}
    for own in waiting.values():
        chance.shuffle(own)
    used: Counter[str] = Counter()
    chosen: list[Candidate] = []

    def take(stratum: Stratum) -> None:
        one = min(waiting[stratum], key=lambda one: used[one.item_id])
        waiting[stratum].remove(one)
        used[one.item_id] += 1
        chosen.append(one)

    for stratum, (share, _) in parts.items():
        for _ in range(share):
            take(stratum)
    order = list(parts)
    chance.shuffle(order)
    for _ in range(responses - len(chosen)):
        stratum = min(order, key=lambda one: (-parts[one][1], min(used[c.item_id] for c in waiting[one])))
        order.remove(stratum)
        take(stratum)
    return sorted(chosen, key=lambda one: (one.item_id, one.response_id))


def split(chosen: Sequence[Candidate], test_share: float, seed: int) -> list[Sampled]:
    """The responses with their part: whole items go to one part, evenly over question types, at random."""
    chance = Random(f"{seed}/split")
    types = {one.item_id: one.stratum[0] for one in chosen}
    items = sorted(types)
    chance.shuffle(items)
    items.sort(key=types.__getitem__)
    tested = {
        item
        for place, item in enumerate(items)
        if round(test_share * (place + 1), 9) // 1 > round(test_share * place, 9) // 1
    }
    return [
        Sampled(
            response_id=one.response_id,
            item_id=one.item_id,
            question_type=one.stratum[0],
            system_id=one.stratum[1],
            quartile=one.stratum[2],
            split=Split.TEST if one.item_id in tested else Split.DEV,
        )
        for one in chosen
    ]
