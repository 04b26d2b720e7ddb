"""All kinds of orders: how each is run and resumed, and its cost estimate."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TextIO, cast

from pydantic import TypeAdapter, ValidationError

from annotator.actions.items import pages
from annotator.actions.judges import judges, kept_keys
from annotator.actions.judging import derived_judges, forecasts, judge_runs
from annotator.actions.judging.judge_runs import JudgeRun
from annotator.actions.material import responding
from annotator.actions.material.extracting import ExtractionRun
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import ATTACK, DRAFT, AttackRunRequest, RunRequest
from annotator.actions.runs.run_kind import RunKind, Tell
from annotator.actions.runs.run_records import RunEvent, last_unfinished, together
from annotator.domain.common import Refusal
from annotator.domain.judges.judge import RunState
from annotator.protocols import EXTRACTIONS, PAPERS, PROTOCOLS
from annotator.protocols.merging import NAME as PAIRING
from annotator.protocols.registry import RANKING

if TYPE_CHECKING:
    from annotator.actions.attacks.attacking import AttackEstimate

AnyOrder = (
    RunRequest | AttackRunRequest | pages.FetchRequest | pages.PagesFolder | derived_judges.ProbeRequest
)


# The runs by the beginning of the ordered name; all else is an extraction, or judged by a protocol. Loaded only when
# needed, as each loads much.
BEGINNINGS = {
    ATTACK: "attacks.attacking.AttackRun",
    judge_runs.CHECKS: "judging.drift.DriftCheckRun",
    PAIRING: "agreement.assisting.PairingRun",
    RANKING.name: "contests.contest_rows.ContestRun",
    DRAFT: "material.model_drafts.DraftRun",
    responding.RESEARCH: "research.ResearchRun",
    responding.PREFIX: "material.responding.ResponseRun",
}


def kind_of(protocol: str) -> type[RunKind]:
    """The kind of run for an order of that name."""
    for beginning, place in BEGINNINGS.items():
        if protocol.startswith(beginning):
            module, _, name = place.rpartition(".")
            return cast(type[RunKind], getattr(import_module(f"annotator.actions.{module}"), name))
    return ExtractionRun if protocol in EXTRACTIONS else JudgeRun


def of_judge(protocol: str) -> type[RunKind]:
    """The same for what a judge can be asked; raises Refusal for reports and drafts, which have their own commands."""
    kind = kind_of(protocol)
    if not kind.resumed:
        raise Refusal(
            f"“{protocol}” is not a protocol to judge by.", "Use “respond” for reports, “draft” for drafts."
        )
    return kind


async def carry_out(
    project: Project, order: AnyOrder, *, tell: Tell = lambda _: None, listen: TextIO | None = None
) -> RunEvent:
    """Run an order of any kind; the last event says how it ended."""
    if isinstance(order, RunRequest) and order.protocol in PAPERS:
        return await _part_by_part(project, order, tell, listen)
    if isinstance(order, RunRequest):
        if order.budget_usd is not None and not isinstance(order, AttackRunRequest):
            await forecasts.refuse_small_budget(kind_of(order.protocol)(project, order))
        return await kind_of(order.protocol).run(project, order, tell=tell, listen=listen)
    if isinstance(order, pages.FetchRequest):
        return await pages.fetch(project, order, tell=tell, listen=listen)
    if isinstance(order, pages.PagesFolder):
        return await pages.import_folder(project, Path(order.folder), tell=tell, listen=listen)
    tell(result := {"event": "ended", **await derived_judges.test(project, order.judge)})
    return result


def _hand_on(listen: TextIO, lines: SimpleQueue[str | None]) -> None:
    for line in listen:
        lines.put(line)


async def _part_by_part(project: Project, order: RunRequest, tell: Tell, listen: TextIO | None) -> RunEvent:
    """Run each protocol of a paper in turn within one budget, until one is not completed; the last event covers all."""
    # The lines meant for the whole order are read by one of its parts after the other.
    result, lines = list[RunEvent](), SimpleQueue[str | None]()
    if listen is not None:
        Thread(target=_hand_on, args=(listen, lines), daemon=True).start()
    each = judge_runs.parts(project, order)
    if order.budget_usd is not None:
        await forecasts.refuse_small_budget(JudgeRun(project, each[0]))
    before = {request.protocol: judge_runs.plan(project, request).total for request in each}

    def tell_all(line: RunEvent) -> None:
        if line.get("event") != "ended":
            tell(
                {
                    **line,
                    "done": sum(one["done"] for one in result) + line["done"],
                    "total": sum(before.values()),
                }
            )

    for part in each:
        left = order.budget_usd
        if left is not None:
            left = max(0.0, left - sum(one["cost_usd"] or 0.0 for one in result))
        input_lines = None if listen is None else cast(TextIO, iter(lines.get, None))
        result.append(
            await JudgeRun.run(project, replace(part, budget_usd=left), tell=tell_all, listen=input_lines)
        )
        lines.put(None)
        if result[-1]["state"] != RunState.DONE.value:
            break
    tell(line := together(result, sum(before.values())))
    return line


def unfinished(project: Project, judge: str = "", **how: Any) -> RunRequest:
    """The order that resumes the newest unfinished run (of a judge); `how` gives what is not stored with it.

    Reports and drafts are resumed by the commands that asked for them.
    """
    return last_unfinished(project, judge, _is_resumed).order(**how)


def _is_resumed(protocol: str) -> bool:
    kind = kind_of(protocol)
    return kind.resumed and (kind is not JudgeRun or protocol in PROTOCOLS)


async def foreseen(project: Project, order: RunRequest) -> "forecasts.CostEstimate | AttackEstimate":
    """The estimate of an order; no model is asked."""
    if isinstance(order, AttackRunRequest):
        from annotator.actions.attacks import attacking

        return await attacking.estimate(project, order.request)
    if order.protocol in PAPERS:
        each = [await forecasts.of(JudgeRun(project, part)) for part in judge_runs.parts(project, order)]
        return forecasts.joined(each, order.protocol, judge_runs.left_out(project, order))
    return await forecasts.of(kind_of(order.protocol)(project, order))


def forecast(project: Project, order: RunRequest) -> Any:
    return asyncio.run(foreseen(project, order))


def handed_over(project: Project, order: AnyOrder) -> dict[str, str]:
    """The environment in which a child process finds the key of the order's endpoint; empty if none is needed."""
    if isinstance(order, pages.FetchRequest | pages.PagesFolder):
        return {}
    writer = judges.writer_named(project, order.judge)
    judge = judges.as_endpoint(writer) if writer else judges.named(project, order.judge)
    return kept_keys.handed_over(project, judge)


# The names of the kinds of order in a request.
KINDS: dict[str, Any] = {
    "run": RunRequest,
    "attack": AttackRunRequest,
    "fetch": pages.FetchRequest,
    "pages": pages.PagesFolder,
    "probe": derived_judges.ProbeRequest,
}


@dataclass(frozen=True, slots=True)
class ChildRequest:
    """An order with its project file and person; with `estimate`, only its cost is estimated.

    It contains no key: the child finds keys in its environment.
    """

    file: Path
    order: AnyOrder
    by: str = ""
    readonly: bool = False
    estimate: bool = False

    def line(self) -> str:
        kind = next(name for name, one in KINDS.items() if type(self.order) is one)
        return json.dumps({"kind": kind} | asdict(self), default=str)


async def answer(
    request: ChildRequest, project: Project, *, tell: Callable[[RunEvent], None], listen: TextIO | None = None
) -> RunEvent:
    """Carry out the request on its project; the last event is the result."""
    if request.estimate and isinstance(request.order, RunRequest):
        tell(result := {"event": "ended", **(await foreseen(project, request.order)).tree()})
        return result
    return await carry_out(project, request.order, tell=tell, listen=listen)


def read(line: str) -> ChildRequest:
    """The request in a line; raises Refusal for a line that is none."""
    try:
        tree = json.loads(line)
        order = TypeAdapter(KINDS[tree.pop("kind")]).validate_python(tree.pop("order"))
        return ChildRequest(Path(tree.pop("file")), order, **tree)
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError):
        raise Refusal(
            "This command is the window's own, and nothing was asked of it.", "Use “judge run”."
        ) from None
