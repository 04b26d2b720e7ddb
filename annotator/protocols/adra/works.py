"""Which works a text names: by address, DOI, arXiv id or ISBN, and in what words a link speaks of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from annotator.domain.identifier import Identifier, parse

_NAMED = re.compile(
    r"""
      (?P<url>https?://[^\s<>"`|\]}\\]+)
    | (?P<doi>(?<![\w./])10\.\d{4,9}/[^\s<>"`|\]}\\]+)
    | \barxiv(?:[ ]preprint)?[\s:]*+(?:arxiv[\s:]*)?(?P<arxiv>\d{4}\.\d{4,5}|[a-z]+(?:-[a-z]+)?/\d{7})(?!\d)
    | \bisbn(?:-1[03])?[\s:]*+(?P<isbn>[\d][\d -]{8,15}[\dxX])
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Mirrors whose addresses end in the arXiv id; publishers whose addresses hold or make the DOI.
_MIRROR = re.compile(
    r"https?://(?:www\.)?(?:ar5iv(?:\.labs\.arxiv)?\.org|alphaxiv\.org|(?:huggingface|hf)\.co/papers)"
    r"/(?:[a-z]+/)?(\d{4}\.\d{4,5})(?:v\d+)?(?![\d.])",
    re.IGNORECASE,
)
_DOI_IN_PATH = re.compile(r"/(10\.\d{4,9}/[^\s?#&]+)")
_AFTER_DOI = re.compile(
    r"(?:[./](?:full(?:[.-]text)?|e?pdf|abstract|html?|xml|meta|short|fulltext))+$|/+$", re.I
)
_VERSION_OF_PREPRINT = re.compile(r"(?<=\d)v\d+$")
_PUBLISHERS = (
    (re.compile(r"https?://(?:www\.)?nature\.com/articles/([\w.-]+?)(?:\.pdf)?/?$", re.I), "10.1038/{}"),
    (
        re.compile(
            r"https?://(?:www\.)?aclanthology\.org/"
            r"(20[2-9]\d\.(?:acl|emnlp|naacl|eacl|findings)[\w-]*\.\d+)(?:\.pdf)?/?$",
            re.I,
        ),
        "10.18653/v1/{}",
    ),
)
_LONGEST_LINK = 500
# As much as a reference may hold.
LONGEST_IDENTIFIER = 1_000


@dataclass(frozen=True, slots=True)
class Named:
    """A work named at [start, end) of a text; `words` are those of the link that leads to it, empty for none."""

    start: int
    end: int
    identifier: Identifier
    words: str = ""


def named_in(text: str, start: int = 0, end: int | None = None) -> Iterator[Named]:
    """The works named in text[start:end], in order; what an image shows is none."""
    for found in _NAMED.finditer(text, start, len(text) if end is None else end):
        url = _trimmed(found["url"] or "")
        identifier = _of_address(url) if url else _of_name(found)
        link = _link_before(text, found.start()) if url else None
        image = link is not None and text[link[0] - 1 : link[0]] == "!"
        if identifier and not image and len(str(identifier)) <= LONGEST_IDENTIFIER:
            words = text[link[0] + 1 : link[1]] if link else ""
            stop = found.start() + len(url) if url else found.end()
            yield Named(link[0] if link else found.start(), stop, identifier, words)


def _of_name(found: re.Match[str]) -> Identifier | None:
    if found["doi"]:
        return parse(_trimmed(found["doi"]))
    return parse(f"arXiv:{found['arxiv']}" if found["arxiv"] else f"isbn:{found['isbn']}")


def _of_address(url: str) -> Identifier | None:
    """The DOI or the arXiv id that an address gives away, otherwise the address without what tracks its reader."""
    mirror = _MIRROR.match(url)
    plain = parse(f"arXiv:{mirror[1]}" if mirror else url)
    if plain is None or plain.scheme != "url":
        return plain
    for pattern, doi in _PUBLISHERS:
        if by_publisher := pattern.match(url):
            return parse(doi.format(by_publisher[1]))
    in_path = _DOI_IN_PATH.search(url)
    return parse(_bare_doi(in_path[1])) if in_path else parse(_untracked(url))


def _bare_doi(doi: str) -> str:
    bare = _AFTER_DOI.sub("", doi)
    # bioRxiv and medRxiv add the version to the DOI in their addresses.
    return _VERSION_OF_PREPRINT.sub("", bare) if bare.startswith("10.1101/") else bare


def _untracked(url: str) -> str:
    if "utm_" not in url:
        return url
    parts = urlsplit(url)
    kept = [(key, value) for key, value in parse_qsl(parts.query, True) if not key.startswith("utm_")]
    return urlunsplit(parts._replace(query=urlencode(kept)))


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
