"""Mappings: which columns of a table hold what, by their names and contents, or as a file says.

A column may be a path into nested data: `rubrics[].criterion` is that field of every entry of a list, `rubric.*[]`
every entry of the lists of an object.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from annotator.domain.common import Refusal, counted, storable
from annotator.domain.experts.publication import CANARY
from annotator.domain.kinds.artifact import Kind
from annotator.exchange.folders import CORRECT, read_json
from annotator.exchange.release.bundle import fitting
from annotator.exchange.table_files import LISTS, Row, Table, plain, read_tables, values
from annotator.places import resources

# As a constant: the name of the table's file.
FILE = "{file}"
# The fields of a table, and their names in other tools: small letters and digits alone, the likeliest first.
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
    "mode": ("mode",),
    CRITERION: ("criterion", "unit", "criteria", "point", "requirement", "criteriondescription", "rubricdetail", "text",
                "description"),
    "insight": ("insight", "keyinsight"),
    "subtask": ("subtask", "step"),
    "reference": ("reference", "citedwork", "work"),
    "statement": ("statement", "diagnostic"),
    "nugget": ("nugget",),
    "checkpoint": ("checkpoint", "checklistitem"),
    "title": ("title", "checkpointtitle"),
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
    "protocol": ("protocol",),
    "quote": ("quote",),
    "note": ("note", "notes", "comment", "comments"),
}  # fmt: skip
# What each field becomes: a unit of a document of that kind, with the fields that may accompany it, in lists of these
# names.
UNITS: Mapping[str, tuple[Kind, tuple[str, ...], set[str]]] = {
    CRITERION: (Kind.RUBRIC, ("weight",), LISTS),
    "insight": (Kind.INSIGHTS, (), {"insights", "keyinsights"}),
    "subtask": (Kind.PLAN, (), {"plan", "subtasks", "steps"}),
    "reference": (Kind.EVIDENCE, ("weight", "identifier", "authors", "year"), {"references", "evidence", "citations"}),
    "statement": (Kind.DIAGNOSTICS, ("holds", "aspect"), {"statements", "diagnostics"}),
    "nugget": (Kind.NUGGETS, ("weight",), {"nuggets"}),
    "checkpoint": (Kind.CHECKLIST, ("title", "weight"), {"checkpoints", "evaluationcriteria"}),
}  # fmt: skip
BESIDE = {name for _, beside, _ in UNITS.values() for name in beside}
# A column of this name counts only if one of these accompanies it.
BORNE_OUT = {"reference": {"identifier", "authors", "year"}, "statement": {"holds"}}
TRUTH = dict.fromkeys(("true", "yes", "1", "t"), True) | dict.fromkeys(("false", "no", "0", "f"), False)
WORDS_OF_UNITS = ("text", "title", "description", "name")
WHOSE, OF_WHAT = ("rater", "rater_id"), (CRITERION, "unit_id")
OF_LABELS = tuple(FIELDS)[tuple(FIELDS).index(VALUE) :]
# If each row is a criterion, these names alone are too vague.
VAGUE = {"text", "description", "statement", "score", "item", "source", "criteria", "unit"}
LONGEST_EXTRA, LONGEST_KEY, LOOKED_AT = 20_000, 120, 200
HOW = "Say which column holds what: above the columns in the window, or by `--mapping FILE.json`."


class TableMapping(BaseModel, extra="forbid", frozen=True, defer_build=True):
    """What the columns of one table hold: the path of each field, or what it is for every row.

    With `each`, the path of a list in a row (`annotations[].result[]`) or of an object (`responses.*`, whose entries
    are `key` and `value`), every entry counts as a row beside the fields around it. Rows are passed over where a path
    of `without` has that value. A constant of `{file}` is the name of the table's file; with `table` it is for the
    table of that name alone.
    """

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


class TablesMapping(BaseModel, extra="forbid", frozen=True, defer_build=True):
    """Mappings of several tables; a table is read by the first of which it has all columns."""

    tables: tuple[TableMapping, ...]

    @classmethod
    def at(cls, path: Path) -> "TablesMapping":
        """The mapping of a file, or a shipped one, by its name; Refusal unless it is one."""
        shipped = resources() / "mappings" / f"{path}.json"
        tree = read_json(shipped if shipped.is_file() else path)
        result = fitting(cls, tree, f"“{path.name}” is not a mapping", CORRECT)
        odd = {name for mapping in result.tables for name in (*mapping.columns, *mapping.constants)} - set(
            FIELDS
        )
        if odd:
            fields = ", ".join(FIELDS)
            raise Refusal(f"“{path.name}” maps to “{min(odd)}”, which is no field.", f"Fields are {fields}.")
        return result


def proposed(table: Table) -> TableMapping:
    """The columns' fields, guessed by their names; reports without a system get that of the file's name."""
    paths, labels = table.paths(), proposed_labels(table)
    if labels.of_labels and {ITEM, "item_id"} & set(labels.columns):
        return labels
    columns = _matched(paths, [name for name in FIELDS if name not in OF_LABELS])
    if "title" in columns and columns["title"] == columns.get("checkpoint"):
        # If a point has both, the description is what is rated.
        described = columns["title"].removesuffix("title") + "description"
        columns |= {"checkpoint": described} if described in paths else {}
    columns |= _by_content(table, [path for path in paths if path not in columns.values()], columns)
    columns = {
        name: path for name, path in columns.items() if name not in UNITS or _is_unit(table, columns, name)
    }
    meant = {name for unit in UNITS.keys() & columns for name in UNITS[unit][1]}
    columns = {name: path for name, path in columns.items() if name not in BESIDE or name in meant}
    if REPORT not in columns:
        # Without a report they would be read for nothing: they are stored with the item instead.
        columns = {name: path for name, path in columns.items() if name not in ("system", "trial", "mode")}
    nameless = REPORT in columns and "system" not in columns
    constants = {"system": Path(table.name).stem} if nameless else {}
    return TableMapping(columns=columns, constants=constants)


def _is_unit(table: Table, columns: Mapping[str, str], name: str) -> bool:
    """Whether a column holds what its name says: “insight” may hold scores, “reference” an answer to compare with."""
    path = columns[name]
    words = (words_of(one) for row in table.rows[:LOOKED_AT] for one in values(row, path))
    sure = "[]" in path or name not in BORNE_OUT or BORNE_OUT[name] & columns.keys()
    return bool(sure) and any(re.search(r"[^\W\d_]", word) for word in words)


def _by_content(table: Table, paths: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """The columns of questions and of their keys that names do not reveal: by question marks, and by
    distinct values.
    """
    cells = {path: [words_of(row.get(path)) for row in table.rows[:LOOKED_AT]] for path in paths}
    known = dict(columns)
    if not {"question", REPORT, *UNITS} & set(columns):
        known["question"] = next((path for path, of in cells.items() if _asks(of)), "")
    if ITEM not in columns and known.get("question"):
        known[ITEM] = next((path for path, of in cells.items() if _tells_apart(of)), "")
    return {name: path for name, path in known.items() if path}


def _asks(cells: Sequence[str]) -> bool:
    return sum(cell.endswith(("?", "？", "؟")) for cell in cells) > 0.8 * len(cells)


def _tells_apart(cells: Sequence[str]) -> bool:
    return all(0 < len(cell) <= 20 for cell in cells) and len(set(cells)) == len(cells) > 1


def proposed_labels(table: Table) -> TableMapping:
    columns = _matched(table.paths(), FIELDS, vague=True)
    if columns.get("item_id") == columns.get(ITEM):
        columns.pop("item_id", None)
    return TableMapping(columns=columns)


def _matched(paths: Sequence[str], names: Iterable[str], *, vague: bool = False) -> dict[str, str]:
    """The likeliest path of each field; with `vague`, also by words that are clear only beside other columns."""
    columns: dict[str, str] = {}
    for name in names:
        ranks = {path: rank for path in paths if (rank := _rank(name, path, vague=vague)) is not None}
        if ranks:
            columns[name] = min(ranks, key=lambda path: (ranks[path], paths.index(path)))
    return columns


def _rank(name: str, path: str, *, vague: bool) -> int | None:
    """The rank of a path for a field, 0 the likeliest; None if it does not match."""
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
    """The table as a mapping reads it: one row per entry of `each`, without excluded ones, which a note counts."""
    if not how.each and not how.without:
        return table
    tokens = how.each.replace("[]", ".[]").split(".") if how.each else []
    rows = [one for row in table.rows for one in _opened(row, tokens)]
    selected = [
        row
        for row in rows
        if not any(
            words_of(one).casefold() == value.casefold()
            for path, value in how.without.items()
            for one in values(row, path)
        )
    ]
    left = len(rows) - len(selected)
    notes = (f"{counted(left, 'entry', 'entries')} passed over, as the mapping says",) if left else ()
    unit = "entry" if how.each else table.unit
    return replace(
        table, rows=selected, unit=unit, numbers=range(1, len(selected) + 1), notes=(*table.notes, *notes)
    )


def _opened(tree: Any, tokens: Sequence[str]) -> Iterator[Any]:
    """A tree once for every entry at a path, with that entry in place of its list or object."""
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


def mapped(
    table: Table, mapping: TablesMapping | None, propose: Callable[[Table], TableMapping] = proposed
) -> tuple[Table, TableMapping]:
    """A table as read by the first mapping of which it has all columns, or as proposed.

    The nested entries of labelling tools are recognised without a mapping's name.
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
    """The tables of files and folders, each with its columns' fields by the mapping, or else as proposed."""
    return [mapped(table, mapping) for table in read_tables(paths)[0]]


def own_columns(table: Table) -> frozenset[str]:
    return frozenset(extra_columns(table, TableMapping(columns={})))


def _fitting(table: Table, ways: Iterable[TableMapping]) -> tuple[Table, TableMapping] | None:
    for how in ways:
        opened = rows_of(table, how)
        # An empty column may be meant, but only in the table that is named.
        meant = set(opened.paths()) if how.table else set()
        if how.table in ("", table.name) and all(
            path in meant or any(cell is not None for row in opened.rows for cell in values(row, path))
            for path in how.columns.values()
        ):
            return opened, how
    return None


def says_something(how: TableMapping) -> bool:
    return how.of_labels or bool({"question", REPORT, *UNITS} & set(how.columns))


def column_of(path: str) -> str:
    return re.split(r"[.\[]", path)[0]


def words_of(value: Any) -> str:
    if value is None or isinstance(value, dict | list):
        return ""
    return storable(str(plain(value))).strip()


def trait(row: Row, path: str) -> str:
    """A row's value at a path as text, nested values as JSON; empty if it is too long for an item's trait."""
    listed = [one for one in values(row, path) if one not in (None, "", [], {})]
    value = listed if len(listed) > 1 else listed[0] if listed else None
    text = storable(orjson.dumps(value).decode()) if isinstance(value, dict | list) else words_of(value)
    return text if len(text) <= LONGEST_EXTRA else ""


def unused(table: Table, how: TableMapping) -> list[str]:
    """The columns without a field, and the unread paths into the others."""
    read = set(how.columns.values())
    opened = set(map(column_of, read)) - read
    names = dict.fromkeys(key for row in table.rows for key in row)
    within = (
        [path for path in table.paths() if column_of(path) in opened and path not in read] if opened else []
    )
    return [name for name in names if name not in read and name not in opened] + within


def extra_columns(table: Table, how: TableMapping) -> list[str]:
    fits = (path for path in unused(table, how) if len(path) <= LONGEST_KEY and path != CANARY)
    return [path for path in fits if any(trait(row, path) for row in table.rows)]
