"""Selection of benchmark questions: rated on the dimensions of their type, kept when the mean is high enough.

ResearcherBench: §3.2; dimensions, threshold and agreement, appendix B.4; worked examples, appendix B.5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import fsum

from annotator.domain.kinds.question_types import BAR
from annotator.domain.kinds.selection import Selection
from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.correlation import FEWEST, pearson

FEWEST_RATERS = 2

DEPARTURES = (
    "A question is kept only when at least two raters have rated every dimension of its type; the paper says that two "
    "rated each, and not how one that lacked a rating was treated.",
    "Where raters are more than two, agreement is given for each two of them and for all pairs together, in which each "
    "pair of scores counts both ways round, so that it does not matter who is named first. The paper does not say how "
    "its one figure came about.",
)


def rater_score(ratings: Selection, of_type: Sequence[str] = ()) -> Estimate:
    """The mean of one rater's 1–5 ratings over the dimensions of the question's type, `of_type` (appendix B.5).

    Undefined while a rating is missing: floor and ceiling then take it as 1 and as 5. A type without dimensions of
    its own is rated on those that the rater filled in. ValueError on a dimension rated twice or foreign to the type.
    """
    given = {unit.text: unit.rating for unit in ratings.units}
    dimensions = tuple(of_type) or tuple(given)
    if len(given) < len(ratings.units) or not set(given) <= set(dimensions):
        raise ValueError(f"each dimension is one of {', '.join(dimensions)}, and is rated once")
    known = [rating for dimension in dimensions if (rating := given.get(dimension)) is not None]
    missing = len(dimensions) - len(known)
    method = "mean over the dimensions of the type"
    if not dimensions:
        return Estimate(None, method=method, note="there are no dimensions to rate")
    return Estimate(
        None if missing else fsum(known) / len(known),
        n=len(known),
        missing=missing,
        floor=(fsum(known) + missing) / len(dimensions),
        ceiling=(fsum(known) + 5 * missing) / len(dimensions),
        method=method,
        note=f"{missing:,} of {len(dimensions):,} dimensions are not rated" if missing else "",
    )


@dataclass(frozen=True, slots=True)
class RatedQuestion:
    """The ratings of one question: its score, and whether it is kept (None while that is open)."""

    score: Estimate
    kept: bool | None


def item_score(scores: Sequence[Estimate], bar: float = BAR) -> RatedQuestion:
    """The mean over raters of their scores of a question, and whether it reaches the bar (appendix B.4).

    Open while fewer than two raters are done, unless what is missing could not change it.
    """
    done = [score.value for score in scores if score.value is not None]
    method = f"mean over raters of the mean over dimensions; kept at {bar:g} or more"
    missing = len(scores) - len(done)
    notes = [f"{missing:,} of {len(scores):,} raters are not done"] * bool(missing)
    notes += [f"{len(scores):,} of at least {FEWEST_RATERS} raters"] * (len(scores) < FEWEST_RATERS)
    if notes:
        score = Estimate(
            None,
            n=len(done),
            missing=missing,
            floor=_mean([score.floor for score in scores]),
            ceiling=_mean([score.ceiling for score in scores]),
            method=method,
            note="; ".join(notes),
        )
        return RatedQuestion(score, _settled(score, bar) if len(scores) >= FEWEST_RATERS else None)
    value = fsum(done) / len(done)
    return RatedQuestion(
        Estimate(value, n=len(done), floor=value, ceiling=value, method=method), value >= bar
    )


def _mean(ends: Sequence[float | None]) -> float | None:
    known = [end for end in ends if end is not None]
    return fsum(known) / len(known) if known and len(known) == len(ends) else None


def _settled(score: Estimate, bar: float) -> bool | None:
    """What is certain whatever the missing ratings turn out to be."""
    if score.floor is not None and score.floor >= bar:
        return True
    return False if score.ceiling is not None and score.ceiling < bar else None


def agreement(scores: Mapping[str, Mapping[str, float]]) -> dict[tuple[str, str], Estimate]:
    """Pearson's r of the item scores of each two raters, on the items that both rated (appendix B.4)."""
    found: dict[tuple[str, str], Estimate] = {}
    for a, b in combinations(sorted(scores), 2):
        shared = sorted(scores[a].keys() & scores[b].keys())
        found[a, b] = pearson([scores[a][item] for item in shared], [scores[b][item] for item in shared])
    return found


def pooled(scores: Mapping[str, Mapping[str, float]]) -> Estimate:
    """Pearson's r over all pairs of scores that two raters gave the same item, each pair both ways round.

    It has no interval: one rater's scores stand in many pairs. `n` counts the pairs.
    """
    pairs = [
        (scores[a][item], scores[b][item])
        for a, b in combinations(sorted(scores), 2)
        for item in sorted(scores[a].keys() & scores[b].keys())
    ]
    both = [*pairs, *((b, a) for a, b in pairs)] if len(pairs) >= FEWEST else pairs
    found = pearson([a for a, _ in both], [b for _, b in both])
    return replace(
        found, n=len(pairs), low=None, high=None, method="Pearson's r of all pairs, both ways round"
    )
