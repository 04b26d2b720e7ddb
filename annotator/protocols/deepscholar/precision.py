"""Citation precision: how many citations of a report support something in their sentence.

DeepScholar-Bench: citation precision, §8.3.3; the judge's question, Box 3.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from annotator.domain.common import counted
from annotator.domain.judges.judge import NO, YES, Status, Verdict, is_yes
from annotator.domain.judges.protocol import (
    Aim,
    Ask,
    Case,
    Material,
    Metric,
    Presentation,
    Protocol,
    RatedResponse,
    Scale,
    Value,
    ValueLook,
    Verdicts,
    nominal,
)
from annotator.domain.kinds.artifact import Unit, cell_id
from annotator.domain.material.extract import CitedSource, ResponsePart, Sentence
from annotator.domain.material.item import EXEMPLAR, PageState
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.words import terms
from annotator.protocols.several import ValueReply, Word, missing_notes, of_one, with_quote

UNDRAWN = "the report's sentences have not been drawn"
NO_SENTENCE = "the report has no sentence"
PEOPLES_OWN = "left out for what people wrote: of their sources only title and abstract are at hand"
NO_TEXT = "Title and abstract of this source are not in this project; fetch them first."


class Entailed(ValueReply, value="supported"):
    """What a judge replies about a sentence and its sources. The evidence comes first: the verdict follows from it."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be yes or no, in exactly those letters, and nothing else. On the "
        "next line copy the deciding words of the source between double quotes, if there are any, and give your reason "
        "in one sentence."
    )
    quote: str = Field(
        description="The source's own words that decide it, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="Why, in one sentence")
    supported: Annotated[Literal["yes", "no"], Word] = Field(description="Whether the sentence is borne out")


def verdict_of(reply: Entailed, source: str, flags: tuple[str, ...]) -> Verdict:
    """The reply as a verdict; its quote is the source's, and has no position in the report."""
    result = with_quote(
        reply.supported, reply.rationale, reply.quote, source, flags, owed=reply.supported == YES
    )
    return result.model_copy(update={"quote_start": None, "quote_end": None})


def by_words(sentence: str, source: str, share: float) -> Verdict:
    """No network: yes if the source has at least that share of the sentence's terms."""
    sentence_terms = terms(sentence)
    if not sentence_terms:
        why = "baseline: the sentence has no words to look for"
        return Verdict(status=Status.UNCLEAR, cause=why, rationale=why)
    held = len(sentence_terms & terms(source)) / len(sentence_terms)
    value, sign = (YES, "≥") if held >= share else (NO, "<")
    return Verdict(value=value, rationale=f"baseline: {held:.2f} of its terms {sign} {share:.2f}")


def scale() -> Scale:
    return nominal(
        Value(YES, "Yes", "The sources bear it out", ValueLook.GOOD),
        Value(NO, "No", "They do not", ValueLook.BAD),
    )


def source_of(material: Material, cited: CitedSource) -> str:
    """Title and abstract of a cited work, or its report's quotation of it; empty if neither is available."""
    page = material.pages.get(cited.address)
    if page is None or page.state is not PageState.OK or not page.text.strip():
        return cited.words
    return f"{page.title or cited.title}\n\n{page.text.strip()}".strip()


def body(material: Material) -> tuple[Sentence, ...]:
    """The sentences that are judged: none of a section written by people."""
    return () if material.response.mode == EXEMPLAR else material.units(ResponsePart.SENTENCES)


def unknown(material: Material) -> str:
    """Why a report has no figure; empty if it has one."""
    if material.response.mode == EXEMPLAR:
        return PEOPLES_OWN
    if ResponsePart.SENTENCES not in material.parts:
        return UNDRAWN
    return "" if body(material) else NO_SENTENCE


NAME = "deepscholar.precision"
# In characters with its marks: the public code skips shorter sentences.
LEAST_RELEASED = 50
NAMES_NONE, CITES_NONE = (
    "the report names no source",
    "the report names sources and cites none in its sentences",
)
DEPARTURES = (
    "The judge is asked whether the work bears out at least one claim of the sentence, as the text defines it; Box 3 "
    "asks for all aspects, and the public code uses that one prompt for both figures.",
    "A mark that leads to nothing is a citation that nobody can check, and counts as wrong; the public code passes it "
    "over. A report that cites nothing has 0 and stays in.",
    "A source whose title and abstract are not at hand is missing and bounds the figure; the public code counts a "
    "reply that it cannot read as 0.",
    "The section that people wrote is not judged, as in the paper's geometric mean.",
)


@dataclass(frozen=True, slots=True)
class PrecisionReading:
    """A way to count citations: `groups` are the groups whose shares are averaged."""

    name: str
    title: str
    formula: str
    meaning: str
    groups: Callable[[Sequence[tuple[Sentence, list[bool | None]]]], list[list[bool | None]]]


def _citations(judged: Sequence[tuple[Sentence, list[bool | None]]]) -> list[list[bool | None]]:
    return [[one] for sentence, verdicts in judged for one in (*verdicts, *[False] * sentence.dangling)]


def _cited(judged: Sequence[tuple[Sentence, list[bool | None]]]) -> list[list[bool | None]]:
    whole = [[*verdicts, *[False] * sentence.dangling] for sentence, verdicts in judged]
    return [verdicts for verdicts in whole if verdicts]


def _released(judged: Sequence[tuple[Sentence, list[bool | None]]]) -> list[list[bool | None]]:
    return [
        [one for cited, one in zip(sentence.cites, verdicts, strict=True) if not cited.later] or [False]
        for sentence, verdicts in judged
        if sentence.length >= LEAST_RELEASED
    ]


CITATION = PrecisionReading(
    "citation_precision",
    "Citation precision",
    "right citations / citations",
    "Each source of each sentence counts once; a mark that leads to nothing is wrong.",
    _citations,
)
SENTENCE = PrecisionReading(
    "citation_precision.sentence",
    "Citation precision (by sentence)",
    "mean over cited sentences of right citations / citations",
    "Sentences that cite several sources weigh no more than others.",
    _cited,
)
RELEASED = PrecisionReading(
    "citation_precision.released",
    "Citation precision (as released)",
    "mean over sentences of right citations / citations, 0 where there are none",
    f"As the public code counts: all sentences of {LEAST_RELEASED} characters and more, uncited ones as 0, of [1, 2] "
    "the first alone, marks that lead to nothing passed over.",
    _released,
)
READINGS = (CITATION, SENTENCE, RELEASED)


def unit_ids(sentence: Sentence) -> list[str]:
    return [cell_id(sentence.id, cite.key) for cite in sentence.cites]


def precision(reading: PrecisionReading, scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """A figure of one report by one rater's verdicts; `n` counts the citations that were judged."""
    material, method = scored.material, reading.formula
    if why := unknown(material):
        return Estimate(None, method=method, note=why)
    result = [
        (sentence, [is_yes(scored.values.get(unit)) for unit in unit_ids(sentence)])
        for sentence in body(material)
    ]
    if not any(verdicts or sentence.dangling for sentence, verdicts in result):
        listed = material.units(ResponsePart.REFERENCES)
        return Estimate(0.0, floor=0.0, ceiling=0.0, method=method, note=CITES_NONE if listed else NAMES_NONE)
    groups = reading.groups(result)
    if not groups:
        return Estimate(None, method=method, note=f"no sentence has {LEAST_RELEASED} characters")
    total = sum(len(verdicts) for _, verdicts in result)
    # A reading that skips some citations is complete even if those are missing.
    missing = sum(group.count(None) for group in groups)
    known = [valid for group in groups if (valid := [one for one in group if one is not None])]
    usable = not missing or (over_valid and bool(known))
    dangling = sum(sentence.dangling for sentence, _ in result)
    notes = missing_notes(missing, total, usable)
    notes += [counted(dangling, "mark leads to nothing", "marks lead to nothing")] * bool(dangling)
    return Estimate(
        fmean(map(fmean, known)) if usable and known else None,
        n=total - sum(verdicts.count(None) for _, verdicts in result),
        missing=missing,
        floor=fmean(fmean(one is True for one in group) for group in groups),
        ceiling=fmean(fmean(one is not False for one in group) for group in groups),
        method=method,
        note="; ".join(notes),
    )


def _metric(reading: PrecisionReading) -> Metric:
    definition = (
        f"`{reading.formula}` (DeepScholar-Bench, §8.3.3). A citation is right when the work bears out at least one "
        f"claim of its sentence, by title and abstract. {reading.meaning} 0 for a report that cites nothing. Undefined "
        "without a sentence, and while its sentences are not drawn."
    )
    return Metric(
        reading.name, reading.title, definition, partial(precision, reading), parts=(ResponsePart.SENTENCES,)
    )


def cases(material: Material) -> Iterator[Case]:
    for sentence in body(material):
        for cited, unit_id in zip(sentence.cites, unit_ids(sentence), strict=True):
            unit = Unit(id=unit_id, text=sentence.text)
            given = {"address": cited.address, "page": source_of(material, cited)}
            yield material.case(NAME, ResponsePart.SENTENCES, unit, given=given)


async def judge(case: Case, ask: Ask) -> Verdicts:
    """The sentence without its marks, and title and abstract of the source, are shown."""
    source = case.given["page"]
    if not source:
        return {case.unit.id: Verdict(status=Status.SKIPPED, cause=NO_TEXT)}
    fields = {"sentence": case.unit.text, "source": source}
    answer = await ask(NAME, fields, Entailed, fenced=("sentence", "source"))
    return of_one(case, answer, lambda reply, _, flags: verdict_of(reply, source, flags))


# No network: the share of the sentence's terms that title and abstract hold; not fitted to anything.
BASELINE_SHARE = 0.3


def baseline(case: Case) -> Verdicts:
    """Right if title and abstract have enough of the sentence's terms."""
    if not case.given["page"]:
        return {case.unit.id: Verdict(status=Status.SKIPPED, cause=NO_TEXT)}
    return {case.unit.id: by_words(case.unit.text, case.given["page"], BASELINE_SHARE)}


PRECISION = Protocol(
    name=NAME,
    title="Citations that bear out their sentence",
    citation="DeepScholar-Bench, §8.3.3 and Box 3",
    needs=(),
    parts=(ResponsePart.SENTENCES,),
    metrics=tuple(map(_metric, READINGS)),
    scale=scale(),
    presentation=Presentation(
        "Citations",
        "Does the cited work bear out at least one claim of its sentence? (DeepScholar-Bench)",
        "citation",
        "citations",
        read="abstract",
        waits="the source's abstract was never fetched",
        lacking=(
            "No citations yet",
            "A report can be labelled once its sentences are drawn and one of them cites a source.",
        ),
    ),
    cases=cases,
    judge=judge,
    baseline=baseline,
    prompts=(NAME,),
    aims=(Aim("accuracy", 0.80, "Table 3", "GPT-4o"),),
    departures=DEPARTURES,
)
