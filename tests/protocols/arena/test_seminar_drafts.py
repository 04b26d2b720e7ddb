"""Arena's seminars and checklists: drafts, figures, leakage, and the ranking of tasks."""

import re
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Case, Material, RatedResponse
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.documents import lint
from annotator.domain.kinds.inspirations import Inspiration, Inspirations
from annotator.domain.kinds.tasks import Tasks
from annotator.domain.material.item import CONTINUATION, Item, Response, Source
from annotator.exchange import transcripts
from annotator.judging.messages import load, strict_schema
from annotator.protocols.arena import checklist, ranking, seminar_drafts
from annotator.protocols.arena.checklist import (
    RATINGS,
    DraftedChecklist,
    Rating,
    judge,
    judge_together,
)
from annotator.protocols.arena.leakage import LEAKAGE, ComparedContinuation, Continuation, compared, split
from annotator.protocols.arena.seminar_drafts import DrawnInspirations, WrittenTasks
from tests.common import ScriptedAsk
from tests.protocols.arena.test_key_points import SUFFIX

pytestmark = pytest.mark.anyio


OPENING = "Ann: Good morning, and thank you all for coming to this seminar on early warning."
OPEN = "Ben: The blind zone around the epicentre is still an unsolved problem for every network we know."
NEW = "Ann: We propose a new framework that uses the motion sensors of phones near the fault."
TALK = f"{OPENING}\n\n{OPEN}\n\n{NEW}"
SET = {
    "phase": "design", "family": "Method / Experiment Blueprint", "difficulty": "basic", "inspirations": ["i1"],
}  # fmt: skip


def seminar(text: str = TALK, size: int = 1500) -> Material:
    source = Source(id="s1", item_id="i", title="Talk", text=text)
    return replace(material(), sources=(source,), piece_words=size)


def drawn(quote: str = "still an unsolved problem", **more: Any) -> dict[str, Any]:
    given = {
        "quotes": [quote],
        "text": "Near the epicentre no warning is possible.",
        "type": "limitation",
        "qualities": ["challenge", "explorability"],
    }
    return given | more


def inspired(*pieces: int | None) -> Material:
    units = tuple(
        Inspiration(id=f"u{place}", text=f"Lead {place} on warning", type="limitation", piece=piece)
        for place, piece in enumerate(pieces)
    )
    return replace(seminar(), documents={Kind.INSPIRATIONS: Inspirations(units=units)})


def written(count: int, **more: Any) -> dict[str, Any]:
    return {"tasks": [SET | {"task": f"Write protocol {n} for sensor {n * 7}."} | more for n in range(count)]}


async def test_an_inspiration_is_drawn_with_its_place_in_the_transcript() -> None:
    ask = ScriptedAsk({"inspirations": [drawn(type="Transdisciplinarity")]})
    result = await seminar_drafts.draw(seminar(), ask)
    assert isinstance(result.document, Inspirations)
    (unit,) = result.document.units
    assert (unit.type, unit.piece, unit.qualities) == ("transdisciplinary", 1, ("challenge", "explorability"))
    assert unit.anchor is not None
    assert TALK[unit.anchor.start : unit.anchor.end] == "still an unsolved problem"
    assert result.flags == ()
    ((prompt, fields, fenced, sent),) = ask.asked
    assert (prompt, fields["place"], fenced) == (
        "arena.inspirations",
        "piece 1 of 1",
        ("seminar", "transcript"),
    )
    assert NEW in sent


async def test_a_quotation_that_is_not_in_the_transcript_is_named_and_flagged() -> None:
    result = await seminar_drafts.draw(seminar(), ScriptedAsk({"inspirations": [drawn("nobody said this")]}))
    assert result.document is not None
    (unit,) = result.document.units
    assert (result.flags, unit.anchor) == (("quote_missing",), None)
    assert unit.note == "Not found in the transcript: “nobody said this”"


def recorded(size: int = 1500) -> Material:
    said = [transcripts.SpokenLine(line.partition(": ")[2], n * 10_000, n * 10_000 + 9_000, line[:3])
            for n, line in enumerate((OPENING, OPEN, NEW) * 2)]  # fmt: skip
    text, transcript = transcripts.assembled(said, {}, "")
    source = Source(id="s1", item_id="i", title="Talk", text=text, transcript=transcript.content())
    return replace(material(), sources=(source,), piece_words=size)


async def test_quotations_tell_when_they_were_said_whoever_drafts() -> None:
    by_model = await seminar_drafts.draw(recorded(), ScriptedAsk({"inspirations": [drawn()]}))
    by_words = seminar_drafts.baseline(recorded())
    for result, times in ((by_model, ["0:10"]), (by_words, ["0:10", "0:20", "0:40", "0:50"])):
        assert result.document is not None
        assert [unit.anchor.said for unit in result.document.units] == times


async def test_a_quotation_lies_in_the_piece_that_was_read() -> None:
    ask = ScriptedAsk(*({"inspirations": [drawn()]} for _ in range(10)))
    result = await seminar_drafts.draw(recorded(size=45), ask)
    assert result.document is not None
    assert len(ask.asked) > 1
    assert result.document.units[-1].anchor.said == "0:40"


async def test_every_piece_is_asked_about_and_its_number_kept() -> None:
    ask = ScriptedAsk(*({"inspirations": [drawn()]} for _ in range(3)))
    result = await seminar_drafts.draw(seminar(size=20), ask)
    assert result.document is not None
    pieces = range(1, len(ask.asked) + 1)
    assert len(pieces) > 1
    assert [fields["place"] for _, fields, *_ in ask.asked] == [f"piece {n} of {len(pieces)}" for n in pieces]
    assert [unit.piece for unit in result.document.units] == [*pieces]


async def test_an_eleventh_inspiration_of_a_piece_is_refused_by_name() -> None:
    assert (
        await seminar_drafts.draw(seminar(), ScriptedAsk({"inspirations": [drawn()] * 10}))
    ).document is not None
    result = await seminar_drafts.draw(seminar(), ScriptedAsk({"inspirations": [drawn()] * 11}))
    cause = "The reply on piece 1 has 11 inspirations; a piece gives at most 10."
    assert (result.document, result.status, result.cause) == (None, Status.INVALID, cause)


async def test_a_piece_that_fails_spoils_the_draft_but_the_others_are_asked() -> None:
    ask = ScriptedAsk(Answer(Status.TIMEOUT, cause="too slow"), *({"inspirations": [drawn()]},) * 5)
    result = await seminar_drafts.draw(seminar(size=20), ask)
    assert (result.document, result.status, result.cause) == (None, Status.TIMEOUT, "too slow")
    assert len(ask.asked) > 1


async def test_no_source_and_no_inspiration_are_told() -> None:
    assert (await seminar_drafts.draw(material(), ScriptedAsk())).status is Status.SKIPPED
    none = await seminar_drafts.draw(seminar(), ScriptedAsk({"inspirations": []}))
    assert (none.status, none.cause) == (Status.UNCLEAR, "The model found no inspiration.")
    assert (await seminar_drafts.write(seminar(), ScriptedAsk())).cause == seminar_drafts.NO_INSPIRATIONS


async def test_tasks_are_tied_to_the_inspirations_that_they_name() -> None:
    ask = ScriptedAsk(written(5, family="method blueprint", inspirations=["i2", "i2"]))
    result = await seminar_drafts.write(inspired(1, 1), ask)
    assert isinstance(result.document, Tasks)
    assert {(one.family, one.inspirations, one.piece) for one in result.document.units} == {
        ("Method / Experiment Blueprint", ("u1",), 1)
    }
    assert "i2 (limitation): Lead 1 on warning" in ask.asked[0][3]
    assert result.flags == ()


async def test_each_piece_is_a_call_of_its_own_and_what_is_odd_is_flagged() -> None:
    ask = ScriptedAsk(written(4), written(5, inspirations=["i9"]))
    result = await seminar_drafts.write(inspired(1, 2, 1), ask)
    assert result.document is not None
    assert [one.piece for one in result.document.units] == [1] * 4 + [2] * 5
    assert result.flags == ("task_count", "inspiration_unknown")
    assert result.document.units[-1].inspirations == ()


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (written(9), "The reply on piece 1 has 9 tasks; 5 to 8 are asked for."),
        (written(5, family="Essay Writing"), "“Essay Writing” is no family of the menu."),
        (
            written(5, phase="evaluate"),
            "Method / Experiment Blueprint belongs to the phase design, not evaluate.",
        ),
    ],
)
async def test_a_draft_of_tasks_that_breaks_a_rule_is_refused_by_name(
    reply: dict[str, Any], cause: str
) -> None:
    result = await seminar_drafts.write(inspired(1), ScriptedAsk(reply))
    assert (result.document, result.status, result.cause) == (None, Status.INVALID, cause)


async def test_the_plain_text_forms_are_read() -> None:
    told = DrawnInspirations.from_text(
        "QUOTES: one || two\nTEXT: A lead.\nTYPE: Hypothesis\nQUALITIES: verifiability, explorability"
    )
    assert (told.inspirations[0].quotes, told.inspirations[0].type) == (["one", "two"], "hypothesis")
    tasks = WrittenTasks.from_text(
        "INSPIRATIONS: i1, i2\nPHASE: Design\nFAMILY: Hypothesis Generation\nDIFFICULTY: Basic\nTASK: Do it."
    )
    assert (tasks.tasks[0].inspirations, tasks.tasks[0].phase) == (["i1", "i2"], "design")
    with pytest.raises(ValueError, match="block 1"):
        WrittenTasks.from_text("Here are the tasks.")
    for reply in (DrawnInspirations, WrittenTasks):
        assert strict_schema(reply)["additionalProperties"] is False


async def test_the_baseline_finds_cue_words_and_fills_fixed_sentences() -> None:
    result = seminar_drafts.baseline(seminar())
    assert result.document is not None
    assert [(one.type, one.piece) for one in result.document.units] == [("limitation", 1), ("methodology", 1)]
    # Words alone copy one sentence, and a person is told that more are asked for.
    assert {finding.rule for finding in lint(result.document)} == {"sentences"}
    tasks = seminar_drafts.fixed_sentences(replace(seminar(), documents={Kind.INSPIRATIONS: result.document}))
    assert tasks.document is not None
    assert [one.family.phase for one in tasks.document.units] == [one.phase for one in tasks.document.units]
    assert len(tasks.document.units) == 5
    assert {finding.level for finding in lint(tasks.document)} <= {"warning"}
    assert {finding.rule for finding in lint(tasks.document)} <= {"near-duplicate", "seminar"}
    assert seminar_drafts.fixed_sentences(seminar()).cause == seminar_drafts.NO_INSPIRATIONS
    assert seminar_drafts.baseline(seminar("Nothing is here to be found at all today.")).document is None


async def test_the_baseline_takes_a_turn_that_stands_in_two_pieces_once() -> None:
    result = seminar_drafts.baseline(seminar(size=20))
    assert result.document is not None
    assert len({one.anchor.start for one in result.document.units}) == len(result.document.units)


PREFIX = (
    "Test the effectiveness of transformer architecture visualization tools in helping software architects understand "
    "generative AI systems compared to traditional documentation "
)
TASK = PREFIX + SUFFIX
# The half that is held back, and other words after it, as chat models go on.
HELD_BACK = TASK[180:]
FILLER = " Zig xylophone quartz: jumbled wonky vivid hymn. "
LEAKED, METRICS = f"{HELD_BACK}{FILLER * 40}"[:2000], {one.name: one for one in LEAKAGE.metrics}


def continued(text: str, task: str = TASK, name: str = "i1") -> RatedResponse:
    item = Item(id=name, key=name, question=task, position=0)
    response = Response(
        id=f"r-{name}-{len(text)}", item_id=name, system_id="s", text=text, sha256="0" * 64, mode=CONTINUATION
    )
    return RatedResponse(Material(item, response), {})


def figure(name: str, *pool: RatedResponse):  # type: ignore[no-untyped-def]
    return METRICS[f"leakage.{name}"].pooled(pool, True)


def test_the_papers_own_task_is_split_at_the_mark_nearest_its_middle() -> None:
    # The paper splits it at 172, at a blank.
    assert (len(TASK), split(TASK)) == (326, (TASK[:180], TASK[180:]))
    assert TASK[180] == "."


@pytest.mark.parametrize(
    ("task", "halves"),
    [
        ("One, two three four.", ("One", ", two three four.")),
        ("abc,def,hi", ("abc", ",def,hi")),
        ("比较三种方法，给出结论。", ("比较三种方法", "，给出结论。")),
        ("No mark but the last one.", None),
        ("...", None),
        ("", None),
    ],
)
def test_the_suffix_begins_with_the_mark_and_both_halves_have_words(
    task: str, halves: tuple[str, str] | None
) -> None:
    assert split(task) == halves


def compare(text: str, task: str = TASK) -> ComparedContinuation:
    (result,) = compared([continued(text, task)])
    assert result is not None
    return result


def test_a_planted_leak_is_found_by_ours_and_missed_as_printed() -> None:
    result = compare(LEAKED)
    assert (result.whole.leaked, result.marked) == (False, True)
    # Of the string hardly anything is left; every word of the suffix is there: .4 · s + .4 + .2.
    assert result.whole.composite == pytest.approx(0.4 * result.whole.string + 0.6)
    assert result.whole.string < 0.25
    assert result.cut.composite == pytest.approx(1.0, abs=0.02)
    assert [figure(name, continued(LEAKED)).value for name in ("leaked", "marked")] == [0, 1]


def test_what_is_no_longer_than_the_suffix_is_found_by_both() -> None:
    _, suffix = split(TASK) or ("", "")
    result = compare(suffix)
    assert (result.whole, result.whole.leaked, result.marked) == (result.cut, True, True)


def test_ten_words_in_a_row_are_marked_wherever_they_stand() -> None:
    run = "conduct controlled experiments measuring comprehension and decision-making quality, delivering statistical"
    ten, nine = (compare(FILLER * 10 + words + FILLER) for words in (run, run.removesuffix(" statistical")))
    assert (ten.run, ten.cut.leaked, ten.marked) == (10, False, True)
    assert (nine.run, nine.marked) == (9, False)


def test_a_chinese_leak_is_found() -> None:
    task = "比较三种方法在小样本条件下的表现，并给出误差来源、适用范围与改进建议。"
    _, suffix = split(task) or ("", "")
    leak, other = compare(suffix + "此外" * 200, task), compare("天气很好。" * 9, task)
    assert (leak.whole.leaked, leak.marked, other.marked) == (False, True, False)


def test_a_task_that_cannot_be_split_is_left_out_and_none_is_no_figure() -> None:
    whole = continued("x", "A task without a mark", "i2")
    assert compared([whole]) == [None]
    none = figure("composite", whole)
    assert (none.value, none.note) == (None, "no continuation to compare")
    assert figure("composite", whole, continued(LEAKED)).n == 1


def test_draws_are_means_over_what_was_drawn() -> None:
    pool = [continued(LEAKED), continued("Nothing alike."), continued("x", "A task without a mark", "i2")]
    draw = METRICS["leakage.marked"].resampled
    assert draw is not None
    result = draw(pool, True, np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]]))
    # 1 of 2, 2 of 3, and nothing that can be compared.
    assert result[:2] == pytest.approx([0.5, 2 / 3])
    assert np.isnan(result[2])


def test_a_continuation_is_kept_as_it_came() -> None:
    assert Continuation.from_text("  and so on \n").text == "  and so on \n"
    with pytest.raises(ValueError, match="empty"):
        Continuation.from_text(" \n")


PAPER = (0.45, 0.30, 0.15, 0.10)
CHECKLIST_TASK = Item(
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
        CHECKLIST_TASK,
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
        assert checklist.ace(list(zip(PAPER, map(str, vector), strict=True))).value == pytest.approx(4.35)


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
    return Case("contest", Item(id="i", key="i", question="?"), shown[0], "", (Unit(id="1"),), other=shown[1])


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
