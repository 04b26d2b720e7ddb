"""ResearcherBench's published rule, worked out by hand from its description: beginnings first, then mere letters."""

import pytest

from annotator.protocols.researcherbench.coverage import Coverage
from annotator.protocols.researcherbench.public_rule import RulePart, read


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("yes: it explains the trade-off", "yes"),
        ("Yes it does", "yes"),
        ("NO: only half of it", "no"),
        ("no yes-man would say so", "no"),
        (" \n yes: after white space", "yes"),
    ],
)
def test_a_reply_that_begins_with_yes_or_no_is_taken_at_its_word(reply: str, value: str) -> None:
    found = read(reply)
    assert (found.value, found.how) == (value, RulePart.BEGINNING)


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("No, the report never mentions the Bayesian analysis", "Ba-yes-ian"),
        ("**No.** Nothing since yesterday.", "yes-terday"),
        ("no\nEyes are not discussed.", "E-yes"),
        ("yes", "yes"),
        ('{"quote": "", "rationale": "Keyes is missing.", "covered": "no"}', "Ke-yes"),
    ],
)
def test_otherwise_the_letters_yes_anywhere_count_as_covered(reply: str, shown: str) -> None:
    found = read(reply)
    assert (found.value, found.how, found.shown) == ("yes", RulePart.YES_INSIDE, shown)
    assert found.at is not None
    assert reply[found.at : found.at + 3].lower() == "yes"


def test_the_same_reply_has_no_verdict_or_the_other_one_here() -> None:
    assert Coverage.from_text("No\nThe report never mentions the Bayesian analysis").covered == "no"
    assert read("No\nThe report never mentions the Bayesian analysis").value == "yes"
    with pytest.raises(ValueError, match="not yes or no and nothing else"):
        Coverage.from_text("The Bayesian part is there")
    assert read("The Bayesian part is there").value == "yes"


@pytest.mark.parametrize(
    ("reply", "shown"), [("Not covered", "No-t"), ("No.", "No"), ("It cannot tell", "can-no-t")]
)
def test_without_them_the_letters_no_count_as_not_covered(reply: str, shown: str) -> None:
    found = read(reply)
    assert (found.value, found.how, found.shown) == ("no", RulePart.NO_INSIDE, shown)


@pytest.mark.parametrize("reply", ["", "  ", "Covered.", "да", "10/10"])
def test_a_reply_with_neither_counts_as_not_covered(reply: str) -> None:
    assert (read(reply).value, read(reply).how, read(reply).at) == ("no", RulePart.NEITHER, None)


def test_a_call_that_failed_counts_as_not_covered() -> None:
    assert (read(None).value, read(None).how) == ("no", RulePart.FAILED)


@pytest.mark.parametrize("reply", ["ye\u017f", "\uff59\uff45\uff53"])
def test_letters_that_only_look_like_yes_are_not_taken_for_it(reply: str) -> None:
    assert read(reply).how is RulePart.NEITHER


def test_the_word_that_is_shown_is_cut_where_it_has_no_end() -> None:
    found = read("x" * 100_000 + "yes" + "y" * 100_000)
    assert found.at == 100_000
    assert found.shown == "x" * 40 + "-yes-" + "y" * 40
