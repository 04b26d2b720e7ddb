"""How a model's reply is read, whatever the paper."""

import re
from typing import Annotated, Literal

import pytest
from pydantic import TypeAdapter

from annotator.domain.judges.judgement import Status
from annotator.protocols.replies import (
    QUOTE_MISSING,
    Word,
    blocks,
    fields,
    longest_quote,
    sole_value,
    values_by_name,
    with_quote,
)

REPORT = "Costs rise slowly.\nDemand falls."
NAME = r"[\w~-]{1,80}"


@pytest.mark.parametrize(
    ("text", "word", "rest"),
    [
        ("Yes.\nIt names both.", "yes", "It names both."),
        ("\n**No**\n\nNothing of it.", "no", "Nothing of it."),
        ("“yes”", "yes", ""),
        ("> no\nIt is silent.", "no", "It is silent."),
        ("cannot tell\nBoth are there.", "cannot-tell", "Both are there."),
        ("CANNOT_TELL.", "cannot-tell", ""),
        ("**Final verdict:** `no`.\nSo.", "no", "So."),
        ("最终答案：yes。\n报告写明了。", "yes", "报告写明了。"),
        ("```\nyes\n```\nIt does.", "yes", "It does."),
        ("no\nNo part of it is there.", "no", "No part of it is there."),
        ("yes\nNo part of it is missing.", "yes", "No part of it is missing."),
        ('yes\n"No, it falls" is what it says.', "yes", '"No, it falls" is what it says.'),
        ("yes\nVerdict: yes", "yes", "Verdict: yes"),
    ],
)
def test_a_reply_is_read_by_the_value_that_its_first_line_holds(text, word, rest):
    assert sole_value(text, "yes", "no", "cannot-tell") == (word, rest)


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
        "No idea: I cannot tell",
        "No opinion",
        "No doubt: it is covered",
        "Yes (or no)",
        "yes|no",
        "Yes. It names both.",
        "Yes, it names both.",
        "no?",
        "no...",
        "Not sure: no",
        "Verdict: no idea",
        "Verdict:\nyes",
        "```json\nyes\n```",
        "yes" + " " * 500,
        "是",
    ],
)
def test_a_first_line_with_more_than_a_value_is_refused(text):
    with pytest.raises(ValueError, match="the first line is not yes or no or cannot-tell and nothing else"):
        sole_value(text + "\nSo.", "yes", "no", "cannot-tell")


@pytest.mark.parametrize(
    "later",
    ["No", "**No.**", "Or no.", "No, wait: it is not.", "Final verdict: no", "结论：no，因为没有", '"no"'],
)
def test_a_later_line_with_another_value_leaves_none(later):
    for text in (f"Yes\n{later}", f"Yes\n\nIt is there.\n{later}\n"):
        with pytest.raises(ValueError, match="a later line gives another value"):
            sole_value(text, "yes", "no")


def test_reasoning_that_was_not_cut_off_is_no_answer():
    with pytest.raises(ValueError, match="the reasoning is not separated"):
        sole_value("yes\n</think>\nno idea", "yes", "no")


@pytest.mark.parametrize("value", ["cannot-tell", " Cannot_Tell ", "CANNOT TELL\n"])
def test_the_spelling_of_a_word_is_no_matter(value):
    assert TypeAdapter(Annotated[Literal["cannot-tell"], Word]).validate_python(value) == "cannot-tell"


def test_the_longest_passage_between_quotes_is_the_quote():
    assert longest_quote("It says “costs” and then «costs rise slowly», so yes.") == "costs rise slowly"
    assert longest_quote("It quotes nothing.") == ""


def test_of_several_things_each_value_stands_behind_its_name_and_nothing_behind_the_value():
    text = "a1: yes\nIt is there.\nReason: no more is asked.\n\n- **a2**: No.\n"
    assert values_by_name(text, NAME, "yes", "no") == [
        ("a1", "yes", "It is there.\nReason: no more is asked."),
        ("a2", "no", ""),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a1: yes\na2: no idea", "'a2: no idea'"),
        ("a1: yes, it is there", "'a1: yes, it is there'"),
        ("Here:\na1: yes", "'Here:'"),
        ("yes", "'yes'"),
        (" \n", "''"),
    ],
)
def test_the_first_line_that_says_more_or_less_is_shown(text, shown):
    with pytest.raises(ValueError, match=f"a name, a colon, yes or no, and nothing else: {re.escape(shown)}"):
        values_by_name(text, NAME, "yes", "no")


def test_of_several_things_none_has_two_values():
    with pytest.raises(ValueError, match="a later line gives another value"):
        values_by_name("a1: yes\nno\na2: no", NAME, "yes", "no")


@pytest.mark.parametrize("text", ["*" * 199_999 + "x", "yes\n" + ("*" * 200 + "\n") * 990, "a-" * 99_999])
def test_a_hostile_reply_is_refused_at_once(text):
    """The suite's time limit would end a pattern that takes the square of such a text's length."""
    for read in (lambda: sole_value(text, "no"), lambda: values_by_name(text, NAME, "yes", "no")):
        with pytest.raises(ValueError, match="nothing else"):
            read()


def test_fields_stand_between_two_bars():
    assert fields("a || b \n\n c || || d", 2) == [["a", "b"], ["c", "|| d"]]
    for text in ("", "a", "a || b || c", "a || b\nc"):
        with pytest.raises(ValueError, match="2 fields"):
            fields(text, 2)


def test_blocks_have_a_line_for_each_label():
    assert blocks("A: x\nB:\n \n\nA:\nB: y: z\n", a="A", text="B") == [
        {"a": "x", "text": ""}, {"a": "", "text": "y: z"},
    ]  # fmt: skip
    for text in ("", "A: x", "B: x\nA: y", "A: x\nB: y\nC: z", "Here:\nA: x\nB: y"):
        with pytest.raises(ValueError, match="block 1 is not the lines A, B"):
            blocks(text, a="A", text="B")


def test_a_quote_is_given_in_the_texts_own_words_with_its_place():
    found = with_quote("yes", "So.", "costs  rise SLOWLY", REPORT, ("late",), owed=True)
    assert (found.quote, found.quote_start, found.quote_end) == ("Costs rise slowly", 0, 17)
    assert (found.value, found.rationale, found.flags) == ("yes", "So.", "late")


@pytest.mark.parametrize(("owed", "flags"), [(True, f"late {QUOTE_MISSING}"), (False, "late")])
def test_a_quote_that_is_owed_and_not_found_is_flagged_and_the_verdict_stands(owed, flags):
    found = with_quote("yes", "So.", "Prices fall", REPORT, ("late",), owed=owed)
    assert (found.value, found.status, found.flags) == ("yes", Status.OK, flags)
    assert (found.quote, found.quote_start, found.quote_end) == ("Prices fall", None, None)
