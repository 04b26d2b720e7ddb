"""All kinds of orders: how each is run and resumed, and its cost estimate."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from annotator.actions.agreement.assisting import PairingRun
from annotator.actions.attacks import attack_tests, attacking
from annotator.actions.attacks.attack_tests import AttackRunRequest
from annotator.actions.attacks.attacking import AttackEstimate, AttackRun
from annotator.actions.contests.contest_runs import ContestRun
from annotator.actions.items import page_fetching
from annotator.actions.items.page_fetching import PagesFolder
from annotator.actions.judges import judges, kept_keys, writers
from annotator.actions.judging import drift, forecasts, judge_probes
from annotator.actions.judging.drift import DriftCheckRun
from annotator.actions.judging.forecasts import CostEstimate
from annotator.actions.judging.judge_probes import ProbeRequest
from annotator.actions.judging.judge_runs import JudgeRun
from annotator.actions.material import draft_runs, response_settings
from annotator.actions.material.draft_runs import DraftRun
from annotator.actions.material.extracting import ExtractionRun
from annotator.actions.material.responding import ResponseRun
from annotator.actions.project.file import Project
from annotator.actions.research.research_runs import ResearchRun
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_kind import RunKind, Tell
from annotator.actions.runs.run_lines import RunEvent
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import EXTRACTIONS, PROTOCOLS, pairing, papers
from annotator.protocols.lent import RANKING

AnyOrder = RunRequest | AttackRunRequest | page_fetching.FetchRequest | PagesFolder | ProbeRequest


# By how what is ordered begins; all else is an extraction, or judged by a protocol.
BEGINNINGS: dict[str, type[RunKind]] = {
    attack_tests.PREFIX: AttackRun,
    drift.PREFIX: DriftCheckRun,
    pairing.NAME: PairingRun,
    RANKING.name: ContestRun,
    draft_runs.PREFIX: DraftRun,
    response_settings.RESEARCH: ResearchRun,
    response_settings.PREFIX: ResponseRun,
}


def kind_of(protocol: str) -> type[RunKind]:
    """Of which kind a run is that is ordered by that name."""
    named = (kind for beginning, kind in BEGINNINGS.items() if protocol.startswith(beginning))
    return next(named, ExtractionRun if protocol in EXTRACTIONS else JudgeRun)


def of_judge(protocol: str) -> type[RunKind]:
    """The same of what a judge may be asked; Refusal for reports and drafts, which have commands of their own."""
    kind = kind_of(protocol)
    if not kind.resumed:
        raise Refusal(
            f"“{protocol}” is not a protocol to judge by.", "Use “respond” for reports, “draft” for drafts."
        )
    return kind


async def carry_out(
    project: Project, order: AnyOrder, *, tell: Tell = lambda _: None, listen: TextIO | None = None
) -> RunEvent:
    """Run an order, whatever it is of; the last line tells how it ended."""
    if isinstance(order, RunRequest):
        if order.budget_usd is not None and not isinstance(order, AttackRunRequest):
            await forecasts.refuse_small_budget(kind_of(order.protocol)(project, order))
        return await kind_of(order.protocol).run(project, order, tell=tell, listen=listen)
    if isinstance(order, page_fetching.FetchRequest):
        return await page_fetching.fetch(project, order, tell=tell, listen=listen)
    if isinstance(order, PagesFolder):
        return await page_fetching.import_folder(project, Path(order.folder), tell=tell, listen=listen)
    tell(found := {"event": "ended", **await judge_probes.test(project, order.judge)})
    return found


def unfinished(project: Project, judge: str = "", **how: Any) -> RunRequest:
    """The order that resumes the newest unfinished run (of a judge); `how` gives what is not kept of it.

    Reports and drafts are resumed by the commands that asked for them.
    """
    return run_records.last_unfinished(project, judge, _is_resumed).order(**how)


def _is_resumed(protocol: str) -> bool:
    kind = kind_of(protocol)
    return kind.resumed and (kind is not JudgeRun or protocol in PROTOCOLS)


async def foreseen(project: Project, order: RunRequest) -> CostEstimate | AttackEstimate:
    """What an order would take; nobody is asked."""
    if isinstance(order, AttackRunRequest):
        return await attacking.estimate(project, order.request)
    return await forecasts.of(kind_of(order.protocol)(project, order))


def forecast(project: Project, order: RunRequest) -> Any:
    return asyncio.run(foreseen(project, order))


def of_paper(project: Project, order: RunRequest) -> list[CostEstimate]:
    """What each protocol of a paper would take, which the order names in a protocol's place; none for any other name.

    Those that no model is asked for are not among them.
    """
    shapes = (shape for paper in papers() if paper.name == order.protocol for shape in paper.protocols)
    orders = (replace(order, protocol=shape.name) for shape in shapes if shape.judge is not None)
    return [asyncio.run(forecasts.of(JudgeRun(project, one))) for one in orders]


def handed_over(project: Project, order: AnyOrder) -> dict[str, str]:
    """The environment in which a child finds the key of the endpoint that an order asks; empty where none is wanted."""
    if isinstance(order, page_fetching.FetchRequest | PagesFolder):
        return {}
    writer = writers.named(project, order.judge)
    asked = writers.as_endpoint(writer) if writer else judges.named(project, order.judge)
    return kept_keys.handed_over(project, asked)
