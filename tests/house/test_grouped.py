"""A count in a sentence is grouped, “10,000 resamples”: what `len` and `sum` give may be any number."""

import ast
import re

import pytest

from tests.house import reading

COUNTING = ("len", "sum")
# A part of the name of a file is no sentence.
SUFFIX = re.compile(r"\.\w")
# What is counted in thousands under a name of its own.
MANY = re.compile(r" (?:resamples|judgements|comparisons|sentences|clusters)\b")


def ungrouped(source: str) -> list[int]:
    """Lines of f-strings that print a count as it is."""
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
    known = ast.unparse(first).isupper()
    return isinstance(first, ast.Name | ast.Attribute) and bool(MANY.match(after)) and not known


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
