"""Features that an endpoint and its model have rejected, remembered in the project."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from annotator.actions.project.file import Project
from annotator.domain.judges.judge import Judge
from annotator.domain.texts.identity import now

if TYPE_CHECKING:
    from annotator.judging.calls.sending import Sender

SETTING, LATENCIES = "endpoints", "endpoint latencies"
# Servers are brought up to date: what they turned down a month ago is worth another try.
KEPT = timedelta(days=30)


def recall(project: Project, sender: "Sender") -> None:
    """Let a sender begin with what earlier ones have learned of the same endpoint and model."""
    from annotator.judging.calls.ladder import ReplyForm

    known = project.get(SETTING, {}).get(_name(sender))
    if known is None or now() - datetime.fromisoformat(known["since"]) > KEPT:
        return
    sender.learned.dropped.update(known["dropped"])
    sender.learned.renamed.update(known["renamed"])
    sender.ladder.top = ReplyForm(known["form"])


def form_of(project: Project, judge: Judge) -> str:
    """The form in which a judge's endpoint was found to answer; empty where nothing but the usual one is known."""
    known = project.get(SETTING, {}).get(_address(judge))
    return (
        "" if known is None or now() - datetime.fromisoformat(known["since"]) > KEPT else str(known["form"])
    )


def keep(project: Project, sender: "Sender") -> None:
    """Remember what a sender has learned; nothing is written where that is nothing new."""
    known: dict[str, Any] = dict(project.get(SETTING, {}))
    before, learned = known.get(_name(sender)), _learned(sender)
    if learned == ({} if before is None else {key: before[key] for key in before if key != "since"}):
        return
    known.pop(_name(sender), None)
    if learned:
        known[_name(sender)] = {**learned, "since": now().isoformat()}
    project.set(SETTING, known)


def keep_latency(project: Project, judge: Judge, seconds: float | None) -> None:
    """Remember how long a judge's endpoint took in a test; a project that is only read remembers nothing."""
    if seconds is not None and not project.readonly:
        project.set(LATENCIES, {**project.get(LATENCIES, {}), _address(judge): seconds})


def latency(project: Project, judge: Judge) -> float | None:
    """The seconds that a judge's endpoint took in its last test; None before the first."""
    found = project.get(LATENCIES, {}).get(_address(judge))
    return None if found is None else float(found)


def _address(judge: Judge) -> str:
    return f"{judge.base_url.strip().rstrip('/')} {judge.model}"


def _learned(sender: "Sender") -> dict[str, Any]:
    """What deviates from how every endpoint is met at first; empty when nothing does."""
    from annotator.judging.calls.ladder import ReplyForm

    learned, form = sender.learned, sender.ladder.top
    if not learned.dropped and not learned.renamed and form is ReplyForm.SCHEMA:
        return {}
    return {"dropped": sorted(learned.dropped), "renamed": dict(learned.renamed), "form": form.value}


def _name(sender: "Sender") -> str:
    endpoint = sender.client.endpoint
    return f"{endpoint.base_url} {endpoint.model}"
