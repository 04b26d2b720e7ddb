"""What the whole program uses: refusals, text checked and made visible, canonical JSON and hashes, records, ids, times,
changes, numbers in words, grouping and sorting.
"""

import hashlib
import math
import re
import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

import orjson
from pydantic import AfterValidator, BaseModel, ValidationError

Known = TypeVar("Known")
Record = TypeVar("Record", bound=BaseModel)
K = TypeVar("K")
T = TypeVar("T")
V = TypeVar("V")
# The largest integer that both SQLite and the canonical JSON can hold.
_LARGEST = 2**63 - 1
NAMESPACE = uuid.UUID("9d6d5c0e-57a5-5b7e-9b0a-0f6f3e0d6a11")


class Refusal(Exception):
    """A request that cannot be met, in one sentence of what happened and one of what to do."""

    def __init__(self, happened: str, todo: str = "", details: tuple[str, ...] = ()) -> None:
        super().__init__(happened if not todo else f"{happened} {todo}")
        self.happened = happened
        self.todo = todo
        self.details = details


def in_window(words: str) -> str:
    """The text of a refusal for the window: the command at the end is for the command line alone."""
    return words.partition(" Run: ")[0]


class RoleNeeded(Refusal):
    """A request that only people with one of some `roles` may make."""

    def __init__(self, happened: str, todo: str, *roles: str) -> None:
        super().__init__(happened, todo)
        self.roles = roles


class KeyNotAllowed(Refusal):
    """A key that is available for an address, but that nobody at this machine has allowed to go there.

    `key` and `address` are written as the command `keys allow` takes them.
    """

    def __init__(self, happened: str, todo: str, key: str, address: str) -> None:
        super().__init__(happened, todo)
        self.key, self.address = key, address


def refuse_other(name: object, known: Collection[str], happened: str, offer: str = "Use one of") -> None:
    """Refusal of a name that is not among the known, which it lists."""
    if name not in known:
        raise Refusal(happened, f"{offer} {', '.join(known) or 'none'}.")


def one_of(name: str, known: Mapping[str, Known], happened: str, offer: str = "Use one of") -> Known:
    """The thing of that name; Refusal lists the names there are."""
    refuse_other(name, known, happened, offer)
    return known[name]


def required(value: Known | None, happened: str, todo: str = "") -> Known:
    """A value that must exist; Refusal if it is missing or empty."""
    if not value:
        raise Refusal(happened, todo)
    return value


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


Text = Annotated[str, AfterValidator(checked_text)]


def storable(text: str) -> str:
    """The text without unstorable characters, which come from fonts without a proper encoding, and from pasting."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def escaped(text: str) -> str:
    """The text with NUL and lone surrogates escaped: a server's text, made fit to be stored."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


# Controls but for line feed and tab, line separators, and characters that turn the direction of the letters after
# them; the isolates U+2068 and U+2069 turn nothing by themselves, and enclose names.
_HIDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066\u2067]")


def visible(text: str, form: str = "⟨U+{:04X}⟩") -> str:
    """A text whose control characters and direction overrides are written out, so that they have no effect."""
    return _HIDING.sub(lambda match: form.format(ord(match[0])), text)


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


def new_id() -> str:
    return str(uuid.uuid4())


def derived_id(*parts: str | int) -> str:
    """The same UUID for the same parts, so that importing something twice recognises it."""
    return str(uuid.uuid5(NAMESPACE, "\x1f".join(str(part) for part in parts)))


def now() -> datetime:
    """The present moment, with its zone (UTC): the store refuses naive times."""
    return datetime.now(UTC)


def local(at: datetime) -> datetime:
    """A moment in local time; in UTC if the system has none for it, as Windows before 1970."""
    try:
        return at.astimezone()
    except (OSError, OverflowError, ValueError):
        return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)


def shortened(words: str, most: int) -> str:
    """Words cut to at most so many characters, the last of which is then “…”."""
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def counted(number: int, one: str, many: str = "") -> str:
    """“1 item”, “12 items”, “1,200 units”; `many` if the plural is not `one` and an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def usd(amount: float) -> str:
    """US dollars, with as many decimal places as a small sum needs."""
    if 0 < amount < 0.0001:
        return "< $0.0001"
    return f"${amount:,.4f}" if 0 < amount < 0.1 else f"${amount:,.2f}"


def lasting(seconds: float) -> str:
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02} min"


@dataclass(frozen=True, slots=True)
class CutList(Generic[T]):
    """A list cut to a length that can be shown, and its full length."""

    rows: tuple[T, ...]
    total: int

    @property
    def words(self) -> str:
        """The length as shown: “12”, or “first 2,000 of 2,295” if it is cut."""
        shown = len(self.rows)
        return f"{self.total:,}" if shown == self.total else f"first {shown:,} of {self.total:,}"


def words_that_hold(cases: Mapping[str, object]) -> list[str]:
    """The words whose case holds, in their order."""
    return [words for words, holds in cases.items() if holds]


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """The values under each key, keys and values in their original order."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def nested(triples: Iterable[tuple[K, T, V]]) -> dict[K, dict[T, V]]:
    """The values under their first key, by their second; of several with both equal the last."""
    groups: dict[K, dict[T, V]] = {}
    for first, second, value in triples:
        groups.setdefault(first, {})[second] = value
    return groups


_DIGITS = re.compile(r"(\d+)")


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """The sort key of names in the order people expect: R2 before R10, whatever their case."""
    parts = _DIGITS.split(name.casefold())
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts)
