"""How good a rubric is: whether its criteria tell systems apart, whether two people read them alike, how it weighs.

ResearcherBench: pilot testing on sample responses, §4.1.1, stage 3; ceilings and gaps, appendix G.2; weights,
appendix G.4, Table 10.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import pstdev

from annotator.domain.judges.judgement import NO, YES
from annotator.domain.kinds.rubric import WEIGHTS, Rubric
from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.agreement import cohen_kappa, percent_agreement
from annotator.stats.intervals.coding import left_out

DEPARTURES = (
    "The paper names discriminative power among what experts review and gives no figure for it: here it is the "
    "standard deviation of a criterion's pass rate over systems, 0 at the ceiling and at the floor, 1/2 at most.",
    "κ is given for each criterion without an interval: a pilot has some 20 responses.",
)


@dataclass(frozen=True, slots=True)
class Vote:
    """What one rater says of one criterion on one response of a system; None is missing."""

    criterion_id: str
    system: str
    response_id: str
    value: str | None


class Reach(StrEnum):
    """Whether a criterion tells systems apart."""

    CEILING = "ceiling"
    FLOOR = "floor"
    APART = "apart"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Discrimination:
    """How a criterion fares over systems: the pass rate of each, None where no vote came, and their spread.

    `reach` is a ceiling when all systems always pass, a floor when none ever does, and open while votes are missing
    that could make the difference.
    """

    criterion_id: str
    rates: Mapping[str, float | None]
    spread: Estimate
    reach: Reach


def discrimination(votes: Iterable[Vote]) -> list[Discrimination]:
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
    method = "standard deviation of the pass rate over systems"
    notes = left_out(missing, len(given), "a vote is missing")
    if len(known) < 2:
        reason = f"{len(known)} systems are too few to tell apart"
        spread = Estimate(
            None, n=len(known), missing=missing, method=method, note="; ".join([reason, *notes])
        )
    else:
        spread = Estimate(pstdev(known), n=len(known), missing=missing, method=method, note="; ".join(notes))
    return Discrimination(criterion_id, rates, spread, _reach(given))


def _pass_rate(values: Sequence[str | None]) -> float | None:
    known = [value for value in values if value is not None]
    return known.count(YES) / len(known) if known else None


def _reach(given: Sequence[str | None]) -> Reach:
    if YES in given and NO in given:
        return Reach.APART
    if None in given:
        return Reach.OPEN
    return Reach.CEILING if YES in given else Reach.FLOOR


@dataclass(frozen=True, slots=True)
class CriterionAgreement:
    """How far two people agree on one criterion over the pilot's responses."""

    percent: Estimate
    kappa: Estimate


def criterion_agreement(a: Iterable[Vote], b: Iterable[Vote]) -> dict[str, CriterionAgreement]:
    """Cohen's κ and percent agreement of two raters for each criterion, over responses, in the order of `a`.

    A response that one of them did not judge is missing. ValueError when a rater votes twice on the same.
    """
    first, second = _by_criterion(a), _by_criterion(b)
    found: dict[str, CriterionAgreement] = {}
    for criterion_id in dict.fromkeys([*first, *second]):
        one, two = first.get(criterion_id, {}), second.get(criterion_id, {})
        responses = list(dict.fromkeys([*one, *two]))
        x, y = [one.get(r) for r in responses], [two.get(r) for r in responses]
        kappa = cohen_kappa(x, y, resamples=0)
        found[criterion_id] = CriterionAgreement(percent_agreement(zip(x, y, strict=True)), kappa)
    return found


def _by_criterion(votes: Iterable[Vote]) -> dict[str, dict[str, str | None]]:
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
        reason = f"{len(known)} systems are too few for a gap"
        return Estimate(None, n=len(known), method=method, note="; ".join([reason, *notes]))
    best = min(known, key=lambda system: (-known[system], system))
    worst = min(known, key=lambda system: (known[system], system))
    note = "; ".join([f"best {best}, worst {worst}", *notes])
    return Estimate(known[best] - known[worst], n=len(known), method=method, note=note)


def weight_shares(rubrics: Iterable[Rubric]) -> dict[int, Estimate]:
    """The share of each weight among all criteria of the rubrics (Table 10); undefined when there are none."""
    weights: list[int] = [criterion.weight for rubric in rubrics for criterion in rubric.units]
    n, method = len(weights), "criteria of this weight / all criteria"
    if not n:
        return {w: Estimate(None, method=method, note="there are no criteria") for w in WEIGHTS}
    return {w: Estimate(weights.count(w) / n, n=n, method=method) for w in WEIGHTS}
