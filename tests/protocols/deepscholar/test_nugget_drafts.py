"""Nuggets drafted from an exemplar: drawn, weighed in tens, and checked against the exemplar itself."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Material
from annotator.domain.kinds.nuggets import Nuggets
from annotator.protocols.deepscholar import nugget_drafts
from annotator.protocols.deepscholar.nugget_drafts import DrawnNuggets, WeighedNugget, WeighedNuggets
from annotator.protocols.deepscholar.nuggets import SupportOfOne, SupportTogether
from tests.protocols.deepscholar.related_work_material import EXEMPLARS, ITEM, report

pytestmark = pytest.mark.anyio
Says = Callable[[str], str]


def names_in(words: str) -> list[str]:
    lines = [line.removeprefix("id: ").split(":")[0].strip() for line in words.splitlines()]
    return [line for line in lines if line[:1] == "n" and line[1:].isdigit()]


class Scripted:
    """A model that draws the given nuggets, calls every third vital, and supports by their place within a call."""

    def __init__(self, *rounds: list[str]) -> None:
        self.rounds, self.asked = list(rounds), list[tuple[str, dict[str, str]]]()

    async def __call__(self, prompt: str, fields: Any, reply: Any, fenced: Any = ()) -> Answer:
        self.asked.append((prompt, dict(fields)))
        assert set(fenced) == set(fields)
        if reply is DrawnNuggets:
            return Answer(Status.OK, DrawnNuggets(nuggets=self.rounds.pop(0)))
        names = names_in(fields["nuggets"])
        if reply is WeighedNuggets:
            return Answer(Status.OK, WeighedNuggets(answers=list(map(self.weighed, names))))
        return Answer(Status.OK, SupportTogether(answers=list(map(self.assigned, names))))

    def weighed(self, name: str) -> WeighedNugget:
        return WeighedNugget(id=name, importance="vital" if int(name[1:]) % 3 == 0 else "okay")

    def assigned(self, name: str) -> SupportOfOne:
        said = {"n1": "partial_support", "n2": "not_support"}.get(name, "support")
        return SupportOfOne.model_validate({"id": name, "quote": "", "rationale": "So.", "support": said})


def item(*exemplars: str) -> Material:
    facing = tuple(
        EXEMPLARS.model_copy(update={"id": f"e{n}", "text": text}) for n, text in enumerate(exemplars)
    )
    return replace(Material(ITEM, report("")), facing=facing)


async def test_nuggets_are_weighed_and_assigned_in_tens_and_vital_ones_come_first() -> None:
    ask = Scripted([f"Fact {n}" for n in range(1, 13)])
    found = await nugget_drafts.make(item("Trees cool."), ask)
    assert isinstance(found.document, Nuggets)
    units = {unit.text: (unit.importance, unit.support, unit.kept) for unit in found.document.units}
    # Places 3, 6, 9 of the first ten; of the last two none is the third.
    assert [unit.text for unit in found.document.units][:3] == ["Fact 3", "Fact 6", "Fact 9"]
    assert sum(importance == "vital" for importance, _, _ in units.values()) == 3
    assert units["Fact 1"] == ("okay", "partial_support", False)
    assert units["Fact 2"] == ("okay", "not_support", False)
    assert units["Fact 11"][1] == "partial_support"
    assert units["Fact 3"] == ("vital", "support", True)
    assert [prompt for prompt, _ in ask.asked] == [
        nugget_drafts.NAME, *[nugget_drafts.WEIGHED] * 2, *["deepscholar.nuggets.together"] * 2,
    ]  # fmt: skip
    assert found.flags == ()


async def test_more_than_ten_texts_are_read_window_by_window_with_the_list_so_far() -> None:
    ask = Scripted(["One fact"], ["One fact", "Another  fact", "One fact"])
    found = await nugget_drafts.make(item(*(f"Text {n}." for n in range(11))), ask)
    drawn = [fields for prompt, fields in ask.asked if prompt == nugget_drafts.NAME]
    assert [fields["nuggets"] for fields in drawn] == [nugget_drafts.NONE_YET, "One fact"]
    assert (drawn[0]["documents"].count("Text"), drawn[1]["documents"]) == (10, "Text 10.")
    assert found.document is not None
    assert sorted(unit.text for unit in found.document.units) == ["Another fact", "One fact"]


async def test_thirty_stay_and_long_ones_are_flagged() -> None:
    found = await nugget_drafts.make(item("T."), Scripted([f"{'word ' * 12}{n}" for n in range(31)]))
    assert found.document is not None
    assert len(found.document.units) == 30
    assert found.flags == (nugget_drafts.CUT, nugget_drafts.TOO_LONG)


async def test_a_nugget_that_is_left_out_or_weighed_twice_spoils_the_draft() -> None:
    class Careless(Scripted):
        def weighed(self, name: str) -> WeighedNugget:
            return WeighedNugget(id="n1", importance="vital")

    found = await nugget_drafts.make(item("T."), Careless(["A", "B"]))
    assert (found.document, found.status) == (None, Status.INVALID)


@pytest.mark.parametrize("texts", [(), (" \n",)])
async def test_without_an_exemplar_nothing_is_asked(texts: tuple[str, ...]) -> None:
    found = await nugget_drafts.make(item(*texts), Scripted())
    assert (found.status, found.cause) == (Status.SKIPPED, nugget_drafts.NO_EXEMPLAR)


def test_the_plain_text_form_takes_a_nugget_a_line() -> None:
    assert DrawnNuggets.from_text("- Trees cool.\n\n* Shade helps.\n").nuggets == [
        "Trees cool.",
        "Shade helps.",
    ]
