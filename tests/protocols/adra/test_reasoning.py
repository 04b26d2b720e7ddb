"""ADRA's reasoning: figures and judge."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, strategies as st

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import RatedResponse
from annotator.domain.kinds.artifact import Anchor, Kind
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.plan import Subtask
from annotator.protocols.adra.counts import CountTally
from annotator.protocols.adra.reasoning import (
    ACCURACY,
    BASELINE_THRESHOLD,
    F1,
    PRECISION,
    REASONING,
    RECALL,
    SILENCE_AS_FALSE,
    STRICT,
    OneTold,
    Together,
    Told,
    accuracy,
    aspect,
    baseline,
    judge,
    judge_together,
    score,
)
from tests.protocols.adra.adra_material import Ask, material, metric, run, statements

FIGURES = (ACCURACY, PRECISION, RECALL, F1)
VALUES = ("true", "false", "cannot-tell")
PAIRS = st.tuples(st.booleans(), st.sampled_from([*VALUES, None]))
T, F, C = VALUES


def scores(pairs, over_valid=False):
    return [score(figure, pairs, over_valid) for figure in FIGURES]


def values(pairs, over_valid=False):
    return [result.value for result in scores(pairs, over_valid)]


def test_a_hand_made_set_of_statements():
    # Gold true: T T C F (TP 2, FN 2); gold false: F F T C (TN 2, FP 1). Accuracy 4/8, P 2/3, R 2/4, F1 4/7.
    pairs = [(True, v) for v in (T, T, C, F)] + [(False, v) for v in (F, F, T, C)]
    assert values(pairs) == [4 / 8, 2 / 3, 2 / 4, 4 / 7]
    assert {(result.n, result.missing, result.note) for result in scores(pairs)} == {(8, 0, "")}


def test_letter_13_the_same_judgements_are_read_strictly_and_with_silence_as_false():
    # A perfect report on 11 true and 6 unsupported statements: 11/17 where silence is never right, 17/17 where the
    # gold label of what the source does not say is False.
    pairs = [(True, T)] * 11 + [(False, C)] * 6
    assert score(ACCURACY, pairs, reading=STRICT).value == 11 / 17
    assert score(ACCURACY, pairs, reading=SILENCE_AS_FALSE).value == 1
    # Silence on a true statement is wrong in both.
    assert score(ACCURACY, [(True, C), (False, F)], reading=SILENCE_AS_FALSE).value == 1 / 2


def test_letter_13_both_readings_are_metrics_that_say_which_they_are():
    held = material(documents={Kind.DIAGNOSTICS: statements(*(n < 11 for n in range(17)))})
    said = RatedResponse(held, {f"s{n}": T if n < 11 else C for n in range(17)})
    strict, silent = (metric(REASONING, f"{name}.accuracy") for name in ("reasoning", "reasoning_silence"))
    assert [one.score(said, False).value for one in (strict, silent)] == [11 / 17, 1]
    assert "silence as false" in silent.title
    assert "never correct" in strict.definition
    assert any("Silence as false" in words for words in REASONING.departures)


@given(st.lists(PAIRS, min_size=1, max_size=12))
def test_letter_13_silence_as_false_never_scores_less_and_stays_within_its_bounds(pairs):
    strict, silent = (score(ACCURACY, pairs, True, reading) for reading in (STRICT, SILENCE_AS_FALSE))
    if strict.value is not None:
        assert silent.value is not None
        assert strict.value <= silent.value
        assert silent.floor <= silent.value <= silent.ceiling


def test_the_printed_row_of_table_2_cannot_come_from_the_formulas():
    # OpenAI, reasoning, Avg.: accuracy 59.18, precision 61.59, recall 40.22; 64.71 % of statements are true (H.1).
    # Of 10 000: TP .4022 · 6471 = 2603; FP = TP · (1/.6159 − 1) = 1623; at best all other 3529 − 1623 are TN.
    pairs = [(True, T)] * 2603 + [(True, C)] * 3868 + [(False, T)] * 1623 + [(False, F)] * 1906
    result = values(pairs)
    assert result[1:3] == pytest.approx([0.6159, 0.4022], abs=1e-4)
    assert result[0] == (2603 + 1906) / 10_000 < 0.5918


def test_saying_true_of_all_of_the_papers_statements():
    # H.1: 2 200 of 3 400 are true: accuracy and precision 2200/3400 = 64.71 %, recall 1, F1 4400/5600.
    result = values([(True, T)] * 2200 + [(False, T)] * 1200)
    assert result == [2200 / 3400, 2200 / 3400, 1, 4400 / 5600]
    assert result[0] == pytest.approx(0.6471, abs=5e-5)


@pytest.mark.parametrize(
    ("pairs", "expected", "place", "note"),
    [
        # Cannot-tell is never correct and no false positive: TP 1, accuracy 1/4, P 1/1, R 1/2, F1 2/3.
        ([(True, T), (True, C), (False, C), (False, C)], [1 / 4, 1, 1 / 2, 2 / 3], 0, ""),
        ([(True, F), (False, T)], [0, 0, 0, 0], 0, ""),
        ([(True, F), (False, C)], [0, None, 0, 0], 1, "no statement was said to be true"),
        ([(False, T), (False, F)], [1 / 2, 0, None, 0], 2, "no statement is true"),
        (
            [(False, F), (False, C)],
            [1 / 2, None, None, None],
            3,
            "no statement is true and none was said to be",
        ),
    ],
)
def test_what_is_defined_of_few_statements(pairs, expected, place, note):
    result = scores(pairs)
    assert [one.value for one in result] == expected
    assert result[place].note == note


def test_without_labelled_statements_nothing_is_defined():
    assert {(result.value, result.note) for result in scores([])} == {
        (None, "there is no statement with a gold label")
    }


# What is missing


def test_a_missing_judgement_leaves_a_range_and_over_valid_it_is_left_out():
    # TP 1, FN 1 and a true statement missing: recall 1/3 … 2/3; accuracy 1/3 … 2/3; precision 1 either way.
    pairs = [(True, T), (True, C), (True, None)]
    result, valid = scores(pairs), scores(pairs, over_valid=True)
    assert [one.value for one in result] == [None] * 4
    assert [(one.floor, one.ceiling) for one in result][:3] == [(1 / 3, 2 / 3), (1, 1), (1 / 3, 2 / 3)]
    assert (result[0].n, result[0].missing, result[0].note) == (2, 1, "1 of 3 judgements are missing")
    assert [one.value for one in valid] == [1 / 2, 1, 1 / 2, 2 / 3]
    assert (valid[0].floor, valid[0].ceiling, "over the others only" in valid[0].note) == (1 / 3, 2 / 3, True)


@pytest.mark.parametrize("over_valid", [False, True])
def test_with_nothing_judged_anything_is_possible(over_valid):
    for result in scores([(True, None), (False, None)], over_valid):
        assert (result.value, result.floor, result.ceiling, result.n, result.missing) == (None, 0, 1, 0, 2)


@given(st.lists(PAIRS, min_size=1, max_size=5))
def test_the_range_is_that_of_all_ways_to_fill_what_is_missing(pairs):
    gaps = [place for place, (_, value) in enumerate(pairs) if value is None]
    could_be = [[] for _ in FIGURES]
    for filling in product(VALUES, repeat=len(gaps)):
        full = list(pairs)
        for place, value in zip(gaps, filling, strict=True):
            full[place] = (pairs[place][0], value)
        for own, value in zip(could_be, values(full), strict=True):
            own.extend([] if value is None else [value])
    for own, result in zip(could_be, scores(pairs), strict=True):
        assert (result.floor, result.ceiling) == (min(own, default=None), max(own, default=None))


def test_accuracy_needs_statements():
    with pytest.raises(TypeError, match="statements"):
        accuracy(CountTally(1, 1, 1, 1))


# The protocol


def test_the_metrics_read_the_labels_of_the_item():
    # s0 true said true, s1 false said true, s2 without a label: accuracy 1/2.
    held = material(documents={Kind.DIAGNOSTICS: statements(True, False, None)})
    result = metric(REASONING, "reasoning.accuracy").score(
        RatedResponse(held, {"s0": T, "s1": T, "s2": F}), False
    )
    assert (result.value, result.n, result.missing) == (1 / 2, 2, 0)
    assert metric(REASONING, "reasoning.f1").score(RatedResponse(held, {"s0": T}), False).missing == 1


def test_a_case_is_a_labelled_statement_without_its_label():
    anchor = Anchor(quote="from the paper")
    gold = Diagnostics(
        units=(
            Statement(id="a", text="It is.", label=True, aspect=Aspect.RESULTS, note="true!", anchor=anchor),
            Statement(id="b", text="Undecided."),
        )
    )
    (case,) = REASONING.cases(material(documents={Kind.DIAGNOSTICS: gold}))
    assert case.units == (Statement(id="a", text="It is.", aspect=Aspect.RESULTS),)
    assert case.artifact_id == "artifact of diagnostics"


def test_the_facet_is_the_aspect():
    assert REASONING.facet(Statement(text="x", aspect=Aspect.FUTURE)) == "future directions"
    assert aspect(Statement(text="x")) == ""
    with pytest.raises(TypeError, match="Subtask"):
        aspect(Subtask(text="x"))


def test_an_item_without_diagnostics_lacks_them():
    assert (REASONING.lacks({}, 1, ()), list(REASONING.cases(material()))) == (["a diagnostics"], [])


REPORT = "# Findings\n\nRetrieval **lowers\nthe rate** of invented answers by a third.\n\nCosts rise slowly."
CLAIM = "Retrieval lowers the rate of invented answers."


def cases(*texts, report=REPORT):
    units = tuple(Statement(id=f"u{n}", text=text, label=True) for n, text in enumerate(texts, start=1))
    return list(REASONING.cases(material(report, {Kind.DIAGNOSTICS: Diagnostics(units=units)})))


def together(*texts):
    result = cases(*texts)
    return replace(result[0], units=tuple(case.unit for case in result))


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
    result = judged(verdict, "lowers the rate of invented answers")
    assert (
        result.quote
        == REPORT[result.quote_start : result.quote_end]
        == "lowers\nthe rate** of invented answers"
    )
    assert (result.value, result.status, result.flags) == (verdict, Status.OK, "")


@pytest.mark.parametrize("verdict", ["true", "false"])
@pytest.mark.parametrize("quote", ["", "Retrieval doubles the rate"])
def test_a_true_or_false_without_a_quote_from_the_report_is_flagged(verdict, quote):
    result = judged(verdict, quote, flags=("injection",))
    assert (result.value, result.flags, result.quote, result.quote_start) == (
        verdict,
        "injection quote_missing",
        quote,
        None,
    )


def test_who_cannot_tell_need_not_quote():
    assert (judged("cannot-tell").value, judged("cannot-tell").flags) == ("cannot-tell", "")


# Several in one call


def answers(*said):
    return Together(
        answers=[OneTold(id=name, told=told(verdict, "Costs rise slowly")) for name, verdict in said]
    )


def test_several_statements_are_told_apart_by_name():
    ask = Ask(answers(("s2", "false"), ("s1", "true")))
    result = run(judge_together(together("One.", "Two\nlines."), ask))
    assert {unit: verdict.value for unit, verdict in result.items()} == {"u1": "true", "u2": "false"}
    assert result["u1"].quote == "Costs rise slowly"
    ((prompt, fields, form, fenced),) = ask.asked
    assert (prompt, form, fenced) == ("adra.reasoning.together", Together, ("report",))
    assert fields == {"statements": "s1: One.\ns2: Two lines.", "report": REPORT}


# The plain text form


# The baseline


IN_CHINESE = "概述。\n检索增强生成降低了模型的幻觉率。\n成本较高。"


@pytest.mark.parametrize(
    ("statement", "report", "value", "status", "rationale"),
    [
        # Of retrie, lower, rate, invent, answer the passage holds all.
        (CLAIM, REPORT, "true", Status.OK, f"baseline: overlap 1.00 ≥ {BASELINE_THRESHOLD:.2f}"),
        ("Glaciers in the Alps lose mass.", REPORT, "cannot-tell", Status.OK, "baseline: overlap 0.00 < "),
        # There is nothing to look for.
        ("It is so.", REPORT, None, Status.UNCLEAR, ""),
        ("检索增强生成降低幻觉率。", IN_CHINESE, "true", Status.OK, "baseline: overlap "),
    ],
)
def test_the_baseline_finds_true_what_a_passage_says(statement, report, value, status, rationale):
    result = baseline(cases(statement, report=report)[0])["u1"]
    assert (result.value, result.status, result.quote_start is not None) == (value, status, value == "true")
    assert result.rationale.startswith(rationale)
    assert value != "true" or result.quote == report[result.quote_start : result.quote_end]
