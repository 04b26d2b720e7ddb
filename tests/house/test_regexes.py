"""Regular expressions mean the same in every Python that is supported."""

import re

from tests.house import reading

# Before Python 3.11.5 a group that is repeated possessively may match less than it should (gh-106052).
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")


def test_no_group_is_repeated_possessively() -> None:
    found = [
        f"{reading.name(path)}: {line.strip()}"
        for path in reading.files("annotator")
        for line in path.read_text(encoding="utf-8").splitlines()
        if POSSESSIVE_GROUP.search(line)
    ]
    assert found == []


def test_the_search_finds_a_planted_one() -> None:
    assert POSSESSIVE_GROUP.search(r"(?:a|b)*+c")
    assert not POSSESSIVE_GROUP.search(r"[^()]*+\)+")
