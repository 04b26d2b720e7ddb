"""Which figures tell how far raters agree on the values of a scale, by what these are to one another."""

from collections.abc import Mapping

from annotator.domain.judges.scale import Level, Scale

# Level → its figures; the first stands for all where there is room for one.
FIGURES: Mapping[Level, tuple[str, ...]] = {
    Level.NOMINAL: ("kappa", "ac1", "agreement"),
    Level.ORDINAL: ("kappa_quadratic", "kappa_linear", "ac2", "alpha", "spearman", "agreement"),
    Level.INTERVAL: (
        "icc",
        "kappa_quadratic",
        "alpha",
        "absolute_difference",
        "mean_difference",
        "lower_limit",
        "upper_limit",
    ),
}
# Figures of values that are ordered: a title, and what the figure is.
WORDS: Mapping[str, tuple[str, str]] = {
    "kappa_quadratic": (
        "κ quadratic",
        "Cohen's κ of ordered values: a disagreement counts by the square of how far apart the two values are, in "
        "steps or, of numbers, by their difference",
    ),
    "kappa_linear": (
        "κ linear",
        "Cohen's κ of ordered values: a disagreement counts by how many steps apart the two values are",
    ),
    "icc": (
        "ICC",
        "the share of the variance that lies between units, raters differing in level counting as disagreement: "
        "ICC(2,1) of two raters, ICC(1,1) where units have raters of their own",
    ),
    "ac2": (
        "AC2",
        "Gwet's AC1 with quadratic weights: agreement beyond a chance that stays small when one value prevails",
    ),
    "alpha": (
        "α",
        "Krippendorff's: one minus the disagreement seen over the disagreement expected, by ranks where values are "
        "ordered and by squared differences where they are numbers",
    ),
    "spearman": ("ρ", "Spearman's: how far the ranks of the two sides rise together; they need not be equal"),
    "absolute_difference": ("Mean |Δ|", "the mean absolute difference, in units of the scale; 0 is none"),
    "mean_difference": (
        "Mean Δ",
        "the second side's values less the first's, averaged, in units of the scale (Bland & Altman's bias)",
    ),
    "lower_limit": (
        "Lower limit",
        "mean difference − 1.96 standard deviations (Bland & Altman): 97.5 % lie above",
    ),
    "upper_limit": (
        "Upper limit",
        "mean difference + 1.96 standard deviations (Bland & Altman): 97.5 % lie below",
    ),
}
# In units of the scale: they need not lie between −1 and 1.
IN_UNITS = frozenset({"absolute_difference", "mean_difference", "lower_limit", "upper_limit"})
# A table of more values than this is not read.
MOST_CROSSED: Mapping[Level, int] = {Level.ORDINAL: 20, Level.INTERVAL: 10}


def uncrossed(scale: Scale) -> str:
    """Why values are not crossed in a table, true by said; empty where they are."""
    values = len(scale.values)
    if values <= MOST_CROSSED.get(scale.level, values):
        return ""
    return f"No table: the scale has {values} values. The differences tell how far apart they lie."
