"""Requests to the child process: an order as one line of JSON, with its file and person."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from pydantic import TypeAdapter, ValidationError

from annotator.actions.attacks.attack_tests import AttackRunRequest
from annotator.actions.items import page_fetching
from annotator.actions.items.page_fetching import PagesFolder
from annotator.actions.judging.judge_probes import ProbeRequest
from annotator.actions.orders import orders
from annotator.actions.orders.orders import AnyOrder
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_lines import RunEvent
from annotator.domain.texts.refusal import Refusal

# How an order is called on its way.
KINDS: dict[str, Any] = {
    "run": RunRequest,
    "attack": AttackRunRequest,
    "fetch": page_fetching.FetchRequest,
    "pages": PagesFolder,
    "probe": ProbeRequest,
}


@dataclass(frozen=True, slots=True)
class ChildRequest:
    """An order with its project file and person; with `estimate` only its cost is estimated.

    No key is in it: a child finds keys in its environment.
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
    asked: ChildRequest, project: Project, *, tell: Callable[[RunEvent], None], listen: TextIO | None = None
) -> RunEvent:
    """Do what is asked over its project; the last line is what came of it."""
    if asked.estimate and isinstance(asked.order, RunRequest):
        tell(found := {"event": "ended", **(await orders.foreseen(project, asked.order)).tree()})
        return found
    return await orders.carry_out(project, asked.order, tell=tell, listen=listen)


def read(line: str) -> ChildRequest:
    """The request of a line; Refusal for a line that is none."""
    try:
        tree = json.loads(line)
        order = TypeAdapter(KINDS[tree.pop("kind")]).validate_python(tree.pop("order"))
        return ChildRequest(Path(tree.pop("file")), order, **tree)
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError):
        raise Refusal(
            "This command is the window's own, and nothing was asked of it.", "Use “judge run”."
        ) from None
