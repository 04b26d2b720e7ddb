"""What is remembered of endpoints in the project: features that they rejected, and tests that failed."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.judges.judge import Judge
from annotator.domain.texts.change import Change, now
from annotator.domain.texts.refusal import Refusal

if TYPE_CHECKING:
    from annotator.judging.calls.sending import Sender

SETTING, LATENCIES, FAILED = "endpoints", "endpoint latencies", "failed judge tests"
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
    sender.budget.beside = known.get("thinking beside the cap")


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


def keep_test(project: Project, judge: Judge, failure: str) -> None:
    """Remember why a judge's test failed until it passes one; a project that is only read remembers nothing."""
    known: dict[str, Any] = dict(project.get(FAILED, {}))
    before = known.pop(judge.id, None)
    if failure:
        known[judge.id] = {"why": failure, "of": _tested(judge), "at": now().isoformat(), "accepted": False}
    if not project.readonly and (failure or before):
        project.set(FAILED, known)


def failed_tests(project: Project) -> dict[str, str]:
    """Judge → why its test failed, of those that have not passed one since."""
    return {judge_id: one["why"] for judge_id, one in project.get(FAILED, {}).items()}


def accept(project: Project, judge: Judge) -> Change:
    """Let a judge run although its test failed; its figures go on saying so. Refusal where none failed."""
    people.refuse_others(project, "can let a judge run that failed its test")
    before = dict(project.get(FAILED, {}))
    if judge.id not in before:
        raise Refusal(f"“{judge.name}” has not failed a test.", "It can run as it is.")
    after = before | {judge.id: before[judge.id] | {"accepted": True}}
    with project.store.write() as db:
        project.set(FAILED, after)
        return record(
            project, db, Change("setting", FAILED, "use a judge that failed its test", before, after)
        )


def refuse_failed(project: Project, judge: Judge) -> None:
    """Refusal of a judge whose test failed with its present settings, unless a person said that it may run."""
    known = project.get(FAILED, {}).get(judge.id)
    if known is not None and known["of"] == _tested(judge) and not known["accepted"]:
        raise Refusal(
            f"“{judge.name}” failed its last test: {known['why']}",
            "Nothing was asked. Change it and test it again. To use it as it is: “Use it all the same” beside its test "
            f"on the Judges page, or goldsmith judge test FILE {judge.name} --use-anyway.",
        )


def _tested(judge: Judge) -> str:
    return " ".join((_address(judge), judge.parameters, judge.key_env))


def _address(judge: Judge) -> str:
    return f"{judge.base_url.strip().rstrip('/')} {judge.model}"


def _learned(sender: "Sender") -> dict[str, Any]:
    """What deviates from how every endpoint is met at first; empty when nothing does."""
    from annotator.judging.calls.ladder import ReplyForm

    learned, form, beside = sender.learned, sender.ladder.top, sender.budget.beside
    if not learned.dropped and not learned.renamed and form is ReplyForm.SCHEMA and not beside:
        return {}
    usual = {"dropped": sorted(learned.dropped), "renamed": dict(learned.renamed), "form": form.value}
    return usual | ({"thinking beside the cap": beside} if beside else {})


def _name(sender: "Sender") -> str:
    endpoint = sender.client.endpoint
    return f"{endpoint.base_url} {endpoint.model}"
