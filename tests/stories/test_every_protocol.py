"""Every protocol the whole way on public reports: drawn, judged by a model server and by the baseline, and scored."""

import asyncio
import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from sqlalchemy import select

from annotator.actions.authoring.settings import widen
from annotator.actions.items import items, materials, pages
from annotator.actions.judges import judges
from annotator.actions.material import extracting
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.results import results, scoring
from annotator.actions.results.results import systems_named
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Case
from annotator.domain.material.item import EXEMPLAR, Page, PageState
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.canonical import now
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.protocols.deepscholar.references import retrieved as retrieved_set
from annotator.storage.tables import JUDGEMENT
from tests.judging.odd_server import at_work
from tests.material import cited_sentences, drawn_extracts, key_points
from tests.material.bundles import REAL
from tests.material.protocol_replies import COVERAGE, OF_POINTS, PRECISION, RELEVANCE, REPLIES
from tests.projects.both_papers import (
    FACTS,
    FOUND,
    QUESTIONS,
    STEPS,
    SUPPORTED,
    SYSTEMS,
    UNSUPPORTED,
    add_checklist,
    add_nuggets,
    both_papers,
)
from tests.projects.labelling_project import add_report
from tests.servers.served import CountingServer, near
from tests.storage import sql
from tests.templates import once

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the shared ResearcherBench data are not there")
JUDGED = [name for name, protocol in PROTOCOLS.items() if protocol.values and not protocol.by_people]
WITH_BASELINE = [name for name in JUDGED if PROTOCOLS[name].baseline]
OF_REPORTS = {"researcherbench.claims.extract", "adra.plan.draw", "adra.references", "deepscholar.sentences"}
OF_SENTENCES = PRECISION, COVERAGE
PEOPLE = "People"
JUDGE, PAGE = "mock", "This page holds what the first claim says and nothing of the second."


@pytest.fixture
def protocol() -> str:
    return ""


@pytest.fixture
def project(tmp_path: Path, llmock: LLMock, protocol: str) -> Iterator[Project]:
    kinds = {name: of for of in (OF_POINTS, OF_SENTENCES) for name in of}
    exemplars = bool(protocol) and PROTOCOLS[protocol].exemplar
    project = drawn(tmp_path, exemplars, kinds.get(protocol, ()))
    judges.add(project, JUDGE, base_url=llmock.base_url(), model="gpt-4o-mini")
    yield project
    project.close()


@once
def drawn(folder: Path, exemplars: bool, of: Sequence[str]) -> Project:
    """What the baseline draws from the reports, a page for every address they cite, and what people wrote if wanted."""
    project = both_papers(folder)
    add_nuggets(project)
    add_checklist(project)
    if exemplars:
        add_exemplars(project)
    for name in OF_REPORTS:
        asyncio.run(extracting.run(project, RunRequest("baseline", name)))
    if of == OF_POINTS:
        key_points.draw(project)
    elif of == OF_SENTENCES:
        cited_sentences.fetch(project, parts(project, ResponsePart.SENTENCES), PAGE)
    else:
        take_in_pages(project, folder / "pages")
    return project


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


def asked(case: Case) -> tuple[object, ...]:
    """What the model is told of a case, as far as cases of one item differ in it."""
    if case.protocol == "adra.plan":
        return (case.given["predicted sub-task"],)
    if case.protocol == RELEVANCE:
        return (case.given["address"],)
    if case.protocol == PRECISION:
        return case.unit.text, case.given["page"]
    if case.protocol == COVERAGE:
        return case.units[0].sentence, case.units[0].sources
    return case.response.id, case.other and case.other.id, *(unit.id for unit in case.units)


# What must come of them, counted apart from what counts in the product.


def public_coverage(_: Project) -> dict[tuple[str, str], float]:
    rubrics = json.loads((REAL / "rubric.json").read_text(encoding="utf-8"))
    weights = [
        [float(one["weight"]) for one in rubric["rubric"]] for rubric in rubrics if rubric["id"] in QUESTIONS
    ]
    value = fmean(sum(w for w in of_item if w == 3) / sum(of_item) for of_item in weights)
    return {("coverage", system): value for system in SYSTEMS}


def counted_known(found: Sequence[Any]) -> int:
    """The claims that one page at least says yes or no of: of each page, only its first two triplets are told."""
    seen: Counter[str] = Counter()
    known = set()
    for one in (one for one in found if one.url):
        seen[one.url] += 1
        if seen[one.url] <= 2:
            known.add((one.section, one.text, one.context))
    return len(known)


def counted_claims(project: Project) -> dict[tuple[str, str], float]:
    """yes / (yes + no) over the pages of each report, and cited / all of its claims, each once; then the mean."""
    shares: dict[tuple[str, str], list[float]] = defaultdict(list)
    for system, result in parts(project, ResponsePart.CLAIMS):
        claims_of = Counter(claim.url for claim in result if claim.url)
        refuted = sum(count > 1 for count in claims_of.values())
        shares["faithfulness", system].append(len(claims_of) / (len(claims_of) + refuted))
        cited = {(one.section, one.text, one.context) for one in result if one.url}
        made = {(one.section, one.text, one.context) for one in result}
        shares["groundedness", system].append(len(cited) / len(made))
        shares["groundedness.released", system].append(sum(bool(one.url) for one in result) / len(result))
        known = counted_known(result)
        shares["groundedness_known", system].append(known / (known + len(made) - len(cited)))
    for system in {system for _, system in shares}:
        shares["faithfulness.released", system] = shares["faithfulness", system]
    return means(shares)


def longer_wins(_: Project) -> dict[tuple[str, str], float]:
    """One comparison on each item; the longer of the public reports wins it in both orders."""
    lengths = {system: public_lengths(system) for system in SYSTEMS}
    first, other = SYSTEMS
    won = fmean(float(lengths[first][n] > lengths[other][n]) for n in QUESTIONS)
    return {("win_rate", first): won, ("win_rate", other): 1 - won}


def matched_plans(project: Project) -> dict[tuple[str, str], float]:
    """One column of p × g is relevant. One to one TP = 1; any match: p of p rows are right, 1 of g columns found."""
    shares: dict[tuple[str, str], list[float]] = defaultdict(list)
    for system, result in parts(project, ResponsePart.PLAN):
        p, g = len(result), len(STEPS)
        shares["plan.precision", system].append(1 / p)
        shares["plan.recall", system].append(1 / g)
        shares["plan.f1", system].append(2 / (p + g))
        shares["plan.jaccard", system].append(1 / (p + g - 1))
        shares["plan_any.precision", system].append(p / p)
        shares["plan_any.recall", system].append(1 / g)
        # 2PR / (P + R) with P = 1 and R = 1/g; TP = 1, FP = 0, FN = g − 1.
        shares["plan_any.f1", system].append(2 / (g + 1))
        shares["plan_any.jaccard", system].append(1 / g)
    return means(shares)


def all_said_true(_: Project) -> dict[tuple[str, str], float]:
    """3 of 5 statements hold: A = P = 3/5, R = 3/3, F1 = 2·3/(2·3 + 2); none is left open: A is one in both."""
    share = SUPPORTED / (SUPPORTED + UNSUPPORTED)
    f1 = 2 * SUPPORTED / (2 * SUPPORTED + UNSUPPORTED)
    values = {
        "reasoning.accuracy": share,
        "reasoning.precision": share,
        "reasoning.recall": 1.0,
        "reasoning.f1": f1,
    }
    values["reasoning_silence.accuracy"] = share
    return {(name, system): value for system in SYSTEMS for name, value in values.items()}


def retrieved(project: Project) -> dict[tuple[str, str], float]:
    """Of two gold works one can be found, by its arXiv id."""
    shares: dict[tuple[str, str], list[float]] = defaultdict(list)
    for system, result in parts(project, ResponsePart.REFERENCES):
        n, tp = len(result), sum(one.identifier.lower().startswith(FOUND.lower()) for one in result)
        shares["retrieval.precision", system].append(tp / n)
        shares["retrieval.recall", system].append(tp / 2)
        shares["retrieval.f1", system].append(2 * tp / (n + 2))
        shares["retrieval.jaccard", system].append(tp / (n + 2 - tp))
    assert any(sum(values) for values in shares.values())
    return means(shares)


def longer_is_preferred(project: Project) -> dict[tuple[str, str], float]:
    """With one comparison on each item, what is won is what is preferred."""
    return {("preference", system): value for (_, system), value in longer_wins(project).items()}


def longer_is_organized(project: Project) -> dict[tuple[str, str], float]:
    """The longer report is longer than the exemplar too, and wins over it in both orders; the other loses both."""
    return {("organization", system): value for (_, system), value in longer_wins(project).items()}


def some_supported(_: Project) -> dict[tuple[str, str], float]:
    """Of two vital facts one is supported and one partly; the third, which is okay, is not supported."""
    values = {"": 1 / 3, ".partial": 1.5 / 3, ".vital": 1 / 2, ".vital_partial": 1.5 / 2}
    return {(f"nugget_coverage{name}", system): value for system in SYSTEMS for name, value in values.items()}


def one_relevant(project: Project) -> dict[tuple[str, str], float]:
    """2 for one work, over twice the works on arXiv, whatever their versions; 0 where none is named."""
    shares: dict[tuple[str, str], list[float]] = defaultdict(list)
    for system, result in parts(project, ResponsePart.REFERENCES):
        named = {re.sub(r"v\d+$", "", one.identifier.lower()) for one in result}
        on_arxiv = {name for name in named if name.startswith("arxiv:")}
        shares["relevance_rate", system].append((FOUND.lower() in on_arxiv) / max(len(on_arxiv), 1))
    assert any(sum(values) for values in shares.values())
    result = means(shares)
    # The public code does not divide by 2.
    return result | {("relevance_rate.released", system): 2 * value for (_, system), value in result.items()}


def aligned(project: Project) -> dict[tuple[str, str], float]:
    """The counts of each report's own points, averaged over the items and pooled."""
    drawn = list(parts(project, ResponsePart.KEYPOINTS))
    return means(key_points.shares(drawn)) | key_points.pooled(drawn)


def aligned_with_all(project: Project) -> dict[tuple[str, str], float]:
    """The counts of the item's pool: the same for both systems, for only its points decide here."""
    wanted = materials.for_judging(PROTOCOLS[OF_POINTS[1]])
    pools = [
        at_hand.responses[0].units(ResponsePart.POOL)
        for at_hand in materials.each(project, wanted, items.ids(project))
    ]
    assert all(pools)
    return means(key_points.shares([(system, pool) for pool in pools for system in SYSTEMS], ".common"))


def weighed(_: Project) -> dict[tuple[str, str], float]:
    """.5 · 9 + .3 · 5 + .2 · 0."""
    return {("ace", system): 6.0 for system in SYSTEMS}


EXPECTED = {
    "researcherbench.coverage": public_coverage,
    "researcherbench.claims": counted_claims,
    "researcherbench.pairwise": longer_wins,
    "adra.plan": matched_plans,
    "adra.reasoning": all_said_true,
    "adra.preference": longer_is_preferred,
    "deepscholar.organization": longer_is_organized,
    "deepscholar.nuggets": some_supported,
    RELEVANCE: one_relevant,
    PRECISION: lambda project: means(cited_sentences.precision(parts(project, ResponsePart.SENTENCES))),
    COVERAGE: lambda project: means(cited_sentences.coverage(parts(project, ResponsePart.SENTENCES))),
    **{f"deepscholar.{of}_importance": lambda _: {} for of in ("nugget", "reference")},
    "arena.checklist": weighed,
    **dict(zip(OF_POINTS, (aligned, aligned_with_all), strict=True)),
}


def parts(project: Project, part: ResponsePart) -> Iterator[tuple[str, Sequence[Any]]]:
    names, wanted = systems_named(project), materials.for_extracting(EXTRACTIONS["adra.references"])
    for at_hand in materials.each(project, wanted, materials.item_ids(project)):
        for response in at_hand.responses:
            if response.response.mode != EXEMPLAR:
                drawn = drawn_extracts.parts_of(project, response.response.id)[part]
                yield names[response.response.system_id], drawn.document.units


def means(shares: dict[tuple[str, str], list[float]]) -> dict[tuple[str, str], float]:
    assert all(len(values) == len(QUESTIONS) for values in shares.values())
    return {key: fmean(values) for key, values in shares.items()}


def public_lengths(system: str) -> dict[int, int]:
    entries = json.loads((REAL / f"responses/{system}.json").read_text(encoding="utf-8"))
    return {entry["id"]: len(entry["response"]) for entry in entries if entry["id"] in QUESTIONS}


@pytest.mark.parametrize("protocol", JUDGED)
def test_a_model_servers_verdicts_become_the_figures_counted_by_hand(
    project: Project, tmp_path: Path, llmock: LLMock, protocol: str
) -> None:
    settings = judge_cases.settings_of(judges.named(project, JUDGE), protocol, 0)
    cases = list(judge_cases.cases(project, RunRequest(JUDGE, protocol), settings=settings))
    for case in cases:
        llmock.reply(json.dumps(REPLIES[protocol](case)))
    assert judge(project, protocol, JUDGE)["state"] == "done"
    # Questions that read the same are asked once.
    assert len(llmock.requests) == len({(case.item.id, *asked(case)) for case in cases})
    result = figures(project, protocol)
    wanted = EXPECTED[protocol](project)
    assert {key: one.value for key, one in result.items()} == pytest.approx(wanted)
    assert not any(one.missing for one in result.values())


@pytest.mark.parametrize("protocol", WITH_BASELINE)
def test_the_baseline_answers_every_case_and_says_what_it_is(
    project: Project, tmp_path: Path, protocol: str
) -> None:
    assert judge(project, protocol, "baseline")["state"] == "done"
    result = figures(project, protocol)
    assert {system for _, system in result} == (set(SYSTEMS) if PROTOCOLS[protocol].metrics else set())
    most = {metric.name: metric.within[1] for metric in PROTOCOLS[protocol].metrics}
    assert all(0 <= one.value <= most[name] for (name, _), one in result.items() if one.value is not None)
    judged = judgements(project, protocol)
    assert judged
    assert all("baseline" in row.rationale or row.flags for row in judged)


def test_retrieved_works_are_matched_without_a_judge(project: Project, tmp_path: Path) -> None:
    result = figures(project, "adra.retrieval")
    assert {key: result[key].value for key in retrieved(project)} == pytest.approx(retrieved(project))


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
    reports, said = len(SYSTEMS) * len(QUESTIONS), {"quote": "", "rationale": "So.", "support": "not_support"}
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
    with project.store.write():
        sql.alter(project, "UPDATE judge SET asking = '{}' WHERE name = 'mock'")
    units = len(FACTS) * len(SYSTEMS) * len(QUESTIONS)
    assert asked_in_calls(project, llmock) == (units, units, JUDGE)
    with project.store.write():
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
    """Whether a setting changes what is asked under a protocol."""
    how, several = SETTINGS[setting], PROTOCOLS[protocol].judge_together is not None
    if "window" in how:
        return protocol == COVERAGE
    return several if "together" in how else not (several and how)


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
