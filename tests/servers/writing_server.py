"""Models on loopback that plan, write, draft documents or search twelve works, and projects for them."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items, materials
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Person, Role
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.item import CatalogueWork
from annotator.judging.messages import load, render
from annotator.protocols.registry import reference_system
from tests.judging.odd_server import Odd, OddServer, at_work, completion
from tests.projects.small_projects import authoring_project

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
        asked = body["messages"][1]["content"]
        return write(next((question for question in QUESTIONS if question in asked), ""), number)

    return answer


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


DRAFTER = "drafter"
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


def drafted(body: dict[str, Any], number: int) -> Odd:
    asked = body["messages"][1]["content"]
    if "Of which type and subject" in asked:
        return completion(json.dumps({"reason": REASON, "question_type": FILED[0], "subject": FILED[1]}))
    if "Write the reference material." in asked:
        return completion(json.dumps({"from_sources": SAID, "beyond_sources": ADDED}))
    return completion(diagnostics_reply() if "Draft the statements." in asked else rubric_reply())


@contextmanager
def drafting() -> Iterator[OddServer]:
    with at_work(OddServer()) as server:
        server.answer = drafted
        yield server


def drafting_project(folder: Path, server: OddServer) -> Project:
    """The authoring project with the drafting judge and a second person, Ben (R2); item “1” has a source."""
    project = authoring_project(folder)
    judges.add(project, DRAFTER, base_url=server.url, model="test-model")
    people.add_person(project, "Ben", (Role.ANNOTATOR,), "R2")
    return project


def ben(project: Project) -> Person:
    return people.known(project, "R2")


def first_item(project: Project) -> str:
    return items.ids(project)[0]


PAPER, PUBLISHED = "2506.00001v1", "2025-06-03"
QUESTION = (
    "Towns in summer: write the related-work section of this paper, given its abstract."
    "\n\nAbstract: Oaks give shade."
)
QUERIES = (("shade", "heat"), ("water", "canopy"))
# Each query stands in the abstracts of these, by number; the tenth is too young, the eleventh is the paper itself.
HOLDING = {"shade": (1, 2, 3, 4, 10, 11), "heat": (4, 5, 6, 11), "water": (7, 8), "canopy": (8, 9)}
NAMES = (
    "oak",
    "elm",
    "ash",
    "lime",
    "asphalt",
    "walls",
    "roots",
    "sap",
    "leaves",
    "plane",
    "towns",
    "quakes",
)


def _made(number: int) -> CatalogueWork:
    words = [word for word, numbers in HOLDING.items() if number in numbers]
    return CatalogueWork(
        identifier=f"arXiv:{PAPER}" if number == 11 else f"arXiv:2401.{number:05d}",
        title=f"On {NAMES[number - 1]}",
        abstract=f"Results about {' and '.join(words) or 'tremors'}. More follows.",
        published="2025-07-01" if number == 10 else "2024-01-05",
        authors="A. Mo",
    )


WORKS = tuple(map(_made, range(1, 13)))
FOUND = {1, 2, 3, 4, 5, 6, 7, 8, 9}
IRRELEVANT = {3, 6, 7, 9}
LEFT = FOUND - IRRELEVANT
# The best first.
PREFERRED = (8, 1, 5, 2, 4)
WRITTEN = "## Related work\n\nShade helps [1], as [2, 9] say. Walls [3] store $x[4]$ heat [77]."


def number_of(text: str) -> int:
    names = re.findall(r"On (\w+)", text)
    return NAMES.index(names[0]) + 1 if names else 0


def answered(prompt: str, fields: Mapping[str, str]) -> Any:
    match prompt.rpartition(".")[2]:
        case "queries":
            asked = [query for query in QUERIES[0] if query in fields["asked"]]
            return {"queries": list(QUERIES[1 if asked else 0])}
        case "filter":
            word = "no" if number_of(fields["title"]) in IRRELEVANT else "yes"
            return {"rationale": "So.", "relevant": word}
        case "compare":
            first, second = (PREFERRED.index(number_of(fields[side])) for side in ("first", "second"))
            return {"rationale": "So.", "better": "first" if first < second else "second"}
        case "section":
            return WRITTEN
        case _:
            return "Shade is known [1]."


class KnowingAsk:
    """An ask that answers by `answered`, but for what `odd` has an answer of its own to; it keeps what it was asked."""

    def __init__(self, odd: Callable[[str, Mapping[str, str], int], Answer | None] = lambda *_: None) -> None:
        self.odd, self.asked = odd, list[tuple[str, dict[str, str]]]()

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: Any, fenced: tuple[str, ...] = ()
    ) -> Answer:
        render(load(prompt), fields, fenced, "f00d")
        own = self.odd(prompt, fields, self.count(prompt))
        self.asked.append((prompt.rpartition(".")[2], dict(fields)))
        said = answered(prompt, fields)
        return own or Answer(
            Status.OK, reply.model_validate(said if isinstance(said, dict) else {"text": said})
        )

    def count(self, step: str) -> int:
        return sum(name == step.rpartition(".")[2] for name, _ in self.asked)


def in_words(said: Any) -> str:
    return said if isinstance(said, str) else json.dumps(said)


RESEARCHER, SYSTEM = "distant", "Searcher"


def step_of(body: dict[str, Any]) -> str:
    said = body["messages"][0]["content"]
    return next(name for name in reference_system.PROMPTS if load(name).system[:80] in said).rpartition(".")[
        2
    ]


def answering_steps(
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
        server.answer = answering_steps()
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
    judges.add(project, RESEARCHER, base_url=url, model=model)
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
