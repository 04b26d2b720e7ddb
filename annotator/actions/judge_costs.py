"""What judging has cost, by judge, question, system or criterion: each call shared out among all that rests on it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Subquery, case, func, select

from annotator.actions import asked_units, judges
from annotator.actions.items import ITEM
from annotator.actions.journal import CALL, JUDGEMENT
from annotator.actions.judges import JUDGE
from annotator.actions.materials import RESPONSE, SYSTEM
from annotator.actions.project import Project
from annotator.domain.judgement import RaterKind
from annotator.domain.refusal import Refusal

# What costs are told by, and the columns that name it: the first one's is the name.
_NAMED: dict[str, tuple[ColumnElement[Any], ...]] = {
    "judge": (JUDGE.c.name,),
    "question": (ITEM.c.key,),
    "system": (SYSTEM.c.name,),
    "criterion": (JUDGEMENT.c.unit_id, ITEM.c.key),
}
BY = tuple(_NAMED)


@dataclass(frozen=True, slots=True)
class Cost:
    """What the judgements of one judge, question, system or criterion have cost under a protocol.

    `name` is that of the judge or the system, the item's key, or the unit's id with its item's key in `item`.
    `cost_usd` is None while the cost of no call is known; `unpriced` counts the judgements that rest on a call of
    unknown cost.
    """

    name: str
    protocol: str
    judgements: int
    cost_usd: float | None
    unpriced: int
    item: str = ""


def costs(project: Project, by: str = "judge", *, judge: str = "", run: str = "") -> list[Cost]:
    """The costs by one of `BY`, the dearest first; of one judge (by name) or run (by id) if given.

    All calls that put a judgement's question count, those that failed and were made again among them. What several
    judgements rest on (units asked together, an answer used twice) is shared evenly among them all.
    """
    if by not in _NAMED:
        raise Refusal(f"Costs are not told by “{by}”.", f"Use one of {', '.join(BY)}.")
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
    if judge:
        question = question.where(JUDGEMENT.c.rater_id == judges.named(project, judge).id)
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
    calls = (
        select(
            CALL.c.cache_key,
            func.sum(CALL.c.cost_usd).label("cost"),
            (func.count() - func.count(CALL.c.cost_usd)).label("unpriced"),
        )
        .group_by(CALL.c.cache_key)
        .subquery()
    )
    sharing = (
        select(CALL.c.cache_key, func.count().label("sharing"))
        .join(JUDGEMENT, JUDGEMENT.c.call_id == CALL.c.id)
        .group_by(CALL.c.cache_key)
        .subquery()
    )
    return select(calls, sharing.c.sharing).join(sharing, sharing.c.cache_key == calls.c.cache_key).subquery()
