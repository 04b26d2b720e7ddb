"""Missing judgements and their causes."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from annotator.actions.contests import contest_tasks
from annotator.actions.judges import judges
from annotator.actions.labelling import wordings
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.runs.judge_cases import Key
from annotator.domain.judges.contest import POOL
from annotator.domain.judges.judge import RunState
from annotator.domain.judges.judgement import SETTLED, RaterKind, Status
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.cache import keys_of
from annotator.protocols import PROTOCOLS
from annotator.protocols.lent import RANKING
from annotator.storage.tables import (
    CONTEST,
    ITEM,
    JUDGE,
    JUDGEMENT,
    RESPONSE,
    RUN,
    SYSTEM,
)

AT_ONCE = 500
_HALTED = "The run was stopped before this was asked."


@dataclass(frozen=True, slots=True)
class MissingLine:
    """A missing judgement: judge, subject, and the cause as a code and in words."""

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
    """The judges' judgements without a verdict; of one judge, one run (by its id's beginning) or one cause.

    A verdict on another wording is none. What a halted run never came to ask for is among them.
    """
    causes = [
        *(each.value for each in Status if each not in SETTLED),
        wordings.REWORDED,
        run_records.NOT_ASKED,
    ]
    if status and status not in causes:
        raise Refusal(f"“{status}” is not a cause.", f"Use one of {', '.join(causes)}.")
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
        .where(JUDGEMENT.c.rater_kind == RaterKind.JUDGE.value)
        .order_by(
            JUDGE.c.name, JUDGEMENT.c.protocol, JUDGEMENT.c.status, ITEM.c.position, ITEM.c.key, SYSTEM.c.name,
            JUDGEMENT.c.unit_id, JUDGEMENT.c.trial,
        )
    )  # fmt: skip
    if judge:
        question = question.where(JUDGEMENT.c.rater_id == judges.named(project, judge).id)
    if run:
        question = question.where(JUDGEMENT.c.run_id == _run_id(project, run))
    with project.store.read() as db:
        gone = wordings.outdated(db, wordings.BY_JUDGES)
        rows = list(db.execute(question.where(JUDGEMENT.c.status.not_in(SETTLED))))
        for some in _batched(gone):
            came = JUDGEMENT.c.status == Status.OK.value
            rows += db.execute(question.where(came, JUDGEMENT.c.id.in_(some)))
    found = [_line(row, reworded=row.id in gone) for row in rows]
    if status in ("", run_records.NOT_ASKED):
        found += _never_asked(project, judge, run)
    found += _not_compared(project, judge, run)
    return [line for line in found if status in ("", line.status)]


def _never_asked(project: Project, judge: str, run: str) -> list[MissingLine]:
    """What halted runs were to ask for and nobody has asked since, each once."""
    found: dict[tuple[str, str, Key], MissingLine] = {}
    systems = _systems(project)
    for halted in run_records.runs(project):
        mine = judge in ("", halted.judge) and halted.id.startswith(run)
        if not mine or halted.state == RunState.DONE.value or halted.protocol not in PROTOCOLS:
            continue
        asked = _asked(project, halted.judge_id, halted.protocol)
        for case in judge_cases.cases(project, halted.order()):
            for unit, key in zip(case.units, keys_of(case), strict=True):
                if key not in asked:
                    found[halted.judge, halted.protocol, key] = MissingLine(
                        halted.judge, halted.protocol, case.item.key, systems[case.response.system_id], unit.id,
                        case.trial, run_records.NOT_ASKED, _HALTED, "", halted.id, "",
                    )  # fmt: skip
    return list(found.values())


def _not_compared(project: Project, judge: str, run: str) -> Iterator[MissingLine]:
    """The comparisons of tasks that a judge was to make and has not made; the unit is the task shown second."""
    c, names = CONTEST.c, {one.id: one.name for one in judges.all_of(project) if judge in ("", one.name)}
    lacking = select(CONTEST).where(c.status != Status.OK.value, c.rater.in_(names), c.pool == POOL)
    with project.store.read() as db:
        rows = db.execute(lacking.order_by(c.rater, c.round, c.first, c.second)).all()
    keys = {one.id: one.key for one in contest_tasks.tasks(project)} if rows else {}
    for row in rows:
        if (row.run_id or "").startswith(run):
            yield MissingLine(
                names[row.rater], RANKING.name, keys.get(row.first, row.first), "", keys.get(row.second, row.second),
                row.round, row.status, row.cause or _HALTED, row.flags, row.run_id or "", row.call_id or "",
            )  # fmt: skip


def _systems(project: Project) -> dict[str, str]:
    with project.store.read() as db:
        return {row.id: row.name for row in db.execute(select(SYSTEM.c.id, SYSTEM.c.name))}


def _asked(project: Project, judge_id: str, protocol: str) -> set[Key]:
    """All that a judge was asked for under a protocol, whatever came of it."""
    j = JUDGEMENT.c
    question = select(j.response_id, j.unit_id, j.trial).where(j.rater_id == judge_id, j.protocol == protocol)
    with project.store.read() as db:
        return {(row[0], row[1], row[2]) for row in db.execute(question)}


def _line(row: Any, *, reworded: bool) -> MissingLine:
    status, cause = (wordings.REWORDED, wordings.CAUSE) if reworded else (row.status, row.cause)
    return MissingLine(
        row.name, row.protocol, row.key, row.system, row.unit_id, row.trial, status, cause, row.flags, row.run_id or "",
        row.call_id or "",
    )  # fmt: skip


def _batched(ids: Iterable[str]) -> Iterator[list[str]]:
    """So many ids at a time as any database takes in one question."""
    listed = list(ids)
    for start in range(0, len(listed), AT_ONCE):
        yield listed[start : start + AT_ONCE]


def by_cause(found: Iterable[MissingLine]) -> dict[str, int]:
    """How many are missing for which cause, the most frequent first."""
    return dict(Counter(line.status for line in found).most_common())


def _run_id(project: Project, beginning: str) -> str:
    with project.store.read() as db:
        found = [run for run in db.execute(select(RUN.c.id)).scalars() if run.startswith(beginning)]
    if len(found) != 1:
        many = "No run begins" if not found else "More than one run begins"
        raise Refusal(f"{many} with “{beginning}”.", "See the ids with: judge runs.")
    return str(found[0])
