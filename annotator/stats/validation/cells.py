"""Figures of a 2×2 confusion matrix, and why each may be undefined."""

from dataclasses import dataclass

import numpy as np

from annotator.stats.intervals.clustered import Figure, over
from annotator.stats.intervals.resampling import Floats

# Sums (draws × 4): true positives, false positives, false negatives, true negatives, as counts or as weights.
CELLS = 4
WEIGHTLESS = "the units weigh nothing"


@dataclass(frozen=True, slots=True)
class CellFigure:
    """A figure of the cells, its name, and why it is undefined where it is."""

    method: str
    of: Figure
    undefined: str

    def at(self, column: int) -> Figure:
        """The figure of the four columns that begin there."""
        return lambda sums: self.of(sums[:, column : column + CELLS])


def accuracy(cells: Floats) -> Floats:
    """The share of units on which both say the same."""
    return over(cells[:, 0] + cells[:, 3], cells.sum(axis=1))


def precision(cells: Floats) -> Floats:
    """The share of what was called positive that is."""
    return over(cells[:, 0], cells[:, 0] + cells[:, 1])


def recall(cells: Floats) -> Floats:
    """The share of what is positive that was called so."""
    return over(cells[:, 0], cells[:, 0] + cells[:, 2])


def specificity(cells: Floats) -> Floats:
    """The share of what is negative that was called so."""
    return over(cells[:, 3], cells[:, 3] + cells[:, 1])


def f1(cells: Floats) -> Floats:
    """The harmonic mean of precision and recall."""
    return over(2 * cells[:, 0], 2 * cells[:, 0] + cells[:, 1] + cells[:, 2])


def balanced_accuracy(cells: Floats) -> Floats:
    """The mean of recall and specificity (Brodersen et al. 2010)."""
    return (recall(cells) + specificity(cells)) / 2


def mcc(cells: Floats) -> Floats:
    """Matthews' correlation of two series of two classes (Matthews 1975)."""
    tp, fp, fn, tn = cells.T
    return over(tp * tn - fp * fn, np.sqrt((tp + fp) * (fn + tn) * (tp + fn) * (fp + tn)))


def kappa(cells: Floats) -> Floats:
    """Cohen's κ of two classes (Cohen 1960), both sides of its ratio times the squared sum of the cells."""
    tp, fp, fn, tn = cells.T
    return over(2 * (tp * tn - fp * fn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))


def ac1(cells: Floats) -> Floats:
    """Gwet's AC1 of two classes: chance is 2 q (1 − q), q the share of positive judgements of both (Gwet 2008)."""
    tp, fp, fn, tn = cells.T
    whole, positive = cells.sum(axis=1), 2 * tp + fp + fn
    chance = positive * (2 * whole - positive) / 2
    return over(whole * (tp + tn) - chance, whole**2 - chance)


NO_CLASS = "only one class occurs among the true values"
# In the order in which they are shown; each name is a field of `Figures`.
CELL_FIGURES: dict[str, CellFigure] = {
    "accuracy": CellFigure("accuracy", accuracy, WEIGHTLESS),
    "precision": CellFigure("precision", precision, "nothing was called positive"),
    "recall": CellFigure("recall", recall, "nothing is positive"),
    "specificity": CellFigure("specificity", specificity, "nothing is negative"),
    "f1": CellFigure("f1", f1, "nothing is positive and nothing was called so"),
    "balanced_accuracy": CellFigure("balanced accuracy", balanced_accuracy, NO_CLASS),
    "mcc": CellFigure("MCC", mcc, "one side used one class only"),
    "kappa": CellFigure("Cohen's κ", kappa, "both used one class only, so chance alone agrees as often"),
    "ac1": CellFigure("Gwet's AC1", ac1, WEIGHTLESS),
}


def crossed(true: Floats, said: Floats) -> Floats:
    """The cells of each unit (units × 4) from whether it is positive and whether it was called so."""
    return np.column_stack([true * said, (1 - true) * said, true * (1 - said), (1 - true) * (1 - said)])
