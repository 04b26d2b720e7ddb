"""Results to keep: pictures as pixels for the window and as PNG and SVG files, tables as CSV, JSON and text."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain, count
from pathlib import Path
from textwrap import wrap
from typing import Any

from annotator import files
from annotator.actions.results import scoring
from annotator.actions.results.result_sheets import (
    UNDEFINED,
    ResultSheet,
    SheetColumn,
    SheetLine,
    SheetPicture,
)
from annotator.domain.common import Refusal
from annotator.domain.texts.estimate import Estimate, unsigned
from annotator.exchange.pictures import PRINTED as PRINTED, Ink as Ink

# Letters in a line of the caption below a picture.
CAPTION_LETTERS = 125


def printed(picture: SheetPicture, departures: Sequence[str] = ()) -> Any:
    """A picture for white paper, as `save` takes it, with its differences from its paper below it."""
    figure = picture.draw(PRINTED)
    if departures:
        words = (wrap(f"– {departure}", CAPTION_LETTERS) for departure in departures)
        caption = "\n".join(["Differences from the paper:", *(line for own in words for line in own)])
        figure.text(0.01, -0.02, caption, va="top", fontsize=7, color=PRINTED.text)
    return figure


def dots(_project: object, picture: SheetPicture, ink: Ink, per_inch: float) -> tuple[int, int, bytes]:
    """A picture at a resolution: its width, its height, and the red, green, blue and alpha of each pixel, row by row
    from the top; may be rendered in any thread, but never twice at once.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = picture.draw(ink)
    figure.set_dpi(per_inch)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return *canvas.get_width_height(), bytes(canvas.buffer_rgba())


DOTS_PER_INCH = 200


def save(figure: Any, path: Path) -> Path:
    """Write a figure as PNG or SVG, by the extension of `path`; all or nothing."""
    ending = path.suffix.lower().lstrip(".")
    if ending not in ("png", "svg"):
        raise Refusal(f"A picture cannot be saved as “{path.suffix}”.", "Use .png or .svg.")
    from matplotlib import rc_context

    picture = BytesIO()
    # A fixed salt and no date: the same results give the same bytes.
    metadata = {"Date": None} if ending == "svg" else {"Software": None}
    with rc_context({"svg.hashsalt": "goldsmith", "svg.fonttype": "none"}):
        figure.savefig(
            picture, format=ending, dpi=DOTS_PER_INCH, metadata=metadata, facecolor=figure.get_facecolor(),
            bbox_inches="tight" if figure.texts else None,
        )  # fmt: skip
    return files.save(path, picture.getvalue())


# The parts of a figure, each in a column of its own.
PARTS = ("low", "high", "n", "missing", "floor", "ceiling", "note")
# As papers print it: how far an interval reaches below and above its figure.
OFFSETS = ("minus", "plus")
# Over runs; only if a table has it.
SD = "sd"
UNITLESS = ("n", "missing", "note")


@dataclass(frozen=True, slots=True)
class Field:
    """The content of rows under a key: the value of the column at a place, or a part of its figures."""

    column: SheetColumn
    place: int
    # Empty for a figure's value, None if the column has no figures.
    part: str | None = None

    def read(self, line: SheetLine) -> Any:
        """The value of a line, unrounded."""
        cell = line.cells[self.place]
        if self.part is None:
            return cell.words if cell.value is None and cell.words != UNDEFINED else cell.value
        if self.part == SD:
            return cell.sd
        result = cell.estimate or Estimate(None, note=cell.tip)
        if self.part in OFFSETS:
            end = result.low if self.part == OFFSETS[0] else result.high
            return None if end is None or result.value is None else end - result.value
        return getattr(result, self.part or "value")


def fields(sheet: ResultSheet, *, offsets: bool = False) -> list[Field]:
    """The fields of every row, by key; a figure's interval, n and missing judgements have keys of their own.

    With `offsets`, the interval is repeated as the distances of its ends from the figure. If two systems' names give
    the same key, the second one's is numbered.
    """
    made: dict[str, Field] = {}
    for place, column in enumerate(sheet.columns):
        own = [Field(column, place)]
        if any(line.cells[place].estimate is not None for line in sheet.lines):
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


def described(columns: Iterable[SheetColumn]) -> list[dict[str, str]]:
    return [
        {"key": column.key, "title": column.title, "unit": column.unit, "about": column.tip}
        for column in columns
    ]


def departures(sheet: ResultSheet) -> tuple[str, ...]:
    """The differences of a table from its paper: as a view, then by the metrics of its figures."""
    shown = {*sheet.metrics, *(cell.metric for line in sheet.lines for cell in line.cells)}
    return tuple(dict.fromkeys((*sheet.departures, *scoring.departures(shown))))


def rows(sheet: ResultSheet, *, offsets: bool = False) -> list[dict[str, Any]]:
    result = fields(sheet, offsets=offsets)
    return [{field.column.key: unsigned(field.read(line)) for field in result} for line in sheet.lines]


def as_csv(sheet: ResultSheet, *, offsets: bool = False) -> bytes:
    """The bytes of a CSV file with keys as header: no cell is a formula, undefined values are empty.

    If the table differs from its paper, the first row says so in a last column.
    """
    from annotator.exchange.release.tables_csv import csv

    result = rows(sheet, offsets=offsets)
    differs = departures(sheet)
    if differs:
        result = [
            row | {"departures": "" if place else " ".join(differs)} for place, row in enumerate(result)
        ]
    return csv(result) if result else b""


def as_json(sheet: ResultSheet, *, offsets: bool = False) -> bytes:
    """The same as JSON, with the title and the notes on the table."""
    return (
        json.dumps(as_tree(sheet, offsets=offsets), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    ).encode()


def as_tree(sheet: ResultSheet, *, offsets: bool = False) -> dict[str, Any]:
    """A table with its title, notes and the titles of its rows' keys; in the long form if it has both."""
    long = sheet.long or sheet
    return {
        "key": sheet.key,
        "title": sheet.title,
        "told": list(sheet.notes),
        "departures": list(departures(sheet)),
        "columns": described(field.column for field in fields(long, offsets=offsets)),
        "rows": rows(long, offsets=offsets),
    }


def as_text(sheet: ResultSheet) -> str:
    """The same with titles, to be pasted into a spreadsheet: tabs between cells, no cell a formula."""
    if not sheet.lines:
        return ""
    from annotator.exchange.release.tables_csv import guard

    result = fields(sheet)
    lines = [
        [field.column.title for field in result],
        *([field.read(line) for field in result] for line in sheet.lines),
    ]
    plain = (["" if cell is None else " ".join(str(guard(cell)).split()) for cell in line] for line in lines)
    return "".join("\t".join(line) + "\n" for line in plain)


def save_exports(sheet: ResultSheet, path: Path, *, offsets: bool = False) -> Path:
    """Write a table as CSV or JSON, by the extension of `path`; all or nothing."""
    forms = {".csv": as_csv, ".json": as_json}
    ending = path.suffix.lower()
    if ending not in forms:
        raise Refusal(f"A table cannot be saved as “{path.suffix}”.", "Use .csv or .json.")
    return files.save(path, forms[ending](sheet, offsets=offsets))
