"""Queued judge runs, stored in the project in their order."""

from collections.abc import Container
from dataclasses import asdict, dataclass, replace
from typing import Any

from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.material import extracting
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.change import new_id
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import EXTRACTIONS

SETTING = "judge_queue"
GONE = Refusal("That run is no longer queued.", "See the list of runs.")


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A queued order, with an id of its own."""

    id: str
    order: RunRequest


def waiting(project: Project) -> list[QueuedRun]:
    """The orders that wait, the next one first."""
    return [_read(tree) for tree in project.get(SETTING, [])]


def add(project: Project, order: RunRequest) -> QueuedRun:
    """Put an order at the end; Refusal for one that cannot be run, or that waits already."""
    judges.named(project, order.judge)
    if order.protocol in EXTRACTIONS:
        extracting.checked(project, order)
    else:
        for part in judge_runs.parts(project, order):
            judge_cases.checked(project, part)
    known = waiting(project)
    if any(replace(one.order, **_how(order)) == order for one in known):
        raise Refusal("The same run is already queued.", "See the list of runs.")
    added = QueuedRun(new_id(), order)
    _keep(project, [*known, added])
    return added


def remove(project: Project, waiting_id: str) -> None:
    """Let an order wait no longer."""
    known = waiting(project)
    left = [one for one in known if one.id != waiting_id]
    if len(left) == len(known):
        raise GONE
    _keep(project, left)


def take(project: Project, without: Container[str] = ()) -> RunRequest | None:
    """The order whose turn it is, which then waits no longer; None when nothing waits but of judges `without`."""
    known = waiting(project)
    taken = next((one for one in known if one.order.judge not in without), None)
    if taken is None:
        return None
    _keep(project, [one for one in known if one is not taken])
    return taken.order


def move(project: Project, waiting_id: str, by: int) -> None:
    """Let an order change places with the one before it (-1) or after it (1); at an end it stays."""
    known = waiting(project)
    place = next((n for n, one in enumerate(known) if one.id == waiting_id), None)
    if place is None:
        raise GONE
    goal = min(max(0, place + by), len(known) - 1)
    known.insert(goal, known.pop(place))
    _keep(project, known)


def _keep(project: Project, orders: list[QueuedRun]) -> None:
    project.set(SETTING, [{"id": one.id, **asdict(one.order)} for one in orders])


def _read(tree: dict[str, Any]) -> QueuedRun:
    fields = {name: value for name, value in tree.items() if name != "id"}
    chosen: dict[str, Any] = {
        name: tuple(fields[name]) for name in ("systems", "items", "models") if name in fields
    }
    return QueuedRun(tree["id"], RunRequest(**fields | chosen))


def _how(order: RunRequest) -> dict[str, Any]:
    """What does not tell two orders apart: how fast and for how much money they are run."""
    names = "concurrency", "timeout_s", "budget_usd", "requests_per_minute", "tokens_per_minute"
    return {name: getattr(order, name) for name in names}
