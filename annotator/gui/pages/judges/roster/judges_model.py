"""Qt model of judges and their runs: settings, totals, cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotator.actions.judging.judge_offers import CHECKS, title
from annotator.actions.judging.judge_queue import QueuedRun
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.judge_totals import JudgeTotal
from annotator.actions.runs.run_records import RunLine
from annotator.domain.judges.judge import Judge, RunState
from annotator.domain.texts.counting import usd
from annotator.gui.review.judge_words import STATE_LOOKS, causes_words, day, kind_of, spent, spent_tip, when
from annotator.gui.tables.cells import Column

# So many past runs are offered to be looked into.
RUNS_OFFERED = 40


@dataclass(frozen=True, slots=True)
class JudgeLine:
    """A judge with its totals."""

    judge: Judge
    total: JudgeTotal


def _missing_look(total: JudgeTotal) -> tuple[str, str] | None:
    return ("warning", "state-unconfirmed") if total.missing else None


def _missing(total: JudgeTotal) -> str:
    return f"{total.missing.total():,}" if total.judgements else ""


def _afresh(total: JudgeTotal) -> str:
    return usd(total.afresh_usd) if total.afresh_usd is not None else "not known" if total.calls else "–"


JUDGES: Sequence[Column[JudgeLine]] = (
    Column("Judge", lambda row: row.judge.name, 150),
    Column("Kind", lambda row: kind_of(row.judge), 78),
    Column("Model", lambda row: row.judge.model or "–", 120),
    Column("Endpoint", lambda row: row.judge.base_url or "–", 130),
    Column(
        "Verdicts", lambda row: f"{row.total.verdicts:,}" if row.total.judgements else "", 74, number=True
    ),
    Column(
        "Missing",
        lambda row: _missing(row.total),
        72,
        tip=lambda row: causes_words(row.total.missing) or "Nothing is missing.",
        look=lambda row: _missing_look(row.total),
        number=True,
        about="Judgements that were asked for and have no verdict. They never count as “no”.",
    ),
    Column(
        "Cost",
        lambda row: spent(row.total.spent_usd, row.total.calls, row.total.unpriced),
        84,
        tip=lambda row: spent_tip(row.total.spent_usd, row.total.calls, row.total.unpriced),
        number=True,
    ),
)
TOTALS: Sequence[Column[JudgeTotal]] = (
    Column("What it judged", lambda total: title(total.protocol), 190),
    Column("Items", lambda total: f"{total.items:,}", 54, number=True),
    Column("Verdicts", lambda total: f"{total.verdicts:,}", 74, number=True),
    Column(
        "Missing, by cause",
        lambda total: causes_words(total.missing) or "none",
        140,
        look=_missing_look,
    ),
    Column(
        "No quote",
        lambda total: f"{total.quotes_missing:,}",
        74,
        number=True,
        about="Verdicts whose quote is not found in the report: to be checked by people.",
    ),
    Column("Calls", lambda total: f"{total.calls:,}", 56, number=True),
    Column(
        "Spent",
        lambda total: spent(total.spent_usd, total.calls, total.unpriced),
        80,
        tip=lambda total: spent_tip(total.spent_usd, total.calls, total.unpriced),
        number=True,
    ),
    Column(
        "Uncached",
        _afresh,
        84,
        number=True,
        about="Cost of the calls behind its current judgements, as if nothing had been cached.",
    ),
)


def _outcome(run: RunLine) -> str:
    return "in progress" if run.state == RunState.RUNNING.value else run.state


def _run_cost(run: RunLine) -> str:
    return "–" if not run.paid else "not known" if run.cost_usd is None else usd(run.cost_usd)


def _scope(asked: RunLine | RunRequest) -> str:
    parts = [
        ", ".join(asked.systems) or "all systems",
        f"items {', '.join(asked.items)}" if asked.items else "all items",
    ]
    parts += [f"{asked.together} units together"] if asked.together > 1 else []
    parts += [f"{asked.trials} trials"] if asked.trials > 1 else []
    return " · ".join(parts)


def run_words(run: RunLine) -> str:
    return f"Run {when(run.started_at)} · {run.judge} · {title(run.protocol)}"


RUNS: Sequence[Column[RunLine]] = (
    Column("Started", lambda run: day(run.started_at), 98, tip=lambda run: when(run.started_at), firm=True),
    Column("Judge", lambda run: run.judge, 128),
    Column(
        "What", lambda run: title(run.protocol), 150, tip=lambda run: f"{title(run.protocol)}\n{_scope(run)}"
    ),
    Column("Outcome", _outcome, 98, firm=True, look=lambda run: STATE_LOOKS.get(run.state)),
    Column("Judged", lambda run: f"{run.judged:,} of {run.total:,}", 96, number=True, firm=True),
    Column(
        "Missing",
        lambda run: f"{sum(run.missing.values()):,}" if run.missing else "none",
        76,
        tip=lambda run: causes_words(run.missing) or "none",
        number=True,
        firm=True,
        look=lambda run: ("warning", "state-unconfirmed") if run.missing else None,
    ),
    Column(
        "Not asked",
        lambda run: f"{run.left:,}" if run.left else "none",
        78,
        number=True,
        firm=True,
        about="Questions that the run has not asked, because it was stopped or is still running. For "
        "extraction: reports not yet processed.",
    ),
    Column("Cost", _run_cost, 74, number=True),
)


WAITING: Sequence[Column[QueuedRun]] = (
    Column("Judge", lambda one: one.order.judge, 130),
    Column("What", lambda one: title(one.order.protocol), 160),
    Column("Of", lambda one: _scope(one.order), 180),
    Column(
        "Budget",
        lambda one: usd(one.order.budget_usd) if one.order.budget_usd else "no limit",
        80,
        number=True,
    ),
)


def compared(judge: str, protocol: str) -> dict[str, Any]:
    """The place on the page Validate where the checks of a judge are compared with what it said at first."""
    choose = {"judge": judge, "protocol": protocol.removeprefix(CHECKS)}
    return {"part": "Figures", "view": "again", "choose": choose}
