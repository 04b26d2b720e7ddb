"""A model on loopback that searches and writes about twelve works, and a project with the paper for which it does."""

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items, materials
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.material.item import CatalogueWork
from annotator.judging.messages import load
from annotator.protocols.registry import reference_system
from tests.judging.odd_server import Odd, OddServer, at_work, completion
from tests.material.twelve_works import PAPER, PUBLISHED, QUESTION, WORKS, answered, in_words

JUDGE, SYSTEM = "distant", "Searcher"


def step_of(body: dict[str, Any]) -> str:
    said = body["messages"][0]["content"]
    return next(name for name in reference_system.PROMPTS if load(name).system[:80] in said).rpartition(".")[
        2
    ]


def answering(
    odd: Callable[[str, int], Odd | None] = lambda *_: None,
) -> Callable[[dict[str, Any], int], Odd]:
    """What is known of the twelve works, but for what `odd` has an answer of its own to, by step and number."""

    def answer(body: dict[str, Any], number: int) -> Odd:
        user, step = body["messages"][1]["content"], step_of(body)
        first, _, second = user.partition("The second work:")
        asked = "shade" if "shade\nheat" in user else ""
        fields = {"title": user, "first": first, "second": second, "asked": asked}
        return odd(step, number) or completion(in_words(answered(step, fields)))

    return answer


@contextmanager
def researching() -> Iterator[OddServer]:
    with at_work(OddServer()) as server:
        server.answer = answering()
        yield server


def write_corpus(folder: Path, works: tuple[CatalogueWork, ...] = WORKS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "works.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("identifier", "title", "abstract", "published", "authors"))
        writer.writerows(
            (work.identifier, work.title, work.abstract, work.published, work.authors) for work in works
        )
    return folder


def research_project(folder: Path, url: str, model: str = "test-model") -> Project:
    """An item with its own paper, and sealed gold evidence of which two references are important."""
    project = people.new_project(folder / "research.goldsmith")
    people.someone(project)
    judges.add(project, JUDGE, base_url=url, model=model)
    item = items.add(project, QUESTION, "Related work", "cs.AI").subject
    (paper := folder / "Towns in summer.md").write_text("About towns.", encoding="utf-8")
    source = items.add_source(project, item, paper).subject
    known = {"identifier": f"arXiv:{PAPER}", "published": PUBLISHED}
    materials.describe(project, materials.Thing.SOURCE, {source: known})
    told = (
        ("On oak", "arXiv:2401.00001", "important"), ("On firs", "10.1000/fir", "important"),
        ("On ash", "arXiv:2401.00003", "not_important"),
    )  # fmt: skip
    units = tuple(Reference(text=title, identifier=named, importance=word) for title, named, word in told)  # type: ignore[arg-type]
    assignments.seal(project, artifacts.start(project, item, Kind.EVIDENCE, Evidence(units=units)).subject)
    return project
