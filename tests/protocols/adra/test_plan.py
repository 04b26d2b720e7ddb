"""ADRA's plans: figures, judge and extraction."""

from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import RatedResponse
from annotator.domain.kinds.artifact import Kind, cell_id
from annotator.domain.material.extract import ResponsePart
from annotator.protocols.adra.plan import (
    PLAN,
    Cell,
    DrawnPlan,
    Row,
    Step,
    any_match,
    baseline,
    extract,
    headings_as_plan as plan_baseline,
    judge,
    one_to_one,
)
from tests.material.anchors import stands_in
from tests.protocols.adra.adra_material import Ask, material, metric, plan, plans, run, scored_matrix

FIGURES = ("precision", "recall", "f1", "jaccard")
CELLS = st.sampled_from([True, False, None])
ORACLE = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]


def scores(rows, prefix="plan", over_valid=False, gold=None):
    scored = scored_matrix(rows, gold)
    return [metric(PLAN, f"{prefix}.{name}").score(scored, over_valid) for name in FIGURES]


def values(*args, **kwargs):
    return [result.value for result in scores(*args, **kwargs)]


@pytest.mark.parametrize(
    ("rows", "one_to_one", "any_match"),
    [
        # The oracle of the protocols page, 3 predicted, 4 gold, matching 3. TP 3, FP 0, FN 1: P 3/3, R 3/4, F1 6/7,
        # J 3/4; any: all three rows have a match, columns 1, 2 and 4 have one.
        (ORACLE, [1, 3 / 4, 6 / 7, 3 / 4], [1, 3 / 4, 6 / 7, 3 / 4]),
        # Two sub-tasks do one work, both rows match only the first of three columns: matching 1, P 1/2, R 1/3, F1 2/5,
        # J 1/4; any: both rows are right, one column found: P 1, R 1/3, F1 1/2, J 1 / (1 + 0 + 2).
        ([[1, 0, 0], [1, 0, 0]], [1 / 2, 1 / 3, 2 / 5, 1 / 4], [1, 1 / 3, 1 / 2, 1 / 3]),
        # One broad sub-task matches three columns: TP 1, FN 2; any: P 1, R 1, F1 1, J 1.
        ([[1, 1, 1]], [1, 1 / 3, 2 / 4, 1 / 3], [1, 1, 1, 1]),
        ([[0, 0], [0, 0], [0, 0]], [0, 0, 0, 0], [0, 0, 0, 0]),
        ([[1, 0], [0, 1]], [1, 1, 1, 1], [1, 1, 1, 1]),
    ],
)
def test_both_readings_of_a_plan_by_hand(rows, one_to_one, any_match):
    assert (values(rows), values(rows, "plan_any")) == (one_to_one, pytest.approx(any_match))


@pytest.mark.parametrize("prefix", ["plan", "plan_any"])
def test_an_empty_plan_finds_nothing(prefix):
    result = scores([], prefix, gold=3)
    assert ([one.value for one in result], result[0].note) == ([None, 0, 0, 0], "nothing was predicted")
    assert (result[1].floor, result[1].ceiling, result[1].missing) == (0, 0, 0)


@pytest.mark.parametrize(
    ("predicted", "gold", "note"),
    [(3, 0, "the item has no gold plan"), (None, 3, "the plan of this response is not known")],
)
@pytest.mark.parametrize("over_valid", [False, True])
def test_where_a_plan_is_not_known_nothing_is_defined(predicted, gold, note, over_valid):
    result = metric(PLAN, "plan.f1").score(RatedResponse(plans(predicted, gold), {}), over_valid)
    assert (result.value, result.floor, result.ceiling, result.note) == (None, None, None, note)


# Missing cells


def test_a_missing_cell_leaves_a_range_and_over_valid_its_sub_task_out():
    # Not: matching 1 of 2 and 2; relevant: 2. F1 2/4 … 4/4.
    f1 = scores([[1, 0], [0, None]])[2]
    assert (f1.value, f1.floor, f1.ceiling, f1.n, f1.missing) == (None, 1 / 2, 1, 3, 1)
    assert f1.note == "1 of 4 judgements are missing"
    # Of the first row alone: TP 1, FP 0, FN 1: P 1, R 1/2, F1 2/3, J 1/2.
    result = scores([[1, 0], [0, None]], over_valid=True)
    assert [one.value for one in result] == [1, 1 / 2, 2 / 3, 1 / 2]
    assert (result[0].floor, result[0].ceiling) == (1 / 2, 1)
    assert "over 1 of 2 predicted sub-tasks only" in result[0].note


@pytest.mark.parametrize("over_valid", [False, True])
def test_with_nothing_judged_anything_is_possible(over_valid):
    for result in scores([[None, None], [None, None]], over_valid=over_valid):
        assert (result.value, result.floor, result.ceiling, result.n, result.missing) == (None, 0, 1, 0, 4)


@settings(max_examples=60)
@given(
    st.integers(1, 3).flatmap(
        lambda gold: st.lists(st.lists(CELLS, min_size=gold, max_size=gold), min_size=1, max_size=3)
    )
)
@pytest.mark.parametrize("prefix", ["plan", "plan_any"])
def test_the_range_is_that_of_all_ways_to_fill_what_is_missing(prefix, rows):
    places = [(i, j) for i, row in enumerate(rows) for j, cell in enumerate(row) if cell is None]
    could_be = [[] for _ in FIGURES]
    for filling in product([True, False], repeat=len(places)):
        full = [list(row) for row in rows]
        for (i, j), cell in zip(places, filling, strict=True):
            full[i][j] = cell
        for own, value in zip(could_be, values(full, prefix), strict=True):
            own.append(value)
    for own, result in zip(could_be, scores(rows, prefix), strict=True):
        assert (result.floor, result.ceiling) == (min(own), max(own))


def test_the_readings_count_a_missing_cell_as_no_match():
    cells = ((None, True), (None, None))
    assert (one_to_one(cells, 2).right, any_match(cells, 2).right, any_match(cells, 2).found) == (1, 1, 1)


# Cases


@pytest.mark.parametrize(("predicted", "gold"), [(None, 2), (0, 2), (2, 0)])
def test_where_a_plan_is_lacking_there_is_nothing_to_ask(predicted, gold):
    assert list(PLAN.cases(plans(predicted, gold))) == []


def test_ids_of_cells_fit_whatever_the_ids_of_sub_tasks():
    uuid, long = "9d6d5c0e-57a5-5b7e-9b0a-0f6f3e0d6a11", "x" * 80
    assert cell_id(uuid, uuid) == f"{uuid}~{uuid}"
    assert len(cell_id(long, long)) <= 80
    assert len({cell_id(long, "a"), cell_id(long[1:], "a"), cell_id("a", long)}) == 3
    assert cell_id("a~b", "c") != cell_id("a", "b~c")


def test_a_case_is_a_predicted_sub_task_and_a_unit_a_gold_one():
    drawn, gold = plan("p", ["Do this.", "Do that."]), plan("g", ["One.", "Two.", "Three."])
    first, second = PLAN.cases(material(documents={Kind.PLAN: gold}, parts={ResponsePart.PLAN: drawn}))
    assert (first.given, second.given) == (
        {"predicted sub-task": "Do this."},
        {"predicted sub-task": "Do that."},
    )
    assert {unit.id: unit.text for unit in second.units} == {
        "p2~g1": "One.",
        "p2~g2": "Two.",
        "p2~g3": "Three.",
    }
    assert (first.artifact_id, PLAN.unit_kind) == ("artifact of plan", Kind.PLAN)
    assert PLAN.lacks({}, 1, ()) == ["a plan", "the plan of a response"]


GOLD = ["Review what is known of retrieval.", "Measure the rate of invented answers.", "Compare costs."]
TASK = "Measure how often answers are invented with and without retrieval."


def case(task=TASK, gold=GOLD):
    (result,) = PLAN.cases(
        material(documents={Kind.PLAN: plan("g", gold)}, parts={ResponsePart.PLAN: plan("p", [task])})
    )
    return result


def reply(*cells):
    return Row(cells=[Cell(id=name, reason="Because.", verdict=verdict) for name, verdict in cells])


def judged(*cells, flags=()):
    return run(judge(case(), Ask(reply(*cells), flags=flags)))


def test_the_judge_sees_one_sub_task_and_all_gold_ones_by_short_names():
    ask = Ask(reply(("g1", "not"), ("g2", "relevant"), ("g3", "not")))
    run(judge(case(gold=["Two\nlines.", "Another."]), ask))
    ((prompt, fields, form, fenced),) = ask.asked
    assert (prompt, form, fenced) == ("adra.plan", Row, ("question", "subtask"))
    assert fields == {
        "question": "How does retrieval help?",
        "subtask": TASK,
        "list": "g1: Two lines.\ng2: Another.",
    }


def test_replies_are_matched_by_name_and_not_by_order():
    result = judged(("g3", "not"), ("g1", "not"), ("g2", "relevant"), flags=("injection",))
    assert {unit: verdict.value for unit, verdict in result.items()} == {
        "p1~g1": "not",
        "p1~g2": "relevant",
        "p1~g3": "not",
    }
    assert {(verdict.rationale, verdict.flags) for verdict in result.values()} == {("Because.", "injection")}


# The plain text form


@pytest.mark.parametrize(
    ("line", "verdict", "reason"),
    [
        ("g2: not\nIt is about costs.", "not", "It is about costs."),
        ("- **G2**: relevant.\n  Both measure.", "relevant", "Both measure."),
        ("g2: not\nNot relevant: another aim.", "not", "Not relevant: another aim."),
        ("g2. relevant", "relevant", ""),
    ],
)
def test_a_line_is_a_name_and_a_verdict(line, verdict, reason):
    (cell,) = Row.from_text(f"\n{line}\n").cells
    assert (cell.id, cell.verdict, cell.reason) == ("g2", verdict, reason)


def test_json_verdicts_are_read_whatever_their_case_and_nothing_else_is():
    assert Cell.model_validate({"id": " G1", "reason": "", "verdict": "Relevant"}).id == "g1"
    with pytest.raises(ValueError, match="verdict"):
        Cell(id="g1", reason="", verdict="partly")


# The baseline


def test_the_baseline_sees_the_same_sub_task_in_other_words():
    result = baseline(case())
    assert {unit: verdict.value for unit, verdict in result.items()} == {
        "p1~g1": "not",
        "p1~g2": "relevant",
        "p1~g3": "not",
    }
    assert all(verdict.rationale.startswith("baseline: likeness ") for verdict in result.values())
    assert result == baseline(case())


def test_the_baseline_abstains_where_there_are_no_words():
    result = baseline(case(gold=["Compare costs.", "…"]))
    assert (result["p1~g2"].value, result["p1~g2"].status) == (None, Status.UNCLEAR)
    assert result["p1~g1"].value == "not"
    assert {verdict.status for verdict in baseline(case(task="?")).values()} == {Status.UNCLEAR}


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
    result = plan_baseline(material(report))
    return [unit.text for unit in result.document.units] if result.document else result.cause


def test_the_model_sees_question_and_report_behind_fences():
    ask = Ask(DrawnPlan(subtasks=[]))
    run(extract(material(REPORT), ask))
    fields = {"question": "How does retrieval help?", "report": REPORT}
    assert ask.asked == [("adra.plan.draw", fields, DrawnPlan, ("question", "report"))]


def test_the_sub_tasks_keep_their_order_and_their_place_in_the_report():
    result = drawn(("How retrieval helps", "Explain how it helps."), ("What it costs", "Weigh\nits costs."))
    assert [unit.text for unit in result.document.units] == ["Explain how it helps.", "Weigh its costs."]
    assert all(stands_in(unit.anchor, REPORT) for unit in result.document.units)
    assert (result.status, result.flags) == (Status.OK, ())


def test_a_passage_that_is_not_in_the_report_is_flagged_and_the_sub_task_stays():
    result = drawn(("Never said", "Explain how it helps."), flags=("injection",))
    assert result.document.units[0].anchor is None
    assert result.flags == ("injection", "quote_missing")


def test_ids_follow_from_the_words():
    one, again = (drawn(("a", "Do it."), ("b", "Do it."), ("c", "Do more.")).document for _ in range(2))
    assert one == again
    assert len({unit.id for unit in one.units}) == 3
    assert drawn(("x", "Do more.")).document.units[0].id == one.units[2].id


@pytest.mark.parametrize("steps", [(), (("a", "  "),)])
def test_a_report_that_shows_no_work_has_no_plan(steps):
    result, cause = drawn(*steps), "the report shows no sub-tasks"
    assert (result.document, result.status, result.cause) == (None, Status.UNCLEAR, cause)


def test_the_plain_text_form_is_a_passage_and_a_sub_task_a_line():
    result = DrawnPlan.from_text("How it helps || Explain how it helps.\n\nCosts || Weigh costs.")
    assert [(step.passage, step.text) for step in result.subtasks] == [
        ("How it helps", "Explain how it helps."),
        ("Costs", "Weigh costs."),
    ]
    for text in ("", "Explain how it helps.", "a || b || c"):
        with pytest.raises(ValueError, match="two bars"):
            DrawnPlan.from_text(text)


# The baseline


def test_the_headings_of_a_report_are_its_plan():
    assert headings(REPORT) == ["Why answers are invented", "How retrieval helps", "What it costs"]
    result = plan_baseline(material(REPORT))
    assert result.document.remark == "baseline: the headings of the report"
    assert all(stands_in(unit.anchor, REPORT) for unit in result.document.units)


@pytest.mark.parametrize(
    ("report", "wanted"),
    [
        # Lines in bold are headings, by the depth of their numbers.
        (
            "**1. One**\nx\n**1.1 Inner**\nx\n**2. Two**\nx\n**3. Three**\n\n**References**\n",
            ["One", "Two", "Three"],
        ),
        # Where there are few, all are taken.
        ("# One\n\n## Two\n", ["One", "Two"]),
        ("Only text.\n\n## References\n", "baseline: the report has no headings"),
        ("", "baseline: the report has no headings"),
    ],
)
def test_the_highest_headings_are_the_plan_and_without_any_there_is_a_cause(report, wanted):
    assert headings(report) == wanted
