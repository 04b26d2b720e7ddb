"""Drift checks: a frozen anchor set of a judge's verdicts is judged again and compared."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from random import Random
from secrets import randbelow
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from annotator.actions.items.items import ITEM
from annotator.actions.items.materials import RESPONSE, SYSTEM
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.judging.drift_reports import (
    AnchoredVerdict,
    ChangedVerdict,
    DriftReport,
    RecheckedVerdict,
    compared,
)
from annotator.actions.judging.judge_offers import CHECKS
from annotator.actions.project.file import Project
from annotator.actions.project.recording import AUDIT, record
from annotator.actions.runs import judge_cases, judgement_replies, run_lines, run_watching
from annotator.actions.runs.driving import RunWork
from annotator.actions.runs.journal import JUDGEMENT, RunJournal
from annotator.actions.runs.judge_cases import JudgeSettings, Key, RunRequest
from annotator.actions.runs.judgement_replies import Reply
from annotator.actions.runs.run_kind import RunKind
from annotator.actions.runs.run_lines import RunEvent
from annotator.actions.runs.run_records import OpenRun, RunLine, runs
from annotator.domain.judges.judge import Judge, JudgeKind, RunState
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.protocol import Case, Protocol, Verdicts
from annotator.domain.texts.change import Change
from annotator.domain.texts.identity import now
from annotator.domain.texts.ordering import natural
from annotator.domain.texts.refusal import Refusal
from annotator.judging.runs.progress import Finished
from annotator.protocols import USUAL

# Under this a run of a check is kept: it judges for the check alone, no result is made of what it says.
PREFIX = CHECKS
DEED = "anchored units judged again"
FROZE, CHECKED = "freeze anchor set", "check drift"
SIZE = 100
# The trial of a check tells its questions from all others in the journal: they are asked afresh, once.
_FIRST_TRIAL = 1_000_000
_SEEDS = 2**31


@dataclass(frozen=True, slots=True)
class AnchorSet:
    """A frozen set of a judge's verdicts under a protocol, drawn with `seed`."""

    judge_id: str
    protocol: str
    at: str
    seed: int
    units: tuple[AnchoredVerdict, ...]


def anchor(
    project: Project,
    judge: str,
    protocol: str = USUAL,
    size: int = SIZE,
    *,
    again: bool = False,
    systems: Sequence[str] = (),
    items: Sequence[str] = (),
) -> Change:
    """Freeze so many of a judge's verdicts, chosen at random, whole reports where units are asked together.

    Of some systems (by name) and items (by key) only, where they are named. Refusal when there is an anchor set
    already, unless `again` puts another in its place.
    """
    asked = _endpoint(project, judge)
    judge_cases.checked_scope(project, RunRequest(judge, protocol, tuple(systems), tuple(items)))
    if size < 1:
        raise Refusal("An anchor set has at least one unit.", "Give 1 or more.")
    before = anchored(project, judge, protocol)
    if before is not None and not again:
        raise Refusal(
            f"“{judge}” has an anchor set under this protocol since {before.at[:10]}.",
            "Check against it, or replace it with --again.",
        )
    given = _given(project, asked, protocol, systems, items)
    if not given and (systems or items):
        raise Refusal(f"“{judge}” has no verdicts in this selection.", "Choose more systems or items.")
    if not given:
        raise Refusal(f"“{judge}” has no verdicts under this protocol yet.", "Run it first.")
    seed = randbelow(_SEEDS)
    frozen = AnchorSet(asked.id, protocol, now().isoformat(), seed, tuple(_chosen(given, asked, size, seed)))
    with project.store.write() as db:
        return record(project, db, Change("judge", asked.id, FROZE, None, asdict(frozen)))


def anchored(project: Project, judge: str, protocol: str = USUAL) -> AnchorSet | None:
    """The anchor set of a judge under a protocol, if there is one."""
    asked = judges.named(project, judge)
    for tree in _told_of(project, FROZE, asked.id, protocol):
        return AnchorSet(**tree | {"units": tuple(AnchoredVerdict(**one) for one in tree["units"])})
    return None


class DriftCheckRun(RunKind):
    """A run that asks a judge for its anchored verdicts again; the last line has the report as `drift`.

    A check that was stopped is resumed, and asks nothing twice; until it is whole there is no report.
    """

    doing = "checking"
    things = "anchored units"

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        """The order names a protocol, or a check by it."""
        self._of = replace(order, protocol=order.protocol.removeprefix(PREFIX))
        judge = _endpoint(project, order.judge)
        frozen = anchored(project, order.judge, self._of.protocol)
        if frozen is None:
            raise Refusal(
                f"“{order.judge}” has no anchor set under this protocol.", "Freeze one: judge anchor."
            )
        name = PREFIX + self._of.protocol
        self.order = replace(order, protocol=name, systems=(), items=(), trials=1, batch=False, models=())
        self._frozen = frozen
        # By its trial a check is told from all others.
        self._trial = _FIRST_TRIAL + len(_told_of(project, CHECKED, judge.id, self._of.protocol))
        return judge, judge_runs.asked_by(project, self._of, judge)

    def journal(self, run_id: str) -> RunJournal:
        """The verdicts for the report alone."""
        return _CheckJournal(self.project, run_id, self.judge.id, self.order.protocol)

    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        """The cases of the anchored units, and nothing else of them."""
        from annotator.judging.runs.runner import left

        units = self._frozen.units
        others = _AllBut({(unit.response_id, unit.unit_id, self._trial) for unit in units})
        return RunWork(
            self.shape, self._cases, len(units), 0, DEED, others, whole=lambda: left(self._cases(), others)
        )

    def _cases(self) -> Iterator[Case]:
        items = list(dict.fromkeys(unit.item_id for unit in self._frozen.units))
        asked = self.judge.asked
        settings = JudgeSettings(asked.together, asked.weights_shown, self._frozen.seed)
        of = RunRequest(self.judge.name, self._of.protocol)
        for case in judge_cases.cases(self.project, of, items, settings):
            yield replace(case, trial=self._trial)

    def ended(self, line: RunEvent, journal: RunJournal) -> RunEvent:
        """The last line with the report, once the check is whole."""
        if line["state"] != RunState.DONE.value or not isinstance(journal, _CheckJournal):
            return line
        report = _kept(self.project, self.judge, self._frozen, journal.run_id, journal.found)
        return {**line, "drift": report.tree(), "words": report.words()}

    @staticmethod
    def words(line: RunEvent) -> list[str]:
        """The last line of a check as a person reads it."""
        report: list[str] = line.get("words", ["The report is available once the check is complete."])
        return run_lines.words(line) + report


check = DriftCheckRun.run


def reports(project: Project, judge: str = "", protocol: str = "") -> list[DriftReport]:
    """All checks, the newest first, as they compare with the anchor set they were made against."""
    known = {one.id: one.name for one in judges.all_of(project)}
    told = _told_of(project, CHECKED, judges.named(project, judge).id if judge else "", protocol)
    return [_report(project, known.get(tree["judge_id"], tree["judge"]), tree) for tree in told]


class _AllBut:
    """All judgements except some, as those that need not be asked."""

    def __init__(self, wanted: set[Key]) -> None:
        self._wanted = wanted

    def __contains__(self, key: object) -> bool:
        return key not in self._wanted


class _CheckJournal(RunJournal):
    """A journal that keeps verdicts for the report; they become no judgements."""

    def __init__(self, project: Project, run_id: str, judge_id: str, protocol: str) -> None:
        super().__init__(project, run_id, judge_id, protocol)
        self.found: dict[tuple[str, str], RecheckedVerdict] = {}

    def keep(self, db: Connection, done: list[Finished], at: datetime) -> int:
        """Lay the verdicts aside; only their calls are written."""
        for one in done:
            self.found |= _said(one.case, one.verdicts, one.call_id)
        return sum(len(one.verdicts) for one in done)


def _said(case: Case, verdicts: Verdicts, call_id: str | None) -> dict[tuple[str, str], RecheckedVerdict]:
    return {
        (case.response.id, unit_id): RecheckedVerdict(verdict.value, verdict.status.value, call_id)
        for unit_id, verdict in verdicts.items()
    }


def _endpoint(project: Project, name: str) -> Judge:
    judge = judges.named(project, name)
    if judge.kind != JudgeKind.ENDPOINT:
        raise Refusal(
            f"“{name}” calls no model: it always gives the same verdict.", "Choose a judge with an endpoint."
        )
    return judge


def _given(
    project: Project, judge: Judge, protocol: str, systems: Sequence[str], items: Sequence[str]
) -> list[AnchoredVerdict]:
    """The verdicts of a judge's first trial, of these systems and items if some are named."""
    j = JUDGEMENT.c
    question = (
        select(j.item_id, j.response_id, j.unit_id, j.value, j.call_id)
        .join(ITEM, ITEM.c.id == j.item_id)
        .join(RESPONSE, RESPONSE.c.id == j.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(j.rater_id == judge.id, j.protocol == protocol, j.status == Status.OK.value, j.trial == 1)
        .order_by(j.item_id, j.response_id, j.unit_id)
    )
    question = question.where(SYSTEM.c.name.in_(systems)) if systems else question
    question = question.where(ITEM.c.key.in_(items)) if items else question
    with project.store.read() as db:
        return [AnchoredVerdict(*row) for row in db.execute(question)]


def _chosen(given: list[AnchoredVerdict], judge: Judge, size: int, seed: int) -> list[AnchoredVerdict]:
    chance = Random(seed)
    if judge.asked.together == 1:
        return chance.sample(given, min(size, len(given)))
    # Asked in other company, a unit might be judged otherwise: the reports go in whole.
    responses = list(dict.fromkeys(one.response_id for one in given))
    chosen: list[AnchoredVerdict] = []
    for response in chance.sample(responses, len(responses)):
        if len(chosen) >= size:
            break
        chosen += [one for one in given if one.response_id == response]
    return chosen


def _kept(
    project: Project,
    judge: Judge,
    frozen: AnchorSet,
    run_id: str,
    found: dict[tuple[str, str], RecheckedVerdict],
) -> DriftReport:
    tree = {
        "judge_id": judge.id,
        "judge": judge.name,
        "protocol": frozen.protocol,
        "run_id": run_id,
        "anchored_at": frozen.at,
        "checked_at": now().isoformat(),
        "units": [asdict(unit) for unit in frozen.units],
        "found": [[*key, asdict(again)] for key, again in found.items()],
    }
    with project.store.write() as db:
        record(project, db, Change("judge", judge.id, CHECKED, None, tree))
    return _report(project, judge.name, tree)


def _report(project: Project, judge: str, tree: dict[str, Any]) -> DriftReport:
    about = {name: tree[name] for name in ("protocol", "run_id", "anchored_at", "checked_at")}
    found = {(response, unit): RecheckedVerdict(**again) for response, unit, again in tree["found"]}
    return compared(
        project, {**about, "judge": judge}, [AnchoredVerdict(**one) for one in tree["units"]], found
    )


def _told_of(project: Project, verb: str, judge_id: str, protocol: str) -> list[dict[str, Any]]:
    """What was kept of anchor sets or of checks, the newest first; an empty judge or protocol means any."""
    question = select(AUDIT.c.after).where(AUDIT.c.kind == "judge", AUDIT.c.verb == verb)
    question = question.where(AUDIT.c.subject == judge_id) if judge_id else question
    with project.store.read() as db:
        rows = db.execute(question.order_by(AUDIT.c.seq.desc())).scalars().all()
    return [tree for tree in map(json.loads, rows) if protocol in ("", tree["protocol"])]


_GOES_ON = frozenset({RunState.CANCELLED.value, RunState.INTERRUPTED.value})


@dataclass(frozen=True, slots=True)
class DriftStatus:
    """A judge under a protocol: number of `verdicts`, anchor set, and checks, newest first.

    `frozen` counts the units of the anchor set that stands since `frozen_at`, of so many `items`; `stopped` is a
    check that was not carried through, and is resumed.
    """

    judge_id: str
    judge: str
    protocol: str
    verdicts: int
    frozen: int = 0
    items: int = 0
    frozen_at: datetime | None = None
    checks: tuple[DriftReport, ...] = ()
    stopped: RunLine | None = None

    @property
    def last(self) -> DriftReport | None:
        """The newest check, if it was made against the anchor set that stands."""
        newest = self.checks[0] if self.checks else None
        stands = newest is not None and self.frozen_at == datetime.fromisoformat(newest.anchored_at)
        return newest if stands else None


@dataclass(frozen=True, slots=True)
class TurnedVerdict:
    """A changed verdict: `unit` says what was asked about, `since` when the new value was first seen."""

    protocol: str
    changed: ChangedVerdict
    unit: str
    since: datetime


def standings(project: Project) -> list[DriftStatus]:
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
    stopped, known = _stopped(project), reports(project)
    found = []
    for judge_id, protocol, verdicts in sorted(given, key=lambda one: (asked[one[0]], one[1])):
        name, frozen = asked[judge_id], anchored(project, asked[judge_id], protocol)
        checks = tuple(one for one in known if (one.judge, one.protocol) == (name, protocol))
        standing = DriftStatus(judge_id, name, protocol, verdicts, checks=checks)
        if frozen is not None:
            many, at = len({unit.item_id for unit in frozen.units}), datetime.fromisoformat(frozen.at)
            left = stopped.get((judge_id, protocol))
            standing = DriftStatus(
                judge_id, name, protocol, verdicts, len(frozen.units), many, at, checks, left
            )
        found.append(standing)
    return found


def _stopped(project: Project) -> dict[tuple[str, str], RunLine]:
    """Judge and protocol → its newest check, where that was left unfinished."""
    newest: dict[tuple[str, str], RunLine] = {}
    for run in runs(project):
        if run.protocol.startswith(PREFIX):
            newest.setdefault((run.judge_id, run.protocol.removeprefix(PREFIX)), run)
    return {key: run for key, run in newest.items() if run.state in _GOES_ON}


def turned(project: Project, checks: Sequence[DriftReport]) -> list[TurnedVerdict]:
    """The verdicts that the first of these checks found changed; the others are older ones, the newest first."""
    check = checks[0]
    keys = [(one.response_id, one.unit_id) for one in check.changed]
    words = run_watching.named(project, check.protocol, keys) if keys else {}
    found = [
        TurnedVerdict(check.protocol, one, words[one.response_id, one.unit_id].unit, _since(checks, one))
        for one in check.changed
    ]
    return sorted(found, key=lambda one: (natural(one.changed.item), natural(one.changed.system), one.unit))


def _since(checks: Sequence[DriftReport], one: ChangedVerdict) -> datetime:
    """When the oldest check was made of those, without a gap, that found a verdict as the newest one did."""
    wanted, first = (one.response_id, one.unit_id, one.after), checks[0].checked_at
    for older in checks[1:]:
        said = {(other.response_id, other.unit_id, other.after) for other in older.changed}
        if older.anchored_at != checks[0].anchored_at or wanted not in said:
            break
        first = older.checked_at
    return datetime.fromisoformat(first)


def replies(project: Project, one: ChangedVerdict) -> tuple[Reply | None, Reply | None]:
    """The replies behind a verdict then and now; None where a call is not there any more."""
    return (
        judgement_replies.of_call(project, one.call_before),
        judgement_replies.of_call(project, one.call_after),
    )
