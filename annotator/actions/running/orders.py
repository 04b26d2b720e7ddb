"""Every order that can be given: how it is carried out and gone on with, and what it would take."""

import asyncio
from pathlib import Path
from typing import Any, TextIO

from annotator.actions.agreement.assisting import Pairing
from annotator.actions.attacks import attack_forecasts, attack_offers, attack_tests
from annotator.actions.attacks.attack_forecasts import AttackForecast
from annotator.actions.attacks.attack_tests import AttackOrder
from annotator.actions.attacks.attacking import Attacking
from annotator.actions.items import page_fetching
from annotator.actions.items.page_fetching import PagesFolder
from annotator.actions.judges import judges, kept_keys, writers
from annotator.actions.judging import drift, forecasts, judge_probes
from annotator.actions.judging.drift import Checking
from annotator.actions.judging.forecasts import Forecast
from annotator.actions.judging.judge_probes import ProbeOrder
from annotator.actions.judging.judge_runs import Judging
from annotator.actions.material import draft_runs, responding
from annotator.actions.material.draft_runs import Drafting
from annotator.actions.material.extracting import Extracting
from annotator.actions.material.responding import Writing
from annotator.actions.project.file import Project
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import Order
from annotator.actions.runs.run_kind import RunKind, Tell
from annotator.actions.runs.run_lines import Line
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import EXTRACTIONS, PROTOCOLS, pairing

AnyOrder = Order | AttackOrder | page_fetching.Order | PagesFolder | ProbeOrder


# By how what is ordered begins; all else is an extraction, or judged by a protocol.
BEGINNINGS: dict[str, type[RunKind]] = {
    attack_tests.PREFIX: Attacking,
    drift.PREFIX: Checking,
    pairing.NAME: Pairing,
    draft_runs.PREFIX: Drafting,
    responding.PREFIX: Writing,
}


def kind_of(protocol: str) -> type[RunKind]:
    """Of which kind a run is that is ordered by that name."""
    named = (kind for beginning, kind in BEGINNINGS.items() if protocol.startswith(beginning))
    return next(named, Extracting if protocol in EXTRACTIONS else Judging)


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
) -> Line:
    """Carry an order out, whatever it is of; the last line tells how it ended."""
    if isinstance(order, Order):
        return await kind_of(order.protocol).run(project, order, tell=tell, listen=listen)
    if isinstance(order, page_fetching.Order):
        return await page_fetching.fetch(project, order, tell=tell, listen=listen)
    if isinstance(order, PagesFolder):
        return await page_fetching.import_folder(project, Path(order.folder), tell=tell)
    tell(found := {"event": "ended", **await judge_probes.test(project, order.judge)})
    return found


def unfinished(project: Project, judge: str = "", **how: Any) -> Order:
    """The order that goes on with the newest unfinished run (of a judge); `how` gives what is not kept of it.

    Reports and drafts are gone on with by the commands that asked for them.
    """
    return run_records.last_unfinished(project, judge, _is_resumed).order(**how)


def _is_resumed(protocol: str) -> bool:
    kind = kind_of(protocol)
    return kind.resumed and (kind is not Judging or protocol in PROTOCOLS)


async def foreseen(project: Project, order: Order) -> Forecast | AttackForecast:
    """What an order would take; nobody is asked."""
    if isinstance(order, AttackOrder):
        return await attack_forecasts.estimate(project, order.wish)
    return await forecasts.of(kind_of(order.protocol)(project, order))


def forecast(project: Project, order: Order) -> Any:
    """The same for whoever cannot wait for it."""
    return asyncio.run(foreseen(project, order))


def handed_over(project: Project, order: AnyOrder) -> dict[str, str]:
    """The environment in which a child finds the key of the endpoint that an order asks; empty where none is wanted."""
    if isinstance(order, AttackOrder):
        return attack_offers.handed_over(project, order.wish)
    if isinstance(order, page_fetching.Order | PagesFolder):
        return {}
    writer = writers.named(project, order.judge)
    asked = writers.as_endpoint(writer) if writer else judges.named(project, order.judge)
    return kept_keys.handed_over(project, asked)
