"""ACE: ratings weighed by a checklist's shares, what is missing, and how a point is asked."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Case, Material, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.material.item import Item
from annotator.domain.material.response import Response
from annotator.protocols.arena import checklist
from annotator.protocols.arena.checklist import RATINGS, Rating, RatingsTogether, judge, judge_together

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
    found = ace((0.5, "8"), (0.3, None), (0.2, "3"))
    # .5·8 + .2·3 = 4.6, and .3·10 more at most.
    assert (found.value, found.missing, found.floor, found.ceiling) == (
        None,
        1,
        pytest.approx(4.6),
        pytest.approx(7.6),
    )
    over = ace((0.5, "8"), (0.3, None), (0.2, "3"), over_valid=True)
    assert over.value == pytest.approx(4.6 / 0.7)
    assert "over the others only" in over.note


def test_shares_near_1_are_divided_by_their_sum_and_it_is_said() -> None:
    found = ace((0.33, "9"), (0.33, "6"), (0.33, "3"))
    assert found.value == pytest.approx(6.0)
    assert found.note == "the shares sum to 0.99 and are divided by that"
    assert ace((0.5, "9"), (0.5, "6")).note == ""


@pytest.mark.parametrize(("shares", "total"), [((0.5, 0.4, 0.2), "1.10"), ((0.5, 0.3, 0.1), "0.90")])
def test_shares_that_do_not_sum_to_1_are_refused_by_name(shares: tuple[float, ...], total: str) -> None:
    found = ace(*((share, "5") for share in shares))
    assert (found.value, found.note) == (None, f"The shares of the checklist sum to {total} and not to 1.")
    assert total in Checklist(units=tuple(CheckPoint(text="x", share=one) for one in shares)).fault()


def test_nothing_to_weigh_is_no_score() -> None:
    assert ace().note == "the item has no checklist"
    assert ace((0.0, "4")).note == "the item has a checklist without shares"
    with pytest.raises(ValueError, match="from 0 to 10"):
        ace((1.0, "11"))


POINTS = st.lists(
    st.tuples(st.integers(1, 9), st.sampled_from([*RATINGS, None])), min_size=1, max_size=6
).map(lambda found: [(share / sum(s for s, _ in found), value) for share, value in found])


@given(POINTS)
def test_whatever_is_missing_lies_within_the_range(points: list[tuple[float, str | None]]) -> None:
    found = checklist.ace(points)
    for filler in RATINGS:
        value = checklist.ace([(share, one or filler) for share, one in points]).value
        assert found.floor - 1e-9 <= value <= found.ceiling + 1e-9


def test_a_case_is_one_point_without_its_share_and_note() -> None:
    found = list(checklist.cases(material(*PAPER)))
    assert [case.unit.text for case in found] == [f"Point {n}: baselines are compared" for n in range(4)]
    assert {case.unit.note for case in found} == {""}
    assert not any(hasattr(case.unit, "share") for case in found)
    titled = CheckPoint(id="p", title="Rigour", text="Is it sound?", share=1)
    (case,) = checklist.cases(replace(material(1), documents={Kind.CHECKLIST: Checklist(units=(titled,))}))
    assert case.unit.text == "Rigour: Is it sound?"


@pytest.mark.anyio
async def test_the_judge_reads_the_task_with_its_traits_the_point_and_the_report() -> None:
    case = next(iter(checklist.cases(material(*PAPER))))

    async def answer(prompt, fields, reply, fenced=()):  # type: ignore[no-untyped-def]
        assert (prompt, reply) == ("arena.checklist", Rating)
        assert set(fields) == set(fenced)
        assert (fields["category"], fields["family"], fields["difficulty"]) == (
            "Science",
            "Method blueprint",
            "not known",
        )
        assert not any("0.45" in words for words in fields.values())
        return Answer(
            Status.OK, Rating.model_validate({"quote": "three baselines", "rationale": "r", "rating": 7})
        )

    verdict = (await judge(case, answer))["p-0"]
    assert (verdict.value, verdict.quote, verdict.quote_start) == (
        "7",
        "three baselines",
        REPORT.index("three"),
    )


@pytest.mark.anyio
async def test_several_points_in_one_call_are_told_apart_by_name() -> None:
    (first, second, *_) = checklist.cases(material(*PAPER))
    case = Case(first.protocol, first.item, first.response, first.artifact_id, (*first.units, *second.units))

    async def answer(prompt, fields, reply, fenced=()):  # type: ignore[no-untyped-def]
        one = {"id": "p2", "quote": "", "rationale": "r", "rating": "10"}
        return Answer(Status.OK, RatingsTogether.model_validate({"answers": [one]}))

    found = await judge_together(case, answer)
    assert (found["p-1"].value, found["p-0"].value, found["p-0"].status) == ("10", None, Status.INVALID)


@pytest.mark.anyio
async def test_an_empty_report_is_0_without_a_call() -> None:
    async def never(*_args, **_more):  # type: ignore[no-untyped-def]
        raise AssertionError("nobody need be asked")

    (case, *_) = checklist.cases(material(*PAPER, text=" \n"))
    assert (await judge(case, never))["p-0"].value == "0"
    assert checklist.baseline(case)["p-0"].value == "0"


@pytest.mark.parametrize("rating", ["7.5", 7.5, 11, -1, True, "7/10", "", None])
def test_what_is_no_whole_number_from_0_to_10_is_no_rating(rating: object) -> None:
    with pytest.raises(ValueError, match="rating"):
        Rating.model_validate({"quote": "", "rationale": "r", "rating": rating})


@pytest.mark.parametrize(
    ("text", "rating"),
    [("10\nAll of it.", "10"), ("**Rating: 7**\nBasic.", "7"), ("7\n8", None), ("7 of 10\nGood.", None)],
)
def test_a_reply_in_words_is_a_rating_alone(text: str, rating: str | None) -> None:
    if rating:
        assert Rating.from_text(text).rating == rating
    else:
        with pytest.raises(ValueError, match="line"):
            Rating.from_text(text)


def test_the_baseline_rates_by_shared_words_and_says_so() -> None:
    (case, *_) = checklist.cases(material(*PAPER))
    verdict = checklist.baseline(case)["p-0"]
    # Of point, 0, baselines and compared the first sentence has what its words share.
    assert verdict.rationale.startswith("baseline: ")
    assert verdict.value in RATINGS[1:]
    assert REPORT[verdict.quote_start : verdict.quote_end] == verdict.quote
