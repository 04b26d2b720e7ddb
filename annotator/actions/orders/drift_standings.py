"""How every judge stands with its anchor set: what could be frozen, what is, and what came of the checks against it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from annotator.actions.judges import judges
from annotator.actions.orders import drift
from annotator.actions.orders.drift_reports import Changed, Drift
from annotator.actions.project.file import Project
from annotator.actions.runs import judgement_replies, run_watching
from annotator.actions.runs.journal import JUDGEMENT
from annotator.actions.runs.judgement_replies import Reply
from annotator.actions.runs.run_records import RunLine, runs
from annotator.domain.judges.judge import JudgeKind, RunState
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.texts.ordering import natural

_GOES_ON = frozenset({RunState.CANCELLED.value, RunState.INTERRUPTED.value})


@dataclass(frozen=True, slots=True)
class Standing:
    """A judge under a protocol: how many `verdicts` it has given, its anchor set, and its checks, the newest first.

    `frozen` counts the units of the anchor set that stands since `frozen_at`, of so many `items`; `stopped` is a
    check that was not carried through, and is gone on with.
    """

    judge_id: str
    judge: str
    protocol: str
    verdicts: int
    frozen: int = 0
    items: int = 0
    frozen_at: datetime | None = None
    checks: tuple[Drift, ...] = ()
    stopped: RunLine | None = None

    @property
    def last(self) -> Drift | None:
        """The newest check, if it was made against the anchor set that stands."""
        newest = self.checks[0] if self.checks else None
        stands = newest is not None and self.frozen_at == datetime.fromisoformat(newest.anchored_at)
        return newest if stands else None


@dataclass(frozen=True, slots=True)
class Turned:
    """A verdict that changed: `unit` says what was asked about, `since` when it was first seen to be as it is now."""

    changed: Changed
    unit: str
    since: datetime


def standings(project: Project) -> list[Standing]:
    """Every judge with an endpoint under each protocol by which it has given verdicts, by name."""
    asked = {one.id: one.name for one in judges.all_of(project) if one.kind == JudgeKind.ENDPOINT}
    j = JUDGEMENT.c
    question = (
        select(j.rater_id, j.protocol, func.count())
        .where(j.rater_kind == RaterKind.JUDGE.value, j.status == Status.OK.value, j.trial == 1)
        .group_by(j.rater_id, j.protocol)
    )
    with project.store.read() as db:
        given = [tuple(row) for row in db.execute(question) if row[0] in asked]
    stopped, known = _stopped(project), drift.reports(project)
    found = []
    for judge_id, protocol, verdicts in sorted(given, key=lambda one: (asked[one[0]], one[1])):
        name, frozen = asked[judge_id], drift.anchored(project, asked[judge_id], protocol)
        checks = tuple(one for one in known if (one.judge, one.protocol) == (name, protocol))
        standing = Standing(judge_id, name, protocol, verdicts, checks=checks)
        if frozen is not None:
            many, at = len({unit.item_id for unit in frozen.units}), datetime.fromisoformat(frozen.at)
            left = stopped.get((judge_id, protocol))
            standing = Standing(judge_id, name, protocol, verdicts, len(frozen.units), many, at, checks, left)
        found.append(standing)
    return found


def _stopped(project: Project) -> dict[tuple[str, str], RunLine]:
    """Judge and protocol → its newest check, where that was left unfinished."""
    newest: dict[tuple[str, str], RunLine] = {}
    for run in runs(project):
        if run.protocol.startswith(drift.PREFIX):
            newest.setdefault((run.judge_id, run.protocol.removeprefix(drift.PREFIX)), run)
    return {key: run for key, run in newest.items() if run.state in _GOES_ON}


def turned(project: Project, checks: Sequence[Drift]) -> list[Turned]:
    """The verdicts that the first of these checks found changed; the others are older ones, the newest first."""
    check = checks[0]
    keys = [(one.response_id, one.unit_id) for one in check.changed]
    words = run_watching.named(project, check.protocol, keys) if keys else {}
    found = [
        Turned(one, words[one.response_id, one.unit_id].unit, _since(checks, one)) for one in check.changed
    ]
    return sorted(found, key=lambda one: (natural(one.changed.item), natural(one.changed.system), one.unit))


def _since(checks: Sequence[Drift], one: Changed) -> datetime:
    """When the oldest check was made of those, without a gap, that found a verdict as the newest one did."""
    wanted, first = (one.response_id, one.unit_id, one.after), checks[0].checked_at
    for older in checks[1:]:
        said = {(other.response_id, other.unit_id, other.after) for other in older.changed}
        if older.anchored_at != checks[0].anchored_at or wanted not in said:
            break
        first = older.checked_at
    return datetime.fromisoformat(first)


def replies(project: Project, one: Changed) -> tuple[Reply | None, Reply | None]:
    """The replies behind a verdict then and now; None where a call is not there any more."""
    return (
        judgement_replies.of_call(project, one.call_before),
        judgement_replies.of_call(project, one.call_after),
    )
