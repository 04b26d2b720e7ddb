"""How a model is asked for a plan and a report, and what evidence is given with it."""

import asyncio
from datetime import UTC, datetime

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Material
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.item import Item
from annotator.domain.material.page import Page, PageState
from annotator.domain.material.response import Response
from annotator.domain.material.source import Source
from annotator.judging.prompts.messages import load
from annotator.protocols import reports
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
    _, plan = asyncio.run(reports.ask_for_plan(ITEM, ScriptedAsk({"subtasks": [" A  b. ", " "]})))
    assert [step.text for step in plan.units] == ["A b."]


def test_no_plan_comes_of_an_answer_that_failed():
    answer, plan = asyncio.run(reports.ask_for_plan(ITEM, ScriptedAsk(Answer(Status.TIMEOUT, cause="Late."))))
    assert (answer.status, plan) == (Status.TIMEOUT, None)


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


def test_evidence_is_told_with_all_that_is_known_of_it():
    work = Reference(text="Deep nets", authors="A. Author", year=2016, identifier="arXiv:1512.03385")
    assert reports.evidence_of(material(work)) == "[1] Deep nets. A. Author. 2016. arXiv:1512.03385"
    assert reports.evidence_of(material(Reference())) == ""


@pytest.mark.parametrize(
    "source",
    [
        Source(
            id="s", item_id="i", title="Other", identifier="https://arxiv.org/abs/1512.03385v2", text="Words."
        ),
        Source(id="s", item_id="i", title="Deep residual learning for image recognition", text="Words."),
    ],
    ids=["by identifier", "by title"],
)
def test_a_works_text_comes_from_the_items_source(source):
    work = Reference(text="Deep Residual Learning for Image Recognition", identifier="1512.03385")
    assert reports.evidence_of(material(work, sources=(source,))).endswith("\n\nWords.")


def test_a_works_text_comes_from_the_page_at_its_address_if_that_could_be_read():
    work = Reference(text="A page", identifier=URL)
    assert reports.evidence_of(material(work, pages={URL: page("Read.")})) == f"[1] A page. {URL}\n\nRead."
    paywall = {URL: page("Please pay.", PageState.PAYWALL)}
    assert reports.evidence_of(material(work, pages=paywall)) == f"[1] A page. {URL}"


def test_texts_share_the_room_there_is():
    works = [Reference(text=f"Page {n}", identifier=f"{URL}{n}") for n in range(2)]
    pages = {f"{URL}{n}": page("y" * reports.LONGEST_EVIDENCE) for n in range(2)}
    told = reports.evidence_of(material(*works, pages=pages))
    assert told.count("y") == reports.LONGEST_EVIDENCE
    assert told.count("the rest is left out") == 2
