"""The parts of an item's sources shown to a model, and the places of the words that it quotes."""

import re
from collections.abc import Iterator, Sequence

from annotator.domain.judges.protocol import Material
from annotator.domain.kinds.artifact import Anchor
from annotator.domain.material.source import Source
from annotator.domain.material.transcript import of_source
from annotator.domain.texts.quotation import find
from annotator.domain.texts.words import word_count
from annotator.protocols.passages import Excerpt, excerpt

NO_SOURCE = "The item has no source with text."
# In characters, over all sources; a transcript of some four hours, a paper of some sixty pages.
LONGEST_SOURCES = 200_000
# What a quote spans in the source, whose links stand in it with their addresses.
LONGEST_QUOTED = 20_000

_SENTENCE = re.compile(r"[^\s.!?。！？](?:[^.!?。！？\n]|[.!?](?!\s|$))*[.!?。！？]?")
_FEWEST_WORDS, _LONGEST = 6, 1000


def sentences(sources: Sequence[Source]) -> Iterator[tuple[Source, int, int]]:
    """The whole sentences of sources, neither short nor endless, with their places."""
    for source in sources:
        for match in _SENTENCE.finditer(source.text):
            if (
                match[0][-1] in ".!?。！？"
                and len(match[0]) <= _LONGEST
                and word_count(match[0]) >= _FEWEST_WORDS
            ):
                yield source, *match.span()


def with_text(material: Material) -> list[Source]:
    """The sources that have text and that no model drafted."""
    return [source for source in material.sources if source.text.strip() and not source.drafted]


def excerpt_of(sources: Sequence[Source], question: str) -> Excerpt:
    """The sources one after the other, each under its title; those too long are cut to what is near the question."""
    text = "\n\n".join(f"Source {n}: {source.title}\n\n{source.text}" for n, source in enumerate(sources, 1))
    return excerpt(text, [question], LONGEST_SOURCES)


def anchored(sources: Sequence[Source], quote: str, begin: int = 0) -> Anchor | None:
    """Where the first source that has these words has them, from a place on where they stand there; None for none."""
    for source in sources:
        span = find(source.text[begin:], quote) if begin else None
        span = (span[0] + begin, span[1] + begin) if span else find(source.text, quote)
        if span:
            return placed(source, span[0], min(span[1], span[0] + LONGEST_QUOTED))
    return None


def placed(source: Source, start: int, end: int) -> Anchor:
    """The words of a source at a place, with the time when they were said."""
    found = of_source(source)
    return Anchor.at(source.text, start, end, source.id, found.time_at(start) if found else "")
