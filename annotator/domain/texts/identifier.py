"""Identifiers of works: DOI, arXiv id, ISBN or address, each in one normal form."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

Scheme = Literal["doi", "arxiv", "isbn", "url"]

_DOI = re.compile(
    r"(?:(?:https?://)?(?:dx\.|www\.)?doi\.org/|https?://\S+/doi/(?:abs/|full/|e?pdf/)?|doi[:\s]*)?"
    r"(10\.\d{4,9}(?:\.\d+)*/\S+)",
    re.IGNORECASE,
)
_DOI_OF_ARXIV = re.compile(r"10\.48550/arxiv\.(.+)")
_ARXIV = re.compile(
    r"(?:(?:https?://)?(?:[a-z]+\.)?arxiv\.org/(?:abs|pdf|html|ps)/|arxiv:\s*)?"
    r"(\d{4}\.\d{4,5}|[a-z][a-z-]*(?:\.[a-z]{2})?/\d{7})(?:v\d+)?(?:\.pdf)?/?",
    re.IGNORECASE,
)
# The format of arXiv ids until March 2007, as cs/0112017 and math.GT/0309136.
OLD_ARXIV = (
    r"(?:(?:acc|atom|chem|plasm)-ph(?:ys)?|adap-org|alg-geom|ao-sci|astro-ph|bayes-an|chao-dyn|cmp-lg|comp-gas"
    r"|cond-mat|cs|dg-ga|funct-an|gr-qc|hep-(?:ex|lat|ph|th)|math(?:-ph)?|mtrl-th|nlin|nucl-(?:ex|th)|patt-sol|physics"
    r"|q-(?:alg|bio)|quant-ph|solv-int|stat|supr-con)(?:\.[a-z]{2})?"
    r"/(?:9[1-9]|0[0-7])(?:0[1-9]|1[0-2])\d{3}(?!\d)"
)
_ISBN = re.compile(
    r"(?:urn:)?(?:isbn)?(?:-1[03])?:?\s*((?:97[89][\s-]?)?(?:\d[\s-]?){9}[\dx])", re.IGNORECASE
)
_TITLE_KEY = 20
# Text around an identifier that was typed or copied: labels before it, an arXiv subject class after it.
_LABEL = re.compile(
    r"(?:(?:doi|url|link|arxiv|available (?:at|from|online))\s*[:=]?\s*(?=https?://)|info:doi/|urn:doi:)",
    re.I,
)
_SUBJECT_CLASS = re.compile(r"\s*\[[a-z-]+(?:\.[a-z-]+)?\]$", re.IGNORECASE)
_PREPRINT = re.compile(
    r"arxiv(?:\s+e-?prints?|\s+preprint)?[\s:,]*(?:arxiv[\s:]*)?(?=[a-z\d])", re.IGNORECASE
)
_BARE_ADDRESS = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}/\S+", re.IGNORECASE)
# Mirrors whose addresses end in the arXiv id; publishers whose addresses hold or determine the DOI.
_MIRROR = re.compile(
    r"https?://(?:www\.)?(?:ar5iv(?:\.labs\.arxiv)?\.org|alphaxiv\.org|(?:huggingface|hf)\.co/papers)"
    r"/(?:[a-z]+/)?(\d{4}\.\d{4,5})(?:v\d+)?(?![\d.])",
    re.IGNORECASE,
)
_DOI_IN_ADDRESS = re.compile(r"[/=](10\.\d{4,9}/[^\s?#&]+)")
_AFTER_DOI = re.compile(
    r"(?:[./](?:full(?:[.-]text)?|e?pdf|abstract|html?|xml|meta|short|fulltext))+$|/+$", re.I
)
_VERSION_OF_PREPRINT = re.compile(r"(?<=\d)v\d+$")
_PUBLISHERS = (
    (re.compile(r"https?://(?:www\.)?nature\.com/articles/([\w.-]+?)(?:\.pdf)?/?$", re.I), "10.1038/{}"),
    (
        re.compile(
            r"https?://(?:www\.)?(?:aclanthology\.org|aclweb\.org/anthology)/"
            r"(20[2-9]\d\.(?:acl|emnlp|naacl|eacl|findings)[\w-]*\.\d+|[PNDEWSK]1[6-9]-\d{4})(?:\.pdf|\.bib)?/?$",
            re.I,
        ),
        "10.18653/v1/{}",
    ),
)
# Letters that Unicode does not decompose into a plain letter and a mark.
_PLAIN = str.maketrans({
    "ł": "l", "ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i", "ŋ": "n", "ŧ": "t",
    "ĸ": "k", "ƒ": "f", "ɓ": "b", "ɗ": "d", "ɛ": "e", "ə": "e", "ɔ": "o", "ƙ": "k", "ƴ": "y", "ʼ": "'", "−": "-",
})  # fmt: skip
_NAME_AND_NUMBER = re.compile(r"(?<=[^\W\d_])[-‐‒–](?=\d)|(?<=\d)[-‐‒–](?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class Identifier:
    """A parsed identifier; two that name the same work are equal."""

    scheme: Scheme
    value: str

    def __str__(self) -> str:
        return self.value if self.scheme == "url" else f"{self.scheme}:{self.value}"


# A report's claims name the same few addresses again and again.
@lru_cache(maxsize=8192)
def parse(text: str) -> Identifier | None:
    """The identifier that the text is, in its normal form; None if it is none.

    A DOI is lower-cased; an arXiv id loses its version, and a DOI that arXiv gave becomes an arXiv id; an ISBN is
    checked and becomes its 13 digits; an address loses its fragment and its final slash.
    """
    text = text.strip().strip("<>")
    return _arxiv(text) or _doi(text) or _isbn(text) or _url(text)


@lru_cache(maxsize=8192)
def work_named(text: str) -> Identifier | None:
    """The identifier of a work as a person or a report writes it, whatever page of whichever site it points to.

    An address of arXiv's mirrors, of a publisher or of the ACL Anthology yields the arXiv id or the DOI.
    """
    text = _LABEL.sub("", _visible(text).strip().strip("<>")).rstrip(".,;:!")
    bare = _SUBJECT_CLASS.sub("", text)
    preprint = _arxiv(_PREPRINT.sub("", bare, count=1)) if _PREPRINT.match(bare) else None
    address = f"https://{bare}" if not parse(bare) and _BARE_ADDRESS.fullmatch(bare) else bare
    return preprint or (_of_address(address) if address.lower().startswith("http") else parse(bare))


def _of_address(url: str) -> Identifier | None:
    """The DOI or the arXiv id in an address, otherwise the address without tracking parameters."""
    if mirror := _MIRROR.match(url):
        return parse(f"arXiv:{mirror[1]}")
    plain = parse(url)
    if plain is None or plain.scheme == "doi":
        return plain and (parse(_bare_doi(plain.value)) if "doi.org/" not in url.lower() else plain)
    if plain.scheme != "url":
        return plain
    for pattern, doi in _PUBLISHERS:
        if by_publisher := pattern.match(url):
            return parse(doi.format(by_publisher[1]))
    inside = _DOI_IN_ADDRESS.search(unquote(url))
    return parse(_bare_doi(inside[1])) if inside else parse(_untracked(url))


def _bare_doi(doi: str) -> str:
    bare = _AFTER_DOI.sub("", doi)
    # bioRxiv and medRxiv append the version to the DOI in their addresses.
    return _VERSION_OF_PREPRINT.sub("", bare) if bare.startswith("10.1101/") else bare


def _untracked(url: str) -> str:
    if "utm_" not in url:
        return url
    parts = urlsplit(url)
    parameters = [(key, value) for key, value in parse_qsl(parts.query, True) if not key.startswith("utm_")]
    return urlunsplit(parts._replace(query=urlencode(parameters)))


def different_works(a: Identifier | None, b: Identifier | None) -> bool:
    """Whether two identifiers rule out that they name one work: two different DOIs, or two different arXiv ids."""
    return a is not None and b is not None and a.scheme == b.scheme in ("doi", "arxiv") and a != b


def _arxiv(text: str) -> Identifier | None:
    result = _ARXIV.fullmatch(_path(text))
    # Old ids are the same with and without their subject class: math.GT/0309136 is math/0309136.
    return Identifier("arxiv", re.sub(r"\.[a-z]{2}/", "/", result[1].lower())) if result else None


def _path(text: str) -> str:
    """An address up to ? or #, decoded; any other text as it is."""
    return unquote(re.split("[?#]", text)[0]) if text.lower().startswith("http") else text


def _doi(text: str) -> Identifier | None:
    result = _DOI.fullmatch(_path(text))
    if not result:
        return None
    # One without an address may be copied from it, too, as 10.1002/1097-0258%3C1661.
    value = unquote(result[1]).rstrip(".,;:'\"]}>").lower()
    # A closing bracket belongs to the DOI only if it was opened in it: 10.1016/s0140-6736(20)30183-5.
    while value.endswith(")") and value.count(")") > value.count("("):
        value = value[:-1].rstrip(".,;")
    from_arxiv = _DOI_OF_ARXIV.fullmatch(value)
    return (_arxiv(from_arxiv[1]) if from_arxiv else None) or Identifier("doi", value)


def _isbn(text: str) -> Identifier | None:
    result = _ISBN.fullmatch(text)
    if not result:
        return None
    digits = re.sub(r"[\s-]", "", result[1]).upper()
    if len(digits) == 10:
        digits = _isbn13(digits) if _isbn10_holds(digits) else ""
    holds = len(digits) == 13 and digits.isdigit() and _weighted(digits) % 10 == 0
    return Identifier("isbn", digits) if holds else None


def _isbn10_holds(digits: str) -> bool:
    values = [10 if digit == "X" else int(digit) for digit in digits]
    return sum((10 - place) * value for place, value in enumerate(values)) % 11 == 0


def _isbn13(digits10: str) -> str:
    stem = f"978{digits10[:9]}"
    return f"{stem}{-_weighted(stem) % 10}"


def _weighted(digits: str) -> int:
    """The sum of an ISBN-13's digits weighted 1, 3, 1, 3 … (ISO 2108)."""
    return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))


def _url(text: str) -> Identifier | None:
    if re.search(r"\s", text):
        return None
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme not in ("http", "https") or not re.fullmatch(r"[^\s.]+(?:\.[^\s.]+)+", host):
        return None
    where = host if port in (None, 80, 443) else f"{host}:{port}"
    return Identifier("url", urlunsplit((parts.scheme, where, parts.path.rstrip("/"), parts.query, "")))


def normal_title(title: str) -> str:
    """A title without case, accents and punctuation, its spaces collapsed (protocols, ADRA retrieval).

    Letters lose their marks by Unicode's decomposition, and a few more by a table (ł, ø, æ …); invisible characters
    are dropped; a name and its number are one word, with a dash or without: GPT-4 is GPT4.
    """
    apart = unicodedata.normalize("NFKD", _visible(title).casefold()).translate(_PLAIN)
    bare = "".join(c for c in apart if not unicodedata.combining(c))
    whole = unicodedata.normalize("NFC", _NAME_AND_NUMBER.sub("", bare))
    return " ".join(re.findall(r"[^\W_]+", whole))


def _visible(text: str) -> str:
    """A text without soft hyphens, zero-width characters and direction marks."""
    return "".join(c for c in text if unicodedata.category(c) != "Cf")


def same_title(a: str, b: str) -> bool:
    """Whether two titles name one work: equal first 20 normalised characters, or equal if either is shorter."""
    a, b = normal_title(a), normal_title(b)
    if min(len(a), len(b)) < _TITLE_KEY:
        return a == b != ""
    return a[:_TITLE_KEY] == b[:_TITLE_KEY]
