"""What people label and what is drawn from reports: related-work sections, rated reports, claims, key points, steps."""

import asyncio
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from sqlalchemy import update

from annotator.actions.items import items, pages
from annotator.actions.items.extracts import Subject
from annotator.actions.judges import judges
from annotator.actions.judges.judges import BASELINE
from annotator.actions.labelling import labels
from annotator.actions.material import extracting
from annotator.actions.papers import human_agreement
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.common import now
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Ask, Extracted, Extraction, Material
from annotator.domain.kinds.artifact import Anchor, Unit
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.extract import (
    Claim,
    Claims,
    KeyPoint,
    KeyPoints,
    ReadPage,
    ResponsePart,
    by_judge,
)
from annotator.domain.material.item import CONTINUATION, END_TO_END, EXEMPLAR, Page, PageState
from annotator.domain.texts.identifier import work_named
from annotator.storage.tables import RESPONSE
from tests.common import once
from tests.material import drawn_extracts
from tests.projects import adra_project as adra
from tests.projects.small_projects import (
    SYSTEMS,
    add_report,
    project_with,
    seal,
    small_project,
    submit_labels,
)
from tests.storage import sql

ORGANIZATION, NUGGETS, RELEVANCE = "deepscholar.organization", "deepscholar.nuggets", "deepscholar.relevance"
NUGGET, REFERENCE = "deepscholar.nugget_importance", "deepscholar.reference_importance"
PRECISION, COVERAGE = "deepscholar.precision", "deepscholar.coverage"
KINDS = (ORGANIZATION, NUGGETS, RELEVANCE, PRECISION, COVERAGE, NUGGET, REFERENCE)
PEOPLE = "Human-written exemplar"
SECTION = """Trees cool streets by 3.5 K [1]. Parks help too [2].

## References

[1] Ash, A. Trees and heat. 2019. arXiv:2001.00001

[2] Elm, B. Parks. 2020. A hand-out
"""
ABSTRACTS = {"arxiv:2001.00001": "Of trees and $T_{air}$.", "arxiv:2001.00002": "Of shade."}
FACTS = (("Trees cool streets.", "vital", "support"), ("Parks help.", "okay", "support"))


@once
def related_work_project(path: Path) -> Project:
    """Each item has two gold nuggets and one that does not count, two references, two reports and an exemplar."""
    project = project_with(path, 0)
    for number in (1, 2):
        item_id = items.add(project, f"Paper {number}: write the related-work section.").subject
        facts = (*FACTS, ("Nobody says so.", "okay", "not_support"))
        named = ("id", "text", "importance", "support")
        nuggets = [
            Nugget.model_validate(dict(zip(named, (f"n{number}{place}", *fact), strict=True)))
            for place, fact in enumerate(facts)
        ]
        seal(project, item_id, Nuggets(units=tuple(nuggets)))
        gold = (
            Reference(id=f"g{number}a", text="Trees and heat", identifier="arXiv:2001.00001"),
            Reference(id=f"g{number}b", text="Parks", authors="Elm, B."),
        )
        seal(project, item_id, Evidence(units=gold))
        for system in SYSTEMS[:2]:
            report = add_report(project, item_id, system, f"Trees cool streets [1]. {system}")
            work = Reference(
                id=f"{system[-8:]}{number}", text="Shade", identifier="arXiv:2001.00002v1", note="[1]"
            )
            drawn_extracts.write(project, report, ResponsePart.REFERENCES, Evidence(units=(work,)))
        add_report(project, item_id, PEOPLE, SECTION, EXEMPLAR)
    for url, text in ABSTRACTS.items():
        page = Page(url=url, state=PageState.OK, text=text, title="Of shade", fetched_at=now())
        pages.take_in(project, page)
    asyncio.run(extracting.run(project, RunRequest(BASELINE.name, "deepscholar.sentences")))
    return project


# Of two exemplars, each work that they cite: its identifier, whether it is important, and how often it is cited.
CITED = (
    (
        ("arXiv:2001.00001", "important", 10),
        ("arXiv:2001.00002", "important", 30),
        ("arXiv:2001.00003", "not_important", 1000),
        ("10.1000/parks", "important", 4),
    ),
    (("arXiv:2001.00004", "important", 100), ("", "", None)),
)
ORACLE = "oracle-arxiv"


@once
def cited_sections(path: Path) -> Project:
    """Two exemplars with what they cite, and a system that names one important work, given them all of them."""
    project = project_with(path, 0)
    for number, works in enumerate(CITED):
        item_id = items.add(project, f"Paper {number}: write the related-work section.").subject
        gold = tuple(
            Reference(id=f"g{number}{place}", text=f"Work {number}{place}", identifier=named, importance=said)
            for place, (named, said, _) in enumerate(works)
        )
        seal(project, item_id, Evidence(units=gold))
        add_report(project, item_id, PEOPLE, SECTION, EXEMPLAR)
        on_arxiv = [
            one for one in gold if one.importance == "important" and one.identifier.startswith("arXiv")
        ]
        for mode, given in ((END_TO_END, on_arxiv[:1]), (ORACLE, on_arxiv)):
            report = adra.answer(project, item_id, "Base", mode=mode)
            adra.give(project, item_id, report, ResponsePart.REFERENCES, Evidence(units=tuple(given)))
        for named, _, citations in works:
            url = str(work_named(named) or "")
            if url:
                page = Page(
                    url=url,
                    state=PageState.OK,
                    title=named,
                    text="Of it.",
                    citations=citations,
                    fetched_at=now(),
                )
                pages.take_in(project, page)
    return project


CHECKLIST = "arena.checklist"
POINTS = Checklist(units=tuple(CheckPoint(text=f"Point {one}?", share=one) for one in (0.5, 0.3, 0.2)))
# Ratings of the three points: of Alpha in both languages, of Beta in English alone.
RATED = {("Alpha", "en"): (8, 6, 1), ("Alpha", "zh"): (5, 5, 0), ("Beta", "en"): (2, 0, 10)}
RATED_TEXT = "It is so (https://example.org/a), and so (https://example.org/b); again https://example.org/a."


def rated_tasks(folder: Path) -> Project:
    """The project, with one person's ratings, and what a third system wrote after the first half of each task."""
    made = project_with(folder, 0)
    for language in ("en", "zh"):
        item_id = items.add(
            made, f"What is asked in {language}, and why is it asked?", language=language
        ).subject
        seal(made, item_id, POINTS)
        for system in ("Alpha", "Beta"):
            if (system, language) not in RATED:
                continue
            response_id = add_report(made, item_id, system, RATED_TEXT)
            with made.store.write() as db:
                db.execute(update(RESPONSE).where(RESPONSE.c.id == response_id).values(tokens=1000))
            sheet = labels.sheet(made, response_id, CHECKLIST)
            units = [unit.id for group in sheet.groups for unit in group.units]
            for unit, rating in zip(units, RATED[system, language], strict=True):
                labels.set_label(made, response_id, unit, str(rating), protocol=CHECKLIST)
        add_report(made, item_id, "Alpha again", "Nobody knows.", CONTINUATION)
    submit_labels(made)
    return made


CLAIM = "It explains residual connections."
OTHER_CLAIM = "It compares the stability of training."


def subject(project: Project, number: int = 0) -> Subject:
    item_id, response_id = sql.rows(project, "SELECT item_id, id FROM response ORDER BY rowid")[number]
    return item_id, response_id


def keep_claims(project: Project, *urls: str, number: int = 0) -> str:
    """Two claims of the n-th report, as a judge drew them, citing these addresses."""
    units = (
        Claim(id="c0", text=CLAIM, context="explains residual connections", url=urls[0]),
        Claim(id="c1", text=OTHER_CLAIM, context="compares the stability of training\n", url=urls[1]),
    )
    return drawn_extracts.keep(
        project, subject(project, number), ResponsePart.CLAIMS, Claims(units=units), by_judge("judge-1")
    ).subject


# Which of the reports: both are on the first item.
REPORTS = 0, 2
ONE, TWO, DEAD = "https://a.example/one", "https://b.example/two", "https://c.example/dead"
COOLER, ROOTS, WATER, RENT = (
    "Street trees cool the air.",
    "Roots need open soil.",
    "Young trees need water.",
    "Rents rise with trees.",
)
TEXTS = {
    ONE: f"{COOLER}\n\n{ROOTS}\n\nA last remark on soil.",
    TWO: f"{WATER}\n\n{RENT}\n\nTrees cool the street air.",
}


def anchor(address: str, words: str) -> Anchor:
    start = TEXTS[address].index(words)
    return Anchor.at(TEXTS[address], start, start + len(words), address)


def point(name: str, address: str, words: str, *merged: Unit) -> KeyPoint:
    return KeyPoint(id=name, text=f"The page says: {words}", anchor=anchor(address, words), merged=merged)


# Of the first report three points, one of which holds another; of the second two, one of which the first has too.
SAID_AGAIN = Unit(id="k9", text="Trees cool streets.", anchor=anchor(TWO, "Trees cool the street air."))
FIRST = (
    point("k1", ONE, COOLER, SAID_AGAIN),
    point("k2", ONE, ROOTS),
    point("k3", TWO, RENT),
)
SECOND = (point("k4", TWO, WATER), point("k5", ONE, COOLER))


def points_project(folder: Path) -> Project:
    """The small project; the reports on its first item give two pages that were read and one that is dead."""
    project = small_project(folder)
    for address, text in TEXTS.items():
        pages.take_in(
            project, Page(url=address, state=PageState.OK, text=text, title=address[-3:], fetched_at=now())
        )
    pages.take_in(project, Page(url=DEAD, state=PageState.DEAD, fetched_at=now()))
    for number, units in zip(REPORTS, (FIRST, SECOND), strict=True):
        draw(project, number, units)
    return project


def draw(project: Project, number: int, units: tuple[KeyPoint, ...]) -> None:
    read = (ReadPage(address=one, state=PageState.OK) for one in TEXTS)
    document = KeyPoints(units=units, pages=(*read, ReadPage(address=DEAD, state=PageState.DEAD)))
    origin = by_judge(judges.named(project, "baseline").id)
    drawn_extracts.keep(project, subject(project, number), ResponsePart.KEYPOINTS, document, origin)


EXTRACTION = "arena.keypoints.extract"


def fetch(project: Project, *more: str) -> None:
    """A page for every address that a report gives; each has the questions, so that the baseline finds something."""
    words = "\n\n".join((*(items.read(project, one).question for one in items.ids(project)), *more))
    for address in pages.given(project):
        pages.take_in(project, Page(url=address, state=PageState.OK, text=words, fetched_at=now()))


def draw_all(project: Project) -> None:
    """The baseline's key points of every report, accepted, and a common pool for each item."""
    fetch(project)
    asyncio.run(extracting.run(project, RunRequest("baseline", EXTRACTION)))
    extracting.confirm_all(project, ResponsePart.KEYPOINTS)
    human_agreement.freeze(project)


# Any prompt that is shipped will do.
PROMPT = "researcherbench.coverage"


class Step(BaseModel):
    """What the model of these tests replies."""

    model_config = ConfigDict(extra="forbid")
    step: str


def lines_of(material: Material) -> list[str]:
    return [line for line in material.response.text.splitlines() if line.strip()]


async def extract_steps(material: Material, ask: Ask) -> Extracted:
    steps = []
    for line in lines_of(material):
        answer = await ask(
            PROMPT,
            {"question": material.response.id, "criterion": line, "report": line},
            Step,
            fenced=("report",),
        )
        if answer.status is not Status.OK:
            return Extracted(None, answer.status, answer.cause, answer.flags)
        steps.append(Subtask(text=answer.reply.step))
    return Extracted(Plan(units=tuple(steps)), flags=("noted",))


def steps_of(material: Material) -> Extracted:
    return Extracted(Plan(units=tuple(Subtask(text=line) for line in lines_of(material))))


TINY_PLAN = Extraction(
    name="tiny.plan",
    title="Steps",
    citation="",
    makes=ResponsePart.PLAN,
    prompts=(),
    extract=extract_steps,
    baseline=steps_of,
)
