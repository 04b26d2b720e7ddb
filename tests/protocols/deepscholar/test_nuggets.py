"""DeepScholar's nuggets: figures, drafts and importance."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Case, Material, RatedResponse
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.protocols.deepscholar import importance, nuggets
from annotator.protocols.deepscholar.nuggets import (
    FULL,
    NONE,
    PARTIAL,
    DrawnNuggets,
    SupportOfOne,
    SupportTogether,
    WeighedNugget,
    WeighedNuggets,
    judge,
    judge_together,
)
from tests.material.related_work import SHARED
from tests.protocols.deepscholar.related_work_material import (
    EXEMPLARS,
    ITEM,
    report,
    with_nuggets,
    with_works,
)
from tests.servers.scripted_ask import ScriptedAsk

pytestmark = pytest.mark.anyio


# Vital: full, full, partly, not. Okay: full, partly.
HAND = [(True, FULL), (True, FULL), (True, PARTIAL), (True, NONE), (False, FULL), (False, PARTIAL)]


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


@pytest.mark.parametrize(
    ("reading", "labels", "value", "note"),
    [
        (nuggets.STRICT_VITAL, HAND, 2 / 4, ""),
        (nuggets.STRICT_ALL, HAND, 3 / 6, ""),
        (nuggets.VITAL, HAND, 2.5 / 4, ""),
        (nuggets.ALL, HAND, 4 / 6, ""),
        (nuggets.STRICT_ALL, [], None, "the item has no nuggets"),
        (nuggets.VITAL, [(False, FULL)], None, "the item has no vital nuggets"),
    ],
)
def test_the_hand_case_in_four_readings_and_without_such_nuggets_no_score(
    reading: nuggets.NuggetReading, labels: list[tuple[bool, str]], value: float | None, note: str
) -> None:
    result = nuggets.coverage(reading, labels)
    assert (result.value, result.note) == (value and pytest.approx(value), note)


def test_a_missing_label_is_not_a_no() -> None:
    result = nuggets.coverage(nuggets.STRICT_ALL, [(True, FULL), (True, None), (False, NONE)])
    assert (result.floor, result.ceiling) == pytest.approx((1 / 3, 2 / 3))
    assert (result.value, result.missing) == (None, 1)
    assert nuggets.coverage(nuggets.STRICT_ALL, [(True, FULL), (True, None)], over_valid=True).value == 1


LABELS = st.lists(st.tuples(st.booleans(), st.sampled_from([FULL, PARTIAL, NONE, None])), max_size=8)


@given(LABELS, st.sampled_from(nuggets.READINGS))
def test_whatever_comes_of_what_is_missing_stays_within_the_bounds(labels, reading) -> None:  # type: ignore[no-untyped-def]
    result = nuggets.coverage(reading, labels)
    for filled in (FULL, PARTIAL, NONE):
        whole = nuggets.coverage(reading, [(vital, value or filled) for vital, value in labels])
        if whole.value is not None:
            assert result.floor is not None
            assert result.ceiling is not None
            assert result.floor - 1e-12 <= whole.value <= result.ceiling + 1e-12


def test_only_gold_nuggets_are_asked_without_their_importance() -> None:
    kept = list(nuggets.cases(with_nuggets(("a", "vital"), ("b", "okay"))))
    assert [(case.unit, case.artifact_id) for case in kept] == [
        (Unit(id="a", text="a fact"), "a"),
        (Unit(id="b", text="b fact"), "a"),
    ]
    assert list(nuggets.cases(with_nuggets(("a", "vital"), support="partial_support"))) == []


def of_exemplar(material: Material) -> Material:
    return replace(material, response=EXEMPLARS)


def test_what_the_exemplar_holds_by_construction_is_not_asked() -> None:
    drawn = of_exemplar(with_nuggets(("a", "vital"), ("b", "okay"), support=FULL))
    assert list(nuggets.cases(drawn)) == []
    assert {metric.score(RatedResponse(drawn, {}), False).value for metric in nuggets.NUGGETS.metrics} == {
        1.0
    }
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
    result = {metric.name: metric.score(scored, False).value for metric in nuggets.NUGGETS.metrics}
    assert result == {
        "nugget_coverage": 0.5,
        "nugget_coverage.partial": 0.5,
        "nugget_coverage.vital": 1.0,
        "nugget_coverage.vital_partial": 1.0,
    }


@pytest.mark.anyio
async def test_an_empty_report_supports_nothing_without_a_call() -> None:
    (case,) = nuggets.cases(with_nuggets(("a", "vital"), text="  "))
    for verdicts in (await judge(case, ScriptedAsk()), await judge_together(case, ScriptedAsk())):
        assert verdicts["a"].value == NONE
    assert nuggets.baseline(case)["a"].value == NONE


@pytest.mark.anyio
async def test_several_are_known_by_their_ids_alone() -> None:
    first, second = nuggets.cases(with_nuggets(("a", "vital"), ("b", "okay")))
    said = [
        {"id": "b", "quote": "", "rationale": "no", "support": NONE},
        {"id": "a", "quote": "Trees cool.", "rationale": "yes", "support": FULL},
    ]
    ask = ScriptedAsk({"answers": said})
    result = await judge_together(replace(first, units=(*first.units, *second.units)), ask)
    assert {name: verdict.value for name, verdict in result.items()} == {"a": FULL, "b": NONE}
    assert (result["a"].quote_start, "id: a\na fact" in ask.asked[0][1]["nuggets"]) == (0, True)


def test_the_baseline_goes_by_words() -> None:
    (case,) = nuggets.cases(with_nuggets(("shade", "vital"), text="A shade fact about shade."))
    verdict = nuggets.baseline(case)["shade"]
    assert (verdict.value, verdict.quote) == (FULL, "A shade fact about shade.")


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
    result = await nuggets.make(item("Trees cool."), ask)
    assert isinstance(result.document, Nuggets)
    units = {unit.text: (unit.importance, unit.support, unit.counts) for unit in result.document.units}
    # Places 3, 6, 9 of the first ten; of the last two none is the third.
    assert [name for name, (weighed, *_) in units.items() if weighed == "vital"] == [
        "Fact 3",
        "Fact 6",
        "Fact 9",
    ]
    assert [*units][:3] == ["Fact 3", "Fact 6", "Fact 9"]
    assert {n: units[f"Fact {n}"] for n in (1, 2, 3, 11)} == {
        1: ("okay", "partial_support", False),
        2: ("okay", "not_support", False),
        3: ("vital", "support", True),
        11: ("okay", "partial_support", False),
    }
    assert [prompt for prompt, _ in ask.asked] == [
        nuggets.DRAFT_NAME, *[nuggets.WEIGHED] * 2, *["deepscholar.nuggets.together"] * 2,
    ]  # fmt: skip
    assert result.flags == ()


async def test_more_than_ten_texts_are_read_window_by_window_with_the_list_so_far() -> None:
    ask = Scripted(["One fact"], ["One fact", "Another  fact", "One fact"])
    result = await nuggets.make(item(*(f"Text {n}." for n in range(11))), ask)
    drawn = [fields for prompt, fields in ask.asked if prompt == nuggets.DRAFT_NAME]
    assert [fields["nuggets"] for fields in drawn] == [nuggets.NONE_YET, "One fact"]
    assert (drawn[0]["documents"].count("Text"), drawn[1]["documents"]) == (10, "Text 10.")
    assert result.document is not None
    assert sorted(unit.text for unit in result.document.units) == ["Another fact", "One fact"]


async def test_thirty_stay_and_long_ones_are_flagged() -> None:
    result = await nuggets.make(item("T."), Scripted([f"{'word ' * 12}{n}" for n in range(31)]))
    assert result.document is not None
    assert (len(result.document.units), result.flags) == (30, (nuggets.CUT, nuggets.TOO_LONG))


async def test_a_nugget_that_is_left_out_or_weighed_twice_spoils_the_draft() -> None:
    class Careless(Scripted):
        def weighed(self, name: str) -> WeighedNugget:
            return WeighedNugget(id="n1", importance="vital")

    result = await nuggets.make(item("T."), Careless(["A", "B"]))
    assert (result.document, result.status) == (None, Status.INVALID)


@pytest.mark.parametrize("texts", [(), (" \n",)])
async def test_without_an_exemplar_nothing_is_asked(texts: tuple[str, ...]) -> None:
    result = await nuggets.make(item(*texts), Scripted())
    assert (result.status, result.cause) == (Status.SKIPPED, nuggets.NO_EXEMPLAR)


def test_the_plain_text_form_takes_a_nugget_a_line() -> None:
    assert DrawnNuggets.from_text("- Trees cool.\n\n* Shade helps.\n").nuggets == [
        "Trees cool.",
        "Shade helps.",
    ]


TEXT = """\
Trees are old. Shade cools streets by 3.5 K [2][1]. Others differ [1].

## References

[1] Ash, A.. Trees and heat. 2019. https://arxiv.org/abs/2001.00001

[2] Elm, B.. Shade. 2020. A hand-out
"""
GOLD = (
    Reference(id="heat", text="Trees and Heat", identifier="arXiv:2001.00001v2", importance="important"),
    Reference(id="shade", text="Shade", authors="Elm, B."),
    Reference(id="lost", text="Nowhere cited", identifier="10.1000/x"),
)


def exemplar(*units: Reference) -> Material:
    known = with_works(abstracts={"arxiv:2001.00001": "On trees\nand heat.\n\nThen more."})
    response = replace_text(TEXT)
    return replace(
        known, response=response, documents={Kind.EVIDENCE: Evidence(units=units or GOLD)},
        artifact_ids={Kind.EVIDENCE: "e"}, parts={}, facing=(),
    )  # fmt: skip


def replace_text(text: str):  # type: ignore[no-untyped-def]
    return EXEMPLARS.model_copy(update={"text": text})


def of_people(*nuggets: Nugget) -> Material:
    return Material(ITEM, EXEMPLARS, {Kind.NUGGETS: Nuggets(units=nuggets)}, {Kind.NUGGETS: "n"})


def test_a_systems_report_is_not_asked_about() -> None:
    assert list(importance.cases_of_nuggets(with_nuggets(("a", "vital")))) == []
    assert list(importance.cases_of_references(with_works(("a", "arXiv:2001.00001")))) == []


def test_a_nugget_is_asked_about_without_its_label_and_only_where_it_is_gold() -> None:
    kept = Nugget(id="a", text="Trees cool.", importance="vital", support="support")
    half = Nugget(id="b", text="Trees warm.", support="partial_support")
    (case,) = importance.cases_of_nuggets(of_people(kept, half))
    assert (case.unit, case.artifact_id) == (Unit(id="a", text="Trees cool."), "n")


def test_a_reference_is_shown_with_its_abstract_and_the_sentence_that_cites_it_first() -> None:
    heat, shade, lost = importance.cases_of_references(exemplar())
    assert heat.given == {"address": "arxiv:2001.00001", "page": "On trees and heat.\n\nThen more."}
    # A point within a number ends no sentence, and marks behind the full stop belong to it.
    assert heat.unit.anchor is not None
    assert heat.unit.anchor.quote == "Shade cools streets by 3.5 K [2][1]."
    assert TEXT[heat.unit.anchor.start : heat.unit.anchor.end] == heat.unit.anchor.quote
    assert shade.unit.anchor == heat.unit.anchor
    assert shade.given == {"address": "", "page": "", "page_state": "absent"}
    assert lost.unit.anchor is None
    assert not any(hasattr(case.unit, "importance") for case in (heat, shade, lost))


def test_an_entry_whose_mark_stands_in_the_list_alone_has_no_sentence() -> None:
    alone = exemplar(Reference(id="x", text="Shade"))
    listed = TEXT.replace(" [2][1]", "")
    (case,) = importance.cases_of_references(replace(alone, response=replace_text(listed)))
    assert case.unit.anchor is None


@pytest.mark.anyio
async def test_the_judge_of_a_reference_sees_the_section_and_what_is_known_of_the_work() -> None:
    _, shade, _ = importance.cases_of_references(exemplar())
    ask = ScriptedAsk({"rationale": "Central.", "importance": "not-important"})
    assert (await importance.judge_reference(shade, ask))["shade"].value == "not_important"
    ((prompt, fields, fenced, _),) = ask.asked
    assert (prompt, set(fenced), fields["exemplar"]) == (importance.REFERENCE, set(fields), TEXT)
    assert (fields["title"], fields["authors"], fields["abstract"]) == ("Shade", "Elm, B.", "(not known)")


@pytest.mark.anyio
async def test_the_judge_of_a_nugget_does_not_see_the_section() -> None:
    (case,) = importance.cases_of_nuggets(of_people(Nugget(id="a", text="Trees cool.")))
    ask = ScriptedAsk({"rationale": "Yes.", "importance": "vital"})
    assert (await importance.judge_nugget(case, ask))["a"].value == "vital"
    assert ask.asked[0][1] == {"question": ITEM.question, "nugget": "Trees cool."}


def test_the_baseline_goes_by_the_words_of_the_task() -> None:
    (near, far) = importance.cases_of_nuggets(
        of_people(Nugget(id="a", text="Trees cool streets."), Nugget(id="b", text="Penguins swim."))
    )
    assert [said(case) for case in (near, far)] == ["vital", "okay"]
    heat, *_ = importance.cases_of_references(exemplar(Reference(id="p", text="Penguins")))
    assert said(heat) == "not_important"


def said(case: Case) -> str | None:
    (verdict,) = importance.baseline(case).values()
    assert "baseline" in verdict.rationale
    return verdict.value
