"""Relevance rate: grades over the works that a report names, each once, and what becomes of those unknown."""

from dataclasses import replace

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Material, RatedResponse
from annotator.protocols.deepscholar import relevance
from annotator.protocols.deepscholar.relevance import Relevance
from tests.protocols.deepscholar.related_work_material import EXEMPLARS, ITEM, report, with_works

FOUR = tuple((name, f"arXiv:2001.0000{place}") for place, name in enumerate("abcd", 1))


def rate(
    grades: dict[str, str], material: Material | None = None, *, over_valid: bool = False
) -> relevance.Estimate:
    return relevance.relevance_rate(RatedResponse(material or with_works(*FOUR), grades), over_valid)


def test_the_sum_of_grades_over_twice_the_works() -> None:
    assert rate({"a": "2", "b": "1", "c": "1", "d": "0"}).value == 4 / 8


def test_as_released_the_sum_is_not_halved() -> None:
    scored = RatedResponse(with_works(*FOUR), {"a": "2", "b": "1", "c": "1"})
    found = relevance.released_rate(scored)
    assert (found.value, found.missing, found.floor, found.ceiling) == (None, 1, 1.0, 1.5)
    assert relevance.released_rate(replace(scored, values={**scored.values, "d": "0"})).value == 1.0


def test_a_report_that_names_nothing_is_0_and_says_so() -> None:
    found = rate({}, with_works(("x", "10.1000/x"), ("y", "")))
    assert (found.value, found.note) == (0.0, "the report names no work on arXiv")


def test_without_its_references_nothing_is_said_of_a_report() -> None:
    assert rate({}, Material(ITEM, report())).note == "the references of this response are not known"


def test_a_work_counts_once_whatever_its_version() -> None:
    twice = with_works(("a", "http://arxiv.org/abs/2001.00001v1"), ("b", "arXiv:2001.00001v3"))
    assert rate({"a": "2"}, twice).value == 1.0
    assert [case.unit.id for case in relevance.cases(twice)] == ["a"]


def test_a_missing_grade_bounds_the_rate() -> None:
    found = rate({"a": "2", "b": "0", "c": "0"})
    assert (found.value, found.missing, found.floor, found.ceiling) == (None, 1, 2 / 8, 4 / 8)
    assert rate({"a": "2"}, over_valid=True).value == 1.0


def test_an_unknown_grade_is_refused() -> None:
    with pytest.raises(ValueError, match="0, 1 or 2"):
        rate({"a": "3"})


@pytest.mark.anyio
async def test_the_judge_sees_nothing_of_the_report() -> None:
    material = with_works(FOUR[0], abstracts={"arxiv:2001.00001": "About oaks."})
    (case,) = relevance.cases(material)

    async def answer(prompt, fields, reply, fenced=()):  # type: ignore[no-untyped-def]
        assert set(fields) == set(fenced) == {"question", "exemplar", "title", "abstract"}
        assert report().text not in fields.values()
        assert (fields["title"], fields["abstract"], fields["exemplar"]) == (
            "T",
            "About oaks.",
            "Trees cool.",
        )
        return Answer(Status.OK, Relevance(rationale="r", relevance="1"))

    assert (await relevance.judge(case, answer))["a"].value == "1"


@pytest.mark.anyio
async def test_a_work_without_its_abstract_is_missing_without_a_call() -> None:
    async def never(*_args, **_more):  # type: ignore[no-untyped-def]
        raise AssertionError("nobody need be asked")

    (case,) = relevance.cases(with_works(FOUR[0]))
    for verdict in ((await relevance.judge(case, never))["a"], relevance.baseline(case)["a"]):
        assert (verdict.value, verdict.status) == (None, Status.SKIPPED)
        assert "abstract" in verdict.cause


@pytest.mark.parametrize(
    ("text", "grade"), [("2\nThe same.", "2"), ("Grade: 1\nNear.", None), ("1\n2", None)]
)
def test_a_reply_in_words_is_a_grade_alone(text: str, grade: str | None) -> None:
    if grade:
        assert Relevance.from_text(text).relevance == grade
    else:
        with pytest.raises(ValueError, match="line"):
            Relevance.from_text(text)


def test_the_baseline_grades_by_the_tasks_words() -> None:
    near = with_works(FOUR[0], abstracts={"arxiv:2001.00001": "trees cool streets"})
    far = with_works(FOUR[0], abstracts={"arxiv:2001.00001": "quark gluon plasma viscosity measurement"})
    grades = [relevance.baseline(next(relevance.cases(one)))["a"].value for one in (near, far)]
    assert grades == ["2", "0"]


def test_works_are_asked_about_where_the_item_has_an_exemplar() -> None:
    alone = replace(with_works(FOUR[0]), facing=())
    assert list(relevance.cases(alone)) == []
    own = replace(alone, response=EXEMPLARS)
    assert [case.given["exemplar"] for case in relevance.cases(own)] == ["Trees cool."]
