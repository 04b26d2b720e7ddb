"""Small real projects: two items with their reports, to be judged or labelled, by a rubric or by every protocol."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import insert, update

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.imports import samples
from annotator.actions.items import items, pages
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.project import people
from annotator.actions.project.file import Project, response_hash
from annotator.domain.common import derived_id, new_id, now
from annotator.domain.experts.assignment import Role
from annotator.domain.kinds.artifact import Anchor, Artifact, Document, Kind
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.extract import Claim, Claims, ResponsePart
from annotator.domain.material.item import END_TO_END, Page, PageState
from annotator.protocols import USUAL
from annotator.storage.tables import RESPONSE, SYSTEM
from tests.common import once
from tests.material import drawn_extracts

# Names that must never come before a rater's eyes.
SYSTEMS = ("Canary-Alpha-9000", "Canary-Beta-9000", "Canary-Gamma-9000")
REPORT = """# Evidence in long answers

Attribution ties each **claim** to a source. The *first* study measured 75 % citation accuracy.

- Synthetic questions help.
- Verified passages help more.

A closing remark on [cost](https://example.org/cost) ends the report.
"""


@once
def project_with(path: Path, people_added: int = 1) -> Project:
    """An empty project, with a coordinator and further annotators named “Rater 2” and so on."""
    project = people.new_project(path / "labels.goldsmith", "Labels")
    people.someone(project)
    for number in range(people_added):
        people.add_person(project, f"Rater {number + 2}", (Role.ANNOTATOR,))
    return project


@once
def small_sample(path: Path, name: str) -> Project:
    """The sample of a single paper, “related-work” or “seminar”."""
    return samples.create_small(path / f"{name}.goldsmith", name)


@once
def labelling_project(path: Path, criteria: int = 3, reports: int = 3, questions: int = 2) -> Project:
    """Items with a sealed rubric of so many criteria and as many reports, all by canary systems."""
    project = project_with(path)
    for number in range(1, questions + 1):
        item_id = items.add(project, f"Question {number}: how is evidence attributed?").subject
        seal_rubric(project, item_id, criteria)
        for system in SYSTEMS[:reports]:
            add_report(project, item_id, system)
    return project


def add_report(
    project: Project, item_id: str, system: str = SYSTEMS[0], text: str = REPORT, mode: str = END_TO_END
) -> str:
    """A system's report on an item, the system being added when it is new; the report's id."""
    response_id, system_id = derived_id("response", item_id, system), derived_id("system", system)
    with project.store.write() as db:
        db.execute(insert(SYSTEM).prefix_with("OR IGNORE").values(id=system_id, name=system, notes=""))
        db.execute(
            insert(RESPONSE).values(
                id=response_id, item_id=item_id, system_id=system_id, text=text, trial=1, mode=mode,
                sha256=response_hash(text),
            )
        )  # fmt: skip
    return response_id


def rubric(item_id: str, criteria: int) -> Rubric:
    return Rubric(
        units=tuple(
            Criterion(id=f"{item_id}/c{n}", text=f"Explains point {n} of the question", weight=2)
            for n in range(1, criteria + 1)
        )
    )


def seal_rubric(project: Project, item_id: str, criteria: int = 3) -> str:
    artifact_id = artifacts.start(project, item_id, Kind.RUBRIC, rubric(item_id, criteria)).subject
    assignments.seal(project, artifact_id)
    return artifact_id


def submit_labels(project: Project) -> None:
    """Everybody submits what they have labelled, whatever is missing; who works goes on working."""
    working = project.person
    for person in people.people(project):
        project.work_as(person)
        label_sealing.submit_all(project, [person.id], partial=True)
    if working is not None:
        project.work_as(working)


def as_second_rater(project: Project) -> None:
    project.work_as(next(person for person in people.people(project) if person.name == "Rater 2"))


CLAIMS, PAIRS = "researcherbench.claims", "researcherbench.pairwise"
PLAN, REASONING, PREFERENCE = "adra.plan", "adra.reasoning", "adra.preference"
ALL = (USUAL, CLAIMS, PAIRS, PLAN, REASONING, PREFERENCE)
GOOD, DEAD = "https://example.org/cost", "https://example.org/gone"
PAGE = (
    "The cost of checking citations fell by half.\n\nIn 2024 the first study measured 75 % citation accuracy."
)
STATEMENTS = ("Attribution ties claims to sources.", "The study measured 90 %.", "Synthetic questions help.")
PREDICTED = ("Collect the reports of every system.", "Measure how often a citation supports its claim.")
GOLD = ("Gather reports from all systems.", "Measure citation support.", "Explain where systems fail.")


@once
def one_item(path: Path, reports: int = 2, added: int = 1) -> Project:
    """One item with gold of every kind, and reports of which the first has a plan and claims."""
    project = project_with(path, added)
    item_id = items.add(project, "How is evidence attributed?").subject
    seal_rubric(project, item_id, 2)
    seal(project, item_id, Plan(units=tuple(Subtask(id=f"g{n}", text=t) for n, t in enumerate(GOLD, 1))))
    said = zip(STATEMENTS, (True, False, True), strict=True)
    units = (
        Statement(id=f"s{n}", text=t, label=v, aspect=Aspect.RESULTS) for n, (t, v) in enumerate(said, 1)
    )
    seal(project, item_id, Diagnostics(units=tuple(units)))
    made = [add_report(project, item_id, system, text_of(n)) for n, system in enumerate(SYSTEMS[:reports])]
    draw(project, made[0])
    pages.take_in(project, page(GOOD, PAGE))
    pages.take_in(project, page(DEAD, ""))
    return project


def text_of(number: int) -> str:
    return REPORT if not number else f"# The other report {number}\n\nIt measures nothing, and says little.\n"


def seal(project: Project, item_id: str, document) -> None:
    assignments.seal(project, artifacts.start(project, item_id, document.KIND, document).subject)


def draw(project: Project, response_id: str) -> None:
    """The report's plan, and three claims: two cite a page that can be read, one a page that is gone."""
    steps = Plan(units=tuple(Subtask(id=f"p{n}", text=text) for n, text in enumerate(PREDICTED, 1)))
    drawn_extracts.write(project, response_id, ResponsePart.PLAN, steps)
    start = REPORT.index("The *first* study")
    quote = REPORT[start : REPORT.index(".\n\n- Syn") + 1]
    anchor = Anchor(quote=quote, start=start, end=start + len(quote), text_sha256="0" * 64)
    drawn = (
        Claim(id="c1", text="The first study measured 75 %.", url=GOOD, context=quote, anchor=anchor),
        Claim(id="c2", text="Cost doubled.", url=GOOD, context="A closing remark on cost"),
        Claim(id="c3", text="Nobody reads it.", url=DEAD, context="ends the report"),
    )
    drawn_extracts.write(project, response_id, ResponsePart.CLAIMS, Claims(units=drawn))


def page(url: str, text: str) -> Page:
    state = PageState.OK if text else PageState.DEAD
    return Page(url=url, state=state, text=text, title="", cause="" if text else "404", fetched_at=now())


def reports(project: Project) -> list[str]:
    """The ids of the reports, in the order in which they were added."""
    with project.store.read() as db:
        return [row[0] for row in db.exec_driver_sql("SELECT id FROM response ORDER BY rowid")]


def retext(project: Project, response_id: str, text: str) -> None:
    with project.store.write() as db:
        db.execute(update(RESPONSE).where(RESPONSE.c.id == response_id).values(text=text))


def kept(page) -> dict[str, str | None]:
    """The labels of what lies open on the label page, as the file has them."""
    bench = page.bench
    result = labels.sheet(
        page.session.project, bench.response_id, bench.protocol, bench.sheet.other_id
    ).labels
    return {unit: label.value for unit, label in result.items()}


CRITERIA = (
    ("Explains residual connections", 3),
    ("Compares training stability", 2),
    ("Names one dataset", 1),
)


def empty_project(folder: Path) -> Project:
    return people.new_project(folder / "p.goldsmith")


@once
def small_project(folder: Path) -> Project:
    """Items “1” and “2” of two types, systems Alpha and Beta, four reports, and one sealed rubric an item."""
    project = people.new_project(folder / "small.goldsmith")
    people.someone(project)
    for question, question_type in (
        ("What do residual connections do?", "Technical Details"),
        ("Who?", "Open Consulting"),
    ):
        item_id = items.add(project, question, question_type, "Deep learning").subject
        units = tuple(Criterion(text=text, weight=weight) for text, weight in CRITERIA)  # type: ignore[arg-type]
        assignments.seal(project, artifacts.start(project, item_id, Kind.RUBRIC, Rubric(units=units)).subject)
    for name in ("Alpha", "Beta"):
        answer(project, name)
    return project


def answer(project: Project, system: str) -> None:
    system_id = new_id()
    with project.store.write() as db:
        db.execute(insert(SYSTEM).values(id=system_id, name=system, notes=""))
        for item_id in items.ids(project):
            text = f"# {system}\n\nIt explains residual connections, and compares the stability of training."
            db.execute(
                insert(RESPONSE).values(
                    id=new_id(), item_id=item_id, system_id=system_id, text=text, trial=1, mode="end-to-end",
                    sha256=response_hash(text),
                )
            )  # fmt: skip


def units_of(project: Project, item_id: str) -> list[str]:
    rubric = next(a for a in artifacts_of(project, item_id) if a.kind is Kind.RUBRIC)
    return [unit.id for unit in rubric.document.units]


PAPER = (
    "# Residual networks\n\nA residual block adds its **input** to its output.\n\n"
    "Deep plain networks train badly. A residual block helps deep networks to train.\n"
)
TEXTS = (
    "Explains why deep plain networks train badly.",
    "Compares two placements of the normalisation.",
    "Identifies the cost of storing every activation.",
)


@once
def authoring_project(folder: Path) -> Project:
    """Items “1” (a Technical Details question with a Markdown source) and “2” (in Chinese, without one)."""
    project = people.new_project(folder / "authoring.goldsmith")
    people.someone(project)
    first = items.add(
        project, "Why do residual connections help?", "Technical Details", "Deep learning"
    ).subject
    items.add(project, "残差连接为什么有效？", "Open Consulting", "深度学习", language="zh-Hans")
    paper = folder / "paper.md"
    paper.write_text(PAPER, "utf-8")
    items.add_source(project, first, paper)
    return project


@once
def begun_project(folder: Path) -> Project:
    """The same with a rubric of the person's own, begun on item “1”."""
    project = authoring_project(folder)
    begin(project, Kind.RUBRIC, own_rubric())
    return project


def own_rubric(texts: Sequence[str] = TEXTS, weights: Sequence[int] = (3, 2, 1)) -> Rubric:
    return Rubric.model_validate(
        {"units": [Criterion(text=t, weight=w).model_dump() for t, w in zip(texts, weights, strict=True)]}
    )


def begin(project: Project, kind: Kind, document: Document[Any], item: int = 0) -> str:
    return artifacts.start(project, items.ids(project)[item], kind, document).subject


def mine(project: Project, kind: Kind = Kind.RUBRIC, item: int = 0) -> Artifact:
    """The artifact that the person sees first, as the file has it."""
    result = annotating.artifacts_of(project, items.ids(project)[item])
    return next(artifact for artifact in result if artifact.kind is kind)


def texts(project: Project, kind: Kind = Kind.RUBRIC, item: int = 0) -> list[str]:
    return [unit.text for unit in mine(project, kind, item).document.units]
