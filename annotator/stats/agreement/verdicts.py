"""Remarks beside a figure of agreement: a word for its size, and why κ may be low though raters agree."""

from collections.abc import Hashable, Iterable, Sequence

from annotator.stats.intervals.coding import Values, category_counts

# Landis & Koch (1977), Biometrics 33, 159–174: the upper end of each band.
BANDS = (
    (0.20, "slight"),
    (0.40, "fair"),
    (0.60, "moderate"),
    (0.80, "substantial"),
    (1.00, "almost perfect"),
)
SKEWED = 0.80
KAPPA_PARADOX = (
    "Nearly all judgements are of one category, so chance alone would give much agreement and κ can be low though "
    "the raters seldom differ (Feinstein & Cicchetti 1990); AC1 is less moved by this."
)


def landis_koch(kappa: float) -> str:
    """The word that Landis & Koch (1977) have for a κ, to stand beside the figure; ValueError outside −1 … 1."""
    if not -1 <= kappa <= 1:
        raise ValueError(f"κ is not {kappa}")
    if kappa < 0:
        return "poor"
    return next(word for end, word in BANDS if kappa <= end)


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
