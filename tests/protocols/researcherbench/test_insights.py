"""What a question's sources hold for it."""

import asyncio
from dataclasses import replace

import pytest

from annotator.actions.authoring import settings
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Material
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.material.extract import as_markdown
from annotator.domain.material.item import Item, Response, Source
from annotator.protocols.researcherbench.drafts import (
    FOCUS,
    NAME,
    DrawnInsights,
    DrawnReference,
    baseline,
    extract,
    refer,
)
from tests.material.anchors import stands_in
from tests.servers.scripted_ask import ScriptedAsk

TALK = "Good morning. Agents follow **speakers**: a smart speaker became a hub of the home. Thank you all."
QUESTION = "Will agents replace smart speakers at home?"


def material(*texts, kind="Open Consulting", insights=None, types=()):
    item = Item(id="i", key="q1", question=QUESTION, question_type=kind)
    sources = tuple(Source(id=f"s{n}", item_id="i", title=f"Talk {n}", text=t) for n, t in enumerate(texts))
    silent = Response(id="", item_id="i", system_id="", text="")
    documents = {Kind.INSIGHTS: insights} if insights else {}
    return Material(item, silent, documents=documents, sources=sources, types=types)


def reply(*quotes):
    return {
        "insights": [
            {"quote": q, "text": f"Insight {n}.", "explanation": "It matters."} for n, q in enumerate(quotes)
        ]
    }


def extracted(answer, *texts, kind="Open Consulting", flags=(), types=()):
    ask = ScriptedAsk(answer, flags=flags)
    return asyncio.run(extract(material(*(texts or (TALK,)), kind=kind, types=types), ask)), ask


EIGHT = ("a smart speaker became a hub",) * 8


# Key insights


def test_an_insight_stands_where_its_source_says_it():
    result, _ = extracted(reply(*EIGHT[:7], "follow speakers"), "Another talk.", TALK)
    last = result.document.units[-1]
    assert (last.text, last.note, last.anchor.source_id) == ("Insight 7.", "It matters.", "s1")
    assert last.anchor.quote == TALK[last.anchor.start : last.anchor.end] == "follow **speakers"
    assert stands_in(last.anchor, TALK)
    assert result.flags == ()


def test_a_quote_that_is_in_no_source_is_flagged_and_has_no_place():
    result, _ = extracted(reply(*EIGHT, "Agents will never fly"))
    assert (result.document.units[-1].anchor, result.flags) == (None, ("quote_missing",))


@pytest.mark.parametrize("count", [0, 7, 16])
def test_another_number_than_8_to_15_is_flagged(count):
    result, _ = extracted(reply(*(EIGHT[:1] * count)))
    assert (len(result.document.units), result.flags) == (count, ("insight_count",))


FOCUSES = {one.name: one.focus for one in settings.shipped_types()} | {"Anything": FOCUS[:1]}


@pytest.mark.parametrize("kind", FOCUSES)
def test_letter_3_insights_are_asked_for_by_what_the_project_says_of_the_type(kind):
    _, ask = extracted(reply(*EIGHT), kind=kind, types=settings.shipped_types())
    (name, fields, _, sent) = ask.asked[0]
    assert (name, fields["focus"]) == (NAME, "\n".join(f"- {one}" for one in FOCUSES[kind]))
    assert FOCUSES[kind][0] in sent


def test_sources_come_under_their_titles_fenced_and_as_they_are():
    _, ask = extracted(reply(*EIGHT), TALK, "Uses {{question}} in braces.")
    (_, fields, fenced, sent) = ask.asked[0]
    assert set(fenced) == {"question", "sources"}
    assert fields["sources"].startswith("Source 1: Talk 0\n\nGood morning.")
    assert "Uses {{question}} in braces." in sent
    assert fields["extent"] == "It is given whole."


@pytest.mark.parametrize("texts", [(" ",), ("", "\n")])
def test_without_a_source_nothing_is_asked(texts):
    result, ask = extracted(reply(), *texts)
    assert (result.document, result.status, ask.asked) == (None, Status.SKIPPED, [])
    assert "no source" in result.cause


# Reference material


def referred(answer, *texts, insights=None):
    ask = ScriptedAsk(answer)
    return asyncio.run(refer(material(*texts, insights=insights), ask)), ask


@pytest.mark.parametrize(
    ("beyond", "markdown"),
    [
        ("Or not.", "## From the sources\n\nThey led.\n\n## Beyond the sources\n\nOr not."),
        ("", "## From the sources\n\nThey led."),
    ],
)
def test_reference_material_keeps_what_the_sources_say_apart_from_the_rest(beyond, markdown):
    insights = Insights(units=(Insight(id="x", text="Speakers\nled."),))
    result, ask = referred({"from_sources": " They led. ", "beyond_sources": beyond}, TALK, insights=insights)
    units = [(unit.text, unit.beyond) for unit in result.document.units]
    assert units == [("They led.", False), ("Or not.", True)][: len(units)]
    assert result.document.parts == ("They led.", beyond)
    assert as_markdown(*result.document.parts) == markdown
    assert ask.asked[0][1]["insights"] == "1. Speakers led."


def test_what_a_model_drafted_is_no_source():
    insights = Insights(units=(Insight(text="x"),))
    at_hand = material(TALK, "Drafted words.", insights=insights)
    drafted = at_hand.sources[1].model_copy(update={"drafted": "m"})
    at_hand = replace(at_hand, sources=(at_hand.sources[0], drafted))
    ask = ScriptedAsk({"from_sources": "They led.", "beyond_sources": ""})
    asyncio.run(refer(at_hand, ask))
    assert "Drafted words." not in ask.asked[0][1]["sources"]


@pytest.mark.parametrize(
    ("texts", "insights", "cause"),
    [
        ((TALK,), None, "no insights"),
        ((TALK,), Insights(), "no insights"),
        ((), Insights(units=(Insight(text="x"),)), "no source"),
    ],
)
def test_reference_material_needs_insights_and_sources(texts, insights, cause):
    result, ask = referred({}, *texts, insights=insights)
    assert (result.document, result.status, ask.asked) == (None, Status.SKIPPED, [])
    assert cause in result.cause


# The plain text forms


def test_the_plain_text_forms_are_read():
    (one, two) = DrawnInsights.from_text(
        "QUOTE: a b\nINSIGHT: C is D.\nWHY: So.\n\nQUOTE:\nINSIGHT: E.\nWHY:"
    ).insights
    assert (one.quote, one.text, one.explanation, two.quote) == ("a b", "C is D.", "So.", "")
    parts = DrawnReference.from_text("FROM THE SOURCES:\nA.\n\nB.\nBEYOND THE SOURCES:\nNothing")
    assert (parts.from_sources, parts.beyond_sources) == ("A.\n\nB.", "")


@pytest.mark.parametrize("text", ["", "INSIGHT: x", "QUOTE: a\nINSIGHT: b"])
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match="block 1 is not the lines QUOTE, INSIGHT, WHY"):
        DrawnInsights.from_text(text)
    with pytest.raises(ValueError, match="two parts"):
        DrawnReference.from_text(text)
    with pytest.raises(ValueError, match="text"):
        DrawnInsights.from_text("QUOTE: a\nINSIGHT:\nWHY: b")


# The baseline


def test_the_baseline_quotes_the_sentences_nearest_to_the_question():
    (one,) = baseline(material("Nothing here bears on it in any way at all. " + TALK)).document.units
    assert one.text.startswith("Agents follow")
    assert (one.anchor.source_id, one.note) == ("s0", "baseline: quoted from the source")


def test_the_baseline_gives_the_same_again_and_ten_at_most():
    text = " ".join(f"The agents of the home number {n} replaced speakers." for n in range(30))
    first, again = baseline(material(text)).document, baseline(material(text)).document
    starts = [unit.anchor.start for unit in first.units]
    assert (first, len(starts), starts) == (again, 10, sorted(starts))


def test_the_baseline_without_a_source_is_skipped():
    assert baseline(material()).status is Status.SKIPPED
    assert baseline(material("Completely unrelated glaciers melt in summer.")).document == Insights()
