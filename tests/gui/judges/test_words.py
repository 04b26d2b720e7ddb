"""How verdicts are said beside judges and results."""

import pytest

from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.labels import Label
from annotator.gui.pages.feedback.page import field_words
from annotator.gui.review.field_chips import field_chips
from annotator.gui.review.judge_words import doing, value_look, value_words
from annotator.protocols import PROTOCOLS, USUAL

ASKED = {name: shape for name, shape in PROTOCOLS.items() if shape.values}


@pytest.mark.parametrize("name", ASKED)
def test_a_verdict_is_called_the_same_on_every_page(name):
    for value in ASKED[name].scale.values:
        label = Label(id="l1", protocol=name, response_id="r1", unit_id="c1", value=value.name)
        other = label.model_copy(update={"value": "another"})
        assert value_words(name, value.name) == value.words
        assert [chip.words for chip in field_chips(Kind.LABELS, label)] == [value.words]
        assert [chip.words for chip in field_words(Kind.LABELS, label, other, given_up=True)] == [value.words]


def test_a_verdict_of_a_later_version_is_shown_as_it_is_stored():
    assert value_words("unheard.of", "half-met") == value_words(USUAL, "half-met") == "half-met"


def test_what_did_not_come_is_said_by_its_cause_and_is_no_no():
    assert value_words(USUAL, None, "timeout") == "No answer in time"
    assert value_look(USUAL, None) != value_look(USUAL, "no")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({}, "2 a second"),
        ({"held": True}, "Paused; no further questions are sent"),
        ({"paused": "Rests"}, "Rests"),
    ],
)
def test_a_run_says_why_it_stands_still(line, said):
    assert doing(line, "2 a second") == said
