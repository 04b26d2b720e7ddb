"""How commands give tables: printed, as JSON, or into files."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from annotator.cli.saying import print_json, said

WIDEST = 60
UNFIT = " (!)"


def show(
    sheets: Sequence[Any], to: Path | None, json_: bool, more: dict[str, Any] | None = None, *, offsets: bool = False
) -> None:  # fmt: skip
    """Tables as words, as JSON after what is said `more`, or into files."""
    from annotator.actions.results import result_exports

    written = [path.name for path in _written(sheets, to, offsets)] if to else []
    if json_:
        trees = [result_exports.as_tree(sheet, offsets=offsets) for sheet in sheets]
        print_json({**(more or {}), "sheets": trees, "files": written})
    elif written:
        said.print(f"Wrote {', '.join(written)}", markup=False)
    else:
        for sheet in sheets:
            print_sheet(sheet)


def _written(sheets: Sequence[Any], to: Path, offsets: bool) -> list[Path]:
    """Each table in a file; of several tables the second one gets its key into its name."""
    from annotator.actions.results import result_exports

    places = [to, *(to.with_name(f"{to.stem}-{sheet.key}{to.suffix}") for sheet in sheets[1:])]
    return [
        result_exports.save(sheet, path, offsets=offsets) for sheet, path in zip(sheets, places, strict=False)
    ]


def print_sheet(sheet: Any) -> None:
    """Print a table with what holds of all of it."""
    lines = (
        [f"{cell.words}{UNFIT if cell.state == 'unfit' else ''}" for cell in line.cells]
        for line in sheet.lines
    )
    print_table(sheet.title, [column.head for column in sheet.columns], lines)
    for words in sheet.told_in_full:
        said.print(words, markup=False)


def print_table(title: str, heads: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """Print lines of words under heads; what does not fit goes on in the next line, and nothing is cut off.

    A rule stands before each line whose first cell says something, where others say nothing there.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1))
    for head in heads:
        table.add_column(Text(head), overflow="fold", max_width=WIDEST)
    rows = list(lines)
    goes_on = any(not row[0] for row in rows)
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        table.add_row(*map(Text, row), end_section=goes_on and (after is None or bool(after[0])))
    said.print(table)
