"""Quality of a rubric: do its criteria separate systems, do two people read them alike, how is it weighted?

ResearcherBench: pilot testing on sample responses, §4.1.1, stage 3; ceilings and gaps of two rubric sets, appendix
G.2, Table 8; weights, appendix G.4, Table 10. A judge's agreement with people under each set (G.3, Table 9) is
computed by `stats.validation.comparison`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import pstdev

from annotator.domain.judges.judge import NO, YES
from annotator.domain.kinds.rubric import Rubric, counted_weights
from annotator.domain.texts.estimate import SHARE, Estimate
from annotator.stats.agreement.agreement import cohen_kappa, percent_agreement
from annotator.stats.intervals.coding import left_out
from annotator.stats.intervals.student import mean_of_scores
from annotator.stats.matching.matching import Alignment, align

DEPARTURES = (
    "The paper names discriminative power among what experts review and gives no figure for it: here it is the "
    "standard deviation of a criterion's pass rate over systems, 0 at the ceiling and at the floor, 1/2 at most.",
    "κ is given for each criterion without an interval: a pilot has some 20 responses.",
)
# Notes on rubric sets side by side.
OF_SETS = (
    "Under each set only the reports are scored that are judged completely under all of them, so that gaps are of the "
    "same reports; the paper scores all reports under each.",
    "Agreement with people is over the verdicts that came, and its figures are given by weight too.",
)


@dataclass(frozen=True, slots=True)
class CriterionVote:
    """One rater's value of one criterion on one response of a system; None is missing."""

    criterion_id: str
    system: str
    response_id: str
    value: str | None


class CriterionReach(StrEnum):
    """Whether a criterion separates systems."""

    CEILING = "ceiling"
    FLOOR = "floor"
    APART = "apart"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Discrimination:
    """A criterion over systems: the pass rate of each, None without votes, and their spread.

    `reach` is a ceiling if all systems always pass, a floor if none ever does, and open while missing votes could
    make the difference.
    """

    criterion_id: str
    rates: Mapping[str, float | None]
    spread: Estimate
    reach: CriterionReach


def discrimination(votes: Iterable[CriterionVote]) -> list[Discrimination]:
    """Each criterion's discrimination, in order of first appearance; ValueError on a vote that is not yes or no."""
    by_criterion: dict[str, dict[str, list[str | None]]] = {}
    for vote in votes:
        if vote.value not in (YES, NO, None):
            raise ValueError(f"a vote is yes or no, not {vote.value!r}")
        by_criterion.setdefault(vote.criterion_id, {}).setdefault(vote.system, []).append(vote.value)
    return [_discrimination(criterion_id, systems) for criterion_id, systems in by_criterion.items()]


def _discrimination(criterion_id: str, systems: Mapping[str, Sequence[str | None]]) -> Discrimination:
    rates = {system: _pass_rate(values) for system, values in systems.items()}
    given = [value for values in systems.values() for value in values]
    missing = given.count(None)
    known = [rate for rate in rates.values() if rate is not None]
    few = [] if known[1:] else [f"{len(known):,} systems are too few to tell apart"]
    spread = Estimate(
        None if few else pstdev(known), n=len(known), missing=missing,
        method="standard deviation of the pass rate over systems",
        note="; ".join([*few, *left_out(missing, len(given), "a vote is missing")]),
    )  # fmt: skip
    return Discrimination(criterion_id, rates, spread, _reach(given))


def _pass_rate(values: Sequence[str | None]) -> float | None:
    known = [value for value in values if value is not None]
    return known.count(YES) / len(known) if known else None


def _reach(given: Sequence[str | None]) -> CriterionReach:
    if YES in given and NO in given:
        return CriterionReach.APART
    if None in given:
        return CriterionReach.OPEN
    return CriterionReach.CEILING if YES in given else CriterionReach.FLOOR


@dataclass(frozen=True, slots=True)
class CriterionAgreement:
    """Agreement of two people on one criterion over the pilot's responses."""

    percent: Estimate
    kappa: Estimate


def criterion_agreement(
    a: Iterable[CriterionVote], b: Iterable[CriterionVote]
) -> dict[str, CriterionAgreement]:
    """Cohen's κ and percent agreement of two raters for each criterion, over responses, in the order of `a`.

    A response that one of them did not judge is missing. ValueError if a rater votes twice on the same.
    """
    first, second = _by_criterion(a), _by_criterion(b)
    result: dict[str, CriterionAgreement] = {}
    for criterion_id in dict.fromkeys([*first, *second]):
        one, two = first.get(criterion_id, {}), second.get(criterion_id, {})
        responses = list(dict.fromkeys([*one, *two]))
        x, y = [one.get(r) for r in responses], [two.get(r) for r in responses]
        result[criterion_id] = CriterionAgreement(
            percent_agreement(zip(x, y, strict=True)), cohen_kappa(x, y)
        )
    return result


def _by_criterion(votes: Iterable[CriterionVote]) -> dict[str, dict[str, str | None]]:
    table: dict[str, dict[str, str | None]] = {}
    for vote in votes:
        row = table.setdefault(vote.criterion_id, {})
        if vote.response_id in row:
            raise ValueError(f"two votes of one rater on {vote.criterion_id} in {vote.response_id}")
        row[vote.response_id] = vote.value
    return table


def gap(scores: Mapping[str, float | None]) -> Estimate:
    """The best system's score less the worst one's under a rubric set (appendix G.2); the note names both."""
    known = {system: score for system, score in scores.items() if score is not None}
    method = "best system − worst system"
    notes = left_out(len(scores) - len(known), len(scores), "a system has no score")
    if len(known) < 2:
        reason = f"{len(known):,} systems are too few for a gap"
        return Estimate(None, n=len(known), method=method, note="; ".join([reason, *notes]))
    best = min(known, key=lambda system: (-known[system], system))
    worst = min(known, key=lambda system: (known[system], system))
    note = "; ".join([f"best {best}, worst {worst}", *notes])
    return Estimate(known[best] - known[worst], n=len(known), method=method, note=note)


def weight_shares(rubrics: Iterable[Rubric]) -> dict[int | float, Estimate]:
    """The share of each weight among all criteria of the rubrics (Table 10); undefined if there are none.

    The weights are 1, 2 and 3, or those in use if there are others.
    """
    counted, method = counted_weights(rubrics), "criteria of this weight / all criteria"
    n = sum(counted.values())
    if not n:
        return {w: Estimate(None, method=method, note="there are no criteria") for w in counted}
    return {w: Estimate(many / n, n=n, method=method) for w, many in counted.items()}


# An item and a system.
Place = tuple[str, str]
# The score of a response by a rubric and the values of its criteria; None while a judgement is missing.
Score = Callable[[Rubric, Mapping[str, str]], float | None]


@dataclass(frozen=True, slots=True)
class RubricSet:
    """Rubrics of one origin by item, and one rater's values for each response.

    `verdicts` holds, by item and system, the value of each criterion; an absent one is missing.
    """

    name: str
    rubrics: Mapping[str, Rubric]
    verdicts: Mapping[Place, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Beside:
    """Sets side by side in their order; `alignments` are of the first two, `matched` the F1 of their matching
    criteria.
    """

    items: tuple[str, ...]
    scores: Mapping[str, tuple[Estimate, ...]]
    gaps: tuple[Estimate, ...]
    weights: tuple[Mapping[int | float, Estimate], ...]
    alignments: Mapping[str, Alignment]
    matched: Estimate


def side_by_side(sets: Sequence[RubricSet], score: Score) -> Beside:
    """The score of each system under two or more sets, their gaps and weights, and the criteria of two aligned.

    Only items of all sets and responses judged under all count, so that the same reports are scored. An item on which
    a system has missing judgements under any set is left out of all that system's scores.
    """
    a, b = sets[:2]
    items = tuple(item for item in a.rubrics if all(item in own.rubrics for own in sets))
    places = [
        place for place in a.verdicts if place[0] in items and all(place in own.verdicts for own in sets)
    ]
    systems = sorted({system for _, system in places})
    scored = [{place: score(own.rubrics[place[0]], own.verdicts[place]) for place in places} for own in sets]
    whole = {place for place in places if all(of_one[place] is not None for of_one in scored)}
    means = [
        [
            mean_of_scores([Estimate(own[item, s] if (item, s) in whole else None) for item in items], SHARE)
            for s in systems
        ]
        for own in scored
    ]
    alignments = {item: align(_texts(a, item), _texts(b, item)) for item in items}
    return Beside(
        items,
        {system: tuple(of_set[i] for of_set in means) for i, system in enumerate(systems)},
        tuple(
            gap({system: mean.value for system, mean in zip(systems, of_set, strict=True)})
            for of_set in means
        ),
        tuple(weight_shares(own.rubrics[item] for item in items) for own in sets),
        alignments,
        _matched(a, b, alignments),
    )


def _texts(own: RubricSet, item: str) -> list[str]:
    return [criterion.text for criterion in own.rubrics[item].units]


def _matched(a: RubricSet, b: RubricSet, alignments: Mapping[str, Alignment]) -> Estimate:
    """2 · matched / (criteria of a + criteria of b) over all items."""
    whole = sum(len(own.rubrics[item].units) for own in (a, b) for item in alignments)
    pairs = sum(len(alignment.pairs) for alignment in alignments.values())
    method = "F1 of matched criteria over all items"
    if not whole:
        return Estimate(None, method=method, note="neither set has criteria for the same item")
    return Estimate(2 * pairs / whole, n=whole, method=method, note=f"{pairs} matched")
