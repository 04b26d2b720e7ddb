"""Totals per judge: verdicts, missing ones by cause, and cost."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import case, func, select
from sqlalchemy.engine import Connection

from annotator.actions.project.file import Project
from annotator.actions.runs.journal import UNBILLED, bills
from annotator.domain.judges.judgement import SETTLED, RaterKind, Status
from annotator.storage.tables import CALL, JUDGEMENT

FLAGGED = "quote_missing"


@dataclass(slots=True)
class JudgeTotal:
    """Totals of a judge under a protocol: verdicts, missing ones by cause, and quotes not found.

    `calls` and `spent_usd` are of its runs under the protocol; `unpriced` calls cost something that nobody knows.
    `afresh_usd` is what the calls behind its present judgements cost when they were made, by whichever run: what
    the same would cost had nothing been remembered. `items` counts the questions.
    """

    judge_id: str
    protocol: str
    verdicts: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    quotes_missing: int = 0
    items: int = 0
    calls: int = 0
    unpriced: int = 0
    spent_usd: float | None = None
    afresh_usd: float | None = None

    @property
    def judgements(self) -> int:
        return self.verdicts + self.missing.total()


def summed(found: Iterable[JudgeTotal], judge_id: str) -> JudgeTotal:
    """All that a judge has come to, whatever it was asked; the items are those of the protocol with the most."""
    mine = [total for total in found if total.judge_id == judge_id]
    whole = JudgeTotal(judge_id, "")
    for total in mine:
        whole.verdicts += total.verdicts
        whole.missing += total.missing
        whole.quotes_missing += total.quotes_missing
        whole.calls += total.calls
        whole.unpriced += total.unpriced
        whole.items = max(whole.items, total.items)
    whole.spent_usd = _sum(total.spent_usd for total in mine)
    whole.afresh_usd = _sum(total.afresh_usd for total in mine)
    return whole


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None


def totals(project: Project, judge_id: str = "", run_id: str = "") -> list[JudgeTotal]:
    """What the judges have come to, or one of them, or one run: a line for each judge and protocol."""
    found: dict[tuple[str, str], JudgeTotal] = {}
    with project.store.read() as db:
        _judgements(db, found, judge_id, run_id)
        _spent(db, found, judge_id, run_id)
        _afresh(db, found, judge_id, run_id)
    return [found[key] for key in sorted(found)]


def _judgements(db: Connection, found: dict[tuple[str, str], JudgeTotal], judge_id: str, run_id: str) -> None:
    j = JUDGEMENT.c
    counted = func.sum(case((j.flags.contains(FLAGGED), 1), else_=0))
    question = select(j.rater_id, j.protocol, j.status, func.count(), counted).group_by(
        j.rater_id, j.protocol, j.status
    )
    items = select(j.rater_id, j.protocol, func.count(j.item_id.distinct())).group_by(j.rater_id, j.protocol)
    wanted = [j.rater_kind == RaterKind.JUDGE.value]
    wanted += [j.rater_id == judge_id] if judge_id else []
    wanted += [j.run_id == run_id] if run_id else []
    for judge, protocol, status, count, flagged in db.execute(question.where(*wanted)):
        total = found.setdefault((judge, protocol), JudgeTotal(judge, protocol))
        if status == Status.OK.value:
            total.verdicts = count
        elif status not in SETTLED:
            total.missing[status] = count
        total.quotes_missing += flagged
    for judge, protocol, count in db.execute(items.where(*wanted)):
        found[judge, protocol].items = count


def _spent(db: Connection, found: dict[tuple[str, str], JudgeTotal], judge_id: str, run_id: str) -> None:
    bill = bills()
    question = select(
        bill.c.judge_id, bill.c.protocol, func.count(), func.count(bill.c.charged), func.sum(bill.c.charged)
    ).group_by(bill.c.judge_id, bill.c.protocol)
    question = question.where(bill.c.judge_id == judge_id) if judge_id else question
    question = question.where(bill.c.run_id == run_id) if run_id else question
    for judge, protocol, calls, priced, spent in db.execute(question):
        total = found.setdefault((judge, protocol), JudgeTotal(judge, protocol))
        total.calls, total.unpriced, total.spent_usd = calls, calls - priced, spent


def _afresh(db: Connection, found: dict[tuple[str, str], JudgeTotal], judge_id: str, run_id: str) -> None:
    j = JUDGEMENT.c
    behind = select(j.rater_id, j.protocol, j.call_id).where(j.call_id.is_not(None)).distinct()
    behind = behind.where(j.rater_id == judge_id) if judge_id else behind
    behind = behind.where(j.run_id == run_id) if run_id else behind
    each = behind.subquery()
    question = (
        select(each.c.rater_id, each.c.protocol, func.sum(case((UNBILLED, None), else_=CALL.c.cost_usd)))
        .join(CALL, CALL.c.id == each.c.call_id)
        .group_by(each.c.rater_id, each.c.protocol)
    )
    for judge, protocol, cost in db.execute(question):
        found[judge, protocol].afresh_usd = cost
