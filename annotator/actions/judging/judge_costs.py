"""Costs of asking models, by purpose, judge or run, and per question, system and criterion."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from sqlalchemy import ColumnElement, Subquery, case, func, select
from sqlalchemy.engine import Connection

from annotator.actions.judges import judges
from annotator.actions.judging.judge_offers import purpose
from annotator.actions.project.file import Project
from annotator.actions.runs import asked_units
from annotator.actions.runs.journal import bills
from annotator.domain.judges.judgement import RaterKind
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import CALL, ITEM, JUDGE, JUDGEMENT, RESPONSE, SYSTEM

# What calls are paid by.
PURPOSE, OF_JUDGE, OF_RUN = "purpose", "judge", "run"
_PAID_BY = (PURPOSE, OF_JUDGE, OF_RUN)
# What their costs are shared out among, and the columns that name it: the first one's is the name.
_NAMED: dict[str, tuple[ColumnElement[Any], ...]] = {
    "question": (ITEM.c.key,),
    "system": (SYSTEM.c.name,),
    "criterion": (JUDGEMENT.c.unit_id, ITEM.c.key),
}
ALL_ELSE = "Other: checks, attacks, extraction, test calls, unused answers"
# Less than this, in US dollars, is what sums of fractions leave.
_SMALL = 1e-9
BY = (*_PAID_BY, *_NAMED)


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of one purpose, judge, run, question, system or criterion under a protocol.

    `name` is that of the purpose, judge or system, the run's id, the item's key, or the unit's id with its item's key
    in `item`; empty for what is no single question's, system's or criterion's. `cost_usd` is None while the cost of no
    call is known; `unpriced` counts the calls of unknown cost, or the judgements that rest on one. `guessed` counts
    the requests that were cut short: their share of `cost_usd` is what others of their run cost on average.
    """

    name: str
    protocol: str
    judgements: int
    cost_usd: float | None
    unpriced: int
    item: str = ""
    calls: int = 0
    guessed: int = 0

    def words(self, by: str) -> str:
        """Whose line it is."""
        if not self.name and by != OF_RUN:
            return ALL_ELSE
        name = f"run {self.name[:8]}" if by == OF_RUN and self.name else self.name or purpose("")
        of = f" of item {self.item}" if self.item else ""
        about = f", {self.protocol}" if self.protocol else ""
        return f"{name}{of}{about}"

    def remark(self) -> str:
        """For how much, what is not known of the sum, and what is guessed in it."""
        counts = ((self.judgements, "judgements"), (self.calls, "calls"))
        told = [f"{number:,} {what}" for number, what in counts if number]
        said = f" for {' by '.join(told)}" if told else ""
        said += f", {self.unpriced:,} of unknown cost" if self.unpriced else ""
        return said + (f", {self.guessed:,} without an answer at the usual cost" if self.guessed else "")


def costs(project: Project, by: str = OF_JUDGE, *, judge: str = "", run: str = "") -> list[Cost]:
    """The costs by one of `BY`, the dearest first; of one judge (by name) or run (by id) if given.

    By each of them the lines come to the same sum: all that was paid, for runs, checks, attacks, drawing and trial
    calls. Among questions, systems and criteria all calls that put a judgement's question count, those that failed and
    were made again among them; what several judgements rest on is shared evenly among them; the rest is a line of its
    own.
    """
    if by not in BY:
        raise Refusal(f"Costs cannot be grouped by “{by}”.", f"Use one of {', '.join(BY)}.")
    judge_id = judges.named(project, judge).id if judge else ""
    if by in _PAID_BY:
        return _paid(project, by, judge_id, run)
    found = _shared(project, by, judge_id, run)
    return found + _rest(_paid(project, by, judge_id, run), found)


def total(found: Iterable[Cost]) -> float | None:
    """What lines come to together; None while the cost of none is known."""
    known = [one.cost_usd for one in found if one.cost_usd is not None]
    return fsum(known) if known else None


def _paid(project: Project, by: str, judge_id: str, run: str) -> list[Cost]:
    bill = bills()
    name = {OF_RUN: func.coalesce(bill.c.run_id, "")}.get(by, JUDGE.c.name)
    question = (
        select(
            name.label("name"),
            bill.c.protocol,
            func.sum(bill.c.charged).label("cost"),
            func.count().label("calls"),
            (func.count() - func.count(bill.c.charged)).label("unpriced"),
            (func.count() - func.sum(bill.c.known)).label("guessed"),
        )
        .join(JUDGE, JUDGE.c.id == bill.c.judge_id)
        .group_by(name, bill.c.protocol)
    )
    question = question.where(bill.c.judge_id == judge_id) if judge_id else question
    question = question.where(bill.c.run_id == run) if run else question
    with project.store.read() as db:
        rows = db.execute(question).all()
        given = _given(db, by)
    found: dict[tuple[str, str], Cost] = {}
    for row in rows:
        key = (purpose(row.protocol), "") if by == PURPOSE else (row.name, row.protocol)
        more = Cost(
            key[0], row.protocol if by != PURPOSE else "", given.get((row.name, row.protocol), 0), row.cost,
            row.unpriced, calls=row.calls, guessed=row.guessed,
        )  # fmt: skip
        found[key] = _together(found[key], more) if key in found else more
    return sorted(found.values(), key=lambda one: (-(one.cost_usd or 0), one.name, one.protocol))


def _given(db: Connection, by: str) -> dict[tuple[str, str], int]:
    """How many judgements there are by each judge (or run) under each protocol."""
    j = JUDGEMENT.c
    name = j.run_id if by == OF_RUN else JUDGE.c.name
    question = select(name, j.protocol, func.count()).join(JUDGE, JUDGE.c.id == j.rater_id)
    question = question.where(j.rater_kind == RaterKind.JUDGE.value).group_by(name, j.protocol)
    return {(row[0], row[1]): row[2] for row in db.execute(question)}


def _together(one: Cost, other: Cost) -> Cost:
    sums = {
        name: getattr(one, name) + getattr(other, name)
        for name in ("judgements", "unpriced", "calls", "guessed")
    }
    return replace(one, cost_usd=total((one, other)), **sums)


def _rest(paid: list[Cost], shared: list[Cost]) -> list[Cost]:
    left = (total(paid) or 0.0) - (total(shared) or 0.0)
    return [Cost("", "", 0, left, 0)] if left > _SMALL else []


def _shared(project: Project, by: str, judge_id: str, run: str) -> list[Cost]:
    named, put = _NAMED[by], _put()
    spent = func.sum(put.c.cost / put.c.sharing)
    question = (
        select(
            *named,
            JUDGEMENT.c.protocol,
            func.count().label("judgements"),
            spent.label("cost"),
            func.sum(case((put.c.unpriced > 0, 1), else_=0)).label("unpriced"),
        )
        .select_from(JUDGEMENT)
        .join(CALL, CALL.c.id == JUDGEMENT.c.call_id)
        .join(put, put.c.cache_key == CALL.c.cache_key)
        .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.rater_id)
        .join(ITEM, ITEM.c.id == JUDGEMENT.c.item_id)
        .join(RESPONSE, RESPONSE.c.id == JUDGEMENT.c.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(JUDGEMENT.c.rater_kind == RaterKind.JUDGE.value)
        .group_by(*named, JUDGEMENT.c.protocol)
        .order_by(spent.desc(), *named, JUDGEMENT.c.protocol)
    )
    if judge_id:
        question = question.where(JUDGEMENT.c.rater_id == judge_id)
    if run:
        question = question.where(JUDGEMENT.c.run_id == run)
    with project.store.read() as db:
        rows = db.execute(question).all()
    return [
        Cost(
            row[0], row.protocol, row.judgements, row.cost, row.unpriced, row[1] if by == "criterion" else ""
        )
        for row in rows
    ]


def asked_about(project: Project, found: Iterable[Cost]) -> dict[tuple[str, str, str], str]:
    """(item's key, protocol, unit) → the words of the units that costs were told by."""
    wanted = {(one.item, one.protocol) for one in found}
    question = select(RESPONSE.c.id, ITEM.c.id, ITEM.c.key).join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
    with project.store.read() as db:
        of = {row[0]: (row[1], row[2]) for row in db.execute(question)}
    ids = {key: item_id for item_id, key in of.values()}
    said = {}
    for protocol in {protocol for _, protocol in wanted}:
        asked = sorted((ids[key], protocol) for key, name in wanted if name == protocol and key in ids)
        for (response, unit), words in asked_units.words_of(project, asked).items():
            said[of[response][1], protocol, unit] = words
    return said


def questions(project: Project) -> dict[str, str]:
    """Item's key → its question."""
    with project.store.read() as db:
        return {row.key: row.question for row in db.execute(select(ITEM.c.key, ITEM.c.question))}


def _put() -> Subquery:
    """Question → what all its calls cost together, how many of them nobody knows the cost of, and who shares it."""
    bill = bills()
    calls = (
        select(
            bill.c.cache_key,
            func.sum(bill.c.charged).label("cost"),
            (func.count() - func.count(bill.c.charged)).label("unpriced"),
        )
        .group_by(bill.c.cache_key)
        .subquery()
    )
    sharing = (
        select(CALL.c.cache_key, func.count().label("sharing"))
        .join(JUDGEMENT, JUDGEMENT.c.call_id == CALL.c.id)
        .group_by(CALL.c.cache_key)
        .subquery()
    )
    return select(calls, sharing.c.sharing).join(sharing, sharing.c.cache_key == calls.c.cache_key).subquery()
