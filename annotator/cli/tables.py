"""How commands give tables: printed, as JSON, or into files."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.saying import print_json, said
from annotator.domain.texts.counting import counted
from annotator.domain.texts.well_formed import visible

Departures = Annotated[
    bool, typer.Option("--departures", help="Also print in full where figures differ from the paper")
]
WIDEST = 60
# Characters between two columns, and of a word that may be cut.
BETWEEN, LONGEST_WORD = 3, 20
UNFIT = " (!)"


def show(
    sheets: Sequence[Any], to: Path | None, json_: bool, more: dict[str, Any] | None = None, *,
    offsets: bool = False, departures: bool = False,
) -> None:  # fmt: skip
    """Tables as words, as JSON after what is said `more`, or into files; in words `departures` in full."""
    from annotator.actions.results import result_exports

    written = [path.name for path in _written(sheets, to, offsets)] if to else []
    if json_:
        trees = [result_exports.as_tree(sheet, offsets=offsets) for sheet in sheets]
        print_json({**(more or {}), "sheets": trees, "files": written})
    elif written:
        said.print(f"Wrote {', '.join(written)}", markup=False)
    else:
        print_sheets(sheets, departures=departures)


def _written(sheets: Sequence[Any], to: Path, offsets: bool) -> list[Path]:
    """Each table in a file, or each of their pictures; of several tables the second one gets its key into its name."""
    from annotator.actions.results import result_exports, result_pictures

    if to.suffix.lower() in (".png", ".svg") and any(sheet.pictures for sheet in sheets):
        drawn = [(one, result_exports.departures(sheet)) for sheet in sheets for one in sheet.pictures]
        return [
            result_pictures.save(
                result_pictures.printed(*of), to.with_name(f"{to.stem}{place or ''}{to.suffix}")
            )
            for place, of in enumerate(drawn)
        ]
    places = [to, *(to.with_name(f"{to.stem}-{sheet.key}{to.suffix}") for sheet in sheets[1:])]
    return [
        result_exports.save(sheet, path, offsets=offsets) for sheet, path in zip(sheets, places, strict=False)
    ]


def print_sheets(sheets: Sequence[Any], *, departures: bool = True) -> None:
    """Print tables with what holds of each, then once where they differ from the paper."""
    from annotator.actions.results import result_exports

    for sheet in sheets:
        _print_sheet(sheet)
    known = dict.fromkeys(words for sheet in sheets for words in result_exports.departures(sheet))
    print_departures([*known], departures)


def _print_sheet(sheet: Any) -> None:
    lines = (
        [f"{cell.words}{UNFIT if cell.state == 'unfit' else ''}" for cell in line.cells]
        for line in sheet.lines
    )
    print_table(sheet.title, [column.head for column in sheet.columns], lines, stay=_named_by(sheet))
    for words in sheet.told:
        said.print(words, markup=False)


def print_departures(known: Sequence[str], whole: bool) -> None:
    """Print where figures differ from their paper, or how often they do and how to read of it."""
    lines = ("Differences from the paper:", *known)
    for words in lines if whole else (f"{counted(len(known), 'difference')} from the paper: --departures",):
        if known:
            said.print(words, markup=False)


def _named_by(sheet: Any) -> int:
    """How many columns, two at most, say in words what a line is of."""
    worded = [
        all(isinstance(line.cells[place].value, str) for line in sheet.lines)
        for place in (0, 1)
        if place < len(sheet.columns)
    ]
    return 2 if all(worded) and len(worded) == 2 else 1


def print_table(title: str, heads: Sequence[str], lines: Iterable[Sequence[str]], *, stay: int = 1) -> None:
    """Print lines of words under heads; what does not fit goes on in the next line, and nothing is cut off.

    Where not all columns fit side by side, further ones stand in a table of their own, again behind those that `stay`.
    A rule stands before each line whose first cell says something, where others say nothing there.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    rows, heads = [[*map(visible, line)] for line in lines], [*map(visible, heads)]
    goes_on = any(not row[0] for row in rows)
    widths = [_longest_word([head, *(row[place] for row in rows)]) for place, head in enumerate(heads)]
    for block in _blocks(widths, stay, said.width):
        table = Table(title=visible(title), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1))
        for column in block:
            table.add_column(Text(heads[column]), overflow="fold", min_width=widths[column], max_width=WIDEST)
        for row, after in zip(rows, [*rows[1:], None], strict=True):
            cells = (Text(row[column]) for column in block)
            table.add_row(*cells, end_section=goes_on and (after is None or bool(after[0])))
        said.print(table)
        title = ""


def _blocks(widths: Sequence[int], stay: int, room: int) -> list[list[int]]:
    """The columns of each table, those that stay in each; as many as have room for their longest words."""
    blocks: list[list[int]] = [[]]
    for place in range(stay, len(widths)):
        shown = [*widths[:stay], *(widths[column] for column in blocks[-1]), widths[place]]
        if blocks[-1] and sum(shown) + BETWEEN * (len(shown) + 1) > room:
            blocks.append([])
        blocks[-1].append(place)
    return [[*range(min(stay, len(widths))), *block] for block in blocks]


def _longest_word(texts: Iterable[str]) -> int:
    return min(LONGEST_WORD, max((len(word) for text in texts for word in text.split()), default=1))
