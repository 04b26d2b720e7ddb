"""What a matrix of verdicts is: what is drawn from a report down, gold across, and the ways in which it is counted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.unit import Unit, cell_id
from annotator.domain.material.part import Part

Matrix = tuple[tuple[bool | None, ...], ...]
"""Rows of cells: a match or none, None where the judgement is missing."""
Counting = Callable[[Matrix, int], tuple[int, int]]
"""How many rows are right and how many of so many columns are found."""


@dataclass(frozen=True, slots=True)
class MatrixSpec:
    """What stands down and across, the two values of a cell, and by name how it is counted; `about` says how.

    The id of a cell is that of its two units, as `cell_id` makes it.
    """

    rows: Part
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
