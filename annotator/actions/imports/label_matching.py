"""Matching the labels of a file with reports, units and raters, never by similarity or position."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import Connection, FromClause, Row, false, insert, select

from annotator import files
from annotator.actions.items import materials
from annotator.actions.judges import judges, kept_keys
from annotator.actions.labelling import label_cases
from annotator.actions.labelling.label_rows import (
    ANSWERED,
    IMPORTED,
    UNSURE,
    come_to,
    counted_rows,
    is_given,
    is_waiting,
    sealed_by,
    submits,
    to_give_again,
    to_submit,
)
from annotator.actions.labelling.labels import LabelPlace, Origins
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.actions.project.incoming import ID
from annotator.domain.common import Change, Refusal, counted, grouped, new_id, refuse_other
from annotator.domain.experts.assignment import Person, Role
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.item import spelled
from annotator.domain.stored import PersonFields, RaterKind, Status
from annotator.domain.texts.difference import same_words
from annotator.exchange import folders
from annotator.exchange.formats import label_files, layouts
from annotator.exchange.formats.layout import (
    EntryTrouble,
    GivenLabel,
    LabelEntry,
    LabelLayout,
    Labelled,
    LabelledReport,
    LabelledUnit,
)
from annotator.exchange.formats.mappings import TablesMapping
from annotator.exchange.release.bundle import Problem
from annotator.exchange.release.records import ItemRecord
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import ITEM, JUDGEMENT, PERSON, RESPONSE, SYSTEM

# How other programs write the answers of yes/no or true/false questions.
_ALIKE = (("yes", "true", "1", "1.0", "y"), ("no", "false", "0", "0.0", "n"))


@dataclass(frozen=True, slots=True)
class LabelImportOptions:
    """Options of an import: facts that the files do not state, such as raters and systems.

    `raters`: name in the files → an id or alias here; an unknown alias creates a person. `systems`: question's number →
    system, for benchmarks' own files. Unless `skip_bad`, one bad entry stops the import. With `replace` a label
    replaces another one by the same person. Labels of files are finished work and count at once; as `drafts` they wait
    for their raters to resume them. A `mapping` names the columns of tables; with `new_raters`, unknown names become
    people.
    """

    raters: Mapping[str, str] = field(default_factory=dict)
    system: str = ""
    systems: Mapping[str, str] = field(default_factory=dict)
    protocol: str = USUAL
    skip_bad: bool = False
    replace: bool = False
    drafts: bool = False
    mapping: TablesMapping | None = None
    new_raters: bool = False

    def system_of(self, entry: LabelEntry) -> str:
        """The system of an entry; for a benchmark's own files, a system given in the options takes precedence."""
        system = self.systems.get(entry.item, self.system)
        return (system or entry.system) if entry.peer else (entry.system or system)


DEFAULT_OPTIONS = LabelImportOptions()


@dataclass(frozen=True, slots=True)
class MatchedLabel:
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


class ProtocolUnit(NamedTuple):
    """A unit as a protocol asks about it in one report: words, position, possible values."""

    id: str
    words: str
    number: int
    artifact_id: str
    values: tuple[str, ...]
    flags: str
    weight: float


def units_by_item(
    project: Project, protocol: Protocol, item_ids: Sequence[str]
) -> Iterator[tuple[str, list[ProtocolUnit]]]:
    systems = dict(project.query(select(SYSTEM.c.id, SYSTEM.c.name)).all())
    # The allowed values depend on whether a page has a text, never on the text of a report.
    for at_hand in materials.each(project, replace(materials.for_judging(protocol), texts=False), item_ids):
        for material in at_hand.responses:
            pairs = [(case, unit) for case in protocol.cases(material) for unit in case.units]
            yield material.response.id, [
                ProtocolUnit(
                    unit.id, _words(case, unit, systems), number, case.artifact_id,
                    (*label_cases.values_of(protocol, case), UNSURE), label_cases.flags_of(case), protocol.weight(unit),
                )
                for number, (case, unit) in enumerate(pairs, 1)
            ]  # fmt: skip


def _words(case: Case, unit: Unit, systems: Mapping[str, str]) -> str:
    """The words of a unit in a file: for a pair the system shown second, for a matrix both its sides."""
    if case.other is not None:
        return systems[case.other.system_id]
    return " → ".join([*label_cases.beside(case), unit.text])


class _EntryFacts(NamedTuple):
    protocol: str
    item_id: str
    response_id: str


# Why an entry names nothing, in words.
_Unknown = tuple[EntryTrouble, str]


class Matcher:
    def __init__(self, project: Project, options: LabelImportOptions) -> None:
        self._project, self._options = project, options
        with project.store.read() as db:
            self._items = _Items(db)
            self._systems = {name: system for system, name in db.execute(select(SYSTEM.c.id, SYSTEM.c.name))}
            self._reports = _reports(db)
        self._responses: dict[tuple[Any, ...], _EntryFacts | _Unknown] = {}
        self._units: dict[str, dict[str, list[ProtocolUnit]]] = {}
        self._matches: dict[tuple[str, str, str, str, int | None], ProtocolUnit | str] = {}

    def place(self, entries: Iterable[LabelEntry]) -> Iterator[MatchedLabel | Problem]:
        entries = list(entries)
        result = [self._response(entry) for entry in entries]
        self._read_units(result)
        for entry, where in zip(entries, result, strict=True):
            yield where if isinstance(where, Problem) else self._matched(entry, where)

    def _response(self, entry: LabelEntry) -> _EntryFacts | Problem:
        about = (
            entry.protocol, entry.item, entry.item_id, entry.dataset, entry.system, entry.trial, entry.mode, entry.peer,
        )  # fmt: skip
        if about not in self._responses:
            self._responses[about] = self._named_response(entry)
        result = self._responses[about]
        return result if isinstance(result, _EntryFacts) else entry.problem(*result)

    def _named_response(self, entry: LabelEntry) -> _EntryFacts | _Unknown:
        protocol = entry.protocol or self._options.protocol
        if protocol not in PROTOCOLS or not PROTOCOLS[protocol].values:
            return EntryTrouble.UNKNOWN_UNIT, f"there is nothing to label by under “{protocol[:80]}”"
        item_id, unknown = self._items.named(entry)
        if unknown:
            return EntryTrouble.UNKNOWN_ITEM, unknown
        name = self._options.system_of(entry)
        if name not in self._systems:
            reason = (
                f"there is no system “{name[:80]}”"
                if name
                else "it does not say which system's report it is of"
            )
            return EntryTrouble.UNKNOWN_SYSTEM, reason
        reports = [
            report.id
            for report in self._reports.get((item_id, self._systems[name]), ())
            if entry.trial in (None, report.trial) and spelled(entry.mode) in ("", report.mode)
        ]
        if len(reports) != 1:
            known = (
                f"“{name}” has {len(reports) or 'no'} such {'reports' if reports else 'report'} on this item"
            )
            more = ": say which trial and mode" if reports else ""
            return EntryTrouble.UNKNOWN_SYSTEM, known + more
        return _EntryFacts(protocol, item_id, reports[0])

    def _read_units(self, matches: Iterable[_EntryFacts | Problem]) -> None:
        """Load the units of the items that occur, protocol by protocol."""
        item_ids = grouped((one.protocol, one.item_id) for one in matches if not isinstance(one, Problem))
        for protocol, ids in item_ids.items():
            each = list(dict.fromkeys(ids))
            self._units[protocol] = dict(units_by_item(self._project, PROTOCOLS[protocol], each))

    def _matched(self, entry: LabelEntry, where: _EntryFacts) -> MatchedLabel | Problem:
        key = (where.protocol, where.response_id, entry.unit_id, entry.unit, entry.number)
        if key not in self._matches:
            self._matches[key] = _named(self._units[where.protocol].get(where.response_id, []), entry)
        unit = self._matches[key]
        if isinstance(unit, str):
            return entry.problem(EntryTrouble.UNKNOWN_UNIT, unit)
        value = _value(entry.value, unit.values)
        if value is None:
            known = ", ".join(unit.values)
            return entry.problem(
                EntryTrouble.BAD_VALUE, f"“{entry.value[:40]}” is not a valid value here: use one of {known}"
            )
        flags = _flags(unit.flags, "" if self._options.drafts else IMPORTED)
        place = LabelPlace(where.protocol, where.response_id, unit.id)
        return MatchedLabel(entry, place, where.item_id, unit.artifact_id, value, flags)


@lru_cache
def _value(given: str, values: tuple[str, ...]) -> str | None:
    """The value that a file's word stands for; None if it is none of them."""
    plain = given.casefold()
    alike = next((group for group in _ALIKE if plain in group), ())
    plain = next((value for value in values if value in alike[:2]), plain)
    return plain if plain in values else None


@lru_cache
def _flags(*names: str) -> str:
    return " ".join(filter(None, names))


def _named(units: Sequence[ProtocolUnit], entry: LabelEntry) -> ProtocolUnit | str:
    """The unit that an entry names, by id or words; otherwise the reason why there is none."""
    if entry.unit_id:
        by_id = [unit for unit in units if unit.id == entry.unit_id]
        if by_id and entry.unit and not same_words(by_id[0].words, entry.unit):
            return "its words are not those of the unit with that id"
        return by_id[0] if by_id else f"nothing with the id “{entry.unit_id[:80]}” is asked about this report"
    if not entry.unit:
        return "a number alone names nothing: give the words or the id"
    same = [unit for unit in units if entry.unit in (unit.words, unit.id)]
    same = same or [unit for unit in units if same_words(unit.words, entry.unit)]
    # A number decides between equal words, but never identifies a unit alone.
    numbered = [unit for unit in same if unit.number == entry.number] if len(same) > 1 else same
    if len(numbered) == 1:
        return numbered[0]
    words = entry.unit[:80] + ("…" if len(entry.unit) > 80 else "")
    if same:
        return f"{counted(len(same), 'unit')} read “{words}”: give the id or the number"
    return f"nothing that is asked about this report reads “{words}”"


def _reports(db: Connection) -> dict[tuple[str, str], list[Any]]:
    columns = (RESPONSE.c.item_id, RESPONSE.c.system_id, RESPONSE.c.id, RESPONSE.c.trial, RESPONSE.c.mode)
    return grouped(((row.item_id, row.system_id), row) for row in db.execute(select(*columns)))


class _Items:
    def __init__(self, db: Connection) -> None:
        rows = db.execute(
            select(ITEM.c.id, ITEM.c.dataset, ITEM.c.key).where(ITEM.c.retired.is_(False))
        ).all()
        self._ids = {row.id for row in rows}
        self._exact = {(row.dataset, row.key): row.id for row in rows}
        for layout in layouts.LAYOUTS.values():
            # A benchmark's own files identify questions by its own numbers.
            self._exact |= {(layout.name, str(number)): one for one, number in layout.numbers(rows).items()}
        self._by_key = grouped((row.key, row.id) for row in rows)

    def named(self, entry: LabelEntry) -> tuple[str, str]:
        """The id of the item that an entry names; or nothing, and why."""
        # A column of items may contain ids as well as keys.
        if own := entry.item_id or (entry.item if entry.item in self._ids else ""):
            listed = [own] if own in self._ids else []
        elif entry.dataset:
            listed = list(filter(None, [self._exact.get((entry.dataset, entry.item))]))
        else:
            listed = self._by_key.get(entry.item, [])
        if len(listed) == 1:
            return listed[0], ""
        if listed:
            return "", f"{counted(len(listed), 'item')} are called “{entry.item}”: say of which dataset"
        of = f" of “{entry.dataset[:80]}”" if entry.dataset else ""
        return "", f"there is no item “{(entry.item or entry.item_id)[:80]}”{of}"


@dataclass(frozen=True, slots=True)
class NamedRater:
    """The person that a name in the files stands for; `new` if the import creates them."""

    name: str
    person: Person
    new: bool = False


class Raters:
    def __init__(self, project: Project, aliases: Mapping[str, str], *, add_unknown: bool = False) -> None:
        """`aliases`: name in the files → id or alias; an unknown alias creates a person.

        With `add_unknown` an unknown name does, too.
        """
        self._requested, self._add_unknown = aliases, add_unknown
        self._people = {person.id: person for person in people.people(project)}
        self._here = frozenset(self._people)
        self.met: dict[tuple[str, str, bool], NamedRater | str] = {}

    def of(self, entry: LabelEntry) -> NamedRater | str:
        key = (entry.rater, entry.rater_id, entry.peer)
        if key not in self.met:
            self.met[key] = self._rater(*key)
        return self.met[key]

    def unmet(self) -> list[str]:
        return sorted(set(self._requested) - {name for name, *_ in self.met})

    def strangers(self) -> set[str]:
        return {name for (name, *_), rater in self.met.items() if name and isinstance(rater, str)}

    def new(self) -> list[Person]:
        """The people to be created, in the order in which they were met."""
        return [person for person_id, person in self._people.items() if person_id not in self._here]

    def _rater(self, name: str, rater_id: str, peer: bool) -> NamedRater | str:
        if name in self._requested:
            return self._mapped(name, self._requested[name])
        if rater_id in self._people:
            return self._known(name or rater_id, rater_id)
        if rater_id:
            if not ID.fullmatch(rater_id):
                return f"“{rater_id[:40]}” is no id of a person"
            aliases = {person.alias for person in self._people.values()}
            alias = name if name and name not in aliases else self._free()
            return self._made(name or rater_id, rater_id, alias)
        # In a benchmark's own files, a letter in the file's name stands for someone, which is not a name.
        called = [] if peer else self._called(name)
        if len(called) == 1:
            return self._known(name, called[0])
        if name and not called and self._add_unknown:
            return self._made(name, new_id(), self._free())
        who = f"“{name[:40]}”" if name else "nobody"
        several = f", which {len(called):,} people here are called" if called else ""
        return f"the rater is {who}{several}: choose who that is, as in --as “{name[:40]}=ALIAS”"

    def _called(self, name: str) -> list[str]:
        """The ids of the people with that alias or name: as it is written, or else ignoring case."""
        words = {person.id: (person.alias, person.name) for person in self._people.values()}
        exact = [one for one, names in words.items() if name in names]
        folded = name.casefold()
        alike = [one for one, names in words.items() if folded in map(str.casefold, names)]
        return (exact or alike) if name else []

    def _mapped(self, name: str, alias: str) -> NamedRater | str:
        if alias in self._people:
            return self._known(name, alias)
        folded = alias.casefold()
        alike = [person for person in self._people.values() if person.alias.casefold() == folded]
        exact = [person for person in alike if person.alias == alias] or alike
        if len(exact) > 1:
            return f"“{alias[:40]}” may be {len(exact):,} people: write the alias as they have it"
        if exact:
            return self._known(name, exact[0].id)
        return self._made(name, new_id(), alias)

    def _known(self, name: str, person_id: str) -> NamedRater:
        return NamedRater(name, self._people[person_id], person_id not in self._here)

    def _made(self, name: str, person_id: str, alias: str) -> NamedRater | str:
        try:
            fields = PersonFields.model_validate(
                {"name": name[:200], "alias": alias, "roles": Role.ANNOTATOR.value}
            )
        except ValidationError as error:
            return f"“{alias[:40]}” cannot be an alias: {error.errors()[0]['msg'].lower()}"
        self._people[person_id] = Person(id=person_id, **fields.model_dump())
        return self._known(name, person_id)

    def _free(self) -> str:
        taken = {person.alias for person in self._people.values()}
        return next(f"R{n}" for n in range(1, len(taken) + 2) if f"R{n}" not in taken)


def add(project: Project, db: Connection, new: Iterable[Person]) -> None:
    for person in new:
        values = person.model_dump()
        db.execute(insert(PERSON).values(**values))
        record(project, db, Change("person", person.id, "add person", after=values))


def aliases_of(words: Iterable[str]) -> dict[str, str]:
    """Name → alias, from texts like “A=R3”; raises Refusal for an incomplete one, or a name given two aliases."""
    result: dict[str, str] = {}
    for one in words:
        name, sign, alias = one.rpartition("=")
        if not (sign and name.strip() and alias.strip()):
            raise Refusal(
                f"“{one}” does not identify a rater.", "Write NAME=ALIAS, with a name from the files."
            )
        if result.setdefault(name.strip(), alias.strip()) != alias.strip():
            raise Refusal(f"“{name.strip()}” is assigned to two people.", "Assign each rater once.")
    return result


CSV, JSON = "csv", "json"
TABLES = {CSV: "CSV (*.csv)", JSON: "JSON (*.json)"}
OPEN, SUBMITTED_STATE, GIVEN = "open", "submitted", "given"


@dataclass(frozen=True, slots=True)
class LabelSelection:
    """Labels to export: by protocols, people (ids or aliases) and systems; empty means all.

    With `everything`, unsubmitted labels are included. `judge` adds that judge's verdicts to a benchmark's own layout,
    whose meta-evaluation compares the two.
    """

    protocols: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    everything: bool = False
    judge: str = ""


@dataclass(frozen=True, slots=True)
class Exported:
    path: Path
    files: int
    labels: int
    raters: tuple[str, ...]
    notes: tuple[str, ...] = ()


class Leaving(NamedTuple):
    """An exported label with its unit (None if it no longer exists), its state, and the file it came from."""

    row: Row[Any]
    unit: ProtocolUnit | None
    state: str
    origin: str = ""


def offered() -> dict[str, str]:
    """The formats in which labels can be exported, by name, with titles to choose from."""
    return TABLES | {
        name: f"{title}'s layout, a folder (*)" for name, (title, _) in layouts.of_labels().items()
    }


def known_files() -> str:
    return " or ".join(
        f"{title}'s files ({layout.example} …)" for title, layout in layouts.of_labels().values()
    )


@people.for_coordinators("can export other people's labels")
def export(project: Project, to: Path, form: str = "", choice: LabelSelection = LabelSelection()) -> Exported:
    """Write labels to a file (.csv, .json) or, in a benchmark's own layout, to a folder; all or nothing.

    Only submitted or imported labels, unless everything is asked for. People are exported by alias.
    """
    own = layouts.of_labels()
    form = form or {".csv": CSV, ".json": JSON}.get(to.suffix.lower(), "") or next(iter(own))
    refuse_other(form, offered(), f"“{form}” is not a format for labels.", "Choose one of")
    if choice.judge and form in TABLES:
        raise Refusal(
            "A table of labels cannot contain a judge.", f"Omit the judge, or  choose {' or '.join(own)}."
        )
    if form not in TABLES:
        choice = _held_by(*own[form], choice)
    labels, notes = _chosen(project, choice)
    if not labels:
        why = "; ".join(notes) or "nobody has labelled any of this"
        raise Refusal(f"There are no labels to export: {why}.", "Include unsubmitted labels, or label first.")
    raters = tuple(sorted({label.row.alias for label in labels}))
    if form not in TABLES:
        parts, more = own[form][1].write(_labelled(project, own[form][1], labels, choice.judge))
        kept_keys.refuse_in_files(project, parts)
        folders.write(to, folders.with_sums(parts))
        return Exported(to, len(parts), len(labels), raters, (*notes, *more))
    rows = (_row(label) for label in labels)
    content = b"".join(label_files.as_csv(rows)) if form == CSV else label_files.as_json(rows)
    kept_keys.refuse_in_files(project, {to.name: content})
    files.save(to, content)
    return Exported(to, 1, len(labels), raters, tuple(notes))


def _held_by(title: str, layout: LabelLayout, choice: LabelSelection) -> LabelSelection:
    if set(choice.protocols) - {layout.protocol}:
        raise Refusal(
            f"{title}'s layout holds {layout.protocol} alone.",
            f"Choose {' or '.join(TABLES)} for the others.",
        )
    return replace(choice, protocols=(layout.protocol,))


def _labelled(project: Project, layout: LabelLayout, labels: Iterable[Leaving], judge: str) -> Labelled:
    """The labels as the input of a layout: with every item in use, and every report that can be labelled."""
    listed = select(ITEM).where(ITEM.c.retired.is_(False)).order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)
    reports = select(RESPONSE, SYSTEM.c.name).join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
    with project.store.read() as db:
        items = {
            row.id: ItemRecord(id=row.id, key=row.key, dataset=row.dataset, question=row.question)
            for row in db.execute(listed)
        }
        rows = {row.id: row for row in db.execute(reports)}
    labelled_reports = {
        response_id: LabelledReport(
            items[rows[response_id].item_id],
            rows[response_id].name,
            rows[response_id].trial,
            rows[response_id].mode,
            [LabelledUnit(unit.id, unit.words, unit.weight) for unit in units],
        )
        for response_id, units in units_by_item(project, PROTOCOLS[layout.protocol], list(items))
    }
    people_say = [
        GivenLabel(
            row.response_id,
            row.unit_id,
            row.alias,
            row.rater_id,
            None if row.status == Status.UNCLEAR.value else row.value,
        )
        for row, *_ in labels
    ]
    return Labelled(
        list(items.values()),
        labelled_reports,
        people_say,
        list(_judged(project, layout, judge)) if judge else (),
    )


def _judged(project: Project, layout: LabelLayout, name: str) -> Iterator[GivenLabel]:
    """A judge's verdicts under the layout's protocol; several trials are aggregated."""
    judge, j = judges.named(project, name), JUDGEMENT.c
    question = select(j.response_id, j.unit_id, j.value, j.rationale, j.status).where(
        j.protocol == layout.protocol, j.rater_id == judge.id, j.value.is_not(None)
    )
    verdicts = project.query(question.order_by(j.trial))
    trials = grouped(((row.response_id, row.unit_id), row) for row in verdicts)
    for unit, rows in trials.items():
        value, row = come_to(PROTOCOLS[layout.protocol].scale, rows)
        if value is not None:
            yield GivenLabel(*unit, judge.name, judge.id, value, row.rationale)


def _chosen(project: Project, choice: LabelSelection) -> tuple[list[Leaving], list[str]]:
    """The labels to export, in order, and notes on those left out."""
    protocols = choice.protocols or tuple(name for name, definition in PROTOCOLS.items() if definition.values)
    if unknown := set(protocols) - set(PROTOCOLS):
        raise Refusal(f"There is no protocol “{min(unknown)}”.", f"Available: {', '.join(PROTOCOLS)}.")
    persons = [people.known(project, one).id for one in choice.people]
    labels, left_out = list[Leaving](), Counter[str]()
    ids = materials.item_ids(project)
    for protocol in protocols:
        with project.store.read() as db:
            every = rows = _rows(db, protocol, persons, choice.systems, JUDGEMENT)
            if not choice.everything:
                rows = _rows(db, protocol, persons, choice.systems, counted_rows())
            whose, origins = {row.rater_id for row in rows}, Origins(db)
            sealed = {person: sealed_by(db, person, protocol) for person in whose}
            gone = {one for person in whose for one in to_give_again(db, person, protocol)}
        left_out["not yet submitted"] += len({row.id for row in every} - {row.id for row in rows} - gone)
        units = _units(project, protocol, ids, {row.response_id for row in rows}) if rows else {}
        for row in rows:
            state = OPEN if row.id in gone else _state(row, sealed, whole=choice.everything)
            if state == OPEN and not choice.everything:
                left_out["of another wording"] += 1
            else:
                unit, origin = units.get((row.response_id, row.unit_id)), origins.of(row.flags, row.at)
                labels.append(Leaving(row, unit, state, origin))
    order = {item_id: place for place, item_id in enumerate(ids)}
    labels.sort(key=lambda label: _place(order, label))
    notes = [f"{counted(number, 'label')} left out: {why}" for why, number in left_out.items() if number]
    lost = sum(label.unit is None for label in labels)
    words = f"{counted(lost, 'label')} of units that are no longer asked about"
    return labels, [*notes, words] if lost else notes


def _place(order: Mapping[str, int], label: Leaving) -> tuple[Any, ...]:
    row, number = label.row, label.unit.number if label.unit else 10**9
    report = (row.protocol, order[row.item_id], row.system, row.report_trial, row.mode, row.response_id)
    return (*report, number, row.unit_id, row.alias)


def _rows(
    db: Connection, protocol: str, persons: Sequence[str], systems: Sequence[str], source: FromClause
) -> Sequence[Any]:
    """People's labels under a protocol on the items in use; all rows of `source`, or those that count."""
    known = dict(db.execute(select(SYSTEM.c.name, SYSTEM.c.id)).all())
    if unknown := [name for name in systems if name not in known]:
        raise Refusal(
            f"There is no system “{unknown[0]}” in this project.", f"Available: {', '.join(known)}."
        )
    j = source.c
    to_be = to_submit() if source is JUDGEMENT else false()
    condition = (
        j.id, j.protocol, j.item_id, j.response_id, j.unit_id, j.rater_id, j.value, j.status, j.quote, j.note, j.flags,
        j.at, ITEM.c.key, ITEM.c.dataset, SYSTEM.c.name.label("system"), RESPONSE.c.trial.label("report_trial"),
        RESPONSE.c.mode, PERSON.c.alias, to_be.label("to_submit"),
    )  # fmt: skip
    question = (
        select(*condition)
        .join(ITEM, ITEM.c.id == j.item_id)
        .join(RESPONSE, RESPONSE.c.id == j.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .join(PERSON, PERSON.c.id == j.rater_id)
        .where(
            j.protocol == protocol, j.rater_kind == RaterKind.PERSON.value, j.trial == 1, j.status.in_(ANSWERED),
            ITEM.c.retired.is_(False),
        )
    )  # fmt: skip
    whose = [j.rater_id.in_(persons)] if persons else []
    return db.execute(question.where(*whose, *([SYSTEM.c.name.in_(systems)] if systems else []))).all()


def _units(
    project: Project, protocol: str, ids: Sequence[str], responses: set[str]
) -> dict[tuple[str, str], ProtocolUnit]:
    result = units_by_item(project, PROTOCOLS[protocol], ids)
    return {
        (response_id, unit.id): unit
        for response_id, units in result
        if response_id in responses
        for unit in units
    }


def _state(row: Row[Any], sealed: Mapping[str, set[str]], *, whole: bool) -> str:
    """How final a label is: submitted by its rater, imported, given (if the protocol submits nothing), or open."""
    if row.item_id in sealed[row.rater_id]:
        return SUBMITTED_STATE
    if is_given(row.flags):
        return IMPORTED
    if whole:
        return OPEN if row.to_submit or is_waiting(row.flags) else GIVEN
    # The counting labels of a reopened item are the submitted ones.
    return SUBMITTED_STATE if submits(row.protocol) else GIVEN


def _row(label: Leaving) -> dict[str, Any]:
    row, unit = label.row, label.unit
    return {
        "item": row.key, "item_id": row.item_id, "dataset": row.dataset, "system": row.system,
        "trial": row.report_trial, "mode": row.mode, "protocol": row.protocol, "unit_id": row.unit_id,
        "unit": unit.words if unit else "", "number": unit.number if unit else None, "rater": row.alias,
        "rater_id": row.rater_id, "value": UNSURE if row.status == Status.UNCLEAR.value else row.value,
        "quote": row.quote, "note": row.note, "weight": unit.weight if unit else None, "state": label.state,
        "origin": label.origin,
        "at": row.at.isoformat(timespec="seconds"),
    }  # fmt: skip
