"""Labels as tables, one row each: read from CSV and JSON, and written as both.

The CSV starts with a byte order mark and guards every text against being run as a formula; reading takes the guard
away again, so that a file comes back as it was written.
"""

import csv
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.csv_tables import rows_of
from annotator.exchange.folders import pretty
from annotator.exchange.formats import layouts
from annotator.exchange.formats.label_entries import (
    LONGEST_CELL,
    EntryFinding,
    EntryTrouble,
    LabelEntry,
    LabelFileContent,
    too_long,
    unreadable,
)
from annotator.exchange.reading import CORRECT, LARGEST_FILE, decoded, json_lines, parse, read_bytes
from annotator.exchange.release.tables_csv import FORMULA_STARTS, guard

# What is read; the others are only told to anyone who looks into the file.
READ = (
    "item", "item_id", "dataset", "system", "trial", "mode", "protocol", "unit_id", "unit", "number", "rater",
    "rater_id", "value", "quote", "note",
)  # fmt: skip
COLUMNS = (*READ, "weight", "state", "origin", "at")
_NUMBERS, _VERBATIM = ("trial", "number"), ("quote", "note")
_TEXTS = frozenset(READ) - {*_NUMBERS}
_ALSO_CALLED = {
    "item_key": "item", "criterion": "unit", "criterion_id": "unit_id", "point": "unit", "annotator": "rater",
    "label": "value",
}  # fmt: skip
_NEEDED = (("item", "item_id"), ("unit", "unit_id"), ("rater", "rater_id"), ("value",))
_NEEDS = "Each label needs an item, a unit, a rater and a value (as columns of a table, or fields of a list in JSON)"
FORMAT, VERSION = "goldsmith labels", 1
Rows = Iterable[Mapping[str, Any]]


def read(paths: Sequence[Path]) -> LabelFileContent:
    """The labels of tables, JSON files and benchmarks' own layouts; what cannot be read is named.

    Refusal when there is nothing of the kind at all.
    """
    found = LabelFileContent()
    for path in paths:
        labels = [layout for _, layout in layouts.of_labels().values()]
        theirs = [layout.read(files) for layout in labels if (files := layout.files_of(path))]
        if path.is_dir() and not theirs:
            examples = " or ".join(layout.example for layout in labels)
            raise Refusal(
                f"“{path.name}” holds no files of labels.",
                f"Choose CSV or JSON files, or a folder with files like {examples}.",
            )
        for one in theirs or [_table(path)]:
            found.add(one)
    return found


def _table(path: Path) -> LabelFileContent:
    endings = {
        ".csv": _from_csv,
        ".tsv": _from_csv,
        ".json": _from_json,
        ".jsonl": _from_json,
        ".ndjson": _from_json,
    }
    try:
        if path.suffix.lower() not in endings:
            raise Refusal(
                f"“{path.name}” is neither a .csv nor a .json file.",
                "Choose a file that ends in .csv, .tsv, .json or .jsonl.",
            )
        content = read_bytes(path, path.name)
        if len(content) > LARGEST_FILE:
            raise Refusal(f"“{path.name}” is larger than {LARGEST_FILE // 2**20} MB.", "Split it.")
        return endings[path.suffix.lower()](content, path.name)
    except Refusal as refusal:
        return unreadable(path.name, refusal)


def _from_csv(content: bytes, name: str) -> LabelFileContent:
    text = decoded(content, name)
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise Refusal(f"“{name}” contains a NUL character on line {line}.", CORRECT)
    found, names = LabelFileContent(), list[str]()
    for row, (_, cells) in enumerate(rows_of(text, name), 1):
        if not names:
            names = _head(cells, name, found)
        elif any(cell.strip() for cell in cells):
            _take(found, _by_name(names, [unguarded(cell) for cell in cells]), name, row)
    if not names:
        raise Refusal(f"“{name}” is empty.", CORRECT)
    return _finished(found, name)


def _head(cells: Sequence[str], name: str, found: LabelFileContent) -> list[str]:
    """The columns by our names; Refusal where one is there twice, or one is lacking that is needed."""
    plain = ["_".join(cell.strip().casefold().split()) for cell in cells]
    names = [_ALSO_CALLED.get(cell, cell) for cell in plain]
    twice = next((each for each in names if each and names.count(each) > 1), "")
    if twice:
        raise Refusal(f"“{name}” has the column “{twice}” twice.", CORRECT)
    _check_names(names, name, found, "column")
    return names


def _check_names(names: Collection[str], name: str, found: LabelFileContent, called: str) -> None:
    """Refusal where one is lacking that is needed; those that are not read are told."""
    for needed in _NEEDED:
        if not set(needed) & set(names):
            raise Refusal(
                f"“{name}” has no {called} “{' or '.join(needed)}”.",
                f"{_NEEDS}. Available: {', '.join(READ)}.",
            )
    strangers = [each for each in names if each and each not in COLUMNS]
    if strangers:
        found.notes.append(f"{name}: not read are {', '.join(f'“{each[:40]}”' for each in strangers[:10])}")


def _by_name(names: Sequence[str], cells: Sequence[str]) -> Mapping[str, Any] | str:
    """The cells by column, or the reason why there is no telling which is which."""
    if len(cells) < len(names) or any(cell.strip() for cell in cells[len(names) :]):
        return f"it has {len(cells):,} cells, the head has {len(names):,}"
    return dict(zip(names, cells, strict=False))


def _from_json(content: bytes, name: str) -> LabelFileContent:
    whole = name.lower().endswith(".json")
    rows = enumerate(_listed(parse(content, name), name), 1) if whole else json_lines(content, name)
    found, names = LabelFileContent(), dict[str, None]()
    for row, raw in rows:
        fields = _fields(raw)
        names |= dict.fromkeys(fields if isinstance(fields, dict) else ())
        _take(found, fields, name, row)
    if names:
        _check_names(names, name, found, "field")
    return _finished(found, name)


def _listed(tree: Any, name: str) -> list[Any]:
    if isinstance(tree, dict):
        if "labels" not in tree:
            raise Refusal(f"“{name}” holds no list of labels.", f"{_NEEDS}.")
        if tree.get("version", VERSION) != VERSION:
            raise Refusal(f"“{name}” has a newer form of labels.", "Open it with a newer Goldsmith.")
        tree = tree["labels"]
    if not isinstance(tree, list):
        raise Refusal(f"“{name}” should be a list of labels.", f"{_NEEDS}.")
    return tree


def _fields(raw: Any) -> dict[str, Any] | str:
    """An entry's fields by our names, or the reason why it has none."""
    if isinstance(raw, Refusal):
        return str(raw)
    if not isinstance(raw, dict) or not raw:
        return "it is not an object with fields"
    fields: dict[str, Any] = {_ALSO_CALLED.get(str(key), str(key)): value for key, value in raw.items()}
    return fields if len(fields) == len(raw) else "it names the same thing in two ways"


def _take(found: LabelFileContent, fields: Mapping[str, Any] | str, name: str, row: int) -> None:
    """Add one row, or what is wrong with it; a row without a value says nothing, and is only counted."""
    made = fields if isinstance(fields, str) else _entry(fields, name, row)
    if isinstance(made, LabelEntry):
        found.entries.append(made)
    else:
        found.findings.append(EntryFinding(EntryTrouble.UNREADABLE, name, row, made))


def _entry(fields: Mapping[str, Any], name: str, row: int) -> LabelEntry | str:
    said: dict[str, Any] = {}
    for column, value in fields.items():
        if column in _NUMBERS:
            number = _number(value)
            if isinstance(number, str):
                return f"its {column} {number}"
            said[column] = number
        elif column in _TEXTS:
            text = _text(column, value)
            if text is None:
                return f"its {column} should be a text"
            if len(text) > LONGEST_CELL:
                return f"its {column} {too_long(text)}"
            said[column] = text
    return LabelEntry(file=name, row=row, **{"value": "", **said})


def _text(column: str, value: object) -> str | None:
    """What a cell says, a whole number as its digits, true and false as words; None where it is no text."""
    if isinstance(value, str):
        # A table says the same few names in every row: all equal ones are one object.
        return value if column in _VERBATIM else sys.intern(value.strip())
    if isinstance(value, bool) and column == "value":
        return str(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(int(value)) if value == int(value) else None
    return "" if value is None else None


def _number(value: object) -> int | str | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if type(value) is int:
        return value
    text = value.strip() if isinstance(value, str) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else "should be a whole number"


def _finished(found: LabelFileContent, name: str) -> LabelFileContent:
    """The same without the rows that say nothing."""
    silent = sum(not entry.value for entry in found.entries)
    if silent:
        found.entries = [entry for entry in found.entries if entry.value]
        found.notes.append(
            f"{name}: {counted(silent, 'row has', 'rows have')} no value: nothing was said there"
        )
    return found


def as_csv(rows: Rows) -> Iterator[bytes]:
    """The rows as a CSV file, piece by piece; no cell is a formula, and each can be read back as it was."""
    yield "\ufeff".encode()
    yield _line(COLUMNS)
    for row in rows:
        yield _line(guarded(row.get(name)) for name in COLUMNS)


def _line(cells: Iterable[Any]) -> bytes:
    line = StringIO(newline="")
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue().encode()


def guarded(value: Any) -> Any:
    """The value, with an apostrophe before a text that is a formula, or one with apostrophes before it."""
    if isinstance(value, str) and value.startswith("'") and value.lstrip("'").startswith(FORMULA_STARTS):
        return f"'{value}"
    return guard(value)


def unguarded(cell: str) -> str:
    """The cell without the apostrophe that keeps it from being a formula."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(FORMULA_STARTS) else cell


def as_json(rows: Rows) -> bytes:
    """The rows as a JSON file: every text exact, what is not known left out."""
    labels = [{name: value for name, value in row.items() if value not in (None, "")} for row in rows]
    return pretty({"format": FORMAT, "version": VERSION, "labels": labels})
