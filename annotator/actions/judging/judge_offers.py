"""Available orders to judges: each protocol, what its items still lack, and how to extract it."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from annotator.actions.items import extracts, materials
from annotator.actions.items.materials import MaterialAtHand, WantedMaterial
from annotator.actions.items.report_lines import Reports
from annotator.actions.labelling import label_offers
from annotator.actions.material.response_settings import settings_of
from annotator.actions.project.file import Project
from annotator.domain.judges.protocol import Extraction, Protocol
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.texts.counting import counted
from annotator.protocols import EXTRACTIONS, PAPERS, PROTOCOLS, USUAL
from annotator.protocols.lent import RANKING
from annotator.protocols.pairing import NAME as PAIRING

WRITING = "Reports written by a model"
# Under this and a protocol's name a run is kept that only checks whether a judge has changed.
CHECKS = "drift."


@dataclass(frozen=True, slots=True)
class ExtractionStep:
    """An extraction that a protocol needs: number of reports, and how many have none yet.

    `alone` tells whether the baseline draws it too, without any model.
    """

    extraction: str
    title: str
    part: ResponsePart
    reports: int
    missing: int
    alone: bool

    def words(self) -> str:
        """The step in a sentence."""
        if not self.reports:
            return f"No report to extract the  {self.part.value} from."
        if not self.missing:
            return f"The {self.part.value} of all {counted(self.reports, 'report')} are there."
        return f"{self.missing:,} of {counted(self.reports, 'report')} are without their {self.part.value}."


@dataclass(frozen=True, slots=True)
class ProtocolOffer:
    """A protocol that can be ordered. `ready` counts complete items; `lacks` says what the others need.

    One that is not `asked` is computed from what is at hand. With `together` several units fit into one call.
    """

    name: str
    title: str
    citation: str
    asked: bool
    together: bool
    paired: bool
    alone: bool
    values: tuple[str, ...]
    metrics: tuple[str, ...]
    prompts: tuple[str, ...]
    departures: tuple[str, ...]
    items: int
    ready: int
    lacks: tuple[str, ...] = ()
    steps: tuple[ExtractionStep, ...] = ()

    def words(self) -> str:
        """How much of the project it can be ordered for, in a sentence."""
        if not self.items:
            return "There are no items yet."
        if self.ready == self.items:
            return (
                "Everything is there for the one item."
                if self.items == 1
                else f"All {self.items:,} items are ready."
            )
        return f"{self.ready:,} of {counted(self.items, 'item')} {'is' if self.ready == 1 else 'are'} ready."


@dataclass(frozen=True, slots=True)
class ExtractionOffer:
    """An extraction that can be ordered: number of reports (or items), and how many have none yet.

    `alone` tells whether the baseline draws it too; `lacks` says what is missing where there is nothing to draw from.
    """

    name: str
    title: str
    citation: str
    makes: str
    things: str
    total: int
    without: int
    alone: bool
    prompts: tuple[str, ...]
    departures: tuple[str, ...] = ()
    lacks: str = ""
    rubric_set: str = ""

    def words(self) -> str:
        """How much there is to draw from, in a sentence."""
        if self.lacks:
            return self.lacks
        if not self.without:
            return f"The {self.makes} of all {counted(self.total, self.things)} are there."
        return f"{self.without:,} of {counted(self.total, self.things)} are without their {self.makes}."


@dataclass
class _Counts:
    """Counts collected while going through the items."""

    items: int = 0
    reports: int = 0
    ready: Counter[str] = field(default_factory=Counter)
    lacking: dict[str, Counter[str]] = field(default_factory=dict)
    without: Counter[ResponsePart] = field(default_factory=Counter)

    def add(self, at_hand: MaterialAtHand, shapes: Iterable[Protocol]) -> None:
        """Count one item for every protocol."""
        self.items += 1
        self.reports += len(at_hand.responses)
        held = [set(material.parts) for material in at_hand.responses]
        self.without.update(part for parts in held for part in ResponsePart if part not in parts)
        everywhere = set(ResponsePart).intersection(*held) if held else set()
        exemplars = sum(material.response.mode == EXEMPLAR for material in at_hand.responses)
        for shape in shapes:
            lacks = shape.lacks(at_hand.own.documents, len(at_hand.responses), everywhere, exemplars)
            self.lacking.setdefault(shape.name, Counter()).update(lacks)
            self.ready[shape.name] += not lacks


def offers(project: Project) -> list[ProtocolOffer]:
    """All protocols with what this project lacks for each. The items are read once, their reports' words never."""
    shapes = tuple(shape for shape in PROTOCOLS.values() if not shape.by_people)
    kinds = tuple(dict.fromkeys(kind for shape in shapes for kind in shape.needs))
    found = _Counts()
    for at_hand in materials.each(
        project, WantedMaterial(kinds, texts=False), materials.item_ids(project, answered=True)
    ):
        found.add(at_hand, shapes)
    return [_offer(shape, found) for shape in shapes]


def runnable(offer: ProtocolOffer | ExtractionOffer) -> bool:
    """Whether there is anything that it can be run on."""
    return not offer.lacks if isinstance(offer, ExtractionOffer) else offer.ready > 0


def in_order(found: list[ProtocolOffer]) -> list[ProtocolOffer]:
    """What can be asked for now before all else, and each paper of which that is several things as one order.

    The usual protocol is the first where it can be asked for.
    """
    ready = [one for one in found if one.asked and runnable(one)]
    whole = []
    for paper in PAPERS.values():
        own = [one for one in ready if one.name in {shape.name for shape in paper.protocols}]
        if len(own) > 1:
            least, prompts = min(one.ready for one in own), tuple(name for one in own for name in one.prompts)
            alone = all(one.alone for one in own)
            whole += [
                replace(
                    own[0], name=paper.name, title=title(paper.name), citation=paper.title, ready=least, lacks=(),
                    steps=(), together=False, paired=False, alone=alone, prompts=prompts,
                )
            ]  # fmt: skip
    usual = [one for one in ready if one.name == USUAL]
    rest = [one for one in ready if one.name != USUAL]
    return [*usual, *whole, *rest, *(one for one in found if one not in ready)]


def unasked(project: Project, protocol: str) -> str:
    """Why nothing, or not everything, can be asked by a protocol, in sentences; empty where nothing lacks."""
    shape = PROTOCOLS[protocol]
    met = [
        (one, list(shape.cases(one)))
        for at_hand in materials.each(
            project, materials.for_asking(shape), materials.item_ids(project, answered=True)
        )
        for one in at_hand.responses
    ]
    (offer,) = [one for one in offers(project) if one.name == protocol]
    return " ".join(label_offers.gaps(shape, met) or offer.lacks)


def drawings(project: Project) -> list[ExtractionOffer]:
    """All extractions with how much of the project they have not drawn from. No report's words are read."""
    wanted = WantedMaterial((), texts=False, sources=True)
    seen = list(materials.each(project, wanted, materials.item_ids(project, answered=True)))
    kinds = extracts.kinds_of_items(project)
    reports = [{part.value for part in one.parts} for at_hand in seen for one in at_hand.responses]
    items = [kinds[one.item.id] for one in seen if any(source.text for source in one.own.sources)]
    every = [kinds[one.item.id] for one in seen]
    return [_drawing(one, reports, items if one.sources else every) for one in EXTRACTIONS.values()]


def _drawing(
    extraction: Extraction, reports: Iterable[Collection[str]], items: Iterable[Collection[str]]
) -> ExtractionOffer:
    """An extraction over reports and over items with a source, each given by the kinds that are drawn from it."""
    of_reports = isinstance(extraction.makes, ResponsePart)
    held = [extraction.key in kinds for kinds in (reports if of_reports else items)]
    lacks = "No report is there yet." if of_reports else "No item has a source with its text yet."
    return ExtractionOffer(
        name=extraction.name,
        title=extraction.title,
        citation=extraction.citation,
        makes=extraction.makes.value,
        things="report" if of_reports else "item",
        total=len(held),
        without=held.count(False),
        alone=extraction.baseline is not None,
        prompts=extraction.prompts,
        departures=extraction.departures,
        lacks="" if held else lacks,
        rubric_set=extraction.rubric_set,
    )


def _offer(shape: Protocol, found: _Counts) -> ProtocolOffer:
    lacking = found.lacking.get(shape.name, Counter())
    return ProtocolOffer(
        name=shape.name,
        title=shape.title,
        citation=shape.citation,
        asked=bool(shape.values),
        together=shape.judge_together is not None,
        paired=shape.paired,
        alone=shape.baseline is not None,
        values=shape.values,
        metrics=tuple(metric.title for metric in shape.metrics),
        prompts=shape.prompts,
        departures=shape.departures,
        items=found.items,
        ready=found.ready[shape.name],
        lacks=tuple(_lack(words, count, found.items) for words, count in lacking.items()),
        steps=tuple(_step(extraction, found) for part in shape.parts for extraction in _making(part)),
    )


def _lack(words: str, count: int, items: int) -> str:
    if count == items:
        return f"The item lacks {words}." if items == 1 else f"All {items:,} items lack {words}."
    return f"{count:,} of {items:,} items {'lacks' if count == 1 else 'lack'} {words}."


def _step(extraction: Extraction, found: _Counts) -> ExtractionStep:
    part = ResponsePart(extraction.makes.value)
    alone = extraction.baseline is not None
    return ExtractionStep(extraction.name, extraction.title, part, found.reports, found.without[part], alone)


def _making(part: ResponsePart) -> list[Extraction]:
    return [extraction for extraction in EXTRACTIONS.values() if extraction.makes is part]


def draws(name: str) -> bool:
    """Whether what is ordered by that name draws something, instead of judging it."""
    return name in EXTRACTIONS


def purpose(name: str) -> str:
    """What the calls of a run by that name were paid for; those of no run are trial calls."""
    kinds = {CHECKS: "drift checks", "attack.": "attacks", "proposal.": "drafts", PAIRING: "pairing"}
    kind = next((words for prefix, words in kinds.items() if name.startswith(prefix)), "")
    if kind or not name:
        return kind or "test calls"
    if draws(name):
        return "drawing"
    return "judging" if name in PROTOCOLS else "reports"


def title(name: str) -> str:
    """What a run by that name was about, as people say it; the name itself where nobody knows it any more."""
    if name.startswith(CHECKS):
        return f"Drift check: {title(name.removeprefix(CHECKS))}"
    known = PROTOCOLS.get(name) or EXTRACTIONS.get(name)
    if known is not None:
        return known.title
    if name in PAPERS:
        return f"All of {PAPERS[name].title}"
    if name.startswith(RANKING.name):
        return RANKING.title
    if name.startswith(PAIRING):
        return "Units paired by meaning"
    return WRITING if settings_of(name) else _drafted(name)


def _drafted(name: str) -> str:
    from annotator.actions.material import draft_runs

    known = {draft_runs.PREFIX + one.name: one.title for one in draft_runs.OFFERED.values()}
    title = known.get(name, name)
    return title if title == name or title.startswith("Draft") else f"Draft: {title}"


def drawings_of(found: Reports) -> list[ExtractionOffer]:
    """Every extraction, with how many reports (or items with a source) have nothing drawn yet."""
    reports = [line.parts for of_cell in found.lines.values() for line in of_cell]
    items = [item.parts for item in found.items if item.sources]
    every = [item.parts for item in found.items]
    return [_drawing(one, reports, items if one.sources else every) for one in EXTRACTIONS.values()]
