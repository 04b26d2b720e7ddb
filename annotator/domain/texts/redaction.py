"""Keys in texts: removed from whatever is shown, logged or stored, and recognised in settings."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

REMOVED = "[key removed]"
_SHORTEST = 4
# So many characters of a key in a row are treated as a part of it.
_PIECE = 8
_NO_WORD = r"\d|[a-z][A-Z]"
_KEY_NAME = (
    r"(?i)api[-_ ]?key|authori[sz]ation|secret|password|credential|bearer|access[-_ ]?(?:key|token)|auth[-_ ]?token"
    r"|^token$|subscription-key|^key$"
)
# Its first letter comes first: files of a release are long.
_SHAPES = (
    r"(?=[ABeghnprsxy])(?:sk-(?=[\w-]*\d)[\w-]{16,}|(?:sk|rk|pk)_(?:live|test)_\w{16,}|AIza[\w-]{30,}|gsk_\w{20,}"
    r"|hf_[A-Za-z0-9]{20,}|xai-\w{20,}|r8_\w{20,}|gh[opsu]_\w{30,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}|xox[abp]-[\w-]{10,}|pplx-\w{20,}|nvapi-[\w-]{20,}|ya29\.[\w-]{20,}"
    r"|eyJ[\w-]{10,}\.[\w-]{10,}\.|(?:Bearer|Basic)\s+(?=\S*\d)[\w.~+/=-]{16,})"
)
# The keys that this program has handled since it was started.
_held: set[str] = set()
_HEADER = r"(?i)(\b(?:proxy-)?authorization\b[\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|basic|token|apikey)\s+)?[^\s\"',;}]+"
_NAMED = r"(?i)(\b(?:x-|x-goog-)?api[-_ ]?key\b[\"']?(?:\s+provided)?\s*[:=]\s*[\"']?)[^\s\"',;}&]{4,}"
_BEARER = r"(?i)(\bbearer\s+)[A-Za-z0-9._~+/=*-]{6,}"
_USERINFO = r"(://[^/\s:@]*:)[^/\s@]+(?=@)"
_SK = r"\bsk-[A-Za-z0-9_*.…-]{4,}"


def hold(key: str) -> None:
    """Remember a key, so that it is removed from bug reports even if nothing else identifies it as one."""
    _held.add(key)


def held() -> tuple[str, ...]:
    return tuple(_held)


def without_keys(text: str, keys: Iterable[str]) -> str:
    """A text without the keys themselves, and without eight characters of one in a row, in either direction or in
    base64.
    """
    for key in keys:
        if len(key) >= _SHORTEST and key in text:
            text = text.replace(key, REMOVED)
        for form in _forms(key):
            text = _without_pieces(text, form)
    return text


@lru_cache(maxsize=64)
def _forms(key: str) -> tuple[str, ...]:
    """A key in the forms a server may write: as it is, backwards, and in base64 at any alignment."""
    raw, coded = key.encode(), set[str]()
    for before in range(3):
        letters = b64encode(bytes(before) + raw).decode()
        own = letters[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6]
        coded |= {own, own.replace("+", "-").replace("/", "_")}
    return (key, key[::-1], *sorted(coded)) if len(key) >= _PIECE else ()


def _without_pieces(text: str, form: str) -> str:
    spans = sorted((result, result + _PIECE) for piece in _pieces(form) for result in _places(text, piece))
    parts, end = list[str](), 0
    for first, last in spans:
        if first > end or not parts:
            parts += [text[end:first], REMOVED]
        end = max(end, last)
    return "".join((*parts, text[end:])) if parts else text


@lru_cache(maxsize=512)
def _pieces(form: str) -> tuple[str, ...]:
    """The runs of `_PIECE` characters of a key; none if it has no digit and no inner capital, since it may be words."""
    every = (form[start : start + _PIECE] for start in range(len(form) - _PIECE + 1))
    return tuple(piece for piece in every if re.search(_NO_WORD, form) or re.search(_NO_WORD, piece))


def _places(text: str, piece: str) -> Iterator[int]:
    place = text.find(piece)
    while place >= 0:
        yield place
        place = text.find(piece, place + 1)


def looks_like_key(text: str) -> bool:
    """Whether a text contains something with the format of a provider's key, or of a header that carries one."""
    return bool(re.match(_SHAPES, text) or re.search(rf"[^A-Za-z0-9]{_SHAPES}", text))


def key_in_settings(settings: Any) -> str:
    """The name under which a tree of settings seems to hold a key; empty if there is none."""
    if isinstance(settings, dict):
        for name, value in settings.items():
            if (
                value
                and not isinstance(value, dict | list | bool | int | float)
                and re.search(_KEY_NAME, str(name))
            ):
                return str(name)
            inner = key_in_settings(value)
            if inner or looks_like_key(str(name)):
                return inner or "a name"
    elif isinstance(settings, list):
        return next((result for result in map(key_in_settings, settings) if result), "")
    elif isinstance(settings, str) and (
        looks_like_key(settings) or without_keys(settings, _held) != settings
    ):
        return "a value"
    return ""


def redact(text: str, keys: Iterable[str] = ()) -> str:
    """An error text or log line without keys, `sk-…` strings, passwords in addresses and authorization headers."""
    text = without_keys(text, keys)
    for pattern in (_HEADER, _NAMED, _BEARER, _USERINFO):
        text = re.sub(pattern, rf"\1{REMOVED}", text)
    return re.sub(_SK, REMOVED, text)
