"""How a judge is chosen that may stand in for people: what its table holds, and what a question costs.

ResearcherBench, §4.3: how judges were compared, §4.3.1; the table and the choice, §4.3.2, Table 2. Its accuracy,
precision, recall and F1 are those of any classifier (`stats.classification`).
"""

from collections.abc import Sequence
from math import fsum

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.coding import left_out

DEPARTURES = (
    "Figures are given both ways, each pair counting one and each counting its criterion's weight: the caption of "
    "Table 2 says that importance was considered, and does not say how.",
    "A pair on which the judge has no verdict is left out and counted; it is not a disagreement.",
    "Agreement between people is computed before they discuss, on the pairs that both labelled.",
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
