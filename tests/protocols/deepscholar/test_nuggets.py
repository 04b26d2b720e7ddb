"""Nugget coverage: the paper's four readings of the same labels, what is missing, and how a nugget is asked."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Material, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.protocols.deepscholar import nuggets
from annotator.protocols.deepscholar.nuggets import (
    FULL,
    NONE,
    PARTIAL,
    NuggetSupport,
    SupportTogether,
    judge,
    judge_together,
)
from tests.material.related_work import SHARED
from tests.protocols.deepscholar.related_work_material import EXEMPLARS, with_nuggets

# Vital: full, full, partly, not. Okay: full, partly.
HAND = [(True, FULL), (True, FULL), (True, PARTIAL), (True, NONE), (False, FULL), (False, PARTIAL)]


@pytest.mark.parametrize(
    ("reading", "value"),
    [
        (nuggets.STRICT_VITAL, 2 / 4),
        (nuggets.STRICT_ALL, 3 / 6),
        (nuggets.VITAL, 2.5 / 4),
        (nuggets.ALL, 4 / 6),
    ],
)
def test_the_hand_case_in_four_readings(reading: nuggets.NuggetReading, value: float) -> None:
    assert nuggets.coverage(reading, HAND).value == pytest.approx(value)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public DeepScholar-Bench data is not there")
@pytest.mark.parametrize("file", sorted((SHARED / "nuggets").glob("*.json")), ids=lambda path: path.stem)
def test_published_scores_follow_from_published_labels(file: Path) -> None:
    told = json.loads(file.read_text("utf-8"))
    labels = [(one["importance"] == "vital", one["assignment"]) for one in told["nuggets"]]
    published = told["nuggets_metrics"]
    for reading, name in (
        (nuggets.STRICT_ALL, "strict_all_score"),
        (nuggets.ALL, "all_score"),
        (nuggets.STRICT_VITAL, "strict_vital_score"),
        (nuggets.VITAL, "vital_score"),
    ):
        # Without a vital nugget the public code says 0, and we that there is none.
        assert nuggets.coverage(reading, labels).value == pytest.approx(published[name]) or not any(
            vital for vital, _ in labels
        )


def test_without_such_nuggets_there_is_no_score() -> None:
    assert nuggets.coverage(nuggets.STRICT_ALL, []).note == "the item has no nuggets"
    none_vital = nuggets.coverage(nuggets.VITAL, [(False, FULL)])
    assert (none_vital.value, none_vital.note) == (None, "the item has no vital nuggets")


def test_a_missing_label_is_not_a_no() -> None:
    found = nuggets.coverage(nuggets.STRICT_ALL, [(True, FULL), (True, None), (False, NONE)])
    assert (found.value, found.missing, found.floor, found.ceiling) == (
        None,
        1,
        pytest.approx(1 / 3),
        pytest.approx(2 / 3),
    )
    assert nuggets.coverage(nuggets.STRICT_ALL, [(True, FULL), (True, None)], over_valid=True).value == 1


LABELS = st.lists(st.tuples(st.booleans(), st.sampled_from([FULL, PARTIAL, NONE, None])), max_size=8)


@given(LABELS, st.sampled_from(nuggets.READINGS))
def test_whatever_comes_of_what_is_missing_stays_within_the_bounds(labels, reading) -> None:  # type: ignore[no-untyped-def]
    found = nuggets.coverage(reading, labels)
    for filled in (FULL, PARTIAL, NONE):
        whole = nuggets.coverage(reading, [(vital, value or filled) for vital, value in labels])
        if whole.value is not None:
            assert found.floor is not None
            assert found.ceiling is not None
            assert found.floor - 1e-12 <= whole.value <= found.ceiling + 1e-12


def test_an_unknown_label_is_refused() -> None:
    with pytest.raises(ValueError, match="supported, partly or not"):
        nuggets.coverage(nuggets.ALL, [(True, "maybe")])


def test_only_gold_nuggets_are_asked_without_their_importance() -> None:
    kept = list(nuggets.cases(with_nuggets(("a", "vital"), ("b", "okay"))))
    assert [(case.unit.id, case.unit.text, case.artifact_id) for case in kept] == [
        ("a", "a fact", "a"),
        ("b", "b fact", "a"),
    ]
    assert not hasattr(kept[0].unit, "importance")
    assert list(nuggets.cases(with_nuggets(("a", "vital"), support="partial_support"))) == []


def of_exemplar(material: Material) -> Material:
    return replace(material, response=EXEMPLARS)


def test_what_the_exemplar_holds_by_construction_is_not_asked() -> None:
    drawn = of_exemplar(with_nuggets(("a", "vital"), ("b", "okay"), support=FULL))
    assert list(nuggets.cases(drawn)) == []
    assert {one.score(RatedResponse(drawn, {}), False).value for one in nuggets.NUGGETS.metrics} == {1.0}
    # Of what people wrote nobody has said that the exemplar holds it.
    written = of_exemplar(with_nuggets(("a", "vital")))
    assert [case.unit.id for case in nuggets.cases(written)] == ["a"]
    assert nuggets.NUGGETS.metrics[0].score(RatedResponse(written, {}), False).value is None


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public DeepScholar-Bench data is not there")
def test_the_public_nuggets_cost_the_exemplars_no_call() -> None:
    kept = 0
    for file in (SHARED / "nuggets").glob("*.json"):
        told = enumerate(json.loads(file.read_text("utf-8"))["nuggets"])
        units = [
            Nugget(id=str(place), text=one["text"], importance=one["importance"], support=one["assignment"])
            for place, one in told
        ]
        gold = replace(with_nuggets(), documents={Kind.NUGGETS: Nuggets(units=tuple(units))})
        kept += len(list(nuggets.cases(gold)))
        assert list(nuggets.cases(of_exemplar(gold))) == []
        assert nuggets.NUGGETS.metrics[0].score(RatedResponse(of_exemplar(gold), {}), False).value == 1.0
    assert kept == 220


def test_a_metric_reads_importance_from_the_gold() -> None:
    scored = RatedResponse(with_nuggets(("a", "vital"), ("b", "okay")), {"a": FULL, "b": NONE})
    found = {metric.name: metric.score(scored, False).value for metric in nuggets.NUGGETS.metrics}
    assert found == {
        "nugget_coverage": 0.5,
        "nugget_coverage.partial": 0.5,
        "nugget_coverage.vital": 1.0,
        "nugget_coverage.vital_partial": 1.0,
    }


@pytest.mark.anyio
async def test_an_empty_report_supports_nothing_without_a_call() -> None:
    async def never(*_args, **_more):  # type: ignore[no-untyped-def]
        raise AssertionError("nobody need be asked")

    (case,) = nuggets.cases(with_nuggets(("a", "vital"), text="  "))
    for ask in (judge, judge_together):
        assert (await ask(case, never))["a"].value == NONE
    assert nuggets.baseline(case)["a"].value == NONE


@pytest.mark.anyio
async def test_several_are_known_by_their_ids_alone() -> None:
    first, second = nuggets.cases(with_nuggets(("a", "vital"), ("b", "okay")))
    case = nuggets.Case(
        first.protocol, first.item, first.response, first.artifact_id, (*first.units, *second.units)
    )

    async def answer(prompt, fields, reply, fenced=()):  # type: ignore[no-untyped-def]
        assert "id: a\na fact" in fields["nuggets"]
        said = [
            {"id": "b", "quote": "", "rationale": "no", "support": NONE},
            {"id": "a", "quote": "Trees cool.", "rationale": "yes", "support": FULL},
        ]
        return Answer(Status.OK, SupportTogether.model_validate({"answers": said}))

    found = await judge_together(case, answer)
    assert {name: verdict.value for name, verdict in found.items()} == {"a": FULL, "b": NONE}
    assert found["a"].quote_start == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("supported\n“Trees cool.” It says so.", FULL),
        ("Partly supported.\nSome.", PARTIAL),
        ("not_supported\nNo.", NONE),
    ],
)
def test_a_reply_in_words_is_read(text: str, value: str) -> None:
    assert NuggetSupport.from_text(text).support == value


@pytest.mark.parametrize("text", ["It is supported", "supported\nnot supported", "", "yes"])
def test_a_reply_that_does_not_begin_with_its_label_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="line"):
        NuggetSupport.from_text(text)


def test_the_baseline_goes_by_words() -> None:
    (case,) = nuggets.cases(with_nuggets(("shade", "vital"), text="A shade fact about shade."))
    verdict = nuggets.baseline(case)["shade"]
    assert (verdict.value, verdict.quote) == (FULL, "A shade fact about shade.")
