"""A project with seminars whose tasks are settled, for tests of the contest."""

from pathlib import Path

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project, someone
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.tasks import Difficulty, Family, Phase, Task, Tasks
from tests.common import once

WORDS = (
    "Survey what is known of coral bleaching and deliver a table of its drivers.",
    "Design a protocol that measures trust in forecasts, with one figure of its steps.",
    "Evaluate three solvers for sparse systems and report their memory in a chart.",
    "Compile a taxonomy of failure modes of retrieval, each with an example.",
    "Propose a metric for the fairness of triage, and derive its bounds.",
    "Test by simulation whether queues grow at night, and hand in the code.",
)


def task(number: int, text: str = "") -> Task:
    family = list(Family)[number % 10]
    return Task(
        id=f"t{number:02}", text=text or f"{WORDS[number % len(WORDS)]} Part {number}.", phase=Phase(family.phase),
        family=family, difficulty=Difficulty.BASIC if number % 2 else Difficulty.ADVANCED,
    )  # fmt: skip


def add_seminar(project: Project, key: str, tasks: tuple[Task, ...], subject: str = "Biology") -> str:
    item_id = items.add(project, f"Seminar {key}", "", subject, "en", {"key": key}).subject
    assignments.seal(project, artifacts.start(project, item_id, Kind.TASKS, Tasks(units=tasks)).subject)
    return str(item_id)


@once
def two_tasks(folder: Path) -> Project:
    """One seminar, s1, with the tasks t01 and t02, which are s1-t01 and s1-t02."""
    project = new_project(folder / "two.goldsmith")
    someone(project)
    add_seminar(project, "s1", (task(1), task(2)))
    return project


@once
def contest_project(folder: Path) -> Project:
    """Two seminars of six tasks: s1-t01 to s1-t06 (t01 …) and s2-t01 to s2-t06 (t07 …)."""
    project = new_project(folder / "contest.goldsmith")
    someone(project)
    add_seminar(project, "s1", tuple(task(number) for number in range(1, 7)))
    add_seminar(project, "s2", tuple(task(number) for number in range(7, 13)), "Computing")
    return project
