"""Rows of an adjudication: the units of two or more raters, aligned by the frozen alignment alone."""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping

from annotator.domain.experts.adjudication import LETTERS
from annotator.domain.experts.agreement import Agreement
from annotator.domain.texts.canonical import sha256

# Letter → unit's id: one row.
Members = dict[str, str]
# Letter → the ids of that rater's units, in their order.
Orders = Mapping[str, list[str]]


def seed_of(adjudication_id: str) -> int:
    """The seed of an adjudication's shuffle: the same wherever it is opened."""
    return int(sha256(adjudication_id)[:8], 16)


def dealt(raters: list[str], seed: int) -> dict[str, str]:
    """Letter → person: the raters shuffled, whatever order they come in; those beyond Z are left out."""
    order = sorted(raters)
    random.Random(seed).shuffle(order)
    return dict(zip(LETTERS, order, strict=False))


def rows(agreement: Agreement, letters: Mapping[str, str], orders: Orders) -> list[Members]:
    """The rows, in A's order; a unit that A lacks follows the one that its own author put before it.

    Each further rater's units join the rows they are most alike to, by the similarity that was frozen with the
    agreement; a row takes at most one unit of a letter.
    """
    likeness = _likeness(agreement)
    found: list[Members] = []
    for letter in letters:
        edges = sorted(_edges(found, letter, letters, orders, likeness))
        joined: dict[str, Members] = {}
        for _, place, _, unit in edges:
            if letter not in found[place] and unit not in joined:
                joined[unit] = found[place]
                found[place][letter] = unit
        _insert_rest(found, letter, orders[letter], joined)
    return found


def _likeness(agreement: Agreement) -> dict[tuple[str, str, str, str], float]:
    """How alike two matched units are: (person, unit, person, unit) → similarity, both ways round."""
    found = {}
    for pair in agreement.pairs:
        for match in pair.matched:
            found[pair.a, match.a, pair.b, match.b] = match.likeness
            found[pair.b, match.b, pair.a, match.a] = match.likeness
    return found


def _edges(
    found: list[Members],
    letter: str,
    letters: Mapping[str, str],
    orders: Orders,
    likeness: Mapping[tuple[str, str, str, str], float],
) -> Iterator[tuple[float, int, int, str]]:
    """(−similarity, row, place of the unit, unit): each row and unit of the letter that were matched with anyone."""
    partners: defaultdict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    for (person, unit, other, partner), alike in likeness.items():
        if other == letters[letter]:
            partners[person, unit].append((partner, alike))
    places = {unit: place for place, unit in enumerate(orders[letter])}
    for row, members in enumerate(found):
        sums: defaultdict[str, float] = defaultdict(float)
        for earlier, unit in members.items():
            for partner, alike in partners[letters[earlier], unit]:
                sums[partner] += alike
        for partner, alike in sums.items():
            yield -alike, row, places[partner], partner


def _insert_rest(found: list[Members], letter: str, order: list[str], joined: dict[str, Members]) -> None:
    """Rows of their own for the units that joined none, each below the one before it in its author's order."""
    place = -1
    for unit in order:
        if unit in joined:
            place = next(n for n, members in enumerate(found) if members is joined[unit])
        else:
            place += 1
            found.insert(place, {letter: unit})


def same_order(members: list[Members], orders: Orders) -> bool:
    """Whether all raters have the units of rows they share in one order."""
    places = {letter: {unit: n for n, unit in enumerate(order)} for letter, order in orders.items()}
    for a in orders:
        for b in orders:
            shared = [row for row in members if a in row and b in row]
            shared.sort(key=lambda row: places[a][row[a]])
            along = [places[b][row[b]] for row in shared]
            if along != sorted(along):
                return False
    return True
