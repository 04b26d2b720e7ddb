"""Showings of pairs as they are stored: planned, answered, and by whom."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.engine import Connection

from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetLine,
    columns,
    count,
    text,
)
from annotator.domain.judges import contest
from annotator.domain.judges.contest import (
    FIRST,
    NOT_ASKED,
    POOL,
    SECOND,
    STEPS,
    ContestFields,
    Meeting,
    Showing,
    showing_id,
)
from annotator.domain.judges.judge import RaterKind, Status
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.tasks import Task, task_key
from annotator.domain.material.item import Item
from annotator.domain.texts.canonical import Change, now, sha256
from annotator.domain.texts.refusal import Refusal
from annotator.domain.texts.words import counted
from annotator.stats.ranking import pairing
from annotator.storage import tables
from annotator.storage.tables import CONTEST

# The name by which all people together are one rater, whose id nobody else has.
PEOPLE, TOGETHER = "people", ""


@dataclass(frozen=True, slots=True)
class ContestRater:
    """Who has compared tasks: a judge, a person, or a judge elsewhere known by its name alone."""

    id: str
    kind: RaterKind
    name: str
    showings: int = 0
    """Its answers; of a pair in both orders each counts."""
    rounds: int = 0
    missing: int = 0
    """Asked, and no valid answer came."""
    not_asked: int = 0
    """Planned, and left when the run ended."""


def raters(project: Project) -> list[ContestRater]:
    """Everybody who compared or is to compare tasks; who answered most comes first."""
    c = CONTEST.c
    told = (
        func.count().filter(c.status == Status.OK.value),
        func.max(c.round),
        func.count().filter(c.status.not_in((Status.OK.value, NOT_ASKED))),
        func.count().filter(c.status == NOT_ASKED),
    )
    question = select(c.rater, c.rater_kind, *told).where(c.pool == POOL).group_by(c.rater, c.rater_kind)
    names: dict[str, str] = {judge.id: judge.name for judge in judges.all_of(project)}
    names |= {person.id: person.alias for person in people.people(project)}
    result = [
        ContestRater(rater, RaterKind(kind), names.get(rater, rater), *map(int, counts))
        for rater, kind, *counts in project.query(question)
    ]
    return sorted(result, key=lambda one: (-one.showings, one.name, one.id))


def together(known: Iterable[ContestRater]) -> list[ContestRater]:
    """All people who compared tasks as one rater; none where fewer than two did."""
    answered = [rater.showings for rater in known if rater.kind is RaterKind.PERSON]
    return [ContestRater(TOGETHER, RaterKind.PERSON, PEOPLE, sum(answered))] if len(answered) > 1 else []


def members(project: Project, rater: str) -> list[ContestRater]:
    """The rater of an id; of all people together each of them."""
    of_all = rater == TOGETHER
    return [one for one in raters(project) if (one.kind is RaterKind.PERSON if of_all else one.id == rater)]


def rater_named(project: Project, name: str = "") -> ContestRater:
    """The rater of that name; without one whoever answered most, and `people` are all people together.

    Refusal lists who there is.
    """
    known = raters(project)
    if not known:
        raise Refusal(
            "No tasks have been compared yet.", "Start with “contest run”, “contest import” or the window."
        )
    known += together(known)
    for rater in known:
        if not name or name.casefold() in (rater.name.casefold(), rater.id):
            return rater
    there = ", ".join(one.name for one in known)
    raise Refusal(f"“{name}” has compared no tasks.", f"Available: {there}.")


def showings(project: Project, rater: str, among: Iterable[str] | None = None) -> list[Showing]:
    """What a rater was shown, round by round; of pairs `among` some tasks, where they are given."""
    c = CONTEST.c
    columns = (c.round, c.first, c.second, c.value, c.confidence, c.status, c.cause, c.flags)
    mine = select(*columns).where(c.pool == POOL, c.rater == rater)
    rows = project.query(mine.order_by(c.round, c.first, c.second)).all()
    known = None if among is None else set(among)
    return [Showing(*row) for row in rows if known is None or {row.first, row.second} <= known]


def pairs(
    project: Project, among: Iterable[str], *, rater: str = "", kind: RaterKind | None = None
) -> frozenset[tuple[str, str]]:
    """Who met whom among some tasks, by their ids in order: as one rater was shown, or all of a kind."""
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
    """Who met whom as a rater saw it; of all people together one's round after the other's, each a round of its own."""
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
    """Keep showings; one that is there already stays as it is. How many are new."""
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
    at: datetime | None = None,
) -> list[ContestFields]:
    when = at or now()
    orders = (
        (first, second) for a, b in pairs for first, second in (((a, b), (b, a)) if both else ((a, b),))
    )
    return [
        ContestFields(round=round_, first=first, second=second, rater_kind=kind, rater=rater, at=when)
        for first, second in orders
    ]


def is_there(db: Connection, showing: str) -> bool:
    return db.execute(select(CONTEST.c.id).where(CONTEST.c.id == showing)).first() is not None


def drop(db: Connection, showing: str) -> None:
    db.execute(delete(CONTEST).where(CONTEST.c.id == showing))


@dataclass(frozen=True, slots=True)
class ContestTask:
    """A task with its seminar; `key` is what people and files call it."""

    key: str
    task: Task
    item: Item

    @property
    def id(self) -> str:
        """By what it is known in a contest: its unit's id."""
        return self.task.id

    @property
    def shown(self) -> str:
        """What a rater sees: its words and its difficulty, and nothing of where it comes from."""
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
    material = materials.WantedMaterial((Kind.TASKS,), texts=False, parts=False)
    return [
        ContestTask(task_key(hand.item.key, place), task, hand.item)
        for hand in materials.each(project, material, materials.item_ids(project))
        for place, task in enumerate(hand.own.units(Kind.TASKS), start=1)
        if task.text.strip()
    ]


def competing(project: Project) -> dict[str, ContestTask]:
    """The same by id; Refusal where there are fewer than two."""
    result = {task.id: task for task in tasks(project)}
    if len(result) < 2:
        raise Refusal(
            f"A contest takes two tasks or more; this project has {len(result):,}.",
            "Tasks compete once their list is submitted, or settled where several wrote one.",
        )
    return result


def by_name(tasks: Iterable[ContestTask]) -> dict[str, str]:
    return {name: task.id for task in tasks for name in (task.key, task.id)}


def named(project: Project, name: str) -> ContestTask:
    """The task with that key or id; Refusal when there is none."""
    for task in tasks(project):
        if name in (task.key, task.id):
            return task
    raise Refusal(f"“{name}” is no task here.", "Its key stands in the standings.")


# The seed of the pairs where no judge has compared any.
_SEED = 1


@dataclass(frozen=True, slots=True)
class ShownPair:
    """Two tasks as a person sees them, how many they have ranked, and how many are left of those agreed on.

    Beyond these, `open` of the `top` places are still undecided in the person's own standing. So many tasks are `among`
    those that compete.
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
    """How many pairs a person has ranked when no further one would change the order of their `top` tasks."""

    done: int
    top: int = 0


def next_pair(project: Project, at: pairing.Pair | None = None, top: int = 0) -> ShownPair | RankedPairs:
    """The next pair for the person working, in an order of their own; none where fewer than two tasks compete.

    `at` is the pair they are reading, which stays until it is ranked, whatever comes in meanwhile.
    Pairs that judges compared come, so that they can stand beside people; where there are none, those of one round.
    After these come further ones as long as they may change the order of the person's own `top` tasks.
    """
    rivals, person = {task.id: task for task in tasks(project)}, people.someone(project)
    mine = pairs(project, rivals, rater=person.id)
    met = pairs(project, rivals, kind=RaterKind.JUDGE)
    offered = met or frozenset(_pair(*pair) for pair in pairing.random_round(rivals, _SEED, 1)[0])
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
    """How many places are asked about, and the pair that tells most of them by what the person ranked so far."""
    # It takes long to load, and the pairs that are agreed on need none of it.
    from annotator.stats.ranking import standings

    top = min(top or usual_top(len(tasks)), len(tasks) - 1)
    return top, standings.further(tasks, played(meetings(project, person, tasks)), top)


def say(project: Project, first: str, second: str, better: str, step: int, seconds: float) -> Change:
    """Keep what the person working says of a pair: which is better, and how sure, by the number of a step from 1."""
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
    """Put a ranked pair from one image to another; Refusal when it has moved on."""
    if is_there(db, showing) != bool(present):
        raise Refusal("This pair was ranked elsewhere since.", "Look at it again; nothing was undone.")
    if goal:
        add(db, [ContestFields(**goal)])
    else:
        drop(db, showing)


@lru_cache(maxsize=2)
def _ordered(person: str, pairs: frozenset[pairing.Pair]) -> tuple[pairing.Pair, ...]:
    """The pairs in the order of a person; kept, since it is wanted again with every key."""
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


# How many are kept where nobody says: a tenth, and never more than a hundred.
_MOST, _TENTH = 100, 10


def usual_top(tasks: int) -> int:
    return max(1, min(_MOST, tasks // _TENTH))
