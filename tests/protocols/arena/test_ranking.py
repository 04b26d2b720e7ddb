"""Replies about two tasks: what is read, what is refused, and the baseline."""

import re

import pytest
from pydantic import ValidationError

from annotator.domain.judges.protocol import Case
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.item import Item
from annotator.domain.material.response import Response
from annotator.judging.prompts.messages import load
from annotator.protocols.arena import ranking

SCORES = {"clarity": 5, "actionability": 4, "novelty": 3, "depth_fit": 4, "consistency": 5}


def reply(**changed):
    given = {
        "first": SCORES,
        "second": {**SCORES, "novelty": 2},
        "reason": "",
        "better": "first",
        "confidence": 0.7,
    }
    return ranking.TaskPreference.model_validate(given | changed)


def case(first, second):
    shown = [
        Response(id=str(n), item_id="i", system_id="", text=text) for n, text in enumerate((first, second))
    ]
    item = Item(id="i", key="i", question="?")
    return Case("contest", item, shown[0], "", (Unit(id="1"),), other=shown[1])


def test_the_overall_score_is_the_mean_of_five():
    assert reply().first.overall == 4.2


@pytest.mark.parametrize("confidence", [0.3, 0.49, 1.01, -1, float("nan")])
def test_a_confidence_outside_one_half_and_one_is_refused_by_name(confidence):
    with pytest.raises(ValidationError, match=re.escape(f"confidence of {confidence:g}")):
        reply(confidence=confidence)


@pytest.mark.parametrize(("better", "agrees"), [("first", True), ("second", False)])
def test_scores_agree_with_the_winner_or_not(better, agrees):
    assert reply(better=better).agrees is agrees


def test_equal_scores_agree_with_either():
    assert reply(second=SCORES, better="second").agrees


def test_a_score_above_five_is_refused():
    with pytest.raises(ValidationError):
        reply(first={**SCORES, "clarity": 6})


def test_a_value_holds_choice_and_confidence():
    assert ranking.read(ranking.said("second", 0.95)) == ("second", 0.95)


def test_the_prompt_asks_for_what_the_reply_holds():
    prompt = load(ranking.PROMPT)
    listed = re.findall(r"^- (\w+): ", prompt.system, re.MULTILINE)
    assert listed == [*SCORES, *ranking.TaskPreference.model_fields]
    assert prompt.placeholders == {"first", "second"}


def test_the_baseline_prefers_more_different_words_up_to_a_hundred():
    (said,) = ranking.baseline(case("List drivers of coral bleaching.", "List things.")).values()
    assert said.value == "first 0.55"
    (said,) = ranking.baseline(case(" ".join(f"w{n}" for n in range(101)), "List things.")).values()
    assert said.value == "second 0.55"
    (said,) = ranking.baseline(case("List things.", "List things.")).values()
    assert said.value == "first 0.5"
