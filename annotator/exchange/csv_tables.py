"""Tables in CSV as others publish them: rows by the names of their columns."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotator.domain.texts.canonical import storable
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import CORRECT, LARGEST_FILE, decoded, read_bytes

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
    text = decoded(content, path.name)
    rows = _rows(text, path.name, _delimiter(text))
    head = [name.strip() for name in rows[0]] if rows else []
    if lacking := [name for name in wanted if name not in head]:
        raise Refusal(
            f"“{path.name}” has no column “{lacking[0]}”.",
            f"Its first line must name the columns: {', '.join(wanted)}.",
        )
    return CsvTable(
        path.name, tuple(dict(zip(head, map(_cell, row), strict=False)) for row in rows[1:] if row)
    )


def _rows(text: str, name: str, delimiter: str) -> list[list[str]]:
    usual = csv.field_size_limit(LARGEST_FILE)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise Refusal(f"“{name}” is not a table in CSV: {error}.", CORRECT) from None
    finally:
        csv.field_size_limit(usual)


def _delimiter(text: str) -> str:
    """What parts the names of the columns: a comma, or where there is none the semicolon or tab of a spreadsheet."""
    head = text.partition("\n")[0]
    return next((one for one in ",;\t" if one in head), ",")


def _cell(text: str) -> str:
    """A cell without space around it; what pandas writes for nothing is nothing."""
    plain = storable(text).strip()
    return "" if plain.lower() in _EMPTY else plain
