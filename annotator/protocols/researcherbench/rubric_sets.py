"""How two rubric sets for the same items compare: the scores they give, how they weigh, where they say the same.

ResearcherBench, appendix G: scores and gaps, G.2, Table 8; weights, G.4, Table 10. How well a judge agrees with people
under each set (G.3, Table 9) is told by validating it on each of them (`stats.classification`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan

from annotator.domain.kinds.rubric import Rubric
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.researcherbench.coverage import weight, weighted
from annotator.protocols.researcherbench.rubric_pilot import gap, weight_shares
from annotator.stats.intervals.intervals import bootstrap_means
from annotator.stats.intervals.resampling import RESAMPLES, SEED
from annotator.stats.matching.matching import Alignment, align

Place = tuple[str, str]
"""An item and a system."""


@dataclass(frozen=True, slots=True)
class RubricSet:
    """Rubrics of one origin by item, and what one rater says of each response by them.

    `verdicts` holds, by item and system, the value of each criterion; one that is not there is missing.
    """

    name: str
    rubrics: Mapping[str, Rubric]
    verdicts: Mapping[Place, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Beside:
    """Two sets side by side, each pair in their order; `matched` is the F1 of criteria that say the same."""

    items: tuple[str, ...]
    scores: Mapping[str, tuple[Estimate, Estimate]]
    gaps: tuple[Estimate, Estimate]
    weights: tuple[Mapping[int, Estimate], Mapping[int, Estimate]]
    alignments: Mapping[str, Alignment]
    matched: Estimate


def side_by_side(a: RubricSet, b: RubricSet, resamples: int = RESAMPLES, seed: int = SEED) -> Beside:
    """Coverage of each system under both sets, their gaps and weights, and their criteria aligned item by item.

    Only items of both sets and responses judged by both count, so that the same reports are scored. An item on
    which a system has missing judgements under either set is left out of that system's two scores.
    """
    items = tuple(item for item in a.rubrics if item in b.rubrics)
    places = [place for place in a.verdicts if place in b.verdicts and place[0] in items]
    systems = sorted({system for _, system in places})
    pair = (_coverage(a, places), _coverage(b, places))
    both = {place for place in places if pair[0][place] is not None and pair[1][place] is not None}
    tables = [[[_cell(own, (item, s), both) for s in systems] for item in items] for own in pair]
    means = [bootstrap_means(table, resamples, seed) if items and systems else [] for table in tables]
    alignments = {item: align(_texts(a, item), _texts(b, item)) for item in items}
    return Beside(
        items,
        {system: (means[0][i], means[1][i]) for i, system in enumerate(systems)},
        (_gap(systems, means[0]), _gap(systems, means[1])),
        (weight_shares(a.rubrics[item] for item in items), weight_shares(b.rubrics[item] for item in items)),
        alignments,
        _matched(a, b, alignments),
    )


def _coverage(own: RubricSet, places: list[Place]) -> dict[Place, float | None]:
    """S_c of each response under a set; None while a judgement is missing."""
    return {
        place: weighted(
            [(weight(unit), own.verdicts[place].get(unit.id)) for unit in own.rubrics[place[0]].units]
        ).value
        for place in places
    }


def _cell(scores: Mapping[Place, float | None], place: Place, both: set[Place]) -> float:
    score = scores[place] if place in both else None
    return nan if score is None else score


def _texts(own: RubricSet, item: str) -> list[str]:
    return [criterion.text for criterion in own.rubrics[item].units]


def _gap(systems: list[str], means: list[Estimate]) -> Estimate:
    return gap({system: mean.value for system, mean in zip(systems, means, strict=True)})


def _matched(a: RubricSet, b: RubricSet, alignments: Mapping[str, Alignment]) -> Estimate:
    """2 · matched / (criteria of a + criteria of b) over all items."""
    whole = sum(len(own.rubrics[item].units) for own in (a, b) for item in alignments)
    pairs = sum(len(alignment.pairs) for alignment in alignments.values())
    method = "F1 of matched criteria over all items"
    if not whole:
        return Estimate(None, method=method, note="neither set has criteria for the same item")
    return Estimate(2 * pairs / whole, n=whole, method=method, note=f"{pairs} matched")
