"""Runs in which a judge compares tasks: rounds are planned and kept before anyone is asked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, TextIO

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from annotator.actions.contests import contest_rows, contest_tasks
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.runs import driving, run_records
from annotator.actions.runs.driving import RunWork
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import Key, RunRequest
from annotator.actions.runs.run_kind import RunKind, Tell
from annotator.actions.runs.run_lines import RunEvent
from annotator.actions.runs.run_records import OpenRun
from annotator.domain.judges.contest import NOT_ASKED, POOL, ContestFields, Showing
from annotator.domain.judges.judge import Judge, JudgeKind, RunState
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.item import Item
from annotator.domain.material.response import Response
from annotator.domain.texts.refusal import Refusal
from annotator.judging.runs.progress import Finished
from annotator.protocols.lent import RANKING, ranked_value
from annotator.stats.ranking import pairing
from annotator.stats.ranking.pairing import PlayedMatch
from annotator.storage import upserts
from annotator.storage.tables import CONTEST

DEED = "comparisons made"
_BETWEEN = "|"
# One contest may not be planned beyond what a pool of thousands can bear.
MOST_ROUNDS = 1_000


@dataclass(frozen=True, slots=True)
class ContestSettings:
    """How a contest goes on: rounds in all, the seed of its pairs, both orders or one, near which cut."""

    rounds: int = 2
    seed: int = 1
    one_order: bool = False
    near: int = 0

    @property
    def name(self) -> str:
        """By which an order names it; what is usual is left out."""
        told = {name: getattr(self, name) for name in self.__slots__}
        usual = ContestSettings()
        changed = [f"{name}={int(value)}" for name, value in told.items() if value != getattr(usual, name)]
        return _BETWEEN.join([RANKING.name, *changed])

    @classmethod
    def of(cls, name: str) -> "ContestSettings":
        """The settings that an order names; Refusal for rounds or a cut that cannot be."""
        told = dict(part.split("=", 1) for part in name.split(_BETWEEN)[1:])
        one_order = bool(int(told.pop("one_order", "0")))
        found = cls(one_order=one_order, **{part: int(value) for part, value in told.items()})
        if not 1 <= found.rounds <= MOST_ROUNDS:
            raise Refusal(f"{found.rounds} rounds cannot be held.", f"Ask for 1 to {MOST_ROUNDS:,}.")
        if found.near < 0:
            raise Refusal(
                "The cut lies below the first task at least.", "Name how many tasks are to be kept."
            )
        return found


class ContestRun(RunKind):
    """A run in which a judge compares tasks for so many rounds in all; rounds that were planned stay as they are."""

    doing, things, reply_tokens = "comparing tasks", "comparisons", 160
    resumed: ClassVar[bool] = True

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        """Who is asked, and the comparison in the shape of a protocol."""
        self.settings = ContestSettings.of(order.protocol)
        self.tasks = contest_tasks.competing(project)
        if self.settings.near >= len(self.tasks):
            raise Refusal(
                f"There is no cut below {self.settings.near:,} of {len(self.tasks):,} tasks.",
                "Keep fewer of them.",
            )
        judge = judges.named(project, order.judge)
        if judge.kind == JudgeKind.DERIVED:
            raise Refusal(f"“{judge.name}” is a vote, and compares no tasks.", "Name one of its judges.")
        return judge, replace(RANKING, name=order.protocol)

    def journal(self, run_id: str) -> RunJournal:
        return _ContestJournal(self.project, run_id, self.judge.id, self.order.protocol)

    async def through(self, tell: Tell, listen: TextIO | None) -> RunEvent:
        """Plan what is lacking and ask; near the cut round by round, since each goes by what came before it."""
        self.judge = self.kept()
        run = self.opened()
        journal = self.journal(run.id)
        while True:
            self._plan()
            work = self.work(run, journal)
            ended = await driving.drive(self.project, self.judge, self.order, work, journal, tell, listen)
            if ended["state"] != RunState.DONE.value or not self._lacking():
                return ended
            run_records.reopen(self.project, run.id)

    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        """The showings of this judge, and which are answered; before a run those that it would plan, too."""
        found = contest_rows.showings(self.project, self.judge.id, self.tasks)
        if not run.id:
            found += [_planned(one) for one in self._next(foreseen=True)]
        done = {_key(one) for one in found if one.came} | self._asked_by(run.id)
        wanted = [one for one in found if one.round <= self.settings.rounds]
        before = sum(_key(one) in done for one in wanted)

        def cases() -> Iterator[Case]:
            return map(self._case, wanted)

        return RunWork(self.shape, cases, len(wanted), before, DEED, done)

    def _asked_by(self, run_id: str) -> set[Key]:
        """What this very run has asked, whatever came of it."""
        c = CONTEST.c
        mine = (c.run_id == run_id) & (c.status != NOT_ASKED)
        with self.project.store.read() as db:
            rows = db.execute(select(c.first, c.second, c.round).where(mine)) if run_id else ()
            return {(row[0], row[1], row[2]) for row in rows}

    def _case(self, one: Showing) -> Case:
        """The question about a showing, with nothing of where its tasks come from."""
        item = Item(id=POOL, key=POOL, question=RANKING.title)
        first, second = (
            Response(id=task, item_id=POOL, system_id="", text=self.tasks[task].shown)
            for task in (one.first, one.second)
        )
        return Case(self.order.protocol, item, first, "", (Unit(id=one.second),), one.round, other=second)

    def _lacking(self) -> bool:
        """Whether a round is still to be planned that can be."""
        return bool(self._next())

    def _plan(self) -> None:
        found = self._next()
        with self.project.store.write() as db:
            contest_rows.add(db, found)

    def _next(self, *, foreseen: bool = False) -> list[ContestFields]:
        """The showings of the rounds that are not planned; near the cut of the next alone, unless only `foreseen`."""
        settings, rater = self.settings, self.judge.id
        held = contest_rows.meetings(self.project, rater, self.tasks)
        first = max((one.round for one in held), default=0) + 1
        rounds = range(first, settings.rounds + 1)
        if settings.near:
            rounds = rounds if foreseen else rounds[:1]
            pairs = self._near(rounds, contest_rows.played(held))
        else:
            pairs = self._random(rounds, _rested(held, self.tasks, first - 1))
        return [
            one
            for number, of_round in pairs
            for one in contest_rows.planned(
                rater, RaterKind.JUDGE, number, of_round, both=not settings.one_order
            )
        ]

    def _near(
        self, rounds: Iterable[int], played: Sequence[PlayedMatch]
    ) -> Iterator[tuple[int, list[pairing.Pair]]]:
        # What it counts with takes longer to load than most runs to begin, and they need no ranking.
        from annotator.stats.ranking import standings

        for number in rounds:
            found = standings.near(list(self.tasks), played, self.settings.near, self.settings.seed, number)
            yield number, found

    def _random(self, rounds: Iterable[int], resting: str) -> Iterator[tuple[int, list[pairing.Pair]]]:
        for number in rounds:
            found, resting = pairing.random_round(self.tasks, self.settings.seed, number, resting)
            yield number, found


class _ContestJournal(RunJournal):
    """A journal that stores answers in the place of the showings that were planned."""

    def without(self) -> dict[str, int]:
        """How many showings this run left without an answer, by cause."""
        c = CONTEST.c
        lacking = (c.run_id == self.run_id) & c.status.not_in((Status.OK.value, NOT_ASKED))
        question = select(c.status, func.count()).where(lacking).group_by(c.status)
        with self._project.store.read() as db:
            return {row[0]: row[1] for row in db.execute(question)}

    def keep(self, db: Connection, done: list[Finished], at: datetime) -> int:
        """Write what was said, in the transaction of its calls."""
        rows = [contest_rows.row_of(self._said(finished, at)) for finished in done]
        if rows:
            upserts.put(db, CONTEST, rows)
        return len(rows)

    def _said(self, finished: Finished, at: datetime) -> ContestFields:
        case, verdict = finished.case, finished.verdicts[finished.case.unit.id]
        better, sure = ranked_value(verdict.value) if verdict.value else (None, None)
        return ContestFields(
            round=case.trial, first=case.response.id, second=case.unit.id, rater_kind=RaterKind.JUDGE,
            rater=self._judge_id, value=better, confidence=sure, status=verdict.status.value, cause=verdict.cause,
            rationale=verdict.rationale, flags=verdict.flags, run_id=self.run_id, call_id=finished.call_id, at=at,
        )  # fmt: skip


def _key(one: Showing) -> Key:
    return one.first, one.second, one.round


def _planned(one: ContestFields) -> Showing:
    return Showing(one.round, one.first, one.second, None, None, one.status)


def _rested(held: Iterable[Any], ids: Mapping[str, object], round_: int) -> str:
    """Who sat out a round, where one did."""
    there = {task for one in held if one.round == round_ for task in (one.first, one.second)}
    left = sorted(set(ids) - there)
    return left[0] if there and len(left) == 1 else ""


def next_near(project: Project, rater: str, top: int, *, one_order: bool) -> int:
    """How many calls another round near the cut would take."""
    from annotator.stats.ranking import standings

    ids = list(contest_tasks.competing(project))
    held = contest_rows.meetings(project, rater, ids)
    number = max((one.round for one in held), default=0) + 1
    pairs = standings.near(ids, contest_rows.played(held), top, ContestSettings().seed, number)
    return len(pairs) * (1 if one_order else 2)


run = ContestRun.run
