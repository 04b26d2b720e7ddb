"""Judge runs: planning, running, and the results of earlier ones."""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

from sqlalchemy import select

from annotator.actions.items import extracts, items, materials
from annotator.actions.judges import judges, kept_keys
from annotator.actions.judging import derived_judges
from annotator.actions.labelling import label_cases
from annotator.actions.material import extracting
from annotator.actions.material.responding import settings_of
from annotator.actions.project import profile
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases, run_kind, run_records
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import Key, RunRequest
from annotator.domain.common import Refusal, counted, new_id, required
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.protocol import Extraction, Protocol
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import EXEMPLAR
from annotator.protocols import EXTRACTIONS, PAPERS, PROTOCOLS, USUAL
from annotator.protocols.merging import NAME as PAIRING
from annotator.protocols.registry import RANKING
from annotator.storage.tables import ITEM

WRITING = "Reports written by a model"
# The prefix, before a protocol's name, of runs that only check whether a judge has changed.
CHECKS = "drift."


@dataclass(frozen=True, slots=True)
class ExtractionOffer:
    """An extraction that can be ordered: number of reports (or items), and how many have none yet.

    `alone` if the baseline can extract it too; `lacks` says what is missing if there is nothing to extract from.
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
        if self.lacks:
            return self.lacks
        if not self.without:
            return f"The {self.makes} of all {counted(self.total, self.things)} are there."
        return f"{self.without:,} of {counted(self.total, self.things)} are without their {self.makes}."


@dataclass(frozen=True, slots=True)
class ProtocolOffer:
    """A protocol that can be ordered. `ready` counts complete items; `lacks` says what the others need.

    Without `by_model` it is computed from what is there. With `together`, several units fit into one call. `steps` are
    the extractions from reports that it needs.
    """

    name: str
    title: str
    citation: str
    by_model: bool
    together: bool
    prompts: tuple[str, ...]
    departures: tuple[str, ...]
    items: int
    ready: int
    lacks: tuple[str, ...] = ()
    steps: tuple[ExtractionOffer, ...] = ()

    def words(self) -> str:
        if not self.items:
            return "There are no items yet."
        if self.ready == self.items:
            return (
                "Everything is there for the one item."
                if self.items == 1
                else f"All {self.items:,} items are ready."
            )
        return f"{self.ready:,} of {counted(self.items, 'item')} {'is' if self.ready == 1 else 'are'} ready."


def offers(project: Project, *named: str) -> list[ProtocolOffer]:
    """The protocols named, or those that the project uses, with what it lacks for each.

    Items are read once, the texts of reports never.
    """
    offered = [PROTOCOLS[name] for name in named] or profile.protocols(project).values()
    protocols = tuple(protocol for protocol in offered if not protocol.by_people)
    kinds = tuple(dict.fromkeys(kind for protocol in protocols for kind in protocol.needs))
    material, reports = materials.MaterialRequest(kinds, texts=False), list[Collection[str]]()
    of_items = []
    for at_hand in materials.each(project, material, materials.item_ids(project, answered=True)):
        held = [set(one.parts) for one in at_hand.responses]
        everywhere = set(ResponsePart).intersection(*held) if held else set()
        exemplars = sum(one.response.mode == EXEMPLAR for one in at_hand.responses)
        reports += held
        about = at_hand.own.documents, len(held), everywhere, exemplars
        of_items.append({protocol.name: protocol.lacks(*about) for protocol in protocols})
    return [_offer(protocol, reports, [lacks[protocol.name] for lacks in of_items]) for protocol in protocols]


def runnable(offer: ProtocolOffer | ExtractionOffer) -> bool:
    return not offer.lacks if isinstance(offer, ExtractionOffer) else offer.ready > 0


def in_order(offers: list[ProtocolOffer]) -> list[ProtocolOffer]:
    """The offers sorted: those that can be asked first, with one order for each paper of which several can.

    The usual protocol comes first if it can be asked.
    """
    ready = [offer for offer in offers if offer.by_model and runnable(offer)]
    whole = []
    for paper in PAPERS.values():
        own = [offer for offer in ready if offer.name in {protocol.name for protocol in paper.protocols}]
        if len(own) > 1:
            least, prompts = (
                min(offer.ready for offer in own),
                tuple(name for offer in own for name in offer.prompts),
            )
            whole += [
                replace(
                    own[0], name=paper.name, title=title(paper.name), citation=paper.title, ready=least, lacks=(),
                    steps=(), together=False, prompts=prompts,
                )
            ]  # fmt: skip
    usual = [offer for offer in ready if offer.name == USUAL]
    rest = [offer for offer in ready if offer.name != USUAL]
    return [*usual, *whole, *rest, *(offer for offer in offers if offer not in ready)]


def unasked(project: Project, protocol: str) -> str:
    """Why nothing, or not everything, can be asked under a protocol, in sentences; empty if nothing is missing."""
    definition = PROTOCOLS[protocol]
    report_cases = [
        (material, list(definition.cases(material)))
        for at_hand in materials.each(
            project, materials.for_asking(definition), materials.item_ids(project, answered=True)
        )
        for material in at_hand.responses
    ]
    (offer,) = offers(project, protocol)
    return " ".join(label_cases.gaps(definition, report_cases) or offer.lacks)


def drawings(project: Project, *named: str) -> list[ExtractionOffer]:
    """The extractions named, or those in use, with what they have not extracted from yet. Reads no report's text."""
    material = materials.MaterialRequest((), texts=False, sources=True)
    seen = list(materials.each(project, material, materials.item_ids(project, answered=True)))
    kinds = extracts.kinds_of_items(project)
    reports = [{part.value for part in one.parts} for at_hand in seen for one in at_hand.responses]
    items = [kinds[hand.item.id] for hand in seen if any(source.text for source in hand.own.sources)]
    every = [kinds[hand.item.id] for hand in seen]
    used = [EXTRACTIONS[name] for name in named] or profile.extractions(project).values()
    return [_drawing(extraction, reports, items if extraction.sources else every) for extraction in used]


def _drawing(
    extraction: Extraction, reports: Iterable[Collection[str]], items: Iterable[Collection[str]]
) -> ExtractionOffer:
    """An extraction over reports and items with a source, each given by the kinds already extracted from it."""
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


def _offer(
    protocol: Protocol, reports: Sequence[Collection[str]], lacking: Sequence[Sequence[str]]
) -> ProtocolOffer:
    """A protocol over reports, each given by the parts extracted from it, and items, by what each lacks for it."""
    return ProtocolOffer(
        name=protocol.name,
        title=protocol.title,
        citation=protocol.citation,
        by_model=bool(protocol.values),
        together=protocol.judge_together is not None,
        prompts=protocol.prompts,
        departures=protocol.departures,
        items=len(lacking),
        ready=sum(not lacks for lacks in lacking),
        lacks=tuple(
            _lack(words, count, len(lacking))
            for words, count in Counter(chain.from_iterable(lacking)).items()
        ),
        steps=tuple(
            _drawing(extraction, reports, ())
            for part in protocol.parts
            for extraction in EXTRACTIONS.values()
            if extraction.makes is part
        ),
    )


def _lack(words: str, count: int, items: int) -> str:
    if count == items:
        return f"The item lacks {words}." if items == 1 else f"All {items:,} items lack {words}."
    return f"{count:,} of {items:,} items {'lacks' if count == 1 else 'lack'} {words}."


def draws(name: str) -> bool:
    """Whether an order of that name extracts something instead of judging it."""
    return name in EXTRACTIONS


def purpose(name: str) -> str:
    """The purpose of the calls of runs by that name; calls without a run are trial calls."""
    kinds = {
        CHECKS: "drift checks", judge_cases.ATTACK: "attacks", judge_cases.DRAFT: "drafts", PAIRING: "pairing",
    }  # fmt: skip
    kind = next((words for prefix, words in kinds.items() if name.startswith(prefix)), "")
    if kind or not name:
        return kind or "test calls"
    if draws(name):
        return "drawing"
    return "judging" if name in PROTOCOLS else "reports"


def title(name: str) -> str:
    """The title of a run by that name; the name itself if it is no longer known."""
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
    from annotator.actions.material import model_drafts

    title = {
        judge_cases.DRAFT + extraction.name: extraction.title for extraction in model_drafts.OFFERED.values()
    }.get(name, name)
    return title if title == name or title.startswith("Draft") else f"Draft: {title}"


def drawings_of(project: Project, overview: materials.Reports) -> list[ExtractionOffer]:
    """Every extraction in use, with the number of reports (or items with a source) not extracted from yet."""
    reports = [line.parts for of_cell in overview.lines.values() for line in of_cell]
    items = [item.parts for item in overview.items if item.sources]
    every = [item.parts for item in overview.items]
    used = profile.extractions(project).values()
    return [_drawing(extraction, reports, items if extraction.sources else every) for extraction in used]


@dataclass(frozen=True, slots=True)
class JudgementPlan:
    total: int
    to_do: int
    reports: int
    things: str = "criteria"
    lacks: str = ""

    def words(self) -> str:
        if not self.total and self.things == "criteria":
            return (
                "There is nothing to judge yet: it takes reports, and submitted or imported rubrics for them."
            )
        if not self.total:
            lacks = self.lacks or "Reports, or the gold they are judged by, are missing."
            return f"There is nothing to judge yet. {lacks}"
        if not self.to_do:
            return f"All {self.total:,} {self.things} of {self.reports:,} reports are judged."
        return f"{self.to_do:,} of {self.total:,} {self.things}, in {self.reports:,} reports, are not yet judged."


def plan(project: Project, order: RunRequest) -> JudgementPlan:
    """How much there is to judge, and how much of it is not done."""
    each = parts(project, order)
    if each != [order]:
        result = [plan(project, request) for request in each]
        total, to_do = sum(one.total for one in result), sum(one.to_do for one in result)
        return JudgementPlan(total, to_do, max(one.reports for one in result), "judgements")
    judge_cases.checked(project, order)
    judge = derived_judges.judge_of(project, order)
    answered = RunJournal(project, "", judge.id, order.protocol).finished("")
    outlook = judge_cases.outlook(project, order, answered)
    things = judge_cases.things(order.protocol)
    lacks = "" if outlook.total else unasked(project, order.protocol)
    return JudgementPlan(outlook.total, outlook.total - outlook.done, outlook.reports, things, lacks)


def parts(project: Project, order: RunRequest) -> list[RunRequest]:
    """The parts of an order: if it names a paper, each of its protocols that this judge can be asked now.

    Raises Refusal if there are none.
    """
    if order.protocol not in PAPERS:
        return [order]
    paper = PAPERS[order.protocol]
    model = derived_judges.judge_of(project, order).kind == JudgeKind.ENDPOINT
    able = (
        protocol.name
        for protocol in paper.protocols
        if protocol.values and (protocol.judge if model else protocol.baseline)
    )
    each = (replace(order, protocol=name) for name in able)
    return required(
        [request for request in each if next(judge_cases.cases(project, request), None) is not None],
        f"Nothing of {paper.title} can be judged yet.",
        "Judges → What, with “Show all”, says what is lacking.",
    )


def left_out(project: Project, order: RunRequest) -> str:
    """What an order leaves out of a paper, and why, in a sentence; empty if nothing."""
    named = {part.protocol for part in parts(project, order)}
    protocols = [
        protocol for protocol in PAPERS[order.protocol].protocols if protocol.values and protocol.judge
    ]
    reasons = [
        f"{one.title} ({unasked(project, one.name).rstrip('.')})"
        for one in protocols
        if one.name not in named
    ]
    return f"Left out: {'; '.join(reasons)}." if reasons else ""


class JudgeRun(run_kind.RunKind):
    """A run in which a judge judges what is missing under a protocol; a vote is always recounted."""

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        judge_cases.checked(project, order)
        judge = derived_judges.judge_of(project, order)
        return judge, protocol_of(project, order, judge)

    def check(self) -> None:
        """Refuse batches without a model, an order without cases, and a judge that differs from its card."""
        if self.order.batch and self.judge.kind != JudgeKind.ENDPOINT:
            raise Refusal(f"“{self.judge.name}” asks no model.", "Run it without batches.")
        if next(judge_cases.cases(self.project, self.order), None) is None:
            raise Refusal(
                f"There is nothing to judge by “{self.protocol.title}” yet.",
                unasked(self.project, self.order.protocol) or "Choose other items or systems.",
            )
        derived_judges.refuse_unbound(self.project, self.judge, self.order.protocol)

    def opened(self) -> run_records.OpenRun:
        """Open the run; raises Refusal while another run's batches contain what it would ask."""
        going_on = run_records.stopped(self.project, self.judge, self.order)
        protocol, run_id = self.order.protocol, going_on.id if going_on else ""
        run_kind.refuse_while_out(self.project, self.judge, protocol, run_id)
        return super().opened()

    def work(self, run: run_records.OpenRun, journal: RunJournal) -> run_kind.RunWork:
        project, order, judge = self.project, self.order, self.judge
        already: Container[Key] = frozenset() if judge.kind == JudgeKind.DERIVED else journal.finished(run.id)
        result = judge_cases.outlook(project, order, already)
        settings = judge_cases.settings_of(judge, order.protocol, run.seed)
        return run_kind.RunWork(
            self.protocol,
            lambda: judge_cases.cases(project, order, result.items, settings),
            result.total,
            result.done,
            f"{judge_cases.things(order.protocol)} judged",
            already,
            derived_judges.refused_models(project, judge, order),
            lambda: judge_cases.cases(project, order, settings=settings),
        )


run = JudgeRun.run


def protocol_of(project: Project, order: RunRequest, judge: Judge) -> Protocol:
    protocol = judge_cases.protocol_of(order.protocol)
    if judge.kind == JudgeKind.DERIVED:
        return replace(protocol, baseline=derived_judges.counting(project, judge, protocol.name))
    if judge_cases.units_a_call(judge, protocol.name) == 1:
        return protocol
    if protocol.judge_together is None:
        raise Refusal(f"{protocol.title} cannot be asked several units together.", "Choose another judge.")
    return replace(protocol, judge=protocol.judge_together)


SETTING = "judge_queue"
GONE = Refusal("That run is no longer queued.", "See the list of runs.")


@dataclass(frozen=True, slots=True)
class QueuedRun:
    id: str
    order: RunRequest


def waiting(project: Project) -> list[QueuedRun]:
    return [_read(tree) for tree in project.get(SETTING, [])]


def add(project: Project, order: RunRequest) -> QueuedRun:
    """Append an order; raises Refusal if it cannot be run or already waits."""
    judges.named(project, order.judge)
    if order.protocol in EXTRACTIONS:
        extracting.checked(project, order)
    else:
        for part in parts(project, order):
            judge_cases.checked(project, part)
    known = waiting(project)
    # Speed and budget do not distinguish orders.
    names = "concurrency", "timeout_s", "budget_usd", "requests_per_minute", "tokens_per_minute"
    limits: dict[str, Any] = {name: getattr(order, name) for name in names}
    if any(replace(run.order, **limits) == order for run in known):
        raise Refusal("The same run is already queued.", "See the list of runs.")
    added = QueuedRun(new_id(), order)
    _keep(project, [*known, added])
    return added


def remove(project: Project, waiting_id: str) -> None:
    known = waiting(project)
    left = [run for run in known if run.id != waiting_id]
    if len(left) == len(known):
        raise GONE
    _keep(project, left)


def take(project: Project, without: Container[str] = ()) -> RunRequest | None:
    """Remove and return the next order in the queue; None if only orders of judges in `without` wait."""
    known = waiting(project)
    taken = next((run for run in known if run.order.judge not in without), None)
    if taken is None:
        return None
    _keep(project, [run for run in known if run is not taken])
    return taken.order


def move(project: Project, waiting_id: str, by: int) -> None:
    """Swap an order with the one before it (-1) or after it (1); at an end it stays."""
    known = waiting(project)
    place = next((n for n, run in enumerate(known) if run.id == waiting_id), None)
    if place is None:
        raise GONE
    known.insert(min(max(0, place + by), len(known) - 1), known.pop(place))
    _keep(project, known)


def _keep(project: Project, orders: list[QueuedRun]) -> None:
    project.set(SETTING, [{"id": order.id, **asdict(order.order)} for order in orders])


def _read(tree: dict[str, Any]) -> QueuedRun:
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in tree.items()
    }
    return QueuedRun(fields.pop("id"), RunRequest(**fields))


_DASHES = ("–", "-", "..")


@dataclass(frozen=True, slots=True)
class RunSummary:
    order: RunRequest
    words: str
    total: int = 0
    to_do: int = 0
    refused: bool = False


def look(project: Project, order: RunRequest) -> RunSummary:
    """The summary of an order; a refusal is shown as words, since the order is not finished yet."""
    try:
        if order.judge:
            kept_keys.refuse_failed(project, judges.named(project, order.judge))
        if order.protocol in EXTRACTIONS:
            run = extracting.ExtractionRun(project, order)
            work = run.outlook()
            return RunSummary(order, _extraction_words(run, work), work.total, work.total - work.before)
        result = plan(project, order)
        summary = f"{result.words()} {items.left_out(project).not_counted}".strip()
        return RunSummary(order, summary, result.total, result.to_do)
    except Refusal as refusal:
        return RunSummary(order, f"{refusal.happened} {refusal.todo}".strip(), refused=True)


def keys_of(project: Project, words: str) -> tuple[str, ...]:
    """The keys in a text: “1, 4, 7–9”; a range follows the project's order. An empty text means all.

    The Refusal names the first unknown key.
    """
    question = select(ITEM.c.key).where(ITEM.c.retired.is_(False))
    known = list(project.query(question.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)).scalars())
    each = words.replace("，", ",").replace("、", ",").replace(";", ",").split(",")
    chosen = (key for word in each if word.strip() for key in _range(word.strip(), known))
    return tuple(dict.fromkeys(chosen))


def _range(word: str, known: list[str]) -> list[str]:
    if word in known:
        return [word]
    for dash in _DASHES:
        first, result, last = (part.strip() for part in word.partition(dash))
        if result and first in known and last in known and known.index(first) <= known.index(last):
            return known[known.index(first) : known.index(last) + 1]
    raise Refusal(f"There is no item “{word}”.", "Use keys from the Items page, such as 1, 4, 7–9.")


def _extraction_words(run: extracting.ExtractionRun, work: run_kind.RunWork) -> str:
    things = counted(work.total, run.things.removesuffix("s"))
    if not work.total:
        return f"There are no {run.things} to extract from yet."
    if work.total == work.before:
        return f"“{run.judge.name}” has processed all {things}."
    return f"{work.total - work.before:,} of {things} are not processed yet."
