"""How a plan is drawn from a report."""

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.material.part import ResponsePart
from annotator.protocols.adra import PLAN_OF_REPORT
from annotator.protocols.adra.drawn_plan import DrawnPlan, Step, baseline, extract
from tests.material.anchors import stands_in
from tests.protocols.adra.adra_material import Ask, material, run

REPORT = """# Retrieval in **practice**

## 1. Why answers are *invented*
Because.

## 2. How retrieval helps
### 2.1 Details
It does.

## 3. What it costs

## References
[1] https://a.org
"""


def drawn(*steps, flags=()):
    reply = DrawnPlan(subtasks=[Step(passage=passage, text=text) for passage, text in steps])
    return run(extract(material(REPORT), Ask(reply, flags=flags)))


def headings(report):
    found = baseline(material(report))
    return [unit.text for unit in found.document.units] if found.document else found.cause


def test_the_model_sees_question_and_report_behind_fences():
    ask = Ask(DrawnPlan(subtasks=[]))
    run(extract(material(REPORT), ask))
    fields = {"question": "How does retrieval help?", "report": REPORT}
    assert ask.asked == [("adra.plan.draw", fields, DrawnPlan, ("question", "report"))]


def test_the_sub_tasks_keep_their_order_and_their_place_in_the_report():
    found = drawn(("How retrieval helps", "Explain how it helps."), ("What it costs", "Weigh\nits costs."))
    assert [unit.text for unit in found.document.units] == ["Explain how it helps.", "Weigh its costs."]
    assert all(stands_in(unit.anchor, REPORT) for unit in found.document.units)
    assert (found.status, found.flags) == (Status.OK, ())


def test_a_passage_that_is_not_in_the_report_is_flagged_and_the_sub_task_stays():
    found = drawn(("Never said", "Explain how it helps."), flags=("injection",))
    assert found.document.units[0].anchor is None
    assert found.flags == ("injection", "quote_missing")


def test_ids_follow_from_the_words():
    one, again = (drawn(("a", "Do it."), ("b", "Do it."), ("c", "Do more.")).document for _ in range(2))
    assert one == again
    assert len({unit.id for unit in one.units}) == 3
    assert drawn(("x", "Do more.")).document.units[0].id == one.units[2].id


@pytest.mark.parametrize("steps", [(), (("a", "  "),)])
def test_a_report_that_shows_no_work_has_no_plan(steps):
    found = drawn(*steps)
    assert (found.document, found.status, found.cause) == (
        None,
        Status.UNCLEAR,
        "the report shows no sub-tasks",
    )


def test_what_did_not_come_is_no_plan():
    found = run(extract(material(REPORT), Ask(status=Status.API_ERROR, cause="500", flags=("late",))))
    assert (found.document, found.status, found.cause, found.flags) == (
        None,
        Status.API_ERROR,
        "500",
        ("late",),
    )


def test_the_plain_text_form_is_a_passage_and_a_sub_task_a_line():
    found = DrawnPlan.from_text("How it helps || Explain how it helps.\n\nCosts || Weigh costs.")
    assert [(step.passage, step.text) for step in found.subtasks] == [
        ("How it helps", "Explain how it helps."),
        ("Costs", "Weigh costs."),
    ]
    for text in ("", "Explain how it helps.", "a || b || c"):
        with pytest.raises(ValueError, match="two bars"):
            DrawnPlan.from_text(text)


# The baseline


def test_the_headings_of_a_report_are_its_plan():
    assert headings(REPORT) == ["Why answers are invented", "How retrieval helps", "What it costs"]
    found = baseline(material(REPORT))
    assert found.document.remark == "baseline: the headings of the report"
    assert all(stands_in(unit.anchor, REPORT) for unit in found.document.units)


def test_lines_in_bold_are_headings_by_the_depth_of_their_numbers():
    report = "**1. One**\nx\n**1.1 Inner**\nx\n**2. Two**\nx\n**3. Three**\n\n**References**\n"
    assert headings(report) == ["One", "Two", "Three"]


def test_with_few_headings_all_are_taken():
    assert headings("# One\n\n## Two\n") == ["One", "Two"]


def test_without_headings_there_is_no_plan_but_a_cause():
    assert headings("Only text.\n\n## References\n") == "baseline: the report has no headings"
    assert baseline(material("")).status is Status.UNCLEAR


def test_it_makes_the_plan_of_a_response():
    assert (PLAN_OF_REPORT.name, PLAN_OF_REPORT.makes) == ("adra.plan.draw", ResponsePart.PLAN)
