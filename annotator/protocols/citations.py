"""Citations of a report: links, marks and bare addresses, and its text without them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from annotator.protocols.reference_lists import (
    ADDRESS,
    Span,
    addresses,
    fetchable,
    led_to,
    normal,
    parted,
    trimmed,
)
from annotator.protocols.works import named_in

# Stands, letter for letter, where a citation stood: offsets into a masked report are offsets into the report.
MASK = "\uf8ff"
# The longest link text, and the longest target: some quote the cited page after a "#", with spaces.
_LABEL, _TARGET = 1000, 3000
_MOST_IN_A_RANGE = 50
# Longer is no entry of a list, but words of a source, which may name other sources.
LONGEST_ENTRY = 600
_JOINT = re.compile(r"\]\((?=https?://)", re.IGNORECASE)
_BRACKET, _PARENTHESIS = re.compile(r"[\[\]\n]"), re.compile(r"[()\n]")
_NUMBERS = r"\d{1,3}(?:[ \t]*[,;–-][ \t]*\d{1,3})*"
# A formula, in which brackets hold anything.
_FORMULA = re.compile(r"\$[^$\n]+\$")
_VERSION = re.compile(r"v\d{1,2}\b")
_EMPTIED = re.compile(r"\\?[(\[（][\s,;\\]*[)\]）]")
_EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_MARK = re.compile(
    rf"\[\^(?P<note>[\w-]{{1,20}})\]|\[(?P<square>{_NUMBERS})\](?!\()|【(?P<wide>{_NUMBERS})[^】\n]{{0,40}}】"
)


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation: its place in the report, half-open [start, end), and the addresses it leads to.

    `label` is the place of its text where that is part of the sentence, as in “see [the survey](…)”; `lost` are its
    marks that lead to no address.
    """

    start: int
    end: int
    urls: tuple[str, ...]
    label: Span | None = None
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportCitations:
    """A report split into text and references: Res and Ref of §4.2.1.

    `masked` is the report with its citations blotted out; `body` the stretches outside its reference lists;
    `entries` are those of its lists by mark, `references` says what its marks lead to, `addresses` holds all that it
    gives in their normal spelling.
    """

    report: str
    masked: str
    body: tuple[Span, ...]
    citations: tuple[Citation, ...]
    entries: Mapping[str, str]
    references: Mapping[str, str]
    addresses: frozenset[str]


def read(
    report: str, known: Mapping[str, str] = MappingProxyType({}), *, every: bool = False
) -> ReportCitations:
    """What a report cites, and where. `known` are addresses by mark, for marks of which its own lists give none.

    With `every` a mark that leads nowhere is a citation, too, and so is a DOI or an arXiv id in the text.
    """
    body, entries = parted(report)
    short = [one for one in entries if len(one[1]) <= LONGEST_ENTRY] if every else entries
    references = {**known, **led_to(short)}
    outside = _covered(len(report), body)
    links = [link for link in _links(report) if outside[link.start]]
    linked = _covered(len(report), [(link.start, link.end) for link in links])
    marks = [c for c in _marks(report, references, every) if outside[c.start] and not linked[c.start]]
    written = _named_works(report) if every else _bare(report)
    bare = [c for c in written if outside[c.start] and not linked[c.start]]
    found = tuple(sorted([*links, *marks, *bare], key=lambda citation: citation.start))
    given = frozenset(map(normal, addresses(report))) - {""}
    listed = dict(reversed(entries))
    return ReportCitations(report, _masked(report, found), tuple(body), found, listed, references, given)


def given(report: str) -> dict[str, str]:
    """The addresses, DOIs and arXiv ids that a report gives anywhere: normal spelling → where to fetch the page."""
    found: dict[str, str] = {}
    for address in map(fetchable, addresses(report)):
        if address:
            found.setdefault(normal(address), address)
    return found


def marks_in(text: str) -> list[str]:
    """The marks that stand in a text, each once, in order."""
    return list(dict.fromkeys(mark for match in _MARK.finditer(text) for mark in _named(match)))


def without_marks(masked: str) -> str:
    """A masked sentence without its citations, what they leave behind, and the marks of Markdown."""
    bare = _EMPTIED.sub("", _EMPHASIS.sub("", masked.replace(MASK, "")))
    return re.sub(r"\s+([.,;:!?])", r"\1", " ".join(bare.strip(" |").split()))


def _links(report: str) -> Iterator[Citation]:
    """The Markdown links to addresses, with the parentheses around one that stands alone between them."""
    for joint in _JOINT.finditer(report):
        start, end = _opened(report, joint.start()), _closed(report, joint.end())
        address = ADDRESS.match(report, joint.end())
        if start is None or end is None or address is None:
            continue
        url = fetchable(trimmed(address[0]))
        label = report[start + 1 : joint.start()]
        alone = report[start - 1 : start] in ("(", "（") or re.fullmatch(r"[\s\d,^]*", label)
        if report[start - 1 : start] == "(" and report[end : end + 1] == ")":
            start, end = start - 1, end + 1
        inside = None if alone else (joint.start() - len(label), joint.start())
        yield Citation(start, end, (url,) if url else (), inside)


def _opened(report: str, at: int) -> int | None:
    """Where the bracket opens that closes at this place, on the same line."""
    depth = 0
    for found in reversed(list(_BRACKET.finditer(report, max(0, at - _LABEL), at + 1))):
        depth += (found[0] == "]") - (found[0] == "[")
        if found[0] == "\n" or not depth:
            return None if depth else found.start()
    return None


def _closed(report: str, at: int) -> int | None:
    """Just behind the parenthesis that closes the target which begins at this place, on the same line."""
    depth = 1
    for found in _PARENTHESIS.finditer(report, at, at + _TARGET):
        depth += (found[0] == "(") - (found[0] == ")")
        if found[0] == "\n" or not depth:
            return None if depth else found.end()
    return None


def _marks(report: str, references: Mapping[str, str], every: bool) -> Iterator[Citation]:
    """The marks that a reference list knows, and all footnote marks: a number in brackets may be anything.

    With `every` it is a mark wherever it is neither part of a formula nor an interval that begins at 0.
    """
    formula = _covered(len(report), (match.span() for match in _FORMULA.finditer(report)) if every else ())
    for match in _MARK.finditer(report):
        named = _named(match)
        urls = tuple(dict.fromkeys(references[mark] for mark in named if mark in references))
        lost = tuple(mark for mark in named if mark not in references)
        interval = len(named) > 1 and named[0] == "0"
        if urls or match["note"] or (every and not interval and not formula[match.start()]):
            yield Citation(*match.span(), urls, lost=lost)


def _named(match: re.Match[str]) -> list[str]:
    """The marks that one pair of brackets holds, ranges written out."""
    if match["note"]:
        return [match["note"].lower()]
    marks: list[str] = []
    for part in re.split(r"[ \t]*[,;][ \t]*", match["square"] or match["wide"]):
        ends = [int(number) for number in re.findall(r"\d+", part)]
        marks += [str(n) for n in range(ends[0], min(ends[-1], ends[0] + _MOST_IN_A_RANGE) + 1)]
    return marks


def _bare(report: str) -> Iterator[Citation]:
    """The addresses that are written out."""
    for match in ADDRESS.finditer(report):
        address = trimmed(match[0])
        if url := fetchable(address):
            yield Citation(match.start(), match.start() + len(address), (url,))


def _named_works(report: str) -> Iterator[Citation]:
    """The works that are named by an address, a DOI or an arXiv id."""
    for one in named_in(report):
        version = _VERSION.match(report, one.end)
        yield Citation(one.start, version.end() if version else one.end, (str(one.identifier),))


def _covered(length: int, spans: Iterable[Span]) -> bytearray:
    """For each character, whether one of the stretches holds it."""
    covered = bytearray(length)
    for start, end in spans:
        covered[start:end] = b"\1" * (end - start)
    return covered


def _masked(report: str, citations: Iterable[Citation]) -> str:
    letters = list(report.replace(MASK, " "))
    for citation in citations:
        inner = citation.label or (citation.end, citation.end)
        for start, end in ((citation.start, inner[0]), (inner[1], citation.end)):
            letters[start:end] = MASK * (end - start)
    return "".join(letters)
