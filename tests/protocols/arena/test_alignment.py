"""KSR, KCR and KOR: counts of one pool, what is missing, and how a key point is asked."""

from dataclasses import replace

import numpy as np
import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Material, RatedResponse
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.keypoints import KeyPoint, KeyPoints
from annotator.domain.material.part import ResponsePart
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
from tests.protocols.arena.key_point_material import REPORT, material, point, pool
from tests.servers.scripted_ask import ScriptedAsk

METRICS = {metric.name: metric for metric in (*KEYPOINTS.metrics, *COMMON_POOL.metrics)}
S, C, O = "supports", "contradicts", "omits"  # noqa: E741


def said(s: int, c: int, o: int) -> list[str]:
    return [*[S] * s, *[C] * c, *[O] * o]


def rated(s: int, c: int, o: int, missing: int = 0, **pages: int) -> RatedResponse:
    """A report on whose pool of so many points so much was said."""
    values = {f"p{n}": one for n, one in enumerate(said(s, c, o))}
    return RatedResponse(pool(s + c + o + missing, **pages), values)


# The Chinese columns of Table 3 as counts of one pool (supported, contradicted, omitted), worked out by hand.
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
    found = [METRICS[name].score(rated(*counts), False) for name in ("ksr", "kcr", "kor")]
    assert [round(100 * one.value, 1) for one in found] == list(printed)
    assert sum(one.value for one in found) == pytest.approx(1)


def test_omissions_and_contradictions_are_better_when_fewer() -> None:
    assert [METRICS[name].higher_is_better for name in ("ksr", "kcr", "kor")] == [True, False, False]


def test_the_size_of_the_pool_and_the_pages_read_stand_with_every_figure() -> None:
    for name in ("ksr", "kcr", "kor"):
        found = METRICS[name].score(rated(17, 1, 2, read=7, pages=12), False)
        assert found.basis.words() == "20 points, 7 of 12 pages read"
        assert found.basis.words() in found.note


def test_a_missing_relation_leaves_a_range_and_is_no_omission() -> None:
    # 2 of 5 supported, 2 omitted, one missing: from 2/5 to 3/5.
    found = rate(KSR, [S, S, O, O, None])
    assert (found.value, found.n, found.missing) == (None, 4, 1)
    assert (found.floor, found.ceiling) == (0.4, 0.6)
    assert rate(KSR, [S, S, O, O, None], over_valid=True).value == 0.5
    assert (rate(KOR, [S, None]).floor, rate(KOR, [S, None]).ceiling) == (0.0, 0.5)
    assert rate(KCR, [None, None], over_valid=True).value is None


def test_another_value_is_refused() -> None:
    with pytest.raises(ValueError, match="yes"):
        rate(KSR, [S, "yes"])


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
        found = METRICS[name].score(RatedResponse(given, {}), True)
        assert found.value is None
        assert why in found.note


def test_pooled_points_count_alike_whatever_report_they_are_of() -> None:
    # 1 of 1 and 3 of 9: the mean over reports is 2/3, pooled it is 4 of 10.
    reports = [rated(1, 0, 0, read=1, pages=1), rated(3, 0, 6, read=2, pages=4)]
    found = METRICS["ksr.pooled"].pooled(reports, False)
    assert found.value == 0.4
    assert found.basis.words() == "10 points, 3 of 5 pages read"


def test_every_draw_is_the_pooled_rate_of_the_reports_it_took() -> None:
    metric = METRICS["ksr.pooled"]
    reports = [rated(1, 0, 0), rated(3, 0, 6), rated(0, 0, 0), rated(2, 1, 1, missing=2)]
    times = np.array([[1, 1, 1, 1], [2, 0, 0, 1], [0, 3, 1, 0], [0, 0, 4, 0]], dtype=np.float64)
    drawn = metric.drawn(reports, True, times)
    # 6 of 14, 4 of 6, 9 of 27, and nothing to count.
    assert drawn[:3] == pytest.approx([6 / 14, 4 / 6, 9 / 27])
    assert np.isnan(drawn[3])


def test_a_point_without_words_of_a_page_is_not_counted() -> None:
    given = pool(4)
    document = given.parts[ResponsePart.KEYPOINTS]
    bare = KeyPoint(id="p9", text="Written from memory.")
    given = replace(given, parts={ResponsePart.KEYPOINTS: document.with_units((*document.units, bare))})
    assert (
        METRICS["ksr"].score(RatedResponse(given, dict.fromkeys(("p0", "p1", "p2", "p3", "p9"), S)), False).n
        == 4
    )
    assert len(list(KEYPOINTS.cases(given))) == 4


def test_the_common_pool_has_figures_of_its_own() -> None:
    given = pool(4, read=0, pages=0, part=ResponsePart.POOL)
    found = METRICS["ksr.common"].score(RatedResponse(given, {"p0": S, "p1": S, "p2": O, "p3": C}), False)
    assert (found.value, found.basis.words()) == (0.5, "4 points")
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
    case = point_case()
    assert (case.unit, case.artifact_id) == (Unit(id="p0", text="Trees cool streets."), "e1")


def reply(relation: str, quote: str = "", confidence: float | None = 0.8) -> dict[str, object]:
    aspects = ["cooling"]
    return {
        "quote": quote, "rationale": "So.", "aspects": aspects, "relation": relation, "confidence": confidence,
    }  # fmt: skip


@pytest.mark.anyio
async def test_how_sure_the_judge_is_is_kept_and_enters_no_figure() -> None:
    ask = ScriptedAsk(reply(S, "Trees cool streets"))
    case = point_case()
    found = (await judge(case, ask))["p0"]
    assert (found.value, found.note, found.flags) == (S, "confidence 0.80; cooling", "")
    assert REPORT[found.quote_start : found.quote_end] == "Trees cool streets"
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
    found = await judge_together(case, ScriptedAsk({"answers": said}))
    assert {name: (one.value, one.status) for name, one in found.items()} == {
        "p0": (O, Status.OK), "p1": (None, Status.INVALID), "p2": (S, Status.OK),
    }  # fmt: skip


@pytest.mark.anyio
async def test_an_empty_report_omits_everything_unasked() -> None:
    ask = ScriptedAsk()
    found = await judge(point_case(report=" "), ask)
    assert (found["p0"].value, ask.asked) == (O, [])


@pytest.mark.parametrize("confidence", [-0.1, 1.01])
def test_a_confidence_beyond_its_bounds_is_no_reply(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        Relation.model_validate(reply(S, confidence=confidence))


def test_plain_text_begins_with_the_relation_alone() -> None:
    said = Relation.from_text("Contradicts\nIt says “trees heat streets”, the opposite.")
    assert (said.relation, said.quote, said.confidence) == (C, "trees heat streets", None)
    with pytest.raises(ValueError, match="first line"):
        Relation.from_text("It supports the point.")


def test_the_baseline_supports_at_half_of_the_terms_and_never_contradicts() -> None:
    # Tree, cool and street stand in the report; winter, heat and snow do not.
    assert baseline(point_case("Trees cool winters."))["p0"].value == S
    assert baseline(point_case("Trees heat winters in snow."))["p0"].value == O
    found = baseline(point_case("It is."))["p0"]
    assert (found.value, found.status) == (None, Status.UNCLEAR)
