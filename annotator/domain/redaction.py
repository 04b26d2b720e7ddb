"""How a secret is kept out of whatever is shown, stored or logged."""

import re
from collections.abc import Iterable

REMOVED = "[key removed]"
_SHORTEST = 4
# The keys that this program has had in its hands since it was started.
_held: set[str] = set()
_HEADER = re.compile(
    r"(\b(?:proxy-)?authorization\b[\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|basic|token|apikey)\s+)?[^\s\"',;}]+",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(\b(?:x-|x-goog-)?api[-_ ]?key\b[\"']?(?:\s+provided)?\s*[:=]\s*[\"']?)[^\s\"',;}&]{4,}", re.IGNORECASE
)
_BEARER = re.compile(r"(\bbearer\s+)[A-Za-z0-9._~+/=*-]{6,}", re.IGNORECASE)
_USERINFO = re.compile(r"(://[^/\s:@]*:)[^/\s@]+(?=@)")
_SK = re.compile(r"\bsk-[A-Za-z0-9_*.…-]{4,}")


def hold(key: str) -> None:
    """Note a key, so that it is kept out of a report of a fault even where nothing else tells that it is one."""
    _held.add(key)


def held() -> tuple[str, ...]:
    """The keys noted so far."""
    return tuple(_held)


def without_keys(text: str, keys: Iterable[str]) -> str:
    """A text in which the keys themselves, whole, no longer stand; nothing else is touched."""
    for key in keys:
        if len(key) >= _SHORTEST and key in text:
            text = text.replace(key, REMOVED)
    return text


def redact(text: str, keys: Iterable[str] = ()) -> str:
    """An error text or log line without keys, `sk-…` strings, passwords in addresses and authorization headers."""
    text = without_keys(text, keys)
    for pattern in (_HEADER, _NAMED, _BEARER, _USERINFO):
        text = pattern.sub(rf"\1{REMOVED}", text)
    return _SK.sub(REMOVED, text)
