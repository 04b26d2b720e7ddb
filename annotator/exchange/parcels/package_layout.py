"""The byte layout of a package: one fixed form of ZIP, for writing and for reading."""

import re
import struct
import zlib
from dataclasses import dataclass
from typing import Any

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.folders import RESERVED
from annotator.exchange.reading import parse

MANIFEST = "manifest.json"
SOURCES = "sources/"
MOST_ENTRIES = 2_000
LONGEST_NAME = 120
LARGEST_MANIFEST = 4 * 2**20
LARGEST_ENTRY = 50 * 2**20
LARGEST_TOTAL = 200 * 2**20
LARGEST_FILE = LARGEST_TOTAL + 2**20
STEEPEST = 200
# A JSON tree takes up to a hundred bytes of memory for each of its commas and brackets.
MOST_VALUES = 1_000_000
DIVIDE = "Divide it, or leave it out; nothing was written."

STORED, DEFLATED, LEVEL = 0, 8, 6
LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
LOCAL_SIGN, CENTRAL_SIGN, END_SIGN = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
# What would differ from day to day and from machine to machine is fixed: version 2.0 of ZIP, made under Unix,
# midnight of 1 January 1980, and an ordinary file that its owner may write and all may read.
NEEDED, MADE_BY, TIME, DATE, MODE = 20, 3 << 8 | 20, 0, 1 << 5 | 1, 0o100644 << 16

_NAME = re.compile(r"(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*/)*[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.(?:json|pdf)")
_MAY_HOLD_DUNDER = re.compile(rb'"__|\\u005[fF]')
_DUNDER = re.compile(r"__\w+__")


@dataclass(frozen=True, slots=True)
class PackageEntry:
    """One entry of a package's directory; sizes and the offset in bytes."""

    name: str
    method: int
    crc: int
    packed: int
    size: int
    offset: int

    @property
    def end(self) -> int:
        return self.offset + LOCAL.size + len(self.name) + self.packed

    def local_header(self) -> bytes:
        facts = (NEEDED, 0, self.method, TIME, DATE, self.crc, self.packed, self.size, len(self.name), 0)
        return LOCAL.pack(LOCAL_SIGN, *facts) + self.name.encode("ascii")

    def central_record(self) -> bytes:
        """What the directory at the end of the package says of the entry."""
        facts = (
            MADE_BY,
            NEEDED,
            0,
            self.method,
            TIME,
            DATE,
            self.crc,
            self.packed,
            self.size,
            len(self.name),
        )
        return CENTRAL.pack(CENTRAL_SIGN, *facts, 0, 0, 0, 0, MODE, self.offset) + self.name.encode("ascii")


def end_record(count: int, size: int, offset: int) -> bytes:
    """The last bytes of a package: how many entries, and how long the directory is and where it begins."""
    return END.pack(END_SIGN, 0, 0, count, count, size, offset, 0)


def packed(content: bytes) -> tuple[int, bytes]:
    """How an entry's content is kept, and as which bytes.

    What hardly shrinks is stored as it is; so is what would shrink so much that it looked like a bomb.
    """
    squeezer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    made = squeezer.compress(content) + squeezer.flush()
    if len(made) >= len(content) or len(content) > STEEPEST * len(made):
        return STORED, content
    return DEFLATED, made


def is_name(name: str) -> bool:
    """Whether an entry may bear that name: small ASCII letters, ending in .json or, under sources/, in .pdf."""
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        return False
    parts = name.split("/")
    return not any(part.split(".")[0] in RESERVED for part in parts) and (
        name.endswith(".json") or name.startswith(SOURCES)
    )


def checked_content(entry: str, content: bytes, label: str) -> Any:
    """The tree of a JSON entry, None for a PDF; Refusal unless the content is what the entry's ending says.

    `label` is what the entry is called in messages.
    """
    if len(content) > LARGEST_ENTRY:
        raise Refusal(f"“{label}” is larger than {LARGEST_ENTRY // 2**20} MB.", DIVIDE)
    if entry.endswith(".pdf"):
        # Readers of PDF allow up to 1 024 bytes before its mark.
        if b"%PDF-" not in content[:1024] or content.startswith(LOCAL_SIGN):
            raise Refusal(f"“{label}” is not a PDF.", "Leave it out, or add it again.")
        return None
    if sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise Refusal(f"“{label}” holds more than {MOST_VALUES:,} values.".replace(",", " "), DIVIDE)
    tree = parse(content, label)
    if _MAY_HOLD_DUNDER.search(content):
        _refuse_dunders(tree, label)
    return tree


def _refuse_dunders(tree: Any, label: str) -> None:
    """Refuse keys such as __proto__ and __class__, by which other languages' objects can be turned."""
    level = [tree]
    while level:
        for node in level:
            if isinstance(node, dict) and (key := next(filter(_DUNDER.fullmatch, node), "")):
                raise Refusal(f"“{label}” holds the key “{key}”, which no field bears.", "Rename it.")
        level = [part for node in level for part in _parts(node) if isinstance(part, (dict, list))]


def _parts(node: dict[str, Any] | list[Any]) -> list[Any]:
    return list(node.values()) if isinstance(node, dict) else node
