"""How a model's reply is read, whatever the paper."""

import re
from typing import Annotated, Literal

import pytest
from pydantic import TypeAdapter

from annotator.domain.judgement import Status
from annotator.protocols.replies import (
    QUOTE_MISSING,
    Word,
    blocks,
    fields,
    first_word,
    lines,
    longest_quote,
    with_quote,
)

REPORT = "Costs rise slowly.\nDemand falls."
LINE = re.compile(r"(?P<id>\w+): (?P<said>yes|no)")


@pytest.mark.parametrize(
    ("text", "word", "rest"),
    [
        ("Yes. It names both.", "yes", "It names both."),
        ("**No** — nothing of it", "no", "nothing of it"),
        ("“yes”", "yes", ""),
        ("> no\nIt is silent.", "no", "It is silent."),
        ("cannot tell: both are there", "cannot-tell", "both are there"),
    ],
)
def test_a_reply_is_read_by_its_first_word(text, word, rest):
    assert first_word(text, "yes", "no", "cannot-tell") == (word, rest)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Bayesian methods are named.",
        "Nothing of it.",
        "no-one says so",
        "yes/no",
        "Yes and no.",
        "no, or cannot say",
        "I say yes.",
    ],
)
def test_what_begins_with_no_word_or_with_two_is_refused(text):
    with pytest.raises(ValueError, match="neither yes nor no nor cannot-tell"):
        first_word(text, "yes", "no", "cannot-tell")


@pytest.mark.parametrize("value", ["cannot-tell", " Cannot_Tell ", "CANNOT TELL\n"])
def test_the_spelling_of_a_word_is_no_matter(value):
    assert TypeAdapter(Annotated[Literal["cannot-tell"], Word]).validate_python(value) == "cannot-tell"


def test_the_longest_passage_between_quotes_is_the_quote():
    assert longest_quote("It says “costs” and then «costs rise slowly», so yes.") == "costs rise slowly"
    assert longest_quote("It quotes nothing.") == ""


def test_lines_are_read_one_by_one_and_the_first_odd_one_is_shown():
    assert [line["id"] for line in lines("a: yes\n\nb: no\n", LINE, "an id and a verdict")] == ["a", "b"]
    with pytest.raises(ValueError, match="a line is not an id and a verdict: 'b: perhaps'"):
        lines("a: yes\nb: perhaps", LINE, "an id and a verdict")
    with pytest.raises(ValueError, match="a line is not"):
        lines(" \n", LINE, "an id and a verdict")


def test_fields_stand_between_two_bars():
    assert fields("a || b \n\n c || || d", 2) == [["a", "b"], ["c", "|| d"]]
    for text in ("", "a", "a || b || c", "a || b\nc"):
        with pytest.raises(ValueError, match="2 fields"):
            fields(text, 2)


def test_blocks_have_a_line_for_each_label():
    assert blocks("A: x\nB:\n \n\nA:\nB: y: z\n", "A", "B") == [["x", ""], ["", "y: z"]]
    for text in ("", "A: x", "B: x\nA: y", "A: x\nB: y\nC: z", "Here:\nA: x\nB: y"):
        with pytest.raises(ValueError, match="block 1 is not the lines A, B"):
            blocks(text, "A", "B")


def test_a_quote_is_given_in_the_texts_own_words_with_its_place():
    found = with_quote("yes", "So.", "costs  rise SLOWLY", REPORT, ("late",), owed=True)
    assert (found.quote, found.quote_start, found.quote_end) == ("Costs rise slowly", 0, 17)
    assert (found.value, found.rationale, found.flags) == ("yes", "So.", "late")


@pytest.mark.parametrize(("owed", "flags"), [(True, f"late {QUOTE_MISSING}"), (False, "late")])
def test_a_quote_that_is_owed_and_not_found_is_flagged_and_the_verdict_stands(owed, flags):
    found = with_quote("yes", "So.", "Prices fall", REPORT, ("late",), owed=owed)
    assert (found.value, found.status, found.flags) == ("yes", Status.OK, flags)
    assert (found.quote, found.quote_start, found.quote_end) == ("Prices fall", None, None)
