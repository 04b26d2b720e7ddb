"""How a package is written: the same bytes for the same content, and in its place whole or not at all."""

import os
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from annotator.domain.refusal import Refusal
from annotator.exchange import folders
from annotator.exchange.package_layout import (
    DIVIDE,
    LARGEST_TOTAL,
    MANIFEST,
    MOST_ENTRIES,
    Member,
    checked_content,
    end_record,
    is_name,
    packed,
)
from annotator.exchange.package_manifest import Facts, manifest_bytes


def write_package(path: Path | None, facts: Facts, entries: Mapping[str, bytes], secret: bytes) -> bytes:
    """Write a package and give its bytes; with no path only the bytes. Refusals as of `package_bytes` and `save`."""
    content = package_bytes(facts, entries, secret)
    if path is not None:
        save(path, content)
    return content


def package_bytes(facts: Facts, entries: Mapping[str, bytes], secret: bytes) -> bytes:
    """A package of JSON entries and PDFs, the manifest first and the rest by name.

    The same bytes for the same facts, entries and secret wherever zlib is the same; `content_sha256` is the same
    everywhere. Refusal when it could not be read again; ValueError on a name that is none.
    """
    for name, content in entries.items():
        if name == MANIFEST or not is_name(name):
            raise ValueError(f"an entry of a package cannot be called {name!r}")
        checked_content(name, content, name)
    contents = {MANIFEST: manifest_bytes(facts, entries, secret)}
    contents |= {name: entries[name] for name in sorted(entries)}
    _refuse_too_much(contents)
    written, directory, offset = [], [], 0
    for name, content in contents.items():
        method, body = packed(content)
        member = Member(name, method, crc32(content), len(body), len(content), offset)
        written += [member.local_header(), body]
        directory.append(member.central_record())
        offset = member.end
    records = b"".join(directory)
    return b"".join([*written, records, end_record(len(contents), len(records), offset)])


def _refuse_too_much(contents: Mapping[str, bytes]) -> None:
    if sum(map(len, contents.values())) > LARGEST_TOTAL:
        raise Refusal(f"The package would hold more than {LARGEST_TOTAL // 2**20} MB.", DIVIDE)
    if len(contents) > MOST_ENTRIES:
        raise Refusal(f"The package would hold {len(contents)} entries; {MOST_ENTRIES} is the most.", DIVIDE)


def save(path: Path, content: bytes) -> None:
    """Put a file in its place at one stroke, over what was there; Refusal when it cannot be, and then nothing is left.

    A virus scanner may hold the file for a moment, so that a refused replacement is tried again for some seconds.
    """
    partial = path.with_name(f".{uuid.uuid4().hex[:12]}.partial")
    try:
        if path.is_dir():
            raise Refusal(f"“{path.name}” is a folder.", folders.ELSEWHERE)
        with partial.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _replace(partial, path)
    except OSError as error:
        raise Refusal(
            f"“{path.name}” could not be written: {error.strerror or error}.",
            "Free some space or choose another folder; what was there before is unchanged.",
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _replace(finished: Path, place: Path) -> None:
    give_up = time.monotonic() + folders.PATIENCE
    while True:
        try:
            os.replace(finished, place)
            return
        except PermissionError:
            if time.monotonic() >= give_up:
                raise
            time.sleep(folders.PAUSE)


def _sync_folder(folder: Path) -> None:
    # Some network folders cannot be synced, and Windows does it by itself; the file is whole either way.
    if os.name == "posix":
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
