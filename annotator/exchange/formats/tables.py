"""Tables of any tool as items, reports and rubrics: CSV, JSON, JSON Lines, Excel, Parquet, and folders of reports.

A mapping says which column holds what; without one, columns are matched by the names that the trade uses. A column may
be a path into nested data: `rubrics[].criterion` is that field of every entry of a list, `rubric.*[]` every entry of
the lists of an object.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.canonical import storable
from annotator.domain.texts.counting import counted
from annotator.domain.texts.identity import derived_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import CORRECT, read_json
from annotator.exchange.release.bundle import Bundle, Problem, in_words
from annotator.exchange.release.records import ArtifactRecord, ItemRecord, ResponseRecord, SystemRecord
from annotator.exchange.table_files import LISTS, Row, Table, plain, read_tables, values
from annotator.places import resources

NAME = "tables"
# What a table may hold of each thing, and what tools call it: small letters and digits alone, the likeliest first.
ITEM, REPORT, CRITERION = "item", "report", "criterion"
FIELDS: Mapping[str, tuple[str, ...]] = {
    ITEM: ("id", "key", "itemid", "item", "questionid", "queryid", "taskid", "promptid", "qid", "sampleid"),
    "question": ("question", "prompt", "query", "task", "problem", "instruction", "topicquestion"),
    "question_type": ("questiontype", "type", "category", "tasktype"),
    "subject": ("subject", "topic", "domain", "theme", "discipline", "field", "area"),
    "language": ("language", "lang"),
    "system": ("system", "systemname", "model", "modelname", "agent"),
    REPORT: ("report", "response", "answer", "article", "output", "completion", "generation", "finalreport"),
    "trial": ("trial", "run", "attempt"),
    CRITERION: ("criterion", "criteria", "point", "requirement", "criteriondescription", "rubricdetail", "text",
                "description", "statement", "checkpoint"),
    "weight": ("weight", "points", "criterionweight", "rubricweight", "importance", "score"),
}  # fmt: skip
OF_CRITERIA = (CRITERION, "weight")
# Where each row is a criterion, `text` and `description` alone say too little.
VAGUE = {"text", "description", "statement", "score", "item", "source", "criteria"}
LONGEST_EXTRA, LONGEST_KEY = 2_000, 120
HOW = "Say by a mapping which column holds what: `--mapping FILE.json`."


class TableMapping(BaseModel):
    """What the columns of one table hold: the path of each field, or what it is for every row."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    columns: dict[str, str]
    constants: dict[str, str] = {}


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
    columns: dict[str, str] = {}
    paths = table.paths()
    for name, called in FIELDS.items():
        fits = {path: rank for path in paths if (rank := _rank(name, path, called)) is not None}
        if fits:
            columns[name] = min(fits, key=lambda path: (fits[path], paths.index(path)))
    if "weight" in columns and CRITERION not in columns:
        del columns["weight"]
    if REPORT not in columns:
        # Of no report, they would be read and come to nothing: they are kept with the item instead.
        columns = {name: path for name, path in columns.items() if name not in ("system", "trial")}
    nameless = REPORT in columns and "system" not in columns
    constants = {"system": Path(table.name).stem} if nameless else {}
    return TableMapping(columns=columns, constants=constants)


def _rank(name: str, path: str, called: Sequence[str]) -> int | None:
    """How likely a path holds a field, 0 the likeliest; None where it does not."""
    parent, nested, last = path.rpartition("[]")
    word = re.sub(r"[^a-z0-9]", "", (last if nested else path).casefold())
    if not nested:
        vague = name in OF_CRITERIA and word in VAGUE
        return called.index(word) if word in called and not vague else None
    listed = re.sub(r"[^a-z0-9]", "", parent.partition(".")[0].casefold()) in LISTS
    if name not in OF_CRITERIA or not listed:
        return None
    if not word:
        return 0 if name == CRITERION else None
    return called.index(word) if word in called else None


@dataclass(slots=True)
class KnownThings:
    """What a project holds already: items by key and by question, and systems by name."""

    items: Mapping[str, ItemRecord] = field(default_factory=dict)
    systems: Mapping[str, str] = field(default_factory=dict)


def read(
    paths: Sequence[Path], known: KnownThings | None = None, mapping: TablesMapping | None = None
) -> tuple[Bundle, list[Problem]]:
    """What tables hold, and everything wrong with them, row by row; notes tell how each was read."""
    tables, problems = read_tables(paths)
    intake = _Intake(known or KnownThings(), now(), problems)
    chosen = [(table, _mapped(table, mapping)) for table in tables]
    for table, how in chosen:
        intake.items_of(table, how)
    for table, how in chosen:
        intake.told(table, how)
        if REPORT in how.columns:
            intake.reports_of(table, how)
        if CRITERION in how.columns:
            intake.criteria_of(table, how)
    return intake.finished(), problems


def _mapped(table: Table, mapping: TablesMapping | None) -> TableMapping:
    def fits(one: TableMapping) -> bool:
        return all(any(_filled(values(row, path)) for row in table.rows) for path in one.columns.values())

    return next(filter(fits, mapping.tables if mapping else ()), None) or proposed(table)


def _filled(found: Sequence[Any]) -> bool:
    return any(one is not None for one in found)


class _Intake:
    """Records made of rows: items first, then what belongs to them."""

    def __init__(self, known: KnownThings, at: datetime, problems: list[Problem]) -> None:
        self.bundle, self.problems, self.at = Bundle(), problems, at
        self._known = dict(known.items)
        self._asked = {one.question: one.key for one in known.items.values()}
        self._systems = dict(known.systems)
        self._criteria: dict[str, list[Criterion]] = {}
        self._places: dict[str, str] = {}

    def items_of(self, table: Table, how: TableMapping) -> None:
        if "question" not in how.columns:
            return
        extra = _extra(table, how)
        for index, row in enumerate(table.rows):
            question = _said(row, how, "question")
            if not question:
                self.problems.append(table.problem(index, "its question is empty"))
                continue
            key = _said(row, how, ITEM)[:LONGEST_KEY] or self._asked.get(question, "")
            before = self._known.get(key)
            own = before or ItemRecord(
                id=derived_id(NAME, "item", key or question),
                key=key or f"q{len(self._known) + 1:02}",
                question=question,
            )
            traits = {name: text for name in extra if (text := _trait(row.get(name)))}
            given = {
                name: text
                for name in ("question_type", "subject", "language")
                if (text := _said(row, how, name))
            }
            made = own.model_copy(update={"question": question, **given, "traits": own.traits | traits})
            if own.key in self._places and made != before:
                reason = f"item {own.key} stands in {self._places[own.key]} otherwise"
                self.problems.append(table.problem(index, reason))
                continue
            if own.key not in self._places:
                self._places[own.key] = table.name
                self.bundle.items.append(made.model_copy(update={"position": len(self.bundle.items)}))
                self.bundle.places["items", own.id] = table.name, index
            self._known[own.key], self._asked[question] = made, own.key

    def _item(self, table: Table, index: int, row: Row, how: TableMapping) -> ItemRecord | None:
        """The item of a row, by its key or its question."""
        key = _said(row, how, ITEM)[:LONGEST_KEY] or self._asked.get(_said(row, how, "question"), "")
        found = self._known.get(key)
        if found is None:
            named = f"no item {key}" if key else "no item named in it"
            self.problems.append(
                table.problem(index, f"there is {named}, neither in these files nor in the project")
            )
        return found

    def reports_of(self, table: Table, how: TableMapping) -> None:
        for index, row in enumerate(table.rows):
            item, text, system = (
                self._item(table, index, row, how), _said(row, how, REPORT), _said(row, how, "system"),
            )  # fmt: skip
            trial = _said(row, how, "trial") or "1"
            if item is None:
                continue
            if not text or not system or not trial.isdecimal() or int(trial) < 1:
                lacking = "report" if not text else "system" if not system else "trial (a number from 1)"
                self.problems.append(table.problem(index, f"it has no {lacking}"))
                continue
            if system not in self._systems:
                self._systems[system] = derived_id(NAME, "system", system)
                self.bundle.systems.append(SystemRecord(id=self._systems[system], name=system))
            own = derived_id(item.id, self._systems[system], trial)
            self.bundle.responses.append(
                ResponseRecord(
                    id=own, item_id=item.id, system_id=self._systems[system], text=text, trial=int(trial)
                )
            )
            self.bundle.places["responses", own] = table.name, index

    def criteria_of(self, table: Table, how: TableMapping) -> None:
        for index, row in enumerate(table.rows):
            texts = values(row, how.columns[CRITERION])
            item = self._item(table, index, row, how)
            if item is None:
                continue
            weights = values(row, how.columns["weight"]) if "weight" in how.columns else []
            listed = self._criteria.setdefault(item.id, [])
            for place, text in enumerate(texts):
                given = weights[place] if place < len(weights) else 1
                try:
                    own = derived_id(item.id, CRITERION, str(len(listed)))
                    listed.append(Criterion(id=own, text=_words(text), weight=_number(given)))
                except (ValidationError, ValueError) as error:
                    why = in_words(error) if isinstance(error, ValidationError) else str(error)
                    self.problems.append(table.problem(index, f"criterion {place + 1}: {why}"))
            self.bundle.places.setdefault(("artifacts", derived_id(item.id, "rubric")), (table.name, index))

    def told(self, table: Table, how: TableMapping) -> None:
        """How a table was read, and what of it was left out."""
        self.problems += [Problem(table.name, None, note, note=True) for note in table.notes]
        if not {"question", REPORT, CRITERION} & set(how.columns):
            names = ", ".join(f"“{name}”" for name in table.paths()[:8])
            reason = f"none of its columns is known as a question, a report or a criterion ({names}). {HOW}"
            self.problems.append(Problem(table.name, None, reason))
            return
        parts = [f"{name} ← {path}" for name, path in how.columns.items()]
        parts += [f"{name} = {value}" for name, value in how.constants.items()]
        words = f"{counted(len(table.rows), table.unit)}: {', '.join(parts)}"
        used = {path.split("[")[0].split(".")[0] for path in how.columns.values()}
        extra = _extra(table, how)
        left = [
            name
            for name in dict.fromkeys(key for row in table.rows for key in row)
            if name not in {*used, *extra}
        ]
        if extra and "question" in how.columns:
            words += f"; kept with the item: {', '.join(extra)}"
        else:
            left = [*left, *extra]
        if left:
            words += f"; left out: {', '.join(left)}"
        if CRITERION in how.columns and "weight" not in how.columns:
            words += "; without weights each criterion counts 1"
        self.problems.append(Problem(table.name, None, words, note=True))

    def finished(self) -> Bundle:
        """The records, the rubrics as settled documents that nobody is named as the author of."""
        for item_id, criteria in self._criteria.items():
            if criteria:
                own = derived_id(item_id, "rubric")
                made = ArtifactRecord.settled(own, item_id, Rubric(units=tuple(criteria)), self.at)
                self.bundle.artifacts.append(made)
        return self.bundle


def _said(row: Row, how: TableMapping, name: str) -> str:
    """What a row says of a field, as text; empty where it says nothing."""
    if name in how.columns:
        found = values(row, how.columns[name])
        return _words(found[0]) if found else ""
    return how.constants.get(name, "")


def _words(value: Any) -> str:
    if value is None or isinstance(value, dict | list):
        return ""
    return storable(str(plain(value))).strip()


def _number(value: Any) -> float:
    try:
        return float(_words(value).replace(",", "."))
    except ValueError:
        raise ValueError(f"“{_words(value)[:40]}” is no weight") from None


def _trait(value: Any) -> str:
    text = _words(value)
    return text if len(text) <= LONGEST_EXTRA else ""


def _extra(table: Table, how: TableMapping) -> list[str]:
    """The columns of plain values that hold no field."""
    used = {path.split("[")[0].split(".")[0] for path in how.columns.values()}
    found = dict.fromkeys(
        key
        for row in table.rows
        for key, value in row.items()
        if key not in used and _trait(value) and len(key) <= LONGEST_KEY
    )
    return list(found)
