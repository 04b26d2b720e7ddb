"""Strict reading of foreign JSON: nothing is guessed, dropped or able to do harm."""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree

from annotator.domain.texts.canonical import checked_tree
from annotator.domain.texts.refusal import Refusal

# Larger than any file of a benchmark that people can read, small enough to be held in memory several times.
LARGEST_FILE = 64 * 1024 * 1024
LONGEST_TEXT = 16 * 1024 * 1024
DEEPEST = 64
LARGEST_NUMBER = 2**63 - 1
CORRECT = "Correct the file and try again; nothing was changed."
# Only these escapes can bring in what the text gate refuses: raw control characters are no valid JSON.
SUSPICIOUS = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
TOKEN = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|[{}\[\]]|[^\s"{}\[\],:]+', re.DOTALL)


class _Unfit(Exception):
    """Something that the grammar allows and we do not; where it stands is looked for afterwards."""


def read_json(path: Path, name: str = "", cap: int = LARGEST_FILE) -> Any:
    """The JSON tree of a file; Refusal names the file, the line and column, and the reason.

    `name` is what the file is called in messages, `cap` the most bytes it may have.
    """
    name = name or path.name
    return parse(read_bytes(path, name, cap), name, cap)


def read_bytes(path: Path, name: str, cap: int = LARGEST_FILE) -> bytes:
    """The bytes of an ordinary file, one more than `cap` at most; Refusal when they cannot be had."""
    try:
        if not path.is_file():
            raise Refusal(
                f"There is no file “{name}” in {path.absolute().parent}.", "Check the name or choose another."
            )
        with path.open("rb") as file:
            return file.read(cap + 1)
    except OSError as error:
        raise Refusal(f"“{name}” cannot be read: {error.strerror}.", "Check that you may read it.") from None


def parse(content: bytes, name: str, cap: int = LARGEST_FILE) -> Any:
    """The JSON tree of a file's bytes; Refusal as `read_json` gives it."""
    if len(content) > cap:
        raise Refusal(f"“{name}” is larger than {cap // 2**20} MB.", "Split it, or choose the right file.")
    text = decoded(content, name)
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
    _check_shape(tree, name, long=len(text) > LONGEST_TEXT)
    if SUSPICIOUS.search(text):
        try:
            checked_tree(tree)
        except Refusal as refusal:
            raise Refusal(f"“{name}”: {refusal.happened}", refusal.todo) from None
    return tree


def json_lines(content: bytes, name: str) -> Iterator[tuple[int, Any]]:
    """Number and tree of each line of a file that has a document a line; of what is no JSON its Refusal."""
    # Not splitlines, which parts a text at separators that JSON leaves as they are.
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
    """The tree of an XML file in UTF-8; ValueError when it is none, or has a doctype, without which no entity grows."""
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise ValueError("it has a doctype")
    try:
        # Text, not bytes: no other encoding can then hide a doctype.
        return ElementTree.fromstring(content.decode("utf-8-sig"))
    except (ElementTree.ParseError, ValueError):
        raise ValueError("it is no XML") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Unfit
    return made


def _whole(digits: str) -> int:
    # Twenty characters hold every number of 63 bits; converting thousands of digits would take its time.
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
    """Where the first repeated key or unfit number of a text stands that is otherwise well formed so far."""
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


def _check_shape(tree: Any, name: str, *, long: bool) -> None:
    """Refuse a tree that is too deep, level by level so that no depth can exhaust the stack, or too long a text."""
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > DEEPEST + 1:
            _refuse_depth(name)
        if long and any(isinstance(node, str) and len(node) > LONGEST_TEXT for node in level):
            raise Refusal(f"“{name}” holds a text of more than {LONGEST_TEXT // 2**20} MB.", CORRECT)
        wanted = (dict, list, str) if long else (dict, list)
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, wanted)
        ]


def _refuse_depth(name: str) -> NoReturn:
    raise Refusal(f"“{name}” is nested more than {DEEPEST} levels deep.", CORRECT)
