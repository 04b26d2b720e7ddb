"""Continuations beside what was held back: where a task is split, and what either reading finds."""

import numpy as np
import pytest

from annotator.domain.judges.protocol import Material, RatedResponse
from annotator.domain.material.item import Item
from annotator.domain.material.response import CONTINUATION, Response
from annotator.protocols.arena.continuations import Continuation, split
from annotator.protocols.arena.leakage import LEAKAGE, compared
from tests.protocols.arena.test_likeness import SUFFIX

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
    assert len(TASK) == 326
    halves = split(TASK)
    assert halves is not None
    # The paper splits it at 172, at a blank.
    assert (len(halves[0]), halves[1][0]) == (180, ".")


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


def test_a_planted_leak_is_found_by_ours_and_missed_as_printed() -> None:
    (found,) = compared([continued(LEAKED)])
    assert found is not None
    assert not found.whole.leaked
    # Of the string hardly anything is left; every word of the suffix is there: .4 · s + .4 + .2.
    assert found.whole.composite == pytest.approx(0.4 * found.whole.string + 0.6)
    assert found.whole.string < 0.25
    assert found.cut.composite == pytest.approx(1.0, abs=0.02)
    assert found.marked
    assert (figure("leaked", continued(LEAKED)).value, figure("marked", continued(LEAKED)).value) == (0, 1)


def test_what_is_no_longer_than_the_suffix_is_found_by_both() -> None:
    halves = split(TASK)
    assert halves is not None
    (found,) = compared([continued(halves[1])])
    assert found is not None
    assert found.whole == found.cut
    assert found.whole.leaked
    assert found.marked


def test_ten_words_in_a_row_are_marked_wherever_they_stand() -> None:
    run = "conduct controlled experiments measuring comprehension and decision-making quality, delivering statistical"
    (found,) = compared([continued(FILLER * 10 + run + FILLER)])
    assert found is not None
    assert (found.run, found.cut.leaked, found.marked) == (10, False, True)
    (shorter,) = compared([continued(FILLER * 10 + run.removesuffix(" statistical") + FILLER)])
    assert shorter is not None
    assert (shorter.run, shorter.marked) == (9, False)


def test_a_chinese_leak_is_found() -> None:
    task = "比较三种方法在小样本条件下的表现，并给出误差来源、适用范围与改进建议。"
    halves = split(task)
    assert halves is not None
    found, other = compared(
        [continued(halves[1] + "此外" * 200, task), continued("天气很好。" * 9, task, "i2")]
    )
    assert found is not None
    assert other is not None
    assert (found.whole.leaked, found.marked, other.marked) == (False, True, False)


def test_a_task_that_cannot_be_split_is_left_out_and_none_is_no_figure() -> None:
    whole = continued("x", "A task without a mark", "i2")
    assert compared([whole]) == [None]
    assert (figure("composite", whole).value, figure("composite", whole).note) == (
        None,
        "no continuation to compare",
    )
    assert figure("composite", whole, continued(LEAKED)).n == 1


def test_draws_are_means_over_what_was_drawn() -> None:
    pool = [continued(LEAKED), continued("Nothing alike."), continued("x", "A task without a mark", "i2")]
    draw = METRICS["leakage.marked"].drawn
    assert draw is not None
    times = np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    found = draw(pool, True, times)
    # 1 of 2, 2 of 3, and nothing that can be compared.
    assert found[:2] == pytest.approx([0.5, 2 / 3])
    assert np.isnan(found[2])


def test_a_continuation_is_kept_as_it_came() -> None:
    assert Continuation.from_text("  and so on \n").text == "  and so on \n"
    with pytest.raises(ValueError, match="empty"):
        Continuation.from_text(" \n")
