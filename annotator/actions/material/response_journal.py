"""Storage of reports that a model wrote: each in one transaction with its calls, failures with their cause."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import fsum
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.engine import Connection

from annotator.actions.items import pages, roles
from annotator.actions.items.extracts import NewExtract, keep_row
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.actions.project.hashing import response_hash, wording_hash
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import Call
from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.kinds.artifact import Document
from annotator.domain.material.extract import by_judge
from annotator.domain.material.page import Page
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.response import ResponseFields
from annotator.domain.texts.change import Change, new_id
from annotator.domain.texts.counting import counted
from annotator.domain.texts.moments import local
from annotator.domain.texts.ordering import natural
from annotator.judging.calls.reply_parts import parted
from annotator.judging.runs.progress import Finished
from annotator.storage import upserts
from annotator.storage.tables import AUDIT, ITEM, RESPONSE, SYSTEM

WROTE, FAILED = "write report", "no report"
ASKED = "prompts "
BESIDE = {
    "thinking": "The model's thinking was taken off; the reply as it came still has it.",
    "sources": "The reference list is made of the sources that the server named beside the text.",
}


@dataclass(frozen=True, slots=True)
class WrittenResponse:
    """A report that was written, and the plan made before it or the references that it lists, if any.

    `fields` are those of the response that are known better than from its last call; `told` goes into the journal.
    """

    text: str
    parts: Mapping[ResponsePart, Document[Any]] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    told: Mapping[str, Any] = field(default_factory=dict)
    pages: Sequence[Page] = ()


@dataclass(frozen=True, slots=True)
class ResponseOrigin:
    """The origin of a report: its run, calls and model."""

    run_id: str
    calls: tuple[str, ...]
    requested_model: str
    returned_model: str
    remarks: tuple[str, ...] = ()


def asked_words(prompts: Sequence[str], parameters: str = "", how: str = "") -> str:
    """How a model was asked, as a report says it: by which prompts, how else, with which parameters."""
    given = f"; parameters {parameters}" if parameters not in ("", "{}") else ""
    return f"{ASKED}{', '.join(prompts)}{how and f' ({how})'}{given}"[:2000]


class ResponseJournal(RunJournal):
    """A journal that stores finished cases as responses; a failed one keeps its calls and the cause."""

    many_calls = True

    def __init__(
        self,
        project: Project,
        run_id: str,
        writer_id: str,
        order: RunRequest,
        written: dict[str, WrittenResponse],
        origin: Mapping[str, Any],
    ) -> None:
        """`origin` is what is said of every report: its settings and its cut-off."""
        super().__init__(project, run_id, writer_id, order.protocol)
        (self._system,) = order.systems
        self._written, self._origin = written, origin

    def keep(self, db: Connection, done: list[Finished], at: datetime) -> int:
        """Write the reports in the transaction of their calls; the system is made with its first."""
        kept = 0
        for finished in done:
            written = self._written.pop(finished.case.response.id, None)
            verdict = next(iter(finished.verdicts.values()))
            if written is None or verdict.status is not Status.OK:
                self._failed(db, finished, verdict)
            else:
                kept += self._report(db, finished, written, at)
        return kept

    def _report(self, db: Connection, finished: Finished, written: WrittenResponse, at: datetime) -> bool:
        case, used = finished.case, _used(finished)
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
            "collected_by": people.someone(self._project).alias,
            **self._origin,
            "asked": wording_hash(case.item.question),
            **written.fields,
        }
        fields = ResponseFields.model_validate(known)
        row = {**fields.model_dump(), "id": case.response.id, "sha256": response_hash(written.text)}
        if not upserts.add_missing(db, RESPONSE, row).rowcount:
            # It came from elsewhere while this one was being written.
            return False
        origin = by_judge(self._judge_id)
        for part, document in written.parts.items():
            keep_row(db, NewExtract(case.item.id, case.response.id, part, document, origin, "", self.run_id))
        for page in written.pages:
            pages.add(self._project, db, page)
        about = {
            "item": case.item.key,
            "system": self._system,
            "trial": case.trial,
            "mode": case.response.mode,
            "run": self.run_id,
            "calls": [call.id for call in used],
            "requested_model": last.requested_model if last else "",
            "returned_model": last.returned_model if last else "",
            **(_beside(last, written.text) if last else {}),
            **written.told,
        }
        record(self._project, db, Change("response", case.response.id, WROTE, None, about))
        return True

    def _system_id(self, db: Connection) -> str:
        found = db.execute(select(SYSTEM.c.id).where(SYSTEM.c.name == self._system)).scalar()
        if found is None:
            found = new_id()
            db.execute(insert(SYSTEM).values(id=found, name=self._system, notes=""))
            about = {"name": self._system, "writer": self._judge_id}
            record(self._project, db, Change("system", found, "add system", None, about))
        return str(found)

    def _failed(self, db: Connection, finished: Finished, verdict: Verdict) -> None:
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
        record(self._project, db, Change("judge_run", self.run_id, FAILED, None, about))


def failures(project: Project, run_id: str) -> list[dict[str, Any]]:
    """The reports that a run was to write and that are not there: item, trial, and why it failed the last time."""
    question = select(AUDIT.c.after).where(AUDIT.c.subject == run_id, AUDIT.c.verb == FAILED)
    with project.store.read() as db:
        said = (json.loads(after) for after in db.execute(question.order_by(AUDIT.c.seq)).scalars())
        last = {(one["item_id"], one["trial"]): one for one in said}
        lacking = [one for one in last.values() if not _is_there(db, one)]
    return [
        {name: one[name] for name in ("item", "trial", "status", "cause")}
        for one in sorted(lacking, key=lambda one: (natural(one["item"]), one["trial"]))
    ]


def written_in(project: Project, run_id: str) -> list[dict[str, Any]]:
    """What the journal tells of each report that a run wrote, in the order in which they came."""
    question = select(AUDIT.c.after).where(AUDIT.c.verb == WROTE).order_by(AUDIT.c.seq)
    with project.store.read() as db:
        told = map(json.loads, db.execute(question).scalars())
        return [one for one in told if one["run"] == run_id]


def origin_of(project: Project, response_id: str) -> ResponseOrigin | None:
    """How a report was written here; None for one that came from elsewhere."""
    question = select(AUDIT.c.after).where(AUDIT.c.subject == response_id, AUDIT.c.verb == WROTE)
    with project.store.read() as db:
        found = db.execute(question).scalar()
    if found is None:
        return None
    about = json.loads(found)
    return ResponseOrigin(
        about["run"],
        tuple(about["calls"]),
        about["requested_model"],
        about["returned_model"],
        tuple(words for name, words in BESIDE.items() if about.get(name)),
    )


def _is_there(db: Connection, about: dict[str, Any]) -> bool:
    question = (
        select(RESPONSE.c.id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(
            SYSTEM.c.name == about["system"],
            RESPONSE.c.item_id == about["item_id"],
            RESPONSE.c.trial == about["trial"],
            RESPONSE.c.mode == about["mode"],
        )
    )
    return db.execute(question).first() is not None


def remarks(project: Project, run_id: str) -> list[str]:
    """What was done to the replies of a run before they became reports, each with the number of reports."""
    count = Counter(name for one in written_in(project, run_id) for name in BESIDE if one.get(name))
    return [f"{counted(count[name], 'report')}: {words}" for name, words in BESIDE.items() if count[name]]


def _beside(call: Call, text: str) -> dict[str, Any]:
    """What else was in the reply that a report came of: characters of thinking, sources that became its list."""
    parts = parted(call.raw)
    listed = len(parts.sources) if len(text) > len(parts.text) else 0
    return {name: count for name, count in zip(BESIDE, (len(parts.thinking), listed), strict=True) if count}


def _used(finished: Finished) -> list[Call]:
    """The calls whose answers the report came of, its own last; neither cut nor unreadable ones."""
    answered = [call for call in (*finished.reused, *finished.calls) if call.status is Status.OK]
    return sorted(answered, key=lambda call: call.id == finished.call_id)


def _sum(figures: Iterable[float | None]) -> float | None:
    """The sum of what is known; None when anything is not."""
    known = list(figures)
    return None if None in known else fsum(figure for figure in known if figure is not None)


def _report_tokens(call: Call) -> int | None:
    """The tokens of the report itself, without those of thinking where the server counts them in; None if unknown."""
    if call.tokens_output is None:
        return None
    thought = call.tokens_reasoning or 0
    return call.tokens_output - thought if thought <= call.tokens_output else call.tokens_output


def _run_tokens(used: Sequence[Call]) -> int | None:
    """The tokens of all calls, questions and replies; None if those of one are not known."""
    known = _sum(figure for call in used for figure in (call.tokens_input, call.tokens_output))
    return int(known) if used and known is not None else None


Asked = tuple[str, str, int, str]


@dataclass(frozen=True, slots=True)
class MissingResponse:
    """A report that was not written, and the latest cause."""

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
    """What models were asked for and did not give, item by item; a report that came since is not among it."""
    question = (
        select(AUDIT.c.subject, AUDIT.c.after, AUDIT.c.at).where(AUDIT.c.verb == FAILED).order_by(AUDIT.c.seq)
    )
    there = select(RESPONSE.c.item_id, SYSTEM.c.name, RESPONSE.c.trial, RESPONSE.c.mode).join(
        SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id
    )
    last: dict[Asked, MissingResponse] = {}
    with project.store.read() as db:
        used = set(db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False), roles.ANSWERED)).scalars())
        for run_id, after, at in db.execute(question):
            told = json.loads(after)
            one = MissingResponse(**told, run_id=run_id, at=at)
            last[one.item_id, one.system, one.trial, one.mode] = one
        came: set[Asked] = {(row[0], row[1], row[2], row[3]) for row in db.execute(there)}
    found = [one for asked, one in last.items() if asked not in came and one.item_id in used]
    return sorted(found, key=lambda one: (natural(one.item), one.system, one.mode, one.trial))


def by_cause(found: Iterable[MissingResponse]) -> dict[tuple[str, str], int]:
    """(status, cause in words) → how many reports it kept away, the most frequent first."""
    return dict(Counter((one.status, one.cause) for one in found).most_common())
