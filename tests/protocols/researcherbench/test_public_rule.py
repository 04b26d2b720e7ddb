"""ResearcherBench's published rule, worked out by hand from its description: beginnings first, then mere letters."""

import pytest

from annotator.protocols.researcherbench.coverage import Coverage
from annotator.protocols.researcherbench.public_rule import read


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        # It begins so.
        ("yes: it explains the trade-off", "yes"),
        ("Yes it does", "yes"),
        ("NO: only half of it", "no"),
        ("no yes-man would say so", "no"),
        (" \n yes: after white space", "yes"),
        # The letters y-e-s stand anywhere.
        ("No, the report never mentions the Bayesian analysis", "yes"),
        ("**No.** Nothing since yesterday.", "yes"),
        ("no\nEyes are not discussed.", "yes"),
        ("yes", "yes"),
        ('{"quote": "", "rationale": "Keyes is missing.", "covered": "no"}', "yes"),
        ("x" * 100_000 + "yes" + "y" * 100_000, "yes"),
        # They stand nowhere, the call failed, or the letters only look like these.
        ("Not covered", "no"),
        ("It cannot tell", "no"),
        ("", "no"),
        ("  ", "no"),
        ("10/10", "no"),
        (None, "no"),
        ("ye\u017f", "no"),
        ("\uff59\uff45\uff53", "no"),
    ],
)
def test_a_reply_is_read_by_its_beginning_and_then_by_its_letters(reply: str | None, value: str) -> None:
    assert read(reply) == value


def test_the_same_reply_has_no_verdict_or_the_other_one_here() -> None:
    assert Coverage.from_text("No\nThe report never mentions the Bayesian analysis").covered == "no"
    assert read("No\nThe report never mentions the Bayesian analysis") == "yes"
    with pytest.raises(ValueError, match="not yes or no and nothing else"):
        Coverage.from_text("The Bayesian part is there")
    assert read("The Bayesian part is there") == "yes"
