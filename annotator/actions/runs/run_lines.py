"""Progress events of a run: JSON lines for a window, sentences for a person."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.judgement import SETTLED
from annotator.domain.texts.counting import counted
from annotator.domain.texts.moments import local

RunEvent = dict[str, Any]
_ASKS = JudgeKind.ENDPOINT.value
# What can be done about judgements without a verdict, by the kind of judge.
_ADVICE = {
    _ASKS: "Run the same command again to retry.",
    JudgeKind.DERIVED.value: "A vote makes no calls: have its members judge the missing units or more "
    "trials, or add a vote with one more member.",
    JudgeKind.BASELINE.value: "The list of missing judgements names the reason for each: "
    "correct it first, since asking again changes nothing.",
}


def line(
    run_id: str, deed: str, progress: Any, before: int, total: int, paid: float | None = 0.0
) -> RunEvent:
    """A line of progress: what, how many, how fast, how long still, what it cost, what did not come and why.

    The cost is that of the whole run, of which earlier sessions `paid` a part; None where some of it is unknown.
    """
    cost = None if paid is None or progress.unpriced else paid + progress.spent_usd
    rate = progress.done / progress.seconds if progress.seconds > 0 else 0.0
    left = (total - before - progress.done) / rate if rate else None
    missing = {name: count for name, count in progress.by_status.items() if name not in SETTLED}
    told = {
        "event": "progress",
        "run": run_id,
        "deed": deed,
        "done": before + progress.done,
        "total": total,
        "judged_now": progress.done,
        "calls": progress.calls,
        "reused": progress.reused,
        "rate": round(rate, 2),
        "left_s": None if left is None else round(left, 1),
        "seconds": round(progress.seconds, 2),
        "cost_usd": round(cost, 6) if cost is not None and (paid or progress.calls) else None,
        "missing": missing,
        "models": list(progress.models),
        "running": len(progress.running),
        "under_way": [_under_way(running) for running in progress.running],
    }
    if progress.waiting_until is not None:
        told["paused"] = f"The endpoint asks to wait until {local(progress.waiting_until):%H:%M:%S}"
    return told


def _under_way(running: Any) -> RunEvent:
    """A case that is being asked: of which response, about which units, for the how manyth time, since how long."""
    response, _, trial = running.keys[0]
    units = [unit for _, unit, _ in running.keys]
    return {"response": response, "units": units, "trial": trial, "seconds": round(running.seconds, 1)}


def batch_line(
    run_id: str, deed: str, told: Any, before: int, total: int, paid: float | None = 0.0
) -> RunEvent:
    """A line of a run that waits for its batches: nothing is judged yet, and how far the provider is."""
    from annotator.judging.runs.progress import ProgressTally

    until = f", by {told.until:%Y-%m-%d %H:%M} UTC at the latest" if told.until else ""
    return line(run_id, deed, ProgressTally().told((), None), before, total) | {
        "paused": f"The provider has answered {told.done:,} of {told.questions:,} questions{until}",
        "cost_usd": None if paid is None else round(paid + told.spent_usd, 6) or None,
        "batches": {
            "out": told.batches,
            "questions": told.questions,
            "done": told.done,
            "failed": told.failed,
            "fates": {fate.value: count for fate, count in told.fates.items()},
            "until": told.until.isoformat() if told.until else None,
        },
    }


def ended_line(
    run_id: str, deed: str, ended: Any, before: int, total: int, without: Mapping[str, int] | None = None
) -> RunEvent:
    """The last line of a run: as any other, how it ended, and what the whole came to.

    `without` counts by cause what the run has no verdict on, that of its earlier sessions included; None where only
    this session is known. `judged`, these and `not_asked` are together the total.
    """
    found = line(run_id, deed, ended.progress, before, total)
    lacking = dict(without or found["missing"])
    return found | {
        "event": "ended",
        "state": ended.state.value,
        "cause": ended.cause,
        "until": ended.until.isoformat() if ended.until else None,
        "judged": max(0, found["done"] - sum(lacking.values())),
        "without": lacking,
        "not_asked": max(0, total - found["done"]),
    }


def together(found: Sequence[RunEvent], total: int) -> RunEvent:
    """The last line of an order of several runs, of which some may not have begun: sums, and how the last ended."""
    sums = ("done", "judged", "calls", "reused", "seconds")
    costs = [one["cost_usd"] for one in found]
    without: Counter[str] = Counter()
    for one in found:
        without.update(one["without"])
    whole = {name: round(sum(one[name] for one in found), 1) for name in sums}
    return (
        found[-1]
        | whole
        | {
            "total": total,
            "not_asked": max(0, total - whole["done"]),
            "without": dict(without),
            "missing": dict(without),
            "models": sorted({model for one in found for model in one["models"]}),
            "cost_usd": None if None in costs else sum(costs),
            "deed": "judgements judged",
            "runs": [one["run"] for one in found],
        }
    )


def words(line: RunEvent) -> list[str]:
    """The last line of a run as a person reads it."""
    left = f", {line['not_asked']:,} not asked" if line["not_asked"] else ""
    came = f"{line['judged']:,} of {line['total']:,} {line['deed']}{left}"
    said = [f"{came} ({line['state']}, {line['seconds']} s)."]
    if line["without"]:
        said.append(f"Without a verdict: {causes(line['without'])}. {_ADVICE[line.get('kind', _ASKS)]}")
    if line["calls"]:
        cost, reused = dollars(line["cost_usd"]), line["reused"]
        said.append(
            f"{counted(line['calls'], 'call')}, {counted(reused, 'answer')} taken from the journal; "
            f"the whole run cost {cost}."
        )
    if len(line["models"]) > 1:
        said.append(f"The endpoint answered as more than one model: {', '.join(line['models'])}.")
    if line["cause"]:
        said.append(f"Reason for stopping: {line['cause']}")
    return said


def causes(missing: Mapping[str, int]) -> str:
    """How many did not come for which cause; empty when all came."""
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in missing.items())


def dollars(cost: float | None) -> str:
    """What something cost; None is not known, and no $0."""
    return "an unknown amount" if cost is None else f"${cost:.4f}"
