"""How a judge is asked about a plan."""

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.part import ResponsePart
from annotator.protocols.adra.plan import PLAN, Cell, Row, baseline, judge
from tests.protocols.adra.adra_material import Ask, material, plan, run

GOLD = ["Review what is known of retrieval.", "Measure the rate of invented answers.", "Compare costs."]
TASK = "Measure how often answers are invented with and without retrieval."


def case(task=TASK, gold=GOLD):
    (found,) = PLAN.cases(
        material(documents={Kind.PLAN: plan("g", gold)}, parts={ResponsePart.PLAN: plan("p", [task])})
    )
    return found


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
    found = judged(("g3", "not"), ("g1", "not"), ("g2", "relevant"), flags=("injection",))
    assert {unit: verdict.value for unit, verdict in found.items()} == {
        "p1~g1": "not",
        "p1~g2": "relevant",
        "p1~g3": "not",
    }
    assert {(verdict.rationale, verdict.flags) for verdict in found.values()} == {("Because.", "injection")}


def test_a_sub_task_that_is_not_named_is_missing_and_the_others_stand():
    found = judged(("g1", "not"), ("g2", "relevant"))
    assert (found["p1~g3"].value, found["p1~g3"].status) == (None, Status.INVALID)
    assert found["p1~g3"].cause == "The reply leaves this out."
    assert (found["p1~g1"].value, found["p1~g2"].value) == ("not", "relevant")


@pytest.mark.parametrize("second", ["not", "relevant"])
def test_a_sub_task_that_is_named_twice_is_missing_even_if_both_agree(second):
    found = judged(("g1", "not"), ("g2", "not"), ("g2", second), ("g3", "not"))
    assert (found["p1~g2"].value, found["p1~g2"].status) == (None, Status.INVALID)
    assert found["p1~g2"].cause == "The reply answers this more than once."
    assert found["p1~g1"].status is Status.OK


def test_an_unknown_name_fills_no_gap():
    found = judged(("g1", "not"), ("g2", "not"), ("g4", "relevant"))
    assert found["p1~g3"].status is Status.INVALID
    assert found["p1~g3"].cause == "The reply leaves this out. It answers for what was not asked."
    assert set(found) == {"p1~g1", "p1~g2", "p1~g3"}


def test_a_spare_unknown_name_changes_nothing():
    found = judged(("g1", "not"), ("g2", "not"), ("g3", "not"), ("g9", "relevant"))
    assert {verdict.value for verdict in found.values()} == {"not"}


def test_what_did_not_come_is_missing_for_every_cell():
    found = run(judge(case(), Ask(status=Status.REFUSED, cause="it would not", flags=("late",))))
    assert set(found) == {"p1~g1", "p1~g2", "p1~g3"}
    for verdict in found.values():
        assert (verdict.value, verdict.status, verdict.cause, verdict.flags) == (
            None,
            Status.REFUSED,
            "it would not",
            "late",
        )


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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "g1: perhaps",
        "g1: not irrelevant",
        "g1: relevant or not",
        "g1: nothing",
        "g1: irrelevant",
        "relevant",
        "g1: not relevant, other aim",
        "g1: relevant because both measure",
        "g1: not. It is about costs.",
        "g1: not\ng2: not sure",
        "In all, it fits poorly.\ng1: not.",
    ],
)
def test_any_other_line_is_refused(text):
    with pytest.raises(ValueError, match="relevant or not"):
        Row.from_text(text)


def test_json_verdicts_are_read_whatever_their_case_and_nothing_else_is():
    assert Cell.model_validate({"id": " G1", "reason": "", "verdict": "Relevant"}).id == "g1"
    with pytest.raises(ValueError, match="verdict"):
        Cell(id="g1", reason="", verdict="partly")


# The baseline


def test_the_baseline_sees_the_same_sub_task_in_other_words():
    found = baseline(case())
    assert {unit: verdict.value for unit, verdict in found.items()} == {
        "p1~g1": "not",
        "p1~g2": "relevant",
        "p1~g3": "not",
    }
    assert all(verdict.rationale.startswith("baseline: likeness ") for verdict in found.values())
    assert found == baseline(case())


def test_the_baseline_abstains_where_there_are_no_words():
    found = baseline(case(gold=["Compare costs.", "…"]))
    assert (found["p1~g2"].value, found["p1~g2"].status) == (None, Status.UNCLEAR)
    assert found["p1~g1"].value == "not"
    assert {verdict.status for verdict in baseline(case(task="?")).values()} == {Status.UNCLEAR}
