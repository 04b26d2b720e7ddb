"""Checklists: a few weighted points on which a report is rated from 0 to 10."""

import operator
from collections.abc import Iterator, Sequence
from math import fsum

from pydantic import Field

from annotator.domain.common import Text
from annotator.domain.kinds.artifact import (
    Context,
    Document,
    Finding,
    Kind,
    KindSpec,
    Unit,
    UnitField,
    count_band,
    error,
    near_duplicates,
    warning,
)

# Shares are typed with two digits: three times .33 and six times .17 still count as 1.
TOLERANCE = 0.02
_FLOAT_ERROR = 1e-9
# A smaller rest is a rounding error.
_LEAST_REST = 0.005
LONGEST_TITLE = 200


def unequal(total: float) -> str:
    """The fault of shares with this sum; empty if it is 1, rounding aside."""
    if abs(total - 1) <= TOLERANCE + _FLOAT_ERROR:
        return ""
    return f"The shares of the checklist sum to {total:.2f} and not to 1."


class CheckPoint(Unit):
    """One point with its share of the whole: a title, and in its text what is rated."""

    title: Text = Field(
        default="",
        max_length=LONGEST_TITLE,
        exclude_if=operator.not_,
        description="What is rated, in a few words; left out where the text says it alone",
    )
    share: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Weight; the shares sum to 1, rounding to two digits aside",
    )

    @property
    def words(self) -> str:
        return ": ".join(filter(None, (self.title.strip(), self.text.strip()))) if self.title else self.text


def shared_rest(points: Sequence[CheckPoint]) -> tuple[CheckPoint, ...]:
    """The points; those without a share divide equally what the others leave of 1, if anything."""
    bare = sum(not point.share for point in points)
    left = 1 - fsum(point.share for point in points)
    if left < _LEAST_REST:
        return tuple(points)
    return tuple(
        point if point.share else point.model_copy(update={"share": left / bare}) for point in points
    )


class Checklist(Document[CheckPoint], kind=Kind.CHECKLIST):
    """3 to 6 points whose shares sum to 1, rounding aside (Arena, adaptive checklists)."""

    def fault(self) -> str:
        return unequal(fsum(point.share for point in self.units)) if self.units else ""


POINTS = (3, 6)


def findings(checklist: Checklist, _context: Context) -> Iterator[Finding]:
    units = [unit for unit in checklist.units if unit.text.strip()]
    yield from count_band(units, *POINTS, "points")
    if fault := checklist.fault():
        yield error("sum", fault, "Change them so that they sum to 1.", field="share")
    elif len(units) >= POINTS[0] and len({unit.share for unit in units}) == 1:
        yield warning(
            "equal",
            "All points have the same share.",
            "Give most to the point that the task turns on.",
            field="share",
        )
    for unit in units:
        if unit.share == 0:
            advice = "Give it a share, or let it share the rest."
            yield warning("weightless", "This point has no share.", advice, unit.id, "share")
    yield from near_duplicates(units, "point")


def _summary(checklist: Checklist, _bar: float) -> str:
    return f"shares sum to {fsum(unit.share for unit in checklist.units):.2f} of 1.00"


SPEC = KindSpec(
    Checklist,
    title="Checklist",
    unit="point",
    units="points",
    what="A checklist names 3 to 6 points on which a report is rated from 0 to 10; their shares sum to 1.",
    prompt="One point on which a report is rated.",
    table="checklist_points",
    fields=(
        UnitField("title", "Title", counted=False, above=LONGEST_TITLE),
        UnitField("share", "Share", level="interval"),
    ),
    lint=findings,
    summary=_summary,
)
