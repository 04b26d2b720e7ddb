"""Importance of nuggets and references: asked of the exemplar alone, blind to what the project says of it now."""

from dataclasses import replace

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Case, Material
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.protocols.deepscholar import importance
from annotator.protocols.deepscholar.importance import NuggetImportance, ReferenceImportance
from tests.protocols.deepscholar.related_work_material import EXEMPLARS, ITEM, with_nuggets, with_works

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
    assert (case.unit.id, case.unit.text, case.artifact_id) == ("a", "Trees cool.", "n")
    assert not hasattr(case.unit, "importance")


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

    async def answer(prompt, fields, reply, fenced=()):  # type: ignore[no-untyped-def]
        assert (prompt, reply, set(fenced)) == (importance.REFERENCE, ReferenceImportance, set(fields))
        assert fields["title"] == "Shade"
        assert (fields["authors"], fields["abstract"]) == ("Elm, B.", "(not known)")
        assert fields["exemplar"] == TEXT
        return Answer(Status.OK, ReferenceImportance(rationale="Central.", importance="not-important"))

    verdicts = await importance.judge_reference(shade, answer)
    assert verdicts["shade"].value == "not_important"


@pytest.mark.anyio
async def test_the_judge_of_a_nugget_does_not_see_the_section() -> None:
    (case,) = importance.cases_of_nuggets(of_people(Nugget(id="a", text="Trees cool.")))

    async def answer(prompt, fields, reply, fenced=()):  # type: ignore[no-untyped-def]
        assert fields == {"question": ITEM.question, "nugget": "Trees cool."}
        return Answer(Status.OK, NuggetImportance(rationale="Yes.", importance="vital"))

    assert (await importance.judge_nugget(case, answer))["a"].value == "vital"


@pytest.mark.anyio
async def test_a_reply_that_cannot_be_read_is_missing_and_not_important() -> None:
    (case,) = importance.cases_of_nuggets(of_people(Nugget(id="a", text="Trees cool.")))

    async def answer(prompt, fields, reply, fenced=()):  # type: ignore[no-untyped-def]
        return Answer(Status.INVALID, cause="no JSON")

    verdict = (await importance.judge_nugget(case, answer))["a"]
    assert (verdict.value, verdict.status) == (None, Status.INVALID)


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
