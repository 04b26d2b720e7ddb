"""Works named in a text: by address, DOI, arXiv id or ISBN, and the words of each link."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from annotator.domain.texts.identifier import OLD_ARXIV, Identifier, parse, work_named

_NAMED = re.compile(
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
# As much as a reference may hold.
LONGEST_IDENTIFIER = 1_000


@dataclass(frozen=True, slots=True)
class NamedWork:
    """A work named at [start, end) of a text; `words` are those of the link that leads to it, empty for none."""

    start: int
    end: int
    identifier: Identifier
    words: str = ""


def named_in(text: str, start: int = 0, end: int | None = None) -> Iterator[NamedWork]:
    """The works named in text[start:end], in order; what an image shows is none."""
    for found in _NAMED.finditer(text, start, len(text) if end is None else end):
        url = _trimmed(found["url"] or "")
        identifier = work_named(url) if url else _of_name(found)
        link = _link_before(text, found.start()) if url else None
        image = link is not None and text[link[0] - 1 : link[0]] == "!"
        if identifier and not image and len(str(identifier)) <= LONGEST_IDENTIFIER:
            words = text[link[0] + 1 : link[1]] if link else ""
            stop = found.start() + len(url) if url else found.end()
            yield NamedWork(link[0] if link else found.start(), stop, identifier, words)


def _of_name(found: re.Match[str]) -> Identifier | None:
    if found["doi"]:
        return parse(_trimmed(found["doi"]))
    arxiv = found["arxiv"] or found["old"]
    return parse(f"arXiv:{arxiv}" if arxiv else f"isbn:{found['isbn']}")


def _trimmed(address: str) -> str:
    """An address without its fragment, a bracket that closes the text around it, and the end of a sentence."""
    depth, end = 0, len(address)
    for place, character in enumerate(address):
        depth += (character == "(") - (character == ")")
        if depth < 0 or character == "#":
            end = place
            break
    return address[:end].rstrip(".,;:!?*_'”’…")


def _link_before(text: str, start: int) -> tuple[int, int] | None:
    """Where [words](address) has its first bracket and the end of its words, when the address stands at `start`."""
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
