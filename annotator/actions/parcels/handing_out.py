"""Contents of each person's task file, and writing several in one go."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import func, select

from annotator.actions.assignments import assignments
from annotator.actions.parcels import packing
from annotator.actions.parcels.packing import PARCEL, PackedTask
from annotator.actions.project import people
from annotator.actions.project.bulk import Progress
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Assignment, Stage
from annotator.domain.experts.person import Person
from annotator.domain.texts.refusal import Refusal


@dataclass(frozen=True, slots=True)
class TaskContent:
    """The content of one person's next task; `due` is the earliest date of open work."""

    person: Person
    items: int
    stages: tuple[tuple[Stage, int], ...]
    pieces: int
    handed_in: int
    due: datetime | None
    written_at: datetime | None


@dataclass(frozen=True, slots=True)
class HandOutResult:
    """The package written for one person, or why there is none."""

    person: Person
    packed: PackedTask | None
    problem: Refusal | None = None


def holdings(project: Project) -> list[TaskContent]:
    """Everybody to whom something is to be handed out now, by alias."""
    written = _written(project)
    found = (
        _holding(person, assignments.of_person(project, person.id), written)
        for person in people.people(project)
        if person.active
    )
    return [one for one in found if one.pieces]


def _written(project: Project) -> dict[str, datetime]:
    question = select(PARCEL.c.person_id, func.max(PARCEL.c.at)).where(PARCEL.c.direction == "out")
    with project.store.read() as db:
        return {person_id: at for person_id, at in db.execute(question.group_by(PARCEL.c.person_id))}


def _holding(person: Person, assigned: Sequence[Assignment], written: dict[str, datetime]) -> TaskContent:
    served = packing.going_out(assigned)
    stages = Counter(one.stage for one in served)
    dates = [one.due for one in served if one.due and not one.submitted_at]
    return TaskContent(
        person=person,
        # A repeat goes out as an item of its own.
        items=len({(one.item_id, one.trial) for one in served}),
        stages=tuple((stage, stages[stage]) for stage in Stage if stage in stages),
        pieces=len(served),
        handed_in=sum(one.submitted_at is not None for one in served),
        due=min(dates, default=None),
        written_at=written.get(person.id),
    )


def write(
    project: Project, person_ids: Sequence[str], folder: Path, *, progress: Progress | None = None
) -> list[HandOutResult]:
    """Write the tasks of these people into a folder; one that cannot be written keeps no other back."""
    known = {person.id: person for person in people.people(project)}
    done = []
    for place, person_id in enumerate(person_ids):
        if progress:
            progress(f"Writing the task of {known[person_id].name}", place, len(person_ids))
        try:
            done.append(HandOutResult(known[person_id], packing.task(project, person_id, folder)))
        except Refusal as refusal:
            done.append(HandOutResult(known[person_id], None, refusal))
    return done
