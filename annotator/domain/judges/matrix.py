"""Verdict matrices: report units down, gold units across, and the ways to count them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from annotator.domain.kinds.artifact import Kind, Unit, cell_id
from annotator.domain.material.part import ResponsePart

Matrix = tuple[tuple[bool | None, ...], ...]
"""Rows of cells: a match or none, None where the judgement is missing."""
Counting = Callable[[Matrix, int], tuple[int, int]]
"""How many rows are right and how many of so many columns are found."""


@dataclass(frozen=True, slots=True)
class MatrixSpec:
    """The rows and columns of a matrix, the two values of a cell, and its named ways of counting.

    The id of a cell is that of its two units, as `cell_id` makes it.
    """

    rows: ResponsePart
    columns: Kind
    match: str
    none: str
    readings: Mapping[str, Counting]
    about: str

    def cell(self, value: str | None) -> bool | None:
        """Whether a verdict is a match, None where there is none; ValueError for another value."""
        if value not in (self.match, self.none, None):
            raise ValueError(f"a cell is {self.match} or {self.none}, not {value!r}")
        return None if value is None else value == self.match

    def cells(self, rows: Sequence[Unit], columns: Sequence[Unit], values: Mapping[str, str]) -> Matrix:
        """The matrix that verdicts make, by the ids of cells."""
        return tuple(
            tuple(self.cell(values.get(cell_id(row.id, column.id))) for column in columns) for row in rows
        )
