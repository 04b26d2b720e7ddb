"""Arena's key points: alignment and likeness."""

import random
import string
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from annotator.domain.common import now
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Material, RatedResponse
from annotator.domain.kinds.artifact import Anchor, Unit
from annotator.domain.material.extract import KeyPoint, KeyPoints, ReadPage, ResponsePart
from annotator.domain.material.item import Item, Page, PageState, Response
from annotator.protocols.arena import keypoints
from annotator.protocols.arena.alignment import (
    COMMON_POOL,
    KCR,
    KEYPOINTS,
    KOR,
    KSR,
    Relation,
    baseline,
    judge,
    judge_together,
    rate,
)
from annotator.protocols.arena.keypoints import PAGE_CUT, POINT_LOST, SPAN_MISSING, DrawnPoints, cited
from annotator.protocols.arena.leakage import (
    Likeness,
    Vocabulary,
    likeness,
    longest_common_subsequence,
    longest_run,
    overlap,
    string_similarity,
    words,
)
from annotator.protocols.merging import merged
from annotator.protocols.reports import LONGEST_SHOWN
from tests.common import ScriptedAsk

FIRST, SECOND = "https://a.org/one", "https://b.org/two"
DEAD, EMPTY = "https://c.org/dead", "https://d.org/empty"
ITEM = Item(id="i", key="q1", question="How do street trees change the temperature of a city?")
COOLER = "Street trees lower the air temperature by 2.5 degrees on summer afternoons."
SOIL = "Roots need open soil of eight square metres."
WATER = "Watering in the first three summers decides whether a street tree survives."
TEXTS = {FIRST: f"Menu\n\n{COOLER} {SOIL}\n\nContact", SECOND: f"# Trees\n\n{WATER}\n\n{COOLER}"}
REPORT = (
    f"Trees cool streets [1](https://A.org/one#top), as [others]({SECOND}) say.\n\n"
    f"See {FIRST}.\n\n## References\n[2] {DEAD}\n[3] {EMPTY}"
)


def page(address: str, text: str = "", state: PageState = PageState.OK) -> Page:
    return Page(url=address, state=state, text=text, fetched_at=now())


def material(report: str = REPORT, without: tuple[str, ...] = ()) -> Material:
    """The report with the pages that it gives, but some that were never fetched."""
    pages = {address: page(address, text) for address, text in TEXTS.items()}
    pages |= {DEAD: page(DEAD, state=PageState.DEAD), EMPTY: page(EMPTY, " ")}
    response = Response(id="r", item_id="i", system_id="s", text=report)
    return Material(ITEM, response, pages={url: one for url, one in pages.items() if url not in without})


def anchor(text: str, words: str, address: str = FIRST) -> Anchor:
    start = text.index(words)
    return Anchor.at(text, start, start + len(words), address)


def point(name: str, text: str, *anchors: Anchor) -> KeyPoint:
    first, *more = anchors or (anchor(TEXTS[FIRST], COOLER),)
    return KeyPoint(id=name, text=text, anchor=first, more_anchors=tuple(more))


def pool(count: int, read: int = 7, pages: int = 12, part: ResponsePart = ResponsePart.KEYPOINTS) -> Material:
    """A report measured by so many key points p0, p1 … of some pages, the others of which are dead."""
    units = tuple(point(f"p{n}", f"Point {n}") for n in range(count))
    result = tuple(
        ReadPage(address=f"https://x.org/{n}", state=PageState.OK if n < read else PageState.DEAD)
        for n in range(pages)
    )
    document = KeyPoints(units=units, pages=result)
    return replace(material(), parts={part: document}, part_ids={part: "e1"})


pytestmark = pytest.mark.anyio


NOWHERE = "Street trees raise the rent."


def drawn(*points: tuple[str, list[str]]) -> dict[str, object]:
    return {"points": [{"spans": spans, "text": text} for text, spans in points]}


NONE = drawn()


async def test_each_readable_page_is_asked_about_once_with_the_question() -> None:
    ask = ScriptedAsk(drawn(("Trees cool.", [COOLER])), drawn(("They must be watered.", [WATER])))
    result = await keypoints.extract(material(), ask)
    assert [fields["page"] for _, fields, *_ in ask.asked] == [TEXTS[FIRST], TEXTS[SECOND]]
    assert {fields["question"] for _, fields, *_ in ask.asked} == {ITEM.question}
    assert all(set(fenced) == {"question", "page"} for _, _, fenced, _ in ask.asked)
    document = result.document
    assert isinstance(document, KeyPoints)
    assert [(unit.text, unit.addresses) for unit in document.units] == [
        ("Trees cool.", (FIRST,)),
        ("They must be watered.", (SECOND,)),
    ]
    assert {one.address: one.state for one in document.pages} == {
        FIRST: PageState.OK, SECOND: PageState.OK, DEAD: PageState.DEAD, EMPTY: PageState.NOT_TEXT,
    }  # fmt: skip
    assert (document.read, result.flags) == (2, ())


async def test_an_address_is_one_page_however_it_is_spelled() -> None:
    assert cited(material()) == [FIRST, SECOND, DEAD, EMPTY]


async def test_a_span_is_the_pages_own_words_and_says_where_it_stands() -> None:
    result = await keypoints.extract(material(), ScriptedAsk(drawn(("Soil.", [SOIL.upper()])), NONE))
    (unit,) = result.document.units
    assert unit.anchor.quote == SOIL == TEXTS[FIRST][unit.anchor.start : unit.anchor.end]


async def test_a_span_that_is_not_in_the_page_is_dropped_and_a_point_without_any_left_counted() -> None:
    points = (
        ("Trees cool.", [NOWHERE, COOLER]),
        ("Rents rise.", [NOWHERE]),
        ("Bare.", []),
        # Those words stand in another page.
        ("Water.", [WATER]),
    )
    result = await keypoints.extract(material(), ScriptedAsk(drawn(*points), NONE))
    (unit,) = result.document.units
    assert (unit.text, [one.quote for one in unit.anchors], NOWHERE in unit.note) == (
        "Trees cool.",
        [COOLER],
        True,
    )
    assert {one.address: one.lost for one in result.document.pages if one.lost} == {
        FIRST: ("Rents rise.", "Bare.", "Water.")
    }
    assert result.flags == (POINT_LOST, SPAN_MISSING)


async def test_a_missing_span_of_a_point_that_stays_is_flagged_alone() -> None:
    result = await keypoints.extract(material(), ScriptedAsk(drawn(("Trees cool.", [NOWHERE, COOLER])), NONE))
    assert result.flags == (SPAN_MISSING,)


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
    result = await keypoints.extract(material(), ask)
    assert (result.document, result.status) == (None, Status.TIMEOUT)
    assert SECOND in result.cause


async def test_a_report_without_an_address_has_no_page_and_no_point() -> None:
    assert (await keypoints.extract(material("Trees cool streets."), ScriptedAsk())).document == KeyPoints()


async def test_a_page_that_is_too_long_is_cut_and_that_is_told() -> None:
    given = material(f"See {FIRST}")
    given.pages[FIRST] = page(FIRST, f"{COOLER}\n\n" + "Nothing of the kind. " * LONGEST_SHOWN)  # type: ignore[index]
    ask = ScriptedAsk(drawn(("Trees cool.", [COOLER])))
    assert (await keypoints.extract(given, ask)).flags == (PAGE_CUT,)
    assert len(ask.asked[0][1]["page"]) < 2 * LONGEST_SHOWN


async def test_ids_are_the_same_whenever_a_report_is_drawn_from_again() -> None:
    replies = (drawn(("Trees cool.", [COOLER]), ("Soil.", [SOIL])), NONE)
    one, two = [(await keypoints.extract(material(), ScriptedAsk(*replies))).document for _ in range(2)]
    assert [unit.id for unit in one.units] == [unit.id for unit in two.units]
    assert len({unit.id for unit in one.units}) == 2


def test_the_baseline_takes_sentences_that_share_two_terms_with_the_question() -> None:
    # Street, tree and temperature stand in the first; street and tree in the last; the sentence on soil has none.
    result = keypoints.baseline(material()).document
    assert [unit.text for unit in result.units] == [COOLER, WATER]
    assert result.units[0].addresses == (FIRST, SECOND)


def test_plain_text_is_read_point_by_point() -> None:
    assert DrawnPoints.from_text(
        "POINT: Trees cool.\nSPAN: one\nSPAN: two\n\nPOINT: Soil: deep.\nSPAN: three\n"
    ).model_dump() == drawn(("Trees cool.", ["one", "two"]), ("Soil: deep.", ["three"]))
    assert DrawnPoints.from_text("none").points == []
    for text in ("SPAN: one", "Trees cool.", "POINT:"):
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


METRICS = {metric.name: metric for metric in (*KEYPOINTS.metrics, *COMMON_POOL.metrics)}
S, C, O = "supports", "contradicts", "omits"  # noqa: E741


def said(s: int, c: int, o: int) -> list[str]:
    return [*[S] * s, *[C] * c, *[O] * o]


def rated(s: int, c: int, o: int, missing: int = 0, **pages: int) -> RatedResponse:
    """A report on whose pool of so many points so much was said."""
    values = {f"p{n}": one for n, one in enumerate(said(s, c, o))}
    return RatedResponse(pool(s + c + o + missing, **pages), values)


@pytest.mark.parametrize(
    ("counts", "printed"),
    [
        ((17, 1, 2), (85.0, 5.0, 10.0)),
        ((10, 3, 5), (55.6, 16.7, 27.8)),
        ((13, 1, 3), (76.5, 5.9, 17.6)),
        ((20, 2, 11), (60.6, 6.1, 33.3)),
        ((25, 6, 2), (75.8, 18.2, 6.1)),
        ((19, 3, 3), (76.0, 12.0, 12.0)),
        ((20, 4, 1), (80.0, 16.0, 4.0)),
        ((29, 8, 21), (50.0, 13.8, 36.2)),
    ],
)
def test_the_papers_rows_are_counts_of_one_pool(
    counts: tuple[int, int, int], printed: tuple[float, float, float]
) -> None:
    """The Chinese columns of Table 3 as supported, contradicted and omitted points, worked out by hand."""
    result = [METRICS[name].score(rated(*counts, read=7, pages=12), False) for name in ("ksr", "kcr", "kor")]
    assert [round(100 * one.value, 1) for one in result] == list(printed)
    assert sum(one.value for one in result) == pytest.approx(1)
    # The size of the pool and the pages read stand with every figure.
    basis = f"{sum(counts)} points, 7 of 12 pages read"
    assert [(one.basis.words(), basis in one.note) for one in result] == [(basis, True)] * 3


def test_omissions_and_contradictions_are_better_when_fewer() -> None:
    assert [METRICS[name].higher_is_better for name in ("ksr", "kcr", "kor")] == [True, False, False]


def test_a_missing_relation_leaves_a_range_and_is_no_omission() -> None:
    # 2 of 5 supported, 2 omitted, one missing: from 2/5 to 3/5.
    result, open_ = rate(KSR, [S, S, O, O, None]), rate(KOR, [S, None])
    assert (result.value, result.n, result.missing, result.floor, result.ceiling) == (None, 4, 1, 0.4, 0.6)
    assert (open_.floor, open_.ceiling) == (0.0, 0.5)
    assert rate(KSR, [S, S, O, O, None], over_valid=True).value == 0.5
    assert rate(KCR, [None, None], over_valid=True).value is None


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (material(), "not been drawn"),
        (pool(0, read=0, pages=0), "gives no address"),
        (pool(0, read=0, pages=3), "none of its 3 pages"),
        (pool(0, read=7, pages=12), "7 of 12"),
    ],
)
def test_without_a_key_point_no_rate_is_0_or_1(given: Material, why: str) -> None:
    for name in ("ksr", "kcr", "kor"):
        result = METRICS[name].score(RatedResponse(given, {}), True)
        assert result.value is None
        assert why in result.note


def test_pooled_points_count_alike_whatever_report_they_are_of() -> None:
    # 1 of 1 and 3 of 9: the mean over reports is 2/3, pooled it is 4 of 10.
    reports = [rated(1, 0, 0, read=1, pages=1), rated(3, 0, 6, read=2, pages=4)]
    result = METRICS["ksr.pooled"].pooled(reports, False)
    assert (result.value, result.basis.words()) == (0.4, "10 points, 3 of 5 pages read")


def test_every_draw_is_the_pooled_rate_of_the_reports_it_took() -> None:
    metric = METRICS["ksr.pooled"]
    reports = [rated(1, 0, 0), rated(3, 0, 6), rated(0, 0, 0), rated(2, 1, 1, missing=2)]
    times = np.array([[1, 1, 1, 1], [2, 0, 0, 1], [0, 3, 1, 0], [0, 0, 4, 0]], dtype=np.float64)
    drawn = metric.resampled(reports, True, times)
    # 6 of 14, 4 of 6, 9 of 27, and nothing to count.
    assert drawn[:3] == pytest.approx([6 / 14, 4 / 6, 9 / 27])
    assert np.isnan(drawn[3])


def test_a_point_without_words_of_a_page_is_not_counted() -> None:
    given = pool(4)
    document = given.parts[ResponsePart.KEYPOINTS]
    bare = KeyPoint(id="p9", text="Written from memory.")
    given = replace(given, parts={ResponsePart.KEYPOINTS: document.with_units((*document.units, bare))})
    values = dict.fromkeys(("p0", "p1", "p2", "p3", "p9"), S)
    assert METRICS["ksr"].score(RatedResponse(given, values), False).n == 4
    assert len(list(KEYPOINTS.cases(given))) == 4


def test_the_common_pool_has_figures_of_its_own() -> None:
    given = pool(4, read=0, pages=0, part=ResponsePart.POOL)
    result = METRICS["ksr.common"].score(RatedResponse(given, {"p0": S, "p1": S, "p2": O, "p3": C}), False)
    assert (result.value, result.basis.words()) == (0.5, "4 points")
    assert METRICS["kcr.common"].score(RatedResponse(given, {"p0": S}), False).ceiling == 0.75
    assert "no common pool" in METRICS["ksr.common"].score(RatedResponse(material(), {}), False).note


# How it is asked


def point_case(text: str = "Trees cool streets.", report: str = REPORT):  # type: ignore[no-untyped-def]
    unit = point("p0", text).model_copy(update={"note": "dropped: rents", "vital": True})
    given = replace(
        material(report),
        parts={ResponsePart.KEYPOINTS: KeyPoints(units=(unit,))},
        part_ids={ResponsePart.KEYPOINTS: "e1"},
    )
    (case,) = KEYPOINTS.cases(given)
    return case


def test_a_case_holds_a_points_words_and_nothing_else_of_it() -> None:
    assert (point_case().unit, point_case().artifact_id) == (Unit(id="p0", text="Trees cool streets."), "e1")


def reply(relation: str, quote: str = "", confidence: float | None = 0.8) -> dict[str, object]:
    aspects = ["cooling"]
    return {
        "quote": quote, "rationale": "So.", "aspects": aspects, "relation": relation, "confidence": confidence,
    }  # fmt: skip


@pytest.mark.anyio
async def test_how_sure_the_judge_is_is_kept_and_enters_no_figure() -> None:
    ask = ScriptedAsk(reply(S, "Trees cool streets"))
    case = point_case()
    result = (await judge(case, ask))["p0"]
    assert (result.value, result.note, result.flags) == (S, "confidence 0.80; cooling", "")
    assert REPORT[result.quote_start : result.quote_end] == "Trees cool streets"
    ((_, fields, fenced, _),) = ask.asked
    assert fields == {"question": case.item.question, "point": case.unit.text, "report": REPORT}
    assert set(fenced) == set(fields)


@pytest.mark.anyio
async def test_a_contradiction_must_quote_the_report_and_an_omission_need_not() -> None:
    assert (await judge(point_case(), ScriptedAsk(reply(C, "Trees heat"))))["p0"].flags == "quote_missing"
    assert (await judge(point_case(), ScriptedAsk(reply(O))))["p0"].flags == ""


@pytest.mark.anyio
async def test_several_are_told_apart_by_their_names() -> None:
    units = tuple(Unit(id=f"p{n}", text=f"Point {n}") for n in range(3))
    case = replace(point_case(), units=units)
    said = [reply(S) | {"id": "k3"}, reply(O) | {"id": "k1"}]
    result = await judge_together(case, ScriptedAsk({"answers": said}))
    assert {name: (one.value, one.status) for name, one in result.items()} == {
        "p0": (O, Status.OK), "p1": (None, Status.INVALID), "p2": (S, Status.OK),
    }  # fmt: skip


@pytest.mark.anyio
async def test_an_empty_report_omits_everything_unasked() -> None:
    ask = ScriptedAsk()
    assert ((await judge(point_case(report=" "), ask))["p0"].value, ask.asked) == (O, [])


@pytest.mark.parametrize("confidence", [-0.1, 1.01])
def test_a_confidence_beyond_its_bounds_is_no_reply(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        Relation.model_validate(reply(S, confidence=confidence))


@pytest.mark.parametrize(
    ("text", "value", "status"),
    [
        # Tree, cool and street stand in the report; winter, heat and snow do not.
        ("Trees cool winters.", S, Status.OK),
        ("Trees heat winters in snow.", O, Status.OK),
        ("It is.", None, Status.UNCLEAR),
    ],
)
def test_the_baseline_supports_at_half_of_the_terms_and_never_contradicts(
    text: str, value: str | None, status: Status
) -> None:
    result = baseline(point_case(text))["p0"]
    assert (result.value, result.status) == (value, status)


SUFFIX = (
    "methods. Conduct controlled experiments measuring comprehension and decision-making quality, delivering "
    "statistical analysis results and recommendations."
)


def slow(a: str, b: str) -> int:
    """The longest common subsequence by the textbook's table."""
    above = [0] * (len(b) + 1)
    for one in a:
        row = [0]
        for place, other in enumerate(b):
            row.append(above[place] + 1 if one == other else max(above[place + 1], row[-1]))
        above = row
    return above[-1]


def test_the_textbooks_example() -> None:
    # 2 · 4 / (7 + 6).
    a, b = "ABCBDAB", "BDCABA"
    assert (longest_common_subsequence(a, b), round(string_similarity(a, b), 4)) == (4, 0.6154)


def test_the_papers_sample_has_its_words_overlap_and_composite() -> None:
    # Of 14 words, where a hyphen joins, two are 2 / 14 = .143, as printed.
    assert (len(set(words(SUFFIX))), round(overlap("Methods and more", SUFFIX), 3)) == (14, 0.143)
    # .4 · .153 + .4 · .094 + .2 · .143 = .0612 + .0376 + .0286.
    assert Likeness(0.153, 0.094, 0.143).composite == pytest.approx(0.1274)


def test_leaked_is_strictly_above_the_threshold() -> None:
    assert (Likeness(0.7, 0.7, 0.7).leaked, Likeness(0.7, 0.7, 0.7001).leaked) == (False, True)


def test_bits_and_table_agree_on_300_pairs() -> None:
    chance = random.Random(3)
    for letters in ("ab", string.ascii_lowercase, "比较方法 ab，。"):
        for _ in range(100):
            a, b = ("".join(chance.choices(letters, k=chance.randint(0, 60))) for _ in range(2))
            assert longest_common_subsequence(a, b) == slow(a, b)


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_text_is_all_of_itself_and_order_is_no_matter(a: str, b: str) -> None:
    assert longest_common_subsequence(a, a) == len(a)
    assert string_similarity(a, b) == string_similarity(b, a)


# Table 4: composite, string, TF-IDF, overlap in percent.
PUBLISHED = {
    "gpt-4o-search-preview": (9.8, 10.4, 7.1, 14.1, 9.82),
    "gpt-4o-mini-search-preview": (9.4, 7.7, 7.2, 17.2, 9.40),
    "gpt-4.1": (14.8, 22.4, 8.3, 12.4, 14.76),
    "gpt-4.1-mini": (13.6, 17.9, 8.9, 14.4, 13.60),
    "o4-mini": (10.5, 5.7, 9.4, 21.9, 10.42),
    "gemini-2.5-pro": (13.8, 20.8, 7.5, 12.4, 13.80),
    "gemini-2.5-flash": (13.7, 22.2, 6.9, 10.1, 13.66),
    "grok-4": (14.8, 22.2, 8.4, 12.7, 14.78),
}


@pytest.mark.parametrize("system", PUBLISHED)
def test_the_published_composites_follow_from_their_parts(system: str) -> None:
    printed, letters, tfidf, common, exact = PUBLISHED[system]
    result = 100 * Likeness(letters / 100, tfidf / 100, common / 100).composite
    assert result == pytest.approx(exact)
    # One row fits only by digits that are not printed.
    assert (round(result, 1) == printed) is (system != "o4-mini")
    assert abs(result - printed) <= 0.1


def test_the_published_mean_row_follows_but_for_a_rounding() -> None:
    columns = list(zip(*PUBLISHED.values(), strict=True))
    assert [sum(column) / len(column) for column in columns[:4]] == pytest.approx(
        [12.55, 16.1625, 7.9625, 14.4], abs=1e-9
    )


def test_cosines_are_those_of_another_package() -> None:
    chance = random.Random(5)
    names = [f"word{n}" for n in range(30)]
    suffixes = [" ".join(chance.choices(names, k=12)) for _ in range(15)]
    vocabulary = Vocabulary.of(suffixes)
    peer = TfidfVectorizer(tokenizer=words, token_pattern=None, lowercase=False).fit(suffixes)
    for suffix in suffixes:
        text = " ".join(chance.choices([*names, "unknown"], k=20))
        wanted = cosine_similarity(peer.transform([text]), peer.transform([suffix]))[0, 0]
        assert vocabulary.cosine(text, suffix) == pytest.approx(wanted)


def test_nothing_in_common_is_0_and_the_same_is_1() -> None:
    vocabulary = Vocabulary.of([SUFFIX])
    assert likeness("", SUFFIX, vocabulary) == Likeness(0.0, 0.0, 0.0)
    assert likeness(SUFFIX, SUFFIX, vocabulary).composite == pytest.approx(1.0)


def test_chinese_words_are_parted_and_latin_ones_stay_whole() -> None:
    assert words("用GPU比较，方法") == ("用", "gpu", "比", "较", "方", "法")
    assert overlap("比较", "比较方法") == 0.5


@pytest.mark.parametrize(
    ("a", "b", "run"),
    [
        ("one two three four", "zero one two four three", 2),
        ("a b a b c", "b a b c", 4),
        ("One, two; three.", "one two three", 3),
        ("比较三种", "三种比较", 2),
        ("", "one", 0),
    ],
)
def test_the_longest_run_of_common_words(a: str, b: str, run: int) -> None:
    assert longest_run(a, b) == longest_run(b, a) == run
