"""Tables of any tool as items, reports and rubrics: CSV, JSON, JSON Lines, Excel, Parquet, and folders of reports.

A mapping says which column holds what; without one, columns are matched by the names that the trade uses. A column may
be a path into nested data: `rubrics[].criterion` is that field of every entry of a list, `rubric.*[]` every entry of
the lists of an object.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from annotator.domain.kinds.artifact import Kind, State, Unit
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.texts.canonical import storable
from annotator.domain.texts.change import derived_id, now
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import CORRECT, read_json
from annotator.exchange.release.bundle import Bundle, Problem, in_words
from annotator.exchange.release.records import ArtifactRecord, ItemRecord, ResponseRecord, SystemRecord
from annotator.exchange.table_files import LISTS, Row, Table, plain, read_tables, values
from annotator.places import resources

NAME = "tables"
# As a constant: the name of the table's file.
FILE = "{file}"
# What a table may hold of each thing, and what tools call it: small letters and digits alone, the likeliest first.
ITEM, REPORT, CRITERION, VALUE = "item", "report", "criterion", "value"
FIELDS: Mapping[str, tuple[str, ...]] = {
    ITEM: ("item", "itemkey", "itemid", "questionid", "queryid", "taskid", "promptid", "qid", "sampleid", "id", "key",
           "nr", "no"),
    "question": ("question", "prompt", "query", "task", "problem", "instruction", "topicquestion"),
    "question_type": ("questiontype", "type", "category", "tasktype"),
    "subject": ("subject", "topic", "domain", "theme", "discipline", "field", "area"),
    "language": ("language", "lang"),
    "system": ("system", "systemname", "model", "modelname", "agent"),
    REPORT: ("report", "response", "answer", "article", "output", "completion", "generation", "finalreport"),
    "trial": ("trial", "run", "attempt"),
    CRITERION: ("criterion", "unit", "criteria", "point", "requirement", "criteriondescription", "rubricdetail", "text",
                "description"),
    "insight": ("insight", "keyinsight"),
    "subtask": ("subtask", "step"),
    "reference": ("reference", "citedwork", "work"),
    "statement": ("statement", "diagnostic"),
    "nugget": ("nugget",),
    "checkpoint": ("checkpoint", "checklistitem"),
    "weight": ("weight", "points", "criterionweight", "rubricweight", "importance", "share", "score"),
    "holds": ("holds", "gold", "goldlabel", "istrue", "true", "label"),
    "aspect": ("aspect",),
    "identifier": ("identifier", "doi", "arxivid", "arxiv", "isbn", "url"),
    "authors": ("authors", "author"),
    "year": ("year",),
    VALUE: ("value", "label", "met", "covered", "passed", "satisfied", "verdict", "judgment", "judgement", "decision",
            "choice", "score"),
    "rater": ("rater", "annotator", "ratername", "annotatorname", "username", "user", "reviewer", "labeler",
              "labeller", "worker", "expert", "completedby", "annotatorid", "userid", "workerid"),
    "rater_id": ("raterid",),
    "item_id": ("itemid",),
    "unit_id": ("unitid", "criterionid"),
    "number": ("number",),
    "dataset": ("dataset",),
    "mode": ("mode",),
    "protocol": ("protocol",),
    "quote": ("quote",),
    "note": ("note", "notes", "comment", "comments"),
}  # fmt: skip
# What is made of each field: a unit of a document of that kind, with the fields that may stand beside it, in lists so
# called.
UNITS: Mapping[str, tuple[Kind, tuple[str, ...], set[str]]] = {
    CRITERION: (Kind.RUBRIC, ("weight",), LISTS),
    "insight": (Kind.INSIGHTS, (), {"insights", "keyinsights"}),
    "subtask": (Kind.PLAN, (), {"plan", "subtasks", "steps"}),
    "reference": (Kind.EVIDENCE, ("weight", "identifier", "authors", "year"), {"references", "evidence", "citations"}),
    "statement": (Kind.DIAGNOSTICS, ("holds", "aspect"), {"statements", "diagnostics"}),
    "nugget": (Kind.NUGGETS, ("weight",), {"nuggets"}),
    "checkpoint": (Kind.CHECKLIST, ("weight",), {"checkpoints"}),
}  # fmt: skip
BESIDE = {name for _, beside, _ in UNITS.values() for name in beside}
TRUTH = dict.fromkeys(("true", "yes", "1", "t"), True) | dict.fromkeys(("false", "no", "0", "f"), False)
WORDS_OF_UNITS = ("text", "title", "description", "name")
WHOSE, OF_WHAT = ("rater", "rater_id"), (CRITERION, "unit_id")
OF_LABELS = tuple(FIELDS)[tuple(FIELDS).index(VALUE) :]
# Where each row is a criterion, these alone say too little.
VAGUE = {"text", "description", "statement", "score", "item", "source", "criteria", "unit"}
LONGEST_EXTRA, LONGEST_KEY, MOST_NAMES, LOOKED_AT = 20_000, 120, 20, 200
HOW = "Say by a mapping which column holds what: `--mapping FILE.json`."


class TableMapping(BaseModel):
    """What the columns of one table hold: the path of each field, or what it is for every row.

    With `each`, the path of a list in a row (`annotations[].result[]`) or of an object (`responses.*`, whose entries
    are `key` and `value`), every entry counts as a row beside the fields around it. Rows are passed over where a path
    of `without` has that value. A constant of `{file}` is the name of the table's file; with `table` it is for the
    table of that name alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    columns: dict[str, str]
    constants: dict[str, str] = {}
    each: str = ""
    without: dict[str, str] = {}
    table: str = ""

    @property
    def of_labels(self) -> bool:
        """Whether each row is a label: a rater's value for a criterion or another unit."""
        given = {*self.columns, *self.constants}
        return VALUE in self.columns and all(given & set(one) for one in (WHOSE, OF_WHAT))


class TablesMapping(BaseModel):
    """Mappings of several tables; a table is read by the first of which it has all columns."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    tables: tuple[TableMapping, ...]

    @classmethod
    def at(cls, path: Path) -> "TablesMapping":
        """The mapping of a file, or one that comes with the program, by its name; Refusal unless it is one."""
        shipped = resources() / "mappings" / f"{path}.json"
        try:
            found = cls.model_validate(read_json(shipped if shipped.is_file() else path))
        except ValidationError as error:
            raise Refusal(f"“{path.name}” is not a mapping: {in_words(error)}.", CORRECT) from None
        odd = {name for one in found.tables for name in (*one.columns, *one.constants)} - set(FIELDS)
        if odd:
            fields = ", ".join(FIELDS)
            raise Refusal(f"“{path.name}” maps to “{min(odd)}”, which is no field.", f"Fields are {fields}.")
        return found


def proposed(table: Table) -> TableMapping:
    """Which columns hold what, by what they are called; reports without a system have that of the file's name."""
    paths, labels = table.paths(), proposed_labels(table)
    if labels.of_labels and {ITEM, "item_id"} & set(labels.columns):
        return labels
    columns = _matched(paths, [name for name in FIELDS if name not in OF_LABELS])
    columns |= _by_content(table, [path for path in paths if path not in columns.values()], columns)
    # A column “insight” may hold scores.
    columns = {
        name: path
        for name, path in columns.items()
        if name not in UNITS
        or any(
            re.search(r"[^\W\d_]", _words(one)) for row in table.rows[:LOOKED_AT] for one in values(row, path)
        )
    }
    meant = {name for unit in UNITS.keys() & columns for name in UNITS[unit][1]}
    columns = {name: path for name, path in columns.items() if name not in BESIDE or name in meant}
    if REPORT not in columns:
        # Of no report, they would be read and come to nothing: they are kept with the item instead.
        columns = {name: path for name, path in columns.items() if name not in ("system", "trial")}
    nameless = REPORT in columns and "system" not in columns
    constants = {"system": Path(table.name).stem} if nameless else {}
    return TableMapping(columns=columns, constants=constants)


def _by_content(table: Table, paths: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """The columns of questions and of their keys that names do not tell: by question marks, and by being unlike."""
    cells = {path: [_words(row.get(path)) for row in table.rows[:LOOKED_AT]] for path in paths}
    known = dict(columns)
    if not {"question", REPORT, *UNITS} & set(columns):
        known["question"] = next((path for path, of in cells.items() if _asks(of)), "")
    if ITEM not in columns and known.get("question"):
        known[ITEM] = next((path for path, of in cells.items() if _tells_apart(of)), "")
    return {name: path for name, path in known.items() if path}


def _asks(cells: Sequence[str]) -> bool:
    return sum(one.endswith(("?", "？", "؟")) for one in cells) > 0.8 * len(cells)


def _tells_apart(cells: Sequence[str]) -> bool:
    return all(0 < len(one) <= 20 for one in cells) and len(set(cells)) == len(cells) > 1


def proposed_labels(table: Table) -> TableMapping:
    """The same of a table that is known to hold labels, whatever it lacks."""
    columns = _matched(table.paths(), FIELDS, vague=True)
    if columns.get("item_id") == columns.get(ITEM):
        columns.pop("item_id", None)
    return TableMapping(columns=columns)


def _matched(paths: Sequence[str], names: Iterable[str], *, vague: bool = False) -> dict[str, str]:
    """The likeliest path of each field; with `vague`, by words that say enough beside others only."""
    columns: dict[str, str] = {}
    for name in names:
        ranks = {path: rank for path in paths if (rank := _rank(name, path, vague=vague)) is not None}
        if ranks:
            columns[name] = min(ranks, key=lambda path: (ranks[path], paths.index(path)))
    return columns


def _rank(name: str, path: str, *, vague: bool) -> int | None:
    """How likely a path holds a field, 0 the likeliest; None where it does not."""
    called = FIELDS[name]
    parent, nested, last = path.rpartition("[]")
    word = re.sub(r"[^a-z0-9]", "", (last if nested else path).casefold())
    if not nested:
        unclear = name in (CRITERION, "weight") and word in VAGUE and not vague
        if word in called:
            return None if unclear else called.index(word)
        # As in “Research question”.
        ends = name in ("question", CRITERION) and "." not in path and word.endswith(called[0])
        return len(called) if ends else None
    listed = re.sub(r"[^a-z0-9]", "", parent.partition(".")[0].casefold())
    if name == VALUE and not word:
        return called.index(listed) if listed in called else None
    lists = [lists for unit, (_, beside, lists) in UNITS.items() if name == unit or name in beside]
    if not any(listed in one for one in lists):
        return None
    if name in UNITS:
        called = ("", *called, *WORDS_OF_UNITS)
    return called.index(word) if word in called else None


def rows_of(table: Table, how: TableMapping) -> Table:
    """The table as a mapping reads it: an entry of `each` a row, without those passed over, of which a note tells."""
    if not how.each and not how.without:
        return table
    tokens = how.each.replace("[]", ".[]").split(".") if how.each else []
    rows = [one for row in table.rows for one in _opened(row, tokens)]
    wanted = [row for row in rows if not any(_same(row, path, value) for path, value in how.without.items())]
    left = len(rows) - len(wanted)
    notes = (f"{counted(left, 'entry', 'entries')} passed over, as the mapping says",) if left else ()
    unit = "entry" if how.each else table.unit
    numbers = range(1, len(wanted) + 1)
    return replace(table, rows=wanted, unit=unit, numbers=numbers, notes=(*table.notes, *notes))


def _opened(tree: Any, tokens: Sequence[str]) -> Iterator[Any]:
    """A tree once for every entry at a path, that entry in the place of its list or object."""
    if not tokens:
        yield tree
        return
    token, *rest = tokens
    if token == "[]":
        yield from (inner for one in (tree if isinstance(tree, list) else ()) for inner in _opened(one, rest))
    elif isinstance(tree, dict) and token == "*":
        yield from ({"key": key, "value": one} for key, value in tree.items() for one in _opened(value, rest))
    elif isinstance(tree, dict):
        yield from (tree | {token: one} for one in _opened(tree.get(token), rest))


def _same(row: Row, path: str, value: str) -> bool:
    return any(_words(one).casefold() == value.casefold() for one in values(row, path))


@dataclass(slots=True)
class KnownThings:
    """What a project holds already: items by key, systems by name, and which items have reports and rubrics.

    A report is known by the ids of its item and system and its trial.
    """

    items: Mapping[str, ItemRecord] = field(default_factory=dict)
    systems: Mapping[str, str] = field(default_factory=dict)
    reports: Collection[tuple[str, str, int]] = ()
    rubrics: Collection[str] = ()


class TablesRead(NamedTuple):
    """What tables hold: records, everything wrong with them row by row, and the tables of labels."""

    bundle: Bundle
    problems: list[Problem]
    labels: list[tuple[Table, TableMapping]]


def read(
    paths: Sequence[Path],
    known: KnownThings | None = None,
    mapping: TablesMapping | None = None,
    author: str = "",
) -> TablesRead:
    """What tables hold; notes tell how each was read. Documents are drafts of an author's id, or settled without one.

    Tables of labels add only what they are about and nobody has: items, reports and rubrics. Where neither the project
    nor another table has an item, an item without a question is called by its key, and a report by its system.
    """
    tables, problems = read_tables(paths)
    chosen = [mapped(table, mapping) for table in tables]
    known = known or KnownThings()
    foreign = all(how.of_labels and not {"protocol", "item_id"} & set(how.columns) for _, how in chosen)
    intake = _Intake(known, now(), problems, author, bare=foreign and not known.items)
    # Labels add only what no other table brings, and fields beside items need those.
    chosen.sort(key=lambda one: (one[1].of_labels, "question" not in one[1].columns))
    for table, how in chosen:
        intake.items_of(table, how)
    for table, how in chosen:
        intake.tell(table, how)
        intake.reports_of(table, how)
        for name in (one for one in UNITS if one in how.columns):
            intake.units_of(table, how, name)
    return TablesRead(intake.finished(), problems, [one for one in chosen if one[1].of_labels])


def mapped(
    table: Table, mapping: TablesMapping | None, propose: Callable[[Table], TableMapping] = proposed
) -> tuple[Table, TableMapping]:
    """A table as the first mapping reads it of which it has all columns, or as it is proposed.

    Entries nested as a tool of labelling nests them are known without a mapping's name.
    """
    fits, how = _fitting(table, mapping.tables if mapping else ()), propose(table)
    if fits is None and not says_something(how):
        shipped = (
            TablesMapping.at(Path(path.stem)) for path in sorted((resources() / "mappings").glob("*.json"))
        )
        fits = _fitting(table, [how for one in shipped for how in one.tables if how.each])
    opened, how = fits or (table, how)
    file = {name: Path(table.name).stem for name, value in how.constants.items() if value == FILE}
    return opened, how.model_copy(update={"constants": how.constants | file})


def matched(paths: Sequence[Path], mapping: TablesMapping | None) -> list[tuple[Table, TableMapping]]:
    """The tables of files and folders, each with what its columns hold by the mapping, or else as proposed."""
    return [mapped(table, mapping) for table in read_tables(paths)[0]]


def kept_columns(table: Table) -> frozenset[str]:
    return frozenset(_extra(table, TableMapping(columns={})))


def _fitting(table: Table, ways: Iterable[TableMapping]) -> tuple[Table, TableMapping] | None:
    for how in ways:
        opened = rows_of(table, how)
        # An empty column may be meant, but only in the table that is named.
        meant = set(opened.paths()) if how.table else set()
        if how.table in ("", table.name) and all(
            path in meant or any(_filled(values(row, path)) for row in opened.rows)
            for path in how.columns.values()
        ):
            return opened, how
    return None


def says_something(how: TableMapping) -> bool:
    """Whether anything comes in by it."""
    return how.of_labels or bool({"question", REPORT, *UNITS} & set(how.columns))


def _filled(cells: Sequence[Any]) -> bool:
    return any(one is not None for one in cells)


class _Intake:
    """Records made of rows: items first, then what belongs to them."""

    def __init__(
        self, known: KnownThings, at: datetime, problems: list[Problem], author: str, *, bare: bool
    ) -> None:
        self.bundle, self.problems, self.at, self._bare = Bundle(), problems, at, bare
        self._author = author
        self._known = dict(known.items)
        self._asked = {one.question: one.key for one in known.items.values()}
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
        extra = [] if how.of_labels else _extra(table, how)
        for index, row in enumerate(table.rows):
            question, key = _text_of(row, how, "question"), _text_of(row, how, ITEM)[:LONGEST_KEY]
            key = key or self._asked.get(question, "")
            if how.of_labels and (key in self._known or not (key or question)):
                continue
            question = question or (f"Item {key}" if self._bare and how.of_labels else "")
            if not question:
                self.problems.append(table.problem(index, "its question is empty"))
            elif reason := self._add_item(table.name, index, key, question, *_given(row, how, extra)):
                self.problems.append(table.problem(index, reason))

    def _keep_beside(self, table: Table, how: TableMapping) -> None:
        """Keep what tables of reports and criteria have further with the new items that they are about."""
        extra = [] if how.of_labels else _extra(table, how)
        for index, row in enumerate(table.rows if extra else ()):
            item = self._items.get(_text_of(row, how, ITEM)[:LONGEST_KEY])
            if item is not None:
                of = f"{system}: " if (system := _text_of(row, how, "system")) else ""
                traits = {of + name: text for name, text in _given(row, how, extra)[1].items()}
                self._add_item(table.name, index, item.key, item.question, {}, traits)

    def _add_item(
        self, file: str, index: int, key: str, question: str, fields: dict[str, str], traits: dict[str, str]
    ) -> str:
        """Add an item, or what a further row has on it; why that cannot be."""
        here = self._items.get(key)
        fresh = ItemRecord(
            id=derived_id(NAME, "item", key or question),
            key=key or f"q{len(self._known) + 1:02}",
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
        self._asked[question] = own.key
        return ""

    def _item(self, table: Table, index: int, row: Row, how: TableMapping) -> ItemRecord | None:
        """The item of a row, by its key or its question; labels without one are refused where they are matched."""
        key = _text_of(row, how, ITEM)[:LONGEST_KEY] or self._asked.get(_text_of(row, how, "question"), "")
        own = self._known.get(key)
        if own is None and not how.of_labels and {ITEM, "question"} & {*how.columns, *how.constants}:
            named = f"no item {key}" if key else "no item named in it"
            reason = f"there is {named}, neither in these files nor in the project"
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
            if not self._add_report(table.name, index, item.id, system, number, text):
                reason = f"another report of {system} on item {item.key} stands in these files: number them by a trial"
                self.problems.append(table.problem(index, reason))

    def _has_report(self, item_id: str, system: str, trial: int) -> bool:
        known = (item_id, self._systems.get(system, ""), trial)
        return known in self._before.reports or derived_id(*map(str, known)) in self._reports

    def _add_report(self, file: str, index: int, item_id: str, system: str, trial: int, text: str) -> bool:
        """Add a report; whether it is the only one, however often it stands in these files."""
        if system not in self._systems:
            self._systems[system] = derived_id(NAME, "system", system)
            self.bundle.systems.append(SystemRecord(id=self._systems[system], name=system))
        own = derived_id(item_id, self._systems[system], str(trial))
        if own not in self._reports:
            self._reports[own] = text
            made = ResponseRecord(
                id=own, item_id=item_id, system_id=self._systems[system], text=text, trial=trial
            )
            self.bundle.responses.append(made)
            self.bundle.places["responses", own] = file, index
        return self._reports[own] == text

    def units_of(self, table: Table, how: TableMapping, name: str) -> None:
        kind, beside, _ = UNITS[name]
        if how.of_labels and (kind is not Kind.RUBRIC or "protocol" in how.columns):
            return
        if how.of_labels and all(one.id in self._rubrics for one in self._known.values()):
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
                    if (item.id, _words(text)) in self._labelled:
                        continue
                    self._labelled.add((item.id, _words(text)))
                more = {field: given[place] for field, given in cells.items() if place < len(given)}
                try:
                    own = derived_id(item.id, name, str(len(listed)))
                    listed.append(unit(id=own, text=_words(text), **_fields(kind, more)))
                except (ValidationError, ValueError) as error:
                    why = in_words(error) if isinstance(error, ValidationError) else str(error)
                    self.problems.append(table.problem(index, f"{name} {place + 1}: {why}"))
            self.bundle.places.setdefault(
                ("artifacts", self._artifact_id(item.id, kind)), (table.name, index)
            )

    def _artifact_id(self, item_id: str, kind: Kind) -> str:
        return derived_id(item_id, kind.value, *filter(None, [self._author]))

    def tell(self, table: Table, how: TableMapping) -> None:
        """Note how a table was read, and what of it was left out."""
        self.problems += [Problem(table.name, None, note, note=True) for note in table.notes]
        if not says_something(how):
            names = ", ".join(f"“{name}”" for name in table.paths()[:8])
            known = "a question, a report, a criterion or another unit, or a label"
            self.problems.append(
                Problem(table.name, None, f"none of its columns is known as {known} ({names}). {HOW}")
            )
            return
        if not how.of_labels and not {ITEM, "question"} & {*how.columns, *how.constants}:
            reason = f"no column is known as the key or the question of an item. {HOW}"
            self.problems.append(Problem(table.name, None, reason))
        parts = [f"{name} ← {path}" for name, path in how.columns.items()]
        parts += [f"{name} = {value}" for name, value in how.constants.items()]
        words = f"{counted(len(table.rows), table.unit)}: {', '.join(parts)}"
        if not how.of_labels:
            extra = _extra(table, how)
            words += f"; kept with new items: {_some(extra)}" if extra else ""
            left = [path for path in _unused(table, how) if path not in extra]
            words += f"; left out, as too long or empty: {_some(left)}" if left else ""
        if CRITERION in how.columns and "weight" not in how.columns and not how.of_labels:
            words += "; without weights each criterion counts 1"
        if how.of_labels and self._bare:
            words += "; items and reports without words of their own are called by their keys and systems"
        self.problems.append(Problem(table.name, None, words, note=True))

    def finished(self) -> Bundle:
        """The records, with a document of the units of each kind on an item."""
        self.bundle.items = [
            one.model_copy(update={"position": position}) for position, one in enumerate(self._items.values())
        ]
        for (item_id, kind), units in self._units.items():
            document = DOCUMENTS[kind](units=tuple(_shared(units)))
            own = self._artifact_id(item_id, kind)
            made = ArtifactRecord.settled(own, item_id, document, self.at)
            if self._author:
                made = made.model_copy(update={"author_id": self._author, "state": State.DRAFT})
            elif units and (fault := document.fault()):
                self.problems.append(Problem(*self.bundle.place("artifacts", own), fault))
                continue
            self.bundle.artifacts += [made] if units else []
        return self.bundle


def _shared(units: Sequence[Unit]) -> Sequence[Unit]:
    """Points of a checklist with equal shares where none is given."""
    if any(getattr(unit, "share", 1) for unit in units):
        return units
    return [unit.model_copy(update={"share": 1 / len(units)}) for unit in units]


def _fields(kind: Kind, cells: Mapping[str, Any]) -> dict[str, Any]:
    """A unit's fields beside its words; ValueError for what does not fit."""
    given = {name: (cell, _words(cell)) for name, cell in cells.items()}
    made: dict[str, Any] = {"weight": 1.0} if kind is Kind.RUBRIC and "weight" not in given else {}
    for name, (cell, text) in given.items():
        if name == "weight" and kind in (Kind.RUBRIC, Kind.CHECKLIST):
            made["weight" if kind is Kind.RUBRIC else "share"] = _number(cell)
        elif not text:
            continue
        elif name == "weight":
            made["importance"] = text.casefold().replace(" ", "_")
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


def _given(row: Row, how: TableMapping, extra: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """An item's fields and further traits, as far as a row has them."""
    names = ("question_type", "subject", "language")
    fields = {name: text for name in names if (text := _text_of(row, how, name))}
    return fields, {name: text for name in extra if (text := _trait(row, name))}


def _free_name(traits: Mapping[str, str], name: str, text: str) -> str:
    """The name of a trait, numbered where another row of the item has something else under it."""
    names = (name if number == 1 else f"{name} ({number})" for number in range(1, len(traits) + 2))
    return next(one for one in names if traits.get(one, text) == text)


def column_of(path: str) -> str:
    """The column that a path begins with."""
    return re.split(r"[.\[]", path)[0]


def _text_of(row: Row, how: TableMapping, name: str) -> str:
    """A row's text of a field, several put together; empty where it has none."""
    path = how.columns.get(name)
    if path is None:
        return how.constants.get(name, "")
    return _words(row[path]) if path in row else "\n\n".join(filter(None, map(_words, values(row, path))))


def _words(value: Any) -> str:
    if value is None or isinstance(value, dict | list):
        return ""
    return storable(str(plain(value))).strip()


def _number(value: Any) -> float:
    text = _words(value)
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise ValueError(f"“{text[:40]}” is no weight" if text else "it has no weight") from None


def _trait(row: Row, path: str) -> str:
    """What a row has at a path as text, nested values as JSON; empty where it is too long to stand beside an item."""
    listed = [one for one in values(row, path) if one not in (None, "", [], {})]
    value = listed if len(listed) > 1 else listed[0] if listed else None
    text = storable(orjson.dumps(value).decode()) if isinstance(value, dict | list) else _words(value)
    return text if len(text) <= LONGEST_EXTRA else ""


def _unused(table: Table, how: TableMapping) -> list[str]:
    """The columns that hold no field, and the paths into the others that are not read."""
    read = set(how.columns.values())
    opened = set(map(column_of, read)) - read
    names = dict.fromkeys(key for row in table.rows for key in row)
    within = (
        [path for path in table.paths() if column_of(path) in opened and path not in read] if opened else []
    )
    return [name for name in names if name not in read and name not in opened] + within


def _extra(table: Table, how: TableMapping) -> list[str]:
    """What of it can be kept with an item."""
    fits = (path for path in _unused(table, how) if len(path) <= LONGEST_KEY)
    return [path for path in fits if any(_trait(row, path) for row in table.rows)]
