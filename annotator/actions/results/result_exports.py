"""Export of a results table: copied for a spreadsheet, as CSV, or as JSON, unrounded."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

from annotator import files
from annotator.actions.results import metrics
from annotator.actions.results.result_sheets import UNDEFINED, ResultSheet, SheetColumn, SheetLine
from annotator.domain.texts.estimate import Estimate, unsigned
from annotator.domain.texts.refusal import Refusal

# What belongs to a figure, each in a column of its own.
PARTS = ("low", "high", "n", "missing", "floor", "ceiling", "note")
# As the papers print it: how far an interval reaches below and above its figure.
OFFSETS = ("minus", "plus")
# Over runs; only where a table tells it.
SD = "sd"
UNITLESS = ("n", "missing", "note")


@dataclass(frozen=True, slots=True)
class Field:
    """What rows hold under a key: the value of the column at a place, or a part of its figures."""

    column: SheetColumn
    place: int
    part: str | None = None
    """Empty for a figure's value, None where the column holds no figures."""

    def read(self, line: SheetLine) -> Any:
        """What a line has there, nothing rounded."""
        cell = line.cells[self.place]
        if self.part is None:
            return cell.words if cell.value is None and cell.words != UNDEFINED else cell.value
        if self.part == SD:
            return cell.sd
        found = cell.estimate or Estimate(None, note=cell.tip)
        if self.part in OFFSETS:
            end = found.low if self.part == OFFSETS[0] else found.high
            return None if end is None or found.value is None else end - found.value
        return getattr(found, self.part or "value")


def fields(sheet: ResultSheet, *, offsets: bool = False) -> list[Field]:
    """What every row holds, key by key; a figure has its interval, its n and what is missing under keys of their own.

    With `offsets` the interval stands a second time, as the distances of its ends from the figure. Two systems may have
    names that give one key: the second one's is numbered.
    """
    made: dict[str, Field] = {}
    for place, column in enumerate(sheet.columns):
        figures = any(line.cells[place].estimate is not None for line in sheet.lines)
        own = [Field(column, place)]
        if figures:
            apart = (SD,) if any(line.cells[place].sd is not None for line in sheet.lines) else ()
            parts = ("", *PARTS, *apart, *(OFFSETS if offsets else ()))
            own = [Field(_part(column, part), place, part) for part in parts]
        endings = chain([""], (f"_{again}" for again in count(2)))
        ending = next(one for one in endings if not any(f"{each.column.key}{one}" in made for each in own))
        for each in own:
            key = f"{each.column.key}{ending}"
            made[key] = replace(each, column=replace(each.column, key=key))
    return list(made.values())


def _part(column: SheetColumn, part: str) -> SheetColumn:
    if not part:
        return column
    unit = "" if part in UNITLESS else column.unit
    return SheetColumn(f"{column.key}_{part}", f"{column.title}, {part}", column.tip, unit)


def described(found: Iterable[SheetColumn]) -> list[dict[str, str]]:
    return [{"key": one.key, "title": one.title, "unit": one.unit, "about": one.tip} for one in found]


def departures(sheet: ResultSheet) -> tuple[str, ...]:
    """Where a table differs from its paper: as a view, then by the metrics of its figures."""
    shown = {*sheet.metrics, *(cell.metric for line in sheet.lines for cell in line.cells)}
    return tuple(dict.fromkeys((*sheet.departures, *metrics.departures(shown))))


def rows(sheet: ResultSheet, *, offsets: bool = False) -> list[dict[str, Any]]:
    found = fields(sheet, offsets=offsets)
    return [{field.column.key: unsigned(field.read(line)) for field in found} for line in sheet.lines]


def as_csv(sheet: ResultSheet, *, offsets: bool = False) -> bytes:
    """A CSV file's bytes, keys above the columns: no cell is a formula, what is undefined is empty.

    Where the table differs from its paper, the first row says so in a last column.
    """
    from annotator.exchange.release.tables_csv import csv

    found = rows(sheet, offsets=offsets)
    differs = departures(sheet)
    if differs:
        found = [row | {"departures": "" if place else " ".join(differs)} for place, row in enumerate(found)]
    return csv(found) if found else b""


def as_json(sheet: ResultSheet, *, offsets: bool = False) -> bytes:
    """The same as JSON, with the title and what holds of all of it."""
    return (
        json.dumps(as_tree(sheet, offsets=offsets), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    ).encode()


def as_tree(sheet: ResultSheet, *, offsets: bool = False) -> dict[str, Any]:
    """A table with its title, what holds of all of it, and what its rows' keys are called; long where it has both."""
    long = sheet.long or sheet
    found = fields(long, offsets=offsets)
    return {
        "key": sheet.key,
        "title": sheet.title,
        "told": list(sheet.told),
        "departures": list(departures(sheet)),
        "columns": described(field.column for field in found),
        "rows": rows(long, offsets=offsets),
    }


def as_text(sheet: ResultSheet) -> str:
    """The same under titles to be pasted into a spreadsheet: tabs between cells, no cell a formula."""
    if not sheet.lines:
        return ""
    found = fields(sheet)
    return tabbed(
        [[one.column.title for one in found], *([one.read(line) for one in found] for line in sheet.lines)]
    )


def tabbed(lines: Iterable[Iterable[Any]]) -> str:
    """Lines of cells with tabs between them; what is not there is empty."""
    from annotator.exchange.release.tables_csv import guard

    said = (["" if cell is None else " ".join(str(guard(cell)).split()) for cell in line] for line in lines)
    return "".join("\t".join(line) + "\n" for line in said)


def save(sheet: ResultSheet, path: Path, *, offsets: bool = False) -> Path:
    """Write a table as CSV or JSON, by the ending of `path`; whole or not at all."""
    forms = {".csv": as_csv, ".json": as_json}
    ending = path.suffix.lower()
    if ending not in forms:
        raise Refusal(f"A table cannot be saved as “{path.suffix}”.", "Use .csv or .json.")
    return files.save(path, forms[ending](sheet, offsets=offsets))
