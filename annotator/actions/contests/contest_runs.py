"""Runs in which a judge compares tasks: rounds are planned and kept before anyone is asked."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import ClassVar, TextIO

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from annotator import files
from annotator.actions.contests import contest_rows
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Progress, Project, record
from annotator.actions.runs import run_kind, run_records
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import Key, RunRequest
from annotator.domain.judges.contest import (
    FIRST,
    LEAST,
    NOT_ASKED,
    POOL,
    SECOND,
    ContestFields,
    Showing,
    checked_confidence,
)
from annotator.domain.judges.judge import Judge, JudgeKind, RaterKind, RunState, Status
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.item import Item, Response
from annotator.domain.texts.canonical import Change, now, sha256
from annotator.domain.texts.refusal import Refusal
from annotator.domain.texts.words import counted
from annotator.exchange.formats.label_files import csv_line, guarded, unguarded
from annotator.exchange.table_files import read_table
from annotator.judging.runner import Finished
from annotator.protocols.registry import RANKING, ranked_value
from annotator.stats.ranking import pairing
from annotator.storage import tables

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
        values = {name: getattr(self, name) for name in self.__slots__}
        usual = ContestSettings()
        changed = [f"{name}={int(value)}" for name, value in values.items() if value != getattr(usual, name)]
        return _BETWEEN.join([RANKING.name, *changed])

    @classmethod
    def of(cls, name: str) -> "ContestSettings":
        """The settings that an order names; Refusal for rounds or a cut that cannot be."""
        options = dict(part.split("=", 1) for part in name.split(_BETWEEN)[1:])
        one_order = bool(int(options.pop("one_order", "0")))
        result = cls(one_order=one_order, **{part: int(value) for part, value in options.items()})
        if not 1 <= result.rounds <= MOST_ROUNDS:
            raise Refusal(f"{result.rounds} rounds cannot be held.", f"Ask for 1 to {MOST_ROUNDS:,}.")
        if result.near < 0:
            raise Refusal(
                "The cut lies below the first task at least.", "Name how many tasks are to be kept."
            )
        return result


class ContestRun(run_kind.RunKind):
    """A run in which a judge compares tasks for so many rounds in all; rounds that were planned stay as they are."""

    doing, things, reply_tokens = "comparing tasks", "comparisons", 160
    resumed: ClassVar[bool] = True

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        self.settings = ContestSettings.of(order.protocol)
        self.tasks = contest_rows.competing(project)
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

    async def through(self, tell: run_kind.Tell, listen: TextIO | None) -> run_records.RunEvent:
        """Plan what is lacking and ask; near the cut round by round, since each goes by what came before it."""
        self.judge = self.kept()
        run = self.opened()
        journal = self.journal(run.id)
        while True:
            result = self._next()
            with self.project.store.write() as db:
                contest_rows.add(db, result)
            work = self.work(run, journal)
            ended = await run_kind.drive(self.project, self.judge, self.order, work, journal, tell, listen)
            if ended["state"] != RunState.DONE.value or not self._next():
                return ended
            run_records.reopen(self.project, run.id)

    def work(self, run: run_records.OpenRun, journal: RunJournal) -> run_kind.RunWork:
        """The showings of this judge, and which are answered; before a run those that it would plan, too."""
        result = contest_rows.showings(self.project, self.judge.id, self.tasks)
        if not run.id:
            result += [
                Showing(fields.round, fields.first, fields.second, None, None, fields.status)
                for fields in self._next(foreseen=True)
            ]
        done = {_key(showing) for showing in result if showing.came} | self._asked_by(run.id)
        showings = [showing for showing in result if showing.round <= self.settings.rounds]
        before = sum(_key(showing) in done for showing in showings)

        def cases() -> Iterator[Case]:
            return map(self._case, showings)

        return run_kind.RunWork(self.protocol, cases, len(showings), before, DEED, done)

    def _asked_by(self, run_id: str) -> set[Key]:
        c = tables.CONTEST.c
        mine = (c.run_id == run_id) & (c.status != NOT_ASKED)
        rows = self.project.query(select(c.first, c.second, c.round).where(mine)) if run_id else ()
        return {(row[0], row[1], row[2]) for row in rows}

    def _case(self, showing: Showing) -> Case:
        """The question about a showing, with nothing of where its tasks come from."""
        item = Item(id=POOL, key=POOL, question=RANKING.title)
        first, second = (
            Response(id=task, item_id=POOL, system_id="", text=self.tasks[task].shown)
            for task in (showing.first, showing.second)
        )
        return Case(
            self.order.protocol, item, first, "", (Unit(id=showing.second),), showing.round, other=second
        )

    def _next(self, *, foreseen: bool = False) -> list[ContestFields]:
        """The showings of the rounds that are not planned; near the cut of the next alone, unless only `foreseen`."""
        settings, rater = self.settings, self.judge.id
        held = contest_rows.meetings(self.project, rater, self.tasks)
        first = max((meeting.round for meeting in held), default=0) + 1
        rounds = range(first, settings.rounds + 1)
        if settings.near:
            rounds = rounds if foreseen else rounds[:1]
            pairs = self._near(rounds, contest_rows.played(held))
        else:
            there = {
                task
                for meeting in held
                if meeting.round == first - 1
                for task in (meeting.first, meeting.second)
            }
            left = sorted(set(self.tasks) - there)
            pairs = self._random(rounds, left[0] if there and len(left) == 1 else "")
        return [
            fields
            for number, of_round in pairs
            for fields in contest_rows.planned(
                rater, RaterKind.JUDGE, number, of_round, both=not settings.one_order
            )
        ]

    def _near(
        self, rounds: Iterable[int], played: Sequence[pairing.PlayedMatch]
    ) -> Iterator[tuple[int, list[pairing.Pair]]]:
        # What it counts with takes longer to load than most runs to begin, and they need no ranking.
        from annotator.stats.ranking import standings

        for number in rounds:
            result = standings.near(list(self.tasks), played, self.settings.near, self.settings.seed, number)
            yield number, result

    def _random(self, rounds: Iterable[int], resting: str) -> Iterator[tuple[int, list[pairing.Pair]]]:
        for number in rounds:
            result, resting = pairing.random_round(self.tasks, self.settings.seed, number, resting)
            yield number, result


class _ContestJournal(RunJournal):
    def without(self) -> dict[str, int]:
        """How many showings this run left without an answer, by cause."""
        c = tables.CONTEST.c
        lacking = (c.run_id == self.run_id) & c.status.not_in((Status.OK.value, NOT_ASKED))
        question = select(c.status, func.count()).where(lacking).group_by(c.status)
        return {row[0]: row[1] for row in self._project.query(question)}

    def keep(self, db: Connection, done: list[Finished], at: datetime) -> int:
        rows = [contest_rows.row_of(self._said(finished, at)) for finished in done]
        if rows:
            tables.put(db, tables.CONTEST, rows)
        return len(rows)

    def _said(self, finished: Finished, at: datetime) -> ContestFields:
        case, verdict = finished.case, finished.verdicts[finished.case.unit.id]
        better, sure = ranked_value(verdict.value) if verdict.value else (None, None)
        return ContestFields(
            round=case.trial, first=case.response.id, second=case.unit.id, rater_kind=RaterKind.JUDGE,
            rater=self._judge_id, value=better, confidence=sure, status=verdict.status.value, cause=verdict.cause,
            rationale=verdict.rationale, flags=verdict.flags, run_id=self.run_id, call_id=finished.call_id, at=at,
        )  # fmt: skip


def _key(showing: Showing) -> Key:
    return showing.first, showing.second, showing.round


def next_near(project: Project, rater: str, top: int, *, one_order: bool) -> int:
    """How many calls another round near the cut would take."""
    from annotator.stats.ranking import standings

    ids = list(contest_rows.competing(project))
    held = contest_rows.meetings(project, rater, ids)
    number = max((meeting.round for meeting in held), default=0) + 1
    pairs = standings.near(ids, contest_rows.played(held), top, ContestSettings().seed, number)
    return len(pairs) * (1 if one_order else 2)


run = ContestRun.run


COLUMNS = ("first", "second", "winner", "confidence", "rater")
# The setting that tells which files were imported, by the hash of their rows.
IMPORTED = "contest_imports"
_STRIDE = 1_000


@dataclass(frozen=True, slots=True)
class ImportedMatches:
    matches: int
    raters: Mapping[str, int]
    again: bool = False
    change: Change | None = None

    def words(self) -> list[str]:
        if self.again:
            return ["These matches were imported before; nothing was added."]
        by = ", ".join(f"{name} {many:,}" for name, many in self.raters.items())
        return [f"Imported {counted(self.matches, 'match', 'matches')} (by {by})."]


def import_matches(project: Project, path: Path, progress: Progress | None = None) -> ImportedMatches:
    """Import all matches of a file, or none; each goes into the first round in which neither task has played yet.

    The order of the lines is the order of the matches. A file whose lines were all imported before adds nothing.
    """
    table = read_table(path, COLUMNS)
    mark = sha256("\n".join("\t".join(row.get(name, "") for name in COLUMNS) for row in table.rows))
    known = project.get(IMPORTED, {})
    if mark in known:
        return ImportedMatches(0, {}, again=True)
    reader = _Reader(project, contest_rows.by_name(contest_rows.competing(project).values()), path.name)
    result = []
    for index, row in enumerate(table.rows):
        result.append(reader.read(table.place(index), row))
        if progress is not None and index % _STRIDE == 0:
            progress("reading matches", index, len(table.rows))
    if not result:
        raise Refusal(f"“{path.name}” has no matches.", "Choose a file with a row for each match.")
    with project.store.write() as db:
        contest_rows.add(db, result)
        project.set(IMPORTED, {**known, mark: len(result)})
        raters = dict(reader.counts)
        change = record(project, db, Change("contest", path.name, "import matches", None, raters))
    return ImportedMatches(len(result), raters, change=change)


def write_matches(project: Project, path: Path, rater: str = "") -> int:
    """Write the whole matches of a rater, or of all, round by round: imported elsewhere, they give the same ratings.

    Of two orders the mean is written. How many there are; Refusal where nobody compared any.
    """
    tasks = contest_rows.competing(project)
    named = contest_rows.rater_named(project, rater)
    lines = [csv_line(COLUMNS)]
    for one in contest_rows.members(project, named.id) if rater else contest_rows.raters(project):
        for first, second, value in _whole(project, one, tasks):
            first, second = guarded(tasks[first].key), guarded(tasks[second].key)
            winner, sure = (first, value) if value >= LEAST else (second, 1 - value)
            lines.append(csv_line((first, second, winner, f"{sure:.12g}", guarded(one.name))))
    files.save(path, b"".join(lines))
    return len(lines) - 1


def _whole(
    project: Project, rater: contest_rows.ContestRater, tasks: Iterable[str]
) -> Iterator[tuple[str, str, float]]:
    for meeting in contest_rows.meetings(project, rater.id, tasks):
        if meeting.value is not None:
            yield meeting.first, meeting.second, meeting.value


class _Reader:
    def __init__(self, project: Project, ids: Mapping[str, str], file: str) -> None:
        self._project, self._ids, self._file = project, ids, file
        self._raters: dict[str, contest_rows.ContestRater] = {}
        self._last: dict[tuple[str, str], int] = {}
        self._at = now()
        self.counts = Counter[str]()

    def read(self, place: str, row: Mapping[str, str]) -> ContestFields:
        """The match of a row; Refusal names the row and what does not fit."""
        try:
            return self._match(row)
        except Refusal as refusal:
            raise Refusal(
                f"“{self._file}”, {place}: {refusal.happened}",
                f"{refusal.todo} Nothing was imported.".strip(),
            ) from None

    def _match(self, row: Mapping[str, str]) -> ContestFields:
        first, second, winner = (self._task(unguarded(row.get(name, "")), name) for name in COLUMNS[:3])
        if first == second:
            raise Refusal("a task meets itself.", "Name two tasks.")
        if winner not in (first, second):
            raise Refusal("the winner is neither of the two.", "Name one of them.")
        rater = self._rater(unguarded(row.get("rater", "")))
        self.counts[rater.name] += 1
        return ContestFields(
            pool=POOL, round=self._round(rater.id, first, second), first=first, second=second, rater_kind=rater.kind,
            rater=rater.id, value=FIRST if winner == first else SECOND,
            confidence=_confidence(row.get("confidence", "")), status=Status.OK.value, at=self._at,
        )  # fmt: skip

    def _task(self, name: str, column: str) -> str:
        if name not in self._ids:
            raise Refusal(
                f"“{name}” ({column}) is no task here." if name else f"there is no {column}.",
                "Name a task by its key or its id.",
            )
        return self._ids[name]

    def _rater(self, name: str) -> contest_rows.ContestRater:
        """A judge or a person of the project by name or alias; else a judge elsewhere, known by that name."""
        if not name or len(name) > 200:
            raise Refusal("the rater has no name.", "Name who compared them, in at most 200 characters.")
        if name not in self._raters:
            self._raters[name] = result = self._known(name)
            for showing in contest_rows.showings(self._project, result.id):
                for task in (showing.first, showing.second):
                    self._last[result.id, task] = max(showing.round, self._last.get((result.id, task), 0))
        return self._raters[name]

    def _known(self, name: str) -> contest_rows.ContestRater:
        for judge in judges.all_of(self._project):
            if judge.name == name:
                return contest_rows.ContestRater(judge.id, RaterKind.JUDGE, name)
        for person in people.people(self._project):
            if name in (person.alias, person.id):
                return contest_rows.ContestRater(person.id, RaterKind.PERSON, person.alias)
        return contest_rows.ContestRater(name, RaterKind.JUDGE, name)

    def _round(self, rater: str, first: str, second: str) -> int:
        round_ = 1 + max(self._last.get((rater, first), 0), self._last.get((rater, second), 0))
        self._last[rater, first] = self._last[rater, second] = round_
        return round_


def _confidence(words: str) -> float:
    try:
        value = float(words.replace(",", "."))
    except ValueError:
        happened = f"“{words}” is no confidence." if words else "there is no confidence."
        raise Refusal(happened, "Write a number from 0.5 to 1.") from None
    return checked_confidence(value)
