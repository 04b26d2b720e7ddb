"""Writing a package: the same bytes for the same content, moved into place as a whole."""

from collections.abc import Mapping
from zlib import crc32

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels.package_layout import (
    DIVIDE,
    LARGEST_TOTAL,
    MANIFEST,
    MOST_ENTRIES,
    PackageEntry,
    checked_content,
    end_record,
    is_name,
    packed,
)
from annotator.exchange.parcels.package_manifest import PackageFacts, manifest_bytes


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
