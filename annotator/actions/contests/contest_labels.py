"""Pairs that people rank: blind, one at a time, with a confidence in five steps."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy.engine import Connection

from annotator.actions.contests import contest_rows, contest_tasks
from annotator.actions.contests.contest_tasks import ContestTask
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.judges.contest import POOL, STEPS, ContestFields, showing_id
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.pairs import FIRST, SECOND
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.change import Change, now
from annotator.domain.texts.refusal import Refusal
from annotator.stats.ranking import pairing

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
    tasks, person = {one.id: one for one in contest_tasks.tasks(project)}, people.someone(project)
    mine = contest_rows.pairs(project, tasks, rater=person.id)
    met = contest_rows.pairs(project, tasks, kind=RaterKind.JUDGE)
    offered = met or frozenset(_pair(*pair) for pair in pairing.random_round(tasks, _SEED, 1)[0])
    if at is not None and not (set(at) <= tasks.keys() and _pair(*at) not in mine):
        at = None
    left, open_ = len(offered - mine), 0
    if left:
        found: pairing.Pair | None = next(pair for pair in _ordered(person.id, offered) if pair not in mine)
        left, top = left + (at is not None and _pair(*at) not in offered), 0
    elif len(tasks) > 1:
        top, further = _further(project, list(tasks), person.id, top)
        found, open_ = further.pair, further.open
    else:
        top, found = 0, None
    if at is None and found is not None:
        at = found if int(_mark(person.id, found)[-1], 16) % 2 else found[::-1]
    if at is None:
        return RankedPairs(len(mine), top)
    return ShownPair(tasks[at[0]], tasks[at[1]], len(mine), left, top, open_, len(tasks))


def _further(project: Project, tasks: list[str], person: str, top: int) -> tuple[int, pairing.FurtherPair]:
    """How many places are asked about, and the pair that tells most of them by what the person ranked so far."""
    # What it counts with takes long to load, and the pairs that are agreed on need none of it.
    from annotator.actions.contests import contest_standings
    from annotator.stats.ranking import standings

    top = min(top or contest_standings.usual_top(len(tasks)), len(tasks) - 1)
    played = contest_rows.played(contest_rows.meetings(project, person, tasks))
    return top, standings.further(tasks, played, top)


def say(project: Project, first: str, second: str, better: str, step: int, seconds: float) -> Change:
    """Keep what the person working says of a pair: which is better, and how sure, by the number of a step from 1."""
    if better not in (FIRST, SECOND) or not 1 <= step <= len(STEPS):
        raise Refusal("That is no answer.", f"Choose a side and a confidence from 1 to {len(STEPS):,}.")
    tasks, person = contest_tasks.competing(project), people.someone(project)
    if not {first, second} <= tasks.keys():
        raise Refusal("One of the two tasks is gone.", "Look at the next pair; nothing was kept.")
    last = [
        one.round
        for one in contest_rows.showings(project, person.id)
        if {one.first, one.second} & {first, second}
    ]
    row = ContestFields(
        pool=POOL, round=1 + max(last, default=0), first=first, second=second, rater_kind=RaterKind.PERSON,
        rater=person.id, value=better, confidence=STEPS[step - 1], status=Status.OK.value, seconds=seconds, at=now(),
    )  # fmt: skip
    with project.store.write() as db:
        contest_rows.add(db, [row])
        known = showing_id(row.rater, row.round, first, second)
        return record(project, db, Change("contest", known, "rank pair", {}, row.model_dump(mode="json")))


def restore(_project: Project, db: Connection, showing: str, present: Any, goal: Any) -> None:
    """Put a ranked pair from one image to another; Refusal when it has moved on."""
    if contest_rows.is_there(db, showing) != bool(present):
        raise Refusal("This pair was ranked elsewhere since.", "Look at it again; nothing was undone.")
    if goal:
        contest_rows.add(db, [ContestFields(**goal)])
    else:
        contest_rows.drop(db, showing)


@lru_cache(maxsize=2)
def _ordered(person: str, pairs: frozenset[pairing.Pair]) -> tuple[pairing.Pair, ...]:
    """The pairs in the order of a person; kept, since it is wanted again with every key."""
    return tuple(sorted(pairs, key=lambda pair: _mark(person, pair)))


def _pair(one: str, other: str) -> pairing.Pair:
    return (one, other) if one < other else (other, one)


def _mark(person: str, pair: pairing.Pair) -> str:
    return sha256("/".join((person, *pair)))
