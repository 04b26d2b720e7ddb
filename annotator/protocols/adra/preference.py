"""ADRA trust: scores must prefer the report that blinded experts prefer (§5.4), and judges as well (A.5)."""

from functools import partial

from annotator.domain.judges.pairs import FIRST, SECOND, TIE, preferred
from annotator.domain.judges.presentation import CaseLayout, Presentation
from annotator.domain.judges.protocol import Metric, Protocol, RatedResponse, Target, cases_of_pairs
from annotator.domain.judges.scale import PAIR, Value
from annotator.domain.judges.taxonomy import Taxonomy
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.adra.preference_judge import ASPECTS, PROMPTS, baseline, judge

NAME = "adra.preference"

DEPARTURES = (
    "The paper gives 86.23 % agreement on 100 pairs, which no count of 100 can give, and does not say what becomes of "
    "ties. Here pairs in which the experts or the scores see no difference are counted apart.",
    "The baseline counts marks of sources, which no paper proposes: a floor.",
    "The share in which a response is preferred is not in the paper; it says what the preferences were.",
    "An expert or judge who is asked both ways round and does not prefer the same report has no preference.",
    "Judges are asked every pair both ways round; the paper does not say in which order they saw it, nor what becomes "
    "of the three respects. Here a judge names them before the whole, in its reasons.",
)

# What experts are asked: two reports on an item, without names, in an order that is chance.

DEFINITION = """\
`preferred / comparisons`: of the comparisons of this response with the other systems' responses on the item, the share
in which the blinded experts preferred it (ADRA §5.4). A tie prefers neither. The paper gives no such figure; what it
gives is how often its scores agree with the preferences. Undefined where there is no other response, and as long as a
comparison is missing; then the range is given in which it must lie.
"""


def share(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """Of a response's comparisons, the share in which it was preferred; `n` counts those with a preference or a tie."""
    method = "preferred / comparisons"
    others = scored.material.rivals(NAME)
    found = [preferred(scored.values.get(one.id), scored.reverse.get(one.id)) for one in others]
    if not found:
        return Estimate(None, method=method, note="there is no other response to compare with")
    wins, missing = found.count(FIRST), found.count(None)
    judged = len(found) - missing
    notes = [f"{missing:,} of {len(found):,} comparisons are missing"] * bool(missing)
    value = wins / judged if judged and (over_valid or not missing) else None
    notes += ["over the others only"] * (missing > 0 and value is not None)
    return Estimate(
        value,
        n=judged,
        missing=missing,
        floor=wins / len(found),
        ceiling=(wins + missing) / len(found),
        method=method,
        note="; ".join(notes),
    )


# What is asked beside the overall choice, each by itself.
_RESPECTS = {
    "factuality": "is right more often, and borne out by its sources",
    "comprehensiveness": "covers more of what an answer needs",
    "coherence": "holds together better",
}


def _respect(name: str, better: str) -> Taxonomy:
    kinds = (
        Value(FIRST, "First", f"The first report {better}"),
        Value(SECOND, "Second", f"The second report {better}"),
        Value(TIE, "Equal", "There is no difference in this respect"),
    )
    after = (FIRST, SECOND, TIE)
    return Taxonomy(f"{NAME}.{name}", name.capitalize(), NAME, after, name.capitalize(), kinds, beside=True)


RESPECTS = tuple(_respect(name, _RESPECTS[name]) for name in ASPECTS)

PREFERENCE = Protocol(
    name=NAME,
    title="Which of two reports the expert prefers",
    citation="ADRA, §5.4",
    needs=(),
    metrics=(Metric("preference", "Preferred", DEFINITION, share),),
    scale=PAIR,
    presentation=Presentation(
        "Preferred of two",
        "Which of two reports do you prefer? (ADRA)",
        "pair",
        "pairs",
        ask="Which report do you prefer?",
        line="pair",
        layout=CaseLayout.PAIR,
    ),
    cases=partial(cases_of_pairs, NAME),
    judge=judge,
    baseline=baseline,
    prompts=PROMPTS,
    paired=True,
    target=Target(FIRST, "better"),
    departures=DEPARTURES,
)
