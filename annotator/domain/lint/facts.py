"""What the guidelines object to in lists of facts: nuggets (DeepScholar) and key insights (ResearcherBench)."""

from collections.abc import Iterator

from annotator.domain.kinds.insights import Insights
from annotator.domain.kinds.nuggets import Nuggets
from annotator.domain.lint.finding import Finding, warning
from annotator.domain.lint.wording import Context, near_duplicates


def nuggets(document: Nuggets, _context: Context) -> Iterator[Finding]:
    """Every remark on nuggets."""
    yield from near_duplicates([unit for unit in document.units if unit.text.strip()], "nugget")
    if len(document.units) >= 3 and not any(unit.importance == "vital" for unit in document.units):
        yield warning(
            "no-vital", "No nugget is vital.", "Mark those that a good text must hold.", field="importance"
        )


def insights(document: Insights, _context: Context) -> Iterator[Finding]:
    """Every remark on key insights."""
    yield from near_duplicates([unit for unit in document.units if unit.text.strip()], "insight")
