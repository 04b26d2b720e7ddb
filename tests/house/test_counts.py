"""Counts in sentences: “1 item”, never “1 items”; “10,000 resamples”: what `len` and `sum` give may be any number."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house import reading

NOUNS = (
    "items|units|reports|pairs|rows|verdicts|calls|pieces|lines|problems|labels|criteria|files|judges|replies"
)
SHOWN = [f"annotator/{room}" for room in ("gui", "actions", "exchange", "cli")]
PLURAL = re.compile(rf" (?:(?:\w+ )?(?:{NOUNS})|more (?:are|were|have|come))\b")
# A source without it has no such string: between the two may be a word, and the ends of pieces of one string.
PLURAL_LIKE = re.compile(rf"\}}[\s\"'fr]*(?:\w+[\s\"'fr]+)?(?:{NOUNS}|more)\b")
COUNTING = ("len", "sum")
# A part of the name of a file is no sentence.
SUFFIX = re.compile(r"\.\w")
# What is counted in thousands under a name of its own.
MANY = re.compile(r" (?:resamples|judgements|comparisons|sentences|clusters)\b")
COUNT_LIKE = re.compile(rf"\{{\W*(?:{'|'.join(COUNTING)})\b|{MANY.pattern.strip()}")


def plain_plurals(source: str) -> list[int]:
    """Lines of f-strings that print a whole number and a plural after it, whatever the number is."""
    if not PLURAL_LIKE.search(source):
        return []
    tree = ast.parse(source)
    held = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.IfExp) and any(isinstance(part, ast.Compare) for part in ast.walk(node.test))
        for inner in ast.walk(node)
    }
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) and id(node) not in held)
    return [line for string in strings for line in _in(string)]


def _in(string: ast.JoinedStr) -> Iterator[int]:
    before = ""
    for part, after in zip(string.values, [*string.values[1:], None], strict=True):
        follows = after.value if isinstance(after, ast.Constant) else ""
        plural = PLURAL.match(str(follows))
        among = before == " of " or before.endswith(("one of ", "in ", "over ", "–"))
        if plural and not among and isinstance(part, ast.FormattedValue) and _is_number(part):
            yield part.lineno
        before = str(part.value) if isinstance(part, ast.Constant) else ""


def _is_number(part: ast.FormattedValue) -> bool:
    """Whether it may be a number of things: no call but that of `len`, and no constant, which is never 1."""
    words = ast.unparse(part.value)
    return words.startswith("len(") or not (isinstance(part.value, ast.Call) or words.isupper())


def test_a_number_before_a_plural_is_counted() -> None:
    found = [
        f"{reading.name(path)}:{line}"
        for path in reading.files(*SHOWN)
        for line in plain_plurals(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('f"{n:,} items are left"', [1]),
        ('f"Copied {len(x)} lines"', [1]),
        ('f"{n:,} open items"', [1]),
        ('(f"{n:,} "\n "open "\n f"items")', [1]),
        ('f"{n:,} more are not drawn"', [1]),
        ("f\"{counted(n, 'item')} are left\"", []),
        ('"1 item" if n == 1 else f"{n:,} items"', []),
        ('f"{counts[0]} units of A"', [1]),
        ('f"The plan of {n:,} reports is not known"', [1]),
        ('f"one of {n:,} items"', []),
        ('f"{n:,} of {m:,} are drawn"', []),
        ('f"{n:,} of {of:,} items"', []),
    ],
)
def test_a_plain_plural_would_be_seen(source: str, found: list[int]) -> None:
    assert plain_plurals(source) == found


def ungrouped(source: str) -> list[int]:
    if not COUNT_LIKE.search(source):
        return []
    nodes = list(ast.walk(ast.parse(source)))
    widths = {id(node.format_spec) for node in nodes if isinstance(node, ast.FormattedValue)}
    return sorted(
        part.lineno
        for string in nodes
        if isinstance(string, ast.JoinedStr) and id(string) not in widths
        for part, after in zip(string.values, [*string.values[1:], None], strict=True)
        if isinstance(part, ast.FormattedValue) and part.format_spec is None and part.conversion == -1
        if _counts(part.value, str(after.value) if isinstance(after, ast.Constant) else "")
    )


def _counts(shown: ast.expr, after: str) -> bool:
    first = shown.left if isinstance(shown, ast.BinOp) else shown
    if isinstance(first, ast.Call):
        return isinstance(first.func, ast.Name) and first.func.id in COUNTING and not SUFFIX.match(after)
    # A constant is written as it is read.
    counted = isinstance(first, ast.Name | ast.Attribute) and bool(MANY.match(after))
    return counted and not ast.unparse(first).isupper()


def test_counts_in_sentences_are_grouped() -> None:
    found = [
        f"{reading.name(path)}:{line}"
        for path in reading.files("annotator")
        for line in ungrouped(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('f"{len(a)} items"', [1]),
        ('f"and {len(a) - 3} more"', [1]),
        ('f"{sum(a)} of them"', [1]),
        ('f"{plan.draws} resamples"', [1]),
        ('f"{len(a):,} items"', []),
        ('f"{len(a)}.jsonl"', []),
        ('f"{key + 1:0{len(key)}}"', []),
        ("f\"{counted(n, 'judgement')} judgements\"", []),
    ],
)
def test_a_count_as_it_is_would_be_seen(source: str, found: list[int]) -> None:
    assert ungrouped(source) == found
