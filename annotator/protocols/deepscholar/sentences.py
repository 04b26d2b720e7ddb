"""Sentences of a report's body, each with the sources that it cites: the units of §8.3.3.

DeepScholar-Bench splits with a tokenizer whose data is a download; here blocks of Markdown are split first and
sentences by Unicode's rules, whose errors are then repaired.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from annotator.domain.common import derived_id
from annotator.domain.judges.protocol import Ask, Extracted, Extraction, Material
from annotator.domain.kinds.artifact import Anchor, Kind
from annotator.domain.material.extract import CitedSource, ResponsePart, Sentence, Sentences
from annotator.domain.texts.identifier import normal_title, work_named
from annotator.domain.texts.words import word_count
from annotator.protocols.citations import (
    BULLET,
    FENCE,
    MASK,
    Citation,
    ReportCitations,
    Span,
    is_heading,
    read,
    without_marks,
)
from annotator.protocols.deepscholar.references import by_work, on_arxiv

# A letter for each property; paragraphs are separated before.
_LETTERS = {
    "SP": "s", "LOWER": "l", "UPPER": "u", "OLETTER": "o", "NUMERIC": "n", "ATERM": "a", "STERM": "t",
    "SCONTINUE": "c", "CLOSE": "q", "SEP": "p", "CR": "p", "LF": "p", "EXTEND": "e", "FORMAT": "e",
}  # fmt: skip
# A stop with closing marks and spaces behind it (SB9, SB10), but not between digits (SB6); what may precede it (SB7).
_STOP = re.compile(r"(?:(?P<letter>[ul]e*)?(?P<full>ae*+)(?!n)|te*)(?P<behind>(?:qe*)*(?:se*)*p?)")
# A full stop before a lower-case letter ends nothing, whatever non-letters are in between (SB8).
_LOWER_FOLLOWS = re.compile(r"[^oulpat]*l")

NAME = "deepscholar.sentences"
LONGEST_TEXT, LONGEST_TITLE = 20_000, 500
# A longer entry without an address holds words of the source, not its title alone.
LONGEST_ENTRY = 300
# The number of normalised letters that identifies a work.
TELLING = 20
# A line that stands alone, ends without a stop and is no longer than this is a heading.
MOST_WORDS_OF_HEADING = 12
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_RULE = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+[ \t]*)$")
_ITEM = re.compile(r"[ \t>]*(?:[-+*•]|\d{1,3}[.)])[ \t]+\S")
_UNFINISHED = re.compile(r"[^.!?:;,。！？：；…][\"'”’)\]*_]*$")
# Brackets that were escaped around a link: its words are no part of the sentence.
_ESCAPED = re.compile(r"\\\[(?:[^\\\n]|\\(?!\])){1,2000}\\\]")
# Marks behind a full stop, with brackets and punctuation around them.
_BEHIND = re.compile(rf"(?:\s*\\?[(\[]?{MASK}{{3,}}\\?[)\]]?[,;.]?)*\s*")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.\s?g|i\.\s?e|cf|vs|al|viz|ca|figs?|eqs?|secs?|sect|tabs?|refs?|chs?|vol|dr|mr|mrs|ms|prof|st|approx"
    r"|resp|incl|dept|w\.r\.t)|\b[A-Z])\.\s*$",
    re.IGNORECASE,
)
_BEFORE_NUMBER = re.compile(r"\b(?:nos?|pp?|op|art)\.\s*$", re.IGNORECASE)
_GOES_ON = re.compile(rf"[\s{MASK}\"'“‘*_]*(?:[^\W\d_]|\(\d|\d)")
DEPARTURES = (
    "Sentences are cut by Unicode's rules after headings, code and reference lists are set aside; a mark that follows "
    "a full stop belongs to the sentence before it. Of a table each row that cites is one sentence, the others none. "
    "The public code's tokenizer gives the mark to the next, and takes headings, lists and tables for parts of "
    "sentences.",
    "A mark leads to what the report's own list says of it, then to what came with the report from its system: a "
    "passage that OpenScholar was shown is what its citation is judged by. Each number of [1, 2] counts. The public "
    "code reads its systems' files and the first number alone.",
)


def sentences(
    report: str, known: dict[str, CitedSource] | None = None, response_id: str = ""
) -> list[Sentence]:
    """The sentences of a report; `known` maps marks to sources that its own lists do not give.

    A sentence's id is derived from its words and how often they occurred before.
    """
    sources = known or {}
    cited = read(
        report, {mark: source.address for mark, source in sources.items() if source.address}, every=True
    )
    masked = _ESCAPED.sub(lambda match: MASK * len(match[0]) if MASK in match[0] else match[0], cited.masked)
    starts = [citation.start for citation in cited.citations]
    times: Counter[str] = Counter()
    units = []
    for heading, start, end in _spans(cited, masked):
        text = without_marks(masked[start:end])[:LONGEST_TEXT]
        within = cited.citations[bisect_left(starts, start) : bisect_left(starts, end)]
        times[text] += 1
        cites, dangling = _cites(cited, sources, within)
        units.append(
            Sentence(
                id="s" + derived_id("sentence", response_id, text, times[text])[-12:],
                text=text,
                heading=heading,
                anchor=Anchor.at(cited.report, start, min(end, start + LONGEST_TEXT), response_id),
                cites=cites,
                dangling=dangling,
                marks=sum(max(1, len(one.urls) + len(one.lost)) for one in within),
            )
        )
    return units


def _cites(
    cited: ReportCitations, known: dict[str, CitedSource], citations: Sequence[Citation]
) -> tuple[tuple[CitedSource, ...], int]:
    """The sources of a sentence's citations, each once, and the number of marks that lead to none."""
    sources: dict[str, CitedSource] = {}
    dangling = 0
    for citation in citations:
        cited_sources = [_source(url, cited, known, citation) for url in citation.urls]
        listed = [_listed(mark, cited, known) for mark in citation.lost]
        cited_sources += [one for one in listed if one]
        dangling += listed.count(None) + (not citation.urls and not citation.lost)
        for place, source in enumerate(cited_sources):
            before = sources.get(source.key)
            later = place > 0 and (before is None or before.later)
            sources[source.key] = (before or source).model_copy(update={"later": later})
    return tuple(sources.values()), dangling


def _source(
    url: str, cited: ReportCitations, known: dict[str, CitedSource], citation: Citation
) -> CitedSource:
    title = " ".join(cited.report[slice(*citation.label)].split()) if citation.label else ""
    words = next((source.words for mark, source in known.items() if cited.references.get(mark) == url), "")
    return CitedSource(address=str(work_named(url) or url), title=title[:LONGEST_TITLE], words=words)


def _listed(mark: str, cited: ReportCitations, known: dict[str, CitedSource]) -> CitedSource | None:
    """The source of a mark without an address: an entry of the report's list, or the system's own; None if neither."""
    entry = " ".join(cited.entries.get(mark, "").split())
    words = entry[:LONGEST_TEXT] if len(entry) > LONGEST_ENTRY else ""
    if mark in known:
        return known[mark].model_copy(update={"words": known[mark].words or words})
    key = normal_title(entry)
    for source in known.values():
        title = normal_title(source.title)
        if source.address and len(title) >= TELLING and title in key:
            return source
    return CitedSource(title=entry[:LONGEST_TITLE], words=words) if key else None


def _spans(cited: ReportCitations, masked: str) -> Iterator[tuple[str, int, int]]:
    """(heading, start, end) of each sentence; marks on a line of their own belong to the sentence before."""
    held: tuple[str, int, int] | None = None
    for heading, first, last in _blocks(cited, masked):
        text = masked[first:last].replace("\n", " ")
        for start, end in [(0, len(text))] if text.lstrip().startswith("|") else _cut(text):
            if not re.search(r"[^\W_]", text[start:end].replace(MASK, "")):
                held = (held[0], held[1], first + end) if held else None
                continue
            if held:
                yield held
            held = heading, first + start, first + end
    if held:
        yield held


def _cut(text: str) -> Iterator[Span]:
    """The sentences of a block, without surrounding whitespace."""
    start = 0
    for boundary in [*boundaries(text), len(text)]:
        behind = _BEHIND.match(text, boundary)
        at = behind.end() if behind else boundary
        if at > start and (at == len(text) or not _goes_on(text[start:boundary], text[at : at + 40])):
            piece = text[start:at]
            yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
            start = at


def _goes_on(before: str, after: str) -> bool:
    """Whether an apparent end of a sentence is none."""
    ended = before.replace(MASK, "").rstrip()
    following = _GOES_ON.match(after)
    first = following[0][-1:] if following else ""
    if _ABBREVIATED.search(ended) or first.islower():
        return True
    numbered = first.isdigit()
    return numbered and (bool(_BEFORE_NUMBER.search(ended)) or "(" in following[0] if following else False)


def _blocks(cited: ReportCitations, masked: str) -> Iterator[tuple[str, int, int]]:
    """(heading, start, end) of each paragraph and list item of a report's body."""
    heading = ""
    for stretch in cited.body:
        for start, end in _gathered(cited.report, masked, stretch):
            words = cited.report[start:end].strip()
            if is_heading(words) or _is_heading(words, masked[start:end]):
                heading = words.strip("#*_ \t:")[:LONGEST_TEXT]
            else:
                bullet = BULLET.match(cited.report, start, end)
                yield heading, bullet.end() if bullet else start, end


def _is_heading(words: str, masked: str) -> bool:
    alone = "\n" not in words and not _ITEM.match(words) and MASK not in masked
    return alone and bool(_UNFINISHED.search(words)) and word_count(words) <= MOST_WORDS_OF_HEADING


def _gathered(report: str, masked: str, stretch: Span) -> Iterator[Span]:
    """Lines joined to paragraphs; a heading or a list item begins a new one. Of tables only rows with citations."""
    start, end, fenced = -1, -1, False
    for line in _LINE.finditer(report, *stretch):
        words = line[0].strip()
        fence = bool(FENCE.match(words))
        apart = not words or fence or fenced or words.startswith("|") or bool(_RULE.match(words))
        fenced ^= fence
        if start >= 0 and (apart or is_heading(words) or _ITEM.match(words) or is_heading(report[start:end])):
            yield start, end
            start = -1
        if words.startswith("|") and not fenced and MASK in masked[slice(*line.span())]:
            yield line.start(), line.start() + len(line[0].rstrip())
        if not apart:
            start, end = line.start() if start < 0 else start, line.end()
    if start >= 0:
        yield start, end


# The sources of marks beside the report's own lists, and the extraction.


def _known(material: Material) -> dict[str, CitedSource]:
    """The references that came with a report, by their marks in it."""
    result: dict[str, CitedSource] = {}
    for unit in material.units(ResponsePart.REFERENCES):
        mark = unit.note.strip().strip("[]").lower()
        address = str(work_named(unit.identifier) or "")
        # Two passages of one work are two sources.
        title = f"{unit.note} {unit.text}" if unit.passage and unit.text != unit.note else unit.text
        source = CitedSource(address=address, title=title[:LONGEST_TITLE], words=unit.passage)
        result.setdefault(mark or unit.id, source)
    return result


def baseline(material: Material) -> Extracted:
    """The sentences of a report, by rule."""
    report = material.response
    return Extracted(Sentences(units=tuple(sentences(report.text, _known(material), report.id))))


async def extract(material: Material, _: Ask) -> Extracted:
    """The sentences of a report; no model is asked."""
    return baseline(material)


EXTRACTION = Extraction(
    name=NAME,
    title="Sentences of a report",
    citation="DeepScholar-Bench, §8.3.3",
    makes=ResponsePart.SENTENCES,
    prompts=(),
    extract=extract,
    baseline=baseline,
    departures=DEPARTURES,
)


def boundaries(text: str) -> Iterator[int]:
    """The offsets between sentences, without the ends of the text."""
    kinds = "".join(map(_kind, text))
    for stop in _STOP.finditer(kinds):
        at = stop.end()
        following = kinds[at : at + 1]
        initials = stop["letter"] and not stop["behind"] and following == "u"
        goes_on = stop["full"] and _LOWER_FOLLOWS.match(kinds, at)
        if following and following not in "cat" and not initials and not goes_on:
            yield at


@lru_cache(maxsize=8192)
def _kind(character: str) -> str:
    from uniseg.sentencebreak import sentence_break

    return _LETTERS.get(sentence_break(character).name, "x")


@dataclass(frozen=True, slots=True)
class ReportFigures:
    """Characters, words, sentences and citations of a report without its lists of references.

    The exemplar's own list is made by this program, and a list is no prose. `references` counts the different sources
    that its sentences cite, `citations` every citation, including those in tables.
    """

    PRINTED: ClassVar[str] = "DeepScholar-Bench, Table 6."
    DEPARTURES: ClassVar[tuple[str, ...]] = (
        "The exemplars are counted as they are read here: without LaTeX commands and without what their authors "
        "commented out. The paper counts the LaTeX with both.",
        "Sentences are cut after headings, tables and code are set aside; the paper's count takes them for sentences.",
    )

    characters: int
    words: int
    sentences: int
    references: int
    citations: int


def report_figures(material: Material) -> ReportFigures:
    """The figures of a report, the same on every run; words are separated by whitespace."""
    result = baseline(material).document
    units = result.units if result else ()
    cited = read(material.response.text, every=True)
    text = "".join(cited.report[start:end] for start, end in cited.body)
    inline = sum(max(1, len(citation.urls) + len(citation.lost)) for citation in cited.citations)
    sources = {cite.key for unit in units for cite in unit.cites}
    rows = sum(unit.anchor is not None and unit.anchor.quote.startswith("|") for unit in units)
    return ReportFigures(len(text), len(text.split()), len(units) - rows, len(sources), inline)


@dataclass(frozen=True, slots=True)
class CitedWork:
    """A work that an exemplar cites; `importance` is empty if nobody has marked it."""

    on_arxiv: bool
    importance: str
    citations: int | None


def cited_works(material: Material) -> list[CitedWork]:
    """The works that an item's exemplar cites, each once; important if one of its references is."""
    result = []
    for address, references in by_work(material.units(Kind.EVIDENCE)).items():
        page, importances = (
            material.pages.get(address),
            {reference.importance for reference in references} - {""},
        )
        importance = "important" if "important" in importances else next(iter(importances), "")
        known = page.citations if page is not None else None
        result.append(CitedWork(any(map(on_arxiv, references)), importance, known))
    return result
