"""A report that gives four pages: two can be read, one is dead, one is empty."""

from dataclasses import replace

from annotator.domain.judges.protocol import Material
from annotator.domain.kinds.artifact import Anchor
from annotator.domain.material.extract import KeyPoint, KeyPoints, ReadPage, ResponsePart
from annotator.domain.material.item import Item, Page, PageState, Response
from annotator.domain.texts.canonical import now

FIRST, SECOND = "https://a.org/one", "https://b.org/two"
DEAD, EMPTY = "https://c.org/dead", "https://d.org/empty"
ITEM = Item(id="i", key="q1", question="How do street trees change the temperature of a city?")
COOLER = "Street trees lower the air temperature by 2.5 degrees on summer afternoons."
SOIL = "Roots need open soil of eight square metres."
WATER = "Watering in the first three summers decides whether a street tree survives."
TEXTS = {FIRST: f"Menu\n\n{COOLER} {SOIL}\n\nContact", SECOND: f"# Trees\n\n{WATER}\n\n{COOLER}"}
REPORT = (
    f"Trees cool streets [1](https://A.org/one#top), as [others]({SECOND}) say.\n\n"
    f"See {FIRST}.\n\n## References\n[2] {DEAD}\n[3] {EMPTY}"
)


def page(address: str, text: str = "", state: PageState = PageState.OK) -> Page:
    return Page(url=address, state=state, text=text, fetched_at=now())


def material(report: str = REPORT, without: tuple[str, ...] = ()) -> Material:
    """The report with the pages that it gives, but some that were never fetched."""
    pages = {address: page(address, text) for address, text in TEXTS.items()}
    pages |= {DEAD: page(DEAD, state=PageState.DEAD), EMPTY: page(EMPTY, " ")}
    response = Response(id="r", item_id="i", system_id="s", text=report)
    return Material(ITEM, response, pages={url: one for url, one in pages.items() if url not in without})


def anchor(text: str, words: str, address: str = FIRST) -> Anchor:
    start = text.index(words)
    return Anchor.at(text, start, start + len(words), address)


def point(name: str, text: str, *anchors: Anchor) -> KeyPoint:
    first, *more = anchors or (anchor(TEXTS[FIRST], COOLER),)
    return KeyPoint(id=name, text=text, anchor=first, more_anchors=tuple(more))


def pool(count: int, read: int = 7, pages: int = 12, part: ResponsePart = ResponsePart.KEYPOINTS) -> Material:
    """A report measured by so many key points p0, p1 … of some pages, the others of which are dead."""
    units = tuple(point(f"p{n}", f"Point {n}") for n in range(count))
    result = tuple(
        ReadPage(address=f"https://x.org/{n}", state=PageState.OK if n < read else PageState.DEAD)
        for n in range(pages)
    )
    document = KeyPoints(units=units, pages=result)
    return replace(material(), parts={part: document}, part_ids={part: "e1"})
