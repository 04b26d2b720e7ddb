"""Writing a folder of files: all of it or nothing, under names that every system accepts."""

import glob
import hashlib
import os
import re
import shutil
import time
import unicodedata
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar

import orjson

from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.refusal import Refusal
from annotator.files import advice, move

SUMS = "SHA256SUMS"
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
# Seconds after which nobody can still be writing what a killed process left.
ABANDONED = 3600.0
ELSEWHERE = "Choose another folder; what is there was not changed."

# So many entries of a list are made into one piece of a file.
AT_ONCE = 500


class Pieces:
    """The content of a file, produced piece by piece at each reading, never all in memory."""

    def __init__(self, make: Callable[[], Iterable[bytes]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[bytes]:
        yield from self._make()

    def __bytes__(self) -> bytes:
        return b"".join(self)

    @cached_property
    def known_by(self) -> tuple[str, int]:
        """Its SHA-256 and how many bytes it has."""
        digest, size = hashlib.sha256(), 0
        for piece in self:
            digest.update(piece)
            size += len(piece)
        return digest.hexdigest(), size


Content = bytes | Pieces
Files = Mapping[str, Content]
Entry = TypeVar("Entry")


def pretty(tree: object) -> bytes:
    """A JSON tree as people read and compare it: sorted keys, two spaces, a line end; the same bytes every time."""
    return orjson.dumps(tree, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def pretty_list(trees: Callable[[], Iterable[object]]) -> Pieces:
    """The same bytes of a list of trees, made a few entries at a time."""

    def pieces() -> Iterator[bytes]:
        between = b"["
        for some in stretches(trees(), AT_ONCE):
            # Without the brackets of its own.
            yield between + pretty(some)[1:-3]
            between = b","
        yield b"[]\n" if between == b"[" else b"\n]\n"

    return Pieces(pieces)


def stretches(entries: Iterable[Entry], length: int) -> Iterator[list[Entry]]:
    """The entries in lists of so many; the last may be shorter."""
    left = iter(entries)
    while some := list(islice(left, length)):
        yield some


def pieces_of(content: Content) -> Iterable[bytes]:
    """A file's content in pieces, none of which ends within a line."""
    return [content] if isinstance(content, bytes) else content


def records_in(path: str, content: Content) -> int:
    """How many records a file holds: entries of a list, lines of a table below its head; any other file is one."""
    tree = orjson.loads(bytes(content)) if path.endswith(".json") else None
    # What stands between quotation marks ends no line of a table.
    outside = (part for piece in pieces_of(content) for part in piece.split(b'"')[::2])
    if path.endswith(".csv"):
        return sum(part.count(b"\n") for part in outside) - 1
    return (
        bytes(content).count(b"\n") if path.endswith(".jsonl") else len(tree) if isinstance(tree, list) else 1
    )


def known_by(content: Content) -> tuple[str, int]:
    """The SHA-256 of a file's content, and how many bytes it has."""
    return (sha256(content), len(content)) if isinstance(content, bytes) else content.known_by


def slug(name: str) -> str:
    """A file name without ending that is safe on every system; the name itself where it is already."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    made = re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip("-.")[:80].rstrip(".") or "unnamed"
    return f"{made}_" if made.split(".")[0].lower() in RESERVED else made


def slugs(names: Iterable[str]) -> dict[str, str]:
    """A slug for each name, no two of them equal but for case; earlier names get the plainer slug."""
    made: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        base = slug(name)
        numbered = (base if n == 1 else f"{base}-{n}" for n in range(1, len(taken) + 2))
        made[name] = next(one for one in numbered if one.lower() not in taken)
        taken.add(made[name].lower())
    return made


def with_sums(files: Files) -> dict[str, Content]:
    """The files and `SHA256SUMS`, which `sha256sum -c` reads and by which a former release is known."""
    lines = (f"{known_by(files[path])[0]}  {path}\n" for path in sorted(files))
    return {**files, SUMS: "".join(lines).encode()}


@contextmanager
def staged(folder: Path, files: Files) -> Iterator[Callable[[], None]]:
    """Write the files beside `folder` and give a function that puts them in its place at one stroke.

    Refusal when the folder holds anything but an unchanged former release, or when the disk fails; then
    nothing is left behind.
    """
    folder = folder.resolve()
    _recover(folder)
    refuse_strangers(folder)
    mark = uuid.uuid4().hex[:8]
    partial, former = (folder.with_name(f".{folder.name}.{mark}.{word}") for word in ("partial", "former"))
    try:
        _write_all(partial, files)
        yield lambda: _swap(partial, folder, former)
    except OSError as error:
        raise Refusal(
            f"“{folder.name}” could not be written: {error.strerror or error}.",
            f"{advice(error)}; nothing was left half written.",
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(former, ignore_errors=True)


def write(folder: Path, files: Files) -> None:
    """Put the files into the folder at one stroke; Refusal as `staged` gives it."""
    with staged(folder, files) as swap:
        swap()


def refuse_strangers(folder: Path) -> None:
    """Refusal unless the folder is absent, empty, or a former release in which nothing was changed or added."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise Refusal(f"“{folder.name}” is a file, not a folder.", ELSEWHERE)
    try:
        found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if not path.is_dir()}
        if found and not _is_former(found):
            raise Refusal(
                f"“{folder.name}” holds files that are not an unchanged former release of Goldsmith.",
                ELSEWHERE,
            )
    except OSError as error:
        raise Refusal(f"“{folder.name}” cannot be looked into: {error.strerror}.", ELSEWHERE) from None


def _is_former(found: Mapping[str, Path]) -> bool:
    if SUMS not in found:
        return False
    lines = found[SUMS].read_text("utf-8", errors="replace").splitlines()
    sums = {path: digest for digest, _, path in (line.partition("  ") for line in lines)}
    return sums.keys() == found.keys() - {SUMS} and all(
        sha256(found[path].read_bytes()) == digest for path, digest in sums.items()
    )


def _write_all(partial: Path, files: Files) -> None:
    folder_of = {path: (partial / path).parent for path in files}
    for parent in sorted({partial, *folder_of.values()}):
        parent.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        with (partial / path).open("wb") as file:
            file.writelines(pieces_of(content))
            file.flush()
            os.fsync(file.fileno())


def _recover(folder: Path) -> None:
    """Give a folder its name back when a process was killed while it changed its content; sweep up what it left."""
    pattern = f".{glob.escape(folder.name)}.????????."
    formers = sorted(folder.parent.glob(f"{pattern}former"))
    with suppress(OSError):
        if formers and not folder.exists():
            move(formers[0], folder)
        for left in (*formers, *folder.parent.glob(f"{pattern}partial")):
            if time.time() - left.stat().st_mtime > ABANDONED:
                shutil.rmtree(left, ignore_errors=True)


def _swap(partial: Path, folder: Path, former: Path) -> None:
    replaces = folder.exists()
    if replaces:
        move(folder, former)
    try:
        move(partial, folder)
    except OSError:
        if replaces:
            move(former, folder)
        raise
