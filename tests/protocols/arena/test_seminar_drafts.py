"""Drafts from seminars, and leakage."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Material, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import lint
from annotator.domain.kinds.inspirations import Inspiration, Inspirations
from annotator.domain.kinds.tasks import Tasks
from annotator.domain.material.item import CONTINUATION, Item, Response, Source
from annotator.exchange import transcripts
from annotator.judging.messages import strict_schema
from annotator.protocols.arena import seminar_drafts
from annotator.protocols.arena.leakage import LEAKAGE, ComparedContinuation, Continuation, compared, split
from annotator.protocols.arena.seminar_drafts import DrawnInspirations, WrittenTasks
from tests.protocols.arena.test_checklist import material
from tests.protocols.arena.test_key_points import SUFFIX
from tests.servers.scripted_ask import ScriptedAsk

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
    ten = await seminar_drafts.draw(seminar(), ScriptedAsk({"inspirations": [drawn()] * 10}))
    assert ten.document is not None
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
    filled = replace(seminar(), documents={Kind.INSPIRATIONS: result.document})
    tasks = seminar_drafts.fixed_sentences(filled)
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
    times = np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    result = draw(pool, True, times)
    # 1 of 2, 2 of 3, and nothing that can be compared.
    assert result[:2] == pytest.approx([0.5, 2 / 3])
    assert np.isnan(result[2])


def test_a_continuation_is_kept_as_it_came() -> None:
    assert Continuation.from_text("  and so on \n").text == "  and so on \n"
    with pytest.raises(ValueError, match="empty"):
        Continuation.from_text(" \n")
