"""KAE: which key points of its own sources, or of all systems' sources, a report supports, omits or contradicts.

DeepResearch Arena: Keypoint-Aligned Evaluation, Eqs. 6 to 8.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from annotator.domain.judges.judge import Verdict
from annotator.domain.judges.protocol import (
    Case,
    Material,
    Metric,
    Presentation,
    Protocol,
    RatedResponse,
    Target,
    Value,
    ValueLook,
    Verdicts,
    nominal,
)
from annotator.domain.kinds.artifact import blind
from annotator.domain.material.extract import KeyPoint, KeyPoints, ResponsePart
from annotator.domain.texts.estimate import Basis, Estimate
from annotator.protocols.arena import keypoints
from annotator.protocols.merging import at_least, by_passages
from annotator.protocols.several import ModelReply, QuotingReply, UnitQuestion, Word, mean_of_known, of_empty

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


PROMPTS = ("arena.keypoints", "arena.keypoints.together")
SUPPORTS, OMITS, CONTRADICTS = RELATIONS = ("supports", "omits", "contradicts")

OWN, COMMON = "arena.keypoints", "arena.keypoints.common"
POOLED, OF_COMMON = ".pooled", ".common"
DEPARTURES = (
    "How the paper averages is not said, and most of its Chinese rows are exactly the counts of one small pool. Here "
    "the headline is the mean over items, as everywhere, and the pooled figure stands beside it.",
    "A report that cites no address, or whose pages give no key point, has no figure: neither 0 nor 1.",
    "The judge says how sure it is, as in the paper; that is kept with the judgement and enters no figure.",
    "A relation that did not come is missing: it is no omission, and the range it leaves is given.",
    "One key point is asked in one call, as printed, unless the judge is set to be asked several together. What "
    "decided a relation is quoted from the report, which the paper does not ask for.",
)
YARDSTICK = (
    "The yardstick is made of the report's own sources: one that cites a single page and paraphrases it scores 1, and "
    "honest wide citing lowers the figure. So the number of key points, and how many pages were read, stand with it.",
)
COMMON_DEPARTURES = (
    "The common pool is not in the paper: the key points of all systems' sources on an item that people accepted, "
    "each once, frozen, and the same for every report.",
)


@dataclass(frozen=True, slots=True)
class RelationRate:
    """The share of key points with one relation, in the paper's words and symbols."""

    name: str
    relation: str
    symbol: str
    equation: int
    better: bool = False

    @property
    def title(self) -> str:
        """The paper's abbreviation."""
        return self.name.upper()

    @property
    def formula(self) -> str:
        return f"{self.title} = {self.symbol} / |UEK|"

    def worth(self, relation: str) -> float:
        return float(relation == self.relation)


KSR = RelationRate("ksr", SUPPORTS, "supported", 6, better=True)
KCR = RelationRate("kcr", CONTRADICTS, "contradicted", 7)
KOR = RelationRate("kor", OMITS, "omitted", 8)
RATES = (KSR, KCR, KOR)


def rate(of: RelationRate, relations: Sequence[str | None], over_valid: bool = False) -> Estimate:
    """A rate from the relation of each key point, None if it is missing; ValueError on any other value.

    `n` counts the known relations; floor and ceiling assume all missing ones to be another, then to be this one.
    """
    if odd := set(relations) - {*RELATIONS, None}:
        raise ValueError(f"a key point is supported, omitted or contradicted, not {odd.pop()!r}")
    own, missing = relations.count(of.relation), relations.count(None)
    return mean_of_known(
        own, len(relations) - missing, missing, over_valid, "relations are missing", of.formula
    )


def points(part: ResponsePart, material: Material) -> list[KeyPoint]:
    """The key points that count: those with quoted words of a page."""
    return [unit for unit in material.units(part) if unit.counts]


def basis(part: ResponsePart, material: Material) -> Basis:
    """The number of key points that a report is measured by, and of pages read and cited."""
    result = material.parts.get(part)
    pages = result.pages if isinstance(result, KeyPoints) else ()
    return Basis(len(points(part, material)), result.read if pages else 0, len(pages))  # type: ignore[union-attr]


def _nothing(part: ResponsePart, material: Material) -> str:
    if part is ResponsePart.POOL:
        return "the item has no common pool" if part not in material.parts else "the common pool is empty"
    if part not in material.parts:
        return "the key points of its pages have not been drawn"
    result = basis(part, material)
    if not result.pages:
        return "the report gives no address"
    if not result.read:
        return f"none of its {result.pages} pages could be read"
    return f"no key point was found in the pages read, {result.read:,} of {result.pages:,}"


def _relations(part: ResponsePart, scored: RatedResponse) -> list[str | None]:
    return [scored.values.get(unit.id) for unit in points(part, scored.material)]


def _score(of: RelationRate, part: ResponsePart, scored: RatedResponse, over_valid: bool) -> Estimate:
    relations = _relations(part, scored)
    if not relations:
        return Estimate(None, method=of.formula, note=_nothing(part, scored.material))
    return rate(of, relations, over_valid).based(basis(part, scored.material))


def _pooled(of: RelationRate, pool: Sequence[RatedResponse], over_valid: bool) -> Estimate:
    relations = [one for scored in pool for one in _relations(ResponsePart.KEYPOINTS, scored)]
    if not relations:
        return Estimate(None, method=of.formula, note="no report has a key point")
    bases = (basis(ResponsePart.KEYPOINTS, scored.material) for scored in pool)
    return rate(of, relations, over_valid).based(sum(bases, Basis()))


def _pooled_draws(
    of: RelationRate, pool: Sequence[RatedResponse], _over_valid: bool, times: "NDArray[np.float64]"
) -> "NDArray[np.float64]":
    """The pooled rate of every draw, from the counts of each report; over the known relations."""
    from annotator.stats.intervals.clustered import rates

    counts = [Counter(_relations(ResponsePart.KEYPOINTS, scored)) for scored in pool]
    known = [count.total() - count[None] for count in counts]
    return rates([count[of.relation] for count in counts], known, times)


def _definition(of: RelationRate, subject: str) -> str:
    return f"""\
$$\\text{{{of.title}}} = \\frac{{|{of.symbol}|}}{{|UEK|}}$$

Of the key points {subject}, the share that the report {of.relation} (Eq. {of.equation}). KSR, KCR and KOR sum to 1.
Undefined, and not 0, without a key point. With relations missing it is over the others, and the range is given in
which it lies. The number of key points stands with every figure.
"""


OF_OWN = "of the pages that the report gives, each once"
OF_ALL = "of all systems' pages on the item that people accepted, one frozen pool for all reports"


def _metrics(
    part: ResponsePart, subject: str, suffix: str = "", called: str = "", more: str = ""
) -> list[Metric]:
    """Each rate of single reports; `suffix` is added to their names, `called` to their titles."""
    return [
        Metric(
            of.name + suffix,
            f"{of.title}{called}",
            _definition(of, subject) + more,
            partial(_score, of, part),
            higher_is_better=of.better,
            parts=(part,),
            credit=of.worth,
        )
        for of in RATES
    ]


MEAN_OF_ITEMS = "\nA system's figure is the mean over its items.\n"
POOLED_METRICS = [
    Metric(
        of.name + POOLED,
        f"{of.title} (pooled)",
        _definition(of, OF_OWN) + "\nAll key points of a system count alike, whatever report they are of.\n",
        higher_is_better=of.better,
        parts=(ResponsePart.KEYPOINTS,),
        pooled=partial(_pooled, of),
        resampled=partial(_pooled_draws, of),
    )
    for of in RATES
]


def _cases(name: str, part: ResponsePart, material: Material) -> Iterator[Case]:
    """One case for each key point, without its pages and people's notes on it."""
    for point in points(part, material):
        yield material.case(name, part, blind(point))


# No network: half of a point's terms must be in one passage. Words alone contradict nothing.
BASELINE_SHARE = 0.5


def baseline(case: Case) -> Verdicts:
    """Supports or omits, by the share of the point's terms that one passage of the report holds."""
    relation_of = at_least(BASELINE_SHARE, SUPPORTS, OMITS)
    return of_empty(case, OMITS) or by_passages(case, "point", relation_of, unmet=OMITS)


FLOOR = "Words alone never contradict, so the baseline's KCR is 0 whatever the reports say."


def _protocol(
    name: str,
    title: str,
    part: ResponsePart,
    metrics: Iterable[Metric],
    shown: Presentation,
    own: tuple[str, ...],
) -> Protocol:
    return Protocol(
        name=name,
        title=title,
        citation="DeepResearch Arena, Keypoint-Aligned Evaluation, Eqs. 6 to 8",
        needs=(),
        parts=(part,),
        metrics=tuple(metrics),
        scale=nominal(
            Value(SUPPORTS, "Supports", "The report says it, explains it or bears it out", ValueLook.GOOD),
            Value(OMITS, "Omits", "The report does not speak of it", ValueLook.NEITHER),
            Value(CONTRADICTS, "Contradicts", "The report says what cannot be true with it", ValueLook.BAD),
        ),
        presentation=shown,
        cases=partial(_cases, name, part),
        judge=judge,
        judge_together=judge_together,
        baseline=baseline,
        prompts=PROMPTS,
        target=Target(SUPPORTS, "relation"),
        departures=(*keypoints.DEPARTURES, *DEPARTURES, *own),
        floor=FLOOR,
    )


class Relation(QuotingReply, value="relation", unquoted=(OMITS,)):
    """What a judge replies about one key point. The evidence comes first, so that the relation follows from it."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be supports, omits or contradicts, in exactly those letters, and "
        "nothing else. On the next line, unless it is omits, copy the passage of the report that decided it between "
        "double quotes. On the last line give your reason in one or two sentences."
    )
    aspects: list[str] = Field(default=[], description="What decided it, in a few words each")
    relation: Annotated[Literal["supports", "omits", "contradicts"], Word] = Field(
        description="What the report does with the key point"
    )
    confidence: float | None = Field(default=None, ge=0, le=1, description="How sure you are, from 0 to 1")

    def as_verdict(self, case: Case, flags: tuple[str, ...]) -> Verdict:
        """The verdict with the judge's confidence and deciding aspects in its note."""
        sure = [] if self.confidence is None else [f"confidence {self.confidence:.2f}"]
        note = {"note": "; ".join([*sure, *self.aspects])}
        return super().as_verdict(case, flags).model_copy(update=note)


class RelationOfOne(Relation):
    """What a judge replies about one of several key points."""

    id: str = Field(description="The name of the listed key point, such as k1")


class RelationsTogether(ModelReply):
    """What a judge replies about several key points at once: once about each, by its name."""

    answers: list[RelationOfOne] = Field(description="One answer for each listed key point")


QUESTION = UnitQuestion(PROMPTS, (Relation, RelationsTogether), ("point", "points"), letter="k", empty=OMITS)
judge, judge_together = QUESTION.judge, QUESTION.judge_together


KEYPOINTS = _protocol(
    OWN,
    "Key points of its sources that a report supports",
    ResponsePart.KEYPOINTS,
    [*_metrics(ResponsePart.KEYPOINTS, OF_OWN, more=MEAN_OF_ITEMS), *POOLED_METRICS],
    Presentation(
        "Key points",
        "What does the report do with each key point of its own sources? (DeepResearch Arena)",
        "key point",
        "key points",
        rest=OMITS,
        lacking=(
            "No key points yet",
            "A report can be labelled once key points are drawn from its pages, and there are any.",
        ),
    ),
    YARDSTICK,
)
COMMON_POOL = _protocol(
    COMMON,
    "Key points of the common pool that a report supports",
    ResponsePart.POOL,
    _metrics(ResponsePart.POOL, OF_ALL, OF_COMMON, " (common pool)"),
    Presentation(
        "Common pool",
        "What does the report do with each key point of all systems' sources? (after DeepResearch Arena)",
        "key point",
        "key points",
        rest=OMITS,
        lacking=(
            "No common pool yet",
            "Accept the key points of the reports on an item, and freeze its common pool.",
        ),
    ),
    COMMON_DEPARTURES,
)
