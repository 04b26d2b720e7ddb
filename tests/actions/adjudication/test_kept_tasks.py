"""Settled tasks become items, once each, with what they are filed by."""

from pathlib import Path

import pytest

from annotator.actions.adjudication import kept_tasks
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.domain.kinds.tasks import Task, Tasks
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return pairs.pairs_project(tmp_path)


TRAITS = {"phase": "design", "difficulty": "basic"}
TASKS = Tasks(
    units=(
        Task(
            id="t-a",
            text="Survey stations and deliver a table.",
            phase="synthesize",
            family="Literature Survey",
        ),
        Task(
            id="t-b", text="Write a protocol.", phase="design", family="Method Blueprint", difficulty="basic"
        ),
    )
)


def test_a_settled_task_becomes_an_item_once(project: Project) -> None:
    seminar = pairs.item(project)
    items.change(project, seminar, key="s012", subject="Seismology", dataset="seminars")
    pairs.submit(project, {"Ada": TASKS})
    pairs.work_as(project, "Cora")
    assert {name: [task.id for task in of] for name, of in kept_tasks.settled(project).items()} == {
        seminar: ["t-a", "t-b"]
    }
    change = kept_tasks.keep(project, seminar, "t-b")
    made = items.read(project, change.subject)
    assert (made.key, made.question, made.question_type) == (
        "s012-t02",
        "Write a protocol.",
        "Method / Experiment Blueprint",
    )
    assert (made.subject, made.origin, made.traits, made.made_from) == ("Seismology", "s012", TRAITS, "t-b")
    assert kept_tasks.made(project) == {"t-b": made.id}
    again = kept_tasks.keep(project, seminar, "t-b")
    assert (again.seq, again.subject, items.count(project)) == (0, made.id, 2)
    assert items.read(project, kept_tasks.keep(project, seminar, "t-a").subject).key == "s012-t01"
    (found,) = items.ids(project, items.Filter(words="protocol"))
    assert found == made.id
    assert not checking.check(project).problems


def test_only_settled_tasks_of_a_coordinator_become_items(project: Project) -> None:
    seminar = pairs.item(project)
    pairs.submit(project, {"Ada": TASKS, "Ben": TASKS})
    pairs.work_as(project, "Cora")
    assert kept_tasks.settled(project) == {}
    with pytest.raises(Refusal, match="not among the settled ones"):
        kept_tasks.keep(project, seminar, "t-a")
    pairs.work_as(project, "Ada")
    with pytest.raises(Refusal, match="can make items of tasks"):
        kept_tasks.keep(project, seminar, "t-a")
    assert items.count(project) == 1
