"""Ten people's packages come in any order, some of them twice: the project is the same in the end.

`GOLDSMITH_ORDERS=1000 python -m pytest tests/stories/test_orders_of_arrival.py` tries a thousand orders.
"""

import os
import random
import shutil
from pathlib import Path

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.parcels import tasking, tray, unpacking
from annotator.actions.project import backups, people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.domain.experts.assignment import Stage
from annotator.exchange.parcels import packages
from tests.material.content_hash import content_hash
from tests.material.sent_apart import annotators, edit_rubric, task_for, write_rubric

PEOPLE = 10
ORDERS = int(os.environ.get("GOLDSMITH_ORDERS", "8"))
TOPICS = (
    "residual connections",
    "gold's weight",
    "the treaty on quotas",
    "地震预警的评价",
    "تكلفة تخزين الهيدروجين",
)


def ring(folder: Path) -> Project:
    """A coordinator's project of as many people and items, in which each item is two neighbours' to write."""
    folder.mkdir()
    project = new_project(folder / "study.goldsmith")
    for number in range(PEOPLE):
        items.add(project, f"Question {number} of many?")
        people.add_person(project, f"Expert {number}")
    experts = annotators(project)
    for place, item_id in enumerate(items.ids(project)):
        for person in (experts[place], experts[place - 1]):
            assignments.assign_one(project, item_id, person.id, Stage.RUBRIC)
    return project


def returned_twice(project: Project, person_id: str, folder: Path, random_: random.Random) -> list[Path]:
    """What one person sends back: a first package, and for every other person a second with one rubric reworded."""
    theirs = tasking.take_task(task_for(project, person_id, folder)).project
    for item_id in items.ids(theirs):
        write_rubric(theirs, item_id, *(f"Explains {topic}" for topic in random_.sample(TOPICS, 3)))
    sent = [tray.work(theirs, folder / "first.goldsmith-work").path]
    if random_.random() < 0.5:
        edit_rubric(theirs, items.ids(theirs)[0], "Compares two ways of measuring density")
        sent.append(tray.work(theirs, folder / "second.goldsmith-work").path)
    theirs.close()
    return sent


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_order_of_arrival_gives_one_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(20)
    home = ring(tmp_path / "home")
    sent = [
        path
        for person in annotators(home)
        for path in returned_twice(home, person.id, tmp_path / person.alias, chance)
    ]
    home.close()
    # Backups and reading the same files again, thousands of times, would test the disk and not the order.
    monkeypatch.setattr(backups, "make", lambda *_: None)
    read = {path: packages.read_package(path) for path in sent}
    monkeypatch.setattr(packages, "read_package", lambda path, *_: read[path])
    hashes = set()
    for number in range(ORDERS):
        copy = tmp_path / "copy.goldsmith"
        shutil.copy(home.path, copy)
        project = Project.open(copy)
        order = chance.sample(sent, len(sent)) + chance.sample(sent, 3)
        batches = chance.randint(1, 4)
        for start in range(batches):
            unpacking.take_in(project, order[start::batches])
        hashes.add(content_hash(project))
        project.close()
        assert len(hashes) == 1, f"order {number} came out otherwise"
