"""How the last run of a judge that was left unfinished is gone on with: judging, drawing, pairing, checking drift."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TextIO

from annotator.actions.agreement import assisting
from annotator.actions.attacks import attack_tests, attacking
from annotator.actions.judging import drift, judge_runs
from annotator.actions.material import extracting
from annotator.actions.project.file import Project
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import Order
from annotator.actions.runs.run_lines import Line
from annotator.protocols import EXTRACTIONS, PROTOCOLS


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
    unfinished = run_records.last_unfinished(project, judge, _is_carried_out)
    return await carry_out(project, unfinished.order(**how), tell=tell, listen=listen)


async def carry_out(
    project: Project,
    order: Order,
    *,
    tell: Callable[[Line], None] = lambda _: None,
    listen: TextIO | None = None,
) -> Line:
    """Carry an order out: judge by a protocol, draw by an extraction, pair, check a judge for drift, attack it."""
    if order.protocol.startswith(attack_tests.PREFIX):
        return await attacking.go_on(project, order, tell=tell, listen=listen)
    if order.protocol.startswith(drift.PREFIX):
        order = replace(order, protocol=order.protocol.removeprefix(drift.PREFIX))
        return await drift.check(project, order, tell=tell, listen=listen)
    if assisting.is_one(order.protocol):
        return await assisting.run(project, order, tell=tell, listen=listen)
    run = extracting.run if order.protocol in EXTRACTIONS else judge_runs.run
    return await run(project, order, tell=tell, listen=listen)


def _is_carried_out(protocol: str) -> bool:
    """Whether `carry_out` knows what was ordered by that name."""
    return (
        protocol in PROTOCOLS
        or protocol in EXTRACTIONS
        or protocol.startswith((drift.PREFIX, attack_tests.PREFIX))
        or assisting.is_one(protocol)
    )
