"""Checklists drafted from a task alone: how many points, what they sum to, and what the model is told."""

from typing import Any

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer
from annotator.domain.kinds.checklist import Checklist
from annotator.protocols.arena import checklist_drafts
from annotator.protocols.arena.checklist_drafts import DraftedChecklist
from tests.protocols.arena.test_checklist import REPORT, material

pytestmark = pytest.mark.anyio


def says(*weights: float, told: dict[str, str] | None = None):  # type: ignore[no-untyped-def]
    points = [
        {"title": f"Title {n}", "description": "What is asked.", "weight": one}
        for n, one in enumerate(weights)
    ]

    async def ask(prompt: str, fields: Any, reply: Any, fenced: Any = ()) -> Answer:
        assert (prompt, reply, set(fenced)) == ("arena.checklist.make", DraftedChecklist, set(fields))
        if told is not None:
            told.update(fields)
        return Answer(Status.OK, DraftedChecklist.model_validate({"points": points}))

    return ask


async def test_points_come_with_the_heaviest_first_and_shares_of_1() -> None:
    found = await checklist_drafts.make(material(), says(0.2, 0.5, 0.3))
    assert isinstance(found.document, Checklist)
    assert [unit.share for unit in found.document.units] == [0.5, 0.3, 0.2]
    first = found.document.units[0]
    assert (first.title, first.text, first.words) == ("Title 1", "What is asked.", "Title 1: What is asked.")
    assert (found.flags, found.document.fault()) == ((), "")


async def test_weights_that_nearly_sum_to_1_are_divided_by_their_sum_and_flagged() -> None:
    found = await checklist_drafts.make(material(), says(0.33, 0.33, 0.33))
    assert found.document is not None
    assert [unit.share for unit in found.document.units] == pytest.approx([1 / 3] * 3)
    assert found.flags == ("shares_normalized",)


@pytest.mark.parametrize(
    ("weights", "cause"),
    [
        ((0.5, 0.4, 0.2), "The shares of the checklist sum to 1.10 and not to 1."),
        ((0.6, 0.4), "The draft has 2 points; a checklist has 3 to 6."),
        ((0.1,) * 7, "The draft has 7 points; a checklist has 3 to 6."),
    ],
)
async def test_a_draft_that_breaks_a_rule_is_refused_by_name(weights: tuple[float, ...], cause: str) -> None:
    found = await checklist_drafts.make(material(), says(*weights))
    assert (found.document, found.status, found.cause) == (None, Status.INVALID, cause)


async def test_the_model_is_told_the_task_and_its_traits_and_no_report() -> None:
    told: dict[str, str] = {}
    await checklist_drafts.make(material(), says(0.5, 0.3, 0.2, told=told))
    assert told == {
        "question": "Design a protocol.",
        "phase": "not known",
        "category": "Science",
        "family": "Method blueprint",
        "difficulty": "not known",
    }
    assert REPORT not in told.values()


def test_a_reply_in_words_is_three_lines_a_point() -> None:
    found = DraftedChecklist.from_text("TITLE: Rigour\nDESCRIPTION: Controls are set.\nWEIGHT: 0.6")
    assert found.points[0].weight == 0.6
    with pytest.raises(ValueError, match="block 1"):
        DraftedChecklist.from_text("Rigour, 0.6")
