"""Tables in CSV as others publish them: rows by the names of their columns."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotator.domain.texts.canonical import storable
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import CORRECT, LARGEST_FILE, decoded, read_bytes

# The library's own limit of 131 072 characters for a cell is less than an abstract or a report may have.
csv.field_size_limit(LARGEST_FILE)
_EMPTY = {"", "nan", "n/a", "none"}


@dataclass(frozen=True, slots=True)
class CsvTable:
    """The rows of a file by the names of their columns."""

    name: str
    rows: tuple[Mapping[str, str], ...]


def read_table(path: Path, wanted: Sequence[str]) -> CsvTable:
    """A CSV file's rows; Refusal when it cannot be read or lacks one of the wanted columns."""
    content = read_bytes(path, path.name)
    if len(content) > LARGEST_FILE:
        raise Refusal(
            f"“{path.name}” is larger than {LARGEST_FILE // 2**20} MB.", "Split it, or choose the right file."
        )
    rows = [cells for _, cells in rows_of(decoded(content, path.name), path.name)]
    head = [name.strip() for name in rows[0]] if rows else []
    if lacking := [name for name in wanted if name not in head]:
        raise Refusal(
            f"“{path.name}” has no column “{lacking[0]}”.",
            f"Its first line must name the columns: {', '.join(wanted)}.",
        )
    return CsvTable(
        path.name, tuple(dict(zip(head, map(_cell, row), strict=False)) for row in rows[1:] if row)
    )


def rows_of(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a text in CSV, each with its line; Refusal with the line where one cannot be read.

    What parts the cells is said by Excel's first line `sep=…`, which is no row, or seen in the head.
    """
    lines = io.StringIO(text, newline="")
    head = lines.readline()
    told = re.fullmatch(r'"?sep=(.)"?\s*', head)
    if told is None:
        lines.seek(0)
    rows = csv.reader(lines, delimiter=told[1] if told else max(",;\t", key=head.count), strict=True)
    try:
        for cells in rows:
            yield rows.line_num + bool(told), cells
    except csv.Error as error:
        # What a quotation mark out of place has swallowed cannot be told.
        line = rows.line_num + bool(told)
        raise Refusal(f"“{name}” is not a table in CSV: line {line}: {error}.", CORRECT) from None


def _cell(text: str) -> str:
    """A cell without space around it; what pandas writes for nothing is nothing."""
    plain = storable(text).strip()
    return "" if plain.lower() in _EMPTY else plain
