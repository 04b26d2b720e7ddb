"""Arena's checklists, their drafts, and the ranking of tasks."""

import re
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Case, Material, RatedResponse
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.material.item import Item, Response
from annotator.judging.messages import load
from annotator.protocols.arena import checklist, ranking
from annotator.protocols.arena.checklist import (
    RATINGS,
    DraftedChecklist,
    Rating,
    judge,
    judge_together,
)
from tests.servers.scripted_ask import ScriptedAsk

pytestmark = pytest.mark.anyio


PAPER = (0.45, 0.30, 0.15, 0.10)
TASK = Item(
    id="i1",
    key="t1",
    question="Design a protocol.",
    question_type="Method blueprint",
    subject="Science",
    position=0,
)
REPORT = "The protocol compares greedy clustering with three baselines. Data sets are named."


def material(*shares: float, text: str = REPORT) -> Material:
    points = tuple(
        CheckPoint(id=f"p-{n}", text=f"Point {n}: baselines are compared", share=share, note="secret")
        for n, share in enumerate(shares)
    )
    return Material(
        TASK,
        Response(id="r1", item_id="i1", system_id="s", text=text, sha256="0" * 64),
        {Kind.CHECKLIST: Checklist(units=points)},
        {Kind.CHECKLIST: "a1"},
    )


def ace(*points: tuple[float, str | None], over_valid: bool = False):  # type: ignore[no-untyped-def]
    return checklist.ace(points, over_valid)


def test_the_papers_weights_with_5_4_4_3_make_4_35() -> None:
    # .45·5 + .30·4 + .15·4 + .10·3 = 2.25 + 1.2 + .6 + .3
    rated = dict(zip((f"p-{n}" for n in range(4)), "5443", strict=True))
    assert checklist.score(RatedResponse(material(*PAPER), rated)).value == pytest.approx(4.35)


def test_154_vectors_of_ratings_make_4_35() -> None:
    # 9a + 6b + 3c + 2d = 87, counted in whole twentieths of a point.
    wanted = [v for v in product(range(11), repeat=4) if 9 * v[0] + 6 * v[1] + 3 * v[2] + 2 * v[3] == 87]
    assert len(wanted) == 154
    for vector in wanted:
        said = zip(PAPER, map(str, vector), strict=True)
        assert checklist.ace(list(said)).value == pytest.approx(4.35)


def test_a_missing_rating_is_never_0() -> None:
    points = ((0.5, "8"), (0.3, None), (0.2, "3"))
    result, over = ace(*points), ace(*points, over_valid=True)
    # .5·8 + .2·3 = 4.6, and .3·10 more at most.
    assert (result.floor, result.ceiling, over.value) == pytest.approx((4.6, 7.6, 4.6 / 0.7))
    assert (result.value, result.missing, "over the others only" in over.note) == (None, 1, True)


@pytest.mark.parametrize(
    ("points", "value", "note"),
    [
        (((0.33, "9"), (0.33, "6"), (0.33, "3")), 6.0, "the shares sum to 0.99 and are divided by that"),
        (((0.5, "9"), (0.5, "6")), 7.5, ""),
        (((0.5, "5"), (0.4, "5"), (0.2, "5")), None, "The shares of the checklist sum to 1.10 and not to 1."),
        (((0.5, "5"), (0.3, "5"), (0.1, "5")), None, "The shares of the checklist sum to 0.90 and not to 1."),
        ((), None, "the item has no checklist"),
        (((0.0, "4"),), None, "the item has a checklist without shares"),
    ],
)
def test_shares_near_1_are_divided_by_their_sum_and_others_are_refused_by_name(
    points: tuple[tuple[float, str], ...], value: float | None, note: str
) -> None:
    result = ace(*points)
    assert (result.value, result.note) == (value and pytest.approx(value), note)


def test_a_rating_beyond_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to 10"):
        ace((1.0, "11"))


POINTS = st.lists(
    st.tuples(st.integers(1, 9), st.sampled_from([*RATINGS, None])), min_size=1, max_size=6
).map(lambda found: [(share / sum(s for s, _ in found), value) for share, value in found])


@given(POINTS)
def test_whatever_is_missing_lies_within_the_range(points: list[tuple[float, str | None]]) -> None:
    result = checklist.ace(points)
    for filler in RATINGS:
        value = checklist.ace([(share, one or filler) for share, one in points]).value
        assert result.floor - 1e-9 <= value <= result.ceiling + 1e-9


def test_a_case_is_one_point_without_its_share_and_note() -> None:
    result = list(checklist.cases(material(*PAPER)))
    assert [case.unit.text for case in result] == [f"Point {n}: baselines are compared" for n in range(4)]
    assert {case.unit.note for case in result} == {""}
    assert not any(hasattr(case.unit, "share") for case in result)
    titled = CheckPoint(id="p", title="Rigour", text="Is it sound?", share=1)
    (case,) = checklist.cases(replace(material(1), documents={Kind.CHECKLIST: Checklist(units=(titled,))}))
    assert case.unit.text == "Rigour: Is it sound?"


@pytest.mark.anyio
async def test_the_judge_reads_the_task_with_its_traits_the_point_and_the_report() -> None:
    ask = ScriptedAsk({"quote": "three baselines", "rationale": "r", "rating": 7})
    verdict = (await judge(next(iter(checklist.cases(material(*PAPER)))), ask))["p-0"]
    place = REPORT.index("three")
    assert (verdict.value, verdict.quote, verdict.quote_start) == ("7", "three baselines", place)
    ((prompt, fields, fenced, sent),) = ask.asked
    assert (prompt, set(fields)) == ("arena.checklist", set(fenced))
    traits = (fields["category"], fields["family"], fields["difficulty"])
    assert traits == ("Science", "Method blueprint", "not known")
    assert "0.45" not in sent


@pytest.mark.anyio
async def test_several_points_in_one_call_are_told_apart_by_name() -> None:
    (first, second, *_) = checklist.cases(material(*PAPER))
    ask = ScriptedAsk({"answers": [{"id": "p2", "quote": "", "rationale": "r", "rating": "10"}]})
    result = await judge_together(replace(first, units=(*first.units, *second.units)), ask)
    assert (result["p-1"].value, result["p-0"].value, result["p-0"].status) == ("10", None, Status.INVALID)


@pytest.mark.anyio
async def test_an_empty_report_is_0_without_a_call() -> None:
    (case, *_) = checklist.cases(material(*PAPER, text=" \n"))
    for verdicts in (await judge(case, ScriptedAsk()), checklist.baseline(case)):
        assert verdicts["p-0"].value == "0"


@pytest.mark.parametrize("rating", ["7.5", 7.5, 11, -1, True, "7/10", "", None])
def test_what_is_no_whole_number_from_0_to_10_is_no_rating(rating: object) -> None:
    with pytest.raises(ValueError, match="rating"):
        Rating.model_validate({"quote": "", "rationale": "r", "rating": rating})


def test_the_baseline_rates_by_shared_words_and_says_so() -> None:
    (case, *_) = checklist.cases(material(*PAPER))
    verdict = checklist.baseline(case)["p-0"]
    # Of point, 0, baselines and compared the first sentence has what its words share.
    assert verdict.rationale.startswith("baseline: ")
    assert verdict.value in RATINGS[1:]
    assert REPORT[verdict.quote_start : verdict.quote_end] == verdict.quote


def says(*weights: float) -> ScriptedAsk:
    points = [
        {"title": f"Title {n}", "description": "What is asked.", "weight": one}
        for n, one in enumerate(weights)
    ]
    return ScriptedAsk({"points": points})


async def test_points_come_with_the_heaviest_first_and_shares_of_1() -> None:
    result = await checklist.make(material(), says(0.2, 0.5, 0.3))
    assert isinstance(result.document, Checklist)
    assert [(unit.title, unit.text, unit.share) for unit in result.document.units] == [
        ("Title 1", "What is asked.", 0.5),
        ("Title 2", "What is asked.", 0.3),
        ("Title 0", "What is asked.", 0.2),
    ]
    assert (result.flags, result.document.fault()) == ((), "")


async def test_weights_that_nearly_sum_to_1_are_divided_by_their_sum_and_flagged() -> None:
    result = await checklist.make(material(), says(0.33, 0.33, 0.33))
    assert result.document is not None
    assert [unit.share for unit in result.document.units] == pytest.approx([1 / 3] * 3)
    assert result.flags == ("shares_normalized",)


@pytest.mark.parametrize(
    ("weights", "cause"),
    [
        ((0.5, 0.4, 0.2), "The shares of the checklist sum to 1.10 and not to 1."),
        ((0.6, 0.4), "The draft has 2 points; a checklist has 3 to 6."),
        ((0.1,) * 7, "The draft has 7 points; a checklist has 3 to 6."),
    ],
)
async def test_a_draft_that_breaks_a_rule_is_refused_by_name(weights: tuple[float, ...], cause: str) -> None:
    result = await checklist.make(material(), says(*weights))
    assert (result.document, result.status, result.cause) == (None, Status.INVALID, cause)


async def test_the_model_is_told_the_task_and_its_traits_and_no_report() -> None:
    ask = says(0.5, 0.3, 0.2)
    await checklist.make(material(), ask)
    ((prompt, fields, fenced, _),) = ask.asked
    assert (prompt, set(fenced)) == ("arena.checklist.make", set(fields))
    assert fields == {
        "question": "Design a protocol.",
        "phase": "not known",
        "category": "Science",
        "family": "Method blueprint",
        "difficulty": "not known",
    }


def test_a_reply_in_words_is_three_lines_a_point() -> None:
    result = DraftedChecklist.from_text("TITLE: Rigour\nDESCRIPTION: Controls are set.\nWEIGHT: 0.6")
    assert result.points[0].weight == 0.6
    with pytest.raises(ValueError, match="block 1"):
        DraftedChecklist.from_text("Rigour, 0.6")


SCORES = {"clarity": 5, "actionability": 4, "novelty": 3, "depth_fit": 4, "consistency": 5}


def reply(**changed):
    given = {
        "first": SCORES,
        "second": {**SCORES, "novelty": 2},
        "reason": "",
        "better": "first",
        "confidence": 0.7,
    }
    return ranking.TaskPreference.model_validate(given | changed)


def case(first, second):
    shown = [
        Response(id=str(n), item_id="i", system_id="", text=text) for n, text in enumerate((first, second))
    ]
    item = Item(id="i", key="i", question="?")
    return Case("contest", item, shown[0], "", (Unit(id="1"),), other=shown[1])


@pytest.mark.parametrize(
    ("second", "better", "agrees"),
    [
        ({**SCORES, "novelty": 2}, "first", True),
        ({**SCORES, "novelty": 2}, "second", False),
        # Equal scores agree with either.
        (SCORES, "second", True),
    ],
)
def test_the_mean_of_five_scores_agrees_with_the_winner_or_not(second, better, agrees):
    result = reply(second=second, better=better)
    assert (result.first.overall, result.agrees) == (4.2, agrees)


def test_a_value_holds_choice_and_confidence():
    assert ranking.read(ranking.preference_words("second", 0.95)) == ("second", 0.95)


@pytest.mark.parametrize("confidence", [0.3, 0.49, 1.01, -1, float("nan")])
def test_a_confidence_outside_one_half_and_one_is_refused_by_name(confidence):
    with pytest.raises(ValidationError, match=re.escape(f"confidence of {confidence:g}")):
        reply(confidence=confidence)


def test_a_score_above_five_is_refused():
    with pytest.raises(ValidationError):
        reply(first={**SCORES, "clarity": 6})


def test_the_prompt_asks_for_what_the_reply_holds():
    prompt = load(ranking.PROMPT)
    listed = re.findall(r"^- (\w+): ", prompt.system, re.MULTILINE)
    assert listed == [*SCORES, *ranking.TaskPreference.model_fields]
    assert prompt.placeholders == {"first", "second"}


@pytest.mark.parametrize(
    ("first", "value"),
    [
        ("List drivers of coral bleaching.", "first 0.55"),
        (" ".join(f"w{n}" for n in range(101)), "second 0.55"),
        ("List things.", "first 0.5"),
    ],
)
def test_the_baseline_prefers_more_different_words_up_to_a_hundred(first, value):
    (said,) = ranking.baseline(case(first, "List things.")).values()
    assert said.value == value
