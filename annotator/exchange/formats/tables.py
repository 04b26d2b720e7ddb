"""Records from the rows of tables: items, reports, documents of units, and the tables of labels."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from annotator.domain.common import counted, derived_id, now
from annotator.domain.kinds.artifact import Kind, State, Unit
from annotator.domain.kinds.checklist import Checklist, shared_rest
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.material.item import END_TO_END, spelled
from annotator.exchange.formats.mappings import (
    CRITERION,
    HOW,
    ITEM,
    LONGEST_KEY,
    REPORT,
    TRUTH,
    UNITS,
    TableMapping,
    TablesMapping,
    extra_columns,
    mapped,
    says_something,
    trait,
    unused,
    words_of,
)
from annotator.exchange.release.bundle import Bundle, BundleReader, Problem, in_words
from annotator.exchange.release.records import ArtifactRecord, ItemRecord, ResponseRecord, SystemRecord
from annotator.exchange.table_files import Row, Table, read_tables, values

NAME, MOST_NAMES = "tables", 20
CALLED = "; a report is called ITEM__SYSTEM.md, or SYSTEM/ITEM.md in a folder for each system"
# Separators between an item's key and a system's name in a file name.
_GAP = re.compile(r"[\W_]+")


@dataclass(slots=True)
class KnownThings:
    """The contents of a project: items by key, systems by name, and which items have reports and rubrics.

    A report is known by the ids of its item and system and its trial.
    """

    items: Mapping[str, ItemRecord] = field(default_factory=dict)
    systems: Mapping[str, str] = field(default_factory=dict)
    reports: Collection[tuple[str, str, int]] = ()
    rubrics: Collection[str] = ()


class TablesRead(NamedTuple):
    """The content of tables: records, all problems row by row, and the tables of labels."""

    bundle: Bundle
    problems: list[Problem]
    labels: list[tuple[Table, TableMapping]]


def read(
    paths: Sequence[Path],
    known: KnownThings | None = None,
    mapping: TablesMapping | None = None,
    author: str = "",
) -> TablesRead:
    """The content of tables; notes say how each was read. Documents are drafts of the author with that id, or settled
    without one.

    Tables of labels only add their new subjects: items, reports and rubrics. If neither the project nor another table
    has an item, an item without a question is named by its key, and a report by its system.
    """
    tables, problems = read_tables(paths)
    chosen = [mapped(table, mapping) for table in tables]
    known = known or KnownThings()
    foreign = all(how.of_labels and not {"protocol", "item_id"} & set(how.columns) for _, how in chosen)
    intake = _Intake(known, now(), problems, author, bare=foreign and not known.items)
    # Labels add only subjects that no other table has, and fields beside items need those.
    chosen.sort(key=lambda one: (one[1].of_labels, "question" not in one[1].columns))
    for table, how in chosen:
        intake.items_of(table, how)
    chosen = [(intake.with_items(table), how) for table, how in chosen]
    for table, how in chosen:
        intake.tell(table, how)
        intake.reports_of(table, how)
        for name in (unit for unit in UNITS if unit in how.columns):
            intake.units_of(table, how, name)
    return TablesRead(intake.finished(), problems, [one for one in chosen if one[1].of_labels])


class _Intake(BundleReader):
    def __init__(
        self, known: KnownThings, at: datetime, problems: list[Problem], author: str, *, bare: bool
    ) -> None:
        super().__init__()
        self.problems, self.at, self._bare = problems, at, bare
        self._author = author
        self._known = dict(known.items)
        self._keys_by_question = {item.question: item.key for item in known.items.values()}
        self._systems = dict(known.systems)
        self._before, self._rubrics = known, set(known.rubrics)
        self._reports: dict[str, str] = {}
        self._units: dict[tuple[str, Kind], list[Unit]] = {}
        self._labelled: set[tuple[str, str]] = set()
        self._items: dict[str, ItemRecord] = {}

    def items_of(self, table: Table, how: TableMapping) -> None:
        if "question" not in how.columns and not (self._bare and how.of_labels):
            self._keep_beside(table, how)
            return
        extra = [] if how.of_labels else extra_columns(table, how)
        for index, row in enumerate(table.rows):
            question, key = _text_of(row, how, "question"), _text_of(row, how, ITEM)[:LONGEST_KEY]
            key = key or self._keys_by_question.get(question, "")
            if how.of_labels and (key in self._known or not (key or question)):
                continue
            question = question or (f"Item {key}" if self._bare and how.of_labels else "")
            if not question:
                self.problems.append(table.problem(index, "its question is empty"))
            elif reason := self._add_item(table.name, index, key, question, *_given(row, how, extra)):
                self.problems.append(table.problem(index, reason))

    def _keep_beside(self, table: Table, how: TableMapping) -> None:
        """Store further columns of tables of reports and criteria with the new items that they are about."""
        extra = [] if how.of_labels else extra_columns(table, how)
        for index, row in enumerate(table.rows if extra else ()):
            item = self._items.get(_text_of(row, how, ITEM)[:LONGEST_KEY])
            if item is not None:
                of = f"{system}: " if (system := _text_of(row, how, "system")) else ""
                traits = {of + name: text for name, text in _given(row, how, extra)[1].items()}
                self._add_item(table.name, index, item.key, item.question, {}, traits)

    def _add_item(
        self, file: str, index: int, key: str, question: str, fields: dict[str, str], traits: dict[str, str]
    ) -> str:
        """Add an item, or the data of a further row for it; returns why that is impossible."""
        here = self._items.get(key)
        fresh = ItemRecord(
            id=derived_id(NAME, "item", key or question),
            key=key
            or next(one for n in count(len(self._known) + 1) if (one := f"q{n:02}") not in self._known),
            question=question,
        )
        own = here or self._known.get(key) or fresh
        if here:
            before = here.model_dump(include=set(fields))
            if question != here.question or any(before[n] not in ("", "en", fields[n]) for n in fields):
                return f"item {own.key} stands in {self.bundle.place('items', own.id)[0]} otherwise"
        else:
            self.bundle.places["items", own.id] = file, index
        more = {_free_name(own.traits, name, text): text for name, text in traits.items()}
        made = own.model_copy(update={"question": question, **fields, "traits": own.traits | more})
        self._items[own.key] = self._known[own.key] = made
        self._keys_by_question[question] = own.key
        return ""

    def with_items(self, table: Table) -> Table:
        """A table; in a folder of reports, also files whose names combine an item's key and something else are
        resolved.
        """
        if table.unit != REPORT:
            return table
        keys = {key.casefold(): key for key in self._known}
        rows = [
            row if row["item"] in self._known else _named_after(row, "/" in str(place), keys)
            for row, place in zip(table.rows, table.numbers, strict=True)
        ]
        read = [
            f"“{place}” is of item {row['item']}, system {row['system']}"
            for row, before, place in zip(rows, table.rows, table.numbers, strict=True)
            if row != before
        ]
        notes = (
            [f"{counted(len(read), 'file')} begin or end with the key of an item: {read[0]}"] if read else []
        )
        return replace(table, rows=rows, notes=(*table.notes, *notes))

    def _item(self, table: Table, index: int, row: Row, how: TableMapping) -> ItemRecord | None:
        """The item of a row, by its key or its question; labels without one are refused when they are matched."""
        key = _text_of(row, how, ITEM)[:LONGEST_KEY] or self._keys_by_question.get(
            _text_of(row, how, "question"), ""
        )
        own = self._known.get(key)
        if own is None and not how.of_labels and {ITEM, "question"} & {*how.columns, *how.constants}:
            named = f"no item {key}" if key else "no item named in it"
            reason = f"there is {named}, neither in these files nor in the project"
            reason += CALLED if table.unit == REPORT else ""
            self.problems.append(table.problem(index, reason))
        return own

    def reports_of(self, table: Table, how: TableMapping) -> None:
        if REPORT not in how.columns and not (self._bare and how.of_labels):
            return
        for index, row in enumerate(table.rows):
            item = self._item(table, index, row, how)
            if item is None:
                continue
            text, system, trial = (_text_of(row, how, name) for name in (REPORT, "system", "trial"))
            trial = trial or "1"
            number = int(trial) if trial.isdecimal() and len(trial) < 10 else 0
            if how.of_labels:
                text = text or (f"Report of {system} on item {item.key}" if self._bare and system else "")
                if not (text and system and number) or self._has_report(item.id, system, number):
                    continue
            if not text or not system or not number:
                lacking = "report" if not text else "system" if not system else "trial (a number from 1)"
                self.problems.append(table.problem(index, f"it has no {lacking}"))
                continue
            mode = spelled(_text_of(row, how, "mode")) or END_TO_END
            if not self._add_report(table.name, index, item.id, system, number, text, mode):
                reason = f"another report of {system} on item {item.key} stands in these files: number them by a trial"
                self.problems.append(table.problem(index, reason))

    def _has_report(self, item_id: str, system: str, trial: int) -> bool:
        known = (item_id, self._systems.get(system, ""), trial)
        return known in self._before.reports or derived_id(*map(str, known)) in self._reports

    def _add_report(
        self, file: str, index: int, item_id: str, system: str, trial: int, text: str, mode: str
    ) -> bool:
        """Add a report; whether it is the only one, however often it occurs in these files."""
        if system not in self._systems:
            self._systems[system] = derived_id(NAME, "system", system)
            self.bundle.systems.append(SystemRecord(id=self._systems[system], name=system))
        own = derived_id(item_id, self._systems[system], str(trial), *[mode] * (mode != END_TO_END))
        if own not in self._reports:
            self._reports[own] = text
            made = ResponseRecord(
                id=own, item_id=item_id, system_id=self._systems[system], text=text, trial=trial, mode=mode
            )
            self.add("responses", made, file, index)
        return self._reports[own] == text

    def units_of(self, table: Table, how: TableMapping, name: str) -> None:
        kind, beside, _ = UNITS[name]
        if how.of_labels and (kind is not Kind.RUBRIC or "protocol" in how.columns):
            return
        if how.of_labels and all(record.id in self._rubrics for record in self._known.values()):
            return
        unit = DOCUMENTS[kind].UNIT
        for index, row in enumerate(table.rows):
            item = self._item(table, index, row, how)
            if item is None or (how.of_labels and item.id in self._rubrics):
                continue
            if not how.of_labels and kind is Kind.RUBRIC:
                self._rubrics.add(item.id)
            cells = {field: values(row, how.columns[field]) for field in beside if field in how.columns}
            listed = self._units.setdefault((item.id, kind), [])
            for place, text in enumerate(values(row, how.columns[name])):
                if how.of_labels:
                    if (item.id, words_of(text)) in self._labelled:
                        continue
                    self._labelled.add((item.id, words_of(text)))
                more = {field: given[place] for field, given in cells.items() if place < len(given)}
                try:
                    own = derived_id(item.id, name, str(len(listed)))
                    listed.append(unit(id=own, text=words_of(text), **_fields(kind, more)))
                except (ValueError, OverflowError) as error:
                    why = in_words(error) if isinstance(error, ValueError) else str(error)
                    self.problems.append(table.problem(index, f"{name} {place + 1}: {why}"))
            self.bundle.places.setdefault(
                ("artifacts", self._artifact_id(item.id, kind)), (table.name, index)
            )

    def _artifact_id(self, item_id: str, kind: Kind) -> str:
        return derived_id(item_id, kind.value, *filter(None, [self._author]))

    def tell(self, table: Table, how: TableMapping) -> None:
        self.problems += [Problem(table.name, None, note, note=True) for note in table.notes]
        if not says_something(how):
            names = ", ".join(f"“{name}”" for name in table.paths()[:8])
            known = "a question, a report, a criterion or another unit, or a label"
            self.problems.append(
                Problem(table.name, None, f"none of its columns is known as {known} ({names}). {HOW}")
            )
            return
        if not how.of_labels and not {ITEM, "question"} & {*how.columns, *how.constants}:
            self.problem(table.name, None, f"no column is known as the key or the question of an item. {HOW}")
        parts = [
            *(f"{name.replace('_', ' ')} ← {path}" for name, path in how.columns.items()),
            *(f"{name.replace('_', ' ')} = {value}" for name, value in how.constants.items()),
        ]
        words = f"{counted(len(table.rows), table.unit)}: {', '.join(parts)}"
        extra = [] if how.of_labels else extra_columns(table, how)
        left = [] if how.of_labels else [path for path in unused(table, how) if path not in extra]
        unweighted = CRITERION in how.columns and "weight" not in how.columns
        further = {
            f"kept with new items: {_some(extra)}": extra,
            f"left out, as too long, empty or a canary: {_some(left)}": left,
            "without weights each criterion counts 1": unweighted and not how.of_labels,
            "items and reports without words of their own are called by their keys and systems":
                how.of_labels and self._bare,
        }  # fmt: skip
        self.note(table.name, "; ".join([words, *(more for more, so in further.items() if so)]))

    def finished(self) -> Bundle:
        self.bundle.items = [
            record.model_copy(update={"position": position})
            for position, record in enumerate(self._items.values())
        ]
        for (item_id, kind), units in self._units.items():
            document = DOCUMENTS[kind](units=tuple(units))
            if isinstance(document, Checklist):
                document = document.with_units(shared_rest(document.units))
            own = self._artifact_id(item_id, kind)
            made = ArtifactRecord.settled(own, item_id, document, self.at)
            if self._author:
                made = made.model_copy(update={"author_id": self._author, "state": State.DRAFT})
            elif units and (fault := document.fault()):
                self.problem(*self.bundle.place("artifacts", own), fault)
                continue
            self.bundle.artifacts += [made] if units else []
        return self.bundle


def _fields(kind: Kind, cells: Mapping[str, Any]) -> dict[str, Any]:
    """A unit's fields beside its words; ValueError for values that do not fit."""
    given = {name: (cell, words_of(cell)) for name, cell in cells.items()}
    made: dict[str, Any] = {"weight": 1.0} if kind is Kind.RUBRIC and "weight" not in given else {}
    for name, (cell, text) in given.items():
        if name == "weight" and (kind is Kind.RUBRIC or (kind is Kind.CHECKLIST and text)):
            made["weight" if kind is Kind.RUBRIC else "share"] = _number(cell)
        elif not text:
            continue
        elif name == "weight":
            made["importance"] = text.casefold().replace(" ", "_").replace("-", "_")
        elif name == "holds":
            if text.casefold() not in TRUTH:
                raise ValueError(f"“{text[:40]}” is neither true nor false")
            made["label"] = TRUTH[text.casefold()]
        elif name == "year":
            made["year"] = int(_number(cell))
        else:
            made[name] = text.casefold() if name == "aspect" else text
    return made


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _named_after(row: Row, of_folder: bool, keys: Mapping[str, str]) -> Row:
    """A report assigned to the item whose key its name begins or ends with, the longest one, if any.

    Its system is that of its folder, or the rest of the name.
    """
    stem = str(row["item"])
    parted = [(stem[: gap.start()], stem[gap.end() :]) for gap in _GAP.finditer(stem)]
    ways = [(stem, ""), *parted, *((after, before) for before, after in parted)]
    known = [(keys[key.casefold()], rest) for key, rest in ways if key.casefold() in keys]
    if not known:
        return row
    key, rest = max(known, key=lambda one: len(one[0]))
    return {**row, "item": key, "system": row["system"] if of_folder or not rest else rest}


def _given(row: Row, how: TableMapping, extra: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    names = ("question_type", "subject", "language")
    fields = {name: text for name in names if (text := _text_of(row, how, name))}
    return fields, {name: text for name in extra if (text := trait(row, name))}


def _free_name(traits: Mapping[str, str], name: str, text: str) -> str:
    """The name of a trait, numbered if another row of the item has a different value under it."""
    names = (name if number == 1 else f"{name} ({number})" for number in range(1, len(traits) + 2))
    return next(one for one in names if traits.get(one, text) == text)


def _text_of(row: Row, how: TableMapping, name: str) -> str:
    """A row's text of a field, several joined; empty if it has none."""
    path = how.columns.get(name)
    if path is None:
        return how.constants.get(name, "")
    return words_of(row[path]) if path in row else "\n\n".join(filter(None, map(words_of, values(row, path))))


def _number(value: Any) -> float:
    text = words_of(value)
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise ValueError(f"“{text[:40]}” is no weight" if text else "it has no weight") from None
