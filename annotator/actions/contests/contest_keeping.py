"""Which tasks are kept: the best ones, within quotas and without near-duplicates; the others are held back."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from annotator.actions.adjudication import kept_tasks
from annotator.actions.contests.contest_tasks import ContestTask
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.texts.change import Change, now
from annotator.domain.texts.refusal import Refusal
from annotator.stats.matching.likeness import likeness_among
from annotator.stats.ranking.standings import Ranking

# The setting that holds what was decided of each task.
DECISIONS = "contest_decisions"
# From which likeness on two tasks are one.
ALIKE = 0.8
RETIRED = "its item was retired"


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
    alike = likeness_among([one.task.text for one in tasks.values()], ())
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
    """What was decided of each task: kept is one of which there is an item in use, whoever made it, and no other."""
    noted = {task: KeptTask(**one) for task, one in project.get(DECISIONS, {}).items()}
    made = kept_tasks.made(project)
    gone = {
        task: replace(one, kept=False, reason=RETIRED, by_hand=True)
        for task, one in noted.items()
        if one.kept
    }
    return (
        noted
        | gone
        | {task: replace(noted.get(task, KeptTask(task, True)), kept=True, reason="") for task in made}
    )


def keep(
    project: Project, found: Sequence[KeptTask], tasks: Mapping[str, ContestTask]
) -> tuple[Change, list[str]]:
    """Make items of those that are kept, and note why the others are not; all of it or nothing. Keys of new items."""
    people.refuse_others(project, "can keep tasks")
    before, kept = kept_tasks.made(project), [one.task for one in found if one.kept]
    with project.store.write():
        for task in kept:
            kept_tasks.keep(project, tasks[task].item.id, task)
        change = _note(project, found, "keep tasks")
    return change, [tasks[task].key for task in kept if task not in before]


def hold(project: Project, task: str, reason: str, rank: int = 0) -> tuple[Change, KeptTask]:
    """Hold a task back by hand, whatever its rank; an item that was made of it is retired.

    With an empty reason it may be kept again.
    """
    people.refuse_others(project, "can hold tasks back")
    one = KeptTask(task, False, reason.strip(), rank, by_hand=True)
    made = kept_tasks.made(project).get(task)
    if made and not one.reason:
        raise Refusal(
            "This task is kept: it is an item.", "Hold it back with a reason; its item is then retired."
        )
    with project.store.write():
        if made:
            items.change(project, made, retired=True)
        return _note(project, [one], "hold task back"), one


def _note(project: Project, found: Sequence[KeptTask], verb: str) -> Change:
    """Keep what was decided, in the transaction of what is done about it; a task without a reason is forgotten."""
    held = dict(project.get(DECISIONS, {}))
    by_hand = {task for task, one in decisions(project).items() if one.by_hand}
    at = now().isoformat(timespec="seconds")
    for one in found:
        own = one.by_hand or (one.task in by_hand and not one.kept)
        held[one.task] = asdict(one) | {"by": project.by, "at": at, "by_hand": own}
        if not one.kept and not one.reason:
            del held[one.task]
    with project.store.write() as db:
        project.set(DECISIONS, held)
        told = {one.task: one.words for one in found}
        return record(project, db, Change("contest", "", verb, None, told))
