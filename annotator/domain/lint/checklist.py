"""What the guideline objects to in a checklist (Arena, adaptive checklists)."""

from collections.abc import Iterator

from annotator.domain.kinds.checklist import Checklist
from annotator.domain.lint.finding import Finding, error, warning
from annotator.domain.lint.wording import Context, count_band, near_duplicates

POINTS = (3, 6)


def findings(checklist: Checklist, _context: Context) -> Iterator[Finding]:
    """Every remark on a checklist."""
    units = [unit for unit in checklist.units if unit.text.strip()]
    yield from count_band(units, *POINTS, "points")
    if fault := checklist.fault():
        yield error("sum", fault, "Change them so that they sum to 1.", field="share")
    for unit in units:
        if unit.share == 0:
            yield warning(
                "weightless", "This point counts for nothing.", "Give it a share.", unit.id, "share"
            )
    yield from near_duplicates(units, "point")
