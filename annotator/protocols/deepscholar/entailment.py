"""What a judge replies on whether sources bear a sentence out, and what the baseline says of it.

DeepScholar-Bench: citation precision and claim coverage, §8.3.3; the judge's question, Box 3.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from annotator.domain.judges.judgement import NO, YES, Status, Verdict
from annotator.domain.judges.protocol import Material
from annotator.domain.judges.scale import Scale, Value, ValueLook, nominal
from annotator.domain.material.page import PageState
from annotator.domain.material.part import CitedSource, ResponsePart, Sentence
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.texts.words import terms
from annotator.protocols.replies import ValueReply, Word, with_quote

UNDRAWN = "the report's sentences have not been drawn"
NO_SENTENCE = "the report has no sentence"
PEOPLES_OWN = "left out for what people wrote: of their sources only title and abstract are at hand"
NO_TEXT = "Title and abstract of this source are not in this project; fetch them first."


class Entailed(ValueReply):
    """What a judge replies about a sentence and its sources. The evidence comes first: the verdict follows from it."""

    VALUE: ClassVar[str] = "supported"
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
    """The reply as a verdict; its quote is the source's, and has no place in the report."""
    owed = reply.supported == YES
    found = with_quote(reply.supported, reply.rationale, reply.quote, source, flags, owed=owed)
    return found.model_copy(update={"quote_start": None, "quote_end": None})


def by_words(sentence: str, source: str, share: float) -> Verdict:
    """No network: yes where the source has so many of the sentence's terms."""
    wanted = terms(sentence)
    if not wanted:
        why = "baseline: the sentence has no words to look for"
        return Verdict(status=Status.UNCLEAR, cause=why, rationale=why)
    held = len(wanted & terms(source)) / len(wanted)
    value, sign = (YES, "≥") if held >= share else (NO, "<")
    return Verdict(value=value, rationale=f"baseline: {held:.2f} of its terms {sign} {share:.2f}")


def scale() -> Scale:
    """Yes or no."""
    return nominal(
        Value(YES, "Yes", "The sources bear it out", ValueLook.GOOD),
        Value(NO, "No", "They do not", ValueLook.BAD),
    )


def source_of(material: Material, cited: CitedSource) -> str:
    """Title and abstract of what a sentence cites, or what its report quotes of it; empty where neither is at hand."""
    page = material.pages.get(cited.address)
    if page is None or page.state is not PageState.OK or not page.text.strip():
        return cited.words
    return f"{page.title or cited.title}\n\n{page.text.strip()}".strip()


def body(material: Material) -> tuple[Sentence, ...]:
    """The sentences that are judged: none of what people wrote."""
    return () if material.response.mode == EXEMPLAR else material.units(ResponsePart.SENTENCES)


def unknown(material: Material) -> str:
    """Why nothing can be said of a report; empty where something can."""
    if material.response.mode == EXEMPLAR:
        return PEOPLES_OWN
    if ResponsePart.SENTENCES not in material.parts:
        return UNDRAWN
    return "" if body(material) else NO_SENTENCE
