"""Reference coverage and document importance: counted by hand, and what leaves them undefined."""

import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import product

import pytest

from annotator.domain.judges.protocol import Material, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.material.page import Page, PageState
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.deepscholar.references import (
    document_importance,
    document_importance_pooled,
    document_importance_released,
    reference_coverage,
    reference_coverage_of_all,
)
from tests.protocols.deepscholar.related_work_material import ITEM, report, with_works


def gold(*references: tuple[str, str, str], of: Material) -> Material:
    units = tuple(
        Reference.model_validate({"text": title, "identifier": name, "importance": importance})
        for title, name, importance in references
    )
    return replace(of, documents={Kind.EVIDENCE: Evidence(units=units)})


def cited(counts: dict[str, int | None], of: Material) -> Material:
    """The same with the citations of works, by the last digit of their arXiv id."""
    pages = {
        f"arxiv:2001.0000{name}": Page(
            url=f"arxiv:2001.0000{name}",
            state=PageState.OK,
            title=f"Work {name}",
            fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
            citations=count,
        )
        for name, count in counts.items()
    }
    return replace(of, pages=pages)


def works(*names: str) -> Material:
    return with_works(*((name, f"arXiv:2001.0000{name}v3") for name in names))


FOUR = tuple((f"Work {name}", f"arXiv:2001.0000{name}v1", "important") for name in "1234")


def covered(material: Material) -> Estimate:
    return reference_coverage(RatedResponse(material, {}))


def known(material: Material) -> Estimate:
    return document_importance(RatedResponse(material, {}))


def test_an_important_reference_is_found_by_its_id_or_its_whole_title() -> None:
    named = with_works(("a", "arXiv:2001.00001v3"), ("Work 3", "arXiv:2007.00009"), ("x", "arXiv:2008.00001"))
    assert covered(gold(*FOUR, of=named)).value == 2 / 4


def test_a_title_that_only_begins_alike_is_another_work() -> None:
    survey = ("A survey of large language models", "arXiv:2001.00001", "important")
    named = with_works(("A survey of large language model agents", "arXiv:2007.00009"))
    assert covered(gold(survey, of=named)).value == 0.0


def test_only_important_references_on_arxiv_are_wanted() -> None:
    other = (("Book", "10.1000/book", "important"), ("Work 5", "arXiv:2001.00005", "not_important"))
    assert covered(gold(*FOUR[:1], *other, of=works("1"))).n == 1
    assert covered(gold(*other, of=works("1"))).note == "no reference on arXiv is important"


@pytest.mark.parametrize(
    ("material", "note"),
    [
        (
            gold(("Work 1", "arXiv:2001.00001", ""), of=works("1")),
            "nobody has said which references are important",
        ),
        (gold(*FOUR, of=Material(ITEM, report())), "the references of this response are not known"),
    ],
)
def test_what_is_not_known_is_no_zero(material: Material, note: str) -> None:
    found = covered(material)
    assert (found.value, found.note) == (None, note)


def test_a_work_that_is_listed_twice_counts_once() -> None:
    twice = ("The same under another title", "https://arxiv.org/abs/2001.00001", "important")
    found = covered(gold(*FOUR[:2], twice, of=works("1")))
    assert (found.value, found.n) == (0.5, 2)
    assert covered(gold(*FOUR[:2], (*twice[:2], ""), of=works("1"))) == found


def test_what_nobody_has_said_of_a_reference_bounds_coverage_and_is_never_a_no() -> None:
    chance = random.Random(1)
    ways = ("important", "not_important", "")
    for _ in range(300):
        said = {name: chance.choice(ways) for name in "12345"[: chance.randint(1, 5)]}
        report_ = works(*(name for name in said if chance.random() < 0.5))

        def on(said_: dict[str, str], named: Material = report_) -> Material:
            return gold(
                *((f"W {name}", f"arXiv:2001.0000{name}", how) for name, how in said_.items()), of=named
            )

        found = reference_coverage(RatedResponse(on(said), {}), True)
        open_ = [name for name, how in said.items() if not how]
        if len(open_) == len(said):
            assert found.note == "nobody has said which references are important"
            continue
        ends = [
            covered(on(said | dict(zip(open_, how, strict=True)))).value
            for how in product(ways[:2], repeat=len(open_))
        ]
        known = [end for end in ends if end is not None]
        assert found.missing == len(open_)
        if known:
            assert (found.floor, found.ceiling) == (pytest.approx(min(known)), pytest.approx(max(known)))
        if found.value is not None:
            assert found.floor <= found.value <= found.ceiling
        # Without what is left open there is none, as of every figure.
        assert (covered(on(said)).value is None) == bool(open_ or not known)


def test_a_report_that_names_nothing_has_0_in_both() -> None:
    nothing = gold(*FOUR, of=with_works())
    assert covered(nothing).value == 0.0
    assert known(cited({"1": 10}, nothing)).value == 0.0


def test_document_importance_is_one_median_beside_the_other() -> None:
    # S: 3, 10, 40; S*: 20, 80, 200, 1000.
    material = gold(
        *((f"Work {name}", f"arXiv:2001.0000{name}", "") for name in "4567"), of=works("1", "2", "3")
    )
    counts = {"1": 3, "2": 10, "3": 40, "4": 20, "5": 80, "6": 200, "7": 1000}
    found = known(cited(counts, material))
    assert found.value == pytest.approx(10 / 140)
    assert found.note == "medians 10 and 140"


def test_document_importance_ends_at_1_and_leaves_out_what_is_not_known() -> None:
    material = gold(("Work 4", "arXiv:2001.00004", ""), of=works("1", "2"))
    found = known(cited({"1": 500, "2": None, "4": 20}, material))
    assert (found.value, found.n, found.note) == (1.0, 1, "medians 500 and 20; 1 not known")
    lacking = gold(("Work 4", "arXiv:2001.00004", ""), ("Work 5", "arXiv:2001.00005", ""), of=works("1"))
    assert (
        known(cited({"1": 500, "4": 20}, lacking)).note == "medians 500 and 20; 1 of the exemplar's not known"
    )


@pytest.mark.parametrize(
    ("days", "told"),
    [
        ((1, 1), "counted on 2026-01-01"),
        ((1, 31), "counted from 2026-01-01 to 2026-01-31"),
        ((1, 32), "counted from 2026-01-01 to 2026-02-01; counts are more than 30 days apart"),
        ((1, None), "counted on 2026-01-01"),
        ((None, None), ""),
    ],
)
def test_when_citations_were_counted_is_told_and_far_apart_is_flagged(days, told: str) -> None:
    material = cited({"1": 5, "4": 20}, gold(("Work 4", "arXiv:2001.00004", ""), of=works("1")))
    on = (None if day is None else date(2026, 1, 1) + timedelta(days=day - 1) for day in days)
    pages = {
        address: page.model_copy(update={"citations_on": day})
        for (address, page), day in zip(material.pages.items(), on, strict=True)
    }
    assert known(replace(material, pages=pages)).note == "; ".join(filter(None, ("medians 5 and 20", told)))


@pytest.mark.parametrize(
    ("counts", "note"),
    [
        ({"1": 5}, "no citations of the exemplar's references are known"),
        ({"4": 5}, "its works' citations are not known"),
        ({"1": 5, "4": 0}, "the exemplar's median is 0"),
    ],
)
def test_without_counts_there_is_no_document_importance(counts: dict[str, int | None], note: str) -> None:
    material = gold(("Work 4", "arXiv:2001.00004", ""), of=works("1"))
    found = known(cited(counts, material))
    assert (found.value, found.note) == (None, note)


def test_over_all_works_a_book_counts_too() -> None:
    book = ("A book of trees", "10.1000/book", "important")
    named = with_works(("x", "https://doi.org/10.1000/BOOK"), ("a", "arXiv:2001.00001"))
    found = reference_coverage_of_all(RatedResponse(gold(*FOUR, book, of=named), {}))
    assert (found.value, found.note) == (2 / 5, "2 of 5 named")
    assert covered(gold(*FOUR, book, of=named)).value == 1 / 4
    assert reference_coverage_of_all(RatedResponse(gold(book, of=with_works()), {})).value == 0.0


def test_over_all_reports_there_are_two_medians() -> None:
    # S: 3, 10 and 40; S*: 20 and 100 on one item, 60 on the other.
    one = gold(("Work 4", "arXiv:2001.00004", ""), ("Work 5", "arXiv:2001.00005", ""), of=works("1", "2"))
    other = gold(("Work 6", "arXiv:2001.00006", ""), of=works("3"))
    counts = {"1": 3, "2": 10, "3": 40, "4": 20, "5": 100, "6": 60}
    found = document_importance_pooled([RatedResponse(cited(counts, each), {}) for each in (one, other)])
    assert (found.value, found.n, found.note) == (pytest.approx(10 / 60), 3, "medians 10 and 60")


def test_as_released_it_is_the_median_itself() -> None:
    own = document_importance_released(
        RatedResponse(cited({"1": 500, "2": 20, "3": None}, works("1", "2", "3")), {})
    )
    assert (own.value, own.n) == (260.0, 2)
    assert document_importance_released(RatedResponse(with_works(), {})).value == 0.0
    assert document_importance_released(RatedResponse(works("1"), {})).value is None
