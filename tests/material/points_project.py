"""Two reports on one item with key points that the baseline drew from their pages."""

from pathlib import Path

from annotator.actions.items import pages
from annotator.actions.items.extracts import NewExtract
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Anchor, Unit
from annotator.domain.material.extract import KeyPoint, KeyPoints, ReadPage, ResponsePart, by_judge
from annotator.domain.material.item import Page, PageState
from annotator.domain.texts.canonical import now
from tests.material import drawn_extracts
from tests.projects.material_project import subject
from tests.projects.small_projects import small_project

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
    drawn_extracts.keep(
        project, NewExtract(*subject(project, number), ResponsePart.KEYPOINTS, document, origin)
    )
