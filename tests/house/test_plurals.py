"""A number before a plural goes through `counted`: one thing is no “1 things”, and none “1 more are”."""

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


def plain_plurals(source: str) -> list[int]:
    """Lines of f-strings that print a whole number and a plural after it, whatever the number is."""
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
        number = isinstance(part, ast.FormattedValue) and _is_number(part)
        among = before == " of " or before.endswith(("one of ", "in ", "over ", "–"))
        if number and PLURAL.match(str(follows)) and not among:
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
