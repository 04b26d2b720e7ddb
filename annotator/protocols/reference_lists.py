"""References of a report: where its lists stand, where entries lead, how addresses compare."""

import re
from collections.abc import Iterator

from annotator.domain.texts.identifier import OLD_ARXIV, parse

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
    """The spelling by which a cited page is kept and two addresses are compared; empty when it is none."""
    found = parse(url)
    return str(found) if found and found.scheme != "isbn" else ""


def fetchable(url: str) -> str:
    """The address without its fragment, or that of a DOI or an arXiv id; empty when it is none or too long."""
    found = parse(url)
    if found is None or found.scheme == "isbn":
        return ""
    given = url.strip().strip("<>").split("#")[0]
    if found.scheme == "url":
        given = str(found)
    elif not given.lower().startswith("http"):
        given = _HOMES[found.scheme] + found.value
    return given if len(given) <= LONGEST_ADDRESS else ""


def trimmed(address: str) -> str:
    """An address found in running text, up to a bracket that was not opened in it and without a final stop."""
    depth = 0
    for place, character in enumerate(address):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            address = address[:place]
            break
    return address.rstrip(".,;:!?'*_’”")


def addresses(text: str) -> Iterator[str]:
    """All addresses, arXiv ids and DOIs that a text gives, as they stand in it, addresses first."""
    for pattern in (ADDRESS, _NAMED):
        for match in pattern.finditer(text):
            yield trimmed(match[0])


def is_heading(line: str) -> bool:
    """Whether a line is a heading of Markdown, or is bold from end to end."""
    return bool(_HEADING.match(line))


def has_list(report: str) -> bool:
    """Whether a report lists its references itself: under a heading of their own, or as definitions of marks."""
    lines = (match[0].rstrip("\n") for match in _LINE.finditer(report))
    return any(_LIST_HEADING.fullmatch(line) or _DEFINITION.match(line) for line in lines)


def parted(report: str) -> tuple[list[Span], list[tuple[str, str]]]:
    """The stretches of a report that are its body, and the entries of its reference lists as (mark, text).

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
            _extend(body, match.span())
    return body, entries


def led_to(entries: list[tuple[str, str]]) -> dict[str, str]:
    """What marks lead to: the first address of the first entry that gives one."""
    found: dict[str, str] = {}
    for mark, text in entries:
        url = next(filter(None, map(fetchable, addresses(text))), "")
        if url:
            found.setdefault(mark, url)
    return found


def _extend(spans: list[Span], span: Span) -> None:
    """Add a stretch, joined to the last one when it follows it."""
    if spans and spans[-1][1] == span[0]:
        spans[-1] = (spans[-1][0], span[1])
    else:
        spans.append(span)
