"""The canonical bytes of a text or document that is hashed, the same on every machine."""

import hashlib
import math
import re
import uuid
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import AfterValidator, BaseModel, ValidationError

from annotator.domain.texts.refusal import Refusal

# The largest integer that both SQLite and the canonical JSON can hold.
_LARGEST = 2**63 - 1


def checked_text(text: str) -> str:
    """The text itself, unchanged.

    Raises ValueError on NUL or a lone surrogate: SQLite would store them, UTF-8 could not.
    """
    if "\x00" in text:
        raise ValueError("contains a NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"contains half of a surrogate pair at position {error.start}") from None
    return text


def storable(text: str) -> str:
    """The text without unstorable characters, which come from fonts without a proper encoding, and from pasting."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def escaped(text: str) -> str:
    """The text with NUL and lone surrogates escaped: a server's text, made fit to be stored."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


Text = Annotated[str, AfterValidator(checked_text)]


def checked_tree(value: Any, path: str = "") -> Any:
    """A JSON tree whose every string and number may be stored; Refusal names the place of the first that may not."""
    try:
        if isinstance(value, str):
            checked_text(value)
        elif isinstance(value, float) and not math.isfinite(value):
            raise ValueError("is not a finite number")
        elif isinstance(value, int) and not -_LARGEST <= value <= _LARGEST:
            raise ValueError("is a number of more than 64 bits")
        elif isinstance(value, dict):
            for key, part in value.items():
                checked_tree(key, f"{path}.{key!a}")
                checked_tree(part, f"{path}.{key}")
        elif isinstance(value, list):
            for index, part in enumerate(value):
                checked_tree(part, f"{path}[{index}]")
    except ValueError as error:
        raise Refusal(
            f"The value at {path or 'the top'} {error}.", "Correct the file and try again."
        ) from None
    return value


def canonical_json(tree: Any) -> bytes:
    """A JSON tree as UTF-8 bytes with sorted keys and no spare space, for hashing and signing."""
    return orjson.dumps(tree, option=orjson.OPT_SORT_KEYS)


def sha256(content: bytes | str) -> str:
    """The SHA-256 of bytes, or of a text's UTF-8, in hexadecimal."""
    return hashlib.sha256(content.encode("utf-8") if isinstance(content, str) else content).hexdigest()


class FrozenRecord(BaseModel, frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True):
    """A record that does not change once it is made; unknown fields and infinite numbers are refused."""


NAMESPACE = uuid.UUID("9d6d5c0e-57a5-5b7e-9b0a-0f6f3e0d6a11")


def new_id() -> str:
    return str(uuid.uuid4())


def derived_id(*parts: str | int) -> str:
    """The same UUID for the same parts, so that importing something twice recognises it."""
    return str(uuid.uuid5(NAMESPACE, "\x1f".join(str(part) for part in parts)))


def now() -> datetime:
    """The present moment, with its zone (UTC): the store refuses naive times."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Change:
    """The result of every action, as stored in the audit and emitted to every view.

    `kind` is the noun of the subject ("artifact", "judgement", "item" …), `subject` its id; `before` and `after` are
    JSON trees, enough to restore the subject.
    """

    kind: str
    subject: str
    verb: str
    before: Any = None
    after: Any = None
    by: str = ""
    at: datetime | None = None
    seq: int = 0

    @property
    def undoable(self) -> bool:
        return self.before is not None


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


Record = TypeVar("Record", bound=BaseModel)
# Controls but for line feed and tab, line separators, and characters that turn the direction of the letters after
# them; the isolates U+2068 and U+2069 turn nothing by themselves, and enclose names.
_HIDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066\u2067]")


def visible(text: str, form: str = "⟨U+{:04X}⟩") -> str:
    """A text whose control characters and direction overrides are written out, so that they have no effect."""
    return _HIDING.sub(lambda match: form.format(ord(match[0])), text)


def well_formed(model: type[Record], values: Mapping[str, Any], between: str = " ") -> Record:
    """The record of these values; Refusal names the first that does not fit, such as too long a note.

    `between` separates the words of its name.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]).replace("_", between) or "value"
        raise Refusal(f"The {name} does not fit: {first['msg'].lower()}.", "Nothing was changed.") from None
