"""Nugget coverage: how many of the gold facts a report holds.

DeepScholar-Bench: nuggets made of the exemplar and assigned to reports, §8.3.1, after Pradeep et al. (2025).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.judges.protocol import (
    Aim,
    Case,
    Level,
    Material,
    Metric,
    Presentation,
    Protocol,
    RatedResponse,
    Scale,
    Target,
    Value,
    ValueLook,
    Verdicts,
)
from annotator.domain.kinds.artifact import Kind, blind
from annotator.domain.kinds.nuggets import Nugget
from annotator.domain.material.item import EXEMPLAR
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.merging import by_passages
from annotator.protocols.several import (
    ID,
    ModelReply,
    QuotingReply,
    UnitQuestion,
    longest_quote,
    mean_of_known,
    of_empty,
    sole_value,
)

NAME = "deepscholar.nuggets"
DEPARTURES = (
    "Each nugget is known by its id and gets exactly one label; a label that did not come is missing. The public code "
    "matches labels to nuggets by position and counts what it cannot read as not supported.",
    "Ten nuggets of a report share a call, as in the public code, but in shuffled order; one a call is an option.",
    "An item without a vital nugget has no vital score; the public code gives it 0.",
    "Only nuggets that the exemplar fully bears out are gold; it has these by construction and is not asked about.",
)
PROMPTS = ("deepscholar.nuggets", "deepscholar.nuggets.together")
NONE, PARTIAL, FULL = "not_support", "partial_support", "support"
UNITS_A_CALL = 10
# As a reply in words spells them.
_WORDS = {"not-supported": NONE, "partly-supported": PARTIAL, "supported": FULL}


@dataclass(frozen=True, slots=True)
class NuggetReading:
    """A way to count nuggets: which of them, and what a partly supported one is worth."""

    name: str
    title: str
    vital: bool
    partial: float

    @property
    def formula(self) -> str:
        of = "vital nuggets" if self.vital else "nuggets"
        return f"(support + partial / 2) / {of}" if self.partial else f"support / {of}"

    def worth(self, value: str) -> float:
        """What a label is worth; ValueError where it is none."""
        try:
            return {FULL: 1.0, PARTIAL: self.partial, NONE: 0.0}[value]
        except KeyError:
            raise ValueError(f"a nugget is supported, partly or not, not {value!r}") from None


STRICT_ALL = NuggetReading("nugget_coverage", "Nugget coverage", vital=False, partial=0.0)
ALL = NuggetReading("nugget_coverage.partial", "Nugget coverage (with halves)", vital=False, partial=0.5)
STRICT_VITAL = NuggetReading("nugget_coverage.vital", "Vital nugget coverage", vital=True, partial=0.0)
VITAL = NuggetReading(
    "nugget_coverage.vital_partial", "Vital nugget coverage (with halves)", vital=True, partial=0.5
)
READINGS = (STRICT_ALL, ALL, STRICT_VITAL, VITAL)


def gold(material: Material) -> list[Nugget]:
    """The nuggets that count: those that the text they were drawn from fully bears out, or that people wrote."""
    return [unit for unit in material.units(Kind.NUGGETS) if unit.counts]


def by_construction(material: Material, nugget: Nugget) -> bool:
    """Whether a nugget was kept because this response, the exemplar, fully bears it out."""
    return material.response.mode == EXEMPLAR and nugget.support == FULL


def coverage(
    reading: NuggetReading, labels: Sequence[tuple[bool, str | None]], over_valid: bool = False
) -> Estimate:
    """A figure of one report, from (vital or not, label or None when missing) of each gold nugget."""
    counted = [value for vital, value in labels if vital or not reading.vital]
    known = [reading.worth(value) for value in counted if value is not None]
    missing = len(counted) - len(known)
    if not counted:
        what = "no vital nuggets" if labels else "no nuggets"
        return Estimate(None, method=reading.formula, note=f"the item has {what}")
    return mean_of_known(fsum(known), len(known), missing, over_valid, "labels are missing", reading.formula)


def _score(reading: NuggetReading, scored: RatedResponse, over_valid: bool) -> Estimate:
    labels = [
        (
            unit.importance == "vital",
            FULL if by_construction(scored.material, unit) else scored.values.get(unit.id),
        )
        for unit in gold(scored.material)
    ]
    return coverage(reading, labels, over_valid)


def _metric(reading: NuggetReading) -> Metric:
    definition = (
        f"`{reading.formula}` over the gold nuggets of one item (DeepScholar-Bench, §8.3.1). A nugget is "
        "supported when the report says all of it, partly supported when it says some of it. The paper's headline "
        "counts full support over all nuggets. Undefined without such nuggets."
    )
    # Where every nugget counts, the figure is a mean of what single labels are worth.
    credit = None if reading.vital else reading.worth
    return Metric(reading.name, reading.title, definition, partial(_score, reading), credit=credit)


def cases(material: Material) -> Iterator[Case]:
    """One case for each gold nugget that is not known to be held, without what would give its importance away."""
    for nugget in gold(material):
        if not by_construction(material, nugget):
            yield material.case(NAME, Kind.NUGGETS, blind(nugget))


class NuggetSupport(QuotingReply):
    """What a judge replies about one nugget. The evidence comes first, so that the label follows from it."""

    VALUE, UNQUOTED = "support", (NONE,)
    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be supported, partly supported or not supported, in exactly those "
        "letters, and nothing else. On the next line, unless it is not supported, copy the passage of the report that "
        "holds it between double quotes. On the last line give your reason in one sentence."
    )
    quote: str = Field(
        description="The report's own words that hold it, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="Why, in one sentence")
    support: Annotated[
        Literal["support", "partial_support", "not_support"], Field(description="How far the report holds it")
    ]

    @classmethod
    def from_text(cls, text: str) -> Self:
        word, rest = sole_value(text, *_WORDS)
        return cls.model_validate({"support": _WORDS[word], "quote": longest_quote(rest), "rationale": rest})


class SupportOfOne(NuggetSupport):
    """What a judge replies about one of several nuggets."""

    id: str = Field(description="The id of the nugget, copied exactly")


class SupportTogether(ModelReply):
    """What a judge replies about several nuggets at once: once about each, by its id."""

    answers: list[SupportOfOne] = Field(description="One answer for each nugget")

    @classmethod
    def assumed(cls, fields: Mapping[str, str]) -> Self:
        names = (line[len(ID) :] for line in fields["nuggets"].splitlines() if line.startswith(ID))
        return cls(answers=[SupportOfOne(id=name, quote="", rationale="", support=NONE) for name in names])


QUESTION = UnitQuestion(PROMPTS, (NuggetSupport, SupportTogether), ("nugget", "nuggets"), empty=NONE)
judge, judge_together = QUESTION.judge, QUESTION.judge_together

# No network: the share of a nugget's terms that one passage holds; not fitted to anything.
BASELINE_FULL, BASELINE_PARTIAL = 0.75, 0.4


def baseline(case: Case) -> Verdicts:
    """Supported, partly or not, by the share of the nugget's terms that one passage of the report holds."""
    return of_empty(case, NONE) or by_passages(case, "nugget", _verdict, unmet=NONE)


def _verdict(share: float, _passage: str) -> tuple[str, str]:
    value = FULL if share >= BASELINE_FULL else PARTIAL if share >= BASELINE_PARTIAL else NONE
    return value, f"baseline: {share:.2f} of its terms in one passage"


NUGGETS = Protocol(
    name=NAME,
    title="Nuggets that a report holds",
    citation="DeepScholar-Bench, §8.3.1",
    needs=(Kind.NUGGETS,),
    metrics=tuple(map(_metric, READINGS)),
    scale=Scale(
        Level.ORDINAL,
        (
            Value(NONE, "Not supported", "The report says nothing of it", ValueLook.BAD),
            Value(PARTIAL, "Partly", "The report says some of it", ValueLook.NEITHER),
            Value(FULL, "Supported", "The report says all of it", ValueLook.GOOD),
        ),
    ),
    presentation=Presentation(
        "Nuggets",
        "Does the report hold each nugget? (DeepScholar-Bench)",
        "nugget",
        "nuggets",
        rest=NONE,
        lacking=("No nuggets yet", "A report can be labelled once its item has nuggets."),
        mended_on="Author",
    ),
    cases=cases,
    judge=judge,
    judge_together=judge_together,
    units_a_call=UNITS_A_CALL,
    baseline=baseline,
    prompts=PROMPTS,
    target=Target(FULL, "support"),
    aims=(Aim("accuracy", 0.70, "Table 3", "GPT-4.1"),),
    departures=DEPARTURES,
)
