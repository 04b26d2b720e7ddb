"""Tables to be imported, as a person looks at them: their first rows, what each column holds, and mappings as files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from annotator import files
from annotator.actions.imports import imports
from annotator.actions.imports.imports import ImportOptions
from annotator.actions.project.file import Project
from annotator.actions.project.incoming import ImportPreview
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.folders import pretty
from annotator.exchange.formats.mappings import (
    FIELDS,
    FILE,
    HOW,
    REPORT,
    TableMapping,
    TablesMapping,
    column_of,
    kept_columns,
    matched,
    says_something,
)
from annotator.exchange.release import tables_csv
from annotator.exchange.release.bundle import Problem
from annotator.exchange.table_files import READERS, Table, values
from annotator.places import resources

ENDINGS = tuple(READERS)
# Every field in words.
WORDS = {field: field.replace("_", " ").capitalize() for field in FIELDS}
KEPT, LEFT_OUT = "Keep with the item", "Leave out"
load_mapping = TablesMapping.at
# So many rows of a table are shown.
SHOWN = 6
# File, row and reason.
Refused = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class TableMatch:
    """The first rows of a table and what its columns hold, some of them in nested data; `plain` ones can be kept."""

    table: Table
    size: str
    paths: tuple[str, ...]
    plain: frozenset[str]
    how: TableMapping

    def unmatched(self, path: str) -> str:
        beside = says_something(self.how) and not self.how.of_labels
        return KEPT if beside and self.plain & {path, column_of(path)} else LEFT_OUT

    def words(self, path: str) -> str:
        fields = (WORDS[field] for field, of in self.how.columns.items() if of == path)
        return ", ".join(fields) or self.unmatched(path)

    def cell(self, index: int, path: str) -> str:
        return " · ".join(str(one) for one in values(self.table.rows[index], path) if one is not None)

    def match(self, path: str, field: str) -> "TableMatch":
        """The same with another field in a column, or none; reports of no system are of that of the file's name."""
        columns = {one: of for one, of in self.how.columns.items() if one != field and of != path}
        columns |= {field: path} if field else {}
        constants = {one: value for one, value in self.how.constants.items() if one not in columns}
        if REPORT in columns and "system" not in columns:
            constants = {"system": Path(self.table.name).stem} | constants
        return replace(self, how=self.how.model_copy(update={"columns": columns, "constants": constants}))

    @property
    def constants(self) -> str:
        return "; ".join(f"{WORDS[field]} = {value}" for field, value in self.how.constants.items())

    def with_constants(self, typed: str) -> "TableMatch":
        said = [part.partition("=") for part in typed.split(";") if part.strip()]
        constants = {name.strip().casefold().replace(" ", "_"): value.strip() for name, _, value in said}
        if constants.keys() - FIELDS.keys() or not all(constants.values()):
            raise Refusal(
                f"“{typed}” does not say which field is what in every row.",
                f"Write it as “System = Alder; Language = en”; fields are {', '.join(WORDS.values())}.",
            )
        return replace(self, how=self.how.model_copy(update={"constants": constants}))


@dataclass(frozen=True, slots=True)
class ImportLook:
    """What files are, what their tables hold, and what an import would do."""

    paths: Sequence[Path]
    format: str
    tables: tuple[TableMatch, ...]
    preview: ImportPreview
    refused: list[Refused]


def look(project: Project, chosen: str, paths: Sequence[Path], options: ImportOptions) -> ImportLook:
    """What an import of these files would do; Refusal where a mapping is for other tables."""
    format_ = chosen or imports.format_of(paths)
    preview, mapping = imports.preview(project, format_, paths, options), options.mapping
    shown = tuple(_shown(*one) for one in matched(paths, mapping)) if format_ == imports.TABLES else ()
    given = [one.columns for one in mapping.tables] if mapping else []
    if given and shown and not any(one.how.columns in given for one in shown):
        raise Refusal(
            "The mapping names columns that none of these tables has.",
            "Choose another mapping, or say above the columns what they hold.",
        )
    return ImportLook(paths, format_, shown, preview, [_placed(one, shown) for one in preview.problems])


def _shown(table: Table, how: TableMapping) -> TableMatch:
    paths = tuple(dict.fromkeys([*table.paths(), *how.columns.values()]))
    size = counted(len(table.rows), table.unit)
    return TableMatch(replace(table, rows=table.rows[:SHOWN]), size, paths, kept_columns(table), how)


def _placed(problem: Problem, shown: Sequence[TableMatch]) -> Refused:
    """A problem by file, row and reason, to be mended in the window."""
    reason = problem.reason.replace(HOW, "Choose above its columns what they hold.")
    if problem.row is not None:
        return problem.file, f"row {problem.row}", reason
    if problem.index is not None:
        of = next((one.table for one in shown if one.table.name == problem.file), None)
        return problem.file, of.place(problem.index) if of else f"entry {problem.index + 1}", reason
    row, _, rest = reason.partition(": ")
    # As in “row 12: its question is empty”.
    return (
        (problem.file, row, rest)
        if row.count(" ") == 1 and row[-1:].isdecimal()
        else (problem.file, "", reason)
    )


def exactly(shown: Sequence[TableMatch]) -> TablesMapping:
    """The mapping by which each of these tables, and no other, is read as it is shown."""
    return TablesMapping(tables=tuple(one.how.model_copy(update={"table": one.table.name}) for one in shown))


def save_mapping(place: Path, shown: Sequence[TableMatch]) -> Path:
    """Write what the columns hold as a file for `--mapping`: for tables of any name, unless these would be confused."""
    free = sorted(map(_free, shown), key=lambda one: -len(one.columns))
    # Each table is read by the first of which it has all columns.
    first = [next(one for one in free if set(one.columns.values()) <= set(table.paths)) for table in shown]
    sure = all(one.columns for one in free) and first == [*map(_free, shown)]
    made = TablesMapping(tables=tuple({str(one): one for one in free}.values())) if sure else exactly(shown)
    return files.save(place, pretty(made.model_dump(exclude_defaults=True)))


def _free(shown: TableMatch) -> TableMapping:
    stem = Path(shown.table.name).stem
    constants = {field: FILE if value == stem else value for field, value in shown.how.constants.items()}
    return shown.how.model_copy(update={"constants": constants, "table": ""})


def shipped() -> list[str]:
    return sorted(path.stem for path in (resources() / "mappings").glob("*.json"))


def save_problems(place: Path, refused: Sequence[Refused]) -> Path:
    heads = ("file", "row", "reason")
    return files.save(place, tables_csv.csv([dict(zip(heads, one, strict=True)) for one in refused]))
