"""DeepScholar's references: coverage, relevance, statistics and organization; and its reference system."""

import csv
import random
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import product
from statistics import fmean
from typing import Any

import pytest

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Material, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import CatalogueWork, Page, PageState
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.deepscholar import organization, references, system
from annotator.protocols.deepscholar.references import (
    document_importance,
    document_importance_pooled,
    document_importance_released,
    reference_coverage,
    reference_coverage_of_all,
)
from annotator.protocols.deepscholar.sentences import ReportFigures, report_figures
from annotator.protocols.deepscholar.system import (
    BetterWork,
    RelevantWork,
    SearchQueries,
    SectionText,
    SystemSettings,
    WrittenSection,
    numbered,
)
from tests.common import ScriptedAsk
from tests.material.related_work import SHARED
from tests.protocols.deepscholar.test_sentences import EXEMPLARS, ITEM, report, with_works
from tests.servers.writing_server import (
    FOUND,
    HOLDING,
    LEFT,
    PREFERRED,
    QUESTION,
    WORKS,
    WRITTEN,
    KnowingAsk,
    number_of,
)


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


BOOK = ("Book", "10.1000/book", "important")
TWICE = ("The same under another title", "https://arxiv.org/abs/2001.00001")
UNIMPORTANT = ("Work 5", "arXiv:2001.00005", "not_important")
NOT_SAID = "nobody has said which references are important"


@pytest.mark.parametrize(
    ("wanted", "named", "value", "n", "note"),
    [
        # By its id or its whole title; a title that only begins alike is another work.
        (
            FOUR,
            with_works(
                ("a", "arXiv:2001.00001v3"), ("Work 3", "arXiv:2007.00009"), ("x", "arXiv:2008.00001")
            ),
            2 / 4,
            4,
            "2 of 4 named",
        ),
        (
            (("A survey of large language models", "arXiv:2001.00001", "important"),),
            with_works(("A survey of large language model agents", "arXiv:2007.00009")),
            0.0,
            1,
            "0 of 1 named",
        ),
        # Only important ones on arXiv are wanted.
        ((FOUR[0], BOOK, UNIMPORTANT), works("1"), 1.0, 1, "1 of 1 named"),
        ((BOOK, UNIMPORTANT), works("1"), None, 0, "no reference on arXiv is important"),
        # One that is listed twice counts once.
        ((*FOUR[:2], (*TWICE, "important")), works("1"), 1 / 2, 2, "1 of 2 named"),
        ((*FOUR[:2], (*TWICE, "")), works("1"), 1 / 2, 2, "1 of 2 named"),
        # What is not known is no zero, and a report that names nothing has 0.
        ((("Work 1", "arXiv:2001.00001", ""),), works("1"), None, 0, NOT_SAID),
        (FOUR, Material(ITEM, report()), None, 0, "the references of this response are not known"),
        (FOUR, with_works(), 0.0, 4, "the report names no work on arXiv"),
    ],
)
def test_the_important_references_on_arxiv_that_a_report_names(
    wanted: tuple[tuple[str, str, str], ...], named: Material, value: float | None, n: int, note: str
) -> None:
    result = covered(gold(*wanted, of=named))
    assert (result.value, result.n, result.note) == (value, n, note)


def test_a_report_that_names_nothing_has_no_document_importance() -> None:
    assert known(cited({"1": 10}, gold(*FOUR, of=with_works()))).value == 0.0


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

        result = reference_coverage(RatedResponse(on(said), {}), True)
        open_ = [name for name, how in said.items() if not how]
        if len(open_) == len(said):
            assert result.note == "nobody has said which references are important"
            continue
        ends = [
            covered(on(said | dict(zip(open_, how, strict=True)))).value
            for how in product(ways[:2], repeat=len(open_))
        ]
        known = [end for end in ends if end is not None]
        assert result.missing == len(open_)
        if known:
            assert (result.floor, result.ceiling) == (pytest.approx(min(known)), pytest.approx(max(known)))
        if result.value is not None:
            assert result.floor <= result.value <= result.ceiling
        # Without what is left open there is none, as of every figure.
        assert (covered(on(said)).value is None) == bool(open_ or not known)


@pytest.mark.parametrize(
    ("own", "of_exemplar", "counts", "value", "n", "note"),
    [
        # S: 3, 10, 40; S*: 20, 80, 200, 1000.
        (
            "123",
            "4567",
            {"1": 3, "2": 10, "3": 40, "4": 20, "5": 80, "6": 200, "7": 1000},
            10 / 140,
            3,
            "medians 10 and 140",
        ),
        # It ends at 1 and leaves out what is not known.
        ("12", "4", {"1": 500, "2": None, "4": 20}, 1.0, 1, "medians 500 and 20; 1 not known"),
        ("1", "45", {"1": 500, "4": 20}, 1.0, 1, "medians 500 and 20; 1 of the exemplar's not known"),
        ("1", "4", {"1": 5}, None, 0, "no citations of the exemplar's references are known"),
        ("1", "4", {"4": 5}, None, 0, "its works' citations are not known"),
        ("1", "4", {"1": 5, "4": 0}, None, 0, "the exemplar's median is 0"),
    ],
)
def test_document_importance_is_one_median_beside_the_other(
    own: str, of_exemplar: str, counts: dict[str, int | None], value: float | None, n: int, note: str
) -> None:
    wanted = ((f"Work {name}", f"arXiv:2001.0000{name}", "") for name in of_exemplar)
    result = known(cited(counts, gold(*wanted, of=works(*own))))
    assert (result.value, result.note) == (value and pytest.approx(value), note)
    assert value is None or result.n == n


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


def test_over_all_works_a_book_counts_too() -> None:
    book = ("A book of trees", "10.1000/book", "important")
    named = with_works(("x", "https://doi.org/10.1000/BOOK"), ("a", "arXiv:2001.00001"))
    result = reference_coverage_of_all(RatedResponse(gold(*FOUR, book, of=named), {}))
    assert (result.value, result.note) == (2 / 5, "2 of 5 named")
    assert covered(gold(*FOUR, book, of=named)).value == 1 / 4
    assert reference_coverage_of_all(RatedResponse(gold(book, of=with_works()), {})).value == 0.0


def test_over_all_reports_there_are_two_medians() -> None:
    # S: 3, 10 and 40; S*: 20 and 100 on one item, 60 on the other.
    one = gold(("Work 4", "arXiv:2001.00004", ""), ("Work 5", "arXiv:2001.00005", ""), of=works("1", "2"))
    other = gold(("Work 6", "arXiv:2001.00006", ""), of=works("3"))
    counts = {"1": 3, "2": 10, "3": 40, "4": 20, "5": 100, "6": 60}
    result = document_importance_pooled([RatedResponse(cited(counts, each), {}) for each in (one, other)])
    assert (result.value, result.n, result.note) == (pytest.approx(10 / 60), 3, "medians 10 and 60")


def test_as_released_it_is_the_median_itself() -> None:
    own = document_importance_released(
        RatedResponse(cited({"1": 500, "2": 20, "3": None}, works("1", "2", "3")), {})
    )
    assert (own.value, own.n) == (260.0, 2)
    assert document_importance_released(RatedResponse(with_works(), {})).value == 0.0
    assert document_importance_released(RatedResponse(works("1"), {})).value is None


FOUR_WORKS = tuple((name, f"arXiv:2001.0000{place}") for place, name in enumerate("abcd", 1))


def rate(
    grades: dict[str, str], material: Material | None = None, *, over_valid: bool = False
) -> references.Estimate:
    return references.relevance_rate(RatedResponse(material or with_works(*FOUR_WORKS), grades), over_valid)


def test_the_sum_of_grades_over_twice_the_works() -> None:
    assert rate({"a": "2", "b": "1", "c": "1", "d": "0"}).value == 4 / 8


@pytest.mark.parametrize(
    ("material", "value", "note"),
    [
        (with_works(("x", "10.1000/x"), ("y", "")), 0.0, "the report names no work on arXiv"),
        (Material(ITEM, report()), None, "the references of this response are not known"),
    ],
)
def test_a_report_that_names_nothing_is_0_and_says_so(
    material: Material, value: float | None, note: str
) -> None:
    assert (rate({}, material).value, rate({}, material).note) == (value, note)


def test_a_missing_grade_bounds_the_rate() -> None:
    result = rate({"a": "2", "b": "0", "c": "0"})
    assert (result.value, result.missing, result.floor, result.ceiling) == (None, 1, 2 / 8, 4 / 8)
    assert rate({"a": "2"}, over_valid=True).value == 1.0


def test_as_released_the_sum_is_not_halved() -> None:
    scored = RatedResponse(with_works(*FOUR_WORKS), {"a": "2", "b": "1", "c": "1"})
    result = references.released_rate(scored)
    assert (result.value, result.missing, result.floor, result.ceiling) == (None, 1, 1.0, 1.5)
    assert references.released_rate(replace(scored, values={**scored.values, "d": "0"})).value == 1.0


def test_a_work_counts_once_whatever_its_version() -> None:
    twice = with_works(("a", "http://arxiv.org/abs/2001.00001v1"), ("b", "arXiv:2001.00001v3"))
    assert rate({"a": "2"}, twice).value == 1.0
    assert [case.unit.id for case in references.cases(twice)] == ["a"]


@pytest.mark.anyio
async def test_the_judge_sees_nothing_of_the_report() -> None:
    (case,) = references.cases(with_works(FOUR_WORKS[0], abstracts={"arxiv:2001.00001": "About oaks."}))
    ask = ScriptedAsk({"rationale": "r", "relevance": "1"})
    assert (await references.judge(case, ask))["a"].value == "1"
    ((_, fields, fenced, _),) = ask.asked
    known = {"exemplar": "Trees cool.", "title": "T", "abstract": "About oaks.", "question": ITEM.question}
    assert (fields, set(fenced)) == (known, set(known))


@pytest.mark.anyio
async def test_a_work_without_its_abstract_is_missing_without_a_call() -> None:
    (case,) = references.cases(with_works(FOUR_WORKS[0]))
    for verdict in ((await references.judge(case, ScriptedAsk()))["a"], references.baseline(case)["a"]):
        assert (verdict.value, verdict.status, "abstract" in verdict.cause) == (None, Status.SKIPPED, True)


def test_the_baseline_grades_by_the_tasks_words() -> None:
    near = with_works(FOUR_WORKS[0], abstracts={"arxiv:2001.00001": "trees cool streets"})
    far = with_works(
        FOUR_WORKS[0], abstracts={"arxiv:2001.00001": "quark gluon plasma viscosity measurement"}
    )
    assert [references.baseline(next(references.cases(one)))["a"].value for one in (near, far)] == ["2", "0"]


def test_works_are_asked_about_where_the_item_has_an_exemplar() -> None:
    alone = replace(with_works(FOUR_WORKS[0]), facing=())
    assert list(references.cases(alone)) == []
    own = replace(alone, response=EXEMPLARS)
    assert [case.given["exemplar"] for case in references.cases(own)] == ["Trees cool."]


def counted(text: str) -> ReportFigures:
    return report_figures(Material(ITEM, report(text)))


def test_a_report_is_counted_by_hand():
    body = "Trees cool [1, 2]. Roofs heat [1].\n\n| a [2] |\n\n"
    # A list of references is no part of it, its heading neither.
    text = f"{body}## References\n\n[1] http://a.org/x\n[2] http://b.org/y"
    assert counted(text) == ReportFigures(len(body), 11, 2, 2, 4)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public DeepScholar-Bench data is not there")
def test_the_sections_that_people_wrote_are_as_long_as_is_told():
    with (SHARED / "papers_with_related_works.csv").open(encoding="utf-8", newline="") as file:
        result = [counted(row["clean_latex_related_works"]) for row in csv.DictReader(file)]
    letters, words = (fmean(of) for of in zip(*((one.characters, one.words) for one in result), strict=True))
    assert (len(result), round(letters, 1), round(words, 1)) == (32, 3974.4, 448.2)


COMPARED = Material(ITEM, report(), facing=(EXEMPLARS,))
# Table 2, in the order of its rows: every figure is a count of wins over 63 papers in two orders.
PRINTED = (0.206, 0.119, 0.309, 0.151, 0.556, 0.849, 0.698, 0.706, 0.857, 0.206, 0.809, 0.857, 0.698, 0.770)
WINS = (26, 15, 39, 19, 70, 107, 88, 89, 108, 26, 102, 108, 88, 97)


def score(first: str | None, second: str | None, *, over_valid: bool = False) -> organization.Estimate:
    """Org from what was said with the report first, and with it second."""
    said = {EXEMPLARS.id: first} if first else {}
    turned = {EXEMPLARS.id: second} if second else {}
    return organization.organization(RatedResponse(COMPARED, said, turned), over_valid)


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ("first", "second", 1.0),
        ("second", "first", 0.0),
        ("first", "first", 0.5),
        ("second", "second", 0.5),
        ("tie", "tie", 0.5),
        ("first", "tie", 0.75),
    ],
)
def test_a_win_counts_in_each_order(first: str, second: str, value: float) -> None:
    assert score(first, second).value == value


def test_printed_figures_are_wins_over_two_orders_of_63_papers() -> None:
    for printed, wins in zip(PRINTED, WINS, strict=True):
        # So many wins fall on papers one by one: on some both orders, on one perhaps half.
        papers = [1.0] * (wins // 2) + [0.5] * (wins % 2) + [0.0] * (63 - (wins + 1) // 2)
        values = [
            score(*{1.0: ("first", "second"), 0.5: ("first", "first"), 0.0: ("second", "first")}[paper]).value
            for paper in papers
        ]
        mean = sum(value for value in values if value is not None) / len(values)
        assert mean == pytest.approx(wins / 126)
        # Printed to three places; one of the 14 is cut instead of rounded.
        assert abs(mean - printed) <= 0.0006


def test_a_flip_is_told() -> None:
    notes = (score("first", "first").note, score("first", "second").note)
    assert notes == ("the verdict changed with the order", "")


def test_a_missing_order_leaves_the_score_open() -> None:
    result = score("first", None)
    assert (result.value, result.missing, result.floor, result.ceiling) == (None, 1, 0.5, 1.0)
    assert score("first", None, over_valid=True).value is None


def test_both_orders_are_asked_and_the_exemplar_is_at_one_half_by_definition() -> None:
    own = replace(COMPARED, response=EXEMPLARS, facing=(report(),))
    (one,), (other,) = (list(organization.ORGANIZATION.cases(material)) for material in (COMPARED, own))
    assert (one.response.id, one.unit.id, other.response.id, other.unit.id) == ("r", "people", "people", "r")
    assert organization.organization(RatedResponse(own, {})).value == 0.5


def test_without_an_exemplar_there_is_no_score() -> None:
    alone = RatedResponse(Material(ITEM, report()), {})
    assert organization.organization(alone).note == "the item has no exemplar"


pytestmark = pytest.mark.anyio


@pytest.fixture
def ask() -> KnowingAsk:
    return KnowingAsk()


THREE = SystemSettings(keep=3)


class Steps(list[str]):
    @contextmanager
    def __call__(self, name: str) -> Any:
        self.append(name)
        yield


async def search(query: str, count: int) -> Sequence[CatalogueWork]:
    return [WORKS[number - 1] for number in HOLDING.get(query, ()) if number in FOUND][:count]


async def written(
    ask: KnowingAsk, settings: SystemSettings = THREE, steps: Steps | None = None
) -> WrittenSection | Answer:
    return await system.written(QUESTION, settings, search, ask, Steps() if steps is None else steps, "seed")


@pytest.mark.anyio
async def test_every_step_is_taken_in_its_order_and_asks_what_it_must() -> None:
    ask, steps = KnowingAsk(), Steps()
    made = await written(ask, steps=steps)
    assert isinstance(made, WrittenSection)
    assert list(steps) == [
        "queries 1", "search 1", "summary 1", "queries 2", "search 2", "filter", "top-k", "aggregate"
    ]  # fmt: skip
    asked = {step: ask.count(step) for step in ("queries", "summary", "filter", "notes", "section")}
    assert asked == {"queries": 2, "summary": 1, "filter": len(FOUND), "notes": 0, "section": 1}
    assert {WORKS.index(work) + 1 for work in made.section.works} == set(PREFERRED[:3])
    assert (made.found, made.kept, made.unfiltered, made.unranked) == (9, len(LEFT), 0, 0)


@pytest.mark.anyio
async def test_a_round_is_told_what_the_one_before_it_found_and_asked(ask: KnowingAsk) -> None:
    await written(ask)
    first, second = (fields for step, fields in ask.asked if step == "queries")
    assert (first["found"], first["asked"], first["count"]) == ("(nothing yet)", "(nothing yet)", "2")
    assert (second["found"], second["asked"]) == ("Shade is known [1].", "shade\nheat")


@pytest.mark.anyio
@pytest.mark.parametrize(("step", "asked"), [("queries", 0), ("queries", 1), ("summary", 0), ("section", 0)])
async def test_without_an_answer_that_it_rests_on_there_is_no_section(step: str, asked: int) -> None:
    lost = Answer(Status.TIMEOUT, cause="Too late.")
    ask = KnowingAsk(lambda prompt, _, before: lost if prompt.endswith(step) and before == asked else None)
    assert await written(ask) is lost


@pytest.mark.anyio
async def test_where_nothing_is_found_or_kept_that_is_said(ask: KnowingAsk) -> None:
    async def nothing(query: str, count: int) -> Sequence[CatalogueWork]:
        return ()

    result = await system.written(QUESTION, THREE, nothing, ask, Steps(), "seed")
    assert isinstance(result, Answer)
    assert (result.cause, ask.count("filter")) == (system.NONE_FOUND, 0)


@pytest.mark.anyio
async def test_one_round_needs_no_summary_and_fewer_queries_find_less(ask: KnowingAsk) -> None:
    made = await written(ask, SystemSettings(rounds=1, queries=1, per_query=2))
    assert isinstance(made, WrittenSection)
    assert (made.found, ask.count("summary"), ask.count("compare")) == (2, 0, 0)
    assert [work.title for work in made.section.works] == ["On oak", "On elm"]


def test_queries_are_few_different_and_short() -> None:
    reply = SearchQueries(queries=["1 2 3 4 5 6 7 8 9 10 11", " “", "- shade", "shade", "heat"])
    assert reply.worded(3) == ["1 2 3 4 5 6 7 8 9 10", "“", "shade"]
    assert SearchQueries.from_text("shade\n\n heat ").worded(5) == ["shade", "heat"]


# What is written


@pytest.mark.parametrize(
    ("said", "kept", "removed"),
    [
        ("Shade [1], [2][3].", "Shade [1], [2][3].", 0),
        ("Shade [4].", "Shade.", 1),
        ("Shade [1, 9, 2; 0].", "Shade [1, 2].", 2),
        ("Shade [1-3] and [2–5].", "Shade [1, 2, 3] and [2, 3].", 2),
        ("Shade [4-99999].", "Shade.", 2),
        ("Shade [2](http://made.example/x) and [8](http://made.example/y).", "Shade [2] and.", 1),
        ("In $[0, 1]$ and `x[7]` stay.", "In $[0, 1]$ and `x[7]` stay.", 0),
        ("Shade [1].\n\n## References\n\n[1] Made up. [7] Too.", "Shade [1].", 0),
        ("Shade [1].\n\n**References:**\n1. Made up.", "Shade [1].", 0),
        ("References to shade [1] abound.", "References to shade [1] abound.", 0),
    ],
)
def test_numbers_that_stand_for_no_work_are_removed_and_counted(said: str, kept: str, removed: int) -> None:
    made = numbered(said, WORKS[:3])
    body, _, listed = made.text.partition("\n\n## References\n\n")
    assert (body, made.removed) == (kept, removed)
    assert listed.split("\n\n") == [
        "[1] A. Mo. On oak. 2024. arXiv:2401.00001",
        "[2] A. Mo. On elm. 2024. arXiv:2401.00002",
        "[3] A. Mo. On ash. 2024. arXiv:2401.00003",
    ]


def test_the_list_is_the_reports_references() -> None:
    made = numbered(
        "Shade.", (WORKS[0], CatalogueWork("https://doi.org/10.1000/ELM", "Elm"), CatalogueWork("", "Ash"))
    )
    told = [(unit.text, unit.note, unit.identifier) for unit in made.references().units]
    assert told == [
        ("On oak", "[1]", "arXiv:2401.00001"), ("Elm", "[2]", "doi:10.1000/elm"), ("Ash", "[3]", "")
    ]  # fmt: skip
    assert made.text.endswith("[2] Elm. doi:10.1000/elm\n\n[3] Ash")
    assert system.HEADING in made.text


# What is given


def reference_gold(*said: tuple[str, str, str]) -> Material:
    units = tuple(Reference(text=title, identifier=address, importance=word) for title, address, word in said)  # type: ignore[arg-type]
    return replace(
        with_works(abstracts={"arxiv:2001.00001": "About oaks."}),
        documents={Kind.EVIDENCE: Evidence(units=units)},
    )


GOLD = reference_gold(
    ("Oaks", "https://arxiv.org/abs/2001.00001v2", "important"),
    ("Oaks, again", "arXiv:2001.00001", "important"),
    ("Elms", "10.1000/elm", "important"),
    ("Ash", "arXiv:2001.00003", "not_important"),
    ("Lime", "arXiv:2001.00004", ""),
)


def test_the_important_references_are_given_once_each_with_their_abstracts() -> None:
    oak = ("arxiv:2001.00001", "About oaks.")
    for oracle, wanted in (("arxiv", [oak]), ("all", [oak, ("doi:10.1000/elm", "")])):
        works = system.important_works(GOLD, oracle)
        assert [(work.key, work.abstract) for work in works if isinstance(work, CatalogueWork)] == wanted


@pytest.mark.parametrize(
    ("work", "oracle", "why"),
    [
        (("Oaks", "arXiv:2001.00001", ""), "all", system.NO_IMPORTANCE),
        (("Elms", "10.1000/elm", "important"), "arxiv", system.NONE_IMPORTANT),
    ],
)
def test_why_nothing_can_be_given_is_said(work: tuple[str, str, str], oracle: str, why: str) -> None:
    assert system.important_works(reference_gold(work), oracle) == why


@pytest.mark.anyio
@pytest.mark.parametrize("oracle", ["arxiv", "all"])
async def test_what_is_given_is_all_found_again(oracle: str) -> None:
    works, ask = system.important_works(GOLD, oracle), KnowingAsk()
    assert not isinstance(works, str)
    made = await system.section_on(QUESTION, works, SystemSettings(oracle=oracle, words=300), ask, Steps())
    assert isinstance(made, WrittenSection)
    ((_, fields),) = ask.asked
    assert fields["length"] == "Write about 300 words."
    parts = {ResponsePart.REFERENCES: made.section.references()}
    result = references.reference_coverage(RatedResponse(replace(GOLD, parts=parts), {}), True)
    # The oaks are one work; of the lime nobody has said whether it is important.
    assert (result.value, result.n, result.missing, result.floor) == (1.0, 1, 1, 0.5)


def test_an_oracle_has_a_mode_and_prompts_of_its_own() -> None:
    modes = [SystemSettings(oracle=name).mode for name in ("", "arxiv", "all")]
    assert modes == ["end-to-end", "oracle-arxiv", "oracle-all"]
    assert set(SystemSettings(oracle="all").prompts) < set(SystemSettings().prompts)


def test_the_baseline_lists_each_work_with_its_first_sentence() -> None:
    made = system.baseline([WORKS[7], CatalogueWork("arXiv:2001.00009", "No abstract")])
    body, _, listed = made.section.text.partition("\n\n## References\n\n")
    assert body == "## Related work\n\nResults about water and canopy. [1]\n\nNo abstract [2]"
    assert listed.startswith("[1] A. Mo. On sap. 2024. arXiv:2401.00008")
    assert made.section.removed == 0


UNREADABLE = Answer(Status.INVALID, cause="No JSON.")


def numbers(works: tuple[CatalogueWork, ...]) -> list[int]:
    return [WORKS.index(work) + 1 for work in works]


def reference_works(*wanted: int) -> list[CatalogueWork]:
    return [WORKS[number - 1] for number in wanted]


async def test_the_filter_asks_once_about_each_work_and_keeps_their_order(ask: KnowingAsk) -> None:
    kept = await system.filtered(QUESTION, reference_works(9, 8, 3, 1), ask)
    assert (numbers(kept.works), kept.unanswered, ask.count("filter")) == ([8, 1], 0, 4)


async def test_a_work_without_a_verdict_is_asked_about_again_and_then_kept_and_counted() -> None:
    def odd(prompt: str, fields: Mapping[str, str], asked: int) -> Answer | None:
        about = number_of(fields["title"])
        # Nothing about the third is ever read; about the ninth only the second answer.
        return UNREADABLE if about == 3 or (about == 9 and asked < 4) else None

    ask = KnowingAsk(odd)
    kept = await system.filtered(QUESTION, reference_works(9, 8, 3, 1), ask)
    assert (numbers(kept.works), kept.unanswered, ask.count("filter")) == ([8, 3, 1], 1, 6)


@pytest.mark.parametrize("count", [4, 5, 9])
async def test_where_all_fit_nothing_is_asked(count: int, ask: KnowingAsk) -> None:
    best = await system.top(QUESTION, reference_works(1, 2, 4, 5), count, ask, "seed")
    assert (numbers(best.works), ask.asked) == ([1, 2, 4, 5], [])


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", ["a", "b", "c", "d", "e"])
async def test_the_preferred_works_are_kept_whatever_the_pivots(
    count: int, seed: str, ask: KnowingAsk
) -> None:
    assert set(
        numbers((await system.top(QUESTION, reference_works(*sorted(LEFT)), count, ask, seed)).works)
    ) == set(PREFERRED[:count])
    # Each round leaves its pivot out: 4 + 3 + 2 + 1 at most.
    assert 4 <= len(ask.asked) <= 10


async def test_the_same_seed_asks_the_same() -> None:
    first, again, other = KnowingAsk(), KnowingAsk(), KnowingAsk()
    for ask, seed in ((first, "a"), (again, "a"), (other, "b")):
        await system.top(QUESTION, reference_works(*sorted(LEFT)), 2, ask, seed)
    assert first.asked == again.asked != other.asked


async def test_a_comparison_that_does_not_come_goes_by_the_search_order() -> None:
    ask = KnowingAsk(lambda *_: UNREADABLE)
    best = await system.top(QUESTION, reference_works(4, 2, 8, 1), 2, ask, "seed")
    assert (numbers(best.works), best.unanswered) == ([4, 2], len(ask.asked))


async def test_works_that_fit_are_written_about_in_one_call(ask: KnowingAsk) -> None:
    assert (await system.aggregated(QUESTION, reference_works(8, 1), "Be short.", ask)).reply.text == WRITTEN
    ((step, fields),) = ask.asked
    assert (step, fields["length"]) == ("section", "Be short.")
    assert fields["works"] == (
        "[1] On sap\nResults about water and canopy. More follows.\n\n"
        "[2] On oak\nResults about shade. More follows."
    )


async def test_works_that_do_not_fit_are_folded(ask: KnowingAsk) -> None:
    await system.aggregated(QUESTION, reference_works(8, 1, 5), "", ask, room=110)
    assert [step for step, _ in ask.asked] == ["notes", "notes", "section"]
    assert [fields["works"].count("On ") for _, fields in ask.asked[:2]] == [2, 1]
    # The second part keeps the numbers of the whole.
    assert ask.asked[1][1]["works"].startswith("[3] On asphalt")
    assert ask.asked[2][1]["works"] == "Shade is known [1].\n\nShade is known [1]."


async def test_a_model_that_cannot_read_so_much_is_given_halves() -> None:
    def odd(prompt: str, fields: Mapping[str, str], asked: int) -> Answer | None:
        return Answer(Status.TOO_LONG) if prompt.endswith("section") and not asked else None

    ask = KnowingAsk(odd)
    answer = await system.aggregated(QUESTION, reference_works(8, 1, 5, 2), "", ask)
    assert [step for step, _ in ask.asked] == ["section", "notes", "notes", "section"]
    assert answer.status is Status.OK


async def test_no_section_is_made_of_notes_of_which_some_are_missing() -> None:
    def odd(prompt: str, fields: Mapping[str, str], asked: int) -> Answer | None:
        return UNREADABLE if "asphalt" in fields["works"] else None

    ask = KnowingAsk(odd)
    answer = await system.aggregated(QUESTION, reference_works(8, 1, 5), "", ask, room=110)
    assert (answer, ask.count("section")) == (UNREADABLE, 0)


def test_replies_in_plain_text() -> None:
    assert RelevantWork.from_text("Yes.\nIt is close.").relevant == "yes"
    assert BetterWork.from_text("second\nCloser.").better == "second"
    assert SectionText.from_text("```markdown\n## S\n```").text == "## S"
    for told, reply in (("It may be.", RelevantWork), ("Neither", BetterWork), ("", SectionText)):
        with pytest.raises(ValueError, match=r".+"):
            reply.from_text(told)  # type: ignore[attr-defined]
