"""Counts of a filled verdict matrix, under each reading of its protocol."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.actions.labelling.labels import LabelSheet
from annotator.protocols import PROTOCOLS


@dataclass(frozen=True, slots=True)
class MatrixReading:
    """One way to count a matrix, with its counts; None while a cell is open or unsure.

    `predicted` counts the columns' sub-tasks that are right, `gold` those of the gold plan that are found.
    """

    title: str
    predicted: int | None = None
    gold: int | None = None


def readings(sheet: LabelSheet) -> Sequence[MatrixReading]:
    """The matrix of one report in each reading; nothing under a protocol without one."""
    spec = PROTOCOLS[sheet.protocol].matrix
    if spec is None:
        return ()
    values = {unit_id: label.value for unit_id, label in sheet.labels.items()}
    cells = tuple(tuple(spec.cell(values.get(unit.id)) for unit in group.units) for group in sheet.groups)
    gold = len(sheet.groups[0].units)
    if any(cell is None for row in cells for cell in row):
        return tuple(map(MatrixReading, spec.readings))
    return tuple(MatrixReading(title, *counts(cells, gold)) for title, counts in spec.readings.items())
