"""Claim coverage: one set of verdicts for every window, asked from the nearest sources outwards."""

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Material, RatedResponse
from annotator.domain.kinds.artifact import cell_id
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.deepscholar import coverage
from annotator.protocols.deepscholar.coverage import CONTEXT
from annotator.protocols.deepscholar.entailment import NO_TEXT, Entailed
from tests.protocols.deepscholar.related_work_material import EXEMPLARS, ITEM, report
from tests.protocols.deepscholar.sentence_material import cut, sentence

# The widest window of Figure 5.
WIDEST = 5
# s1 cites a, s3 cites b, s5 cites c.
FIVE = tuple(sentence(f"s{n}", cites) for n, cites in enumerate(("a", "", "b", "", "c"), start=1))
# (1, 1), (2, 3), (3, 1), (4, 1), (5, 5)
BORNE_OUT = {("s1", "s1"), ("s2", "s3"), ("s3", "s1"), ("s4", "s1"), ("s5", "s5")}
YES, NO = (
    Entailed(quote="", rationale="r", supported="yes"),
    Entailed(quote="", rationale="r", supported="no"),
)


def verdicts(window: int, yes: set[tuple[str, str]] = BORNE_OUT) -> dict[str, str]:
    return {
        cell_id(one.id, name): "yes" if (one.id, name) in yes else "no"
        for at, one in enumerate(FIVE)
        for _, place in coverage.places(FIVE, at, window)
        for name in [CONTEXT if place is None else FIVE[place].id]
    }


def figure(values: dict[str, str], window: int = 1, over_valid: bool = False) -> Estimate:
    return coverage.coverage(RatedResponse(cut(FIVE), values), over_valid, window)


def test_one_set_of_verdicts_gives_every_window_and_never_falls():
    values = verdicts(WIDEST)
    assert [figure(values, w).value for w in range(4)] == pytest.approx([0.4, 0.6, 0.8, 1.0])
    assert figure(values, WIDEST).value == 1.0
    assert coverage.as_released(RatedResponse(cut(FIVE), values)).value == pytest.approx(0.4)


def test_what_was_not_asked_since_nearer_sources_sufficed_is_no_gap():
    values = verdicts(WIDEST)
    del values[cell_id("s1", "s3")], values[cell_id("s2", "s5")]
    assert [figure(values, w).missing for w in range(WIDEST + 1)] == [0] * 6


def test_a_missing_verdict_leaves_open_only_what_it_decides():
    values = verdicts(1)
    del values[cell_id("s2", "s1")], values[cell_id("s4", "s3")]
    found = figure(values)
    assert (found.value, found.missing, found.floor, found.ceiling) == (None, 1, 3 / 5, 4 / 5)
    assert figure(values, over_valid=True).value == 3 / 4


def test_a_sentence_that_cites_nothing_may_follow_from_the_task_alone():
    values = verdicts(1, {("s2", CONTEXT)})
    assert (figure(values, 0).value, figure(values, 1).value) == (1 / 5, 1 / 5)
    assert coverage.as_released(RatedResponse(cut(FIVE), values)).value == 0.0
    bare = cut([sentence("x"), sentence("y")])
    asked = [[unit.id for unit in case.units] for case in coverage.cases(bare)]
    assert asked == [[cell_id("x", CONTEXT)], [cell_id("y", CONTEXT)]]


def test_nothing_is_told_without_sentences_or_of_what_people_wrote():
    assert coverage.coverage(RatedResponse(cut([]), {})).value is None
    assert "not been drawn" in coverage.coverage(RatedResponse(Material(ITEM, report()), {})).note
    own = Material(ITEM, EXEMPLARS, parts=cut(FIVE).parts)
    assert coverage.coverage(RatedResponse(own, verdicts(1))).value is None
    assert list(coverage.cases(own)) == []


def test_places_go_outwards_and_only_to_sentences_that_cite():
    assert list(coverage.places(FIVE, 2, 2)) == [(0, 2), (2, 0), (2, 4)]
    assert list(coverage.places(FIVE, 1, 1)) == [(0, None), (1, 0), (1, 2)]
    wide = [len(case.units) for case in coverage.cases(cut(FIVE, window=WIDEST))]
    assert wide == [3, 4, 3, 4, 3]


async def judged(material: Material, at: int, answers: list[Answer]):
    """The verdicts on a sentence, in order, and how many questions were put."""
    case, asked = list(coverage.cases(material))[at], []

    async def ask(prompt, fields, reply, fenced=()):
        asked.append(fields)
        return answers[len(asked) - 1]

    said = await coverage.judge(case, ask)
    return [said[unit.id] for unit in case.units], asked


@pytest.mark.anyio
async def test_the_judge_asks_outwards_and_stops_at_the_first_yes():
    material = cut(FIVE, texts="abc", window=2)
    said, asked = await judged(material, 2, [Answer(Status.OK, NO), Answer(Status.OK, YES)])
    assert [one.value or one.status for one in said] == ["no", "yes", Status.NOT_NEEDED]
    assert [one["sources"] for one in asked] == ["Title b\n\nAbstract b.", "Title a\n\nAbstract a."]
    assert {one["sentence"] for one in asked} == {FIVE[2].text}


@pytest.mark.anyio
async def test_a_failed_question_does_not_stop_the_others():
    failed = Answer(Status.TIMEOUT, cause="no answer")
    said, asked = await judged(
        cut(FIVE, texts="abc"), 1, [failed, Answer(Status.OK, NO), Answer(Status.OK, YES)]
    )
    assert [one.value or one.status for one in said] == [Status.TIMEOUT, "no", "yes"]
    assert "alone" in asked[0]["sources"]


@pytest.mark.anyio
async def test_a_no_by_some_of_the_sources_is_open():
    two = cut([sentence("s", "ab")], texts="a")
    said, asked = await judged(two, 0, [Answer(Status.OK, NO)])
    assert [one.status for one in said] == [Status.UNCLEAR]
    assert asked[0]["sources"] == "Title a\n\nAbstract a."
    said, _ = await judged(two, 0, [Answer(Status.OK, YES)])
    assert [one.value for one in said] == ["yes"]
    said, asked = await judged(cut([sentence("s", "ab")]), 0, [])
    assert ([one.cause for one in said], asked) == ([NO_TEXT], [])


def test_the_baseline_stops_at_the_first_yes_too():
    near = cut(
        [sentence("s", "a", text="Abstract title"), sentence("t", "b", text="Quarks collide")], texts="ab"
    )
    first, second = (coverage.baseline(case) for case in coverage.cases(near))
    assert [one.value or one.status for one in first.values()] == ["yes", Status.NOT_NEEDED]
    assert [one.value for one in second.values()] == ["no", "no"]
