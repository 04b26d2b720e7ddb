"""What ADRA says of its own gold: how many statements are true, and how long its plans are (appendix H.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotator.domain.kinds.diagnostics import Diagnostics, Statement
from annotator.domain.kinds.plan import Plan
from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import mean_interval


@dataclass(frozen=True, slots=True)
class Balance:
    """The share of true statements, item by item and over all statements together."""

    of_item: Mapping[str, Estimate]
    overall: Estimate


def balance(diagnostics: Mapping[str, Diagnostics]) -> Balance:
    """The share of true statements of each item, and of all statements pooled (2 200 of 3 400 in the paper).

    Statements whose label is not decided count as missing: the share is that of the others, its range theirs.
    """
    everything = [unit for document in diagnostics.values() for unit in document.units]
    return Balance(
        {item: _share(document.units) for item, document in diagnostics.items()}, _share(everything)
    )


def _share(units: Sequence[Statement]) -> Estimate:
    method = "true / statements with a label"
    true, n = sum(unit.label is True for unit in units), sum(unit.label is not None for unit in units)
    missing = len(units) - n
    floor, ceiling = (true / len(units), (true + missing) / len(units)) if units else (None, None)
    note = "" if n else "no statement has a label"
    return Estimate(
        true / n if n else None,
        n=n,
        missing=missing,
        floor=floor,
        ceiling=ceiling,
        method=method,
        note=note or (f"{missing} of {len(units)} statements have no label" if missing else ""),
    )


def mean_plan_length(plans: Mapping[str, Plan]) -> Estimate:
    """The mean number of sub-tasks (9.01 in the paper) with Student's t interval over items."""
    return mean_interval([float(len(plan.units)) for plan in plans.values()])
