"""Prevalence of categories, and why κ may be low though raters agree."""

from collections.abc import Hashable, Iterable, Sequence

from annotator.stats.intervals.coding import Values, category_counts

SKEWED = 0.80
KAPPA_PARADOX = (
    "Nearly all judgements are of one category, so chance alone would give much agreement and κ can be low though "
    "the raters seldom differ (Feinstein & Cicchetti 1990); AC1 is less moved by this."
)


def prevalence(
    raters: Sequence[Values], categories: Sequence[Hashable] | None = None
) -> dict[Hashable, float]:
    """The share of each category among all judgements of `raters` × units; empty when there is no judgement."""
    table, known = category_counts(raters, categories)
    total = float(table.sum())
    return dict(zip(known, (table.sum(axis=0) / total).tolist(), strict=True)) if total else {}


def prevalence_skewed(shares: Iterable[float]) -> bool:
    """Whether a category has more than 80 % of the judgements, as one of two does when the other has below 20 %.

    `shares` are those of all categories; ValueError unless they are shares of a whole, or none at all.
    """
    listed = list(shares)
    if listed and not (min(listed) >= 0 and abs(sum(listed) - 1) < 1e-9):
        raise ValueError("shares of categories add up to 1")
    return max(listed, default=0.0) > SKEWED
