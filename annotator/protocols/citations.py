"""Citations of a report: links, marks and bare addresses, and its text without them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from annotator.domain.texts.identifier import OLD_ARXIV, Identifier, parse, work_named

Span = tuple[int, int]

LONGEST_ADDRESS = 2000
ADDRESS = re.compile(r"https?://[^\s<>\"\[\]|`]+", re.IGNORECASE)
_NAMED = re.compile(
    rf"\barxiv:\s*(?:\d{{4}}\.\d{{4,5}}|{OLD_ARXIV})|(?<![\w./-]){OLD_ARXIV}"
    r"|\b10\.\d{4,9}(?:\.\d+)*/[^\s\"<>\[\]|`]+",
    re.IGNORECASE,
)
_HOMES = {"arxiv": "https://arxiv.org/abs/", "doi": "https://doi.org/"}
FENCE = re.compile(r"[ \t>]*(?:```|~~~)")
BULLET = re.compile(r"[ \t>]*(?:(?:[-+*•]|\d{1,3}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]|[ \t]*(?:\*\*|__)[^*_\n]{1,200}(?:\*\*|__)[ \t:：]*$")
_LIST_HEADING = re.compile(
    r"[\s#*_>\d.]*(?:references?(?: list| and sources)?|sources(?: cited)?|works cited|citations|bibliography"
    r"|literature(?: cited)?|参考文献|引用来源)[\s*_:：]*",
    re.IGNORECASE,
)
_DEFINITION = re.compile(r"[ \t]{0,3}\[\^?(?P<mark>[\w-]{1,20})\]:[ \t]*(?P<rest>\S.*)")
_ENTRY = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?(?:\[\^?(?=[\w-]{1,20}\])|(?=\d{1,3}[.)]))(?P<mark>[\w-]+)[\].)]:?(?P<rest>.*)"
)


def normal(url: str) -> str:
    """The normal form in which cited pages are stored and addresses compared; empty if the text is no address."""
    result = parse(url)
    return str(result) if result and result.scheme != "isbn" else ""


def fetchable(url: str) -> str:
    """The address without its fragment, or that of a DOI or an arXiv id; empty if it is none or too long."""
    result = parse(url)
    if result is None or result.scheme == "isbn":
        return ""
    given = url.strip().strip("<>").split("#")[0]
    if result.scheme == "url":
        given = str(result)
    elif not given.lower().startswith("http"):
        given = _HOMES[result.scheme] + result.value
    return given if len(given) <= LONGEST_ADDRESS else ""


# Punctuation that ends the text around an address, and no address.
_FINAL = ".,;:!?'*_’”"


def trimmed(address: str) -> str:
    """An address from running text, cut at an unmatched closing bracket and without final punctuation."""
    depth = 0
    for place, character in enumerate(address):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            address = address[:place]
            break
    return address.rstrip(_FINAL)


def addresses(text: str) -> Iterator[str]:
    """All addresses, arXiv ids and DOIs in a text, as written, addresses first."""
    for pattern in (ADDRESS, _NAMED):
        for match in pattern.finditer(text):
            yield trimmed(match[0])


def is_heading(line: str) -> bool:
    """Whether a line is a Markdown heading, or is bold from end to end."""
    return bool(_HEADING.match(line))


def has_list(report: str) -> bool:
    """Whether a report lists its references itself: under their own heading, or as definitions of marks."""
    lines = (match[0].rstrip("\n") for match in _LINE.finditer(report))
    return any(_LIST_HEADING.fullmatch(line) or _DEFINITION.match(line) for line in lines)


def parted(report: str) -> tuple[list[Span], list[tuple[str, str]]]:
    """The spans of a report's body, and the entries of its reference lists as (mark, text).

    A list begins with its heading and ends with the next one; a line that defines a mark is an entry anywhere.
    """
    body: list[Span] = []
    entries: list[tuple[str, str]] = []
    inside = False
    for match in _LINE.finditer(report):
        line = match[0].rstrip("\n")
        if listing := bool(_LIST_HEADING.fullmatch(line)) or is_heading(line):
            inside = bool(_LIST_HEADING.fullmatch(line))
        entry = _DEFINITION.match(line) or (_ENTRY.match(line) if inside else None)
        if entry:
            entries.append((entry["mark"].lower(), entry["rest"].strip()))
        elif inside and entries and not listing:
            entries[-1] = (entries[-1][0], f"{entries[-1][1]} {line.strip()}".strip())
        if not inside and not entry:
            start, end = match.span()
            if body and body[-1][1] == start:
                start, _ = body.pop()
            body.append((start, end))
    return body, entries


def led_to(entries: list[tuple[str, str]]) -> dict[str, str]:
    """Mark → address: the first address of the mark's first entry that has one."""
    result: dict[str, str] = {}
    for mark, text in entries:
        url = next(filter(None, map(fetchable, addresses(text))), "")
        if url:
            result.setdefault(mark, url)
    return result


_WORKS_NAMED = re.compile(
    rf"""
      (?P<url>https?://[^\s<>"`|\]}}\\]+)
    | (?P<doi>(?<![\w./])10\.\d{{4,9}}/[^\s<>"`|\]}}\\]+)
    | \barxiv(?:[ ]preprint)?[\s:]*+(?:arxiv[\s:]*)?(?P<arxiv>\d{{4}}\.\d{{4,5}}(?!\d)|{OLD_ARXIV})
    | (?<![\w./-])(?P<old>{OLD_ARXIV})
    | \bisbn(?:-1[03])?[\s:]*+(?P<isbn>[\d][\d -]{{8,15}}[\dxX])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LONGEST_LINK = 500
# The maximum length of a reference's identifier.
LONGEST_IDENTIFIER = 1_000


@dataclass(frozen=True, slots=True)
class NamedWork:
    """A work named at [start, end) of a text; `words` are those of the link that leads to it, empty if none."""

    start: int
    end: int
    identifier: Identifier
    words: str = ""


def named_in(text: str, start: int = 0, end: int | None = None) -> Iterator[NamedWork]:
    """The works named in text[start:end], in order; images are ignored."""
    for result in _WORKS_NAMED.finditer(text, start, len(text) if end is None else end):
        url = _trimmed(result["url"] or "")
        identifier = work_named(url) if url else _of_name(result)
        link = _link_before(text, result.start()) if url else None
        image = link is not None and text[link[0] - 1 : link[0]] == "!"
        if identifier and not image and len(str(identifier)) <= LONGEST_IDENTIFIER:
            words = text[link[0] + 1 : link[1]] if link else ""
            stop = result.start() + len(url) if url else result.end()
            yield NamedWork(link[0] if link else result.start(), stop, identifier, words)


def _of_name(match: re.Match[str]) -> Identifier | None:
    if match["doi"]:
        return parse(_trimmed(match["doi"]))
    arxiv = match["arxiv"] or match["old"]
    return parse(f"arXiv:{arxiv}" if arxiv else f"isbn:{match['isbn']}")


def _trimmed(address: str) -> str:
    """An address without its fragment, a bracket that closes the text around it, and the end of a sentence."""
    return trimmed(address.partition("#")[0]).rstrip(f"{_FINAL}…")


def _link_before(text: str, start: int) -> tuple[int, int] | None:
    """The offsets of the first bracket and of the end of the words in [words](address), for the address at `start`."""
    close = start - 3 if text[start - 1 : start] == "<" else start - 2
    if text[close : close + 2] != "](" or close < 1:
        return None
    depth = 1
    for place in range(close - 1, max(-1, close - _LONGEST_LINK), -1):
        if text[place] == "\n":
            return None
        if text[place] in "[]" and text[place - 1 : place] != "\\":
            depth += 1 if text[place] == "]" else -1
            if not depth:
                return place, close
    return None


# Replaces a citation letter for letter: offsets into a masked report are offsets into the report.
MASK = "\uf8ff"
# The maximum lengths of a link text and of a target: some quote the cited page after a "#", with spaces.
_LABEL, _TARGET = 1000, 3000
_MOST_IN_A_RANGE = 50
# Longer text is no entry of a list, but words of a source, which may name other sources.
LONGEST_ENTRY = 600
_JOINT = re.compile(r"\]\((?=https?://)", re.IGNORECASE)
_BRACKET, _PARENTHESIS = re.compile(r"[\[\]\n]"), re.compile(r"[()\n]")
_NUMBERS = r"\d{1,3}(?:[ \t]*[,;–-][ \t]*\d{1,3})*"
# A formula, in which brackets may hold anything.
_FORMULA = re.compile(r"\$[^$\n]+\$")
_VERSION = re.compile(r"v\d{1,2}\b")
_EMPTIED = re.compile(r"\\?[(\[（][\s,;\\]*[)\]）]")
_EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_MARK = re.compile(
    rf"\[\^(?P<note>[\w-]{{1,20}})\]|\[(?P<square>{_NUMBERS})\](?!\()|【(?P<wide>{_NUMBERS})[^】\n]{{0,40}}】"
)


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation: its span in the report, half-open [start, end), and the addresses it leads to.

    `label` is the span of its text if that is part of the sentence, as in “see [the survey](…)”; `lost` are its marks
    that lead to no address.
    """

    start: int
    end: int
    urls: tuple[str, ...]
    label: Span | None = None
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportCitations:
    """A report split into text and references: Res and Ref of §4.2.1.

    `masked` is the report with its citations masked; `body` the spans outside its reference lists; `entries` are
    those of its lists by mark, `references` maps its marks to addresses, `addresses` holds all that it gives in their
    normal form.
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
    """The citations of a report. `known` maps marks to addresses, for marks that the report's own lists do not resolve.

    With `every`, marks without an address are citations, too, and so are DOIs and arXiv ids in the text.
    """
    body, entries = parted(report)
    short = [entry for entry in entries if len(entry[1]) <= LONGEST_ENTRY] if every else entries
    references = {**known, **led_to(short)}
    outside = _covered(len(report), body)
    links = [link for link in _links(report) if outside[link.start]]
    linked = _covered(len(report), [(link.start, link.end) for link in links])
    marks = [c for c in _marks(report, references, every) if outside[c.start] and not linked[c.start]]
    written = _named_works(report) if every else _bare(report)
    bare = [c for c in written if outside[c.start] and not linked[c.start]]
    result = tuple(sorted([*links, *marks, *bare], key=lambda citation: citation.start))
    given = frozenset(map(normal, addresses(report))) - {""}
    listed = dict(reversed(entries))
    return ReportCitations(report, _masked(report, result), tuple(body), result, listed, references, given)


def given(report: str) -> dict[str, str]:
    """The addresses, DOIs and arXiv ids anywhere in a report: normal form → where to fetch the page."""
    result: dict[str, str] = {}
    for address in map(fetchable, addresses(report)):
        if address:
            result.setdefault(normal(address), address)
    return result


def marks_in(text: str) -> list[str]:
    return list(dict.fromkeys(mark for match in _MARK.finditer(text) for mark in _named(match)))


def without_marks(masked: str) -> str:
    """A masked sentence without its citations, the punctuation they leave behind, and Markdown marks."""
    bare = _EMPTIED.sub("", _EMPHASIS.sub("", masked.replace(MASK, "")))
    return re.sub(r"\s+([.,;:!?])", r"\1", " ".join(bare.strip(" |").split()))


def _links(report: str) -> Iterator[Citation]:
    """The Markdown links to addresses, including parentheses around a link that stands alone in them."""
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
    """The offset of the bracket that is closed at this offset, on the same line; None if there is none."""
    depth = 0
    for result in reversed(list(_BRACKET.finditer(report, max(0, at - _LABEL), at + 1))):
        depth += (result[0] == "]") - (result[0] == "[")
        if result[0] == "\n" or not depth:
            return None if depth else result.start()
    return None


def _closed(report: str, at: int) -> int | None:
    """The offset behind the parenthesis that closes the target beginning at this offset, on the same line; None if
    none.
    """
    depth = 1
    for result in _PARENTHESIS.finditer(report, at, at + _TARGET):
        depth += (result[0] == "(") - (result[0] == ")")
        if result[0] == "\n" or not depth:
            return None if depth else result.end()
    return None


def _marks(report: str, references: Mapping[str, str], every: bool) -> Iterator[Citation]:
    """The marks resolved by a reference list, and all footnote marks: a number in brackets may be anything.

    With `every` a number is a mark unless it is part of a formula or of an interval that begins at 0.
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
    """The marks that one pair of brackets holds, ranges expanded."""
    if match["note"]:
        return [match["note"].lower()]
    marks: list[str] = []
    for part in re.split(r"[ \t]*[,;][ \t]*", match["square"] or match["wide"]):
        ends = [int(number) for number in re.findall(r"\d+", part)]
        marks += [str(n) for n in range(ends[0], min(ends[-1], ends[0] + _MOST_IN_A_RANGE) + 1)]
    return marks


def _bare(report: str) -> Iterator[Citation]:
    for match in ADDRESS.finditer(report):
        address = trimmed(match[0])
        if url := fetchable(address):
            yield Citation(match.start(), match.start() + len(address), (url,))


def _named_works(report: str) -> Iterator[Citation]:
    """The works named by an address, a DOI or an arXiv id."""
    for work in named_in(report):
        version = _VERSION.match(report, work.end)
        yield Citation(work.start, version.end() if version else work.end, (str(work.identifier),))


def _covered(length: int, spans: Iterable[Span]) -> bytearray:
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
