"""Release records of the contest of tasks: matches, ratings and decisions."""

from collections.abc import Iterator, Mapping

from sqlalchemy import RowMapping, select

from annotator.actions.contests import contest_keeping, contest_rows, contest_standings, contest_tasks
from annotator.actions.contests.contest_rows import ContestRater
from annotator.actions.project.file import Project
from annotator.domain.judges.contest import POOL, ContestFields
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.records import DecisionRecord, MatchRecord, RatingRecord
from annotator.storage.tables import CONTEST


def gathered(project: Project) -> Bundle:
    """A bundle of the contest alone: matches of tasks that compete, how these rate them, and what was decided."""
    decided, known = contest_keeping.decisions(project), contest_rows.raters(project)
    if not decided and not known:
        return Bundle()
    keys = {one.id: one.key for one in contest_tasks.tasks(project)}
    names = {one.id: one.name for one in known}
    with project.store.read() as db:
        rows = db.execute(select(CONTEST).where(CONTEST.c.pool == POOL)).mappings().all()
    decisions = [
        DecisionRecord(
            task=keys[own], task_id=own, kept=one.kept, reason=one.reason, rank=one.rank, by=one.by, at=one.at,
            by_hand=one.by_hand,
        )
        for own, one in decided.items()
        if own in keys
    ]  # fmt: skip
    top = sum(one.kept for one in decisions) or contest_standings.usual_top(len(keys))
    there = [one for one in (*known, *contest_rows.together(known)) if one.showings and len(keys) > 1]
    return Bundle(
        matches=[_match(row, keys, names) for row in rows if {row["first"], row["second"]} <= keys.keys()],
        ratings=[rating for one in there for rating in _ratings(project, one, keys, min(top, len(keys)))],
        decisions=decisions,
    )


def _match(row: RowMapping, keys: Mapping[str, str], names: Mapping[str, str]) -> MatchRecord:
    fields = {name: row[name] for name in ContestFields.model_fields if name != "call_id"}
    first, second = keys[row["first"]], keys[row["second"]]
    return MatchRecord(**fields, first_key=first, second_key=second, rater_name=names[row["rater"]])


def _ratings(
    project: Project, rater: ContestRater, keys: Mapping[str, str], top: int
) -> Iterator[RatingRecord]:
    from annotator.stats.ranking import standings

    played = contest_rows.played(contest_rows.meetings(project, rater.id, keys))
    for row in standings.ranking(keys, played, top).rows if played else ():
        yield RatingRecord(
            task=keys[row.id], task_id=row.id, rater=rater.name, rank=row.rank, elo=row.elo,
            bradley_terry=row.bradley_terry, low=row.low, high=row.high, p_top_k=row.p_top, k=top,
            certain=row.certain, matches=row.matches, note=row.note,
        )  # fmt: skip
