"""What names a work outside: a DOI, an arXiv id, an ISBN or an address, each in one spelling."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import unquote, urlsplit, urlunsplit

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
_ISBN = re.compile(
    r"(?:urn:)?(?:isbn)?(?:-1[03])?:?\s*((?:97[89][\s-]?)?(?:\d[\s-]?){9}[\dx])", re.IGNORECASE
)
_TITLE_KEY = 20


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
    """The identifier that the text is, in its normal spelling; None when it is none.

    A DOI is lower-cased; an arXiv id loses its version, and a DOI that arXiv gave becomes an arXiv id; an ISBN is
    checked and becomes its 13 digits; an address loses its fragment and its final slash.
    """
    text = text.strip().strip("<>")
    return _arxiv(text) or _doi(text) or _isbn(text) or _url(text)


def _arxiv(text: str) -> Identifier | None:
    found = _ARXIV.fullmatch(_path(text))
    # Old ids are the same with and without their subject class: math.GT/0309136 is math/0309136.
    return Identifier("arxiv", re.sub(r"\.[a-z]{2}/", "/", found[1].lower())) if found else None


def _path(text: str) -> str:
    """An address without what follows ? or #, decoded; any other text as it is."""
    return unquote(re.split("[?#]", text)[0]) if text.lower().startswith("http") else text


def _doi(text: str) -> Identifier | None:
    found = _DOI.fullmatch(_path(text))
    if not found:
        return None
    value = found[1].rstrip(".,;:'\"]}>").lower()
    # A closing bracket belongs to the DOI only when it was opened in it: 10.1016/s0140-6736(20)30183-5.
    while value.endswith(")") and value.count(")") > value.count("("):
        value = value[:-1].rstrip(".,;")
    from_arxiv = _DOI_OF_ARXIV.fullmatch(value)
    return (_arxiv(from_arxiv[1]) if from_arxiv else None) or Identifier("doi", value)


def _isbn(text: str) -> Identifier | None:
    found = _ISBN.fullmatch(text)
    if not found:
        return None
    digits = re.sub(r"[\s-]", "", found[1]).upper()
    if len(digits) == 10:
        digits = _isbn13(digits) if _isbn10_holds(digits) else ""
    return Identifier("isbn", digits) if _isbn13_holds(digits) else None


def _isbn10_holds(digits: str) -> bool:
    values = [10 if digit == "X" else int(digit) for digit in digits]
    return sum((10 - place) * value for place, value in enumerate(values)) % 11 == 0


def _isbn13(digits10: str) -> str:
    stem = f"978{digits10[:9]}"
    return f"{stem}{-_weighted(stem) % 10}"


def _isbn13_holds(digits: str) -> bool:
    return len(digits) == 13 and digits.isdigit() and _weighted(digits) % 10 == 0


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
    """A title without case, accents and punctuation, its spaces collapsed (protocols, ADRA retrieval)."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", title.casefold()) if not unicodedata.combining(c))
    return " ".join(re.findall(r"[^\W_]+", bare))


def same_title(a: str, b: str) -> bool:
    """Whether two titles name one work: equal first 20 normal characters, or equal when either is shorter."""
    a, b = normal_title(a), normal_title(b)
    if min(len(a), len(b)) < _TITLE_KEY:
        return a == b != ""
    return a[:_TITLE_KEY] == b[:_TITLE_KEY]
