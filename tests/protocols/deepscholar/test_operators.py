"""Filter, top-k and aggregate: what each keeps, how much it asks, and what becomes of answers that do not come."""

from collections.abc import Mapping

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer
from annotator.domain.material.work import CatalogueWork
from annotator.protocols.deepscholar import operators
from annotator.protocols.deepscholar.operators import BetterWork, RelevantWork, SectionText
from tests.material import twelve_works
from tests.material.twelve_works import IRRELEVANT, LEFT, PREFERRED, QUESTION, WORKS, KnowingAsk, number_of

pytestmark = pytest.mark.anyio
UNREADABLE = Answer(Status.INVALID, cause="No JSON.")


def numbers(works: tuple[CatalogueWork, ...]) -> list[int]:
    return [WORKS.index(work) + 1 for work in works]


def works(*wanted: int) -> list[CatalogueWork]:
    return [WORKS[number - 1] for number in wanted]


async def test_the_filter_asks_once_about_each_work_and_keeps_their_order() -> None:
    ask = KnowingAsk()
    kept = await operators.filtered(QUESTION, works(9, 8, 3, 1), ask)
    assert (numbers(kept.works), kept.unanswered, ask.count("filter")) == ([8, 1], 0, 4)


async def test_a_work_without_a_verdict_is_asked_about_again_and_then_kept_and_counted() -> None:
    def odd(prompt: str, fields: Mapping[str, str], asked: int) -> Answer | None:
        about = number_of(fields["title"])
        # Nothing about the third is ever read; about the ninth only the second answer.
        return UNREADABLE if about == 3 or (about == 9 and asked < 4) else None

    ask = KnowingAsk(odd)
    kept = await operators.filtered(QUESTION, works(9, 8, 3, 1), ask)
    assert (numbers(kept.works), kept.unanswered, ask.count("filter")) == ([8, 3, 1], 1, 6)


@pytest.mark.parametrize("count", [4, 5, 9])
async def test_where_all_fit_nothing_is_asked(count: int) -> None:
    ask = KnowingAsk()
    best = await operators.top(QUESTION, works(1, 2, 4, 5), count, ask, "seed")
    assert (numbers(best.works), ask.asked) == ([1, 2, 4, 5], [])


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", ["a", "b", "c", "d", "e"])
async def test_the_preferred_works_are_kept_whatever_the_pivots(count: int, seed: str) -> None:
    ask = KnowingAsk()
    best = await operators.top(QUESTION, works(*sorted(LEFT)), count, ask, seed)
    assert set(numbers(best.works)) == set(PREFERRED[:count])
    # Each round leaves its pivot out: 4 + 3 + 2 + 1 at most.
    assert 4 <= len(ask.asked) <= 10


async def test_the_same_seed_asks_the_same() -> None:
    first, again, other = KnowingAsk(), KnowingAsk(), KnowingAsk()
    for ask, seed in ((first, "a"), (again, "a"), (other, "b")):
        await operators.top(QUESTION, works(*sorted(LEFT)), 2, ask, seed)
    assert first.asked == again.asked != other.asked


async def test_a_comparison_that_does_not_come_goes_by_the_search_order() -> None:
    ask = KnowingAsk(lambda *_: UNREADABLE)
    best = await operators.top(QUESTION, works(4, 2, 8, 1), 2, ask, "seed")
    assert (numbers(best.works), best.unanswered) == ([4, 2], len(ask.asked))


async def test_works_that_fit_are_written_about_in_one_call() -> None:
    ask = KnowingAsk()
    answer = await operators.aggregated(QUESTION, works(8, 1), "Be short.", ask)
    assert answer.reply.text == twelve_works.WRITTEN
    ((step, fields),) = ask.asked
    assert (step, fields["length"]) == ("section", "Be short.")
    assert fields["works"] == (
        "[1] On sap\nResults about water and canopy. More follows.\n\n"
        "[2] On oak\nResults about shade. More follows."
    )


async def test_works_that_do_not_fit_are_folded() -> None:
    ask = KnowingAsk()
    await operators.aggregated(QUESTION, works(8, 1, 5), "", ask, room=110)
    assert [step for step, _ in ask.asked] == ["notes", "notes", "section"]
    assert [fields["works"].count("On ") for _, fields in ask.asked[:2]] == [2, 1]
    # The second part keeps the numbers of the whole.
    assert ask.asked[1][1]["works"].startswith("[3] On asphalt")
    assert ask.asked[2][1]["works"] == "Shade is known [1].\n\nShade is known [1]."


async def test_a_model_that_cannot_read_so_much_is_given_halves() -> None:
    def odd(prompt: str, fields: Mapping[str, str], asked: int) -> Answer | None:
        return Answer(Status.TOO_LONG) if prompt.endswith("section") and not asked else None

    ask = KnowingAsk(odd)
    answer = await operators.aggregated(QUESTION, works(8, 1, 5, 2), "", ask)
    assert [step for step, _ in ask.asked] == ["section", "notes", "notes", "section"]
    assert answer.status is Status.OK


async def test_no_section_is_made_of_notes_of_which_some_are_missing() -> None:
    def odd(prompt: str, fields: Mapping[str, str], asked: int) -> Answer | None:
        return UNREADABLE if "asphalt" in fields["works"] else None

    ask = KnowingAsk(odd)
    answer = await operators.aggregated(QUESTION, works(8, 1, 5), "", ask, room=110)
    assert (answer, ask.count("section")) == (UNREADABLE, 0)


def test_replies_in_plain_text() -> None:
    assert RelevantWork.from_text("Yes.\nIt is close.").relevant == "yes"
    assert BetterWork.from_text("second\nCloser.").better == "second"
    assert SectionText.from_text("```markdown\n## S\n```").text == "## S"
    for told, reply in (("It may be.", RelevantWork), ("Neither", BetterWork), ("", SectionText)):
        with pytest.raises(ValueError, match=r".+"):
            reply.from_text(told)  # type: ignore[attr-defined]


def test_the_model_of_these_tests_leaves_what_is_counted_on() -> None:
    assert len(LEFT) == len(PREFERRED) == 5
    assert not IRRELEVANT & set(PREFERRED)
