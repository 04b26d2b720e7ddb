"""Standings of a contest: ratings, chances to be kept, what is missing, and a judge beside people."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from annotator.actions.contests import contest_keeping, contest_rows, contest_runs, contest_tasks
from annotator.actions.contests.contest_keeping import KeptTask
from annotator.actions.contests.contest_rows import ContestRater
from annotator.actions.contests.contest_tasks import ContestTask
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.results import publishing
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetLine,
    ViewChoice,
    columns,
    count,
    figure,
    missing,
    percent,
    share,
    text,
)
from annotator.domain.judges import contest
from annotator.domain.judges.contest import NOT_ASKED, SCORES_DISAGREE, Meeting, Showing
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.judgement import RaterKind
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import FEWEST, Estimate, interval
from annotator.domain.texts.refusal import Refusal
from annotator.protocols.lent import RANKING
from annotator.stats.ranking import bradley_terry, standings
from annotator.stats.ranking.beside import BesidePeople, beside
from annotator.stats.ranking.pairing import PlayedMatch
from annotator.stats.ranking.standings import Ranking

# How many are kept where nobody says: a tenth, and never more than a hundred.
_MOST, _TENTH = 100, 10
_WORDS = 160


@dataclass(frozen=True, slots=True)
class ContestReport:
    """One rater's standings, with what lacks and, of a judge, how it stands beside each person."""

    rater: ContestRater
    tasks: Mapping[str, ContestTask]
    ranking: Ranking
    draws: int = bradley_terry.DRAWS
    lacking: tuple[Showing, ...] = ()
    disagreeing: int = 0
    near: int = 0
    beside: Mapping[str, BesidePeople] = field(default_factory=dict)
    decided: Mapping[str, KeptTask] = field(default_factory=dict)
    kind: str = ""
    """Of a judge, how it comes to its verdicts."""
    each: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Of all people together, each one's Elo ratings by alias."""

    @property
    def asks(self) -> bool:
        """Whether a comparison is a call to a model."""
        return self.kind == JudgeKind.ENDPOINT

    def tree(self) -> dict[str, Any]:
        ranking = self.ranking
        return {
            "rater": self.rater.name, "top": ranking.top, "rounds": ranking.rounds, "matches": ranking.matches,
            "certain": ranking.certain, "changed": ranking.changed, "converged": ranking.converged,
            "draws": self.draws, "comparisons_near_the_cut": self.near,
            "calls_near_the_cut": self.near if self.asks else 0,
            "missing": len(self.lacking), "scores_disagree": self.disagreeing,
            "told": list(_floor(self)), "departures": list(RANKING.departures),
            "standings": [
                {
                    "task_id": row.id, "key": self.tasks[row.id].key, "rank": row.rank, "elo": round(row.elo, 4),
                    "bradley_terry": round(row.bradley_terry, 4), "low": _rounded(row.low), "high": _rounded(row.high),
                    "p_top_k": _rounded(row.p_top), "certain": row.certain, "matches": row.matches, "note": row.note,
                    **({"each": self.of_each(row.id)} if self.each else {}),
                }
                for row in ranking.rows
            ],
            "beside": {
                person: {name: getattr(found, name).value for name in _FIGURES} | {"ties": found.ties}
                for person, found in self.beside.items()
            },
        }  # fmt: skip

    def of_each(self, task: str) -> dict[str, float | None]:
        """By alias, how each one alone rates a task; None where they did not compare it."""
        return {alias: _rounded(of.get(task)) for alias, of in self.each.items()}


_FIGURES = {
    "accuracy": "Accuracy", "kappa": "Scott's π", "brier": "Brier score", "calibration": "Calibration error",
    "ratings": "ρ of ratings",
}  # fmt: skip


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def usual_top(tasks: int) -> int:
    """How many are kept where nobody says."""
    return max(1, min(_MOST, tasks // _TENTH))


def report(
    project: Project, rater: str = "", top: str = "", draws: int = bradley_terry.DRAWS
) -> ContestReport:
    """The standings by one rater, by default whoever compared most; Refusal where nobody did, or for a cut of none."""
    tasks = contest_tasks.competing(project)
    kept = _top(top, len(tasks))
    who = contest_rows.rater_named(project, rater)
    held = contest_rows.meetings(project, who.id, tasks)
    played = contest_rows.played(held)
    lacking = tuple(one for meeting in held for one in meeting.showings if not one.came)
    flagged = sum(SCORES_DISAGREE in one.flags.split() for meeting in held for one in meeting.showings)
    ranking = standings.ranking(tasks, played, kept, draws)
    one_order = all(len(one.showings) == 1 for one in held)
    near = contest_runs.next_near(project, who.id, kept, one_order=one_order) if kept < len(tasks) else 0
    alone = {}
    if who.id == contest_rows.TOGETHER:
        for one in contest_rows.members(project, who.id):
            of_one = contest_rows.played(contest_rows.meetings(project, one.id, tasks))
            alone[one.name] = _rated(of_one, standings.ratings(list(tasks), of_one))
    return ContestReport(
        who, tasks, ranking, draws, lacking, flagged, near,
        {} if alone else _beside(project, who, held, ranking, tasks),
        contest_keeping.decisions(project), _kind(project, who.id), alone,
    )  # fmt: skip


def _kind(project: Project, rater: str) -> str:
    """How a judge of the project comes to its verdicts; empty for anybody else."""
    return next((str(one.kind) for one in judges.all_of(project) if one.id == rater), "")


def _top(said: str, tasks: int) -> int:
    if not said:
        return usual_top(tasks)
    if not said.isdecimal() or not 0 < int(said) <= tasks:
        raise Refusal(f"“{said}” of {tasks} tasks cannot be kept.", f"Give a number from 1 to {tasks}.")
    return int(said)


def _beside(
    project: Project,
    who: ContestRater,
    own: list[Meeting],
    ranking: Ranking,
    tasks: Mapping[str, ContestTask],
) -> dict[str, BesidePeople]:
    """How the rater stands beside each other person who compared the same pairs."""
    mine, found = contest.by_pair(own), {}
    for other in contest_rows.raters(project):
        if other.id == who.id or other.kind is not RaterKind.PERSON:
            continue
        held = contest_rows.meetings(project, other.id, tasks)
        theirs = contest.by_pair(held)
        played = contest_rows.played(held)
        rated = _rated(played, standings.ratings(list(tasks), played))
        pairs = [(mine[pair], theirs[pair]) for pair in sorted(mine.keys() & theirs.keys())]
        found[other.name] = beside(pairs, _rated(contest_rows.played(own), ranking.elos), rated)
    return found


def _rated(played: list[PlayedMatch], ratings: Mapping[str, float]) -> dict[str, float]:
    there = {task for one in played for task in (one.first, one.second)}
    return {task: ratings[task] for task in there}


# In words, and as tables.


def words(found: ContestReport) -> list[str]:
    return [*_certainty(found), *_floor(found), *_gaps(found)]


def _floor(found: ContestReport) -> Iterator[str]:
    if found.kind == JudgeKind.BASELINE:
        yield f"{publishing.FLOOR.capitalize()}. {RANKING.floor}"


def _certainty(found: ContestReport) -> Iterator[str]:
    ranking = found.ranking
    matches, rounds = counted(ranking.matches, "match", "matches"), counted(ranking.rounds, "round")
    yield f"By {found.rater.name}: {matches} in {rounds} of {counted(len(ranking.rows), 'task')}."
    more = (
        f"; another round near the cut would take {counted(found.near, 'call' if found.asks else 'comparison')}"
        if found.near
        else ""
    )
    are = "is" if ranking.certain == 1 else "are"
    yield (
        f"{ranking.certain} of the top {ranking.top} {are} certain, by at least {FEWEST} independent matches each: "
        f"that one of those called certain is not among the best has a chance of 5 % at most{more}."
    )
    if ranking.too_few:
        yield f"There is no P(top k): {ranking.too_few}."
    if ranking.changed is not None:
        steady = "it has converged" if ranking.converged else "more rounds are worth it"
        yield f"The last round replaced {percent(ranking.changed)} of the top {ranking.top}: {steady}."


def _gaps(found: ContestReport) -> Iterator[str]:
    asked = [one for one in found.lacking if one.status != NOT_ASKED]
    if found.lacking:
        causes = Counter("not asked yet" if one.status == NOT_ASKED else one.status for one in found.lacking)
        told = ", ".join(f"{many:,} {cause.replace('_', ' ')}" for cause, many in causes.most_common())
        yield f"{counted(len(found.lacking), 'comparison')} missing ({told}): they change no rating."
    for one in asked[:5]:
        first, second = found.tasks[one.first].key, found.tasks[one.second].key
        yield f"Round {one.round}, {first} before {second}: {one.status.replace('_', ' ')}. {one.cause}"
    if found.disagreeing:
        yield f"In {counted(found.disagreeing, 'reply')} the scores disagree with the winner; the winner counts."


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """By whose comparisons, and how many are kept."""
    known = contest_rows.raters(project)
    who = tuple((one.name, one.name) for one in (*known, *contest_rows.together(known)))
    many = len(contest_tasks.tasks(project))
    tops = [usual_top(many), *(top for top in (5, 10, 20, 50, 100, 200, 500) if top < many)]
    cuts = tuple((f"top {top:,}", str(top)) for top in dict.fromkeys(tops))
    return (ViewChoice("rater", "By", who), ViewChoice("top", "Keep", cuts, open=True)) if who else ()


def view(project: Project, rater: str = "", top: str = "") -> ContestReport | None:
    """The same for the window; None where nobody has compared tasks."""
    if not contest_rows.raters(project) or len(contest_tasks.tasks(project)) < 2:
        return None
    return report(project, rater, top)


def sheets(found: ContestReport | None) -> tuple[ResultSheet, ...]:
    """The standings, what is missing, and the rater beside people."""
    if found is None:
        return ()
    return (_standings(found), *_people(found), *_missing(found))


def _standings(found: ContestReport) -> ResultSheet:
    heads = columns(
        ("rank", "Rank"), ("task", "Task"),
        ("elo", "Elo as printed", "From 1200, K = 32, with the stated confidence as outcome, as the paper does"),
        ("bradley_terry", "Bradley–Terry",
         "The strength by matches won, lost or left open, whatever the confidence, on the same scale, "
         "with a 95 % interval over pairs"),
        ("p_top_k", "P(top k)",
         "In what share of draws from the joint distribution of strengths it is among those kept"),
        ("certain", "Certain",
         "Better than all but those kept, by tests corrected for how many are kept: "
         "wrong in 5 % of contests at most"),
        ("matches", "Matches",
         "A pair in both orders is one match; matches of one pair count as one independent match as far as they "
         "come out alike"),
        *((f"elo_{alias}", alias, f"Elo as printed, by {alias} alone") for alias in sorted(found.each)),
        ("decision", "Decision"), ("text", "Text"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            count(row.rank), text(found.tasks[row.id].key), count(round(row.elo, 1), form=",.1f"),
            _strength(row), share(row.p_top, absent=found.ranking.too_few),
            text("certain" if row.certain else ""), count(row.matches),
            *(count(one, form=",.1f") for _, one in sorted(found.of_each(row.id).items())),
            _decided(found.decided.get(row.id)),
            text(_short(found.tasks[row.id].task.text)),
        ), item_id=found.tasks[row.id].item.id)
        for row in found.ranking.rows
    )  # fmt: skip
    title = f"Standings of {counted(len(lines), 'task')}"
    told = tuple(words(found))
    return ResultSheet("standings", title, heads, lines, told, departures=RANKING.departures, answers=2)


def _strength(row: standings.Standing) -> Any:
    if not row.matches:
        return missing("it has not met another task")
    how = "Wald interval over pairs, centred on the mean of all tasks"
    estimate = Estimate(row.bradley_terry, row.low, row.high, n=row.matches, method=how, note=row.note)
    cell = count(round(row.bradley_terry, 1), row.note, form=",.1f")
    span = interval(estimate, lambda value: f"{value:,.0f}")
    return replace(cell, words="  ".join(filter(None, (cell.words, span))), estimate=estimate)


def _decided(one: KeptTask | None) -> Any:
    return text("") if one is None else text(one.words, state="" if one.kept else "incomplete")


def _short(words: str) -> str:
    plain = " ".join(words.split())
    return plain if len(plain) <= _WORDS else f"{plain[: _WORDS - 1]}…"


def _people(found: ContestReport) -> Iterator[ResultSheet]:
    if not found.beside:
        return
    tips = {
        "accuracy": "The share of pairs on which both prefer the same task; ties are left out",
        "kappa": "Agreement beyond chance on the same pairs, each both ways round: κ of equal shares",
        "brier": "Mean (C − outcome)²: 0 is perfect, 0.25 what always one half gets",
        "calibration": "How far confidence lies from the share that is right, over five stretches of it",
        "ratings": "Spearman's ρ of the Elo ratings of tasks that both compared",
    }
    heads = columns(
        ("person", "Person"),
        *((name, title, tips[name]) for name, title in _FIGURES.items()),
        ("ties", "Ties"),
    )
    lines = tuple(
        SheetLine((text(person), *(figure(getattr(one, name)) for name in _FIGURES), count(one.ties)))
        for person, one in sorted(found.beside.items())
    )
    yield ResultSheet("people", f"{found.rater.name} beside people", heads, lines)


def _missing(found: ContestReport) -> Iterator[ResultSheet]:
    asked = [one for one in found.lacking if one.status != NOT_ASKED]
    if not asked:
        return
    heads = columns(
        ("round", "Round"), ("first", "First"), ("second", "Second"), ("status", "Status"), ("cause", "Cause")
    )
    lines = tuple(
        SheetLine((
            count(one.round), text(found.tasks[one.first].key), text(found.tasks[one.second].key),
            text(one.status.replace("_", " "), state="missing"), text(one.cause),
        ))
        for one in asked
    )  # fmt: skip
    yield ResultSheet("missing", "Missing comparisons", heads, lines)
