"""A model on loopback that drafts rubrics and diagnostics, and a project of two people who may ask it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Person, Role
from tests.judging.odd_server import Odd, OddServer, at_work, completion
from tests.projects.authoring_project import authoring_project

JUDGE = "drafter"
CRITERIA = (
    ("Explains why deep plain networks train badly.", 3, "Deep plain networks train badly."),
    ("Describes what a residual block adds to its output.", 2, "A residual block adds its input"),
    ("解释残差连接如何帮助训练。", 1, ""),
)
STATEMENTS = (
    ("A block adds its input to its output.", True),
    ("Plain networks train well at any depth.", False),
)


def rubric_reply() -> str:
    units = [
        {"quote": quote, "insight": 0, "text": text, "weight": weight} for text, weight, quote in CRITERIA
    ]
    return json.dumps({"criteria": units})


def diagnostics_reply() -> str:
    units = [
        {"quote": "", "text": text, "label": label, "aspect": "methodology"} for text, label in STATEMENTS
    ]
    return json.dumps({"statements": units})


SAID, ADDED = (
    "A residual block **adds** its input to its output.",
    "Newer work places the normalisation first.",
)


REASON, FILED = "An answer explains a mechanism.", ("Technical Details", "Model architecture")


def answer(body: dict[str, Any], number: int) -> Odd:
    asked = body["messages"][1]["content"]
    if "Of which type and subject" in asked:
        return completion(json.dumps({"reason": REASON, "question_type": FILED[0], "subject": FILED[1]}))
    if "Write the reference material." in asked:
        return completion(json.dumps({"from_sources": SAID, "beyond_sources": ADDED}))
    return completion(diagnostics_reply() if "Draft the statements." in asked else rubric_reply())


@contextmanager
def drafting() -> Iterator[OddServer]:
    with at_work(OddServer()) as server:
        server.answer = answer
        yield server


def drafting_project(folder: Path, server: OddServer) -> Project:
    """The authoring project with the drafting judge and a second person, Ben (R2); item “1” has a source."""
    project = authoring_project(folder)
    judges.add(project, JUDGE, base_url=server.url, model="test-model")
    people.add_person(project, "Ben", (Role.ANNOTATOR,), "R2")
    return project


def ben(project: Project) -> Person:
    return people.known(project, "R2")


def first_item(project: Project) -> str:
    return items.ids(project)[0]
