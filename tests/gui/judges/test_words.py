"""How verdicts are said beside judges and results."""

import pytest

from annotator.gui.review.judge_words import doing, value_words
from annotator.protocols.adra.plan_judge import NOT, RELEVANT
from annotator.protocols.adra.reasoning_judge import CANNOT_TELL


def test_every_verdict_of_the_papers_has_words_of_its_own():
    said = {value: value_words(value, "ok") for value in (CANNOT_TELL, RELEVANT, NOT)}
    assert said == {
        CANNOT_TELL: "Cannot be told",
        RELEVANT: "Relevant",
        NOT: "Not relevant",
    }


def test_what_did_not_come_is_said_by_its_cause_and_is_no_no():
    assert value_words(None, "timeout") == "No answer in time"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({}, "2 a second"),
        ({"held": True}, "Held; no further question is begun"),
        ({"paused": "Rests"}, "Rests"),
    ],
)
def test_a_run_says_why_it_stands_still(line, said):
    assert doing(line, "2 a second") == said
