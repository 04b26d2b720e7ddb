"""Reports as replies, and drafts."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Material
from annotator.domain.kinds.artifact import Kind, read
from annotator.domain.kinds.diagnostics import Aspect
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.item import Item, Page, PageState, Response, Source
from annotator.judging.messages import load
from annotator.protocols import reports
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
from tests.material.anchors import stands_in
from tests.servers.scripted_ask import ScriptedAsk

ITEM = Item(id="i", key="1", question="Why? {{plan}}")
PLAN = Plan(units=(Subtask(text="Establish why."), Subtask(text="Conclude.")))
URL = "https://example.org/a"


def material(*works, sources=(), pages=None):
    silent = Response(id="", item_id="i", system_id="", text="")
    return Material(ITEM, silent, {Kind.EVIDENCE: Evidence(units=works)}, sources=sources, pages=pages or {})


def page(text, state=PageState.OK):
    return Page(url=URL, state=state, text=text, fetched_at=datetime.now(UTC))


def asked(plan=None, evidence=""):
    ask = ScriptedAsk({"text": "# R"})
    asyncio.run(reports.ask_for_report(ITEM, ask, plan, evidence))
    return ask.asked[0]


def test_each_prompt_has_a_place_for_what_is_given_and_for_nothing_else():
    places = {
        name: load(name).placeholders
        for name in (reports.PLAN, reports.REPORT, reports.PLANNED, reports.GROUNDED)
    }
    assert list(places.values()) == [
        {"question"},
        {"question"},
        {"question", "plan"},
        {"question", "plan", "evidence"},
    ]


def test_left_to_itself_a_model_is_given_the_question_alone():
    prompt, fields, fenced, said = asked()
    assert (prompt, fields, fenced) == (reports.REPORT, {"question": ITEM.question}, ())
    # A placeholder inside the question stays text.
    assert said.endswith("Why? {{plan}}")


def test_a_plan_is_numbered_and_the_evidence_fenced():
    prompt, fields, fenced, _ = asked(PLAN, "[1] A work")
    assert (prompt, fenced) == (reports.GROUNDED, ("evidence",))
    assert fields["plan"] == "1. Establish why.\n2. Conclude."


def test_a_plan_loses_its_marks_and_blank_lines():
    said = reports.Subtasks.from_text("1. First step.\n\n2) Second step.\n- Third.\n(4) Fourth.")
    assert said.subtasks == ["First step.", "Second step.", "Third.", "Fourth."]


@pytest.mark.parametrize(
    ("said", "status", "steps"),
    [
        ({"subtasks": [" A  b. ", " "]}, Status.OK, ["A b."]),
        # No plan comes of an answer that failed.
        (Answer(Status.TIMEOUT, cause="Late."), Status.TIMEOUT, None),
    ],
)
def test_a_plan_comes_of_an_answer(said, status, steps):
    answer, plan = asyncio.run(reports.ask_for_plan(ITEM, ScriptedAsk(said)))
    assert (answer.status, plan and [step.text for step in plan.units]) == (status, steps)


@pytest.mark.parametrize(
    ("came", "kept"),
    [
        ("# R\n", "# R"),
        ("```markdown\n# R\n\nText.\n```", "# R\n\nText."),
        ("```\n# R\n```", "# R"),
        ("```python\nx\n```\nand\n```\ny\n```", "```python\nx\n```\nand\n```\ny\n```"),
    ],
)
def test_a_fence_around_the_whole_is_taken_off_and_no_other(came, kept):
    assert reports.Report.from_text(came).text == kept


def test_an_empty_report_is_none():
    with pytest.raises(ValueError, match="empty"):
        reports.Report.from_text("```markdown\n\n```")


RESIDUAL = Reference(text="Deep Residual Learning for Image Recognition", identifier="1512.03385")
ON_ARXIV = "[1] Deep Residual Learning for Image Recognition. 1512.03385"
WORDS = {"id": "s", "item_id": "i", "text": "Words."}


@pytest.mark.parametrize(
    ("work", "given", "told"),
    [
        (
            Reference(text="Deep nets", authors="A. Author", year=2016, identifier="arXiv:1512.03385"),
            {},
            "[1] Deep nets. A. Author. 2016. arXiv:1512.03385",
        ),
        (Reference(), {}, ""),
        # A work's text comes from the item's source, by identifier or by title.
        (
            RESIDUAL,
            {"sources": (Source(title="Other", identifier="https://arxiv.org/abs/1512.03385v2", **WORDS),)},
            f"{ON_ARXIV}\n\nWords.",
        ),
        (
            RESIDUAL,
            {"sources": (Source(title="Deep residual learning for image recognition", **WORDS),)},
            f"{ON_ARXIV}\n\nWords.",
        ),
        # Or from the page at its address, if that could be read.
        (
            Reference(text="A page", identifier=URL),
            {"pages": {URL: page("Read.")}},
            f"[1] A page. {URL}\n\nRead.",
        ),
        (
            Reference(text="A page", identifier=URL),
            {"pages": {URL: page("Please pay.", PageState.PAYWALL)}},
            f"[1] A page. {URL}",
        ),
    ],
)
def test_evidence_is_told_with_all_that_is_known_of_it(work, given, told):
    assert reports.evidence_of(material(work, **given)) == told


def test_texts_share_the_room_there_is():
    works = [Reference(text=f"Page {n}", identifier=f"{URL}{n}") for n in range(2)]
    pages = {f"{URL}{n}": page("y" * reports.LONGEST_EVIDENCE) for n in range(2)}
    told = reports.evidence_of(material(*works, pages=pages))
    assert (told.count("y"), told.count("the rest is left out")) == (reports.LONGEST_EVIDENCE, 2)


PAPER = "Depth **hurts** plain networks. A shortcut adds the input to the output."
INSIGHTS = Insights(units=(Insight(text="Depth hurts."), Insight(text="A shortcut helps.")))


def draft_material(*texts, insights=None):
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
    return asyncio.run(draw(draft_material(*(texts or (PAPER,)), insights=insights), ask)), ask


def test_a_criterion_stands_on_the_source_and_on_the_insight_it_was_written_from():
    result, _ = drafted(draft_rubric, {"criteria": [criterion(insight=2)]}, insights=INSIGHTS)
    (unit,) = result.document.units
    assert (unit.text, unit.weight, unit.insight_id) == ("Explains the loss.", 3, INSIGHTS.units[1].id)
    assert (unit.anchor.quote, unit.anchor.source_id) == ("Depth **hurts** plain networks", "s0")
    assert (stands_in(unit.anchor, PAPER), result.flags) == (True, ("draft",))


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ({"insight": 0}, ("draft",)),
        ({"insight": 3}, ("draft",)),
        ({"insight": 0, "quote": "Words of nobody"}, ("draft", "quote_missing")),
    ],
)
def test_an_insight_or_a_quotation_that_is_not_there_ties_nothing(given, flags):
    result, _ = drafted(draft_rubric, {"criteria": [criterion(**given)]}, insights=INSIGHTS)
    (unit,) = result.document.units
    assert (unit.insight_id, unit.anchor is None, result.flags) == ("", "quote" in given, flags)


def test_its_importance_becomes_a_weight_that_the_project_allows():
    at_hand = replace(draft_material(PAPER), weights=read("-2 to 10"))
    answer = {"criteria": [criterion(weight=weight) for weight in (3, 2, 1)]}
    result = asyncio.run(draft_rubric(at_hand, ScriptedAsk(answer)))
    assert [unit.weight for unit in result.document.units] == [10, 5, 1]


def test_a_statement_has_the_label_and_part_it_was_given():
    result, _ = drafted(draft_diagnostics, {"statements": [statement(label=False, aspect="results")]})
    (unit,) = result.document.units
    assert (unit.label, unit.aspect) == (False, Aspect.RESULTS)


def test_sources_are_fenced_and_too_long_ones_are_cut_evenly_and_it_is_said():
    long = "x" * reports.LONGEST_SOURCES
    _, ask = drafted(draft_rubric, {"criteria": [criterion()]}, long, "short")
    ((_, fields, fenced, _),) = ask.asked
    assert "sources" in fenced
    assert fields["extent"] == "Of each the first 100,000 characters are shown."
    assert fields["sources"].count("x") == 100_000
    assert fields["sources"].endswith("Source 2: Paper 1\n\nshort")


@pytest.mark.parametrize("draw", [draft_rubric, draft_diagnostics])
@pytest.mark.parametrize(
    ("answer", "texts", "status", "cause"),
    [
        ({"criteria": []}, (PAPER,), Status.UNCLEAR, ""),
        (Answer(Status.REFUSED, cause="No."), (PAPER,), Status.REFUSED, "No."),
        # Without a source nobody is asked.
        (None, (" ",), Status.SKIPPED, ""),
    ],
)
def test_a_draft_of_nothing_and_a_refusal_are_no_documents(draw, answer, texts, status, cause):
    nothing = {"statements": []} if draw is draft_diagnostics else {"criteria": []}
    result, ask = drafted(draw, nothing if isinstance(answer, dict) else answer, *texts)
    assert (result.document, result.status, cause in result.cause) == (None, status, True)
    assert bool(ask.asked) is (answer is not None)


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
