"""Matching the labels of a file with reports, units and raters, never by similarity or position."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.items import materials
from annotator.actions.labelling import label_cases
from annotator.actions.labelling.label_rows import IMPORTED, UNSURE
from annotator.actions.labelling.label_writing import LabelPlace
from annotator.actions.project.file import Project
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.response import spelled
from annotator.domain.texts.counting import counted
from annotator.domain.texts.difference import same_words
from annotator.exchange.formats.label_entries import EntryTrouble, LabelEntry
from annotator.exchange.formats.layouts import LAYOUTS
from annotator.exchange.release.bundle import Problem
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import ITEM, RESPONSE, SYSTEM

# How other programs write the answers of a question that is answered by yes or no, or by true or false.
_ALIKE = (("yes", "true", "1", "1.0", "y"), ("no", "false", "0", "0.0", "n"))


@dataclass(frozen=True, slots=True)
class MatchingHints:
    """Facts that the files do not state: the protocol, the system, the report of each question.

    `drafts` are for their raters to resume; otherwise the labels are finished work.
    """

    protocol: str
    system: str = ""
    systems: Mapping[str, str] = field(default_factory=dict)
    drafts: bool = False

    def system_of(self, entry: LabelEntry) -> str:
        """The system an entry is of; a benchmark's own files are never believed where something else is told."""
        told = self.systems.get(entry.item, self.system)
        return (told or entry.system) if entry.peer else (entry.system or told)


@dataclass(frozen=True, slots=True)
class MatchedLabel:
    """A label with its place; `about` are the item and artifact of the unit."""

    entry: LabelEntry
    place: LabelPlace
    item_id: str
    artifact_id: str
    value: str
    flags: str

    def fields(self) -> dict[str, str | None]:
        sure = self.value != UNSURE
        return {
            "value": self.value if sure else None,
            "status": (Status.OK if sure else Status.UNCLEAR).value,
            "cause": "" if sure else "the rater is unsure",
            "flags": self.flags,
        }


class AskedUnit(NamedTuple):
    """A unit as a protocol asks about it in one report: words, position, possible values."""

    id: str
    words: str
    number: int
    artifact_id: str
    values: tuple[str, ...]
    flags: str
    weight: float


def asked_units(
    project: Project, shape: Protocol, item_ids: Sequence[str]
) -> Iterator[tuple[str, list[AskedUnit]]]:
    """Response by response, the units that are asked about, in their order."""
    with project.store.read() as db:
        systems = dict(db.execute(select(SYSTEM.c.id, SYSTEM.c.name)).all())
    # What may be said hangs on whether a page has words, never on those of a report.
    wanted = replace(materials.for_judging(shape), texts=False)
    for at_hand in materials.each(project, wanted, item_ids):
        for material in at_hand.responses:
            asked = [(case, unit) for case in shape.cases(material) for unit in case.units]
            yield material.response.id, [
                AskedUnit(
                    unit.id, _words(case, unit, systems), number, case.artifact_id,
                    (*label_cases.values_of(shape, case), UNSURE), label_cases.flags_of(case), shape.weight(unit),
                )
                for number, (case, unit) in enumerate(asked, 1)
            ]  # fmt: skip


def _words(case: Case, unit: Unit, systems: Mapping[str, str]) -> str:
    """What a unit is called in a file: of a pair the system that is shown second, of a matrix both its sides."""
    if case.other is not None:
        return systems[case.other.system_id]
    return " → ".join([*label_cases.beside(case), unit.text])


class _EntryFacts(NamedTuple):
    """What is known of an entry before its unit is found."""

    protocol: str
    item_id: str
    response_id: str


class Matcher:
    """A matcher of file entries over one snapshot of the project."""

    def __init__(self, project: Project, told: MatchingHints) -> None:
        self._project, self._told = project, told
        with project.store.read() as db:
            self._items = _Items(db)
            self._systems = {name: system for system, name in db.execute(select(SYSTEM.c.id, SYSTEM.c.name))}
            self._reports = _reports(db)
        self._responses: dict[tuple[Any, ...], _EntryFacts] = {}
        self._asked: dict[str, dict[str, list[AskedUnit]]] = {}
        self._met: dict[tuple[str, str, str, str, int | None], AskedUnit | str] = {}

    def place(self, entries: Iterable[LabelEntry]) -> Iterator[MatchedLabel | Problem]:
        """Each entry with its place, or the first reason why it has none."""
        entries = list(entries)
        found = [self._response(entry) for entry in entries]
        self._read_units(found)
        for entry, where in zip(entries, found, strict=True):
            yield where if isinstance(where, Problem) else self._said(entry, where)

    def _response(self, entry: LabelEntry) -> _EntryFacts | Problem:
        about = (
            entry.protocol,
            entry.item,
            entry.item_id,
            entry.dataset,
            entry.system,
            entry.trial,
            entry.mode,
        )
        known = self._responses.get((*about, entry.peer))
        if known is None:
            named = self._named_response(entry)
            if isinstance(named, Problem):
                return named
            known = self._responses[(*about, entry.peer)] = named
        return known

    def _named_response(self, entry: LabelEntry) -> _EntryFacts | Problem:
        """The protocol, the item and the response that an entry names."""
        protocol = entry.protocol or self._told.protocol
        if protocol not in PROTOCOLS or not PROTOCOLS[protocol].values:
            return entry.problem(
                EntryTrouble.UNKNOWN_UNIT, f"there is nothing to label by under “{protocol[:80]}”"
            )
        item_id = self._items.named(entry)
        if isinstance(item_id, Problem):
            return item_id
        name = self._told.system_of(entry)
        if name not in self._systems:
            told = (
                f"there is no system “{name[:80]}”"
                if name
                else "it does not say which system's report it is of"
            )
            return entry.problem(EntryTrouble.UNKNOWN_SYSTEM, told)
        there = [
            one.id
            for one in self._reports[item_id, self._systems[name]]
            if entry.trial in (None, one.trial) and spelled(entry.mode) in ("", one.mode)
        ]
        if len(there) != 1:
            known = f"“{name}” has {len(there) or 'no'} such {'reports' if there else 'report'} on this item"
            more = ": say which trial and mode" if there else ""
            return entry.problem(EntryTrouble.UNKNOWN_SYSTEM, known + more)
        return _EntryFacts(protocol, item_id, there[0])

    def _read_units(self, met: Iterable[_EntryFacts | Problem]) -> None:
        """What is asked of the items that occur, protocol by protocol."""
        wanted: dict[str, dict[str, None]] = defaultdict(dict)
        for found in met:
            if not isinstance(found, Problem):
                wanted[found.protocol][found.item_id] = None
        for protocol, ids in wanted.items():
            self._asked[protocol] = dict(asked_units(self._project, PROTOCOLS[protocol], list(ids)))

    def _said(self, entry: LabelEntry, where: _EntryFacts) -> MatchedLabel | Problem:
        unit = self._unit(entry, where)
        if isinstance(unit, str):
            return entry.problem(EntryTrouble.UNKNOWN_UNIT, unit)
        value = _value(entry.value, unit.values)
        if value is None:
            known = ", ".join(unit.values)
            return entry.problem(
                EntryTrouble.BAD_VALUE, f"“{entry.value[:40]}” is not a valid value here: use one of {known}"
            )
        flags = _flags(unit.flags, "" if self._told.drafts else IMPORTED)
        place = LabelPlace(where.protocol, where.response_id, unit.id)
        return MatchedLabel(entry, place, where.item_id, unit.artifact_id, value, flags)

    def _unit(self, entry: LabelEntry, where: _EntryFacts) -> AskedUnit | str:
        key = (where.protocol, where.response_id, entry.unit_id, entry.unit, entry.number)
        if key not in self._met:
            self._met[key] = _named(self._asked[where.protocol].get(where.response_id, []), entry)
        return self._met[key]


@lru_cache
def _value(given: str, values: tuple[str, ...]) -> str | None:
    """The value that a file's word stands for; None where it is none of them."""
    plain = given.casefold()
    alike = next((group for group in _ALIKE if plain in group), ())
    plain = next((one for one in values if one in alike[:2]), plain)
    return plain if plain in values else None


@lru_cache
def _flags(*names: str) -> str:
    return " ".join(filter(None, names))


def _named(units: Sequence[AskedUnit], entry: LabelEntry) -> AskedUnit | str:
    """The unit that an entry names, by its id or its words; the reason why there is none otherwise."""
    if entry.unit_id:
        by_id = [unit for unit in units if unit.id == entry.unit_id]
        if by_id and entry.unit and not same_words(by_id[0].words, entry.unit):
            return "its words are not those of the unit with that id"
        return by_id[0] if by_id else f"nothing with the id “{entry.unit_id[:80]}” is asked about this report"
    if not entry.unit:
        return "a number alone names nothing: give the words or the id"
    same = [unit for unit in units if entry.unit in (unit.words, unit.id)]
    same = same or [unit for unit in units if same_words(unit.words, entry.unit)]
    # A place decides between equal words, and never by itself.
    numbered = [unit for unit in same if unit.number == entry.number] if len(same) > 1 else same
    if len(numbered) == 1:
        return numbered[0]
    words = entry.unit[:80] + ("…" if len(entry.unit) > 80 else "")
    if same:
        return f"{counted(len(same), 'unit')} read “{words}”: give the id or the number"
    return f"nothing that is asked about this report reads “{words}”"


class _Report(NamedTuple):
    id: str
    trial: int
    mode: str


def _reports(db: Connection) -> defaultdict[tuple[str, str], list[_Report]]:
    found: defaultdict[tuple[str, str], list[_Report]] = defaultdict(list)
    columns = (RESPONSE.c.item_id, RESPONSE.c.system_id, RESPONSE.c.id, RESPONSE.c.trial, RESPONSE.c.mode)
    for row in db.execute(select(*columns)):
        found[row.item_id, row.system_id].append(_Report(row.id, row.trial, row.mode))
    return found


class _Items:
    """The active items, by id, by data set and key, and by key."""

    def __init__(self, db: Connection) -> None:
        rows = db.execute(
            select(ITEM.c.id, ITEM.c.dataset, ITEM.c.key).where(ITEM.c.retired.is_(False))
        ).all()
        self._ids = {row.id for row in rows}
        self._exact = {(row.dataset, row.key): row.id for row in rows}
        for layout in LAYOUTS.values():
            # A benchmark's own files know its questions by its own numbers.
            self._exact |= {(layout.name, str(number)): one for one, number in layout.numbers(rows).items()}
        self._by_key: dict[str, list[str]] = defaultdict(list)
        for row in rows:
            self._by_key[row.key].append(row.id)

    def named(self, entry: LabelEntry) -> str | Problem:
        """The id of the item that an entry names, or why it names none."""
        # A column of items may hold their ids as well as their keys.
        own = entry.item_id or (entry.item if entry.item in self._ids else "")
        known = own if own in self._ids else ""
        if not own:
            listed = (
                [self._exact.get((entry.dataset, entry.item), "")]
                if entry.dataset
                else self._by_key.get(entry.item, [])
            )
            if len(listed) > 1:
                several = f"{counted(len(listed), 'item')} are called “{entry.item}”: say of which dataset"
                return entry.problem(EntryTrouble.UNKNOWN_ITEM, several)
            known = listed[0] if listed else ""
        of = f" of “{entry.dataset[:80]}”" if entry.dataset else ""
        reason = f"there is no item “{(entry.item or entry.item_id)[:80]}”{of}"
        return known or entry.problem(EntryTrouble.UNKNOWN_ITEM, reason)
