"""What ADRA says of its modes: the same items with gold given or not tell where a system fails (§3, §5.5)."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import mean_of_scores

END_TO_END = "end-to-end"
ISOLATED = "isolated"
INJECTION = "gold-plan injection"
MODES = (END_TO_END, ISOLATED, INJECTION)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One mode against another: each item's difference, their mean, and the items that only one of them has."""

    differences: Mapping[str, Estimate]
    mean: Estimate
    only_one: tuple[str, ...]
    only_other: tuple[str, ...]


def compare(one: Mapping[str, Estimate], other: Mapping[str, Estimate]) -> Comparison:
    """What the other mode gains over the one, item by item (other − one), and on average with a t interval.

    Each maps an item to a system's score on it in that mode. Paired, so that hard and easy items weigh alike on
    both sides (§5.5 compares the means only).
    """
    both = [item for item in one if item in other]
    differences = {item: _difference(one[item], other[item]) for item in both}
    return Comparison(
        differences,
        mean_of_scores(list(differences.values())),
        tuple(item for item in one if item not in other),
        tuple(item for item in other if item not in one),
    )


def _difference(one: Estimate, other: Estimate) -> Estimate:
    """Other − one; undefined when either is."""
    value = other.value - one.value if one.value is not None and other.value is not None else None
    floor = other.floor - one.ceiling if other.floor is not None and one.ceiling is not None else None
    ceiling = other.ceiling - one.floor if other.ceiling is not None and one.floor is not None else None
    note = "" if value is not None else "one of the two has no defined score"
    return Estimate(
        value,
        n=int(value is not None),
        missing=one.missing + other.missing,
        floor=floor,
        ceiling=ceiling,
        method="paired difference",
        note=note,
    )
