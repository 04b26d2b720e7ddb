"""What a matrix comes to, in the readings of its protocol, once a person has filled it."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.actions.labelling.labels import Sheet
from annotator.protocols.adra import plan
from annotator.protocols.adra.plan_judge import RELEVANT

PLAN = plan.NAME


@dataclass(frozen=True, slots=True)
class Reading:
    """How a matrix is counted, and what it comes to; the counts are None while a cell is open or unsure.

    `predicted` counts the columns' sub-tasks that are right, `gold` those of the gold plan that are found.
    """

    title: str
    predicted: int | None = None
    gold: int | None = None


def readings(sheet: Sheet) -> Sequence[Reading]:
    """The matrix of one report in both readings; nothing under another protocol."""
    if sheet.protocol != PLAN:
        return ()
    cells = tuple(tuple(_cell(sheet, unit.id) for unit in group.units) for group in sheet.groups)
    gold = len(sheet.groups[0].units)
    whole = all(cell is not None for row in cells for cell in row)
    found = []
    for reading in (plan.ONE_TO_ONE, plan.ANY_MATCH):
        tally = reading.count(cells, gold) if whole else None
        counts = (tally.right, tally.found) if tally else (None, None)
        found.append(Reading(reading.title, *counts))
    return tuple(found)


def _cell(sheet: Sheet, unit_id: str) -> bool | None:
    label = sheet.labels.get(unit_id)
    return None if label is None or label.value is None else label.value == RELEVANT
