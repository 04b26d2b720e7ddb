"""Runs in which a model writes reports on items, each stored as a response of its system."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.items import materials, roles
from annotator.actions.judges import judges, writers
from annotator.actions.material import response_journal
from annotator.actions.material.response_journal import ResponseJournal, WrittenResponse, failures, remarks
from annotator.actions.material.response_settings import MANNERS, ResponseSettings, settings_of
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.actions.runs.driving import RunWork
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_kind import RunKind, failure_words, with_failures
from annotator.actions.runs.run_lines import RunEvent
from annotator.actions.runs.run_records import OpenRun
from annotator.domain.judges.judge import Judge
from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.protocol import Answer, Ask, Case, Material, Protocol, Verdicts
from annotator.domain.judges.scale import plain
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.plan import Plan as PlanDocument
from annotator.domain.material.extract import by_judge
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts import identifier
from annotator.domain.texts.change import new_id
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import reports
from annotator.protocols.lent import continuations
from annotator.storage.tables import EXTRACT, RESPONSE, SYSTEM

WRITTEN = "written"
INCOMPLETE = "An incomplete report is not kept."
NO_PLAN, NO_EVIDENCE = "The item has no settled gold plan.", "The item has no settled gold evidence."


class ResponseRun(RunKind):
    """A run in which a system's writer answers the items of an order, `trials` times each.

    The order's `protocol` names the manner, `systems` the one system, `judge` its writer or the judge whose endpoint is
    to write. What is there already is never written again. The last line lists under `failed` what did not come, with
    its cause: nothing stands for it.
    """

    doing, resumed = "writing", False
    things, reply_tokens = "reports", 3_000
    cut_by_item: ClassVar[bool] = False
    """Whether each item has a cut-off of its own."""

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        """Whose endpoint writes, and the manner in the shape of a protocol."""
        self._manner = _checked(project, order)
        self.plan_tokens = 200 if self._manner.planned else 0
        (self._system,) = order.systems
        ids = materials.item_ids(project, order.items, answered=True)
        there = _there(project, self._system, self._manner.mode)
        self.wanted = [(item, trial) for item in ids for trial in range(1, order.trials + 1)]
        self.to_do = [one for one in self.wanted if one not in there]
        self.written: dict[str, WrittenResponse] = {}
        self._materials: dict[str, Material] = {}
        judge = writers.named(project, order.judge) or judges.named(project, order.judge)
        return judge, self._shape(order.protocol)

    @property
    def without(self) -> str:
        return "" if self.order.items else roles.left_out(self.project).not_asked

    def check(self) -> None:
        """Refuse a system whose reports came about in another way."""
        self.kept()

    def kept(self) -> Judge:
        writer = self.writer()
        with self.project.store.read() as db:
            self._refuse_mixed(db, writer)
        return writer

    def writer(self) -> Judge:
        how = self._manner
        return writers.of_system(
            self.project, self._system, self.judge.name, how.condition.parameters, how.mode
        )

    def _refuse_mixed(self, db: Connection, writer: Judge) -> None:
        """Refuse a system whose reports in this mode were made by a plan, by other prompts or with another cut-off."""
        system, how = self._system, self._manner
        plans = select(EXTRACT.c.response_id).where(
            EXTRACT.c.kind == ResponsePart.PLAN.value, EXTRACT.c.origin == by_judge(writer.id)
        )
        others = RESPONSE.c.id.not_in(plans) if how.planned else RESPONSE.c.id.in_(plans)
        if db.execute(_answers(system, how.mode, RESPONSE.c.id).where(others).limit(1)).first():
            before, todo = ("without", "Omit --plan") if how.planned else ("with", "Give --plan")
            raise Refusal(
                f"Reports of “{system}” were written {before} a plan made first.",
                f"{todo}, or give the system another name.",
            )
        asked = self.asked()
        for settings, cutoff in db.execute(
            _answers(system, how.mode, RESPONSE.c.settings, RESPONSE.c.cutoff)
        ):
            other = settings.split(";")[0] != asked or not (self.cut_by_item or cutoff == how.cutoff)
            if settings.startswith(response_journal.ASKED) and other:
                raise Refusal(
                    f"Reports of “{system}” were asked for by other prompts or with another cut-off.",
                    "Give the system or the mode another name.",
                )

    def asked(self, parameters: str = "") -> str:
        """How reports are asked for, as each of them says it."""
        return response_journal.asked_words(self._manner.prompts, parameters)

    def asker(self) -> Judge:
        return writers.as_endpoint(self.judge)

    def journal(self, run_id: str) -> RunJournal:
        origin = {"settings": self.asked(self.judge.parameters), "cutoff": self._manner.cutoff}
        return ResponseJournal(self.project, run_id, self.judge.id, self.order, self.written, origin)

    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        before = len(self.wanted) - len(self.to_do)
        return RunWork(self.shape, self.cases, len(self.wanted), before, "reports written")

    def ended(self, line: RunEvent, journal: RunJournal) -> RunEvent:
        told = {"remarks": [*remarks(self.project, journal.run_id), *filter(None, [self.without])]}
        return with_failures(line, failures(self.project, journal.run_id)) | told

    @staticmethod
    def words(line: RunEvent) -> list[str]:
        """The last line of a run as a person reads it: how far it came, what did not come and why, what it cost."""
        count = counted(len(line["failed"]), "report")
        first = f"{count} failed. Run the same command again to retry."
        words = failure_words(line, lambda one: f"Item {one['item']}, trial {one['trial']}", first=first)
        return [*words, *line.get("remarks", [])]

    def _shape(self, name: str) -> Protocol:
        """The manner in the shape of a protocol whose cases have one unit, the report."""
        return Protocol(
            name=name,
            title="Reports",
            citation=reports.CITATION,
            needs=self._manner.needs,
            metrics=(),
            scale=plain(WRITTEN),
            judge=self._write,
            prompts=self._manner.prompts,
        )

    def cases(self) -> Iterator[Case]:
        """A case for each report that is not there yet, item by item."""
        trials: dict[str, list[int]] = {}
        for item_id, trial in self.to_do:
            trials.setdefault(item_id, []).append(trial)
        grounded = Kind.EVIDENCE in self._manner.needs
        wanted = materials.WantedMaterial(
            self._manner.needs, texts=False, sources=grounded or self.cut_by_item
        )
        for at_hand in materials.each(self.project, wanted, list(trials)):
            own = _with_pages(self.project, at_hand.own) if grounded else at_hand.own
            for trial in trials[at_hand.item.id]:
                about = {"id": new_id(), "trial": trial, "mode": self._manner.mode}
                empty = own.response.model_copy(update=about)
                self._materials[empty.id] = own
                yield Case(self.order.protocol, own.item, empty, "", (Unit(id="report"),), trial)

    async def _write(self, case: Case, ask: Ask) -> Verdicts:
        return self.took(case, await self.made(case, self._materials.pop(case.response.id), ask))

    def took(self, case: Case, made: WrittenResponse | Answer) -> Verdicts:
        """Take a report over for the journal, or say why there is none."""
        if isinstance(made, Answer):
            cause = f"{made.cause} {INCOMPLETE}" if made.status is Status.TRUNCATED else made.cause
            return {case.unit.id: replace(made, cause=cause.strip()).verdict()}
        self.written[case.response.id] = made
        return {case.unit.id: Verdict(value=WRITTEN)}

    async def made(self, _case: Case, material: Material, ask: Ask) -> WrittenResponse | Answer:
        """The report on an item, or the answer in whose place there is none."""
        answer, plan = await self._asked(material, ask)
        if answer.reply is None:
            return answer
        return WrittenResponse(answer.reply.text, {ResponsePart.PLAN: plan} if plan else {})

    async def _asked(self, material: Material, ask: Ask) -> tuple[Answer, PlanDocument | None]:
        """The report, and the plan of its own that it was written by."""
        needs, item, how = self._manner.needs, material.item, self._manner
        if how.continued:
            return await continuations.ask_to_continue(item, ask), None
        gold = material.documents.get(Kind.PLAN)
        evidence = reports.evidence_of(material) if Kind.EVIDENCE in needs else ""
        if Kind.PLAN in needs and not (isinstance(gold, PlanDocument) and gold.units):
            return Answer(Status.SKIPPED, cause=NO_PLAN), None
        if Kind.EVIDENCE in needs and not evidence:
            return Answer(Status.SKIPPED, cause=NO_EVIDENCE), None
        if isinstance(gold, PlanDocument):
            return await reports.ask_for_report(item, ask, gold, evidence, how.condition, how.cutoff), None
        if not self._manner.planned:
            return await reports.ask_for_report(item, ask, condition=how.condition, cutoff=how.cutoff), None
        answer, own = await reports.ask_for_plan(item, ask, how.cutoff)
        if own is None:
            status = Status.INVALID if answer.status is Status.OK else answer.status
            return Answer(status, cause=f"It made no plan. {answer.cause}".strip()), None
        return await reports.ask_for_report(item, ask, own, "", how.condition, how.cutoff), own


run = ResponseRun.run


def _checked(project: Project, order: RunRequest) -> ResponseSettings:
    how = settings_of(order.protocol)
    if how is None or len(order.systems) != 1:
        raise Refusal("This is not a request for one system's reports.", f"Available: {', '.join(MANNERS)}.")
    if order.trials < 1:
        raise Refusal("At least one report is needed.", "Give 1 trial or more.")
    judge_cases.checked_scope(project, replace(order, systems=()))
    roles.refuse_seminars(project, order.items)
    return how


def _answers(system: str, mode: str, *columns: Any) -> Any:
    return (
        select(*columns)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(SYSTEM.c.name == system, RESPONSE.c.mode == mode)
    )


def _there(project: Project, system: str, mode: str) -> set[tuple[str, int]]:
    """(item, trial) of the reports that the system has in a mode, no matter who wrote them."""
    with project.store.read() as db:
        found = db.execute(_answers(system, mode, RESPONSE.c.item_id, RESPONSE.c.trial))
        return {(item_id, trial) for item_id, trial in found}


def _with_pages(project: Project, material: Material) -> Material:
    """The same with the pages at which the item's gold evidence stands."""
    works = material.units(Kind.EVIDENCE)
    named = (identifier.parse(work.identifier) for work in works if work.identifier)
    with project.store.read() as db:
        return replace(material, pages=materials.pages_at(db, {str(one) for one in named if one}))
