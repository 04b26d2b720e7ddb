"""What a judge is asked about two reports, and how its reply is read."""

import asyncio

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.pairs import FIRST, SECOND, TIE
from annotator.domain.judges.protocol import Answer, Case
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.item import Item
from annotator.domain.material.response import Response
from annotator.protocols.adra.preference import (
    ASPECTS,
    NAME,
    PREFERENCE,
    RESPECTS,
    Preferred,
    baseline,
    judge,
)
from tests.servers.scripted_ask import ScriptedAsk

REPLY = {
    "rationale": "The first cites what it says.", "factuality": "first", "comprehensiveness": "second",
    "coherence": "tie", "better": "first",
}  # fmt: skip


def case(first="One.", second="Another."):
    item = Item(id="i", key="1", question="How does retrieval help?")
    reports = [
        Response(id=name, item_id="i", system_id=name, text=text)
        for name, text in (("a", first), ("b", second))
    ]
    return Case(NAME, item, reports[0], "", (Unit(id="b"),), other=reports[1])


def test_letter_17_a_judge_names_three_respects_before_the_whole():
    ask = ScriptedAsk(REPLY)
    verdict = asyncio.run(judge(case(), ask))["b"]
    assert verdict.value == FIRST
    assert verdict.rationale.endswith("(factuality: first, comprehensiveness: second, coherence: tie)")
    (prompt, fields, fenced, words) = ask.asked[0]
    assert (prompt, set(fields), set(fenced)) == (
        NAME,
        {"question", "first", "second"},
        {"question", "first", "second"},
    )
    assert all(name in words for name in ASPECTS)
    assert list(Preferred.model_fields) == ["rationale", *ASPECTS, "better"]


def test_the_plain_text_form_is_five_lines():
    text = (
        "FACTUALITY: first\nCOMPREHENSIVENESS: second\nCOHERENCE: tie\nBETTER: second\nWHY: It covers more."
    )
    found = Preferred.from_text(text)
    assert (found.factuality, found.better, found.rationale) == ("first", "second", "It covers more.")
    with pytest.raises(ValueError, match="block 1"):
        Preferred.from_text("BETTER: first")


def test_a_reply_that_did_not_come_is_missing():
    verdict = asyncio.run(judge(case(), ScriptedAsk(Answer(Status.TIMEOUT, cause="late"))))["b"]
    assert (verdict.value, verdict.status) == (None, Status.TIMEOUT)


def test_the_floor_counts_marks_of_sources():
    cited, bare = "See https://a.org and [1].", "Nothing."
    found = [baseline(case(*both))["b"].value for both in ((cited, bare), (bare, cited), (bare, bare))]
    assert found == [FIRST, SECOND, TIE]


def test_letter_17_people_are_asked_the_same_respects_beside_the_whole():
    assert [(one.title.lower(), one.of, one.values) for one in RESPECTS] == [
        (name, PREFERENCE.name, (FIRST, SECOND, TIE)) for name in ASPECTS
    ]
