"""Figures of a 2×2 confusion matrix, and why each may be undefined."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from annotator.domain.texts.estimate import CHANCE, SHARE
from annotator.stats.intervals.clustered import Figure, Statistic, over
from annotator.stats.intervals.coding import Floats
from annotator.stats.intervals.student import Bounds

# Sums (draws × 4): true positives, false positives, false negatives, true negatives, as counts or as weights.
CELLS = 4
WEIGHTLESS = "the units weigh nothing"


@dataclass(frozen=True, slots=True)
class CellFigure:
    """A figure of the cells, its name, why it is undefined where it is, between what it lies and what it rests on."""

    method: str
    of: Figure
    undefined: str
    within: Bounds = SHARE
    rests_on: Callable[[Floats], Floats] | None = None

    def at(self, column: int) -> Statistic:
        """The figure of the four columns that begin there."""

        def cut(of: Figure) -> Figure:
            return lambda sums: of(sums[:, column : column + CELLS])

        return Statistic(cut(self.of), self.within, self.rests_on and cut(self.rests_on))


def _having(classes: tuple[tuple[int, ...], ...], cells: Floats) -> Floats:
    """How many units each row has of each class, which is given by its cells (rows × classes)."""
    return np.stack([cells[:, list(each)].sum(axis=1) for each in classes], axis=1)


TRUE_CLASSES = partial(_having, ((0, 2), (1, 3)))
# Agreement beyond chance rests on units that both give one class: where few do, its spread may not be seen.
AGREED_CLASSES = partial(_having, ((0,), (3,)))


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
    "precision": CellFigure(
        "precision", precision, "nothing was called positive", rests_on=partial(_having, ((0, 1),))
    ),
    "recall": CellFigure("recall", recall, "nothing is positive", rests_on=partial(_having, ((0, 2),))),
    "specificity": CellFigure(
        "specificity", specificity, "nothing is negative", rests_on=partial(_having, ((1, 3),))
    ),
    "f1": CellFigure(
        "f1", f1, "nothing is positive and nothing was called so", rests_on=partial(_having, ((0, 1, 2),))
    ),
    "balanced_accuracy": CellFigure("balanced accuracy", balanced_accuracy, NO_CLASS, SHARE, TRUE_CLASSES),
    "mcc": CellFigure("MCC", mcc, "one side used one class only", CHANCE, AGREED_CLASSES),
    "kappa": CellFigure(
        "Cohen's κ",
        kappa,
        "both used one class only, so chance alone agrees as often",
        CHANCE,
        AGREED_CLASSES,
    ),
    "ac1": CellFigure("Gwet's AC1", ac1, WEIGHTLESS, CHANCE),
}


def crossed(true: Floats, said: Floats) -> Floats:
    """The cells of each unit (units × 4) from whether it is positive and whether it was called so."""
    return np.column_stack([true * said, (1 - true) * said, true * (1 - said), (1 - true) * (1 - said)])
