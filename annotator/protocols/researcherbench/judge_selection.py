"""Which judge may stand in for people: how well each finds what people call covered, and what a question costs.

ResearcherBench, §4.3: how judges were compared, §4.3.1; the table and the choice, §4.3.2, Table 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from annotator.domain.estimate import Estimate
from annotator.domain.judgement import YES
from annotator.stats.agreement import cohen_kappa
from annotator.stats.classification import Classification, classification
from annotator.stats.coding import left_out
from annotator.stats.resampling import RESAMPLES, SEED

DEPARTURES = (
    "Figures are given both ways, each pair counting one and each counting its criterion's weight: the caption of "
    "Table 2 says that importance was considered, and does not say how.",
    "A pair on which the judge has no verdict is left out and counted; it is not a disagreement.",
    "Agreement between people is computed before they discuss, on the pairs that both labelled.",
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A response and a criterion on which people and judges are compared; `weight` is the criterion's, 1 to 3."""

    item_id: str
    response_id: str
    criterion_id: str
    weight: float


Values = Mapping[Pair, str]
"""What one rater said of each pair; a pair that is not in it is missing."""


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """A row of Table 2: a rater held against people, plainly and by weight; `cost` is in US dollars per question."""

    rater: str
    plain: Classification
    weighted: Classification
    kappa: Estimate
    cost: Estimate


def judge_table(
    people: Values,
    judges: Mapping[str, Values],
    costs: Mapping[str, Sequence[float | None]],
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[JudgeRow]:
    """Each judge against people's verdicts, “covered” being positive; the highest plain F1 first, then by name.

    `costs` holds what each judge's questions cost, None where that is not known. Intervals are bootstrap intervals
    over items.
    """
    rows = [
        held_against(people, said, judge, costs.get(judge, ()), resamples, seed)
        for judge, said in judges.items()
    ]
    return sorted(rows, key=lambda row: (-_height(row.plain.f1), row.rater))


def _height(f1: Estimate) -> float:
    return -1.0 if f1.value is None else f1.value


def held_against(
    people: Values,
    said: Values,
    rater: str,
    costs: Sequence[float | None] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> JudgeRow:
    """One rater against people's verdicts on the same pairs; another person is a rater too, and the ceiling."""
    pairs = sorted(people, key=lambda pair: (pair.item_id, pair.response_id, pair.criterion_id))
    truth, reply = [people[pair] for pair in pairs], [said.get(pair) for pair in pairs]
    items = [pair.item_id for pair in pairs]
    weights = [pair.weight for pair in pairs]
    return JudgeRow(
        rater,
        classification(truth, reply, YES, None, items, resamples, seed),
        classification(truth, reply, YES, weights, items, resamples, seed),
        cohen_kappa(truth, reply, clusters=items, resamples=resamples, seed=seed),
        cost_per_question(costs),
    )


def cost_per_question(costs: Sequence[float | None]) -> Estimate:
    """The mean of the costs that are known, in US dollars; `missing` counts the others, which are not 0."""
    known = [cost for cost in costs if cost is not None]
    missing = len(costs) - len(known)
    method = "mean cost of a question, US dollars"
    notes = left_out(missing, len(costs), "the cost is not known")
    if not known:
        reason = "no cost is known"
        return Estimate(None, missing=missing, method=method, note="; ".join([reason, *notes]))
    return Estimate(
        fsum(known) / len(known), n=len(known), missing=missing, method=method, note="; ".join(notes)
    )
