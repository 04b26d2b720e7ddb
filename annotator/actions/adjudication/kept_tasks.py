"""Tasks of seminars that are kept for the benchmark: each becomes an item of its own."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from sqlalchemy import select

from annotator.actions.authoring import annotating
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.items import items, sources
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.tasks import Task, task_key
from annotator.domain.material.item import Item
from annotator.domain.material.source import Source
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ITEM


def settled(project: Project, seminars: Iterable[str] | None = None) -> dict[str, tuple[Task, ...]]:
    """Seminar → its settled tasks: adjudicated, imported, or of its only author; of some seminars by id, or of all."""
    used = select(ITEM.c.id).where(ITEM.c.retired.is_(False))
    with project.store.read() as db:
        rows = annotating.judged_rows(db, Kind.TASKS, seminars)
        kept = set(db.execute(used).scalars())
        return {item_id: artifact_of(row).document.units for item_id, row in rows.items() if item_id in kept}


def made(project: Project, *, retired: bool = False) -> dict[str, str]:
    """Task → the item in use that was made from it, by their ids; or the one that is `retired`."""
    question = select(ITEM.c.made_from, ITEM.c.id).where(ITEM.c.made_from != "", ITEM.c.retired.is_(retired))
    with project.store.read() as db:
        return dict(db.execute(question).all())


class TaskOrigin(NamedTuple):
    """Where the task of an item comes from: its seminar with its sources, and the inspirations that it is made of."""

    seminar: Item
    sources: Sequence[Source]
    inspirations: Sequence[Unit]


def origin(project: Project, item: Item) -> TaskOrigin | None:
    """Where an item that was made from a task comes from; None for any other, and where its seminar is not here."""
    with project.store.read() as db:
        ids = list(db.execute(select(ITEM.c.id).where(ITEM.c.key == item.origin)).scalars())
        lists, leads = (annotating.judged_rows(db, kind, ids) for kind in (Kind.TASKS, Kind.INSPIRATIONS))
    for seminar_id, row in lists.items():
        task = next((one for one in artifact_of(row).document.units if one.id == item.made_from), None)
        if task is not None:
            known = artifact_of(leads[seminar_id]).document.units if seminar_id in leads else ()
            return TaskOrigin(
                items.read(project, seminar_id),
                sources.sources(project, seminar_id),
                [one for one in known if one.id in task.inspirations],
            )
    return None


def keep(
    project: Project, seminar_id: str, task_id: str, more: Mapping[str, object] = MappingProxyType({})
) -> Change:
    """Make a settled task of a seminar an item: the task is its question, its family the type, its seminar the origin.

    Its key tells both, such as s012-t03. A task that was made an item before makes no change, whose number is then 0;
    where that item is retired, it is brought back.
    Several are kept in one transaction by calling this within `project.store.write()`. Refusal for anyone but a
    coordinator, and for a task that is not settled.
    """
    people.refuse_others(project, "can make items of tasks")
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
            {**_filed(seminar, tasks[place], place + 1), **more},
        )


def _filed(seminar: Item, task: Task, number: int) -> dict[str, object]:
    return {
        "key": task_key(seminar.key[:100], number),
        "origin": seminar.key,
        "traits": task.traits,
        "made_from": task.id,
    }
