"""Units on which people and judges are compared, and the figures from comparing one rater with others."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, groupby, product
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, FromClause, and_, func, select

from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.labelling import label_rows
from annotator.actions.project.file import Project, cached
from annotator.actions.results import result_raters, results, scoring
from annotator.actions.results.result_sheets import SheetCell, figure, gaps, number
from annotator.domain.common import Refusal, counted, grouped
from annotator.domain.judges.contest import preferred
from annotator.domain.judges.judge import Judge, RaterKind, Status
from annotator.domain.judges.protocol import FIGURES, WORDS, Level, Protocol, Scale
from annotator.domain.texts.estimate import NO_SPREAD, ROUGH, Estimate, of_items, without_width
from annotator.stats.agreement import levels
from annotator.stats.agreement.agreement import ac1_of_pairs, cohen_kappa
from annotator.stats.intervals.coding import ONE_CATEGORY, Chosen, Codes, Floats
from annotator.stats.validation import comparison
from annotator.stats.validation.comparison import (
    CELL_FIGURES,
    GroupDifference,
    Named,
    RatedPairs,
    Scoring,
    both_ways,
    cell_differences,
    difference,
    kappa_difference,
)
from annotator.storage.tables import INFORMED, JUDGEMENT, RESPONSE, RUN

# Response, unit.
Key = tuple[str, str]


class UnitPlace(NamedTuple):
    """A unit of a response; `quartile` is that of the response's length, from 1 for the shortest.

    For a pair, `unit_id` is the response shown second.
    """

    item_id: str
    item_key: str
    question_type: str
    system_id: str
    system: str
    response_id: str
    quartile: int
    unit_id: str
    words: str
    weight: float

    @property
    def key(self) -> Key:
        return self.response_id, self.unit_id


ALL = "all"
# Sort key and title.
Group = tuple[object, str]
BY: dict[str, Callable[[UnitPlace], Group]] = {
    ALL: lambda _: (0, ALL),
    "type": lambda place: (place.question_type, place.question_type or "no type"),
    "weight": lambda place: (-place.weight, f"weight {place.weight:g}"),
    "system": lambda place: (place.system, place.system),
    "length": lambda place: (place.quartile, f"length quartile {place.quartile}"),
    "criterion": lambda place: ((place.item_key, place.unit_id), f"item {place.item_key}: {place.words}"),
}


def named(groups: Iterable[Group]) -> dict[Group, str]:
    """The groups in the order in which they are shown, each with a unique name.

    Two criteria of an item may have the same words: the second of the same name becomes “… (2)”.
    """
    result: dict[str, Group] = {}
    for group in sorted(groups, key=lambda group: (str(type(group[0])), group)):
        alike = (group[1] if number == 1 else f"{group[1]} ({number})" for number in count(1))
        result[next(name for name in alike if name not in result)] = group
    return {group: name for name, group in result.items()}


class UnitPlaces(Mapping[Key, UnitPlace]):
    """Units by key. There may be very many, so a place is built when accessed: the garbage collector skips plain
    tuples. `faults` says, by item key, why its gold makes no score.
    """

    def __init__(self, rows: dict[Key, tuple[Any, ...]], faults: Mapping[str, str]) -> None:
        self._rows, self.faults = rows, faults

    def __getitem__(self, key: Key) -> UnitPlace:
        return tuple.__new__(UnitPlace, self._rows[key])

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __iter__(self) -> Iterator[Key]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def keys(self) -> KeysView[Key]:
        return self._rows.keys()


@cached
def places(project: Project, protocol: Protocol, item_ids: Iterable[str] = ()) -> UnitPlaces:
    """Every unit that can be judged now, in the project's order: of responses that count in the results, or of the
    protocol's own mode.

    For a pair one order only, the same for all raters.
    """
    systems, quartiles = results.systems_named(project), _quartile_of(project)
    modes = (protocol.mode,) if protocol.mode else scoring.counted_modes(project)
    result, faults = dict[Key, tuple[Any, ...]](), dict[str, str]()
    chosen = list(item_ids) or materials.item_ids(project)
    for at_hand in materials.each(project, materials.for_asking(protocol), chosen):
        gold = at_hand.own.documents.get(protocol.unit_kind) if protocol.unit_kind else None
        if gold is not None and (fault := gold.fault()):
            faults[at_hand.item.key] = fault
        about = dict[str, tuple[Any, ...]]()
        for material in at_hand.responses:
            for case in protocol.cases(material) if material.response.mode in modes else ():
                item, response = case.item, case.response
                if case.other is not None and not in_order(response.id, case.other.id):
                    continue
                if response.id not in about:
                    about[response.id] = (
                        item.id, item.key, item.question_type, response.system_id, systems[response.system_id],
                        response.id, quartiles[response.id],
                    )  # fmt: skip
                for unit in case.units:
                    result[response.id, unit.id] = (
                        *about[response.id], unit.id, unit.text, protocol.weight(unit),
                    )  # fmt: skip
    return UnitPlaces(result, faults)


def in_order(first: str, second: str) -> bool:
    """Whether a pair is in the order in which it is compared."""
    return first < second


def _quartile_of(project: Project) -> dict[str, int]:
    """Response → the quartile of its length in characters: 1 the shortest, 4 the longest."""
    lengths = dict(project.query(select(RESPONSE.c.id, func.length(RESPONSE.c.text))).all())
    if not lengths:
        return {}
    edges = np.quantile(list(lengths.values()), [0.25, 0.5, 0.75])
    quartiles = 1 + np.searchsorted(edges, list(lengths.values()))
    return dict(zip(lengths, quartiles.tolist(), strict=True))


# Name → title and definition, in the order in which they are shown.
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
# The name here of a measure of all values, if none is positive.
CALLED = {"agreement": "accuracy"}
# Limits of agreement describe the spread of one judge; there is no difference of them between two judges.
ONE_SIDED = ("lower_limit", "upper_limit")
# The conclusion from a positive and a negative difference of two judges, for figures of which more is not better.
VERDICTS = {
    "absolute_difference": ("the second is better", "the first is better"),
    "mean_difference": ("the first gives higher values", "the second gives higher values"),
}


@dataclass(frozen=True, slots=True)
class TruthPairs(RatedPairs):
    """A rater's values beside the true ones, unit by unit; None for missing values.

    A unit with several people's true values has a row for each: `units` are the numbers of the units in question,
    `items` those of their items, which are the clusters.
    """

    units: Codes

    def among(self, chosen: Chosen) -> "TruthPairs":
        return self._where(chosen[self.units])

    def there(self) -> "TruthPairs":
        return self._where(there(self.verdicts))

    def _where(self, at: Chosen) -> "TruthPairs":
        return TruthPairs(self.truth[at], self.verdicts[at], self.items[at], self.weights[at], self.units[at])

    def confusion(self) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
        """(True value, given value) → the number of units, and their weight."""
        plain, weighted = dict[tuple[str, str], float](), dict[tuple[str, str], float]()
        trues, saids = (
            {value: values == value for value in sorted(set(values.tolist()) - {None})}
            for values in (self.truth, self.verdicts)
        )
        for (true, is_true), (predicted, is_said) in product(trues.items(), saids.items()):
            weights = self.weights[is_true & is_said].tolist()
            if weights:
                plain[true, predicted], weighted[true, predicted] = len(weights), fsum(weights)
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
        """The same with the number of units as n, and the number of pairs of values in the remark."""
        pairs = int(sum(self.confusion.values()))
        if pairs == units:
            return self
        remark = f"{counted(pairs, 'pair')} of values on {counted(units, 'unit')}"
        plain, weighted = (
            {
                name: replace(estimate, n=units).remarked(remark) if estimate.n == pairs else estimate
                for name, estimate in of.items()
            }
            for of in (self.plain, self.weighted)
        )
        return replace(self, plain=plain, weighted=weighted)


@dataclass(frozen=True, slots=True)
class JudgeDifference:
    """The difference of two judges' figures on the same units, and a conclusion.

    `only_right` counts the units on which only the first is right, and only the second.
    """

    plain: Named
    weighted: Named
    only_right: tuple[int, int]

    def verdict(self, name: str) -> str:
        """The conclusion for a figure; for most figures, more is better."""
        estimate = self.plain[name]
        if (estimate.low or 0.0) <= 0 <= (estimate.high or 0.0):
            if unknown(estimate):
                return f"nothing can be said: {unknown(estimate)}"
            return "indistinguishable: the interval of the difference spans 0"
        return VERDICTS.get(name, ("the first is better", "the second is better"))[
            (estimate.value or 0.0) < 0
        ]


def published(protocol: Protocol) -> str:
    if not protocol.aims:
        return f"No published aim: no agreement with people is printed for “{protocol.title}” ({protocol.citation})."
    each = (
        f"{', '.join(f'{TITLES[one.figure][0]} {one.value:.2f}' for one in those)} of {whose} ({place})"
        for (whose, place), those in groupby(protocol.aims, lambda aim: (aim.whose, aim.place))
    )
    return f"Published aim: {'; '.join(each)}."


def positive_of(protocol: Protocol, requested: str = "") -> str:
    """The value that counts as positive: the requested one, or its scale's; raises Refusal for an unknown one."""
    if requested and requested not in protocol.values:
        raise Refusal(
            f"“{requested}” is not a value of {protocol.title}.", f"Use one of {', '.join(protocol.values)}."
        )
    return requested or protocol.scale.positive


def of_level(scale: Scale) -> tuple[str, ...]:
    return tuple(CALLED.get(name, name) for name in FIGURES[scale.level])


def main_of(scale: Scale) -> str:
    """The figure shown if there is room for only one."""
    return of_level(scale)[0]


def brief_of(scale: Scale) -> tuple[str, ...]:
    """The figures that fit a terminal; for numbers, more than the main one is needed."""
    return ("accuracy", "f1", main_of(scale), "absolute_difference", "mean_difference")


def scoring_of(scale: Scale) -> Scoring:
    """The scoring in the alternative annotator test: by how many others say the same, or by the distance."""
    return "accuracy" if scale.level is Level.NOMINAL else "neg_rmse"


def choosable(scale: Scale, positive: str = "", *, weighted: bool = False) -> tuple[str, ...]:
    """The figures by which judges can be compared with people: more is better, and there is a difference of two."""
    own = levels.measures(scale)
    fitting = {
        name for name, measure in own.items() if measure.better > 0 and (measure.weighed or not weighted)
    }
    result = tuple(name for name in of_level(scale) if name in fitting or name not in (*own, "spearman"))
    return (*result, *(name for name in CELL_FIGURES if name not in result)) if positive else result


def chosen_figure(protocol: Protocol, requested: str, positive: str = "", *, weighted: bool = False) -> str:
    """The figure by which judges are chosen: the requested or the main one; raises Refusal if it does not fit."""
    offered = choosable(protocol.scale, positive, weighted=weighted)
    if (requested or main_of(protocol.scale)) in offered:
        return requested or main_of(protocol.scale)
    if requested in CELL_FIGURES and requested not in of_level(protocol.scale) and not positive:
        raise Refusal(
            f"“{requested}” refers to one value, and {protocol.title} has more than two.",
            f"Name the positive one, or use one of {', '.join(offered)}.",
        )
    if not offered:
        raise Refusal(
            f"No figure of {protocol.title} by which judges are chosen counts units by weight.",
            "Count each unit as one.",
        )
    what = " by weight" if weighted else ""
    raise Refusal(
        f"“{requested or main_of(protocol.scale)}” is no figure{what} by which judges are chosen under "
        f"{protocol.title}.",
        f"Use one of {', '.join(offered)}.",
    )


def figures(pairs: TruthPairs, positive: str, scale: Scale) -> RaterResult:
    """All figures with intervals over items: those of the scale's level, and of a positive value's cells, if any."""
    confusion = pairs.confusion()
    plain, weighted = _of_level(pairs, scale)
    if positive:
        of_cells = both_ways(pairs.truth, pairs.verdicts, positive, pairs.weights, pairs.items)
        plain, weighted = plain | _by_name(of_cells[0]), weighted | _by_name(of_cells[1])
    elif "accuracy" in of_level(scale):
        shares = both_ways([True] * len(pairs.truth), _same(pairs), True, pairs.weights, pairs.items)
        plain, weighted = (
            {"accuracy": _share(share["accuracy"])} | of
            for share, of in zip(shares, (plain, weighted), strict=True)
        )
        if scale.level is Level.NOMINAL:
            plain |= _nominal(pairs, scale.names)
    return RaterResult(plain, weighted, *confusion)


def _of_level(pairs: TruthPairs, scale: Scale) -> tuple[Named, Named]:
    if scale.level is Level.NOMINAL:
        return {}, {}
    plain, weighted = (
        levels.figures(scale, pairs.truth, pairs.verdicts, pairs.items, weights)
        for weights in (None, pairs.weights)
    )
    return plain, weighted


def scotts(figures: Named) -> Named:
    """Figures of pairs that count in both directions: their κ is Scott's π (1955)."""
    return {
        name: replace(estimate, method=estimate.method.replace("Cohen's κ", "Scott's π"))
        for name, estimate in figures.items()
    }


def _nominal(pairs: TruthPairs, values: Sequence[str]) -> Named:
    kappa = cohen_kappa(pairs.truth, pairs.verdicts, categories=values, clusters=pairs.items)
    return {"kappa": kappa, "ac1": ac1_of_pairs(pairs.truth, pairs.verdicts, values, pairs.items)}


def gap(pairs: TruthPairs, other: TruthPairs, positive: str, scale: Scale) -> JudgeDifference:
    """One judge's figures minus another's; both must be compared with the same true values of the same units."""
    right = [
        (a == true, b == true)
        for true, a, b in zip(pairs.truth, pairs.verdicts, other.verdicts, strict=True)
        if None not in (true, a, b)
    ]
    only_right = sum(a and not b for a, b in right), sum(b and not a for a, b in right)
    plain, weighted = _gaps(pairs, other, scale)
    if positive:
        cells, heavy = (
            cell_differences(pairs.truth, pairs.verdicts, other.verdicts, positive, weights, pairs.items)
            for weights in (None, pairs.weights)
        )
        return JudgeDifference(plain | _by_name(cells), weighted | _by_name(heavy), only_right)
    if "accuracy" in of_level(scale):
        true = [True] * len(pairs.truth)
        shares = [
            cell_differences(true, _same(pairs), _same(other), True, weights, pairs.items)["accuracy"]
            for weights in (None, pairs.weights)
        ]
        plain, weighted = {"accuracy": shares[0]} | plain, {"accuracy": shares[1]} | weighted
    if scale.level is Level.NOMINAL:
        plain = {
            **plain,
            "kappa": kappa_difference(pairs.truth, pairs.verdicts, other.verdicts, clusters=pairs.items),
        }
    return JudgeDifference(plain, weighted, only_right)


def _gaps(pairs: TruthPairs, other: TruthPairs, scale: Scale) -> tuple[Named, Named]:
    """The differences of ordered values' figures, unweighted and weighted."""

    def gap_of(measure: levels.Measure, weights: Floats | None) -> Estimate:
        return difference(
            pairs.truth, pairs.verdicts, other.verdicts, measure, scale.names, weights, pairs.items
        )

    measures = {name: each for name, each in levels.measures(scale).items() if name not in ONE_SIDED}
    plain = {name: gap_of(measure, None) for name, measure in measures.items()}
    return plain, {
        name: gap_of(measure, pairs.weights) for name, measure in measures.items() if measure.weighed
    }


def beside(
    one: TruthPairs, other: TruthPairs, name: str, positive: str, scale: Scale, margin: float = 0.0
) -> GroupDifference:
    """A figure of a judge with people, by weight, that of people with one another, and the difference."""
    of_level = levels.measures(scale).get(name, name)
    return comparison.beside(one, other, of_level, scale.names, positive or None, margin)


def _same(pairs: TruthPairs) -> list[bool | None]:
    return [
        None if predicted is None else predicted == true
        for true, predicted in zip(pairs.truth, pairs.verdicts, strict=True)
    ]


def _share(accuracy: Estimate) -> Estimate:
    """The share without the note on one class: the classes here are “same” and “not the same”."""
    notes = [note for note in accuracy.note.split("; ") if note and note != ONE_CATEGORY]
    return replace(accuracy, note="; ".join(notes))


def _by_name(figures: Named) -> Named:
    return {name: figures[name] for name in TITLES if name in figures}


ONE_CLASS, NO_INTERVAL = "one class only", "no interval"


def figure_cell(estimate: Estimate) -> SheetCell:
    """A figure with its interval; if it has none, or one without width, a word says so and the tip says why."""
    cell, why = figure(estimate), remark(estimate)
    if estimate.value is None or not why:
        return cell
    state = "flat" if why != NO_INTERVAL else cell.state
    parts = number(estimate.value), why, gaps(estimate)
    return replace(cell, words="  ".join(filter(None, parts)), state=state)


def unknown(difference: Estimate) -> str:
    """Why nothing follows from a difference: no interval, or one that is rough or has no width; otherwise empty."""
    if difference.value is None or difference.low is None or difference.high is None:
        return of_items(difference.note) or "there is no interval"
    rough = ROUGH in difference.note or without_width(difference)
    return of_items(difference.note) or NO_SPREAD if rough else ""


def remark(estimate: Estimate) -> str:
    """Why a value says less than it seems to, in a word or two; empty if it has an interval of some width."""
    if estimate.value is None:
        return ""
    if ONE_CATEGORY in estimate.note:
        return ONE_CLASS
    if estimate.low is None or estimate.high is None:
        return NO_INTERVAL
    return NO_SPREAD if without_width(estimate) else ""


COUNTED = label_rows.counted_rows()
# Why a pair has no value if both orders count, and a unit if its trials tie.
ONE_ORDER, TIED = "one order", "trials tie"
# The number of items in one query; any database accepts as many.
AT_ONCE = 500
# Unit → value, None if the rater is unsure.
Own = dict[Key, str | None]


@dataclass(frozen=True, slots=True)
class JudgeVersion:
    """A judge under one prompt: its values, and the status of each missing judgement.

    For several trials, the values are their aggregates; `trials` has those of each unit.
    """

    judge: Judge
    prompt_sha256: str
    verdicts: dict[Key, str] = field(default_factory=dict)
    missing: dict[Key, str] = field(default_factory=dict)
    trials: dict[Key, list[str]] = field(default_factory=dict)


def of_people(
    db: Connection, protocol: Protocol, items: Sequence[str] | None = None, *, submitted: bool = False
) -> dict[str, Own]:
    """Person → their blind labels; with `submitted` only finished ones, if labels are submitted.

    Labels given after the person saw a judge's verdict on the same unit are not blind and are left out, as are labels
    of another wording.
    """
    every = JUDGEMENT.c
    by_people = (
        every.protocol == protocol.name,
        every.rater_kind == RaterKind.PERSON.value,
        every.trial == 1,
    )
    left_out = {*label_rows.outdated(db, *by_people), *_informed(db, *by_people)}
    chosen: FromClause = COUNTED if submitted else JUDGEMENT
    j = chosen.c
    question = select(j.id, j.response_id, j.unit_id, j.rater_id, j.value).where(
        j.protocol == protocol.name,
        j.rater_kind == RaterKind.PERSON.value,
        j.trial == 1,
        j.status.in_(label_rows.ANSWERED),
    )
    result: dict[str, Own] = defaultdict(dict)
    for rows in _batches(db, question, j.item_id, items):
        if protocol.paired:
            # If someone was asked in both orders, the label in the order that is compared counts.
            rows.sort(key=lambda row: in_order(row.response_id, row.unit_id))
        for label_id, response_id, unit_id, person_id, value in rows:
            if label_id not in left_out:
                key, label = _folded(protocol, (response_id, unit_id), value)
                result[person_id][key] = label
    return dict(result)


def _informed(db: Connection, *by_people: ColumnElement[bool]) -> Iterable[str]:
    """The labels given after the person was shown a judge's verdict on the unit."""
    j, i = JUDGEMENT.c, INFORMED.c
    same = (getattr(j, name) == getattr(i, name) for name in ("protocol", "response_id", "unit_id"))
    shown = select(j.id).join(INFORMED, and_(*same, i.by == j.rater_id, i.at < j.at))
    return db.execute(shown.where(*by_people)).scalars()


def _batches(
    db: Connection, question: Any, item_id: ColumnElement[str], items: Sequence[str] | None
) -> Iterable[list[Any]]:
    if items is None:
        yield list(db.execute(question).all())
        return
    for start in range(0, len(items), AT_ONCE):
        yield list(db.execute(question.where(item_id.in_(items[start : start + AT_ONCE]))).all())


def _folded(protocol: Protocol, key: Key, value: str | None) -> tuple[Key, str | None]:
    """A verdict on a pair in the order that is compared: the same report is better, whichever comes first."""
    if not protocol.paired or in_order(*key):
        return key, value
    return (key[1], key[0]), protocol.scale.mirrored.get(value or "", value)


def of_consensus(project: Project, protocol: Protocol) -> Own:
    spoken = result_raters.spoken(project, protocol, result_raters.CONSENSUS)
    return {(response_id, unit_id): value for response_id, _, unit_id, value in spoken}


def trials(project: Project, protocol: Protocol) -> list[int]:
    """The trials at which judges judged; only the first one if none did."""
    j = JUDGEMENT.c
    question = select(j.trial).where(j.protocol == protocol.name, j.rater_kind == RaterKind.JUDGE.value)
    return sorted(set(project.query(question.distinct()).scalars()) | {1})


@cached
def of_judges(
    project: Project, protocol: Protocol, judge: str = "", trial: int = 0, *, together: bool = False
) -> list[JudgeVersion]:
    """Every judge, or the one of that name, under each prompt: the aggregate of its trials, or one trial.

    For pairs, the order that is compared; the other order is requested for bias, not for agreement. With `together`,
    the aggregate of both orders: a tie if they differ, and missing if one is. Verdicts on another wording of a unit are
    missing.
    """
    j = JUDGEMENT.c
    conditions = [j.protocol == protocol.name, label_rows.BY_JUDGES, *([j.trial == trial] if trial else [])]
    conditions += [j.rater_id == judges.named(project, judge).id] if judge else []
    columns = j.id, j.response_id, j.unit_id, j.rater_id, j.trial, j.value, j.status, j.run_id
    known = {one.id: one for one in judges.all_of(project)}
    with project.store.read() as db:
        rows = db.execute(select(*columns).where(*conditions).order_by(j.trial)).all()
        gone = label_rows.outdated(db, *conditions)
        prompts = dict(db.execute(select(RUN.c.id, RUN.c.prompt_sha256)).all())
    result: dict[tuple[str, str, int], JudgeVersion] = {}
    turned: dict[tuple[str, str, int], dict[Key, str]] = defaultdict(dict)
    for verdict_id, response_id, unit_id, judge_id, at, value, status, run_id in rows:
        key, whose = (response_id, unit_id), (judge_id, prompts.get(run_id) or "", at)
        if judge_id not in known:
            continue
        if protocol.paired and not in_order(*key):
            if status == Status.OK.value and verdict_id not in gone:
                turned[whose][key[::-1]] = value
            continue
        if whose not in result:
            result[whose] = JudgeVersion(known[judge_id], whose[1])
        version = result[whose]
        if status == Status.OK.value and verdict_id not in gone:
            version.verdicts[key] = value
        else:
            version.missing[key] = label_rows.REWORDED if verdict_id in gone else status
    if judge and not result:
        raise Refusal(f"“{judge}” has no judgements of this kind.", "Run it first.")
    for whose, version in result.items() if together and protocol.paired else ():
        _put_together(version, turned[whose])
    of_trials = grouped(((judge_id, prompt), version) for (judge_id, prompt, _), version in result.items())
    made = [
        versions[0] if len(versions) == 1 else _come_to(protocol, versions) for versions in of_trials.values()
    ]
    return sorted(made, key=lambda one: (one.judge.name, one.prompt_sha256))


def _come_to(protocol: Protocol, versions: Sequence[JudgeVersion]) -> JudgeVersion:
    """A judge whose values are the aggregates of its trials."""
    whole = JudgeVersion(versions[0].judge, versions[0].prompt_sha256)
    for version in versions:
        whole.missing.update(version.missing)
        for key, value in version.verdicts.items():
            whole.trials.setdefault(key, []).append(value)
    for key, values in whole.trials.items():
        most = protocol.scale.agreed(values)
        if most is None:
            whole.missing[key] = TIED
        else:
            whole.verdicts[key] = most
            whole.missing.pop(key, None)
    return whole


def _put_together(version: JudgeVersion, turned: Mapping[Key, str]) -> None:
    """Replace each verdict with the aggregate of both orders."""
    for key, value in list(version.verdicts.items()):
        if key in turned:
            version.verdicts[key] = str(preferred(value, turned[key]))
        else:
            version.missing[key] = ONE_ORDER
            del version.verdicts[key]
