"""What a model drafts of a rubric and of diagnostics: tied to the sources, and marked as a draft."""

import asyncio
from dataclasses import replace

import pytest
from pydantic import ValidationError

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Material
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.diagnostics import Aspect
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.weights import read
from annotator.domain.material.item import Item
from annotator.domain.material.response import Response
from annotator.domain.material.source import Source
from annotator.judging.prompts.messages import load
from annotator.judging.prompts.schema import strict_schema
from annotator.protocols.drafts import (
    DIAGNOSTICS,
    RUBRIC,
    DraftedCriterion,
    DraftedDiagnostics,
    DraftedRubric,
    DraftedStatement,
    draft_diagnostics,
    draft_rubric,
)
from annotator.protocols.sources import LONGEST_SOURCES
from tests.material.anchors import stands_in
from tests.servers.scripted_ask import ScriptedAsk

PAPER = "Depth **hurts** plain networks. A shortcut adds the input to the output."
INSIGHTS = Insights(units=(Insight(text="Depth hurts."), Insight(text="A shortcut helps.")))


def material(*texts, insights=None):
    item = Item(id="i", key="1", question="Why do residual connections help?")
    sources = tuple(Source(id=f"s{n}", item_id="i", title=f"Paper {n}", text=t) for n, t in enumerate(texts))
    silent = Response(id="", item_id="i", system_id="", text="")
    return Material(item, silent, documents={Kind.INSIGHTS: insights} if insights else {}, sources=sources)


def criterion(**rest):
    return {
        "quote": "Depth hurts plain networks",
        "insight": 1,
        "text": "Explains the loss.",
        "weight": 3,
    } | rest


def statement(**rest):
    return {
        "quote": "adds the input",
        "text": "Input is added.",
        "label": True,
        "aspect": "methodology",
    } | rest


def drafted(draw, answer, *texts, insights=None):
    ask = ScriptedAsk(answer)
    return asyncio.run(draw(material(*(texts or (PAPER,)), insights=insights), ask)), ask


def test_a_criterion_stands_on_the_source_and_on_the_insight_it_was_written_from():
    found, _ = drafted(draft_rubric, {"criteria": [criterion(insight=2)]}, insights=INSIGHTS)
    (unit,) = found.document.units
    assert (unit.text, unit.weight, unit.insight_id) == ("Explains the loss.", 3, INSIGHTS.units[1].id)
    assert (unit.anchor.quote, unit.anchor.source_id) == ("Depth **hurts** plain networks", "s0")
    assert stands_in(unit.anchor, PAPER)
    assert found.flags == ("draft",)


@pytest.mark.parametrize("number", [0, 3])
def test_an_insight_that_is_not_there_ties_nothing(number):
    found, _ = drafted(draft_rubric, {"criteria": [criterion(insight=number)]}, insights=INSIGHTS)
    assert found.document.units[0].insight_id == ""


def test_its_importance_becomes_a_weight_that_the_project_allows():
    at_hand = replace(material(PAPER), weights=read("-2 to 10"))
    answer = {"criteria": [criterion(weight=weight) for weight in (3, 2, 1)]}
    found = asyncio.run(draft_rubric(at_hand, ScriptedAsk(answer)))
    assert [unit.weight for unit in found.document.units] == [10, 5, 1]


def test_what_is_quoted_from_nowhere_stands_without_a_place_and_is_flagged():
    found, _ = drafted(draft_rubric, {"criteria": [criterion(quote="Words of nobody")]})
    assert (found.document.units[0].anchor, found.flags) == (None, ("draft", "quote_missing"))


def test_a_statement_has_the_label_and_part_it_was_given():
    found, _ = drafted(draft_diagnostics, {"statements": [statement(label=False, aspect="results")]})
    (unit,) = found.document.units
    assert (unit.label, unit.aspect) == (False, Aspect.RESULTS)


def test_sources_are_fenced_and_too_long_ones_are_cut_evenly_and_it_is_said():
    long = "x" * LONGEST_SOURCES
    _, ask = drafted(draft_rubric, {"criteria": [criterion()]}, long, "short")
    ((_, fields, fenced, _),) = ask.asked
    assert "sources" in fenced
    assert fields["extent"] == "Of each the first 100,000 characters are shown."
    assert fields["sources"].count("x") == 100_000
    assert fields["sources"].endswith("Source 2: Paper 1\n\nshort")


@pytest.mark.parametrize("draw", [draft_rubric, draft_diagnostics])
def test_without_a_source_nobody_is_asked(draw):
    found = asyncio.run(draw(material(" "), ScriptedAsk()))
    assert (found.document, found.status) == (None, Status.SKIPPED)


@pytest.mark.parametrize(
    ("draw", "empty"), [(draft_rubric, {"criteria": []}), (draft_diagnostics, {"statements": []})]
)
def test_a_draft_of_nothing_and_a_refusal_are_no_documents(draw, empty):
    found, _ = drafted(draw, empty)
    assert (found.document, found.status) == (None, Status.UNCLEAR)
    refused, _ = drafted(draw, Answer(Status.REFUSED, cause="No."))
    assert (refused.document, refused.status, refused.cause) == (None, Status.REFUSED, "No.")


def test_plain_text_is_read_by_its_four_lines():
    text = "QUOTE: a\nINSIGHT: 1\nCRITERION: Explains a.\nWEIGHT: 2\n\nQUOTE:\nINSIGHT: 0\nCRITERION: B.\nWEIGHT: 1"
    assert [(c.quote, c.insight, c.text, c.weight) for c in DraftedRubric.from_text(text).criteria] == [
        ("a", 1, "Explains a.", 2),
        ("", 0, "B.", 1),
    ]
    one = DraftedDiagnostics.from_text("QUOTE: q\nSTATEMENT: S.\nLABEL: false\nASPECT: problem").statements[0]
    assert (one.label, one.aspect) == (False, Aspect.PROBLEM)
    with pytest.raises(ValueError, match="block 2 is not the lines QUOTE, INSIGHT, CRITERION, WEIGHT"):
        DraftedRubric.from_text(text.replace("QUOTE:\n", ""))


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ("QUOTE: a\nINSIGHT: one\nCRITERION: c\nWEIGHT: 2", "insight"),
        ("QUOTE: a\nINSIGHT: 1\nCRITERION: c\nWEIGHT: 4", "weight"),
        ("QUOTE: a\nINSIGHT: 1\nCRITERION: c\nWEIGHT: core", "weight"),
        ("QUOTE: a\nINSIGHT: 1\nCRITERION:\nWEIGHT: 2", "text"),
    ],
)
def test_plain_text_that_does_not_fit_names_the_field(wrong, field):
    with pytest.raises(ValidationError, match=rf"criteria\.0\.{field}"):
        DraftedRubric.from_text(wrong)


@pytest.mark.parametrize(
    ("name", "reply", "fields"),
    [
        (RUBRIC, DraftedCriterion, {"question", "insights", "sources", "extent"}),
        (DIAGNOSTICS, DraftedStatement, {"question", "sources", "extent"}),
    ],
)
def test_the_prompts_name_the_fields_in_their_order_with_the_evidence_first(name, reply, fields):
    prompt = load(name)
    places = [prompt.system.index(f"\n- {field}: ") for field in reply.model_fields]
    assert places == sorted(places)
    assert next(iter(reply.model_fields)) == "quote"
    assert prompt.placeholders == fields


def test_the_forms_fit_strict_servers():
    for form in (DraftedRubric, DraftedDiagnostics):
        assert strict_schema(form)["additionalProperties"] is False
