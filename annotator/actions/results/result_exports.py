"""How a table of the results leaves: copied for a spreadsheet, as CSV, or as JSON, nothing rounded."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotator import files
from annotator.actions.results.result_sheets import UNDEFINED, Cell, Sheet
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.refusal import Refusal

# What belongs to a figure, each in a column of its own.
PARTS = ("low", "high", "n", "missing", "floor", "ceiling", "note")
# As the papers print it: how far an interval reaches below and above its figure.
OFFSETS = ("minus", "plus")


def rows(sheet: Sheet, *, offsets: bool = False) -> list[dict[str, Any]]:
    """The lines by column; a figure has its interval, its n and what is missing in columns of their own.

    With `offsets` the interval stands a second time, as the distances of its ends from the figure.
    """
    heads = _heads(sheet)
    figures = {
        place
        for place in range(len(heads))
        if any(line.cells[place].estimate is not None for line in sheet.lines)
    }
    return [dict(_fields(line.cells, heads, figures, offsets)) for line in sheet.lines]


def _heads(sheet: Sheet) -> list[str]:
    """The columns' titles, each once: a second one of the same name is numbered."""
    made: list[str] = []
    for column in sheet.columns:
        again = sum(head == column.title or head.startswith(f"{column.title} #") for head in made)
        made.append(f"{column.title} #{again + 1}" if again else column.title)
    return made


def _fields(
    cells: tuple[Cell, ...], heads: list[str], figures: set[int], offsets: bool
) -> Iterator[tuple[str, Any]]:
    for place, (head, cell) in enumerate(zip(heads, cells, strict=True)):
        if place not in figures:
            yield head, cell.words if cell.value is None and cell.words != UNDEFINED else cell.value
            continue
        found = cell.estimate or Estimate(None, note=cell.tip)
        yield head, found.value
        for part in PARTS:
            yield f"{head}, {part}", getattr(found, part)
        for part, end in zip(OFFSETS, (found.low, found.high), strict=True) if offsets else ():
            yield f"{head}, {part}", None if end is None or found.value is None else end - found.value


def as_csv(sheet: Sheet, *, offsets: bool = False) -> bytes:
    """A CSV file's bytes: no cell is a formula, what is undefined is empty."""
    from annotator.exchange.release.tables_csv import csv

    found = rows(sheet, offsets=offsets)
    return csv(found) if found else b""


def as_json(sheet: Sheet, *, offsets: bool = False) -> bytes:
    """The same as JSON, with the title and what holds of all of it."""
    return (
        json.dumps(as_tree(sheet, offsets=offsets), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    ).encode()


def as_tree(sheet: Sheet, *, offsets: bool = False) -> dict[str, Any]:
    """A table with its title and what holds of all of it."""
    return {"title": sheet.title, "told": list(sheet.told_in_full), "rows": rows(sheet, offsets=offsets)}


def as_text(sheet: Sheet) -> str:
    """The same to be pasted into a spreadsheet: tabs between cells, no cell a formula."""
    from annotator.exchange.release.tables_csv import guard

    found = rows(sheet)
    if not found:
        return ""
    lines = [list(found[0]), *([*row.values()] for row in found)]
    said = (["" if cell is None else " ".join(str(guard(cell)).split()) for cell in line] for line in lines)
    return "".join("\t".join(line) + "\n" for line in said)


def save(sheet: Sheet, path: Path, *, offsets: bool = False) -> Path:
    """Write a table as CSV or JSON, by the ending of `path`; whole or not at all."""
    forms = {".csv": as_csv, ".json": as_json}
    ending = path.suffix.lower()
    if ending not in forms:
        raise Refusal(f"A table cannot be saved as “{path.suffix}”.", "Use .csv or .json.")
    return files.save(path, forms[ending](sheet, offsets=offsets))
