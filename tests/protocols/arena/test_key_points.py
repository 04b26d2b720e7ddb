"""Key points drawn from the pages that a report gives, each span checked, and repetitions brought together."""

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer
from annotator.domain.material.keypoints import KeyPoint, KeyPoints
from annotator.domain.material.page import PageState
from annotator.protocols.arena import keypoints
from annotator.protocols.arena.keypoints import PAGE_CUT, POINT_LOST, SPAN_MISSING, DrawnPoints, cited
from annotator.protocols.merging import merged
from annotator.protocols.passages import LONGEST_SHOWN
from tests.protocols.arena.key_point_material import (
    COOLER,
    DEAD,
    EMPTY,
    FIRST,
    ITEM,
    SECOND,
    SOIL,
    TEXTS,
    WATER,
    anchor,
    material,
    page,
    point,
)
from tests.servers.scripted_ask import ScriptedAsk

pytestmark = pytest.mark.anyio
NOWHERE = "Street trees raise the rent."


def drawn(*points: tuple[str, list[str]]) -> dict[str, object]:
    return {"points": [{"spans": spans, "text": text} for text, spans in points]}


NONE = drawn()


async def test_each_readable_page_is_asked_about_once_with_the_question() -> None:
    ask = ScriptedAsk(drawn(("Trees cool.", [COOLER])), drawn(("They must be watered.", [WATER])))
    found = await keypoints.extract(material(), ask)
    assert [fields["page"] for _, fields, *_ in ask.asked] == [TEXTS[FIRST], TEXTS[SECOND]]
    assert {fields["question"] for _, fields, *_ in ask.asked} == {ITEM.question}
    assert all(set(fenced) == {"question", "page"} for _, _, fenced, _ in ask.asked)
    document = found.document
    assert isinstance(document, KeyPoints)
    assert [(one.text, one.addresses) for one in document.units] == [
        ("Trees cool.", (FIRST,)),
        ("They must be watered.", (SECOND,)),
    ]
    assert {one.address: one.state for one in document.pages} == {
        FIRST: PageState.OK, SECOND: PageState.OK, DEAD: PageState.DEAD, EMPTY: PageState.NOT_TEXT,
    }  # fmt: skip
    assert (document.read, found.flags) == (2, ())


async def test_an_address_is_one_page_however_it_is_spelled() -> None:
    assert cited(material()) == [FIRST, SECOND, DEAD, EMPTY]


async def test_a_span_is_the_pages_own_words_and_says_where_it_stands() -> None:
    found = await keypoints.extract(material(), ScriptedAsk(drawn(("Soil.", [SOIL.upper()])), NONE))
    (unit,) = found.document.units
    assert unit.anchor.quote == SOIL == TEXTS[FIRST][unit.anchor.start : unit.anchor.end]


async def test_a_span_that_is_not_in_the_page_is_dropped_and_named() -> None:
    ask = ScriptedAsk(drawn(("Trees cool.", [NOWHERE, COOLER])), NONE)
    found = await keypoints.extract(material(), ask)
    (unit,) = found.document.units
    assert [one.quote for one in unit.anchors] == [COOLER]
    assert NOWHERE in unit.note
    assert found.flags == (SPAN_MISSING,)


async def test_a_span_of_another_page_is_not_in_this_one() -> None:
    found = await keypoints.extract(material(), ScriptedAsk(drawn(("Water.", [WATER])), NONE))
    assert found.document.units == ()


async def test_a_point_without_any_span_left_is_none_and_counted() -> None:
    ask = ScriptedAsk(drawn(("Rents rise.", [NOWHERE]), ("Bare.", []), ("Trees cool.", [COOLER])), NONE)
    found = await keypoints.extract(material(), ask)
    assert [one.text for one in found.document.units] == ["Trees cool."]
    assert {one.address: one.lost for one in found.document.pages if one.lost} == {
        FIRST: ("Rents rise.", "Bare.")
    }
    assert found.flags == (POINT_LOST, SPAN_MISSING)


async def test_nothing_is_drawn_while_a_page_was_never_fetched() -> None:
    ask = ScriptedAsk()
    for waits in (
        await keypoints.extract(material(without=(DEAD,)), ask),
        keypoints.baseline(material(without=(DEAD,))),
    ):
        assert (waits.document, waits.status) == (None, Status.SKIPPED)
        assert "1 of 4" in waits.cause
    assert ask.asked == []


async def test_a_page_that_a_release_left_without_its_text_was_not_read() -> None:
    given = material()
    given.pages[FIRST] = page(FIRST, "")  # type: ignore[index]
    assert (await keypoints.extract(given, ScriptedAsk())).status is Status.SKIPPED


async def test_when_one_page_fails_nothing_is_kept_and_the_page_is_named() -> None:
    ask = ScriptedAsk(drawn(("Trees cool.", [COOLER])), Answer(Status.TIMEOUT, cause="It took too long."))
    found = await keypoints.extract(material(), ask)
    assert (found.document, found.status) == (None, Status.TIMEOUT)
    assert SECOND in found.cause


async def test_a_report_without_an_address_has_no_page_and_no_point() -> None:
    found = await keypoints.extract(material("Trees cool streets."), ScriptedAsk())
    assert found.document == KeyPoints()


async def test_a_page_that_is_too_long_is_cut_and_that_is_told() -> None:
    given = material(f"See {FIRST}")
    given.pages[FIRST] = page(FIRST, f"{COOLER}\n\n" + "Nothing of the kind. " * LONGEST_SHOWN)  # type: ignore[index]
    ask = ScriptedAsk(drawn(("Trees cool.", [COOLER])))
    found = await keypoints.extract(given, ask)
    assert found.flags == (PAGE_CUT,)
    assert len(ask.asked[0][1]["page"]) < 2 * LONGEST_SHOWN


async def test_ids_are_the_same_whenever_a_report_is_drawn_from_again() -> None:
    replies = (drawn(("Trees cool.", [COOLER]), ("Soil.", [SOIL])), NONE)
    one, two = [(await keypoints.extract(material(), ScriptedAsk(*replies))).document for _ in range(2)]
    assert [unit.id for unit in one.units] == [unit.id for unit in two.units]
    assert len({unit.id for unit in one.units}) == 2


def test_the_baseline_takes_sentences_that_share_two_terms_with_the_question() -> None:
    # Street, tree and temperature stand in the first; street and tree in the last; the sentence on soil has none.
    found = keypoints.baseline(material()).document
    assert [unit.text for unit in found.units] == [COOLER, WATER]
    assert found.units[0].addresses == (FIRST, SECOND)


def test_plain_text_is_read_point_by_point() -> None:
    said = DrawnPoints.from_text(
        "POINT: Trees cool.\nSPAN: one\nSPAN: two\n\nPOINT: Soil: deep.\nSPAN: three\n"
    )
    assert [(one.text, one.spans) for one in said.points] == [
        ("Trees cool.", ["one", "two"]),
        ("Soil: deep.", ["three"]),
    ]
    assert DrawnPoints.from_text("none").points == []


@pytest.mark.parametrize("text", ["SPAN: one", "Trees cool.", "POINT:"])
def test_other_plain_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"neither POINT|pattern"):
        DrawnPoints.from_text(text)


# What says the same

PAGE = "0123456789" * 10


def at(start: int, end: int, address: str = FIRST):  # type: ignore[no-untyped-def]
    return anchor(PAGE, PAGE[start:end], address).model_copy(update={"start": start, "end": end})


def are_one(*points: KeyPoint) -> bool:
    return len(merged(points)) == 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Trees cool streets.", "trees: cool streets", True),
        ("Trees cool streets.", "Trees cool roofs.", False),
        # Thirteen terms and one more: 13/14 = .93.
        (
            "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike",
            "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november",
            True,
        ),
        # Five of seven terms: .71.
        ("alpha bravo charlie delta echo foxtrot", "alpha bravo charlie delta echo golf", False),
        # 19 of 21 terms: .90, but another number.
        (
            "a1 b1 c1 d1 e1 f1 g1 h1 i1 j1 k1 l1 m1 n1 o1 p1 q1 r1 s1 at 71 %",
            "a1 b1 c1 d1 e1 f1 g1 h1 i1 j1 k1 l1 m1 n1 o1 p1 q1 r1 s1 at 72 %",
            False,
        ),
    ],
)
def test_words_decide_whether_two_points_are_one(one: str, other: str, same: bool) -> None:
    first, second = point("a", one, at(0, 10)), point("b", other, at(50, 60, SECOND))
    assert are_one(first, second) is same


@pytest.mark.parametrize(
    ("address", "start", "end", "same"),
    [
        (FIRST, 10, 30, True),
        (FIRST, 11, 31, False),
        (FIRST, 0, 10, True),
        (FIRST, 0, 9, False),
        (SECOND, 0, 20, False),
    ],
)
def test_half_of_the_longer_span_on_one_page_makes_two_points_one(
    address: str, start: int, end: int, same: bool
) -> None:
    assert (
        are_one(point("a", "One thing.", at(0, 20)), point("b", "Quite another.", at(start, end, address)))
        is same
    )


def test_what_was_merged_is_kept_and_can_be_parted() -> None:
    points = [
        point("a", "Trees cool.", at(0, 20)),
        point("b", "Soil.", at(60, 80)),
        point("c", "TREES COOL", at(0, 20, SECOND)),
        # Alike to the third alone, which is merged into the first.
        point("d", "Something else", at(1, 20, SECOND)),
    ]
    kept = merged(points)
    assert [(one.id, [other.id for other in one.merged]) for one in kept] == [("a", ["c", "d"]), ("b", [])]
    assert kept[0].addresses == (FIRST, SECOND)
    assert list(kept[0].parted()) == [points[0], points[2], points[3]]
