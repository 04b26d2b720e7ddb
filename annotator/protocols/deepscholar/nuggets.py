"""Nugget coverage: how many of the gold facts a report contains.

DeepScholar-Bench: nuggets made from the exemplar and assigned to reports, §8.3.1, after Pradeep et al. (2025).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import fsum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import (
    Aim,
    Answer,
    Ask,
    Case,
    Extracted,
    Extraction,
    Level,
    Material,
    Metric,
    NoReply,
    Presentation,
    Protocol,
    RatedResponse,
    Scale,
    Target,
    Value,
    ValueLook,
    Verdicts,
    extracting,
)
from annotator.domain.kinds.artifact import Kind, Unit, blind
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.material.item import EXEMPLAR
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.words import word_count
from annotator.protocols.merging import by_passages
from annotator.protocols.several import (
    ID,
    ModelReply,
    QuotingReply,
    UnitQuestion,
    Word,
    by_letter,
    listed,
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
# The spellings in a plain text reply.
_WORDS = {"not-supported": NONE, "partly-supported": PARTIAL, "supported": FULL}


@dataclass(frozen=True, slots=True)
class NuggetReading:
    """A way to count nuggets: which of them, and the credit of a partly supported one."""

    name: str
    title: str
    vital: bool
    partial: float

    @property
    def formula(self) -> str:
        of = "vital nuggets" if self.vital else "nuggets"
        return f"(support + partial / 2) / {of}" if self.partial else f"support / {of}"

    def worth(self, value: str) -> float:
        """The credit of a label; ValueError if it is none."""
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
    """The nuggets that count: those fully supported by the text they were extracted from, or written by people."""
    return [unit for unit in material.units(Kind.NUGGETS) if unit.counts]


def by_construction(material: Material, nugget: Nugget) -> bool:
    """Whether a nugget exists because this response, the exemplar, fully supports it."""
    return material.response.mode == EXEMPLAR and nugget.support == FULL


def coverage(
    reading: NuggetReading, labels: Sequence[tuple[bool, str | None]], over_valid: bool = False
) -> Estimate:
    """A figure of one report, from (vital or not, label or None if missing) of each gold nugget."""
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
    # If every nugget counts, the figure is a mean of the credits of single labels.
    credit = None if reading.vital else reading.worth
    return Metric(reading.name, reading.title, definition, partial(_score, reading), credit=credit)


def cases(material: Material) -> Iterator[Case]:
    """One case for each gold nugget not supported by construction, without the fields that would reveal its
    importance.
    """
    for nugget in gold(material):
        if not by_construction(material, nugget):
            yield material.case(NAME, Kind.NUGGETS, blind(nugget))


class NuggetSupport(QuotingReply, value="support", unquoted=(NONE,)):
    """What a judge replies about one nugget. The evidence comes first, so that the label follows from it."""

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


# Nuggets extracted by a model from the section that people wrote, weighed, and checked against that section.
# DeepScholar-Bench: nuggets made from the exemplar, §8.3.1, after Pradeep et al. (2025). People accept those they
# confirm.

DRAFT_NAME, WEIGHED = "deepscholar.nuggets.make", "deepscholar.nuggets.weigh"
WINDOW, MOST, LONGEST, PUBLIC_MEAN = 10, 30, 12, 15
NO_EXEMPLAR = "The item has no section that people wrote."
NONE_YET = "There are none yet."
TOO_LONG, CUT = "nugget_length", "nugget_count"
DRAFT_DEPARTURES = (
    "A nugget of more than twelve words is kept and flagged; of more than thirty the first thirty stay. In the "
    "published data six are longer.",
    "Each answer names the nugget that it is about; one that is left out or answered twice spoils the draft, and "
    "nothing of it is shown. The public code matches by position, and counts what it cannot read as not supported.",
    "A draft is a proposal: what a person takes of it is theirs, and only what the section fully bears out is gold.",
)


class DrawnNuggets(ModelReply, again="Give the same list again."):
    """The list of nuggets after a window of texts."""

    TEXT_FORM: ClassVar[str] = "Reply in plain text: one nugget on each line, and nothing else."
    nuggets: list[Annotated[str, Field(min_length=1, max_length=400)]] = Field(
        description="All nuggets, the most important first"
    )

    @classmethod
    def assumed(cls, _fields: Mapping[str, str]) -> Self:
        """The reply that an estimate assumes: as many nuggets as the public data have per section on average."""
        return cls(nuggets=[f"{number:02} " + "word " * LONGEST for number in range(PUBLIC_MEAN)])

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(nuggets=[words for line in text.splitlines() if (words := line.strip().lstrip("-*• "))])


class WeighedNugget(ModelReply):
    """What a model says of one nugget's importance."""

    id: str = Field(description="The id of the nugget, copied exactly")
    importance: Annotated[Literal["vital", "okay"], Word] = Field(
        description="Whether a good text must hold it"
    )


class WeighedNuggets(ModelReply):
    """What a model says of several nuggets' importance."""

    answers: list[WeighedNugget] = Field(description="One answer for each nugget")

    @classmethod
    def assumed(cls, fields: Mapping[str, str]) -> Self:
        names = (line.partition(":")[0] for line in fields["nuggets"].splitlines())
        return cls(answers=[WeighedNugget(id=name, importance="okay") for name in names])


@extracting
async def make(material: Material, ask: Ask) -> Extracted:
    """Nuggets of the item's exemplars: extracted window by window, weighed, and assigned to the exemplar themselves."""
    texts = [response.text for response in material.facing if response.text.strip()]
    if not texts:
        return Extracted(None, Status.SKIPPED, NO_EXEMPLAR)
    result: list[str] = []
    for start in range(0, len(texts), WINDOW):
        fields = {
            "question": material.item.question,
            "nuggets": "\n".join(result) or NONE_YET,
            "documents": "\n\n".join(texts[start : start + WINDOW]),
        }
        answer = await ask(DRAFT_NAME, fields, DrawnNuggets, fenced=tuple(fields))
        result = list(
            dict.fromkeys(" ".join(words.split()) for words in answer.needed().nuggets if words.strip())
        )
    if not result:
        return Extracted(None, Status.UNCLEAR, "The model found no nuggets.", answer.flags)
    flags = [
        *answer.flags,
        *[CUT] * (len(result) > MOST),
        *([TOO_LONG] * any(word_count(words) > LONGEST for words in result[:MOST])),
    ]
    return await _weighed(material, ask, [Nugget(text=words) for words in result[:MOST]], texts, flags)


async def _weighed(
    material: Material, ask: Ask, nuggets: Sequence[Nugget], texts: Sequence[str], flags: Sequence[str]
) -> Extracted:
    """The nuggets with their importance, vital ones first, and their support by the exemplar."""
    weights = dict[str, str]()
    for names in _windows(nuggets):
        fields = {"question": material.item.question, "nuggets": listed(names)}
        answer = await ask(WEIGHED, fields, WeighedNuggets, fenced=tuple(fields))
        weights |= _once(
            names, [(one.id, one.importance) for one in answer.needed().answers], answer, "weigh"
        )
    support = dict[str, str]()
    for names in _windows(nuggets):
        words = "\n\n".join(f"id: {name}\n{unit.text}" for name, unit in names.items())
        fields = {"question": material.item.question, "nuggets": words, "report": "\n\n".join(texts)}
        answer = await ask(PROMPTS[1], fields, SupportTogether, fenced=tuple(fields))
        support |= _once(names, [(one.id, one.support) for one in answer.needed().answers], answer, "assign")
    units = [
        nugget.model_copy(update={"importance": weights[nugget.id], "support": support[nugget.id]})
        for nugget in nuggets
    ]
    ordered = sorted(units, key=lambda nugget: nugget.importance != "vital")
    return Extracted(Nuggets(units=tuple(ordered)), flags=tuple(flags))


def _windows(nuggets: Sequence[Nugget]) -> Iterator[Mapping[str, Unit]]:
    for start in range(0, len(nuggets), WINDOW):
        yield by_letter(nuggets[start : start + WINDOW], "n")


def _once(
    names: Mapping[str, Unit], pairs: Sequence[tuple[str, str]], answer: Answer, act: str
) -> dict[str, str]:
    """Unit → its value; `NoReply` unless each unit is named exactly once, and nothing else is."""
    if sorted(name for name, _ in pairs) != sorted(names):
        cause = f"The reply does not {act} each nugget once."
        raise NoReply(replace(answer, status=Status.INVALID, cause=cause))
    return {names[name].id: value for name, value in pairs}


NUGGETS_MADE = Extraction(
    name=DRAFT_NAME,
    title="Nuggets of the exemplar",
    citation="DeepScholar-Bench, §8.3.1",
    makes=Kind.NUGGETS,
    prompts=(DRAFT_NAME, WEIGHED, PROMPTS[1]),
    extract=make,
    sources=False,
    exemplar=True,
    departures=DRAFT_DEPARTURES,
)
