"""Contests of tasks: showings of pairs as they are planned, asked, answered, imported and written."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, TextIO

from sqlalchemy import Connection, delete, func, select

from annotator import files
from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Progress, Project, record
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetLine,
    columns,
    count,
    text,
)
from annotator.actions.runs import run_kind, run_records
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import Key, RunRequest
from annotator.domain.common import Change, Refusal, counted, now, required, sha256
from annotator.domain.judges import contest
from annotator.domain.judges.contest import (
    FIRST,
    LEAST,
    SECOND,
    STEPS,
    Meeting,
    Showing,
    checked_confidence,
    showing_id,
)
from annotator.domain.judges.judge import Judge, JudgeKind, RaterKind, RunState, Status
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.tasks import Task, task_key
from annotator.domain.material.item import Item, Response
from annotator.domain.stored import NOT_ASKED, POOL, ContestFields
from annotator.judging.runner import Finished
from annotator.protocols.registry import RANKING, ranked_value
from annotator.stats.ranking import pairing
from annotator.storage import tables
from annotator.storage.tables import CONTEST

# The name of all people together as one rater, and its id, which nobody else has.
PEOPLE, TOGETHER = "people", ""


@dataclass(frozen=True, slots=True)
class ContestRater:
    """A rater who has compared tasks: a judge, a person, or a judge elsewhere known only by name."""

    id: str
    kind: RaterKind
    name: str
    showings: int = 0
    """Its answers; if a pair was shown in both orders, each counts."""
    rounds: int = 0
    missing: int = 0
    """Asked, without a valid answer."""
    not_asked: int = 0
    """Planned, but not asked before the run ended."""


def raters(project: Project) -> list[ContestRater]:
    """All who have compared or are to compare tasks, the one with the most answers first."""
    c = CONTEST.c
    tallies = (
        func.count().filter(c.status == Status.OK.value),
        func.max(c.round),
        func.count().filter(c.status.not_in((Status.OK.value, NOT_ASKED))),
        func.count().filter(c.status == NOT_ASKED),
    )
    question = select(c.rater, c.rater_kind, *tallies).where(c.pool == POOL).group_by(c.rater, c.rater_kind)
    names: dict[str, str] = {judge.id: judge.name for judge in judges.all_of(project)}
    names |= {person.id: person.alias for person in people.people(project)}
    result = [
        ContestRater(rater, RaterKind(kind), names.get(rater, rater), *map(int, counts))
        for rater, kind, *counts in project.query(question)
    ]
    return sorted(result, key=lambda one: (-one.showings, one.name, one.id))


def together(known: Iterable[ContestRater]) -> list[ContestRater]:
    """All people who compared tasks as one rater; empty if fewer than two did."""
    answered = [rater.showings for rater in known if rater.kind is RaterKind.PERSON]
    return [ContestRater(TOGETHER, RaterKind.PERSON, PEOPLE, sum(answered))] if len(answered) > 1 else []


def members(project: Project, rater: str) -> list[ContestRater]:
    """The rater with an id; for all people together, each of them."""
    of_all = rater == TOGETHER
    return [one for one in raters(project) if (one.kind is RaterKind.PERSON if of_all else one.id == rater)]


def rater_named(project: Project, name: str = "") -> ContestRater:
    """The rater of that name; without a name the one with the most answers; `people` is all people together.

    The Refusal lists the known names.
    """
    known = required(
        raters(project),
        "No tasks have been compared yet.",
        "Start with “contest run”, “contest import” or the window.",
    )
    known += together(known)
    for rater in known:
        if not name or name.casefold() in (rater.name.casefold(), rater.id):
            return rater
    available = ", ".join(one.name for one in known)
    raise Refusal(f"“{name}” has compared no tasks.", f"Available: {available}.")


def showings(project: Project, rater: str, among: Iterable[str] | None = None) -> list[Showing]:
    """A rater's showings, round by round; if `among` is given, only of pairs among these tasks."""
    c = CONTEST.c
    columns = (c.round, c.first, c.second, c.value, c.confidence, c.status, c.cause, c.flags)
    mine = select(*columns).where(c.pool == POOL, c.rater == rater)
    rows = project.query(mine.order_by(c.round, c.first, c.second)).all()
    known = None if among is None else set(among)
    return [Showing(*row) for row in rows if known is None or {row.first, row.second} <= known]


def pairs(
    project: Project, among: Iterable[str], *, rater: str = "", kind: RaterKind | None = None
) -> frozenset[tuple[str, str]]:
    """The pairs compared among some tasks, with their ids in order: by one rater, or all of a kind."""
    c, known = CONTEST.c, set(among)
    shown = select(c.first, c.second).where(c.pool == POOL).distinct()
    shown = shown.where(c.rater == rater) if rater else shown
    shown = shown.where(c.rater_kind == kind.value) if kind else shown
    rows = project.query(shown).all()
    return frozenset(
        (first, second) if first < second else (second, first)
        for first, second in rows
        if first in known and second in known
    )


def meetings(project: Project, rater: str, among: Iterable[str] | None = None) -> list[Meeting]:
    """A rater's meetings; for all people together, one person's after another's, each of their rounds separate."""
    if rater != TOGETHER:
        return contest.meetings(showings(project, rater, among))
    result = [
        ((meeting.round, place), meeting)
        for place, person in enumerate(sorted(members(project, rater), key=lambda one: one.id))
        for meeting in contest.meetings(showings(project, person.id, among))
    ]
    number = {at: count for count, at in enumerate(sorted({at for at, _ in result}), start=1)}
    return [replace(meeting, round=number[at]) for at, meeting in sorted(result, key=lambda pair: pair[0])]


def played(meetings: Iterable[Meeting]) -> list[pairing.PlayedMatch]:
    return [
        pairing.PlayedMatch(meeting.round, meeting.first, meeting.second, meeting.value, meeting.outcome)
        for meeting in meetings
        if meeting.value is not None
    ]


def add(db: Connection, fieldses: Sequence[ContestFields]) -> int:
    """Store showings; existing ones are not changed. Return the number of new ones."""
    rows = [row_of(fields) for fields in fieldses]
    return tables.add_missing(db, CONTEST, rows).rowcount if rows else 0


def row_of(fields: ContestFields) -> dict[str, object]:
    values = {**fields.model_dump(), "rater_kind": fields.rater_kind.value}
    return {"id": contest.showing_id(fields.rater, fields.round, fields.first, fields.second), **values}


def planned(
    rater: str,
    kind: RaterKind,
    round_: int,
    pairs: Iterable[tuple[str, str]],
    *,
    both: bool,
) -> list[ContestFields]:
    at = now()
    orders = (
        (first, second) for a, b in pairs for first, second in (((a, b), (b, a)) if both else ((a, b),))
    )
    return [
        ContestFields(round=round_, first=first, second=second, rater_kind=kind, rater=rater, at=at)
        for first, second in orders
    ]


@dataclass(frozen=True, slots=True)
class ContestTask:
    """A task with its seminar; `key` is its name for people and files."""

    key: str
    task: Task
    item: Item

    @property
    def id(self) -> str:
        """Its id in a contest: its unit's id."""
        return self.task.id

    @property
    def shown(self) -> str:
        """The text shown to a rater: its words and its difficulty, without its origin."""
        difficulty = f"\n\nDifficulty: {self.task.difficulty.value}" if self.task.difficulty else ""
        return f"{self.task.text}{difficulty}"

    @property
    def groups(self) -> Mapping[str, str]:
        return {
            "seminar": self.item.key,
            "discipline": self.item.subject,
            "phase": str(self.task.phase or ""),
            "family": str(self.task.family or ""),
        }


def tasks(project: Project) -> list[ContestTask]:
    material = materials.MaterialRequest((Kind.TASKS,), texts=False, parts=False)
    return [
        ContestTask(task_key(hand.item.key, place), task, hand.item)
        for hand in materials.each(project, material, materials.item_ids(project))
        for place, task in enumerate(hand.own.units(Kind.TASKS), start=1)
        if task.text.strip()
    ]


def competing(project: Project) -> dict[str, ContestTask]:
    """The same by id; raises Refusal if there are fewer than two."""
    result = {task.id: task for task in tasks(project)}
    if len(result) < 2:
        raise Refusal(
            f"A contest takes two tasks or more; this project has {len(result):,}.",
            "Tasks compete once their list is submitted, or settled where several wrote one.",
        )
    return result


def named(project: Project, name: str) -> ContestTask:
    """The task with that key or id; raises Refusal if there is none."""
    for task in tasks(project):
        if name in (task.key, task.id):
            return task
    raise Refusal(f"“{name}” is no task here.", "Its key stands in the standings.")


# The seed of the pairs if no judge has compared any.
_SEED = 1


@dataclass(frozen=True, slots=True)
class ShownPair:
    """Two tasks as a person sees them, the number of pairs they have ranked, and the number left of the agreed ones.

    After these, `open` of the `top` places are still undecided in the person's own standings. `among` is the number of
    competing tasks.
    """

    first: ContestTask
    second: ContestTask
    done: int
    left: int
    top: int = 0
    open: int = 0
    among: int = 0


@dataclass(frozen=True, slots=True)
class RankedPairs:
    """The number of pairs a person has ranked once no further one would change the order of their `top` tasks."""

    done: int
    top: int = 0


def next_pair(project: Project, at: pairing.Pair | None = None, top: int = 0) -> ShownPair | RankedPairs:
    """The next pair for the person working, in an order of their own; none if fewer than two tasks compete.

    `at` is the pair they are reading, which stays until it is ranked, whatever is imported meanwhile. Pairs that judges
    compared come first, for comparison with people; if there are none, those of one round. After these come further
    ones as long as they may change the order of the person's own `top` tasks.
    """
    rivals, person = {task.id: task for task in tasks(project)}, people.someone(project)
    mine = pairs(project, rivals, rater=person.id)
    judged_pairs = pairs(project, rivals, kind=RaterKind.JUDGE)
    offered = judged_pairs or frozenset(_pair(*pair) for pair in pairing.random_round(rivals, _SEED, 1)[0])
    if at is not None and not (set(at) <= rivals.keys() and _pair(*at) not in mine):
        at = None
    left, open_ = len(offered - mine), 0
    if left:
        result: pairing.Pair | None = next(pair for pair in _ordered(person.id, offered) if pair not in mine)
        left, top = left + (at is not None and _pair(*at) not in offered), 0
    elif len(rivals) > 1:
        top, further = _further(project, list(rivals), person.id, top)
        result, open_ = further.pair, further.open
    else:
        top, result = 0, None
    if at is None and result is not None:
        at = result if int(_mark(person.id, result)[-1], 16) % 2 else result[::-1]
    if at is None:
        return RankedPairs(len(mine), top)
    return ShownPair(rivals[at[0]], rivals[at[1]], len(mine), left, top, open_, len(rivals))


def _further(project: Project, tasks: list[str], person: str, top: int) -> tuple[int, pairing.FurtherPair]:
    """The number of places asked about, and the most informative pair about them after the person's rankings."""
    # It takes long to load, and the agreed pairs do not need it.
    from annotator.stats.ranking import standings

    top = min(top or usual_top(len(tasks)), len(tasks) - 1)
    return top, standings.further(tasks, played(meetings(project, person, tasks)), top)


def say(project: Project, first: str, second: str, better: str, step: int, seconds: float) -> Change:
    """Store the working person's ranking of a pair: the better task, and the confidence as a step number from 1."""
    if better not in (FIRST, SECOND) or not 1 <= step <= len(STEPS):
        raise Refusal("That is no answer.", f"Choose a side and a confidence from 1 to {len(STEPS):,}.")
    rivals, person = competing(project), people.someone(project)
    if not {first, second} <= rivals.keys():
        raise Refusal("One of the two tasks is gone.", "Look at the next pair; nothing was kept.")
    last = [
        showing.round
        for showing in showings(project, person.id)
        if {showing.first, showing.second} & {first, second}
    ]
    row = ContestFields(
        pool=POOL, round=1 + max(last, default=0), first=first, second=second, rater_kind=RaterKind.PERSON,
        rater=person.id, value=better, confidence=STEPS[step - 1], status=Status.OK.value, seconds=seconds, at=now(),
    )  # fmt: skip
    with project.store.write() as db:
        add(db, [row])
        known = showing_id(row.rater, row.round, first, second)
        return record(project, db, Change("contest", known, "rank pair", {}, row.model_dump(mode="json")))


def restore(_project: Project, db: Connection, showing: str, present: Any, goal: Any) -> None:
    """Restore a ranked pair from one image to another; raises Refusal if it has changed since."""
    if (db.execute(select(CONTEST.c.id).where(CONTEST.c.id == showing)).first() is not None) != bool(present):
        raise Refusal("This pair was ranked elsewhere since.", "Look at it again; nothing was undone.")
    if goal:
        add(db, [ContestFields(**goal)])
    else:
        db.execute(delete(CONTEST).where(CONTEST.c.id == showing))


@lru_cache(maxsize=2)
def _ordered(person: str, pairs: frozenset[pairing.Pair]) -> tuple[pairing.Pair, ...]:
    """The pairs in a person's order; cached, as it is needed again at every key press."""
    return tuple(sorted(pairs, key=lambda pair: _mark(person, pair)))


def _pair(one: str, other: str) -> pairing.Pair:
    return (one, other) if one < other else (other, one)


def _mark(person: str, pair: pairing.Pair) -> str:
    return sha256("/".join((person, *pair)))


def sheet(raters: Sequence[ContestRater]) -> ResultSheet:
    heads = columns(
        ("rater", "Rater"), ("kind", "Kind"), ("comparisons", "Comparisons", "Of a pair in both orders, each counts"),
        ("rounds", "Rounds"), ("missing", "Missing", "Asked, and no valid answer came"),
        ("not_asked", "Not asked yet", "Planned, and left when the run ended"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(rater.name), text(rater.kind.value), count(rater.showings), count(rater.rounds),
            count(rater.missing), count(rater.not_asked),
        ))
        for rater in raters
    )  # fmt: skip
    return ResultSheet("raters", f"{counted(len(raters), 'rater')} so far", heads, lines)


# The default number of tasks to keep: a tenth, at most a hundred.
_MOST, _TENTH = 100, 10


def usual_top(tasks: int) -> int:
    return max(1, min(_MOST, tasks // _TENTH))


DEED = "comparisons made"
_BETWEEN = "|"
# More rounds than a pool of thousands can bear are refused.
MOST_ROUNDS = 1_000


@dataclass(frozen=True, slots=True)
class ContestSettings:
    """The settings of a contest: total rounds, the seed of its pairs, one or both orders, the cut to sample near."""

    rounds: int = 2
    seed: int = 1
    one_order: bool = False
    near: int = 0

    @property
    def name(self) -> str:
        usual = asdict(ContestSettings())
        changed = [f"{name}={int(value)}" for name, value in asdict(self).items() if value != usual[name]]
        return _BETWEEN.join([RANKING.name, *changed])

    @classmethod
    def of(cls, name: str) -> "ContestSettings":
        """The settings in an order's name; raises Refusal for an impossible number of rounds or cut."""
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
    """A run in which a judge compares tasks for a total number of rounds; planned rounds are not changed."""

    doing, things, reply_tokens = "comparing tasks", "comparisons", 160
    resumed: ClassVar[bool] = True

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        self.settings = ContestSettings.of(order.protocol)
        self.tasks = competing(project)
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
        """Plan what is lacking and ask; near the cut round by round, as each depends on the one before."""
        self.judge = self.stored_judge()
        run = self.opened()
        journal = self.journal(run.id)
        while True:
            result = self._next()
            with self.project.store.write() as db:
                add(db, result)
            ended = await run_kind.drive(
                self.project, self.judge, self.order, self.work(run, journal), journal, tell, listen
            )
            if ended["state"] != RunState.DONE.value or not self._next():
                return ended
            run_records.reopen(self.project, run.id)

    def work(self, run: run_records.OpenRun, journal: RunJournal) -> run_kind.RunWork:
        """The showings of this judge, and which are answered; before a run also those it would plan."""
        result = showings(self.project, self.judge.id, self.tasks)
        if not run.id:
            result += [
                Showing(fields.round, fields.first, fields.second, None, None, fields.status)
                for fields in self._next(foreseen=True)
            ]
        done = {_key(showing) for showing in result if showing.came} | self._keys_asked(run.id)
        shown = [showing for showing in result if showing.round <= self.settings.rounds]
        before = sum(_key(showing) in done for showing in shown)

        def cases() -> Iterator[Case]:
            return map(self._case, shown)

        return run_kind.RunWork(self.protocol, cases, len(shown), before, DEED, done)

    def _keys_asked(self, run_id: str) -> set[Key]:
        c = tables.CONTEST.c
        mine = (c.run_id == run_id) & (c.status != NOT_ASKED)
        rows = self.project.query(select(c.first, c.second, c.round).where(mine)) if run_id else ()
        return {(row[0], row[1], row[2]) for row in rows}

    def _case(self, showing: Showing) -> Case:
        """The question about a showing, without the origin of its tasks."""
        item = Item(id=POOL, key=POOL, question=RANKING.title)
        first, second = (
            Response(id=task, item_id=POOL, system_id="", text=self.tasks[task].shown)
            for task in (showing.first, showing.second)
        )
        return Case(
            self.order.protocol, item, first, "", (Unit(id=showing.second),), showing.round, other=second
        )

    def _next(self, *, foreseen: bool = False) -> list[ContestFields]:
        """The showings of the rounds not planned yet; near the cut of the next round only, unless `foreseen`."""
        settings, rater = self.settings, self.judge.id
        held = meetings(self.project, rater, self.tasks)
        first = max((meeting.round for meeting in held), default=0) + 1
        rounds = range(first, settings.rounds + 1)
        if settings.near:
            rounds = rounds if foreseen else rounds[:1]
            pairs = self._near(rounds, played(held))
        else:
            last_round = {
                task
                for meeting in held
                if meeting.round == first - 1
                for task in (meeting.first, meeting.second)
            }
            left = sorted(set(self.tasks) - last_round)
            pairs = self._random(rounds, left[0] if last_round and len(left) == 1 else "")
        return [
            fields
            for number, of_round in pairs
            for fields in planned(rater, RaterKind.JUDGE, number, of_round, both=not settings.one_order)
        ]

    def _near(
        self, rounds: Iterable[int], played: Sequence[pairing.PlayedMatch]
    ) -> Iterator[tuple[int, list[pairing.Pair]]]:
        # The ranking code takes longer to load than most runs take to begin, and those need no ranking.
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
        """The number of showings that this run left without an answer, by cause."""
        c = tables.CONTEST.c
        lacking = (c.run_id == self.run_id) & c.status.not_in((Status.OK.value, NOT_ASKED))
        question = select(c.status, func.count()).where(lacking).group_by(c.status)
        return {row[0]: row[1] for row in self._project.query(question)}

    def keep(self, db: Connection, done: list[Finished], at: datetime) -> int:
        rows = [row_of(self._row_of(finished, at)) for finished in done]
        if rows:
            tables.put(db, tables.CONTEST, rows)
        return len(rows)

    def _row_of(self, finished: Finished, at: datetime) -> ContestFields:
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
    """The number of calls that another round near the cut would take."""
    from annotator.stats.ranking import standings

    ids = list(competing(project))
    held = meetings(project, rater, ids)
    number = max((meeting.round for meeting in held), default=0) + 1
    pairs = standings.near(ids, played(held), top, ContestSettings().seed, number)
    return len(pairs) * (1 if one_order else 2)


COLUMNS = ("first", "second", "winner", "confidence", "rater")
# The setting with the imported files, by the hash of their rows.
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
    from annotator.exchange.table_files import read_table

    table = read_table(path, COLUMNS)
    mark = sha256("\n".join("\t".join(row.get(name, "") for name in COLUMNS) for row in table.rows))
    known = project.get(IMPORTED, {})
    if mark in known:
        return ImportedMatches(0, {}, again=True)
    ids = {name: task.id for task in competing(project).values() for name in (task.key, task.id)}
    reader = _Reader(project, ids, path.name)
    result = []
    for index, row in enumerate(table.rows):
        result.append(reader.read(table.place(index), row))
        if progress is not None and index % _STRIDE == 0:
            progress("reading matches", index, len(table.rows))
    if not result:
        raise Refusal(f"“{path.name}” has no matches.", "Choose a file with a row for each match.")
    with project.store.write() as db:
        add(db, result)
        project.set(IMPORTED, {**known, mark: len(result)})
        raters = dict(reader.counts)
        change = record(project, db, Change("contest", path.name, "import matches", None, raters))
    return ImportedMatches(len(result), raters, change=change)


def write_matches(project: Project, path: Path, rater: str = "") -> int:
    """Write the complete matches of a rater, or of all, round by round: imported elsewhere, they give the same ratings.

    Of two orders the mean is written. Returns the number of matches; raises Refusal if nobody compared any.
    """
    from annotator.exchange.formats.label_files import csv_line, guarded

    tasks = competing(project)
    named = rater_named(project, rater)
    lines = [csv_line(COLUMNS)]
    for one in members(project, named.id) if rater else raters(project):
        for meeting in meetings(project, one.id, tasks):
            if meeting.value is not None:
                first, second = guarded(tasks[meeting.first].key), guarded(tasks[meeting.second].key)
                ahead = meeting.value >= LEAST
                winner, sure = (first, meeting.value) if ahead else (second, 1 - meeting.value)
                lines.append(csv_line((first, second, winner, f"{sure:.12g}", guarded(one.name))))
    files.save(path, b"".join(lines))
    return len(lines) - 1


class _Reader:
    def __init__(self, project: Project, ids: Mapping[str, str], file: str) -> None:
        self._ids, self._file, self._at = ids, file, now()
        self._known = {
            name: ContestRater(person.id, RaterKind.PERSON, person.alias)
            for person in people.people(project)
            for name in (person.id, person.alias)
        } | {
            judge.name: ContestRater(judge.id, RaterKind.JUDGE, judge.name)
            for judge in judges.all_of(project)
        }
        # Rater and task → the last round in which it was compared.
        self._last: Counter[tuple[str, str]] = Counter()
        for task in (CONTEST.c.first, CONTEST.c.second):
            rounds = select(CONTEST.c.rater, task, func.max(CONTEST.c.round)).where(CONTEST.c.pool == POOL)
            for rater, of, last in project.query(rounds.group_by(CONTEST.c.rater, task)):
                self._last[rater, of] = max(last, self._last[rater, of])
        self.counts = Counter[str]()

    def read(self, place: str, row: Mapping[str, str]) -> ContestFields:
        """The match of a row; the Refusal names the row and the problem."""
        try:
            return self._match(row)
        except Refusal as refusal:
            raise Refusal(
                f"“{self._file}”, {place}: {refusal.happened}",
                f"{refusal.todo} Nothing was imported.".strip(),
            ) from None

    def _match(self, row: Mapping[str, str]) -> ContestFields:
        from annotator.exchange.formats.label_files import unguarded

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

    def _rater(self, name: str) -> ContestRater:
        """A judge or person of the project by name or alias; otherwise a judge elsewhere, known by that name."""
        if not name or len(name) > 200:
            raise Refusal("the rater has no name.", "Name who compared them, in at most 200 characters.")
        return self._known.get(name, ContestRater(name, RaterKind.JUDGE, name))

    def _round(self, rater: str, first: str, second: str) -> int:
        round_ = 1 + max(self._last[rater, first], self._last[rater, second])
        self._last[rater, first] = self._last[rater, second] = round_
        return round_


def _confidence(words: str) -> float:
    try:
        value = float(words.replace(",", "."))
    except ValueError:
        happened = f"“{words}” is no confidence." if words else "there is no confidence."
        raise Refusal(happened, "Write a number from 0.5 to 1.") from None
    return checked_confidence(value)
