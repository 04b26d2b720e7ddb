"""Writing folders of files, all of it or nothing, under names that every system accepts; and strict reading of JSON."""

import glob
import hashlib
import json
import math
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
from typing import Any, NoReturn, TypeVar
from xml.etree import ElementTree

import orjson

from annotator.domain.common import Refusal, checked_tree, sha256
from annotator.files import advice, move

SUMS = "SHA256SUMS"
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
# Seconds after which no process can still be writing the remains of a killed one.
ABANDONED = 3600.0
ELSEWHERE = "Choose another folder; what is there was not changed."

# So many entries of a list, or lines of a table, form one piece of a file.
AT_ONCE = 250


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
        digest, size = hashlib.sha256(), 0
        for piece in self:
            digest.update(piece)
            size += len(piece)
        return digest.hexdigest(), size


Content = bytes | Pieces
Files = Mapping[str, Content]
Entry = TypeVar("Entry")


def pretty(tree: object) -> bytes:
    """A JSON tree in a readable, comparable form: sorted keys, two spaces, a line end; the same bytes every time."""
    return orjson.dumps(tree, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def pretty_list(trees: Callable[[], Iterable[object]]) -> Pieces:
    """The same bytes of a list of trees, produced a few entries at a time."""

    def pieces() -> Iterator[bytes]:
        between = b"["
        for some in stretches(trees(), AT_ONCE):
            # Without its own brackets.
            yield between + pretty(some)[1:-3]
            between = b","
        yield b"[]\n" if between == b"[" else b"\n]\n"

    return Pieces(pieces)


def stretches(entries: Iterable[Entry], length: int) -> Iterator[list[Entry]]:
    left = iter(entries)
    while some := list(islice(left, length)):
        yield some


def pieces_of(content: Content) -> Iterable[bytes]:
    """A file's content in pieces, none of which ends within a line."""
    return [content] if isinstance(content, bytes) else content


def records_in(path: str, content: Content) -> int:
    """The number of records in a file: entries of a list, lines of a table below its header; any other file is one."""
    tree = orjson.loads(bytes(content)) if path.endswith(".json") else None
    # Line breaks between quotation marks do not end a row.
    outside = (part for piece in pieces_of(content) for part in piece.split(b'"')[::2])
    if path.endswith(".csv"):
        return sum(part.count(b"\n") for part in outside) - 1
    return (
        bytes(content).count(b"\n") if path.endswith(".jsonl") else len(tree) if isinstance(tree, list) else 1
    )


def known_by(content: Content) -> tuple[str, int]:
    return (sha256(content), len(content)) if isinstance(content, bytes) else content.known_by


def slug(name: str) -> str:
    """A file name without ending that is safe on every system; the name itself if it already is."""
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
    """The files and `SHA256SUMS`, which `sha256sum -c` reads and by which a former release is recognised."""
    lines = (f"{known_by(files[path])[0]}  {path}\n" for path in sorted(files))
    return {**files, SUMS: "".join(lines).encode()}


@contextmanager
def staged(folder: Path, files: Files) -> Iterator[Callable[[], None]]:
    """Write the files beside `folder` and yield a function that swaps them in at once.

    Refusal if the folder holds anything but an unchanged former release, or if the disk fails; then nothing is left
    behind.
    """
    folder = folder.resolve()
    _recover(folder)
    refuse_strangers(folder)
    mark = uuid.uuid4().hex[:8]
    partial, former = (folder.with_name(f".{folder.name}.{mark}.{word}") for word in ("partial", "former"))
    try:
        partial.mkdir(parents=True)
        for path, content in files.items():
            (partial / path).parent.mkdir(parents=True, exist_ok=True)
            with (partial / path).open("wb") as file:
                file.writelines(pieces_of(content))
                file.flush()
                os.fsync(file.fileno())
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
    """Put the files into the folder at once; Refusal as in `staged`."""
    with staged(folder, files) as swap:
        swap()


def refuse_strangers(folder: Path) -> None:
    """Refusal unless the folder is absent, empty, or a former release in which nothing was changed or added."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise Refusal(f"“{folder.name}” is a file, not a folder.", ELSEWHERE)
    try:
        result = {
            path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if not path.is_dir()
        }
        if result and not _is_former(result):
            raise Refusal(
                f"“{folder.name}” holds files that are not an unchanged former release of Goldsmith.",
                ELSEWHERE,
            )
    except OSError as error:
        raise Refusal(f"“{folder.name}” cannot be looked into: {error.strerror}.", ELSEWHERE) from None


def _is_former(paths: Mapping[str, Path]) -> bool:
    if SUMS not in paths:
        return False
    lines = paths[SUMS].read_text("utf-8", errors="replace").splitlines()
    sums = {path: digest for digest, _, path in (line.partition("  ") for line in lines)}
    return sums.keys() == paths.keys() - {SUMS} and all(
        sha256(paths[path].read_bytes()) == digest for path, digest in sums.items()
    )


def _recover(folder: Path) -> None:
    """Restore a folder's name after a process was killed during a swap, and remove the remains."""
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


# Larger than any readable file of a benchmark, small enough to be held in memory several times.
LARGEST_FILE = 64 * 1024 * 1024
LONGEST_TEXT = 16 * 1024 * 1024
DEEPEST = 64
LARGEST_NUMBER = 2**63 - 1
CORRECT = "Correct the file and try again; nothing was changed."
# Only these escapes can introduce characters that may not be stored: raw control characters are no valid JSON.
SUSPICIOUS = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
TOKEN = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|[{}\[\]]|[^\s"{}\[\],:]+', re.DOTALL)


class _Unfit(Exception):
    """A value that the grammar allows but we do not; its place is searched for afterwards."""


def read_json(path: Path, name: str = "", cap: int = LARGEST_FILE) -> Any:
    """The JSON tree of a file; Refusal names the file, the line and column, and the reason.

    `name` is the file's name in messages, `cap` its maximum size in bytes.
    """
    name = name or path.name
    return parse(read_bytes(path, name, cap), name, cap)


def read_bytes(path: Path, name: str, cap: int = LARGEST_FILE) -> bytes:
    """The bytes of an ordinary file, at most one more than `cap`; Refusal if it cannot be read."""
    try:
        if not path.is_file():
            raise Refusal(
                f"There is no file “{name}” in {path.absolute().parent}.", "Check the name or choose another."
            )
        with path.open("rb") as file:
            return file.read(cap + 1)
    except OSError as error:
        raise Refusal(f"“{name}” cannot be read: {error.strerror}.", "Check that you may read it.") from None


def within(
    content: bytes, name: str, cap: int = LARGEST_FILE, todo: str = "Split it, or choose the right file."
) -> bytes:
    """The bytes of a file; Refusal if they are more than `cap`."""
    if len(content) > cap:
        raise Refusal(f"“{name}” is larger than {cap // 2**20} MB.", todo)
    return content


def parse(content: bytes, name: str, cap: int = LARGEST_FILE) -> Any:
    """The JSON tree of a file's bytes; Refusal as in `read_json`."""
    text = decoded(within(content, name, cap), name)
    if not text.strip():
        raise Refusal(f"“{name}” is empty.", CORRECT)
    try:
        tree = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_whole,
            parse_float=_fraction,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        raise Refusal(f"“{name}” {_place(text, error.pos)}: {_words(error)}.", CORRECT) from None
    except RecursionError:
        _refuse_depth(name)
    except _Unfit:
        position, reason = _culprit(text)
        raise Refusal(f"“{name}” {_place(text, position)}: {reason}.", CORRECT) from None
    _check_depth(tree, name, long=len(text) > LONGEST_TEXT)
    if SUSPICIOUS.search(text):
        try:
            checked_tree(tree)
        except Refusal as refusal:
            raise Refusal(f"“{name}”: {refusal.happened}", refusal.todo) from None
    return tree


def json_lines(content: bytes, name: str) -> Iterator[tuple[int, Any]]:
    """Number and tree of each line of a file of JSON lines; for an invalid line the Refusal instead of the tree."""
    # Not splitlines, which splits a text at separators that JSON allows within strings.
    for number, line in enumerate(decoded(content, name).split("\n"), start=1):
        if line.strip():
            try:
                yield number, parse(line.encode(), name)
            except Refusal as refusal:
                yield number, Refusal(refusal.happened.replace("line 1,", f"line {number},", 1), refusal.todo)


def decoded(content: bytes, name: str) -> str:
    """The text of a file's bytes without a byte order mark; Refusal unless they are UTF-8."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in content[:4]:
        raise Refusal(f"“{name}” is written in UTF-16 or UTF-32.", "Save it as UTF-8 and try again.")
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Refusal(
            f"“{name}” is not valid UTF-8 on line {line} (byte {error.start}).",
            "Save it as UTF-8 and try again.",
        ) from None


def xml_tree(content: bytes) -> ElementTree.Element:
    """The tree of an XML file in UTF-8; ValueError if it is none, or has a doctype, which could define growing
    entities.
    """
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise ValueError("it has a doctype")
    try:
        # Text, not bytes: then no other encoding can hide a doctype.
        return ElementTree.fromstring(content.decode("utf-8-sig"))
    except (ElementTree.ParseError, ValueError):
        raise ValueError("it is no XML") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Unfit
    return made


def _whole(digits: str) -> int:
    # Twenty characters hold every number of 63 bits; converting thousands of digits would take long.
    if len(digits) > 20 or abs(int(digits)) > LARGEST_NUMBER:
        raise _Unfit
    return int(digits)


def _fraction(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _Unfit
    return value


def _constant(_: str) -> NoReturn:
    raise _Unfit


def _words(error: json.JSONDecodeError) -> str:
    if error.msg == "Extra data":
        return "something follows the end of the document"
    return error.msg[0].lower() + error.msg[1:]


def _place(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    return f"line {line}, column {position - text.rfind(chr(10), 0, position)}"


def _culprit(text: str) -> tuple[int, str]:
    """The offset of the first repeated key or invalid number in a text that is otherwise well-formed up to there."""
    open_keys: list[set[str]] = []
    for token in TOKEN.finditer(text):
        word = token.group()
        if word in "{[":
            open_keys.append(set())
        elif word in "}]":
            open_keys.pop()
        elif token.group(2):
            key = json.loads(f'"{token.group(1)}"', strict=False)
            if key in open_keys[-1]:
                return token.start(), f"the key “{key}” stands twice in one object"
            open_keys[-1].add(key)
        elif word[0] != '"' and (reason := _unfit_number(word)):
            return token.start(), reason
    return 0, "it holds a value that cannot be stored"


def _unfit_number(word: str) -> str:
    if word in ("true", "false", "null"):
        return ""
    if word.lstrip("-") in ("NaN", "Infinity"):
        return f"{word} is not a number that can be stored"
    if not re.fullmatch(r"-?\d+", word):
        fits = NUMBER.fullmatch(word) and math.isfinite(float(word))
        return "" if fits else f"{word[:20]} is too large a number"
    return (
        f"a whole number of {len(word):,} digits is too large"
        if len(word) > 18 and (len(word) > 20 or abs(int(word)) > LARGEST_NUMBER)
        else ""
    )


def _check_depth(tree: Any, name: str, *, long: bool) -> None:
    """Refuse a tree that is too deep, level by level so that no depth exhausts the stack, or has too long a text."""
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > DEEPEST + 1:
            _refuse_depth(name)
        if long and any(isinstance(node, str) and len(node) > LONGEST_TEXT for node in level):
            raise Refusal(f"“{name}” holds a text of more than {LONGEST_TEXT // 2**20} MB.", CORRECT)
        allowed = (dict, list, str) if long else (dict, list)
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, allowed)
        ]


def _refuse_depth(name: str) -> NoReturn:
    raise Refusal(f"“{name}” is nested more than {DEEPEST} levels deep.", CORRECT)
