"""A model on loopback that plans and writes: what it replies to a plan, and to a report on each question."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.plan import Plan, Subtask
from tests.judging.odd_server import Odd, OddServer, at_work, completion

GOLD_STEPS = ("Establish why depth hurts.", "Compare the remedies.")
OWN_STEPS = ("Find the reason.", "Weigh the evidence.")
QUESTIONS = ("Why do residual connections help?", "残差连接为什么有效？")

Write = Callable[[str, int], Odd]


def written(question: str, number: int = 0) -> Odd:
    return completion(f"# Report\n\nOn: {question}")


def answering(
    write: Write = written, steps: tuple[str, ...] = OWN_STEPS
) -> Callable[[dict[str, Any], int], Odd]:
    """Plans in JSON, reports as `write` has them by question and number of the request."""

    def answer(body: dict[str, Any], number: int) -> Odd:
        if "make the plan for it." in body["messages"][0]["content"]:
            return completion(json.dumps({"subtasks": steps}))
        return write(question_of(body), number)

    return answer


def question_of(body: dict[str, Any]) -> str:
    said = body["messages"][1]["content"]
    return next((question for question in QUESTIONS if question in said), "")


@contextmanager
def writing() -> Iterator[OddServer]:
    with at_work(OddServer()) as server:
        server.answer = answering()
        yield server


def asking_project(folder: Path) -> Project:
    """Two items without a report; of the first there is a sealed gold plan and sealed gold evidence."""
    project = people.new_project(folder / "asking.goldsmith")
    people.someone(project)
    first = items.add(project, QUESTIONS[0], "Technical Details", "Deep learning").subject
    items.add(project, QUESTIONS[1], "Open Consulting", "深度学习", language="zh-Hans")
    plan = Plan(units=tuple(Subtask(text=text) for text in GOLD_STEPS))
    work = Reference(text="Deep residual learning", identifier="10.1109/CVPR.2016.90", year=2016)
    for kind, document in ((Kind.PLAN, plan), (Kind.EVIDENCE, Evidence(units=(work,)))):
        assignments.seal(project, artifacts.start(project, first, kind, document).subject)
    return project
