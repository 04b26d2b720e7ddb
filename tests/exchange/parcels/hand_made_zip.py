"""A ZIP written record by record, in which every field can be told otherwise than it is."""

import hashlib
import hmac
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nacl.signing import SigningKey

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
    """The entries of a good package, the manifest first."""
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
