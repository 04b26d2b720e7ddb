"""Standings of a contest: ratings, chances to be kept, missing comparisons, and a judge beside people."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sqlalchemy import select

from annotator.actions.authoring import annotating
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.contests import contest_rows
from annotator.actions.contests.contest_rows import ContestRater, ContestTask, usual_top
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.actions.results import results
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
from annotator.domain.common import Change, Refusal, counted, now
from annotator.domain.judges.contest import SCORES_DISAGREE, Meeting, Showing, by_pair
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.tasks import Task, task_key
from annotator.domain.stored import NOT_ASKED, JudgeKind, RaterKind
from annotator.domain.texts.estimate import FEWEST, Estimate, interval
from annotator.protocols.registry import RANKING
from annotator.stats.matching.matching import likeness_among
from annotator.stats.ranking import standings
from annotator.stats.ranking.pairing import PlayedMatch
from annotator.stats.ranking.standings import BesidePeople, Ranking, beside
from annotator.storage.tables import ITEM


def settled(project: Project, seminars: Iterable[str] | None = None) -> dict[str, tuple[Task, ...]]:
    """Seminar → its settled tasks: adjudicated, imported, or of its only author; of these seminars (ids), or of all."""
    used = select(ITEM.c.id).where(ITEM.c.retired.is_(False))
    with project.store.read() as db:
        rows = annotating.judged_rows(db, Kind.TASKS, seminars)
        item_ids = set(db.execute(used).scalars())
        return {
            item_id: artifact_of(row).document.units for item_id, row in rows.items() if item_id in item_ids
        }


def made(project: Project, *, retired: bool = False) -> dict[str, str]:
    """Task → the item in use that was made from it, by their ids; or the `retired` one."""
    question = select(ITEM.c.made_from, ITEM.c.id).where(ITEM.c.made_from != "", ITEM.c.retired.is_(retired))
    return dict(project.query(question).all())


@people.for_coordinators("can make items of tasks")
def keep(project: Project, seminar_id: str, task_id: str) -> Change:
    """Make a settled task of a seminar an item: the task is its question, its family the type, its seminar the origin.

    Its key names both, such as s012-t03. A task that is an item already makes no change, whose number is then 0; if
    that item is retired, it is restored. To keep several in one transaction, call this within `project.store.write()`.
    Raises Refusal for anyone but a coordinator, and for a task that is not settled.
    """
    with project.store.write():
        if known := made(project).get(task_id):
            return Change("item", known, "add item", None, None, by=project.by)
        if known := made(project, retired=True).get(task_id):
            return items.change(project, known, retired=False)
        tasks = settled(project, [seminar_id]).get(seminar_id, ())
        place = next((place for place, task in enumerate(tasks) if task.id == task_id), None)
        if place is None:
            raise Refusal(
                "That task is not among the settled ones of its seminar.",
                "Close its adjudication first, or look at the list again; nothing was changed.",
            )
        seminar = items.read(project, seminar_id)
        return items.add(
            project,
            tasks[place].text,
            tasks[place].family or "",
            seminar.subject,
            seminar.language,
            {
                "key": task_key(seminar.key[:100], place + 1),
                "origin": seminar.key,
                "traits": tasks[place].traits,
                "made_from": tasks[place].id,
            },
        )


# The setting with the decision on each task.
DECISIONS = "contest_decisions"
# Two tasks of at least this likeness count as the same.
ALIKE = 0.8
RETIRED = "its item was retired"


@dataclass(frozen=True, slots=True)
class TaskDecision:
    """A decision on a task with its rank at that time; `reason` says why it is held back, `by_hand` if by a person."""

    task: str
    kept: bool
    reason: str = ""
    rank: int = 0
    by: str = ""
    at: str = ""
    by_hand: bool = False

    @property
    def words(self) -> str:
        return "kept" if self.kept else f"held back: {self.reason}"


# A group, such as seminar, and one of its values in lower case → the most tasks kept of it; with an empty value, of
# each of the group's values.
Quotas = Mapping[tuple[str, str], int]


def quotas(per_seminar: int | None = None, specs: Sequence[str] = ()) -> Quotas:
    """Quotas from texts like “phase=40” (each phase) and “family:Literature Survey=10”; raises Refusal for others."""
    groups = ("seminar", "discipline", "phase", "family")
    result = {("seminar", ""): per_seminar} if per_seminar else {}
    for words in specs:
        what, sign, most = words.rpartition("=")
        group, _, value = what.partition(":")
        if group not in groups or not sign or not most.isdecimal():
            raise Refusal(
                f"“{words}” is no quota.",
                f"Write for example phase=40, or discipline:Physics=10; of {', '.join(groups)}.",
            )
        result[group, value.casefold()] = int(most)
    return result


def chosen(
    ranking: Ranking,
    tasks: Mapping[str, ContestTask],
    top: int,
    limits: Quotas,
    held: Mapping[str, TaskDecision],
) -> list[TaskDecision]:
    """Walk down the standings until `top` tasks are kept; each task passed over has its reason."""
    alike = likeness_among([one.task.text for one in tasks.values()], ())
    counts, contest_tasks, result = Counter[tuple[str, str]](), list[ContestTask](), []
    for row in ranking.rows:
        if len(contest_tasks) >= top:
            break
        task = tasks[row.id]
        reason = next(_reasons(task, contest_tasks, limits, counts, held, alike), "")
        result.append(TaskDecision(row.id, not reason, reason, row.rank))
        if not reason:
            contest_tasks.append(task)
            counts.update(task.groups.items())
    return result


def _reasons(
    task: ContestTask, tasks: Sequence[ContestTask], limits: Quotas, counts: Counter[tuple[str, str]],
    held: Mapping[str, TaskDecision], alike: Any,
) -> Iterator[str]:  # fmt: skip
    by_hand = held.get(task.id)
    if by_hand is not None and by_hand.by_hand and not by_hand.kept:
        yield by_hand.reason
    for better in tasks:
        if alike(task.task.text, better.task.text) >= ALIKE:
            yield f"nearly the same as {better.key}, which ranks higher"
    for group, value in task.groups.items():
        most = limits.get((group, value.casefold()), limits.get((group, "")))
        if most is not None and value and counts[group, value] >= most:
            yield f"{most} of the {group} {value} are kept already"


def decisions(project: Project) -> dict[str, TaskDecision]:
    """The decision on each task: a task is kept exactly if an item in use was made from it, whoever made it."""
    noted = {task: TaskDecision(**one) for task, one in project.get(DECISIONS, {}).items()}
    created = made(project)
    return (
        noted
        | {
            task: replace(one, kept=False, reason=RETIRED, by_hand=True)
            for task, one in noted.items()
            if one.kept
        }
        | {task: replace(noted.get(task, TaskDecision(task, True)), kept=True, reason="") for task in created}
    )


@people.for_coordinators("can keep tasks")
def keep_tasks(
    project: Project, kept_tasks: Sequence[TaskDecision], tasks: Mapping[str, ContestTask]
) -> tuple[Change, list[str]]:
    """Make items of the kept tasks, and store why the others are not; all or nothing. Also returns the new keys."""
    before, selected = made(project), [one.task for one in kept_tasks if one.kept]
    with project.store.write():
        for task in selected:
            keep(project, tasks[task].item.id, task)
        change = _note(project, kept_tasks, "keep tasks")
    return change, [tasks[task].key for task in selected if task not in before]


@people.for_coordinators("can hold tasks back")
def hold(project: Project, task: str, reason: str, rank: int = 0) -> tuple[Change, TaskDecision]:
    """Hold a task back by hand, whatever its rank; an item made from it is retired.

    With an empty reason it may be kept again.
    """
    one = TaskDecision(task, False, reason.strip(), rank, by_hand=True)
    created = made(project).get(task)
    if created and not one.reason:
        raise Refusal(
            "This task is kept: it is an item.", "Hold it back with a reason; its item is then retired."
        )
    with project.store.write():
        if created:
            items.change(project, created, retired=True)
        return _note(project, [one], "hold task back"), one


def _note(project: Project, tasks: Sequence[TaskDecision], verb: str) -> Change:
    """Store decisions, in the transaction that carries them out; that on a task without a reason is deleted."""
    held = dict(project.get(DECISIONS, {}))
    by_hand = {task for task, one in decisions(project).items() if one.by_hand}
    at = now().isoformat(timespec="seconds")
    for one in tasks:
        own = one.by_hand or (one.task in by_hand and not one.kept)
        held[one.task] = asdict(one) | {"by": project.by, "at": at, "by_hand": own}
        if not one.kept and not one.reason:
            del held[one.task]
    with project.store.write() as db:
        project.set(DECISIONS, held)
        return record(project, db, Change("contest", "", verb, None, {one.task: one.words for one in tasks}))


_WORDS = 160


@dataclass(frozen=True, slots=True)
class ContestReport:
    """One rater's standings, with missing comparisons and, for a judge, its agreement with each person."""

    rater: ContestRater
    tasks: Mapping[str, ContestTask]
    ranking: Ranking
    draws: int = standings.DRAWS
    lacking: tuple[Showing, ...] = ()
    disagreeing: int = 0
    near: int = 0
    beside: Mapping[str, BesidePeople] = field(default_factory=dict)
    decided: Mapping[str, TaskDecision] = field(default_factory=dict)
    # For a judge, its kind.
    kind: str = ""
    # For all people together, each one's Elo ratings by alias.
    each: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def asks(self) -> bool:
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
                person: {name: getattr(result, name).value for name in _FIGURES} | {"ties": result.ties}
                for person, result in self.beside.items()
            },
        }  # fmt: skip

    def of_each(self, task: str) -> dict[str, float | None]:
        """By alias, each person's own rating of a task; None if they did not compare it."""
        return {alias: _rounded(of.get(task)) for alias, of in self.each.items()}


_FIGURES = {
    "accuracy": "Accuracy", "kappa": "Scott's π", "brier": "Brier score", "calibration": "Calibration error",
    "ratings": "ρ of ratings",
}  # fmt: skip


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def report(project: Project, rater: str = "", top: str = "", draws: int = standings.DRAWS) -> ContestReport:
    """One rater's standings, by default of the one who compared most; raises Refusal if nobody did or for a bad cut."""
    tasks = contest_rows.competing(project)
    top_count = _top(top, len(tasks))
    who = contest_rows.rater_named(project, rater)
    held = contest_rows.meetings(project, who.id, tasks)
    lacking = tuple(showing for meeting in held for showing in meeting.showings if not showing.came)
    flagged = sum(
        SCORES_DISAGREE in showing.flags.split() for meeting in held for showing in meeting.showings
    )
    ranking = standings.ranking(tasks, contest_rows.played(held), top_count, draws)
    one_order = all(len(one.showings) == 1 for one in held)
    near = (
        contest_rows.next_near(project, who.id, top_count, one_order=one_order)
        if top_count < len(tasks)
        else 0
    )
    alone = {}
    if who.id == contest_rows.TOGETHER:
        for member in contest_rows.members(project, who.id):
            of_one = contest_rows.played(contest_rows.meetings(project, member.id, tasks))
            alone[member.name] = _rated(of_one, standings.ratings(list(tasks), of_one))
    return ContestReport(
        who, tasks, ranking, draws, lacking, flagged, near,
        {} if alone else _beside(project, who, held, ranking, tasks),
        decisions(project), next((str(judge.kind) for judge in judges.all_of(project) if judge.id == who.id), ""),
        alone,
    )  # fmt: skip


def _top(typed: str, tasks: int) -> int:
    if not typed:
        return usual_top(tasks)
    if not typed.isdecimal() or not 0 < int(typed) <= tasks:
        raise Refusal(f"“{typed}” of {tasks} tasks cannot be kept.", f"Give a number from 1 to {tasks}.")
    return int(typed)


def _beside(
    project: Project,
    who: ContestRater,
    own: list[Meeting],
    ranking: Ranking,
    tasks: Mapping[str, ContestTask],
) -> dict[str, BesidePeople]:
    """The rater's agreement with each other person who compared the same pairs."""
    mine, result, elos = by_pair(own), {}, {row.id: row.elo for row in ranking.rows}
    for other in contest_rows.raters(project):
        if other.id == who.id or other.kind is not RaterKind.PERSON:
            continue
        held = contest_rows.meetings(project, other.id, tasks)
        theirs = by_pair(held)
        played = contest_rows.played(held)
        rated = _rated(played, standings.ratings(list(tasks), played))
        pairs = [(mine[pair], theirs[pair]) for pair in sorted(mine.keys() & theirs.keys())]
        result[other.name] = beside(pairs, _rated(contest_rows.played(own), elos), rated)
    return result


def _rated(played: list[PlayedMatch], ratings: Mapping[str, float]) -> dict[str, float]:
    compared = {task for match in played for task in (match.first, match.second)}
    return {task: ratings[task] for task in compared}


# In words, and as tables.


def words(report: ContestReport) -> list[str]:
    return [*_certainty(report), *_floor(report), *_gaps(report)]


def _floor(report: ContestReport) -> Iterator[str]:
    if report.kind == JudgeKind.BASELINE:
        yield f"{results.FLOOR.capitalize()}. {RANKING.floor}"


def _certainty(report: ContestReport) -> Iterator[str]:
    ranking = report.ranking
    matches, rounds = counted(ranking.matches, "match", "matches"), counted(ranking.rounds, "round")
    yield f"By {report.rater.name}: {matches} in {rounds} of {counted(len(ranking.rows), 'task')}."
    more = (
        f"; another round near the cut would take {counted(report.near, 'call' if report.asks else 'comparison')}"
        if report.near
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


def _gaps(report: ContestReport) -> Iterator[str]:
    showings = [one for one in report.lacking if one.status != NOT_ASKED]
    if report.lacking:
        causes = Counter("not asked yet" if one.status == NOT_ASKED else one.status for one in report.lacking)
        breakdown = ", ".join(f"{many:,} {cause.replace('_', ' ')}" for cause, many in causes.most_common())
        yield f"{counted(len(report.lacking), 'comparison')} missing ({breakdown}): they change no rating."
    for showing in showings[:5]:
        first, second = report.tasks[showing.first].key, report.tasks[showing.second].key
        yield f"Round {showing.round}, {first} before {second}: {showing.status.replace('_', ' ')}. {showing.cause}"
    if report.disagreeing:
        yield f"In {counted(report.disagreeing, 'reply')} the scores disagree with the winner; the winner counts."


def choices(project: Project) -> tuple[ViewChoice, ...]:
    known = contest_rows.raters(project)
    who = tuple((rater.name, rater.name) for rater in (*known, *contest_rows.together(known)))
    many = len(contest_rows.tasks(project))
    tops = [usual_top(many), *(top for top in (5, 10, 20, 50, 100, 200, 500) if top < many)]
    cuts = tuple((f"top {top:,}", str(top)) for top in dict.fromkeys(tops))
    return (ViewChoice("rater", "By", who), ViewChoice("top", "Keep", cuts, open=True)) if who else ()


def view(project: Project, rater: str = "", top: str = "") -> ContestReport | None:
    """The same for the window; None if nobody has compared tasks."""
    if not contest_rows.raters(project) or len(contest_rows.tasks(project)) < 2:
        return None
    return report(project, rater, top)


def sheets(report: ContestReport | None) -> tuple[ResultSheet, ...]:
    return () if report is None else (_standings(report), *_people(report), *_missing(report))


def _standings(report: ContestReport) -> ResultSheet:
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
        *((f"elo_{alias}", alias, f"Elo as printed, by {alias} alone") for alias in sorted(report.each)),
        ("decision", "Decision"), ("text", "Text"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            count(row.rank), text(report.tasks[row.id].key), count(round(row.elo, 1), form=",.1f"),
            _strength(row), share(row.p_top, absent=report.ranking.too_few),
            text("certain" if row.certain else ""), count(row.matches),
            *(count(one, form=",.1f") for _, one in sorted(report.of_each(row.id).items())),
            _decided(report.decided.get(row.id)),
            text(_short(report.tasks[row.id].task.text)),
        ), item_id=report.tasks[row.id].item.id)
        for row in report.ranking.rows
    )  # fmt: skip
    title = f"Standings of {counted(len(lines), 'task')}"
    return ResultSheet(
        "standings", title, heads, lines, tuple(words(report)), departures=RANKING.departures, answers=2
    )


def _strength(row: standings.Standing) -> Any:
    if not row.matches:
        return missing("it has not met another task")
    how = "Wald interval over pairs, centred on the mean of all tasks"
    estimate = Estimate(row.bradley_terry, row.low, row.high, n=row.matches, method=how, note=row.note)
    cell = count(round(row.bradley_terry, 1), row.note, form=",.1f")
    span = interval(estimate, lambda value: f"{value:,.0f}")
    return replace(cell, words="  ".join(filter(None, (cell.words, span))), estimate=estimate)


def _decided(task: TaskDecision | None) -> Any:
    return text("") if task is None else text(task.words, state="" if task.kept else "incomplete")


def _short(words: str) -> str:
    plain = " ".join(words.split())
    return plain if len(plain) <= _WORDS else f"{plain[: _WORDS - 1]}…"


def _people(report: ContestReport) -> Iterator[ResultSheet]:
    if not report.beside:
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
        SheetLine((text(person), *(figure(getattr(people, name)) for name in _FIGURES), count(people.ties)))
        for person, people in sorted(report.beside.items())
    )
    yield ResultSheet("people", f"{report.rater.name} beside people", heads, lines)


def _missing(report: ContestReport) -> Iterator[ResultSheet]:
    showings = [showing for showing in report.lacking if showing.status != NOT_ASKED]
    if not showings:
        return
    heads = columns(
        ("round", "Round"), ("first", "First"), ("second", "Second"), ("status", "Status"), ("cause", "Cause")
    )
    lines = tuple(
        SheetLine((
            count(showing.round), text(report.tasks[showing.first].key), text(report.tasks[showing.second].key),
            text(showing.status.replace("_", " "), state="missing"), text(showing.cause),
        ))
        for showing in showings
    )  # fmt: skip
    yield ResultSheet("missing", "Missing comparisons", heads, lines)
