"""ResearcherBench's coverage: judge, score and the published rule."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from annotator.domain.judges.judge import Status, Verdict
from annotator.domain.judges.protocol import Case, Material, RatedResponse
from annotator.domain.kinds.artifact import Kind, read
from annotator.domain.kinds.plan import Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.item import Item, Response
from annotator.protocols.researcherbench import coverage
from annotator.protocols.researcherbench.coverage import (
    BASELINE_THRESHOLD,
    COVERAGE,
    PROMPTS,
    Coverage,
    judge,
    judge_together,
    read as read_publicly,
    weight,
    weighted,
)
from tests.servers.scripted_ask import ScriptedAsk

PUBLIC = Path(__file__).parents[3] / "../shared/data/researcherbench"
REPORT = (
    "# Findings\n\nRetrieval of **cited\nsources** lowers the rate of invented answers.\n\nCosts rise slowly."
)
CRITERION = "Explains that retrieval of sources lowers the rate of invented answers."


def case(criterion=CRITERION, report=REPORT):
    item = Item(id="i", key="q1", question="How does retrieval help?")
    response = Response(id="r", item_id="i", system_id="s", text=report)
    return Case(COVERAGE.name, item, response, "a", (Criterion(id="u", text=criterion, weight=3),))


def baseline(case: Case) -> Verdict:
    return coverage.baseline(case)[case.unit.id]


def verdict(covered="yes", quote="", flags=(), report=REPORT):
    ask = ScriptedAsk({"covered": covered, "quote": quote, "rationale": "Because."}, flags=flags)
    return asyncio.run(judge(case(report=report), ask))["u"]


# The coverage score


def test_a_response_is_scored_over_every_criterion_of_its_rubric():
    units = tuple(Criterion(id=f"u{w}", text="x", weight=w) for w in (1, 2, 3))
    material = Material(case().item, case().response, {Kind.RUBRIC: Rubric(units=units)}, {Kind.RUBRIC: "a"})
    (metric,) = COVERAGE.metrics
    # (1·1 + 2·0) / 6 to (1 + 3) / 6; over the judged 1 / 3.
    result = metric.score(RatedResponse(material, {"u1": "yes", "u2": "no"}), True)
    assert (result.value, result.floor, result.ceiling, result.missing) == (1 / 3, 1 / 6, 4 / 6, 1)
    assert [each.unit.id for each in COVERAGE.cases(material)] == ["u1", "u2", "u3"]


def test_the_weight_is_the_criterions():
    assert weight(Criterion(text="x", weight=3)) == 3.0
    with pytest.raises(TypeError, match="Subtask"):
        weight(Subtask(text="x"))


# The judge


def asked(**more):
    """What the judge was asked about the criterion."""
    ask = ScriptedAsk({"covered": "no", "quote": "", "rationale": ""})
    asyncio.run(judge(replace(case(), **more), ask))
    return ask.asked[0]


def test_the_judge_sees_question_criterion_and_report_and_no_weight():
    prompt, fields, fenced, _ = asked()
    assert (prompt, "report" in fenced) == ("researcherbench.coverage", True)
    assert fields == {"question": "How does retrieval help?", "criterion": CRITERION, "report": REPORT}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 to 3", "Its weight: 3 (from 1, nice to have, to 3, core)"),
        ("1 to 10", "Its weight: 3 (from 1 to 10)"),
        ("-3 to 3", "Its weight: 3 (from -3 to 3; below 0 it says what a report must not do)"),
    ],
)
def test_where_the_judge_is_to_know_the_weight_it_is_told_among_those_that_the_project_allows(text, said):
    _, fields, *_ = asked(weights_shown=True, weights=read(text))
    assert fields["criterion"] == f"{CRITERION}\n{said}"


@pytest.mark.parametrize("quote", ["", "Retrieval doubles the rate"])
def test_a_yes_without_a_quote_from_the_report_is_flagged_and_a_no_needs_none(quote):
    result = verdict(quote=quote)
    flagged = ("yes", "quote_missing", quote, None)
    assert (result.value, result.flags, result.quote, result.quote_start) == flagged
    assert verdict(covered="no", quote=quote).flags == ""


# Several criteria in one call


def test_several_criteria_are_shown_with_their_ids_and_answered_by_them_not_by_their_order():
    units = tuple(Criterion(id=each, text=f"Names {each}.", weight=2) for each in "ab")
    answers = [
        {"id": unit, "covered": covered, "quote": "", "rationale": ""}
        for unit, covered in (("b", "no"), ("a", "yes"))
    ]
    ask = ScriptedAsk({"answers": answers})
    result = asyncio.run(judge_together(replace(case(), units=units), ask))
    assert {unit: verdict.value for unit, verdict in result.items()} == {"a": "yes", "b": "no"}
    ((prompt, fields, fenced, _),) = ask.asked
    assert (prompt, "report" in fenced) == (PROMPTS[1], True)
    assert fields["criteria"] == "id: a\nNames a.\n\nid: b\nNames b."


# The plain text form


def test_a_verdict_in_capitals_is_the_same_verdict():
    assert Coverage.model_validate_json('{"quote": "", "rationale": "", "covered": "Yes"}').covered == "yes"


@pytest.mark.parametrize("covered", ["partially", "", True, None])
def test_another_json_verdict_is_refused(covered):
    with pytest.raises(ValueError, match="covered"):
        Coverage.model_validate({"quote": "", "rationale": "", "covered": covered})


# The baseline


IN_CHINESE = "概述。\n检索增强生成降低了模型的幻觉率，提高了可信度。\n成本较高。"


@pytest.mark.parametrize(
    ("criterion", "report", "value", "quote", "rationale"),
    [
        # Of explai, retrie, source, lower, rate, invent, answer the passage lacks the first.
        (
            CRITERION,
            REPORT,
            "yes",
            "Retrieval of **cited\nsources** lowers the rate of invented answers.",
            f"baseline: overlap 0.86 ≥ {BASELINE_THRESHOLD:.2f} with “Retrieval",
        ),
        (
            "Compares the energy budgets of glaciers in the Alps.",
            REPORT,
            "no",
            "",
            f"baseline: overlap 0.00 < {BASELINE_THRESHOLD:.2f}",
        ),
        (CRITERION, "", "no", "", ""),
        # There is nothing to look for.
        ("How is it with this?", REPORT, None, "", ""),
        (
            "说明检索增强生成如何降低幻觉率",
            IN_CHINESE,
            "yes",
            "检索增强生成降低了模型的幻觉率，提高了可信度。",
            "baseline: ",
        ),
        ("比较阿尔卑斯山冰川的能量收支", IN_CHINESE, "no", "", "baseline: "),
    ],
)
def test_the_baseline_covers_what_a_passage_says(criterion, report, value, quote, rationale):
    result = baseline(case(criterion, report))
    assert (result.value, result.quote, result.quote_start is None) == (value, quote, not quote)
    assert not quote or report[result.quote_start : result.quote_end] == quote
    assert result.rationale.startswith(rationale)
    assert (result.status, bool(result.cause)) == ((Status.OK, False) if value else (Status.UNCLEAR, True))


# The protocol


def test_an_item_without_rubric_or_response_lacks_them():
    assert COVERAGE.lacks({}, 0) == ["a rubric", "a response"]
    assert COVERAGE.lacks({Kind.RUBRIC: Rubric(units=(Criterion(text="x"),))}, 1) == []


# Published figures


@pytest.fixture
def public_rubrics():
    if not (PUBLIC / "rubric.json").exists():
        pytest.skip("the public data of ResearcherBench are not beside this checkout")
    entries = json.loads((PUBLIC / "rubric.json").read_text(encoding="utf-8"))
    return {
        entry["id"]: [Criterion(text=c["point"], weight=c["weight"]) for c in entry["rubric"]]
        for entry in entries
    }


def test_covering_only_what_weighs_one_scores_its_share_of_the_weight(public_rubrics):
    units = [unit for units in public_rubrics.values() for unit in units]
    result = weighted([(weight(u), "yes" if u.weight == 1 else "no") for u in units])
    # Table 10 of 931 criteria: 330 ones, 474 twos, 127 threes; 330 / (330 + 948 + 381).
    assert result.value == 330 / 1659


def test_the_baseline_averages_what_the_paper_measured(public_rubrics):
    # Table 3: OpenAI .7032, Claude .6113, Perplexity .4800, Sonar Reasoning Pro .4663, GPT-4o Search .3576.
    scores = []
    for path in sorted((PUBLIC / "responses").glob("*.json")):
        for response in json.loads(path.read_text(encoding="utf-8")):
            units = public_rubrics[int(response["id"])]
            said = [(weight(u), baseline(case(u.text, response["response"])).value) for u in units]
            scores.append(weighted(said).value)
    assert len(scores) == 325
    assert sum(scores) / 325 == pytest.approx((0.7032 + 0.6113 + 0.4800 + 0.4663 + 0.3576) / 5, abs=0.01)


def test_coverage_is_the_covered_share_of_the_weight():
    # (3·1 + 2·0 + 1·1) / (3 + 2 + 1) = 4/6
    result = weighted([(3, "yes"), (2, "no"), (1, "yes")])
    assert result.value == result.floor == result.ceiling == 4 / 6
    assert (result.n, result.missing, result.note) == (3, 0, "")


def test_a_missing_judgement_leaves_a_range_and_over_valid_it_is_left_out_of_both_sums():
    # Missing as no: 3/6; missing as yes: (3 + 2)/6; without it 3 / (3 + 1).
    pairs = [(3, "yes"), (2, None), (1, "no")]
    result, valid = weighted(pairs), weighted(pairs, over_valid=True)
    assert (result.value, result.floor, result.ceiling) == (None, 3 / 6, 5 / 6)
    assert (result.n, result.missing, result.complete, "1 of 3" in result.note) == (2, 1, False, True)
    assert (valid.value, valid.floor, valid.ceiling, valid.missing) == (3 / 4, 3 / 6, 5 / 6, 1)
    assert "over the others only" in valid.note


@pytest.mark.parametrize("over_valid", [False, True])
def test_with_nothing_judged_anything_is_possible(over_valid):
    result = weighted([(1, None), (2, None)], over_valid=over_valid)
    assert (result.value, result.floor, result.ceiling, result.n, result.missing) == (None, 0.0, 1.0, 0, 2)


@pytest.mark.parametrize("over_valid", [False, True])
@pytest.mark.parametrize(
    ("pairs", "missing", "note"),
    [
        ([], 0, "the rubric has no criteria"),
        ([(0, "yes"), (0, None)], 1, "all weights are 0"),
        (
            [(-1, "yes"), (-2, None), (0, "no")],
            1,
            "no criterion has a weight above 0: there is nothing to reach",
        ),
    ],
)
def test_where_there_is_nothing_to_reach_there_is_no_score_but_a_reason(pairs, missing, note, over_valid):
    result = weighted(pairs, over_valid)
    assert (result.value, result.floor, result.ceiling) == (None, None, None)
    assert (result.missing, result.note) == (missing, note)


@pytest.mark.parametrize(
    ("pairs", "value"),
    [
        ([(1, "no"), (3, "no")], 0.0),
        ([(1, "yes"), (3, "yes")], 1.0),
        # (3·1 + 1·0 − 2·1) / (3 + 1); kept clear of, 3/4; with nothing else met below zero, and not cut there.
        ([(3, "yes"), (1, "no"), (-2, "yes")], 1 / 4),
        ([(3, "yes"), (1, "no"), (-2, "no")], 3 / 4),
        ([(3, "no"), (1, "no"), (-2, "yes")], -2 / 4),
        ([(1, "yes"), (-1, "yes")], 0.0),
    ],
)
def test_coverage_reaches_both_ends_and_a_negative_weight_takes_away_from_what_can_be_reached(pairs, value):
    assert weighted(pairs).value == value


@pytest.mark.parametrize(
    ("pairs", "value", "floor", "ceiling"),
    [
        # Missing as yes: (2 − 1)/2; missing as no: 2/2.
        ([(2, "yes"), (-1, None)], 1.0, 1 / 2, 1.0),
        # Judged alone what takes away has no score.
        ([(2, None), (-1, "yes")], None, -1 / 2, 1 / 2),
    ],
)
def test_a_missing_judgement_of_negative_weight_can_only_take_away(pairs, value, floor, ceiling):
    result = weighted(pairs, over_valid=True)
    assert (result.value, result.floor, result.ceiling, result.missing) == (value, floor, ceiling, 1)


WEIGHTS = st.one_of(
    st.integers(-10, 10), st.floats(-10, 10, allow_subnormal=False).filter(lambda w: not 0 < abs(w) < 1e-6)
)


@given(st.lists(st.tuples(WEIGHTS, st.sampled_from(["yes", "no", None])), min_size=1, max_size=8), st.data())
def test_whatever_is_missing_turns_out_to_be_the_score_lies_between_its_bounds(pairs, data):
    result = weighted(pairs)
    filled = [(w, value or data.draw(st.sampled_from(["yes", "no"]))) for w, value in pairs]
    score = weighted(filled)
    assert (score.value is None) == (result.floor is None) == all(w <= 0 for w, _ in pairs)
    if score.value is not None:
        assert result.floor <= score.value <= result.ceiling <= 1
        assert score.floor == score.value == score.ceiling
    # Both ends are reached: by what takes away being met, and by what adds being met.
    for end, wanted in ((result.floor, -1), (result.ceiling, 1)):
        extreme = [(w, value or ("yes" if w * wanted > 0 else "no")) for w, value in pairs]
        assert weighted(extreme).value == end


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        # It begins so.
        ("yes: it explains the trade-off", "yes"),
        ("Yes it does", "yes"),
        ("NO: only half of it", "no"),
        ("no yes-man would say so", "no"),
        (" \n yes: after white space", "yes"),
        # The letters y-e-s stand anywhere.
        ("No, the report never mentions the Bayesian analysis", "yes"),
        ("**No.** Nothing since yesterday.", "yes"),
        ("no\nEyes are not discussed.", "yes"),
        ("yes", "yes"),
        ('{"quote": "", "rationale": "Keyes is missing.", "covered": "no"}', "yes"),
        ("x" * 100_000 + "yes" + "y" * 100_000, "yes"),
        # They stand nowhere, the call failed, or the letters only look like these.
        ("Not covered", "no"),
        ("It cannot tell", "no"),
        ("", "no"),
        ("  ", "no"),
        ("10/10", "no"),
        (None, "no"),
        ("ye\u017f", "no"),
        ("\uff59\uff45\uff53", "no"),
    ],
)
def test_a_reply_is_read_by_its_beginning_and_then_by_its_letters(reply: str | None, value: str) -> None:
    assert read_publicly(reply) == value


def test_the_same_reply_has_no_verdict_or_the_other_one_here() -> None:
    other, none = "No\nThe report never mentions the Bayesian analysis", "The Bayesian part is there"
    assert (read_publicly(other), read_publicly(none), Coverage.from_text(other).covered) == (
        "yes",
        "yes",
        "no",
    )
    with pytest.raises(ValueError, match="not yes or no and nothing else"):
        Coverage.from_text(none)
