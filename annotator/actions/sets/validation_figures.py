"""Which figures come of a rater held against others: of a positive value by cells, of any by their scale's level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby, product
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.actions.results.result_sheets import SheetCell, figure, gaps, number
from annotator.domain.judges.level_figures import FIGURES, WORDS
from annotator.domain.judges.protocol import Protocol
from annotator.domain.judges.scale import Level, Scale
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import NO_SPREAD, ROUGH, Estimate, of_items, without_width
from annotator.domain.texts.refusal import Refusal
from annotator.stats.agreement import levels
from annotator.stats.agreement.agreement import cohen_kappa
from annotator.stats.agreement.chance import ac1_of_pairs
from annotator.stats.agreement.levels import Measure
from annotator.stats.intervals.coding import ONE_CATEGORY, Chosen, Codes, Floats
from annotator.stats.validation import comparison as comparing
from annotator.stats.validation.alt_test import Scoring
from annotator.stats.validation.cells import CELL_FIGURES
from annotator.stats.validation.classification import RatingFigures, both_ways
from annotator.stats.validation.comparison import GroupDifference, comparison, difference, kappa_difference

# Name → title and what it is; in the order in which they are shown.
TITLES: dict[str, tuple[str, str]] = {
    "accuracy": ("Accuracy", "the share on which both say the same"),
    "precision": ("Precision", "of what the rater calls positive, the share that is: TP / (TP + FP)"),
    "recall": ("Recall", "of what is positive, the share that the rater calls so: TP / (TP + FN)"),
    "f1": ("F1", "the harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)"),
    "specificity": ("Specificity", "of what is negative, the share that the rater calls so: TN / (TN + FP)"),
    "balanced_accuracy": ("Balanced accuracy", "the mean of recall and specificity"),
    "kappa": (
        "Cohen's κ",
        "agreement beyond chance, chance by how often each side uses each value; Scott's π of people with one another, "
        "who count in both directions",
    ),
    "ac1": ("Gwet's AC1", "agreement beyond chance, less moved than κ where one value prevails"),
    "mcc": ("MCC", "Matthews' correlation of the two sides"),
    **WORDS,
}
# What is told of all values, where none is positive, by the name that it has here.
CALLED = {"agreement": "accuracy"}
# Limits of agreement tell of the spread of one judge; two judges have no difference of them.
ONE_SIDED = ("lower_limit", "upper_limit")
# What a difference of two judges tells that is above 0, and one that is below, where more is not better.
VERDICTS = {
    "absolute_difference": ("the second is better", "the first is better"),
    "mean_difference": ("the first gives higher values", "the second gives higher values"),
}
Named = dict[str, Estimate]


@dataclass(frozen=True, slots=True)
class TruthPairs:
    """A rater's values beside the true ones, unit by unit; None for missing values.

    A unit on which several people are taken for true stands here once for each: `units` are their numbers among those
    in question, `items` those of their items, which are the clusters.
    """

    truth: NDArray[Any]
    said: NDArray[Any]
    weights: Floats
    items: Codes
    units: Codes

    def among(self, chosen: Chosen) -> "TruthPairs":
        return self._where(chosen[self.units])

    def there(self) -> "TruthPairs":
        return self._where(there(self.said))

    def _where(self, at: Chosen) -> "TruthPairs":
        return TruthPairs(self.truth[at], self.said[at], self.weights[at], self.items[at], self.units[at])

    def confusion(self) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
        """(True value, what was said) → how many units, and what they weigh."""
        plain, weighted = dict[tuple[str, str], float](), dict[tuple[str, str], float]()
        trues, saids = (
            {value: values == value for value in sorted(set(values.tolist()) - {None})}
            for values in (self.truth, self.said)
        )
        for (true, is_true), (said, is_said) in product(trues.items(), saids.items()):
            weights = self.weights[is_true & is_said].tolist()
            if weights:
                plain[true, said], weighted[true, said] = len(weights), fsum(weights)
        return plain, weighted


def there(values: NDArray[Any]) -> Chosen:
    return np.asarray(values != None)  # noqa: E711


@dataclass(frozen=True, slots=True)
class RaterResult:
    """A rater's figures by name, unweighted and weighted, and their confusion matrix."""

    plain: Named
    weighted: Named
    confusion: Mapping[tuple[str, str], float]
    confusion_weighted: Mapping[tuple[str, str], float]

    def over(self, units: int) -> "RaterResult":
        """The same with the units that the figures stand on as their n, and the pairs of values on them apart."""
        pairs = int(sum(self.confusion.values()))
        if pairs == units:
            return self
        remark = f"{counted(pairs, 'pair')} of values on {counted(units, 'unit')}"
        plain, weighted = (
            {
                name: replace(one, n=units).remarked(remark) if one.n == pairs else one
                for name, one in of.items()
            }
            for of in (self.plain, self.weighted)
        )
        return replace(self, plain=plain, weighted=weighted)


@dataclass(frozen=True, slots=True)
class JudgeDifference:
    """The difference of two judges' figures on the same units, and a conclusion.

    `only_right` counts the units on which the first alone is right, and the second alone.
    """

    plain: Named
    weighted: Named
    only_right: tuple[int, int]
    units: int

    def verdict(self, name: str) -> str:
        """What can be said of the two on a figure; of most, more is better."""
        one = self.plain[name]
        if (one.low or 0.0) <= 0 <= (one.high or 0.0):
            if unknown(one):
                return f"nothing can be said: {unknown(one)}"
            return "indistinguishable: the interval of the difference spans 0"
        words = VERDICTS.get(name, ("the first is better", "the second is better"))
        return words[(one.value or 0.0) < 0]


def published(shape: Protocol) -> str:
    """What is published of agreement under a protocol, in a sentence."""
    if not shape.aims:
        return (
            f"No published aim: no agreement with people is printed for “{shape.title}” ({shape.citation})."
        )
    each = (
        f"{', '.join(f'{TITLES[one.figure][0]} {one.value:.2f}' for one in those)} of {whose} ({place})"
        for (whose, place), those in groupby(shape.aims, lambda one: (one.whose, one.place))
    )
    return f"Published aim: {'; '.join(each)}."


def positive_of(shape: Protocol, wanted: str = "") -> str:
    """The value that counts as positive: the one named, else that of its scale; Refusal for one there is not."""
    if wanted and wanted not in shape.values:
        raise Refusal(
            f"“{wanted}” is not a value of {shape.title}.", f"Use one of {', '.join(shape.values)}."
        )
    return wanted or shape.scale.positive


def of_level(scale: Scale) -> tuple[str, ...]:
    """The figures of all values of a scale, the main one first."""
    return tuple(CALLED.get(name, name) for name in FIGURES[scale.level])


def main_of(scale: Scale) -> str:
    """The figure that stands for all where there is room for one."""
    return of_level(scale)[0]


def brief_of(scale: Scale) -> tuple[str, ...]:
    """What fits a terminal; of numbers there is more to say than the main figure does."""
    return ("accuracy", "f1", main_of(scale), "absolute_difference", "mean_difference")


def scoring_of(scale: Scale) -> Scoring:
    """How the alternative annotator test tells who is closer: by how many others say the same, or by how far off."""
    return "accuracy" if scale.level is Level.NOMINAL else "neg_rmse"


def choosable(scale: Scale, positive: str = "", *, weighted: bool = False) -> tuple[str, ...]:
    """The figures by which judges can be held against people: more is better, and two of them have a difference."""
    own = levels.measures(scale)
    fitting = {name for name, one in own.items() if one.better > 0 and (one.weighed or not weighted)}
    found = tuple(name for name in of_level(scale) if name in fitting or name not in (*own, "spearman"))
    return (*found, *(name for name in CELL_FIGURES if name not in found)) if positive else found


def chosen_figure(shape: Protocol, wanted: str, positive: str = "", *, weighted: bool = False) -> str:
    """The figure by which judges are chosen: the one named, else the main one; Refusal for one that does not fit."""
    there = choosable(shape.scale, positive, weighted=weighted)
    if (wanted or main_of(shape.scale)) in there:
        return wanted or main_of(shape.scale)
    if wanted in CELL_FIGURES and wanted not in of_level(shape.scale) and not positive:
        raise Refusal(
            f"“{wanted}” refers to one value, and {shape.title} has more than two.",
            f"Name the positive one, or use one of {', '.join(there)}.",
        )
    if not there:
        raise Refusal(
            f"No figure of {shape.title} by which judges are chosen counts units by weight.",
            "Count each unit as one.",
        )
    what = " by weight" if weighted else ""
    raise Refusal(
        f"“{wanted or main_of(shape.scale)}” is no figure{what} by which judges are chosen under {shape.title}.",
        f"Use one of {', '.join(there)}.",
    )


def figures(pairs: TruthPairs, positive: str, scale: Scale) -> RaterResult:
    """All figures with intervals over items: those of the scale's level, and of a positive value those of its cells."""
    confusion = pairs.confusion()
    plain, weighted = _of_level(pairs, scale)
    if positive:
        both = both_ways(pairs.truth, pairs.said, positive, pairs.weights, pairs.items)
        plain, weighted = plain | _by_name(both.plain), weighted | _by_name(both.weighted)
    elif "accuracy" in of_level(scale):
        same, true = _same(pairs), [True] * len(pairs.truth)
        shares = both_ways(true, same, True, pairs.weights, pairs.items)
        plain, weighted = (
            {"accuracy": _share(share.accuracy)} | of
            for share, of in ((shares.plain, plain), (shares.weighted, weighted))
        )
        if scale.level is Level.NOMINAL:
            plain |= _nominal(pairs, scale.names)
    return RaterResult(plain, weighted, *confusion)


def _of_level(pairs: TruthPairs, scale: Scale) -> tuple[Named, Named]:
    """The figures of ordered values, each pair counting one, and each its weight."""
    if scale.level is Level.NOMINAL:
        return {}, {}
    plain, weighted = (
        levels.figures(scale, pairs.truth, pairs.said, pairs.items, weights)
        for weights in (None, pairs.weights)
    )
    return plain, weighted


def scotts(figures: Named) -> Named:
    """Figures of pairs that count in both directions: their κ is Scott's π (1955)."""
    return {
        name: replace(one, method=one.method.replace("Cohen's κ", "Scott's π"))
        for name, one in figures.items()
    }


def _nominal(pairs: TruthPairs, values: Sequence[str]) -> Named:
    kappa = cohen_kappa(pairs.truth, pairs.said, categories=values, clusters=pairs.items)
    ac1 = ac1_of_pairs(pairs.truth, pairs.said, values, pairs.items)
    return {"kappa": kappa, "ac1": ac1}


def gap(one: TruthPairs, other: TruthPairs, positive: str, scale: Scale) -> JudgeDifference:
    """One judge less another; both must be held against the same true values of the same units."""
    right = [
        (a == true, b == true)
        for true, a, b in zip(one.truth, one.said, other.said, strict=True)
        if None not in (true, a, b)
    ]
    only_right = sum(a and not b for a, b in right), sum(b and not a for a, b in right)
    units = sum(a is not None and b is not None for a, b in zip(one.said, other.said, strict=True))
    plain, weighted = _gaps(one, other, scale)
    if positive:
        cells, heavy = (
            comparison(one.truth, one.said, other.said, positive, weights, one.items).difference
            for weights in (None, one.weights)
        )
        return JudgeDifference(plain | _by_name(cells), weighted | _by_name(heavy), only_right, units)
    if "accuracy" in of_level(scale):
        true = [True] * len(one.truth)
        shares = [
            comparison(true, _same(one), _same(other), True, weights, one.items).difference.accuracy
            for weights in (None, one.weights)
        ]
        plain, weighted = {"accuracy": shares[0]} | plain, {"accuracy": shares[1]} | weighted
    if scale.level is Level.NOMINAL:
        kappa = kappa_difference(one.truth, one.said, other.said, clusters=one.items)
        plain = {**plain, "kappa": kappa}
    return JudgeDifference(plain, weighted, only_right, units)


def _gaps(one: TruthPairs, other: TruthPairs, scale: Scale) -> tuple[Named, Named]:
    """The differences of ordered values' figures, each unit counting one, and each its weight."""

    def gap_of(measure: Measure, weights: Floats | None) -> Estimate:
        return difference(one.truth, one.said, other.said, measure, scale.names, weights, one.items)

    told_of = {name: each for name, each in levels.measures(scale).items() if name not in ONE_SIDED}
    plain = {name: gap_of(measure, None) for name, measure in told_of.items()}
    return plain, {name: gap_of(measure, one.weights) for name, measure in told_of.items() if measure.weighed}


def beside(
    one: TruthPairs, other: TruthPairs, name: str, positive: str, scale: Scale, margin: float = 0.0
) -> GroupDifference:
    """A figure of a judge with people, by weight, of people with one another, and the one less the other."""
    groups = [
        comparing.RatedPairs(pairs.truth, pairs.said, pairs.items, pairs.weights) for pairs in (one, other)
    ]
    of_level = levels.measures(scale).get(name, name)
    return comparing.beside(groups[0], groups[1], of_level, scale.names, positive or None, margin)


def _same(pairs: TruthPairs) -> list[bool | None]:
    return [
        None if said is None else said == true for true, said in zip(pairs.truth, pairs.said, strict=True)
    ]


def _share(accuracy: Estimate) -> Estimate:
    """The share without the note on one class: the classes here are “same” and “not the same”."""
    notes = [note for note in accuracy.note.split("; ") if note and note != ONE_CATEGORY]
    return replace(accuracy, note="; ".join(notes))


def _by_name(found: RatingFigures) -> Named:
    there = {field.name for field in fields(RatingFigures)}
    return {name: getattr(found, name) for name in TITLES if name in there}


ONE_CLASS, NO_INTERVAL = "one class only", "no interval"


def told(estimate: Estimate, unit: str = "") -> SheetCell:
    """A figure with its interval; where there is none, or none of any width, a word says so and the tip says why."""
    cell = figure(estimate, unit)
    if estimate.value is None:
        return cell
    why = remark(estimate)
    if not why:
        return cell
    state = "flat" if why != NO_INTERVAL else cell.state
    parts = number(estimate.value, unit), why, gaps(estimate)
    return replace(cell, words="  ".join(filter(None, parts)), state=state)


def unknown(difference: Estimate) -> str:
    """Why nothing follows from a difference: it has no interval, or one that is rough or has no width; else empty."""
    if difference.value is None or difference.low is None or difference.high is None:
        return of_items(difference.note) or "there is no interval"
    rough = ROUGH in difference.note or without_width(difference)
    return of_items(difference.note) or NO_SPREAD if rough else ""


def remark(estimate: Estimate) -> str:
    """Why a value tells less than it seems to, in a word or two; empty where it has an interval of some width."""
    if estimate.value is None:
        return ""
    if ONE_CATEGORY in estimate.note:
        return ONE_CLASS
    if estimate.low is None or estimate.high is None:
        return NO_INTERVAL
    return NO_SPREAD if without_width(estimate) else ""
