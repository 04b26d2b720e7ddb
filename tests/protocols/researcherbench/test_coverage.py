"""What coverage is, and how a judge is asked for it."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.protocol import Answer, Case, Material, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.plan import Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.kinds.weights import read
from annotator.domain.material.item import Item
from annotator.domain.material.response import Response
from annotator.protocols import PROTOCOLS
from annotator.protocols.researcherbench import coverage
from annotator.protocols.researcherbench.coverage import (
    BASELINE_THRESHOLD,
    COVERAGE,
    PROMPTS,
    Coverage,
    CoverageOfOne,
    CoverageTogether,
    judge,
    judge_together,
    weight,
    weighted,
)

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


class StubAsk:
    """Answers every question with the same answer and keeps what it was asked."""

    def __init__(self, answer):
        self.answer = answer

    async def __call__(self, prompt, fields, reply, fenced=()):
        self.asked = (prompt, fields, reply, fenced)
        return self.answer


def verdict(covered="yes", quote="", flags=(), report=REPORT):
    reply = Coverage(covered=covered, quote=quote, rationale="Because.")
    return asyncio.run(judge(case(report=report), StubAsk(Answer(Status.OK, reply, flags=flags))))["u"]


# The coverage score


def test_a_response_is_scored_over_every_criterion_of_its_rubric():
    units = tuple(Criterion(id=f"u{w}", text="x", weight=w) for w in (1, 2, 3))
    material = Material(case().item, case().response, {Kind.RUBRIC: Rubric(units=units)}, {Kind.RUBRIC: "a"})
    (metric,) = COVERAGE.metrics
    # (1·1 + 2·0) / 6 to (1 + 3) / 6; over the judged 1 / 3.
    found = metric.score(RatedResponse(material, {"u1": "yes", "u2": "no"}), True)
    assert (found.value, found.floor, found.ceiling, found.missing) == (1 / 3, 1 / 6, 4 / 6, 1)
    assert [each.unit.id for each in COVERAGE.cases(material)] == ["u1", "u2", "u3"]


def test_the_weight_is_the_criterions():
    assert weight(Criterion(text="x", weight=3)) == 3.0
    with pytest.raises(TypeError, match="Subtask"):
        weight(Subtask(text="x"))


# The judge


def test_the_judge_sees_question_criterion_and_report_and_no_weight():
    ask = StubAsk(Answer(Status.OK, Coverage(covered="no", quote="", rationale="")))
    asyncio.run(judge(case(), ask))
    prompt, fields, reply, fenced = ask.asked
    assert (prompt, reply) == ("researcherbench.coverage", Coverage)
    assert fields == {"question": "How does retrieval help?", "criterion": CRITERION, "report": REPORT}
    assert "report" in fenced


def test_the_weight_is_told_where_the_judge_is_to_know_it():
    ask = StubAsk(Answer(Status.OK, Coverage(covered="no", quote="", rationale="")))
    asyncio.run(judge(replace(case(), weights_shown=True), ask))
    words, weight_words = ask.asked[1]["criterion"].split("\n")
    assert words == CRITERION
    assert "weight: 3" in weight_words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 to 3", "Its weight: 3 (from 1, nice to have, to 3, core)"),
        ("1 to 10", "Its weight: 3 (from 1 to 10)"),
        ("-3 to 3", "Its weight: 3 (from -3 to 3; below 0 it says what a report must not do)"),
    ],
)
def test_the_weight_is_told_among_those_that_the_project_allows(text, said):
    ask = StubAsk(Answer(Status.OK, Coverage(covered="no", quote="", rationale="")))
    asyncio.run(judge(replace(case(), weights_shown=True, weights=read(text)), ask))
    assert ask.asked[1]["criterion"].split("\n")[1] == said


def test_a_quote_that_is_found_is_given_in_the_reports_own_words_with_its_place():
    found = verdict(quote="retrieval of cited sources")
    assert found.quote == REPORT[found.quote_start : found.quote_end] == "Retrieval of **cited\nsources"
    assert (found.value, found.status, found.flags) == ("yes", Status.OK, "")


@pytest.mark.parametrize("quote", ["", "Retrieval doubles the rate"])
def test_a_yes_without_a_quote_from_the_report_is_flagged(quote):
    found = verdict(quote=quote)
    assert (found.value, found.flags, found.quote) == ("yes", "quote_missing", quote)
    assert found.quote_start is None


def test_a_no_needs_no_quote():
    assert verdict(covered="no").flags == ""


def test_flags_of_the_answer_are_kept():
    assert verdict(flags=("injection",)).flags == "injection quote_missing"


def test_what_did_not_come_is_missing_with_its_cause():
    ask = StubAsk(Answer(Status.TIMEOUT, cause="no answer within 60 s", flags=("late",)))
    found = asyncio.run(judge(case(), ask))["u"]
    assert (found.value, found.status, found.cause, found.flags) == (
        None,
        Status.TIMEOUT,
        "no answer within 60 s",
        "late",
    )


# Several criteria in one call


def together(*answers, reply_to=("a", "b")):
    units = tuple(Criterion(id=each, text=f"Names {each}.", weight=2) for each in reply_to)
    ask = StubAsk(Answer(Status.OK, CoverageTogether(answers=list(answers))))
    return asyncio.run(judge_together(replace(case(), units=units), ask)), ask


def about(unit, covered):
    return CoverageOfOne(id=unit, covered=covered, quote="", rationale="")


def test_several_criteria_are_shown_with_their_ids_and_answered_by_them_not_by_their_order():
    found, ask = together(about("b", "no"), about("a", "yes"))
    assert {unit: verdict.value for unit, verdict in found.items()} == {"a": "yes", "b": "no"}
    prompt, fields, reply, fenced = ask.asked
    assert (prompt, reply, "report" in fenced) == (PROMPTS[1], CoverageTogether, True)
    assert fields["criteria"] == "id: a\nNames a.\n\nid: b\nNames b."


@pytest.mark.parametrize(
    ("answers", "cause"),
    [
        ((about("a", "yes"),), "leaves this out"),
        ((about("a", "yes"), about("b", "no"), about("b", "no")), "more than once"),
        ((about("a", "yes"), about("B", "no")), "for what was not asked"),
    ],
)
def test_an_id_that_is_missing_twice_there_or_unknown_spoils_only_what_it_leaves_unanswered(answers, cause):
    found, _ = together(*answers)
    assert (found["a"].value, found["a"].status) == ("yes", Status.OK)
    assert (found["b"].value, found["b"].status) == (None, Status.INVALID)
    assert cause in found["b"].cause


def test_a_call_that_failed_leaves_every_criterion_missing_with_its_cause():
    ask = StubAsk(Answer(Status.TIMEOUT, cause="late"))
    units = (Criterion(id="a", text="x"), Criterion(id="b", text="y"))
    found = asyncio.run(judge_together(replace(case(), units=units), ask))
    assert {(verdict.status, verdict.cause) for verdict in found.values()} == {(Status.TIMEOUT, "late")}
    assert len(found) == 2


# The plain text form


@pytest.mark.parametrize(
    ("text", "covered", "rationale"),
    [
        ("yes\nIt is explained.", "yes", "It is explained."),
        ("No.\nIt never mentions the Bayesian analysis.", "no", "It never mentions the Bayesian analysis."),
        ("**Yes**\n\nIn the first part.", "yes", "In the first part."),
        ("NO", "no", ""),
        ("yes\n\nIt is.", "yes", "It is."),
    ],
)
def test_the_first_line_is_the_verdict(text, covered, rationale):
    reply = Coverage.from_text(text)
    assert (reply.covered, reply.rationale) == (covered, rationale)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Bayesian",
        "Yesterday it was",
        "not covered",
        "The answer is yes",
        "yes/no",
        "Yes and no",
        "no-one says so",
        "No, the report never mentions the Bayesian analysis",
        "No idea: I cannot tell",
    ],
)
def test_anything_but_yes_or_no_on_the_first_line_is_refused(text):
    with pytest.raises(ValueError, match="not yes or no and nothing else"):
        Coverage.from_text(text)


def test_the_longest_quotation_of_a_plain_reply_is_its_quote():
    assert Coverage.from_text('yes\n"cited sources lowers" is its "core"').quote == "cited sources lowers"


def test_a_verdict_in_capitals_is_the_same_verdict():
    assert Coverage.model_validate_json('{"quote": "", "rationale": "", "covered": "Yes"}').covered == "yes"


@pytest.mark.parametrize("covered", ["partially", "", True, None])
def test_another_json_verdict_is_refused(covered):
    with pytest.raises(ValueError, match="covered"):
        Coverage.model_validate({"quote": "", "rationale": "", "covered": covered})


# The baseline


def test_the_baseline_covers_what_a_passage_says():
    found = baseline(case())
    assert (found.value, found.status) == ("yes", Status.OK)
    assert found.quote == REPORT[found.quote_start : found.quote_end]
    # Of explai, retrie, source, lower, rate, invent, answer the passage lacks the first.
    assert found.rationale.startswith(f"baseline: overlap 0.86 ≥ {BASELINE_THRESHOLD:.2f} with “Retrieval")


def test_the_baseline_does_not_cover_what_the_report_is_silent_on():
    found = baseline(case("Compares the energy budgets of glaciers in the Alps."))
    assert (found.value, found.quote, found.quote_start) == ("no", "", None)
    assert found.rationale == f"baseline: overlap 0.00 < {BASELINE_THRESHOLD:.2f}"


def test_the_baseline_gives_the_same_verdict_again():
    assert baseline(case()) == baseline(case())


def test_the_baseline_says_no_to_an_empty_report():
    assert baseline(case(report="")).value == "no"


def test_the_baseline_abstains_when_there_is_nothing_to_look_for():
    found = baseline(case("How is it with this?"))
    assert (found.value, found.status) == (None, Status.UNCLEAR)
    assert found.cause


def test_the_baseline_reads_chinese():
    report = "概述。\n检索增强生成降低了模型的幻觉率，提高了可信度。\n成本较高。"
    found = baseline(case("说明检索增强生成如何降低幻觉率", report))
    assert found.value == "yes"
    assert (
        found.quote
        == report[found.quote_start : found.quote_end]
        == "检索增强生成降低了模型的幻觉率，提高了可信度。"
    )
    assert baseline(case("比较阿尔卑斯山冰川的能量收支", report)).value == "no"


# The protocol


def test_the_table_names_each_protocol_by_its_own_name():
    assert {name: protocol.name for name, protocol in PROTOCOLS.items()} == {name: name for name in PROTOCOLS}
    assert PROTOCOLS["researcherbench.coverage"] is COVERAGE


def test_an_item_without_rubric_or_response_lacks_them():
    rubric = Rubric(units=(Criterion(text="x"),))
    assert COVERAGE.lacks({}, 0) == ["a rubric", "a response"]
    assert COVERAGE.lacks({Kind.RUBRIC: rubric}, 1) == []


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


def test_the_public_rubrics_weigh_as_table_10_says(public_rubrics):
    weights = [unit.weight for units in public_rubrics.values() for unit in units]
    assert (len(public_rubrics), len(weights)) == (65, 931)
    shares = [round(100 * weights.count(w) / 931, 2) for w in (1, 2, 3)]
    assert shares == [35.45, 50.91, 13.64]


def test_covering_only_what_weighs_one_scores_its_share_of_the_weight(public_rubrics):
    units = [unit for units in public_rubrics.values() for unit in units]
    found = weighted([(weight(u), "yes" if u.weight == 1 else "no") for u in units])
    # Table 10 of 931 criteria: 330 ones, 474 twos, 127 threes; 330 / (330 + 948 + 381).
    assert found.value == 330 / 1659


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
