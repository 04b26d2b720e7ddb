"""Nuggets drawn by a model from the section that people wrote, weighed, and checked against that section.

DeepScholar-Bench: nuggets made of the exemplar, §8.3.1, after Pradeep et al. (2025). People take what they confirm.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Ask, Extracted, Extraction, Material
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.texts.words import word_count
from annotator.protocols.deepscholar.nuggets import PROMPTS as ASSIGNED, SupportTogether
from annotator.protocols.several import ModelReply, Word, by_letter, listed

NAME, WEIGHED = "deepscholar.nuggets.make", "deepscholar.nuggets.weigh"
WINDOW, MOST, LONGEST, PUBLIC_MEAN = 10, 30, 12, 15
NO_EXEMPLAR = "The item has no section that people wrote."
NONE_YET = "There are none yet."
TOO_LONG, CUT = "nugget_length", "nugget_count"
DEPARTURES = (
    "A nugget of more than twelve words is kept and flagged; of more than thirty the first thirty stay. In the "
    "published data six are longer.",
    "Each answer names the nugget that it is about; one that is left out or answered twice spoils the draft, and "
    "nothing of it is shown. The public code matches by position, and counts what it cannot read as not supported.",
    "A draft is a proposal: what a person takes of it is theirs, and only what the section fully bears out is gold.",
)


class DrawnNuggets(ModelReply):
    """The list of nuggets after a window of texts."""

    TEXT_FORM: ClassVar[str] = "Reply in plain text: one nugget on each line, and nothing else."
    AGAIN: ClassVar[str] = "Give the same list again."
    nuggets: list[Annotated[str, Field(min_length=1, max_length=400)]] = Field(
        description="All nuggets, the most important first"
    )

    @classmethod
    def assumed(cls, _fields: Mapping[str, str]) -> Self:
        """What an estimate goes by: as many nuggets as the public data have of a section on average."""
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


async def make(material: Material, ask: Ask) -> Extracted:
    """Nuggets of the item's exemplars: drawn window by window, weighed, and assigned to the exemplar themselves."""
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
        answer = await ask(NAME, fields, DrawnNuggets, fenced=tuple(fields))
        if answer.status is not Status.OK:
            return _failed(answer)
        result = list(
            dict.fromkeys(" ".join(words.split()) for words in answer.reply.nuggets if words.strip())
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
    """The nuggets with their importance, vital ones first, and with how far the exemplar bears them out."""
    weights = dict[str, str]()
    for names in _windows(nuggets):
        fields = {"question": material.item.question, "nuggets": listed(names)}
        answer = await ask(WEIGHED, fields, WeighedNuggets, fenced=tuple(fields))
        if answer.status is not Status.OK:
            return _failed(answer)
        importances = _once(names, [(one.id, one.importance) for one in answer.reply.answers])
        if importances is None:
            return Extracted(None, Status.INVALID, "The reply does not weigh each nugget once.", answer.flags)
        weights |= importances
    support = dict[str, str]()
    for names in _windows(nuggets):
        words = "\n\n".join(f"id: {name}\n{unit.text}" for name, unit in names.items())
        fields = {"question": material.item.question, "nuggets": words, "report": "\n\n".join(texts)}
        answer = await ask(ASSIGNED[1], fields, SupportTogether, fenced=tuple(fields))
        if answer.status is not Status.OK:
            return _failed(answer)
        importances = _once(names, [(one.id, one.support) for one in answer.reply.answers])
        if importances is None:
            return Extracted(
                None, Status.INVALID, "The reply does not assign each nugget once.", answer.flags
            )
        support |= importances
    units = [
        nugget.model_copy(update={"importance": weights[nugget.id], "support": support[nugget.id]})
        for nugget in nuggets
    ]
    ordered = sorted(units, key=lambda nugget: nugget.importance != "vital")
    return Extracted(Nuggets(units=tuple(ordered)), flags=tuple(flags))


def _windows(nuggets: Sequence[Nugget]) -> Iterator[Mapping[str, Unit]]:
    for start in range(0, len(nuggets), WINDOW):
        yield by_letter(nuggets[start : start + WINDOW], "n")


def _once(names: Mapping[str, Unit], pairs: Sequence[tuple[str, str]]) -> dict[str, str] | None:
    """Unit → what was said of it; None unless each is named exactly once, and nothing else is."""
    if sorted(name for name, _ in pairs) != sorted(names):
        return None
    return {names[name].id: value for name, value in pairs}


def _failed(answer: Answer) -> Extracted:
    return Extracted(None, answer.status, answer.cause, answer.flags)


NUGGETS_MADE = Extraction(
    name=NAME,
    title="Nuggets of the exemplar",
    citation="DeepScholar-Bench, §8.3.1",
    makes=Kind.NUGGETS,
    prompts=(NAME, WEIGHED, ASSIGNED[1]),
    extract=make,
    sources=False,
    exemplar=True,
    departures=DEPARTURES,
)
