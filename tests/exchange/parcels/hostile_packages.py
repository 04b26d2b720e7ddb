"""Packages that must be refused, each made from a good one by a ZIP that is written record by record.

Every field of such a ZIP can be told otherwise than it is. `HOSTILE` names each package by its case and makes it from
the bytes of any good package that holds a JSON entry.
"""

import hashlib
import hmac
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from nacl.signing import SigningKey

from tests.material.bundles import HOSTILE as HOSTILE_JSON

MANIFEST = "manifest.json"
LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
LOCAL_FIELDS = [
    "needed",
    "flags",
    "method",
    "time",
    "date",
    "crc",
    "packed",
    "size",
    "name_length",
    "extra_length",
]
CENTRAL_FIELDS = ["made_by", *LOCAL_FIELDS, *["comment_length", "disk", "internal", "external", "offset"]]


@dataclass
class Part:
    """An entry; what `both`, `local` and `central` name is written instead of what is true.

    `body` replaces the squeezed content, `gap` stands before the entry.
    """

    name: bytes
    content: bytes
    body: bytes = b""
    both: dict[str, int] = field(default_factory=dict)
    local: dict[str, int] = field(default_factory=dict)
    central: dict[str, int] = field(default_factory=dict)
    extra: bytes = b""
    comment: bytes = b""
    gap: bytes = b""
    method: int = 0

    def __post_init__(self) -> None:
        squeezed = deflated(self.content)
        if not self.body and len(squeezed) < len(self.content) <= 200 * len(squeezed):
            self.method, self.body = 8, squeezed
        self.body = self.body or self.content

    def facts(self, offset: int) -> dict[str, int]:
        """Every field of the headers, as it is in truth or as both headers tell it."""
        return {
            "made_by": 3 << 8 | 20, "needed": 20, "flags": 0, "method": self.method, "time": 0, "date": 33,
            "crc": zlib.crc32(self.content), "packed": len(self.body), "size": len(self.content),
            "name_length": len(self.name), "extra_length": len(self.extra), "comment_length": len(self.comment),
            "disk": 0, "internal": 0, "external": 0o100644 << 16, "offset": offset,
        } | self.both  # fmt: skip

    def lying(self, offset: int) -> bytes:
        told = self.facts(offset) | self.local
        header = LOCAL.pack(b"PK\x03\x04", *(told[name] for name in LOCAL_FIELDS))
        return header + self.name + self.extra + self.body

    def record(self, offset: int) -> bytes:
        told = self.facts(offset) | self.central
        header = CENTRAL.pack(b"PK\x01\x02", *(told[name] for name in CENTRAL_FIELDS))
        return header + self.name + self.extra + self.comment


def deflated(content: bytes) -> bytes:
    squeezer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return squeezer.compress(content) + squeezer.flush()


def laid_out(parts: Iterable[Part]) -> tuple[bytes, list[bytes]]:
    body, records = b"", []
    for part in parts:
        body += part.gap
        records.append(part.record(len(body)))
        body += part.lying(len(body))
    return body, records


def finished(body: bytes, records: list[bytes]) -> bytes:
    directory = b"".join(records)
    tail = END.pack(b"PK\x05\x06", 0, 0, len(records), len(records), len(directory), len(body), 0)
    return body + directory + tail


def zipped(parts: Iterable[Part]) -> bytes:
    return finished(*laid_out(parts))


def contents(good: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(good)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def parts(entries: Mapping[str, bytes]) -> list[Part]:
    return [Part(name.encode(), content) for name, content in entries.items()]


def victim(entries: Mapping[str, bytes]) -> str:
    """The first JSON entry after the manifest."""
    return next(name for name in entries if name != MANIFEST and name.endswith(".json"))


def canonical(tree: Any) -> bytes:
    """Sorted keys, no spare space, UTF-8."""
    return json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def with_sums(tree: dict[str, Any], entries: Mapping[str, bytes], **first: Any) -> bytes:
    """A manifest with the true sums of the other entries, its signature as it was; `first` is told of the victim."""
    sums = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in entries.items()
        if name != MANIFEST
    }
    if first:
        sums[victim(entries)] |= first
    return spelled(tree | {"entries": sums, "content_sha256": hashlib.sha256(canonical(sums)).hexdigest()})


def spelled(tree: Any) -> bytes:
    return (json.dumps(tree, sort_keys=True, indent=2, ensure_ascii=False) + "\n").encode()


def repacked(good: bytes, change: Callable[[dict[str, bytes]], object] = lambda _: None) -> bytes:
    entries = contents(good)
    change(entries)
    entries[MANIFEST] = with_sums(json.loads(entries[MANIFEST]), entries)
    return zipped(parts(entries))


def with_manifest(good: bytes, key: bytes = b"", **facts: Any) -> bytes:
    """The package with facts of its manifest changed, and signed again when a private key is given."""
    entries = contents(good)
    tree = json.loads(entries[MANIFEST]) | facts
    return zipped(parts(entries | {MANIFEST: spelled(signed_again(tree, key) if key else tree)}))


def signed_again(tree: dict[str, Any], key: bytes) -> dict[str, Any]:
    tree = {name: value for name, value in tree.items() if name != "signature"}
    tree["signer"] = bytes(SigningKey(key).verify_key).hex()
    return tree | {"signature": SigningKey(key).sign(canonical(tree)).signature.hex()}


def forged(good: bytes, key: bytes, change: Callable[[dict[str, bytes]], object], **facts: Any) -> bytes:
    """The package with its payload changed, all sums put right, and signed by the owner of that private key."""
    return with_manifest(repacked(good, change), key, **facts)


def of_format_1(good: bytes, secret: bytes, **facts: Any) -> bytes:
    """The package as the first format had it: with an HMAC in place of a person's signature."""
    entries = contents(good)
    tree = json.loads(entries[MANIFEST]) | {"format_version": "1.0"} | facts
    tree = {name: value for name, value in tree.items() if name not in ("signer", "signature")}
    tree["hmac"] = hmac.new(secret, canonical(tree), "sha256").hexdigest()
    return zipped(parts(entries | {MANIFEST: spelled(tree)}))


Attack = Callable[[bytes], bytes]
HTML = b"<!DOCTYPE html><html><body>Please sign in to open this file.</body></html>\n"
LINK, FOLDER = 0o120777 << 16, 0o40755 << 16 | 0x10
MILLION, NONE_SAID = 1_000_000, 2**32 - 1


def _chosen(good: bytes) -> tuple[list[Part], Part]:
    entries = contents(good)
    made = parts(entries)
    return made, made[list(entries).index(victim(entries))]


def _told(**told: Any) -> Attack:

    def made(good: bytes) -> bytes:
        made_parts, part = _chosen(good)
        for name, value in told.items():
            setattr(part, name, value)
        return zipped(made_parts)

    return made


def _length(other: Callable[[int], int], *headers: str) -> Attack:
    """The victim's length is another in some headers; the manifest tells what the directory tells."""

    def made(good: bytes) -> bytes:
        told = other(len(_chosen(good)[1].content))
        made_parts, part = _chosen(good if headers == ("local",) else _sums(bytes=told)(good))
        for header in headers:
            getattr(part, header)["size"] = told
        return zipped(made_parts)

    return made


def _manifest(change: Callable[[bytes], bytes]) -> Attack:

    def made(good: bytes) -> bytes:
        entries = contents(good)
        return zipped(parts(entries | {MANIFEST: change(entries[MANIFEST])}))

    return made


def _facts(**facts: Any) -> Attack:
    return lambda good: with_manifest(good, **facts)


def _sums(**wrong: Any) -> Attack:
    """What the manifest tells of the victim is changed, and the hash over it fits."""

    def made(good: bytes) -> bytes:
        entries = contents(good)
        entries[MANIFEST] = with_sums(json.loads(entries[MANIFEST]), entries, **wrong)
        return zipped(parts(entries))

    return made


def _renamed(name: str) -> Attack:
    def change(entries: dict[str, bytes]) -> None:
        entries[name] = entries.pop(victim(entries))

    return partial(repacked, change=change)


def _added(name: str, content: bytes) -> Attack:
    return partial(repacked, change=lambda entries: entries.update({name: content}))


def _payload(content: bytes) -> Attack:
    """The victim holds something else; all sums fit."""
    return partial(repacked, change=lambda entries: entries.update({victim(entries): content}))


def _twice(good: bytes) -> bytes:
    made, part = _chosen(good)
    return zipped([*made, Part(part.name, b"[]")])


def _case_twin(good: bytes) -> bytes:
    return repacked(good, lambda entries: entries.update({victim(entries).upper(): b"[]"}))


def _with_parts(*more: Part) -> Attack:
    return lambda good: zipped([*parts(contents(good)), *more])


def _missing(good: bytes) -> bytes:
    entries = contents(good)
    del entries[victim(entries)]
    return zipped(parts(entries))


def _manifest_last(good: bytes) -> bytes:
    return zipped(parts(contents(good))[::-1])


def _other_content(good: bytes) -> bytes:
    """As long as the true one, with the check sum that fits: only the hash in the manifest tells."""
    entries = contents(good)
    name = victim(entries)
    entries[name] = bytes([entries[name][0] ^ 1]) + entries[name][1:]
    return zipped(parts(entries))


@cache
def alike(megabytes: int, letter: bytes = b"\x00") -> bytes:
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    # After a full flush nothing refers to what came before, so that the same bytes may follow again.
    million = squeezer.compress(letter * 10**6) + squeezer.flush(zlib.Z_FULL_FLUSH)
    return million * megabytes + squeezer.flush()


def _bomb(squeezed: Callable[[], bytes], size: int) -> Attack:
    """The victim unpacks to something long, and both headers and the manifest say that it has `size` bytes."""

    def made(good: bytes) -> bytes:
        entries = contents(good)
        entries[MANIFEST] = with_sums(json.loads(entries[MANIFEST]), entries, bytes=size)
        bomb = Part(victim(entries).encode(), b"", squeezed(), {"size": size, "method": 8})
        return zipped(bomb if part.name == bomb.name else part for part in parts(entries))

    return made


def _shared_body(good: bytes) -> bytes:
    """200 entries whose records all point at one and the same content."""
    entries = contents(good)
    entries |= dict.fromkeys([f"copy-{n:03}.json" for n in range(200)], b"[1]")
    entries[MANIFEST] = with_sums(json.loads(entries[MANIFEST]), entries)
    whole = parts(entries)
    body, records = laid_out(whole[:-199])
    place = len(body) - len(whole[-200].lying(0))
    return finished(body, records + [part.record(place) for part in whole[-199:]])


def _swallowing(good: bytes) -> bytes:
    made, part = _chosen(good)
    after = Part(b"swallowed.json", b"[]")
    part.central = {"packed": len(part.body) + len(after.lying(0))}
    made.insert(made.index(part) + 1, after)
    return zipped(made)


def _million(count: int, *, zip64: bool = False) -> Attack:
    """A million records of the same tiny entry; the end record tells of `count` of them."""

    def made(_: bytes) -> bytes:
        part = Part(b"a.json", b"1")
        body, record = part.lying(0), part.record(0)
        size = len(record) * MILLION
        end = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, MILLION, MILLION, size, len(body))
        end += struct.pack("<4sIQI", b"PK\x06\x07", 0, len(body) + size, 1)
        last = END.pack(b"PK\x05\x06", 0, 0, count, count, size, len(body), 0)
        return b"".join([body, record * MILLION, end if zip64 else b"", last])

    return made


def _zip64_end(good: bytes) -> bytes:
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, len(good), 1)
    return good[:-22] + locator + good[-22:-6] + b"\xff" * 4 + good[-2:]


def _zip64_entry(good: bytes) -> bytes:
    made, part = _chosen(good)
    part.extra = struct.pack("<2H2Q", 1, 16, len(part.content), len(part.body))
    part.both = {"size": NONE_SAID, "packed": NONE_SAID, "needed": 45}
    return zipped(made)


def _gap(good: bytes, *, first: bool) -> bytes:
    """Bytes before an entry that belong to none, with all offsets made right."""
    made, part = _chosen(good)
    (made[0] if first else part).gap = b"MZ" + bytes(510)
    return zipped(made)


def _gap_at_the_end(good: bytes) -> bytes:
    body, records = laid_out(parts(contents(good)))
    return finished(body + b"hidden", records)


def _flip(good: bytes, at: int) -> bytes:
    return good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :]


def _entry_flipped(good: bytes) -> bytes:
    _, part = _chosen(good)
    return _flip(good, good.index(part.lying(0)) + 30 + len(part.name) + len(part.body) // 2)


def _manifest_flipped(good: bytes) -> bytes:
    made, _ = _chosen(good)
    return _flip(good, len(made[0].lying(0)) - len(made[0].body) // 2)


def _directory_flipped(good: bytes) -> bytes:
    return _flip(good, len(laid_out(parts(contents(good)))[0]) + 16)


def _other_name(good: bytes) -> bytes:
    _, part = _chosen(good)
    at = good.index(part.lying(0)) + 30
    return good[:at] + b"x" * len(part.name) + good[at + len(part.name) :]


def _long_text(megabytes: int) -> bytes:
    return b'["' + b"x" * (megabytes * 2**20) + b'"]'


# Names that lead out of a folder, or that some system takes for something else than a name.
_NAMES = {
    "C29 parent path": "../evil.json",
    "C29 parent path inside": "sources/../../evil.json",
    "C30 absolute path": "/abs.json",
    "C31 drive letter": "C:\\x.json",
    "C31 backslash": "..\\x.json",
    "C31 backslash in a folder": "sources\\x.json",
    "C32 device": "CON",
    "C32 device with an ending": "con.json",
    "C32 device as a folder": "aux/a.json",
    "C32 second stream": "a.json:stream",
    "C32 trailing space": "a.json ",
    "C32 trailing dot": "a.json.",
    "C32 line break": "a\n.json",
    "C32 NUL": "a.json\x00.pdf",
    "C32 hidden name": ".a.json",
    "C32 empty folder name": "a//b.json",
    "C32 name of 305 letters": "a" * 300 + ".json",
    "C39 nested zip": "inner.zip",
    "C68 name written from right to left": "\u202enosj.json",
    "C68 name with a Cyrillic letter": "r\u0435port.json",
    "a program": "run.exe",
    "a PDF outside sources": "a.pdf",
}
# What of the payload's JSON must be refused, by its name in tests/material/bundles.py.
JSON_CASES = {
    "C57": ("NaN", "Infinity", "1e999"),
    "C58": ("duplicate keys", "duplicate keys, one escaped"),
    "C59": ("5,000-digit whole number", "whole number of 64 bits"),
    "C60": ("depth 900", "depth 100,000", "depth 100,000 of objects"),
    "C61": ("lone surrogate", "lone surrogate as a key"),
    "C62": ("NUL", "raw control character"),
    "C63": ("UTF-16", "UTF-16 without a mark", "invalid UTF-8", "overlong UTF-8"),
    "C64": ("trailing comma", "comment", "two documents", "empty", "truncated", "single quotes", "HTML"),
}
_INNER = zipped([Part(b"inside.json", b"[]")])

HOSTILE: dict[str, Attack] = {
    **{case: _renamed(name) for case, name in _NAMES.items()},
    "C33 the same name twice": _twice,
    "C33 case twin": _case_twin,
    "C34 symlink": _told(central={"external": LINK}),
    "C34 folder": _with_parts(Part(b"sources/", b"", central={"external": FOLDER})),
    "C35 entry not in the manifest": _with_parts(Part(b"more.json", b"[]")),
    "C36 entry missing": _missing,
    "C36 no manifest": lambda good: zipped(parts(contents(good))[1:]),
    "C36 manifest last": _manifest_last,
    "C37 other content": _other_content,
    "C37 wrong hash": _sums(sha256="0" * 64),
    "C37 wrong length": _sums(bytes=1),
    "C37 wrong hash over the entries": _facts(content_sha256="0" * 64),
    "C37 wrong signature": _facts(signature="0" * 128),
    "C37 another signer": _facts(signer="0" * 64),
    "C37 a key that travels along": _facts(signer=None, signature=None, hmac="0" * 64),
    "C37 signed in two ways": _facts(hmac="0" * 64),
    "C37 said to be of the format without a signature": _facts(format_version="1.0"),
    "C37 other person written in by hand": _facts(person_id="somebody else"),
    "C37 other fact written in by hand": _facts(extra={"revision": 99}),
    "C37 unknown field written in by hand": _facts(note="approved"),
    "C38 500 MB of zeros": _bomb(partial(alike, 500), 500_000_000),
    "C38 500 MB of zeros said to be 1 MB": _bomb(partial(alike, 500), 1_000_000),
    "C38 49 MB of zeros": _bomb(partial(alike, 49), 49_000_000),
    "C38 six times 40 MB": _with_parts(
        *(Part(b"m%d.json" % n, b"", bytes(2**18), {"size": 40 * 2**20, "method": 8}) for n in range(6))
    ),
    "C39 nested zip called JSON": _added("inner.json", _INNER),
    "C39 nested zip called PDF": _added("sources/inner.pdf", _INNER),
    "C39 nested zip with a PDF's mark": _added("sources/inner.pdf", _INNER + b"%PDF-1.7"),
    "C40 200 entries sharing one body": _shared_body,
    "C40 an entry that reaches over the next": _swallowing,
    "C41 length too small": _length(lambda true: true - 1, "both"),
    "C41 length too great": _length(lambda true: true + 1, "both"),
    "C41 length of zero": _length(lambda _: 0, "both"),
    "C41 length only wrong in the directory": _length(lambda true: true + 1, "central"),
    "C41 length only wrong at its place": _length(lambda true: true + 1, "local"),
    "C41 length left open": _told(both={"flags": 8}, local={"size": 0, "packed": 0, "crc": 0}),
    "C41 other name at its place": _other_name,
    "C41 zip64 lengths": _zip64_entry,
    "C41 zip64 end": _zip64_end,
    "C41 wrong check sum": _told(both={"crc": 1}),
    "C41 unknown method": _told(both={"method": 12}),
    "C41 second name in a hidden field": _told(extra=struct.pack("<2H", 0x7075, 0)),
    "C42 a million entries": _million(0xFFFF, zip64=True),
    "C42 a million entries, counted by 16 bits": _million(MILLION % 2**16),
    "C42 a million entries said to be one": _million(1),
    "C42 2 500 entries": lambda good: zipped([*parts(contents(good)), *[Part(b"a.json", b"1")] * 2500]),
    "C43 encrypted": _told(both={"flags": 1}),
    "C43 strongly encrypted": _told(both={"flags": 0x41}),
    "C44 cut at half": lambda good: good[: len(good) // 2],
    "C44 last byte gone": lambda good: good[:-1],
    "C44 last record gone": lambda good: good[:-22],
    "C44 first byte gone": lambda good: good[1:],
    "C44 middle gone": lambda good: good[: len(good) // 3] + good[len(good) // 2 :],
    "C45 one bit of an entry flipped": _entry_flipped,
    "C45 one bit of the manifest flipped": _manifest_flipped,
    "C45 one bit of the directory flipped": _directory_flipped,
    "C46 HTML before": lambda good: HTML + good,
    "C46 HTML after": lambda good: good + HTML,
    "C46 junk after": lambda good: good + b"\x00",
    "C46 a comment": lambda good: good[:-2] + struct.pack("<H", 6) + b"hidden",
    "C46 a comment on an entry": _told(comment=b"hidden"),
    "C46 another package before": lambda good: good + good,
    "C46 a program before, with offsets that fit": partial(_gap, first=True),
    "C46 a gap between entries": partial(_gap, first=False),
    "C46 a gap before the directory": _gap_at_the_end,
    "C46 bytes after an entry's content": lambda good: _told(body=_chosen(good)[1].body + b"more")(good),
    "HTML instead": lambda _: HTML,
    "text instead": lambda _: b"Dear all,\nplease find attached",
    "a PDF instead": lambda _: b"%PDF-1.7\n" + bytes(2000),
    "random bytes instead": lambda good: bytes(byte ^ 0xA5 for byte in good),
    "nothing instead": lambda _: b"",
    "C66 manifest of 5 MB": _facts(extra={"note": "".join(map(str, range(900_000)))}),
    "packed again by another program": _told(both={"time": 0x6000, "date": 0x5921}),
    "201 MB of anything": lambda good: good + bytes(201 * 2**20),
    "another zip instead": lambda _: zipped([Part(b"word/document.json", b"{}")]),
    "an empty zip instead": lambda _: finished(b"", []),
    "C53 newer major format": _facts(format_version="4.0", app_version="9.1.0", entries=[]),
    "format that was never released": _facts(format_version="0.9"),
    "format not said": _facts(format_version=None),
    "format unknown": _facts(format="goldsmith-release"),
    **{
        f"{case} {name}": _payload(HOSTILE_JSON[name][0])
        for case, names in JSON_CASES.items()
        for name in names
    },
    "C58 duplicate keys in the manifest": _manifest(
        lambda raw: raw.replace(b"{", b'{"format": "goldsmith-work",', 1)
    ),
    "C57 NaN in the manifest": _facts(extra={"score": float("nan")}),
    "C61 lone surrogate in the manifest": _manifest(
        lambda raw: raw.replace(b'"extra": {', b'"extra": {"a": "\\ud800",')
    ),
    "C63 manifest in UTF-16": _manifest(lambda raw: raw.decode().encode("utf-16")),
    "C64 empty manifest": _manifest(lambda _: b" "),
    "C64 manifest that is a list": _manifest(lambda raw: b"[" + raw + b"]"),
    "C65 length as a text": _sums(bytes="1"),
    "C65 length as true": _sums(bytes=True),
    "C65 length as a fraction": _sums(bytes=2.0),
    "C65 hash that is none": _sums(sha256="not a hash"),
    "C65 entries as a list": _facts(entries=[]),
    "C65 person as a number": _facts(person_id=7),
    "C65 no person": _facts(person_id=""),
    "C65 __proto__ in the manifest": _facts(__proto__={}),
    "C65 __class__ in the payload": _payload(b'[{"a": [{"__class__": "os.system"}]}]'),
    "C65 __proto__ spelled by escapes": _payload(b'{"\\u005f_proto\\u005F_": {}}'),
    "C66 one text of 200 MB": _bomb(partial(alike, 200, b"x"), 200_000_000),
    "C66 one text of 51 MB": lambda good: _payload(_long_text(51))(good),
    "C66 one text of 17 MB": lambda good: _payload(_long_text(17))(good),
    "C66 two million values": lambda good: _payload(b"[" + b"1," * 2 * MILLION + b"1]")(good),
}
