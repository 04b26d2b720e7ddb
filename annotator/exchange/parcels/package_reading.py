"""Reading a package: all or nothing, every claim verified, nothing written."""

import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError

from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels.package_directory import Directory, read_directory, refusal
from annotator.exchange.parcels.package_layout import (
    LARGEST_MANIFEST,
    MANIFEST,
    STORED,
    PackageEntry,
    checked_content,
)
from annotator.exchange.parcels.package_manifest import (
    AGAIN,
    TASK,
    Format,
    Package,
    PackageManifest,
    content_sha256,
    refuse_altered,
    refuse_version,
    signed,
    suffix,
    upgrade,
)
from annotator.exchange.release.bundle import in_words

CHUNK = 64 * 1024
KINDS = {TASK: "a task for an annotator", "goldsmith-work": "the work that comes back from an annotator"}


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
