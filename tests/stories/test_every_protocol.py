"""Every protocol the whole way on public reports: drawn, judged by a model server and by the baseline, and scored."""

import asyncio
import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from sqlalchemy import select

from annotator.actions.authoring import artifacts
from annotator.actions.authoring.settings import widen
from annotator.actions.items import items, materials, pages
from annotator.actions.judges import judges
from annotator.actions.material import extracting
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.results import results, scoring
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.common import now
from annotator.domain.judges.judge import Status
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.kind import ItemRole, Kind
from annotator.domain.kinds.tasks import Family, Phase
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import EXEMPLAR, Page, PageState
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.protocols.deepscholar.references import retrieved as retrieved_set
from annotator.storage.tables import JUDGEMENT
from tests.common import once
from tests.judging.odd_server import at_work
from tests.material import drawn_extracts, labelled_sections
from tests.material.bundles import REAL
from tests.projects.filled_project import FACTS, QUESTIONS, SYSTEMS, add_checklist, add_nuggets, both_papers
from tests.projects.small_projects import add_report, small_sample
from tests.servers.served import CountingServer, near
from tests.storage import sql

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the shared ResearcherBench data are not there")
JUDGED = [name for name, protocol in PROTOCOLS.items() if protocol.values and not protocol.by_people]
OF_REPORTS = {"researcherbench.claims.extract", "adra.plan.draw", "adra.references", "deepscholar.sentences"}
RELEVANCE, COVERAGE = "deepscholar.relevance", "deepscholar.coverage"
OF_SENTENCES = "deepscholar.precision", COVERAGE
OF_POINTS = "arena.keypoints", "arena.keypoints.common"
PEOPLE = "People"
# With what people wrote on each question.
REPORTS = (len(SYSTEMS) + 1) * len(QUESTIONS)
JUDGE, PAGE = "mock", "This page holds what the first claim says and nothing of the second."


@pytest.fixture
def protocol() -> str:
    return ""


@pytest.fixture
def project(tmp_path: Path, llmock: LLMock, protocol: str) -> Project:
    project = drawn(tmp_path, {name: of for of in (OF_POINTS, OF_SENTENCES) for name in of}.get(protocol, ()))
    judges.add(project, JUDGE, base_url=llmock.base_url(), model="gpt-4o-mini")
    return project


@once
def drawn(folder: Path, of: Sequence[str]) -> Project:
    """What the baseline draws from the reports, a page for every address they cite, and what people wrote."""
    project = both_papers(folder)
    add_nuggets(project)
    add_checklist(project)
    add_exemplars(project)
    for name in OF_REPORTS:
        asyncio.run(extracting.run(project, RunRequest("baseline", name)))
    if of == OF_POINTS:
        labelled_sections.draw_all(project)
    elif of == OF_SENTENCES:
        fetch_cited(project)
    else:
        take_in_pages(project, folder / "pages")
    return project


def fetch_cited(project: Project) -> None:
    """A page for every address that a sentence cites, each with words of its own."""
    drawn = parts(project, ResponsePart.SENTENCES)
    for address in {one.address for _, units in drawn for unit in units for one in unit.cites} - {""}:
        page = Page(url=address, state=PageState.OK, text=f"{PAGE} {address}", fetched_at=now())
        pages.take_in(project, page)


def take_in_pages(project: Project, folder: Path) -> None:
    """One page for every address that the reports cite, and for every work that they retrieved."""
    folder.mkdir()
    (folder / "page.txt").write_text(PAGE, encoding="utf-8")
    with (folder / "pages.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("url", "file"), *((url, "page.txt") for url in pages.cited(project))])
    asyncio.run(pages.import_folder(project, folder))
    for at_hand in materials.each(project, materials.for_judging(PROTOCOLS[RELEVANCE]), items.ids(project)):
        for work in (work for one in at_hand.responses for work in retrieved_set(one) or ()):
            page = Page(url=work.address, state=PageState.OK, text=PAGE, title=work.address, fetched_at=now())
            pages.take_in(project, page)


def add_exemplars(project: Project) -> None:
    """To each item a text by people, longer than one of the two reports and shorter than the other."""
    for n, item_id in zip(QUESTIONS, items.ids(project), strict=True):
        length = sum(public_lengths(one)[n] for one in SYSTEMS) // 2
        add_report(project, item_id, PEOPLE, "x" * length, EXEMPLAR)


def judge(project: Project, protocol: str, name: str) -> dict[str, Any]:
    """A run of one call at a time, so that the replies come to the cases in their order."""
    return asyncio.run(orders.carry_out(project, RunRequest(name, protocol, concurrency=1)))


def figures(project: Project, protocol: str) -> dict[tuple[str, str], Any]:
    """The estimates of the latest rater over all items, by metric and system; not of what people wrote."""
    result = [row for row in results.rows(project, protocol=protocol) if row.group_by == scoring.ALL]
    return {(row.metric, row.system): row.estimate for row in result if row.system != PEOPLE}


def judgements(project: Project, protocol: str) -> list[Any]:
    with project.store.read() as db:
        return list(db.execute(select(JUDGEMENT).where(JUDGEMENT.c.protocol == protocol)))


def parts(project: Project, part: ResponsePart) -> Iterator[tuple[str, Sequence[Any]]]:
    names, wanted = results.systems_named(project), materials.for_extracting(EXTRACTIONS["adra.references"])
    for at_hand in materials.each(project, wanted, materials.item_ids(project)):
        for response in at_hand.responses:
            if response.response.mode != EXEMPLAR:
                drawn = drawn_extracts.parts_of(project, response.response.id)[part]
                yield names[response.response.system_id], drawn.document.units


def public_lengths(system: str) -> dict[int, int]:
    entries = json.loads((REAL / f"responses/{system}.json").read_text(encoding="utf-8"))
    return {entry["id"]: len(entry["response"]) for entry in entries if entry["id"] in QUESTIONS}


@pytest.mark.parametrize("protocol", [name for name in JUDGED if PROTOCOLS[name].baseline])
def test_the_baseline_answers_every_case_and_says_what_it_is(
    project: Project, tmp_path: Path, protocol: str
) -> None:
    assert judge(project, protocol, "baseline")["state"] == "done"
    result = figures(project, protocol)
    assert {system for _, system in result} == (set(SYSTEMS) if PROTOCOLS[protocol].metrics else set())
    assert_within_bounds(result, protocol)
    judged = judgements(project, protocol)
    assert judged
    assert all("baseline" in row.rationale or row.flags for row in judged)


def assert_within_bounds(result: dict[tuple[str, str], Any], protocol: str) -> None:
    most = {metric.name: metric.within[1] for metric in PROTOCOLS[protocol].metrics}
    assert all(0 <= one.value <= most[name] for (name, _), one in result.items() if one.value is not None)


def test_a_server_that_answers_at_random_within_the_schema_yields_no_invented_verdict(
    project: Project, tmp_path: Path
) -> None:
    # What it makes up has claim ids that nobody asked about.
    judge(project, "researcherbench.claims", JUDGE)
    judged = judgements(project, "researcherbench.claims")
    assert {row.status for row in judged} == {Status.INVALID}
    assert all(row.value is None for row in judged)
    told = figures(project, "researcherbench.claims")
    assert [told["faithfulness", system].value for system in SYSTEMS] == [None, None]


# Units in one call


NUGGETS = "deepscholar.nuggets"


def asked_in_calls(project: Project, llmock: LLMock, name: str = JUDGE, **how: Any) -> tuple[int, int, str]:
    """The calls that an order was told to take, those that it took, and who is named as its judge."""
    order = RunRequest(name, NUGGETS, **how)
    foreseen, before = orders.forecast(project, order), len(llmock.requests)
    asyncio.run(orders.carry_out(project, order))
    return foreseen.calls, len(llmock.requests) - before, run_records.runs(project)[0].judge


def test_ten_nuggets_share_a_call_unless_one_is_wanted(project: Project, llmock: LLMock) -> None:
    reports, said = REPORTS, {"quote": "", "rationale": "So.", "support": "not_support"}
    ids = {case.unit.id for case in judge_cases.cases(project, RunRequest(JUDGE, NUGGETS))}
    llmock.reply(json.dumps({"answers": [said | {"id": one} for one in ids]}), times=reports)
    llmock.reply(json.dumps(said), times=None)
    assert asked_in_calls(project, llmock) == (reports, reports, JUDGE)
    one_by_one = asked_in_calls(project, llmock, together=1)
    assert one_by_one == (len(FACTS) * reports, len(FACTS) * reports, f"{JUDGE}, 1 together")


def test_a_judge_from_before_asks_one_nugget_a_call_and_its_run_goes_on_so(
    project: Project, llmock: LLMock
) -> None:
    llmock.reply(json.dumps({"quote": "", "rationale": "So.", "support": "not_support"}), times=None)
    sql.alter(project, "UPDATE judge SET asking = '{}' WHERE name = 'mock'")
    units = len(FACTS) * REPORTS
    assert asked_in_calls(project, llmock) == (units, units, JUDGE)
    sql.alter(project, "UPDATE run SET state = 'interrupted'")
    sql.alter(project, "DELETE FROM judgement WHERE value IS NOT NULL")
    going_on = orders.unfinished(project)
    assert (going_on.judge, going_on.together) == (JUDGE, 1)
    assert asyncio.run(orders.carry_out(project, going_on))["judged"] == units
    # Its answers are in the journal: nothing is asked in another way.
    assert len(llmock.requests) == units


# What an estimate says, and what a run takes


SETTINGS: dict[str, dict[str, int]] = {
    "twice": {"trials": 2},
    "two units a call": {"together": 2, "trials": 2},
    "sources farther off": {"window": 5},
}


def is_set(protocol: str, setting: str) -> bool:
    how, several = SETTINGS[setting], PROTOCOLS[protocol].judge_together is not None
    if protocol == COVERAGE:
        return "window" in how
    return several is ("together" in how) and "window" not in how


@pytest.mark.parametrize(
    ("protocol", "setting"), [(one, name) for one in JUDGED for name in SETTINGS if is_set(one, name)]
)
def test_a_run_takes_what_its_estimate_says(project: Project, protocol: str, setting: str) -> None:
    how = dict(SETTINGS[setting])
    if window := how.pop("window", 0):
        widen(project, window)
    # One report is enough where none is compared with another's.
    systems = () if PROTOCOLS[protocol].paired or PROTOCOLS[protocol].exemplar else SYSTEMS[:1]
    with at_work(CountingServer()) as server:
        judges.add(project, "counted", base_url=server.url, model="test-model")
        whole = RunRequest("counted", protocol, systems=systems, **how)
        asyncio.run(near(project, server, replace(whole, items=("1",)), whole))
    assert_within_bounds(figures(project, protocol), protocol)


CHECKLIST, REFERENCE = "arena.checklist.make", "researcherbench.reference"


def keys(project: Project) -> list[str]:
    return [items.read(project, one).key for one in items.ids(project)]


# Those that ask nobody, or that need another document first, are left out.
@pytest.mark.parametrize(
    "name",
    [
        *(name for name in EXTRACTIONS if name != "deepscholar.sentences"),
        *(f"{judge_cases.DRAFT}{name}" for name in ("deepscholar.nuggets.make", "draft.rubric")),
        *(f"{judge_cases.DRAFT}{name}" for name in ("draft.diagnostics", "researcherbench.insights")),
        *(f"{judge_cases.DRAFT}{name}" for name in ("researcherbench.classification", CHECKLIST, REFERENCE)),
    ],
)
def test_what_is_drawn_and_drafted_takes_what_its_estimate_says(tmp_path: Path, name: str) -> None:
    project = both_papers(tmp_path)
    add_exemplars(project)
    if name == labelled_sections.EXTRACTION:
        labelled_sections.fetch(project, "It was measured.")
    if name.endswith(REFERENCE):
        for item in items.ids(project):
            artifacts.start(
                project, item, Kind.INSIGHTS, Insights(units=(Insight(text="A block adds its input."),))
            )
    with at_work(CountingServer()) as server:
        if name in (f"{judge_cases.DRAFT}{CHECKLIST}", labelled_sections.EXTRACTION):
            server.listed = 4
        if name.endswith(CHECKLIST):
            server.fixed = {"weight": 0.25}
        judges.add(project, JUDGE, base_url=server.url, model="test-model")
        first, other = (RunRequest(JUDGE, name, items=(key,)) for key in keys(project))
        asyncio.run(near(project, server, first, other))


@pytest.mark.parametrize("piece_words", [0, 150, 400])
def test_a_transcript_in_pieces_takes_what_its_estimate_says(tmp_path: Path, piece_words: int) -> None:
    project = small_sample(tmp_path, "seminar")
    with at_work(CountingServer()) as server:
        server.listed = 6
        judges.add(project, JUDGE, base_url=server.url, model="test-model")
        of = RunRequest(JUDGE, f"{judge_cases.DRAFT}arena.inspirations", piece_words=piece_words)
        seminars = [one for one in items.ids(project) if items.of(project, one) is ItemRole.SEMINAR]
        order = replace(of, items=tuple(items.read(project, seminar).key for seminar in seminars))
        assert order.items
        asyncio.run(near(project, server, order, measured=False))


def test_tasks_of_a_seminar_take_what_their_estimate_says(tmp_path: Path) -> None:
    project = small_sample(tmp_path, "seminar")
    seminar = keys(project)[0]
    with at_work(CountingServer()) as server:
        server.listed, server.fixed = 6, {"phase": Phase.SYNTHESIZE.value, "family": Family.SURVEY.value}
        judges.add(project, JUDGE, base_url=server.url, model="test-model")
        order = RunRequest(JUDGE, f"{judge_cases.DRAFT}arena.tasks", items=(seminar,))
        asyncio.run(near(project, server, order, measured=False))
