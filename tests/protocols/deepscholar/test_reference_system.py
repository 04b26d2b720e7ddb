"""DeepScholar's reference system and its operators."""

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Material, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import CatalogueWork
from annotator.protocols.deepscholar import references, system
from annotator.protocols.deepscholar.system import (
    BetterWork,
    RelevantWork,
    SearchQueries,
    SectionText,
    SystemSettings,
    WrittenSection,
    numbered,
)
from tests.material.twelve_works import (
    FOUND,
    HOLDING,
    LEFT,
    PREFERRED,
    QUESTION,
    WORKS,
    WRITTEN,
    KnowingAsk,
    number_of,
)
from tests.protocols.deepscholar.related_work_material import with_works

pytestmark = pytest.mark.anyio


@pytest.fixture
def ask() -> KnowingAsk:
    return KnowingAsk()


THREE = SystemSettings(keep=3)


class Steps(list[str]):
    """The steps as they were begun."""

    @contextmanager
    def __call__(self, name: str) -> Any:
        self.append(name)
        yield


async def search(query: str, count: int) -> Sequence[CatalogueWork]:
    return [WORKS[number - 1] for number in HOLDING.get(query, ()) if number in FOUND][:count]


async def written(
    ask: KnowingAsk, settings: SystemSettings = THREE, steps: Steps | None = None
) -> WrittenSection | Answer:
    return await system.written(QUESTION, settings, search, ask, Steps() if steps is None else steps, "seed")


@pytest.mark.anyio
async def test_every_step_is_taken_in_its_order_and_asks_what_it_must() -> None:
    ask, steps = KnowingAsk(), Steps()
    made = await written(ask, steps=steps)
    assert isinstance(made, WrittenSection)
    assert list(steps) == [
        "queries 1", "search 1", "summary 1", "queries 2", "search 2", "filter", "top-k", "aggregate"
    ]  # fmt: skip
    asked = {step: ask.count(step) for step in ("queries", "summary", "filter", "notes", "section")}
    assert asked == {"queries": 2, "summary": 1, "filter": len(FOUND), "notes": 0, "section": 1}
    assert {WORKS.index(work) + 1 for work in made.section.works} == set(PREFERRED[:3])
    assert (made.found, made.kept, made.unfiltered, made.unranked) == (9, len(LEFT), 0, 0)


@pytest.mark.anyio
async def test_a_round_is_told_what_the_one_before_it_found_and_asked(ask: KnowingAsk) -> None:
    await written(ask)
    first, second = (fields for step, fields in ask.asked if step == "queries")
    assert (first["found"], first["asked"], first["count"]) == ("(nothing yet)", "(nothing yet)", "2")
    assert (second["found"], second["asked"]) == ("Shade is known [1].", "shade\nheat")


@pytest.mark.anyio
@pytest.mark.parametrize(("step", "asked"), [("queries", 0), ("queries", 1), ("summary", 0), ("section", 0)])
async def test_without_an_answer_that_it_rests_on_there_is_no_section(step: str, asked: int) -> None:
    lost = Answer(Status.TIMEOUT, cause="Too late.")
    ask = KnowingAsk(lambda prompt, _, before: lost if prompt.endswith(step) and before == asked else None)
    assert await written(ask) is lost


@pytest.mark.anyio
async def test_where_nothing_is_found_or_kept_that_is_said(ask: KnowingAsk) -> None:
    async def nothing(query: str, count: int) -> Sequence[CatalogueWork]:
        return ()

    result = await system.written(QUESTION, THREE, nothing, ask, Steps(), "seed")
    assert isinstance(result, Answer)
    assert (result.cause, ask.count("filter")) == (system.NONE_FOUND, 0)


@pytest.mark.anyio
async def test_one_round_needs_no_summary_and_fewer_queries_find_less(ask: KnowingAsk) -> None:
    made = await written(ask, SystemSettings(rounds=1, queries=1, per_query=2))
    assert isinstance(made, WrittenSection)
    assert (made.found, ask.count("summary"), ask.count("compare")) == (2, 0, 0)
    assert [work.title for work in made.section.works] == ["On oak", "On elm"]


def test_queries_are_few_different_and_short() -> None:
    reply = SearchQueries(queries=["1 2 3 4 5 6 7 8 9 10 11", " “", "- shade", "shade", "heat"])
    assert reply.worded(3) == ["1 2 3 4 5 6 7 8 9 10", "“", "shade"]
    assert SearchQueries.from_text("shade\n\n heat ").worded(5) == ["shade", "heat"]


# What is written


@pytest.mark.parametrize(
    ("said", "kept", "removed"),
    [
        ("Shade [1], [2][3].", "Shade [1], [2][3].", 0),
        ("Shade [4].", "Shade.", 1),
        ("Shade [1, 9, 2; 0].", "Shade [1, 2].", 2),
        ("Shade [1-3] and [2–5].", "Shade [1, 2, 3] and [2, 3].", 2),
        ("Shade [4-99999].", "Shade.", 2),
        ("Shade [2](http://made.example/x) and [8](http://made.example/y).", "Shade [2] and.", 1),
        ("In $[0, 1]$ and `x[7]` stay.", "In $[0, 1]$ and `x[7]` stay.", 0),
        ("Shade [1].\n\n## References\n\n[1] Made up. [7] Too.", "Shade [1].", 0),
        ("Shade [1].\n\n**References:**\n1. Made up.", "Shade [1].", 0),
        ("References to shade [1] abound.", "References to shade [1] abound.", 0),
    ],
)
def test_numbers_that_stand_for_no_work_are_removed_and_counted(said: str, kept: str, removed: int) -> None:
    made = numbered(said, WORKS[:3])
    body, _, listed = made.text.partition("\n\n## References\n\n")
    assert (body, made.removed) == (kept, removed)
    assert listed.split("\n\n") == [
        "[1] A. Mo. On oak. 2024. arXiv:2401.00001",
        "[2] A. Mo. On elm. 2024. arXiv:2401.00002",
        "[3] A. Mo. On ash. 2024. arXiv:2401.00003",
    ]


def test_the_list_is_the_reports_references() -> None:
    made = numbered(
        "Shade.", (WORKS[0], CatalogueWork("https://doi.org/10.1000/ELM", "Elm"), CatalogueWork("", "Ash"))
    )
    told = [(unit.text, unit.note, unit.identifier) for unit in made.references().units]
    assert told == [
        ("On oak", "[1]", "arXiv:2401.00001"), ("Elm", "[2]", "doi:10.1000/elm"), ("Ash", "[3]", "")
    ]  # fmt: skip
    assert made.text.endswith("[2] Elm. doi:10.1000/elm\n\n[3] Ash")
    assert system.HEADING in made.text


# What is given


def gold(*said: tuple[str, str, str]) -> Material:
    units = tuple(Reference(text=title, identifier=address, importance=word) for title, address, word in said)  # type: ignore[arg-type]
    return replace(
        with_works(abstracts={"arxiv:2001.00001": "About oaks."}),
        documents={Kind.EVIDENCE: Evidence(units=units)},
    )


GOLD = gold(
    ("Oaks", "https://arxiv.org/abs/2001.00001v2", "important"),
    ("Oaks, again", "arXiv:2001.00001", "important"),
    ("Elms", "10.1000/elm", "important"),
    ("Ash", "arXiv:2001.00003", "not_important"),
    ("Lime", "arXiv:2001.00004", ""),
)


def test_the_important_references_are_given_once_each_with_their_abstracts() -> None:
    oak = ("arxiv:2001.00001", "About oaks.")
    for oracle, wanted in (("arxiv", [oak]), ("all", [oak, ("doi:10.1000/elm", "")])):
        works = system.important_works(GOLD, oracle)
        assert [(work.key, work.abstract) for work in works if isinstance(work, CatalogueWork)] == wanted


@pytest.mark.parametrize(
    ("work", "oracle", "why"),
    [
        (("Oaks", "arXiv:2001.00001", ""), "all", system.NO_IMPORTANCE),
        (("Elms", "10.1000/elm", "important"), "arxiv", system.NONE_IMPORTANT),
    ],
)
def test_why_nothing_can_be_given_is_said(work: tuple[str, str, str], oracle: str, why: str) -> None:
    assert system.important_works(gold(work), oracle) == why


@pytest.mark.anyio
@pytest.mark.parametrize("oracle", ["arxiv", "all"])
async def test_what_is_given_is_all_found_again(oracle: str) -> None:
    works, ask = system.important_works(GOLD, oracle), KnowingAsk()
    assert not isinstance(works, str)
    made = await system.section_on(QUESTION, works, SystemSettings(oracle=oracle, words=300), ask, Steps())
    assert isinstance(made, WrittenSection)
    ((_, fields),) = ask.asked
    assert fields["length"] == "Write about 300 words."
    parts = {ResponsePart.REFERENCES: made.section.references()}
    result = references.reference_coverage(RatedResponse(replace(GOLD, parts=parts), {}), True)
    # The oaks are one work; of the lime nobody has said whether it is important.
    assert (result.value, result.n, result.missing, result.floor) == (1.0, 1, 1, 0.5)


def test_an_oracle_has_a_mode_and_prompts_of_its_own() -> None:
    modes = [SystemSettings(oracle=name).mode for name in ("", "arxiv", "all")]
    assert modes == ["end-to-end", "oracle-arxiv", "oracle-all"]
    assert set(SystemSettings(oracle="all").prompts) < set(SystemSettings().prompts)


def test_the_baseline_lists_each_work_with_its_first_sentence() -> None:
    made = system.baseline([WORKS[7], CatalogueWork("arXiv:2001.00009", "No abstract")])
    body, _, listed = made.section.text.partition("\n\n## References\n\n")
    assert body == "## Related work\n\nResults about water and canopy. [1]\n\nNo abstract [2]"
    assert listed.startswith("[1] A. Mo. On sap. 2024. arXiv:2401.00008")
    assert made.section.removed == 0


UNREADABLE = Answer(Status.INVALID, cause="No JSON.")


def numbers(works: tuple[CatalogueWork, ...]) -> list[int]:
    return [WORKS.index(work) + 1 for work in works]


def works(*wanted: int) -> list[CatalogueWork]:
    return [WORKS[number - 1] for number in wanted]


async def test_the_filter_asks_once_about_each_work_and_keeps_their_order(ask: KnowingAsk) -> None:
    kept = await system.filtered(QUESTION, works(9, 8, 3, 1), ask)
    assert (numbers(kept.works), kept.unanswered, ask.count("filter")) == ([8, 1], 0, 4)


async def test_a_work_without_a_verdict_is_asked_about_again_and_then_kept_and_counted() -> None:
    def odd(prompt: str, fields: Mapping[str, str], asked: int) -> Answer | None:
        about = number_of(fields["title"])
        # Nothing about the third is ever read; about the ninth only the second answer.
        return UNREADABLE if about == 3 or (about == 9 and asked < 4) else None

    ask = KnowingAsk(odd)
    kept = await system.filtered(QUESTION, works(9, 8, 3, 1), ask)
    assert (numbers(kept.works), kept.unanswered, ask.count("filter")) == ([8, 3, 1], 1, 6)


@pytest.mark.parametrize("count", [4, 5, 9])
async def test_where_all_fit_nothing_is_asked(count: int, ask: KnowingAsk) -> None:
    best = await system.top(QUESTION, works(1, 2, 4, 5), count, ask, "seed")
    assert (numbers(best.works), ask.asked) == ([1, 2, 4, 5], [])


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", ["a", "b", "c", "d", "e"])
async def test_the_preferred_works_are_kept_whatever_the_pivots(
    count: int, seed: str, ask: KnowingAsk
) -> None:
    best = await system.top(QUESTION, works(*sorted(LEFT)), count, ask, seed)
    assert set(numbers(best.works)) == set(PREFERRED[:count])
    # Each round leaves its pivot out: 4 + 3 + 2 + 1 at most.
    assert 4 <= len(ask.asked) <= 10


async def test_the_same_seed_asks_the_same() -> None:
    first, again, other = KnowingAsk(), KnowingAsk(), KnowingAsk()
    for ask, seed in ((first, "a"), (again, "a"), (other, "b")):
        await system.top(QUESTION, works(*sorted(LEFT)), 2, ask, seed)
    assert first.asked == again.asked != other.asked


async def test_a_comparison_that_does_not_come_goes_by_the_search_order() -> None:
    ask = KnowingAsk(lambda *_: UNREADABLE)
    best = await system.top(QUESTION, works(4, 2, 8, 1), 2, ask, "seed")
    assert (numbers(best.works), best.unanswered) == ([4, 2], len(ask.asked))


async def test_works_that_fit_are_written_about_in_one_call(ask: KnowingAsk) -> None:
    answer = await system.aggregated(QUESTION, works(8, 1), "Be short.", ask)
    assert answer.reply.text == WRITTEN
    ((step, fields),) = ask.asked
    assert (step, fields["length"]) == ("section", "Be short.")
    assert fields["works"] == (
        "[1] On sap\nResults about water and canopy. More follows.\n\n"
        "[2] On oak\nResults about shade. More follows."
    )


async def test_works_that_do_not_fit_are_folded(ask: KnowingAsk) -> None:
    await system.aggregated(QUESTION, works(8, 1, 5), "", ask, room=110)
    assert [step for step, _ in ask.asked] == ["notes", "notes", "section"]
    assert [fields["works"].count("On ") for _, fields in ask.asked[:2]] == [2, 1]
    # The second part keeps the numbers of the whole.
    assert ask.asked[1][1]["works"].startswith("[3] On asphalt")
    assert ask.asked[2][1]["works"] == "Shade is known [1].\n\nShade is known [1]."


async def test_a_model_that_cannot_read_so_much_is_given_halves() -> None:
    def odd(prompt: str, fields: Mapping[str, str], asked: int) -> Answer | None:
        return Answer(Status.TOO_LONG) if prompt.endswith("section") and not asked else None

    ask = KnowingAsk(odd)
    answer = await system.aggregated(QUESTION, works(8, 1, 5, 2), "", ask)
    assert [step for step, _ in ask.asked] == ["section", "notes", "notes", "section"]
    assert answer.status is Status.OK


async def test_no_section_is_made_of_notes_of_which_some_are_missing() -> None:
    def odd(prompt: str, fields: Mapping[str, str], asked: int) -> Answer | None:
        return UNREADABLE if "asphalt" in fields["works"] else None

    ask = KnowingAsk(odd)
    answer = await system.aggregated(QUESTION, works(8, 1, 5), "", ask, room=110)
    assert (answer, ask.count("section")) == (UNREADABLE, 0)


def test_replies_in_plain_text() -> None:
    assert RelevantWork.from_text("Yes.\nIt is close.").relevant == "yes"
    assert BetterWork.from_text("second\nCloser.").better == "second"
    assert SectionText.from_text("```markdown\n## S\n```").text == "## S"
    for told, reply in (("It may be.", RelevantWork), ("Neither", BetterWork), ("", SectionText)):
        with pytest.raises(ValueError, match=r".+"):
            reply.from_text(told)  # type: ignore[attr-defined]
