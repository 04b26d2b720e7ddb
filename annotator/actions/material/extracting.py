"""Runs that extract parts from responses, or gold from sources."""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.items import materials
from annotator.actions.items.extracts import NewExtract, keep_row
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.actions.runs.driving import RunWork
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import Key, RunRequest
from annotator.actions.runs.run_kind import RunKind
from annotator.actions.runs.run_records import OpenRun
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.protocol import Ask, Case, Extracted, Extraction, Material, Protocol, Verdicts
from annotator.domain.judges.scale import plain
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.material.extract import by_judge, by_set
from annotator.domain.texts.refusal import Refusal
from annotator.judging.runs.progress import Finished
from annotator.protocols import EXTRACTIONS
from annotator.storage.tables import EXTRACT

DRAWN = "drawn"


@dataclass(frozen=True, slots=True)
class ExtractionPlan:
    """The size of an extraction: number of reports or items, and how many are still missing."""

    judge: str
    total: int
    to_do: int
    things: str


class ExtractJournal(RunJournal):
    """A journal that stores finished cases as extracts; a failed one keeps only its calls."""

    def __init__(self, project: Project, run_id: str, judge_id: str, drawing: "_Drawing") -> None:
        super().__init__(project, run_id, judge_id, drawing.extraction.name)
        self._extraction, self._drawing = drawing.extraction, drawing
        name = drawing.extraction.rubric_set
        self._origin = by_set(name) if name else by_judge(judge_id)

    def finished(self, run: str) -> Container[Key]:
        """What this judge has drawn before, in this run or another; of a rubric set, what anybody has."""
        wanted = (
            EXTRACT.c.origin == self._origin,
            EXTRACT.c.kind == self._extraction.makes.value,
        )
        with self._project.store.read() as db:
            rows = db.execute(select(EXTRACT.c.item_id, EXTRACT.c.response_id).where(*wanted)).all()
        return {_key(self._extraction, item_id, response_id) for item_id, response_id in rows}

    def keep(self, db: Connection, done: list[Finished], at: datetime) -> int:
        """Write what was drawn, in the transaction of its calls; what failed does not count as done."""
        kept = 0
        for finished in done:
            found = self._drawing.taken(finished.case)
            if found is None or found.document is None or found.status is not Status.OK:
                continue
            flags = " ".join(verdict.flags for verdict in finished.verdicts.values())
            keep_row(
                db,
                NewExtract(
                    item_id=finished.case.item.id,
                    response_id=finished.case.response.id,
                    kind=self._extraction.makes,
                    document=found.document,
                    origin=self._origin,
                    flags=flags,
                    run_id=self.run_id,
                ),
            )
            kept += 1
        return kept


@dataclass
class _Drawing:
    """An extraction as a runner's shape: one case per response or item."""

    extraction: Extraction
    material: dict[Key, Material] = field(default_factory=dict)
    found: dict[Key, Extracted] = field(default_factory=dict)

    def shape(self) -> Protocol:
        """The extraction in the shape of a protocol with one unit in a case."""
        extraction = self.extraction
        return Protocol(
            name=extraction.name,
            title=extraction.title,
            citation=extraction.citation,
            needs=extraction.needs,
            metrics=(),
            scale=plain(DRAWN),
            judge=self._ask,
            baseline=self._baseline(extraction.baseline) if extraction.baseline else None,
            prompts=extraction.prompts,
        )

    def case(self, material: Material) -> Case:
        """The case of what is at hand; it is remembered until it is drawn from."""
        key = _key(self.extraction, material.item.id, material.response.id)
        self.material[key] = material
        return Case(self.extraction.name, material.item, material.response, "", (Unit(id=key[1]),))

    def taken(self, case: Case) -> Extracted | None:
        return self.found.pop(_key_of(case), None)

    async def _ask(self, case: Case, ask: Ask) -> Verdicts:
        return self._laid_aside(case, await self.extraction.extract(self.material.pop(_key_of(case)), ask))

    def _baseline(self, draw: Callable[[Material], Extracted]) -> Callable[[Case], Verdicts]:
        return lambda case: self._laid_aside(case, draw(self.material.pop(_key_of(case))))

    def _laid_aside(self, case: Case, found: Extracted) -> Verdicts:
        self.found[_key_of(case)] = found
        ok = found.document is not None and found.status is Status.OK
        flags = " ".join(found.flags)
        verdict = (
            Verdict(value=DRAWN, flags=flags)
            if ok
            else Verdict(status=found.status, cause=found.cause or "Nothing was drawn.", flags=flags)
        )
        return {case.unit.id: verdict}


def plan(project: Project, order: RunRequest) -> ExtractionPlan:
    """Of how much an extraction is wanted, and of how much this judge has not drawn it yet."""
    kind = ExtractionRun(project, order)
    work = kind.outlook()
    return ExtractionPlan(kind.judge.name, work.total, work.total - work.before, kind.things)


class ExtractionRun(RunKind):
    """A run in which a judge extracts, by the order's `protocol`, from everything not yet extracted."""

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        """The judge, and the extraction in the shape of a protocol."""
        self._drawing = _Drawing(checked(project, order))
        self.things = "items" if isinstance(self._drawing.extraction.makes, Kind) else "reports"
        return judges.named(project, order.judge), self._drawing.shape()

    def journal(self, run_id: str) -> RunJournal:
        return ExtractJournal(self.project, run_id, self.judge.id, self._drawing)

    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        """A case for each response, or item, that is not drawn from."""
        project, order, extraction = self.project, self.order, self._drawing.extraction
        already = journal.finished(run.id)
        keys = [_key(extraction, *subject) for subject in _subjects(project, order, extraction)]
        return RunWork(
            self.shape,
            lambda: self.cases(already),
            len(keys),
            sum(key in already for key in keys),
            f"{self.things} read for {extraction.title.lower()}",
            already,
            whole=self.cases,
        )

    def cases(self, without: Container[Key] = frozenset()) -> Iterator[Case]:
        """A case for each response, or item, but those `without`."""
        drawing, extraction = self._drawing, self._drawing.extraction
        for material in _chosen(self.project, self.order, extraction, materials.for_extracting(extraction)):
            if _key(extraction, material.item.id, material.response.id) not in without:
                yield drawing.case(material)


run = ExtractionRun.run


def named(extraction: str) -> Extraction:
    """The extraction of that name; Refusal lists the names there are."""
    if extraction not in EXTRACTIONS:
        known = ", ".join(EXTRACTIONS) or "none"
        raise Refusal(f"There is no extraction “{extraction}”.", f"Available: {known}.")
    return EXTRACTIONS[extraction]


def checked(project: Project, order: RunRequest) -> Extraction:
    """The extraction that an order names; Refusal for an order that cannot be run."""
    extraction = named(order.protocol)
    if judges.named(project, order.judge).kind == JudgeKind.DERIVED:
        raise Refusal(
            "A vote cannot extract from a text.", "Choose a judge with an endpoint, or the baseline."
        )
    judge_cases.checked_scope(project, order)
    return extraction


def _subjects(project: Project, order: RunRequest, extraction: Extraction) -> Iterator[tuple[str, str]]:
    """(item, response) of what is to be drawn from, without its words."""
    light = materials.WantedMaterial((), texts=False)
    for material in _chosen(project, order, extraction, light):
        yield material.item.id, material.response.id


def _chosen(
    project: Project, order: RunRequest, extraction: Extraction, wanted: materials.WantedMaterial
) -> Iterator[Material]:
    systems = judge_cases.system_ids(project, order.systems)
    for at_hand in materials.each(project, wanted, materials.item_ids(project, order.items, answered=True)):
        if isinstance(extraction.makes, Kind):
            yield at_hand.own
            continue
        for material in at_hand.responses:
            if not systems or material.response.system_id in systems:
                yield material


def _key(extraction: Extraction, item_id: str, response_id: str) -> Key:
    """What names a case: of an item, which has no response, the item itself."""
    return response_id, extraction.makes.value if response_id else item_id, 1


def _key_of(case: Case) -> Key:
    return case.response.id, case.unit.id, case.trial
