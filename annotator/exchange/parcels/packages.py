"""Packages: task files that go out and work files that come back."""

import hashlib
import hmac
import re
import stat
import struct
import zlib
from collections import Counter, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal
from zlib import crc32

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey
from pydantic import BaseModel, Field, model_validator

from annotator import __version__
from annotator.domain.common import Refusal, Text, canonical_json, sha256
from annotator.exchange.folders import RESERVED, parse, pretty
from annotator.exchange.release.bundle import fitting

WORDS = 6
# Letters that are distinct when read out over a telephone.
CONSONANTS, VOWELS = "bdfghklmnprstvwz", "aeio"


def new_key() -> bytes:
    """A private key from the system's random source: 32 bytes, which never leave the file of their owner."""
    return bytes(SigningKey.generate())


def public_key(private: bytes) -> str:
    return bytes(SigningKey(private).verify_key).hex()


def sign(content: bytes, private: bytes) -> str:
    """The signature of bytes in hexadecimal; the same each time."""
    return SigningKey(private).sign(content).signature.hex()


def is_signed_by(content: bytes, signature: str, public: str) -> bool:
    """Whether the owner of a public key signed exactly these bytes."""
    try:
        VerifyKey(bytes.fromhex(public)).verify(content, bytes.fromhex(signature))
    except (BadSignatureError, ValueError):
        return False
    return True


def fingerprint(public: str) -> str:
    """Six words that stand for a public key: the first 96 bits of its SHA-256, 16 bits a word."""
    digest = hashlib.sha256(b"goldsmith key\n" + bytes.fromhex(public)).digest()
    return " ".join(_word(int.from_bytes(digest[2 * place : 2 * place + 2])) for place in range(WORDS))


def _word(number: int) -> str:
    """Five letters for 16 bits: consonant, vowel, consonant, vowel, consonant."""
    letters = []
    for alphabet in (CONSONANTS, VOWELS, CONSONANTS, VOWELS, CONSONANTS):
        number, place = divmod(number, len(alphabet))
        letters.append(alphabet[place])
    return "".join(letters)


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
# Values that would differ from day to day and from machine to machine are fixed: version 2.0 of ZIP, made under Unix,
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
        """The entry's record in the directory at the end of the package."""
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


def packed(content: bytes) -> tuple[int, bytes]:
    """The compression method of an entry's content, and its packed bytes.

    Content that hardly shrinks is stored as it is; so is content that would shrink so much that it looked like a
    bomb.
    """
    squeezer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    made = squeezer.compress(content) + squeezer.flush()
    if len(made) >= len(content) or len(content) > STEEPEST * len(made):
        return STORED, content
    return DEFLATED, made


def is_name(name: str) -> bool:
    """Whether an entry may have that name: small ASCII letters, ending in .json or, under sources/, in .pdf."""
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        return False
    parts = name.split("/")
    return not any(part.split(".")[0] in RESERVED for part in parts) and (
        name.endswith(".json") or name.startswith(SOURCES)
    )


def checked_content(entry: str, content: bytes, label: str) -> Any:
    """The tree of a JSON entry, None for a PDF; Refusal unless the content is what the entry's ending says.

    `label` is the name of the entry in messages.
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
    """Refuse keys such as __proto__ and __class__, with which other languages' objects can be manipulated."""
    level = [tree]
    while level:
        for node in level:
            if isinstance(node, dict) and (key := next(filter(_DUNDER.fullmatch, node), "")):
                raise Refusal(f"“{label}” holds the key “{key}”, which no field bears.", "Rename it.")
        level = [
            part
            for node in level
            for part in (node.values() if isinstance(node, dict) else node)
            if isinstance(part, (dict, list))
        ]


Format = Literal["goldsmith-task", "goldsmith-work"]
TASK: Format = "goldsmith-task"
WORK: Format = "goldsmith-work"
# Major: changes that an older program could misread. Minor: additions that it can keep without knowing them.
FORMAT_VERSION = "2.1"
# Packages with this entry have a major version of their own: an older program would open them without it.
ADJUDICATIONS, WITH_ADJUDICATIONS = "adjudications.json", "3.0"
MAJOR = 3
AGAIN = "Nothing was changed; ask for the file again."
# The maximum number of program versions listed for a package.
MOST_PROGRAMS = 20

# Major version → the pure function that converts the JSON trees of a package to the next one. Released versions stay
# supported permanently. The content of format 1 is worded as in format 2; only its signature, an HMAC whose key
# travelled in the task, differs. Format 3 adds adjudications to format 2.
UPGRADERS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: lambda trees: trees,
    2: lambda trees: trees,
}

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Signature = Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]
Id = Annotated[Text, Field(min_length=1, max_length=200)]
_VERSION = re.compile(r"([0-9]{1,4})\.[0-9]{1,4}")
_APP_VERSION = r"^[0-9A-Za-z.+-]{1,40}$"


class PackageFacts(
    BaseModel, frozen=True, strict=True, extra="forbid", allow_inf_nan=False, defer_build=True
):
    """The packer's facts about a package; `extra` holds JSON facts that are signed with the rest."""

    format: Format
    format_version: str = Field(default=FORMAT_VERSION, pattern=r"^[0-9]{1,4}\.[0-9]{1,4}$")
    app_version: str = Field(default=__version__, pattern=_APP_VERSION)
    package_id: Id
    project_id: Id
    person_id: Id
    extra: dict[str, Any] = Field(default_factory=dict)


class EntrySum(BaseModel, frozen=True, strict=True, extra="allow", defer_build=True):
    sha256: Digest
    bytes: int = Field(ge=0)


class PackageManifest(PackageFacts, extra="allow"):
    """The facts, every entry's sum, the hash over the sums, the signer, and the signature.

    Fields that a later minor version added are kept. Format 1 has an HMAC instead, which no person signed.
    """

    entries: dict[str, EntrySum]
    content_sha256: Digest
    signer: Digest | None = Field(default=None, description="The public key, in hexadecimal")
    signature: Signature | None = None
    hmac: Digest | None = None

    @model_validator(mode="after")
    def _signed_in_one_way(self) -> "PackageManifest":
        old = _major(self.format_version) == 1
        given = [value is not None for value in (self.signer, self.signature, self.hmac)]
        if given != ([False, False, True] if old else [True, True, False]):
            raise ValueError("it is not signed as its format asks")
        return self


@dataclass(frozen=True, slots=True)
class Package:
    """A package that was read completely: every entry has the stated size and hash.

    It was signed by the owner of `signer`; whether that is the right person is for the reader to ask. If `signer` is
    empty, no person signed it, and `refuse_forged` asks for the secret. `sha256` is that of the file, `signed` the
    signed bytes, `name` the name of the file in messages.
    """

    manifest: PackageManifest
    entries: dict[str, bytes]
    sha256: str
    signed: bytes
    name: str

    @property
    def signer(self) -> str:
        """The public key of its signer; empty for a package of format 1."""
        return self.manifest.signer or ""

    @property
    def programs(self) -> tuple[str, ...]:
        """The versions of the program it was made with, the one that wrote it last."""
        listed = self.manifest.extra.get("programs")
        sound = (
            [one for one in listed if isinstance(one, str) and re.fullmatch(_APP_VERSION, one)]
            if isinstance(listed, list)
            else []
        )
        return *dict.fromkeys(
            one for one in sound[:MOST_PROGRAMS] if one != self.manifest.app_version
        ), self.manifest.app_version

    def trees(self) -> dict[str, Any]:
        """The JSON tree of each JSON entry, converted to the present major version."""
        trees = {
            entry: parse(self.entries[entry], entry) for entry in self.entries if entry.endswith(".json")
        }
        return upgrade(trees, self.manifest.format_version)


def version_for(entries: Mapping[str, bytes]) -> str:
    return WITH_ADJUDICATIONS if ADJUDICATIONS in entries else FORMAT_VERSION


def suffix(form: Format) -> str:
    return f".{form}"


def manifest_bytes(facts: PackageFacts, entries: Mapping[str, bytes], key: bytes) -> bytes:
    """The manifest of entries, signed with a private key; ValueError or TypeError if a fact is not plain JSON."""
    sums = {name: {"sha256": sha256(entries[name]), "bytes": len(entries[name])} for name in entries}
    tree = facts.model_dump() | {"entries": sums, "content_sha256": content_sha256(sums)}
    tree["signer"] = public_key(key)
    tree["signature"] = sign(signed(tree), key)
    content = pretty(tree)
    if len(content) > LARGEST_MANIFEST or checked_content(MANIFEST, content, MANIFEST) != tree:
        raise ValueError("the facts of a package must be few, and JSON")
    return content


def content_sha256(sums: Any) -> str:
    """The hash over a manifest's entry sums: equal for equal contents, however they were compressed."""
    return sha256(canonical_json(sums))


def signed(tree: Mapping[str, Any]) -> bytes:
    """The signed part of a manifest's tree: all of it but the signature, which format 1 calls `hmac`."""
    left_out = "hmac" if "hmac" in tree else "signature"
    return canonical_json({key: value for key, value in tree.items() if key != left_out})


def refuse_forged(package: Package, secret: bytes) -> None:
    """Refusal unless a package of format 1 was made with that secret and nothing was changed since."""
    made = hmac.new(secret, package.signed, hashlib.sha256).hexdigest()
    if not secret or not hmac.compare_digest(made, package.manifest.hmac or ""):
        raise _forged(package)


def _forged(package: Package) -> Refusal:
    return Refusal(
        f"“{package.name}”: the signature in “{MANIFEST}” does not fit: "
        "the file was changed after it was signed, or belongs to another assignment.",
        AGAIN,
    )


def refuse_version(tree: Mapping[str, Any], name: str) -> None:
    """Refusal if the manifest is of a later major version, or of one that never was."""
    version, app = tree.get("format_version"), tree.get("app_version")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise Refusal(f"“{name}”: “{MANIFEST}” does not say the version of its format.", AGAIN)
    if _major(version) < MAJOR and _major(version) not in UPGRADERS:
        raise Refusal(f"“{name}” has format {version}, which was never released.", AGAIN)
    if _major(version) > MAJOR:
        known = isinstance(app, str) and re.fullmatch(_APP_VERSION, app)
        raise Refusal(
            f"“{name}” needs Goldsmith ≥ {app if known else 'the one it was made with'}: "
            f"it has format {version}, and this program reads {MAJOR}.x.",
            "Install the newer Goldsmith and open the file again; nothing was changed.",
        )


def upgrade(trees: dict[str, Any], from_version: str) -> dict[str, Any]:
    """The JSON trees of a package, by entry, converted to the present major version; the given ones are not changed.

    A later minor version of the same major is taken as it is, with all its additions. KeyError from a major version
    that `refuse_version` refuses.
    """
    for major in range(_major(from_version), MAJOR):
        trees = UPGRADERS[major](trees)
    return trees


def _major(version: str) -> int:
    return int(version.partition(".")[0])


# Crockford's base 32 (https://www.crockford.com/base32.html): no I, L, O or U.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
DIGITS = 7

# The maximum distance from the end at which ZIP allows its end record.
FURTHEST_END = 65_535 + END.size
WEB_PAGE = (b"<!doctype html", b"<html", b"<head", b"<?xml")

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
    "read_content",
    "read_package",
    "receipt_code",
    "refuse_forged",
    "suffix",
    "upgrade",
]


def read_package(path: Path, expected: Format | None = None) -> Package:
    """A package that is whole and authentic; Refusal names the file, the entry, the reason and what to do.

    `expected` is its required kind. Its signature is verified; whether its signer is the right person is not checked.
    Holds the file and its content in memory, up to 200 MB each, and nothing of an entry before its length was found
    allowed.
    """
    name = path.name
    try:
        if not path.is_file():
            reason = "is a folder, not a file" if path.is_dir() else "is not there, or is no ordinary file"
            raise Refusal(f"“{name}” {reason}.", "Check the name or choose another file.")
        with path.open("rb") as file:
            return _package(file, name, expected)
    except OSError as error:
        raise Refusal(
            f"“{name}” cannot be read: {error.strerror or error}.", "Check that you may read it."
        ) from None


def read_content(content: bytes, name: str) -> Package:
    """The same for the bytes of a package; `name` is its name in messages."""
    return _package(BytesIO(content), name)


# The record of an entry in the directory, and the one at the end of a ZIP, field by field in ZIP's order.
DirectoryRecord = namedtuple(
    "DirectoryRecord",
    "sign made_by needed flags method time date crc packed size name_length extra_length comment_length disk internal "
    "external offset",
)
DirectoryEnd = namedtuple(
    "DirectoryEnd", "sign disk first_disk entries_here entries size offset comment_length"
)

# Records written by an attacker or another program, and their descriptions; other differences are reported at the
# end.
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


def read_directory(file: BinaryIO, name: str) -> tuple[tuple[PackageEntry, ...], bytes]:
    """The entries of an open file, in the order in which they fill it, and the bytes that follow the last of them.

    Refusal unless they and the directory fill the file without gap or overlap. Reads the first and last bytes only,
    and never more of the directory than the most entries would need.
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
    for entry, many in Counter(member.name for member in members).items():
        if many > 1:
            raise refusal(name, "is there twice", entry)
    if sum(member.size for member in members) > LARGEST_TOTAL:
        raise refusal(name, f"would unpack to more than {LARGEST_TOTAL // 2**20} MB")
    if not members or members[0].name != MANIFEST:
        raise refusal(name, f"does not begin with its “{MANIFEST}”")
    return members, tail


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
    # Escaped, because a name may hold characters that change the writing direction or are invisible.
    entry = raw_name.decode("ascii", "backslashreplace")
    entry = entry if entry.isprintable() else repr(entry)[1:-1]
    for is_odd, reason in _ODDITIES:
        if is_odd(record):
            raise refusal(name, reason, entry[:LONGEST_NAME])
    if not is_name(entry) or len(entry) != record.name_length:
        raise refusal(name, "has a name that no entry may have", entry[:LONGEST_NAME])
    return PackageEntry(entry, record.method, record.crc, record.packed, record.size, record.offset)


def _package(file: BinaryIO, name: str, expected: Format | None = None) -> Package:
    members, tail = read_directory(file, name)
    file.seek(0)
    content = file.read(members[-1].end + len(tail) + 1)
    if content[members[-1].end :] != tail:
        raise refusal(name, "changed while it was being read")
    first, *others = members
    tree = _sound(MANIFEST, _unpacked(content, first, name), name)
    if not isinstance(tree, dict):
        raise refusal(name, "is no object", MANIFEST)
    refuse_version(tree, name)
    manifest = _manifest(tree, name, expected)
    _refuse_other_entries(manifest, others, name)
    entries = {member.name: _entry(content, member, manifest, name) for member in others}
    package = Package(manifest, entries, sha256(content), signed(tree), name)
    if manifest.signer and not is_signed_by(package.signed, manifest.signature or "", manifest.signer):
        raise _forged(package)
    return package


def _unpacked(content: bytes, member: PackageEntry, name: str) -> bytes:
    """An entry's bytes, exactly as many as its headers say."""
    header = member.local_header()
    start = member.offset + len(header)
    if content[member.offset : start] != header:
        raise refusal(name, "says one thing at its place and another in the directory", member.name)
    made = content[start : member.end]
    if member.method == DEFLATED:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            # One byte more than allowed proves a false length without unpacking the rest.
            made = inflater.decompress(made, member.size + 1)
        except zlib.error:
            raise refusal(name, "is damaged", member.name) from None
        if len(made) != member.size or not inflater.eof or inflater.unused_data:
            raise refusal(name, "is not as long as it says", member.name)
    if crc32(made) != member.crc:
        raise refusal(name, "is damaged: its check sum (CRC) is another", member.name)
    return made


def _manifest(tree: dict[str, Any], name: str, expected: Format | None) -> PackageManifest:
    upgraded = upgrade({MANIFEST: tree}, tree["format_version"])[MANIFEST]
    happened = f"“{name}”: the entry “{MANIFEST}” does not fit"
    manifest = fitting(PackageManifest, upgraded, happened, AGAIN)
    if content_sha256(tree["entries"]) != manifest.content_sha256:
        raise refusal(name, "does not fit: the hash over its entries is another", MANIFEST)
    if expected and manifest.format != expected:
        raise Refusal(
            f"“{name}” is {KINDS[manifest.format]}, not {KINDS[expected]}.",
            f"Choose a file that ends in {suffix(expected)}; nothing was changed.",
        )
    return manifest


def _refuse_other_entries(manifest: PackageManifest, others: Iterable[PackageEntry], name: str) -> None:
    result = {member.name: member.size for member in others}
    for entry in sorted(manifest.entries.keys() ^ result.keys()):
        reason = "is not in the manifest" if entry in result else "is missing, though the manifest lists it"
        raise refusal(name, reason, entry)
    for entry, entry_sum in manifest.entries.items():
        if entry_sum.bytes != result[entry]:
            raise refusal(name, "is not as long as the manifest says", entry)


def _entry(content: bytes, member: PackageEntry, manifest: PackageManifest, name: str) -> bytes:
    made = _unpacked(content, member, name)
    if sha256(made) != manifest.entries[member.name].sha256:
        raise refusal(name, "was changed: its hash is not the one in the manifest", member.name)
    _sound(member.name, made, name)
    return made


def _sound(entry: str, content: bytes, name: str) -> Any:
    if entry == MANIFEST and len(content) > LARGEST_MANIFEST:
        raise refusal(name, f"is larger than {LARGEST_MANIFEST // 2**20} MB", MANIFEST)
    try:
        # Within the quotation marks that the messages put around the name.
        return checked_content(entry, content, f"{name}”: the entry “{entry}")
    except Refusal as refused:
        raise Refusal(refused.happened, AGAIN) from None


def package_bytes(facts: PackageFacts, entries: Mapping[str, bytes], key: bytes) -> bytes:
    """A package of JSON entries and PDFs, the manifest first and the rest by name.

    The same bytes for the same facts, entries and private key if zlib is the same; `content_sha256` is the same
    everywhere. Refusal if it could not be read again; ValueError on an invalid name.
    """
    for name, content in entries.items():
        if name == MANIFEST or not is_name(name):
            raise ValueError(f"an entry of a package cannot be called {name!r}")
        checked_content(name, content, name)
    contents = {
        MANIFEST: manifest_bytes(facts, entries, key),
        **{name: entries[name] for name in sorted(entries)},
    }
    if sum(map(len, contents.values())) > LARGEST_TOTAL:
        raise Refusal(f"The package would hold more than {LARGEST_TOTAL // 2**20} MB.", DIVIDE)
    if len(contents) > MOST_ENTRIES:
        raise Refusal(
            f"The package would hold {len(contents):,} entries; {MOST_ENTRIES} is the most.", DIVIDE
        )
    written, directory, offset = [], [], 0
    for name, content in contents.items():
        method, body = packed(content)
        member = PackageEntry(name, method, crc32(content), len(body), len(content), offset)
        written += [member.local_header(), body]
        directory.append(member.central_record())
        offset = member.end
    records = b"".join(directory)
    count = len(contents)
    return b"".join([*written, records, END.pack(END_SIGN, 0, 0, count, count, len(records), offset, 0)])


def receipt_code(digest: str) -> str:
    """The receipt of a SHA-256 in hexadecimal, such as “K7QF-2M9D”: its first 35 bits and a check character.

    The check character detects every single typing error and every swap of two characters. ValueError on anything
    shorter.
    """
    if len(digest) < 9:
        raise ValueError("too short for a hash")
    number = int(digest[:9], 16) >> 1
    values = [number >> 5 * place & 31 for place in reversed(range(DIGITS))]
    code = "".join(ALPHABET[value] for value in [*values, _residue([*values, 0])])
    return f"{code[:4]}-{code[4:]}"


def _residue(values: Iterable[int]) -> int:
    """The polynomial with these coefficients at the generator of GF(32), x⁵ + x² + 1; 0 for a valid receipt.

    The generator's powers differ, so that a change of one value, or a swap of two, is always detected.
    """
    return reduce(lambda residue, value: residue << 1 ^ (0b100101 if residue & 16 else 0) ^ value, values, 0)
