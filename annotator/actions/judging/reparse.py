"""Stored replies read again by today's rules, without a call."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.engine import Connection

from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import wordings
from annotator.actions.project.file import Project, record
from annotator.actions.project.hashing import judgement_hash
from annotator.actions.runs.journal import call_of, same_question
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import Call, Judge
from annotator.domain.judges.judgement import Status, VerdictFields
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.texts.change import Change, now
from annotator.domain.texts.counting import counted
from annotator.protocols import USUAL
from annotator.storage import upserts
from annotator.storage.tables import CALL, JUDGEMENT

# Of these there is a reply that someone wrote.
_OK = Status.OK.value
_REPLIED = (_OK, Status.INVALID.value)
_COUNTED = ("read", "won", "unread", "lost", "otherwise")
Row = dict[str, Any]
# How the parameters of a call tell in which form it was asked; earlier versions said nothing of plain text.
_FORM, _IN_TEXT = '"response_format"', '"response_format":"text"'


@dataclass(frozen=True, slots=True)
class RereadReport:
    """The result of reading replies again: judgements read, gained, changed, and still missing.

    `lost` of the changed had a verdict and have none now. `otherwise` counts the verdicts that were left as they are
    though their reply reads otherwise today, or no longer as a verdict.
    """

    judge: str
    read: int
    won: int
    changed: int
    unread: int = 0
    lost: int = 0
    otherwise: int = 0

    def words(self) -> str:
        told = (
            f"The replies behind {counted(self.read, 'judgement')} of “{self.judge}” were parsed again: {self.won:,} "
            f"judgements gained a verdict, {self.unread:,} still have none, {self.changed:,} changed in all."
        )
        if self.lost:
            told += f" {counted(self.lost, 'verdict')} were removed, because the reply contains none."
        return told

    def offer(self) -> str:
        """What reading all replies again would change; empty when nothing."""
        if not self.otherwise:
            return ""
        return (
            f"{counted(self.otherwise, 'verdict')} would change: with the current rules the reply contains "
            "none, or another. They were left unchanged."
        )


async def again(
    project: Project, judge: str, protocol: str = USUAL, *, everything: bool = False
) -> RereadReport:
    """Read the replies behind a judge's invalid judgements once more, or behind all of them; no call is made.

    Only with `everything` does a verdict change that was read before. The audit keeps what it was, and the call its
    reply.
    """
    asked = judges.named(project, judge)
    shape = judge_runs.asked_by(project, RunRequest(judge, protocol), asked)
    fresh: list[Row] = []
    before: dict[str, list[str | None]] = {}
    count: Counter[str] = Counter()
    for rows, case in _cases(project, shape, asked, everything=everything):
        for old, new in await _reread(project, shape, rows, case):
            had, has = old["status"] == _OK, new["status"] == _OK
            count["read"] += 1
            count["unread"] += not had and not has
            if not _differs(old, new) or not (had or has):
                continue
            if had and not everything:
                count["otherwise"] += (old["status"], old["value"]) != (new["status"], new["value"])
                continue
            fresh.append(new)
            before[old["id"]] = [old["status"], old["value"]]
            count["won"] += has and not had
            count["lost"] += had and not has
    found = RereadReport(judge, changed=len(fresh), **{name: count[name] for name in _COUNTED})
    with project.store.write() as db:
        if fresh:
            upserts.put(db, JUDGEMENT, fresh)
        told = {"protocol": protocol, **asdict(found), "before": before}
        record(project, db, Change("judge", asked.id, "read replies again", None, told))
    return found


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
    doubtful = _in_plain_text(db, judge)
    return [
        rows
        for (call_id, _), rows in by_call.items()
        if everything or call_id in doubtful or any(row["status"] == Status.INVALID.value for row in rows)
    ]


def _in_plain_text(db: Connection, judge: Judge) -> set[str]:
    """The answered calls of a judge in plain text, which earlier versions read less strictly than JSON."""
    told = CALL.c.parameters
    plain = or_(told.contains(_IN_TEXT), told.not_like(f"%{_FORM}%"))
    question = select(CALL.c.id).where(CALL.c.judge_id == judge.id, CALL.c.status == _OK, plain)
    return set(db.execute(question).scalars())


async def _reread(project: Project, shape: Protocol, rows: list[Row], case: Case) -> list[tuple[Row, Row]]:
    """Each judgement as it was and as its reply reads now; none where no reply is kept."""
    from annotator.judging.calls.replaying import ReplayAsk

    with project.store.read() as db:
        replay = ReplayAsk(_replies(db, rows[0]["call_id"]))
    if not replay.calls or shape.judge is None:
        return []
    verdicts = await shape.judge(case, replay)
    found = []
    for row in rows:
        verdict = verdicts.get(row["unit_id"])
        if verdict is not None:
            call_id = replay.read.id if replay.read else row["call_id"]
            said = verdict.model_dump() | {"status": verdict.status.value, "call_id": call_id}
            new = row | said | {"at": now()}
            found.append((row, new | {"sha256": judgement_hash(new)}))
    return found


def _replies(db: Connection, call_id: str) -> list[Call]:
    """The calls that put the same question, the newest first: a reply and what came of the request to repair it."""
    question = same_question(call_id).where(CALL.c.status.in_(_REPLIED))
    return [call_of(row) for row in db.execute(question).mappings()]


def _differs(old: Row, new: Row) -> bool:
    return any(old[name] != new[name] for name in VerdictFields.model_fields)
