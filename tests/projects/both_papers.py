"""A project of two public questions with two systems' reports, and both papers' gold on them."""

import json
from pathlib import Path

from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Document
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.kinds.plan import Plan, Subtask
from tests.material.bundles import REAL
from tests.projects.small_projects import seal
from tests.templates import once

SYSTEMS, QUESTIONS = ("OpenAI", "Perplexity"), (1, 2)
STEPS = (
    "Define what the question asks and why it matters.",
    "Collect the methods that recent work proposes.",
    "Compare the methods on the evidence that is given.",
)
SUPPORTED, UNSUPPORTED = 3, 2
# With what each weighs.
FACTS = {"Methods differ.": "vital", "Data are scarce.": "vital", "Costs fall.": "okay"}
# With their shares.
POINTS = {"Methods are compared.": 0.5, "Data are named.": 0.3, "Costs are told.": 0.2}
# One of the public reports lists it.
FOUND = "arXiv:2409.02897"
SOURCE = "# Notes\n\nWhat was measured is reported below. The second method needs half of the data of the first one.\n"


def some_of(folder: Path) -> Path:
    """The public benchmark cut down to those questions and systems, in its own layout."""
    (folder / "responses").mkdir(parents=True)
    for name in ("questions.json", "rubric.json", *(f"responses/{system}.json" for system in SYSTEMS)):
        entries = json.loads((REAL / name).read_text(encoding="utf-8"))
        kept = [entry for entry in entries if entry["id"] in QUESTIONS]
        (folder / name).write_text(json.dumps(kept), encoding="utf-8")
    return folder


@once
def both_papers(folder: Path) -> Project:
    """The project: the public rubrics, and a plan, evidence and diagnostics for each question, all sealed."""
    project = people.new_project(folder / "both papers.goldsmith")
    people.someone(project)
    imports.run(project, "researcherbench", [some_of(folder / "public")])
    note = folder / "notes.md"
    note.write_text(SOURCE, encoding="utf-8")
    for item_id in items.ids(project):
        items.add_source(project, item_id, note)
        for document in gold():
            seal(project, item_id, document)
    return project


def gold() -> tuple[Document, ...]:
    said = [True] * SUPPORTED + [False] * UNSUPPORTED
    statements = [
        Statement(text=f"The report holds matter {n}.", label=label, aspect=list(Aspect)[n % 5])
        for n, label in enumerate(said)
    ]
    works = (
        Reference(text="LongCite", identifier=FOUND),
        Reference(text="A treatise that nobody retrieves at all"),
    )
    plan = Plan(units=tuple(Subtask(text=step) for step in STEPS))
    return plan, Evidence(units=works), Diagnostics(units=tuple(statements))


def add_nuggets(project: Project) -> None:
    units = [{"text": text, "importance": importance} for text, importance in FACTS.items()]
    facts = Nuggets(units=tuple(map(Nugget.model_validate, units)))
    for item_id in items.ids(project):
        seal(project, item_id, facts)


def add_checklist(project: Project) -> None:
    points = Checklist(units=tuple(CheckPoint(text=text, share=share) for text, share in POINTS.items()))
    for item_id in items.ids(project):
        seal(project, item_id, points)
