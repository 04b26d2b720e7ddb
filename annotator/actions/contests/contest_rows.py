"""Showings of pairs as they are stored: planned, answered, and by whom."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.engine import Connection

from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.judges import contest
from annotator.domain.judges.contest import POOL, ContestFields, Meeting, Showing
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.texts.change import now
from annotator.domain.texts.refusal import Refusal
from annotator.stats.ranking.pairing import PlayedMatch
from annotator.storage import upserts
from annotator.storage.tables import CONTEST

# The name by which all people together are one rater, whose id nobody else has.
PEOPLE, TOGETHER = "people", ""


@dataclass(frozen=True, slots=True)
class ContestRater:
    """Who has compared tasks: a judge, a person, or a judge elsewhere known by its name alone."""

    id: str
    kind: RaterKind
    name: str
    showings: int


def raters(project: Project) -> list[ContestRater]:
    """Everybody of whom there are showings; who answered most comes first."""
    answered = func.count().filter(CONTEST.c.status == Status.OK.value)
    question = select(CONTEST.c.rater, CONTEST.c.rater_kind, answered).where(CONTEST.c.pool == POOL)
    names: dict[str, str] = {one.id: one.name for one in judges.all_of(project)}
    names |= {one.id: one.alias for one in people.people(project)}
    with project.store.read() as db:
        rows = db.execute(question.group_by(CONTEST.c.rater, CONTEST.c.rater_kind)).all()
    found = [
        ContestRater(row[0], RaterKind(row[1]), str(names.get(row[0], row[0])), int(row[2])) for row in rows
    ]
    return sorted(found, key=lambda one: (-one.showings, one.name, one.id))


def together(known: Iterable[ContestRater]) -> list[ContestRater]:
    """All people who compared tasks as one rater; none where fewer than two did."""
    answered = [one.showings for one in known if one.kind is RaterKind.PERSON]
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
    for one in known:
        if not name or name.casefold() in (one.name.casefold(), one.id):
            return one
    there = ", ".join(one.name for one in known)
    raise Refusal(f"“{name}” has compared no tasks.", f"Available: {there}.")


def showings(project: Project, rater: str, among: Iterable[str] | None = None) -> list[Showing]:
    """What a rater was shown, round by round; of pairs `among` some tasks, where they are given."""
    c = CONTEST.c
    columns = (c.round, c.first, c.second, c.value, c.confidence, c.status, c.cause, c.flags)
    mine = select(*columns).where(c.pool == POOL, c.rater == rater)
    with project.store.read() as db:
        rows = db.execute(mine.order_by(c.round, c.first, c.second)).all()
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
    with project.store.read() as db:
        rows = db.execute(shown).all()
    return frozenset(
        (first, second) if first < second else (second, first)
        for first, second in rows
        if first in known and second in known
    )


def meetings(project: Project, rater: str, among: Iterable[str] | None = None) -> list[Meeting]:
    """Who met whom as a rater saw it; of all people together one's round after the other's, each a round of its own."""
    if rater != TOGETHER:
        return contest.meetings(showings(project, rater, among))
    found = [
        ((one.round, place), one)
        for place, person in enumerate(sorted(members(project, rater), key=lambda one: one.id))
        for one in contest.meetings(showings(project, person.id, among))
    ]
    number = {at: count for count, at in enumerate(sorted({at for at, _ in found}), start=1)}
    return [replace(one, round=number[at]) for at, one in sorted(found, key=lambda pair: pair[0])]


def played(found: Iterable[Meeting]) -> list[PlayedMatch]:
    return [
        PlayedMatch(one.round, one.first, one.second, one.value, one.outcome)
        for one in found
        if one.value is not None
    ]


def add(db: Connection, found: Sequence[ContestFields]) -> int:
    """Keep showings; one that is there already stays as it is. How many are new."""
    rows = [row_of(one) for one in found]
    return upserts.add_missing(db, CONTEST, rows).rowcount if rows else 0


def row_of(one: ContestFields) -> dict[str, object]:
    values = {**one.model_dump(), "rater_kind": one.rater_kind.value}
    return {"id": contest.showing_id(one.rater, one.round, one.first, one.second), **values}


def planned(
    rater: str,
    kind: RaterKind,
    round_: int,
    pairs: Iterable[tuple[str, str]],
    *,
    both: bool,
    at: datetime | None = None,
) -> list[ContestFields]:
    """What a round shows a rater: each pair in one order or in both."""
    when = at or now()
    orders = (
        (first, second) for a, b in pairs for first, second in (((a, b), (b, a)) if both else ((a, b),))
    )
    return [
        ContestFields(round=round_, first=first, second=second, rater_kind=kind, rater=rater, at=when)
        for first, second in orders
    ]


def is_there(db: Connection, showing: str) -> bool:
    """Whether there is such a showing."""
    return db.execute(select(CONTEST.c.id).where(CONTEST.c.id == showing)).first() is not None


def drop(db: Connection, showing: str) -> None:
    db.execute(delete(CONTEST).where(CONTEST.c.id == showing))
