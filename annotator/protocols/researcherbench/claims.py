"""Claims of a report: its statements of fact, each with its context and the cited address, if any.

ResearcherBench: claims as triplets, §4.2.1, stage 1; section by section, appendix E.2; what counts as a claim and as
its citation, appendix E.4.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.common import derived_id
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Ask, Extracted, Extraction, Material
from annotator.domain.kinds.artifact import Anchor
from annotator.domain.material.extract import Claim, Claims, ResponsePart
from annotator.domain.texts.difference import find
from annotator.domain.texts.words import word_count
from annotator.protocols.citations import (
    BULLET,
    FENCE,
    MASK,
    Citation,
    ReportCitations,
    Span,
    fetchable,
    is_heading,
    marks_in,
    normal,
    read,
    without_marks,
)
from annotator.protocols.several import ModelReply, blocks

# A sentence without a citation makes a claim if it has this many words and neither asks nor announces.
FEWEST_WORDS = 6
# In characters; text without an end, such as a table in one line, is cut.
LONGEST_STATEMENT = 2000
_CITED_BEHIND = rf"(?:[ \t]*[(\[]?{MASK}++[)\]]?[,;]?)*"
_END = re.compile(rf"(?:[.!?]+[\"'”’)\]*_]*{_CITED_BEHIND}(?=\s|$)|[。！？]{_CITED_BEHIND})[ \t]*")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|al|fig|eq|sec|no|dr|mr|ms|st|approx|resp)|\b[A-Z])\.$", re.IGNORECASE
)
_LINE = re.compile(r"[^\n]+")

# In characters. All claims of a section come in one reply, several times as long as the section.
LONGEST_SECTION = 5000
_BREAK = re.compile(r"\n[ \t\r]*\n\s*")
# Where a paragraph that is too long may be cut, the best place first.
_CUTS = (re.compile(r"\n"), re.compile(r"[.!?][\"”)\]*]*\s|[。！？]"), re.compile(r"\s"))

NAME = "researcherbench.claims.extract"
PROMPTS = (NAME,)
NOT_IN_REPORT = "url_not_in_report"
CONTEXT_MISSING = "context_missing"
# In characters.
LONGEST_TEXT, LONGEST_CONTEXT = 2000, 4000
NO_REFERENCES = "(No mark in this section leads to an address.)"

DEPARTURES = (
    "The model is shown one section at a time and, of the reference list, the entries that marks of this section name; "
    "the paper's prompt shows the whole list.",
    "A claim that several sources are cited for is several triplets, one for each: faithfulness counts every one, "
    "groundedness the claim once. The paper's triplet has one address and does not say which of several it holds.",
    "An address that does not stand in the report is dropped, and the claim then cites nothing; so is a context that "
    "is not the report's own. Both are noted on the claim.",
    "A reference that gives an arXiv id or a DOI and no address counts as citing it.",
    "When one section fails, the report has no claims: groundedness of the rest would be that of another report.",
)


class DrawnClaim(ModelReply):
    """A claim as the model found it: first the report's words, then the statement, then what it cites."""

    context: str = Field(
        max_length=LONGEST_CONTEXT,
        description="The report's sentence or passage with the claim, copied exactly",
    )
    text: str = Field(
        min_length=1, max_length=LONGEST_TEXT, description="The claim as one statement that reads alone"
    )
    url: str = Field(description="The address cited directly behind the claim; empty when there is none")


class DrawnClaims(ModelReply):
    """All claims of one section, in its order."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. For each claim write three lines that begin with CONTEXT:, CLAIM: and URL:, the last "
        "with the address or the word none, and leave one empty line before the next claim. When the section makes no "
        "claim, reply with the single word none."
    )
    claims: list[DrawnClaim] = Field(
        description="The claims in the order of the section; empty when there are none"
    )

    @classmethod
    def assumed(cls, _fields: Mapping[str, str]) -> Self:
        """The reply that an estimate assumes: the next section is asked about whatever this one claims."""
        return cls(claims=[])

    @classmethod
    def from_text(cls, text: str) -> Self:
        claims = [] if text.strip() == "none" else blocks(text, context="CONTEXT", text="CLAIM", url="URL")
        return cls.model_validate(
            {"claims": [one | {"url": "" if one["url"].lower() == "none" else one["url"]} for one in claims]}
        )


async def extract(material: Material, ask: Ask) -> Extracted:
    """C_k = Extract(Q_k, Res, Ref) of Eq. 3, section by section; no claims at all if one section failed."""
    cited = read(material.response.text)
    spans = sections(cited.report, cited.body)
    result: list[Claim] = []
    flags: set[str] = set()
    for number, span in enumerate(spans, 1):
        section = cited.report[slice(*span)]
        known = [
            f"[{mark}] {cited.references[mark]}" for mark in marks_in(section) if mark in cited.references
        ]
        fields = {
            "question": material.item.question,
            "section": section,
            "references": ("\n".join(known) or NO_REFERENCES),
        }
        answer = await ask(PROMPTS[0], fields, DrawnClaims, fenced=("question", "section", "references"))
        flags.update(answer.flags)
        if answer.status is not Status.OK:
            cause = f"section {number:,} of {len(spans):,}: {answer.cause}"
            return Extracted(None, answer.status, cause, tuple(sorted(flags)))
        for reply_claim in answer.reply.claims:
            claim, raised = _checked(cited, span, number, reply_claim)
            result.append(claim)
            flags.update(raised)
    return Extracted(_document(material, result), flags=tuple(sorted(flags)))


def _checked(cited: ReportCitations, span: Span, section: int, claim: DrawnClaim) -> tuple[Claim, list[str]]:
    """The claim with its normalised address and its context in the report's words, and the flags raised."""
    flags: list[str] = []
    notes: list[str] = []
    marks = marks_in(claim.url)
    url = cited.references.get(marks[0], "") if marks else fetchable(claim.url)
    if normal(url) not in cited.addresses:
        if claim.url.strip():
            flags.append(NOT_IN_REPORT)
            notes.append(f"The address given for it does not stand in the report: {claim.url.strip()[:500]}")
        url = ""
    place = find(cited.report[slice(*span)], claim.context)
    within = (span[0] + place[0], span[0] + place[1]) if place else None
    if within is None:
        flags.append(CONTEXT_MISSING)
        notes.append("The context given for it does not stand in the report.")
    return _claim(cited, claim.text.strip(), within, url, section, " ".join(notes)), flags


def _claim(
    cited: ReportCitations, text: str, context: Span | None, url: str, section: int, note: str = ""
) -> Claim:
    """A claim with its context's span in the report, if it has one; its id is made with the others'."""
    within = context or (0, 0)
    anchor = Anchor.at(cited.report, *within) if within[0] < within[1] else None
    words = cited.report[slice(*within)]
    return Claim(text=text, note=note, anchor=anchor, context=words, url=url, section=section)


def baseline(material: Material) -> Extracted:
    """Every sentence with a citation or a claim, with the addresses its links and marks lead to; no network."""
    cited = read(material.response.text)
    starts = [start for start, _ in sections(cited.report, cited.body)]
    result: list[Claim] = []
    for statement in statements(cited):
        section = max(1, sum(start <= statement.span[0] for start in starts))
        start, end = statement.context
        within = (start, min(end, start + LONGEST_CONTEXT))
        result += [_claim(cited, statement.text, within, url, section) for url in statement.urls or ("",)]
    return Extracted(_document(material, result))


def _document(material: Material, claims: Iterable[Claim]) -> Claims:
    """The claims as a set of triplets in their order, each with an id that depends on itself alone."""
    times: Counter[tuple[str, str]] = Counter()
    units: dict[tuple[str, str, str], Claim] = {}
    for claim in claims:
        key = claim.text, claim.context, claim.url
        if claim.text and key not in units:
            times[claim.text, claim.url] += 1
            own = claim_id(material.response.id, claim.text, claim.url, times[claim.text, claim.url])
            units[key] = claim.model_copy(update={"id": own})
    return Claims(units=tuple(units.values()))


def claim_id(response_id: str, text: str, url: str, time: int = 1) -> str:
    """The id of a claim: the same on every extraction; short, since judges copy it."""
    return "c" + derived_id("claim", response_id, text, url, time)[-12:]


CLAIMS = Extraction(
    name=NAME,
    title="Claims of a report",
    citation="ResearcherBench, §4.2.1 and appendix E.4",
    makes=ResponsePart.CLAIMS,
    prompts=PROMPTS,
    extract=extract,
    baseline=baseline,
    departures=DEPARTURES,
)


def sections(report: str, body: Iterable[Span], longest: int = LONGEST_SECTION) -> list[Span]:
    """The sections of the body's spans as half-open spans of the report, none longer than `longest`.

    Paragraphs are never joined across a reference list, and a heading stays with the text after it. A paragraph that
    is too long is cut at the end of a line, else of a sentence, else of a word, else anywhere.
    """
    result: list[Span] = []
    for stretch in body:
        last: Span | None = None
        for start, end in _paragraphs(report, stretch, longest):
            if last and end - last[0] <= longest:
                result[-1] = last = (last[0], end)
            else:
                result.append(last := (start, end))
    return result


def _paragraphs(report: str, stretch: Span, longest: int) -> Iterator[Span]:
    """The paragraphs of a span, headings joined to the next, cut to length."""
    heading: int | None = None
    for start, end in _blocks(report, stretch):
        first = start if heading is None else heading
        if is_heading(report[start:end]) and "\n" not in report[start:end]:
            heading = first
            continue
        heading = None
        yield from _cut(report, first, end, longest)
    if heading is not None:
        yield from _cut(report, heading, stretch[1], longest)


def _blocks(report: str, stretch: Span) -> Iterator[Span]:
    """The blocks between empty lines, without surrounding whitespace."""
    at = stretch[0]
    for start, end in [*(gap.span() for gap in _BREAK.finditer(report, *stretch)), (stretch[1], stretch[1])]:
        text = report[at:start]
        if text.strip():
            yield at + len(text) - len(text.lstrip()), at + len(text.rstrip())
        at = end


def _cut(report: str, start: int, end: int, longest: int) -> Iterator[Span]:
    while end - start > longest:
        cut = _place(report, start, start + longest)
        yield start, cut
        start = cut
    yield start, end


def _place(report: str, start: int, limit: int) -> int:
    """The last good place for a cut, in the second half of the allowed length."""
    for pattern in _CUTS:
        places = [match.end() for match in pattern.finditer(report, (start + limit) // 2, limit)]
        if places:
            return places[-1]
    return limit


@dataclass(frozen=True, slots=True)
class ReportStatement:
    """A sentence without its citations and marks: its span, its context, its citations."""

    text: str
    span: Span
    context: Span
    urls: tuple[str, ...]


def statements(cited: ReportCitations) -> Iterator[ReportStatement]:
    """The statements of a report's body, in order: each sentence that cites, and each that makes a claim."""
    starts = [citation.start for citation in cited.citations]
    for line in _lines(cited):
        sentences = list(_sentences(cited.masked, line))
        for place, (start, end) in enumerate(sentences):
            within = cited.citations[bisect_left(starts, start) : bisect_left(starts, end)]
            urls = tuple(dict.fromkeys(url for citation in within for url in citation.urls))
            text = without_marks(cited.masked[start:end])
            if _states(text, urls, within, table="|" in cited.masked[line[0] : line[0] + 1]):
                context = sentences[max(0, place - 1)][0], sentences[min(len(sentences), place + 2) - 1][1]
                yield ReportStatement(text, (start, end), context, urls)


def _lines(cited: ReportCitations) -> Iterator[Span]:
    """The body's lines of prose: no headings, no code; without list markers."""
    for stretch in cited.body:
        fenced = False
        for match in _LINE.finditer(cited.report, *stretch):
            if FENCE.match(match[0]):
                fenced = not fenced
            elif not fenced and not is_heading(match[0]):
                start = BULLET.match(cited.report, *match.span())
                yield start.end() if start else match.start(), match.end()


def _sentences(masked: str, line: Span) -> Iterator[Span]:
    """The sentences of a line, each with the citations behind its full stop."""
    at = line[0]
    for end in _END.finditer(masked, *line):
        following = masked[end.end() : end.end() + 1]
        if following.islower() or _ABBREVIATED.search(masked, max(at, end.start() - 10), end.start() + 1):
            continue
        yield from _pieces(at, end.end())
        at = end.end()
    if at < line[1]:
        yield from _pieces(at, line[1])


def _pieces(start: int, end: int) -> Iterator[Span]:
    for at in range(start, end, LONGEST_STATEMENT):
        yield at, min(end, at + LONGEST_STATEMENT)


def _states(text: str, urls: tuple[str, ...], within: tuple[Citation, ...], *, table: bool) -> bool:
    if not re.search(r"[^\W_]", text):
        return False
    if urls or within:
        return True
    return not table and text[-1] not in "?？:：" and word_count(text) >= FEWEST_WORDS
