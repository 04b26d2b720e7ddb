"""Packages: task files that go out and work files that come back."""

import hashlib
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from zlib import crc32

from pydantic import ValidationError

from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels.package_layout import (
    CENTRAL,
    CENTRAL_SIGN,
    DEFLATED,
    DIVIDE,
    END,
    END_SIGN,
    LARGEST_ENTRY,
    LARGEST_FILE,
    LARGEST_MANIFEST,
    LARGEST_TOTAL,
    LOCAL_SIGN,
    LONGEST_NAME,
    MANIFEST,
    MOST_ENTRIES,
    STEEPEST,
    STORED,
    PackageEntry,
    checked_content,
    end_record,
    is_name,
    packed,
)
from annotator.exchange.parcels.package_manifest import (
    AGAIN,
    FORMAT_VERSION,
    TASK,
    UPGRADERS,
    WORK,
    Format,
    Package,
    PackageFacts,
    PackageManifest,
    content_sha256,
    manifest_bytes,
    refuse_altered,
    refuse_forged,
    refuse_version,
    signed,
    suffix,
    upgrade,
)
from annotator.exchange.parcels.signatures import fingerprint, new_key, public_key
from annotator.exchange.release.bundle import in_words

# Crockford's base 32 (https://www.crockford.com/base32.html): no I, L, O or U.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
DIGITS = 7

# As far before the end as ZIP allows its end record to lie.
FURTHEST_END = 65_535 + END.size
WEB_PAGE = (b"<!doctype html", b"<html", b"<head", b"<?xml")

CHUNK = 64 * 1024
KINDS = {TASK: "a task for an annotator", "goldsmith-work": "the work that comes back from an annotator"}

__all__ = [
    "FORMAT_VERSION",
    "TASK",
    "UPGRADERS",
    "WORK",
    "Format",
    "Package",
    "PackageFacts",
    "PackageManifest",
    "fingerprint",
    "new_key",
    "package_bytes",
    "public_key",
    "read_package",
    "receipt_code",
    "refuse_forged",
    "suffix",
    "upgrade",
]


def read_package(path: Path, expected: Format | None = None) -> Package:
    """A package that is whole and says so itself; Refusal names the file, the entry, the reason and what to do.

    `expected` is the kind it must be of. Its signature holds; whether its
    signer is the right person is not looked at. Holds up to 200 MB of content in memory, and nothing of an
    entry before its length was found allowed.
    """
    name = path.name
    try:
        if not path.is_file():
            reason = "is a folder, not a file" if path.is_dir() else "is not there, or is no ordinary file"
            raise Refusal(f"“{name}” {reason}.", "Check the name or choose another file.")
        with path.open("rb") as file:
            return _Reading(file, name).package(expected)
    except OSError as error:
        raise Refusal(
            f"“{name}” cannot be read: {error.strerror or error}.", "Check that you may read it."
        ) from None


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


class _Reading:
    """One pass over an open file from its first byte to its last, hashing what it takes."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self.file = file
        self.digest = hashlib.sha256()

    def package(self, expected: Format | None) -> Package:
        directory = read_directory(self.file, self.name)
        self.file.seek(0)
        first, *others = directory.members
        tree = self._manifest_tree(self._content(first))
        manifest = self._manifest(tree, expected)
        self._refuse_other_entries(manifest, directory)
        entries = {member.name: self._entry(member, manifest) for member in others}
        if self._take(len(directory.tail)) != directory.tail or self.file.read(1):
            raise refusal(self.name, "changed while it was being read")
        package = Package(manifest, entries, self.digest.hexdigest(), signed(tree), self.name)
        refuse_altered(package)
        return package

    def _take(self, count: int) -> bytes:
        taken = self.file.read(count)
        self.digest.update(taken)
        return taken

    def _content(self, member: PackageEntry) -> bytes:
        """An entry's bytes, which are exactly as many as its headers say."""
        header = member.local_header()
        if self._take(len(header)) != header:
            raise refusal(self.name, "says one thing at its place and another in the directory", member.name)
        try:
            content = b"".join(self._stored(member) if member.method == STORED else self._inflated(member))
        except zlib.error:
            raise refusal(self.name, "is damaged", member.name) from None
        if zlib.crc32(content) != member.crc:
            raise refusal(self.name, "is damaged: its check sum (CRC) is another", member.name)
        return content

    def _stored(self, member: PackageEntry) -> Iterator[bytes]:
        left = member.packed
        while left:
            chunk = self._take(min(CHUNK, left))
            if not chunk:
                raise refusal(self.name, "changed while it was being read")
            left -= len(chunk)
            yield chunk

    def _inflated(self, member: PackageEntry) -> Iterator[bytes]:
        inflater, room = zlib.decompressobj(-zlib.MAX_WBITS), member.size
        for chunk in self._stored(member):
            # One byte more than is allowed tells a lie without unpacking the rest of it.
            made = inflater.decompress(chunk, room + 1)
            room -= len(made)
            if room < 0 or inflater.unused_data:
                break
            yield made
        if room or not inflater.eof or inflater.unused_data:
            raise refusal(self.name, "is not as long as it says", member.name)

    def _manifest_tree(self, content: bytes) -> dict[str, Any]:
        if len(content) > LARGEST_MANIFEST:
            raise refusal(self.name, f"is larger than {LARGEST_MANIFEST // 2**20} MB", MANIFEST)
        tree = self._sound(MANIFEST, content)
        if not isinstance(tree, dict):
            raise refusal(self.name, "is no object", MANIFEST)
        refuse_version(tree, self.name)
        return tree

    def _manifest(self, tree: dict[str, Any], expected: Format | None) -> PackageManifest:
        told = upgrade({MANIFEST: tree}, tree["format_version"])[MANIFEST]
        try:
            manifest = PackageManifest.model_validate(told)
        except ValidationError as error:
            raise refusal(self.name, f"does not fit: {in_words(error)}", MANIFEST) from None
        if content_sha256(tree["entries"]) != manifest.content_sha256:
            raise refusal(self.name, "does not fit: the hash over its entries is another", MANIFEST)
        if expected and manifest.format != expected:
            raise Refusal(
                f"“{self.name}” is {KINDS[manifest.format]}, not {KINDS[expected]}.",
                f"Choose a file that ends in {suffix(expected)}; nothing was changed.",
            )
        return manifest

    def _refuse_other_entries(self, manifest: PackageManifest, directory: Directory) -> None:
        found = {member.name: member.size for member in directory.members[1:]}
        for entry in sorted(manifest.entries.keys() ^ found.keys()):
            reason = (
                "is not in the manifest" if entry in found else "is missing, though the manifest lists it"
            )
            raise refusal(self.name, reason, entry)
        for entry, told in manifest.entries.items():
            if told.bytes != found[entry]:
                raise refusal(self.name, "is not as long as the manifest says", entry)

    def _entry(self, member: PackageEntry, manifest: PackageManifest) -> bytes:
        content = self._content(member)
        if sha256(content) != manifest.entries[member.name].sha256:
            raise refusal(self.name, "was changed: its hash is not the one in the manifest", member.name)
        self._sound(member.name, content)
        return content

    def _sound(self, entry: str, content: bytes) -> Any:
        try:
            # Within the quotation marks that the messages put around what they speak of.
            return checked_content(entry, content, f"{self.name}”: the entry “{entry}")
        except Refusal as refused:
            raise Refusal(refused.happened, AGAIN) from None


def package_bytes(facts: PackageFacts, entries: Mapping[str, bytes], key: bytes) -> bytes:
    """A package of JSON entries and PDFs, the manifest first and the rest by name.

    The same bytes for the same facts, entries and private key wherever zlib is the same; `content_sha256` is the same
    everywhere. Refusal when it could not be read again; ValueError on a name that is none.
    """
    for name, content in entries.items():
        if name == MANIFEST or not is_name(name):
            raise ValueError(f"an entry of a package cannot be called {name!r}")
        checked_content(name, content, name)
    contents = {MANIFEST: manifest_bytes(facts, entries, key)}
    contents |= {name: entries[name] for name in sorted(entries)}
    _refuse_too_much(contents)
    written, directory, offset = [], [], 0
    for name, content in contents.items():
        method, body = packed(content)
        member = PackageEntry(name, method, crc32(content), len(body), len(content), offset)
        written += [member.local_header(), body]
        directory.append(member.central_record())
        offset = member.end
    records = b"".join(directory)
    return b"".join([*written, records, end_record(len(contents), len(records), offset)])


def _refuse_too_much(contents: Mapping[str, bytes]) -> None:
    if sum(map(len, contents.values())) > LARGEST_TOTAL:
        raise Refusal(f"The package would hold more than {LARGEST_TOTAL // 2**20} MB.", DIVIDE)
    if len(contents) > MOST_ENTRIES:
        raise Refusal(
            f"The package would hold {len(contents):,} entries; {MOST_ENTRIES} is the most.", DIVIDE
        )


def receipt_code(digest: str) -> str:
    """The receipt of a SHA-256 in hexadecimal, such as “K7QF-2M9D”: its first 35 bits and a check character.

    The check character tells every single slip and every swap of two characters. ValueError on anything shorter.
    """
    if len(digest) < 9:
        raise ValueError("too short for a hash")
    number = int(digest[:9], 16) >> 1
    values = [number >> 5 * place & 31 for place in reversed(range(DIGITS))]
    code = "".join(ALPHABET[value] for value in [*values, _residue([*values, 0])])
    return f"{code[:4]}-{code[4:]}"


def _residue(values: Iterable[int]) -> int:
    """The polynomial with these coefficients at the generator of GF(32), x⁵ + x² + 1; 0 for a sound receipt.

    The generator's powers differ, so that a change of one value, or a swap of two, cannot go unseen.
    """
    residue = 0
    for value in values:
        residue <<= 1
        residue ^= (0b100101 if residue & 32 else 0) ^ value
    return residue
