"""Stored replies parsed again by the current rules, without a call."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import Connection, or_, select

from annotator.actions.contests import contest_rows
from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import label_rows
from annotator.actions.project.file import Project, judgement_hash, record
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.runs.journal import call_of, same_question
from annotator.domain.common import Change, Refusal, counted, grouped, now
from annotator.domain.judges.judge import SETTLED, Judge, RaterKind, RunState, Status
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.stored import POOL, VerdictFields
from annotator.judging.calls.asking import ReplayAsk, keys_of
from annotator.protocols import PROTOCOLS, USUAL
from annotator.protocols.registry import RANKING
from annotator.storage.tables import (
    CALL,
    CONTEST,
    ITEM,
    JUDGE,
    JUDGEMENT,
    RESPONSE,
    RUN,
    SYSTEM,
    if_given,
    put,
)

# The statuses of calls with a reply.
_OK = Status.OK.value
_REPLIED = (_OK, Status.INVALID.value)
_COUNTED = ("read", "won", "unread", "lost", "otherwise")
Row = dict[str, Any]
# How a call's parameters show the form it was asked in; earlier versions recorded nothing for plain text.
_FORM, _IN_TEXT = '"response_format"', '"response_format":"text"'


@dataclass(frozen=True, slots=True)
class RereadReport:
    """The result of parsing replies again: judgements read, gained, changed, and still missing.

    `lost` of the changed had a verdict and have none now. `otherwise` counts verdicts left unchanged though their reply
    now reads differently, or no longer as a verdict.
    """

    judge: str
    read: int
    won: int
    changed: int
    unread: int = 0
    lost: int = 0
    otherwise: int = 0

    def words(self) -> str:
        text = (
            f"The replies behind {counted(self.read, 'judgement')} of “{self.judge}” were parsed again: {self.won:,} "
            f"judgements gained a verdict, {self.unread:,} still have none, {self.changed:,} changed in all."
        )
        if self.lost:
            text += f" {counted(self.lost, 'verdict')} were removed, because the reply contains none."
        return text

    def offer(self) -> str:
        """What parsing all replies again would change, in a sentence; empty if nothing."""
        if not self.otherwise:
            return ""
        return (
            f"{counted(self.otherwise, 'verdict')} would change: with the current rules the reply contains "
            "none, or another. They were left unchanged."
        )


async def again(
    project: Project, judge: str, protocol: str = USUAL, *, everything: bool = False
) -> RereadReport:
    """Parse the replies behind a judge's invalid judgements again, or behind all of them; makes no call.

    Existing verdicts change only with `everything`. The audit keeps the former verdict, and the call its reply.
    """
    judge_record = judges.named(project, judge)
    definition = judge_runs.protocol_of(project, judge_cases.RunRequest(judge, protocol), judge_record)
    fresh: list[Row] = []
    before: dict[str, list[str | None]] = {}
    count: Counter[str] = Counter()
    for rows, case in _cases(project, definition, judge_record, everything=everything):
        for old, new in await _reread(project, definition, rows, case):
            had, has = old["status"] == _OK, new["status"] == _OK
            count["read"] += 1
            count["unread"] += not had and not has
            same = all(old[name] == new[name] for name in VerdictFields.model_fields)
            if same or not (had or has):
                continue
            if had and not everything:
                count["otherwise"] += (old["status"], old["value"]) != (new["status"], new["value"])
                continue
            fresh.append(new)
            before[old["id"]] = [old["status"], old["value"]]
            count["won"] += has and not had
            count["lost"] += had and not has
    result = RereadReport(judge, changed=len(fresh), **{name: count[name] for name in _COUNTED})
    with project.store.write() as db:
        if fresh:
            put(db, JUDGEMENT, fresh)
        details = {"protocol": protocol, **asdict(result), "before": before}
        record(project, db, Change("judge", judge_record.id, "read replies again", None, details))
    return result


def _cases(
    project: Project, protocol: Protocol, judge: Judge, *, everything: bool
) -> Iterator[tuple[list[Row], Case]]:
    """The judgements to parse again, grouped by call, each group with its case."""
    for at_hand in materials.each(project, materials.for_judging(protocol), materials.item_ids(project)):
        with project.store.read() as db:
            calls = _of_calls(db, protocol, judge, at_hand.item.id, everything=everything)
        if not calls:
            continue
        cases = {
            (case.response.id, unit.id): (case, unit)
            for case in at_hand.cases(protocol)
            for unit in case.units
        }
        for rows in calls:
            known = [cases[key] for row in rows if (key := (row["response_id"], row["unit_id"])) in cases]
            if len(known) == len(rows):
                first = known[0][0]
                units = tuple(unit for _, unit in known)
                weights_shown = judge.settings.weights_shown
                yield rows, replace(first, units=units, trial=rows[0]["trial"], weights_shown=weights_shown)


def _of_calls(
    db: Connection, protocol: Protocol, judge: Judge, item_id: str, *, everything: bool
) -> list[list[Row]]:
    """An item's judgements with a stored reply, by call, if any of them is to be parsed again."""
    question = select(JUDGEMENT).where(
        JUDGEMENT.c.item_id == item_id,
        JUDGEMENT.c.protocol == protocol.name,
        JUDGEMENT.c.rater_id == judge.id,
        JUDGEMENT.c.call_id.is_not(None),
    )
    # A reply about another wording does not apply to this one.
    gone = label_rows.outdated(db, JUDGEMENT.c.item_id == item_id, JUDGEMENT.c.rater_id == judge.id)
    by_call = grouped(
        ((row["call_id"], row["response_id"]), dict(row))
        for row in db.execute(question.order_by(JUDGEMENT.c.id)).mappings()
        if row["id"] not in gone
    )
    doubtful = _in_plain_text(db, judge)
    return [
        rows
        for (call_id, _), rows in by_call.items()
        if everything or call_id in doubtful or any(row["status"] == Status.INVALID.value for row in rows)
    ]


def _in_plain_text(db: Connection, judge: Judge) -> set[str]:
    """The answered calls of a judge in plain text, which earlier versions parsed less strictly than JSON."""
    column = CALL.c.parameters
    plain = or_(column.contains(_IN_TEXT), column.not_like(f"%{_FORM}%"))
    question = select(CALL.c.id).where(CALL.c.judge_id == judge.id, CALL.c.status == _OK, plain)
    return set(db.execute(question).scalars())


async def _reread(project: Project, protocol: Protocol, rows: list[Row], case: Case) -> list[tuple[Row, Row]]:
    """Each judgement before and after its reply is parsed again; empty if no reply is stored."""
    # Newest first: a reply and the result of the request to repair it.
    question = same_question(rows[0]["call_id"]).where(CALL.c.status.in_(_REPLIED))
    replay = ReplayAsk([call_of(row) for row in project.query(question).mappings()])
    if not replay.calls or protocol.judge is None:
        return []
    verdicts = await protocol.judge(case, replay)
    result = []
    for row in rows:
        verdict = verdicts.get(row["unit_id"])
        if verdict is not None:
            call_id = replay.read.id if replay.read else row["call_id"]
            fields = verdict.model_dump() | {"status": verdict.status.value, "call_id": call_id}
            new = row | fields | {"at": now()}
            result.append((row, new | {"sha256": judgement_hash(new)}))
    return result


# So many ids are small enough for one query of any database.
AT_ONCE = 500
_HALTED = "The run was stopped before this was asked."


@dataclass(frozen=True, slots=True)
class MissingLine:
    judge: str
    protocol: str
    item: str
    system: str
    unit_id: str
    trial: int
    status: str
    cause: str
    flags: str
    run_id: str
    call_id: str


def lines(project: Project, *, judge: str = "", run: str = "", status: str = "") -> list[MissingLine]:
    """The judges' judgements without a verdict; of one judge, one run (by the start of its id) or one cause.

    A verdict on another wording counts as none. Includes what a halted run never asked.
    """
    causes = [
        *(each.value for each in Status if each not in SETTLED),
        label_rows.REWORDED,
        run_records.NOT_ASKED,
    ]
    if status and status not in causes:
        raise Refusal(f"“{status}” is not a cause.", f"Use one of {', '.join(causes)}.")
    whose = (
        (JUDGEMENT.c.rater_id, judges.named(project, judge).id if judge else ""),
        (JUDGEMENT.c.run_id, _run_id(project, run) if run else ""),
    )
    question = (
        select(
            JUDGE.c.name, JUDGEMENT.c.protocol, ITEM.c.key, SYSTEM.c.name.label("system"), JUDGEMENT.c.unit_id,
            JUDGEMENT.c.trial, JUDGEMENT.c.status, JUDGEMENT.c.cause, JUDGEMENT.c.flags, JUDGEMENT.c.run_id,
            JUDGEMENT.c.call_id, JUDGEMENT.c.id,
        )
        .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.rater_id)
        .join(ITEM, ITEM.c.id == JUDGEMENT.c.item_id)
        .join(RESPONSE, RESPONSE.c.id == JUDGEMENT.c.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(JUDGEMENT.c.rater_kind == RaterKind.JUDGE.value, *if_given(*whose))
        .order_by(
            JUDGE.c.name, JUDGEMENT.c.protocol, JUDGEMENT.c.status, ITEM.c.position, ITEM.c.key, SYSTEM.c.name,
            JUDGEMENT.c.unit_id, JUDGEMENT.c.trial,
        )
    )  # fmt: skip
    with project.store.read() as db:
        gone = label_rows.outdated(db, label_rows.BY_JUDGES)
        rows = list(db.execute(question.where(JUDGEMENT.c.status.not_in(SETTLED))))
        reworded, answered = list(gone), question.where(JUDGEMENT.c.status == Status.OK.value)
        for start in range(0, len(reworded), AT_ONCE):
            rows += db.execute(answered.where(JUDGEMENT.c.id.in_(reworded[start : start + AT_ONCE])))
    result = [_line(row, reworded=row.id in gone) for row in rows]
    if status in ("", run_records.NOT_ASKED):
        result += _without_reply(project, judge, run)
    result += _not_compared(project, judge, run)
    return [line for line in result if status in ("", line.status)]


def _without_reply(project: Project, judge: str, run: str) -> list[MissingLine]:
    result: dict[tuple[str, str, judge_cases.Key], MissingLine] = {}
    systems = judge_cases.systems_named(project)
    for halted in run_records.runs(project):
        mine = judge in ("", halted.judge) and halted.id.startswith(run)
        if not mine or halted.state == RunState.DONE.value or halted.protocol not in PROTOCOLS:
            continue
        asked_keys = _requested(project, halted.judge_id, halted.protocol)
        for case in judge_cases.cases(project, halted.order()):
            for unit, key in zip(case.units, keys_of(case), strict=True):
                if key not in asked_keys:
                    result[halted.judge, halted.protocol, key] = MissingLine(
                        halted.judge, halted.protocol, case.item.key, systems[case.response.system_id], unit.id,
                        case.trial, run_records.NOT_ASKED, _HALTED, "", halted.id, "",
                    )  # fmt: skip
    return list(result.values())


def _not_compared(project: Project, judge: str, run: str) -> Iterator[MissingLine]:
    """The comparisons of tasks that a judge was to make and has not made; the unit is the task shown second."""
    c, names = CONTEST.c, {one.id: one.name for one in judges.all_of(project) if judge in ("", one.name)}
    lacking = select(CONTEST).where(c.status != Status.OK.value, c.rater.in_(names), c.pool == POOL)
    rows = project.query(lacking.order_by(c.rater, c.round, c.first, c.second)).all()
    keys = {task.id: task.key for task in contest_rows.tasks(project)} if rows else {}
    for row in rows:
        if (row.run_id or "").startswith(run):
            yield MissingLine(
                names[row.rater], RANKING.name, keys.get(row.first, row.first), "", keys.get(row.second, row.second),
                row.round, row.status, row.cause or _HALTED, row.flags, row.run_id or "", row.call_id or "",
            )  # fmt: skip


def _requested(project: Project, judge_id: str, protocol: str) -> set[judge_cases.Key]:
    """All that a judge was asked under a protocol, whatever the result."""
    j = JUDGEMENT.c
    question = select(j.response_id, j.unit_id, j.trial).where(j.rater_id == judge_id, j.protocol == protocol)
    with project.store.read() as db:
        return {(row[0], row[1], row[2]) for row in db.execute(question)}


def _line(row: Any, *, reworded: bool) -> MissingLine:
    status, cause = (label_rows.REWORDED, label_rows.CAUSE) if reworded else (row.status, row.cause)
    return MissingLine(
        row.name, row.protocol, row.key, row.system, row.unit_id, row.trial, status, cause, row.flags, row.run_id or "",
        row.call_id or "",
    )  # fmt: skip


def by_cause(lines: Iterable[MissingLine]) -> dict[str, int]:
    return dict(Counter(line.status for line in lines).most_common())


def _run_id(project: Project, beginning: str) -> str:
    result = [run for run in project.query(select(RUN.c.id)).scalars() if run.startswith(beginning)]
    if len(result) != 1:
        many = "No run begins" if not result else "More than one run begins"
        raise Refusal(f"{many} with “{beginning}”.", "See the ids with: judge runs.")
    return str(result[0])
