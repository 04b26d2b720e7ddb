"""How stored replies are read again without a call: what could not be read then may be read by the rules of today."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.engine import Connection

from annotator.actions import judge_runs, judges, materials, wordings
from annotator.actions.hashing import judgement_hash
from annotator.actions.journal import CALL, JUDGEMENT, call_of, same_question
from annotator.actions.judge_cases import COVERAGE, Order
from annotator.actions.project import Project
from annotator.actions.recording import record
from annotator.domain.change import Change
from annotator.domain.identity import now
from annotator.domain.judge import Call, Judge
from annotator.domain.judgement import Status, VerdictFields
from annotator.domain.protocol import Case, Protocol

# Of these there is a reply that somebody wrote.
_REPLIED = (Status.OK.value, Status.INVALID.value)
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reread:
    """What came of it: judgements whose reply was read, those that won a verdict by it, those that changed."""

    judge: str
    read: int
    won: int
    changed: int

    def words(self) -> str:
        """The same in a sentence."""
        return (
            f"{self.read:,} stored replies of “{self.judge}” read again: {self.won:,} judgements have a verdict now "
            f"that had none, {self.changed:,} changed in all."
        )


async def again(
    project: Project, judge: str, protocol: str = COVERAGE, *, everything: bool = False
) -> Reread:
    """Read the replies behind a judge's invalid judgements once more, or behind all of them; no call is made.

    A judgement whose reply still cannot be read stays as it is.
    """
    asked = judges.named(project, judge)
    shape = judge_runs.asked_by(project, Order(judge, protocol), asked)
    fresh: list[Row] = []
    read = won = 0
    for rows, case in _cases(project, shape, asked, everything=everything):
        for old, new in await _reread(project, shape, rows, case):
            read += 1
            if _differs(old, new):
                fresh.append(new)
                won += old["status"] != Status.OK.value and new["status"] == Status.OK.value
    with project.store.write() as db:
        if fresh:
            db.execute(insert(JUDGEMENT).prefix_with("OR REPLACE"), fresh)
        told = {"protocol": protocol, "read": read, "won": won, "changed": len(fresh)}
        record(project, db, Change("judge", asked.id, "read replies again", None, told))
    return Reread(judge, read, won, len(fresh))


def _cases(
    project: Project, shape: Protocol, judge: Judge, *, everything: bool
) -> Iterator[tuple[list[Row], Case]]:
    """The judgements to be read again, those of one call together, each with the case that it was about."""
    for at_hand in materials.each(project, materials.for_judging(shape), materials.item_ids(project)):
        with project.store.read() as db:
            calls = _of_calls(db, shape, judge, at_hand.item.id, everything=everything)
        if not calls:
            continue
        cases = {
            (case.response.id, unit.id): (case, unit)
            for material in at_hand.responses
            for case in shape.cases(material)
            for unit in case.units
        }
        for rows in calls:
            known = [cases[key] for row in rows if (key := (row["response_id"], row["unit_id"])) in cases]
            if len(known) == len(rows):
                first = known[0][0]
                units = tuple(unit for _, unit in known)
                weights_shown = judge.asked.weights_shown
                yield rows, replace(first, units=units, trial=rows[0]["trial"], weights_shown=weights_shown)


def _of_calls(
    db: Connection, shape: Protocol, judge: Judge, item_id: str, *, everything: bool
) -> list[list[Row]]:
    """An item's judgements with a kept reply, call by call, where any of them is to be read again."""
    question = select(JUDGEMENT).where(
        JUDGEMENT.c.item_id == item_id,
        JUDGEMENT.c.protocol == shape.name,
        JUDGEMENT.c.rater_id == judge.id,
        JUDGEMENT.c.call_id.is_not(None),
    )
    by_call: dict[tuple[str, str], list[Row]] = defaultdict(list)
    # A reply about another wording says nothing of this one.
    gone = wordings.outdated(db, JUDGEMENT.c.item_id == item_id, JUDGEMENT.c.rater_id == judge.id)
    for row in db.execute(question.order_by(JUDGEMENT.c.id)).mappings():
        if row["id"] in gone:
            continue
        by_call[row["call_id"], row["response_id"]].append(dict(row))
    unread = Status.INVALID.value
    return [rows for rows in by_call.values() if everything or any(row["status"] == unread for row in rows)]


async def _reread(project: Project, shape: Protocol, rows: list[Row], case: Case) -> list[tuple[Row, Row]]:
    """Each judgement as it was and as its reply reads now; none where no reply can be read."""
    from annotator.judging.replaying import Replay

    with project.store.read() as db:
        replay = Replay(_replies(db, rows[0]["call_id"]))
    verdicts = await shape.judge(case, replay) if shape.judge else {}
    if replay.read is None:
        return []
    found = []
    for row in rows:
        verdict = verdicts.get(row["unit_id"])
        if verdict is not None:
            said = verdict.model_dump() | {"status": verdict.status.value, "call_id": replay.read.id}
            new = row | said | {"at": now()}
            found.append((row, new | {"sha256": judgement_hash(new)}))
    return found


def _replies(db: Connection, call_id: str) -> list[Call]:
    """The calls that put the same question, the newest first: a reply and what came of the request to repair it."""
    question = same_question(call_id).where(CALL.c.status.in_(_REPLIED))
    return [call_of(row) for row in db.execute(question).mappings()]


def _differs(old: Row, new: Row) -> bool:
    return any(old[name] != new[name] for name in VerdictFields.model_fields)
