"""The directory of a package, read record by record and refused unless it covers the whole file."""

import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels.package_layout import (
    CENTRAL,
    CENTRAL_SIGN,
    DEFLATED,
    END,
    END_SIGN,
    LARGEST_ENTRY,
    LARGEST_FILE,
    LARGEST_TOTAL,
    LOCAL_SIGN,
    LONGEST_NAME,
    MANIFEST,
    MOST_ENTRIES,
    STEEPEST,
    STORED,
    PackageEntry,
    is_name,
)
from annotator.exchange.parcels.package_manifest import AGAIN

# As far before the end as ZIP allows its end record to lie.
FURTHEST_END = 65_535 + END.size
WEB_PAGE = (b"<!doctype html", b"<html", b"<head", b"<?xml")


class DirectoryRecord(NamedTuple):
    """A record of the directory, field by field in ZIP's order."""

    sign: bytes
    made_by: int
    needed: int
    flags: int
    method: int
    time: int
    date: int
    crc: int
    packed: int
    size: int
    name_length: int
    extra_length: int
    comment_length: int
    disk: int
    internal: int
    external: int
    offset: int


class DirectoryEnd(NamedTuple):
    """The record at the end of a ZIP, field by field in ZIP's order."""

    sign: bytes
    disk: int
    first_disk: int
    entries_here: int
    entries: int
    size: int
    offset: int
    comment_length: int


@dataclass(frozen=True, slots=True)
class Directory:
    """The entries in the order in which they fill the file, and the bytes that follow the last of them."""

    members: tuple[PackageEntry, ...]
    tail: bytes


# What an attacker or another program writes, and what it is called; whatever else differs is told at the end.
_ODDITIES: tuple[tuple[Callable[[DirectoryRecord], bool], str], ...] = (
    (lambda r: bool(r.flags & 0x41), "is encrypted"),
    (lambda r: bool(r.flags & 0x08), "leaves open how long it is"),
    (lambda r: stat.S_ISLNK(r.external >> 16), "is a link to another file"),
    (lambda r: stat.S_ISDIR(r.external >> 16) or bool(r.external & 0x10), "is a folder"),
    (lambda r: bool(r.extra_length or r.comment_length), "carries hidden fields, such as those of zip64"),
    (lambda r: r.method not in (STORED, DEFLATED), "is squeezed in a way that Goldsmith never uses"),
    (lambda r: r.size > LARGEST_ENTRY, f"is larger than {LARGEST_ENTRY // 2**20} MB"),
    (lambda r: r.size > STEEPEST * r.packed, f"would grow more than {STEEPEST}-fold when unpacked"),
    (lambda r: r.method == STORED and r.packed != r.size, "gives two different lengths"),
)


def refusal(name: str, reason: str, entry: str = "") -> Refusal:
    """The refusal of a whole package for a reason, which may lie in one of its entries."""
    return Refusal(f"“{name}”{f': the entry “{entry}”' if entry else ''} {reason}.", AGAIN)


def read_directory(file: BinaryIO, name: str) -> Directory:
    """The directory of an open file; Refusal unless its entries and itself fill the file without gap or overlap.

    Reads the first and last bytes only, and never more of the directory than the most entries would need.
    """
    length = file.seek(0, 2)
    if not length:
        raise refusal(name, "is empty")
    if length > LARGEST_FILE:
        raise refusal(name, f"is larger than {LARGEST_FILE // 2**20} MB")
    _refuse_other_start(file, length, name)
    end = _end(file, length, name)
    file.seek(end.offset)
    tail = file.read(end.size + END.size)
    members = tuple(_members(tail[: end.size], end, name))
    _refuse_whole(members, name)
    return Directory(members, tail)


def _refuse_other_start(file: BinaryIO, length: int, name: str) -> None:
    file.seek(0)
    start = file.read(512)
    if start.startswith(LOCAL_SIGN):
        return
    file.seek(max(0, length - FURTHEST_END))
    if END_SIGN in file.read(FURTHEST_END) and not start.startswith(END_SIGN):
        raise refusal(name, "has something before its beginning")
    if start.removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(WEB_PAGE):
        raise refusal(name, "is a web page, not a package of Goldsmith")
    raise refusal(name, "is not a package of Goldsmith")


def _end(file: BinaryIO, length: int, name: str) -> DirectoryEnd:
    file.seek(max(0, length - FURTHEST_END))
    last = file.read(FURTHEST_END)
    place = len(last) - END.size if last[-END.size :].startswith(END_SIGN) else last.rfind(END_SIGN)
    if place < 0 or len(last) - place < END.size:
        raise refusal(name, "is cut off: its end is missing")
    if len(last) - place > END.size:
        raise refusal(name, "has something after its end")
    end = DirectoryEnd(*END.unpack(last[place:]))
    if max(end.entries, end.entries_here) > MOST_ENTRIES:
        raise refusal(name, f"holds more than {MOST_ENTRIES} entries")
    if max(end.size, end.offset) == 2**32 - 1:
        raise refusal(name, "uses zip64, which Goldsmith never does")
    sound = end.disk == end.first_disk == 0 and end.entries == end.entries_here and not end.comment_length
    whole = end.offset + end.size + END.size == length and end.size <= end.entries * (
        CENTRAL.size + LONGEST_NAME
    )
    if not (sound and whole):
        raise refusal(name, "does not add up: its end tells of another file")
    return end


def _members(directory: bytes, end: DirectoryEnd, name: str) -> Iterator[PackageEntry]:
    place = offset = 0
    for _ in range(end.entries):
        raw = directory[place : place + CENTRAL.size]
        if len(raw) < CENTRAL.size or not raw.startswith(CENTRAL_SIGN):
            raise refusal(name, "does not add up: its directory is damaged")
        record = DirectoryRecord(*CENTRAL.unpack(raw))
        place += CENTRAL.size + record.name_length
        member = _member(record, directory[place - record.name_length : place], name)
        if member.offset != offset:
            raise refusal(name, "overlaps another, or leaves a gap before it", member.name)
        if member.central_record() != directory[place - CENTRAL.size - record.name_length : place]:
            raise refusal(name, "was packed by another program, or damaged", member.name)
        offset = member.end
        yield member
    if place != len(directory) or offset != end.offset:
        raise refusal(name, "does not add up: it holds bytes that belong to no entry")


def _member(record: DirectoryRecord, raw_name: bytes, name: str) -> PackageEntry:
    # Escaped, because a name may hold marks that turn the direction of writing or cannot be seen.
    entry = raw_name.decode("ascii", "backslashreplace")
    entry = entry if entry.isprintable() else repr(entry)[1:-1]
    for is_odd, reason in _ODDITIES:
        if is_odd(record):
            raise refusal(name, reason, entry[:LONGEST_NAME])
    if not is_name(entry) or len(entry) != record.name_length:
        raise refusal(name, "has a name that no entry may have", entry[:LONGEST_NAME])
    return PackageEntry(entry, record.method, record.crc, record.packed, record.size, record.offset)


def _refuse_whole(members: tuple[PackageEntry, ...], name: str) -> None:
    seen: set[str] = set()
    for member in members:
        if member.name in seen:
            raise refusal(name, "is there twice", member.name)
        seen.add(member.name)
    if sum(member.size for member in members) > LARGEST_TOTAL:
        raise refusal(name, f"would unpack to more than {LARGEST_TOTAL // 2**20} MB")
    if not members or members[0].name != MANIFEST:
        raise refusal(name, f"does not begin with its “{MANIFEST}”")
