"""Key points of the pages that a report cites: by a model, page by page, or by words alone.

DeepResearch Arena: Keypoint-Aligned Evaluation, Eqs. 4 and 5; the extractor's question, KEY_POINT_EXTRACTION_PROMPT.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.common import derived_id
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Ask, Extracted, Extraction, Material
from annotator.domain.kinds.artifact import Anchor
from annotator.domain.material.extract import KeyPoint, KeyPoints, ReadPage, ResponsePart
from annotator.domain.material.item import Page, PageState
from annotator.domain.texts.difference import find
from annotator.domain.texts.words import terms
from annotator.protocols.citations import given, normal
from annotator.protocols.merging import merged, pieces
from annotator.protocols.reports import excerpt
from annotator.protocols.several import ModelReply

NAME = "arena.keypoints.extract"
SPAN_MISSING, POINT_LOST, PAGE_CUT = "span_not_in_page", "point_without_span", "page_cut"
# Maximum lengths in characters, and the maximum number of quotations of a point.
LONGEST_TEXT, LONGEST_SPAN, MOST_SPANS = 2000, 20_000, 50
DEPARTURES = (
    "Every address, DOI and arXiv id that the report gives counts as cited, each page once, whatever its spelling; so "
    "do the works of a list of references that came with it.",
    "Pages are fetched first, and the text that was kept is read; the paper asks a reader service. One that cannot be "
    "read gives no key point, and how many were read stands beside the figures. While one was never fetched, nothing "
    "is drawn; and when the model fails on one, nothing is kept, for the rest would be another yardstick.",
    "A page that is too long is cut to the passages nearest in wording to the question, and that is told.",
    "A span that does not stand in the page is dropped and named; a point without any span left is none, and counted.",
    "The paper does not say how repetitions are found. Here two points are one when their words are equal but for "
    "punctuation, when spans of one page share half of the longer one, or when 85 % of their terms and all numbers "
    "are the same. What was merged is kept, and can be parted.",
)


class DrawnPoint(ModelReply):
    """A key point as the model found it: first the page's words, then what they say."""

    spans: list[str] = Field(description="Passages of the page that say it, each copied exactly")
    text: str = Field(
        pattern=r"\S", max_length=LONGEST_TEXT, description="The point in one sentence that reads alone"
    )


class DrawnPoints(ModelReply):
    """All key points of one page."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. For each key point write one line that begins with POINT: and, below it, one line that "
        "begins with SPAN: for each passage. When there is no key point, reply with the single word none."
    )
    points: list[DrawnPoint] = Field(description="The key points in the order of the page; empty for none")

    @classmethod
    def from_text(cls, text: str) -> Self:
        result: list[tuple[str, list[str]]] = []
        lines = [] if text.strip().lower() == "none" else filter(None, map(str.strip, text.splitlines()))
        for line in lines:
            label, _, words = line.partition(":")
            if label == "POINT":
                result.append((words.strip(), []))
            elif label == "SPAN" and result:
                result[-1][1].append(words.strip())
            else:
                raise ValueError(f"a line is neither POINT: nor SPAN: {line[:80]!r}")
        return cls(points=[DrawnPoint(spans=spans, text=words) for words, spans in result])


class _PageReading:
    def __init__(self, material: Material) -> None:
        self._report = material.response.id
        self._times: Counter[tuple[str, str]] = Counter()
        self.points: list[KeyPoint] = []
        self.pages: list[ReadPage] = []
        self.flags: set[str] = set()

    def add(self, page: Page, extracted: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Add the points of a page as (text, spans), if a span is found on the page; note the others as lost."""
        lost: list[str] = []
        for text, spans in extracted:
            places = [(span, find(page.text, span)) for span in spans if span.strip()]
            anchors = [
                Anchor.at(page.text, place[0], min(place[1], place[0] + LONGEST_SPAN), page.url)
                for _, place in places
                if place
            ]
            missing = [span for span, place in places if not place]
            self.flags |= {SPAN_MISSING} if missing else set()
            if anchors:
                self.points.append(self._point(page.url, text.strip(), anchors, missing))
            else:
                lost.append(text.strip())
        self.flags |= {POINT_LOST} if lost else set()
        self.pages.append(ReadPage(address=page.url, state=PageState.OK, lost=tuple(lost)))

    def _point(self, address: str, text: str, anchors: list[Anchor], missing: list[str]) -> KeyPoint:
        self._times[address, text] += 1
        return KeyPoint(
            id="k" + derived_id("key point", self._report, address, text, self._times[address, text])[-12:],
            text=text,
            note="\n".join(f"Not in the page, and dropped: “{span[:500]}”" for span in missing),
            anchor=anchors[0],
            more_anchors=tuple(anchors[1:MOST_SPANS]),
        )

    def extracted(self) -> Extracted:
        document = KeyPoints(units=merged(self.points), pages=tuple(self.pages))
        return Extracted(document, flags=tuple(sorted(self.flags)))


def cited(material: Material) -> list[str]:
    """URL(R): the normalised addresses in a report and its list of references, each once, in order."""
    listed = (normal(unit.identifier) for unit in material.units(ResponsePart.REFERENCES))
    return list(filter(None, dict.fromkeys((*given(material.response.text), *listed))))


def _unfetched(material: Material) -> Extracted | None:
    """Why nothing can be extracted yet; None if every page was read, or found to be unreadable."""
    addresses = cited(material)
    lacking = [address for address in addresses if not _known(material.pages.get(address))]
    if not lacking:
        return None
    cause = (
        f"{len(lacking):,} of {len(addresses):,} cited pages were never fetched; fetch or import them first."
    )
    return Extracted(None, Status.SKIPPED, cause)


def _known(page: Page | None) -> bool:
    """Whether a page was fetched; one that came from a release without its text was not."""
    return page is not None and (page.state is not PageState.OK or bool(page.text))


def _readable(material: Material, reading: _PageReading) -> Iterator[Page]:
    """The pages with a text, in the order of the report; the others are recorded."""
    for address in cited(material):
        page = material.pages[address]
        if page.state is PageState.OK and page.text.strip():
            yield page
        else:
            state = PageState.NOT_TEXT if page.state is PageState.OK else page.state
            reading.pages.append(ReadPage(address=address, state=state))


async def extract(material: Material, ask: Ask) -> Extracted:
    """K_u = Extract(u) of Eq. 4 for each page, then their union of Eq. 5; no document if a page failed."""
    if waits := _unfetched(material):
        return waits
    reading, failed = _PageReading(material), None
    # The other pages are asked about all the same: their answers are stored and not asked for again.
    for page in _readable(material, reading):
        shown = excerpt(page.text, [material.item.question])
        fields = {"question": material.item.question, "page": shown.text, "extent": shown.extent}
        answer = await ask(NAME, fields, DrawnPoints, fenced=("question", "page"))
        reading.flags |= {*answer.flags, *([PAGE_CUT] if shown.cut else [])}
        if answer.status is not Status.OK:
            failed = failed or Extracted(None, answer.status, f"{page.url}: {answer.cause}", answer.flags)
            continue
        reading.add(page, [(point.text, point.spans) for point in answer.reply.points])
    return failed or reading.extracted()


# No network, and not in the paper: the sentences of a page that share most terms with the question.
MOST_OF_A_PAGE, LEAST_SHARED = 8, 2
_PLAIN = re.compile(r"\s+")


def baseline(material: Material) -> Extracted:
    """Of each page the sentences that share at least two terms with the question, the best eight."""
    if waits := _unfetched(material):
        return waits
    reading, question_terms = _PageReading(material), terms(material.item.question)
    for page in _readable(material, reading):
        sentences = [page.text[slice(*span)] for span in pieces(page.text)]
        shared = {sentence: len(terms(sentence) & question_terms) for sentence in dict.fromkeys(sentences)}
        best = sorted((one for one in shared if shared[one] >= LEAST_SHARED), key=lambda one: -shared[one])
        chosen = set(best[:MOST_OF_A_PAGE])
        reading.add(page, [(_PLAIN.sub(" ", one)[:LONGEST_TEXT], [one]) for one in shared if one in chosen])
    return reading.extracted()


KEY_POINTS = Extraction(
    name=NAME,
    title="Key points of the pages a report cites",
    citation="DeepResearch Arena, Keypoint-Aligned Evaluation, Eqs. 4 and 5",
    makes=ResponsePart.KEYPOINTS,
    prompts=(NAME,),
    extract=extract,
    baseline=baseline,
    cites=cited,
    departures=DEPARTURES,
)
