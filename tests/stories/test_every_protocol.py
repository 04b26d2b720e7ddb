"""Every protocol the whole way on public reports: drawn, judged by a model server and by the baseline, and scored."""

import asyncio
import csv
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from sqlalchemy import select

from annotator.actions.items import materials, page_fetching, pages
from annotator.actions.judges import judges
from annotator.actions.material import extracting
from annotator.actions.orders import orders  # fmt: skip
from annotator.actions.project.file import Project
from annotator.actions.results import results, scoring
from annotator.actions.results.response_scores import systems_named
from annotator.actions.runs import judge_cases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Case
from annotator.domain.material.part import ResponsePart
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.storage.tables import JudgementRow, table
from tests.material import drawn_extracts
from tests.material.bundles import REAL
from tests.projects.both_papers import FOUND, QUESTIONS, STEPS, SUPPORTED, SYSTEMS, UNSUPPORTED, both_papers

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the shared ResearcherBench data are not there")
JUDGED = [name for name, shape in PROTOCOLS.items() if shape.values and not shape.by_people]
OF_REPORTS = {"researcherbench.claims.extract", "adra.plan.draw", "adra.references"}
JUDGEMENT = table(JudgementRow)
JUDGE, PAGE = "mock", "This page holds what the first claim says and nothing of the second."


@pytest.fixture
def project(tmp_path: Path, llmock: LLMock) -> Iterator[Project]:
    project = both_papers(tmp_path)
    judges.add(project, JUDGE, base_url=llmock.base_url(), model="gpt-4o-mini")
    yield project
    project.close()


def drawn(project: Project, tmp_path: Path) -> None:
    """The parts that the baseline finds in the reports, and a page for every address they cite."""
    for name in OF_REPORTS:
        asyncio.run(extracting.run(project, RunRequest("baseline", name)))
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "page.txt").write_text(PAGE, encoding="utf-8")
    with (folder / "pages.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("url", "file"), *((url, "page.txt") for url in pages.cited(project))])
    asyncio.run(page_fetching.import_folder(project, folder))


def judge(project: Project, protocol: str, name: str) -> dict[str, Any]:
    """A run of one call at a time, so that the replies come to the cases in their order."""
    return asyncio.run(orders.carry_out(project, RunRequest(name, protocol, concurrency=1)))


def figures(project: Project, protocol: str) -> dict[tuple[str, str], Any]:
    """The estimates of the latest rater over all items, by metric and system."""
    found = [row for row in results.rows(project, protocol=protocol) if row.group_by == scoring.ALL]
    return {(row.metric, row.system): row.estimate for row in found}


def judgements(project: Project, protocol: str) -> list[Any]:
    """Everything that was judged under a protocol."""
    with project.store.read() as db:
        return list(db.execute(select(JUDGEMENT).where(JUDGEMENT.c.protocol == protocol)))


def asked(case: Case) -> tuple[object, ...]:
    """What the model is told of a case, as far as cases of one item differ in it."""
    if case.protocol == "adra.plan":
        return (case.given["predicted sub-task"],)
    return case.response.id, case.other and case.other.id, *(unit.id for unit in case.units)


# What the mock model replies to a case, by protocol.


def covered(case: Case) -> dict[str, Any]:
    """Yes to the criteria of weight 3."""
    return {"quote": "", "rationale": "By weight.", "covered": "yes" if case.unit.weight == 3 else "no"}


def verified(case: Case) -> dict[str, Any]:
    """Of each page the first claim is supported, the second is not, and of the others it is not known."""
    said = ("yes", "no", *["unknown"] * len(case.units))
    told = [
        {"id": unit.id, "quote": "", "rationale": "By place.", "supported": value}
        for unit, value in zip(case.units, said, strict=False)
    ]
    return {"claims": told}


def preferred(case: Case) -> dict[str, Any]:
    """The longer report."""
    longer = len(case.response.text) > len(case.other.text)
    return {"rationale": "By length.", "better": "first" if longer else "second"}


def told(_: Case) -> dict[str, Any]:
    """True, whatever is stated."""
    return {"quote": "", "rationale": "As always.", "verdict": "true"}


def crossed(case: Case) -> dict[str, Any]:
    """Every sub-task of a report does the work of the first gold one, and of no other."""
    verdicts = ("relevant", *["not"] * (len(case.units) - 1))
    cells = [{"id": f"g{n}", "reason": "As ever.", "verdict": one} for n, one in enumerate(verdicts, start=1)]
    return {"cells": cells}


REPLIES: dict[str, Callable[[Case], dict[str, Any]]] = {
    "researcherbench.coverage": covered,
    "researcherbench.claims": verified,
    "researcherbench.pairwise": preferred,
    "adra.plan": crossed,
    "adra.reasoning": told,
}

# What must come of them, counted apart from what counts in the product.


def public_coverage(_: Project) -> dict[tuple[str, str], float]:
    """Σ of the threes of all weights, from the public file itself."""
    rubrics = json.loads((REAL / "rubric.json").read_text(encoding="utf-8"))
    weights = [
        [float(one["weight"]) for one in rubric["rubric"]] for rubric in rubrics if rubric["id"] in QUESTIONS
    ]
    value = fmean(sum(w for w in of_item if w == 3) / sum(of_item) for of_item in weights)
    return {("coverage", system): value for system in SYSTEMS}


def counted_claims(project: Project) -> dict[tuple[str, str], float]:
    """yes / (yes + no) over the pages of each report, and cited / all of its claims, each once; then the mean."""
    shares: dict[tuple[str, str], list[float]] = defaultdict(list)
    for system, found in parts(project, ResponsePart.CLAIMS):
        claims_of = Counter(claim.url for claim in found if claim.url)
        refuted = sum(count > 1 for count in claims_of.values())
        shares["faithfulness", system].append(len(claims_of) / (len(claims_of) + refuted))
        cited = {(one.section, one.text, one.context) for one in found if one.url}
        made = {(one.section, one.text, one.context) for one in found}
        shares["groundedness", system].append(len(cited) / len(made))
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
    for system, found in parts(project, ResponsePart.PLAN):
        p, g = len(found), len(STEPS)
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
    for system, found in parts(project, ResponsePart.REFERENCES):
        n, tp = len(found), sum(one.identifier.lower().startswith(FOUND.lower()) for one in found)
        shares["retrieval.precision", system].append(tp / n)
        shares["retrieval.recall", system].append(tp / 2)
        shares["retrieval.f1", system].append(2 * tp / (n + 2))
        shares["retrieval.jaccard", system].append(tp / (n + 2 - tp))
    assert any(sum(values) for values in shares.values())
    return means(shares)


EXPECTED = {
    "researcherbench.coverage": public_coverage,
    "researcherbench.claims": counted_claims,
    "researcherbench.pairwise": longer_wins,
    "adra.plan": matched_plans,
    "adra.reasoning": all_said_true,
}


def parts(project: Project, part: ResponsePart) -> Iterator[tuple[str, Sequence[Any]]]:
    """The system of every response, and what was drawn from it."""
    names, wanted = systems_named(project), materials.for_extracting(EXTRACTIONS["adra.references"])
    for at_hand in materials.each(project, wanted, materials.item_ids(project)):
        for one in at_hand.responses:
            drawn = drawn_extracts.parts_of(project, one.response.id)[part]
            yield names[one.response.system_id], drawn.document.units


def means(shares: dict[tuple[str, str], list[float]]) -> dict[tuple[str, str], float]:
    """Macro-averages over the items."""
    assert all(len(values) == len(QUESTIONS) for values in shares.values())
    return {key: fmean(values) for key, values in shares.items()}


def public_lengths(system: str) -> dict[int, int]:
    entries = json.loads((REAL / f"responses/{system}.json").read_text(encoding="utf-8"))
    return {entry["id"]: len(entry["response"]) for entry in entries if entry["id"] in QUESTIONS}


@pytest.mark.parametrize("protocol", JUDGED)
def test_a_model_servers_verdicts_become_the_figures_counted_by_hand(
    project: Project, tmp_path: Path, llmock: LLMock, protocol: str
) -> None:
    drawn(project, tmp_path)
    cases = list(judge_cases.cases(project, RunRequest(JUDGE, protocol)))
    for case in cases:
        llmock.reply(json.dumps(REPLIES[protocol](case)))
    assert judge(project, protocol, JUDGE)["state"] == "done"
    # Questions that read the same are asked once.
    assert len(llmock.requests) == len({(case.item.id, *asked(case)) for case in cases})
    found = figures(project, protocol)
    wanted = EXPECTED[protocol](project)
    assert {key: one.value for key, one in found.items()} == pytest.approx(wanted)
    assert not any(one.missing for one in found.values())


@pytest.mark.parametrize("protocol", JUDGED)
def test_the_baseline_answers_every_case_and_says_what_it_is(
    project: Project, tmp_path: Path, protocol: str
) -> None:
    drawn(project, tmp_path)
    assert judge(project, protocol, "baseline")["state"] == "done"
    found = figures(project, protocol)
    assert {system for _, system in found} == set(SYSTEMS)
    assert all(0 <= one.value <= 1 for one in found.values() if one.value is not None)
    judged = judgements(project, protocol)
    assert judged
    assert all("baseline" in row.rationale or row.flags for row in judged)


def test_retrieved_works_are_matched_without_a_judge(project: Project, tmp_path: Path) -> None:
    drawn(project, tmp_path)
    found = figures(project, "adra.retrieval")
    assert {key: found[key].value for key in retrieved(project)} == pytest.approx(retrieved(project))


def test_a_server_that_answers_at_random_within_the_schema_yields_no_invented_verdict(
    project: Project, tmp_path: Path
) -> None:
    # What it makes up has claim ids that nobody asked about.
    drawn(project, tmp_path)
    judge(project, "researcherbench.claims", JUDGE)
    judged = judgements(project, "researcherbench.claims")
    assert {row.status for row in judged} == {Status.INVALID}
    assert all(row.value is None for row in judged)
    told = figures(project, "researcherbench.claims")
    assert [told["faithfulness", system].value for system in SYSTEMS] == [None, None]


REPLY_OF = {
    "researcherbench.claims.extract": {"claims": [{"context": "", "text": "It was measured.", "url": ""}]},
    "adra.plan.draw": {"subtasks": [{"passage": "", "text": step} for step in STEPS]},
    "adra.references": {
        "references": [
            {"quote": "", "title": "LongCite", "identifier": FOUND, "authors": "", "year": None},
        ]
    },
    "researcherbench.insights": {
        "insights": [
            {
                "quote": "What was measured is reported below.",
                "text": "It was measured.",
                "explanation": "It matters.",
            }
        ]
    },
}


@pytest.mark.parametrize("name", EXTRACTIONS)
def test_a_model_server_draws_from_every_report_or_item(project: Project, llmock: LLMock, name: str) -> None:
    llmock.reply(json.dumps(REPLY_OF[name]), times=None)
    ended = asyncio.run(extracting.run(project, RunRequest(JUDGE, name)))
    things = len(QUESTIONS) * (len(SYSTEMS) if name in OF_REPORTS else 1)
    assert (ended["state"], ended["done"]) == ("done", things)
