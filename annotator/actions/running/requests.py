"""What the window asks of its child: an order as one line of JSON, and from what file and by whom it comes."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from pydantic import TypeAdapter, ValidationError

from annotator.actions.attacks.attack_tests import AttackOrder
from annotator.actions.items import page_fetching
from annotator.actions.items.page_fetching import PagesFolder
from annotator.actions.judging.judge_probes import ProbeOrder
from annotator.actions.project.file import Project
from annotator.actions.running import orders
from annotator.actions.running.orders import AnyOrder
from annotator.actions.runs.judge_cases import Order
from annotator.actions.runs.run_lines import Line
from annotator.domain.texts.refusal import Refusal

# How an order is called on its way.
KINDS: dict[str, Any] = {
    "run": Order,
    "attack": AttackOrder,
    "fetch": page_fetching.Order,
    "pages": PagesFolder,
    "probe": ProbeOrder,
}


@dataclass(frozen=True, slots=True)
class Request:
    """An order for a project, by whoever is at work in it; with `estimate` only what it would take is wanted.

    No key is in it: a child finds keys in its environment.
    """

    file: Path
    order: AnyOrder
    by: str = ""
    readonly: bool = False
    estimate: bool = False

    def line(self) -> str:
        """The request in one line of JSON."""
        kind = next(name for name, one in KINDS.items() if type(self.order) is one)
        return json.dumps({"kind": kind} | asdict(self), default=str)


async def answer(
    asked: Request, project: Project, *, tell: Callable[[Line], None], listen: TextIO | None = None
) -> Line:
    """Do what is asked over its project; the last line is what came of it."""
    if asked.estimate and isinstance(asked.order, Order):
        tell(found := {"event": "ended", **(await orders.foreseen(project, asked.order)).tree()})
        return found
    return await orders.carry_out(project, asked.order, tell=tell, listen=listen)


def read(line: str) -> Request:
    """The request of a line; Refusal for a line that is none."""
    try:
        tree = json.loads(line)
        order = TypeAdapter(KINDS[tree.pop("kind")]).validate_python(tree.pop("order"))
        return Request(Path(tree.pop("file")), order, **tree)
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError):
        raise Refusal(
            "This command is the window's own, and nothing was asked of it.", "Use “judge run”."
        ) from None
