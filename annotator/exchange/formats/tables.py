"""Tables of any tool as items, reports and rubrics: CSV, JSON, JSON Lines, Excel, Parquet, and folders of reports.

A mapping says which column holds what; without one, columns are matched by the names that the trade uses. A column may
be a path into nested data: `rubrics[].criterion` is that field of every entry of a list, `rubric.*[]` every entry of
the lists of an object. Nothing in a file is executed; of a formula its stored value counts.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.canonical import storable
from annotator.domain.texts.counting import counted
from annotator.domain.texts.identity import derived_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import CORRECT, LARGEST_FILE, json_lines, read_bytes, read_json
from annotator.exchange.release.bundle import Bundle, Problem, in_words, of_file
from annotator.exchange.release.records import ArtifactRecord, ItemRecord, ResponseRecord, SystemRecord
from annotator.places import resources

NAME = "tables"
REPORT_ENDINGS = (".md", ".markdown", ".txt")
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
LISTS = {
    "rubric",
    "rubrics",
    "criteria",
    "criterions",
    "criterion",
    "checklist",
    "checklists",
    "requirements",
    "points",
}
# Where each row is a criterion, `text` and `description` alone say too little.
VAGUE = {"text", "description", "statement", "score", "item", "source", "criteria"}
LONGEST_EXTRA, LONGEST_KEY = 2_000, 120
HOW = "Say by a mapping which column holds what: `--mapping FILE.json`."
Row = Mapping[str, Any]
# What readers of workbooks raise where a damaged part makes them stumble.
UNREADABLE = (
    LookupError, ValueError, TypeError, AttributeError, OSError, EOFError, SyntaxError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


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


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table by column, and how messages count them."""

    name: str
    rows: Sequence[Row]
    first: int = 1
    unit: str = "record"
    notes: tuple[str, ...] = ()

    def problem(self, index: int, reason: str) -> Problem:
        return Problem(self.name, None, f"{self.unit} {self.first + index}: {reason}")

    def paths(self) -> list[str]:
        """Every column, and the paths into those that are nested, in their order."""
        found: dict[str, None] = {}
        for row in self.rows:
            for key, value in row.items():
                found |= dict.fromkeys(_paths(key, value))
        return list(found)


def _paths(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, list):
        inner = {name for one in value if isinstance(one, dict) for name in one}
        yield from (f"{key}[].{name}" for name in sorted(inner))
        if any(not isinstance(one, dict | list) for one in value):
            yield f"{key}[]"
    elif isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list)]
        yield from (path for one in lists for path in _paths(f"{key}.*", one))
        yield from (f"{key}.{name}" for name, one in value.items() if not isinstance(one, list | dict))
    else:
        yield key


def values(row: Row, path: str) -> list[Any]:
    """What stands at a path of a row, in order; a column that is called so comes first."""
    if path in row:
        return [row[path]]
    found: list[Any] = [row]
    for part in path.replace("[]", ".[]").split("."):
        if part == "[]":
            found = [one for many in found if isinstance(many, list) for one in many]
        elif part == "*":
            found = [one for many in found if isinstance(many, dict) for one in many.values()]
        else:
            found = [one.get(part) for one in found if isinstance(one, dict)]
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


# Reading.


def read_tables(paths: Sequence[Path]) -> tuple[list[Table], list[Problem]]:
    """The tables of files and folders, and why some could not be read."""
    found: list[Table] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            found += _of_folder(path, problems) if path.is_dir() else _of_file(path, problems)
        except Refusal as refusal:
            problems.append(of_file(path.name, refusal))
    return found, problems


def _of_folder(folder: Path, problems: list[Problem]) -> list[Table]:
    """The reports of a folder, SYSTEM/ITEM.md, and the tables that lie in it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    reports = [
        {
            "system": path.parent.name,
            ITEM: path.stem,
            REPORT: storable(_text(read_bytes(path, path.name), path.name)[0]),
        }
        for path in files
        if path.suffix.lower() in REPORT_ENDINGS
    ]
    tables = [Table(folder.name, reports, unit="report")] if reports else []
    for path in files:
        if path.suffix.lower() in READERS:
            tables += _of_file(path, problems)
    if not tables:
        raise Refusal(
            f"The folder “{folder.name}” holds no report and no table.",
            "Reports lie in it as SYSTEM/ITEM.md, or it holds tables.",
        )
    return tables


def _of_file(path: Path, problems: list[Problem]) -> list[Table]:
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        kinds = ", ".join(READERS)
        raise Refusal(f"“{path.name}” is not a table that can be read.", f"Tables end in {kinds}.")
    content = read_bytes(path, path.name)
    if len(content) > LARGEST_FILE:
        raise Refusal(f"“{path.name}” is larger than {LARGEST_FILE // 2**20} MB.", "Split it.")
    found = [table for table in reader(content, path, problems) if table.rows]
    if not found:
        raise Refusal(f"“{path.name}” holds no row.", CORRECT)
    return found


def _text(content: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """A file's text, and how it was encoded where that is not UTF-8."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace"), (f"“{name}” is in UTF-16",)
    try:
        return content.decode("utf-8-sig"), ()
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace"), (f"“{name}” is not in UTF-8: read as Windows-1252",)


def _csv(content: bytes, path: Path, _: list[Problem]) -> list[Table]:
    import pandas

    text, notes = _text(content, path.name)
    text = storable(text)
    head = text[: text.find("\n") + 1] or text
    told = re.fullmatch(r'"?sep=(.)"?\s*', head)
    text, parted = (text[len(head) :], told[1]) if told else (text, max(",;\t|", key=head.count))
    if not text.strip():
        return []
    try:
        frame = pandas.read_csv(
            io.StringIO(text),
            sep=parted,
            header=None,
            dtype=str,
            na_filter=False,
            engine="c",
            low_memory=False,
        )
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, ValueError) as error:
        words = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise Refusal(f"“{path.name}” is not a table: {words}.", CORRECT) from None
    return [_framed(path.name, frame, notes)]


def _excel(content: bytes, path: Path, _: list[Problem]) -> list[Table]:
    import pandas

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            large = sum(one.file_size for one in parts.infolist()) > 4 * LARGEST_FILE
        if large:
            raise Refusal(f"“{path.name}” is too large when it is unpacked.", "Split it.")
        sheets = pandas.read_excel(
            io.BytesIO(content), sheet_name=None, header=None, dtype=object, na_filter=False
        )
    except UNREADABLE as error:
        raise Refusal(
            f"“{path.name}” is no workbook that can be read ({type(error).__name__}).", CORRECT
        ) from None
    many = len(sheets) > 1
    return [
        _framed(f"{path.name}, {sheet}" if many else path.name, frame, ())
        for sheet, frame in sheets.items()
        if len(frame)
    ]


def _parquet(content: bytes, path: Path, _: list[Problem]) -> list[Table]:
    import pandas

    try:
        frame = pandas.read_parquet(io.BytesIO(content))
    except ImportError:
        raise Refusal(
            f"“{path.name}” needs pyarrow, which is not installed.",
            "Install it with `pip install pyarrow`, or save the table as CSV.",
        ) from None
    except UNREADABLE as error:
        raise Refusal(f"“{path.name}” is no Parquet file ({type(error).__name__}).", CORRECT) from None
    rows = [{str(key): _plain(value) for key, value in row.items()} for row in frame.to_dict("records")]
    return [Table(path.name, rows, unit="row")]


def _framed(name: str, frame: Any, notes: tuple[str, ...]) -> Table:
    """The table whose first row names its columns."""
    head, *body = frame.values.tolist()
    names = [str(_plain(cell) or "").strip() or f"column {at}" for at, cell in enumerate(head, start=1)]
    again = next((one for one in names if names.count(one) > 1), None)
    if again is not None:
        raise Refusal(f"“{name}” has two columns “{again}”.", CORRECT)
    return Table(name, [dict(zip(names, map(_plain, row), strict=False)) for row in body], 2, "row", notes)


def _plain(value: Any) -> Any:
    """A cell as JSON would have it; dates as they are written, whole numbers without a point."""
    if isinstance(value, datetime | date):
        return value.isoformat().removesuffix("T00:00:00")
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return None if value != value else int(value) if value == int(value) else value
    return storable(value) if isinstance(value, str) else value


def _json(_content: bytes, path: Path, _: list[Problem]) -> list[Table]:
    tree = read_json(path)
    if isinstance(tree, dict):
        lists = [one for one in tree.values() if isinstance(one, list) and one and isinstance(one[0], dict)]
        if tree and all(isinstance(one, dict) for one in tree.values()):
            tree = [{"id": key} | one for key, one in tree.items()]
        else:
            tree = lists[0] if len(lists) == 1 and not _named(tree, LISTS) else [tree]
    if not isinstance(tree, list) or not all(isinstance(one, dict) for one in tree):
        raise Refusal(f"“{path.name}” is no list of entries with fields.", CORRECT)
    return [Table(path.name, tree)]


def _named(tree: Mapping[str, Any], words: set[str]) -> bool:
    return any(re.sub(r"[^a-z0-9]", "", key.casefold()) in words for key in tree)


def _jsonl(content: bytes, path: Path, problems: list[Problem]) -> list[Table]:
    rows = []
    for number, tree in json_lines(content, path.name):
        if isinstance(tree, dict):
            rows.append(tree)
        else:
            problems.append(
                Problem(
                    path.name, None, f"line {number}: {tree if isinstance(tree, Refusal) else 'no object'}"
                )
            )
    return [Table(path.name, rows, unit="line")]


READERS: Mapping[str, Callable[[bytes, Path, list[Problem]], list[Table]]] = {
    ".csv": _csv, ".tsv": _csv, ".tab": _csv, ".json": _json, ".jsonl": _jsonl, ".ndjson": _jsonl, ".xlsx": _excel,
    ".parquet": _parquet,
}  # fmt: skip


# What is made of the rows.


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
    return storable(str(_plain(value))).strip()


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
