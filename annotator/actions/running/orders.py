"""Every order that can be given: how it is carried out and gone on with, and what it would take."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from annotator.actions.agreement import assisting
from annotator.actions.attacks import attack_forecasts, attack_offers, attack_tests, attacking
from annotator.actions.attacks.attack_tests import AttackOrder
from annotator.actions.items import page_fetching
from annotator.actions.items.page_fetching import PagesFolder
from annotator.actions.judges import judges, kept_keys, writers
from annotator.actions.judging import drift, forecasts, judge_probes, judge_runs
from annotator.actions.judging.judge_probes import ProbeOrder
from annotator.actions.material import draft_runs, extracting, responding
from annotator.actions.project.file import Project
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import Order
from annotator.actions.runs.run_lines import Line
from annotator.protocols import EXTRACTIONS, PROTOCOLS

AnyOrder = Order | AttackOrder | page_fetching.Order | PagesFolder | ProbeOrder


async def carry_out(
    project: Project,
    order: AnyOrder,
    *,
    tell: Callable[[Line], None] = lambda _: None,
    listen: TextIO | None = None,
) -> Line:
    """Carry an order out, whatever it is of; the last line tells how it ended."""
    how: dict[str, Any] = {"tell": tell, "listen": listen}
    if isinstance(order, ProbeOrder):
        tell(found := {"event": "ended", **await judge_probes.test(project, order.judge)})
        return found
    if isinstance(order, PagesFolder):
        return await page_fetching.import_folder(project, Path(order.folder), tell=tell)
    if isinstance(order, page_fetching.Order):
        return await page_fetching.fetch(project, order, **how)
    if isinstance(order, AttackOrder):
        return await attacking.run(project, order, **how)
    if order.protocol.startswith(attack_tests.PREFIX):
        return await attacking.go_on(project, order, **how)
    if order.protocol.startswith(drift.PREFIX):
        order = replace(order, protocol=order.protocol.removeprefix(drift.PREFIX))
        return await drift.check(project, order, **how)
    if assisting.is_one(order.protocol):
        return await assisting.run(project, order, **how)
    if draft_runs.is_one(order.protocol):
        return await draft_runs.run(project, order, **how)
    if order.protocol in responding.MANNERS:
        return await responding.run(project, order, **how)
    run = extracting.run if order.protocol in EXTRACTIONS else judge_runs.run
    return await run(project, order, **how)


async def resume(
    project: Project,
    judge: str = "",
    *,
    tell: Callable[[Line], None] = lambda _: None,
    listen: TextIO | None = None,
    **how: Any,
) -> Line:
    """Go on with the newest unfinished run (of a judge); `how` gives its concurrency, timeout_s and budget_usd.

    Reports and drafts are gone on with by the commands that asked for them.
    """
    unfinished = run_records.last_unfinished(project, judge, _is_resumed)
    return await carry_out(project, unfinished.order(**how), tell=tell, listen=listen)


async def foreseen(project: Project, order: Order) -> dict[str, Any]:
    """What an order of a model would take, as a JSON tree; nobody is asked."""
    if isinstance(order, AttackOrder):
        return (await attack_forecasts.estimate(project, order.wish)).tree()
    return (await forecasts.of_any(project, order)).tree()


def handed_over(project: Project, order: AnyOrder) -> dict[str, str]:
    """The environment in which a child finds the key of the endpoint that an order asks; empty where none is wanted."""
    if isinstance(order, AttackOrder):
        return attack_offers.handed_over(project, order.wish)
    if isinstance(order, page_fetching.Order | PagesFolder):
        return {}
    writer = writers.named(project, order.judge)
    asked = writers.as_endpoint(writer) if writer else judges.named(project, order.judge)
    return kept_keys.handed_over(project, asked)


def _is_resumed(protocol: str) -> bool:
    return (
        protocol in PROTOCOLS
        or protocol in EXTRACTIONS
        or protocol.startswith((drift.PREFIX, attack_tests.PREFIX))
        or assisting.is_one(protocol)
    )
