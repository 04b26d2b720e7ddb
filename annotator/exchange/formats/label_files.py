"""Labels as tables, one row each: read from CSV and JSON, and written as both.

The CSV starts with a byte order mark and guards every text against being run as a formula; reading removes the guard
again, so that a file comes back as it was written.
"""

import csv
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

from annotator.domain.common import Refusal, counted
from annotator.exchange.folders import pretty
from annotator.exchange.formats import layouts
from annotator.exchange.formats.layout import (
    LONGEST_CELL,
    EntryTrouble,
    LabelEntry,
    LabelFileContent,
    too_long,
    unreadable,
    wrong,
)
from annotator.exchange.formats.mappings import (
    CRITERION,
    ITEM,
    OF_WHAT,
    VALUE,
    WHOSE,
    TableMapping,
    TablesMapping,
    column_of,
    mapped,
    proposed_labels,
)
from annotator.exchange.release.tables_csv import FORMULA_STARTS, guard
from annotator.exchange.table_files import Row, Table, read_tables, values

# The columns that are read; the others are for people who open the file.
READ = (
    "item", "item_id", "dataset", "system", "trial", "mode", "protocol", "unit_id", "unit", "number", "rater",
    "rater_id", "value", "quote", "note",
)  # fmt: skip
COLUMNS = (*READ, "weight", "state", "origin", "at")
_NUMBERS, _VERBATIM = ("trial", "number"), ("quote", "note")
_FIELD = {"unit": CRITERION}
_NEEDED = ((ITEM, "item_id"), OF_WHAT, WHOSE, (VALUE,))
_NEEDS = "Each label needs an item, a criterion or another unit, a rater and a value, each a column or field."
FORMAT, VERSION = "goldsmith labels", 1
Rows = Iterable[Mapping[str, Any]]


def read(paths: Sequence[Path], mapping: TablesMapping | None = None) -> LabelFileContent:
    """The labels of tables, JSON files and benchmarks' own layouts, with their problems.

    Refusal if there are no labels at all.
    """
    content = LabelFileContent()
    for path in paths:
        labels = [layout for _, layout in layouts.of_labels().values()]
        theirs = [layout.read(files) for layout in labels if (files := layout.files_of(path))]
        if path.is_dir() and not theirs:
            examples = " or ".join(layout.example for layout in labels)
            raise Refusal(
                f"“{path.name}” holds no files of labels.",
                f"Choose tables, or a folder with files like {examples}.",
            )
        for one in theirs or [_of_tables(path, mapping)]:
            content.add(one)
    return content


def _of_tables(path: Path, mapping: TablesMapping | None) -> LabelFileContent:
    read, problems = read_tables([path])
    content = LabelFileContent(
        problems=[wrong(EntryTrouble.UNREADABLE, problem.file, None, problem.reason) for problem in problems]
    )
    for table, how in (mapped(one, mapping, proposed_labels) for one in read):
        given = {*how.columns, *how.constants}
        lacking = next((names for names in _NEEDED if not given & set(names)), ())
        if lacking:
            words = f"“{table.name}” has no column for {' or '.join(lacking)}. {_NEEDS}"
            content.add(unreadable(table.name, Refusal(words, "Name the columns so, or give a mapping.")))
        else:
            content.add(of_table(table, how))
    return content


def of_table(table: Table, how: TableMapping) -> LabelFileContent:
    """The labels of a table whose columns are known; rows without a value are counted in a note."""
    content = LabelFileContent(notes=list(table.notes))
    fields = {name: how.columns[field] for name in READ if (field := _FIELD.get(name, name)) in how.columns}
    fixed = {name: text for name in READ if (text := how.constants.get(_FIELD.get(name, name)))}
    left = sorted(
        {column_of(path) for path in table.paths()}
        - {column_of(path) for path in how.columns.values()}
        - {*COLUMNS}
    )
    if left:
        content.notes.append(
            f"{table.name}: not read are {', '.join(f'“{each[:40]}”' for each in left[:10])}"
        )
    silent = 0
    for cells, place in zip(table.rows, table.numbers, strict=True):
        row = int(place)
        made = _entry(cells, fields, fixed, table.name, row)
        if isinstance(made, str):
            content.problems.append(wrong(EntryTrouble.UNREADABLE, table.name, row, made))
        elif made.value:
            content.entries.append(made)
        else:
            silent += 1
    if silent:
        verb = counted(silent, f"{table.unit} has", f"{table.unit}s have")
        content.notes.append(f"{table.name}: {verb} no value: nothing was said there")
    return content


def _entry(
    cells: Row, paths: Mapping[str, str], fixed: Mapping[str, str], file: str, row: int
) -> LabelEntry | str:
    fields: dict[str, Any] = {"value": "", **fixed}
    for name, path in paths.items():
        value = cells.get(path)
        if value is None or isinstance(value, list | dict):
            given = [one for one in values(cells, path) if one not in (None, "")]
            if len(given) > 1:
                return f"it has {len(given):,} of {name}"
            value = given[0] if given else None
        if isinstance(value, list | dict):
            return f"its {name} should be a text"
        made = _number(value) if name in _NUMBERS else _text(name, value)
        if isinstance(made, Unfit):
            return f"its {name} {made}"
        fields[name] = made
    return LabelEntry(file=file, row=row, **fields)


class Unfit(str):
    """Why a cell cannot be read."""


@lru_cache(maxsize=2**16, typed=True)
def _text(column: str, value: object) -> str:
    """A cell's text, a whole number as its digits, true and false as words, without the guard against formulas."""
    if isinstance(value, str):
        # A table has the same few names in every row: equal ones share one object.
        text = unguarded(value) if column in _VERBATIM else sys.intern(unguarded(value).strip())
        return text if len(text) <= LONGEST_CELL else Unfit(too_long(text))
    if isinstance(value, bool) and column == "value":
        return str(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer():
        return str(int(value))
    return "" if value is None else Unfit("should be a text")


def _number(value: object) -> int | Unfit | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if type(value) is int:
        return value
    text = value.strip() if isinstance(value, str) else ""
    return (
        int(text)
        if text.isascii() and text.isdigit() and len(text) < 10
        else Unfit("should be a whole number")
    )


def as_csv(rows: Rows) -> Iterator[bytes]:
    """The rows as a CSV file, piece by piece; no cell is a formula, and each can be read back unchanged."""
    yield "\ufeff".encode()
    yield csv_line(COLUMNS)
    for row in rows:
        yield csv_line(guarded(row.get(name)) for name in COLUMNS)


def csv_line(cells: Iterable[Any]) -> bytes:
    line = StringIO(newline="")
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue().encode()


def guarded(value: Any) -> Any:
    """The value, with an apostrophe before a text that is a formula, or one with apostrophes before it."""
    if isinstance(value, str) and value.startswith("'") and value.lstrip("'").startswith(FORMULA_STARTS):
        return f"'{value}"
    return guard(value)


def unguarded(cell: str) -> str:
    """The cell without the apostrophe that prevents it from being a formula."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(FORMULA_STARTS) else cell


def as_json(rows: Rows) -> bytes:
    """The rows as a JSON file: every text exact, unknown values left out."""
    labels = [{name: value for name, value in row.items() if value not in (None, "")} for row in rows]
    return pretty({"format": FORMAT, "version": VERSION, "labels": labels})
