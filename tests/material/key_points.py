"""Key points as the stories of protocols know them: pages that repeat the questions, and a pool of all."""

import asyncio

from annotator.actions.items import items, pages
from annotator.actions.material import extracting
from annotator.actions.papers import human_agreement
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import Page, PageState
from annotator.domain.texts.canonical import now

EXTRACTION = "arena.keypoints.extract"


def fetch(project: Project, *more: str) -> None:
    """A page for every address that a report gives; each has the questions, so that the baseline finds something."""
    words = "\n\n".join((*(items.read(project, one).question for one in items.ids(project)), *more))
    for address in pages.given(project):
        pages.take_in(project, Page(url=address, state=PageState.OK, text=words, fetched_at=now()))


def draw(project: Project) -> None:
    """The baseline's key points of every report, accepted, and a common pool for each item."""
    fetch(project)
    asyncio.run(extracting.run(project, RunRequest("baseline", EXTRACTION)))
    extracting.confirm_all(project, ResponsePart.KEYPOINTS)
    human_agreement.freeze(project)
