"""Units on which people and judges are compared, with every property to group by."""

from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping
from itertools import count
from typing import Any, NamedTuple

from sqlalchemy import func, select

from annotator.actions.items import materials
from annotator.actions.project.file import Project
from annotator.actions.project.keeping import kept
from annotator.actions.results import scoring
from annotator.domain.judges.protocol import Protocol
from annotator.storage.tables import RESPONSE, SYSTEM

# Response, unit.
Key = tuple[str, str]


class UnitPlace(NamedTuple):
    """A unit of a response; `quartile` is that of the response's length, from 1 for the shortest.

    Of a pair `unit_id` is the response shown second.
    """

    item_id: str
    item_key: str
    question_type: str
    system_id: str
    system: str
    response_id: str
    quartile: int
    unit_id: str
    words: str
    weight: float

    @property
    def key(self) -> Key:
        return self.response_id, self.unit_id


ALL = "all"
# Sorted by the first, shown by the second.
Group = tuple[object, str]
BY: dict[str, Callable[[UnitPlace], Group]] = {
    ALL: lambda _: (0, ALL),
    "type": lambda place: (place.question_type, place.question_type or "no type"),
    "weight": lambda place: (-place.weight, f"weight {place.weight:g}"),
    "system": lambda place: (place.system, place.system),
    "length": lambda place: (place.quartile, f"length quartile {place.quartile}"),
    "criterion": lambda place: ((place.item_key, place.unit_id), f"item {place.item_key}: {place.words}"),
}


def named(groups: Iterable[Group]) -> dict[Group, str]:
    """The groups in the order in which they are shown, each with a name of its own.

    Two criteria of an item may have the same words: the second of those called alike is “… (2)”.
    """
    found: dict[str, Group] = {}
    for group in sorted(groups, key=lambda group: (str(type(group[0])), group)):
        alike = (group[1] if number == 1 else f"{group[1]} ({number})" for number in count(1))
        found[next(name for name in alike if name not in found)] = group
    return {group: name for name, group in found.items()}


class UnitPlaces(Mapping[Key, UnitPlace]):
    """Units by their keys. There may be very many, and a place is made when it is looked at: what lies in plain tuples
    is passed over when garbage is collected. `faults` says of items, by key, why their gold makes no score.
    """

    def __init__(self, rows: dict[Key, tuple[Any, ...]], faults: Mapping[str, str]) -> None:
        self._rows, self.faults = rows, faults

    def __getitem__(self, key: Key) -> UnitPlace:
        return tuple.__new__(UnitPlace, self._rows[key])

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __iter__(self) -> Iterator[Key]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def keys(self) -> KeysView[Key]:
        return self._rows.keys()


@kept
def places(project: Project, shape: Protocol, item_ids: Iterable[str] = ()) -> UnitPlaces:
    """Every unit that can be judged now, in the project's order: of responses that count in the results, or of the mode
    that a protocol asks about.

    Of a pair one order only, the same for all raters.
    """
    systems, quartiles = _systems(project), _quartile_of(project)
    modes = (shape.mode,) if shape.mode else scoring.counted_modes(project)
    found, faults = dict[Key, tuple[Any, ...]](), dict[str, str]()
    chosen = list(item_ids) or materials.item_ids(project)
    for at_hand in materials.each(project, materials.for_asking(shape), chosen):
        gold = at_hand.own.documents.get(shape.unit_kind) if shape.unit_kind else None
        if gold is not None and (fault := gold.fault()):
            faults[at_hand.item.key] = fault
        for material in at_hand.responses:
            for case in shape.cases(material) if material.response.mode in modes else ():
                item, response = case.item, case.response
                if case.other is not None and not in_order(response.id, case.other.id):
                    continue
                about = (
                    item.id, item.key, item.question_type, response.system_id, systems[response.system_id],
                    response.id, quartiles[response.id],
                )  # fmt: skip
                for unit in case.units:
                    found[response.id, unit.id] = (*about, unit.id, unit.text, shape.weight(unit))
    return UnitPlaces(found, faults)


def in_order(first: str, second: str) -> bool:
    """Whether a pair stands in the order in which it is compared."""
    return first < second


def _quartile_of(project: Project) -> dict[str, int]:
    """Response → in which quarter of all responses its length lies, in characters: 1 the shortest, 4 the longest."""
    import numpy as np

    with project.store.read() as db:
        lengths = dict(db.execute(select(RESPONSE.c.id, func.length(RESPONSE.c.text))).all())
    if not lengths:
        return {}
    edges = np.quantile(list(lengths.values()), [0.25, 0.5, 0.75])
    quartiles = 1 + np.searchsorted(edges, list(lengths.values()))
    return dict(zip(lengths, quartiles.tolist(), strict=True))


def _systems(project: Project) -> dict[str, str]:
    with project.store.read() as db:
        return dict(db.execute(select(SYSTEM.c.id, SYSTEM.c.name)).all())
