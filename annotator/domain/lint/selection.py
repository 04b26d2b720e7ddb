"""What is still open in a selection rating (ResearcherBench, appendix B.4)."""

from collections.abc import Iterator

from annotator.domain.kinds.selection import Selection
from annotator.domain.lint.finding import Finding, error
from annotator.domain.lint.wording import Context


def findings(selection: Selection, _context: Context) -> Iterator[Finding]:
    """An error for each dimension that has no rating."""
    for unit in selection.units:
        if unit.rating is None:
            yield error(
                "no-rating", "Not rated yet.", "Rate it from 1 (poor) to 5 (excellent).", unit.id, "rating"
            )
