"""Units of judgements in words: what was asked about, and what it was compared with."""

from collections.abc import Iterable, Iterator, Mapping

from sqlalchemy import select

from annotator.actions.items import materials
from annotator.actions.labelling import label_cases
from annotator.actions.project.file import Project
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.kinds.artifact import Unit
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import SYSTEM

# Response, unit.
Key = tuple[str, str]


def words_of(project: Project, asked: Iterable[tuple[str, str]]) -> dict[Key, str]:
    """(response, unit) → what was asked about, of items by id, each with the name of a protocol."""
    by_protocol: dict[str, dict[str, None]] = {}
    for item_id, protocol in asked:
        by_protocol.setdefault(protocol, {})[item_id] = None
    names, found = _systems(project), dict[Key, str]()
    for protocol, ids in by_protocol.items():
        for case in _cases(project, PROTOCOLS[protocol], list(ids)):
            found |= _words(case, names)
    return found


def words_of_case(project: Project, case: Case | None) -> dict[Key, str]:
    return _words(case, _systems(project)) if case is not None else {}


def case_of(project: Project, protocol: str, item_id: str, key: Key) -> Case | None:
    """The case that a judgement was about, as its item stands now; None where its unit is gone."""
    shape = PROTOCOLS[protocol]
    for at_hand in materials.each(project, materials.for_judging(shape), [item_id]):
        for material in at_hand.responses:
            for case in shape.cases(material) if material.response.id == key[0] else ():
                if any(unit.id == key[1] for unit in case.units):
                    return case
    return None


def _cases(project: Project, shape: Protocol, item_ids: list[str]) -> Iterator[Case]:
    # The reports' words are read only where units come from them.
    wanted = materials.for_judging(shape) if shape.unit_kind is None else materials.for_counting(shape)
    for at_hand in materials.each(project, wanted, item_ids):
        for material in at_hand.responses:
            yield from shape.cases(material)


def _systems(project: Project) -> dict[str, str]:
    with project.store.read() as db:
        return {row.id: row.name for row in db.execute(select(SYSTEM.c.id, SYSTEM.c.name))}


def _words(case: Case, systems: Mapping[str, str]) -> dict[Key, str]:
    return {(case.response.id, unit.id): _said(case, unit, systems) for unit in case.units}


def _said(case: Case, unit: Unit, systems: Mapping[str, str]) -> str:
    """A unit's words; of a pair the system shown second, of a plan both sub-tasks."""
    if case.other is not None:
        return f"Against {systems.get(case.other.system_id, 'another report')}, which is shown second"
    return "\u2002↔\u2002".join([*label_cases.beside(case), unit.text])
