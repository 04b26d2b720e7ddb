"""Key points as the stories of protocols know them: pages that repeat the questions, a pool of all, plain figures."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from annotator.actions.items import items, pages
from annotator.actions.material import extracting
from annotator.actions.papers import human_agreement
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.material.item import Page, PageState
from annotator.domain.material.part import KeyPoint, ResponsePart
from annotator.domain.texts.canonical import now

EXTRACTION = "arena.keypoints.extract"
RELATIONS = ("supports", "omits", "contradicts")


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


def relation(text: str) -> str:
    """What a report is made to do with a point: decided by the length of the point alone."""
    return RELATIONS[len(text) % 3]


def shares(
    drawn: Iterable[tuple[str, Sequence[KeyPoint]]], ending: str = ""
) -> dict[tuple[str, str], list[float]]:
    result: dict[tuple[str, str], list[float]] = defaultdict(list)
    for system, points in drawn:
        said = Counter(relation(point.text) for point in points)
        for name, value in zip(("ksr", "kor", "kcr"), RELATIONS, strict=True):
            result[f"{name}{ending}", system].append(said[value] / len(points))
    return result


def pooled(drawn: Iterable[tuple[str, Sequence[KeyPoint]]]) -> dict[tuple[str, str], float]:
    of: dict[str, list[str]] = defaultdict(list)
    for system, points in drawn:
        of[system] += [relation(point.text) for point in points]
    return {
        (f"{name}.pooled", system): said.count(value) / len(said)
        for system, said in of.items()
        for name, value in zip(("ksr", "kor", "kcr"), RELATIONS, strict=True)
    }
