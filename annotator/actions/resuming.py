"""How the last run that was left unfinished is gone on with, whatever it was about."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TextIO

from annotator.actions import drift, extracting, judge_runs, run_records
from annotator.actions.judge_cases import Order
from annotator.actions.project import Project
from annotator.actions.run_lines import Line
from annotator.protocols import EXTRACTIONS


async def resume(
    project: Project,
    judge: str = "",
    *,
    tell: Callable[[Line], None] = lambda _: None,
    listen: TextIO | None = None,
    **how: Any,
) -> Line:
    """Go on with the newest unfinished run (of a judge); `how` gives its concurrency, timeout_s and budget_usd."""
    return await carry_out(
        project, run_records.last_unfinished(project, judge).order(**how), tell=tell, listen=listen
    )


async def carry_out(
    project: Project,
    order: Order,
    *,
    tell: Callable[[Line], None] = lambda _: None,
    listen: TextIO | None = None,
) -> Line:
    """Carry an order out: judge by a protocol, draw by an extraction, or check a judge for drift."""
    if order.protocol.startswith(drift.PREFIX):
        order = replace(order, protocol=order.protocol.removeprefix(drift.PREFIX))
        return await drift.check(project, order, tell=tell, listen=listen)
    run = extracting.run if order.protocol in EXTRACTIONS else judge_runs.run
    return await run(project, order, tell=tell, listen=listen)
