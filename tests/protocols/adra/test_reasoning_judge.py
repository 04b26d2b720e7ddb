"""How a judge is asked about statements."""

from dataclasses import replace

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.diagnostics import Diagnostics, Statement
from annotator.protocols.adra.reasoning import (
    BASELINE_THRESHOLD,
    REASONING,
    OneTold,
    Together,
    Told,
    baseline,
    judge,
    judge_together,
)
from tests.protocols.adra.adra_material import Ask, material, run

REPORT = "# Findings\n\nRetrieval **lowers\nthe rate** of invented answers by a third.\n\nCosts rise slowly."
CLAIM = "Retrieval lowers the rate of invented answers."


def cases(*texts, report=REPORT):
    units = tuple(Statement(id=f"u{n}", text=text, label=True) for n, text in enumerate(texts, start=1))
    return list(REASONING.cases(material(report, {Kind.DIAGNOSTICS: Diagnostics(units=units)})))


def together(*texts):
    found = cases(*texts)
    return replace(found[0], units=tuple(case.unit for case in found))


def told(verdict, quote=""):
    return Told(quote=quote, rationale="Because.", verdict=verdict)


def judged(verdict, quote="", flags=()):
    return run(judge(cases(CLAIM)[0], Ask(told(verdict, quote), flags=flags)))["u1"]


def test_the_judge_sees_the_report_and_the_statement_and_nothing_else():
    ask = Ask(told("cannot-tell"))
    run(judge(cases(CLAIM)[0], ask))
    ((prompt, fields, form, fenced),) = ask.asked
    assert (prompt, form, fenced) == ("adra.reasoning", Told, ("report",))
    assert fields == {"statement": CLAIM, "report": REPORT}


@pytest.mark.parametrize("verdict", ["true", "false"])
def test_a_quote_that_is_found_is_given_in_the_reports_own_words_with_its_place(verdict):
    found = judged(verdict, "lowers the rate of invented answers")
    assert (
        found.quote == REPORT[found.quote_start : found.quote_end] == "lowers\nthe rate** of invented answers"
    )
    assert (found.value, found.status, found.flags) == (verdict, Status.OK, "")


@pytest.mark.parametrize("verdict", ["true", "false"])
@pytest.mark.parametrize("quote", ["", "Retrieval doubles the rate"])
def test_a_true_or_false_without_a_quote_from_the_report_is_flagged(verdict, quote):
    found = judged(verdict, quote, flags=("injection",))
    assert (found.value, found.flags, found.quote, found.quote_start) == (
        verdict,
        "injection quote_missing",
        quote,
        None,
    )


def test_who_cannot_tell_need_not_quote():
    assert (judged("cannot-tell").value, judged("cannot-tell").flags) == ("cannot-tell", "")


def test_what_did_not_come_is_missing_with_its_cause():
    ask = Ask(status=Status.TIMEOUT, cause="no answer within 60 s")
    found = run(judge(cases(CLAIM)[0], ask))["u1"]
    assert (found.value, found.status, found.cause) == (None, Status.TIMEOUT, "no answer within 60 s")


# Several in one call


def answers(*said):
    return Together(
        answers=[OneTold(id=name, told=told(verdict, "Costs rise slowly")) for name, verdict in said]
    )


def test_several_statements_are_told_apart_by_name():
    ask = Ask(answers(("s2", "false"), ("s1", "true")))
    found = run(judge_together(together("One.", "Two\nlines."), ask))
    assert {unit: verdict.value for unit, verdict in found.items()} == {"u1": "true", "u2": "false"}
    assert found["u1"].quote == "Costs rise slowly"
    ((prompt, fields, form, fenced),) = ask.asked
    assert (prompt, form, fenced) == ("adra.reasoning.together", Together, ("report",))
    assert fields == {"statements": "s1: One.\ns2: Two lines.", "report": REPORT}


def test_of_several_what_is_lacking_twice_or_unknown_is_missing():
    reply = answers(("s1", "true"), ("s2", "true"), ("s2", "true"), ("s4", "false"))
    found = run(judge_together(together("One.", "Two.", "Three."), Ask(reply)))
    assert [verdict.status for verdict in found.values()] == [Status.OK, Status.INVALID, Status.INVALID]
    assert found["u2"].cause == "The reply answers this more than once. It answers for what was not asked."
    assert found["u3"].cause == "The reply leaves this out. It answers for what was not asked."


def test_of_several_that_did_not_come_every_one_is_missing():
    found = run(judge_together(together("One.", "Two."), Ask(status=Status.TRUNCATED, cause="cut")))
    assert [(verdict.value, verdict.status) for verdict in found.values()] == [(None, Status.TRUNCATED)] * 2


# The plain text form


@pytest.mark.parametrize(
    ("text", "verdict", "rationale"),
    [
        ("true\nIt is said.", "true", "It is said."),
        ("**False**\nIt denies it.", "false", "It denies it."),
        ("cannot-tell.\nNothing on it.", "cannot-tell", "Nothing on it."),
        ("Cannot tell", "cannot-tell", ""),
    ],
)
def test_the_first_line_is_the_verdict(text, verdict, rationale):
    reply = Told.from_text(text)
    assert (reply.verdict, reply.rationale) == (verdict, rationale)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is true",
        "untrue",
        "truth",
        "true or false",
        "True/false",
        "not true",
        "falsehood",
        "cannot say",
        "True to its title, it says nothing of the costs.",
        "true: it is said",
    ],
)
def test_anything_else_on_the_first_line_is_refused(text):
    with pytest.raises(ValueError, match="not true or false or cannot-tell and nothing else"):
        Told.from_text(text)


def test_the_longest_quotation_of_a_plain_reply_is_its_quote():
    assert Told.from_text('true\n"Costs rise slowly" is its "core"').quote == "Costs rise slowly"


def test_a_json_verdict_is_read_whatever_its_spelling_and_no_other_is():
    assert told("Cannot tell").verdict == told("cannot_tell").verdict == "cannot-tell"
    for other in ("partly", "", True):
        with pytest.raises(ValueError, match="verdict"):
            told(other)


# The baseline


def test_the_baseline_finds_true_what_a_passage_says():
    found = baseline(cases(CLAIM)[0])["u1"]
    assert (found.value, found.status) == ("true", Status.OK)
    assert found.quote == REPORT[found.quote_start : found.quote_end]
    # Of retrie, lower, rate, invent, answer the passage holds all.
    assert found.rationale == f"baseline: overlap 1.00 ≥ {BASELINE_THRESHOLD:.2f}"


def test_the_baseline_cannot_tell_what_the_report_is_silent_on():
    found = baseline(cases("Glaciers in the Alps lose mass.")[0])["u1"]
    assert (found.value, found.quote_start) == ("cannot-tell", None)
    assert found.rationale.startswith("baseline: overlap 0.00 < ")


def test_the_baseline_abstains_when_there_is_nothing_to_look_for():
    found = baseline(cases("It is so.")[0])["u1"]
    assert (found.value, found.status) == (None, Status.UNCLEAR)


def test_the_baseline_reads_chinese():
    report = "概述。\n检索增强生成降低了模型的幻觉率。\n成本较高。"
    assert baseline(cases("检索增强生成降低幻觉率。", report=report)[0])["u1"].value == "true"
