"""Boundaries of sentences, found as uniseg finds them."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from uniseg.sentencebreak import sentence_boundaries

from annotator.protocols.deepscholar.sentences import boundaries

# Something of every property but Other, of which uniseg takes a rule (SB8) otherwise than Unicode.
SOME = "aB3. .!?。;,(“)”' \t\u0301\u200dअ।字-ü"


def by_uniseg(text: str) -> list[int]:
    return [at for at in sentence_boundaries(text) if 0 < at < len(text)]


@settings(max_examples=300, deadline=None)
@given(st.text(SOME, max_size=14))
def test_they_are_those_of_unicodes_rules(text):
    assert list(boundaries(text)) == by_uniseg(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It is 3.5. So be it.", ["It is 3.5. ", "So be it."]),
        ("He said, “Are you going?” John left.", ["He said, “Are you going?” ", "John left."]),
        ("In the U.S. it rains. Yes!", ["In the U.S. it rains. ", "Yes!"]),
        ("वह आया। वह गया।", ["वह आया। ", "वह गया।"]),
    ],
)
def test_sentences_in_prose(text, wanted):
    ends = [0, *boundaries(text), len(text)]
    assert [text[a:b] for a, b in itertools.pairwise(ends)] == wanted
