"""Which tasks are kept: the best ones, within quotas and without near-duplicates; the others are held back."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from annotator.actions.adjudication import kept_tasks
from annotator.actions.contests.contest_tasks import ContestTask
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.texts.identity import now
from annotator.domain.texts.refusal import Refusal
from annotator.stats.matching.likeness import likeness_among
from annotator.stats.ranking.standings import Ranking

# The setting that holds what was decided of each task.
DECISIONS = "contest_decisions"
# From which likeness on two tasks are one.
ALIKE = 0.8


@dataclass(frozen=True, slots=True)
class KeptTask:
    """A decision on a task with its rank at that time; `reason` says why it is held back, `by_hand` who said so."""

    task: str
    kept: bool
    reason: str = ""
    rank: int = 0
    by: str = ""
    at: str = ""
    by_hand: bool = False

    @property
    def words(self) -> str:
        """The decision as a person reads it."""
        return "kept" if self.kept else f"held back: {self.reason}"


@dataclass(frozen=True, slots=True)
class Quotas:
    """At most so many of each value of a group, such as of each seminar, or of the discipline named."""

    each: Mapping[str, int]
    named: Mapping[tuple[str, str], int]

    def full(self, task: ContestTask, counts: Counter[tuple[str, str]]) -> str:
        """Why no more of its kind may be kept; empty where one may."""
        for group, value in task.groups.items():
            most = self.named.get((group, value.casefold()), self.each.get(group))
            if most is not None and value and counts[group, value] >= most:
                return f"{most} of the {group} {value} are kept already"
        return ""


def quotas(per_seminar: int | None = None, wanted: Sequence[str] = ()) -> Quotas:
    """Quotas from texts such as “phase=40” (of each phase) and “family:Literature Survey=10”; Refusal for others."""
    groups = ("seminar", "discipline", "phase", "family")
    each, of_one = ({"seminar": per_seminar} if per_seminar else {}), {}
    for words in wanted:
        what, sign, most = words.rpartition("=")
        group, _, value = what.partition(":")
        if group not in groups or not sign or not most.isdecimal():
            raise Refusal(
                f"“{words}” is no quota.",
                f"Write for example phase=40, or discipline:Physics=10; of {', '.join(groups)}.",
            )
        if value:
            of_one[group, value.casefold()] = int(most)
        else:
            each[group] = int(most)
    return Quotas(each, of_one)


def chosen(
    ranking: Ranking, tasks: Mapping[str, ContestTask], top: int, limits: Quotas, held: Mapping[str, KeptTask]
) -> list[KeptTask]:
    """Walk the standings until so many are kept; each that is passed over has its reason."""
    alike = likeness_among(
        [one.task.text for one in tasks.values()], [one.task.text for one in tasks.values()]
    )
    counts, kept, found = Counter[tuple[str, str]](), list[ContestTask](), []
    for row in ranking.rows:
        if len(kept) >= top:
            break
        task = tasks[row.id]
        reason = next(_reasons(task, kept, limits, counts, held, alike), "")
        found.append(KeptTask(row.id, not reason, reason, row.rank))
        if not reason:
            kept.append(task)
            counts.update(task.groups.items())
    return found


def _reasons(
    task: ContestTask, kept: Sequence[ContestTask], limits: Quotas, counts: Counter[tuple[str, str]],
    held: Mapping[str, KeptTask], alike: Any,
) -> Iterator[str]:  # fmt: skip
    by_hand = held.get(task.id)
    if by_hand is not None and by_hand.by_hand and not by_hand.kept:
        yield by_hand.reason
    for better in kept:
        if alike(task.task.text, better.task.text) >= ALIKE:
            yield f"nearly the same as {better.key}, which ranks higher"
    if full := limits.full(task, counts):
        yield full


def decisions(project: Project) -> dict[str, KeptTask]:
    """What was decided of each task."""
    return {task: KeptTask(**one) for task, one in project.get(DECISIONS, {}).items()}


def keep(project: Project, found: Sequence[KeptTask], tasks: Mapping[str, ContestTask]) -> list[str]:
    """Make items of those that are kept, and note why the others are not; all of it or nothing. Keys of new items."""
    people.refuse_others(project, "can keep tasks")
    before, new = set(kept_tasks.made(project)), []
    with project.store.write():
        for one in found:
            if one.kept:
                kept_tasks.keep(project, tasks[one.task].item.id, one.task)
                new += [tasks[one.task].key] if one.task not in before else []
        _note(project, found)
    return new


def hold(project: Project, task: str, reason: str, rank: int = 0) -> KeptTask:
    """Hold a task back by hand, whatever its rank; with an empty reason it may be kept again."""
    people.refuse_others(project, "can hold tasks back")
    reason = reason.strip()
    if reason:
        one = KeptTask(task, False, reason, rank, by_hand=True)
        with project.store.write():
            _note(project, [one])
        return one
    held = {name: asdict(known) for name, known in decisions(project).items() if name != task}
    project.set(DECISIONS, held)
    return KeptTask(task, False)


def _note(project: Project, found: Sequence[KeptTask]) -> None:
    held, known = project.get(DECISIONS, {}), decisions(project)
    at = now().isoformat(timespec="seconds")
    new = {}
    for one in found:
        by_hand = one.by_hand or (one.task in known and known[one.task].by_hand and not one.kept)
        new[one.task] = asdict(one) | {"by": project.by, "at": at, "by_hand": by_hand}
    project.set(DECISIONS, held | new)
