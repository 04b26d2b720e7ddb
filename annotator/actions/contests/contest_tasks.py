"""The tasks that compete: those of every settled list, each under a short key."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotator.actions.items import materials
from annotator.actions.items.materials import WantedMaterial
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.tasks import Task, task_key
from annotator.domain.material.item import Item
from annotator.domain.texts.refusal import Refusal


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
    """The tasks of all settled lists, in the project's order; an empty text is no task."""
    wanted = WantedMaterial((Kind.TASKS,), texts=False, parts=False)
    return [
        ContestTask(task_key(one.item.key, place), task, one.item)
        for one in materials.each(project, wanted, materials.item_ids(project))
        for place, task in enumerate(one.own.units(Kind.TASKS), start=1)
        if task.text.strip()
    ]


def competing(project: Project) -> dict[str, ContestTask]:
    """The same by id; Refusal where there are fewer than two."""
    found = {one.id: one for one in tasks(project)}
    if len(found) < 2:
        raise Refusal(
            f"A contest takes two tasks or more; this project has {len(found):,}.",
            "Tasks compete once their list is submitted, or settled where several wrote one.",
        )
    return found


def by_name(found: Iterable[ContestTask]) -> dict[str, str]:
    """Id or key of a task → its id."""
    return {name: one.id for one in found for name in (one.key, one.id)}


def named(project: Project, name: str) -> ContestTask:
    """The task with that key or id; Refusal when there is none."""
    for one in tasks(project):
        if name in (one.key, one.id):
            return one
    raise Refusal(f"“{name}” is no task here.", "Its key stands in the standings.")
