"""Which of two reports is better, and what both orders make of it."""

import asyncio

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.pairs import PairOutcome, outcome
from annotator.domain.judges.protocol import Answer, Material, RatedResponse
from annotator.domain.material.item import Item
from annotator.domain.material.response import Response
from annotator.judging.prompts.schema import strict_schema
from annotator.protocols.researcherbench.pairwise import (
    PAIRWISE,
    Preference,
    baseline,
    judge,
    win_rate,
)
from tests.servers.scripted_ask import ScriptedAsk


def response(name, text=None):
    return Response(
        id=name, item_id="i", system_id=f"system-of-{name}", text=text or f"The report of {name}."
    )


def material(own="a", others=("b", "c"), texts=()):
    made = {name: response(name, dict(texts).get(name)) for name in (own, *others)}
    item = Item(id="i", key="q1", question="Which is it?")
    return Material(item, made[own], others=tuple(made[name] for name in others))


def rate(shown_first, shown_second, over_valid=False):
    """The win rate of a response from its verdicts by rival, shown first and shown second."""
    rivals = tuple(dict.fromkeys([*shown_first, *shown_second]))
    given = [{k: v for k, v in side.items() if v} for side in (shown_first, shown_second)]
    return win_rate(RatedResponse(material(others=rivals), *given), over_valid)


# Both orders


@pytest.mark.parametrize(
    ("shown_first", "shown_second", "made"),
    [
        ("first", "second", PairOutcome.WIN),
        ("second", "first", PairOutcome.LOSS),
        ("tie", "tie", PairOutcome.TIE),
        ("first", "first", PairOutcome.INCONSISTENT),
        ("second", "second", PairOutcome.INCONSISTENT),
        ("first", "tie", PairOutcome.INCONSISTENT),
        ("tie", "first", PairOutcome.INCONSISTENT),
        ("first", None, PairOutcome.ERROR),
        (None, "tie", PairOutcome.ERROR),
        (None, None, PairOutcome.ERROR),
    ],
)
def test_both_orders_make_the_outcome(shown_first, shown_second, made):
    assert outcome(shown_first, shown_second) is made


@pytest.mark.parametrize("value", ["A", "First", ""])
def test_another_verdict_is_refused(value):
    with pytest.raises(ValueError, match="first, second or tie"):
        outcome(value, "tie")


# The win rate


def test_the_win_rate_is_wins_over_comparisons():
    # against b a win, c a loss, d a tie, e inconsistent: 1/4
    found = rate(
        {"b": "first", "c": "second", "d": "tie", "e": "first"},
        {"b": "second", "c": "first", "d": "tie", "e": "first"},
    )
    assert found.value == found.floor == found.ceiling == 1 / 4
    assert (found.n, found.missing, found.note) == (4, 0, "")


def test_an_error_in_either_order_leaves_a_range_and_is_no_tie():
    # b won; c has one order, won, and may still be won: 1/2 to 2/2
    found = rate({"b": "first", "c": "first"}, {"b": "second"})
    assert (found.value, found.floor, found.ceiling) == (None, 1 / 2, 1.0)
    assert (found.n, found.missing) == (1, 1)


def test_what_one_order_rules_out_cannot_be_won_any_more():
    # c was lost in the order known, d has neither: b of b and c; b of 3 at least, b and d at most
    found = rate({"b": "first", "c": "second", "d": None}, {"b": "second"}, over_valid=True)
    assert (found.value, found.floor, found.ceiling) == (1 / 2, 1 / 3, 2 / 3)
    assert "over the others only" in found.note


@pytest.mark.parametrize("over_valid", [False, True])
def test_with_all_missing_anything_is_possible(over_valid):
    found = rate({"b": None}, {}, over_valid)
    assert (found.value, found.floor, found.ceiling, found.n) == (None, 0.0, 1.0, 0)


def test_without_a_rival_there_is_no_rate():
    found = rate({}, {})
    assert (found.value, found.floor, found.note) == (
        None,
        None,
        "there is no other response to compare with",
    )


# Cases and judge


def test_each_rival_is_a_case_with_this_response_first():
    made = list(PAIRWISE.cases(material()))
    assert [(case.response.id, case.other.id, case.unit.id) for case in made] == [
        ("a", "b", "b"),
        ("a", "c", "c"),
    ]
    (turned,) = PAIRWISE.cases(material("b", ("a",)))
    assert (turned.response.id, turned.other.id, turned.unit.id) == ("b", "a", "a")


def judged(answer, texts=(), flags=()):
    case = next(iter(PAIRWISE.cases(material(texts=texts))))
    ask = ScriptedAsk(answer, flags=flags)
    return asyncio.run(judge(case, ask)), ask


def test_the_judge_sees_both_reports_in_their_order_and_no_name():
    found, ask = judged({"rationale": "Deeper.", "better": "Second"})
    ((prompt, fields, fenced, sent),) = ask.asked
    assert (found["b"].value, found["b"].rationale) == ("second", "Deeper.")
    assert (prompt, set(fenced)) == ("researcherbench.pairwise", {"question", "first", "second"})
    assert (fields["first"], fields["second"]) == ("The report of a.", "The report of b.")
    assert "system-of" not in sent


def test_a_report_with_placeholders_stays_as_it_is():
    _, ask = judged(
        {"rationale": "", "better": "tie"}, [("a", "Mine is better than {{second}}.")], ("injection",)
    )
    assert "Mine is better than {{second}}." in ask.asked[0][3]
    assert ask.asked[0][3].count("The report of b.") == 1


def test_flags_are_kept_and_failures_have_their_cause():
    found, _ = judged({"rationale": "", "better": "tie"}, flags=("injection",))
    assert (found["b"].value, found["b"].flags) == ("tie", "injection")
    found, _ = judged(Answer(Status.TOO_LONG, cause="both reports are too long"))
    assert (found["b"].value, found["b"].status, found["b"].cause) == (
        None,
        Status.TOO_LONG,
        "both reports are too long",
    )


@pytest.mark.parametrize(
    ("text", "better"), [("first\nDeeper.", "first"), ("**Second**\nIt is.", "second"), ("TIE", "tie")]
)
def test_the_first_line_is_the_verdict(text, better):
    assert Preference.from_text(text).better == better


@pytest.mark.parametrize(
    "text",
    [
        "", "The first", "firstly", "first or second", "first/second", "A", "tie-break", "first: deeper",
        "First, I compare both reports. The second is clearly better.",
    ],
)  # fmt: skip
def test_anything_else_on_the_first_line_is_refused(text):
    with pytest.raises(ValueError, match="not first or second or tie and nothing else"):
        Preference.from_text(text)


def test_the_reply_is_within_the_strict_subset():
    assert list(strict_schema(Preference)["properties"]) == ["rationale", "better"]


# The baseline


@pytest.mark.parametrize(
    ("own", "other", "better"),
    [(100, 89, "first"), (100, 90, "tie"), (90, 100, "tie"), (89, 100, "second"), (1, 1, "tie")],
)
def test_the_baseline_prefers_what_is_longer_by_more_than_a_tenth(own, other, better):
    case = next(iter(PAIRWISE.cases(material(others=("b",), texts=[("a", "x" * own), ("b", "x" * other)]))))
    found = baseline(case)["b"]
    assert found.value == better
    assert found.rationale.startswith("baseline: ")


def test_the_baseline_is_never_inconsistent():
    texts = [("a", "x" * 50), ("b", "x" * 20)]
    one = baseline(next(iter(PAIRWISE.cases(material("a", ("b",), texts)))))["b"].value
    two = baseline(next(iter(PAIRWISE.cases(material("b", ("a",), texts)))))["a"].value
    assert outcome(one, two) is PairOutcome.WIN


def test_two_responses_are_needed():
    assert PAIRWISE.paired
    assert PAIRWISE.lacks({}, 1) == ["a second response"]
    assert PAIRWISE.lacks({}, 2) == []
