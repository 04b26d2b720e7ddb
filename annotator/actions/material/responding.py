"""Runs in which a model writes reports on items, each stored as a response of its system."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from math import fsum
from typing import Any, ClassVar

from sqlalchemy import ColumnElement, Connection, insert, select

from annotator.actions.items import items, materials, pages
from annotator.actions.items.extracts import keep_row
from annotator.actions.judges import judges
from annotator.actions.project import people, profile
from annotator.actions.project.file import Project, record, response_hash, wording_hash
from annotator.actions.runs import judge_cases
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.run_kind import RunKind, RunWork, failure_words, with_failures
from annotator.actions.runs.run_records import OpenRun, RunEvent
from annotator.domain.common import Change, Refusal, counted, grouped, local, natural, new_id, one_of
from annotator.domain.judges.judge import Call, Judge, Status, Verdict
from annotator.domain.judges.protocol import Answer, Ask, Case, Material, Protocol, Verdicts, plain
from annotator.domain.kinds.artifact import Document, Kind, Unit
from annotator.domain.kinds.plan import Plan as PlanDocument
from annotator.domain.material.extract import ResponsePart, by_judge
from annotator.domain.material.item import CONTINUATION, END_TO_END, INJECTION, ISOLATED, Page, spelled
from annotator.domain.stored import ResponseFields
from annotator.domain.texts import identifier
from annotator.judging.calls.reply_parts import parted
from annotator.judging.runner import Finished
from annotator.protocols import reports
from annotator.protocols.profiles import CONDITIONS, Condition
from annotator.protocols.registry import leakage, reference_system
from annotator.storage.tables import AUDIT, EXTRACT, ITEM, RESPONSE, SYSTEM, add_missing

WROTE, FAILED = "write report", "no report"
PROMPTS = "prompts "
BESIDE = {
    "thinking": "The model's thinking was taken off; the reply as it came still has it.",
    "sources": "The reference list is made of the sources that the server named beside the text.",
}


@dataclass(frozen=True, slots=True)
class WrittenResponse:
    """A written report, with the plan made before it or the references it lists, if any.

    `fields` are fields of the response known better than from its last call; `details` go into the audit.
    """

    text: str
    parts: Mapping[ResponsePart, Document[Any]] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    pages: Sequence[Page] = ()


@dataclass(frozen=True, slots=True)
class ResponseOrigin:
    run_id: str
    calls: tuple[str, ...]
    requested_model: str
    returned_model: str
    remarks: tuple[str, ...] = ()


def manner_words(prompts: Sequence[str], parameters: str = "", how: str = "") -> str:
    """How a model was asked, for the report's settings: the prompts, the manner and the parameters."""
    given = f"; parameters {parameters}" if parameters not in ("", "{}") else ""
    return f"{PROMPTS}{', '.join(prompts)}{how and f' ({how})'}{given}"[:2000]


def failures(project: Project, run_id: str) -> list[dict[str, Any]]:
    """The reports that a run failed to write and that are still missing: item, trial, and the last cause."""
    with project.store.read() as db:
        lacking = _lacking(db, AUDIT.c.subject == run_id)
    return [{name: getattr(one, name) for name in ("item", "trial", "status", "cause")} for one in lacking]


def written_in(project: Project, run_id: str) -> list[dict[str, Any]]:
    """The audit's details of each report that a run wrote, in order."""
    records = map(
        json.loads,
        project.query(select(AUDIT.c.after).where(AUDIT.c.verb == WROTE).order_by(AUDIT.c.seq)).scalars(),
    )
    return [one for one in records if one["run"] == run_id]


def origin_of(project: Project, response_id: str) -> ResponseOrigin | None:
    result = project.query(
        select(AUDIT.c.after).where(AUDIT.c.subject == response_id, AUDIT.c.verb == WROTE)
    ).scalar()
    if result is None:
        return None
    about = json.loads(result)
    return ResponseOrigin(
        about["run"],
        tuple(about["calls"]),
        about["requested_model"],
        about["returned_model"],
        tuple(words for name, words in BESIDE.items() if about.get(name)),
    )


def remarks(project: Project, run_id: str) -> list[str]:
    """What was done to the replies of a run before they became reports, each with the number of reports."""
    count = Counter(name for one in written_in(project, run_id) for name in BESIDE if one.get(name))
    return [f"{counted(count[name], 'report')}: {words}" for name, words in BESIDE.items() if count[name]]


def _beside(call: Call, text: str) -> dict[str, Any]:
    """What else a report's reply contained: characters of thinking, sources that became its list."""
    parts = parted(call.raw)
    listed = len(parts.sources) if len(text) > len(parts.text) else 0
    return {name: count for name, count in zip(BESIDE, (len(parts.thinking), listed), strict=True) if count}


def _sum(figures: Iterable[float | None]) -> float | None:
    """The sum of the figures; None if any is unknown."""
    known = list(figures)
    return None if None in known else fsum(figure for figure in known if figure is not None)


def _report_tokens(call: Call) -> int | None:
    """The tokens of the report without thinking, if the server counts it in; None if unknown."""
    if call.tokens_output is None:
        return None
    thought = call.tokens_reasoning or 0
    return call.tokens_output - thought if thought <= call.tokens_output else call.tokens_output


def _run_tokens(used: Sequence[Call]) -> int | None:
    """The tokens of all calls, questions and replies; None if unknown for one."""
    known = _sum(figure for call in used for figure in (call.tokens_input, call.tokens_output))
    return int(known) if used and known is not None else None


@dataclass(frozen=True, slots=True)
class MissingResponse:
    item_id: str
    item: str
    system: str
    mode: str
    trial: int
    status: str
    cause: str
    run_id: str
    at: datetime


def lacking(project: Project) -> list[MissingResponse]:
    """The reports that models failed to give, item by item; without those that came since."""
    with project.store.read() as db:
        used = set(db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False), items.ANSWERED)).scalars())
        return [one for one in _lacking(db) if one.item_id in used]


def _lacking(db: Connection, *of_run: ColumnElement[bool]) -> list[MissingResponse]:
    """The failed reports of one run or of all, each as it failed last; without those that came since."""
    question = select(AUDIT.c.subject, AUDIT.c.after, AUDIT.c.at).where(AUDIT.c.verb == FAILED, *of_run)
    existing = select(RESPONSE.c.item_id, SYSTEM.c.name, RESPONSE.c.trial, RESPONSE.c.mode).join(
        SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id
    )
    last: dict[tuple[Any, ...], MissingResponse] = {}
    for run_id, after, at in db.execute(question.order_by(AUDIT.c.seq)):
        one = MissingResponse(**json.loads(after), run_id=run_id, at=at)
        last[one.item_id, one.system, one.trial, one.mode] = one
    for row in db.execute(existing) if last else ():
        last.pop(tuple(row), None)
    return sorted(last.values(), key=lambda one: (natural(one.item), one.system, one.mode, one.trial))


def by_cause(responses: Iterable[MissingResponse]) -> dict[tuple[str, str], int]:
    """(status, cause in words) → the number of missing reports, most frequent first."""
    return dict(Counter((response.status, response.cause) for response in responses).most_common())


__all__ = [
    "CONDITIONS",
    "MANNERS",
    "MODES",
    "PREFIX",
    "RESEARCH",
    "ResearchSettings",
    "ResponseSettings",
    "protocol_name",
    "research_name",
    "settings_of",
]

SystemSettings = reference_system.SystemSettings
ORACLES = reference_system.ORACLES
_USUAL = SystemSettings()
# The longest name of a run, and of a mode.
LONGEST_NAME, LONGEST_MODE = 80, 40


@dataclass(frozen=True, slots=True)
class ResponseSettings:
    """How reports are asked for: which gold is given (`needs`), or whether the model plans first.

    `mode` is the mode they are filed under; the `condition` gives prompts and parameters, `cutoff` the last day of
    publication to keep to.
    """

    mode: str
    needs: tuple[Kind, ...] = ()
    planned: bool = False
    condition: Condition = CONDITIONS[0]
    cutoff: date | None = None

    @property
    def continued(self) -> bool:
        """Whether the second half of a task is asked for, not a report."""
        return self.mode == CONTINUATION

    @property
    def prompts(self) -> tuple[str, ...]:
        if self.continued:
            return (leakage.PROMPT,)
        by_plan = reports.PLANNED if self.needs or self.planned else reports.REPORT
        report = self.condition.prompt(reports.GROUNDED if Kind.EVIDENCE in self.needs else by_plan)
        return (reports.PLAN, report) if self.planned else (report,)


@dataclass(frozen=True, slots=True)
class ResearchSettings(ResponseSettings):
    """The same for a system of several steps that searches the works its reports rest on, or is given them."""

    system: SystemSettings = _USUAL

    @property
    def prompts(self) -> tuple[str, ...]:
        return self.system.prompts


PREFIX, RESEARCH = "respond.", "respond.research"
# The manners by the name of their runs.
MANNERS: dict[str, ResponseSettings] = {
    "respond.end-to-end": ResponseSettings(END_TO_END),
    "respond.end-to-end.planned": ResponseSettings(END_TO_END, planned=True),
    "respond.isolated": ResponseSettings(ISOLATED, (Kind.PLAN, Kind.EVIDENCE)),
    "respond.gold-plan-injection": ResponseSettings(INJECTION, (Kind.PLAN,)),
    "respond.continuation": ResponseSettings(
        CONTINUATION, condition=Condition("", "", parameters=leakage.PARAMETERS)
    ),
}
# The modes by their names on the command line.
MODES = {mode.replace(" ", "-"): mode for mode in (END_TO_END, ISOLATED, INJECTION, CONTINUATION)}
_BETWEEN, _CONDITION, _UNTIL, _FILED = "|", "by=", "until=", "as="


def in_use(project: Project) -> tuple[list[str], list[Condition]]:
    """The modes, as named on the command line, and the conditions relevant to what the project uses."""
    kinds, used = profile.profile(project).kinds, profile.protocols(project)
    modes = {
        name
        for name, mode in MODES.items()
        if kinds.issuperset(next(settings.needs for settings in MANNERS.values() if settings.mode == mode))
        and (mode != CONTINUATION or any(protocol.mode == mode for protocol in used.values()))
    }
    papers = {name.partition(".")[0] for name in used}
    return sorted(modes), [
        condition for condition in CONDITIONS if condition is CONDITIONS[0] or condition.name in papers
    ]


def protocol_name(
    mode: str = END_TO_END,
    *,
    planned: bool = False,
    condition: str = "",
    cutoff: str = "",
    filed_as: str = "",
) -> str:
    """The name of the manner in which an order asks for reports; raises Refusal for an unknown mode or condition."""
    mode_name = spelled(mode)
    if mode_name not in MODES.values():
        raise Refusal(f"There is no mode “{mode}”.", f"Available: {', '.join(MODES)}.")
    if planned and mode_name != END_TO_END:
        given = "there is no plan" if mode_name == CONTINUATION else "the gold plan is given"
        raise Refusal(f"In the mode {mode_name} {given}.", "Omit the separate plan.")
    if mode_name == CONTINUATION and (filed_as or cutoff or condition not in ("", CONDITIONS[0].name)):
        raise Refusal(
            "A continuation is asked for in one way only.",
            "Omit the condition, the cut-off and the mode's name.",
        )
    name = next(
        name
        for name, settings in MANNERS.items()
        if (settings.mode, settings.planned) == (mode_name, planned)
    )
    named = _BETWEEN.join([name, *_more(condition, cutoff.strip(), spelled(filed_as))])
    if len(named) > LONGEST_NAME:
        too_long = len(named) - LONGEST_NAME
        raise Refusal("The mode's name is too long.", f"Use {too_long} characters fewer.")
    return named


def _more(condition: str, cutoff: str, filed_as: str) -> Iterator[str]:
    if condition and _condition(condition) != CONDITIONS[0]:
        yield f"{_CONDITION}{condition}"
    if cutoff:
        try:
            yield f"{_UNTIL}{date.fromisoformat(cutoff).isoformat()}"
        except ValueError:
            raise Refusal(f"“{cutoff}” is not a day.", "Write it as 2025-03-24.") from None
    if filed_as:
        if len(filed_as) > LONGEST_MODE or _BETWEEN in filed_as:
            raise Refusal(
                f"“{filed_as}” cannot name a mode.", f"Use at most {LONGEST_MODE} characters, without |."
            )
        yield f"{_FILED}{filed_as}"


def research_name(**how: Any) -> str:
    """The name of the manner in which the system of several steps is asked, without default values.

    Raises Refusal for an unknown oracle. With an oracle nothing is searched, so the search options are left out.
    """
    oracle = how.get("oracle", "")
    if oracle and oracle not in ORACLES:
        raise Refusal(f"There is no oracle “{oracle}”.", f"Available: {', '.join(ORACLES)}.")
    system = SystemSettings(**how)
    if oracle:
        system = SystemSettings(oracle=oracle, words=system.words)
    values = {field.name: getattr(system, field.name) for field in fields(system)}
    changed = [f"{name}={value}" for name, value in values.items() if value != getattr(_USUAL, name)]
    return _BETWEEN.join([RESEARCH, *changed])


def _research(more: Sequence[str]) -> ResearchSettings:
    options = dict(part.split("=", 1) for part in more)
    oracle = options.pop("oracle", "")
    system = SystemSettings(oracle=oracle, **{name: int(value) for name, value in options.items()})
    return ResearchSettings(system.mode, (Kind.EVIDENCE,) if oracle else (), system=system)


def settings_of(name: str) -> ResponseSettings | None:
    """The settings of the manner with that name; None if there is none."""
    base, *more = name.split(_BETWEEN)
    if base == RESEARCH:
        return _research(more)
    if base not in MANNERS:
        return None
    result = MANNERS[base]
    for part in more:
        if part.startswith(_CONDITION):
            result = replace(result, condition=_condition(part.removeprefix(_CONDITION)))
        elif part.startswith(_UNTIL):
            result = replace(result, cutoff=date.fromisoformat(part.removeprefix(_UNTIL)))
        else:
            result = replace(result, mode=part.removeprefix(_FILED))
    return result


def _condition(name: str) -> Condition:
    known = {condition.name: condition for condition in CONDITIONS}
    return one_of(name, known, f"There is no condition “{name}”.", "Available:")


WRITTEN = "written"
INCOMPLETE = "An incomplete report is not kept."
NO_PLAN, NO_EVIDENCE = "The item has no settled gold plan.", "The item has no settled gold evidence."


class ResponseRun(RunKind):
    """A run in which a system's writer answers the items of an order, `trials` times each.

    The order's `protocol` names the manner, `systems` the one system, `judge` its writer or the judge whose endpoint
    writes. Existing reports are never written again. The last event lists failures with their cause under `failed`:
    nothing stands in for them.
    """

    doing, resumed, many_calls = "writing", False, True
    things, reply_tokens = "reports", 3_000
    cut_by_item: ClassVar[bool] = False
    """Whether each item has its own cut-off."""

    def read(self, project: Project, order: judge_cases.RunRequest) -> tuple[Judge, Protocol]:
        self._manner = _checked(project, order)
        self.plan_tokens = 200 if self._manner.planned else 0
        (self._system,) = order.systems
        ids = materials.item_ids(project, order.items, answered=True)
        # The system's reports in this mode, whoever wrote them.
        answers = _answers(self._system, self._manner.mode, RESPONSE.c.item_id, RESPONSE.c.trial)
        existing = {(item_id, trial) for item_id, trial in project.query(answers)}
        self.requested = [(item, trial) for item in ids for trial in range(1, order.trials + 1)]
        self.to_do = [one for one in self.requested if one not in existing]
        self.written: dict[str, WrittenResponse] = {}
        self._materials: dict[str, Material] = {}
        judge = judges.writer_named(project, order.judge) or judges.named(project, order.judge)
        return judge, Protocol(
            name=order.protocol,
            title="Reports",
            citation=reports.CITATION,
            needs=self._manner.needs,
            metrics=(),
            scale=plain(WRITTEN),
            judge=self._write,
            prompts=self._manner.prompts,
        )

    @property
    def without(self) -> str:
        return "" if self.order.items else items.left_out(self.project).sentence

    def check(self) -> None:
        """Refuse a system whose reports were made in another way."""
        self.stored_judge()

    def stored_judge(self) -> Judge:
        writer = self.writer()
        with self.project.store.read() as db:
            self._refuse_mixed(db, writer)
        return writer

    def writer(self) -> Judge:
        how = self._manner
        return judges.of_system(
            self.project, self._system, self.judge.name, how.condition.parameters, how.mode
        )

    def _refuse_mixed(self, db: Connection, writer: Judge) -> None:
        """Refuse a system whose reports in this mode were made with(out) a plan, other prompts or another cut-off."""
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
        current_settings = self.manner()
        for settings, cutoff in db.execute(
            _answers(system, how.mode, RESPONSE.c.settings, RESPONSE.c.cutoff)
        ):
            other = settings.split(";")[0] != current_settings or not (
                self.cut_by_item or cutoff == how.cutoff
            )
            if settings.startswith(PROMPTS) and other:
                raise Refusal(
                    f"Reports of “{system}” were asked for by other prompts or with another cut-off.",
                    "Give the system or the mode another name.",
                )

    def manner(self, parameters: str = "") -> str:
        return manner_words(self._manner.prompts, parameters)

    def asker(self) -> Judge:
        return judges.as_endpoint(self.judge)

    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        before = len(self.requested) - len(self.to_do)
        return RunWork(self.protocol, self.cases, len(self.requested), before, "reports written")

    def ended(self, line: RunEvent, journal: RunJournal) -> RunEvent:
        extra = {"remarks": [*remarks(self.project, journal.run_id), *filter(None, [self.without])]}
        return with_failures(line, failures(self.project, journal.run_id)) | extra

    @staticmethod
    def words(line: RunEvent) -> list[str]:
        """The last event of a run in words: its progress, failures with causes, and cost."""
        count = counted(len(line["failed"]), "report")
        first = f"{count} failed. Run the same command again to retry."
        words = failure_words(line, lambda one: f"Item {one['item']}, trial {one['trial']}", first=first)
        return [*words, *line.get("remarks", [])]

    def cases(self) -> Iterator[Case]:
        trials = grouped(self.to_do)
        grounded = Kind.EVIDENCE in self._manner.needs
        material = materials.MaterialRequest(
            self._manner.needs, texts=False, sources=grounded or self.cut_by_item
        )
        for at_hand in materials.each(self.project, material, list(trials)):
            own = _with_pages(self.project, at_hand.own) if grounded else at_hand.own
            for trial in trials[at_hand.item.id]:
                about = {"id": new_id(), "trial": trial, "mode": self._manner.mode}
                empty = own.response.model_copy(update=about)
                self._materials[empty.id] = own
                yield Case(self.order.protocol, own.item, empty, "", (Unit(id="report"),), trial)

    async def _write(self, case: Case, ask: Ask) -> Verdicts:
        return self.took(case, await self.made(case, self._materials.pop(case.response.id), ask))

    def took(self, case: Case, made: WrittenResponse | Answer) -> Verdicts:
        """Hold a report for the journal, or return the verdict that says why there is none."""
        if isinstance(made, Answer):
            cause = f"{made.cause} {INCOMPLETE}" if made.status is Status.TRUNCATED else made.cause
            return {case.unit.id: replace(made, cause=cause.strip()).verdict()}
        self.written[case.response.id] = made
        return {case.unit.id: Verdict(value=WRITTEN)}

    def keep(self, journal: RunJournal, db: Connection, done: list[Finished], at: datetime) -> int:
        """Store the reports, and the system with its first one; for failures, the calls and the cause."""
        count = 0
        for finished in done:
            written = self.written.pop(finished.case.response.id, None)
            verdict = next(iter(finished.verdicts.values()))
            if written is None or verdict.status is not Status.OK:
                case = finished.case
                about = {
                    "item": case.item.key,
                    "item_id": case.item.id,
                    "system": self._system,
                    "trial": case.trial,
                    "mode": case.response.mode,
                    "status": verdict.status.value,
                    "cause": verdict.cause,
                }
                record(self.project, db, Change("judge_run", journal.run_id, FAILED, None, about))
            else:
                count += self._report(journal, db, finished, written, at)
        return count

    def _report(
        self, journal: RunJournal, db: Connection, finished: Finished, written: WrittenResponse, at: datetime
    ) -> bool:
        answered = [call for call in (*finished.reused, *finished.calls) if call.status is Status.OK]
        case, used = finished.case, sorted(answered, key=lambda call: call.id == finished.call_id)
        last = used[-1] if used else None
        known = {
            "item_id": case.item.id,
            "system_id": self._system_id(db),
            "text": written.text,
            "trial": case.trial,
            "mode": case.response.mode,
            "latency_s": _sum(call.latency_s for call in used),
            "tokens": _report_tokens(last) if last else None,
            "run_tokens": _run_tokens(used),
            "cost_usd": _sum(call.bill_usd for call in used),
            "collected_on": local(at).date(),
            "product_version": (last.returned_model or last.requested_model)[:200] if last else "",
            "collected_by": people.someone(self.project).alias,
            "settings": self.manner(self.judge.parameters),
            "cutoff": self._manner.cutoff,
            "asked": wording_hash(case.item.question),
            **written.fields,
        }
        fields = ResponseFields.model_validate(known)
        row = {**fields.model_dump(), "id": case.response.id, "sha256": response_hash(written.text)}
        if not add_missing(db, RESPONSE, row).rowcount:
            # The report was imported while this one was being written.
            return False
        origin = by_judge(self.judge.id)
        for part, document in written.parts.items():
            keep_row(db, (case.item.id, case.response.id), part, document, origin, run_id=journal.run_id)
        for page in written.pages:
            pages.add(self.project, db, page)
        about = {
            "item": case.item.key,
            "system": self._system,
            "trial": case.trial,
            "mode": case.response.mode,
            "run": journal.run_id,
            "calls": [call.id for call in used],
            "requested_model": last.requested_model if last else "",
            "returned_model": last.returned_model if last else "",
            **(_beside(last, written.text) if last else {}),
            **written.details,
        }
        record(self.project, db, Change("response", case.response.id, WROTE, None, about))
        return True

    def _system_id(self, db: Connection) -> str:
        result = db.execute(select(SYSTEM.c.id).where(SYSTEM.c.name == self._system)).scalar()
        if result is None:
            result = new_id()
            db.execute(insert(SYSTEM).values(id=result, name=self._system, notes=""))
            about = {"name": self._system, "writer": self.judge.id}
            record(self.project, db, Change("system", result, "add system", None, about))
        return str(result)

    async def made(self, _case: Case, material: Material, ask: Ask) -> WrittenResponse | Answer:
        answer, plan = await self._respond(material, ask)
        if answer.reply is None:
            return answer
        return WrittenResponse(answer.reply.text, {ResponsePart.PLAN: plan} if plan else {})

    async def _respond(self, material: Material, ask: Ask) -> tuple[Answer, PlanDocument | None]:
        """The report, and the model's own plan it was written by."""
        needs, item, how = self._manner.needs, material.item, self._manner
        if how.continued:
            return await leakage.ask_to_continue(item, ask), None
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


def _checked(project: Project, order: judge_cases.RunRequest) -> ResponseSettings:
    how = settings_of(order.protocol)
    if how is None or len(order.systems) != 1:
        raise Refusal("This is not a request for one system's reports.", f"Available: {', '.join(MANNERS)}.")
    if order.trials < 1:
        raise Refusal("At least one report is needed.", "Give 1 trial or more.")
    judge_cases.checked_scope(project, replace(order, systems=()))
    items.refuse_seminars(project, order.items)
    return how


def _answers(system: str, mode: str, *columns: Any) -> Any:
    return (
        select(*columns)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(SYSTEM.c.name == system, RESPONSE.c.mode == mode)
    )


def _with_pages(project: Project, material: Material) -> Material:
    works = material.units(Kind.EVIDENCE)
    named = (identifier.parse(work.identifier) for work in works if work.identifier)
    with project.store.read() as db:
        return replace(material, pages=materials.pages_at(db, {str(one) for one in named if one}))
