"""Test items protected from crawlers and training sets: their texts encrypted as BrowseComp's are, or left out.

Each text of an encrypted item is XORed with the SHA-256 of the release's canary, repeated to its length, and written
in base64 behind a mark. The key is in the same folder: this protects texts from automatic collection, not from
anybody who wants to read them.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from annotator.exchange.release.records import (
    DecisionRecord,
    GuidelineRecord,
    ItemRecord,
    MatchRecord,
    PageRecord,
    ValidationSetRecord,
)

MARK, DECODER = "goldsmith-encrypted:", "decode.py"
# The trait of an item that names its part of the benchmark, and its value for the test part.
SPLIT, TEST = "split", "test"
_ENCRYPTED = re.compile(rb'"goldsmith-encrypted:([A-Za-z0-9+/]+=*)"')
# Records without an item that may hold words from any item.
_OF_ANY_ITEM = frozenset(
    one.FILE for one in (GuidelineRecord, PageRecord, ValidationSetRecord, MatchRecord, DecisionRecord)
)
# Fields without texts: ids, checksums, moments, names of raters and choices from a list. All others are encrypted.
_IN_THE_CLEAR = re.compile(
    r"(?:.*_)?(?:id|ids|at|on|sha256|by|rater|kind|state|stage|status|type|protocol|version|key|value)"
    r"|canary|chain|skipped|language|dataset|subject|collected|cutoff|split|system|mode|flags|format"
    r"|matcher|program|guideline|form|letters|sources|members|take|confidence"
)


def tested_by(traits: Mapping[str, Mapping[str, str]]) -> tuple[set[str], bool]:
    """The ids of the test items, and whether they are marked: if none is, all are."""
    marked = {own for own, of in traits.items() if of.get(SPLIT, "").strip().casefold() == TEST}
    return marked or {*traits}, bool(marked)


@dataclass(frozen=True, slots=True)
class Encryption:
    """The items to encrypt, and the canary that is the key."""

    items: Collection[str]
    canary: str

    def record(self, tree: Mapping[str, Any], file: str = "") -> Mapping[str, Any]:
        """A record of a file, or a flat row; those of other items stay as they are."""
        item = tree.get("id" if file == ItemRecord.FILE else "item_id")
        if file in _OF_ANY_ITEM or item in self.items:
            return {name: self.value(each, name) for name, each in tree.items()}
        return tree

    def value(self, value: Any, name: str = "") -> Any:
        """A value of a field, with every text in it encrypted unless the field's name says that it holds none."""
        if _IN_THE_CLEAR.fullmatch(name):
            return value
        if isinstance(value, dict):
            return {of: self.value(each, of) for of, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(each, name) for each in value]
        if isinstance(value, str) and value:
            return f"{MARK}{b64encode(_xor(value.encode(), self.canary)).decode()}"
        return value


def decrypted(content: bytes, canary: str) -> bytes:
    """The JSON of a release with its original texts; those that do not fit the canary stay."""

    def plain(encrypted: re.Match[bytes]) -> bytes:
        try:
            return orjson.dumps(_xor(b64decode(encrypted[1]), canary).decode())
        except ValueError:
            return encrypted[0]

    return _ENCRYPTED.sub(plain, content) if MARK.encode() in content else content


def plain_text(text: str, canaries: Iterable[str]) -> str:
    """A text decrypted with one of these canaries; any other as it is."""
    for canary in canaries if text.startswith(MARK) else ():
        plain = decrypted(orjson.dumps(text), canary)
        if MARK.encode() not in plain:
            return str(orjson.loads(plain))
    return text


def _xor(content: bytes, canary: str) -> bytes:
    size, key = len(content), sha256(canary.encode()).digest()
    mask = (key * (size // len(key) + 1))[:size]
    return (int.from_bytes(content) ^ int.from_bytes(mask)).to_bytes(size)
